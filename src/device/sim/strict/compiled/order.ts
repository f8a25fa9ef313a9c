// Compiled code notes accesses of LDS among the clocks of what wavefronts hand over there without a barrier, as LdsOrder does it
// (lds-order.ts). The addresses of the lanes are in a part of the wavefront's log of outstanding operations, where looks have put them.
import { LANES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LDS_CLOCK_SHIFT, LDS_LEARNT, LDS_ORDER, LDS_PLAIN, LDS_TOLD, LDS_UPDATED } from '../lds/lds.ts';
import {
  CLOCK_BYTES,
  FETCHES,
  ORDER_BEFORE,
  ORDER_CLOCKS,
  ORDER_FETCHES,
  ORDER_RECORDS,
  ORDER_TOLD,
  ORDER_WORK,
  RECORD_READS,
  RECORD_STORES,
  RECORD_TOLD,
  RECORD_WRITES,
} from '../lds/lds-order.ts';
import { TOLD_BYTES, TOLD_COMPLETE, TOLD_FLIGHTS, TOLD_ISSUED, TOLD_SIZE, TOLD_TIME } from '../lds/told-stores.ts';
import {
  MUST_TELL,
  PART_ADDRESSES,
  PART_RUN,
  SHADOW_COMPLETE,
  SHADOW_FLIGHTS_DONE,
  SHADOW_KNOWN,
  SHADOW_LDS,
  SHADOW_LDS_TAG,
  SHADOW_RELEASED,
  SHADOW_STORES,
  SHADOW_TOLD,
  SHADOW_WRITE_BACK,
  SHADOW_WRITTEN_BACK,
} from '../registers/shadow-layout.ts';

/** Of the clocks of four wavefronts, which one vector holds (clockShift). */
export const SMALL_SHIFT = 4;

/** What is done with a dword; `fetch`: an atomic that returns what was there. */
export type OrderedAccess = 'load' | 'store' | 'atomic' | 'fetch';
/** A load into LDS stores without telling anything. */
type NotedAccess = OrderedAccess | 'flight';

/**
 * (shadow) → other than 0 where TypeScript has to tell what the wavefront knows, since that is more than how far its stores are, or there is no room for it; of a `fetch` also
 * where it is writing back: what it hears has nothing to do with that.
 */
export function tellsMoreFunction(module: WasmModule, kind: OrderedAccess): WasmFunction {
  return module.helper(`strict.order.more.${kind === 'fetch' ? 'fetch' : 'write'}`, ['i32'], ['i32'], (fn) => {
    const shadow = 0;
    const field = (at: number): WasmFunction => fn.get(shadow).memory('i32.load', at);
    field(SHADOW_WRITTEN_BACK);
    field(SHADOW_TOLD)
      .i32(MUST_TELL | 0)
      .op('i32.eq')
      .op('i32.or');
    pushEntryOf(fn, shadow);
    fn.i32(TOLD_SIZE - 1)
      .op('i32.and')
      .i32(TOLD_SIZE - TOLD_BYTES)
      .op('i32.eq')
      .op('i32.or');
    if (kind === 'fetch') field(SHADOW_WRITE_BACK).op('i32.or');
  });
}

/** Leaves where the wavefront's next entry of what is told of stores goes. */
function pushEntryOf(fn: WasmFunction, shadow: number): WasmFunction {
  fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_ORDER);
  return pushWave(fn, shadow).i32(2).op('i32.shl').op('i32.add').memory('i32.load', ORDER_TOLD);
}

/** (shadow, a part of the log): its lanes, of so many bytes each, are noted. What they tell is the wavefront's time up to releaseFunction. */
export function orderFunction(module: WasmModule, kind: NotedAccess, bytes: number): WasmFunction {
  const spread = spreadFunction(module, bytes);
  return module.helper(`strict.order.${kind}.${bytes}`, ['i32', 'i32'], [], (fn) => {
    const [shadow, part] = [0, 1] as const;
    const code = new Code(fn);
    const local = (): number => fn.local('i32');
    const [order, shift, wave, clock, time] = [local(), local(), local(), local(), local()] as const;
    fn.get(part).memory('i32.load', PART_RUN);
    code.if(() => fn.get(part).call(spread));
    if (kind === 'load' || kind === 'store' || kind === 'flight')
      fn.get(shadow).memory('i32.load', SHADOW_LDS).i32(1).memory('i32.store', LDS_PLAIN);
    pushWave(fn, shadow).set(wave);
    fn.get(shadow).memory('i32.load', SHADOW_LDS).tee(shift).memory('i32.load', LDS_ORDER).tee(order);
    fn.get(wave).i32(CLOCK_BYTES).op('i32.mul').op('i32.add').tee(clock);
    fn.get(wave).i32(2).op('i32.shl').tee(wave).op('i32.add').memory('i32.load', ORDER_CLOCKS).set(time);
    fn.get(shift).memory('i32.load', LDS_CLOCK_SHIFT).tee(shift).i32(SMALL_SHIFT).op('i32.eq');
    const locals = { part, order, shift, wave, clock, time };
    code.if(
      () => new LaneOrder(code, kind, bytes, locals, true).write(),
      () => new LaneOrder(code, kind, bytes, locals, false).write(),
    );
  });
}

