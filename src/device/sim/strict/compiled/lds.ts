// Compiled code notes accesses of LDS in its shadow (lds.ts): bytes that are written, and that no other wavefront touches so.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import {
  ATOMIC_TAGS,
  LDS_FULL,
  LDS_HIGH,
  LDS_LOW,
  LDS_READER,
  LDS_READER_PC,
  LDS_STALE,
  LDS_UNEVEN,
  LDS_UNSETTLED,
  LDS_UPDATED,
  LDS_WRITER,
  LDS_WRITER_PC,
  LDS_WRITTEN,
  MANY_TAGS,
} from '../lds/lds.ts';
import { SHADOW_LDS, SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';
import { flightFunction, pushMayFly } from './flights.ts';
import { noteRows } from './lds-rows.ts';

/** Selects the lowest byte of each dword four times. */
export const LOWEST = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12];

/**
 * (shadow, LDS address, bytes, place in the image) → 1 when all is right and noted, 0 when TypeScript has to look. `hasLookedAtFlights`:
 * the caller has asked whether loads into LDS are to write the bytes.
 */
export function ldsFunction(module: WasmModule, isWrite: boolean, hasLookedAtFlights = false): WasmFunction {
  const name = `strict.lds.${isWrite ? 'store' : 'load'}${hasLookedAtFlights ? '.flight' : ''}`;
  const flights = hasLookedAtFlights ? undefined : flightFunction(module, false);
  const parts = partsFunction(module, isWrite, false);
  return module.helper(name, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => writeLds(fn, isWrite, flights, parts));
}

/** As ldsFunction, of a load that nobody can race with (quiet-loads.ts): all that is asked is whether the bytes are there. */
export function quietFunction(module: WasmModule): WasmFunction {
  const load = ldsFunction(module, false);
  return module.helper('strict.lds.quiet', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
    const head = fn.local('i32');
    pushIsNotQuiet(fn, shadow, head);
    pushMayFly(fn, shadow, head).op('i32.or');
    fn.get(at).get(bytes).op('i32.add').get(head).memory('i32.load', LDS_FULL).op('i32.gt_u').op('i32.or').if('i32');
    fn.get(shadow).get(at).get(bytes).get(pc).call(load).else().i32(1).end();
  });
}

/** Sets `head`, and leaves other than 0 when operations are in flight, or wavefronts have come from several barriers. */
export function pushIsNotQuiet(fn: WasmFunction, shadow: number, head: number): WasmFunction {
  fn.get(shadow).memory('i32.load', SHADOW_LDS).tee(head).memory('i32.load', LDS_UNSETTLED);
  return fn.get(head).memory('i32.load', LDS_UNEVEN).op('i32.or');
}

/** As ldsFunction, of a store of what the bytes hold already: it does not matter which other wavefronts touch them. */
export function ldsSameFunction(module: WasmModule): WasmFunction {
  const flights = flightFunction(module, false);
  const parts = partsFunction(module, true, true);
  return module.helper('strict.lds.store.same', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) =>
    writeLds(fn, true, flights, parts, true),
  );
}

/**
 * (shadow, LDS address, bytes, place in the image) → 1 when an atomic that returns nothing is all right there and noted, 0 when TypeScript has
 * to look. The bytes are whole dwords.
 */
export function ldsAtomicFunction(module: WasmModule): WasmFunction {
  const flights = flightFunction(module, false);
  return module.helper('strict.lds.atomic', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => writeAtomic(fn, flights));
}

/** (the shadow of LDS): counts further bytes among those that are known to be written. */
export function fullFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.full', ['i32'], [], (fn) => {
    const code = new Code(fn);
    const full = fn.local('i32');
    fn.get(0).memory('i32.load', LDS_FULL).set(full);
    code.block((done) => {
      // Behind the last byte stands a word of zeros.
      code.loop((again) => {
        fn.get(0).memory('i32.load', LDS_WRITTEN).get(full).i32(3).op('i32.shr_u').op('i32.add');
        fn.memory('i64.load').i64(-1n).op('i64.ne');
        code.brIf(done);
        fn.get(full).i32(64).op('i32.add').set(full);
        code.br(again);
      });
    });
    fn.get(0).get(full).memory('i32.store', LDS_FULL);
  });
}

