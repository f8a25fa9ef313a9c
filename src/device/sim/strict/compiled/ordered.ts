// Compiled code looks at accesses of LDS among whose dwords are some that other wavefronts have touched since the last barrier, where clocks say who comes before whom
// (lds-order.ts): flags by which wavefronts wait for each other, and what these hand over. Lane by lane, as LdsChecks does it, once the addresses are in a part of the
// wavefront's log of outstanding operations.
import { LANES, WAVE_LDS_BASE } from '../../state/layout.ts';
import { EXEC } from '../../state/wave.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { type Frame, type Look, maskOfQuad } from '../../wasm/memory/index.ts';
import {
  ATOMIC_TAGS,
  LDS_CLOCK_SHIFT,
  LDS_FLIGHT,
  LDS_FULL,
  LDS_HIGH,
  LDS_LATE,
  LDS_LOW,
  LDS_MARKS,
  LDS_ORDER,
  LDS_PLAIN,
  LDS_POLLED,
  LDS_POLLS,
  LDS_READER,
  LDS_READER_PC,
  LDS_TOLD,
  LDS_UPDATED,
  LDS_WRITER,
  LDS_WRITER_PC,
  LDS_WRITTEN,
  MANY_TAGS,
} from '../lds/lds.ts';
import {
  CLOCK_BYTES,
  ORDER_CLOCKS,
  ORDER_RECORDS,
  ORDER_TOLD,
  ORDER_WORK,
  POLLED_BY_ATOMICS,
  POLLED_BY_LOADS,
  pollsThatExcuse,
  RECORD_READS,
  RECORD_STORES,
  RECORD_TOLD,
  RECORD_WRITES,
} from '../lds/lds-order.ts';
import { TOLD_BYTES, TOLD_FLIGHTS, TOLD_SIZE, TOLD_TIME } from '../lds/told-stores.ts';
import { PART_ADDRESSES, PART_RUN, SHADOW_KNOWN, SHADOW_LDS, SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';
import { pushMayFly } from './flights.ts';
import { apart } from './lanes.ts';
import { beginLds, fullFunction } from './lds.ts';
import { keepOneFunction } from './lds-look.ts';
import { looking } from './looks.ts';
import { type OrderedAccess, pushWave, SMALL_SHIFT, spreadFunction } from './order.ts';

/** What is done with elements of so many bytes, which are dwords. */
export interface OrderedLook {
  readonly access: OrderedAccess;
  readonly bytes: number;
  /** The wavefront waits for others by it (polls.ts). */
  readonly isPoll: boolean;
  /** It loads, and no atomic of LDS can follow: dwords that are polled by atomics alone do not excuse it. */
  readonly isOnlyLoad: boolean;
  /** What an atomic finds tells what comes before itself (mayTake in attempts.ts). */
  readonly takes: boolean;
  /** It is a load into LDS that stores: it comes behind those of its own wavefront, and polls do not excuse it. */
  readonly isFlight?: boolean;
}

/** Whether elements of so many bytes are looked at so. */
export const isOrderable = (bytes: number): boolean => bytes >= 4 && bytes % 4 === 0;

/** Puts the LDS addresses of the lanes into a part of the log; `areApart`: where no two have one. Parameters: the instruction's place in the image, the part. */
export function keepLdsLanes(bytes: number, areApart: boolean): Look {
  let base = 0;
  const part = (f: Frame): number => (f.extra as [number, number])[1];
  const pushKept = (f: Frame): WasmFunction => f.code.fn.get(part(f)).get(f.at).op('i32.add');
  const pushRelative = (f: Frame, a: number): WasmFunction => f.code.fn.get(a).get(base).op('i32.sub');
  const plain = looking(
    bytes,
    true,
    `lds.${bytes}.kept${areApart ? '.apart' : ''}`,
    2,
    () => {
      throw new Error('lanes are not noted here');
    },
    (f) => {
      const { fn } = f.code;
      base = f.code.local('i32');
      fn.get(f.wave).memory('i32.load', WAVE_LDS_BASE).set(base);
      fn.get(part(f))
        .get(f.wave)
        .memory('i64.load', 4 * EXEC)
        .memory('i64.store');
      fn.get(part(f)).i32(0).memory('i32.store', PART_RUN);
    },
  );
  const look: Look = {
    ...plain,
    wave: (f, a, count) => {
      if (count === bytes) {
        if (areApart) f.resume();
        f.code.fn.get(part(f));
        pushRelative(f, a).call(keepOneFunction(f.module));
        return;
      }
      f.code.fn.get(part(f)).i32(1).memory('i32.store', PART_RUN).get(part(f));
      pushRelative(f, a).memory('i32.store', PART_ADDRESSES);
    },
    contiguous: (f, a) => {
      pushKept(f);
      pushRelative(f, a)
        .op('i32x4.splat')
        .v128(0, bytes, 2 * bytes, 3 * bytes)
        .op('i32x4.add')
        .memory('v128.store', PART_ADDRESSES);
    },
    scattered: (f, addresses) => {
      for (const [lane, a] of addresses.entries()) {
        pushKept(f);
        pushRelative(f, a).memory('i32.store', PART_ADDRESSES + 4 * lane);
      }
    },
    lanes: (f, addresses) => {
      pushKept(f).get(addresses).get(base).op('i32x4.splat').op('i32x4.sub').memory('v128.store', PART_ADDRESSES);
    },
    move: (f, n, a) => {
      if (n > 0) return;
      pushKept(f);
      pushRelative(f, a).memory('i32.store', PART_ADDRESSES);
    },
    finish: () => {},
  };
  return areApart ? apart(look) : look;
}

/** (address of a register) → 1 when its lanes have several words. */
export function differFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.ordered.differ', ['i32'], ['i32'], (fn) => {
    const first = fn.local('v128');
    fn.get(0).memory('v128.load32_splat').set(first);
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(0).memory('v128.load', at).get(first).op('v128.xor');
      if (at > 0) fn.op('v128.or');
    }
    fn.op('v128.any_true');
  });
}

