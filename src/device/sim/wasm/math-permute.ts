// v_perm_b32 by byte swizzles: four dwords at a time. Its meaning is the expression in isa/semantics/vector-int.ts.
import type { WasmFunction } from './emit.ts';
import { choosing } from './features.ts';
import { type MathFunction, word } from './math-tools.ts';

/** Of the first byte of each byte's dword. */
const DWORDS: [number, number, number, number] = [0, 0x04040404, 0x08080808, 0x0c0c0c0c];

/** Locals of the two operands and the selectors. */
type Places = readonly [first: number, second: number, selectors: number];

function bytes(fn: WasmFunction, value: number): void {
  word(fn, Math.imul(value, 0x01010101));
}

/** Pushes bytes of the second operand, or of the first where the selectors have a bit. Shifts of bytes take several host instructions. */
function pick(fn: WasmFunction, [first, second, selectors]: Places, index: number, bit: number): void {
  fn.get(first).get(index).op('i8x16.swizzle').get(second).get(index).op('i8x16.swizzle');
  fn.get(selectors);
  bytes(fn, bit);
  fn.op('v128.and');
  bytes(fn, bit);
  fn.op('i8x16.eq').op(choosing());
}

function permute(fn: WasmFunction, places: Places): void {
  const selectors = places[2];
  const [index, sign] = [fn.local('v128'), fn.local('v128')];
  // Selectors 0–3 take bytes of the second operand, 4–7 of the first.
  fn.get(selectors);
  bytes(fn, 3);
  fn.op('v128.and')
    .v128(...DWORDS)
    .op('i8x16.add')
    .set(index);
  pick(fn, places, index, 4);
  // 8–11 repeat the signs of bytes 1 and 3 of the second, then of the first.
  fn.get(selectors);
  bytes(fn, 1);
  fn.op('v128.and').tee(index).get(index).op('i8x16.add');
  bytes(fn, 1);
  fn.op('i8x16.add')
    .v128(...DWORDS)
    .op('i8x16.add')
    .set(index);
  pick(fn, places, index, 2);
  bytes(fn, 0);
  fn.op('i8x16.lt_s').set(sign);
  // 12 is 0, above it 0xff.
  fn.get(sign).get(selectors);
  bytes(fn, 12);
  fn.op('i8x16.gt_u').get(selectors);
  bytes(fn, 12);
  fn.op('i8x16.lt_u').op(choosing());
  fn.get(selectors);
  bytes(fn, 8);
  fn.op('i8x16.lt_u').op(choosing());
}

export const PERMUTE: Record<string, MathFunction> = {
  permute_bytes: {
    parameters: 3,
    inline: true,
    build: (fn, _module, places) => permute(fn, places as unknown as Places),
  },
};
