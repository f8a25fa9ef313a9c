// Compiled code notes atomics of global memory that return nothing, in kernels that learn nothing from others (polls.ts): nobody is told anything
// by them, so what is left are the bytes that they change. As GlobalShadow.write does it for an update.
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code } from '../wasm/memory/code.ts';
import { openFunction, pushCell, pushIsSameGroup } from './compiled-details.ts';
import { LDS_UPDATED } from './lds.ts';
import {
  ATOMIC_WRITE,
  CELL_MARKS,
  CELL_READER,
  CELL_READER_EPOCH,
  CELL_WRITER,
  CELL_WRITER_EPOCH,
  CELL_WRITER_PC,
  CELL_WRITER_STORE,
  MANY_UPDATE_GROUPS,
  MANY_UPDATE_WAVES,
  MANY_WAVES,
  PAGE,
  PAGE_DETAILS,
  PAGE_WRITTEN,
  UPDATE,
} from './race-page.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_LDS, SHADOW_PAGE_COUNT, SHADOW_PAGES, SHADOW_STORES } from './registers.ts';

const DWORD = 4;

/**
 * (shadow, offset in wasm memory, bytes, place in the image) → 1 when atomics of so many bytes each, side by side, are all right and noted, 0
 * when TypeScript has to look: nothing wrong has been noted then.
 */
export function updateFunction(module: WasmModule, element: number): WasmFunction {
  const open = openFunction(module);
  const parameters = Array.from({ length: 4 }, () => 'i32' as const);
  return module.helper(`strict.update.${element}`, parameters, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
    const local = (): number => fn.local('i32');
    const [actor, epoch, page, cell, other, marks] = [local(), local(), local(), local(), local(), local()] as const;
    const leave = (): void => {
      fn.if().i32(0).return().end();
    };
    const word = (field: number): WasmFunction => fn.get(cell).memory('i32.load', 4 * field);
    const put = (field: number, value: number): void => {
      fn.get(cell)
        .get(value)
        .memory('i32.store', 4 * field);
    };
    /** Leaves 1 when `other` is somebody else, whose access is not before a barrier of the workgroup. */
    const isNow = (epochField: number): WasmFunction => {
      pushIsSameGroup(fn, other, actor).op('i32.eqz');
      return word(epochField).get(epoch).op('i32.eq').op('i32.or');
    };
    fn.get(at)
      .i32(element - 1)
      .op('i32.and');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(epoch);
    fn.get(shadow).memory('i32.load', SHADOW_LDS).i32(1).memory('i32.store', LDS_UPDATED);
    code.loop((again) => {
      fn.get(at).i32(12).op('i32.shr_u').tee(page).get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
      leave();
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
      fn.memory('i32.load').tee(page).op('i32.eqz');
      leave();
      fn.get(page)
        .memory('i32.load', 4 * PAGE_DETAILS)
        .op('i32.eqz');
      code.if(() => {
        fn.get(shadow).get(page).call(open).op('i32.eqz');
        leave();
      });
      fn.get(page).memory('i32.load', 4 * PAGE_DETAILS);
      pushCell(fn, at).set(cell);
      // All of the element is written already: TypeScript says it when nothing of it is.
      fn.get(page)
        .memory('i32.load', 4 * PAGE_WRITTEN)
        .tee(other);
      code.if(() => {
        fn.get(at)
          .i32(4 * PAGE - 1)
          .op('i32.and')
          .i32(3)
          .op('i32.shr_u')
          .get(other)
          .op('i32.add');
        fn.memory('i32.load8_u').get(at).i32(4).op('i32.and').op('i32.shr_u');
        fn.i32(15).op('i32.and').i32(15).op('i32.ne');
        leave();
      });
      word(CELL_MARKS).set(marks);
      // Another writer, unless both are atomics.
      word(CELL_WRITER).tee(other).i32(0).op('i32.ne').get(other).get(actor).op('i32.ne').op('i32.and');
      code.if(() => {
        fn.get(marks).i32(15).op('i32.and').i32(0).op('i32.ne').get(marks).i32(ATOMIC_WRITE).op('i32.and');
        fn.op('i32.eqz').op('i32.and');
        code.if(() => {
          isNow(CELL_WRITER_EPOCH);
          leave();
        });
      });
      // A reader; whether it may look ahead is for TypeScript to say.
      fn.get(marks).i32(0xf0).op('i32.and');
      code.if(() => {
        word(CELL_READER).tee(other).i32(0).op('i32.ne');
        fn.get(other).get(actor).op('i32.ne').get(marks).i32(MANY_WAVES).op('i32.and').op('i32.or');
        fn.i32(0).op('i32.ne').op('i32.and');
        code.if(() => {
          isNow(CELL_READER_EPOCH);
          leave();
        });
      });
      // As `updaters`: those whom the cell names no longer.
      word(CELL_WRITER).tee(other).get(actor).op('i32.ne');
      word(CELL_WRITER_EPOCH).get(epoch).op('i32.ne').op('i32.or');
      fn.get(marks).i32(UPDATE).op('i32.and').i32(0).op('i32.ne').op('i32.and');
      code.if(() => {
        pushIsSameGroup(fn, other, actor);
        code.if(
          () => {
            fn.get(marks).i32(~MANY_UPDATE_WAVES).op('i32.and');
            fn.i32(MANY_UPDATE_WAVES).i32(0);
            word(CELL_WRITER_EPOCH).get(epoch).op('i32.eq').select().op('i32.or').set(marks);
          },
          () => fn.get(marks).i32(~MANY_UPDATE_WAVES).op('i32.and').i32(MANY_UPDATE_GROUPS).op('i32.or').set(marks),
        );
      });
      fn.get(marks)
        .i32(15 | ATOMIC_WRITE | UPDATE)
        .op('i32.or')
        .set(marks);
      put(CELL_MARKS, marks);
      put(CELL_WRITER, actor);
      put(CELL_WRITER_PC, pc);
      put(CELL_WRITER_EPOCH, epoch);
      fn.get(cell).get(shadow).memory('i32.load', SHADOW_STORES);
      fn.memory('i32.store', 4 * CELL_WRITER_STORE);
      fn.get(at).i32(DWORD).op('i32.add').set(at).get(bytes).i32(DWORD).op('i32.sub').tee(bytes);
      code.brIf(again);
    });
    fn.i32(1);
  });
}
