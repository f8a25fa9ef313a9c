// Counters that each wave has in scalar registers of its own: which of them there are registers for, what sets them to zero where a kernel
// begins, and what adds them to memory before every s_endpgm.
import { PRELOAD_STUB, type Program } from '../program/index.ts';
import type { Sum } from './emit-sums.ts';
import type { Point } from './points.ts';
import type { CallGroup } from './registers.ts';
import type { PlacedState } from './state.ts';
import { isLane, isWide, type Statement, type Value } from './values.ts';
import type { ProbeKernel } from './view.ts';

/** A counter of a wave: 32 bits where the code runs at most once, 64 elsewhere. */
export interface WaveCounter {
  readonly low: number;
  readonly high: number | undefined;
}

/** The counters of a group's points. */
export interface WaveCounters {
  /** By point and by the name of its state. */
  readonly registers: ReadonlyMap<Point, ReadonlyMap<string, WaveCounter>>;
  /** Points in blocks that end a wave, whose constants are added there. */
  readonly atEnds: ReadonlySet<Point>;
  /** The counter of each of these points among those of its state. */
  readonly sites: ReadonlyMap<Point, ReadonlyMap<string, number>>;
  /** Where the kernel begins, and the code there. */
  readonly start: { readonly pc: number; readonly lines: readonly string[] };
  /** Where waves end, and what is added there. */
  readonly ends: readonly {
    readonly pc: number;
    readonly kernel: ProbeKernel;
    /** The first counter of each state. */
    readonly first: ReadonlyMap<string, { readonly state: PlacedState; readonly site: number }>;
    readonly sums: readonly Sum[];
  }[];
}

/** Scalar registers that other code of points may need. */
const RESERVE = 8;
const LANES = 64;

type Addition = Extract<Statement, { kind: 'add' }>;

/** What points do, when all of it is adding to counters that may be in registers, some of it on conditions. */
function additions(statements: readonly Statement[], names: ReadonlySet<string>): Addition[] | undefined {
  const out: Addition[] = [];
  for (const statement of statements) {
    if (statement.kind === 'if') {
      const inner = additions(statement.body, names);
      if (inner === undefined) return undefined;
      out.push(...inner);
    } else if (statement.kind === 'add' && names.has(statement.state) && isCount(statement.value)) out.push(statement);
    else return undefined;
  }
  return out;
}

function isCount(value: Value): boolean {
  return !isLane(value) && !isWide(value);
}

/** Whether what a point adds when it runs once fits 32 bits. */
function isNarrow(adds: readonly Addition[]): boolean {
  const most = (value: Value): number =>
    value.op === 'constant' ? Number(value.value) : value.op === 'popcount' ? LANES : 2 ** 32;
  return adds.reduce((sum, { value }) => sum + most(value), 0) < 2 ** 32;
}

/** By block: whether it may run more than once. Every way back leads over code that all lies between two addresses. */
function repeatedBlocks({ blocks }: Program): boolean[] {
  const depth = new Int32Array(blocks.length + 1);
  for (const { index, successors } of blocks) {
    for (const next of successors) {
      if (next > index) continue;
      depth[next] = (depth[next] as number) + 1;
      depth[index + 1] = (depth[index + 1] as number) - 1;
    }
  }
  let sum = 0;
  return blocks.map((_, i) => {
    sum += depth[i] as number;
    return sum > 0;
  });
}

/**
 * Plans the counters of a group with one kernel. `free`: scalar registers that nothing names; those that are taken have lower numbers.
 * Undefined when the probe has no such counters.
 */
