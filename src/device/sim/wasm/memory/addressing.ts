// Which mode finds the addresses of an instruction's lanes, and what its parameters are.
import { immediateOf, operandNamed } from '../../../../isa/operand.ts';
import type { LoadOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { bufferMode } from './buffer.ts';
import { ldsMode } from './lds.ts';
import type { Mode } from './mode.ts';
import { scalarBaseMode, wideMode } from './modes.ts';
import { isPlainScalar, type MemoryContext, namedVector, pushScalar } from './operand.ts';
import { scratchMode } from './scratch.ts';

/** A mode with what pushes its parameters. */
export interface Addressing {
  readonly mode: Mode;
  push(context: MemoryContext): void;
}

function flatAddressing(instruction: Instruction, flat: boolean): Addressing | undefined {
  const vaddr = namedVector(instruction, 'vaddr');
  const saddr = operandNamed(instruction, 'saddr');
  if (vaddr === undefined) return undefined;
  const offset = BigInt(immediateOf(instruction, 'offset'));
  if (saddr?.kind !== 'reg') {
    return { mode: wideMode(flat), push: ({ fn }) => fn.i32(vaddr).i64(offset) };
  }
  if (saddr.encoding > 126) return undefined;
  return {
    mode: scalarBaseMode,
    push: ({ fn, wave }) =>
      fn
        .i32(vaddr)
        .get(wave)
        .memory('i64.load', 4 * saddr.encoding)
        .i64(offset)
        .op('i64.add'),
  };
}

function scratchAddressing(instruction: Instruction): Addressing | undefined {
  const vaddr = namedVector(instruction, 'vaddr');
  const saddr = operandNamed(instruction, 'saddr');
  if (saddr?.kind === 'reg' && saddr.encoding > 127) return undefined;
  return {
    mode: scratchMode(vaddr !== undefined),
    push: (context) => {
      context.fn.i32(vaddr ?? 0);
      pushScratchOffset(context, instruction);
    },
  };
}

/**
 * Pushes where the register with the lanes' offsets in scratch is, 0 for none, and what is to be added to them; of a flat access the low words of its addresses.
 * False when nothing was pushed.
 */
export function pushScratchPlace(context: MemoryContext, instruction: Instruction): boolean {
  const vaddr = namedVector(instruction, 'vaddr');
  const saddr = operandNamed(instruction, 'saddr');
  if (saddr?.kind === 'reg' && saddr.encoding > 127) return false;
  if (vaddr === undefined) context.fn.i32(0);
  else context.fn.get(context.wave).i32(vaddr).op('i32.add');
  pushScratchOffset(context, instruction);
  return true;
}

function pushScratchOffset({ fn, wave }: MemoryContext, instruction: Instruction): void {
  const saddr = operandNamed(instruction, 'saddr');
  const offset = immediateOf(instruction, 'offset');
  if (saddr?.kind !== 'reg') fn.i32(offset);
  else
    fn.get(wave)
      .memory('i32.load', 4 * saddr.encoding)
      .i32(offset)
      .op('i32.add');
}

function bufferAddressing(instruction: Instruction): Addressing | undefined {
  const { template } = instruction.row;
  const vaddr = namedVector(instruction, 'vaddr');
  const srsrc = operandNamed(instruction, 'srsrc');
  const soffset = operandNamed(instruction, 'soffset');
  if (srsrc?.kind !== 'reg' || soffset === undefined || !isPlainScalar(soffset) || srsrc.encoding > 124)
    return undefined;
  return {
    mode: bufferMode(/ idxen/.test(template), / offen/.test(template)),
    push: (context) => {
      context.fn.i32(vaddr ?? 0).i32(4 * srsrc.encoding);
      pushScalar(context, soffset);
      context.fn.i32(immediateOf(instruction, 'offset'));
    },
  };
}

/**
 * Pushes the wave, the place of a buffer's descriptor in the wave block, and soffset; returns the place of the register with the lanes' offsets, if there is one, and what is
 * added to them. Undefined when nothing was pushed.
 */
export function pushBufferPlace(
  context: MemoryContext,
  instruction: Instruction,
): { readonly register: number | undefined; readonly constant: number } | undefined {
  const srsrc = operandNamed(instruction, 'srsrc');
  const soffset = operandNamed(instruction, 'soffset');
  if (srsrc?.kind !== 'reg' || soffset === undefined || !isPlainScalar(soffset) || srsrc.encoding > 124)
    return undefined;
  context.fn.get(context.wave).i32(4 * srsrc.encoding);
  pushScalar(context, soffset);
  const register = / offen/.test(instruction.row.template) ? namedVector(instruction, 'vaddr') : undefined;
  return { register, constant: immediateOf(instruction, 'offset') };
}

/** DS addressing from a constant; of a flat access the low words of its addresses. */
export function ldsAddressing(instruction: Instruction, offset: number): Addressing | undefined {
  const addr = namedVector(instruction, 'addr', 'vaddr');
  if (addr === undefined || immediateOf(instruction, 'gds') !== 0) return undefined;
  return { mode: ldsMode, push: ({ fn }) => fn.i32(addr).i32(offset) };
}

export function addressingOf(instruction: Instruction, space: LoadOperation['space']): Addressing | undefined {
  switch (space) {
    case 'flat':
    case 'global':
      return flatAddressing(instruction, space === 'flat');
    case 'scratch':
      return scratchAddressing(instruction);
    case 'buffer':
      return bufferAddressing(instruction);
    case 'lds':
      return ldsAddressing(instruction, immediateOf(instruction, 'offset'));
    default:
      return undefined;
  }
}
