// `npm run bench replay` (`node scripts/run-ts.mjs bench/replay.bench.ts [--only TEXT] [--hip] [--kill] [--fresh] [--programs]`): captures of many different kernels. For each: size,
// milliseconds of the run with recording, without and with proof, 20 replays, the overhead of an iteration beside its dispatch, the wrong versions
// and mutants of the kernel that a replay must find, and the parts of the capture that it must miss. `--hip` adds kernels of HIP programs. Then: a
// large address space of which little is touched. `--kill` ends 30 recordings at random moments, `--fresh` records and replays in 20 processes, `--programs` gives the
// processor time of a program that is watched and not captured.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assembleAndLink } from '../src/asm/index.ts';
import { randomBytes } from '../src/base/index.ts';
import { type DeviceBuffer, SimDevice } from '../src/device/index.ts';
import { type Capture, openCapture } from '../src/snapshot/index.ts';
import { mutationScore } from '../tests/support/capture-mutants.ts';
import { needlessParts } from '../tests/support/capture-removals.ts';
import {
  budgetBeside,
  captureSubjects,
  recordFirst,
  replayOnce,
  wrongVersions,
} from '../tests/support/capture-subjects.ts';
import { captureObject } from '../tests/support/captures.ts';
import { compileHip } from '../tests/support/hip.ts';
import { kernelSource } from '../tests/support/kernel-source.ts';
import { killCaptures } from '../tests/support/kill-captures.ts';
import { CAPTURED_PROGRAMS, captureKernels } from '../tests/support/program-captures.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-replay-'));
const only = process.argv[process.argv.indexOf('--only') + 1] ?? '';
const isLimited = process.argv.includes('--only');
const ms = (n: number): string => n.toFixed(n < 10 ? 2 : 0).padStart(7);
let failures = 0;
let [tried, found, captures, equal] = [0, 0, 0, 0];
const overheads: number[] = [];
const kernels = new Set<string>();
/** Mutants of each kind and kernel that are tried. */
const MUTANTS = 8;
const MUTANT_KINDS = ['bound', 'further', 'stale'] as const;
const changed = { bound: 0, further: 0, stale: 0 };
const withMutants = { bound: 0, further: 0, stale: 0 };
/** Parts of each capture that are left out. */
const PARTS = 12;
let [unchanged, missedMutants, parts, needless] = [0, 0, 0, 0];

/** Runs the command in a process of its own; the processor time is that of all its processes. */
function wavesmith(...args: readonly string[]): { readonly status: number | null; readonly seconds: number } {
  const script = `"$0" "$@" > /dev/null 2>&1; s=$?; times; exit $s`;
  const run = spawnSync('bash', ['-c', script, process.execPath, 'bin/wavesmith', ...args], { encoding: 'utf8' });
  // The second line of `times` is that of ended children: user and system, 0m1.234s.
  const [user = 0, system = 0] = [...(run.stdout.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, m, s]) => 60 * Number(m) + Number(s),
  );
  return { status: run.status, seconds: user + system };
}

async function one(name: string, run: () => Promise<unknown>): Promise<void> {
  const path = join(folder, 'one.wscap');
  const started = performance.now();
  const recorded = await recordFirst(run, path, { replace: true, prove: false });
  const recording = performance.now() - started;
  const again = performance.now();
  await recordFirst(run, path, { replace: true });
  const proved = performance.now() - again;
  await judge(
    openCapture(path),
    name,
    `${ms(recording)} ms recorded ${ms(proved)} ms with proof and orders ${String(recorded.stored).padStart(9)} bytes `,
  );
}

