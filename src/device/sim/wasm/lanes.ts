// Expressions over a chunk of four lanes as SIMD code on the wasm stack. i32, f32, and f16 and bf16 (as f32 values) fill one v128;
// booleans are masks of 32-bit lanes; i64 and f64 are made by halves of two lanes. The interpreter's counterpart is interpreter/evaluate.ts.
import { type Expr, semanticsOf, source, type VectorOperation } from '../../../isa/semantics/index.ts';
import { type BitWriter, bitForm } from './bit-forms.ts';
import { byteSum } from './byte-sums.ts';
import type { WasmModule } from './emit.ts';
import { choosing } from './features.ts';
import type { LaneMode } from './lane-writer.ts';
import { floatOperator } from './lanes-float.ts';
import { wideOperator } from './lanes-wide.ts';
import { callMath } from './math.ts';
import { type LaneOperand, pushLaneSource, uniformWord } from './operand-lanes.ts';
import { canonical } from './rounding.ts';
import { countUses, NoCode, ScalarCode } from './scalar.ts';
import type { LaneTarget } from './template.ts';

const permute = semanticsOf('v_perm_b32');
/** The result of v_perm_b32: byte by byte in its expression, all bytes at once in code. */
const PERMUTED = permute?.kind === 'vector' ? permute.result[0] : undefined;

export function isWide(type: Expr['type']): boolean {
  return type === 'i64' || type === 'f64';
}

export const splat4 = (word: number): [number, number, number, number] => [word, word, word, word];

/** Whether a condition only asks whether one of some values is no number, which is rare. */
function asksForNan({ op, args }: Expr): boolean {
  return op.endsWith('.is_nan') || (op === 'bool.or' && args.every(asksForNan));
}

const knownUses = new WeakMap<readonly Expr[], ReadonlyMap<Expr, number>>();

/** How often each node is pushed for the results and mask of an operation. */
function usesOf(op: VectorOperation, results: readonly Expr[]): ReadonlyMap<Expr, number> {
  const known = knownUses.get(results);
  if (known !== undefined) return known;
  const uses = new Map<Expr, number>();
  const count = (e: Expr): void => {
    const n = uses.get(e) ?? 0;
    uses.set(e, n + 1);
    if (n > 0) return;
    for (const a of e.args) {
      count(a);
      // Both halves of a wide node ask for a narrow argument.
      if (isWide(e.type) && !isWide(a.type)) count(a);
    }
  };
  results.forEach(count);
  if (op.mask !== undefined) count(op.mask);
  knownUses.set(results, uses);
  return uses;
}

export class LaneCode implements BitWriter {
  readonly run: LaneTarget;
  readonly module: WasmModule;
  readonly mode: LaneMode;
  readonly denormals: VectorOperation['denormals'];
  private readonly operands: readonly LaneOperand[];
  private readonly uses: ReadonlyMap<Expr, number>;
  private done: Map<Expr, (number | undefined)[]> | undefined;
  kept = new Map<string, readonly number[]>();
  private readonly temporaries: number[] = [];
  /** An f16 result that is encoded next and need not be rounded before. */
  encoded: Expr | undefined;
  /** Pushes the lanes of the instruction's mask input. */
  private readonly carry: () => void;

  constructor(
    run: LaneTarget,
    module: WasmModule,
    mode: LaneMode,
    op: VectorOperation,
    results: readonly Expr[],
    operands: readonly LaneOperand[],
    carry: () => void,
  ) {
    this.run = run;
    this.module = module;
    this.mode = mode;
    this.denormals = op.denormals;
    this.operands = operands;
    this.carry = carry;
    this.uses = usesOf(op, results);
  }

  get fn(): LaneTarget['fn'] {
    return this.run.fn;
  }

  /** Gives temporaries back. */
  close(): void {
    for (const local of this.temporaries) this.fn.release('v128', local);
  }

