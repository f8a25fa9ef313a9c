// Compiled code notes an access of dwords of one line in the line's record, as RacePage.note does.
import type { WasmFunction } from '../../wasm/emit.ts';
import type { Code } from '../../wasm/memory/code.ts';
import {
  LINE_BITS,
  LINE_MANY,
  LINE_READER,
  LINE_READER_EPOCH,
  LINE_READER_PC,
  LINE_WRITER,
  LINE_WRITER_EPOCH,
  LINE_WRITER_PC,
  LINE_WRITER_STORE,
} from '../races/race-page.ts';
import { SHADOW_COMPLETE, SHADOW_LEARNS, SHADOW_RELEASED, SHADOW_STORES } from '../registers/shadow-layout.ts';
import { pushIsSameGroup } from './events.ts';
import type { GlobalAccess } from './records.ts';

/** What is accessed, as locals: `line` is the page's record plus four times the number of the line, `mask` the dwords of it. */
export interface LineLocals {
  readonly shadow: number;
  readonly actor: number;
  readonly epoch: number;
  readonly pc: number;
  readonly line: number;
  readonly mask: number;
}

/** Leaves 1 when older bytes of a line are another wavefront's, or others may know of them and not of what this one stores now: they need records apart. */
export function pushIsKnownApart(
  fn: WasmFunction,
  { shadow, actor, epoch, line }: Pick<LineLocals, 'shadow' | 'actor' | 'epoch' | 'line'>,
): void {
  const field = (word: number): WasmFunction => fn.get(line).memory('i32.load', 4 * word);
  field(LINE_WRITER).get(actor).op('i32.ne');
  field(LINE_WRITER_EPOCH).get(epoch).op('i32.ne').op('i32.or');
  field(LINE_WRITER_STORE);
  pushTold(fn, shadow).op('i32.lt_u').op('i32.or');
}

/** Leaves of how many stores of the wavefront others may know, and not of later ones (RegisterShadow.told). */
export function pushTold(fn: WasmFunction, shadow: number): WasmFunction {
  const word = (at: number): WasmFunction => fn.get(shadow).memory('i32.load', at);
  const [released, complete] = [fn.local('i32'), fn.local('i32')];
  word(SHADOW_COMPLETE);
  word(SHADOW_LEARNS).op('i32.and').set(complete);
  word(SHADOW_RELEASED).tee(released).get(complete).get(released).get(complete).op('i32.gt_u').select();
  fn.release('i32', released);
  fn.release('i32', complete);
  return fn;
}

