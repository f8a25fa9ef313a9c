// CDNA3's truncating sums of f16, FP8 and BF8 in SIMD, a row of up to 16 columns at a time. Source of the rules:
// interpreter/matrix-math.ts (`truncating`, `groupedTruncating`).
//
// Where an accumulator C is less than 2^6 times as large as the largest product, or smaller, the whole step is a sum of 32-bit integers
// in units of 2^(e - 24), e the largest exponent of a product: C loses bits only where the rule cuts it, the sum keeps all of its bits,
// and the conversion to f32 is the one rounding. Other rows take the steps in f64 of accumulate.ts.
//
// Sums of FP8 and BF8, which the rule cuts for even and odd k apart, are whole in the unit of both when the smallest elements of the row
// and the column say that no product has a bit below it. When they are a little larger still, four products at a time are exact in f32.
import type { WasmFunction } from '../emit.ts';
import type { MatrixFeatures } from '../features.ts';
import { type Accumulate, groupedAccumulator, plainAccumulator } from './accumulate.ts';
import type { Plan, StagedElement } from './plan.ts';
import { BYTE_EXPONENT_ROW, type Constants } from './scratch.ts';
import { recordOf, type StagedRecord } from './staged-operands.ts';
import { emitLoadC, emitTiles, stagedOffset, type Tile } from './tile.ts';
import { storeRow, type TruncatingLocals } from './truncating.ts';

/** Exponent fields below this are those of no product. */
const LOWEST = -100;
/** Scaled accumulators are smaller than this, so that they and the sum of 16 products are 32-bit integers. */
const PEAK = 2 ** 30;
/** Products that are added in f32. */
const CHAIN = 4;

/** Emits the result of a truncating or grouped operation on formats with exponents of at most 5 bits into the scratch area. */
export function emitNarrow(
  f: WasmFunction,
  k: Constants,
  plan: Plan,
  features: MatrixFeatures,
  locals: TruncatingLocals,
): void {
  new NarrowSums(f, k, plan, features, locals).emit();
}

/** Where a product's operands and their exponents are staged. */
interface Place {
  readonly a: number;
  readonly b: number;
  readonly ea: number;
  readonly eb: number;
}

class NarrowSums {
  private readonly f: WasmFunction;
  private readonly k: Constants;
  private readonly plan: Plan;
  private readonly features: MatrixFeatures;
  private readonly locals: TruncatingLocals;
  private readonly grouped: boolean;
  private readonly record: StagedRecord;
  private readonly vectors: number;
  private readonly bias: number;
  private readonly scaleBase: number;
  /** The accumulators in units of the sums. */
  private readonly units: number[];
  private readonly lowest: number;
  private readonly accumulate: Accumulate;
  private readonly d: number[];
  private readonly sums: number[];
  private readonly scales: number[];
  private readonly largest: number;
  private readonly a: number;
  private readonly laneA: number;
  private readonly laneB: number;

  constructor(f: WasmFunction, k: Constants, plan: Plan, features: MatrixFeatures, locals: TruncatingLocals) {
    this.f = f;
    this.k = k;
    this.plan = plan;
    this.features = features;
    this.locals = locals;
    this.grouped = plan.numerics === 'grouped';
    this.record = recordOf(plan);
    this.vectors = Math.min(4, plan.op.n / 4);
    this.bias = (plan.formatA?.bias ?? 0) + (plan.formatB?.bias ?? 0);
    // Exponent field of the scale 2^(24 - e): 151 - e, where e is the field sum minus the bias.
    this.scaleBase = k.word(151 + this.bias);
    this.lowest = k.word(LOWEST + this.bias);
    const options = { biasSum: this.bias, wide: false, bad: locals.bad };
    this.accumulate = this.grouped ? groupedAccumulator(f, k, options) : plainAccumulator(f, k, options);
    // Constants that loops use are set before them.
    for (const word of [0x7fffffff, 0x7f7fffff, 254 << 23]) k.word(word);
    for (const value of [PEAK, 0.5]) k.f32(value);
    for (const few of [CHAIN, 1]) k.word(this.mostBelow(few) * 0x01010101);
    this.d = this.row();
    this.sums = this.row();
    this.scales = this.row();
    this.units = this.row();
    this.largest = f.local('v128');
    this.a = f.local('v128');
    this.laneA = f.local('i32');
    this.laneB = f.local('i32');
  }

