// Compiled code looks at the lanes of atomics, and of loads with device scope, that an entry of the log of atomics has (sync-log.ts): four at a time, or each by
// itself.
import { LANES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import { ENTRY_ADDRESSES, ENTRY_ATTEMPTS, ENTRY_LANES } from '../races/sync-log.ts';
import { agreeFunction } from './agreement.ts';
import { pushIsRepeated } from './repeated.ts';
import { Span } from './spans.ts';
import { areAheadFunction, type UpdateKind, UpdateRecords, updateQuadFunction } from './update-quads.ts';
import { attemptFunction, noteUpdated, pushUpdateEvent, updatesFunction } from './updates.ts';

/** In a function of (shadow, entry, place in the image) that returns 0 where TypeScript has to look. */
class EntryLanes {
  readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly module: WasmModule;
  private readonly element: number;
  readonly shadow = 0;
  readonly entry = 1;
  readonly pc = 2;
  /** The lanes that are looked at. */
  readonly left: number;
  /** The event of updates as it is in a word of a record, in all lanes. */
  readonly mine: number;
  /** The addresses of four lanes: those that are not looked at do as one of the others. */
  readonly all: number;
  private readonly words: number;
  private readonly records: UpdateRecords;
  private readonly span: Span;

  constructor(fn: WasmFunction, module: WasmModule, element: number) {
    const code = new Code(fn);
    [this.fn, this.code, this.module, this.element] = [fn, code, module, element];
    [this.left, this.all, this.mine, this.words] = [
      fn.local('i64'),
      fn.local('v128'),
      fn.local('v128'),
      fn.local('v128'),
    ];
    this.records = new UpdateRecords(code, this.shadow, this.mine, areAheadFunction(module));
    this.span = new Span(code, module, this.shadow, this.pc, element, true);
  }

  /** Returns 0 when the i32 on the stack is not 0. */
  leave(): void {
    this.fn.if().i32(0).return().end();
  }

  /** Leaves the address of one of four lanes. */
  lane(n: number): WasmFunction {
    return this.fn.get(this.all).lane('i32x4.extract_lane', n);
  }

  /** Leaves 1 when four elements at addresses (a local) are looked at as records say by four. */
  pushQuad(addresses: number, kind: UpdateKind): WasmFunction {
    const { fn, module, element, mine } = this;
    return fn
      .get(this.shadow)
      .get(addresses)
      .get(mine)
      .call(updateQuadFunction(module, kind, element === 8 ? 2 : 1));
  }

  /** Looks at the lanes in `left`: four at a time, or as `slowly` does. */
  look(kind: UpdateKind, slowly: () => void): void {
    const { fn, code, left, all, entry } = this;
    const [at, bits] = [fn.local('i32'), fn.local('i32')];
    fn.get(entry).set(at);
    code.block((done) => {
      code.loop((again) => {
        fn.get(left).op('i64.eqz');
        code.brIf(done);
        fn.get(left).op('i32.wrap_i64').i32(15).op('i32.and').tee(bits);
        code.if(() => {
          fn.get(at).memory('v128.load', ENTRY_ADDRESSES).set(all);
          fn.get(bits).i32(15).op('i32.ne');
          // That an address is looked at twice makes no difference.
          code.if(() => {
            fn.get(all).get(bits).op('i32.ctz').i32(2).op('i32.shl').get(at).op('i32.add');
            fn.memory('v128.load32_splat', ENTRY_ADDRESSES).get(bits).op('i32x4.splat').v128(1, 2, 4, 8);
            fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op('v128.bitselect').set(all);
          });
          code.block((next) => {
            code.block((slow) => this.four(kind, next, slow));
            slowly();
          });
        });
        fn.get(left).i64(4n).op('i64.shr_u').set(left);
        fn.get(at).i32(16).op('i32.add').set(at);
        code.br(again);
      });
    });
    fn.release('i32', at);
    fn.release('i32', bits);
  }

  /** Looks at the lanes in `left`: four at a time, or each by itself. */
  lookAlone(kind: UpdateKind): void {
    const one = this.fn.local('v128');
    this.look(kind, () => {
      for (let n = 0; n < 4; n++) {
        this.lane(n).op('i32x4.splat').set(one);
        this.pushQuad(one, kind).op('i32.eqz');
        this.leave();
      }
    });
  }

  private four(kind: UpdateKind, next: Label, slow: Label): void {
    const { fn, code, all, words, element, records, span } = this;
    if (element === 4) {
      span.note(all, {
        details: (origin) => {
          Span.pushRecords(fn, all, origin).set(words);
          records.note(words, slow, kind);
          code.br(next);
        },
      });
    }
    this.pushQuad(all, kind);
    code.brIf(next);
  }

  /** Sets `left` to the lanes of the entry that leave memory as it is, or to the others. */
  setLeft(leaves: boolean): WasmFunction {
    const { fn, entry, left } = this;
    fn.get(entry).memory('i64.load', ENTRY_LANES).get(entry).memory('i64.load', ENTRY_ATTEMPTS);
    if (!leaves) fn.i64(-1n).op('i64.xor');
    return fn.op('i64.and').set(left);
  }
}

const PARAMETERS = ['i32', 'i32', 'i32'] as const;

/** (shadow, entry of an atomic, place in the image) → 1 when the bytes of its lanes are all right and noted, 0 when TypeScript has to look: nothing wrong has been noted then. */
export function noteLanesFunction(module: WasmModule, element: number): WasmFunction {
  const [four, attempt] = [updatesFunction(module, element), attemptFunction(module, element)];
  return module.helper(`strict.sync.note.${element}`, PARAMETERS, ['i32'], (fn) => {
    const lanes = new EntryLanes(fn, module, element);
    const { shadow, pc, left, mine } = lanes;
    noteUpdated(fn, shadow);
    lanes.setLeft(false).get(left).op('i64.eqz').op('i32.eqz').if();
    const word = fn.local('i32');
    pushUpdateEvent(fn, module, shadow, pc).tee(word).op('i32.eqz');
    lanes.leave();
    fn.get(word).op('i32x4.splat').set(mine).end();
    lanes.look('update', () => {
      fn.get(shadow);
      for (let n = 0; n < 4; n++) lanes.lane(n);
      fn.get(pc).call(four).op('i32.eqz');
      lanes.leave();
    });
    lanes.setLeft(true);
    lanes.look('attempt', () => {
      for (let n = 0; n < 4; n++) {
        fn.get(shadow);
        lanes.lane(n).get(pc).call(attempt).op('i32.eqz');
        lanes.leave();
      }
    });
    fn.i32(1);
  });
}

/** (entry of a load): where all of its lanes look at one place, it is that of one of them. Mostly a wavefront waits so for a flag. */
export function onePlaceFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.sync.one.place', ['i32'], [], (fn) => {
    const entry = 0;
    const [lanes, bits, first] = [fn.local('i64'), fn.local('v128'), fn.local('v128')];
    fn.get(entry).memory('i64.load', ENTRY_LANES).set(lanes);
    fn.get(entry).get(lanes).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').op('i32.add');
    fn.memory('v128.load32_splat', ENTRY_ADDRESSES).set(first);
    for (let lane = 0; lane < LANES; lane += 4) {
      if (lane % 32 === 0) {
        fn.get(lanes).i64(BigInt(lane)).op('i64.shr_u').op('i32.wrap_i64').op('i32x4.splat').set(bits);
      }
      const own = [0, 1, 2, 3].map((n) => 1 << ((lane % 32) + n)) as [number, number, number, number];
      fn.get(bits)
        .v128(...own)
        .op('v128.and')
        .v128(0, 0, 0, 0)
        .op('i32x4.ne');
      fn.get(entry)
        .memory('v128.load', ENTRY_ADDRESSES + 4 * lane)
        .get(first)
        .op('v128.xor')
        .op('v128.and');
      if (lane > 0) fn.op('v128.or');
    }
    fn.op('v128.any_true').if().return().end();
    fn.get(entry).get(lanes).i64(0n).get(lanes).op('i64.sub').op('i64.and').memory('i64.store', ENTRY_LANES);
  });
}