function writeAtomic(fn: WasmFunction, flights: WasmFunction): void {
  const code = new Code(fn);
  const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
  const [head, tag, word] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
  const leave = (): void => {
    fn.if().i32(0).return().end();
  };
  const array = (which: number): WasmFunction => fn.get(head).memory('i32.load', which).get(at).op('i32.add');
  beginLds(fn, shadow, head);
  fn.get(at).i32(3).op('i32.and').op('i32.or');
  leave();
  leaveFlights(fn, shadow, head, flights, [at], () => fn.get(bytes));
  fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).set(tag);
  extend(code, head, at, bytes, word);
  code.loop((again) => {
    array(LDS_READER).memory('i32.load').tee(word).get(tag).op('i32.ne').get(word).i32(0).op('i32.ne').op('i32.and');
    leave();
    fn.get(head).memory('i32.load', LDS_WRITTEN).get(at).i32(3).op('i32.shr_u').op('i32.add').memory('i32.load8_u');
    fn.get(at).i32(4).op('i32.and').op('i32.shr_u').i32(15).op('i32.and').i32(15).op('i32.ne');
    leave();
    // What the wavefront has stored itself stays a store (LdsShadow.write).
    array(LDS_WRITER).memory('i32.load').tee(word).get(tag).op('i32.ne');
    code.if(() => {
      fn.get(word).i32(MANY_TAGS).op('i32.and').get(tag).op('i32.ne');
      code.if(() => {
        fn.get(word).op('i32.eqz');
        code.if(
          () => fn.get(tag).i32(ATOMIC_TAGS).op('i32.or').set(word),
          () => {
            fn.get(word).i32(ATOMIC_TAGS).op('i32.and').i32(ATOMIC_TAGS).op('i32.ne');
            leave();
            fn.i32(-1).set(word);
          },
        );
        array(LDS_WRITER).get(word).memory('i32.store');
      });
      array(LDS_WRITER_PC).get(pc).memory('i32.store');
    });
    fn.get(at).i32(4).op('i32.add').set(at).get(bytes).i32(4).op('i32.sub').tee(bytes);
    code.brIf(again);
  });
  fn.get(head).i32(1).memory('i32.store', LDS_UPDATED);
  fn.i32(1);
}

/** Bytes from `at` on are among those that somebody has touched. */
export function extend(code: Code, head: number, at: number, bytes: number, word: number): void {
  const { fn } = code;
  fn.get(at).get(head).memory('i32.load', LDS_LOW).op('i32.lt_u');
  code.if(() => fn.get(head).get(at).memory('i32.store', LDS_LOW));
  fn.get(at).get(bytes).op('i32.add').tee(word).get(head).memory('i32.load', LDS_HIGH).op('i32.gt_u');
  code.if(() => fn.get(head).get(word).memory('i32.store', LDS_HIGH));
}

/** Sets `head`, and clears the tags when they are from before a barrier. Leaves 1 when operations are in flight. */
export function beginLds(fn: WasmFunction, shadow: number, head: number): void {
  fn.get(shadow).memory('i32.load', SHADOW_LDS).tee(head).memory('i32.load', LDS_STALE).if();
  const [low, bytes] = [fn.local('i32'), fn.local('i32')];
  const least = (at: number, least: string): void => {
    const [a, b] = [fn.local('i32'), fn.local('i32')];
    fn.get(head).memory('i32.load', at).set(a);
    for (const further of [4, 8, 12]) {
      fn.get(head)
        .memory('i32.load', at + further)
        .set(b);
      fn.get(a).get(b).get(a).get(b).op(least).select().set(a);
    }
    fn.get(a);
    fn.release('i32', a);
    fn.release('i32', b);
  };
  least(LDS_LOW, 'i32.lt_u');
  fn.set(low);
  least(LDS_HIGH, 'i32.gt_u');
  fn.get(low).op('i32.sub').set(bytes);
  for (const which of [LDS_WRITER, LDS_READER]) {
    fn.get(head).memory('i32.load', which).get(low).op('i32.add').i32(0).get(bytes).memoryFill();
  }
  fn.get(head).v128(-1, -1, -1, -1).memory('v128.store', LDS_LOW);
  fn.get(head).v128(0, 0, 0, 0).memory('v128.store', LDS_HIGH);
  fn.get(head).i32(0).memory('i32.store', LDS_STALE).end();
  fn.get(head).memory('i32.load', LDS_UNSETTLED);
}

/** Returns 0 when loads into LDS may still be to write bytes from some addresses on. */
function leaveFlights(
  fn: WasmFunction,
  shadow: number,
  head: number,
  flights: WasmFunction,
  addresses: readonly number[],
  pushBytes: () => void,
): void {
  pushMayFly(fn, shadow, head).if();
  for (const address of addresses) {
    fn.get(shadow).get(address);
    pushBytes();
    fn.call(flights).op('i32.eqz').if().i32(0).return().end();
  }
  fn.end();
}

