// Builds what a plan asks for: several test files are one translation unit, halved where they do not compile together.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FolderPlan, Settings, TestProgram } from './plan.ts';

/** Test files in one translation unit. */
const FILES_A_UNIT = 8;

export interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly seconds: number;
}

/** Runs a program to its end; after `seconds` its whole process group is killed and the status is null. */
export function runProcess(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly seconds: number },
): Promise<Ended> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      // The beginning and the end say what happened.
      if (output.length > 1 << 20) output = output.slice(0, 1 << 18) + output.slice(-(1 << 18));
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, options.seconds * 1000);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      const seconds = (performance.now() - started) / 1000;
      resolve({ status: signal === 'SIGKILL' ? null : (code ?? 128), output, seconds });
    });
  });
}

/** What went wrong first: a linker says it before the compiler that called it. */
function firstError(output: string): string {
  const lines = output.split('\n');
  return (
    lines.find((l) => /undefined|duplicate|cannot find/.test(l)) ??
    lines.find((l) => l.includes('error')) ??
    output.slice(0, 300)
  );
}

/** Options of the suite that clang 22 does not have: it allows halves as arguments in any case. */
const GONE = '-fallow-half-arguments-and-returns';
const known = (options: readonly string[]): string[] =>
  options.filter((option, n) => option !== GONE && !(option === '-Xclang' && options[n + 1] === GONE));

/** Runs at most `limit` tasks at a time, in order. */
export async function eachOf<T>(items: readonly T[], limit: number, task: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}

