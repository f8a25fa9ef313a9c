// Edits of one kernel's code that keep it the same function: independent neighbours swapped, registers and tuples of registers renamed,
// waits made stronger, no-ops and waits put between instructions.
import { assembleAndLink, disassembleCodeObject } from '../../src/asm/index.ts';
import { type CodeObject, readCodeObject } from '../../src/codeobject/index.ts';
import { initialSgprs } from '../../src/equivalence/state.ts';
import {
  encode,
  type Instruction,
  immediate,
  type Operand,
  type Register,
  registerTuple,
  targetInfo,
} from '../../src/isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  liftCodeObject,
  overlaps,
  type Program,
  type ProgramFunction,
  waitCounts,
  waitRole,
} from '../../src/program/index.ts';

/** A generator of numbers from 0 up to a bound. */
export type Pick = (bound: number) => number;

export interface CodeEdit {
  readonly kind: string;
  /** What was done, for people. */
  readonly what: string;
  readonly bytes: Uint8Array;
}

/** A kernel whose code can be edited. */
export class EditableKernel {
  readonly codeObject: CodeObject;
  readonly program: Program;
  readonly subject: ProgramFunction;
  readonly code: readonly CodeInstruction[];

  /** SGPRs that the dispatcher fills; their names are part of the interface. */
  get initialSgprs(): number {
    const { descriptor } = this.subject.kernel ?? {};
    if (descriptor === undefined) throw new Error('the kernel has no descriptor');
    return initialSgprs(descriptor, targetInfo(this.program.target).architectedFlatScratch);
  }

  constructor(bytes: Uint8Array, kernel: string) {
    this.codeObject = readCodeObject(bytes);
    this.program = liftCodeObject(this.codeObject, { kernels: new Set([kernel]) });
    const subject = this.program.functions.find((f) => f.name === kernel);
    if (subject === undefined) throw new Error(`no kernel ${kernel}`);
    this.subject = subject;
    this.code = subject.blocks.flatMap((index) => {
      const { first, end } = this.program.blocks[index] as BasicBlock;
      return this.program.instructions.slice(first, end);
    });
  }

  /** The code object with other bytes at some addresses. */
  patched(changes: ReadonlyMap<number, Uint8Array>): Uint8Array {
    const { elf } = this.codeObject;
    const bytes = new Uint8Array(elf.bytes);
    for (const [pc, code] of changes) {
      const section = elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
      if (section === undefined) throw new Error(`no section holds 0x${pc.toString(16)}`);
      bytes.set(code, section.bytes.byteOffset - elf.bytes.byteOffset + pc - section.address);
    }
    return bytes;
  }

  /** Neighbours in one block whose order is not that of control flow. */
  *neighbours(): Generator<[CodeInstruction, CodeInstruction]> {
    for (const index of this.subject.blocks) {
      const block = this.program.blocks[index] as BasicBlock;
      for (let i = block.first; i + 1 < block.end; i++) {
        const pair = [this.program.instructions[i], this.program.instructions[i + 1]] as [
          CodeInstruction,
          CodeInstruction,
        ];
        if (pair.every((c) => !/isBranch|isCall|isTerminator|isReturn/.test([...c.instruction.row.flags].join())))
          yield pair;
      }
    }
  }
}

/** An ALU instruction that only reads and writes registers; waits, no-ops and barriers stay where they are. */
export function isPlain({ instruction }: CodeInstruction): boolean {
  const { flags, encoding, operation } = instruction.row;
  // Loads into LDS have the flag VALU.
  const isAlu = (flags.has('VALU') || flags.has('SALU')) && encoding !== 'SOPP' && !flags.has('LDSDMA');
  return isAlu && !/setreg|getreg|getpc|gpr_idx|movrel|vskip|memtime/.test(operation);
}

