// Compiled code notes the store of some lanes of a wavefront whose addresses ascend, in the records of lines (race-page.ts): dwords in a row, each at the place that it would have if all
// lanes stored (`if (…) out[id] = …`) or one behind the other (what is left of a list), or elements of any distance.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { maskOfBits } from '../../wasm/memory/index.ts';
import { PAGE_DETAILS } from '../races/race-details.ts';
import { LINE, LINES, PAGE_WRITTEN } from '../races/race-page.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_PAGE_COUNT, SHADOW_PAGES } from '../registers/shadow-layout.ts';
import { activeAscendingFunction } from './lanes.ts';
import { LineWriter } from './lines.ts';
import { pageFunction } from './pages.ts';
import { lanesFunction } from './scattered.ts';

const DWORD = 4;
const LINE_BYTES = DWORD * LINE;
const PAGE_SHIFT = 12;
const LANES = 64;
/** Fewer active lanes, or none, are in as few quads. */
const LEAST_LANES = 4n;

/**
 * (shadow, address of a register, what is to be added to its words, EXEC) → 1 when it may be worth it to look at active lanes by lines: some are, and the pages of the first and of the
 * last one have no records of dwords, where four lanes at a time take less.
 */
export function areManyFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.masked.many', ['i32', 'i32', 'i32', 'i64'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, register, start, exec] = [0, 1, 2, 3] as const;
    const page = fn.local('i32');
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    fn.get(exec).op('i64.popcnt').i64(LEAST_LANES).op('i64.lt_u');
    leave();
    for (const isLast of [false, true]) {
      fn.get(exec)
        .op(isLast ? 'i64.clz' : 'i64.ctz')
        .op('i32.wrap_i64');
      if (isLast) fn.i32(LANES - 1).op('i32.xor');
      fn.i32(2).op('i32.shl').get(register).op('i32.add').memory('i32.load');
      fn.get(start).op('i32.add').i32(PAGE_SHIFT).op('i32.shr_u').tee(page);
      fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.lt_u');
      code.if(() => {
        fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
        fn.memory('i32.load').tee(page);
        code.if(() => {
          fn.get(page).memory('i32.load', 4 * PAGE_DETAILS);
          leave();
        });
      });
    }
    fn.i32(1);
  });
}

const PARAMETERS = ['i32', 'i32', 'i32', 'i32', 'i64'] as const;

/**
 * (shadow, address of a register, what is to be added to its words, place in the image, EXEC, which is not 0) → 1 when active lanes store elements of so many bytes, whole dwords, at these
 * offsets in wasm memory, which ascend, and are noted; 0 when they are to be looked at four at a time: nothing wrong has been noted then.
 */
export function maskedFunction(module: WasmModule, bytes: number): WasmFunction {
  const ascending = activeAscendingFunction(module);
  const lanes = maskedLanesFunction(module, bytes);
  return module.helper(`strict.masked.${bytes}`, PARAMETERS, ['i32'], (fn) => {
    const [, register, , , exec] = [0, 1, 2, 3, 4] as const;
    const pass = (to: WasmFunction): WasmFunction => {
      for (let n = 0; n < PARAMETERS.length; n++) fn.get(n);
      return fn.call(to);
    };
    if (bytes === DWORD) pass(maskedRowFunction(module)).if().i32(1).return().end();
    fn.get(register).get(exec).call(ascending).op('i32.eqz').if().i32(0).return().end();
    pass(lanes);
  });
}

/** As maskedFunction, of dwords in a row. */
function maskedRowFunction(module: WasmModule): WasmFunction {
  const [lines, pages] = [maskedLinesFunction(module), pageFunction(module, 'store')];
  return module.helper('strict.masked.row', PARAMETERS, ['i32'], (fn) => {
    const [shadow, register, start, pc, exec] = [0, 1, 2, 3, 4] as const;
    const code = new Code(fn);
    const local = (): number => fn.local('i32');
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const [at, first, last, bytes] = [local(), local(), local(), local()] as const;
    const pushWord = (lane: number): WasmFunction =>
      fn.get(lane).i32(2).op('i32.shl').get(register).op('i32.add').memory('i32.load');
    fn.get(exec).op('i64.ctz').op('i32.wrap_i64').set(first);
    fn.i32(LANES - 1);
    fn.get(exec).op('i64.clz').op('i32.wrap_i64').op('i32.sub').set(last);
    pushWord(first).tee(at);
    fn.get(start).op('i32.add');
    fn.i32(DWORD - 1).op('i32.and');
    leave();
    // From the first active lane to the last one nothing wraps.
    pushWord(last).get(at).op('i32.sub').set(bytes);
    fn.get(at).get(start).op('i32.add').get(bytes).op('i32.add').get(bytes).op('i32.lt_u');
    leave();
    fn.get(last).get(first).op('i32.sub').i32(2).op('i32.shl').get(bytes).op('i32.eq');
    code.if(() => {
      pushIsElsewhere(fn, register, at, exec, first);
      leave();
      fn.get(shadow).get(at).get(start).op('i32.add').get(bytes).get(pc);
      fn.get(exec).get(first).op('i64.extend_i32_u').op('i64.shr_u').call(lines).return();
    });
    fn.get(exec).op('i64.popcnt').op('i32.wrap_i64').i32(2).op('i32.shl').tee(last);
    fn.i32(DWORD).op('i32.sub').get(bytes).op('i32.ne');
    leave();
    pushIsElsewhere(fn, register, at, exec);
    leave();
    fn.get(shadow).get(at).get(start).op('i32.add').get(last).get(pc).call(pages);
  });
}

