// The extended table: forms of vector instructions that the ordinary one does not have. It says what it covers, and what it leaves out.
import { laneMoves, scalars } from './lane-rows.ts';
import { memory } from './memory-rows.ts';
import { directedRounding } from './rounding-rows.ts';
import { closeDevices, Loop, type Row } from './timing.ts';
import { dpp, everyVector, firstOperands, kinds, modifiers, sdwa } from './vector-rows.ts';

/** ms of one measurement; a row above SECOND_LOOK is measured again, longer. */
const SHORT = 10;
const LONG = 20;
const SECOND_LOOK = 2.5;
/** Times v_fma_f32 from which a row is measured once more, each time between two times of v_fma_f32, and printed. */
const PRINTED = 3.3;
const CLIFF = 4;
const ROUNDS = 5;

/** The median of how many times as long as v_fma_f32 a loop takes, each time against those of it before and after: others on the machine slow both. */
async function besides(loop: Loop, fma: Loop): Promise<number> {
  const found: number[] = [];
  for (let k = 0; k < ROUNDS; k++) {
    await fma.time(SHORT);
    const before = fma.last;
    await loop.time(LONG);
    await fma.time(SHORT);
    found.push((2 * loop.last) / (before + fma.last));
  }
  return found.sort((x, y) => x - y)[ROUNDS >> 1] as number;
}

/** Times rows of the chosen sections whose names match, and prints those near a cliff, the worst first. */
export async function extendedTable(only: RegExp): Promise<void> {
  const vectors = [...everyVector(), ...firstOperands(), ...sdwa(), ...dpp(), ...modifiers(), ...kinds()];
  const all = [...vectors, ...directedRounding(), ...memory(), ...laneMoves(), ...scalars()];
  const fmaRow = all.find(({ name }) => name === 'v_fma_f32');
  if (fmaRow === undefined) throw new Error('no v_fma_f32');
  const fma = await Loop.of(fmaRow);
  for (let k = 0; k < 5; k++) await fma.time(3 * LONG);
  const rows = all.filter(({ name, section }) => only.test(`${section}: ${name}`));
  const ratios = new Map<Row, number>();
  const loops = new Map<Row, Loop>();
  const ratioOf = (row: Row, loop: Loop): number => (loop.least * row.instructions) / row.operations / fma.least;
  for (const row of rows) {
    const loop = await Loop.of(row);
    for (let k = 0; k < 2; k++) await loop.time(SHORT);
    if (ratioOf(row, loop) > SECOND_LOOK) {
      await fma.time(LONG);
      for (let k = 0; k < 3; k++) await loop.time(LONG);
    }
    loops.set(row, loop);
  }
  for (const [row, loop] of loops) {
    const ratio = ratioOf(row, loop);
    ratios.set(row, ratio < PRINTED ? ratio : (await besides(loop, fma)) * (row.instructions / row.operations));
  }
  closeDevices();
  console.log(`
Extended table, gfx942 unless a row says otherwise: every vector instruction of gfx942 and those that only gfx90a and gfx950 have; first
operands in scalar registers, inline and literal; SDWA; DPP; negated, absolute, clamped and op_sel forms; floats of each kind (of "mixed"
an eighth of the lanes is special); sums, products and multiply-adds of f32 and f64 in the directed roundings. Operands differ from lane to lane. Memory by dword of
a lane, buffers with some lanes out of range too; scalar instructions by wavefront. Not in it: matrix instructions, other operations in the
directed roundings.
Rows from ${PRINTED} times v_fma_f32 by operation of a lane, worst first (the median of ${ROUNDS} times beside it):`);
  const sorted = [...ratios].sort(([, a], [, b]) => b - a);
  for (const [row, ratio] of sorted) {
    if (ratio < PRINTED) break;
    const ns = (loops.get(row) as Loop).least;
    console.log(
      `  ${`${row.section}: ${row.name}`.padEnd(68)}${ns.toFixed(1).padStart(9)}${ratio.toFixed(1).padStart(8)}`,
    );
  }
  for (const section of new Set(rows.map((row) => row.section))) {
    const own = sorted.filter(([row]) => row.section === section);
    console.log(`${own.filter(([, ratio]) => ratio > CLIFF).length} of ${own.length} above ${CLIFF}: ${section}`);
  }
}
