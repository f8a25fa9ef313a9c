// Compiles HIP programs with Debian's HIP headers and LLVM 22, and runs them on the virtual GPU. What is compiled stays in
// .wavesmith/hip-programs under a name made of everything it depends on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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

/** What all programs are compiled with. */
const COMMON = [
  ...['-x', 'hip', '-std=c++17', '-O2', '-Wno-unused-result', '--rocm-path=/usr'],
  ...['-D__AMDGCN_WAVEFRONT_SIZE=64', `--rocm-device-lib-path=${deviceLibraries}`],
];

/** Includes check.h, and nothing in front of that but comments and headers of the system, which do not change its meaning. */
const BEGINS_WITH_CHECKS = /^(?:\/\/.*\n|#include <.*>\n|\n)*#include "check\.h"\n/;

const precompiled = new Map<string, Promise<void>>();

/**
 * A folder with check.h and HIP's headers precompiled for the host and for targets, of which clang takes those that fit: reading the headers is four
 * fifths of what a small program costs. Undefined for programs that give the headers another meaning.
 */
async function precompiledHeaders({ sources, targets, flags = [] }: HipProgram): Promise<string | undefined> {
  const begins = sources.every((name) =>
    BEGINS_WITH_CHECKS.test(readFileSync(join(sourceFolder, `${name}.cpp`), 'utf8')),
  );
  if (flags.length > 0 || !begins) return undefined;
  const header = join(sourceFolder, 'check.h');
  const hash = createHash('sha256').update(JSON.stringify([COMMON, statSync(header).mtimeMs]));
  for (const file of [header, join(deviceLibraries, '.stamp'), '/usr/include/hip/hip_version.h'])
    hash.update(readFileSync(file));
  const folder = join(root, '.wavesmith', 'hip-programs', `headers-${hash.digest('hex').slice(0, 16)}`);
  mkdirSync(folder, { recursive: true });
  const sides: [side: string, args: string[]][] = [['host', ['--cuda-host-only', '--offload-arch=gfx942']]];
  for (const target of targets) sides.push([target, ['--cuda-device-only', `--offload-arch=${target}`]]);
  await Promise.all(
    sides.map(([side, args]) => {
      const path = join(folder, `${side.replace(/\W/g, '-')}.pch`);
      let made = precompiled.get(path);
      if (made === undefined) {
        made = existsSync(path) ? Promise.resolve() : precompile(header, args, path);
        precompiled.set(path, made);
      }
      return made;
    }),
  );
  return folder;
}

async function precompile(header: string, args: readonly string[], path: string): Promise<void> {
  // Not in the folder: clang may be looking for what fits.
  const part = join(dirname(dirname(path)), `${basename(dirname(path))}-${basename(path)}.${process.pid}`);
  const emit = ['-fsyntax-only', ...['-emit-pch', '-o', part].flatMap((word) => ['-Xclang', word])];
  await clang([...COMMON, ...args, ...emit, header], part, `${header} for ${basename(path)}`);
  renameSync(part, path);
}

/** Compiles to `part`, which is removed where that fails. */
async function clang(args: readonly string[], part: string, what: string): Promise<void> {
  const { status, stderr } = await run(llvmTool('clang++') ?? 'clang++', args);
  if (status === 0) return;
  rmSync(part, { force: true });
  throw new Error(`clang++ failed on ${what} (status ${status}):\n${stderr}`);
}

const compiled = new Map<string, Promise<string>>();

/** The path of a compiled program. */
export function compileHip(program: HipProgram): Promise<string> {
  const args = [
    ...COMMON,
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
  const headers = await precompiledHeaders(program);
  const precompiledOnes = headers === undefined ? [] : ['-include-pch', headers];
  await clang([...args, ...precompiledOnes, ...files, '-o', part], part, program.sources.join(', '));
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