/** (shadow): an instruction that writes LDS has been noted, which tells where the wavefront is with its stores and loads into LDS; what it does from now on, it does not tell. */
export function releaseFunction(module: WasmModule, kind: OrderedAccess): WasmFunction {
  return module.helper(`strict.order.release.${kind === 'fetch' ? 'fetch' : 'write'}`, ['i32'], [], (fn) => {
    const code = new Code(fn);
    const [shadow, order, at, moved, next] = [0, fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const field = (from: number): WasmFunction => fn.get(shadow).memory('i32.load', from);
    field(SHADOW_LDS).memory('i32.load', LDS_ORDER).tee(order);
    pushWave(fn, shadow)
      .i32(CLOCK_BYTES + 4)
      .op('i32.mul')
      .op('i32.add')
      .set(at);
    field(SHADOW_STORES);
    field(SHADOW_COMPLETE).op('i32.add');
    field(SHADOW_FLIGHTS_DONE).op('i32.add').tee(moved);
    field(SHADOW_TOLD).op('i32.ne');
    code.if(() => {
      fn.get(shadow).get(moved).memory('i32.store', SHADOW_TOLD);
      fn.get(shadow);
      field(SHADOW_STORES).memory('i32.store', SHADOW_RELEASED);
      field(SHADOW_LDS).i32(1).memory('i32.store', LDS_TOLD);
      pushWave(fn, shadow).i32(2).op('i32.shl').get(order).op('i32.add').tee(order).memory('i32.load', ORDER_TOLD);
      fn.tee(next).get(at).memory('i32.load', ORDER_CLOCKS).memory('i32.store', TOLD_TIME);
      fn.get(next);
      field(SHADOW_STORES).memory('i32.store', TOLD_ISSUED);
      fn.get(next);
      field(SHADOW_COMPLETE).memory('i32.store', TOLD_COMPLETE);
      fn.get(next);
      field(SHADOW_FLIGHTS_DONE).memory('i32.store', TOLD_FLIGHTS);
      fn.get(order).get(next).i32(TOLD_BYTES).op('i32.add').memory('i32.store', ORDER_TOLD);
    });
    fn.get(at).get(at).memory('i32.load', ORDER_CLOCKS).i32(1).op('i32.add').memory('i32.store', ORDER_CLOCKS);
    if (kind !== 'fetch') return;
    // It may have heard of stores.
    field(SHADOW_LDS).memory('i32.load', LDS_TOLD);
    code.if(() => fn.get(shadow).i32(0).memory('i32.store', SHADOW_KNOWN));
  });
}

/** The wavefront learns what others do by an atomic. */
export function noteLearnt(fn: WasmFunction, shadow: number): void {
  fn.get(shadow).memory('i32.load', SHADOW_LDS).i32(1).memory('i32.store', LDS_LEARNT);
}

/** The same, where the wavefront waits for what others of its workgroup may have done by atomics. */
export function noteLearntOfUpdates(fn: WasmFunction, shadow: number): void {
  fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_UPDATED).if();
  noteLearnt(fn, shadow);
  fn.end();
}

/** Leaves the number of the wavefront in its workgroup (tagsOf). */
export function pushWave(fn: WasmFunction, shadow: number): WasmFunction {
  return fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).i32(255).op('i32.and').i32(1).op('i32.sub');
}

