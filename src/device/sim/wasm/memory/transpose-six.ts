// The transpose of ds_read_b96_tr_b6: 16 rows of 16 numbers of 6 bits, 12 bytes each.
import { VGPR_BYTES } from '../../state/layout.ts';
import type { Code } from './code.ts';

const splat = (word: number): [number, number, number, number] => [word, word, word, word];

/** Sets `row` to a byte for each of the 16 numbers at the address in local `from`. */
function spread({ fn }: Code, from: number, row: number): void {
  fn.get(from).memory('v128.load64_zero').set(row);
  fn.get(from).get(row).memoryLane('v128.load32_lane', 2, 8).tee(row).get(row);
  // Three bytes in each 32-bit lane have four numbers.
  fn.shuffle([0, 1, 2, 3].flatMap((k) => [3 * k, 3 * k + 1, 3 * k + 2, 15])).set(row);
  for (const n of [0, 1, 2, 3]) {
    fn.get(row);
    if (n > 0) fn.i32(2 * n).op('i32x4.shl');
    fn.v128(...splat(0x3f << (8 * n))).op('v128.and');
    if (n > 0) fn.op('v128.or');
  }
  fn.set(row);
}

/** Lane l gets number l of row n as its number n. `rows` are locals with the rows' addresses, `register` one with that of the result. */
export function transposeSixes(code: Code, rows: readonly number[], register: number, at: number): void {
  const { fn } = code;
  const numbers = rows.map(() => code.local('v128'));
  rows.forEach((row, n) => {
    spread(code, row, numbers[n] as number);
  });
  /** Pushes byte `j` of all lanes' results: what is left of a number, and what has place of the next. */
  const byte = (j: number): void => {
    const [first, part] = [4 * Math.floor(j / 3), j % 3];
    fn.get(numbers[first + part] as number);
    if (part > 0) fn.i32(2 * part).op('i8x16.shr_u');
    fn.get(numbers[first + part + 1] as number)
      .i32(6 - 2 * part)
      .op('i8x16.shl')
      .op('v128.or');
  };
  const pairs = [code.local('v128'), code.local('v128')] as const;
  const bytes = [0, 1, 2, 3].map(() => code.local('v128')) as [number, number, number, number];
  const interleaved = (from: number, width: number): number[] =>
    Array.from({ length: 8 / width }, (_, i) => from / width + i).flatMap((i) =>
      [i * width, 16 + i * width].flatMap((b) => Array.from({ length: width }, (_, k) => b + k)),
    );
  for (const word of [0, 1, 2]) {
    bytes.forEach((local, k) => {
      byte(4 * word + k);
      fn.set(local);
    });
    for (const half of [0, 1]) {
      pairs.forEach((pair, k) => {
        fn.get(bytes[2 * k] as number)
          .get(bytes[2 * k + 1] as number)
          .shuffle(interleaved(8 * half, 1))
          .set(pair);
      });
      for (const quarter of [0, 1]) {
        fn.get(register).get(at).op('i32.add').get(pairs[0]).get(pairs[1]);
        fn.shuffle(interleaved(8 * quarter, 2));
        fn.memory('v128.store', 16 * (2 * half + quarter) + word * VGPR_BYTES);
      }
    }
  }
}
