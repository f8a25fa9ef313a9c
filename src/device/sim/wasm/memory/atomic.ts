// Atomics: read-modify-write of a lane's element in device memory (wasm atomic instructions) or LDS (plain: one worker runs a
// workgroup), lane after lane. The update is the operation's expression. Source: AMD CDNA3 ISA, atomic operations of DS and VMEM.
import type { AtomicOperation, Expr } from '../../../../isa/semantics/index.ts';
import { VGPR_BYTES, WAVE_MODE } from '../../state/layout.ts';
import type { ValType, WasmFunction, WasmModule } from '../emit.ts';
import type { Code } from './code.ts';
import { decodeHalf, encodeHalf } from './half.ts';
import type { Frame, Transfer } from './transfer.ts';

/** Whether the old value is written to a register, and where memory is. */
export interface AtomicForm {
  readonly returns: boolean;
  readonly shared: boolean;
  /** The second datum is in registers of its own (DS), after the first (compare-and-swap of VMEM), or there is none. */
  readonly second: 'none' | 'following' | 'separate';
}

/** Rounding and denormal bits of MODE a float update depends on, and the value the compiled form is right for. */
const MODE_NEEDED: Partial<Record<AtomicOperation['type'], readonly [mask: number, value: number]>> = {
  f32: [0x03, 0],
  f64: [0x4c, 0x40],
  f16x2: [0x4c, 0x40],
};

/** MODE reads denormals of f32 as they are. */
const KEEPS_DENORMALS = 0x10;

/** Locals of the update's inputs, as raw words: i32, or i64 for 64-bit types. */
interface Inputs {
  readonly type: AtomicOperation['type'];
  readonly module: WasmModule;
  readonly values: readonly [memory: number, data: number, data2: number];
  /** f32: a local (i32) that is not 0 where denormals are read as they are. */
  readonly keeps: number | undefined;
}

/** Expression operators that are one wasm instruction. */
const DIRECT = new Set(
  ['i32', 'i64'].flatMap((t) => ['add', 'sub', 'and', 'or', 'xor', 'eq', 'ne', 'lt_s', 'lt_u'].map((o) => `${t}.${o}`)),
);
const FLOATS = new Set(['f32.add', 'f64.add', 'f32.eq', 'f64.eq']);
const MINIMA = /^([if])(32|64)\.(min|max)(_s|_u)?$/;

/** Whether every operator of an update can be compiled. */
export function canCompile(e: Expr): boolean {
  const known =
    e.op === 'source' ||
    e.op === 'const' ||
    DIRECT.has(e.op) ||
    FLOATS.has(e.op) ||
    MINIMA.test(e.op) ||
    /^(i32|i64)\.not$/.test(e.op) ||
    /^bool\.(or|and|not)$/.test(e.op) ||
    e.op === 'f16.add' ||
    e.op === 'bf16.add' ||
    e.op.endsWith('.select');
  return known && e.args.every(canCompile);
}

/** How a value type is held in wasm. */
function held(type: Expr['type']): ValType {
  if (type === 'bool') return 'i32';
  return type === 'f16' || type === 'bf16' ? 'f32' : type;
}

/** Pushes the value of an update expression. */
function push(fn: WasmFunction, e: Expr, inputs: Inputs): void {
  const arguments_ = (): void => {
    for (const a of e.args) push(fn, a, inputs);
  };
  if (e.op === 'source') {
    pushSource(fn, e, inputs);
    return;
  }
  if (e.op === 'const') {
    if (e.type === 'i64') fn.i64(BigInt(e.value));
    else fn.i32(Number(e.value));
    return;
  }
  if (DIRECT.has(e.op) || FLOATS.has(e.op)) {
    arguments_();
    fn.op(e.op);
    return;
  }
  if (e.op === 'f16.add' || e.op === 'bf16.add') {
    // Exact but for one rounding to f32, which is harmless before the rounding to 11 or 8 bits (24 >= 2·11 + 2).
    arguments_();
    fn.op('f32.add');
    return;
  }
  if (e.op.endsWith('.select')) {
    const [condition, yes, no] = e.args as [Expr, Expr, Expr];
    push(fn, yes, inputs);
    push(fn, no, inputs);
    push(fn, condition, inputs);
    fn.select();
    return;
  }
  if (e.op.endsWith('.not')) {
    // leS and relatives are `TYPE.not` of a comparison.
    arguments_();
    const [argument] = e.args as [Expr];
    if (argument.type === 'bool') fn.op('i32.eqz');
    else if (argument.type === 'i64') fn.i64(-1n).op('i64.xor');
    else fn.i32(-1).op('i32.xor');
    return;
  }
  if (e.op.startsWith('bool.')) {
    arguments_();
    fn.op(`i32.${e.op.slice(5)}`);
    return;
  }
  pushMinimum(fn, e, inputs);
}

