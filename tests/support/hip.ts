// Compiles HIP programs with Debian's HIP headers and LLVM 22, and runs them on the virtual GPU. What is compiled stays in
// .wavesmith/hip-programs under a name made of everything it depends on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TargetName } from '../../src/isa/types.ts';
import { llvmTool } from './llvm.ts';

const here = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The checkout: a bundle of a benchmark lies elsewhere. */
export const root = existsSync(join(here, 'bin/wavesmith')) ? here : process.cwd();
const sourceFolder = join(root, 'tests', 'hip');
const deviceLibraries = join(root, '.wavesmith', 'hip-device-libs');
export const nativeLibraries = join(process.env.WAVESMITH_NATIVE ?? join(root, 'native', 'build'), 'lib');

export interface HipProgram {
  /** Files of tests/hip without `.cpp`. */
  readonly sources: readonly string[];
  /** Targets, or another chip that clang knows. */
  readonly targets: readonly string[];
  readonly flags?: readonly string[];
  /** HIP version whose library is linked; Debian's headers are of 5. */
  readonly library?: 5 | 6 | 7;
  /** Only the code objects, as a file that hipModuleLoad takes. */
  readonly deviceOnly?: boolean;
}

export interface HipRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether programs can be compiled and run; says once what is missing. */
export function canCompileHip(): boolean {
  const needs: readonly [string, boolean][] = [
    ['LLVM 22', ['clang++', 'ld.lld', 'clang-offload-bundler'].every((name) => llvmTool(name) !== undefined)],
    ["Debian's HIP headers", existsSync('/usr/include/hip/hip_runtime.h')],
    ['HIP device libraries', existsSync(join(deviceLibraries, '.stamp'))],
    ['the native runtime libraries', existsSync(join(nativeLibraries, 'libamdhip64.so'))],
  ];
  const missing = needs.filter(([, present]) => !present).map(([name]) => name);
  if (missing.length > 0) console.warn(`skipped: ${missing.join(', ')} missing ('npm run setup' installs them).`);
  return missing.length === 0;
}

// At most two compilers or programs at a time.
let free = 2;
const waiting: (() => void)[] = [];

/** Runs a program to its end; after `seconds` it is killed and its status is null. */
export async function run(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  seconds = 200,
): Promise<HipRun> {
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free--;
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        cwd: root,
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: seconds * 1000,
        killSignal: 'SIGKILL',
      });
      const text = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (chunk: string) => {
          text[name] += chunk;
        });
      }
      child.once('error', reject);
      child.once('close', (status) => resolve({ status, ...text }));
    });
  } finally {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  }
}

function hashOf(program: HipProgram, args: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([program, args]));
  hash.update(readFileSync(join(deviceLibraries, '.stamp')));
  for (const name of readdirSync(sourceFolder).filter((n) => n.endsWith('.h'))) {
    hash.update(readFileSync(join(sourceFolder, name)));
  }
  for (const name of program.sources) hash.update(readFileSync(join(sourceFolder, `${name}.cpp`)));
  return hash.digest('hex').slice(0, 16);
}

const compiled = new Map<string, Promise<string>>();

/** The path of a compiled program. */
export function compileHip(program: HipProgram): Promise<string> {
  const args = [
    ...['-x', 'hip', '-std=c++17', '-O2', '-Wno-unused-result', '--rocm-path=/usr'],
    ...['-D__AMDGCN_WAVEFRONT_SIZE=64', `--rocm-device-lib-path=${deviceLibraries}`],
    ...program.targets.map((target) => `--offload-arch=${target}`),
    ...(program.flags ?? []),
    ...(program.deviceOnly === true
      ? ['--cuda-device-only']
      : [`-L${nativeLibraries}`, `-l:libamdhip64.so.${program.library ?? 5}`]),
  ];
  const path = join(root, '.wavesmith', 'hip-programs', `${program.sources[0]}-${hashOf(program, args)}`);
  let result = compiled.get(path);
  if (result === undefined) {
    result = existsSync(path) ? Promise.resolve(path) : compile(program, args, path);
    compiled.set(path, result);
  }
  return result;
}

async function compile(program: HipProgram, args: readonly string[], path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}`;
  const files = program.sources.map((name) => join(sourceFolder, `${name}.cpp`));
  const { status, stderr } = await run(llvmTool('clang++') ?? 'clang++', [...args, ...files, '-o', part]);
  if (status !== 0) {
    rmSync(part, { force: true });
    throw new Error(`clang++ failed on ${program.sources.join(', ')} (status ${status}):\n${stderr}`);
  }
  renameSync(part, path);
  return path;
}

/** Runs a program through `wavesmith exec`. */
export function execHip(
  target: TargetName,
  path: string,
  args: readonly string[] = [],
  options: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<HipRun> {
  const exec = [join(root, 'bin', 'wavesmith'), 'exec', '--device', `sim:${target}`, ...options, '--', path, ...args];
  return run(process.execPath, exec, environment);
}
