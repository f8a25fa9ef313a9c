// Compiled code notes a store to dwords that are the same distance apart, to the same bytes of each, in the records of dwords (race-details.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import { BYTES, HOLDS, HOLDS_STORES, MARKS, PAGE, QUICK_UNWRITTEN } from '../races/race-details.ts';
import { EVENT_ACTOR } from '../races/race-events.ts';
import { PAGE_WRITTEN } from '../races/race-page.ts';
import { SHADOW_ACTOR, SHADOW_PAGE_COUNT, SHADOW_PAGES } from '../registers/shadow-layout.ts';
import { cellStoreFunction } from './details.ts';
import { pushEvents, pushNamed } from './events.ts';
import { KnownBefore } from './known-before.ts';
import { pageFunction } from './pages.ts';
import { RECORD_SHIFT, TO_WRITER } from './records.ts';

// What the functions leave.
export const NOT_STRIDED = 0;
export const STRIDED = 1;
export const LEFT = 2;
/** Bytes from a dword to the next one at most: four have room in a page. */
export const MOST_STEP = 1024;

const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;
/** In place of where a page begins: nothing is within a page from there on. */
const NO_PAGE = 1;

/**
 * (shadow, offset of the first dword in wasm memory, bytes from one to the next, how many, the bytes of each, the event of the store as it is in a word of a record,
 * place in the image) → STRIDED when the store is noted, of which no other lane has one of the bytes; LEFT when TypeScript has to look.
 */
export function stridedDwordsFunction(module: WasmModule): WasmFunction {
  const helpers = {
    pages: pageFunction(module, 'store'),
    cell: cellStoreFunction(module),
  };
  const parameters = Array.from({ length: 7 }, () => 'i32' as const);
  return module.helper('strict.strided.dwords', parameters, ['i32'], (fn) => new StridedDwords(fn, helpers).write());
}

class StridedDwords {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly helpers: { readonly pages: WasmFunction; readonly cell: WasmFunction };
  private readonly shadow = 0;
  private readonly at = 1;
  private readonly step = 2;
  private readonly left = 3;
  private readonly mask = 4;
  private readonly mine = 5;
  private readonly pc = 6;
  /** The first byte of the page, or NO_PAGE; its record; where that of its first dword is; the bits of its written bytes, or 0. */
  private readonly first: number;
  private readonly page: number;
  private readonly records: number;
  private readonly written: number;
  /** Of a page, the last record from which on it has those of four dwords. */
  private readonly last: number;
  private readonly cell: number;
  private readonly record: number;
  /** Both words of a record that may be stored to, and what its writer's becomes. */
  private readonly known: number;
  private readonly becomes: number;
  private readonly before: KnownBefore;

  constructor(fn: WasmFunction, helpers: StridedDwords['helpers']) {
    [this.fn, this.code, this.helpers] = [fn, new Code(fn), helpers];
    const local = (): number => fn.local('i32');
    [this.first, this.page, this.records, this.written] = [local(), local(), local(), local()];
    [this.last, this.cell, this.becomes] = [local(), local(), local()];
    [this.record, this.known] = [fn.local('i64'), fn.local('i64')];
    this.before = new KnownBefore(fn, 'pairs');
  }

  write(): void {
    const { fn, code, at, first, mask, mine, known, becomes } = this;
    // Nobody's record is known.
    fn.i32(NO_PAGE).set(first).i64(0n).set(known).get(mask).get(mine).op('i32.or').set(becomes);
    code.loop((again) => {
      fn.get(at).get(first).op('i32.sub').i32(PAGE_BYTES).op('i32.ge_u');
      code.if(() => this.beginPage(again));
      this.noteFours(again);
      this.noteOne();
      this.advance(again);
    });
    fn.i32(STRIDED);
  }

  /** Goes on with the next dword, or leaves STRIDED. */
  private advance(again: Label): void {
    const { fn, code, at, step, left } = this;
    fn.get(at).get(step).op('i32.add').set(at).get(left).i32(1).op('i32.sub').tee(left);
    code.brIf(again);
    fn.i32(STRIDED).return();
  }

