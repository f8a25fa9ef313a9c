// Room `device/sim/interpreter`: the reference: executes one instruction at a time, exactly as the semantics table says. What it does
// is what compiled code must do.
// Begin with this file (bytes to bound instructions), then scalar.ts, the shortest family, and vector.ts.
//
// Loaded code: decodes and binds instructions on first execution, by address.

import { type Decoder, decoderFor, printInstruction, vgpr } from '../../../isa/index.ts';
import { immediateOf } from '../../../isa/operand.ts';
import { type Operation, semanticsOf, semanticsOfRow } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand, TargetName } from '../../../isa/types.ts';
import type { Region } from '../state/region.ts';
import { M0, type Wave } from '../state/wave.ts';
import { bindImage } from './images.ts';
import { KernelStop, notSimulated } from './kernel-stop.ts';
import { bindMatrix, type MatrixMode } from './matrix.ts';
import { bindAtomic, bindLoad, bindStore } from './memory-access.ts';
import { bindBranch, bindScalar } from './scalar.ts';
import { bindScaleConvert } from './scale-convert.ts';
import { bindStructural } from './structural.ts';
import { bindFormat } from './typed-buffers.ts';
import { bindVector, type Step } from './vector.ts';

export interface BoundInstruction {
  readonly instruction: Instruction;
  readonly step: Step;
  readonly size: number;
  /** Index of the encoding family in `ENCODINGS`. */
  readonly family: number;
  /** A load into LDS: on hardware it lands long after its issue, so the other waves of the workgroup catch up first. */
  readonly landsLate: boolean;
  /** Whether the wave is in a row of loads into LDS after it; undefined where it is if it was before. */
  readonly loadRow: boolean | undefined;
}

/** Encoding families seen so far, for instruction counts. */
export const ENCODINGS: string[] = [];
const familyIndex = new Map<string, number>();

/** Index in ENCODINGS of an instruction's encoding family. */
export function familyOf(instruction: Instruction): number {
  return encodingIndex(instruction.row.flags.has('MAI') ? 'MFMA' : instruction.row.encoding);
}

/** Index in ENCODINGS of a family by its name. */
export function encodingIndex(name: string): number {
  let index = familyIndex.get(name);
  if (index === undefined) {
    index = ENCODINGS.length;
    ENCODINGS.push(name);
    familyIndex.set(name, index);
  }
  return index;
}

function bindOperation(instruction: Instruction, op: Operation, target: TargetName, mfma: MatrixMode): Step {
  switch (op.kind) {
    case 'vector':
      return bindVector(instruction, op);
    case 'scalar':
      return bindScalar(instruction, op);
    case 'branch':
      return bindBranch(instruction, op);
    case 'load':
      return bindLoad(instruction, op);
    case 'store':
      return bindStore(instruction, op);
    case 'atomic':
      return bindAtomic(instruction, op);
    case 'format':
      return bindFormat(instruction, op);
    case 'image':
      return bindImage(instruction, op);
    case 'matrix':
      return bindMatrix(instruction, op, target, mfma);
    case 'scaleConvert':
      return bindScaleConvert(instruction, op);
    case 'structural':
      return bindStructural(instruction, op);
    case 'unreachable':
      throw notSimulated(op.reason);
  }
}

/** Instruction classes that vector skip mode passes over. */
const VECTOR_CLASSES = ['VALU', 'DS', 'FLAT', 'MUBUF', 'MTBUF', 'MIMG', 'EXP'];

/** Whether vector skip mode passes over an instruction. */
export function isSkippable({ row }: Instruction): boolean {
  return VECTOR_CLASSES.some((name) => row.flags.has(name));
}

/** Whether s_set_gpr_idx moves the registers of an instruction. */
export function isIndexable({ row }: Instruction, op: Operation | undefined): boolean {
  return row.flags.has('VALU') && (op?.kind === 'vector' || op?.kind === 'structural');
}

/** Operands that s_set_gpr_idx may move, by their bit in M0[15:12]. */
export const INDEXED_OPERANDS: readonly string[] = ['src0', 'src1', 'src2', 'vdst'];

/** The executable form of one instruction; what it cannot do becomes a step that throws a typed stop. */
export function bindInstruction(instruction: Instruction, target: TargetName, mfma: MatrixMode = 'exact'): Step {
  const op = semanticsOf(instruction.row.operation);
  const step = bindPlain(instruction, op, target, mfma);
  if (!isSkippable(instruction)) return step;
  const indexable = isIndexable(instruction, op);
  return (w) => {
    if (w.vskip) return;
    if (indexable && op !== undefined && w.gprIndexing) indexedStep(w, instruction, op, target, mfma)(w);
    else step(w);
  };
}

function bindPlain(instruction: Instruction, op: Operation | undefined, target: TargetName, mfma: MatrixMode): Step {
  try {
    if (op === undefined) throw notSimulated('it has no semantics');
    if (immediateOf(instruction, 'gds') !== 0) throw notSimulated('global data share does not exist on CDNA');
    return bindOperation(instruction, op, target, mfma);
  } catch (error) {
    if (!(error instanceof KernelStop)) throw error;
    return () => {
      throw error;
    };
  }
}

/** Whether an instruction loads from memory into LDS (`lds` modifier, global_load_lds_*). */
export function loadsIntoLds({ row }: Instruction): boolean {
  const op = semanticsOfRow(row);
  return op?.kind === 'load' && (op.toLds === true || / lds$/.test(row.template));
}

/**
 * Whether a wave is in a row of loads into LDS after an instruction: loads with nothing between them but arithmetic. The others of its
 * workgroup catch up before the first one. Undefined: it is if it was before.
 */