/** A load whose place among memory operations does not change when it passes an ALU instruction. */
function isPlainLoad({ instruction }: CodeInstruction): boolean {
  const { flags } = instruction.row;
  return flags.has('mayLoad') && !flags.has('mayStore') && !flags.has('LDSDMA') && !flags.has('IsAtomicRet');
}

/** Two instructions of which one at most is a load. */
const mayChangePlaces = (a: CodeInstruction, b: CodeInstruction): boolean =>
  (isPlain(a) && (isPlain(b) || isPlainLoad(b))) || (isPlainLoad(a) && isPlain(b));

export function areIndependent(a: CodeInstruction, b: CodeInstruction): boolean {
  const [x, y] = [a.effects, b.effects];
  return (
    !overlaps(x.defs, y.defs) &&
    !overlaps(x.defs, y.uses) &&
    !overlaps(x.defs, y.keeps) &&
    !overlaps(x.uses, y.defs) &&
    !overlaps(x.keeps, y.defs)
  );
}

export const encodeOne = (
  code: CodeInstruction,
  operands: readonly Operand[],
  row = code.instruction.row,
): Uint8Array | undefined => {
  try {
    const bytes = encode({ ...code.instruction, row, operands } as Instruction);
    return bytes.length === code.instruction.size ? bytes : undefined;
  } catch {
    return undefined;
  }
};

export function swapBytes(kernel: EditableKernel, a: CodeInstruction, b: CodeInstruction): Map<number, Uint8Array> {
  const [x, y] = [bytesOf(kernel, a), bytesOf(kernel, b)];
  return new Map([
    [a.pc, y],
    [a.pc + y.length, x],
  ]);
}

export function bytesOf({ codeObject }: EditableKernel, { pc, instruction }: CodeInstruction): Uint8Array {
  const section = codeObject.elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
  if (section === undefined) throw new Error('outside of the sections');
  return new Uint8Array(section.bytes.subarray(pc - section.address, pc - section.address + instruction.size));
}

/** Swaps about a tenth of the independent neighbours. */
export function reordered(kernel: EditableKernel, pick: Pick): CodeEdit | undefined {
  const changes = new Map<number, Uint8Array>();
  let last = -1;
  for (const [a, b] of kernel.neighbours()) {
    if (a.index <= last || !mayChangePlaces(a, b) || !areIndependent(a, b) || pick(10) > 0) continue;
    for (const [pc, bytes] of swapBytes(kernel, a, b)) changes.set(pc, bytes);
    last = b.index;
  }
  if (changes.size === 0) return undefined;
  return { kind: 'reorder', what: `${changes.size / 2} swaps`, bytes: kernel.patched(changes) };
}

type File = 'v' | 's' | 'a';

/** Registers of a file that occur together: the first and how many; overlapping tuples are one run. */
function runsOf(kernel: EditableKernel, file: File): Map<number, number> {
  const joined = new Map<number, boolean>();
  for (const { instruction } of kernel.code) {
    for (const operand of instruction.operands) {
      if (operand.kind !== 'reg' || operand.file !== file) continue;
      for (let n = 0; n < operand.dwords; n++) {
        const index = operand.index + n;
        joined.set(index, joined.get(index) === true || n > 0);
      }
    }
  }
  const runs = new Map<number, number>();
  let start = -1;
  for (const index of [...joined.keys()].sort((x, y) => x - y)) {
    if (joined.get(index) !== true) start = index;
    runs.set(start, index - start + 1);
  }
  return runs;
}

