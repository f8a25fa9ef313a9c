// Compiled code notes four lanes that go where values say: each touches one line or one dword of global memory. What the records of a line or
// a dword say at once is noted here; the rest is for pageFunction (compiled-pages.ts).
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code, type Label } from '../wasm/memory/code.ts';
import { CellWriter, pushCell } from './compiled-details.ts';
import { pageFunction } from './compiled-pages.ts';
import {
  LINE,
  LINE_BITS,
  LINE_READER,
  LINE_READER_EPOCH,
  LINE_READER_PC,
  LINE_WRITER,
  LINE_WRITER_EPOCH,
  LINE_WRITER_LATEST,
  LINE_WRITER_PC,
  LINE_WRITER_STORE,
  LINES,
  PAGE,
  PAGE_DETAILS,
  PAGE_WRITTEN,
} from './race-page.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_PAGE_COUNT, SHADOW_PAGES, SHADOW_STORES } from './registers.ts';

const LINE_BYTES = 4 * LINE;
const PAGE_BYTES = 4 * PAGE;
const DWORD = 4;

/**
 * (shadow, four offsets in wasm memory, place in the image) → 1 when the elements of so many bytes there are all right and noted, 0 when TypeScript
 * has to look: nothing wrong has been noted then.
 */
export function quadFunction(module: WasmModule, kind: 'load' | 'store', bytes: number): WasmFunction {
  const name = `strict.four.${kind}.${bytes}`;
  const pages = pageFunction(module, kind);
  const parameters = Array.from({ length: 6 }, () => 'i32' as const);
  return module.helper(name, parameters, ['i32'], (fn) => new QuadWriter(fn, kind, bytes, pages).write());
}

class QuadWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly kind: 'load' | 'store';
  private readonly bytes: number;
  private readonly pages: WasmFunction;
  private readonly shadow = 0;
  /** The addresses of this lane and of those behind it. */
  private readonly lanes = [1, 2, 3, 4] as const;
  private readonly at = 1;
  private readonly pc = 5;
  private readonly actor: number;
  private readonly epoch: number;
  private readonly page: number;
  /** The cell of the dword, or the page's record plus four times the number of the line. */
  private readonly place: number;
  /** The page's bits of written bytes, or 0. */
  private readonly written: number;
  private readonly mask: number;
  private readonly bits: number;

  constructor(fn: WasmFunction, kind: 'load' | 'store', bytes: number, pages: WasmFunction) {
    this.fn = fn;
    this.code = new Code(fn);
    this.kind = kind;
    this.bytes = bytes;
    this.pages = pages;
    const local = (): number => fn.local('i32');
    [this.actor, this.epoch, this.page, this.place] = [local(), local(), local(), local()];
    [this.written, this.mask, this.bits] = [local(), local(), local()];
  }

  write(): void {
    const { fn, code, shadow, at, bytes, pc, lanes } = this;
    const left = fn.local('i32');
    if (bytes < DWORD) this.noteOneDword();
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(this.actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(this.epoch);
    fn.i32(lanes.length).set(left);
    code.loop((again) => {
      code.block((next) => {
        code.block((slow) => {
          this.noteLane(next, slow);
        });
        fn.get(shadow).get(at).i32(bytes).get(pc).call(this.pages).op('i32.eqz');
        fn.if().i32(0).return().end();
      });
      for (let n = 1; n < lanes.length; n++) fn.get(lanes[n] as number).set(lanes[n - 1] as number);
      fn.get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
    fn.i32(1);
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
    const { fn, code, shadow, at, bytes, page, written } = this;
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
    fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page);
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
    code.brIf(slow);
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
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
        else this.noteCell(next, slow);
      },
      () => {
        if (bytes < DWORD) code.br(slow);
        else this.noteLine(next, slow);
      },
    );
  }

  private noteCell(next: Label, slow: Label): void {
    const { fn, code, shadow, at, pc, actor, epoch, place, mask, written, bytes } = this;
    fn.get(place);
    pushCell(fn, at).set(place);
    fn.i32((1 << bytes) - 1);
    if (bytes < DWORD)
      fn.get(at)
        .i32(DWORD - 1)
        .op('i32.and')
        .op('i32.shl');
    fn.set(mask);
    new CellWriter(code, { shadow, at, pc, actor, epoch, cell: place, mask, written }, () => code.brIf(slow)).note(
      this.kind,
    );
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

  /** What a wavefront does to a line that it has to itself. */
  private noteLine(next: Label, slow: Label): void {
    const { fn, code, shadow, at, pc, actor, epoch, page, place, mask, bits, bytes, kind } = this;
    fn.get(at)
      .i32(Math.log2(LINE_BYTES) - 2)
      .op('i32.shr_u')
      .i32(4 * (LINES - 1))
      .op('i32.and')
      .get(page)
      .op('i32.add')
      .set(place);
    fn.i32((1 << (bytes / DWORD)) - 1);
    fn.get(at)
      .i32(2)
      .op('i32.shr_u')
      .i32(LINE - 1)
      .op('i32.and')
      .op('i32.shl')
      .set(mask);
    this.field(LINE_WRITER).tee(bits).get(actor).op('i32.ne');
    if (kind === 'store') {
      code.brIf(slow);
      this.field(LINE_BITS).tee(bits).i32(16).op('i32.shr_u').get(mask).op('i32.and');
      code.brIf(slow);
      this.writtenBits((place) => {
        fn.get(place);
        this.pushWritten(place);
        this.pushNibbles().op('i32.or').memory('i32.store');
      });
      fn.get(bits).i32(0xffff).op('i32.and').get(mask).i32(-1).op('i32.xor').op('i32.and').op('i32.eqz');
      code.if(() => {
        this.setField(LINE_WRITER_EPOCH, epoch);
        fn.get(place).get(shadow).memory('i32.load', SHADOW_STORES);
        fn.memory('i32.store', 4 * LINE_WRITER_STORE);
      });
      this.setField(LINE_WRITER_LATEST, epoch);
      this.setField(LINE_WRITER_PC, pc);
      fn.get(bits).get(mask).op('i32.or').set(bits);
    } else {
      fn.get(bits).i32(0).op('i32.ne').op('i32.and');
      this.field(LINE_READER).get(actor).op('i32.ne').op('i32.or');
      this.field(LINE_READER_EPOCH).get(epoch).op('i32.ne').op('i32.or');
      code.brIf(slow);
      this.writtenBits((place) => {
        this.pushWritten(place);
        this.pushNibbles().op('i32.and');
        this.pushNibbles().op('i32.ne');
        code.brIf(slow);
      });
      this.setField(LINE_READER_PC, pc);
      this.field(LINE_BITS).get(mask).i32(16).op('i32.shl').op('i32.or').set(bits);
    }
    this.setField(LINE_BITS, bits);
    code.br(next);
  }

  /** Runs `body` with where the bits of the first written byte are, when there are bits. */
  private writtenBits(body: (place: number) => void): void {
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
      body(written);
    });
  }

  private pushWritten(place: number): void {
    this.fn.get(place).memory('i32.load');
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