function writeLds(
  fn: WasmFunction,
  isWrite: boolean,
  flights: WasmFunction | undefined,
  parts: WasmFunction,
  isSame = false,
): void {
  const code = new Code(fn);
  const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
  const [head, tag, word, place] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
  const [size, rest] = [fn.local('i32'), fn.local('i32')];
  const leave = (): void => {
    fn.if().i32(0).return().end();
  };
  const array = (which: number): WasmFunction => fn.get(head).memory('i32.load', which).get(at).op('i32.add');
  beginLds(fn, shadow, head);
  leave();
  if (flights !== undefined) leaveFlights(fn, shadow, head, flights, [at], () => fn.get(bytes));
  fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).set(tag);
  extend(code, head, at, bytes, word);
  // `word` is the end of the bytes.
  const isFull = fn.local('i32');
  if (!isWrite) fn.get(word).get(head).memory('i32.load', LDS_FULL).op('i32.le_u').set(isFull);
  /** The bits of a dword, or of four from an even one on, must be set, or become so. Words of memory are not read across what was stored. */
  const bits = (count: 1 | 4): void => {
    const width = count === 4 ? 16 : 8;
    fn.get(head).memory('i32.load', LDS_WRITTEN).get(at).i32(3).op('i32.shr_u').op('i32.add').tee(place);
    fn.memory(`i32.load${width}_u`).set(word);
    if (count === 4) fn.i32(0xffff);
    else fn.i32(15).get(at).i32(4).op('i32.and').op('i32.shl');
    if (isWrite) {
      fn.get(word).op('i32.or').set(word).get(place).get(word).memory(`i32.store${width}`);
      return;
    }
    fn.get(word).i32(-1).op('i32.xor').op('i32.and');
    leave();
  };
  const bitsUnlessFull = (count: 1 | 4): void => {
    if (isWrite) {
      bits(count);
      return;
    }
    fn.get(isFull).op('i32.eqz');
    code.if(() => bits(count));
  };
  const step = (size: number): void => {
    fn.get(at).i32(size).op('i32.add').set(at).get(bytes).i32(size).op('i32.sub').set(bytes);
  };
  const pushParts = (count: number): WasmFunction => fn.get(head).get(tag).get(at).get(count).get(pc).call(parts);
  // The bytes before the first whole dword, and behind the last one.
  fn.get(at).get(bytes).op('i32.or').i32(3).op('i32.and');
  code.if(() => {
    fn.i32(0).get(at).op('i32.sub').i32(3).op('i32.and').tee(size).get(bytes).get(size).get(bytes).op('i32.lt_u');
    fn.select().tee(size);
    code.if(() => {
      pushParts(size).op('i32.eqz');
      leave();
      fn.get(at).get(size).op('i32.add').set(at).get(bytes).get(size).op('i32.sub').set(bytes);
    });
    fn.get(bytes).i32(3).op('i32.and').set(rest).get(bytes).i32(-4).op('i32.and').set(bytes);
  });
  if (!isSame) noteRows(code, { head, tag, at, bytes, pc, isFull }, isWrite);
  fn.get(bytes);
  code.if(() =>
    code.loop((again) => {
      fn.get(bytes).i32(16).op('i32.ge_u').get(at).i32(4).op('i32.and').op('i32.eqz').op('i32.and');
      code.if(
        () => {
          fourDwords(fn, code, { tag, pc, word, isWrite, isSame, array, leave });
          bitsUnlessFull(4);
          step(16);
        },
        () => {
          oneDword(fn, code, { tag, pc, word, isWrite, isSame, array, leave });
          bitsUnlessFull(1);
          step(4);
        },
      );
      fn.get(bytes);
      code.brIf(again);
    }),
  );
  fn.get(rest).if('i32');
  pushParts(rest).else().i32(1).end();
}

/**
 * (the shadow of LDS, the wavefront's tags of a dword, LDS address, bytes, place in the image) → 1 when parts of dwords are all right and noted, byte by byte; 0 when
 * TypeScript has to look.
 */
function partsFunction(module: WasmModule, isWrite: boolean, isSame: boolean): WasmFunction {
  const name = `strict.lds.parts.${isWrite ? 'store' : 'load'}${isSame ? '.same' : ''}`;
  return module.helper(name, ['i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    eachByte(fn, isWrite, isSame);
    fn.i32(1);
  });
}

