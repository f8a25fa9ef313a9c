// Compiled code notes four dwords in a row at once whose records (race-details.ts) differ, where all that they name comes before: dwords that wavefronts
// of a workgroup have exchanged between barriers have such records.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { BYTES, MANY_GROUPS, MARKS } from '../races/race-details.ts';
import { areBeforeFunction, areBehindFunction, FourRecords } from './global-before.ts';

/** The words of four records: `readers` and `writers` of each, and as they lie in memory. */
interface FourWords {
  readonly readers: number;
  readonly writers: number;
  readonly pairs: readonly [number, number];
}

function loadWords(fn: WasmFunction, cell: number): FourWords {
  const vector = (): number => fn.local('v128');
  const [readers, writers, first, second] = [vector(), vector(), vector(), vector()] as const;
  fn.get(cell).memory('v128.load').set(first).get(cell).memory('v128.load', 16).set(second);
  fn.get(first).get(second).shuffle32(0, 2, 4, 6).set(readers);
  fn.get(first).get(second).shuffle32(1, 3, 5, 7).set(writers);
  return { readers, writers, pairs: [first, second] };
}

/** Puts the event in a local, with all bytes, into the words of the readers, or of the writers. */
function putEvent(fn: WasmFunction, cell: number, { pairs }: FourWords, mine: number, isWrite: boolean): void {
  for (const [n, pair] of pairs.entries()) {
    fn.get(cell).get(mine).i32(BYTES).op('i32.or').op('i32x4.splat').get(pair);
    if (isWrite) fn.v128(0, -1, 0, -1);
    else fn.v128(-1, 0, -1, 0);
    fn.op('v128.bitselect').memory('v128.store', 16 * n);
  }
}

/**
 * (shadow, where the records of four dwords are, the event of a read as it is in a word of a record, what readers' words have of MANY_GROUPS where they stay) → 1 when
 * what they name comes before the read, which is noted then; 0 when each is to be looked at, and nothing is noted.
 */
export function fourReadsFunction(module: WasmModule): WasmFunction {
  const areBefore = areBeforeFunction(module);
  return module.helper('strict.details.four.load', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, cell, mine, frozen] = [0, 1, 2, 3] as const;
    const words = loadWords(fn, cell);
    const { readers, writers } = words;
    fn.get(writers).op('v128.any_true').if();
    fn.get(shadow).get(writers).call(areBefore).op('i32.eqz').if().i32(0).return().end().end();
    const four = new FourRecords(fn);
    fn.get(readers);
    four.splat(MANY_GROUPS);
    fn.op('v128.and').get(frozen).op('i32x4.splat').op('i32x4.eq').op('i32x4.all_true').if().i32(1).return().end();
    four.pushIsNobody(readers);
    four.pushIsBefore(readers);
    four
      .pushLacks(readers, MARKS & ~BYTES)
      .op('v128.and')
      .op('v128.or');
    four.leaveUnlessAll();
    putEvent(fn, cell, words, mine, false);
    fn.i32(1);
  });
}

/** The same of a store, without the last parameter. */
export function fourStoresFunction(module: WasmModule): WasmFunction {
  const areBehind = areBehindFunction(module);
  return module.helper('strict.details.four.store', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, cell, mine] = [0, 1, 2] as const;
    const words = loadWords(fn, cell);
    const all = fn.local('v128');
    fn.get(mine).op('i32x4.splat').set(all);
    fn.get(shadow).get(words.readers).get(words.writers).get(all).call(areBehind).op('i32.eqz');
    fn.if().i32(0).return().end();
    putEvent(fn, cell, words, mine, true);
    fn.i32(1);
  });
}
