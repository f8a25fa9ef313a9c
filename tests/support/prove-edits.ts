// Edits of one kernel's code, in place: those that keep it the same function (independent neighbours swapped, registers renamed,
// waits made stronger), and mistakes (operands, constants, operations, neighbours, waits changed; instructions deleted).
import { type CodeObject, readCodeObject } from '../../src/codeobject/index.ts';
import { initialSgprs } from '../../src/equivalence/state.ts';
import {
  allRows,
  encode,
  type Instruction,
  type InstructionRow,
  immediate,
  type Operand,
  type Register,
  registerTuple,
  type TargetName,
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
function isPlain({ instruction }: CodeInstruction): boolean {
  const { flags, encoding, operation } = instruction.row;
  const isAlu = (flags.has('VALU') || flags.has('SALU')) && encoding !== 'SOPP';
  return isAlu && !/setreg|getreg|getpc|gpr_idx|movrel|vskip|memtime/.test(operation);
}

function areIndependent(a: CodeInstruction, b: CodeInstruction): boolean {
  const [x, y] = [a.effects, b.effects];
  return (
    !overlaps(x.defs, y.defs) &&
    !overlaps(x.defs, y.uses) &&
    !overlaps(x.defs, y.keeps) &&
    !overlaps(x.uses, y.defs) &&
    !overlaps(x.keeps, y.defs)
  );
}

const encodeOne = (
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

function swapBytes(kernel: EditableKernel, a: CodeInstruction, b: CodeInstruction): Map<number, Uint8Array> {
  const [x, y] = [bytesOf(kernel, a), bytesOf(kernel, b)];
  return new Map([
    [a.pc, y],
    [a.pc + y.length, x],
  ]);
}

function bytesOf({ codeObject }: EditableKernel, { pc, instruction }: CodeInstruction): Uint8Array {
  const section = codeObject.elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
  if (section === undefined) throw new Error('outside of the sections');
  return new Uint8Array(section.bytes.subarray(pc - section.address, pc - section.address + instruction.size));
}

/** Swaps about a tenth of the independent neighbours. */
export function reordered(kernel: EditableKernel, pick: Pick): CodeEdit | undefined {
  const changes = new Map<number, Uint8Array>();
  let last = -1;
  for (const [a, b] of kernel.neighbours()) {
    if (a.index <= last || !isPlain(a) || !isPlain(b) || !areIndependent(a, b) || pick(10) > 0) continue;
    for (const [pc, bytes] of swapBytes(kernel, a, b)) changes.set(pc, bytes);
    last = b.index;
  }
  if (changes.size === 0) return undefined;
  return { kind: 'reorder', what: `${changes.size / 2} swaps`, bytes: kernel.patched(changes) };
}

/** Registers of a file that only occur alone. */
function lonely(kernel: EditableKernel, file: 'v' | 's', from: number): number[] {
  const alone = new Set<number>();
  const tuples = new Set<number>();
  for (const { instruction } of kernel.code) {
    for (const operand of instruction.operands) {
      if (operand.kind !== 'reg' || operand.file !== file) continue;
      for (let n = 0; n < operand.dwords; n++) (operand.dwords === 1 ? alone : tuples).add(operand.index + n);
    }
  }
  return [...alone].filter((n) => n >= from && !tuples.has(n));
}

/** Exchanges the names of two registers in the whole kernel. */
export function renamed(kernel: EditableKernel, pick: Pick, file: 'v' | 's', from: number): CodeEdit | undefined {
  // What is called keeps its names, and so do registers that an index reaches.
  if (kernel.program.functions.length > 1) return undefined;
  if (kernel.code.some(({ instruction }) => instruction.row.operation.startsWith('s_set_gpr_idx'))) return undefined;
  const candidates = lonely(kernel, file, from);
  if (candidates.length < 2) return undefined;
  const x = candidates[pick(candidates.length)] as number;
  const y = candidates[pick(candidates.length)] as number;
  if (x === y) return undefined;
  const changes = new Map<number, Uint8Array>();
  for (const code of kernel.code) {
    const operands = code.instruction.operands.map((operand): Operand => {
      if (operand.kind !== 'reg' || operand.file !== file || operand.dwords !== 1) return operand;
      const to = operand.index === x ? y : operand.index === y ? x : operand.index;
      return registerTuple(file, to, 1) as Register;
    });
    if (operands.every((o, i) => o === code.instruction.operands[i])) continue;
    const bytes = encodeOne(code, operands);
    if (bytes === undefined) return undefined;
    changes.set(code.pc, bytes);
  }
  return { kind: `rename ${file}`, what: `${file}${x} and ${file}${y}`, bytes: kernel.patched(changes) };
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

/** All kinds of edits that keep the function, in turn. */
export function legalEdit(kernel: EditableKernel, pick: Pick, turn: number): CodeEdit | undefined {
  switch (turn % 4) {
    case 0:
      return reordered(kernel, pick);
    case 1:
      return renamed(kernel, pick, 'v', 1);
    case 2:
      return strengthened(kernel, pick);
    default:
      return renamed(kernel, pick, 's', kernel.initialSgprs);
  }
}

const siblings = new Map<string, InstructionRow[]>();

function siblingsOf(row: InstructionRow, target: TargetName): InstructionRow[] {
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

/** One random mistake; undefined when the place that was picked has none. */
export function mutant(kernel: EditableKernel, pick: Pick): CodeEdit | undefined {
  const code = kernel.code[pick(kernel.code.length)] as CodeInstruction;
  const { instruction } = code;
  const { operands, row } = instruction;
  const text = kernel.program.text(code.pc);
  const edit = (kind: string, bytes: Uint8Array | undefined): CodeEdit | undefined =>
    bytes === undefined
      ? undefined
      : {
          kind,
          what: `${kind}: ${text} at 0x${code.pc.toString(16)}`,
          bytes: kernel.patched(new Map([[code.pc, bytes]])),
        };
  const withOperand = (i: number, operand: Operand): readonly Operand[] =>
    operands.map((o, n) => (n === i ? operand : o));
  switch (pick(6)) {
    case 0: {
      const i = pick(operands.length || 1);
      const operand = operands[i];
      if (operand?.kind !== 'reg' || operand.file === 'special') return undefined;
      const to = registerTuple(operand.file, operand.index + (pick(2) === 0 ? 1 : -1) * operand.dwords, operand.dwords);
      return to === undefined
        ? undefined
        : edit(row.operands[i]?.isOut ? 'destination' : 'source', encodeOne(code, withOperand(i, to)));
    }
    case 1: {
      const i = pick(operands.length || 1);
      const operand = operands[i];
      if (operand?.kind === 'imm')
        return edit(
          'immediate',
          encodeOne(code, withOperand(i, { kind: 'imm', value: operand.value + (pick(2) === 0 ? 4 : 1) })),
        );
      if (operand?.kind === 'literal')
        return edit(
          'literal',
          encodeOne(code, withOperand(i, { ...operand, bits: (operand.bits ^ (1 << pick(32))) >>> 0 })),
        );
      if (operand?.kind !== 'inline') return undefined;
      return edit('constant', encodeOne(code, withOperand(i, { kind: 'inline', encoding: operand.encoding + 1 })));
    }
    case 2: {
      const rows = siblingsOf(row, kernel.program.target);
      if (rows.length === 0) return undefined;
      return edit('operation', encodeOne(code, operands, rows[pick(rows.length)] as InstructionRow));
    }
    case 3: {
      if (row.flags.has('isTerminator') || row.flags.has('isBranch')) return undefined;
      const nop = new Uint8Array(instruction.size);
      for (let n = 0; n < nop.length; n += 4) nop.set([0, 0, 0x80, 0xbf], n);
      return edit('deleted', nop);
    }
    case 4: {
      const pairs = [...kernel.neighbours()].filter(([a, b]) => !areIndependent(a, b) || !isPlain(a) || !isPlain(b));
      const pair = pairs[pick(pairs.length || 1)];
      if (pair === undefined) return undefined;
      const what = pair.map((c) => kernel.program.text(c.pc)).join(' <-> ');
      return { kind: 'swapped', what: `swapped: ${what}`, bytes: kernel.patched(swapBytes(kernel, ...pair)) };
    }
    default: {
      const waits = kernel.code.filter((c) => waitRole(c.instruction.row).isWait);
      const wait = waits[pick(waits.length || 1)];
      if (wait === undefined) return undefined;
      const { vm, lgkm } = waitCounts(wait.instruction);
      const [v, l] = [
        vm === 63 || pick(2) === 0 ? vm : vm + 1 + pick(63 - vm),
        lgkm === 15 || pick(2) === 0 ? lgkm : 15,
      ];
      const bits = (v & 15) | ((v & 0x30) << 10) | (7 << 4) | (l << 8);
      const bytes = encodeOne(wait, [immediate(bits), ...wait.instruction.operands.slice(1)]);
      if (bytes === undefined) return undefined;
      return {
        kind: 'wait',
        what: `wait at 0x${wait.pc.toString(16)}`,
        bytes: kernel.patched(new Map([[wait.pc, bytes]])),
      };
    }
  }
}
