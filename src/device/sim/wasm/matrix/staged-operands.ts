// Operands of matrix instructions that stay staged from one instruction of a block to the next: kernels multiply each fragment of A with
// several of B, and staging is a quarter of such a product. A staged operand is a record in the scratch area; records of the same side
// lie one behind the other, and code that writes a register forgets the records made from it.

import type { Instruction, Operand } from '../../../../isa/types.ts';
import { isVector } from '../../interpreter/operands.ts';
import { registerNumber } from '../context.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import type { FloatFormat, Plan } from './plan.ts';
import { emitReduce } from './scales.ts';
import { BYTE_EXPONENT_ROW, Constants, EXPONENT_ROW, emitLoop, ROW, STAGED_BYTES } from './scratch.ts';
import { emitStage, emitStagePairs } from './stage.ts';

/** Where the parts of a staged operand lie in its record; its elements are the first. */
export interface StagedRecord {
  readonly exponents: number;
  /** The least exponent of each row of A or column of B, i8; for grouped sums. */
  readonly least: number;
  /** i32: whether the sums can be computed from this record; only the reference has rules for the operand otherwise. */
  readonly isUsable: number;
  /** i32: the largest exponent field, of formats with f32's range. */
  readonly largest: number;
  readonly size: number;
}

type Side = 'a' | 'b';

const isTruncating = ({ numerics }: Plan): boolean => numerics === 'truncating' || numerics === 'grouped';

/** Whether the elements have f32's range, and are scaled into the middle of it for truncating sums. */
export function isWide({ formatA }: Plan): boolean {
  return formatA?.bias === 127;
}

/** What is known of each plan's records: their parts, and what their bytes depend on for A and B. */
const facts = new WeakMap<Plan, { readonly record: StagedRecord; readonly keys: Readonly<Record<Side, string>> }>();

function factsOf(plan: Plan): { readonly record: StagedRecord; readonly keys: Readonly<Record<Side, string>> } {
  let known = facts.get(plan);
  if (known === undefined) {
    known = { record: makeRecord(plan), keys: { a: makeKey(plan, 'a'), b: makeKey(plan, 'b') } };
    facts.set(plan, known);
  }
  return known;
}

/** The parts of a staged operand of A or B. */
export const recordOf = (plan: Plan): StagedRecord => factsOf(plan).record;

function makeRecord(plan: Plan): StagedRecord {
  const exponents = plan.perLane * ROW;
  const rows = !isTruncating(plan) ? 0 : isWide(plan) ? EXPONENT_ROW : BYTE_EXPONENT_ROW;
  const least = exponents + plan.perLane * rows;
  const rest = least + (plan.numerics === 'grouped' ? 64 : 0);
  return { exponents, least, isUsable: rest, largest: rest + 4, size: rest + 16 };
}

/**
 * Pushes the power of two that takes elements whose largest exponent field is in a local to the middle of f32's range: to 2^62, or as
 * near as a power below 2^128 brings it.
 */
export function pushPower(f: WasmFunction, largest: number): void {
  const power = f.local('i32');
  f.i32(189).get(largest).op('i32.sub').tee(power);
  f.i32(127).get(power).i32(127).op('i32.lt_s').select();
  f.release('i32', power);
}

/** The helper `(record, registers)` that stages A or B: addresses of the record and of the operand's first register. */
export function stageHelper(module: WasmModule, plan: Plan, side: Side): WasmFunction {
  return module.helper(`stage ${factsOf(plan).keys[side]}`, ['i32', 'i32'], [], (f) => {
    const k = new Constants(f);
    const format = side === 'a' ? plan.formatA : plan.formatB;
    const pattern = side === 'b' ? plan.pattern : 0;
    const operand = { source: SOURCE, scratch: RECORD, target: 0, pattern };
    if (format === undefined) emitStagePairs(f, { ...operand, registers: plan.perLane / 4 });
    else if (isTruncating(plan)) emitStageTruncating(f, k, plan, side, format);
    else {
      const flush = plan.numerics === 'pairwise';
      emitStage(f, k, { ...operand, format, count: plan.perLane, truncate: plan.op.a === 'xf32', flush });
    }
  });
}

/** Parameters of the helper. */
const [RECORD, SOURCE] = [0, 1];

/** Everything that the bytes of a record depend on but the registers. */
function makeKey(plan: Plan, side: Side): string {
  const { op, numerics, perLane } = plan;
  const format = side === 'a' ? plan.formatA : plan.formatB;
  const rules = isTruncating(plan) || numerics === 'pairwise' ? numerics : 'values';
  const width = numerics === 'grouped' ? (side === 'a' ? op.m : op.n) * op.blocks : 0;
  const elements = format && `${format.bits}.${format.fraction}.${format.bias}.${format.specials}`;
  return `${op.a} ${elements} ${perLane} ${rules} ${width} ${side === 'b' ? plan.pattern : 0}`;
}