export function loadRow(instruction: Instruction): boolean | undefined {
  if (loadsIntoLds(instruction)) return true;
  const op = semanticsOfRow(instruction.row);
  const computes = op?.kind === 'scalar' || op?.kind === 'vector';
  return computes || (op?.kind === 'structural' && (op.name === 'nop' || op.name === 'readfirstlane'))
    ? undefined
    : false;
}

/** s_set_gpr_idx: M0[7:0] is added to the VGPR numbers that M0[15:12] names (src0, src1, src2, destination). */
function indexedStep(w: Wave, instruction: Instruction, op: Operation, target: TargetName, mfma: MatrixMode): Step {
  const { moved, beyond } = indexedInstruction(w, instruction);
  if (beyond !== undefined) {
    throw new KernelStop('sim/register-range', `GPR indexing reaches v${beyond}, beyond v255.`);
  }
  return bindPlain(moved, op, target, mfma);
}

/** An instruction under s_set_gpr_idx with the registers that M0 moves its operands to; `beyond`: the first that does not exist. */
export function indexedInstruction(
  w: Wave,
  instruction: Instruction,
): { readonly moved: Instruction; readonly beyond: number | undefined } {
  const m0 = w.sgprs[M0] as number;
  const offset = m0 & 0xff;
  const flags = (m0 >> 12) & 15;
  let beyond: number | undefined;
  const operands = instruction.operands.map((operand, i): Operand => {
    const bit = INDEXED_OPERANDS.indexOf(instruction.row.operands[i]?.name ?? '');
    if (operand.kind !== 'reg' || operand.file !== 'v' || bit < 0 || ((flags >> bit) & 1) === 0) return operand;
    const register = vgpr(operand.index + offset, operand.dwords);
    if (register === undefined) beyond ??= operand.index + offset;
    return register ?? operand;
  });
  return { moved: { ...instruction, operands }, beyond };
}

let count = 0;

/** 4 KiB of the image. */
const PAGE_SHIFT = 12;
const PAGE_MASK = 1023;

/** The code of a module, decoded by address. */
export class LoadedCode {
  /** Different for all loaded code of this thread. */
  readonly id = ++count;
  readonly target: TargetName;
  readonly region: Region;
  /** Byte ranges of the image that hold code. */
  readonly codeRanges: readonly (readonly [number, number])[];
  /** Made when first asked for: a thread may run what another has compiled without it. */
  private ownDecoder: Decoder | undefined;
  /** By page of the image, as it is reached: a damaged code object may ask for a large image. */
  private bound: ((BoundInstruction | undefined)[] | undefined)[] = [];
  private readonly decoded = new Map<number, Instruction>();
  private mfma: MatrixMode = 'exact';

  constructor(
    target: TargetName,
    region: Region,
    codeRanges: readonly (readonly [number, number])[] = [[0, region.size]],
  ) {
    this.target = target;
    this.region = region;
    this.codeRanges = codeRanges;
  }

  private get decoder(): Decoder {
    this.ownDecoder ??= decoderFor(this.target);
    return this.ownDecoder;
  }

  /** Chooses how matrix instructions compute. */
  useMatrixMode(mode: MatrixMode): void {
    if (mode === this.mfma) return;
    this.mfma = mode;
    this.bound = [];
  }

  /** The instruction at a loaded address. */
  at(pc: number): BoundInstruction {
    const offset = pc - this.region.base;
    const known = (offset & 3) === 0 ? this.bound[offset >>> PAGE_SHIFT]?.[(offset >>> 2) & PAGE_MASK] : undefined;
    return known ?? this.bind(pc, offset);
  }

  private bind(pc: number, offset: number): BoundInstruction {
    if (!(offset >= 0 && offset + 4 <= this.region.size) || (offset & 3) !== 0) {
      throw new KernelStop('sim/bad-pc', `Execution left the code object: pc is 0x${pc.toString(16)}.`);
    }
    const instruction = this.decodeAt(offset);
    if (instruction === undefined) {
      const word = this.region.view.getUint32(offset, true).toString(16).padStart(8, '0');
      throw new KernelStop('sim/illegal-instruction', `The word 0x${word} is not an instruction of ${this.target}.`);
    }
    const bound: BoundInstruction = {
      instruction,
      step: bindInstruction(instruction, this.target, this.mfma),
      size: instruction.size,
      family: familyOf(instruction),
      landsLate: loadsIntoLds(instruction),
      loadRow: loadRow(instruction),
    };
    const page = this.bound[offset >>> PAGE_SHIFT] ?? new Array<BoundInstruction | undefined>(PAGE_MASK + 1);
    page[(offset >>> 2) & PAGE_MASK] = bound;
    this.bound[offset >>> PAGE_SHIFT] = page;
    return bound;
  }

  /** The instruction at a loaded address as it is decoded, if there is one. */
  instructionAt(pc: number): Instruction | undefined {
    const offset = pc - this.region.base;
    if (!(offset >= 0 && offset + 4 <= this.region.size)) return undefined;
    return this.decodeAt(offset);
  }

  /** The instruction at a byte offset of the image, decoded once. */
  decodeAt(offset: number): Instruction | undefined {
    const known = this.decoded.get(offset);
    if (known !== undefined) return known;
    const instruction = this.decoder.decode(this.region.bytes, offset);
    if (instruction !== undefined) this.decoded.set(offset, instruction);
    return instruction;
  }

  /** The text of the instruction at an address, for messages. */
  textAt(pc: number): string {
    const offset = pc - this.region.base;
    if (!(offset >= 0 && offset + 4 <= this.region.size)) return '(outside the code object)';
    const instruction = this.decoder.decode(this.region.bytes, offset);
    return instruction === undefined ? '(not an instruction)' : printInstruction(this.target, instruction).trim();
  }
}