export function planWaveCounters(
  program: Program,
  { kernels, functions }: CallGroup,
  own: readonly Point[],
  states: readonly PlacedState[],
  free: readonly number[],
): WaveCounters | undefined {
  const names = new Set(
    states.filter(({ shape }) => shape.kind === 'counters' && shape.inRegisters).map((s) => s.name),
  );
  const [main] = kernels;
  if (names.size === 0 || main === undefined || kernels.length > 1) return undefined;
  const isOpen = functions.some(({ blocks }) =>
    blocks.some((index) => program.blocks[index]?.exit === 'call' && program.blocks[index]?.callees.length === 0),
  );
  const start = program.instructions[program.blocks[main.entryBlocks.at(-1) ?? -1]?.first ?? -1];
  if (isOpen || start === undefined) return undefined;
  const repeated = repeatedBlocks(program);
  const hasStub = main.entryBlocks.length > 1;
  const wanted: { point: Point; adds: Addition[]; isWide: boolean }[] = [];
  const atEnds = new Set<Point>();
  for (const point of own) {
    const adds = point.problem === undefined ? additions(point.statements, names) : undefined;
    const block = program.blockAt(point.pc);
    const isInStub = hasStub && point.pc >= main.entry && point.pc < main.entry + PRELOAD_STUB;
    if (adds === undefined || adds.length === 0 || block === undefined || isInStub) continue;
    const isPlain = adds.every(({ value }, i) => value.op === 'constant' && point.statements[i] === adds[i]);
    const isKernel = point.kernel.subject === main;
    if (block.exit === 'end' && isPlain && point.side === 'before' && isNarrow(adds)) atEnds.add(point);
    else wanted.push({ point, adds, isWide: !isKernel || repeated[block.index] === true || !isNarrow(adds) });
  }
  const registers = new Map<Point, Map<string, WaveCounter>>();
  const pool = [...free];
  const takePair = (): number | undefined => {
    const at = pool.findIndex((n, i) => n % 2 === 0 && pool[i + 1] === n + 1);
    return at < 0 ? undefined : pool.splice(at, 2)[0];
  };
  for (const { point, adds, isWide: wide } of [...wanted].sort((a, b) => Number(b.isWide) - Number(a.isWide))) {
    const byState = new Map<string, WaveCounter>();
    for (const name of new Set(adds.map(({ state }) => state))) {
      if (pool.length <= RESERVE) break;
      const first = wide ? takePair() : pool.shift();
      if (first !== undefined) byState.set(name, { low: first, high: wide ? first + 1 : undefined });
    }
    if (adds.every(({ state }) => byState.has(state))) registers.set(point, byState);
  }
  if (registers.size === 0 && atEnds.size === 0) return undefined;
  const sites = new Map<Point, Map<string, number>>();
  const first = new Map<string, { state: PlacedState; site: number }>();
  for (const state of states) {
    const from = state.sites.length;
    for (const point of [...registers.keys(), ...atEnds]) {
      const hasState = registers.get(point)?.has(state.name) ?? addsTo(point, state.name).length > 0;
      if (!hasState) continue;
      const byState = sites.get(point) ?? new Map<string, number>();
      byState.set(state.name, state.sites.length);
      sites.set(point, byState);
      state.sites.push({ index: state.sites.length, pc: point.pc, kernel: point.kernel.name });
    }
    if (state.sites.length > from) first.set(state.name, { state, site: from });
  }
  const siteOf = (point: Point, name: string): number => sites.get(point)?.get(name) as number;
  const ends = functions.flatMap((subject) =>
    subject.blocks.flatMap((index) => {
      const block = program.blocks[index];
      const last = program.instructions[(block?.end ?? 0) - 1];
      if (block?.exit !== 'end' || last === undefined) return [];
      const constants = [...atEnds].filter((point) => program.blockAt(point.pc) === block);
      const sums = [...first].flatMap(([state, { site: from }]): Sum[] => {
        const counts = [
          ...[...registers].flatMap(([point, byState]) => {
            const counter = byState.get(state);
            return counter === undefined
              ? []
              : [
                  {
                    at: siteOf(point, state) - from,
                    low: `s${counter.low}`,
                    high: counter.high === undefined ? undefined : `s${counter.high}`,
                  },
                ];
          }),
          ...constants.flatMap((point) => {
            const sum = addsTo(point, state).reduce((all, { value }) => all + constantOf(value), 0n);
            return sum === 0n ? [] : [{ at: siteOf(point, state) - from, low: String(sum), high: undefined }];
          }),
        ];
        return counts.length === 0 ? [] : [{ state, counts }];
      });
      const kernel: ProbeKernel = {
        name: subject.name,
        isKernel: subject.kernel !== undefined,
        entry: subject.entry,
        subject,
        blocks: [],
      };
      return sums.length === 0 ? [] : [{ pc: last.pc, kernel, first, sums }];
    }),
  );
  return { registers, atEnds, sites, start: { pc: start.pc, lines: zeroLines(registersOf(registers)) }, ends };
}

function addsTo({ statements }: Point, name: string): Addition[] {
  return statements.filter((s): s is Addition => s.kind === 'add' && s.state === name);
}

function constantOf(value: Value): bigint {
  return value.op === 'constant' ? value.value : 0n;
}

/** The registers of counters, in order. */
export function registersOf(registers: WaveCounters['registers']): number[] {
  return [...registers.values()]
    .flatMap((byState) => [...byState.values()])
    .flatMap(({ low, high }) => (high === undefined ? [low] : [low, high]))
    .sort((a, b) => a - b);
}

function zeroLines(list: readonly number[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < list.length; i++) {
    const n = list[i] as number;
    if (n % 2 === 0 && list[i + 1] === n + 1) {
      out.push(`s_mov_b64 s[${n}:${n + 1}], 0`);
      i++;
    } else out.push(`s_mov_b32 s${n}, 0`);
  }
  return out;
}
