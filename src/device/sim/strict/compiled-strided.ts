// Compiled code notes a store of a whole wavefront at once whose dwords are the same distance apart, as members of structures are: in the records of
// lines (race-page.ts), a line at a time.
import { EXEC } from '../state/wave.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { Code } from '../wasm/memory/code.ts';
import { progressionFunction } from '../wasm/memory/index.ts';
import { LineWriter } from './compiled-lines.ts';
import { PAGE_DETAILS } from './race-details.ts';
import { LINE, LINES, PAGE_WRITTEN } from './race-page.ts';
import { SHADOW_ACTOR, SHADOW_ADDRESSES, SHADOW_EPOCH, SHADOW_PAGE_COUNT, SHADOW_PAGES } from './registers.ts';

const DWORD = 4;
const LINE_BYTES = DWORD * LINE;
const PAGE_SHIFT = 12;
const LANES = 64;

/**
 * (shadow, wave, offsets in wasm memory of the first four lanes' dwords, place in the image) → 1 when all 64 lanes store dwords that ascend in equal steps of
 * a line at most, and are noted; 0 when they are to be looked at one by one: nothing wrong has been noted then. The register at SHADOW_ADDRESSES has
 * the lanes' offsets but for what is the same for all.
 */
export function stridedFunction(module: WasmModule): WasmFunction {
  const progression = progressionFunction(module, false);
  return module.helper('strict.strided', ['i32', 'i32', 'v128', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, wave, first, pc] = [0, 1, 2, 3] as const;
    const local = (): number => fn.local('i32');
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const [at, step, left, count, most] = [local(), local(), local(), local(), local()] as const;
    const [actor, epoch, record, line, mask, written] = [local(), local(), local(), local(), local(), local()] as const;
    const [dwords, nibbles] = [local(), fn.local('i64')] as const;
    fn.get(shadow).memory('i32.load', SHADOW_ADDRESSES).op('i32.eqz');
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .i64(-1n)
      .op('i64.ne')
      .op('i32.or');
    fn.get(first).lane('i32x4.extract_lane', 0).tee(at);
    fn.get(first).lane('i32x4.extract_lane', 1).get(at).op('i32.sub').tee(step).op('i32.or');
    fn.i32(DWORD - 1)
      .op('i32.and')
      .op('i32.or');
    // Steps of a dword follow each other.
    fn.get(step)
      .i32(2 * DWORD)
      .op('i32.lt_u')
      .op('i32.or');
    fn.get(step).i32(LINE_BYTES).op('i32.gt_u').op('i32.or');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_ADDRESSES).get(step).call(progression).op('i32.eqz');
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
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(epoch);
    // As many dwords of a line as there can be, from its first one on: their bits, and those of their bytes.
    fn.get(step).i32(2).op('i32.shr_u').set(step);
    fn.i32(LINE - 1)
      .get(step)
      .op('i32.add')
      .get(step)
      .op('i32.div_u')
      .tee(most)
      .set(left);
    code.loop((again) => {
      fn.get(dwords).get(step).op('i32.shl').i32(1).op('i32.or').set(dwords);
      fn.get(nibbles).get(step).i32(2).op('i32.shl').op('i64.extend_i32_u').op('i64.shl').i64(15n).op('i64.or');
      fn.set(nibbles).get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
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
    code.loop((again) => {
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(at).i32(PAGE_SHIFT).op('i32.shr_u').i32(2).op('i32.shl');
      fn.op('i32.add').memory('i32.load').tee(record).op('i32.eqz');
      leave();
      fn.get(record).memory('i32.load', 4 * PAGE_DETAILS);
      leave();
      // So many of the lanes that are left are in the line.
      fn.i32(LINE - 1);
      pushFirst().op('i32.sub').get(step).op('i32.div_u').i32(1).op('i32.add').set(count);
      fn.get(left).get(count).get(left).get(count).op('i32.lt_u').select().set(count);
      fn.get(dwords).get(most).get(count).op('i32.sub').get(step).op('i32.mul').op('i32.shr_u');
      pushFirst().op('i32.shl').set(mask);
      fn.get(at)
        .i32(Math.log2(LINE_BYTES))
        .op('i32.shr_u')
        .i32(LINES - 1)
        .op('i32.and')
        .set(line);
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
