// EXEC as vectors: all ones in the 32-bit lanes that are active.
import { VGPR_BYTES } from '../../state/layout.ts';
import type { WasmFunction } from '../emit.ts';
import type { Code } from './code.ts';

/** Pushes the mask of the lowest four bits of the i32 on the stack. */
export function maskOfBits(fn: WasmFunction): void {
  fn.op('i32x4.splat').v128(1, 2, 4, 8).op('v128.and').v128(1, 2, 4, 8).op('i32x4.eq');
}

/** Pushes the mask of four lanes of EXEC (an i64 local). */
export function maskOfQuad(fn: WasmFunction, exec: number, quad: number): void {
  fn.get(exec)
    .i64(BigInt(4 * quad))
    .op('i64.shr_u')
    .op('i32.wrap_i64');
  maskOfBits(fn);
}

/** Loops over the 16 quads: `body` sees the local of the byte offset in a register, and `mask` pushes the quad's mask. */
export function forQuads(code: Code, exec: number, body: (at: number, mask: () => void) => void): void {
  const { fn } = code;
  const at = code.local('i32');
  fn.i32(0).set(at);
  code.loop((again) => {
    body(at, () => {
      fn.get(exec).get(at).i32(2).op('i32.shr_u').op('i64.extend_i32_u').op('i64.shr_u').op('i32.wrap_i64');
      maskOfBits(fn);
    });
    fn.get(at).i32(16).op('i32.add').tee(at).i32(VGPR_BYTES).op('i32.lt_u');
    code.brIf(again);
  });
}