  private leaveUnless(): void {
    this.fn.op('i32.eqz').if().i32(LEFT).return().end();
  }

  private pushIndex(): WasmFunction {
    return this.fn.get(this.at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u');
  }

  private beginPage(again: Label): void {
    const { fn, code, shadow, at, step, first, records, written, page } = this;
    const count = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT);
    this.pushIndex();
    count().op('i32.lt_u').if('i32');
    // The quick table lies behind the table of pages.
    this.pushIndex();
    count().op('i32.add').i32(2).op('i32.shl').get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add');
    fn.memory('i32.load').else().i32(0).end();
    fn.tee(records).i32(HOLDS_STORES).op('i32.and').op('i32.eqz');
    code.if(() => this.noteAlone(again));
    fn.get(at).i32(-PAGE_BYTES).op('i32.and').set(first);
    fn.get(shadow).memory('i32.load', SHADOW_PAGES);
    this.pushIndex().i32(2).op('i32.shl').op('i32.add').memory('i32.load').tee(page);
    fn.memory('i32.load', 4 * PAGE_WRITTEN).set(written);
    fn.get(records)
      .i32(~(HOLDS | QUICK_UNWRITTEN))
      .op('i32.and')
      .set(records);
    fn.i32(PAGE_BYTES - DWORD)
      .get(step)
      .i32(3)
      .op('i32.mul')
      .op('i32.sub')
      .i32(RECORD_SHIFT)
      .op('i32.shl')
      .get(records)
      .op('i32.add')
      .set(this.last);
  }

  /** Has the dword noted where its page has no records of stores by dword yet. */
  private noteAlone(again: Label): void {
    const { fn, code, shadow, at, pc, mask, first } = this;
    const [bytes, begin, count] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    fn.get(mask).set(bytes);
    // Bytes that follow each other.
    code.loop((more) => {
      fn.get(bytes).op('i32.ctz').set(begin);
      fn.get(bytes).get(begin).op('i32.shr_u').i32(-1).op('i32.xor').op('i32.ctz').set(count);
      fn.get(shadow).get(at).get(begin).op('i32.add').get(count).get(pc).call(this.helpers.pages);
      this.leaveUnless();
      fn.i32(-1).get(begin).get(count).op('i32.add').op('i32.shl').get(bytes).op('i32.and').tee(bytes);
      code.brIf(more);
    });
    for (const local of [bytes, begin, count]) fn.release('i32', local);
    fn.i32(NO_PAGE).set(first);
    this.advance(again);
  }

  /** Sets `at` to the dword whose record is at `cell`. */
  private setAt(): void {
    const { fn, at, cell, records, first } = this;
    fn.get(cell).get(records).op('i32.sub').i32(RECORD_SHIFT).op('i32.shr_u').get(first).op('i32.add').set(at);
  }

  /** Notes four dwords after the other as long as their records are known, and goes on behind them; `cell` is where the record of the dword is. */
  private noteFours(again: Label): void {
    const { fn, code, at, records, last, left, step, cell, known, becomes, written } = this;
    const behind = fn.local('i32');
    const cells = [cell, fn.local('i32'), fn.local('i32'), fn.local('i32')];
    fn.get(at)
      .i32(PAGE_BYTES - DWORD)
      .op('i32.and')
      .i32(RECORD_SHIFT)
      .op('i32.shl')
      .get(records)
      .op('i32.add')
      .set(cell);
    const pushHasFour = (): WasmFunction =>
      fn.get(cell).get(last).op('i32.le_u').get(left).i32(4).op('i32.ge_u').op('i32.and');
    code.block((one) => {
      pushHasFour().op('i32.eqz');
      code.brIf(one);
      fn.get(step).i32(RECORD_SHIFT).op('i32.shl').set(behind);
      code.block((other) => {
        code.loop((next) => {
          cells.forEach((place, n) => {
            if (n === 0) fn.get(place);
            else
              fn.get(cells[n - 1] as number)
                .get(behind)
                .op('i32.add')
                .tee(place);
            fn.memory('i64.load').get(known).op('i64.xor');
            if (n > 0) fn.op('i64.or');
          });
          fn.i64(0n).op('i64.ne');
          code.brIf(other);
          for (const place of cells) fn.get(place).get(becomes).memory('i32.store', TO_WRITER);
          fn.get(written);
          code.if(() => {
            this.setAt();
            for (let dword = 0; dword < 4; dword++) this.setWritten(dword);
          });
          fn.get(cells[3] as number)
            .get(behind)
            .op('i32.add')
            .set(cell);
          fn.get(left).i32(4).op('i32.sub').set(left);
          pushHasFour();
          code.brIf(next);
        });
        this.setAt();
        fn.get(left);
        code.brIf(again);
        fn.i32(STRIDED).return();
      });
      this.setAt();
    });
  }

