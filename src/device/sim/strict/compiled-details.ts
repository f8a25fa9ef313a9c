// Compiled code notes accesses of global memory in the records of dwords (race-page.ts), where those of lines do not say enough: several
// wavefronts use one line, or parts of dwords are used. It does as readDwords and writeDwords do, with the bytes of a dword that are used.
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code } from '../wasm/memory/code.ts';
import {
  DETAIL_BYTES,
  DETAIL_FLAGS,
  DETAIL_READER,
  DETAIL_READER_EPOCH,
  DETAIL_READER_PC,
  DETAIL_WRITER,
  DETAIL_WRITER_EPOCH,
  DETAIL_WRITER_PC,
  DETAIL_WRITER_STORE,
  MANY_WAVES,
  PAGE,
} from './race-page.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_STORES } from './registers.ts';

/** Vector loads and stores, and scalar loads. */
export type GlobalAccess = 'load' | 'store' | 'scalar';

/**
 * (shadow, offset in wasm memory, bytes, place in the image, the page's details, where the bits of its written bytes are or 0) → 1 when all is
 * right and noted, 0 when TypeScript has to look: nothing wrong has been noted then. The bytes are of one page.
 */
export function detailFunction(module: WasmModule, kind: GlobalAccess): WasmFunction {
  const name = `strict.details.${kind}`;
  const parameters = Array.from({ length: 6 }, () => 'i32' as const);
  return module.helper(name, parameters, ['i32'], (fn) => new DetailWriter(fn).write(kind));
}

class DetailWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly shadow = 0;
  private readonly at = 1;
  private readonly bytes = 2;
  private readonly pc = 3;
  private readonly details = 4;
  private readonly written = 5;
  private readonly actor: number;
  private readonly epoch: number;
  /** Bytes of this dword that are used: how many, and a nibble. */
  private readonly size: number;
  private readonly mask: number;
  /** The details plus the number of the dword, and plus four times that. */
  private readonly small: number;
  private readonly large: number;
  private readonly other: number;

  constructor(fn: WasmFunction) {
    this.fn = fn;
    this.code = new Code(fn);
    const local = (): number => fn.local('i32');
    [this.actor, this.epoch, this.size, this.mask] = [local(), local(), local(), local()];
    [this.small, this.large, this.other] = [local(), local(), local()];
  }

  /** Returns 0 when the i32 on the stack is not zero. */
  private leave(): void {
    this.fn.if().i32(0).return().end();
  }

  private word(field: number): WasmFunction {
    return this.fn.get(this.large).memory('i32.load', field);
  }

  private setWord(field: number, local: number): void {
    this.fn.get(this.large).get(local).memory('i32.store', field);
  }

  /** Leaves 1 when `other` is of the actor's workgroup. */
  private isSameGroup(): WasmFunction {
    const { fn, other, actor } = this;
    fn.get(other).i32(1).op('i32.sub').i32(4).op('i32.shr_u');
    return fn.get(actor).i32(1).op('i32.sub').i32(4).op('i32.shr_u').op('i32.eq');
  }

  /** Leaves 1 when somebody else than the actor is in a field, whose access is not before a barrier of the workgroup. */
  private isForeign(field: number, epochField: number): WasmFunction {
    const { fn, other, actor, epoch } = this;
    this.word(field).tee(other).get(actor).op('i32.ne').get(other).i32(0).op('i32.ne').op('i32.and');
    this.isSameGroup().op('i32.eqz');
    this.word(epochField).get(epoch).op('i32.eq').op('i32.or');
    return fn.op('i32.and');
  }

  write(kind: GlobalAccess): void {
    const isWrite = kind === 'store';
    const { fn, code, shadow, at, bytes, size, mask, small, large, details } = this;
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(this.actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(this.epoch);
    code.loop((again) => {
      fn.i32(4).get(at).i32(3).op('i32.and').op('i32.sub').tee(size);
      fn.get(bytes).get(size).get(bytes).op('i32.lt_u').select().set(size);
      fn.i32(1).get(size).op('i32.shl').i32(1).op('i32.sub').get(at).i32(3).op('i32.and').op('i32.shl').set(mask);
      fn.get(at)
        .i32(2)
        .op('i32.shr_u')
        .i32(PAGE - 1)
        .op('i32.and')
        .tee(large)
        .get(details)
        .op('i32.add')
        .set(small);
      fn.get(large).i32(2).op('i32.shl').get(details).op('i32.add').set(large);
      // The scalar cache does not see what vector instructions store.
      if (kind === 'scalar') this.word(DETAIL_WRITER);
      else this.isForeign(DETAIL_WRITER, DETAIL_WRITER_EPOCH);
      this.leave();
      this.lookAtBits(isWrite);
      if (isWrite) this.noteWrite();
      else this.noteRead();
      fn.get(at).get(size).op('i32.add').set(at);
      fn.get(bytes).get(size).op('i32.sub').tee(bytes);
      code.brIf(again);
    });
    fn.i32(1);
  }

  /** The bits of the written bytes: all must be set, or become so once nothing else is wrong. */
  private lookAtBits(isWrite: boolean): void {
    if (isWrite) return;
    const { fn, code, mask, written } = this;
    fn.get(written);
    code.if(() => {
      this.pushBits().get(mask).op('i32.and').get(mask).op('i32.ne');
      this.leave();
    });
  }

  /** Leaves the bits of the dword's written bytes in the low nibble. */
  private pushBits(): WasmFunction {
    const { fn, at } = this;
    this.pushBitsPlace().memory('i32.load8_u');
    return fn.get(at).i32(4).op('i32.and').op('i32.shr_u');
  }

  private pushBitsPlace(): WasmFunction {
    const { fn, at, written } = this;
    fn.get(at)
      .i32(4 * PAGE - 1)
      .op('i32.and');
    return fn.i32(3).op('i32.shr_u').get(written).op('i32.add');
  }

  private noteRead(): void {
    const { fn, code, actor, epoch, pc, mask, small, other } = this;
    const touched = fn.local('i32');
    const flags = fn.local('i32');
    fn.get(small).memory('i32.load8_u', DETAIL_BYTES).set(touched);
    this.word(DETAIL_READER).tee(other).get(actor).op('i32.ne');
    this.word(DETAIL_READER_EPOCH).get(epoch).op('i32.ne').op('i32.or');
    code.if(() => {
      // As noteReader.
      fn.get(other);
      code.if(() => {
        fn.get(small).memory('i32.load8_u', DETAIL_FLAGS).set(flags);
        this.isSameGroup();
        code.if(
          () => {
            this.word(DETAIL_READER_EPOCH).get(epoch).op('i32.eq');
            code.if(
              () => {
                fn.get(other).get(actor).op('i32.ne');
                code.if(() => fn.get(flags).i32(MANY_WAVES).op('i32.or').set(flags));
              },
              () => fn.get(flags).i32(~MANY_WAVES).op('i32.and').set(flags),
            );
          },
          () => {
            fn.get(flags).i32(~MANY_WAVES).op('i32.and').get(touched).get(mask).i32(4).op('i32.shl').op('i32.and');
            fn.op('i32.or').set(flags);
            // The bytes that the other one has read are its own no longer.
            fn.get(touched).i32(15).op('i32.and').set(touched);
          },
        );
        fn.get(other).get(actor).op('i32.ne');
        code.if(() => fn.get(touched).i32(15).op('i32.and').set(touched));
        fn.get(small).get(flags).memory('i32.store8', DETAIL_FLAGS);
      });
      this.setWord(DETAIL_READER, actor);
      this.setWord(DETAIL_READER_PC, pc);
      this.setWord(DETAIL_READER_EPOCH, epoch);
    });
    fn.get(small).get(touched).get(mask).i32(4).op('i32.shl').op('i32.or').memory('i32.store8', DETAIL_BYTES);
    fn.release('i32', touched);
    fn.release('i32', flags);
  }

  private noteWrite(): void {
    const { fn, code, shadow, actor, epoch, pc, mask, small, at, written } = this;
    const flags = fn.local('i32');
    const touched = fn.local('i32');
    this.isForeign(DETAIL_READER, DETAIL_READER_EPOCH);
    this.leave();
    fn.get(small).memory('i32.load8_u', DETAIL_FLAGS).tee(flags).i32(~MANY_WAVES).op('i32.and');
    fn.get(flags).i32(MANY_WAVES).op('i32.and').i32(0).op('i32.ne');
    this.word(DETAIL_READER_EPOCH).get(epoch).op('i32.eq').op('i32.and').op('i32.or');
    this.leave();
    // What another wavefront has written of the dword is no longer its own.
    fn.get(small).memory('i32.load8_u', DETAIL_BYTES).tee(touched);
    fn.get(touched).i32(0xf0).op('i32.and');
    this.word(DETAIL_WRITER).get(actor).op('i32.eq').select();
    fn.get(mask).op('i32.or').set(touched);
    fn.get(small).get(touched).memory('i32.store8', DETAIL_BYTES);
    this.setWord(DETAIL_WRITER, actor);
    this.setWord(DETAIL_WRITER_PC, pc);
    this.setWord(DETAIL_WRITER_EPOCH, epoch);
    fn.get(this.large).get(shadow).memory('i32.load', SHADOW_STORES).memory('i32.store', DETAIL_WRITER_STORE);
    fn.get(written);
    code.if(() => {
      this.pushBitsPlace();
      this.pushBitsPlace().memory('i32.load8_u');
      fn.get(mask).get(at).i32(4).op('i32.and').op('i32.shl').op('i32.or').memory('i32.store8');
    });
    fn.release('i32', flags);
    fn.release('i32', touched);
  }
}