/** (the shadow of LDS, a part of the log) → 1 when the elements of its active lanes, of so many bytes, lie at multiples of these, and are known to be written. */
function fullLanesFunction(module: WasmModule, bytes: number): WasmFunction {
  const full = fullFunction(module);
  return module.helper(`strict.ordered.full.${bytes}`, ['i32', 'i32'], ['i32'], (fn) => {
    const [head, part] = [0, 1] as const;
    const code = new Code(fn);
    const exec = fn.local('i64');
    const [addresses, most, bits] = [fn.local('v128'), fn.local('v128'), fn.local('v128')] as const;
    const take = (isMasked: boolean): void => {
      fn.v128(0, 0, 0, 0).tee(most).set(bits);
      for (let quad = 0; quad < LANES / 4; quad++) {
        fn.get(part).memory('v128.load', PART_ADDRESSES + 16 * quad);
        if (isMasked) {
          maskOfQuad(fn, exec, quad);
          fn.op('v128.and');
        }
        fn.tee(addresses).get(most).op('i32x4.max_u').set(most);
        fn.get(addresses).get(bits).op('v128.or').set(bits);
      }
    };
    const isBeyond = (): WasmFunction => {
      fn.get(most).i32(bytes).op('i32x4.splat').op('i32x4.add');
      return fn.get(head).memory('v128.load32_splat', LDS_FULL).op('i32x4.gt_u').op('v128.any_true');
    };
    fn.get(part).memory('i64.load').tee(exec).i64(-1n).op('i64.eq');
    code.if(
      () => take(false),
      () => take(true),
    );
    isBeyond();
    code.if(() => fn.get(head).call(full));
    isBeyond().get(bits);
    fn.i32(bytes - 1)
      .op('i32x4.splat')
      .op('v128.and')
      .op('v128.any_true');
    fn.op('i32.or').op('i32.eqz');
  });
}