/** Stages an operand of truncating sums with its exponents; elements of f32's range are scaled into the middle of it. */
function emitStageTruncating(f: WasmFunction, k: Constants, plan: Plan, side: Side, format: FloatFormat): void {
  const { op, perLane } = plan;
  const record = recordOf(plan);
  const bad = f.local('v128');
  f.get(k.word(0)).set(bad);
  const range = { largest: f.local('v128'), smallest: f.local('v128') };
  if (isWide(plan)) {
    f.get(k.word(0)).set(range.largest);
    f.get(k.word(0x7fff)).set(range.smallest);
  }
  const width = (side === 'a' ? op.m : op.n) * op.blocks;
  emitStage(f, k, {
    format,
    source: SOURCE,
    scratch: RECORD,
    target: 0,
    exponents: record.exponents,
    pattern: side === 'b' ? plan.pattern : 0,
    count: perLane,
    specials: bad,
    truncate: op.a === 'xf32',
    byteExponents: !isWide(plan),
    ...(isWide(plan) ? { range } : {}),
    ...(plan.numerics === 'grouped' ? { least: { target: record.least, width } } : {}),
  });
  f.get(RECORD).get(bad).op('v128.any_true').op('i32.eqz');
  if (isWide(plan)) {
    const largest = f.local('i32');
    emitReduce(f, range.largest, 'i32x4.max_s');
    f.set(largest);
    // Too many binades between the elements of one operand.
    f.get(largest);
    emitReduce(f, range.smallest, 'i32x4.min_s');
    f.op('i32.sub').i32(170).op('i32.le_s').op('i32.and');
    f.get(RECORD).get(largest).memory('i32.store', record.largest);
    emitScale(f, perLane, largest);
  }
  f.memory('i32.store', record.isUsable);
}

/** Multiplies the staged elements by the power of two for their largest exponent field. */
function emitScale(f: WasmFunction, perLane: number, largest: number): void {
  const factor = f.local('v128');
  pushPower(f, largest);
  f.i32(127).op('i32.add').i32(23).op('i32.shl').op('i32x4.splat').set(factor);
  emitLoop(f, perLane * ROW, 64, (counter) => {
    const at = f.local('i32');
    f.get(RECORD).get(counter).op('i32.add').set(at);
    for (let v = 0; v < 4; v++) {
      f.get(at)
        .get(at)
        .memory('v128.load', 16 * v)
        .get(factor)
        .op('f32x4.mul')
        .memory('v128.store', 16 * v);
    }
    f.release('i32', at);
  });
}

/** A record made from vector registers, numbered as in the wave block. */
interface Staged {
  readonly key: string;
  readonly first: number;
  readonly count: number;
  readonly place: number;
}

const isMadeFrom = (s: Staged, key: string, first: number, count: number): boolean =>
  s.first === first && s.count === count && s.key === key;

/** The first place that no record has. */
function freePlace(staged: readonly Staged[]): number {
  let place = 0;
  while (staged.some((s) => s.place === place)) place++;
  return place;
}

/** Which operands are staged at a point of a block; only used while that block is written. */
export class StagedOperands {
  private readonly sides: Readonly<Record<Side, { size: number; staged: Staged[] }>> = {
    a: { size: 0, staged: [] },
    b: { size: 0, staged: [] },
  };

  /** Nothing is staged any more. */
  forget(): void {
    this.sides.a.staged = [];
    this.sides.b.staged = [];
  }

  /** Whether nothing is staged. */
  get isEmpty(): boolean {
    return this.sides.a.staged.length + this.sides.b.staged.length === 0;
  }

  /** An instruction has been written that may have changed registers. */
  after(instruction: Instruction): void {
    const { row, operands } = instruction;
    for (let n = 0; n < operands.length; n++) {
      const operand = operands[n] as Operand;
      if (operand.kind !== 'reg' || !isVector(operand) || row.operands[n]?.isOut !== true) continue;
      const first = registerNumber(operand);
      const end = first + operand.dwords;
      const isOther = (s: Staged): boolean => s.first >= end || first >= s.first + s.count;
      for (const side of [this.sides.a, this.sides.b]) {
        if (!side.staged.every(isOther)) side.staged = side.staged.filter(isOther);
      }
    }
  }

  /** The offset in the scratch area of the record of `count` registers from `first`, and whether it is there already. */
  place(
    plan: Plan,
    sideName: Side,
    first: number,
    count: number,
  ): { readonly offset: number; readonly isStaged: boolean } {
    const side = this.sides[sideName];
    const { record, keys } = factsOf(plan);
    const { size } = record;
    if (side.size !== size) {
      side.size = size;
      side.staged = [];
    }
    const key = keys[sideName];
    const { staged } = side;
    let known = staged.length - 1;
    while (known >= 0 && !isMadeFrom(staged[known] as Staged, key, first, count)) known--;
    let place: number;
    if (known >= 0) {
      const [found] = staged.splice(known, 1) as [Staged];
      staged.push(found);
      place = found.place;
    } else {
      // The one that was used longest ago gives way.
      const isFull = staged.length === Math.floor(STAGED_BYTES / size);
      place = isFull ? (staged.shift() as Staged).place : freePlace(staged);
      staged.push({ key, first, count, place });
    }
    return { offset: (sideName === 'a' ? 0 : STAGED_BYTES) + place * size, isStaged: known >= 0 };
  }
}