/** (shadow, offset of the first dword in wasm memory, bytes from it to the last one, place in the image, the dwords from the first one on, a bit each) → as maskedFunction. */
function maskedLinesFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.masked.lines', ['i32', 'i32', 'i32', 'i32', 'i64'], ['i32'], (fn) => {
    const [shadow, at, bytes, pc, exec] = [0, 1, 2, 3, 4] as const;
    const code = new Code(fn);
    const local = (): number => fn.local('i32');
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const [first, actor, epoch] = [local(), local(), local()] as const;
    const [page, line, mask] = [local(), local(), local()] as const;
    fn.get(at).get(bytes).op('i32.add').i32(PAGE_SHIFT).op('i32.shr_u');
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(epoch);
    const writer = new LineWriter(code, { shadow, actor, epoch, pc, line, mask }, leave);
    code.loop((again) => {
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(at).i32(PAGE_SHIFT).op('i32.shr_u').i32(2).op('i32.shl');
      fn.op('i32.add').memory('i32.load').tee(page).op('i32.eqz');
      leave();
      fn.get(page).memory('i32.load', 4 * PAGE_DETAILS);
      leave();
      // Those of the dwords that are in the line.
      fn.get(at).i32(2).op('i32.shr_u');
      fn.i32(LINE - 1)
        .op('i32.and')
        .set(first);
      fn.get(exec).op('i32.wrap_i64').get(first).op('i32.shl');
      fn.i32(2 ** LINE - 1)
        .op('i32.and')
        .tee(mask);
      code.if(() => {
        beginLine(code, { here: at, page, line, mask });
        writer.note('store');
      });
      fn.i32(LINE).get(first).op('i32.sub').tee(first).i32(2).op('i32.shl').get(at).op('i32.add').set(at);
      fn.get(exec).get(first).op('i64.extend_i32_u').op('i64.shr_u').tee(exec).i64(0n).op('i64.ne');
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/** As maskedFunction, of addresses that ascend: the lanes of each line at once, or one after the other where its record does not say enough. */
function maskedLanesFunction(module: WasmModule, bytes: number): WasmFunction {
  const lane = lanesFunction(module, 'store', bytes, 1);
  return module.helper(`strict.masked.lanes.${bytes}`, PARAMETERS, ['i32'], (fn) => {
    const [shadow, register, start, pc, left] = [0, 1, 2, 3, 4] as const;
    const code = new Code(fn);
    const local = (): number => fn.local('i32');
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const [at, end, here, actor, epoch] = [local(), local(), local(), local(), local()] as const;
    const [page, line, mask, isAlone] = [local(), local(), local(), local()] as const;
    const rest = fn.local('i64');
    /** Sets `at` to the address of the first of some lanes. */
    const setAt = (lanes: number): void => {
      fn.get(lanes).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').get(register).op('i32.add');
      fn.memory('i32.load').get(start).op('i32.add').set(at);
    };
    /** The first of some lanes is no longer one of them. */
    const dropFirst = (lanes: number): void => {
      fn.get(lanes).get(lanes).i64(1n).op('i64.sub').op('i64.and').set(lanes);
    };
    fn.get(shadow).memory('i32.load', SHADOW_ACTOR).set(actor);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).set(epoch);
    code.loop((again) => {
      // The lanes from the first one on whose elements are in its line: `rest` has those behind them.
      setAt(left);
      fn.get(at).i32(-LINE_BYTES).op('i32.and').set(here);
      fn.get(at).set(end).get(left).set(rest).i32(0).tee(mask).set(isAlone);
      code.block((others) => {
        code.loop((more) => {
          fn.get(at).get(here).op('i32.sub').i32(LINE_BYTES).op('i32.ge_u');
          code.brIf(others);
          // Those that overlap, are no whole dwords of the line, or beyond it.
          fn.get(at).get(end).op('i32.lt_u').get(isAlone).op('i32.or');
          fn.get(at)
            .i32(DWORD - 1)
            .op('i32.and')
            .op('i32.or');
          fn.get(at)
            .i32(bytes)
            .op('i32.add')
            .tee(end)
            .get(here)
            .op('i32.sub')
            .i32(LINE_BYTES)
            .op('i32.gt_u')
            .op('i32.or');
          fn.set(isAlone);
          fn.i32(2 ** (bytes / DWORD) - 1);
          fn.get(at).get(here).op('i32.sub').i32(2).op('i32.shr_u').op('i32.shl').get(mask).op('i32.or').set(mask);
          dropFirst(rest);
          fn.get(rest).op('i64.eqz');
          code.brIf(others);
          setAt(rest);
          code.br(more);
        });
      });
      code.block((noted) => {
        code.block((alone) => {
          fn.get(isAlone);
          code.brIf(alone);
          fn.get(here).i32(PAGE_SHIFT).op('i32.shr_u').tee(page);
          fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
          code.brIf(alone);
          fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
          fn.memory('i32.load').tee(page).op('i32.eqz');
          code.brIf(alone);
          fn.get(page).memory('i32.load', 4 * PAGE_DETAILS);
          code.brIf(alone);
          beginLine(code, { here, page, line, mask });
          new LineWriter(code, { shadow, actor, epoch, pc, line, mask }, () => code.brIf(alone)).note('store');
          code.br(noted);
        });
        fn.get(left).get(rest).op('i64.xor').set(left);
        code.loop((next) => {
          setAt(left);
          fn.get(shadow).get(at).get(pc).call(lane).op('i32.eqz');
          leave();
          dropFirst(left);
          fn.get(left).i64(0n).op('i64.ne');
          code.brIf(next);
        });
      });
      fn.get(rest).tee(left).i64(0n).op('i64.ne');
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/**
 * Dwords of a line (a mask), which `here` is in, are stored: they are written from here on. Sets `line` to what LineLocals has it be. `page` is the page's record.
 */
function beginLine(
  code: Code,
  { here, page, line, mask }: Readonly<Record<'here' | 'page' | 'line' | 'mask', number>>,
): void {
  const { fn } = code;
  const written = code.local('i32');
  fn.get(here).i32(Math.log2(LINE_BYTES)).op('i32.shr_u');
  fn.i32(LINES - 1)
    .op('i32.and')
    .set(line);
  fn.get(page);
  fn.memory('i32.load', 4 * PAGE_WRITTEN).tee(written);
  code.if(() => {
    fn.get(written).get(line).i32(3).op('i32.shl').op('i32.add').tee(written);
    fn.get(written).memory('i64.load');
    pushNibbles(fn, mask).op('i64.or').memory('i64.store');
  });
  fn.get(line).i32(2).op('i32.shl').get(page).op('i32.add').set(line);
  fn.release('i32', written);
}

/**
 * Leaves 1 when the words of the active lanes of a register, of which that of the first is `word`, do not ascend by four for each active lane; with `first`, the number of that lane,
 * for each lane.
 */
function pushIsElsewhere(fn: WasmFunction, register: number, word: number, exec: number, first?: number): void {
  const vector = (): number => fn.local('v128');
  const [expected, wrong, active, before] = [vector(), vector(), vector(), vector()] as const;
  fn.get(word);
  if (first !== undefined) fn.get(first).i32(2).op('i32.shl').op('i32.sub');
  fn.op('i32x4.splat');
  if (first !== undefined) fn.v128(0, 4, 8, 12).op('i32x4.add');
  fn.set(expected).v128(0, 0, 0, 0).set(wrong);
  for (let lane = 0; lane < LANES; lane += 4) {
    fn.get(exec).i64(BigInt(lane)).op('i64.shr_u').op('i32.wrap_i64');
    maskOfBits(fn);
    fn.set(active);
    fn.get(expected);
    if (first === undefined) {
      // Less one for each active lane before.
      fn.v128(0, 0, 0, 0).get(active).shuffle32(0, 4, 5, 6).tee(before);
      fn.v128(0, 0, 0, 0).get(before).shuffle32(0, 4, 5, 6).op('i32x4.add');
      fn.v128(0, 0, 0, 0).get(before).shuffle32(0, 0, 4, 5).op('i32x4.add').tee(before);
      fn.i32(2).op('i32x4.shl').op('i32x4.sub');
    }
    fn.get(register);
    fn.memory('v128.load', 4 * lane);
    fn.op('v128.xor').get(active).op('v128.and').get(wrong).op('v128.or').set(wrong).get(expected);
    if (first === undefined) {
      fn.get(before).get(active).op('i32x4.add').tee(before).get(before).shuffle32(3, 3, 3, 3);
      fn.i32(2).op('i32x4.shl').op('i32x4.sub');
    } else fn.v128(16, 16, 16, 16).op('i32x4.add');
    fn.set(expected);
  }
  fn.get(wrong).op('v128.any_true');
  for (const local of [expected, wrong, active, before]) fn.release('v128', local);
}

/** Leaves an i64 with four bits for each of the lowest 16 of an i32. */
function pushNibbles(fn: WasmFunction, bits: number): WasmFunction {
  const spread = fn.local('i64');
  fn.get(bits).op('i64.extend_i32_u').set(spread);
  for (const [shift, kept] of [
    [24n, 0x000000ff000000ffn],
    [12n, 0x000f000f000f000fn],
    [6n, 0x0303030303030303n],
    [3n, 0x1111111111111111n],
  ] as const) {
    fn.get(spread).get(spread).i64(shift).op('i64.shl').op('i64.or').i64(kept).op('i64.and').set(spread);
  }
  fn.get(spread).i64(15n).op('i64.mul');
  fn.release('i64', spread);
  return fn;
}
