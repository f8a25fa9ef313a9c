// Scalar memory: s_load, s_buffer_load, s_store, s_buffer_store. One address for the wavefront; a run of dwords is copied at once
// when its page is live and a buffer holds all of it, else the interpreter does it. Source: AMD CDNA3 ISA, "Scalar Memory".

import { immediateOf, operandNamed } from '../../../../isa/operand.ts';
import type { AtomicOperation, LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { registerOf } from '../../interpreter/operands.ts';
import { gpuWindow } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { readModifyWrite } from './atomic.ts';
import { isWide } from './atomic-lanes.ts';
import { canCompile } from './atomic-update.ts';
import { Code } from './code.ts';
import { resumeIndex } from './frame.ts';
import { locateFunction } from './mapped.ts';
import { isPlainScalar, type MemoryContext, pushScalar } from './operand.ts';
import { checkPage } from './window.ts';

/** Encoding of the null register, and the end of the scalar register file. */
const NULL = 125;
const SCALARS = 128;

/** (wave, pc, place of the data registers, place of the base, offset): `moved` words of a `bytes`-byte access. */
function scalarFunction(
  module: WasmModule,
  bytes: number,
  moved: number,
  buffer: boolean,
  store: boolean,
): WasmFunction {
  const name = `memory.scalar.${store ? 'store' : 'load'}.${buffer ? 'buffer.' : ''}${bytes}.${moved}`;
  const resume = resumeIndex(module);
  return module.helper(name, ['i32', 'i32', 'i32', 'i32', 'i64'], [], (fn) => {
    const code = new Code(fn);
    const [wave, pc, data, base, offset] = [0, 1, 2, 3, 4] as const;
    const address = code.local('i64');
    const a = code.local('i32');
    const leave = (): void => {
      code.if(() => fn.get(wave).get(pc).i32(0).call(resume).return());
    };
    fn.get(wave).get(data).op('i32.add').set(data);
    fn.get(wave).get(base).op('i32.add').set(base);
    if (buffer) {
      bufferAddress(code, base, offset, bytes, address, leave);
    } else {
      fn.get(base).memory('i64.load').get(offset).op('i64.add').i64(-4n).op('i64.and').set(address);
    }
    liveOffset(module, code, { wave, address, a }, bytes, store, leave);
    copyWords(fn, store ? a : data, store ? data : a, moved);
  });
}

/**
 * Pushes where in wasm memory the bytes of a scalar load are; 0 when they are not in live memory of the window, a buffer does not hold them, or
 * the address is not that of a dword. False when nothing was emitted.
 */
export function emitScalarPlace(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  { space, bytes }: LoadOperation,
): boolean {
  if (space !== 'scalar' && space !== 'scalarBuffer') return false;
  const base = registerOf(instruction, 'sbase').encoding;
  const soffset = operandNamed(instruction, 'soffset');
  if (soffset !== undefined && !isPlainScalar(soffset)) return false;
  const isBuffer = space === 'scalarBuffer';
  if (base + (isBuffer ? 4 : 2) > SCALARS) return false;
  const name = `memory.scalar.place.${isBuffer ? 'buffer.' : ''}${bytes}`;
  const helper = module.helper(name, ['i32', 'i32', 'i64'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [wave, descriptor, offset] = [0, 1, 2] as const;
    const [address, a] = [code.local('i64'), code.local('i32')];
    fn.get(wave).get(descriptor).op('i32.add').set(descriptor);
    if (isBuffer) bufferAddress(code, descriptor, offset, bytes, address, () => code.if(() => fn.i32(0).return()));
    else fn.get(descriptor).memory('i64.load').get(offset).op('i64.add').set(address);
    fn.get(address).op('i32.wrap_i64').tee(a).i32(0);
    fn.get(address).i64(32n).op('i64.shr_u').i64(BigInt(gpuWindow.high)).op('i64.eq');
    checkPage(fn, a, bytes, false);
    fn.op('i32.and').get(a).i32(3).op('i32.and').op('i32.eqz').op('i32.and').select();
  });
  context.fn.get(context.wave).i32(4 * base);
  pushOffset(context, instruction);
  context.fn.call(helper);
  return true;
}

/** Moves the words of a scalar load from where `place`, a local, has them in wasm memory. */
export function emitScalarMove(
  { fn, wave }: MemoryContext,
  instruction: Instruction,
  { bytes }: LoadOperation,
  place: number,
): void {
  const { encoding } = registerOf(instruction, 'sdst');
  const data = fn.local('i32');
  fn.get(wave)
    .i32(4 * encoding)
    .op('i32.add')
    .set(data);
  copyWords(fn, data, place, loadedWords(bytes / 4, encoding));
  fn.release('i32', data);
}

/** Of so many words, those that have registers from one on. */
const loadedWords = (words: number, data: number): number => (data === NULL ? 0 : Math.min(words, SCALARS - data));

/** Sets `address` to that of `bytes` bytes at an offset of a buffer; when it does not hold them, `leave` sees a 1 on the stack. */
function bufferAddress(
  code: Code,
  descriptor: number,
  offset: number,
  bytes: number,
  address: number,
  leave: () => void,
): void {
  const { fn } = code;
  const [limit, stride] = [code.local('i64'), code.local('i64')];
  fn.get(offset).i64(-4n).op('i64.and').set(offset);
  fn.get(descriptor).memory('i64.load32_u', 8).set(limit);
  fn.get(descriptor).memory('i64.load16_u', 6).i64(0x3fffn).op('i64.and').set(stride);
  fn.get(limit).get(limit).get(stride).op('i64.mul').get(stride).op('i64.eqz').select();
  fn.get(offset).i64(BigInt(bytes)).op('i64.add').op('i64.lt_s');
  fn.get(offset).i64(0n).op('i64.lt_s').op('i32.or');
  leave();
  fn.get(descriptor).memory('i64.load').i64(0xffffffffffffn).op('i64.and').get(offset).op('i64.add').set(address);
}

/** Sets `a` to the wasm offset of `bytes` live bytes at `address`; when there are none, `leave` sees a 1 on the stack. */
function liveOffset(
  module: WasmModule,
  code: Code,
  { wave, address, a }: { readonly wave: number; readonly address: number; readonly a: number },
  bytes: number,
  write: boolean,
  leave: () => void,
): void {
  const { fn } = code;
  fn.get(address).op('i32.wrap_i64').set(a);
  fn.get(address).i64(32n).op('i64.shr_u').i64(BigInt(gpuWindow.high)).op('i64.ne');
  checkPage(fn, a, bytes, write);
  fn.op('i32.eqz').op('i32.or');
  code.if(() => {
    fn.get(wave).get(address).i32(bytes).call(locateFunction(module, write)).tee(a).op('i32.eqz');
    leave();
  });
}

/** Copies `words` words between the addresses in two locals. */
function copyWords(fn: WasmFunction, to: number, from: number, words: number): void {
  const pieces: [name: string, at: number][] = [];
  for (let n = 0; n < words; ) {
    const left = words - n;
    const [name, size]: [string, number] = left >= 4 ? ['v128', 4] : left >= 2 ? ['i64', 2] : ['i32', 1];
    pieces.push([name, 4 * n]);
    n += size;
  }
  for (const [name, at] of pieces) fn.get(to).get(from).memory(`${name}.load`, at).memory(`${name}.store`, at);
}

/** Emits a scalar load or store. */
export function emitScalarMemory(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  op: LoadOperation | StoreOperation,
): boolean {
  if (op.space !== 'scalar' && op.space !== 'scalarBuffer') return false;
  const store = op.kind === 'store';
  const data = registerOf(instruction, store ? 'sdata' : 'sdst').encoding;
  const base = registerOf(instruction, 'sbase').encoding;
  const words = op.bytes / 4;
  const moved = store ? words : loadedWords(words, data);
  const soffset = operandNamed(instruction, 'soffset');
  // The descriptor's four words, or the two of the base, must be in the register file.
  if (soffset !== undefined && !isPlainScalar(soffset)) return false;
  if (base + (op.space === 'scalarBuffer' ? 4 : 2) > SCALARS || (store && data + words > SCALARS)) return false;
  const helper = scalarFunction(module, op.bytes, moved, op.space === 'scalarBuffer', store);
  emitCall(context, instruction, helper, data, base);
  return true;
}

function emitCall(
  context: MemoryContext,
  instruction: Instruction,
  helper: WasmFunction,
  data: number,
  base: number,
): void {
  const { fn, wave, pc } = context;
  fn.get(wave).i32(pc);
  fn.i32(4 * data).i32(4 * base);
  pushOffset(context, instruction);
  fn.call(helper);
}

/** Pushes the sum of constant and register that is added to the base, an i64. */
function pushOffset(context: MemoryContext, instruction: Instruction): void {
  const { fn } = context;
  const soffset = operandNamed(instruction, 'soffset');
  if (soffset === undefined) fn.i64(BigInt(immediateOf(instruction, 'offset')));
  else {
    pushScalar(context, soffset);
    fn.op('i64.extend_i32_u')
      .i64(BigInt(immediateOf(instruction, 'offset')))
      .op('i64.add');
  }
}

/** Emits an integer atomic of the scalar unit on a plain address. */
export function emitScalarAtomic(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  op: AtomicOperation,
): boolean {
  if (op.space !== 'scalar' || !op.update.every(canCompile)) return false;
  const data = registerOf(instruction, 'sdata').encoding;
  const base = registerOf(instruction, 'sbase').encoding;
  const soffset = operandNamed(instruction, 'soffset');
  const bytes = isWide(op) ? 8 : 4;
  if (base + 2 > SCALARS || data + bytes / 2 > SCALARS || (soffset !== undefined && !isPlainScalar(soffset)))
    return false;
  const returns = operandNamed(instruction, 'sdst') !== undefined;
  const name = `memory.scalar.${instruction.row.operation}${returns ? '.rtn' : ''}`;
  const resume = resumeIndex(module);
  const helper = module.helper(name, ['i32', 'i32', 'i32', 'i32', 'i64'], [], (fn) => {
    const code = new Code(fn);
    const [wave, pc, register, descriptor, offset] = [0, 1, 2, 3, 4] as const;
    const type = isWide(op) ? 'i64' : 'i32';
    const address = code.local('i64');
    const a = code.local('i32');
    const [old, first, other, next, seen] = [0, 1, 2, 3, 4].map(() => code.local(type)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    fn.get(wave).get(register).op('i32.add').set(register);
    fn.get(wave).get(descriptor).op('i32.add').memory('i64.load').get(offset).op('i64.add');
    fn.i64(-4n).op('i64.and').set(address);
    const leave = (): void => {
      code.if(() => fn.get(wave).get(pc).i32(0).call(resume).return());
    };
    liveOffset(module, code, { wave, address, a }, bytes, true, leave);
    fn.get(a)
      .i32(bytes - 1)
      .op('i32.and');
    leave();
    fn.get(register).memory(`${type}.load`).set(first);
    fn.get(register).memory(`${type}.load`, bytes).set(other);
    readModifyWrite(code, module, op, { address: a, old, data: first, data2: other, next, seen });
    if (returns) fn.get(register).get(old).memory(`${type}.store`);
  });
  emitCall(context, instruction, helper, data, base);
  return true;
}