/** (the storage of LdsOrder, the clock of a wavefront in it, an entry of the table of loads into LDS) → 1 when the wavefront has heard that the load is complete (LdsOrder.hasHeardOfFlight). */
function heardOfFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.ordered.heard.of', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [order, clock, flight] = [0, 1, 2] as const;
    const code = new Code(fn);
    const [other, begin, at, time] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    fn.get(flight).i32(15).op('i32.and').tee(other).i32(1).op('i32.add').i32(TOLD_SIZE).op('i32.mul');
    fn.get(order).op('i32.add').set(begin);
    fn.get(other).i32(2).op('i32.shl').tee(other).get(clock).op('i32.add').memory('i32.load').set(time);
    fn.get(other).get(order).op('i32.add').memory('i32.load', ORDER_TOLD).set(at);
    // The last entry up to the time. What has left the table is not looked at here.
    code.loop((again) => {
      fn.get(at).get(begin).op('i32.eq').if().i32(0).return().end();
      fn.get(at).i32(TOLD_BYTES).op('i32.sub').tee(at).memory('i32.load', TOLD_TIME).get(time).op('i32.gt_u');
      code.brIf(again);
    });
    fn.get(at).memory('i32.load', TOLD_FLIGHTS).get(flight).i32(4).op('i32.shr_u').op('i32.ge_u');
  });
}

/** In a function of (shadow, a part of the log, …). */
class OrderedLanes {
  readonly fn: WasmFunction;
  readonly code: Code;
  readonly shadow = 0;
  readonly part = 1;
  readonly head: number;
  readonly order: number;
  readonly shift: number;
  readonly address: number;
  private readonly left: number;
  private readonly offset: number;
  private readonly differ: WasmFunction;
  private readonly heardOf: WasmFunction;
  /** What is being written is for clocks of four wavefronts, so that one vector holds one. */
  private isSmall = false;

  constructor(module: WasmModule, fn: WasmFunction) {
    [this.fn, this.code] = [fn, new Code(fn)];
    [this.differ, this.heardOf] = [differFunction(module), heardOfFunction(module)];
    const local = (): number => fn.local('i32');
    [this.head, this.order, this.shift, this.address, this.offset] = [local(), local(), local(), local(), local()];
    this.left = fn.local('i64');
  }

  /** Sets what is the same for all lanes. */
  begin(): void {
    const { fn, shadow, head } = this;
    fn.get(shadow).memory('i32.load', SHADOW_LDS).tee(head).memory('i32.load', LDS_ORDER).set(this.order);
    fn.get(head).memory('i32.load', LDS_CLOCK_SHIFT).set(this.shift);
  }

  /** Returns 0 when the i32 on the stack is not 0. */
  leave(): void {
    this.fn.if().i32(0).return().end();
  }

  /** Leaves where the wavefront's clock is. */
  pushClock(): WasmFunction {
    const { fn } = this;
    pushWave(fn, this.shadow).i32(CLOCK_BYTES).op('i32.mul').get(this.order).op('i32.add');
    return fn.i32(ORDER_CLOCKS).op('i32.add');
  }

  /** Runs `body` for each active lane, one for several in a row that have one address: `address` is that of its element. */
  each(body: () => void): void {
    const { fn, code, part, left, address } = this;
    const [last, next] = [fn.local('i32'), fn.local('i32')];
    fn.i32(-1).set(last);
    fn.get(part).memory('i64.load').set(left);
    // Often all lanes have one: then the first stands for all. They have not where the first active one has another than lane 63.
    fn.get(left).get(left).i64(1n).op('i64.sub').op('i64.and').op('i64.eqz').op('i32.eqz');
    code.if(() => {
      fn.get(left).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').get(part).op('i32.add');
      fn.memory('i32.load', PART_ADDRESSES).get(part);
      fn.memory('i32.load', PART_ADDRESSES + 4 * (LANES - 1)).op('i32.eq');
      code.if(() => {
        fn.get(part).i32(PART_ADDRESSES).op('i32.add').call(this.differ).op('i32.eqz');
        code.if(() => fn.get(left).get(left).i64(-1n).op('i64.mul').op('i64.and').set(left));
      });
    });
    code.block((done) => {
      code.loop((again) => {
        fn.get(left).op('i64.eqz');
        code.brIf(done);
        fn.get(left).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').get(part).op('i32.add');
        fn.memory('i32.load', PART_ADDRESSES).set(next);
        fn.get(left).get(left).i64(1n).op('i64.sub').op('i64.and').set(left);
        fn.get(next).get(last).op('i32.eq');
        code.brIf(again);
        fn.get(next).tee(last).set(address);
        body();
        code.br(again);
      });
    });
    fn.release('i32', last);
    fn.release('i32', next);
  }

