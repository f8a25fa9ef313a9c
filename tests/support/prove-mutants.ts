// Mistakes in one kernel, in place: operands, constants, modifiers, operations, order, waits, branches and the descriptor changed,
// instructions deleted, repeated, moved far, or put in the place of no-ops and waits.
import {
  allRows,
  type Instruction,
  type InstructionRow,
  immediate,
  type Operand,
  registerTuple,
  type TargetName,
} from '../../src/isa/index.ts';
import { type BasicBlock, type CodeInstruction, waitCounts, waitRole } from '../../src/program/index.ts';
import {
  areIndependent,
  bytesOf,
  type CodeEdit,
  type EditableKernel,
  encodeOne,
  isPlain,
  type Pick,
  swapBytes,
} from './prove-edits.ts';

const siblings = new Map<string, InstructionRow[]>();

export function siblingsOf(row: InstructionRow, target: TargetName): InstructionRow[] {
  const shape = (r: InstructionRow): string =>
    `${r.encoding} ${r.size} ${r.operands.map((o) => `${o.name}:${o.cls}`).join(' ')}`;
  const key = `${target} ${shape(row)}`;
  let known = siblings.get(key);
  if (known === undefined) {
    known = allRows().filter(
      (r) => r.targets.includes(target) && !r.asmOnly && !r.codeGenOnly && shape(r) === shape(row),
    );
    siblings.set(key, known);
  }
  return known.filter((r) => r !== row && r.operation !== row.operation);
}

const isControl = ({ instruction }: CodeInstruction): boolean =>
  /isBranch|isCall|isTerminator|isReturn/.test([...instruction.row.flags].join());

type Mistake = (kernel: EditableKernel, pick: Pick) => CodeEdit | undefined;

/** Another instruction at one place; undefined when it does not fit there. */
function at(
  kernel: EditableKernel,
  code: CodeInstruction,
  kind: string,
  bytes: Uint8Array | undefined,
): CodeEdit | undefined {
  if (bytes === undefined || bytes.length !== code.instruction.size) return undefined;
  const what = `${kind}: ${kernel.program.text(code.pc)} at 0x${code.pc.toString(16)}`;
  return { kind, what, bytes: kernel.patched(new Map([[code.pc, bytes]])) };
}

const anyOf = <T>(list: readonly T[], pick: Pick): T | undefined => list[pick(list.length || 1)];
const withOperand = ({ operands }: Instruction, i: number, operand: Operand): readonly Operand[] =>
  operands.map((o, n) => (n === i ? operand : o));

const register: Mistake = (kernel, pick) => {
  const code = anyOf(kernel.code, pick) as CodeInstruction;
  const { operands, row } = code.instruction;
  const i = pick(operands.length || 1);
  const operand = operands[i];
  if (operand?.kind !== 'reg' || operand.file === 'special') return undefined;
  const to = registerTuple(operand.file, operand.index + (pick(2) === 0 ? 1 : -1) * operand.dwords, operand.dwords);
  if (to === undefined) return undefined;
  return at(
    kernel,
    code,
    row.operands[i]?.isOut ? 'destination' : 'source',
    encodeOne(code, withOperand(code.instruction, i, to)),
  );
};

const constant: Mistake = (kernel, pick) => {
  const code = anyOf(kernel.code, pick) as CodeInstruction;
  const { operands } = code.instruction;
  const i = pick(operands.length || 1);
  const operand = operands[i];
  const edit = (kind: string, to: Operand): CodeEdit | undefined =>
    at(kernel, code, kind, encodeOne(code, withOperand(code.instruction, i, to)));
  if (operand?.kind === 'imm')
    return edit('immediate', { kind: 'imm', value: operand.value + (pick(2) === 0 ? 4 : 1) });
  if (operand?.kind === 'literal') return edit('literal', { ...operand, bits: (operand.bits ^ (1 << pick(32))) >>> 0 });
  return operand?.kind === 'inline' ? edit('constant', { kind: 'inline', encoding: operand.encoding + 1 }) : undefined;
};