/**
 * (shadow, entry of a load with device scope, place in the image) → 1 when its lanes find bytes that have been written, by nobody in the dispatch, by atomics, or with device
 * scope where nobody has told anything too early; 0 when TypeScript has to look.
 */
export function pastLanesFunction(module: WasmModule, element: number): WasmFunction {
  return module.helper(`strict.sync.past.${element}`, PARAMETERS, ['i32'], (fn) => {
    const lanes = new EntryLanes(fn, module, element);
    fn.get(lanes.entry).memory('i64.load', ENTRY_LANES).set(lanes.left);
    lanes.lookAlone('past');
    fn.i32(1);
  });
}

/**
 * (shadow, entry of a store with device scope, its place as its event has it, where the register with the data is, its place in the image) → 1 when its lanes' bytes, which only atomics and such
 * stores have changed, are noted; 0 when TypeScript has to look. Several lanes may store where the store is known to be one whose lanes may have one address (SyncLog.setRepeated).
 */
export function releaseLanesFunction(module: WasmModule, element: number): WasmFunction {
  const agree = agreeFunction(module, element, false);
  return module.helper(`strict.sync.release.${element}`, [...PARAMETERS, 'i32', 'i32'], ['i32'], (fn) => {
    const lanes = new EntryLanes(fn, module, element);
    const { shadow, entry, pc, mine, left } = lanes;
    const [data, place] = [3, 4] as const;
    const word = fn.local('i32');
    fn.get(entry).memory('i64.load', ENTRY_LANES).tee(left).op('i64.popcnt').i64(1n).op('i64.ne').if();
    pushIsRepeated(fn, shadow, place).op('i32.eqz');
    lanes.leave();
    fn.get(entry).i32(ENTRY_ADDRESSES).op('i32.add').get(data).get(left).call(agree).op('i32.eqz');
    lanes.leave();
    fn.end();
    pushUpdateEvent(fn, module, shadow, pc).tee(word).op('i32.eqz');
    lanes.leave();
    fn.get(word).op('i32x4.splat').set(mine);
    lanes.lookAlone('release');
    fn.i32(1);
  });
}