function pushSource(fn: WasmFunction, e: Expr, { type, module, values, keeps }: Inputs): void {
  const value = values[Number(e.value)] as number;
  fn.get(value);
  if (e.type === 'f32') {
    if (keeps !== undefined) {
      fn.get(value)
        .i32(-0x80000000)
        .op('i32.and')
        .get(value)
        .i32(0x7f800000)
        .op('i32.and')
        .get(keeps)
        .op('i32.or')
        .select();
    }
    fn.op('f32.reinterpret_i32');
  } else if (e.type === 'f64') fn.op('f64.reinterpret_i64');
  else if (e.type === 'f16' || e.type === 'bf16') {
    if (type === 'bf16x2') {
      if (e.part === 0) fn.i32(16).op('i32.shl');
      else fn.i32(-65536).op('i32.and');
      fn.op('f32.reinterpret_i32');
    } else {
      if (e.part === 1) fn.i32(16).op('i32.shr_u');
      else fn.i32(0xffff).op('i32.and');
      fn.call(decodeHalf(module));
    }
  }
}

/** Integer minima and maxima; float ones where a NaN loses. */
function pushMinimum(fn: WasmFunction, e: Expr, inputs: Inputs): void {
  const match = MINIMA.exec(e.op);
  if (match === null) throw new Error(`no compiled form of ${e.op}`);
  const type = held(e.type);
  const [x, y] = [fn.local(type), fn.local(type)];
  push(fn, e.args[0] as Expr, inputs);
  fn.set(x);
  push(fn, e.args[1] as Expr, inputs);
  fn.set(y);
  if (match[1] === 'i') {
    fn.get(x).get(y).get(x).get(y);
    fn.op(`${type}.${match[3] === 'min' ? 'lt' : 'gt'}${match[4]}`).select();
  } else {
    fn.get(y).get(x).get(y).op(`${type}.${match[3]}`).get(x);
    fn.get(y).get(y).op(`${type}.eq`).select();
    fn.get(x).get(x).op(`${type}.eq`).op('i32.eqz').select();
  }
  fn.release(type, x);
  fn.release(type, y);
}

/** Pushes the new raw memory word, floats with the canonical NaN. */
function pushUpdate(fn: WasmFunction, op: AtomicOperation, inputs: Inputs): void {
  const [first, second] = op.update as [Expr, Expr | undefined];
  push(fn, first, inputs);
  if (op.type === 'f32') {
    const value = fn.local('f32');
    fn.tee(value).op('i32.reinterpret_f32').i32(0x7fc00000).get(value).get(value).op('f32.eq').select();
    fn.release('f32', value);
  } else if (op.type === 'f64') {
    const value = fn.local('f64');
    fn.tee(value).op('i64.reinterpret_f64').i64(0x7ff8000000000000n).get(value).get(value).op('f64.eq').select();
    fn.release('f64', value);
  } else if (second !== undefined) {
    const encode = encodeHalf(inputs.module, op.type === 'bf16x2');
    fn.call(encode);
    push(fn, second, inputs);
    fn.call(encode).i32(16).op('i32.shl').op('i32.or');
  }
}

const isSource = (e: Expr | undefined, index: number): boolean => e?.op === 'source' && e.value === index;

/** The wasm atomic that is the whole update, when there is one. */
function directAtomic(op: AtomicOperation): 'add' | 'sub' | 'and' | 'or' | 'xor' | 'xchg' | 'cmpxchg' | undefined {
  if (op.type !== 'i32' && op.type !== 'i64') return undefined;
  const [e] = op.update as [Expr];
  if (isSource(e, 1)) return 'xchg';
  const name = e.op.slice(4);
  if (isSource(e.args[0], 0) && isSource(e.args[1], 1)) {
    for (const known of ['add', 'sub', 'and', 'or', 'xor'] as const) if (name === known) return known;
  }
  const [condition] = e.args;
  const swaps = name === 'select' && condition?.op === `${op.type}.eq` && isSource(e.args[1], 1);
  return swaps && isSource(condition.args[0], 0) && isSource(condition.args[1], 2) && isSource(e.args[2], 0)
    ? 'cmpxchg'
    : undefined;
}

/** Locals of one read-modify-write: the address (i32), and words of the atomic's width. */
export interface AtomicLocals {
  readonly address: number;
  /** Set to what memory held. */
  readonly old: number;
  readonly data: number;
  readonly data2: number;
  readonly next: number;
  readonly seen: number;
  readonly keeps?: number | undefined;
}

/** Whether an atomic works on 64 bits. */
export const isWide = (op: AtomicOperation): boolean => op.type === 'i64' || op.type === 'f64';

