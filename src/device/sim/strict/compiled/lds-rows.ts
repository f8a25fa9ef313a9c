// Compiled code notes dwords of LDS that follow each other, four at a time, as long as nobody else has touched them since the last barrier: most of what
// workgroups exchange. The first four of which that is not so are left to the closer look (compiled/lds.ts).
import type { WasmFunction } from '../../wasm/emit.ts';
import type { Code } from '../../wasm/memory/code.ts';
import { LDS_READER, LDS_READER_PC, LDS_WRITER, LDS_WRITER_PC, LDS_WRITTEN, MANY_TAGS } from '../lds/lds.ts';

const STEP = 16;

/** Locals: the shadow of LDS, the wavefront's tags of a dword, the first byte and how many, and the instruction's place; for loads whether all is written. */
export interface Row {
  readonly head: number;
  readonly tag: number;
  readonly at: number;
  readonly bytes: number;
  readonly pc: number;
  readonly isFull: number;
}

/** Moves `at` behind what has been noted, and takes it from `bytes`. */
export function noteRows(code: Code, { head, tag, at, bytes, pc, isFull }: Row, isWrite: boolean): void {
  const { fn } = code;
  const [writers, readers, places, bits] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
  const [tags, pcs, writer, reader] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
  const array = (which: number, to: number): void => {
    fn.get(head).memory('i32.load', which).get(at).op('i32.add').set(to);
  };
  const pushIsOwnOrNone = (words: number): WasmFunction => {
    fn.get(words).get(tags).op('i32x4.eq');
    return fn.get(words).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or');
  };
  const take = (tagged: number): void => {
    fn.get(tagged).get(tags).memory('v128.store').get(places).get(pcs).memory('v128.store');
  };
  // Written bits are set where those of four dwords lie in bytes of their own.
  if (isWrite) fn.get(at).i32(4).op('i32.and').op('i32.eqz');
  else fn.get(isFull);
  fn.get(bytes).i32(STEP).op('i32.ge_u').op('i32.and');
  code.if(() => {
    array(LDS_WRITER, writers);
    array(LDS_READER, readers);
    array(isWrite ? LDS_WRITER_PC : LDS_READER_PC, places);
    if (isWrite) fn.get(head).memory('i32.load', LDS_WRITTEN).get(at).i32(3).op('i32.shr_u').op('i32.add').set(bits);
    fn.get(tag).op('i32x4.splat').set(tags).get(pc).op('i32x4.splat').set(pcs);
    code.block((done) => {
      code.loop((again) => {
        fn.get(writers).memory('v128.load').set(writer);
        pushIsOwnOrNone(writer);
        fn.get(readers).memory('v128.load').set(reader);
        if (isWrite) {
          pushIsOwnOrNone(reader).op('v128.and').op('i32x4.all_true').op('i32.eqz');
          code.brIf(done);
          take(writers);
          fn.get(bits).i32(0xffff).memory('i32.store16');
        } else {
          fn.op('i32x4.all_true').op('i32.eqz');
          code.brIf(done);
          // What several wavefronts have read already stays as it is, as what the wavefront itself has.
          fn.get(reader).get(tags).op('i32x4.eq');
          fn.get(reader).v128(MANY_TAGS, MANY_TAGS, MANY_TAGS, MANY_TAGS).op('i32x4.eq').op('v128.or');
          fn.op('i32x4.all_true').op('i32.eqz');
          code.if(() => {
            fn.get(reader).op('v128.any_true');
            code.brIf(done);
            take(readers);
          });
        }
        for (const pointer of [writers, readers, places, at]) fn.get(pointer).i32(STEP).op('i32.add').set(pointer);
        if (isWrite) fn.get(bits).i32(2).op('i32.add').set(bits);
        fn.get(bytes).i32(STEP).op('i32.sub').tee(bytes).i32(STEP).op('i32.ge_u');
        code.brIf(again);
      });
    });
  });
}