  /** A v128 local until `close`. */
  temporary(): number {
    const local = this.fn.local('v128');
    this.temporaries.push(local);
    return local;
  }

  /** Pushes a value; `half` chooses the lanes of 64-bit types. */
  push(e: Expr, half = 0): void {
    const part = isWide(e.type) ? half : 0;
    const known = this.done?.get(e)?.[part];
    if (known !== undefined) {
      this.fn.get(known);
      return;
    }
    this.generate(e, half);
    if ((this.uses.get(e) ?? 0) > 1 && e.op !== 'const' && (e.op !== 'source' || e.type !== 'i32')) {
      const local = this.temporary();
      this.done ??= new Map();
      const locals = this.done.get(e) ?? [];
      locals[part] = local;
      this.done.set(e, locals);
      this.fn.tee(local);
    }
  }

  private generate(e: Expr, half: number): void {
    const { fn, run } = this;
    if (e === PERMUTED) {
      for (const n of [0, 1, 2]) this.push(source('i32', n));
      callMath(this, 'permute_bytes');
      return;
    }
    if (byteSum(this, e)) return;
    const form = bitForm(e);
    if (form !== undefined) {
      form(this, e, half);
      return;
    }
    switch (e.op) {
      case 'const':
        this.constant(e);
        return;
      case 'source':
        pushLaneSource(run, this.operand(e), e, half, this.denormals, this.mode);
        return;
      case 'carry':
        this.carry();
        return;
      case 'lane':
        run.pushLanes();
        return;
    }
    if (e.args.length === 0) throw new NoCode(e.op);
    if (e.type === 'i32' && e.args[0]?.type === 'i32' && this.isUniform(e)) {
      this.pushUniform(e);
      fn.op('i32x4.splat');
      return;
    }
    const dot = e.op.indexOf('.');
    const prefix = e.op.slice(0, dot);
    const name = e.op.slice(dot + 1);
    if (name === 'select') this.select(e, half);
    else if (prefix === 'bool') this.bool(name, e);
    else if (prefix === 'i32') this.i32(name, e);
    else if (prefix === 'i64') wideOperator(this, name, e, half);
    else floatOperator(this, prefix, name, e, half);
  }

  private operand(e: Expr): LaneOperand {
    const operand = this.operands[Number(e.value)];
    if (operand === undefined) throw new NoCode('missing operand');
    return operand;
  }

  private constant(e: Expr): void {
    const { fn } = this;
    if (e.type === 'i64') {
      const [low, high] = [0n, 32n].map((s) => Number(BigInt.asIntN(32, BigInt(e.value) >> s))) as [number, number];
      fn.v128(low, high, low, high);
    } else if (e.type === 'i32') fn.v128(...splat4(Number(e.value)));
    else if (e.type === 'f64') fn.f64(Number(e.value)).op('f64x2.splat');
    else if (e.type === 'bool') throw new NoCode('bool constant');
    else {
      const [word] = new Int32Array(Float32Array.of(Number(e.value)).buffer);
      fn.v128(...splat4(word as number));
    }
  }

  // Values that are the same in all lanes ----------------------------------------------------------------------------------------

  isUniform(e: Expr): boolean {
    if (e.op === 'const') return e.type === 'i32';
    if (e.op === 'source') return e.type === 'i32' && e.part === 0 && uniformWord(this.operand(e)) !== undefined;
    return (
      /^i32\.(add|sub|mul|and|or|xor|not|neg|shl|shr_s|shr_u)$/.test(e.op) &&
      e.args.every((a) => a.type === 'i32' && this.isUniform(a))
    );
  }