/** Replays a capture, wrong versions of it, mutants of its kernel, and the capture without parts of it. */
async function judge(capture: Capture, name: string, before: string): Promise<void> {
  captures++;
  kernels.add(`${capture.manifest.code.sha256} ${capture.manifest.dispatch.kernel}`);
  const replayed = await replayOnce(capture, { iterations: 20 });
  if (replayed.verdict === 'equal') equal++;
  const instructions = replayed.dispatch?.instructions ?? 0;
  overheads.push(replayed.times?.overhead ?? 0);
  const missed: string[] = [];
  for (const version of wrongVersions(capture, folder)) {
    tried++;
    const result = await replayOnce(version.path === undefined ? capture : openCapture(version.path), {
      code: version.code,
      against: version.path === undefined ? undefined : capture,
      maxInstructions: budgetBeside(instructions),
    });
    if (result.ok) missed.push(version.name);
    else found++;
  }
  const mutants = await mutationScore(capture, MUTANTS);
  for (const kind of MUTANT_KINDS) {
    changed[kind] += mutants.changed[kind];
    if (mutants.changed[kind] > 0) withMutants[kind]++;
  }
  unchanged += mutants.same;
  missedMutants += mutants.missed.length;
  const without = await needlessParts(capture, PARTS, 1, instructions);
  parts += without.tried;
  needless += without.needless.length;
  missed.push(...mutants.missed, ...without.needless.map((part) => `without ${part}`));
  const hasMutants = mutants.changed.bound + mutants.changed.further > 0 && mutants.changed.stale > 0;
  if (!hasMutants) missed.push('no mutant changes memory');
  if (replayed.verdict !== 'equal' || missed.length > 0) failures++;
  const order = (capture.manifest.determinism?.varying.length ?? 0) > 0 ? ', order matters' : '';
  const wrong = missed.length > 0 ? `  MISSED ${missed.join(', ')}` : '';
  const counts = MUTANT_KINDS.map((kind) => `${mutants.changed[kind]} ${kind}`).join(', ');
  const overhead = ms(replayed.times?.overhead ?? 0);
  console.log(`${before} overhead ${overhead} ms  ${replayed.verdict}${order}${wrong}  ${name}  (${counts})`);
}

