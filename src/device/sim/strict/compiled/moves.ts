// Compiled code moves the data of an access in the same go over the lanes in which it looks at them: their addresses are found once. Where
// TypeScript has to look, some lanes have been moved, and the instruction is executed again: its addresses must be what they were, and for
// stores nothing may have been moved that has not passed a look, because what memory holds says whether a store changes anything.
import { immediateOf, operandNamed } from '../../../../isa/operand.ts';
import type { LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { VGPR_BYTES } from '../../state/layout.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { emitWatched, type Look, namedVector } from '../../wasm/memory/index.ts';
import { SHADOW_KEPT } from '../registers/shadow-layout.ts';

/** A look that may look at both elements of a pair together, with a function as ldsPairsFunction has it. */
export type PairedLook = Look & { readonly pairs?: (module: WasmModule) => WasmFunction };

/** What emitWatched leaves when all lanes have passed and nothing has been moved. */
const LOOKED_AT = 2;

/**
 * Has a look look at a load or store of registers, and moves its data: `lookAt` and `push` are as emitWatched takes them. Written inside of a block:
 * leaves it when TypeScript has to look; else the local `moved` is 1 where the data has been moved. False when there is no code for its addresses; then nothing
 * has been written.
 */
export function emitLookAndMove(
  context: FunctionContext,
  shadow: number,
  instruction: Instruction,
  operation: LoadOperation | StoreOperation,
  lookAt: (bytes: number) => Look,
  push: (part: number) => void,
  moved: number,
): boolean {
  const { fn, module, wave } = context;
  const mark = fn.size;
  const kept = operation.kind === 'load' ? overwrittenAddresses(instruction, operation) : undefined;
  const pushPlaces = (isBack: boolean): WasmFunction => {
    const place = kept?.place ?? 0;
    if (isBack) fn.get(wave).i32(place).op('i32.add').get(shadow).i32(SHADOW_KEPT).op('i32.add');
    else fn.get(shadow).i32(SHADOW_KEPT).op('i32.add').get(wave).i32(place).op('i32.add');
    return fn.call(copyFunction(module, kept?.registers ?? 0));
  };
  const hasPairs = pushPairs(context, shadow, instruction, operation, lookAt, push);
  if (hasPairs) fn.if('i32').i32(LOOKED_AT).else();
  if (kept !== undefined) pushPlaces(false);
  if (!emitWatched(context, module, instruction, operation, lookAt, push)) {
    fn.truncate(mark);
    return false;
  }
  if (hasPairs) fn.end();
  const result = fn.local('i32');
  fn.tee(result).op('i32.eqz');
  if (kept === undefined) fn.brIf(0);
  else {
    fn.if();
    pushPlaces(true);
    fn.br(1).end();
  }
  fn.get(result).i32(1).op('i32.and').set(moved);
  fn.release('i32', result);
  return true;
}

/**
 * Leaves 1 when both elements of all lanes of a DS read2 or write2 have been looked at together, 0 when they are to be looked at otherwise. False when nothing was
 * pushed.
 */
function pushPairs(
  { fn, module, wave }: FunctionContext,
  shadow: number,
  instruction: Instruction,
  { kind, pairStride, bytes }: LoadOperation | StoreOperation,
  lookAt: (bytes: number) => PairedLook,
  push: (part: number) => void,
): boolean {
  const register = namedVector(instruction, 'addr');
  if (pairStride === undefined || register === undefined || immediateOf(instruction, 'gds') !== 0) return false;
  const [first, second] = (['offset0', 'offset1'] as const).map((name) => immediateOf(instruction, name) * pairStride);
  const delta = (second as number) - (first as number);
  // Loads of neighbours are looked at as one of twice the size.
  const { pairs } = lookAt(bytes);
  if (pairs === undefined || (kind === 'load' && delta === bytes)) return false;
  fn.get(shadow).get(wave);
  push(0);
  fn.get(wave).i32(register).op('i32.add');
  fn.i32(first as number)
    .i32(delta)
    .call(pairs(module));
  return true;
}

/** The registers with a load's addresses where it writes one of them: the place of the first in the wave block, and how many there are. */
function overwrittenAddresses(
  instruction: Instruction,
  { bytes, pairStride }: LoadOperation,
): { readonly place: number; readonly registers: number } | undefined {
  const operand = operandNamed(instruction, 'vaddr') ?? operandNamed(instruction, 'addr');
  const [place, data] = [namedVector(instruction, 'vaddr', 'addr'), namedVector(instruction, 'vdst', 'vdata')];
  if (operand?.kind !== 'reg' || place === undefined || data === undefined) return undefined;
  const written = Math.max(1, bytes / 4) * (pairStride === undefined ? 1 : 2);
  const isApart = data + written * VGPR_BYTES <= place || place + operand.dwords * VGPR_BYTES <= data;
  return isApart ? undefined : { place, registers: operand.dwords };
}

/** (to, from): copies so many registers. */
function copyFunction(module: WasmModule, registers: number): WasmFunction {
  return module.helper(`strict.keep.${registers}`, ['i32', 'i32'], [], (fn) => {
    for (let at = 0; at < registers * VGPR_BYTES; at += 16) {
      fn.get(0).get(1).memory('v128.load', at).memory('v128.store', at);
    }
  });
}