  /** Pushes a uniform value as an i32. */
  pushUniform(e: Expr): void {
    const { run, fn } = this;
    const code = new ScalarCode(run, countUses([e]), (s) => {
      const { type } = this.operand(s);
      const word = uniformWord(this.operand(s));
      if (word === undefined) throw new NoCode('not uniform');
      if ('constant' in word) fn.i32(word.constant);
      else run.pushScalarWord(word.register);
      if (type === 'u16') fn.i32(0xffff).op('i32.and');
      else if (type === 'i16') fn.op('i32.extend16_s');
      else if (type === 'u24') fn.i32(0xffffff).op('i32.and');
      else if (type === 'i24') fn.i32(8).op('i32.shl').i32(8).op('i32.shr_s');
    });
    code.push(e);
    code.close();
  }

  // Operators --------------------------------------------------------------------------------------------------------------------

  private select(e: Expr, half: number): void {
    const { fn } = this;
    const [condition, a, b] = e.args as [Expr, Expr, Expr];
    if (!isWide(e.type) && asksForNan(condition) && a.args.length > 0) {
      this.selectForNan(
        () => this.push(condition),
        a,
        () => this.push(b),
      );
      return;
    }
    this.push(a, half);
    this.push(b, half);
    this.push(condition);
    if (isWide(e.type)) {
      const mask = fn.local('v128');
      fn.tee(mask).get(mask);
      if (half === 0) fn.shuffle32(0, 0, 1, 1);
      else fn.shuffle32(2, 2, 3, 3);
      fn.release('v128', mask);
    }
    fn.op(choosing());
  }

  /** What NaNs get is computed where there are some. */
  selectForNan(pushCondition: () => void, forNan: Expr, pushOther: () => void): void {
    const { fn } = this;
    const [mask, result] = [fn.local('v128'), fn.local('v128')];
    pushOther();
    fn.set(result);
    pushCondition();
    fn.tee(mask).anyLane().if();
    // What is computed first in here is not known behind.
    const [known, kept] = [this.done, this.kept];
    this.done = new Map([...(known ?? [])].map(([value, locals]) => [value, [...locals]]));
    this.kept = new Map(kept);
    this.push(forNan);
    [this.done, this.kept] = [known, kept];
    fn.get(result).get(mask).op(choosing()).set(result).end().get(result);
    fn.release('v128', mask);
    fn.release('v128', result);
  }

  private bool(name: string, e: Expr): void {
    const [a, b] = e.args as [Expr, Expr];
    this.push(a);
    if (name === 'not') {
      this.fn.op('v128.not');
      return;
    }
    this.push(b);
    this.fn.op(`v128.${name}`);
  }

  /** Makes a mask or i32 of two halves: the low words of their 64-bit lanes. */
  joinLow(push: (half: number) => void): void {
    push(0);
    push(1);
    this.fn.shuffle32(0, 2, 4, 6);
  }

  private i32(name: string, e: Expr): void {
    const { fn } = this;
    const [a, b] = e.args as [Expr, Expr];
    switch (name) {
      case 'wrap':
        if (/^i64\.shr_[su]$/.test(a.op) && a.args[1]?.op === 'const' && (a.args[1].value as number) === 32) {
          const wide = a.args[0] as Expr;
          this.push(wide, 0);
          this.push(wide, 1);
          fn.shuffle32(1, 3, 5, 7);
          return;
        }
        this.joinLow((half) => this.push(a, half));
        return;
      case 'not':
        this.push(a);
        fn.op('v128.not');
        return;
      case 'neg':
      case 'abs':
        this.push(a);
        fn.op(`i32x4.${name}`);
        return;
      case 'and':
      case 'or':
      case 'xor':
        this.push(a);
        this.push(b);
        fn.op(`v128.${name}`);
        return;
      case 'add':
      case 'sub':
      case 'mul':
      case 'eq':
      case 'ne':
      case 'lt_s':
      case 'lt_u':
      case 'min_s':
      case 'min_u':
      case 'max_s':
      case 'max_u':
        this.push(a);
        this.push(b);
        fn.op(`i32x4.${name}`);
        return;
      case 'shl':
      case 'shr_s':
      case 'shr_u':
        this.shift32(name, a, b);
        return;
      case 'mulhi_s':
      case 'mulhi_u':
        for (const part of ['low', 'high']) {
          this.push(a);
          this.push(b);
          fn.op(`i64x2.extmul_${part}_i32x4_${name.slice(-1)}`);
        }
        fn.shuffle32(1, 3, 5, 7);
        return;
      case 'clz':
      case 'ctz':
        this.push(a);
        this.eachLane([a], () => fn.op(`i32.${name}`));
        return;
      case 'popcnt':
        this.push(a);
        fn.op('i8x16.popcnt').op('i16x8.extadd_pairwise_i8x16_u').op('i32x4.extadd_pairwise_i16x8_u');
        return;
      case 'bitrev':
        this.bitReverse(a);
        return;
      case 'trunc_s':
      case 'trunc_u':
        if (a.type !== 'f64') {
          this.push(a);
          fn.op(`i32x4.trunc_sat_f32x4_${name.slice(-1)}`);
          return;
        }
        for (const half of [0, 1]) {
          this.push(a, half);
          fn.op(`i32x4.trunc_sat_f64x2_${name.slice(-1)}_zero`);
        }
        fn.shuffle32(0, 1, 4, 5);
        return;
      default:
        floatOperator(this, 'i32', name, e, 0);
    }
  }