  /** Writes `body` twice: for clocks of four wavefronts, and of more. */
  forClocks(body: () => void): void {
    this.fn.get(this.shift).i32(SMALL_SHIFT).op('i32.eq');
    const write = (isSmall: boolean): void => {
      this.isSmall = isSmall;
      body();
    };
    this.code.if(
      () => write(true),
      () => write(false),
    );
  }

  /** Leaves four words of a clock of the record of a dword, at an LDS address. */
  private record(at: number, clock: number): WasmFunction {
    const { fn, shift, order } = this;
    if (this.isSmall) {
      fn.get(at).i32(SMALL_SHIFT).op('i32.shl').get(order).op('i32.add');
      return fn.memory('v128.load', ORDER_RECORDS + clock * 2 ** SMALL_SHIFT);
    }
    fn.get(at).get(shift).op('i32.shl').get(order).op('i32.add');
    if (clock > 0) fn.i32(clock).get(shift).op('i32.shl').op('i32.add');
    return fn.get(this.offset).op('i32.add').memory('v128.load', ORDER_RECORDS);
  }

  /** Runs `body` for each four words of a clock. */
  private eachVector(body: () => void): void {
    const { fn, code, offset, shift } = this;
    if (this.isSmall) {
      body();
      return;
    }
    fn.i32(0).set(offset);
    code.loop((again) => {
      body();
      fn.get(offset).i32(16).op('i32.add').tee(offset).i32(1).get(shift).op('i32.shl').op('i32.lt_u');
      code.brIf(again);
    });
  }

  /** Leaves a place in a clock that a local says. */
  private word(clock: number): WasmFunction {
    this.fn.get(clock);
    return this.isSmall ? this.fn : this.fn.get(this.offset).op('i32.add');
  }

  copy(to: number, from: number): void {
    this.eachVector(() => {
      this.word(to);
      this.word(from).memory('v128.load').memory('v128.store');
    });
  }

  /** A clock hears what a dword tells. */
  hear(clock: number, at: number): void {
    this.eachVector(() => {
      this.word(clock);
      this.word(clock).memory('v128.load');
      this.record(at, RECORD_TOLD).op('i32x4.max_u').memory('v128.store');
    });
  }

  /** Leaves unless what others have done to a dword comes before a clock (LdsOrder.isBehind). */
  requireBehind(clock: number, at: number, access: OrderedAccess): void {
    const { fn } = this;
    const isAtomic = access === 'atomic' || access === 'fetch';
    this.eachVector(() => {
      this.record(at, isAtomic ? RECORD_STORES : RECORD_WRITES);
      if (access !== 'load') {
        this.record(at, RECORD_READS);
        fn.op('i32x4.max_u');
      }
      this.word(clock).memory('v128.load').op('i32x4.le_u').op('i32x4.all_true').op('i32.eqz');
      this.leave();
    });
  }

