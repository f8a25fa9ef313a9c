// What records of dwords (race-details.ts) name comes before what the wavefront does, where the numbers of their events say so alone: those of its own workgroup
// before its last barrier, its own since it runs, and what others have handed over to it (EVENTS_BEFORE and what follows in race-events.ts). Data in memory that a workgroup works on is mostly so.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { BYTES, MANY_GROUPS, MANY_WAVES, MARKS } from '../races/race-details.ts';
import { EVENTS_BEFORE, EVENTS_BEHIND, EVENTS_KNOWN, EVENTS_KNOWN_READS, EVENTS_OWN } from '../races/race-events.ts';
import { pushHead } from './events.ts';

const QUAD_BYTES = 32;

/** Of words of records: of readers, of writers, or of a reader and a writer in turn. */
export class KnownBefore {
  private readonly fn: WasmFunction;
  private readonly of: 'readers' | 'writers' | 'pairs';
  private readonly from: number;
  private readonly span: number;
  private readonly own: number;
  /** What the wavefront's own words are below, from `own` on. */
  private readonly ownSpan: number;
  private readonly isNew: number;
  private readonly known: number;
  /** What has not been handed over. */
  private readonly isKept: number;

  constructor(fn: WasmFunction, of: 'readers' | 'writers' | 'pairs') {
    this.fn = fn;
    this.of = of;
    const vector = (): number => fn.local('v128');
    [this.from, this.span, this.own] = [vector(), vector(), vector()];
    [this.ownSpan, this.isNew, this.known, this.isKept] = [vector(), vector(), vector(), vector()];
  }

  /** `mine` is a local with the event of a store as it is in a word of a record: others of it are of other lanes, which do not come before. */
  begin(shadow: number, mine?: number): void {
    const { fn, of, from, span, own, ownSpan, known } = this;
    const head = fn.local('i32');
    pushHead(fn, shadow).set(head);
    fn.get(head).memory('v128.load32_splat', EVENTS_BEFORE).set(from);
    fn.get(head).memory('v128.load32_splat', EVENTS_BEHIND).get(from).op('i32x4.sub').set(span);
    fn.get(head).memory('v128.load32_splat', EVENTS_OWN).set(own);
    // Another wavefront's page may have been opened since the store got its event: then none is known to be its own.
    if (mine === undefined) fn.v128(0, 0, 0, 0);
    else fn.get(mine).op('i32x4.splat').get(own).op('i32x4.max_u');
    fn.get(own).op('i32x4.sub').set(ownSpan);
    // Nobody's words are 0.
    fn.get(head);
    if (of === 'pairs') fn.memory('v128.load64_splat', EVENTS_KNOWN_READS);
    else fn.memory('v128.load32_splat', of === 'readers' ? EVENTS_KNOWN_READS : EVENTS_KNOWN);
    fn.v128(1, 1, 1, 1).op('i32x4.max_u').set(known);
    fn.release('i32', head);
  }

  /**
   * Leaves zeros for words whose event comes before, and those of nobody; ones for others. `updates` has ones for words that atomics have changed: what has been
   * handed over says nothing of these.
   */
  pushIsNew(words: number, updates?: number): WasmFunction {
    const { fn, from, span, own, ownSpan, isNew, known, isKept } = this;
    fn.get(words).get(from).op('i32x4.sub').get(span).op('i32x4.ge_u').tee(isNew);
    fn.get(words).get(own).op('i32x4.sub').get(ownSpan).op('i32x4.ge_u').op('v128.and');
    fn.get(words).get(known).op('i32x4.ge_u');
    if (updates !== undefined) fn.get(updates).op('v128.or');
    return fn.tee(isKept).op('v128.and');
  }

  /**
   * Leaves zeros for words, of readers or writers, whose event comes before and is all that they stand for: of readers those of the same interval do
   * before a barrier, too, and those of other workgroups where the last one has been handed over, for these have come before it. Atomics have marks of their own.
   */
  pushAsksMore(words: number): WasmFunction {
    const { fn, of, isNew, isKept } = this;
    this.pushIsNew(words);
    fn.get(isNew).v128(MANY_WAVES, MANY_WAVES, MANY_WAVES, MANY_WAVES).op('v128.and');
    const ofReaders = (n: number): boolean => of === 'readers' || (of === 'pairs' && n % 2 === 0);
    const marks = (reader: number, writer: number): WasmFunction => {
      const [a, b, c, d] = [0, 1, 2, 3].map((n) => (ofReaders(n) ? reader : writer)) as [
        number,
        number,
        number,
        number,
      ];
      return fn.v128(a, b, c, d);
    };
    if (of !== 'writers') {
      fn.get(isKept);
      marks(MANY_GROUPS, 0).op('v128.and').op('v128.or');
    }
    if (of !== 'readers') marks(0, MARKS & ~BYTES & ~MANY_WAVES).op('v128.or');
    return fn.get(words).op('v128.and').op('v128.or');
  }
}

/**
 * (shadow, where the records of dwords are, how many quads of whole ones, the event of the access as it is in a word of a record, where the bits of their written
 * bytes are or 0) → how many quads from the first on have been noted. At the first one that needs a closer look it ends.
 */
export function knownQuadsFunction(module: WasmModule, kind: 'load' | 'store'): WasmFunction {
  const isWrite = kind === 'store';
  return module.helper(`strict.known.${kind}`, ['i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, cell, quads, mine, written] = [0, 1, 2, 3, 4] as const;
    const [left, pairs, next] = [fn.local('i32'), [fn.local('v128'), fn.local('v128')], fn.local('v128')] as const;
    /** A pair of dwords that nothing is wrong with: mostly one instruction of a wavefront has touched all of them. Nobody's words are 0. */
    const seen = fn.local('v128');
    const known = new KnownBefore(fn, 'pairs');
    known.begin(shadow, isWrite ? mine : undefined);
    fn.get(mine).i32(BYTES).op('i32.or').op('i32x4.splat').set(next);
    fn.get(quads).set(left);
    const leave = (): WasmFunction => fn.if().get(quads).get(left).op('i32.sub').return().end();
    code.loop((again) => {
      for (const [n, pair] of pairs.entries()) {
        fn.get(cell)
          .memory('v128.load', (QUAD_BYTES / 2) * n)
          .tee(pair)
          .get(seen)
          .op('v128.xor');
        if (n > 0) fn.op('v128.or');
      }
      fn.op('v128.any_true');
      code.if(() => {
        for (const [n, pair] of pairs.entries()) {
          known.pushAsksMore(pair);
          if (n > 0) fn.op('v128.or');
        }
        fn.op('v128.any_true');
        leave();
        fn.get(pairs[1]).set(seen);
      });
      fn.get(written);
      code.if(() => {
        fn.get(written);
        if (isWrite) fn.i32(0xffff).memory('i32.store16');
        else {
          fn.memory('i32.load16_u').i32(0xffff).op('i32.ne');
          leave();
        }
        fn.get(written).i32(2).op('i32.add').set(written);
      });
      for (const [n, pair] of pairs.entries()) {
        fn.get(cell).get(next).get(pair);
        if (isWrite) fn.shuffle32(4, 1, 6, 3);
        else fn.shuffle32(0, 5, 2, 7);
        fn.memory('v128.store', (QUAD_BYTES / 2) * n);
      }
      fn.get(cell).i32(QUAD_BYTES).op('i32.add').set(cell);
      fn.get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
    fn.get(quads);
  });
}
