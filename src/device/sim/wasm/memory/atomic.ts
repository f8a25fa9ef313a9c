// Atomics: read-modify-write of a lane's element. Where no one else can be at the memory (LDS, and device memory that one thread
// works on) that is a load, the update and a store, of four lanes at once when their elements follow each other; elsewhere wasm's
// atomic instructions, lane after lane. Source: AMD CDNA3 ISA, atomic operations of DS and VMEM.
import type { AtomicOperation, Expr } from '../../../../isa/semantics/index.ts';
import { CONTROL_SHARED, VGPR_BYTES, WAVE_MODE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import {
  type AtomicCode,
  type AtomicForm,
  atomicBytes,
  followingAt,
  isWide,
  putOld,
  registerOf,
  takeData,
} from './atomic-lanes.ts';
import { updateOne } from './atomic-one.ts';
import { pushUpdate } from './atomic-update.ts';
import { hasVectorForm, pushVectorUpdate } from './atomic-vector.ts';
import type { Code } from './code.ts';
import type { Frame, Transfer } from './transfer.ts';

/** Rounding and denormal bits of MODE a float update depends on, and the value the compiled form is right for. */
const MODE_NEEDED: Partial<Record<AtomicOperation['type'], readonly [mask: number, value: number]>> = {
  f32: [0x03, 0],
  f64: [0x4c, 0x40],
  f16x2: [0x4c, 0x40],
};

/** MODE reads denormals of f32 as they are. */
const KEEPS_DENORMALS = 0x10;

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
  const bytes = atomicBytes(op);
  const c: AtomicCode = {
    op,
    form,
    values: [],
    vectors: [],
    keeps: undefined,
    flushed: undefined,
    alone: undefined,
  };
  return {
    key: `${name}${form.returns ? '.rtn' : ''}${form.system ? '.system' : ''}`,
    bytes,
    write: true,
    parameters: 2,
    piece: bytes,
    pieces: 1,
    isAtomic: {
      admits: (f, addresses) => {
        const { fn } = f.code;
        // LDS takes any address.
        if (c.alone === undefined) fn.i32(1);
        else {
          addresses.forEach((a, n) => {
            fn.get(a);
            if (n > 0) fn.op('i32.or');
          });
          fn.i32(bytes - 1)
            .op('i32.and')
            .op('i32.eqz')
            .get(c.alone)
            .op('i32.and');
        }
      },
      one: (f, a, then) => updateOne(f, c, a, then),
    },
    prologue: (f) => prepare(f, c),
    contiguous: (f, a) => {
      if (op.update.every(hasVectorForm)) vectorUpdate(f, c, a);
      else
        oneByOne(f, c, (fn, lane) =>
          fn
            .get(a)
            .i32(lane * bytes)
            .op('i32.add'),
        );
    },
    scattered: (f, addresses) => oneByOne(f, c, (fn, lane) => fn.get(addresses[lane] as number)),
    move: (f, _n, a) => moveLane(f, c, a),
    skip: (f) => {
      if (isWide(op)) f.code.fn.i64(0n);
      else f.code.fn.i32(0);
      f.code.fn.set(c.values[0] as number);
    },
    commit: (f) => putOld(f, c, 0),
  };
}

function prepare(f: Frame, c: AtomicCode): void {
  const { code } = f;
  const { fn } = code;
  const { op, form } = c;
  for (let n = 0; n < 5; n++) c.values[n] = code.local(isWide(op) ? 'i64' : 'i32');
  for (let n = 0; n < (isWide(op) ? 6 : 3); n++) c.vectors[n] = code.local('v128');
  if (!form.shared) {
    c.alone = code.local('i32');
    if (!form.system) fn.i32(0).memory('i32.load', CONTROL_SHARED).op('i32.eqz').set(c.alone);
  }
  if (MODE_NEEDED[op.type] === undefined) return;
  if (op.type === 'f32') {
    c.keeps = code.local('i32');
    c.flushed = code.local('v128');
    pushKeepsDenormals(fn, f.wave).set(c.keeps);
    fn.v128(0, 0, 0, 0).v128(0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff).get(c.keeps).select().set(c.flushed);
  }
  pushIsOtherMode(fn, f.wave, op);
  code.if(() => f.resume());
}

/** Leaves a number that is not 0 where updates of f32 read denormals as they are. */
export function pushKeepsDenormals(fn: WasmFunction, wave: number): WasmFunction {
  return fn.get(wave).memory('i32.load', WAVE_MODE).i32(KEEPS_DENORMALS).op('i32.and');
}