  /**
   * Leaves where a load into LDS of another wavefront writes a dword, that was not complete at the last barrier, and of which the wavefront has not heard since that it is.
   * Those of its own are complete here, or come before it.
   */
  requireLanded(at: number): void {
    const { fn, code, head, order, heardOf } = this;
    const flight = fn.local('i32');
    this.pushPlace(LDS_FLIGHT, at).memory('i32.load').tee(flight);
    code.if(() => {
      fn.get(flight).i32(4).op('i32.shr_u').get(flight).i32(15).op('i32.and').i32(2).op('i32.shl').get(head);
      fn.op('i32.add').memory('i32.load', LDS_MARKS).op('i32.gt_u');
      code.if(() => {
        pushWave(fn, this.shadow).get(flight).i32(15).op('i32.and').op('i32.ne');
        code.if(() => {
          fn.get(order);
          this.pushClock().get(flight).call(heardOf).op('i32.eqz');
          this.leave();
        });
      });
    });
    fn.release('i32', flight);
  }

  /** Leaves where it is said how a dword is polled. */
  pushPolls(at: number): WasmFunction {
    const { fn, head } = this;
    return fn.get(head).memory('i32.load', LDS_POLLS).get(at).i32(2).op('i32.shr_u').op('i32.add');
  }

  /** Leaves whether a dword is polled so that this excuses an access of it. */
  pushIsPolled(at: number, { isOnlyLoad }: OrderedLook): WasmFunction {
    return this.pushPolls(at).memory('i32.load8_u').i32(pollsThatExcuse(isOnlyLoad)).op('i32.and');
  }

  /** A dword is polled from now on. */
  setPolled(at: number, how: number): WasmFunction {
    this.pushPolls(at);
    return this.pushPolls(at).memory('i32.load8_u').i32(how).op('i32.or').memory('i32.store8');
  }

  /** Leaves where the tags, or places, of a dword are in an array of the shadow of LDS. */
  pushPlace(array: number, at: number): WasmFunction {
    return this.fn.get(this.head).memory('i32.load', array).get(at).op('i32.add');
  }

  /** Leaves the byte with the bits of a dword's bytes. */
  pushBits(at: number): WasmFunction {
    const { fn, head } = this;
    return fn.get(head).memory('i32.load', LDS_WRITTEN).get(at).i32(3).op('i32.shr_u').op('i32.add');
  }

  /** Runs `body` for the dwords of an element: its parameter is a local with the address. */
  dwords(bytes: number, body: (at: number, n: number) => void): void {
    const { fn, address } = this;
    body(address, 0);
    for (let n = 1; n < bytes / 4; n++) {
      fn.get(address).i32(4).op('i32.add').set(address);
      body(address, n);
    }
  }
}

const keyOf = ({ access, bytes, isPoll, isOnlyLoad, takes, isFlight }: OrderedLook): string =>
  `${access}.${bytes}${isPoll ? '.poll' : ''}${isOnlyLoad ? '.only' : ''}${takes ? '.takes' : ''}${isFlight ? '.flight' : ''}`;