function eachByte(fn: WasmFunction, isWrite: boolean, isSame: boolean): void {
  const code = new Code(fn);
  const [head, tag, at, bytes, pc] = [0, 1, 2, 3, 4] as const;
  const word = fn.local('i32');
  const leave = (): void => {
    fn.if().i32(0).return().end();
  };
  const array = (which: number): WasmFunction => fn.get(head).memory('i32.load', which).get(at).op('i32.add');
  const [place, mine] = [fn.local('i32'), fn.local('i32')];
  fn.get(tag).i32(255).op('i32.and').set(mine);
  const leaveForeign = (which: number): void => {
    if (isSame) return;
    array(which).memory('i32.load8_u').tee(word).get(mine).op('i32.ne').get(word).i32(0).op('i32.ne').op('i32.and');
    leave();
  };
  const setPc = (which: number): void => {
    fn.get(head).memory('i32.load', which).get(at).i32(-4).op('i32.and').op('i32.add').get(pc).memory('i32.store');
  };
  const pushBit = (): WasmFunction => fn.i32(1).get(at).i32(7).op('i32.and').op('i32.shl');
  code.loop((again) => {
    leaveForeign(LDS_WRITER);
    fn.get(head).memory('i32.load', LDS_WRITTEN).get(at).i32(3).op('i32.shr_u').op('i32.add').set(place);
    if (isWrite) {
      leaveForeign(LDS_READER);
      array(LDS_WRITER).get(mine).memory('i32.store8');
      setPc(LDS_WRITER_PC);
      fn.get(place).get(place).memory('i32.load8_u');
      pushBit().op('i32.or').memory('i32.store8');
    } else {
      fn.get(place).memory('i32.load8_u');
      pushBit().op('i32.and').op('i32.eqz');
      leave();
      array(LDS_READER).memory('i32.load8_u').tee(word).get(mine).op('i32.ne');
      code.if(() => {
        array(LDS_READER);
        fn.i32(MANY_TAGS & 255)
          .get(mine)
          .get(word)
          .select();
        fn.memory('i32.store8');
        setPc(LDS_READER_PC);
      });
    }
    fn.get(at).i32(1).op('i32.add').set(at).get(bytes).i32(1).op('i32.sub').tee(bytes);
    code.brIf(again);
  });
}

interface Parts {
  readonly tag: number;
  readonly pc: number;
  readonly word: number;
  readonly isWrite: boolean;
  /** What others do with the bytes does not matter. */
  readonly isSame: boolean;
  readonly array: (which: number) => WasmFunction;
  readonly leave: () => void;
}

function oneDword(fn: WasmFunction, code: Code, { tag, pc, word, isWrite, isSame, array, leave }: Parts): void {
  const put = (which: number, push: () => void): void => {
    array(which);
    push();
    fn.memory('i32.store');
  };
  const isForeign = (): WasmFunction => {
    fn.tee(word).get(tag).op('i32.ne');
    return fn.get(word).i32(0).op('i32.ne').op('i32.and');
  };
  const leaveForeign = (which: number): void => {
    if (isSame) return;
    array(which).memory('i32.load');
    isForeign();
    leave();
  };
  leaveForeign(LDS_WRITER);
  if (isWrite) {
    leaveForeign(LDS_READER);
    put(LDS_WRITER, () => fn.get(tag));
    put(LDS_WRITER_PC, () => fn.get(pc));
    return;
  }
  array(LDS_READER).memory('i32.load').tee(word).get(tag).op('i32.ne');
  code.if(() => {
    fn.get(word).i32(255).op('i32.and').i32(0x01010101).op('i32.mul').get(word).op('i32.ne');
    leave();
    put(LDS_READER, () => fn.i32(MANY_TAGS).get(tag).get(word).select());
    put(LDS_READER_PC, () => fn.get(pc));
  });
}

function fourDwords(fn: WasmFunction, code: Code, { tag, pc, isWrite, isSame, array, leave }: Parts): void {
  const [tags, tagged, own] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  const put = (which: number, push: () => void): void => {
    array(which);
    push();
    fn.memory('v128.store');
  };
  const splat = (local: number) => (): void => {
    fn.get(local).op('i32x4.splat');
  };
  fn.get(tag).op('i32x4.splat').set(tags);
  const isOwnOrNone = (which: number): WasmFunction => {
    array(which).memory('v128.load').tee(tagged).get(tags).op('i32x4.eq').tee(own);
    return fn.get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or');
  };
  if (!isSame) isOwnOrNone(LDS_WRITER);
  if (isWrite) {
    if (!isSame) {
      isOwnOrNone(LDS_READER).op('v128.and').op('i32x4.all_true').op('i32.eqz');
      leave();
    }
    put(LDS_WRITER, splat(tag));
    put(LDS_WRITER_PC, splat(pc));
    return;
  }
  fn.op('i32x4.all_true').op('i32.eqz');
  leave();
  array(LDS_READER).memory('v128.load').tee(tagged).get(tags).op('i32x4.eq').tee(own);
  fn.op('i32x4.all_true').op('i32.eqz');
  code.if(() => {
    fn.get(tagged).get(tagged).shuffle(LOWEST).get(tagged).op('i32x4.eq').op('i32x4.all_true').op('i32.eqz');
    leave();
    put(LDS_READER, () => {
      fn.get(tags).v128(MANY_TAGS, MANY_TAGS, MANY_TAGS, MANY_TAGS).get(own);
      fn.get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or').op('v128.bitselect');
    });
    put(LDS_READER_PC, () => {
      array(LDS_READER_PC).memory('v128.load').get(pc).op('i32x4.splat').get(own).op('v128.bitselect');
    });
  });
}
