// Compiled code notes accesses of global memory in the records of dwords (race-page.ts), where those of lines do not say enough: several
// wavefronts use one line, or parts of dwords are used. It does as readDwords and writeDwords do, with the bytes of a dword that are used.
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code } from '../wasm/memory/code.ts';
import {
  CELL_BYTES,
  CELL_MARKS,
  CELL_READER,
  CELL_READER_EPOCH,
  CELL_READER_PC,
  CELL_WRITER,
  CELL_WRITER_EPOCH,
  CELL_WRITER_PC,
  CELL_WRITER_STORE,
  DETAILS_SIZE,
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
  MANY_GROUPS_SHIFT,
  MANY_WAVES,
  PAGE,
  PAGE_DETAILS,
  PAGE_WRITTEN,
  POOL_END,
  POOL_NEXT,
} from './race-page.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_PAGES, SHADOW_STORES } from './registers.ts';

/** Vector loads and stores, and scalar loads. */
export type GlobalAccess = 'load' | 'store' | 'scalar';

/**
 * (shadow, offset in wasm memory, bytes, place in the image, the page's record) → 1 when all is right and noted, 0 when TypeScript has to look:
 * nothing wrong has been noted then. The bytes are of one page, which has records by dword.
 */
export function detailFunction(module: WasmModule, kind: GlobalAccess): WasmFunction {
  const name = `strict.details.${kind}`;
  const parameters = Array.from({ length: 5 }, () => 'i32' as const);
  return module.helper(name, parameters, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, at, bytes, pc, page] = [0, 1, 2, 3, 4] as const;
    const local = (): number => fn.local('i32');
    const [actor, epoch, cell, mask, written, size] = [local(), local(), local(), local(), local(), local()] as const;
    const who = fn.local('v128');
    const writer = new CellWriter(code, { shadow, at, pc, actor, epoch, who, cell, mask, written }, () =>
      fn.if().i32(0).return().end(),
    );
    writer.begin(kind);
    fn.get(page)
      .memory('i32.load', 4 * PAGE_WRITTEN)
      .set(written);
    code.loop((again) => {
      fn.i32(4).get(at).i32(3).op('i32.and').op('i32.sub').tee(size);
      fn.get(bytes).get(size).get(bytes).op('i32.lt_u').select().set(size);
      fn.i32(1).get(size).op('i32.shl').i32(1).op('i32.sub').get(at).i32(3).op('i32.and').op('i32.shl').set(mask);
      fn.get(page).memory('i32.load', 4 * PAGE_DETAILS);
      pushCell(fn, at).set(cell);
      writer.note(kind);
      fn.get(at).get(size).op('i32.add').set(at);
      fn.get(bytes).get(size).op('i32.sub').tee(bytes);
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/** Adds to the page's details on the stack where the cell of the dword is that the byte at `at` is in. */
export function pushCell(fn: WasmFunction, at: number): WasmFunction {
  fn.get(at)
    .i32(Math.log2(CELL_BYTES / 4))
    .op('i32.shl');
  fn.i32(CELL_BYTES * (PAGE - 1)).op('i32.and');
  return fn.op('i32.add');
}

/** Where the parts of an access are, as locals: `at` the first byte, `mask` a nibble, `written` the bits of the page's written bytes or 0. */
export interface CellLocals {
  readonly shadow: number;
  readonly actor: number;
  readonly epoch: number;
  readonly pc: number;
  /** A v128: the half of a cell that says who, where, when; in the last word the number of stores, or 0. */
  readonly who: number;
  readonly at: number;
  readonly cell: number;
  readonly mask: number;
  readonly written: number;
}

/** Words of a half of a cell: that of the writer, and that of the reader, which has the marks. */
const WHO = CELL_WRITER;
const WHEN = CELL_WRITER_EPOCH;
const LAST = CELL_WRITER_STORE;

/** Notes an access in the cell of one dword. `leave` takes an i32, and leaves when it is not 0: TypeScript has to look. */
export class CellWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly locals: CellLocals;
  private readonly leave: () => void;
  /** The halves of the cell. */
  private readonly writer: number;
  private readonly reader: number;
  private readonly other: number;
  private readonly marks: number;

  constructor(code: Code, locals: CellLocals, leave: () => void) {
    this.fn = code.fn;
    this.code = code;
    this.locals = locals;
    this.leave = leave;
    [this.writer, this.reader] = [this.fn.local('v128'), this.fn.local('v128')];
    [this.other, this.marks] = [this.fn.local('i32'), this.fn.local('i32')];
  }

  /** Sets the locals that are the same for all cells: `actor`, `epoch` and `who`. */
  begin(kind: GlobalAccess): void {
    const { fn } = this;
    const { shadow, actor, epoch, pc, who } = this.locals;
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).tee(actor).op('i32x4.splat');
    fn.get(pc).lane('i32x4.replace_lane', CELL_WRITER_PC);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).tee(epoch).lane('i32x4.replace_lane', WHEN);
    if (kind === 'store') fn.get(shadow).memory('i32.load', SHADOW_STORES);
    else fn.i32(0);
    fn.lane('i32x4.replace_lane', LAST).set(who);
  }

  private word(half: number, word: number): WasmFunction {
    return this.fn.get(half).lane('i32x4.extract_lane', word);
  }

  /** Leaves 1 when `other` is of the actor's workgroup. */
  private isSameGroup(): WasmFunction {
    return pushIsSameGroup(this.fn, this.other, this.locals.actor);
  }

  /** Leaves the function when somebody else than the actor is in a half, whose access is not before a barrier of the workgroup. */
  private leaveForeign(half: number): void {
    const { code, other } = this;
    const { actor, epoch } = this.locals;
    this.word(half, WHO).tee(other).get(actor).op('i32.ne').get(other).i32(0).op('i32.ne').op('i32.and');
    code.if(() => {
      this.isSameGroup().op('i32.eqz');
      this.word(half, WHEN).get(epoch).op('i32.eq').op('i32.or');
      this.leave();
    });
  }

  note(kind: GlobalAccess): void {
    const { fn, code, writer, reader } = this;
    const { cell } = this.locals;
    fn.get(cell)
      .memory('v128.load', 4 * CELL_WRITER)
      .tee(writer);
    fn.get(cell)
      .memory('v128.load', 4 * CELL_READER)
      .tee(reader);
    fn.op('v128.or').op('v128.any_true');
    code.if(
      () => this.noteKnown(kind),
      () => this.noteFirst(kind),
    );
  }

  /** Nobody has touched the dword. */
  private noteFirst(kind: GlobalAccess): void {
    const { fn } = this;
    const { mask, who } = this.locals;
    if (kind === 'store') {
      this.storeHalf(CELL_WRITER, () => fn.get(who));
      this.storeHalf(CELL_READER, () => fn.get(this.reader).get(mask).lane('i32x4.replace_lane', LAST));
      this.noteWritten();
      return;
    }
    this.leaveUnwritten();
    this.storeHalf(CELL_READER, () => fn.get(who).get(mask).i32(4).op('i32.shl').lane('i32x4.replace_lane', LAST));
  }

  private noteKnown(kind: GlobalAccess): void {
    // The scalar cache does not see what vector instructions store.
    if (kind === 'scalar') {
      this.word(this.writer, WHO);
      this.leave();
    } else this.leaveForeign(this.writer);
    if (kind === 'store') this.noteWrite();
    else this.noteRead();
  }

  private storeHalf(first: number, push: () => void): void {
    const { fn, locals } = this;
    fn.get(locals.cell);
    push();
    fn.memory('v128.store', 4 * first);
  }

  /** Leaves where the bits of the dword's written bytes are. */
  private pushBitsPlace(): WasmFunction {
    const { fn } = this;
    const { at, written } = this.locals;
    fn.get(at)
      .i32(4 * PAGE - 1)
      .op('i32.and');
    return fn.i32(3).op('i32.shr_u').get(written).op('i32.add');
  }

  /** Leaves the function when bytes have not been written. */
  private leaveUnwritten(): void {
    const { fn, code } = this;
    const { mask, at, written } = this.locals;
    fn.get(written);
    code.if(() => {
      this.pushBitsPlace().memory('i32.load8_u');
      fn.get(at).i32(4).op('i32.and').op('i32.shr_u').get(mask).op('i32.and').get(mask).op('i32.ne');
      this.leave();
    });
  }

  /** Bytes are written from now on. */
  private noteWritten(): void {
    const { fn, code } = this;
    const { mask, at, written } = this.locals;
    fn.get(written);
    code.if(() => {
      this.pushBitsPlace();
      this.pushBitsPlace().memory('i32.load8_u');
      fn.get(mask).get(at).i32(4).op('i32.and').op('i32.shl').op('i32.or').memory('i32.store8');
    });
  }

  private noteRead(): void {
    const { fn, code, other, marks, reader } = this;
    const { actor, epoch, mask, who } = this.locals;
    this.leaveUnwritten();
    this.word(reader, LAST).set(marks);
    this.word(reader, WHO).tee(other).get(actor).op('i32.ne');
    this.word(reader, WHEN).get(epoch).op('i32.ne').op('i32.or');
    code.if(() => {
      // As noteReader.
      fn.get(other);
      code.if(() => {
        this.isSameGroup();
        code.if(
          () => {
            this.word(reader, WHEN).get(epoch).op('i32.eq');
            code.if(
              () => {
                fn.get(other).get(actor).op('i32.ne');
                code.if(() => fn.get(marks).i32(MANY_WAVES).op('i32.or').set(marks));
              },
              () => fn.get(marks).i32(~MANY_WAVES).op('i32.and').set(marks),
            );
          },
          () => {
            fn.get(marks).i32(4).op('i32.shr_u').get(mask).op('i32.and').i32(MANY_GROUPS_SHIFT).op('i32.shl');
            fn.get(marks).i32(~MANY_WAVES).op('i32.and').op('i32.or').set(marks);
          },
        );
        // The bytes that another one has read are its own no longer.
        fn.get(other).get(actor).op('i32.ne');
        code.if(() => fn.get(marks).i32(~0xf0).op('i32.and').set(marks));
      });
      fn.get(who).set(reader);
    });
    this.storeHalf(CELL_READER, () => {
      fn.get(reader).get(marks).get(mask).i32(4).op('i32.shl').op('i32.or').lane('i32x4.replace_lane', LAST);
    });
  }

  private noteWrite(): void {
    const { fn, code, marks, writer, reader } = this;
    const { actor, epoch, mask, who } = this.locals;
    this.leaveForeign(reader);
    this.word(reader, LAST).tee(marks).i32(8).op('i32.shr_u');
    code.if(() => {
      fn.get(marks).i32(~0xff).op('i32.and').i32(MANY_WAVES).op('i32.ne');
      this.word(reader, WHEN).get(epoch).op('i32.eq').op('i32.or');
      this.leave();
    });
    this.storeHalf(CELL_WRITER, () => fn.get(who));
    this.storeHalf(CELL_READER, () => {
      // What another wavefront has written of the dword is no longer its own.
      fn.get(reader).get(marks).get(marks).i32(~15).op('i32.and');
      this.word(writer, WHO).get(actor).op('i32.eq').select();
      fn.get(mask).op('i32.or').lane('i32x4.replace_lane', LAST);
    });
    this.noteWritten();
  }
}

