// How long checking takes. First `check` and `inspect` as whole processes, start-up included, on code that does not repeat itself, and
// `check` of a library of 10 MB with its memory: the different objects of the reference data as often as it takes.
// Then inside one process, lifting included: the code object with the most code in one kernel of the corpus, the 167 kernels of an
// IREE module, and how time grows with code size. There `first ms` is cold and the others are warm, and the kernels of the last rows
// are n copies of one loop, so they show growth and not speed. Files can be given instead; `--libraries` only checks libraries.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { checkCodeObject, countFindings } from '../src/check/index.ts';
import { type CodeObject, codeObjectsOf, openContainer, writeBundle } from '../src/codeobject/index.ts';
import { isTargetName } from '../src/isa/table/targets.ts';
import { liftCodeObject } from '../src/program/index.ts';
import { kernelObject } from '../tests/support/kernel-source.ts';
import { printHeader, program, report, root, wavesmith, withFolder } from './support/processes.ts';
import { benchObjects, corpusObjects } from './support/texts.ts';

const shared = join(root, '..', 'shared');
const ROUNDS = 9;
const PROCESS_ROUNDS = 3;

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

function objectsOf(file: string): CodeObject[] {
  const all = codeObjectsOf(openContainer(readFileSync(file), file));
  return all.filter((c) => isTargetName(c.target.processor));
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesIn(path);
    return /\.(?:co|hsaco)$/.test(path) ? [path] : [];
  });
}

/** The file whose code object has the most executable bytes in one kernel. */
function largest(files: readonly string[]): string | undefined {
  let best: { file: string; bytes: number } | undefined;
  for (const file of files) {
    for (const { elf, kernels } of objectsOf(file)) {
      const bytes = (elf.section('.text')?.bytes.length ?? 0) / Math.max(1, kernels.length);
      if (best === undefined || bytes > best.bytes) best = { file, bytes };
    }
  }
  return best?.file;
}

/** A kernel of `count` pipelined loops. */
function synthetic(count: number): CodeObject {
  const loop = (n: number): string =>
    [
      `.L${n}:`,
      'global_load_dwordx4 v[4:7], v[0:1], off',
      'v_fma_f32 v2, v2, v2, v3',
      's_waitcnt vmcnt(0)',
      'v_add_f32 v2, v4, v2',
      'ds_write_b32 v0, v2',
      's_waitcnt lgkmcnt(0)',
      's_barrier',
      's_sub_u32 s2, s2, 1',
      's_cmp_lg_u32 s2, 0',
      `s_cbranch_scc1 .L${n}`,
    ].join('\n');
  const start = ['v_mov_b32 v1, 0', 'v_mov_b32 v2, 0', 'v_mov_b32 v3, 0', 's_mov_b32 s2, 4'];
  return kernelObject({ code: [...start, ...Array.from({ length: count }, (_, n) => loop(n))].join('\n') });
}

function row(name: string, objects: readonly CodeObject[]): void {
  const times: number[] = [];
  let first = 0;
  let findings = 0;
  let instructions = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    findings = 0;
    for (const codeObject of objects) findings += countFindings(checkCodeObject(codeObject)).error;
    const took = performance.now() - started;
    if (round === 0) first = took;
    times.push(took);
  }
  for (const codeObject of objects) instructions += liftCodeObject(codeObject).instructions.length;
  const kernels = objects.reduce((n, c) => n + c.kernels.length, 0);
  const middle = median(times);
  const cells = [
    kernels,
    instructions,
    first.toFixed(0),
    middle.toFixed(0),
    Math.min(...times).toFixed(0),
    ((1000 * Math.min(...times)) / instructions).toFixed(1),
  ];
  console.log(
    `${name.slice(0, 52).padEnd(52)} ${cells.map((c) => String(c).padStart(12)).join(' ')}  ${findings} errors`,
  );
}

const LIBRARY_BYTES = 10e6;
const LIBRARY_KERNELS = 1316;

interface Library {
  readonly bytes: number;
  readonly kernels: number;
}

