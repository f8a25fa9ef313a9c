// Compiled code notes a store of a whole wavefront at once whose dwords are the same distance apart, as members of structures are: in the records of
// lines (race-page.ts), a line at a time.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import { progressionFunction } from '../../wasm/memory/index.ts';
import { PAGE_DETAILS } from '../races/race-details.ts';
import {
  LINE,
  LINE_BITS,
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
import { LineWriter, pushTold } from './lines.ts';

const DWORD = 4;
const LINE_BYTES = DWORD * LINE;
const PAGE_SHIFT = 12;
const LANES = 64;

/** Leaves 1 when the second lane of a register (a local with its address) is as far behind the first as dwords may be here: most are not. */
export function pushMayBeStrided(fn: WasmFunction, register: number): WasmFunction {
  fn.get(register).memory('i32.load', DWORD).get(register).memory('i32.load').op('i32.sub');
  // Steps of a dword follow each other.
  return fn
    .i32(2 * DWORD)
    .op('i32.sub')
    .i32(LINE_BYTES - 2 * DWORD)
    .op('i32.le_u');
}

/**
 * (shadow, address of a register, what is to be added to its words, place in the image) → 1 when 64 lanes store dwords at these offsets in wasm memory that
 * ascend in the equal steps that pushMayBeStrided has found, and are noted; 0 when they are to be looked at four at a time: nothing wrong has been noted then.
 */
export function stridedFunction(module: WasmModule): WasmFunction {
  const progression = progressionFunction(module, false);
  return module.helper('strict.strided', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, register, start, pc] = [0, 1, 2, 3] as const;
    const local = (): number => fn.local('i32');
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const [at, step, left, count, most] = [local(), local(), local(), local(), local()] as const;
    const [actor, epoch, record, line, mask, written] = [local(), local(), local(), local(), local(), local()] as const;
    const [dwords, nibbles, four, group] = [fn.local('i64'), fn.local('i64'), fn.local('i64'), local()] as const;
    const [actors, masks, old, covers] = [0, 1, 2, 3].map(() => fn.local('v128')) as [number, number, number, number];
    fn.get(register).memory('i32.load', DWORD).get(register).memory('i32.load').tee(at).op('i32.sub').tee(step);
    fn.get(at)
      .get(start)
      .op('i32.add')
      .tee(at)
      .op('i32.or')
      .i32(DWORD - 1)
      .op('i32.and');
    leave();
    fn.get(register).get(step).call(progression).op('i32.eqz');
    leave();
    // The end does not wrap, and has a page in the table.
    fn.get(step)
      .i32(LANES - 1)
      .op('i32.mul')
      .get(at)
      .op('i32.add')
      .tee(count)
      .get(at)
      .op('i32.lt_u');
    fn.get(count).i32(PAGE_SHIFT).op('i32.shr_u').get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
    fn.op('i32.or');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).tee(actor).op('i32x4.splat').set(actors);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(epoch);
    // Of as many dwords as there can be from that of a lane on, the bits of those of lanes, and of their bytes.
    fn.get(step).i32(2).op('i32.shr_u').set(step);
    fn.i32(LINE - 1)
      .get(step)
      .op('i32.add')
      .get(step)
      .op('i32.div_u')
      .set(most);
    setMultiples(code, dwords, 1n, step, 1);
    setMultiples(code, nibbles, 15n, step, 4);
    fn.i32(LANES).set(left);
    const writer = new LineWriter(code, { shadow, actor, epoch, pc, line, mask }, leave);
    /** Leaves the number of the first dword in its line. */
    const pushFirst = (): WasmFunction =>
      fn
        .get(at)
        .i32(2)
        .op('i32.shr_u')
        .i32(LINE - 1)
        .op('i32.and');
    /**
     * Notes four lines from that of `at` on, and leaves how many lanes are left then; goes to `alone` where not all bytes of the page were written before the
     * dispatch, others have stored to one of the lines or may know of what else is in it (pushIsKnownApart), somebody has read what is stored, or the lanes end before the lines.
     */
    const noteLines = (alone: Label): void => {
      const field = (word: number): WasmFunction => fn.get(group).memory('v128.load', 4 * word);
      const set = (word: number, push: () => void): void => {
        fn.get(group);
        push();
        fn.memory('v128.store', 4 * word);
      };
      fn.get(record)
        .memory('i32.load', 4 * PAGE_WRITTEN)
        .get(line)
        .i32(LINES - 4)
        .op('i32.gt_u')
        .op('i32.or');
      code.brIf(alone);
      fn.get(dwords);
      pushFirst().op('i64.extend_i32_u').op('i64.shl').tee(four).op('i64.popcnt').op('i32.wrap_i64').tee(count);
      fn.get(left).op('i32.gt_u');
      code.brIf(alone);
      fn.get(four).op('i64x2.splat').op('i32x4.extend_low_i16x8_u').set(masks);
      fn.get(line).i32(2).op('i32.shl').get(record).op('i32.add').set(group);
      field(LINE_WRITER).tee(old).get(actors).op('i32x4.eq').get(old).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or');
      field(LINE_BITS).tee(old).i32(16).op('i32x4.shr_u').get(masks).op('v128.and').v128(0, 0, 0, 0).op('i32x4.eq');
      fn.op('v128.and').op('i32x4.all_true').op('i32.eqz');
      code.brIf(alone);
      // Where older bytes of the line stay, their store is the one that counts (RacePage.noteWrite).
      const everything = (): WasmFunction => fn.v128(0xffff, 0xffff, 0xffff, 0xffff);
      fn.get(old);
      everything().op('v128.and').get(masks).op('v128.andnot').v128(0, 0, 0, 0).op('i32x4.eq').tee(covers);
      field(LINE_WRITER_EPOCH).get(epoch).op('i32x4.splat').op('i32x4.eq');
      field(LINE_WRITER_STORE);
      pushTold(fn, shadow).op('i32x4.splat').op('i32x4.ge_u');
      fn.op('v128.and').op('v128.or').op('i32x4.all_true').op('i32.eqz');
      code.brIf(alone);
      const setCovered = (word: number, push: () => void): void =>
        set(word, () => {
          push();
          fn.op('i32x4.splat');
          field(word).get(covers).op('v128.bitselect');
        });
      setCovered(LINE_WRITER_EPOCH, () => fn.get(epoch));
      setCovered(LINE_WRITER_STORE, () => fn.get(shadow).memory('i32.load', SHADOW_STORES));
      set(LINE_WRITER, () => fn.get(actors));
      set(LINE_WRITER_PC, () => fn.get(pc).op('i32x4.splat'));
      set(LINE_BITS, () => fn.get(old).get(masks).op('v128.or'));
      fn.get(step).get(count).op('i32.mul').i32(2).op('i32.shl').get(at).op('i32.add').set(at);
      fn.get(left).get(count).op('i32.sub').tee(left);
    };
    code.loop((again) => {
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(at).i32(PAGE_SHIFT).op('i32.shr_u').i32(2).op('i32.shl');
      fn.op('i32.add').memory('i32.load').tee(record).op('i32.eqz');
      leave();
      fn.get(record).memory('i32.load', 4 * PAGE_DETAILS);
      leave();
      fn.get(at)
        .i32(Math.log2(LINE_BYTES))
        .op('i32.shr_u')
        .i32(LINES - 1)
        .op('i32.and')
        .set(line);
      code.block((alone) => {
        noteLines(alone);
        code.brIf(again);
        fn.i32(1).return();
      });
      // So many of the lanes that are left are in the line.
      fn.i32(LINE - 1);
      pushFirst().op('i32.sub').get(step).op('i32.div_u').i32(1).op('i32.add').set(count);
      fn.get(left).get(count).get(left).get(count).op('i32.lt_u').select().set(count);
      fn.get(dwords).op('i32.wrap_i64').i32(1).get(count).get(step).op('i32.mul').op('i32.shl').i32(1).op('i32.sub');
      fn.op('i32.and');
      pushFirst().op('i32.shl').set(mask);
      fn.get(record)
        .memory('i32.load', 4 * PAGE_WRITTEN)
        .tee(written);
      code.if(() => {
        fn.get(written).get(line).i32(3).op('i32.shl').op('i32.add').tee(written).get(written).memory('i64.load');
        fn.get(nibbles).get(most).get(count).op('i32.sub').get(step).op('i32.mul').i32(2).op('i32.shl');
        fn.op('i64.extend_i32_u').op('i64.shr_u');
        pushFirst().i32(2).op('i32.shl').op('i64.extend_i32_u').op('i64.shl').op('i64.or').memory('i64.store');
      });
      fn.get(line).i32(2).op('i32.shl').get(record).op('i32.add').set(line);
      writer.note('store');
      fn.get(step).get(count).op('i32.mul').i32(2).op('i32.shl').get(at).op('i32.add').set(at);
      fn.get(left).get(count).op('i32.sub').tee(left);
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/** Sets a local to `first` at each multiple of `step` times `scale` bits below 64. */
export function setMultiples(code: Code, local: number, first: bigint, step: number, scale: number): void {
  const { fn } = code;
  const shift = code.local('i64');
  fn.i64(first).set(local).get(step).i32(scale).op('i32.mul').op('i64.extend_i32_u').set(shift);
  code.block((done) => {
    code.loop((again) => {
      fn.get(shift).i64(64n).op('i64.ge_u');
      code.brIf(done);
      fn.get(local).get(local).get(shift).op('i64.shl').op('i64.or').set(local);
      fn.get(shift).i64(1n).op('i64.shl').set(shift);
      code.br(again);
    });
  });
}