/** (a part of the log): the run of bytes of all lanes becomes an address a lane. */
export function spreadFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.order.spread.${bytes}`, ['i32'], [], (fn) => {
    const addresses = fn.local('v128');
    fn.get(0).i32(0).memory('i32.store', PART_RUN);
    fn.get(0).memory('v128.load32_splat', PART_ADDRESSES);
    fn.v128(0, bytes, 2 * bytes, 3 * bytes)
      .op('i32x4.add')
      .set(addresses);
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(0)
        .get(addresses)
        .memory('v128.store', PART_ADDRESSES + at);
      fn.get(addresses)
        .v128(4 * bytes, 4 * bytes, 4 * bytes, 4 * bytes)
        .op('i32x4.add')
        .set(addresses);
    }
  });
}

interface OrderLocals {
  readonly part: number;
  readonly order: number;
  /** log2 of the bytes of a clock of a record. */
  readonly shift: number;
  /** Four times the number of the wavefront. */
  readonly wave: number;
  /** The wavefront's clock, but for ORDER_CLOCKS. */
  readonly clock: number;
  readonly time: number;
}

/** Lanes one after another: what several of them find in one dword, the next of them must see. */
class LaneOrder {
  private readonly code: Code;
  private readonly fn: WasmFunction;
  private readonly kind: NotedAccess;
  private readonly bytes: number;
  private readonly locals: OrderLocals;
  /** Clocks are of four wavefronts, so that one vector holds one. */
  private readonly isSmall: boolean;
  private readonly mine: number;
  private readonly heard: number;
  private readonly told: number;
  private readonly record: number;
  private readonly more: number;

  constructor(code: Code, kind: NotedAccess, bytes: number, locals: OrderLocals, isSmall: boolean) {
    const { fn } = code;
    [this.code, this.fn, this.kind, this.bytes, this.locals, this.isSmall] = [code, fn, kind, bytes, locals, isSmall];
    [this.mine, this.heard, this.told] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
    [this.record, this.more] = [fn.local('i32'), fn.local('i32')];
  }

  write(): void {
    const { fn, code, isSmall, kind, locals } = this;
    const { clock, part } = locals;
    const [left, at, end] = [fn.local('i64'), fn.local('i32'), fn.local('i32')];
    if (kind === 'fetch') {
      fn.v128(0, 0, 0, 0).set(this.heard);
      if (!isSmall) this.eachVector(() => this.pushWork().get(this.heard).memory('v128.store', ORDER_WORK));
    }
    if (kind === 'fetch') this.keepClock();
    if (isSmall) fn.get(clock).memory('v128.load', ORDER_CLOCKS).set(this.mine);
    fn.get(part).memory('i64.load').tee(left).i64(-1n).op('i64.eq');
    fn.get(part)
      .tee(at)
      .i32(4 * LANES)
      .op('i32.add')
      .set(end);
    const lane = (n: number): WasmFunction => fn.get(at).memory('i32.load', PART_ADDRESSES + 4 * n);
    code.if(
      () =>
        code.loop((again) => {
          for (let n = 0; n < 4; n++) this.note(() => lane(n));
          fn.get(at).i32(16).op('i32.add').tee(at).get(end).op('i32.ne');
          code.brIf(again);
        }),
      () =>
        code.block((done) => {
          code.loop((again) => {
            fn.get(left).op('i64.eqz');
            code.brIf(done);
            this.note(() => {
              fn.get(left).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').get(part).op('i32.add');
              return fn.memory('i32.load', PART_ADDRESSES);
            });
            fn.get(left).get(left).i64(1n).op('i64.sub').op('i64.and').set(left);
            code.br(again);
          });
        }),
    );
    if (kind !== 'fetch') return;
    const hear = (push: () => WasmFunction): void => {
      push();
      push().memory('v128.load', ORDER_CLOCKS).get(this.heard).op('i32x4.max_u').memory('v128.store', ORDER_CLOCKS);
    };
    if (isSmall) {
      hear(() => fn.get(clock));
      return;
    }
    this.eachVector(() => {
      this.pushWork().memory('v128.load', ORDER_WORK).set(this.heard);
      hear(() => fn.get(clock).get(this.more).op('i32.add'));
    });
  }

  /** Keeps the clock as it is before the atomic (LdsOrder.fetch). */
  private keepClock(): void {
    const { fn, locals, record, more } = this;
    const { order, wave, clock } = locals;
    // `wave` is four times the number.
    fn.get(order).get(wave).op('i32.add').tee(record).memory('i32.load', ORDER_FETCHES).set(more);
    fn.get(record).get(more).i32(1).op('i32.add').memory('i32.store', ORDER_FETCHES);
    fn.get(more)
      .i32(FETCHES - 1)
      .op('i32.and')
      .get(wave)
      .i32(FETCHES / 4)
      .op('i32.mul')
      .op('i32.add')
      .i32(CLOCK_BYTES)
      .op('i32.mul')
      .get(order)
      .op('i32.add')
      .set(record);
    for (let at = 0; at < CLOCK_BYTES; at += 16) {
      fn.get(record)
        .get(clock)
        .memory('v128.load', ORDER_CLOCKS + at)
        .memory('v128.store', ORDER_BEFORE + at);
    }
  }

  /** Notes the lane whose address `push` leaves. */
  private note(push: () => WasmFunction): void {
    const { fn, code, kind, bytes, locals, record, more } = this;
    const { order, shift, wave, time } = locals;
    // Atomics are aligned.
    const isStore = kind === 'store' || kind === 'flight';
    const tells = kind !== 'load' && kind !== 'flight';
    const last = bytes === 4 && kind !== 'load' && !isStore ? undefined : fn.local('i32');
    push();
    if (last !== undefined) {
      fn.tee(last)
        .get(last)
        .i32(bytes - 1)
        .op('i32.add')
        .i32(-4)
        .op('i32.and')
        .set(last);
    }
    // A dword begins at four times its number, and its record at four clocks times that.
    if (last !== undefined) fn.i32(-4).op('i32.and');
    fn.tee(more);
    if (this.isSmall) fn.i32(SMALL_SHIFT);
    else fn.get(shift);
    fn.op('i32.shl').get(order).op('i32.add').set(record);
    const setTimes = (): void => {
      for (const clock of kind === 'load'
        ? [RECORD_READS]
        : isStore
          ? [RECORD_WRITES, RECORD_STORES]
          : [RECORD_WRITES]) {
        fn.get(record).get(wave).op('i32.add');
        if (!this.isSmall) fn.i32(clock).get(shift).op('i32.shl').op('i32.add');
        fn.get(time).memory('i32.store', ORDER_RECORDS + (this.isSmall ? 16 * clock : 0));
      }
    };
    if (last === undefined) {
      setTimes();
      if (tells) this.tell();
      return;
    }
    const [dword, told] = [fn.local('i32'), fn.local('i32')];
    fn.get(more).set(dword);
    // Each word of a store tells, of an atomic the first one; what is not aligned ends in one more.
    fn.i32(kind === 'store' ? Math.max(1, bytes / 4) : 1).set(told);
    code.loop((again) => {
      setTimes();
      if (tells) {
        fn.get(told);
        code.if(() => {
          fn.get(told).i32(1).op('i32.sub').set(told);
          this.tell();
        });
      }
      fn.get(record).i32(4).get(shift).op('i32.shl').op('i32.add').set(record);
      fn.get(dword).get(last).op('i32.lt_u').get(dword).i32(4).op('i32.add').set(dword);
      code.brIf(again);
    });
    for (const local of [dword, told, last]) fn.release('i32', local);
  }

  private tell(): void {
    const { fn, isSmall, locals, mine, record, more } = this;
    const { clock } = locals;
    if (isSmall) {
      this.tellVector(() => fn.get(record));
      return;
    }
    this.eachVector(() => {
      fn.get(clock).get(more).op('i32.add').memory('v128.load', ORDER_CLOCKS).set(mine);
      if (this.kind === 'fetch') this.pushWork().memory('v128.load', ORDER_WORK).set(this.heard);
      this.tellVector(() => fn.get(record).get(more).op('i32.add'));
      if (this.kind === 'fetch') this.pushWork().get(this.heard).memory('v128.store', ORDER_WORK);
    });
  }

  /** Four words of what the record tells become what the wavefront adds to them; of a `fetch`, they are heard. */
  private tellVector(push: () => WasmFunction): void {
    const { fn, kind, mine, heard, told } = this;
    const at = ORDER_RECORDS + 16 * RECORD_TOLD;
    if (kind !== 'store') {
      push().memory('v128.load', at).set(told);
      if (kind === 'fetch') fn.get(heard).get(told).op('i32x4.max_u').set(heard);
    }
    push().get(mine);
    if (kind !== 'store') fn.get(told).op('i32x4.max_u');
    fn.memory('v128.store', at);
  }

  /** Leaves where the room for a clock has the current four words, but for ORDER_WORK. */
  private pushWork(): WasmFunction {
    const { fn, locals, more } = this;
    return fn.get(locals.order).get(more).op('i32.add');
  }

  /** Runs `body` for each four words of a clock, `more` bytes into it. */
  private eachVector(body: () => void): void {
    const { fn, code, more, locals } = this;
    fn.i32(0).set(more);
    code.loop((again) => {
      body();
      fn.get(more).i32(16).op('i32.add').tee(more).i32(1).get(locals.shift).op('i32.shl').op('i32.lt_u');
      code.brIf(again);
    });
  }
}
