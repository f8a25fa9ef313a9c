// Scalar ALU operations as WebAssembly: an expression becomes stack code; scalar registers stay in the wave block.

import { operandNamed, requireOperand } from '../../../isa/operand.ts';
import type { Expr, OperandType, ScalarOperation, SourceSpec } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { inlineWords, registerOf } from '../interpreter/operands.ts';
import { WAVE_SCC } from '../state/layout.ts';
import { EXEC, FLAT_SCRATCH, VCC } from '../state/wave.ts';
import type { FunctionContext } from './context.ts';
import type { ValType, WasmFunction } from './emit.ts';

/** Thrown when an operation has no code: the instruction is left to the interpreter. */
export class NoCode extends Error {}

/** How often each node is used below some roots: a node used twice is computed once. */
export function countUses(roots: readonly (Expr | undefined)[]): Map<Expr, number> {
  const uses = new Map<Expr, number>();
  const visit = (e: Expr): void => {
    const n = uses.get(e) ?? 0;
    uses.set(e, n + 1);
    if (n === 0) e.args.forEach(visit);
  };
  for (const root of roots) if (root !== undefined) visit(root);
  return uses;
}

/** A scalar operand as a 64-bit constant, when it is one. */
export function constantOf(operand: Operand, type: OperandType): bigint | undefined {
  const words = (low: number, high: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  if (operand.kind === 'imm') return words(operand.value, operand.value >> 31);
  if (operand.kind === 'literal') return type === 'f64' ? words(0, operand.bits) : words(operand.bits, 0);
  if (operand.kind === 'inline') return words(...inlineWords(operand.encoding, type));
  switch (operand.encoding) {
    case 235:
      return words(0, SHARED_APERTURE_HIGH);
    case 236:
      return words(-1, SHARED_APERTURE_HIGH);
    case 237:
      return words(0, PRIVATE_APERTURE_HIGH);
    case 238:
      return words(-1, PRIVATE_APERTURE_HIGH);
    case 239:
      return 0n;
    default:
      return undefined;
  }
}

/** Index of the scalar register word an operand is, when it is one. */
export function scalarRegister(operand: Operand): number | undefined {
  if (operand.kind !== 'reg' || operand.file === 'v' || operand.file === 'a') return undefined;
  if (operand.encoding < 128) return operand.encoding;
  if (operand.encoding === 230 || operand.encoding === 231) return FLAT_SCRATCH + (operand.encoding & 1);
  return undefined;
}

/** Pushes word `n` of a scalar operand, or all 64 bits. */
export function pushScalarOperand(
  { fn, wave }: Pick<FunctionContext, 'fn' | 'wave'>,
  operand: Operand,
  type: OperandType,
  part: 0 | 1 | 'both',
): void {
  const constant = constantOf(operand, type);
  if (constant !== undefined) {
    if (part === 'both') fn.i64(BigInt.asIntN(64, constant));
    else fn.i32(Number(BigInt.asIntN(32, part === 0 ? constant : constant >> 32n)));
    return;
  }
  const register = scalarRegister(operand);
  if (register !== undefined) {
    const at = 4 * (register + (part === 1 ? 1 : 0));
    fn.get(wave).memory(part === 'both' ? 'i64.load' : 'i32.load', at);
    return;
  }
  const encoding = operand.kind === 'reg' ? operand.encoding : -1;
  if (encoding === 251 || encoding === 252) {
    fn.get(wave)
      .memory('i64.load', 4 * (encoding === 251 ? VCC : EXEC))
      .op('i64.eqz');
  } else if (encoding === 253) fn.get(wave).memory('i32.load', WAVE_SCC);
  else throw new NoCode('special scalar source');
  if (part === 'both') fn.op('i64.extend_i32_u');
  else if (part === 1) fn.drop().i32(0);
}

/** Stack code for scalar expressions. */
export class ScalarCode {
  private readonly fn: WasmFunction;
  private readonly source: (e: Expr) => void;
  private readonly uses: Map<Expr, number>;
  private readonly done = new Map<Expr, number>();
  private readonly temporaries: [ValType, number][] = [];
  private readonly context: Pick<FunctionContext, 'fn' | 'wave'>;

  constructor(context: Pick<FunctionContext, 'fn' | 'wave'>, uses: Map<Expr, number>, source: (e: Expr) => void) {
    this.context = context;
    this.fn = context.fn;
    this.uses = uses;
    this.source = source;
  }

  /** Gives the locals back. */
  close(): void {
    for (const [type, local] of this.temporaries) this.fn.release(type, local);
  }

  private local(type: ValType): number {
    const local = this.fn.local(type);
    this.temporaries.push([type, local]);
    return local;
  }

  /** Pushes the value: i32 for i32 and bool, i64. */
  push(e: Expr): void {
    const { fn } = this;
    const known = this.done.get(e);
    if (known !== undefined) {
      fn.get(known);
      return;
    }
    this.generate(e);
    if ((this.uses.get(e) ?? 0) > 1 && e.op !== 'const') {
      const local = this.local(e.type === 'i64' ? 'i64' : 'i32');
      this.done.set(e, local);
      fn.tee(local);
    }
  }

  private generate(e: Expr): void {
    const { fn, context } = this;
    switch (e.op) {
      case 'const':
        if (e.type === 'i64') fn.i64(BigInt.asIntN(64, BigInt(e.value)));
        else if (e.type === 'i32') fn.i32(Number(e.value));
        else throw new NoCode(e.type);
        return;
      case 'source':
        this.source(e);
        return;
      case 'scc':
        fn.get(context.wave).memory('i32.load', WAVE_SCC);
        return;
      case 'exec':
        fn.get(context.wave).memory('i64.load', 4 * EXEC);
        return;
      case 'execz':
      case 'vccz':
        fn.get(context.wave)
          .memory('i64.load', 4 * (e.op === 'vccz' ? VCC : EXEC))
          .op('i64.eqz');
        return;
    }
    const [a, b, c] = e.args as [Expr, Expr, Expr];
    const dot = e.op.indexOf('.');
    const prefix = e.op.slice(0, dot);
    const name = e.op.slice(dot + 1);
    if (name === 'select') {
      this.push(b);
      this.push(c);
      this.push(a);
      fn.select();
    } else if (prefix === 'bool') this.bool(name, a, b);
    else if (prefix === 'i32' || prefix === 'i64') this.integer(prefix, name, a, b);
    else throw new NoCode(e.op);
  }

  private bool(name: string, a: Expr, b: Expr): void {
    this.push(a);
    if (name === 'not') {
      this.fn.op('i32.eqz');
      return;
    }
    this.push(b);
    this.fn.op(`i32.${name}`);
  }

  private integer(type: 'i32' | 'i64', name: string, a: Expr, b: Expr): void {
    const { fn } = this;
    const constant = (n: number): void => void (type === 'i32' ? fn.i32(n) : fn.i64(BigInt(n)));
    switch (name) {
      case 'wrap':
        this.push(a);
        fn.op('i32.wrap_i64');
        return;
      case 'extend_s':
      case 'extend_u':
        this.push(a);
        fn.op(`i64.extend_i32_${name.slice(-1)}`);
        return;
      case 'not':
        this.push(a);
        constant(-1);
        fn.op(`${type}.xor`);
        return;
      case 'neg':
        constant(0);
        this.push(a);
        fn.op(`${type}.sub`);
        return;
      case 'abs': {
        const x = this.local(type);
        this.push(a);
        fn.tee(x).get(x);
        constant(type === 'i32' ? 31 : 63);
        fn.op(`${type}.shr_s`).op(`${type}.xor`).get(x);
        constant(type === 'i32' ? 31 : 63);
        fn.op(`${type}.shr_s`).op(`${type}.sub`);
        return;
      }
      case 'bitrev':
        this.bitReverse(type, a);
        return;
      case 'mulhi_s':
      case 'mulhi_u': {
        const extend = `i64.extend_i32_${name.slice(-1)}`;
        this.push(a);
        fn.op(extend);
        this.push(b);
        fn.op(extend).op('i64.mul').i64(32n).op('i64.shr_u').op('i32.wrap_i64');
        return;
      }
      case 'min_s':
      case 'min_u':
      case 'max_s':
      case 'max_u': {
        const [x, y] = [this.local(type), this.local(type)];
        this.push(a);
        fn.set(x);
        this.push(b);
        fn.set(y).get(x).get(y).get(x).get(y);
        fn.op(`${type}.${name.startsWith('min') ? 'lt' : 'gt'}_${name.slice(-1)}`).select();
        return;
      }
    }
    this.push(a);
    if (name === 'clz' || name === 'ctz' || name === 'popcnt') {
      fn.op(`${type}.${name}`);
      if (type === 'i64') fn.op('i32.wrap_i64');
      return;
    }
    if (!/^(add|sub|mul|and|or|xor|shl|shr_s|shr_u|eq|ne|lt_s|lt_u)$/.test(name)) throw new NoCode(`${type}.${name}`);
    this.push(b);
    if (type === 'i64' && /^sh/.test(name)) fn.op('i64.extend_i32_u');
    fn.op(`${type}.${name}`);
  }

  private bitReverse(type: 'i32' | 'i64', a: Expr): void {
    const { fn } = this;
    const x = this.local(type);
    const constant = (n: bigint): void =>
      void (type === 'i32' ? fn.i32(Number(BigInt.asIntN(32, n))) : fn.i64(BigInt.asIntN(64, n)));
    this.push(a);
    fn.set(x);
    const steps: [bigint, bigint][] = [
      [1n, 0x5555555555555555n],
      [2n, 0x3333333333333333n],
      [4n, 0x0f0f0f0f0f0f0f0fn],
      [8n, 0x00ff00ff00ff00ffn],
      [16n, 0x0000ffff0000ffffn],
    ];
    for (const [shift, mask] of type === 'i32' ? steps.slice(0, 4) : steps) {
      fn.get(x);
      constant(shift);
      fn.op(`${type}.shr_u`);
      constant(mask);
      fn.op(`${type}.and`).get(x);
      constant(mask);
      fn.op(`${type}.and`);
      constant(shift);
      fn.op(`${type}.shl`).op(`${type}.or`).set(x);
    }
    fn.get(x);
    constant(type === 'i32' ? 16n : 32n);
    fn.op(`${type}.rotl`);
  }
}

/** Pushes the source `e` of a scalar instruction. */
function pushSource(context: FunctionContext, instruction: Instruction, specs: readonly SourceSpec[], e: Expr): void {
  const spec = specs[Number(e.value)] as SourceSpec;
  const operand = requireOperand(instruction, spec.operand);
  pushScalarOperand(context, operand, spec.type, e.type === 'i64' ? 'both' : e.part === 1 ? 1 : 0);
}

/** Emits a scalar operation. Throws NoCode before anything is emitted when it cannot be compiled. */
export function emitScalar(context: FunctionContext, instruction: Instruction, op: ScalarOperation): void {
  const { fn, wave } = context;
  for (const spec of op.sources) {
    const operand = operandNamed(instruction, spec.operand);
    if (operand?.kind === 'reg' && operand.encoding === 254) throw new NoCode('lds_direct');
  }
  const scc = op.scc === 'nonzero' ? undefined : op.scc;
  const code = new ScalarCode(context, countUses([op.result, scc, op.exec, op.when]), (e) =>
    pushSource(context, instruction, op.sources, e),
  );
  const wide = op.resultType === 'i64';
  const type = wide ? 'i64' : 'i32';
  if (op.when !== undefined) {
    code.push(op.when);
    fn.if();
  }
  const single = scc === undefined && op.exec === undefined && op.scc === undefined;
  const store = wide ? 'i64.store' : 'i32.store';
  if (single && op.result !== undefined) {
    fn.get(wave);
    code.push(op.result);
    fn.memory(store, 4 * registerOf(instruction, 'sdst').encoding);
  } else {
    // Everything is computed from the old state before anything is written.
    const value = op.result === undefined ? undefined : fn.local(type);
    const newExec = op.exec === undefined ? undefined : fn.local('i64');
    if (op.result !== undefined && value !== undefined) {
      code.push(op.result);
      fn.set(value);
    }
    if (op.exec !== undefined && newExec !== undefined) {
      code.push(op.exec);
      fn.set(newExec);
    }
    if (op.scc !== undefined) {
      fn.get(wave);
      if (scc !== undefined) code.push(scc);
      else if (value !== undefined) fn.get(value).op(`${type}.eqz`).op('i32.eqz');
      fn.memory('i32.store', WAVE_SCC);
    }
    if (newExec !== undefined) {
      fn.get(wave)
        .get(newExec)
        .memory('i64.store', 4 * EXEC);
      fn.release('i64', newExec);
    }
    if (value !== undefined) {
      fn.get(wave)
        .get(value)
        .memory(store, 4 * registerOf(instruction, 'sdst').encoding);
      fn.release(type, value);
    }
  }
  if (op.when !== undefined) fn.end();
  code.close();
}

/** Pushes a branch condition as 0 or 1. */
export function pushCondition(context: FunctionContext, condition: Expr): void {
  const code = new ScalarCode(context, countUses([condition]), () => {
    throw new Error('a branch condition has no operands');
  });
  code.push(condition);
  code.close();
}