  emit(): void {
    const { f, plan, locals, grouped, vectors } = this;
    const length = Math.min(grouped ? 16 : 8, plan.op.k);
    emitTiles(f, plan, locals.staged, 1, vectors, (tile) => {
      f.get(locals.staged.a).get(tile.laneA).op('i32.add').set(this.laneA);
      f.get(locals.staged.b).get(tile.laneB).op('i32.add').set(this.laneB);
      for (const [v, d] of this.d.entries()) {
        emitLoadC(f, locals.c, tile, 0, v);
        f.set(d);
      }
      for (let first = 0; first < plan.op.k; first += length) {
        const group = Array.from({ length }, (_, i) => this.placeOf(first + i));
        if (grouped) this.groupedStep(tile, group);
        else this.plainStep(tile, group);
      }
      storeRow(f, this.k, locals, tile, this.d);
    });
  }

  private row(): number[] {
    return Array.from({ length: this.vectors }, () => this.f.local('v128'));
  }

  private placeOf(at: number): Place {
    const { op, stagedA, stagedB } = this.plan;
    const a = stagedA[at] as StagedElement;
    const b = stagedB[at] as StagedElement;
    const exponent = (width: number, { element, group }: StagedElement): number =>
      element * BYTE_EXPONENT_ROW + width * op.blocks * group;
    return {
      a: stagedOffset(op.m, op.blocks, a),
      b: stagedOffset(op.n, op.blocks, b),
      ea: exponent(op.m, a),
      eb: exponent(op.n, b),
    };
  }

  /** Pushes a byte for each of the row's columns. */
  private columns(offset: number): void {
    this.f.get(this.laneB).memory(this.vectors === 4 ? 'v128.load' : 'v128.load32_zero', offset);
  }

  /** Sets `largest`: the largest exponent field of the products, or a negative number where all are zero. */
  private findLargest(group: readonly Place[]): void {
    const { f, largest } = this;
    for (const [i, { ea, eb }] of group.entries()) {
      f.get(this.laneA).memory('v128.load8_splat', this.record.exponents + ea);
      this.columns(this.record.exponents + eb);
      f.op('i8x16.add_sat_s');
      if (i > 0) f.get(largest).op('i8x16.max_s');
      f.set(largest);
    }
  }

  /** Pushes the exponent fields of vector v. */
  private fields(v: number): void {
    this.f.get(this.largest).op(v < 2 ? 'i16x8.extend_low_i8x16_s' : 'i16x8.extend_high_i8x16_s');
    this.f.op(v % 2 === 0 ? 'i32x4.extend_low_i16x8_s' : 'i32x4.extend_high_i16x8_s');
  }

  /** Sets the scales of exponents in `fields`. */
  private findScale(pushField: () => void, into: number): void {
    const { f } = this;
    f.get(this.scaleBase);
    pushField();
    f.get(this.lowest).op('i32x4.max_s').op('i32x4.sub').i32(23).op('i32x4.shl').set(into);
  }

  /** Sets `units`; pushes whether every column has a product, and accumulators that 32-bit integers hold: what `add` needs. */
  private pushIsSmall(): void {
    const { f, k, d, scales } = this;
    for (const v of d.keys()) {
      f.get(d[v] as number)
        .get(scales[v] as number)
        .op('f32x4.mul')
        .tee(this.units[v] as number)
        .get(k.word(0x7fffffff))
        .op('v128.and');
      if (v > 0) f.op('i32x4.max_s');
    }
    f.get(k.f32(PEAK)).op('i32x4.lt_s').op('i32x4.all_true').get(this.largest).op('i8x16.bitmask').op('i32.eqz');
    f.op('i32.and');
  }

  private toInteger(): void {
    this.f.op(this.features.relaxed ? 'i32x4.relaxed_trunc_f32x4_s' : 'i32x4.trunc_sat_f32x4_s');
  }

  /** d = the sums of integers, rounded once. */
  private add(): void {
    const { f, k, d, sums, scales, grouped } = this;
    for (const v of d.keys()) {
      const [unit, scale] = [this.units[v] as number, scales[v] as number];
      f.get(unit).op('f32x4.floor');
      if (grouped) {
        // An accumulator far below the products counts as exactly 0.
        f.get(unit).abs('f32x4').get(k.f32(0.5)).op('f32x4.ge').op('v128.and');
      }
      this.toInteger();
      f.get(sums[v] as number)
        .op('i32x4.add')
        .op('f32x4.convert_i32x4_s');
      f.get(k.word(254 << 23))
        .get(scale)
        .op('i32x4.sub')
        .op('f32x4.mul')
        .set(d[v] as number);
    }
  }

