// Compiled code looks at atomics of global memory in kernels whose wavefronts learn from others: what they do goes into the log of atomics (sync-log.ts),
// where the addresses of their lanes are put first, and their bytes into the records of pages.
import type { AtomicOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { LANES, VGPR_BYTES } from '../../state/layout.ts';
import { EXEC } from '../../state/wave.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { atomicBytes, canCompile, type Frame, type Look, namedVector, pushUpdate } from '../../wasm/memory/index.ts';
import {
  ATOMIC_BYTES,
  ENTRY_ACTOR,
  ENTRY_ADDRESSES,
  ENTRY_ARRIVAL,
  ENTRY_ATTEMPTS,
  ENTRY_BACK,
  ENTRY_BYTES,
  ENTRY_COMPLETE,
  ENTRY_EPOCH,
  ENTRY_FETCH,
  ENTRY_KIND,
  ENTRY_LANES,
  ENTRY_NUMBER,
  ENTRY_PC,
  ENTRY_RELEASES,
  ENTRY_STORES,
  ENTRY_TWO,
  ENTRY_UPDATE,
  SYNC_COUNT,
  SYNC_EARLY,
  SYNC_END,
  SYNC_IS_KEPT,
  SYNC_NEWS,
  SYNC_NEXT,
} from '../races/sync-log.ts';
import {
  HAS_FETCHED,
  HAS_LOOKED_AHEAD,
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOG_PART,
  LOGGED_FETCH,
  SHADOW_ACTOR,
  SHADOW_AHEAD,
  SHADOW_ANNOUNCES,
  SHADOW_COMPLETE,
  SHADOW_EPOCH,
  SHADOW_FETCHES,
  SHADOW_KNOWN,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_MET,
  SHADOW_RELEASED,
  SHADOW_RELEASES,
  SHADOW_STORES,
  SHADOW_SYNC,
  SHADOW_WRITTEN_BACK,
} from '../registers/shadow-layout.ts';
import { pushReleases } from './events.ts';
import { looking } from './looks.ts';

/** Whether compiled code can say which lanes of an atomic that returns values leave memory as it is. */
export function canLog(instruction: Instruction, op: AtomicOperation): boolean {
  if (op.pairStride !== undefined || !op.update.every(canCompile)) return false;
  if (op.data !== 'one' && op.data !== 'newThenCompare') return false;
  return namedVector(instruction, 'vdata_in', 'data0', 'vdata') !== undefined;
}

/** In front of the look at an atomic, or a load: sets `entry` to where its entry of the log is to be; leaves the block where there is no room. */
export function beginEntry(fn: WasmFunction, shadow: number, entry: number, noteKnown?: () => void): void {
  const head = fn.local('i32');
  if (noteKnown !== undefined) {
    fn.get(shadow).memory('i32.load', SHADOW_KNOWN).op('i32.eqz').if();
    noteKnown();
    fn.end();
  }
  fn.get(shadow).memory('i32.load', SHADOW_SYNC).tee(head).memory('i32.load', SYNC_NEXT).tee(entry);
  fn.i32(ATOMIC_BYTES).op('i32.add').get(head).memory('i32.load', SYNC_END).op('i32.gt_u').brIf(0);
  fn.release('i32', head);
}

/** Puts the lanes of an atomic or a load into its entry of the log. Parameters: its place in the image, the entry. */
export function keepLanes(bytes: number): Look {
  let entry = 0;
  const pushKept = (f: Frame): WasmFunction => f.code.fn.get(entry).get(f.at).op('i32.add');
  const plain = looking(
    bytes,
    true,
    `global.${bytes}.kept`,
    2,
    () => {
      throw new Error('lanes are not noted here');
    },
    (f) => {
      [, entry] = f.extra as [number, number];
      f.code.fn
        .get(entry)
        .get(f.wave)
        .memory('i64.load', 4 * EXEC)
        .memory('i64.store', ENTRY_LANES);
    },
  );
  return {
    ...plain,
    wave: (f, a) => f.code.fn.get(entry).get(a).call(rowFunction(f.module, bytes)),
    contiguous: (f, a) => {
      pushKept(f)
        .get(a)
        .op('i32x4.splat')
        .v128(0, bytes, 2 * bytes, 3 * bytes)
        .op('i32x4.add');
      f.code.fn.memory('v128.store', ENTRY_ADDRESSES);
    },
    scattered: (f, addresses) => {
      for (const [lane, a] of addresses.entries())
        pushKept(f)
          .get(a)
          .memory('i32.store', ENTRY_ADDRESSES + 4 * lane);
    },
    lanes: (f, addresses) => {
      pushKept(f).get(addresses).memory('v128.store', ENTRY_ADDRESSES);
    },
    move: (f, n, a) => {
      if (n === 0) pushKept(f).get(a).memory('i32.store', ENTRY_ADDRESSES);
    },
    finish: () => {},
  };
}

/** (entry, offset in wasm memory): the elements of all lanes follow each other from there on. */
function rowFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.sync.row.${bytes}`, ['i32', 'i32'], [], (fn) => {
    const addresses = fn.local('v128');
    const by = (n: number): WasmFunction => fn.v128(n, n, n, n).op('i32x4.add');
    fn.get(1)
      .op('i32x4.splat')
      .v128(0, bytes, 2 * bytes, 3 * bytes)
      .op('i32x4.add')
      .set(addresses);
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(0)
        .get(addresses)
        .memory('v128.store', ENTRY_ADDRESSES + at)
        .get(addresses);
      by(4 * bytes).set(addresses);
    }
  });
}

/**
 * (entry, address of the data register, 1 when all lanes are active, as pushKeepsDenormals): sets the lanes of an atomic that leave memory as it is, as bindLeavesMemory says it.
 * `op` is that of an instruction that canLog takes.
 */
export function attemptsFunction(module: WasmModule, instruction: Instruction, op: AtomicOperation): WasmFunction {
  const isWide = atomicBytes(op) === 8;
  const [type, words] = isWide ? (['i64', 2] as const) : (['i32', 1] as const);
  return module.helper(`strict.sync.attempts.${instruction.row.operation}`, ['i32', 'i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [entry, from, isWhole, keeps] = [0, 1, 2, 3] as const;
    const [left, mask, at, lane] = [fn.local('i64'), fn.local('i64'), fn.local('i32'), fn.local('i32')];
    const [old, first, second] = [fn.local(type), fn.local(type), fn.local(type)];
    const load = (to: number, register: number): void => {
      fn.get(at);
      if (!isWide) fn.memory('i32.load', register * VGPR_BYTES).set(to);
      else {
        fn.memory('i64.load32_u', register * VGPR_BYTES).get(at);
        fn.memory('i64.load32_u', (register + 1) * VGPR_BYTES)
          .i64(32n)
          .op('i64.shl')
          .op('i64.or')
          .set(to);
      }
    };
    // A sum leaves memory as it is where it adds nothing.
    if (isIntegerSum(op)) {
      fn.get(isWhole).if();
      for (let n = 0; n < 4 * LANES; n += 16) {
        fn.get(from).memory('v128.load', n);
        if (n > 0) fn.op('i32x4.min_u');
      }
      fn.op('i32x4.all_true').if();
      fn.get(entry).i64(0n).memory('i64.store', ENTRY_ATTEMPTS).return().end().end();
    }
    if (isSwap(instruction, op)) {
      fn.get(isWhole).if();
      writeSwaps(fn, entry, from, mask);
      fn.get(entry).get(mask).memory('i64.store', ENTRY_ATTEMPTS).return().end();
    }
    fn.get(entry).memory('i64.load', ENTRY_LANES).set(left);
    code.block((done) => {
      code.loop((again) => {
        fn.get(left).op('i64.eqz');
        code.brIf(done);
        fn.get(left).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').tee(lane).get(from).op('i32.add').set(at);
        load(first, 0);
        if (op.data === 'newThenCompare') load(second, words);
        fn.get(lane).get(entry).op('i32.add').memory('i32.load', ENTRY_ADDRESSES).memory(`${type}.load`).set(old);
        pushUpdate(fn, op, {
          type: op.type,
          module,
          values: [old, first, second],
          keeps: op.type === 'f32' ? keeps : undefined,
        });
        fn.get(old).op(`${type}.eq`);
        code.if(() => {
          fn.get(left).i64(0n).get(left).op('i64.sub').op('i64.and').get(mask).op('i64.or').set(mask);
        });
        fn.get(left).get(left).i64(1n).op('i64.sub').op('i64.and').set(left);
        code.br(again);
      });
    });
    fn.get(entry).get(mask).memory('i64.store', ENTRY_ATTEMPTS);
  });
}

/** Whether an atomic puts a datum of 32 bits where it finds the one that follows. */
function isSwap({ row }: Instruction, { type, data }: AtomicOperation): boolean {
  return type === 'i32' && data === 'newThenCompare' && /_cmpswap$/.test(row.operation);
}

/** Sets `mask` to the lanes of all that find another value than theirs, or put there what they find. */
function writeSwaps(fn: WasmFunction, entry: number, from: number, mask: number): void {
  const [old, equal, bits] = [fn.local('v128'), fn.local('v128'), fn.local('i64')];
  fn.i64(0n).set(mask);
  for (let n = 0; n < LANES; n += 4) {
    for (let lane = 0; lane < 4; lane++) {
      fn.get(entry).memory('i32.load', ENTRY_ADDRESSES + 4 * (n + lane));
      if (lane === 0) fn.memory('v128.load32_zero');
      else fn.get(old).memoryLane('v128.load32_lane', lane);
      fn.set(old);
    }
    fn.get(old)
      .get(from)
      .memory('v128.load', VGPR_BYTES + 4 * n)
      .op('i32x4.eq')
      .set(equal);
    fn.get(old)
      .get(from)
      .memory('v128.load', 4 * n)
      .op('i32x4.eq')
      .get(equal)
      .op('v128.not')
      .op('v128.or');
    fn.op('i32x4.bitmask').op('i64.extend_i32_u').set(bits);
    fn.get(mask).get(bits).i64(BigInt(n)).op('i64.shl').op('i64.or').set(mask);
  }
}

/** Whether an atomic of 32 bits adds its datum, or takes it away: it changes memory where that is not 0. */
function isIntegerSum({ type, update: [e] }: AtomicOperation): boolean {
  return type === 'i32' && (e?.op === 'i32.add' || e?.op === 'i32.sub') && e.args.every(({ op }) => op === 'source');
}

/** (shadow, entry, place in the image): the entry counts, of so many dwords a lane. What the wavefront has stored is told, but by a load. */
export function logFunction(module: WasmModule, kind: 'load' | 'update' | 'fetch', dwords: 1 | 2 = 1): WasmFunction {
  const returns = kind !== 'update';
  return module.helper(`strict.sync.log.${kind}.${dwords}`, ['i32', 'i32', 'i32'], [], (fn) => {
    const [shadow, entry, pc] = [0, 1, 2] as const;
    const [head, number] = [fn.local('i32'), fn.local('i32')];
    const field = (at: number): WasmFunction => fn.get(shadow).memory('i32.load', at);
    if (kind !== 'load') {
      fn.get(shadow);
      field(SHADOW_STORES).memory('i32.store', SHADOW_RELEASED);
    } else fn.get(entry).i64(-1n).memory('i64.store', ENTRY_ATTEMPTS);
    if (returns)
      pushOperation(fn, shadow)
        .i32(0)
        .memory('i32.store', SHADOW_LOG + LOG_PART);
    field(SHADOW_SYNC).tee(head).memory('i32.load', SYNC_IS_KEPT).op('i32.eqz').if().return().end();
    fn.get(head)
      .get(head)
      .memory('i32.load', SYNC_COUNT)
      .i32(1)
      .op('i32.add')
      .tee(number)
      .memory('i32.store', SYNC_COUNT);
    fn.get(entry)
      .i32((returns ? ENTRY_FETCH : ENTRY_UPDATE) | (dwords === 2 ? ENTRY_TWO : 0))
      .memory('i32.store', ENTRY_KIND);
    fn.get(entry);
    field(SHADOW_ACTOR).memory('i32.store', ENTRY_ACTOR);
    fn.get(entry).get(pc).memory('i32.store', ENTRY_PC);
    fn.get(entry).get(number).memory('i32.store', ENTRY_NUMBER);
    fn.get(entry);
    field(SHADOW_STORES).memory('i32.store', ENTRY_STORES);
    fn.get(entry);
    field(SHADOW_COMPLETE).memory('i32.store', ENTRY_COMPLETE);
    fn.get(entry);
    field(SHADOW_EPOCH).memory('i32.store', ENTRY_EPOCH);
    fn.get(entry);
    pushReleases(fn, shadow).memory('i32.store', ENTRY_RELEASES);
    if (kind !== 'load') {
      fn.get(entry);
      field(SHADOW_WRITTEN_BACK).memory('i32.store', ENTRY_BACK);
      countNews(fn, head);
      field(SHADOW_STORES);
      field(SHADOW_COMPLETE).op('i32.ne').if();
      fn.get(head).i32(1).memory('i32.store', SYNC_EARLY).end();
      fn.get(shadow);
      field(SHADOW_RELEASES).i32(1).op('i32.add');
      // Its number among the stores counts there.
      field(SHADOW_ANNOUNCES).op('i32.add').memory('i32.store', SHADOW_RELEASES);
    }
    fn.get(head).get(entry).i32(ATOMIC_BYTES).op('i32.add').memory('i32.store', SYNC_NEXT);
    if (!returns) return;
    fn.get(shadow);
    field(SHADOW_MET).i32(HAS_FETCHED).op('i32.or').memory('i32.store', SHADOW_MET);
    fn.get(shadow);
    field(SHADOW_FETCHES).i32(1).op('i32.add').memory('i32.store', SHADOW_FETCHES);
    pushOperation(fn, shadow)
      .get(number)
      .memory('i32.store', SHADOW_LOG + LOG_PART);
  });
}

/** Somebody tells, or may learn, something by an entry of the log. */
function countNews(fn: WasmFunction, head: number): void {
  fn.get(head).get(head).memory('i32.load', SYNC_NEWS).i32(1).op('i32.add').memory('i32.store', SYNC_NEWS);
}

/** Leaves where the operation that is looked at is about to be in the log of outstanding ones, but for SHADOW_LOG. */
function pushOperation(fn: WasmFunction, shadow: number): WasmFunction {
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul');
  return fn.get(shadow).op('i32.add');
}

/** Behind the look at a load that may look ahead of atomics: if it has, it learns from others what the entry of its lanes says. */
export function emitLookedAhead(fn: WasmFunction, module: WasmModule, shadow: number, entry: number, pc: number): void {
  fn.get(shadow).memory('i32.load', SHADOW_AHEAD).i32(HAS_LOOKED_AHEAD).op('i32.eq').if();
  fn.get(shadow).get(entry).i32(pc).call(logFunction(module, 'load'));
  fn.else();
  forgetNumber(fn, shadow);
  fn.end();
}

/** The operation that is looked at has no entry in the log of atomics. */
export function forgetNumber(fn: WasmFunction, shadow: number): void {
  pushOperation(fn, shadow)
    .i32(0)
    .memory('i32.store', SHADOW_LOG + LOG_PART);
}

/** Leaves 1 when there is no room in the log of atomics to say that values have come back. */
export function pushIsFull(fn: WasmFunction, shadow: number): WasmFunction {
  const head = fn.local('i32');
  fn.get(shadow).memory('i32.load', SHADOW_SYNC).tee(head).memory('i32.load', SYNC_NEXT);
  fn.get(shadow).memory('i32.load', SHADOW_FETCHES).i32(ENTRY_BYTES).op('i32.mul').op('i32.add');
  fn.get(head).memory('i32.load', SYNC_END).op('i32.gt_u');
  fn.release('i32', head);
  return fn;
}

/** (shadow, an entry of the log of outstanding operations): if it has an entry in the log of atomics, its values have come back. */
export function arriveFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.sync.arrive', ['i32', 'i32'], [], (fn) => {
    const [shadow, operation] = [0, 1] as const;
    const [head, entry] = [fn.local('i32'), fn.local('i32')];
    fn.get(operation).memory('i32.load', LOG_KIND).i32(LOGGED_FETCH).op('i32.and').op('i32.eqz').if().return().end();
    fn.get(operation).memory('i32.load', LOG_PART).op('i32.eqz').if().return().end();
    fn.get(shadow).memory('i32.load', SHADOW_SYNC).tee(head).memory('i32.load', SYNC_NEXT).set(entry);
    fn.get(entry).i32(ENTRY_ARRIVAL).memory('i32.store', ENTRY_KIND);
    fn.get(entry).get(shadow).memory('i32.load', SHADOW_ACTOR).memory('i32.store', ENTRY_ACTOR);
    fn.get(entry).get(operation).memory('i32.load', LOG_PART).memory('i32.store', ENTRY_NUMBER);
    fn.get(head).get(entry).i32(ENTRY_BYTES).op('i32.add').memory('i32.store', SYNC_NEXT);
    countNews(fn, head);
    fn.get(shadow)
      .get(shadow)
      .memory('i32.load', SHADOW_FETCHES)
      .i32(1)
      .op('i32.sub')
      .memory('i32.store', SHADOW_FETCHES);
  });
}