/** Cache bits, clamp, output factors, op_sel, negation, DPP controls and masks, SDWA selections, offsets, matrix controls. */
const modifier: Mistake = (kernel, pick) => {
  const code = anyOf(kernel.code, pick) as CodeInstruction;
  const { operands, row } = code.instruction;
  const fields = operands.flatMap((o, i) => (o.kind === 'imm' ? [i] : []));
  const i = anyOf(fields, pick);
  const operand = i === undefined ? undefined : operands[i];
  if (i === undefined || operand?.kind !== 'imm' || row.encoding === 'SOPP') return undefined;
  const to: Operand = { kind: 'imm', value: operand.value ^ (1 << pick(8)) };
  return at(kernel, code, `modifier ${row.operands[i]?.name}`, encodeOne(code, withOperand(code.instruction, i, to)));
};

const operation: Mistake = (kernel, pick) => {
  const code = anyOf(kernel.code, pick) as CodeInstruction;
  const row = anyOf(siblingsOf(code.instruction.row, kernel.program.target), pick);
  return row === undefined ? undefined : at(kernel, code, 'operation', encodeOne(code, code.instruction.operands, row));
};

const deleted: Mistake = (kernel, pick) => {
  const code = anyOf(kernel.code, pick) as CodeInstruction;
  if (isControl(code)) return undefined;
  const nop = new Uint8Array(code.instruction.size);
  for (let n = 0; n < nop.length; n += 4) nop.set([0, 0, 0x80, 0xbf], n);
  return at(kernel, code, 'deleted', nop);
};

const swapped: Mistake = (kernel, pick) => {
  const pair = anyOf(
    [...kernel.neighbours()].filter(([a, b]) => !areIndependent(a, b) || !isPlain(a) || !isPlain(b)),
    pick,
  );
  if (pair === undefined) return undefined;
  const what = `swapped: ${pair.map((c) => kernel.program.text(c.pc)).join(' <-> ')}`;
  return { kind: 'swapped', what, bytes: kernel.patched(swapBytes(kernel, ...pair)) };
};

/** An instruction up to twelve places further up or down in its block: past waits, barriers, stores, changes of EXEC. */
const moved: Mistake = (kernel, pick) => {
  const index = anyOf(kernel.subject.blocks, pick) as number;
  const { first, end } = kernel.program.blocks[index] as BasicBlock;
  const list = kernel.program.instructions.slice(first, end).filter((c) => !isControl(c));
  const [from, by] = [pick(list.length || 1), 2 + pick(11)];
  const to = Math.min(list.length - 1, from + by);
  if (to - from < 2) return undefined;
  const part = list.slice(from, to + 1);
  const turned = pick(2) === 0 ? [...part.slice(1), part[0]] : [part.at(-1), ...part.slice(0, -1)];
  const changes = new Map<number, Uint8Array>();
  let pc = (part[0] as CodeInstruction).pc;
  for (const code of turned as CodeInstruction[]) {
    changes.set(pc, bytesOf(kernel, code));
    pc += code.instruction.size;
  }
  const [last, front] = [part.at(-1), part[0]] as [CodeInstruction, CodeInstruction];
  const what = `moved: ${kernel.program.text(front.pc)} .. ${kernel.program.text(last.pc)} turned by one`;
  return { kind: 'moved', what, bytes: kernel.patched(changes) };
};

/** An instruction in the place of another of its size. */
const copied: Mistake = (kernel, pick) => {
  const [code, other] = [anyOf(kernel.code, pick), anyOf(kernel.code, pick)] as [CodeInstruction, CodeInstruction];
  if (isControl(code) || isControl(other)) return undefined;
  const edit = at(kernel, code, 'copied', bytesOf(kernel, other));
  return edit === undefined ? undefined : { ...edit, what: `${edit.what} becomes ${kernel.program.text(other.pc)}` };
};

const wait: Mistake = (kernel, pick) => {
  const code = anyOf(
    kernel.code.filter((c) => waitRole(c.instruction.row).isWait),
    pick,
  );
  if (code === undefined) return undefined;
  const { vm, lgkm } = waitCounts(code.instruction);
  const v = vm === 63 || pick(2) === 0 ? vm : vm + 1 + pick(63 - vm);
  const l = lgkm === 15 || pick(2) === 0 ? lgkm : 15;
  const bits = (v & 15) | ((v & 0x30) << 10) | (7 << 4) | (l << 8);
  return at(kernel, code, 'wait', encodeOne(code, [immediate(bits), ...code.instruction.operands.slice(1)]));
};

