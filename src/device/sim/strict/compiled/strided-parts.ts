// Compiled code notes a store of a whole wavefront at once whose elements, of a dword or less, are the same distance apart, as members of structures and the
// colours of pixels are: in the records of dwords (race-details.ts). So are dwords then of which lanes store the same bytes. No two lanes have a byte.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { progressionFunction } from '../../wasm/memory/index.ts';
import { BYTES, HOLDS_STORES, PAGE } from '../races/race-details.ts';
import { EVENT_SHIFT } from '../races/race-events.ts';
import { SHADOW_PAGE_COUNT, SHADOW_PAGES, SHADOW_STORES } from '../registers/shadow-layout.ts';
import { eventFunction } from './events.ts';
import { LEFT, MOST_STEP, NOT_STRIDED, STRIDED, stridedDwordsFunction } from './strided-dwords.ts';

const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;
const LANES = 64;
/** Bits for bytes. */
const MOST_BITS = 64;

/**
 * (shadow, address of a register, what is to be added to its words, place in the image) → STRIDED when 64 lanes store so many bytes at these offsets in wasm memory
 * and are noted, NOT_STRIDED when they are to be looked at four at a time: nothing is noted then, LEFT when TypeScript has to look. All bytes from the first lane's on
 * to the last one's are live.
 */
export function stridedPartsFunction(module: WasmModule, bytes: 1 | 2 | 4): WasmFunction {
  const progression = progressionFunction(module, false);
  const dwords = stridedDwordsFunction(module);
  const event = eventFunction(module);
  return module.helper(`strict.strided.parts.${bytes}`, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, register, start, pc] = [0, 1, 2, 3] as const;
    const [at, step, mine, mask] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const leave = (): WasmFunction => fn.if().i32(NOT_STRIDED).return().end();
    fn.get(register).memory('i32.load', DWORD).get(register).memory('i32.load').tee(at).op('i32.sub').tee(step);
    fn.i32(bytes)
      .op('i32.sub')
      .i32(MOST_STEP - bytes)
      .op('i32.gt_u');
    leave();
    fn.get(register).get(step).call(progression).op('i32.eqz');
    leave();
    fn.get(at).get(start).op('i32.add').set(at);
    if (bytes === DWORD) {
      fn.get(at)
        .get(step)
        .op('i32.or')
        .i32(DWORD - 1)
        .op('i32.and');
      leave();
      pushIsByLine(fn, shadow, at);
      leave();
    }
    fn.get(shadow).get(pc).get(shadow).memory('i32.load', SHADOW_STORES).call(event);
    fn.i32(EVENT_SHIFT).op('i32.shl').tee(mine).op('i32.eqz').if().i32(LEFT).return().end();
    fn.i32((1 << bytes) - 1);
    fn.get(at)
      .i32(DWORD - 1)
      .op('i32.and')
      .op('i32.shl')
      .set(mask)
      .get(at)
      .i32(-DWORD)
      .op('i32.and')
      .set(at);
    if (bytes < DWORD) {
      // Lanes have other bytes of their dwords, or parts of two.
      fn.get(step)
        .i32(DWORD - 1)
        .op('i32.and')
        .get(mask)
        .i32(BYTES)
        .op('i32.gt_u')
        .op('i32.or');
      fn.if().get(shadow).get(at).get(step).get(mask).get(mine).get(pc);
      fn.call(periodsFunction(module)).return().end();
    }
    fn.get(shadow).get(at).get(step).i32(LANES).get(mask).get(mine).get(pc).call(dwords);
  });
}

/** Leaves 1 where the page at an offset has no records of stores by dword: strided.ts knows how to store dwords there. */
function pushIsByLine(fn: WasmFunction, shadow: number, at: number): WasmFunction {
  const page = fn.local('i32');
  const count = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT);
  fn.get(at).i32(Math.log2(PAGE_BYTES)).op('i32.shr_u').tee(page);
  count().op('i32.lt_u').if('i32');
  // The quick table lies behind the table of pages.
  fn.get(page);
  count().op('i32.add').i32(2).op('i32.shl').get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add');
  fn.memory('i32.load').i32(HOLDS_STORES).op('i32.and').op('i32.eqz').else().i32(1).end();
  fn.release('i32', page);
  return fn;
}

/**
 * (shadow, offset of the first dword, bytes from lane to lane, the bytes of the first lane from its dword on, the event of the store as it is in a word of a record,
 * place in the image) → as stridedPartsFunction. After one, two or four lanes dwords come of which the same bytes are stored as so many lanes before.
 */