/** Notes an access in the record of one line. `leave` takes an i32, and leaves when it is not 0: the record does not say enough, or something may be wrong. */
export class LineWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly locals: LineLocals;
  private readonly leave: () => void;
  private readonly bits: number;

  constructor(code: Code, locals: LineLocals, leave: () => void) {
    this.fn = code.fn;
    this.code = code;
    this.locals = locals;
    this.leave = leave;
    this.bits = this.local();
  }

  private local(): number {
    return this.fn.local('i32');
  }

  private field(word: number): WasmFunction {
    return this.fn.get(this.locals.line).memory('i32.load', 4 * word);
  }

  private setField(word: number, local: number): void {
    this.fn
      .get(this.locals.line)
      .get(local)
      .memory('i32.store', 4 * word);
  }

  /** Leaves 1 when an actor is of the same workgroup. */
  private isSameGroup(actor: number): WasmFunction {
    return pushIsSameGroup(this.fn, actor, this.locals.actor);
  }

  note(kind: GlobalAccess): void {
    this.checkWriter(kind === 'scalar');
    if (kind === 'store') this.noteWrite();
    else this.noteRead();
  }

  /** Leaves the function when another wavefront's stores to the line do not come before this access. */
  private checkWriter(isScalar: boolean): void {
    const { code } = this;
    const { actor, epoch } = this.locals;
    if (isScalar) {
      // The scalar cache does not see what vector instructions store.
      this.field(LINE_WRITER);
      this.leave();
      return;
    }
    const writer = this.local();
    this.field(LINE_WRITER).tee(writer).i32(0).op('i32.ne').get(writer).get(actor).op('i32.ne').op('i32.and');
    code.if(() => {
      this.isSameGroup(writer).op('i32.eqz');
      this.field(LINE_WRITER_EPOCH).get(epoch).op('i32.eq').op('i32.or');
      this.leave();
    });
  }

  private noteRead(): void {
    const { fn, code, bits } = this;
    const { actor, epoch, pc, mask } = this.locals;
    const [reader, read, many, next, takes] = [this.local(), this.local(), this.local(), this.local(), this.local()];
    this.field(LINE_READER).set(reader);
    this.field(LINE_BITS).tee(bits).i32(16).op('i32.shr_u').set(read);
    this.field(LINE_MANY).tee(many).set(next);
    fn.i32(1).set(takes);
    const isSameEpoch = (): WasmFunction => this.field(LINE_READER_EPOCH).get(epoch).op('i32.eq');
    /** A new barrier interval: the record is of this read alone, which must cover the earlier ones. */
    const begin = (): void => {
      fn.get(read).get(mask).i32(-1).op('i32.xor').op('i32.and');
      this.leave();
      fn.get(many).i32(0xffff).op('i32.and').set(next);
    };
    /** When dwords are left that only the reader has read, the record stays its, and this read may not go beyond them. */
    const stay = (): void => {
      fn.get(mask).get(read).i32(-1).op('i32.xor').op('i32.and');
      this.leave();
      fn.i32(0).set(takes);
    };
    fn.get(reader).get(actor).op('i32.eq');
    code.if(
      () => {
        isSameEpoch().op('i32.eqz');
        code.if(begin);
      },
      () => {
        fn.get(reader);
        code.if(
          () => {
            this.isSameGroup(reader);
            code.if(
              () => {
                isSameEpoch();
                code.if(() => {
                  fn.get(mask).get(read).op('i32.and').i32(16).op('i32.shl').get(many).op('i32.or').set(next);
                  fn.get(read).get(next).get(next).i32(16).op('i32.shr_u').op('i32.or').i32(-1).op('i32.xor');
                  fn.op('i32.and').i32(0xffff).op('i32.and');
                  code.if(stay);
                }, begin);
              },
              () => {
                fn.get(many).i32(0xffff).op('i32.and').get(mask).get(read).op('i32.and').op('i32.or').set(next);
                fn.get(read).get(next).i32(-1).op('i32.xor').op('i32.and');
                code.if(() => {
                  stay();
                  fn.get(many).get(next).op('i32.or').set(next);
                });
              },
            );
          },
          () => fn.i32(0).set(next),
        );
      },
    );
    this.setField(LINE_MANY, next);
    fn.get(takes);
    code.if(() => {
      this.setField(LINE_READER, actor);
      this.setField(LINE_READER_PC, pc);
      this.setField(LINE_READER_EPOCH, epoch);
      fn.get(bits).get(mask).i32(16).op('i32.shl').op('i32.or').set(bits);
      this.setField(LINE_BITS, bits);
    });
  }

  private noteWrite(): void {
    const { fn, code, bits } = this;
    const { shadow, actor, epoch, pc, mask } = this.locals;
    const [others, reader, many] = [this.local(), this.local(), this.local()];
    this.field(LINE_BITS).tee(bits).i32(0xffff).op('i32.and').get(mask).i32(-1).op('i32.xor').op('i32.and').set(others);
    fn.get(bits).i32(16).op('i32.shr_u').get(mask).op('i32.and');
    code.if(() => {
      this.field(LINE_READER).set(reader);
      this.field(LINE_MANY).tee(many).get(mask).op('i32.and');
      this.leave();
      this.field(LINE_READER_EPOCH).get(epoch).op('i32.eq');
      code.if(
        () => {
          fn.get(many).i32(16).op('i32.shr_u').get(mask).op('i32.and').get(reader).get(actor).op('i32.ne').op('i32.or');
          this.leave();
        },
        () => {
          fn.get(reader).get(actor).op('i32.ne');
          this.isSameGroup(reader).op('i32.eqz').op('i32.and');
          this.leave();
        },
      );
    });
    fn.get(others);
    code.if(
      () => {
        pushIsKnownApart(fn, this.locals);
        this.leave();
      },
      () => {
        this.setField(LINE_WRITER_EPOCH, epoch);
        const store = this.local();
        fn.get(shadow).memory('i32.load', SHADOW_STORES).set(store);
        this.setField(LINE_WRITER_STORE, store);
      },
    );
    this.setField(LINE_WRITER, actor);
    this.setField(LINE_WRITER_PC, pc);
    fn.get(bits).get(mask).op('i32.or').set(bits);
    this.setField(LINE_BITS, bits);
  }
}