/** A bundle of the code objects of the reference data, again from the first when there are no more, until there are enough. */
function library(path: string, objects: readonly CodeObject[], isEnough: (soFar: Library) => boolean): string {
  const entries: { id: string; bytes: Uint8Array }[] = [];
  let [size, kernels] = [0, 0];
  for (let i = 0; !isEnough({ bytes: size, kernels }); i++) {
    const object = objects[i % objects.length] as CodeObject;
    entries.push({ id: `hipv4-${object.targetId}`, bytes: object.elf.bytes });
    size += object.elf.bytes.length;
    kernels += object.kernels.length;
  }
  writeFileSync(path, writeBundle(entries));
  const different = Math.min(objects.length, entries.length);
  return `${entries.length} objects, ${different} different (${kernels} kernels, ${(size / 1e6).toFixed(1)} MB)`;
}

/** Prints its memory when the process ends. */
const MEMORY = 'data:text/javascript,process.on("exit",()=>console.error(process.resourceUsage().maxRSS))';

/** Large kernels up to 10 MB, and many small ones: libraries of thousands of kernels are as large. */
function checkLibraries(folder: string): void {
  const objects = [...new Set(corpusObjects().map(({ path }) => path))].flatMap(objectsOf);
  const full = objects.filter(({ kernels }) => kernels.length > 0);
  if (full.length === 0) return;
  const small = full.filter(
    ({ elf, kernels }) => elf.bytes.length / kernels.length < 1.2 * (LIBRARY_BYTES / LIBRARY_KERNELS),
  );
  const path = join(folder, 'library.hipfb');
  checkLibrary(
    folder,
    path,
    library(path, full, ({ bytes }) => bytes >= LIBRARY_BYTES),
  );
  if (small.length > 0)
    checkLibrary(
      folder,
      path,
      library(path, small, ({ kernels }) => kernels >= LIBRARY_KERNELS),
    );
}

function checkLibrary(folder: string, path: string, what: string): void {
  console.log(what);
  const check = { ...program(wavesmith, 'check', path), statuses: [0, 1] };
  report('  check (goal: 10 s of processor time)', check, join(folder, 'out'), PROCESS_ROUNDS);
  const { stderr } = spawnSync(process.execPath, ['--import', MEMORY, wavesmith, 'check', path], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  console.log(`  check, memory at most (goal: 500 MB) ${(Number(stderr.trim()) / 1000).toFixed(0)} MB`);
}

/** The commands as their users run them. */
function wholeProcesses(): void {
  withFolder((folder) => {
    console.log('Whole processes, start-up included, output to a file.\n');
    printHeader();
    for (const { name, path } of benchObjects(folder)) {
      console.log(name);
      const check = { ...program(wavesmith, 'check', path), statuses: [0, 1] };
      report('  check', check, join(folder, 'out'), PROCESS_ROUNDS);
      report('  inspect', program(wavesmith, 'inspect', path), join(folder, 'out'), PROCESS_ROUNDS);
    }
    checkLibraries(folder);
    console.log(
      '\nInside one process, its start not included; the first time is cold, the others are warm. Rows of loops are copies of one.\n',
    );
  });
}

if (process.argv.includes('--libraries')) withFolder((folder) => checkLibraries(folder));
else if (process.argv.length <= 2) wholeProcesses();
console.log(
  `${'code'.padEnd(52)} ${['kernels', 'instructions', 'first ms', 'median ms', 'best ms', 'µs/instr.'].map((c) => c.padStart(12)).join(' ')}`,
);
if (process.argv.includes('--libraries')) process.exit(0);
const given = process.argv.slice(2);
const module_ = join(shared, 'vmfb', 'llama8b-fp8.gfx942.vmfb');
const big = given.length > 0 ? undefined : largest(filesIn(join(shared, 'corpus')));
for (const file of given.length > 0
  ? given
  : [...(big === undefined ? [] : [big]), ...(existsSync(module_) ? [module_] : [])]) {
  row(basename(file), objectsOf(file));
}
if (given.length === 0) for (const count of [250, 500, 1000, 2000]) row(`${count} loops`, [synthetic(count)]);