/** Exchanges the names of two registers, or of two runs of them, in the whole kernel. */
export function renamed(kernel: EditableKernel, pick: Pick, file: File, from: number): CodeEdit | undefined {
  // What is called keeps its names, and so do registers that an index reaches.
  if (kernel.program.functions.length > 1) return undefined;
  if (kernel.code.some(({ instruction }) => instruction.row.operation.startsWith('s_set_gpr_idx'))) return undefined;
  const runs = [...runsOf(kernel, file)].filter(([first]) => first >= from);
  const [x, length] = runs[pick(runs.length || 1)] ?? [0, 0];
  // Tuples begin where their size allows.
  const others = runs.filter(([first, size]) => first !== x && size === length && (first - x) % 4 === 0);
  const [y] = others[pick(others.length || 1)] ?? [];
  if (y === undefined) return undefined;
  const changes = new Map<number, Uint8Array>();
  for (const code of kernel.code) {
    const operands = code.instruction.operands.map((operand): Operand => {
      if (operand.kind !== 'reg' || operand.file !== file) return operand;
      const { index, dwords } = operand;
      if (index >= x && index < x + length) return registerTuple(file, index - x + y, dwords) as Register;
      return index >= y && index < y + length ? (registerTuple(file, index - y + x, dwords) as Register) : operand;
    });
    if (operands.every((o, i) => o === code.instruction.operands[i])) continue;
    const bytes = encodeOne(code, operands);
    if (bytes === undefined) return undefined;
    changes.set(code.pc, bytes);
  }
  const many = length > 1 ? ` tuples` : '';
  const what = `${length} from ${file}${x} and ${file}${y}`;
  return { kind: `rename ${file}${many}`, what, bytes: kernel.patched(changes) };
}

/** Makes a third of the waits wait for everything that they name. */
export function strengthened(kernel: EditableKernel, pick: Pick): CodeEdit | undefined {
  const changes = new Map<number, Uint8Array>();
  for (const code of kernel.code) {
    if (!waitRole(code.instruction.row).isWait || pick(3) > 0) continue;
    const { vm, exp, lgkm } = waitCounts(code.instruction);
    const [v, l] = [vm === 63 ? 63 : 0, lgkm === 15 ? 15 : 0];
    const bits = (v & 15) | ((v & 0x30) << 10) | (exp << 4) | (l << 8);
    const bytes = encodeOne(code, [immediate(bits), ...code.instruction.operands.slice(1)]);
    if (bytes !== undefined) changes.set(code.pc, bytes);
  }
  return changes.size === 0
    ? undefined
    : { kind: 'waits', what: `${changes.size} waits`, bytes: kernel.patched(changes) };
}

/** Code objects with more instructions are not assembled again for one edit. */
const MOST_LINES = 6000;

/** Puts no-ops and waits for everything between instructions, a few in a hundred; everything moves. */
export function spread(kernel: EditableKernel, pick: Pick): CodeEdit | undefined {
  if (kernel.code.length > MOST_LINES) return undefined;
  const lines = disassembleCodeObject(kernel.codeObject, {}).split('\n');
  let count = 0;
  const text = lines.flatMap((line, i) => {
    // What is added to a program counter counts from the instruction behind s_getpc.
    const isCode = /^\s+[a-z]+_\w+( |$)/.test(line) && !/^\s+(?:s_getpc|s_add_u32|s_addc_u32|s_set_gpr_idx)/.test(line);
    if (!isCode || /^\s+s_getpc/.test(lines[i - 1] ?? '') || pick(40) > 0) return [line];
    count++;
    return [pick(2) === 0 ? '\ts_nop 0' : '\ts_waitcnt vmcnt(0) lgkmcnt(0)', line];
  });
  if (count === 0) return undefined;
  return { kind: 'insert', what: `${count} no-ops and waits`, bytes: assembleAndLink(text.join('\n')) };
}

/** All kinds of edits that keep the function, in turn. */
export function legalEdit(kernel: EditableKernel, pick: Pick, turn: number): CodeEdit | undefined {
  switch (turn % 6) {
    case 0:
      return reordered(kernel, pick);
    case 1:
      return renamed(kernel, pick, 'v', 1);
    case 2:
      return strengthened(kernel, pick);
    case 3:
      return renamed(kernel, pick, 's', kernel.initialSgprs);
    case 4:
      return spread(kernel, pick);
    default:
      return renamed(kernel, pick, 'a', 0);
  }
}
