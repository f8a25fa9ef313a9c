// The address that a memory instruction accesses, computed again from its operands as they are before it.
// Source: CDNA3 ISA manual, "Memory Buffer Instructions", "Flat, Global and Scratch", "Data Share Operations".
// Of buffers the plain addressing is computed: base, offsets, index times stride; swizzled buffers differ.
import type { Operand, Register } from '../isa/index.ts';
import { immediateOf, operandNamed } from '../isa/operand.ts';
import { ldsOffsets } from './access-size.ts';
import type { ProbeInstruction } from './view.ts';

/** Registers to work with: the result's pair, a vector register, and two scalar pairs. */
export interface AddressRegisters {
  readonly to: number;
  readonly index: number;
  readonly carry: number;
  readonly scratch: number;
}

function isRegister(operand: Operand | undefined): operand is Register {
  return operand?.kind === 'reg';
}

/** Instructions that put the address of every active lane into `v[to:to+1]`, of LDS into `v[to]`. */
export function addressValue({ memory, code }: ProbeInstruction, r: AddressRegisters): string[] {
  const { instruction } = code;
  const offset = immediateOf(instruction, 'offset');
  const vaddr = operandNamed(instruction, 'vaddr') ?? operandNamed(instruction, 'addr');
  const { to, index, carry } = r;
  const sc = `s[${carry}:${carry + 1}]`;
  /** Adds a scalar, a constant or a register without sign to the 64-bit sum. */
  const add = (low: string): string[] => [
    `v_mov_b32_e32 v${index}, ${low}`,
    `v_add_co_u32_e64 v${to}, ${sc}, v${to}, v${index}`,
    's_nop 1',
    `v_addc_co_u32_e64 v${to + 1}, ${sc}, v${to + 1}, 0, ${sc}`,
  ];
  const addSigned = (value: number): string[] => {
    if (value === 0) return [];
    if (value > 0) return add(`0x${value.toString(16)}`);
    return [
      `v_mov_b32_e32 v${index}, 0x${(-value).toString(16)}`,
      `v_sub_co_u32_e64 v${to}, ${sc}, v${to}, v${index}`,
      's_nop 1',
      `v_subb_co_u32_e64 v${to + 1}, ${sc}, v${to + 1}, 0, ${sc}`,
    ];
  };
  if (memory === 'lds') {
    const base = isRegister(vaddr) ? [`v_mov_b32_e32 v${to}, ${vaddr.text}`] : [`v_mov_b32_e32 v${to}, 0`];
    const [first = 0] = ldsOffsets(instruction);
    return first === 0 ? base : [...base, `v_add_u32_e32 v${to}, 0x${first.toString(16)}, v${to}`];
  }
  if (memory === 'buffer') return bufferAddress(code.instruction, offset, add, r);
  const saddr = operandNamed(instruction, 'saddr');
  if (isRegister(saddr) && saddr.dwords === 2) {
    const lo = saddr.text.startsWith('s[') ? `s${saddr.index}` : `${saddr.text}_lo`;
    const hi = saddr.text.startsWith('s[') ? `s${saddr.index + 1}` : `${saddr.text}_hi`;
    const base = [`v_mov_b32_e32 v${to}, ${lo}`, `v_mov_b32_e32 v${to + 1}, ${hi}`];
    return [...base, ...(isRegister(vaddr) ? add(half(vaddr, 0)) : []), ...addSigned(offset)];
  }
  if (memory === 'scratch') {
    const parts = [...(isRegister(vaddr) ? add(half(vaddr, 0)) : []), ...(isRegister(saddr) ? add(saddr.text) : [])];
    return [`v_mov_b32_e32 v${to}, 0`, `v_mov_b32_e32 v${to + 1}, 0`, ...parts, ...addSigned(offset)];
  }
  if (!isRegister(vaddr)) return [`v_mov_b32_e32 v${to}, 0`, `v_mov_b32_e32 v${to + 1}, 0`];
  return [
    `v_mov_b32_e32 v${to}, ${half(vaddr, 0)}`,
    `v_mov_b32_e32 v${to + 1}, ${half(vaddr, 1)}`,
    ...addSigned(offset),
  ];
}

function half(register: Register, which: 0 | 1): string {
  return `${register.file}${register.index + which}`;
}

function bufferAddress(
  instruction: ProbeInstruction['code']['instruction'],
  offset: number,
  add: (low: string) => string[],
  { to, index, scratch }: AddressRegisters,
): string[] {
  const resource = operandNamed(instruction, 'srsrc');
  const vaddr = operandNamed(instruction, 'vaddr');
  const soffset = operandNamed(instruction, 'soffset');
  if (!isRegister(resource)) return [];
  const first = resource.index;
  const [lo, hi] = [`s${first}`, `s${first + 1}`];
  const out = [
    `s_and_b32 s${scratch}, ${hi}, 0xffff`,
    `v_mov_b32_e32 v${to}, ${lo}`,
    `v_mov_b32_e32 v${to + 1}, s${scratch}`,
  ];
  const { name } = instruction.row;
  const hasIndex = /_IDXEN|_BOTHEN/.test(name);
  const hasOffset = /_OFFEN|_BOTHEN/.test(name);
  if (isRegister(vaddr) && hasIndex) {
    out.push(
      `s_bfe_u32 s${scratch}, ${hi}, 0xe0010`,
      `v_mov_b32_e32 v${index}, s${scratch}`,
      `v_mul_lo_u32 v${index}, v${index}, ${half(vaddr, 0)}`,
      ...add(`v${index}`),
    );
  }
  if (isRegister(vaddr) && hasOffset) out.push(...add(half(vaddr, hasIndex ? 1 : 0)));
  if (isRegister(soffset)) out.push(...add(soffset.text));
  else if (soffset?.kind === 'inline' && soffset.encoding > 128 && soffset.encoding <= 192)
    out.push(...add(String(soffset.encoding - 128)));
  if (offset !== 0) out.push(...add(`0x${offset.toString(16)}`));
  return out;
}