/** A branch to one instruction further or less far, or up to eight. */
const branch: Mistake = (kernel, pick) => {
  const code = anyOf(
    kernel.code.filter((c) => /^s_c?branch/.test(c.instruction.row.operation)),
    pick,
  );
  const operand = code?.instruction.operands[0];
  if (code === undefined || operand?.kind !== 'imm') return undefined;
  const value = operand.value + (1 + pick(8)) * (pick(2) === 0 ? 1 : -1);
  return at(kernel, code, 'branch', encodeOne(code, [{ kind: 'imm', value }]));
};

/** What is put in the place of a no-op or wait: modes, EXEC, M0, VCC, SCC, barriers, jumps, priority. */
const INTRUDERS: readonly (readonly [string, number])[] = [
  ['s_mov_b64 exec, 0', 0xbefe0180],
  ['s_mov_b64 exec, -1', 0xbefe01c1],
  ['s_not_b64 exec, exec', 0xbefe057e],
  ['s_mov_b32 m0, 0', 0xbefc0080],
  ['s_mov_b64 vcc, -1', 0xbeea01c1],
  ['s_cmp_eq_u32 s0, s0', 0xbf060000],
  ['s_cmp_lg_u32 s0, s0', 0xbf070000],
  ['s_barrier', 0xbf8a0000],
  ['s_branch .+8', 0xbf820001],
  ['s_setprio 2', 0xbf8f0002],
  ['s_endpgm', 0xbf810000],
  ['s_trap 2', 0xbf920002],
  ['s_set_gpr_idx_on s0, 1', 0xbf110100],
  ['s_setvskip s0, 0', 0xbf108000],
  ['s_mov_b32 s0, 0', 0xbe800080],
  ['v_mov_b32 v0, 0', 0x7e000280],
  ['s_round_mode: s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0', 0xb9001801],
  ['s_denorm_mode: s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s0', 0xb9001901],
];

const intruder: Mistake = (kernel, pick) => {
  const code = anyOf(
    kernel.code.filter(
      ({ instruction: { row } }) => waitRole(row).isWait || /^s_(?:nop|setprio|barrier)/.test(row.operation),
    ),
    pick,
  );
  const [text, word] = anyOf(INTRUDERS, pick) as readonly [string, number];
  if (code === undefined) return undefined;
  const edit = at(kernel, code, 'intruder', new Uint8Array(Uint32Array.of(word).buffer));
  return edit === undefined ? undefined : { ...edit, what: `${edit.what} becomes ${text}` };
};

/** Bytes of the descriptor: sizes of LDS and scratch, the three resource words, the properties, preloaded arguments. */
const DESCRIPTOR_BYTES = [0, 1, 2, 4, 5, 44, 45, 46, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59];

/** One bit of the descriptor: LDS, registers, float modes, ieee_mode, dx10_clamp, user SGPRs, work-item ids, accumulation offset. */
const descriptor: Mistake = (kernel, pick) => {
  const symbol = kernel.subject.kernel?.descriptorSymbol;
  if (symbol === undefined) return undefined;
  const address = Number(symbol.value) + (anyOf(DESCRIPTOR_BYTES, pick) as number);
  const section = kernel.codeObject.elf.sections.find(
    (s) => address >= s.address && address < s.address + s.bytes.length,
  );
  if (section === undefined) return undefined;
  const bit = pick(8);
  const byte = (section.bytes[address - section.address] as number) ^ (1 << bit);
  const what = `descriptor: bit ${bit} of byte ${address - Number(symbol.value)}`;
  return { kind: 'descriptor', what, bytes: kernel.patched(new Map([[address, Uint8Array.of(byte)]])) };
};

const MISTAKES: readonly Mistake[] = [
  register,
  constant,
  modifier,
  operation,
  deleted,
  swapped,
  moved,
  copied,
  wait,
  branch,
  intruder,
  descriptor,
];

/** One random mistake; undefined when the place that was picked has none. */
export const mutant: Mistake = (kernel, pick) => (anyOf(MISTAKES, pick) as Mistake)(kernel, pick);