  /** Notes the dword whose record is at `cell`. */
  private noteOne(): void {
    const { fn, code, cell, known, record, becomes, written } = this;
    code.block((noted) => {
      fn.get(cell).memory('i64.load').tee(record).get(known).op('i64.ne');
      code.if(() => this.learn(noted));
      fn.get(cell).get(becomes).memory('i32.store', TO_WRITER);
    });
    fn.get(written);
    code.if(() => this.setWritten(0));
  }

  /** The record is known from here on, when all that it names comes before; else it is looked at and noted by itself, and `noted` gone to. */
  private learn(noted: Label): void {
    const { fn, code, shadow, pc, page, cell, record, known, mask, mine, becomes } = this;
    const [pair, reader, writer, events] = [fn.local('v128'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const pushIsOwn = (word: number): WasmFunction => {
      pushNamed(fn, events, word).memory('i32.load', 4 * EVENT_ACTOR);
      return fn.get(shadow).memory('i32.load', SHADOW_ACTOR).op('i32.eq');
    };
    /** Leaves 0 for nobody's word, and the wavefront's own without marks of others. */
    const pushIsOfOthers = (word: number): void => {
      pushIsOwn(word).op('i32.eqz').get(word);
      fn.i32(MARKS & ~BYTES)
        .op('i32.and')
        .op('i32.or')
        .i32(0)
        .get(word)
        .select();
    };
    fn.get(record).op('i32.wrap_i64').set(reader).get(record).i64(32n).op('i64.shr_u').op('i32.wrap_i64').set(writer);
    pushEvents(fn, shadow).set(events);
    this.before.begin(shadow, mine);
    fn.get(record).op('i64x2.splat').set(pair);
    this.before.pushAsksMore(pair).op('v128.any_true');
    code.if(() => {
      // The numbers of its own events from before pages were opened say nothing.
      pushIsOfOthers(reader);
      pushIsOfOthers(writer);
      fn.op('i32.or');
      code.if(() => {
        fn.get(shadow).get(pc).get(page).get(cell).get(mask).call(this.helpers.cell);
        this.leaveUnless();
        code.br(noted);
      });
    });
    fn.get(record).set(known);
    // What the wavefront itself has written of a dword stays its own.
    fn.get(writer).i32(BYTES).op('i32.and').i32(0);
    pushIsOwn(writer).select();
    fn.get(mask).op('i32.or').get(mine).op('i32.or').set(becomes);
    fn.release('v128', pair);
    for (const local of [reader, writer, events]) fn.release('i32', local);
  }

  /** The bytes of the dword that is so many behind the one at `at` are written from here on. */
  private setWritten(dwords: number): void {
    const { fn, at, step, first, written, mask } = this;
    const [offset, place] = [fn.local('i32'), fn.local('i32')];
    fn.get(at);
    if (dwords > 0) fn.get(step).i32(dwords).op('i32.mul').op('i32.add');
    fn.get(first).op('i32.sub').tee(offset).i32(3).op('i32.shr_u').get(written).op('i32.add').tee(place);
    fn.get(place).memory('i32.load8_u').get(mask).get(offset).i32(DWORD).op('i32.and').op('i32.shl').op('i32.or');
    fn.memory('i32.store8');
    for (const local of [offset, place]) fn.release('i32', local);
  }
}
