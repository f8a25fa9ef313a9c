// Lanes beside each other that have the same LDS address, as the rows of a tile have that several lanes read: one of them asks for the others.
import { LANES, VGPR_BYTES } from '../state/layout.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import type { BankAccess } from './lds-banks.ts';

/** Lanes whose addresses are narrowed to one vector of bytes. */
const PART = 16;

/** The function (place of lane 0 of an address register) → i64: lanes that begin a phase, or have another address than the lane before. */
export function runsFunction(module: WasmModule, { phases }: BankAccess): WasmFunction {
  const starts = phases.reduce((bits, [first = 0]) => bits | (1n << BigInt(first)), 0n);
  const isInOrder = phases.every((lanes) => lanes.every((lane, n) => lane === (lanes[0] as number) + n));
  if (!isInOrder) throw new Error('lanes of a phase do not follow each other');
  return module.helper(`count.runs ${phases.length}`, ['i32'], ['i64'], (fn) => {
    const address = 0;
    fn.i64(0n);
    for (let at = 0; at < VGPR_BYTES; at += 4 * PART) {
      for (const pair of [0, 32]) {
        for (const quad of [0, 16]) {
          // The first lane's is compared with what is before the register, and then begins a phase.
          fn.get(address).memory('v128.load', at + pair + quad);
          fn.get(address)
            .i32(4)
            .op('i32.sub')
            .memory('v128.load', at + pair + quad);
          fn.op('i32x4.ne');
        }
        fn.op('i16x8.narrow_i32x4_s');
      }
      fn.op('i8x16.narrow_i16x8_s').op('i8x16.bitmask').op('i64.extend_i32_u');
      fn.i64(BigInt(at / 4))
        .op('i64.shl')
        .op('i64.or');
    }
    fn.i64(BigInt.asIntN(LANES, starts)).op('i64.or');
  });
}
