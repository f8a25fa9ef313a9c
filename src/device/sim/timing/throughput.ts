// A piece of code that is repeated, without running it: how long a turn takes, which unit it keeps busy, and which chain of results it
// waits for. The same machine replays it as whole kernels; memory is taken to hit the vector cache and LDS to have no conflicts.
import type { Instruction } from '../../../isa/types.ts';
import type { Chip } from './chip.ts';
import { Int32List } from './growing.ts';
import { type CodeInstruction, codeInstruction, isLdsRead, isPermutation } from './kernel-code.ts';
import type { Unit } from './latency-class.ts';
import { ldsPasses, ldsPhases } from './lds-phases.ts';
import { Machine, PROGRESS_STEPS } from './machine.ts';
import { ALL_FRESH } from './neighbours.ts';
import type { GroupTrace } from './record.ts';
import { Translations } from './translations.ts';

/** An instruction of the piece, as `analyseBlock` takes it. */
export interface BlockInstruction {
  readonly pc: number;
  readonly size: number;
  readonly instruction: Instruction;
}

/** One instruction's part of a turn, in cycles. */
export interface BlockLine {
  readonly pc: number;
  readonly instruction: Instruction;
  readonly unit: Unit;
  /** Cycles until a dependent instruction can issue. */
  readonly latency: number;
  /** Cycles its unit is taken. */
  readonly busy: number;
  /** Cycles that the wave stands there in a steady turn with all waves running. */
  readonly stalls: number;
  /** In the chain of results that bounds a turn of one wave. */
  readonly isCritical: boolean;
}

export interface BlockReport {
  readonly chip: string;
  readonly waves: number;
  readonly turns: number;
  readonly lines: readonly BlockLine[];
  /** Cycles of a turn in the steady state, all waves of the SIMD together, and for one wave's turn. */
  readonly cyclesPerTurn: number;
  readonly cyclesPerTurnAndWave: number;
  /** Instructions that one SIMD issues a cycle. */
  readonly ipc: number;
  /** Cycles of each unit that a turn of one wave takes, the busiest first: the bound for many waves. */
  readonly pressure: readonly { readonly unit: Unit; readonly cycles: number }[];
  /** Cycles a turn of one wave takes at least because of results it waits for. */
  readonly chainCycles: number;
}

/** Turns that are replayed: enough for caches and counters to settle in a quarter of them. */
const TURNS = 64;
const SECTOR = 64;

/** What a turn of the code takes with so many waves on one SIMD. */
export function analyseBlock(chip: Chip, block: readonly BlockInstruction[], waves = 1): BlockReport {
  const code = block.map(({ pc, size, instruction }, n) => codeInstruction(chip, n, pc, instruction, size));
  const trace = traceOf(chip, code);
  const simds = chip.get('simdsPerCu');
  // One wave a workgroup; those of the other SIMDs have nothing to do.
  const groups: GroupTrace[] = Array.from({ length: waves * simds }, (_, number) => ({
    number,
    waves: number % simds === 0 ? [trace] : [EMPTY],
  }));
  const { progress, ends, instructions } = new Machine({
    chip,
    code: { list: code },
    groups,
    resident: groups.length,
    share: {
      units: 1,
      unitsOfDie: 1,
      unitsOfChip: 1,
      mallHits: () => 1,
      l2Held: () => ({ part: 1, own: 1 }),
      isShared: () => false,
      sharedPart: 0,
      fresh: ALL_FRESH,
      isForeign: () => false,
      translations: new Translations(chip, { pages: new Map(), known: new Set() }),
    },
    isWarm: true,
    arrival: () => 0,
  }).run();
  // The steady state: from a quarter of the turns on, while all waves still run.
  const firstEnd = Math.min(...ends.filter((_, n) => n % simds === 0));
  let to = 2;
  while (to < PROGRESS_STEPS && (progress[to + 1] as number) <= firstEnd) to++;
  const from = to >>> 2;
  const steps = ((progress[to] as number) - (progress[from] as number)) / (to - from);
  const cyclesPerTurnAndWave = (steps * PROGRESS_STEPS) / TURNS;
  const busy = code.map((c) => busyCycles(chip, c));
  const chain = criticalChain(chip, code);
  const pressure = new Map<Unit, number>();
  code.forEach((c, n) => {
    // A wave's slot handles internal instructions itself: other waves go on.
    if (c.unit !== 'internal') pressure.set(c.unit, (pressure.get(c.unit) ?? 0) + (busy[n] as number));
  });
  return {
    chip: chip.name,
    waves,
    turns: TURNS,
    lines: code.map((c, n) => {
      const t = instructions[n];
      const stalls = t === undefined ? 0 : Object.values(t.stalls).reduce((a, b) => a + b, 0) / Math.max(1, t.hits);
      return {
        pc: c.offset,
        instruction: c.instruction,
        unit: c.unit,
        latency: latencyOf(chip, c),
        busy: busy[n] as number,
        stalls,
        isCritical: chain.members.has(n),
      };
    }),
    cyclesPerTurn: cyclesPerTurnAndWave / waves,
    cyclesPerTurnAndWave,
    ipc: (code.length * waves) / cyclesPerTurnAndWave,
    pressure: [...pressure].map(([unit, cycles]) => ({ unit, cycles })).sort((a, b) => b.cycles - a.cycles),
    chainCycles: chain.cycles,
  };
}

