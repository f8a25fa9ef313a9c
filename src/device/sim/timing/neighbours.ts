// What a workgroup shares with its neighbours of the grid: halos and lines that the borders of tiles cut, on its own die, and lines into which
// other dies store too. Sampled workgroups seldom have their neighbours beside them, so these are recorded for one of them.
import type { Launch } from '../dispatch/launch.ts';
import type { Chip } from './chip.ts';
import type { CodeInstruction, KernelCode } from './kernel-code.ts';
import { type GroupTrace, LINE_UNIT_BITS, SECTORS_OF_DWORD, type WaveTrace } from './record.ts';

/** The part of the sectors of a workgroup that no later workgroup of its die asks for again, of loads and of stores. */
export interface Fresh {
  readonly loads: number;
  readonly stores: number;
}

export const ALL_FRESH: Fresh = { loads: 1, stores: 1 };

const SEVERAL = -1;

/** Sectors that a workgroup loads or stores. */
export type SectorsOf = (trace: GroupTrace, stores: boolean) => Iterable<number>;

/** How much later than workgroup `number` its neighbours of higher number on the same die are. */
export function laterNeighbours(chip: Chip, launch: Launch, number: number): number[] {
  const [width, height] = launch.grid;
  const [x, y] = [number % width, Math.floor(number / width) % height];
  if (y + 1 >= height) return [];
  return [-1, 0, 1]
    .filter((dx) => x + dx >= 0 && x + dx < width)
    .map((dx) => dx + width)
    .filter((step) => step % chip.get('xccs') === 0);
}

/** Steps from workgroup `number` to neighbours in a row and in a column that run on other dies. */
export function foreignNeighbours(chip: Chip, launch: Launch, number: number): number[] {
  return [1, launch.grid[0]]
    .filter((step) => step % chip.get('xccs') !== 0)
    .map((step) => (number + step < launch.workgroups ? step : -step))
    .filter((step) => number + step >= 0 && number + step < launch.workgroups);
}

/**
 * Compares the sectors of `reference` with those of its later neighbours. A neighbour that comes after more workgroups than L2 holds
 * finds nothing any more.
 */
export function freshParts(
  chip: Chip,
  reference: GroupTrace,
  later: readonly { readonly step: number; readonly trace: GroupTrace }[],
  sectorsOf: SectorsOf,
): Fresh {
  const own = [false, true].map((stores) => new Set(sectorsOf(reference, stores)));
  const bytes = own.reduce((sum, sectors) => sum + sectors.size, 0) * 2 ** LINE_UNIT_BITS;
  const near = later.filter(({ step }) => (step / chip.get('xccs')) * bytes <= chip.get('l2.bytes'));
  const [loads = 1, stores = 1] = own.map((sectors, kind) => {
    const again = new Set<number>();
    for (const { trace } of near) {
      for (const sector of sectorsOf(trace, kind === 1)) if (sectors.has(sector)) again.add(sector);
    }
    return sectors.size === 0 ? 1 : 1 - again.size / sectors.size;
  });
  return { loads, stores };
}

/**
 * Lines of L2 that a workgroup shares with stores of workgroups on other dies: those which the ends of its stores cut and only one of its
 * waves stores into. Whether neighbours do store into them is known of the reference alone.
 */
export function edgeLines(chip: Chip, traces: readonly GroupTrace[], code: Pick<KernelCode, 'list'>): Set<number> {
  const edges = new Set<number>();
  const shift = Math.log2(chip.get('l2.line')) - LINE_UNIT_BITS;
  const last = (1 << shift) - 1;
  for (const { waves } of traces) {
    const owner = new Map<number, number>();
    const cut = new Set<number>();
    waves.forEach((wave, n) => {
      for (const { sectors, dwords } of storesOf(wave, code)) {
        for (const sector of sectors) {
          const line = sector >>> shift;
          owner.set(line, (owner.get(line) ?? n) === n ? n : SEVERAL);
        }
        const isUnaligned = sectors.length > SECTORS_OF_DWORD * dwords;
        const [low, high] = [Math.min(...sectors), Math.max(...sectors)];
        if (isUnaligned || (low & last) !== 0) cut.add(low >>> shift);
        if (isUnaligned || (high & last) !== last) cut.add(high >>> shift);
      }
    });
    for (const line of cut) if (owner.get(line) !== SEVERAL) edges.add(line);
  }
  return edges;
}

/** The vector stores of a wave. */
function* storesOf(
  { path, accesses }: WaveTrace,
  code: Pick<KernelCode, 'list'>,
): Generator<{ readonly sectors: Int32Array; readonly dwords: number }> {
  let at = 0;
  for (let n = 0; n < path.length; n++) {
    const instruction = code.list[path.data[n] as number] as CodeInstruction;
    if (instruction.unit === 'lds') at++;
    else if (instruction.plan !== undefined) {
      const count = accesses.data[at] as number;
      if (instruction.unit === 'vmem' && instruction.stores && !instruction.isAtomic) {
        yield { sectors: accesses.data.subarray(at + 1, at + 1 + count), dwords: instruction.dwords };
      }
      at += 1 + count;
    }
  }
}