  /** Sets `sums`: products cut towards zero to integers, `chain` of them added in f32 before that. */
  private addProducts(tile: Tile, group: readonly Place[], chain = 1, sums = this.sums, scales = this.scales): void {
    const { f, a, features } = this;
    const part = chain > 1 ? this.row() : [];
    for (const [i, place] of group.entries()) {
      f.get(tile.a).memory('v128.load32_splat', place.a).set(a);
      for (const [v, sum] of sums.entries()) {
        const isFirst = i % chain === 0;
        const isLast = i % chain === chain - 1 || i === group.length - 1;
        f.get(a)
          .get(tile.b)
          .memory('v128.load', place.b + 16 * v);
        if (isFirst) f.op('f32x4.mul');
        else if (features.fused) f.get(part[v] as number).op('f32x4.relaxed_madd');
        else
          f.op('f32x4.mul')
            .get(part[v] as number)
            .op('f32x4.add');
        if (!isLast) {
          f.set(part[v] as number);
          continue;
        }
        f.get(scales[v] as number).op('f32x4.mul');
        this.toInteger();
        if (i >= chain) f.get(sum).op('i32x4.add');
        f.set(sum);
      }
    }
    for (const local of part) f.release('v128', local);
  }

  private plainStep(tile: Tile, group: readonly Place[]): void {
    const { f } = this;
    this.findLargest(group);
    for (const [v, scale] of this.scales.entries()) this.findScale(() => this.fields(v), scale);
    this.addProducts(tile, group);
    this.pushIsSmall();
    f.if();
    this.add();
    f.else();
    const field = f.local('v128');
    for (const [v, d] of this.d.entries()) {
      this.fields(v);
      f.set(field);
      this.accumulate(d, [this.sums[v] as number], [field]);
    }
    f.release('v128', field);
    f.end();
  }

  /** Binades that the smallest possible product may lie below the largest one when `chain` of them are added at a time. */
  private mostBelow(chain: number): number {
    const fraction = (this.plan.formatA?.fraction ?? 0) + (this.plan.formatB?.fraction ?? 0);
    // Each is below 4, in f32 of 24 bits with its sum; a single one may have bits down to the unit.
    return 24 - fraction - (chain === 1 ? 0 : 2 + Math.log2(chain));
  }

  private groupedStep(tile: Tile, group: readonly Place[]): void {
    const { f, k } = this;
    const below = f.local('v128');
    this.findLargest(group);
    for (const [v, scale] of this.scales.entries()) this.findScale(() => this.fields(v), scale);
    f.get(this.largest).get(this.laneA).memory('v128.load8_splat', this.record.least).op('i8x16.sub_sat_s');
    this.columns(this.record.least);
    f.op('i8x16.sub_sat_s').set(below);
    const pushIsWithin = (chain: number): void => {
      f.get(below)
        .get(k.word(this.mostBelow(chain) * 0x01010101))
        .op('i8x16.le_s')
        .op('i8x16.all_true');
    };
    this.pushIsSmall();
    pushIsWithin(1);
    f.op('i32.and').if();
    pushIsWithin(CHAIN);
    f.if();
    this.addProducts(tile, group, CHAIN);
    f.else();
    this.addProducts(tile, group);
    f.end();
    this.add();
    f.else();
    this.eachParity(tile, group);
    f.end();
    f.release('v128', below);
  }

  /** The rule as it stands: even and odd k have a unit each. */
  private eachParity(tile: Tile, group: readonly Place[]): void {
    const { f } = this;
    const fields = [this.row(), this.row()];
    const sums = [this.row(), this.sums];
    for (const parity of [0, 1]) {
      const mine = group.filter((_, i) => i % 2 === parity);
      const field = fields[parity] as number[];
      this.findLargest(mine);
      for (const [v, scale] of this.scales.entries()) {
        this.fields(v);
        f.set(field[v] as number);
        this.findScale(() => void f.get(field[v] as number), scale);
      }
      this.addProducts(tile, mine, 1, sums[parity]);
    }
    const of = (rows: readonly number[][], v: number): number[] => rows.map((row) => row[v] as number);
    for (const [v, d] of this.d.entries()) this.accumulate(d, of(sums, v), of(fields, v));
    for (const local of [...fields.flat(), ...(sums[0] as number[])]) f.release('v128', local);
  }
}