  /** With values of `args` on the stack (one v128 each), applies a scalar operator to every lane. */
  private eachLane(args: readonly Expr[], operator: () => void): void {
    const { fn } = this;
    const inputs = args.map(() => fn.local('v128'));
    for (const input of [...inputs].reverse()) fn.set(input);
    for (let lane = 0; lane < 4; lane++) {
      for (const input of inputs) fn.get(input).lane('i32x4.extract_lane', lane);
      operator();
      if (lane === 0) fn.op('i32x4.splat');
      else fn.lane('i32x4.replace_lane', lane);
    }
    for (const input of inputs) fn.release('v128', input);
  }

  private shift32(name: string, a: Expr, count: Expr): void {
    const { fn } = this;
    if (this.isUniform(count)) {
      this.push(a);
      this.pushUniform(count);
      fn.op(`i32x4.${name}`);
      return;
    }
    if (name === 'shl') {
      // × 2^count: the power is made in the exponent of an f32.
      this.push(a);
      this.push(count);
      fn.v128(...splat4(31))
        .op('v128.and')
        .i32(23)
        .op('i32x4.shl')
        .v128(...splat4(0x3f800000))
        .op('i32x4.add');
      fn.op('i32x4.trunc_sat_f32x4_u').op('i32x4.mul');
      return;
    }
    this.push(a);
    this.push(count);
    this.eachLane([a, count], () => fn.op(`i32.${name}`));
  }

  private bitReverse(a: Expr): void {
    const { fn } = this;
    const x = fn.local('v128');
    const bytes = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];
    this.push(a);
    fn.set(x).get(x).get(x).shuffle(bytes).set(x);
    for (const [shift, mask] of [
      [4, 0x0f0f0f0f],
      [2, 0x33333333],
      [1, 0x55555555],
    ] as const) {
      fn.get(x)
        .i32(shift)
        .op('i32x4.shr_u')
        .v128(...splat4(mask))
        .op('v128.and');
      fn.get(x)
        .v128(...splat4(mask))
        .op('v128.and')
        .i32(shift)
        .op('i32x4.shl')
        .op('v128.or')
        .set(x);
    }
    fn.get(x);
    fn.release('v128', x);
  }

  pushWithDenormals(e: Expr): void {
    if (e.op === 'source') pushLaneSource(this.run, this.operand(e), e, 0, 'keep', this.mode);
    else this.push(e);
  }

  /** Pushes f32 values with canonical NaNs. */
  pushCanonical(e: Expr): void {
    const { fn } = this;
    const x = fn.local('v128');
    this.push(e);
    fn.set(x);
    canonical(fn, x);
    fn.release('v128', x);
  }
}
