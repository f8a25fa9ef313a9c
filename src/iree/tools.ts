// Where the outside programs are: LLVM (oracle and alternative assembler), IREE, ROCm, and how one is run.
// Used by `asm --engine llvm`, `hijack`, `doctor`; every search order is in this file and nowhere else.
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WavesmithError } from '../base/index.ts';

/** LLVM programs this project knows how to use. Only `clang` and `ld.lld` are used by the product; others are test oracles. */
export const LLVM_TOOLS = ['clang', 'ld.lld', 'llvm-mc', 'llvm-objdump', 'llvm-readelf', 'FileCheck'] as const;
export type LlvmToolName = (typeof LLVM_TOOLS)[number];

/** IREE programs, from the Python wheels or a build. */
export type IreeToolName = 'iree-compile' | 'iree-run-module' | 'iree-dump-parameters' | 'iree-create-parameters';

/** A program that exists and is executable. */
export interface Tool {
  readonly name: string;
  readonly path: string;
  /** Which rule found it: an environment variable's name, a folder, or `PATH`. */
  readonly foundBy: string;
}

/** Result of one program run. A signal or a time-out has `status` -1. */
export interface ToolRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
  /** True when the time limit ended it. */
  readonly timedOut: boolean;
}

export interface ToolOptions {
  /** Working folder; default: the current one. */
  readonly cwd?: string;
  /** Environment; default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Text or bytes for standard input. */
  readonly input?: string | Uint8Array;
  /** Kill after this many milliseconds; default ten minutes. */
  readonly timeout?: number;
}

/** The LLVM major version whose text and bytes are the contract. */
export const LLVM_MAJOR = 22;

const LLVM_FOLDERS: readonly string[] = ['/opt/rocm/llvm/bin', `/usr/lib/llvm-${LLVM_MAJOR}/bin`];

/** True for a file that may be executed. */
export const isExecutableFile = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** A program on PATH. */
export function findOnPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder !== '' && isExecutableFile(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

/**
 * Finds an LLVM program: in `$ROCM_LLVM` only when that is set, else in `/opt/rocm/llvm/bin`, `/usr/lib/llvm-22/bin`, then as
 * `NAME-22` on PATH. A plain `clang` on PATH is not used: it is usually a version that does not know these targets.
 */
export function findLlvmTool(name: LlvmToolName): Tool | undefined {
  const asked = process.env.ROCM_LLVM;
  for (const folder of asked ? [asked] : LLVM_FOLDERS) {
    const path = join(folder, name);
    if (isExecutableFile(path)) return { name, path, foundBy: asked ? 'ROCM_LLVM' : folder };
  }
  const path = asked ? undefined : findOnPath(`${name}-${LLVM_MAJOR}`);
  return path === undefined ? undefined : { name, path, foundBy: 'PATH' };
}

/** As `findLlvmTool`; a missing program is `tools/llvm-not-found`, naming every place that was searched. */
export function requireLlvmTool(name: LlvmToolName): Tool {
  const tool = findLlvmTool(name);
  if (tool !== undefined) return tool;
  const asked = process.env.ROCM_LLVM;
  const where = asked ? `$ROCM_LLVM (${asked})` : `${LLVM_FOLDERS.join(', ')} or as '${name}-${LLVM_MAJOR}' on PATH`;
  throw new WavesmithError('tools/llvm-not-found', `LLVM's '${name}' was not found in ${where}.`, {
    hint: asked
      ? `Set ROCM_LLVM to a folder that holds ${name}, or unset it.`
      : `Run 'npm run setup', or set ROCM_LLVM to the folder that holds ${name}.`,
  });
}

/** The folder of this package (checkout or installed), where `npm run setup` puts its Python environment. */
export function packageRoot(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === 'wavesmith') {
        return folder;
      }
    } catch {
      // No package.json here: look in the folder above.
    }
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

/** Finds an IREE program: `$IREE_COMPILE` (that one only), the environment made by `npm run setup`, then PATH. */
export function findIreeTool(name: IreeToolName): Tool | undefined {
  const fromEnvironment = name === 'iree-compile' ? process.env.IREE_COMPILE : undefined;
  if (fromEnvironment) {
    const path = fromEnvironment.includes('/') ? fromEnvironment : findOnPath(fromEnvironment);
    return path !== undefined && isExecutableFile(path) ? { name, path, foundBy: 'IREE_COMPILE' } : undefined;
  }
  const root = packageRoot();
  if (root !== undefined) {
    const path = join(root, '.wavesmith', 'venv', 'bin', name);
    if (isExecutableFile(path)) return { name, path, foundBy: '.wavesmith/venv' };
  }
  const path = findOnPath(name);
  return path === undefined ? undefined : { name, path, foundBy: 'PATH' };
}

/** As `findIreeTool`; a missing program is `tools/iree-not-found`. */
export function requireIreeTool(name: IreeToolName): Tool {
  const tool = findIreeTool(name);
  if (tool !== undefined) return tool;
  const asked = name === 'iree-compile' ? process.env.IREE_COMPILE : undefined;
  throw new WavesmithError(
    'tools/iree-not-found',
    asked
      ? `IREE_COMPILE is set to '${asked}', which is not an executable file.`
      : `IREE's '${name}' was not found in .wavesmith/venv/bin or on PATH.`,
    { hint: "Run 'npm run setup', or set IREE_COMPILE to an iree-compile." },
  );
}

const OUTPUT_LIMIT = 64 << 20;

/** Runs a program and collects its output. Rejects only when the program cannot be started at all. */
export function runTool(path: string, args: readonly string[], options: ToolOptions = {}): Promise<ToolRun> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { cwd: options.cwd, env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
    const collected: { out: Buffer[]; err: Buffer[] } = { out: [], err: [] };
    let size = 0;
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size <= OUTPUT_LIMIT) into.push(chunk);
    };
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, options.timeout ?? 600_000);
    child.stdout.on('data', collect(collected.out));
    child.stderr.on('data', collect(collected.err));
    child.on('error', (cause) => {
      clearTimeout(timer);
      reject(new WavesmithError('tools/cannot-run', `'${path}' could not be started: ${cause.message}.`, { cause }));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({
        status: code ?? -1,
        stdout: Buffer.concat(collected.out).toString('utf8'),
        stderr: Buffer.concat(collected.err).toString('utf8'),
        milliseconds: performance.now() - started,
        timedOut,
      });
    });
    // A program may exit without reading its input; its exit status says what went wrong.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** The version a program of LLVM prints (`22.1.8`), or undefined when it prints none. */
export async function llvmVersion(tool: Tool): Promise<string | undefined> {
  const run = await runTool(tool.path, ['--version'], { timeout: 20_000 });
  return /(?:version|LLD)\s+(\d+\.\d+\.\d+\w*)/.exec(run.stdout)?.[1];
}