/** Emits an atomic update of aligned device memory: one wasm instruction, or a compare-and-swap loop. */
export function readModifyWrite(code: Code, module: WasmModule, op: AtomicOperation, words: AtomicLocals): void {
  const { fn } = code;
  const { address, old, data, data2, next, seen, keeps } = words;
  const type = isWide(op) ? 'i64' : 'i32';
  const direct = directAtomic(op);
  if (direct === 'cmpxchg') {
    fn.get(address).get(data2).get(data).memory(`${type}.atomic.rmw.cmpxchg`).set(old);
    return;
  }
  if (direct !== undefined) {
    fn.get(address).get(data).memory(`${type}.atomic.rmw.${direct}`).set(old);
    return;
  }
  fn.get(address).memory(`${type}.atomic.load`).set(seen);
  code.loop((again) => {
    fn.get(seen).set(old);
    pushUpdate(fn, op, { type: op.type, module, values: [old, data, data2], keeps });
    fn.set(next);
    fn.get(address).get(old).get(next).memory(`${type}.atomic.rmw.cmpxchg`).tee(seen);
    fn.get(old).op(`${type}.ne`);
    code.brIf(again);
  });
}

/** The transfer of an atomic. Extra parameters: the destination and the second datum's register, as places in the wave block. */
export function atomicTransfer(op: AtomicOperation, name: string, form: AtomicForm): Transfer {
  const wide = isWide(op);
  const type = wide ? 'i64' : 'i32';
  const bytes = wide ? 8 : 4;
  const values: number[] = [];
  let keeps: number | undefined;
  /** Pushes a register's value of the current lane; the address is on the stack. */
  const pushRegister = (f: Frame, at: number): void => {
    const { fn } = f.code;
    if (!wide) {
      fn.memory('i32.load', at);
      return;
    }
    const address = f.code.local('i32');
    fn.tee(address).memory('i64.load32_u', at);
    fn.get(address)
      .memory('i64.load32_u', at + VGPR_BYTES)
      .i64(32n)
      .op('i64.shl')
      .op('i64.or');
    fn.release('i32', address);
  };
  const laneOf = (f: Frame, register: number): void => {
    f.code.fn.get(f.wave).get(register).op('i32.add').get(f.at).op('i32.add');
  };
  return {
    key: `${name}${form.returns ? '.rtn' : ''}`,
    bytes,
    write: true,
    parameters: 2,
    piece: bytes,
    pieces: 1,
    lanesOnly: true,
    prologue: (f) => {
      for (let n = 0; n < 5; n++) values[n] = f.code.local(type);
      const needed = MODE_NEEDED[op.type];
      if (needed === undefined) return;
      if (op.type === 'f32') {
        keeps = f.code.local('i32');
        f.code.fn.get(f.wave).memory('i32.load', WAVE_MODE).i32(KEEPS_DENORMALS).op('i32.and').set(keeps);
      }
      f.code.fn.get(f.wave).memory('i32.load', WAVE_MODE).i32(needed[0]).op('i32.and').i32(needed[1]).op('i32.ne');
      f.code.if(() => f.resume());
    },
    contiguous: () => {},
    scattered: () => {},
    move: (f, _n, a) => {
      const { code, module } = f;
      const { fn } = code;
      const [old, first, other, next, seen] = values as [number, number, number, number, number];
      if (!form.shared) {
        fn.get(a)
          .i32(bytes - 1)
          .op('i32.and');
        code.if(() => f.resume());
      }
      fn.get(f.laneWord);
      pushRegister(f, 0);
      fn.set(first);
      if (form.second === 'following') {
        fn.get(f.laneWord);
        pushRegister(f, bytes * (VGPR_BYTES / 4));
        fn.set(other);
      } else if (form.second === 'separate') {
        laneOf(f, f.extra[1] as number);
        pushRegister(f, 0);
        fn.set(other);
      }
      const [data, data2] = op.data === 'compareThenNew' ? [other, first] : [first, other];
      const words: AtomicLocals = { address: a, old, data, data2, next, seen, keeps };
      if (form.shared) {
        fn.get(a).memory(`${type}.load`).set(old).get(a);
        pushUpdate(fn, op, { type: op.type, module, values: [old, data, data2], keeps });
        fn.memory(`${type}.store`);
      } else readModifyWrite(code, module, op, words);
    },
    skip: (f) => {
      if (wide) f.code.fn.i64(0n);
      else f.code.fn.i32(0);
      f.code.fn.set(values[0] as number);
    },
    commit: (f) => {
      if (!form.returns) return;
      const { fn } = f.code;
      const [old] = values as [number];
      const [destination] = f.extra as [number];
      laneOf(f, destination);
      fn.get(old);
      if (!wide) {
        fn.memory('i32.store');
        return;
      }
      fn.memory('i64.store32');
      laneOf(f, destination);
      fn.get(old).i64(32n).op('i64.shr_u').memory('i64.store32', VGPR_BYTES);
    },
  };
}
