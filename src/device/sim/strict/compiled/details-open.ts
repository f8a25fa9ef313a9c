// Compiled code makes records of dwords (race-details.ts) out of those of lines (race-page.ts), where these do not say enough any longer.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import {
  BYTES,
  DETAILS_SIZE,
  HOLDS_READS,
  HOLDS_STORES,
  MANY_GROUPS,
  MANY_WAVES,
  RECORD_BYTES,
} from '../races/race-details.ts';
import { EVENT_SHIFT, EVENTS_BEFORE, EVENTS_BEHIND, EVENTS_NEXT, EVENTS_OWN } from '../races/race-events.ts';
import {
  EVENTS_HEAD,
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
  PAGE_ROOM,
  POOL_END,
  POOL_NEXT,
} from '../races/race-page.ts';
import { pushHead, takeFunction } from './events.ts';
import { setDetails } from './records.ts';

/**
 * (shadow, the page's record) → 1 when the page has records by dword from now on, 0 when there is no room for them. As RacePage.detailed makes
 * them.
 */
export function openFunction(module: WasmModule): WasmFunction {
  const take = takeFunction(module);
  return module.helper('strict.details.open', ['i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, page] = [0, 1] as const;
    const local = (): number => fn.local('i32');
    const [head, pool, details, line, end, bits] = [local(), local(), local(), local(), local(), local()] as const;
    const [cell, holds] = [local(), local()];
    /** The last events of a writer and of a reader, and their words. */
    const known = [
      { who: fn.local('v128'), word: local() },
      { who: fn.local('v128'), word: local() },
    ] as const;
    const who = fn.local('v128');
    const [touched, words] = [fn.local('v128'), fn.local('v128')];
    pushHead(fn, shadow).tee(head);
    fn.i32(POOL_NEXT - EVENTS_HEAD)
      .op('i32.add')
      .set(pool);
    fn.get(page)
      .memory('i32.load', 4 * PAGE_ROOM)
      .tee(details)
      .op('i32.eqz');
    code.if(() => {
      fn.get(pool)
        .memory('i32.load')
        .tee(details)
        .get(pool)
        .memory('i32.load', POOL_END - POOL_NEXT);
      fn.op('i32.ge_u').if().i32(0).return().end();
    });
    fn.get(details).i32(0).i32(DETAILS_SIZE).memoryFill();
    const field = (word: number): WasmFunction => fn.get(line).memory('i32.load', 4 * word);
    /** As RaceEvents.mixed: who has touched the lines gets events only now. Where the accesses of others are noted, nothing is known of any event (RaceEvents.ofOthers). */
    const mixed = (): void => {
      const next = fn.local('i32');
      fn.get(head).memory('i32.load', EVENTS_NEXT).i32(EVENT_SHIFT).op('i32.shl').set(next);
      for (const bound of [EVENTS_BEFORE, EVENTS_BEHIND, EVENTS_OWN]) {
        fn.get(head).get(next).get(head).memory('i32.load', bound);
        fn.get(next).get(head).memory('i32.load', bound).op('i32.gt_u').select().memory('i32.store', bound);
      }
      fn.release('i32', next);
    };
    /** Sets `word` of one of `known` to the line's event as it is in a record. */
    const setWord = (side: (typeof known)[number], fields: readonly (number | undefined)[]): void => {
      fields.forEach((word, lane) => {
        if (word === undefined) fn.i32(0);
        else field(word);
        if (lane === 0) fn.op('i32x4.splat');
        else fn.lane('i32x4.replace_lane', lane);
      });
      fn.tee(who).get(side.who).op('v128.xor').op('v128.any_true');
      code.if(() => {
        fn.get(who).set(side.who);
        fn.get(head).get(who).call(take).tee(side.word).op('i32.eqz');
        code.if(() => {
          mixed();
          fn.i32(0).return();
        });
        fn.get(side.word).i32(EVENT_SHIFT).op('i32.shl').i32(BYTES).op('i32.or').set(side.word);
      });
    };
    /** Leaves all ones for those of the four dwords from `first` on whose bits are set. */
    const pushDwords = (first: number): WasmFunction => {
      const [a, b, c, d] = [0, 1, 2, 3].map((n) => 1 << (first + n)) as [number, number, number, number];
      fn.op('i32x4.splat').v128(a, b, c, d).op('v128.and').v128(a, b, c, d);
      return fn.op('i32x4.eq');
    };
    // Pages that lanes go to where values say often have nothing in their lines.
    for (let n = 0; n < LINES; n += 4) {
      fn.get(page).memory('v128.load', 4 * (LINE_BITS + n));
      if (n > 0) fn.op('v128.or');
    }
    fn.op('v128.any_true');
    code.if(() => {
      fn.get(page).set(line);
      fn.get(details).set(cell);
      fn.get(page)
        .i32(4 * LINES)
        .op('i32.add')
        .set(end);
      const [writer, reader] = known;
      code.loop((next) => {
        field(LINE_BITS).tee(bits).i32(0xffff).op('i32.and');
        code.if(() => {
          setWord(writer, [LINE_WRITER, LINE_WRITER_PC, LINE_WRITER_EPOCH, LINE_WRITER_STORE]);
          for (let first = 0; first < LINE; first += 4) {
            fn.get(bits);
            pushDwords(first).get(writer.word).op('i32x4.splat').op('v128.and').set(words);
            for (const half of [0, 1]) {
              fn.get(cell).get(words).v128(0, 0, 0, 0);
              if (half === 0) fn.shuffle32(4, 0, 4, 1);
              else fn.shuffle32(4, 2, 4, 3);
              fn.memory('v128.store', RECORD_BYTES * (first + 2 * half));
            }
          }
          fn.get(holds).i32(HOLDS_STORES).op('i32.or').set(holds);
        });
        fn.get(bits).i32(16).op('i32.shr_u').tee(bits);
        code.if(() => {
          setWord(reader, [LINE_READER, LINE_READER_PC, LINE_READER_EPOCH, undefined]);
          for (let first = 0; first < LINE; first += 4) {
            fn.get(bits);
            pushDwords(first).set(touched);
            fn.get(reader.word).op('i32x4.splat').set(words);
            const add = (shift: number, mark: number): void => {
              fn.get(words);
              field(LINE_MANY).i32(shift).op('i32.shr_u');
              pushDwords(first).v128(mark, mark, mark, mark).op('v128.and').op('v128.or').set(words);
            };
            add(0, MANY_GROUPS);
            add(16, MANY_WAVES);
            fn.get(words).get(touched).op('v128.and').set(words);
            for (const half of [0, 1]) {
              const at = RECORD_BYTES * (first + 2 * half);
              fn.get(cell).get(cell).memory('v128.load', at).get(words).v128(0, 0, 0, 0);
              if (half === 0) fn.shuffle32(0, 4, 1, 4);
              else fn.shuffle32(2, 4, 3, 4);
              fn.op('v128.or').memory('v128.store', at);
            }
          }
          fn.get(holds).i32(HOLDS_READS).op('i32.or').set(holds);
        });
        fn.get(cell)
          .i32(RECORD_BYTES * LINE)
          .op('i32.add')
          .set(cell);
        fn.get(line).i32(4).op('i32.add').tee(line).get(end).op('i32.lt_u');
        code.brIf(next);
      });
    });
    fn.get(page)
      .memory('i32.load', 4 * PAGE_ROOM)
      .op('i32.eqz');
    code.if(() => fn.get(pool).get(details).i32(DETAILS_SIZE).op('i32.add').memory('i32.store'));
    setDetails(fn, page, () => fn.get(details).get(holds).op('i32.or'));
    mixed();
    fn.i32(1);
  });
}
