// Cuts a block of compiled code into segments whose registers can be checked at once: instructions that only read and write
// registers, under one EXEC. What a segment reads before it writes it must be defined and nothing it touches may be in flight.
import { immediateOf, operandNamed } from '../../../../isa/operand.ts';
import type { Block } from '../../wasm/walk.ts';
import { ANY, HIGH, type RegisterCopy, type StrictPlan } from '../plan.ts';

/** Lanes that an instruction names; SELECTED for the one that a scalar register does (`Segment.laneSelect`); undefined for those of EXEC. */
export type Lanes = bigint | typeof SELECTED | undefined;
export const SELECTED = 'selected';

/** Lanes of a register that must be defined; `orExec` when the segment has written the active ones. */
export interface LaneNeed {
  readonly register: number;
  readonly isHigh: boolean;
  readonly lanes: Lanes;
  readonly orExec: boolean;
}

/** Lanes of a register that become defined. */
export interface LaneResult {
  readonly register: number;
  readonly halves: number;
  readonly lanes: Lanes;
}

/** A register of a 64-bit result that has no value where its sources have none; all are as they are in front of the segment. */
export interface PartResult {
  readonly register: number;
  readonly sources: readonly number[];
}

/** Instructions that are checked together. */
export interface Segment {
  readonly first: number;
  /** Index of the instruction behind the last one. */
  readonly end: number;
  readonly plans: readonly StrictPlan[];
  readonly needs: readonly LaneNeed[];
  readonly results: readonly LaneResult[];
  /** Of `results`, where not all sources are defined. */
  readonly partResults: readonly PartResult[];
  /** Bit sets of scalar slots, 64 a number. */
  readonly scalarNeeds: readonly bigint[];
  readonly scalarResults: readonly bigint[];
  /** Slots (scalar and vector) that are read or written. */
  readonly touched: readonly bigint[];
  /** The slot whose word in front of the segment is the lane of v_readlane or v_writelane in it, where a register chooses that. */
  readonly laneSelect: number | undefined;
  /** v_readfirstlane stands in it, which reads lane 0 when no lane is active. */
  readonly readsFirstLane: boolean;
  /** What is written depends on which lanes are active (DPP): said for all of them only. */
  readonly needsAllLanes: boolean;
  /** Something is wrong whatever the state is. */
  readonly isSuspicious: boolean;
  /**
   * Where all that it reads of vector registers is copied to others, which become what those are: from which to which, in their order. Compilers keep registers with values in
   * some lanes in others.
   */
  readonly copies: readonly RegisterCopy[] | undefined;
}

/** Instructions of a segment whose copies are made one by one. */
const MOST_COPYING = 4;

/** The copies of instructions that do nothing else to vector registers; undefined where some do. */
function copiesOf(plans: readonly StrictPlan[]): readonly RegisterCopy[] | undefined {
  if (plans.length > MOST_COPYING) return undefined;
  const isCopy = ({ special, copies: [copy, second] }: StrictPlan): boolean =>
    special === 'none' && copy !== undefined && second === undefined && copy.from >= 256 && copy.to >= 256;
  const isScalar = ({ special, reads, partReads, writes, copies }: StrictPlan): boolean =>
    special === 'none' && reads.length + partReads.length + writes.length === 0 && copies.every(({ to }) => to < 256);
  if (!plans.every((plan) => isCopy(plan) || isScalar(plan))) return undefined;
  const copies = plans.filter(isCopy).flatMap((plan) => plan.copies);
  return copies.length === 0 ? undefined : copies;
}

const ALL = (1n << 64n) - 1n;

/** The lane of v_readlane or v_writelane as a bit. */
function namedLane({ instruction }: StrictPlan): bigint | typeof SELECTED {
  const operand = operandNamed(instruction, 'src1');
  if (operand?.kind === 'inline') return 1n << BigInt((operand.encoding - 128) & 63);
  const isConstant = operand?.kind === 'imm' || operand?.kind === 'literal';
  return isConstant ? 1n << BigInt(immediateOf(instruction, 'src1') & 63) : SELECTED;
}

/** The slot of the register that chooses the lane of v_readlane or v_writelane, if one does. */
function laneSelectOf(plan: StrictPlan): number | undefined {
  if (plan.special !== 'readlane' && plan.special !== 'writelane') return undefined;
  const operand = operandNamed(plan.instruction, 'src1');
  return operand?.kind === 'reg' ? operand.encoding : undefined;
}

/** Whether an instruction may stand in a segment; others are checked one by one. */
export function isSegmentable(plan: StrictPlan): boolean {
  if (plan.access !== undefined || plan.wait !== undefined || plan.role.kind !== undefined) return false;
  if (plan.role.isBarrier || plan.isWriteBack || plan.isInvalidate || plan.outputModifier !== undefined) return false;
  if (plan.writesScalarsBack) return false;
  switch (plan.special) {
    case 'movrels':
    case 'movreld':
      return false;
    default:
      return true;
  }
}

