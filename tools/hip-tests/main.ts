// Builds AMD's hip-tests and runs every case as a process on the virtual GPU: `node scripts/run-ts.mjs tools/hip-tests/main.ts --help`.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { cpus } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Builder, type BuiltTests, eachOf, hasCases, runProcess } from './build.ts';
import { type FolderPlan, planFolder, type Settings, sourceFolder } from './plan.ts';
import { type CaseResult, formatTable, judge } from './results.ts';

const HELP = `Usage: node scripts/run-ts.mjs tools/hip-tests/main.ts SUITE [options]

Builds the test programs of ROCm's hip-tests (SUITE is its folder, or its catch folder) with clang 22 and runs each case that AMD's own
configuration enables as a process of its own under 'wavesmith exec'. Prints a table; exits with 1 when a case did not pass.

  --headers DIR    folder with include/hip of HIP 6 (default: hip-6.3 beside SUITE)
  --device DEVICE  sim:gfx90a, sim:gfx942 (default) or sim:gfx950
  --only A,B       these folders of unit/, or beside it, such as stress/memory and multiproc (default: all of unit/)
  --cases PATTERN  cases whose name matches (regular expression)
  --files PATTERN  only source files whose name matches
  --again FILE     only the cases that did not pass in an earlier result
  --accuracy N     random inputs of each case of math; the suite's default is 2^32. Cases with one float as input try all of them anyway
  --timeout SEC    a case is killed after so long (default 60)
  --jobs N         compilers and cases at a time (default: cores)
  --work DIR       where it builds (default .wavesmith/hip-tests)
  --json FILE      results as JSON lines (default WORK/results-DEVICE.jsonl)
  --check          run every case in strict mode
  --devices N      GPUs that the cases see (default 1)
  --build-only     stop after building
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    headers: { type: 'string' },
    device: { type: 'string', default: 'sim:gfx942' },
    only: { type: 'string' },
    cases: { type: 'string' },
    files: { type: 'string' },
    again: { type: 'string' },
    accuracy: { type: 'string' },
    timeout: { type: 'string', default: '60' },
    jobs: { type: 'string', default: String(cpus().length) },
    work: { type: 'string' },
    json: { type: 'string' },
    check: { type: 'boolean', default: false },
    devices: { type: 'string', default: '1' },
    'build-only': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const here = dirname(resolve(process.argv[1] ?? '.'));
const root = dirname(dirname(here));
const clang = '/usr/lib/llvm-22/bin/clang++';

/** The cases AMD disables on Linux for a chip. */
function disabledCases(settings: Settings): ReadonlySet<string> {
  const config = join(settings.suite, 'hipTestMain', 'config', 'config_amd_linux');
  const args = ['-E', '-P', '-x', 'c', '-w', `-D${settings.arch}`, '-DGITHASH="none"', config];
  const text = execFileSync(clang, args, { encoding: 'utf8' });
  const list = /"DisabledTests"\s*:\s*\[([\s\S]*?)\]/.exec(text)?.[1] ?? '';
  return new Set([...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((m) => m[1] as string));
}

/** A ROCm folder around the headers: clang includes its HIP wrappers only where it finds a version, and some folders call its `hipcc`. */
function rocmFolder(work: string, headers: string): string {
  const folder = join(work, 'rocm');
  const text = readFileSync(join(headers, 'include/hip/hip_version.h'), 'utf8');
  const number = (name: string): string => new RegExp(`#define HIP_VERSION_${name} (\\d+)`).exec(text)?.[1] ?? '0';
  mkdirSync(join(folder, 'share/hip'), { recursive: true });
  rmSync(join(folder, 'include'), { force: true });
  symlinkSync(join(headers, 'include'), join(folder, 'include'));
  mkdirSync(join(folder, 'bin'), { recursive: true });
  rmSync(join(folder, 'bin/hipcc'), { force: true });
  symlinkSync(join(here, 'hipcc.sh'), join(folder, 'bin/hipcc'));
  const version = ['MAJOR', 'MINOR', 'PATCH'].map((name) => `HIP_VERSION_${name}=${number(name)}\n`).join('');
  writeFileSync(join(folder, 'share/hip/version'), version);
  return folder;
}