if (CELL_MARKS - CELL_READER !== LAST || CELL_READER_EPOCH - CELL_READER !== WHEN) {
  throw new Error('the halves of a cell are laid out otherwise');
}

/** Leaves 1 when two actors (locals) are of one workgroup. */
export function pushIsSameGroup(fn: WasmFunction, a: number, b: number): WasmFunction {
  fn.get(a).i32(1).op('i32.sub').i32(4).op('i32.shr_u');
  return fn.get(b).i32(1).op('i32.sub').i32(4).op('i32.shr_u').op('i32.eq');
}

/**
 * (shadow, the page's record) → 1 when the page has records by dword from now on, 0 when there is no room for them. As RacePage.detailed makes
 * them.
 */
export function openFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.details.open', ['i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, page] = [0, 1] as const;
    const local = (): number => fn.local('i32');
    const [pool, details, line, cell, bits, dword, end, marks] = [
      local(),
      local(),
      local(),
      local(),
      local(),
      local(),
      local(),
      local(),
    ];
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).i32(POOL_NEXT).op('i32.add').tee(pool);
    fn.memory('i32.load')
      .tee(details)
      .get(pool)
      .memory('i32.load', POOL_END - POOL_NEXT);
    fn.op('i32.ge_u').if().i32(0).return().end();
    fn.get(pool).get(details).i32(DETAILS_SIZE).op('i32.add').memory('i32.store');
    fn.get(details).i32(0).i32(DETAILS_SIZE).memoryFill();
    fn.get(page)
      .get(details)
      .memory('i32.store', 4 * PAGE_DETAILS);
    const field = (word: number): WasmFunction => fn.get(line).memory('i32.load', 4 * word);
    const put = (word: number, from: number): void => {
      fn.get(cell);
      field(from).memory('i32.store', 4 * word);
    };
    fn.get(page).set(line);
    fn.get(details).set(cell);
    fn.get(page)
      .i32(4 * LINES)
      .op('i32.add')
      .set(end);
    const isSet = (shift: number): WasmFunction =>
      fn.get(dword).i32(shift).op('i32.add').set(pool).get(bits).get(pool).op('i32.shr_u').i32(1).op('i32.and');
    code.loop((next) => {
      field(LINE_BITS).tee(bits);
      code.if(
        () => {
          fn.i32(0).set(dword);
          code.loop((again) => {
            fn.i32(0).set(marks);
            isSet(0);
            code.if(() => {
              put(CELL_WRITER, LINE_WRITER);
              put(CELL_WRITER_PC, LINE_WRITER_PC);
              put(CELL_WRITER_EPOCH, LINE_WRITER_EPOCH);
              put(CELL_WRITER_STORE, LINE_WRITER_STORE);
              fn.i32(15).set(marks);
            });
            isSet(LINE);
            code.if(() => {
              put(CELL_READER, LINE_READER);
              put(CELL_READER_PC, LINE_READER_PC);
              put(CELL_READER_EPOCH, LINE_READER_EPOCH);
              fn.get(marks).i32(0xf0).op('i32.or');
              fn.i32(15 << MANY_GROUPS_SHIFT).i32(0);
              field(LINE_MANY).get(dword).op('i32.shr_u').i32(1).op('i32.and').select().op('i32.or');
              fn.i32(MANY_WAVES).i32(0);
              field(LINE_MANY).get(pool).op('i32.shr_u').i32(1).op('i32.and').select().op('i32.or');
              fn.set(marks);
            });
            fn.get(cell)
              .get(marks)
              .memory('i32.store', 4 * CELL_MARKS);
            fn.get(cell).i32(CELL_BYTES).op('i32.add').set(cell);
            fn.get(dword).i32(1).op('i32.add').tee(dword).i32(LINE).op('i32.lt_u');
            code.brIf(again);
          });
        },
        () =>
          fn
            .get(cell)
            .i32(LINE * CELL_BYTES)
            .op('i32.add')
            .set(cell),
      );
      fn.get(line).i32(4).op('i32.add').tee(line).get(end).op('i32.lt_u');
      code.brIf(next);
    });
    fn.i32(1);
  });
}
