// Compiled code notes lanes that go where values say, and short scalar loads: each touches one line or one dword of global memory. What the
// records of a line or a dword say at once is noted here; the rest is for pageFunction (compiled/pages.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import {
  BYTES,
  HOLDS,
  HOLDS_READS,
  HOLDS_STORES,
  LOGGED,
  PAGE,
  PAGE_DETAILS,
  QUICK_UNWRITTEN,
} from '../races/race-details.ts';
import {
  LINE,
  LINE_BITS,
  LINE_READER,
  LINE_READER_EPOCH,
  LINE_READER_PC,
  LINE_WRITER,
  LINE_WRITER_EPOCH,
  LINE_WRITER_PC,
  LINE_WRITER_STORE,
  LINES,
  PAGE_STORED,
  PAGE_WRITTEN,
} from '../races/race-page.ts';
import {
  SHADOW_ACTOR,
  SHADOW_EPOCH,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_STORES,
} from '../registers/shadow-layout.ts';
import { CellWriter } from './cell-writer.ts';
import { eventFunction } from './events.ts';
import { LineWriter, pushIsKnownApart } from './lines.ts';
import { beginLogFunction } from './log.ts';
import { openPageIndex } from './open.ts';
import { pageFunction } from './pages.ts';
import { type GlobalAccess, pushCell, RECORD_SHIFT, TO_WRITER } from './records.ts';

const LINE_BYTES = 4 * LINE;
const PAGE_BYTES = 4 * PAGE;
const DWORD = 4;
/** Bytes that a lane of lanesFunction uses at most. */
export const MAX_LANE_BYTES = 16;

/**
 * (shadow, offsets in wasm memory for so many lanes, place in the image) → 1 when the elements of so many bytes there are all right and noted, 0
 * when TypeScript has to look: nothing wrong has been noted then.
 */
export function lanesFunction(module: WasmModule, kind: GlobalAccess, bytes: number, lanes: 1 | 4): WasmFunction {
  const name = `strict.lanes${lanes}.${kind}.${bytes}`;
  const pages = pageFunction(module, kind);
  const event = eventFunction(module);
  const beginLog = beginLogFunction(module);
  const lane = lanes === 1 ? undefined : lanesFunction(module, kind, bytes, 1);
  const parameters = Array.from({ length: lanes + 2 }, () => 'i32' as const);
  return module.helper(name, parameters, ['i32'], (fn) =>
    new LaneWriter(fn, kind, bytes, lanes, {
      module,
      pages,
      event,
      beginLog,
      openPage: openPageIndex(module),
      lane,
    }).write(),
  );
}

/**
 * (shadow, offsets in wasm memory for four lanes, bits of those that count, place in the image): as lanesFunction, of these lanes. For stores: that one of
 * their bytes has been noted tells two lanes with one address.
 */
export function someLanesFunction(module: WasmModule, kind: GlobalAccess, bytes: number): WasmFunction {
  const lane = lanesFunction(module, kind, bytes, 1);
  return module.helper(`strict.lanes.some.${kind}.${bytes}`, ['i32', 'v128', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, addresses, bits, pc] = [0, 1, 2, 3] as const;
    for (let n = 0; n < 4; n++) {
      fn.get(bits)
        .i32(1 << n)
        .op('i32.and')
        .if();
      fn.get(shadow).get(addresses).lane('i32x4.extract_lane', n).get(pc).call(lane).op('i32.eqz').if();
      fn.i32(0).return().end().end();
    }
    fn.i32(1);
  });
}

class LaneWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly kind: GlobalAccess;
  private readonly bytes: number;
  private readonly pages: WasmFunction;
  private readonly event: WasmFunction;
  private readonly beginLog: WasmFunction;
  /** As compiled/open.ts has it. */
  private readonly openPage: number | undefined;
  /** Does the same for one lane. */
  private readonly lane: WasmFunction | undefined;
  private readonly shadow = 0;
  /** The addresses of this lane and of those behind it. */
  private readonly lanes: readonly number[];
  private readonly at = 1;
  private readonly pc: number;
  private readonly actor: number;
  private readonly epoch: number;
  private readonly page: number;
  /** The word of the dword's reader, or the page's record plus four times the number of the line. */
  private readonly place: number;
  /** As CellLocals has it. */
  private readonly mine: number;
  /** The table of pages, and its length. */
  private readonly table: number;
  private readonly count: number;
  /** The page's bits of written bytes, or 0. */
  private readonly written: number;
  private readonly mask: number;
  private readonly bits: number;
  private readonly cells: CellWriter;
  private readonly records: LineWriter;
  /** Where the current lane needs a look at more than one record. */
  private slow: Label | undefined;

  constructor(
    fn: WasmFunction,
    kind: GlobalAccess,
    bytes: number,
    lanes: number,
    helpers: {
      readonly module: WasmModule;
      readonly pages: WasmFunction;
      readonly event: WasmFunction;
      readonly beginLog: WasmFunction;
      readonly openPage: number | undefined;
      readonly lane: WasmFunction | undefined;
    },
  ) {
    this.fn = fn;
    this.lanes = Array.from({ length: lanes }, (_, n) => this.at + n);
    this.pc = this.at + lanes;
    this.code = new Code(fn);
    this.kind = kind;
    this.bytes = bytes;
    this.pages = helpers.pages;
    this.event = helpers.event;
    this.beginLog = helpers.beginLog;
    this.openPage = helpers.openPage;
    this.lane = helpers.lane;
    const local = (): number => fn.local('i32');
    [this.actor, this.epoch, this.page, this.place] = [local(), local(), local(), local()];
    [this.written, this.mask, this.bits, this.mine] = [local(), local(), local(), local()];
    [this.table, this.count] = [local(), local()];
    const { shadow, at, pc, actor, epoch, mine, page, place: cell, mask, written } = this;
    const [events, frozen, knownReads, known] = [local(), local(), local(), local()] as const;
    const locals = { shadow, at, pc, actor, epoch, events, frozen, knownReads, known, mine, page, cell, mask, written };
    const leave = (): void => this.code.brIf(this.slow as Label);
    this.cells = new CellWriter(this.code, helpers.module, locals, leave, 1);
    this.records = new LineWriter(this.code, { shadow, actor, epoch, pc, line: cell, mask }, leave);
  }

  write(): void {
    const { fn, bytes, lane } = this;
    if (lane !== undefined && bytes < DWORD) this.noteOneDword();
    fn.get(this.shadow).memory('i32.load', SHADOW_ACTOR).set(this.actor);
    fn.get(this.shadow).memory('i32.load', SHADOW_EPOCH).set(this.epoch);
    fn.get(this.shadow).memory('i32.load', SHADOW_PAGES).set(this.table);
    fn.get(this.shadow).memory('i32.load', SHADOW_PAGE_COUNT).set(this.count);
    if (lane === undefined) {
      if (bytes === DWORD) this.noteOneQuickly();
      this.noteOrLook();
    } else if (bytes === DWORD) this.noteDwords(lane);
    else {
      if (bytes > DWORD) {
        if (this.kind === 'load') this.beginLogs();
        this.noteByLine();
      }
      this.noteEach();
    }
    fn.i32(1);
  }

  /** Notes the lanes of each line at once, and returns, where pages have records of lines and these say enough. */
  private noteByLine(): void {
    const { fn, code, lanes, at, bytes, page, mask, written, kind } = this;
    const [saved, left, nibbles] = [fn.local('i32'), fn.local('i32'), fn.local('i64')];
    const all = [saved, ...lanes.slice(1)];
    /** Leaves 1 when a lane is in the line of `at`. */
    const pushIsHere = (lane: number): WasmFunction =>
      fn.get(lane).get(at).op('i32.xor').i32(-LINE_BYTES).op('i32.and').op('i32.eqz');
    /** Leaves the number of a lane's first dword in its line. */
    const pushDword = (lane: number): WasmFunction =>
      fn
        .get(lane)
        .i32(2)
        .op('i32.shr_u')
        .i32(LINE - 1)
        .op('i32.and');
    fn.get(at).set(saved);
    code.block((otherwise) => {
      for (const [n, lane] of all.entries()) {
        fn.get(lane)
          .i32(DWORD - 1)
          .op('i32.and');
        if (bytes > DWORD) {
          fn.get(lane)
            .i32(LINE_BYTES - 1)
            .op('i32.and')
            .i32(LINE_BYTES - bytes)
            .op('i32.gt_u')
            .op('i32.or');
        }
        if (n > 0) fn.op('i32.or');
      }
      code.brIf(otherwise);
      fn.i32((1 << all.length) - 1).set(left);
      this.slow = otherwise;
      code.loop((again) => {
        // The first lane that is left.
        for (let n = 0; n < all.length - 1; n++) fn.get(all[n] as number);
        fn.get(all.at(-1) as number);
        for (let n = all.length - 2; n >= 0; n--) {
          fn.get(left)
            .i32(1 << n)
            .op('i32.and')
            .select();
        }
        fn.set(at);
        fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page).get(this.count).op('i32.ge_u');
        code.brIf(otherwise);
        fn.get(this.table).get(page).i32(2).op('i32.shl').op('i32.add').memory('i32.load').tee(page).op('i32.eqz');
        code.brIf(otherwise);
        fn.get(page).memory('i32.load', 4 * PAGE_DETAILS);
        code.brIf(otherwise);
        fn.get(page)
          .memory('i32.load', 4 * PAGE_WRITTEN)
          .tee(written);
        code.if(() => {
          fn.i64(0n).set(nibbles);
          for (const lane of all) {
            pushIsHere(lane);
            code.if(() => {
              fn.i64((1n << BigInt(bytes)) - 1n);
              pushDword(lane).i32(2).op('i32.shl').op('i64.extend_i32_u').op('i64.shl');
              fn.get(nibbles).op('i64.or').set(nibbles);
            });
          }
          fn.get(at)
            .i32(Math.log2(LINE_BYTES))
            .op('i32.shr_u')
            .i32(LINES - 1)
            .op('i32.and')
            .i32(3)
            .op('i32.shl');
          fn.get(written).op('i32.add').set(written);
          if (kind === 'store') {
            fn.get(written).get(written).memory('i64.load').get(nibbles).op('i64.or').memory('i64.store');
          } else {
            fn.get(nibbles).get(written).memory('i64.load').op('i64.and').get(nibbles).op('i64.ne');
            code.brIf(otherwise);
          }
        });
        fn.i32(0).set(mask);
        for (const [n, lane] of all.entries()) {
          pushIsHere(lane);
          code.if(() => {
            fn.i32((1 << (bytes / DWORD)) - 1);
            pushDword(lane).op('i32.shl').get(mask).op('i32.or').set(mask);
            fn.get(left)
              .i32(~(1 << n))
              .op('i32.and')
              .set(left);
          });
        }
        this.setLine();
        code.block((noted) => {
          code.block((notOwn) => this.noteOwnLine(noted, notOwn));
          this.records.note(kind);
        });
        fn.get(left);
        code.brIf(again);
      });
      fn.i32(1).return();
    });
    fn.get(saved).set(at);
    for (const local of [saved, left]) fn.release('i32', local);
    fn.release('i64', nibbles);
  }

  /** Notes lane after lane. */
  private noteEach(): void {
    const { fn, lanes, code } = this;
    const left = fn.local('i32');
    fn.i32(lanes.length).set(left);
    code.loop((again) => {
      this.noteOrLook();
      for (let n = 1; n < lanes.length; n++) fn.get(lanes[n] as number).set(lanes[n - 1] as number);
      fn.get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
    fn.release('i32', left);
  }

  /**
   * Notes dwords quickly where the first one is of a page whose details say only who reads, or who writes, and that are all written. `lane` notes
   * those that turn out not to be so.
   */
  private noteDwords(lane: WasmFunction): void {
    const { fn, code, shadow, lanes, pc, at } = this;
    const quick = fn.local('i32');
    fn.get(this.count).i32(2).op('i32.shl').get(this.table).op('i32.add').set(quick);
    code.block((done) => {
      code.block((slow) => {
        this.pushQuick(at, quick, slow).tee(this.bits);
        fn.i32(~HOLDS).op('i32.and').op('i32.eqz').get(this.bits).i32(QUICK_UNWRITTEN).op('i32.and').op('i32.or');
        code.brIf(slow);
        fn.i32(BYTES).set(this.mask);
        for (const one of lanes) {
          code.block((next) => {
            code.block((other) => {
              this.slow = other;
              this.noteQuickLane(one, quick);
              code.br(next);
            });
            fn.get(shadow).get(one).get(pc).call(lane).op('i32.eqz').if().i32(0).return().end();
          });
        }
        code.br(done);
      });
      if (this.kind === 'load') this.beginLogs();
      else this.noteByLine();
      this.noteEach();
    });
  }

  /** The pages of lanes that read where values say are logged from the first time on, also where lines would still do. */
  private beginLogs(): void {
    const { fn, code, shadow, page, lanes, table, count, openPage, pc } = this;
    for (const at of lanes) {
      code.block((next) => {
        fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page).get(count).op('i32.ge_u');
        code.brIf(next);
        fn.get(table).get(page).i32(2).op('i32.shl').op('i32.add').memory('i32.load').tee(page).op('i32.eqz');
        if (openPage !== undefined) {
          code.if(() => fn.get(at).get(pc).call(openPage).set(page));
          fn.get(page).op('i32.eqz');
        }
        code.brIf(next);
        fn.get(page)
          .memory('i32.load', 4 * PAGE_DETAILS)
          .get(page)
          .memory('i32.load', 4 * PAGE_STORED)
          .op('i32.or');
        code.brIf(next);
        fn.get(shadow).get(page).call(this.beginLog).set(page);
      });
    }
  }

  /** Notes the one dword, and returns, where noteDwords does so quickly. */
  private noteOneQuickly(): void {
    const { fn, code, at } = this;
    const quick = fn.local('i32');
    fn.get(this.count).i32(2).op('i32.shl').get(this.table).op('i32.add').set(quick);
    fn.i32(BYTES).set(this.mask);
    code.block((slow) => {
      this.slow = slow;
      this.noteQuickLane(at, quick);
      fn.i32(1).return();
    });
  }

  /** Leaves the quick table's word of the page at an address (race-pages.ts); goes to `slow` where there is none. */
  private pushQuick(at: number, quick: number, slow: Label): WasmFunction {
    const { fn, code, page } = this;
    fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page).get(this.count).op('i32.ge_u');
    code.brIf(slow);
    return fn.get(page).i32(2).op('i32.shl').get(quick).op('i32.add').memory('i32.load');
  }

  private noteQuickLane(at: number, quick: number): void {
    const { fn, code, kind, place, mine, bits } = this;
    const slow = this.slow as Label;
    const isWrite = kind === 'store';
    fn.get(at)
      .i32(DWORD - 1)
      .op('i32.and');
    code.brIf(slow);
    this.pushQuick(at, quick, slow).tee(bits);
    fn.i32(HOLDS | QUICK_UNWRITTEN)
      .op('i32.and')
      .i32(isWrite ? HOLDS_STORES : HOLDS_READS)
      .op('i32.ne');
    code.brIf(slow);
    fn.get(mine).op('i32.eqz');
    code.if(() => this.cells.begin(isWrite, this.event));
    fn.get(at)
      .i32(DWORD * (PAGE - 1))
      .op('i32.and')
      .i32(RECORD_SHIFT)
      .op('i32.shl')
      .get(bits)
      .op('i32.add')
      .i32(isWrite ? HOLDS_STORES : HOLDS_READS)
      .op('i32.sub')
      .set(place);
    if (!isWrite) {
      this.cells.putReader();
      return;
    }
    // Nobody's word.
    fn.get(place).memory('i32.load', TO_WRITER);
    code.brIf(slow);
    fn.get(place).get(mine).i32(BYTES).op('i32.or').memory('i32.store', TO_WRITER);
  }

  /** Notes the current lane, or has all records of it looked at; returns 0 when TypeScript has to look. */
  private noteOrLook(): void {
    const { fn, code, shadow, at, bytes, pc } = this;
    code.block((next) => {
      code.block((slow) => {
        this.slow = slow;
        this.noteLane(next, slow);
      });
      fn.get(shadow).get(at).i32(bytes).get(pc).call(this.pages).op('i32.eqz');
      fn.if().i32(0).return().end();
    });
  }

  /** Parts of one dword that are all of it together: returns what is to be said of the dword. */
  private noteOneDword(): void {
    const { fn, code, shadow, at, bytes, pc, lanes } = this;
    lanes.forEach((lane, n) => {
      fn.i32((1 << bytes) - 1)
        .get(lane)
        .i32(DWORD - 1)
        .op('i32.and')
        .op('i32.shl');
      if (n > 0) fn.op('i32.or');
    });
    // A part that goes on in the next dword leaves bits behind the nibble.
    fn.i32(15).op('i32.xor');
    for (const lane of lanes.slice(1)) {
      fn.get(at).get(lane).op('i32.xor').i32(-DWORD).op('i32.and').op('i32.or');
    }
    fn.op('i32.eqz');
    code.if(() => {
      fn.get(shadow).get(at).i32(-DWORD).op('i32.and').i32(DWORD).get(pc).call(this.pages).return();
    });
  }

  /** Goes to `next` when the element at `at` has been noted, and to `slow` when that needs a look at more than one record. */
  private noteLane(next: Label, slow: Label): void {
    const { fn, code, at, bytes, page, written } = this;
    if (bytes >= DWORD) {
      fn.get(at)
        .i32(DWORD - 1)
        .op('i32.and');
      code.brIf(slow);
    }
    if (bytes !== 1 && bytes !== DWORD) {
      const unit = bytes < DWORD ? DWORD : LINE_BYTES;
      fn.get(at)
        .i32(unit - 1)
        .op('i32.and')
        .i32(unit - bytes)
        .op('i32.gt_u');
      code.brIf(slow);
    }
    fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page).get(this.count).op('i32.ge_u');
    code.brIf(slow);
    fn.get(this.table).get(page).i32(2).op('i32.shl').op('i32.add');
    fn.memory('i32.load').tee(page).op('i32.eqz');
    code.brIf(slow);
    fn.get(page)
      .memory('i32.load', 4 * PAGE_WRITTEN)
      .set(written);
    fn.get(page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .tee(this.place);
    code.if(
      () => {
        if (bytes > DWORD) code.br(slow);
        else {
          fn.get(this.place).i32(LOGGED).op('i32.eq');
          code.brIf(slow);
          this.noteCell(next);
        }
      },
      () => {
        if (bytes < DWORD) code.br(slow);
        else this.noteLine(next, slow);
      },
    );
  }

  private noteCell(next: Label): void {
    const { fn, code, at, page, place, mask, bytes, mine } = this;
    fn.get(mine).op('i32.eqz');
    code.if(() => this.cells.begin(this.kind === 'store', this.event));
    pushCell(fn, page, at).set(place);
    fn.i32((1 << bytes) - 1);
    if (bytes < DWORD)
      fn.get(at)
        .i32(DWORD - 1)
        .op('i32.and')
        .op('i32.shl');
    fn.set(mask);
    this.cells.note(this.kind);
    code.br(next);
  }

  private field(word: number): WasmFunction {
    return this.fn.get(this.place).memory('i32.load', 4 * word);
  }

  private setField(word: number, local: number): void {
    this.fn
      .get(this.place)
      .get(local)
      .memory('i32.store', 4 * word);
  }

  /** Sets `place` to the line of `at`. */
  private setLine(): void {
    const { fn, at, page, place } = this;
    fn.get(at)
      .i32(Math.log2(LINE_BYTES) - 2)
      .op('i32.shr_u')
      .i32(4 * (LINES - 1))
      .op('i32.and')
      .get(page)
      .op('i32.add')
      .set(place);
  }

  private noteLine(next: Label, slow: Label): void {
    const { fn, code, at, mask, bytes } = this;
    this.setLine();
    fn.i32((1 << (bytes / DWORD)) - 1);
    fn.get(at)
      .i32(2)
      .op('i32.shr_u')
      .i32(LINE - 1)
      .op('i32.and')
      .op('i32.shl')
      .set(mask);
    this.noteWritten(slow);
    code.block((notOwn) => this.noteOwnLine(next, notOwn));
    this.records.note(this.kind);
    code.br(next);
  }

  /** The element's bytes become written, or must be: else goes to `slow`. */
  private noteWritten(slow: Label): void {
    const { fn, code, at, written } = this;
    fn.get(written);
    code.if(() => {
      fn.get(at)
        .i32(PAGE_BYTES - 1)
        .op('i32.and')
        .i32(3)
        .op('i32.shr_u')
        .get(written)
        .op('i32.add')
        .set(written);
      if (this.kind === 'store') {
        fn.get(written).get(written).memory('i32.load');
        this.pushNibbles().op('i32.or').memory('i32.store');
        return;
      }
      fn.get(written).memory('i32.load');
      this.pushNibbles().op('i32.and');
      this.pushNibbles().op('i32.ne');
      code.brIf(slow);
    });
  }

  /** What a wavefront does to a line that it has to itself; of others goes to `notOwn`. */
  private noteOwnLine(next: Label, notOwn: Label): void {
    const { fn, code, shadow, pc, actor, epoch, place, mask, bits, kind } = this;
    this.field(LINE_WRITER).tee(bits);
    // The scalar cache does not see what vector instructions store.
    if (kind === 'scalar') fn.i32(0).op('i32.ne');
    else fn.get(actor).op('i32.ne');
    if (kind === 'store') {
      code.brIf(notOwn);
      this.field(LINE_BITS).tee(bits).i32(16).op('i32.shr_u').get(mask).op('i32.and');
      code.brIf(notOwn);
      fn.get(bits).i32(0xffff).op('i32.and').get(mask).i32(-1).op('i32.xor').op('i32.and');
      code.if(
        () => {
          pushIsKnownApart(fn, { shadow, actor, epoch, line: place });
          code.brIf(notOwn);
        },
        () => {
          this.setField(LINE_WRITER_EPOCH, epoch);
          fn.get(place).get(shadow).memory('i32.load', SHADOW_STORES);
          fn.memory('i32.store', 4 * LINE_WRITER_STORE);
        },
      );
      this.setField(LINE_WRITER_PC, pc);
      fn.get(bits).get(mask).op('i32.or').set(bits);
    } else {
      fn.get(bits).i32(0).op('i32.ne').op('i32.and');
      this.field(LINE_READER).get(actor).op('i32.ne').op('i32.or');
      this.field(LINE_READER_EPOCH).get(epoch).op('i32.ne').op('i32.or');
      code.brIf(notOwn);
      this.setField(LINE_READER_PC, pc);
      this.field(LINE_BITS).get(mask).i32(16).op('i32.shl').op('i32.or').set(bits);
    }
    this.setField(LINE_BITS, bits);
    code.br(next);
  }

  /** Leaves the element's bits among those of its first two dwords and what follows. */
  private pushNibbles(): WasmFunction {
    const { fn, at, bytes } = this;
    return fn
      .i32((1 << bytes) - 1)
      .get(at)
      .i32(4)
      .op('i32.and')
      .op('i32.shl');
  }
}