/** Leaves 1 when MODE asks for another update than pushUpdate's. */
export function pushIsOtherMode(fn: WasmFunction, wave: number, { type }: AtomicOperation): WasmFunction {
  const [mask, value] = MODE_NEEDED[type] ?? [0, 0];
  return fn.get(wave).memory('i32.load', WAVE_MODE).i32(mask).op('i32.and').i32(value).op('i32.ne');
}

/** One lane at `a`, where no one else can be. */
function plainUpdate(f: Frame, c: AtomicCode, a: () => void, [data, data2]: readonly [number, number]): void {
  const { fn } = f.code;
  const type = isWide(c.op) ? 'i64' : 'i32';
  const [old] = c.values as [number];
  a();
  fn.memory(`${type}.load`).set(old);
  a();
  pushUpdate(fn, c.op, { type: c.op.type, module: f.module, values: [old, data, data2], keeps: c.keeps });
  fn.memory(`${type}.store`);
}

/** One lane, anywhere. */
function moveLane(f: Frame, c: AtomicCode, a: number): void {
  const { code, module } = f;
  const { fn } = code;
  const { op, form, keeps, alone } = c;
  if (!form.shared) {
    fn.get(a)
      .i32((isWide(op) ? 8 : 4) - 1)
      .op('i32.and');
    code.if(() => f.resume());
  }
  const [old, , , next, seen] = c.values as [number, number, number, number, number];
  const data = takeData(f, c, 0);
  const plain = (): void => plainUpdate(f, c, () => fn.get(a), data);
  if (alone === undefined) {
    plain();
    return;
  }
  fn.get(alone);
  code.if(plain, () =>
    readModifyWrite(code, module, op, { address: a, old, data: data[0], data2: data[1], next, seen, keeps }),
  );
}

/** Four lanes, one after the other: two may have one element. */
function oneByOne(f: Frame, c: AtomicCode, address: (fn: WasmFunction, lane: number) => void): void {
  for (let lane = 0; lane < 4; lane++) {
    const data = takeData(f, c, lane);
    plainUpdate(f, c, () => address(f.code.fn, lane), data);
    putOld(f, c, lane);
  }
}

/** Four lanes whose elements follow each other from `a`. */
function vectorUpdate(f: Frame, c: AtomicCode, a: number): void {
  const { fn } = f.code;
  const { op, form, flushed } = c;
  const halves = isWide(op) ? 2 : 1;
  /** Sets vectors `n`, … to four lanes of a register. */
  const take = (n: number, at: () => void): void => {
    at();
    fn.memory('v128.load');
    if (halves === 1) {
      fn.set(c.vectors[n] as number);
      return;
    }
    const [low, high] = [c.vectors[n], c.vectors[n + 1]] as [number, number];
    fn.set(low);
    at();
    fn.memory('v128.load', VGPR_BYTES).set(high);
    fn.get(low).get(high).shuffle32(0, 4, 1, 5).get(low).get(high).shuffle32(2, 6, 3, 7).set(high).set(low);
  };
  const [first, other] = [halves, 2 * halves];
  take(first, () => fn.get(f.laneWord));
  if (form.second === 'following') take(other, () => fn.get(f.laneWord).i32(followingAt(op)).op('i32.add'));
  else if (form.second === 'separate') take(other, () => registerOf(f, f.extra[1] as number));
  const [data, data2] = op.data === 'compareThenNew' ? [other, first] : [first, other];
  for (let half = 0; half < halves; half++) {
    const values = [half, data + half, data2 + half].map((n) => c.vectors[n]) as [number, number, number];
    fn.get(a)
      .memory('v128.load', 16 * half)
      .set(values[0]);
    fn.get(a);
    pushVectorUpdate(fn, op, { type: op.type, values, flushed });
    fn.memory('v128.store', 16 * half);
  }
  if (!form.returns) return;
  const [low, high] = c.vectors as [number, number];
  const [destination] = f.extra as [number];
  registerOf(f, destination);
  fn.get(low);
  if (halves === 1) {
    fn.memory('v128.store');
    return;
  }
  fn.get(high).shuffle32(0, 2, 4, 6).memory('v128.store');
  registerOf(f, destination);
  fn.get(low).get(high).shuffle32(1, 3, 5, 7).memory('v128.store', VGPR_BYTES);
}