/** (shadow, a part of the log) → 1 when the accesses of its lanes are all right, as the clocks say; 0 when TypeScript has to look. Nothing is noted. */
export function orderedFunction(module: WasmModule, look: OrderedLook): WasmFunction {
  const { access, bytes, isPoll, takes, isFlight = false } = look;
  const isAtomic = access === 'atomic' || access === 'fetch';
  const hears = access === 'fetch' && !isPoll;
  const spread = spreadFunction(module, bytes);
  return module.helper(`strict.ordered.${keyOf(look)}`, ['i32', 'i32'], ['i32'], (fn) => {
    const lanes = new OrderedLanes(module, fn);
    const { code, shadow, part, head, address } = lanes;
    const clock = fn.local('i32');
    beginLds(fn, shadow, head);
    if (isFlight) fn.get(head).memory('i32.load', LDS_LATE);
    else pushMayFly(fn, shadow, head);
    fn.op('i32.or');
    lanes.leave();
    fn.get(part).memory('i32.load', PART_RUN);
    code.if(() => fn.get(part).call(spread));
    lanes.begin();
    if (isAtomic) {
      // Among atomics alone nothing is out of order.
      fn.get(head).memory('i32.load', LDS_PLAIN).op('i32.eqz');
      code.if(() => {
        fn.get(head).get(part).call(fullLanesFunction(module, bytes));
        code.if(() => fn.i32(1).return());
      });
    }
    lanes.forClocks(() => {
      lanes.pushClock().set(clock);
      if (hears) {
        const own = fn.local('i32');
        fn.get(clock).set(own).get(lanes.order).i32(ORDER_WORK).op('i32.add').set(clock);
        lanes.copy(clock, own);
      }
      lanes.each(() => {
        fn.get(address)
          .i32((isAtomic ? bytes : 4) - 1)
          .op('i32.and');
        lanes.leave();
        const isFree = fn.local('i32');
        lanes.dwords(bytes, (at, n) => {
          lanes.requireLanded(at);
          if (access !== 'store') {
            lanes.pushBits(at).memory('i32.load8_u').get(at).i32(4).op('i32.and').op('i32.shr_u');
            fn.i32(15).op('i32.and').i32(15).op('i32.ne');
            lanes.leave();
          }
          if (isPoll) return;
          // An atomic is one access.
          if (isFlight) fn.i32(0).set(isFree);
          else if (n === 0 || !isAtomic) lanes.pushIsPolled(at, look).set(isFree);
          if (hears && takes && n === 0) lanes.hear(clock, at);
          fn.get(isFree).op('i32.eqz');
          code.if(() => lanes.requireBehind(clock, at, access));
          if (hears && !takes && n === 0 && bytes === 4) lanes.hear(clock, at);
        });
        if (hears && !takes && bytes > 4) {
          fn.get(address)
            .i32(bytes - 4)
            .op('i32.sub')
            .set(address);
          lanes.hear(clock, address);
        }
        fn.release('i32', isFree);
      });
    });
    fn.i32(1);
  });
}