/** Lanes of its results that an instruction writes when all are active; undefined for those of EXEC. */
function writtenLanes(plan: StrictPlan): Lanes {
  const { laneSources } = plan;
  if (laneSources !== undefined)
    return laneSources.reduce((mask, from, lane) => (from < 0 ? mask : mask | (1n << BigInt(lane))), 0n);
  return plan.special === 'writelane' ? namedLane(plan) : undefined;
}

function writesExec({ effects }: StrictPlan): boolean {
  return effects.defs.some(({ first, count }) => first <= 127 && first + count > 126);
}

/** A set of slots, as 32-bit words: large numbers are slow to change bit by bit. */
class Slots {
  private readonly words: Int32Array;
  /** Of `size` slots, a multiple of 64. */
  constructor(size: number) {
    this.words = new Int32Array(size / 32);
  }
  add(slot: number): void {
    this.words[slot >>> 5] = (this.words[slot >>> 5] as number) | (1 << (slot & 31));
  }
  has(slot: number): boolean {
    return (((this.words[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0;
  }
  /** The slots, 64 a number. */
  numbers(): bigint[] {
    return Array.from(new BigUint64Array(this.words.buffer));
  }
}

class SegmentBuilder {
  private readonly first: number;
  private readonly plans: StrictPlan[] = [];
  private readonly needs = new Map<number | string, LaneNeed>();
  private readonly results = new Map<number | string, LaneResult>();
  private readonly scalarNeeds = new Slots(256);
  private readonly scalarResults = new Slots(256);
  private readonly touched = new Slots(768);
  private readonly changed = new Slots(768);
  /** Registers written in the segment: 1 in the lanes of EXEC, 2 in all. */
  private readonly written = new Map<number, number>();
  /** Those of them that have no value where registers have none in front of the segment. */
  private readonly parts = new Map<number, ReadonlySet<number>>();
  /** Those that have been written in one half, or in some lanes. */
  private readonly partly = new Set<number>();
  private laneSelect: number | undefined;
  private readsFirstLane = false;
  private needsAllLanes = false;
  private isSuspicious = false;

  constructor(first: number) {
    this.first = first;
  }

  /** Whether the lanes that an instruction names are known in front of the segment. */
  knowsLanes(plan: StrictPlan): boolean {
    const select = laneSelectOf(plan);
    if (select === undefined) return true;
    return (this.laneSelect ?? select) === select && !this.changed.has(select);
  }

  add(plan: StrictPlan, isSuspicious: boolean): void {
    this.plans.push(plan);
    this.laneSelect ??= laneSelectOf(plan);
    for (const { first, count } of plan.effects.defs) {
      for (let slot = first; slot < first + count; slot++) this.changed.add(slot);
    }
    this.isSuspicious ||= isSuspicious;
    this.readsFirstLane ||= plan.special === 'readfirstlane';
    const { effects } = plan;
    for (const ranges of [effects.uses, effects.keeps, effects.defs]) {
      for (const { first, count } of ranges) {
        for (let slot = first; slot < first + count; slot++) this.touched.add(slot);
      }
    }
    for (const slot of plan.scalarReads) this.needScalar(slot);
    for (const { register, half, isWhole } of plan.reads) {
      this.need(register, half === HIGH, isWhole ? ALL : undefined);
    }
    const parts = plan.writes.map((_, part) => this.partSources(plan, part));
    this.addSources(plan);
    this.needsAllLanes ||= plan.laneSources !== undefined;
    const lanes = writtenLanes(plan);
    for (const { register, halves, isWhole } of plan.writes) this.write(register, halves, isWhole ? ALL : lanes);
    parts.forEach((sources, part) => {
      if (sources.size > 0) this.parts.set(plan.writes[part]?.register as number, sources);
    });
    for (const slot of plan.scalarWrites) this.scalarResults.add(slot);
  }

  /** Registers in front of the segment without which a register of an instruction's result has no value. */
  private partSources(plan: StrictPlan, part: number): ReadonlySet<number> {
    const sources = new Set<number>();
    for (const { register, part: of } of plan.partReads) {
      if (of !== part) continue;
      const own = this.parts.get(register);
      if (plan.special !== 'none' || this.partly.has(register)) this.need(register, false, undefined);
      else if (own !== undefined) for (const source of own) sources.add(source);
      else if (!this.written.has(register)) sources.add(register);
    }
    return sources;
  }

  /** Sources that pass on what they are: when all of them are defined, so are the results. */
  private addSources(plan: StrictPlan): void {
    const lanes = plan.special === 'readlane' ? namedLane(plan) : undefined;
    const slots = plan.copies.map(({ from }) => from);
    if (plan.special === 'select' || plan.special === 'scalarSelect') slots.push(...plan.sources.slice(0, 2));
    else if (plan.special !== 'none') slots.push(plan.sources[0] ?? -1);
    for (const slot of slots) {
      if (slot >= 256) this.need(slot - 256, false, lanes);
      else if (slot >= 0) this.needScalar(slot);
    }
  }

  private needScalar(slot: number): void {
    if (!this.scalarResults.has(slot)) this.scalarNeeds.add(slot);
  }

  need(register: number, isHigh: boolean, lanes: Lanes): void {
    this.needParts(register);
    const written = this.written.get(register) ?? 0;
    if (written === 2 || (written === 1 && lanes === undefined)) return;
    this.needOutside(register, isHigh, lanes, written === 1);
  }

  /** A register is to have a value where it has been written. */
  private needParts(register: number): void {
    for (const source of this.parts.get(register) ?? []) this.needOutside(source, false, undefined, false);
    this.parts.delete(register);
  }

  private needOutside(register: number, isHigh: boolean, lanes: Lanes, orExec: boolean): void {
    const key = lanesKey(2 * register + (isHigh ? 1 : 0), lanes);
    if (!this.needs.has(key)) this.needs.set(key, { register, isHigh, lanes, orExec });
  }

  private write(register: number, halves: number, lanes: Lanes): void {
    const key = lanesKey(register, lanes);
    const before = this.results.get(key);
    this.results.set(key, { register, halves: halves | (before?.halves ?? 0), lanes });
    // A result in one half or one lane leaves the rest as it was.
    if ((halves !== ANY && halves !== 3) || (lanes !== undefined && lanes !== ALL)) {
      this.needParts(register);
      this.partly.add(register);
      return;
    }
    this.parts.delete(register);
    this.written.set(register, lanes === ALL ? 2 : Math.max(1, this.written.get(register) ?? 0));
  }

  finish(end: number): Segment {
    return {
      first: this.first,
      end,
      plans: this.plans,
      needs: [...this.needs.values()],
      results: [...this.results.values()],
      partResults: [...this.parts].map(([register, sources]) => ({ register, sources: [...sources] })),
      scalarNeeds: this.scalarNeeds.numbers(),
      scalarResults: this.scalarResults.numbers(),
      touched: this.touched.numbers(),
      laneSelect: this.laneSelect,
      readsFirstLane: this.readsFirstLane,
      needsAllLanes: this.needsAllLanes,
      isSuspicious: this.isSuspicious,
      copies: copiesOf(this.plans),
    };
  }
}

/** What is looked up by a number and lanes. */
const lanesKey = (n: number, lanes: Lanes): number | string =>
  lanes === undefined ? 2 * n : lanes === ALL ? 2 * n + 1 : `${n} ${lanes}`;

/** The registers of a memory access that is checked alone, but for the data of a store. */
export function accessSegment(plan: StrictPlan): Segment {
  const builder = new SegmentBuilder(0);
  builder.add(plan, false);
  return builder.finish(1);
}

/** What a store needs of its data where it does not go to scratch. */
export function dataNeeds({ dataReads }: StrictPlan): Segment['needs'] {
  const builder = new SegmentBuilder(0);
  for (const { register, half, isWhole } of dataReads) builder.need(register, half === HIGH, isWhole ? ALL : undefined);
  return builder.finish(0).needs;
}

/** A block cut up: by the index of its first instruction, a segment, or the plan of an instruction that is checked alone. */
export type BlockPlan = ReadonlyMap<number, Segment | StrictPlan>;

/** Cuts a block. `planOf` gives the plan of its instructions, `isSuspicious` whether one is wrong in itself, `isAlone` whether it is to stand in no segment. */
export function planBlock(
  block: Block,
  planOf: (item: Block['items'][number]) => StrictPlan,
  isSuspicious: (plan: StrictPlan) => boolean,
  isAlone: (plan: StrictPlan) => boolean = () => false,
): BlockPlan {
  const items = block.ending.kind === 'branch' ? [...block.items, block.ending.item] : block.items;
  const out = new Map<number, Segment | StrictPlan>();
  let open: SegmentBuilder | undefined;
  let start = 0;
  const close = (end: number): void => {
    if (open !== undefined) out.set(start, open.finish(end));
    open = undefined;
  };
  items.forEach((item, index) => {
    const plan = planOf(item);
    if (!isSegmentable(plan) || isAlone(plan)) {
      close(index);
      out.set(index, plan);
      return;
    }
    if (open !== undefined && !open.knowsLanes(plan)) close(index);
    if (open === undefined) {
      open = new SegmentBuilder(index);
      start = index;
    }
    open.add(plan, isSuspicious(plan));
    if (writesExec(plan)) close(index + 1);
  });
  close(items.length);
  return out;
}
