// What an atomic works with, and its lanes' words in registers.
import type { AtomicOperation } from '../../../../isa/semantics/index.ts';
import { VGPR_BYTES } from '../../state/layout.ts';
import type { Frame } from './transfer.ts';

/** Whether the old value is written to a register, and where memory is. */
export interface AtomicForm {
  readonly returns: boolean;
  readonly shared: boolean;
  /** Its scope is the system: the program beside the GPU may be at the memory, too. */
  readonly system: boolean;
  /** The second datum is in registers of its own (DS), after the first (compare-and-swap of VMEM), or there is none. */
  readonly second: 'none' | 'following' | 'separate';
}

/** What code of one atomic works with, beside the frame. */
export interface AtomicCode {
  readonly op: AtomicOperation;
  readonly form: AtomicForm;
  /** Words: what memory held, the data, what it will hold. i32 or i64. */
  readonly values: number[];
  /** The same for four lanes, v128: of 64 bits, lanes 0 and 1 first, then lanes 2 and 3. */
  readonly vectors: number[];
  /** f32: a local (i32) that is not 0 where denormals are read as they are, and one (v128) with the bits they lose. */
  keeps: number | undefined;
  flushed: number | undefined;
  /** A local (i32): not 0 when no one else can be at the memory. Undefined: no one ever can. */
  alone: number | undefined;
}

/** Whether an atomic works on 64 bits. */
export const isWide = (op: AtomicOperation): boolean => op.type === 'i64' || op.type === 'f64';

/** Bytes of memory that an atomic works on. */
export const atomicBytes = (op: AtomicOperation): number => (isWide(op) ? 8 : 4);

/** Distance of the second datum from the first where it is in the registers that follow. */
export const followingAt = (op: AtomicOperation): number => (isWide(op) ? 2 : 1) * VGPR_BYTES;

/** Pushes the address of a lane's word of a register that an extra parameter names. */
export function registerOf(f: Frame, register: number): void {
  f.code.fn.get(f.wave).get(register).op('i32.add').get(f.at).op('i32.add');
}

/** Sets a word to a lane's value of a register: `at` pushes the address of its first lane, the lane is `lane` further on. */
function takeWord(f: Frame, c: AtomicCode, to: number, at: () => void, lane: number): void {
  const { fn } = f.code;
  at();
  if (!isWide(c.op)) {
    fn.memory('i32.load', 4 * lane).set(to);
    return;
  }
  fn.memory('i64.load32_u', 4 * lane);
  at();
  fn.memory('i64.load32_u', VGPR_BYTES + 4 * lane)
    .i64(32n)
    .op('i64.shl')
    .op('i64.or')
    .set(to);
}

/** Sets the data of the lane `lane` further on; the locals of data and second datum as the update takes them. */
export function takeData(f: Frame, c: AtomicCode, lane: number): readonly [data: number, data2: number] {
  const { fn } = f.code;
  const { op, form } = c;
  const [, first, other] = c.values as [number, number, number];
  takeWord(f, c, first, () => fn.get(f.laneWord), lane);
  if (form.second === 'following')
    takeWord(f, c, other, () => fn.get(f.laneWord).i32(followingAt(op)).op('i32.add'), lane);
  else if (form.second === 'separate') takeWord(f, c, other, () => registerOf(f, f.extra[1] as number), lane);
  return op.data === 'compareThenNew' ? [other, first] : [first, other];
}

/** Writes what memory held to the destination of the lane `lane` further on. */
export function putOld(f: Frame, c: AtomicCode, lane: number): void {
  if (!c.form.returns) return;
  const { fn } = f.code;
  const [old] = c.values as [number];
  const [destination] = f.extra as [number];
  registerOf(f, destination);
  fn.get(old);
  if (!isWide(c.op)) {
    fn.memory('i32.store', 4 * lane);
    return;
  }
  fn.memory('i64.store32', 4 * lane);
  registerOf(f, destination);
  fn.get(old)
    .i64(32n)
    .op('i64.shr_u')
    .memory('i64.store32', VGPR_BYTES + 4 * lane);
}