const EMPTY = { path: new Int32List(1), accesses: new Int32List(1), isWhole: true };

/** All turns of one wave. Lanes access consecutive elements, every turn the same ones. */
function traceOf(chip: Chip, code: readonly CodeInstruction[]): GroupTrace['waves'][number] {
  const path = new Int32List(TURNS * code.length);
  const accesses = new Int32List();
  for (let turn = 0; turn < TURNS; turn++) {
    code.forEach((c, n) => {
      path.push(n);
      if (c.unit === 'lds') accesses.push(passesOf(chip, c));
      else if (c.plan !== undefined) {
        const lines = c.unit === 'smem' ? 1 : Math.ceil((256 * c.dwords) / SECTOR);
        accesses.push(lines);
        for (let line = 0; line < lines; line++) accesses.push(1024 * n + line);
      }
    });
  }
  return { path, accesses, isWhole: true };
}

/** Passes of an LDS access to consecutive elements. */
function passesOf(chip: Chip, { instruction, dwords }: CodeInstruction): number {
  if (isPermutation(instruction)) return 2;
  const bytes = Math.min(16, 4 * dwords);
  const addresses = Float64Array.from({ length: 64 }, (_, lane) => lane * bytes);
  return ldsPasses(addresses, bytes, ldsPhases(chip.get('lds.wideBanks'), bytes, isLdsRead(instruction)));
}

/** Cycles that an instruction takes its unit. */
function busyCycles(chip: Chip, c: CodeInstruction): number {
  switch (c.unit) {
    case 'lds':
      return Math.max(passesOf(chip, c) * chip.get('lds.extraPass'), (256 * c.dwords) / chip.get('lds.rate'));
    case 'vmem':
      return Math.max((256 * c.dwords) / chip.get('vl1d.rate'), chip.get('issue.interval'));
    case 'internal':
      return c.idle;
    default:
      return c.issue;
  }
}

/** Cycles until a result can be used; memory hits the nearest cache. */
function latencyOf(chip: Chip, c: CodeInstruction): number {
  switch (c.unit) {
    case 'lds':
      return chip.get('lds.latency') + Math.max(0, busyCycles(chip, c) - 256 / chip.get('lds.rate'));
    case 'vmem':
      return chip.get(c.isAtomic ? 'l2.latency' : 'vl1d.latency') + ((c.dwords - 1) * 256) / chip.get('vl1d.rate');
    case 'smem':
      return chip.get('sl1d.latency');
    case 'internal':
      return c.idle;
    default:
      return c.latency;
  }
}

/**
 * The longest chain of results through turns: cycles of one turn of it, and its instructions. Dependences are those of registers, with
 * every other instruction issued for free.
 */
function criticalChain(
  chip: Chip,
  code: readonly CodeInstruction[],
): { readonly cycles: number; readonly members: ReadonlySet<number> } {
  const turns = 2 * Math.min(TURNS, Math.max(4, code.length));
  const ready = new Map<number, { readonly time: number; readonly step: number }>();
  const from: number[] = [];
  const ends: number[] = [];
  const latest: number[] = [];
  let last = -1;
  for (let turn = 0; turn < turns; turn++) {
    code.forEach((c, n) => {
      const step = turn * code.length + n;
      let start = 0;
      let previous = -1;
      for (const slot of c.uses) {
        const found = ready.get(slot);
        if (found === undefined || found.time <= start) continue;
        start = found.time;
        previous = found.step;
      }
      from.push(previous);
      ends.push(start + latencyOf(chip, c));
      for (const slot of c.defs) ready.set(slot, { time: ends[step] as number, step });
      if (last < 0 || (ends[step] as number) > (ends[last] as number)) last = step;
    });
    latest.push(ends[last] ?? 0);
  }
  const middle = turns / 2;
  const cycles = ((latest[turns - 1] ?? 0) - (latest[middle - 1] ?? 0)) / (turns - middle);
  const members = new Set<number>();
  // Without a chain from turn to turn, the longest one inside a turn.
  const least = cycles > 0 ? middle * code.length : 0;
  for (let step = last; step >= least; step = from[step] as number) members.add(step % code.length);
  return { cycles, members };
}