/** With a device, where the cases run: programs ask it for facts, and load files, before their main function. */
async function listCases(built: BuiltTests, cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  if (built.path === undefined) return [];
  const exec = [join(root, 'bin/wavesmith'), 'exec', '--device', values.device, '--devices', values.devices, '--'];
  const args = [...exec, built.path, '--list-test-names-only'];
  const { output } = await runProcess(process.execPath, args, { cwd, env, seconds: 60 });
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('wavesmith:'));
}

/** A case's name as Catch2 takes it: commas, brackets and backslashes are escaped. */
const escapeName = (name: string): string => name.replace(/[\\,[\]]/g, (c) => `\\${c}`);

async function main(): Promise<number> {
  const given = positionals[0];
  if (values.help || given === undefined) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const suite = existsSync(join(given, 'catch')) ? resolve(given, 'catch') : resolve(given);
  if (!existsSync(join(suite, 'hipTestMain')) || !existsSync(join(suite, 'unit'))) {
    console.error(`hip-tests: ${given} has no catch/hipTestMain and catch/unit.`);
    return 2;
  }
  const headers = resolve(values.headers ?? join(suite, '..', '..', 'hip-6.3'));
  if (!existsSync(join(headers, 'include/hip/hip_runtime.h'))) {
    console.error(`hip-tests: ${headers} has no include/hip/hip_runtime.h; name the folder with --headers.`);
    return 2;
  }
  const arch = values.device.split(':')[1] ?? 'gfx942';
  const work = resolve(values.work ?? join(root, '.wavesmith/hip-tests'), arch);
  mkdirSync(work, { recursive: true });
  rmSync(join(work, 'catch'), { force: true });
  symlinkSync(suite, join(work, 'catch'));
  const native = process.env.WAVESMITH_NATIVE ?? join(root, 'native/build');
  const rocm = rocmFolder(work, headers);
  Object.assign(process.env, {
    HIP_TESTS_CLANG: clang,
    HIP_TESTS_HEADERS: rocm,
    HIP_TESTS_DEVICE_LIBS: join(root, '.wavesmith/hip-device-libs'),
    HIP_TESTS_NATIVE: join(native, 'lib'),
    HIP_TESTS_ARCH: arch,
  });
  const settings: Settings = { suite, headers: rocm, work, arch, tools: here, hipcc: join(here, 'hipcc.sh') };
  const jobs = Number(values.jobs);
  const disabled = disabledCases(settings);
  const hasList = (folder: string): boolean => existsSync(join(sourceFolder(suite, folder), 'CMakeLists.txt'));
  const only = values.only?.split(',');
  const strange = only?.find((folder) => !hasList(folder));
  if (strange !== undefined) {
    console.error(`hip-tests: ${suite} has no unit/${strange} and no ${strange} with a CMakeLists.txt.`);
    return 2;
  }
  const folders = only ?? readdirSync(join(suite, 'unit')).filter(hasList);
  const started = performance.now();
  const report = (text: string): void =>
    console.error(`[${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s] ${text}`);

  const files = values.files === undefined ? undefined : new RegExp(values.files);
  const plans = folders.map((f) => planFolder(settings, f));
  for (const { folder, problem, lacks } of plans) {
    if (problem !== undefined) report(`${folder}: cmake: ${problem}`);
    for (const name of lacks) {
      report(
        `${folder}: no headers of ${name}, so AMD's CMake leaves out what needs them (Debian: lib${name.toLowerCase()}-dev; or set ${name.toUpperCase()}_ROOT)`,
      );
    }
  }
  const builder = new Builder(settings, report);
  const built: { plan: FolderPlan; tests: BuiltTests }[] = [];
  const absent = plans.flatMap((p) => p.tests.flatMap((t) => t.absent));
  if (absent.length > 0) report(`${absent.length} source files that the suite names are not there`);
  await eachOf(plans, jobs, (plan) => builder.extras(plan));
  const programs = plans.flatMap((plan) => plan.tests.map((program) => ({ plan, program })));
  await eachOf(programs, jobs, async ({ plan, program }) => {
    const chosen =
      files === undefined
        ? program
        : { ...program, sources: program.sources.filter((s) => files.test(s) || !hasCases(s)) };
    if (!chosen.sources.some(hasCases)) return;
    for (const tests of await builder.tests(plan, chosen)) {
      built.push({ plan, tests });
      if (tests.error !== undefined) report(`${plan.folder}: ${basename(tests.sources[0] ?? '')}: ${tests.error}`);
    }
  });
  if (values['build-only']) return built.every((b) => b.tests.error === undefined) ? 0 : 1;

  const again =
    values.again === undefined
      ? undefined
      : new Set(
          readFileSync(values.again, 'utf8')
            .split('\n')
            .filter((l) => l !== '')
            .map((l) => JSON.parse(l) as CaseResult)
            .filter((r) => r.status !== 'passed')
            .map((r) => r.name),
        );
  const pattern = values.cases === undefined ? undefined : new RegExp(values.cases);
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: `${join(native, 'lib')}:${process.env.LD_LIBRARY_PATH ?? ''}`,
    // Tests of hiprtc include the suite's headers.
    HIP_PATH: rocm,
  };
  const queue: { plan: FolderPlan; path: string; name: string }[] = [];
  const results: CaseResult[] = [];
  for (const { plan, tests } of built) {
    if (tests.path === undefined) {
      const name = tests.sources.map((s) => basename(s)).join(' ');
      results.push({ folder: plan.folder, name, status: 'not built', seconds: 0, reason: tests.error ?? '' });
    }
    for (const name of await listCases(tests, plan.binary, env)) {
      if (pattern !== undefined && !pattern.test(name)) continue;
      if (again !== undefined && !again.has(name)) continue;
      if (disabled.has(name)) results.push({ folder: plan.folder, name, status: 'disabled', seconds: 0, reason: '' });
      else queue.push({ plan, path: tests.path as string, name });
    }
  }
  const json = resolve(values.json ?? join(work, 'results.jsonl'));
  rmSync(json, { force: true });
  writeFileSync(json, results.map((r) => `${JSON.stringify(r)}\n`).join(''));
  report(`${queue.length} cases`);
  let done = 0;
  await eachOf(queue, jobs, async ({ plan, path, name }) => {
    const args = [
      join(root, 'bin/wavesmith'),
      'exec',
      '--device',
      values.device,
      '--devices',
      values.devices,
      '--clock',
      'host',
      ...(values.check ? ['--check'] : []),
    ];
    // Cases of math take four fifths of the device's memory at a time if they may.
    const amounts = ['-C', '1', '-M', '1', ...(values.accuracy === undefined ? [] : ['-A', values.accuracy])];
    const ended = await runProcess(process.execPath, [...args, '--', path, escapeName(name), ...amounts], {
      cwd: plan.binary,
      env,
      seconds: Number(values.timeout),
    });
    const result = judge(plan.folder, name, ended);
    results.push(result);
    appendFileSync(json, `${JSON.stringify(result)}\n`);
    done++;
    if (result.status !== 'passed' && result.status !== 'skipped')
      report(`${result.status}: ${name}: ${result.reason}`);
    else if (done % 25 === 0) report(`${done} of ${queue.length}`);
  });
  process.stdout.write(formatTable(results));
  report(`results in ${json}`);
  return results.every((r) => ['passed', 'skipped', 'disabled'].includes(r.status)) ? 0 : 1;
}

process.exitCode = await main();
