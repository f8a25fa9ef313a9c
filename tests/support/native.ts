// The native build for tests: programs of tests/native, kernels for them, and running programs under `wavesmith exec`.
// WAVESMITH_NATIVE names another build (scripts/test-native.mjs: with a sanitizer).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { llvmTool } from './llvm.ts';

const here = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The checkout: a bundle of a benchmark lies elsewhere. */
export const root = existsSync(join(here, 'bin/wavesmith')) ? here : process.cwd();
const folder = process.env.WAVESMITH_NATIVE ?? join(root, 'native', 'build');

/** A sanitizer's library must come first in processes that were not built with it. */
const preload = process.env.WAVESMITH_PRELOAD === undefined ? {} : { LD_PRELOAD: process.env.WAVESMITH_PRELOAD };

export interface NativeTests {
  /** Path of a test program or module: `hsa-tests`, `hsa-agents`, `hsa-dispatch`; `libhsa-tool.so`. */
  file(name: string): string;
  /** The code object of tests/native/kernels.c for a target. */
  kernels(target: string): string;
}

function compileKernels(target: string): string {
  const source = join(root, 'tests/native/kernels.c');
  const output = join(folder, 'tests', `kernels-${target}.co`);
  if (existsSync(output) && statSync(output).mtimeMs > statSync(source).mtimeMs) return output;
  mkdirSync(dirname(output), { recursive: true });
  const partial = `${output}.${process.pid}`;
  const flags = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', '-O2', source, '-o', partial];
  const { status, stderr } = spawnSync(llvmTool('clang-22') as string, flags, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tests/native/kernels.c does not compile:\n${stderr}`);
  renameSync(partial, output);
  return output;
}

/** True when the native libraries are built; otherwise says how to get them. */
export function hasNativeBuild(): boolean {
  if (existsSync(join(folder, 'lib', 'wavesmith.node'))) return true;
  console.warn(`skipped: there is no native build in ${folder} ('npm run setup' makes it).`);
  return false;
}

/** Builds the test programs. Undefined, with a message, when the native build or a compiler is missing. */
export function nativeTests(): NativeTests | undefined {
  if (!hasNativeBuild() || llvmTool('clang-22') === undefined) return undefined;
  // Test files run at the same time; one builds, the others wait.
  const lock = join(folder, '.tests-lock');
  const build = ['cmake', '--build', folder, '--parallel', '2', '--target', 'native-tests'];
  const { status, stdout, stderr } = spawnSync('flock', [lock, ...build], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The native tests do not build:\n${stdout}\n${stderr}`);
  return {
    file: (name) => join(folder, name.endsWith('.so') ? 'lib' : 'bin', name),
    kernels: compileKernels,
  };
}

export interface ExecResult {
  /** Exit status; 128 + n when a signal ended `wavesmith` itself. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExecOptions {
  readonly options?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The Node that runs `wavesmith`; default this one. */
  readonly node?: string;
}

/** Runs a program under `wavesmith exec`. One that takes too long is killed and throws. */
export function exec(program: readonly string[], settings: ExecOptions = {}): Promise<ExecResult> {
  const { options = [], env = {}, timeoutMs = 200_000, node = process.execPath } = settings;
  return new Promise((resolve, reject) => {
    const child = spawn(node, [join(root, 'bin/wavesmith'), 'exec', ...options, '--', ...program], {
      env: { ...process.env, ...preload, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      text.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      text.stderr += chunk.toString();
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (late) reject(new Error(`${program.join(' ')} took more than ${timeoutMs} ms:\n${text.stdout}${text.stderr}`));
      else resolve({ status: code ?? (signal === null ? 1 : 128), ...text });
    });
  });
}