/** Whether a source has test cases, some by macros such as MATH_UNARY_TEST_DEF; others are linked with every one that has. */
export const hasCases = (file: string): boolean =>
  /TEST_CASE|TEMPLATE_|_TEST_DEF\w*\(/.test(readFileSync(file, 'utf8'));

/** A built executable with test cases, or why there is none. */
export interface BuiltTests {
  readonly program: string;
  readonly sources: readonly string[];
  readonly path?: string;
  readonly error?: string;
}

export class Builder {
  private readonly settings: Settings;
  private readonly report: (text: string) => void;
  private readonly flags: readonly string[];
  private builtMain: Promise<readonly string[]> | undefined;

  constructor(settings: Settings, report: (text: string) => void) {
    this.settings = settings;
    this.report = report;
    const { suite } = settings;
    const folders = ['external/Catch2', 'include', 'kernels', 'external/picojson'].map((f) => `-I${join(suite, f)}`);
    this.flags = [
      '-std=c++17',
      '-O1',
      '-Xarch_device',
      '-O3',
      ...folders,
      `-DKERNELS_PATH="${join(suite, 'kernels')}/"`,
    ];
  }

  /** The object file of sources compiled as one unit. Reused while sources and options are the same. */
  private async compile(name: string, sources: readonly string[], options: readonly string[]): Promise<string> {
    const hash = createHash('sha256').update(JSON.stringify([this.flags, options, this.settings.arch]));
    for (const file of sources) hash.update(file).update(readFileSync(file));
    const key = hash.digest('hex').slice(0, 16);
    const object = join(this.settings.work, 'objects', `${name}-${key}.o`);
    if (existsSync(object)) return object;
    const failed = `${object}.failed`;
    if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'));
    mkdirSync(dirname(object), { recursive: true });
    let input = sources[0] as string;
    if (sources.length > 1) {
      input = `${object}.cc`;
      writeFileSync(input, sources.map((s) => `#include "${s}"\n`).join(''));
    }
    const folders = [...new Set(sources.map((s) => `-I${dirname(s)}`))];
    const args = [...this.flags, ...folders, ...options, '-c', input, '-o', `${object}.part`];
    const { status, output, seconds } = await runProcess(this.settings.hipcc, args, { seconds: 900 });
    if (status !== 0) {
      const first = firstError(output);
      writeFileSync(failed, first);
      throw new Error(first);
    }
    this.report(`compiled ${name} (${sources.length} files, ${seconds.toFixed(0)} s)`);
    renameSync(`${object}.part`, object);
    return object;
  }

  /** The suite's main program, built once. */
  private main(): Promise<readonly string[]> {
    this.builtMain ??= this.buildMain();
    return this.builtMain;
  }
  private async buildMain(): Promise<readonly string[]> {
    const folder = join(this.settings.suite, 'hipTestMain');
    const files = ['main.cc', 'hip_test_context.cc', 'hip_test_features.cc'].map((f) => join(folder, f));
    const objects: string[] = [];
    for (const file of [...files, join(this.settings.suite, 'kernels', 'Set.cpp')]) {
      objects.push(await this.compile(basename(file, '.cc'), [file], []));
    }
    return objects;
  }

  private async link(path: string, objects: readonly string[], libraries: readonly string[]): Promise<void> {
    // Symbol versions are bound when linking, so another library means linking again.
    const library = join(process.env.HIP_TESTS_NATIVE ?? '', 'libamdhip64.so.6');
    const newest = Math.max(...[...objects, library].map((o) => statSync(o).mtimeMs));
    if (existsSync(path) && statSync(path).mtimeMs > newest) return;
    const named = libraries.some((l) => l === 'hiprtc' || l === 'hiprtc::hiprtc') ? ['-lhiprtc'] : [];
    const { status, output } = await runProcess(this.settings.hipcc, [...objects, ...named, '-o', path], {
      seconds: 300,
    });
    if (status !== 0) throw new Error(firstError(output));
  }

  /** Code objects and programs that tests load or start. What fails is reported: the tests that need it will say so too. */
  async extras(plan: FolderPlan): Promise<void> {
    for (const [command = '', ...args] of plan.commands) {
      const at = args.indexOf('-o');
      const target = at < 0 ? undefined : join(plan.binary, basename(args[at + 1] ?? ''));
      if (command === this.settings.hipcc && target !== undefined && existsSync(target)) continue;
      const { status, output } = await runProcess(command, args, { cwd: plan.binary, seconds: 300 });
      if (status !== 0) this.report(`${plan.folder}: ${basename(command)} ${args.join(' ')}: ${output.slice(0, 200)}`);
    }
    for (const { name, sources, isLibrary } of plan.programs) {
      const path = join(plan.binary, isLibrary ? `lib${name}.so` : name);
      if (existsSync(path)) continue;
      const kind = isLibrary ? ['-shared', '-fPIC'] : [];
      const { status, output } = await runProcess(
        this.settings.hipcc,
        [...this.flags, ...kind, ...sources, '-o', path],
        {
          cwd: plan.binary,
          seconds: 300,
        },
      );
      if (status !== 0) this.report(`${plan.folder}: ${name}: ${output.slice(0, 200)}`);
    }
  }

  /** Builds one program of the suite as one or more executables. */
  async tests(plan: FolderPlan, program: TestProgram): Promise<BuiltTests[]> {
    const main = await this.main();
    const shared: string[] = [];
    const headers = plan.headers.map((folder) => `-isystem${folder}`);
    for (const file of [...program.shared, ...program.sources.filter((s) => !hasCases(s))]) {
      shared.push(await this.compile(`${plan.folder}-${basename(file)}`, [file], [...program.options, ...headers]));
    }
    const imported = program.libraries.flatMap((name) => plan.objects.get(name) ?? []);
    const built: BuiltTests[] = [];
    const build = async (sources: readonly string[]): Promise<void> => {
      const name = `${plan.folder}-${program.name}-${basename(sources[0] ?? '').replace(/\.\w+$/, '')}`;
      const options = known([
        ...program.options,
        ...headers,
        ...sources.flatMap((s) => plan.sourceOptions.get(s) ?? []),
      ]);
      try {
        const object = await this.compile(name, sources, options);
        const path = join(plan.binary, name);
        await this.link(path, [object, ...shared, ...imported, ...main], program.libraries);
        built.push({ program: program.name, sources, path });
      } catch (error) {
        if (sources.length === 1) built.push({ program: program.name, sources, error: (error as Error).message });
        else {
          const half = Math.ceil(sources.length / 2);
          await build(sources.slice(0, half));
          await build(sources.slice(half));
        }
      }
    };
    // Sources with options of their own are alone.
    const units: string[][] = [];
    for (const source of program.sources.filter(hasCases)) {
      const last = units.at(-1);
      const hasOptions = (file: string): boolean => plan.sourceOptions.has(file);
      const isAlone = hasOptions(source) || (last?.some(hasOptions) ?? false);
      if (last !== undefined && !isAlone && last.length < FILES_A_UNIT) last.push(source);
      else units.push([source]);
    }
    for (const unit of units) await build(unit);
    return built;
  }
}