function periodsFunction(module: WasmModule): WasmFunction {
  const dwords = stridedDwordsFunction(module);
  return module.helper(
    'strict.strided.periods',
    Array.from({ length: 6 }, () => 'i32' as const),
    ['i32'],
    (fn) => {
      const [shadow, at, step, element, mine, pc] = [0, 1, 2, 3, 4, 5] as const;
      const code = new Code(fn);
      const [lanes, size, count, place] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
      const [mask, behind] = [fn.local('i32'), fn.local('i32')];
      /** The bytes of a period, and those that its last lanes have of the next one. */
      const [inside, beyond] = [fn.local('i64'), fn.local('i64')];
      const [bits, shift] = [fn.local('i64'), fn.local('i64')];
      fn.i32(4)
        .i32(2)
        .i32(1)
        .get(step)
        .i32(2)
        .op('i32.and')
        .select()
        .get(step)
        .i32(1)
        .op('i32.and')
        .select()
        .set(lanes);
      fn.get(lanes).get(step).op('i32.mul').set(size).i32(LANES).get(lanes).op('i32.div_u').set(count);
      // The last lane's bytes have bits.
      fn.get(size)
        .get(step)
        .op('i32.sub')
        .i32(MOST_BITS - 2 * DWORD)
        .op('i32.gt_u')
        .if()
        .i32(NOT_STRIDED)
        .return()
        .end();
      fn.get(element).op('i64.extend_i32_u').tee(bits).set(inside);
      fn.get(step).op('i64.extend_i32_u').set(shift);
      for (const more of [1, 2]) {
        fn.get(lanes).i32(more).op('i32.gt_u');
        code.if(() =>
          fn
            .get(inside)
            .get(inside)
            .get(shift)
            .op('i64.shl')
            .op('i64.or')
            .set(inside)
            .get(shift)
            .get(shift)
            .op('i64.add')
            .set(shift),
        );
      }
      fn.get(size).i32(MOST_BITS).op('i32.lt_u');
      code.if(() => {
        fn.get(size).op('i64.extend_i32_u').set(shift).get(inside).get(shift).op('i64.shr_u').set(beyond);
        fn.get(inside).i64(1n).get(shift).op('i64.shl').i64(1n).op('i64.sub').op('i64.and').set(inside);
      });
      /** Notes so many dwords, a period apart from the one that so many periods are in front of, of which the bytes of a local are stored. */
      const note = (periods: () => void, times: () => void, stored: number): void => {
        fn.get(shadow).get(place);
        periods();
        fn.get(size).op('i32.mul').op('i32.add').get(size);
        times();
        fn.get(stored).get(mine).get(pc).call(dwords).i32(STRIDED).op('i32.ne').if().i32(LEFT).return().end();
      };
      code.block((done) => {
        code.loop((next) => {
          fn.get(inside).get(beyond).op('i64.or').tee(bits).op('i64.eqz');
          code.brIf(done);
          fn.get(bits)
            .op('i64.ctz')
            .i64(BigInt(-DWORD))
            .op('i64.and')
            .tee(shift)
            .op('i32.wrap_i64')
            .get(at)
            .op('i32.add')
            .set(place);
          for (const [from, into] of [
            [inside, mask],
            [beyond, behind],
          ] as const) {
            fn.get(from).get(shift).op('i64.shr_u').op('i32.wrap_i64').i32(BYTES).op('i32.and').set(into);
            fn.get(from).i64(BigInt(BYTES)).get(shift).op('i64.shl').i64(-1n).op('i64.xor').op('i64.and').set(from);
          }
          fn.get(behind).op('i32.eqz');
          code.if(
            () =>
              note(
                () => fn.i32(0),
                () => fn.get(count),
                mask,
              ),
            () => {
              fn.get(mask);
              code.if(() =>
                note(
                  () => fn.i32(0),
                  () => fn.i32(1),
                  mask,
                ),
              );
              note(
                () => fn.get(count),
                () => fn.i32(1),
                behind,
              );
              fn.get(mask).get(behind).op('i32.or').set(mask);
              note(
                () => fn.i32(1),
                () => fn.get(count).i32(1).op('i32.sub'),
                mask,
              );
            },
          );
          code.br(next);
        });
      });
      fn.i32(STRIDED);
    },
  );
}