/** (shadow, a part of the log, place in the image): notes in the shadow of LDS who has touched the dwords of its lanes, behind orderedFunction. */
export function noteOrderedFunction(module: WasmModule, ordered: OrderedLook): WasmFunction {
  const { access, bytes, isPoll } = ordered;
  const isAtomic = access === 'atomic' || access === 'fetch';
  return module.helper(`strict.ordered.note.${keyOf(ordered)}`, ['i32', 'i32', 'i32'], [], (fn) => {
    const lanes = new OrderedLanes(module, fn);
    const { code, shadow, head, address } = lanes;
    const pc = 2;
    const local = (): number => fn.local('i32');
    const [own, updated, place, tags, low, high, end] = [
      local(),
      local(),
      local(),
      local(),
      local(),
      local(),
      local(),
    ] as const;
    const tagged = fn.local('v128');
    const splat = (n: number): WasmFunction => fn.i32(n).op('i32x4.splat');
    const pushOwn = (): WasmFunction => fn.get(own).op('i32x4.splat');
    /** Leaves all ones in the bytes of `tagged` that are those of the vector on the stack. */
    const isTagged = (): WasmFunction => fn.get(tagged).op('i8x16.eq');
    /** Puts the tags `mine` in place of the wavefront's own, and of nobody's, what `push` makes of others, a vector. */
    const put = (mine: number, push: () => void): void => {
      fn.get(tags).op('i32.eqz').get(tags).get(mine).op('i32.eq').op('i32.or');
      code.if(
        () => fn.get(place).get(mine).memory('i32.store'),
        () => {
          fn.get(tags).op('i32x4.splat').set(tagged).get(place);
          push();
          fn.memoryLane('v128.store32_lane', 0);
        },
      );
    };
    const look = (array: number, at: number): void => {
      lanes.pushPlace(array, at).tee(place).memory('i32.load').set(tags);
    };
    const putPlace = (array: number, at: number): void => {
      lanes.pushPlace(array, at).get(pc).memory('i32.store');
    };
    const noteLoad = (at: number): void => {
      look(LDS_READER, at);
      putPlace(LDS_READER_PC, at);
      fn.get(tags).i32(MANY_TAGS).op('i32.ne');
      code.if(() =>
        put(own, () => {
          pushOwn();
          splat(MANY_TAGS);
          pushOwn();
          isTagged();
          splat(0);
          isTagged().op('v128.or').op('v128.bitselect');
        }),
      );
    };
    const noteStore = (at: number): void => {
      lanes.pushPlace(LDS_WRITER, at).get(own).memory('i32.store');
      putPlace(LDS_WRITER_PC, at);
      lanes.pushBits(at).tee(place).get(place).memory('i32.load8_u').i32(15).get(at).i32(4).op('i32.and');
      fn.op('i32.shl').op('i32.or').memory('i32.store8');
    };
    /** What the wavefront has stored itself stays a store (LdsShadow.write). */
    const noteAtomic = (at: number): void => {
      look(LDS_WRITER, at);
      fn.get(tags).get(own).op('i32.ne');
      code.if(() => {
        putPlace(LDS_WRITER_PC, at);
        fn.get(tags)
          .i32(MANY_TAGS | ATOMIC_TAGS)
          .op('i32.ne');
        code.if(() =>
          put(updated, () => {
            fn.get(tagged).get(updated).op('i32x4.splat');
            splat(MANY_TAGS | ATOMIC_TAGS).get(tagged);
            splat(MANY_TAGS).op('v128.and');
            pushOwn().op('i8x16.eq');
            splat(0);
            isTagged().op('v128.or').op('v128.bitselect');
            pushOwn();
            isTagged().op('v128.bitselect');
          }),
        );
      });
    };
    lanes.begin();
    fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).tee(own).i32(ATOMIC_TAGS).op('i32.or').set(updated);
    if (isAtomic) fn.get(head).i32(1).memory('i32.store', LDS_UPDATED);
    fn.get(head).memory('i32.load', LDS_LOW).set(low).get(head).memory('i32.load', LDS_HIGH).set(high);
    lanes.each(() =>
      lanes.dwords(bytes, (at) => {
        fn.get(at).get(low).get(at).get(low).op('i32.lt_u').select().set(low);
        fn.get(at).i32(4).op('i32.add').tee(end).get(high).get(end).get(high).op('i32.gt_u').select().set(high);
        if (access === 'store') noteStore(at);
        else if (isAtomic) noteAtomic(at);
        else {
          // Who looks at a flag does not matter.
          lanes.pushIsPolled(at, ordered).op('i32.eqz');
          code.if(() => noteLoad(at));
        }
      }),
    );
    fn.get(head).get(low).memory('i32.store', LDS_LOW).get(head).get(high).memory('i32.store', LDS_HIGH);
    if (!isPoll) return;
    fn.get(head).i32(1).memory('i32.store', LDS_POLLED);
    lanes.each(() => lanes.setPolled(address, POLLED_BY_ATOMICS));
  });
}

/** (shadow, a part of the log): its lanes load flags by which the wavefront waits for others, or before an atomic that is tried again (`isForUpdate`); it hears what they tell. */
export function hearFunction(module: WasmModule, bytes: number, isForUpdate: boolean): WasmFunction {
  return module.helper(`strict.ordered.hear.${bytes}${isForUpdate ? '.update' : ''}`, ['i32', 'i32'], [], (fn) => {
    const lanes = new OrderedLanes(module, fn);
    const { code, shadow, head, address } = lanes;
    const clock = fn.local('i32');
    lanes.begin();
    lanes.pushClock().set(clock);
    fn.get(head).i32(1).memory('i32.store', LDS_POLLED);
    lanes.forClocks(() =>
      lanes.each(() =>
        lanes.dwords(bytes, (at) => {
          lanes.hear(clock, at);
          lanes.setPolled(address, isForUpdate ? POLLED_BY_ATOMICS : POLLED_BY_LOADS);
        }),
      ),
    );
    fn.get(head).memory('i32.load', LDS_TOLD);
    code.if(() => fn.get(shadow).i32(0).memory('i32.store', SHADOW_KNOWN));
  });
}
