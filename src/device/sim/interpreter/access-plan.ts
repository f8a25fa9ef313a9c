// Which bytes of memory an instruction touches: a plan per instruction that gives the addresses of every lane from the wave's state
// before it executes. For observers (strict mode, counters, traces); execution itself does not use it.
// Sources: AMD CDNA3 ISA, chapters "Vector Memory Buffer Instructions", "Flat Memory", "Data Share", "Scalar Memory".

import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import type { AtomicOperation, ImageOperation, Operation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { AGPR_BASE, M0, type Wave } from '../state/wave.ts';
import { bindTexels } from './images.ts';
import { KernelStop } from './kernel-stop.ts';
import { ATOMIC_WORDS, bindBuffer, bindScalarAddress, bindTarget, pairOffsets, type Target } from './memory-access.ts';
import { registerOf } from './operands.ts';
import { formatLayout } from './typed-buffers.ts';

/** Where the bytes are. `flat`: the address decides, by lane. Buffers are global memory. */
export type AccessSpace = 'global' | 'lds' | 'scratch' | 'flat';

/** Some consecutive bytes of one lane's access. */
export interface AccessPiece {
  /** Offset from the lane's address. */
  readonly offset: number;
  readonly bytes: number;
  /** First VGPR (AGPRs from 256), or SGPR of a scalar access, that holds or receives the bytes; -1 for none. */
  readonly register: number;
  /** Less than a register: which half receives or gives the bytes. */
  readonly half: 'low' | 'high' | undefined;
}

/** The memory side of one instruction. */
export interface AccessPlan {
  readonly space: AccessSpace;
  readonly kind: 'load' | 'store' | 'atomic';
  /** One access of the wavefront, not one per lane. */
  readonly isScalar: boolean;
  /** The data goes to LDS, not to registers. */
  readonly toLds: boolean;
  /** Must be called before the other functions, once per execution. */
  readonly prepare: (w: Wave) => void;
  readonly pieces: (w: Wave) => readonly AccessPiece[];
  /** Address of a piece in its space, or -1 when a buffer's bounds drop it. */
  readonly address: (w: Wave, lane: number, piece: AccessPiece) => number;
  /** Bytes from a dword of a lane to its next one in a swizzled buffer, where what straddles dwords goes on; 0 elsewhere. */
  readonly rowBytes: () => number;
  /** Bytes of a lane when all its pieces follow each other and `addresses` can give them, else 0. */
  readonly span: number;
  /** See `Target.addresses`; -1 where a buffer's bounds drop the access. */
  readonly addresses: (w: Wave, span: number, out: Float64Array) => boolean;
  /** First word in `vgprs` of the 32-bit register that alone tells lanes apart. */
  readonly laneOffsets: number | undefined;
  /** Where a load into LDS puts the first byte of a lane's piece. */
  readonly ldsAddress: (w: Wave, lane: number, piece: AccessPiece) => number;
}

const NO_LDS = (): number => -1;
const nothing = (): void => {};
const NO_ROWS = (): number => 0;
const NO_SPAN = { span: 0, addresses: (): boolean => false, laneOffsets: undefined, rowBytes: NO_ROWS };

/** Bytes of pieces that follow each other from offset 0 on, else 0. */
function spanOf(pieces: readonly AccessPiece[]): number {
  let end = 0;
  for (const { offset, bytes } of pieces) {
    if (offset !== end) return 0;
    end += bytes;
  }
  return end;
}

/** Number of a vector register in the wave's file, -1 when the operand is absent or scalar. */
function vectorNumber(instruction: Instruction, ...names: readonly string[]): number {
  for (const name of names) {
    const operand = operandNamed(instruction, name);
    if (operand?.kind !== 'reg') continue;
    if (operand.file === 'v') return operand.index;
    if (operand.file === 'a') return AGPR_BASE + operand.index;
  }
  return -1;
}

/** Registers of the returned value. */
function outputNumber(instruction: Instruction): number {
  const index = instruction.row.operands.findIndex((o) => o.isOut);
  const operand = instruction.operands[index];
  if (operand?.kind !== 'reg') return -1;
  return operand.file === 'a' ? AGPR_BASE + operand.index : operand.file === 'v' ? operand.index : -1;
}

function wordPieces(bytes: number, offset: number, register: number, half: AccessPiece['half']): AccessPiece[] {
  if (bytes < 4) return [{ offset, bytes, register, half }];
  const pieces: AccessPiece[] = [];
  for (let at = 0; at < bytes; at += 4) {
    pieces.push({ offset: offset + at, bytes: 4, register: register < 0 ? -1 : register + at / 4, half: undefined });
  }
  return pieces;
}

/** The access of an instruction, or undefined when it touches no memory: also when it stops the kernel instead of executing. */
export function accessPlan(instruction: Instruction, op: Operation | undefined): AccessPlan | undefined {
  try {
    return bindAccess(instruction, op);
  } catch (error) {
    if (error instanceof KernelStop) return undefined;
    throw error;
  }
}

function bindAccess(instruction: Instruction, op: Operation | undefined): AccessPlan | undefined {
  switch (op?.kind) {
    case 'load':
    case 'store':
      return op.space.startsWith('scalar') ? scalarPlan(instruction, op) : vectorPlan(instruction, op);
    case 'atomic':
      return op.space.startsWith('scalar') ? scalarPlan(instruction, op) : atomicPlan(instruction, op);
    case 'format':
      return formatPlan(instruction, op);
    case 'image':
      return imagePlan(instruction, op);
    case 'structural':
      return structuralPlan(instruction, op.name, op.parameter, op.direction);
    default:
      return undefined;
  }
}

type SpacedOperation = Extract<Operation, { kind: 'load' | 'store' | 'atomic' }>;

function scalarPlan(instruction: Instruction, op: SpacedOperation): AccessPlan {
  const address = bindScalarAddress(instruction, op.space);
  const bytes = op.kind === 'atomic' ? 4 * ATOMIC_WORDS[op.type] : op.bytes;
  const operand = operandNamed(instruction, op.kind === 'load' ? 'sdst' : 'sdata');
  const pieces = wordPieces(bytes, 0, operand?.kind === 'reg' ? operand.encoding : -1, undefined);
  return {
    space: 'global',
    kind: op.kind,
    isScalar: true,
    toLds: false,
    prepare: nothing,
    pieces: () => pieces,
    address: (w, _lane, piece) => address(w, piece.offset),
    ...NO_SPAN,
    ldsAddress: NO_LDS,
  };
}

function spaceOf(space: SpacedOperation['space']): AccessSpace {
  switch (space) {
    case 'lds':
    case 'scratch':
    case 'flat':
      return space;
    default:
      return 'global';
  }
}

function planOf(
  target: Target,
  space: AccessSpace,
  kind: AccessPlan['kind'],
  pieces: readonly AccessPiece[],
): AccessPlan {
  return {
    space,
    kind,
    isScalar: false,
    toLds: false,
    prepare: target.prepare,
    pieces: () => pieces,
    address: (w, lane, piece) => target.address(w, lane, piece.offset, piece.bytes),
    rowBytes: target.rowBytes ?? NO_ROWS,
    span: target.addresses === undefined ? 0 : spanOf(pieces),
    addresses: target.addresses ?? NO_SPAN.addresses,
    laneOffsets: target.laneOffsets,
    ldsAddress: NO_LDS,
  };
}

function vectorPlan(instruction: Instruction, op: Extract<Operation, { kind: 'load' | 'store' }>): AccessPlan {
  const target = bindTarget(instruction, op.space);
  const space = spaceOf(op.space);
  if (op.kind === 'load' && (op.toLds || / lds$/.test(instruction.row.template))) {
    const offset = immediateOf(instruction, 'offset');
    const step = Math.max(4, op.bytes);
    return {
      ...planOf(target, space, 'load', wordPieces(op.bytes, 0, -1, undefined)),
      toLds: true,
      ldsAddress: (w, lane, piece) => ((w.sgprs[M0] as number) >>> 0) + offset + lane * step + piece.offset,
    };
  }
  const data =
    op.kind === 'load' ? vectorNumber(instruction, 'vdst', 'vdata') : vectorNumber(instruction, 'vdata', 'data0');
  if (op.pairStride === undefined) return planOf(target, space, op.kind, wordPieces(op.bytes, 0, data, op.half));
  const [first, second] = pairOffsets(instruction, op.pairStride);
  const other = op.kind === 'load' ? data + op.bytes / 4 : vectorNumber(instruction, 'data1');
  return planOf(target, space, op.kind, [
    ...wordPieces(op.bytes, first, data, undefined),
    ...wordPieces(op.bytes, second, other, undefined),
  ]);
}

function atomicPlan(instruction: Instruction, op: AtomicOperation): AccessPlan {
  const target = bindTarget(instruction, op.space);
  const offsets = op.pairStride === undefined ? [0] : pairOffsets(instruction, op.pairStride);
  const bytes = 4 * ATOMIC_WORDS[op.type];
  const output = outputNumber(instruction);
  // One piece per value: the whole of it must be aligned and in bounds.
  const pieces = offsets.map((offset, i): AccessPiece => {
    return { offset, bytes, register: output < 0 ? -1 : output + (i * bytes) / 4, half: undefined };
  });
  return planOf(target, spaceOf(op.space), 'atomic', pieces);
}

function formatPlan(instruction: Instruction, op: Extract<Operation, { kind: 'format' }>): AccessPlan {
  const target = bindBuffer(instruction);
  const register = vectorNumber(instruction, 'vdata');
  const offset = immediateOf(instruction, 'offset');
  const toLds = register < 0;
  let known: AccessPiece[] = [];
  return {
    space: 'global',
    kind: op.direction,
    isScalar: false,
    toLds,
    prepare: (w) => {
      target.prepare(w);
      const bits = formatLayout(instruction, op, target.resource());
      const bytes = (bits ?? []).reduce((sum, n) => sum + n, 0) / 8;
      if (bytes !== known[0]?.bytes) known = bytes === 0 ? [] : [{ offset: 0, bytes, register, half: undefined }];
    },
    pieces: () => known,
    address: (w, lane, piece) => target.address(w, lane, 0, piece.bytes),
    ...NO_SPAN,
    ldsAddress: toLds ? (w, lane) => ((w.sgprs[M0] as number) >>> 0) + offset + 4 * lane : NO_LDS,
  };
}

/** Texels by whole coordinates. What a filter reads is up to its weights: samples have no plan. */
function imagePlan(instruction: Instruction, op: ImageOperation): AccessPlan | undefined {
  if (op.action !== 'load' && op.action !== 'store') return undefined;
  const texels = bindTexels(instruction, op);
  let known: readonly AccessPiece[] = [];
  return {
    space: 'global',
    kind: op.action,
    isScalar: false,
    toLds: false,
    prepare: (w) => {
      const bytes = texels.prepare(w);
      // Texels and registers do not correspond byte by byte.
      if (bytes !== known[0]?.bytes) known = [{ offset: 0, bytes, register: -1, half: undefined }];
    },
    pieces: () => known,
    address: (w, lane) => texels.address(w, lane),
    ...NO_SPAN,
    ldsAddress: NO_LDS,
  };
}

function structuralPlan(
  instruction: Instruction,
  name: string,
  parameter: number,
  direction: 'load' | 'store' | undefined,
): AccessPlan | undefined {
  const offset = immediateOf(instruction, 'offset');
  const base = {
    space: 'lds' as const,
    isScalar: false,
    toLds: false,
    prepare: nothing,
    ...NO_SPAN,
    ldsAddress: NO_LDS,
  };
  switch (name) {
    case 'append': {
      const pieces: AccessPiece[] = [
        { offset: 0, bytes: 4, register: vectorNumber(instruction, 'vdst'), half: undefined },
      ];
      const address = (w: Wave): number => ((w.sgprs[M0] as number) & 0xffff) + offset;
      return { ...base, kind: 'atomic', isScalar: true, pieces: () => pieces, address };
    }
    case 'addtid': {
      const register = vectorNumber(instruction, direction === 'load' ? 'vdst' : 'data0');
      const pieces: AccessPiece[] = [{ offset: 0, bytes: 4, register, half: undefined }];
      const address = (w: Wave, lane: number): number => ((w.sgprs[M0] as number) & 0xffff) + offset + 4 * lane;
      return { ...base, kind: direction ?? 'load', pieces: () => pieces, address };
    }
    case 'condxchg': {
      const at = registerOf(instruction, 'addr').index * 64;
      const pieces = wordPieces(8, 0, vectorNumber(instruction, 'vdst'), undefined);
      const address = (w: Wave, lane: number, piece: AccessPiece): number =>
        (((w.vgprs[at + lane] as number) + offset) & 0xfff8) + piece.offset;
      return { ...base, kind: 'atomic', pieces: () => pieces, address };
    }
    case 'readTransposed': {
      const at = registerOf(instruction, 'addr').index * 64;
      const words = parameter === 6 ? 3 : 2;
      // Every lane's result is made of what its 16 lanes load, so the bytes are tied to no register.
      const pieces = wordPieces(4 * words, 0, -1, undefined);
      const address = (w: Wave, lane: number, piece: AccessPiece): number =>
        (((w.vgprs[at + lane] as number) + offset) >>> 0) + piece.offset;
      return { ...base, kind: 'load', pieces: () => pieces, address };
    }
    default:
      return undefined;
  }
}
