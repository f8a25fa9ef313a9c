// Room `device/sim/wasm/memory`: memory instructions as WebAssembly: one helper function for each way of addressing and kind of
// transfer.
// Begin with this file, then mode.ts (what a way of addressing is) and transfer.ts (what happens to the bytes).
//
// Compiled memory instructions: chooses mode and transfer of an instruction and emits the call of their helper.
// The interpreter's binders (interpreter/memory-access.ts, interpreter/structural.ts) are the reference; every helper must agree with them bit for bit.

import { immediateOf } from '../../../../isa/operand.ts';
import type { AtomicOperation, LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import { type Operation, semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import type { WasmModule } from '../emit.ts';
import { accessFunction, lookFunction } from './access.ts';
import { type Addressing, addressingOf, ldsAddressing } from './addressing.ts';
import { atomicTransfer } from './atomic.ts';
import { canCompile } from './atomic-update.ts';
import { IN_LDS, nearFunction } from './flat.ts';
import { resumeIndex } from './frame.ts';
import { emitLdsSpecial } from './lds-special.ts';
import { loadToLds } from './load-to-lds.ts';
import { locateIndex, moveLanesIndex } from './mapped.ts';
import { type MemoryContext, namedVector, vectorAt } from './operand.ts';
import { loadPair, storePair } from './pair.ts';
import { emitScalarAtomic, emitScalarMemory } from './scalar.ts';
import { loadRegisters, storeRegisters, type Transfer } from './transfer.ts';
import { type Look, type Looks, movedApart, watched } from './watched.ts';

export { pushBufferPlace, pushScratchPlace } from './addressing.ts';
export { pushIsOtherMode, pushKeepsDenormals } from './atomic.ts';
export { atomicBytes } from './atomic-lanes.ts';
export { canCompile, pushUpdate } from './atomic-update.ts';
export { type CrossLaneContext, emitCrossLane } from './cross-lane.ts';
export { apertureFunction, IN_GLOBAL, IN_LDS, IN_SCRATCH, splitFunction } from './flat.ts';
export { maskOfBits, maskOfQuad } from './masks.ts';
export type { MemoryContext } from './operand.ts';
export { namedVector } from './operand.ts';
export { emitScalarMove, emitScalarPlace } from './scalar.ts';
export type { Frame, Transfer } from './transfer.ts';
export type { Look } from './watched.ts';
export { progressionFunction } from './window.ts';

/** Declares the imports that memory helpers call; to be done before the module's first function. */
export function declareMemoryImports(module: WasmModule): void {
  resumeIndex(module);
  locateIndex(module);
  moveLanesIndex(module);
}

/** How a load, store or atomic moves its data: `data` is the place of its data register, `extra` has the parameters of the transfer. */
interface Move {
  readonly addressing: Addressing;
  readonly transfer: Transfer;
  readonly data: number;
  readonly extra: readonly number[];
}

/** Pushes the parameters of a move's helper; `push` pushes those that a look adds to those of the transfer. */
function pushMove(context: MemoryContext, { addressing, data, extra }: Move, push?: () => void): void {
  const { fn, wave, pc } = context;
  fn.get(wave).i32(pc).i32(data);
  for (const value of extra) fn.i32(value);
  push?.();
  addressing.push(context);
}

/**
 * Moves the data of a load or store of registers where a look lets it pass: `lookAt` is the look at elements of so many bytes, and `push` pushes its
 * parameters, for one element of a pair after the other. Leaves 1 when all lanes have passed and been moved, 2 when they have passed only (movedApart), and 0
 * when they have not: then some may have been moved. False when nothing was emitted.
 */
export function emitWatched(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  operation: LoadOperation | StoreOperation,
  lookAt: (bytes: number) => Look,
  push: (part: number) => void,
): boolean {
  const move = operation.kind === 'load' ? loadMove(instruction, operation) : storeMove(instruction, operation);
  if (move === undefined) return false;
  const { addressing, transfer } = move;
  const look = lookAt(transfer.bytes);
  const looks: Looks = transfer.isPair ? [look, lookAt(transfer.bytes)] : [look];
  const both = look.movesApart === true ? movedApart(look, transfer) : watched(looks, transfer);
  const helper = lookFunction(module, addressing.mode, both);
  pushMove(context, move, () => {
    for (let n = 0; n < looks.length; n++) push(n);
  });
  context.fn.call(helper);
  return true;
}

function emitMove(context: MemoryContext, module: WasmModule, move: Move | undefined): boolean {
  if (move === undefined) return false;
  const helper = accessFunction(module, move.addressing.mode, move.transfer);
  pushMove(context, move);
  context.fn.call(helper);
  return true;
}

/**
 * Has `look`, a transfer that only looks, go over the lanes of a load or store of registers; `push` pushes its own parameters.
 * Leaves 1 when it could look at all of them. `part` counts the elements of a pair. False when nothing was emitted.
 */
export function emitLook(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  { pairStride, space }: LoadOperation | StoreOperation,
  part: number,
  look: Transfer,
  push: () => void,
): boolean {
  const addressing =
    pairStride === undefined
      ? addressingOf(instruction, space)
      : ldsAddressing(instruction, immediateOf(instruction, part === 0 ? 'offset0' : 'offset1') * pairStride);
  if (addressing === undefined) return false;
  const helper = lookFunction(module, addressing.mode, look);
  const { fn, wave, pc } = context;
  fn.get(wave).i32(pc).i32(0);
  push();
  addressing.push(context);
  fn.call(helper);
  return true;
}

/** Transfers of loads and stores by number of the row, and for pairs by whether the elements are neighbours. */
const transfers: [apart: (Transfer | undefined)[], adjacent: (Transfer | undefined)[]] = [[], []];

/** The transfer of a row, made by `make` when it is first asked for. */
function transferOf({ row }: Instruction, make: () => Transfer, isAdjacent = false): Transfer {
  const known = transfers[isAdjacent ? 1 : 0];
  let found = known[row.id];
  if (found === undefined) {
    found = make();
    known[row.id] = found;
  }
  return found;
}

function pairMove(instruction: Instruction, op: LoadOperation | StoreOperation): Move | undefined {
  const stride = op.pairStride as number;
  const first = immediateOf(instruction, 'offset0') * stride;
  const delta = immediateOf(instruction, 'offset1') * stride - first;
  const addressing = ldsAddressing(instruction, first);
  const data = namedVector(instruction, 'vdst', 'data0');
  if (addressing === undefined || data === undefined) return undefined;
  if (op.kind === 'load') {
    if (delta !== op.bytes) {
      return { addressing, transfer: transferOf(instruction, () => loadPair(op.bytes)), data, extra: [delta] };
    }
    // Neighbours are one load of twice the size.
    const transfer = transferOf(instruction, () => loadRegisters(2 * op.bytes, false, undefined), true);
    return { addressing, transfer, data, extra: [] };
  }
  const data1 = namedVector(instruction, 'data1');
  if (data1 === undefined) return undefined;
  return { addressing, transfer: transferOf(instruction, () => storePair(op.bytes)), data, extra: [delta, data1] };
}

function loadMove(instruction: Instruction, op: LoadOperation): Move | undefined {
  if (op.pairStride !== undefined) return pairMove(instruction, op);
  const addressing = addressingOf(instruction, op.space);
  if (addressing === undefined) return undefined;
  if (op.toLds || / lds$/.test(instruction.row.template)) {
    const offset = immediateOf(instruction, 'offset');
    const transfer = transferOf(instruction, () => loadToLds(op.bytes, op.signed));
    return { addressing, transfer, data: 0, extra: [offset] };
  }
  const data = namedVector(instruction, 'vdst', 'vdata');
  if (data === undefined) return undefined;
  const transfer = transferOf(instruction, () => loadRegisters(op.bytes, op.signed, op.half));
  return { addressing, transfer, data, extra: [] };
}

function storeMove(instruction: Instruction, op: StoreOperation): Move | undefined {
  if (op.pairStride !== undefined) return pairMove(instruction, op);
  const addressing = addressingOf(instruction, op.space);
  const data = namedVector(instruction, 'vdata', 'data0');
  if (addressing === undefined || data === undefined) return undefined;
  return { addressing, transfer: transferOf(instruction, () => storeRegisters(op.bytes, op.half)), data, extra: [] };
}

function emitLoadOrStore(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  op: LoadOperation | StoreOperation,
): boolean {
  if (op.space.startsWith('scalar')) return emitScalarMemory(context, module, instruction, op);
  if (op.space === 'flat') return emitFlat(context, module, instruction, op);
  return emitMove(context, module, moveOf(instruction, op));
}

function moveOf(instruction: Instruction, op: LoadOperation | StoreOperation): Move | undefined {
  return op.kind === 'load' ? loadMove(instruction, op) : storeMove(instruction, op);
}

/** Lanes that all are in LDS, or in scratch, are moved as there; others one by one where they are not in device memory. */
function emitFlat(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  op: LoadOperation | StoreOperation,
): boolean {
  const { fn, wave } = context;
  const moves = (['flat', 'lds', 'scratch'] as const).map((space) => moveOf(instruction, { ...op, space }));
  const register = namedVector(instruction, 'vaddr');
  if (register === undefined || moves.includes(undefined)) return emitMove(context, module, moves[0]);
  const aperture = fn.local('i32');
  fn.get(wave).i32(register).call(nearFunction(module)).tee(aperture);
  fn.if().get(aperture).i32(IN_LDS).op('i32.eq').if();
  emitMove(context, module, moves[1]);
  fn.else();
  emitMove(context, module, moves[2]);
  fn.end().else();
  emitMove(context, module, moves[0]);
  fn.end();
  fn.release('i32', aperture);
  return true;
}

/** Bit of the cache policy that makes an atomic's scope the system: sc1, or scc of gfx90a, where compilers leave it out. */
const SYSTEM_SCOPE = 16;

function emitAtomic(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  op: AtomicOperation,
): boolean {
  if (op.space.startsWith('scalar')) return emitScalarAtomic(context, module, instruction, op);
  if (op.pairStride !== undefined || !op.update.every(canCompile)) return false;
  const addressing = addressingOf(instruction, op.space);
  const data = namedVector(instruction, 'vdata_in', 'data0', 'vdata');
  if (addressing === undefined || data === undefined) return false;
  const returned = instruction.row.operands.findIndex((o) => o.isOut);
  const destination = returned < 0 ? undefined : vectorAt(instruction.operands[returned]);
  const separate = op.data === 'twoOperands' || op.data === 'compareThenNew';
  const second = separate ? namedVector(instruction, 'data1') : undefined;
  if (separate && second === undefined) return false;
  const t = atomicTransfer(op, atomicName(instruction), {
    returns: destination !== undefined,
    shared: op.space === 'lds',
    system: (immediateOf(instruction, 'cpol') & SYSTEM_SCOPE) !== 0,
    second: separate ? 'separate' : op.data === 'newThenCompare' ? 'following' : 'none',
  });
  return emitMove(context, module, { addressing, transfer: t, data, extra: [destination ?? 0, second ?? 0] });
}

/** The operation without the prefix of its address space and the mark of returning forms: `add_f32`, `cmpswap_x2`. */
function atomicName(instruction: Instruction): string {
  return instruction.row.operation.replace(/^(flat|global|buffer)_/, '').replace(/_rtn/, '');
}

/**
 * Emits the code of a memory instruction: loads, stores and atomics of all spaces, LDS counters and transposing reads. False:
 * nothing was emitted, and the interpreter has to execute it. Registers are read and written in the wave block.
 */
export function emitMemory(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  operation: Operation | undefined = semanticsOf(instruction.row.operation),
): boolean {
  switch (operation?.kind) {
    case 'load':
    case 'store':
      return emitLoadOrStore(context, module, instruction, operation);
    case 'atomic':
      return emitAtomic(context, module, instruction, operation);
    case 'structural':
      return emitLdsSpecial(context, module, instruction, operation);
    default:
      return false;
  }
}
