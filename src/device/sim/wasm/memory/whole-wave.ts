// A wavefront with all its lanes, by how they lie: they follow each other, all are on one element, or each is somewhere else.
import { LANES } from '../../state/layout.ts';
import type { Label } from './code.ts';
import type { Frame, Transfer } from './transfer.ts';
import { ifAdmitted, overQuads } from './window.ts';

/** What to do by lane 1 minus lane 0 of a register: when it is the element size, 0, or something else; each may fall through. */
interface Strides {
  readonly ascending: () => void;
  readonly same?: (() => void) | undefined;
  readonly other?: ((stride: number) => void) | undefined;
}

export function byStride(f: Frame, register: number, bytes: number, { ascending, same, other }: Strides): void {
  const { code } = f;
  const { fn } = code;
  const stride = code.local('i32');
  fn.get(register).memory('i32.load', 4).get(register).memory('i32.load').op('i32.sub').tee(stride);
  fn.i32(bytes).op('i32.eq');
  code.if(ascending, () => {
    if (same !== undefined) {
      fn.get(stride).op('i32.eqz');
      code.if(same);
    }
    other?.(stride);
  });
}

/** Whether all lanes can be moved that are on one element. */
export const canBeOne = (t: Transfer): boolean => t.broadcast !== undefined || t.isAtomic !== undefined;

/** The whole wavefront at offset `a` of wasm memory (consecutive or one address), which is on the stack too; 0 is none. */
export function wholeWave(f: Frame, t: Transfer, a: number, done: Label, one: boolean): void {
  f.code.if(() => {
    if (one) moveOne(f, t, a, done);
    else
      ifAdmitted(f, t, [a], () => {
        if (t.wave !== undefined) t.wave(f, a, LANES * t.bytes);
        else overQuads(f, a, 4 * t.bytes, () => t.contiguous(f, a));
        f.code.br(done);
      });
  });
}

/** All lanes on the one element at `a`: moves them and goes to `done`; atomics may fall through. */
export function moveOne(f: Frame, t: Transfer, a: number, done: Label): void {
  const { isAtomic, broadcast } = t;
  if (isAtomic !== undefined) {
    isAtomic.one(f, a, () => f.code.br(done));
    return;
  }
  if (t.wave !== undefined) t.wave(f, a, t.bytes);
  else overQuads(f, a, 0, () => broadcast?.(f, a));
  f.code.br(done);
}
