// Compiled code notes accesses of global memory in the records of pages, as RacePage.note does, and in the bits of written bytes.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import { LOGGED, PAGE, PAGE_DETAILS } from '../races/race-details.ts';
import {
  LINE,
  LINE_BITS,
  LINE_MANY,
  LINE_READER,
  LINE_READER_EPOCH,
  LINE_READER_PC,
  LINE_WRITER,
  LINE_WRITER_EPOCH,
  LINE_WRITER_PC,
  LINE_WRITER_STORE,
  LINES,
  PAGE_WRITTEN,
} from '../races/race-page.ts';
import {
  SHADOW_ACTOR,
  SHADOW_EPOCH,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_STORES,
} from '../registers/shadow-layout.ts';
import { detailFunction } from './details.ts';
import { openFunction } from './details-open.ts';
import { LineWriter } from './lines.ts';
import { beginLogFunction, logRunFunction } from './log.ts';
import { openPageIndex, unlogPageIndex } from './open.ts';
import type { GlobalAccess } from './records.ts';
import { allWrittenFunction } from './written.ts';

const LINE_BYTES = 4 * LINE;
const PAGE_BYTES = 4 * PAGE;
/** Lines that are noted at once when one wavefront has them to itself. */
const QUAD = 4;

/**
 * (shadow, offset in wasm memory, bytes, place in the image) → 1 when all is right and noted; 0 when
 * TypeScript has to look: nothing wrong has been noted then.
 */
export function pageFunction(module: WasmModule, kind: GlobalAccess): WasmFunction {
  const name = `strict.pages.${kind}`;
  const helpers = {
    details: detailFunction(module, kind),
    open: openFunction(module),
    beginLog: beginLogFunction(module),
    logRun: logRunFunction(module),
    areWritten: allWrittenFunction(module),
    openPage: openPageIndex(module),
    unlogPage: unlogPageIndex(module),
  };
  return module.helper(name, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    new PageWriter(fn, kind, helpers).write();
  });
}

interface PageHelpers {
  /** Notes what lies in a page whose records are by dword. */
  readonly details: WasmFunction;
  /** Makes records by dword. */
  readonly open: WasmFunction;
  /** Makes the reads of a page logged ones, and logs them. */
  readonly beginLog: WasmFunction;
  readonly logRun: WasmFunction;
  /** Asks for bits of written bytes. */
  readonly areWritten: WasmFunction;
  /** Imports (compiled/open.ts). */
  readonly openPage: number | undefined;
  readonly unlogPage: number | undefined;
}

class PageWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly kind: GlobalAccess;
  private readonly isWrite: boolean;
  private readonly helpers: PageHelpers;
  private readonly shadow = 0;
  private readonly at = 1;
  private readonly bytes = 2;
  private readonly pc = 3;
  private readonly actor: number;
  /** The actor in all lanes of a vector. */
  private readonly actors: number;
  private readonly epoch: number;
  private readonly page: number;
  /** The page's record plus four times the number of the line. */
  private readonly line: number;
  /** Where the bits of the line's written bytes are, 0 when all are written. */
  private readonly written: number;
  /** Where the record of a line does not say enough, or something may be wrong. */
  private tooNarrow: Label | undefined;
  private readonly mask: number;
  private readonly lines: LineWriter;

  constructor(fn: WasmFunction, kind: GlobalAccess, helpers: PageHelpers) {
    this.fn = fn;
    this.helpers = helpers;
    this.code = new Code(fn);
    this.kind = kind;
    this.isWrite = kind === 'store';
    [this.actor, this.epoch, this.page, this.line] = [this.local(), this.local(), this.local(), this.local()];
    this.actors = fn.local('v128');
    [this.written, this.mask] = [this.local(), this.local()];
    const { shadow, actor, epoch, pc, line, mask } = this;
    this.lines = new LineWriter(this.code, { shadow, actor, epoch, pc, line, mask }, () => this.leave());
  }

  private local(): number {
    return this.fn.local('i32');
  }

  /** Leaves for `tooNarrow` when the i32 on the stack is not zero; returns 0 where there is no such place. */
  private leave(): void {
    if (this.tooNarrow !== undefined) this.code.brIf(this.tooNarrow);
    else this.fn.if().i32(0).return().end();
  }

  write(): void {
    const { fn, code, shadow, at, bytes, page } = this;
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).tee(this.actor).op('i32x4.splat').set(this.actors);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(this.epoch);
    code.loop((again) => {
      fn.get(at).i32(12).op('i32.shr_u').tee(page).get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
      this.leave();
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
      fn.memory('i32.load').tee(page).op('i32.eqz');
      this.openOrLeave();
      code.block((isByLine) => {
        fn.get(page)
          .memory('i32.load', 4 * PAGE_DETAILS)
          .op('i32.eqz');
        code.brIf(isByLine);
        this.notePage(again);
        fn.get(bytes);
        code.brIf(again);
        fn.i32(1).return();
      });
      code.block((tooNarrow) => {
        this.tooNarrow = tooNarrow;
        this.noteLines();
        this.tooNarrow = undefined;
        fn.get(bytes);
        code.brIf(again);
        fn.i32(1).return();
      });
      if (!this.isWrite) {
        fn.get(shadow).get(page).call(this.helpers.beginLog);
        code.brIf(again);
      }
      fn.get(shadow).get(page).call(this.helpers.open).op('i32.eqz');
      this.leave();
      code.br(again);
    });
    fn.i32(1);
  }

  /** Has the page's record made when the i32 on the stack is not zero, and sets `page` to it; returns 0 where there is none. */
  private openOrLeave(): void {
    const { fn, code, at, pc, page } = this;
    const { openPage } = this.helpers;
    if (openPage === undefined) this.leave();
    else
      code.if(() => {
        fn.get(at).get(pc).call(openPage).tee(page).op('i32.eqz');
        this.leave();
      });
  }

  /** What lies in a page whose records are by line, or its first bytes. */
  private noteLines(): void {
    const { fn, code, at, bytes, page, line, written } = this;
    fn.get(at).get(bytes).op('i32.or').i32(3).op('i32.and');
    this.leave();
    fn.get(at)
      .i32(Math.log2(LINE_BYTES))
      .op('i32.shr_u')
      .i32(LINES - 1)
      .op('i32.and')
      .tee(line);
    fn.i32(3)
      .op('i32.shl')
      .get(page)
      .memory('i32.load', 4 * PAGE_WRITTEN)
      .tee(written)
      .op('i32.add');
    fn.i32(0).get(written).select().set(written);
    fn.get(page).get(line).i32(2).op('i32.shl').op('i32.add').set(line);
    code.block((done) => {
      // Scalar loads are of 64 bytes at most.
      fn.get(at)
        .i32(QUAD * LINE_BYTES - 1)
        .op('i32.and')
        .op('i32.eqz');
      fn.get(bytes)
        .i32(QUAD * LINE_BYTES)
        .op('i32.ge_u')
        .op('i32.and');
      code.if(() => {
        code.loop((next) => {
          this.pushIsOwn();
          code.if(() => {
            this.noteQuad();
            this.advance(() => fn.i32(QUAD * LINE_BYTES));
            fn.get(line)
              .i32(4 * QUAD)
              .op('i32.add')
              .set(line);
            // Eight bytes of bits for each line, where there are some.
            fn.get(written)
              .i32(8 * QUAD)
              .op('i32.add')
              .i32(0)
              .get(written)
              .select()
              .set(written);
            fn.get(bytes)
              .i32(QUAD * LINE_BYTES)
              .op('i32.ge_u')
              .get(at)
              .i32(LINES * LINE_BYTES - 1)
              .op('i32.and')
              .i32(0)
              .op('i32.ne')
              .op('i32.and');
            code.brIf(next);
            code.br(done);
          });
        });
      });
      const count = this.pushLineMask();
      this.lines.note(this.kind);
      this.advance(() => fn.get(count).i32(2).op('i32.shl'));
    });
  }

  /** What lies in a page whose records are by dword, or whose reads are logged; goes to `again` where they are no longer. */
  private notePage(again: Label): void {
    const { fn, code, shadow, at, bytes, pc, page } = this;
    const count = this.local();
    fn.i32(PAGE_BYTES)
      .get(at)
      .i32(PAGE_BYTES - 1)
      .op('i32.and')
      .op('i32.sub')
      .tee(count);
    fn.get(bytes).get(count).get(bytes).op('i32.lt_u').select().set(count);
    fn.get(page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .i32(LOGGED)
      .op('i32.eq');
    code.if(
      () => {
        const { unlogPage } = this.helpers;
        if (this.isWrite && unlogPage !== undefined) {
          fn.get(at).get(pc).call(unlogPage);
          code.brIf(again);
        }
        if (this.isWrite) fn.i32(1);
        else {
          fn.get(page)
            .memory('i32.load', 4 * PAGE_WRITTEN)
            .tee(this.written);
          code.if(() => {
            fn.get(this.written)
              .get(at)
              .i32(PAGE_BYTES - 1)
              .op('i32.and')
              .get(count);
            fn.call(this.helpers.areWritten).op('i32.eqz');
            this.leave();
          });
          fn.get(shadow).get(at).get(count).get(pc).call(this.helpers.logRun).op('i32.eqz');
        }
        this.leave();
      },
      () => {
        fn.get(shadow).get(at).get(count).get(pc);
        fn.get(page).call(this.helpers.details).op('i32.eqz');
        this.leave();
      },
    );
    this.advance(() => fn.get(count));
    fn.release('i32', count);
  }

  private advance(push: () => void): void {
    const { fn, at, bytes } = this;
    fn.get(at);
    push();
    fn.op('i32.add').set(at).get(bytes);
    push();
    fn.op('i32.sub').set(bytes);
  }

  /** Leaves 1 when nobody else has touched four lines and all bytes that are read have been written. */
  private pushIsOwn(): void {
    const { fn, line } = this;
    const actor = this.actors;
    for (const [n, word] of [LINE_WRITER, LINE_READER].entries()) {
      const owner = fn.local('v128');
      fn.get(line)
        .memory('v128.load', 4 * word)
        .tee(owner)
        .get(actor)
        .op('i32x4.eq')
        .get(owner)
        .v128(0, 0, 0, 0)
        .op('i32x4.eq')
        .op('v128.or');
      if (n > 0) fn.op('v128.and');
      fn.release('v128', owner);
    }
    fn.op('i32x4.all_true')
      .get(line)
      .memory('v128.load', 4 * LINE_MANY)
      .op('v128.any_true')
      .op('i32.eqz')
      .op('i32.and');
    if (this.isWrite) return;
    fn.get(this.written).op('i32.eqz').if('i32').i32(1).else();
    fn.get(this.written).memory('v128.load').get(this.written).memory('v128.load', 16).op('v128.and');
    fn.v128(-1, -1, -1, -1).op('i32x4.eq').op('i32x4.all_true').end().op('i32.and');
  }

  private noteQuad(): void {
    const { fn, line, actor, epoch, pc, written, shadow } = this;
    const put = (word: number, push: () => void): void => {
      fn.get(line);
      push();
      fn.memory('v128.store', 4 * word);
    };
    const splat = (local: number) => (): void => {
      if (local === actor) fn.get(this.actors);
      else fn.get(local).op('i32x4.splat');
    };
    const touched = this.isWrite ? 0xffff : -0x10000;
    put(LINE_BITS, () =>
      fn
        .get(line)
        .memory('v128.load', 4 * LINE_BITS)
        .v128(touched, touched, touched, touched)
        .op('v128.or'),
    );
    if (!this.isWrite) {
      put(LINE_READER, splat(actor));
      put(LINE_READER_PC, splat(pc));
      put(LINE_READER_EPOCH, splat(epoch));
      return;
    }
    put(LINE_WRITER, splat(actor));
    put(LINE_WRITER_PC, splat(pc));
    put(LINE_WRITER_EPOCH, splat(epoch));
    put(LINE_WRITER_STORE, () => fn.get(shadow).memory('i32.load', SHADOW_STORES).op('i32x4.splat'));
    fn.get(written).if();
    for (const offset of [0, 16]) fn.get(written).v128(-1, -1, -1, -1).memory('v128.store', offset);
    fn.end();
  }

  /** Sets `mask` to the dwords of the line, and looks at the bits of written bytes; the local with the number of dwords. */
  private pushLineMask(): number {
    const { fn, code, at, bytes, mask, written } = this;
    const first = this.local();
    const count = this.local();
    const nibbles = fn.local('i64');
    fn.get(at)
      .i32(2)
      .op('i32.shr_u')
      .i32(LINE - 1)
      .op('i32.and')
      .set(first);
    fn.i32(LINE).get(first).op('i32.sub').tee(count).get(bytes).i32(2).op('i32.shr_u');
    fn.get(count).get(bytes).i32(2).op('i32.shr_u').op('i32.lt_u').select().set(count);
    fn.i32(1).get(count).op('i32.shl').i32(1).op('i32.sub').get(first).op('i32.shl').set(mask);
    fn.get(written);
    code.if(() => {
      // -1 >>> (64 - 4 × count), moved up by 4 × first.
      fn.i64(-1n).i32(LINE).get(count).op('i32.sub').i32(2).op('i32.shl').op('i64.extend_i32_u').op('i64.shr_u');
      fn.get(first).i32(2).op('i32.shl').op('i64.extend_i32_u').op('i64.shl').set(nibbles);
      if (this.isWrite) {
        fn.get(written).get(written).memory('i64.load').get(nibbles).op('i64.or').memory('i64.store');
      } else {
        fn.get(nibbles).get(written).memory('i64.load').op('i64.and').get(nibbles).op('i64.ne');
        this.leave();
      }
    });
    return count;
  }
}