for (const { name, run } of captureSubjects()) {
  if (isLimited && !name.includes(only)) continue;
  try {
    await one(name, run);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name}: ${(error as Error).message}`);
  }
}
if (process.argv.includes('--hip')) {
  for (const program of CAPTURED_PROGRAMS) {
    const { captures: made } = await captureKernels(program, folder);
    if (made.length === 0) failures++;
    for (const capture of made)
      await judge(capture, `${program.sources[0]} ${capture.manifest.dispatch.kernel}`, 'HIP ');
  }
}
console.log('Timed: recording and proof inside one process, each kernel once; replays repeat and are warm.');
const sorted = overheads.sort((a, b) => a - b);
console.log(
  `${captures} captures of ${kernels.size} kernels, ${equal} replay equal 20 times; ${found} of ${tried} wrong versions found; overhead of an iteration: median ${ms(sorted[sorted.length >> 1] ?? 0)} ms, most ${ms(sorted.at(-1) ?? 0)} ms`,
);
const counts = MUTANT_KINDS.map((kind) => `${changed[kind]} of kind ${kind} (of ${withMutants[kind]} captures)`).join(
  ', ',
);
console.log(
  `mutants that change memory: ${counts}; ${missedMutants} replay equal; ${unchanged} more leave memory as it is\n${parts} captures without a chunk, its state before or its state after: ${needless} replay equal`,
);

/** Addresses from one allocation of the large address space to the next, and the bytes of each: the virtual GPU has 4 GiB. */
const STRIDE = 5 * 2 ** 31;
const LARGE = 3 * 2 ** 28;
/** Each of 1024 workgroups adds to 4 KiB, 3 MiB from the next one's; 256 in each of four allocations. */
const SCATTER = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_lshr_b32 s6, s2, 8
  s_and_b32 s7, s2, 0xff
  s_mul_i32 s7, s7, 0x300000
  s_mul_i32 s10, s6, 5
  s_mov_b32 s11, 0
  s_lshl_b64 s[10:11], s[10:11], 31
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, s7
  s_addc_u32 s5, s5, 0
  s_add_u32 s4, s4, s10
  s_addc_u32 s5, s5, s11
  v_lshlrev_b32_e32 v1, 4, v0
  global_load_dwordx4 v[2:5], v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v2, 1, v2
  global_store_dwordx4 v1, v[2:5], s[4:5]
`;
if (!isLimited || only === 'large') {
  const code = assembleAndLink(kernelSource({ code: SCATTER }));
  const path = join(folder, 'large.wscap');
  const started = performance.now();
  const before = process.cpuUsage();
  const summary = await recordFirst(
    async () => {
      const device = new SimDevice('gfx942');
      const buffers = [0, 1, 2, 3].map((n) => device.allocAt(0x100000000000 + n * STRIDE, LARGE, `large ${n}`));
      for (let n = 0; n < 1024; n++) {
        device.write(buffers[n >> 8] as DeviceBuffer, randomBytes(4096, n), (n & 255) * 3 * 2 ** 20);
      }
      await device.dispatch({
        kernel: device.load(code).kernel('k'),
        grid: [1024, 1, 1],
        block: [256, 1, 1],
        args: buffers.slice(0, 1),
      });
      device.close();
    },
    path,
    { orders: false },
  );
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  console.log(
    `31 GiB of addresses, 3 GiB allocated in it, 4 MiB touched in 1024 places: ${summary.stored} bytes, ${seconds.toFixed(2)} s with the proof (processor: ${((user + system) / 1e6).toFixed(2)} s)`,
  );
}
if (process.argv.includes('--kill')) {
  const report = await killCaptures(process.cwd(), 30, 1);
  failures += report.wrong.length;
  console.log(
    `30 recordings killed: ${report.complete} complete, ${report.incomplete} incomplete and say so, ${report.nothing} before anything was written, ${report.wrong.length} wrong ${report.wrong.join('; ')}`,
  );
}
if (process.argv.includes('--fresh')) {
  const code = join(folder, 'fresh.co');
  writeFileSync(code, captureObject());
  const launch = ['--kernel', 'k', '--grid', '16', '--block', '64'];
  const args = ['i32[1024]=7', 'i32[1024]=random:3', 'i32=1000', 'i32=0'].flatMap((a) => ['--arg', a]);
  const hashes = new Set<string>();
  let same = 0;
  for (let n = 0; n < 20; n++) {
    const path = join(folder, `fresh-${n}.wscap`);
    wavesmith('run', code, ...launch, ...args, '--capture', path);
    hashes.add(openCapture(path).hash);
    if (wavesmith('replay', 'full-vm', path).status === 0) same++;
  }
  if (same !== 20 || hashes.size !== 1) failures++;
  console.log(`20 recordings, each replayed in a process of its own: ${same} equal, ${hashes.size} manifest hashes`);
}
if (process.argv.includes('--programs')) {
  const program = await compileHip({ sources: ['isolate'], targets: ['gfx942'] });
  const seconds = { exec: 0, capture: 0 };
  const repeat = 'for i in 1 2 3 4 5 6 7 8; do "$0" > /dev/null; done';
  for (let n = 0; n < 5; n++) {
    seconds.exec += wavesmith('exec', '--', 'bash', '-c', repeat, program).seconds;
    const none = ['--kernel', 'no such kernel', '-o', join(folder, 'none.wscap')];
    seconds.capture += wavesmith('capture', ...none, '--', 'bash', '-c', repeat, program).seconds;
  }
  const ratio = (seconds.capture / seconds.exec).toFixed(2);
  console.log(
    `a program that is watched and not captured: ${ratio} of its processor time (${(seconds.exec / 5).toFixed(2)} s)`,
  );
}
rmSync(folder, { recursive: true, force: true });
process.exit(failures === 0 ? 0 : 1);
