// Which instruction of an edited function is which of the baseline's: an alignment of the two instruction sequences.
import { align, Interner } from '../asm/diff/align.ts';
import { branchTarget } from '../isa/index.ts';
import { type CodeInstruction, type Program, type ProgramFunction, waitRole } from '../program/index.ts';
import type { CheckContext } from './types.ts';

/** An edited function beside the baseline's. */
export interface Edit {
  readonly baseline: Program;
  readonly subject: ProgramFunction;
  /** The baseline's instruction that an instruction of the edited function is, by index. */
  old(index: number): CodeInstruction | undefined;
  /** The edited function's instruction that one of the baseline's is, by index. */
  now(index: number): CodeInstruction | undefined;
}

/** The instructions of a function, in address order. */
export function instructionsOf(program: Program, subject: ProgramFunction): CodeInstruction[] {
  const out: CodeInstruction[] = [];
  for (const index of subject.blocks) {
    const block = program.blocks[index];
    if (block !== undefined) for (let i = block.first; i < block.end; i++) out.push(at(program, i));
  }
  return out;
}

function at(program: Program, index: number): CodeInstruction {
  return program.instructions[index] as CodeInstruction;
}

const texts = new WeakMap<CodeInstruction, string>();
const edits = new WeakMap<ProgramFunction, { program: Program; baseline: Program; edit: Edit | undefined }>();

/** The edit that a context with a baseline is about; undefined when the baseline has no such function, or the same code. */
export function editOf({ program, subject, baselineProgram: baseline }: CheckContext): Edit | undefined {
  if (baseline === undefined) return undefined;
  const known = edits.get(subject);
  if (known?.program === program && known.baseline === baseline) return known.edit;
  const edit = makeEdit(program, subject, baseline);
  edits.set(subject, { program, baseline, edit });
  return edit;
}

function makeEdit(program: Program, subject: ProgramFunction, baseline: Program): Edit | undefined {
  const old = baseline.functions.find((f) => f.name === subject.name);
  if (old === undefined) return undefined;
  const [a, b] = [instructionsOf(baseline, old), instructionsOf(program, subject)];
  if (a.length === b.length && isSameCode(a, b)) return undefined;
  const names = new Interner();
  const keys = (p: Program, list: readonly CodeInstruction[]): Int32Array =>
    Int32Array.from(list, (code) => names.id(keyOf(p, code)));
  const [keysA, keysB] = [keys(baseline, a), keys(program, b)];
  const { toA, toB } = align(keysA, keysB);
  pairMoved(keysA, keysB, toA, toB);
  const partners = (list: readonly CodeInstruction[], other: readonly CodeInstruction[], to: Int32Array) =>
    new Map(list.flatMap((code, i) => (to[i] < 0 ? [] : [[code.index, other[to[i]]] as const])));
  const [oldOf, nowOf] = [partners(b, a, toA), partners(a, b, toB)];
  return { baseline, subject: old, old: (index) => oldOf.get(index), now: (index) => nowOf.get(index) };
}

/** Instructions that are left over on both sides with the same text were moved: they are paired in order. */
function pairMoved(a: Int32Array, b: Int32Array, toA: Int32Array, toB: Int32Array): void {
  const left = new Map<number, number[]>();
  for (let i = a.length - 1; i >= 0; i--) {
    const key = a[i] as number;
    if ((toB[i] as number) < 0) left.set(key, [...(left.get(key) ?? []), i]);
  }
  for (let j = 0; j < b.length; j++) {
    const i = (toA[j] as number) < 0 ? left.get(b[j] as number)?.pop() : undefined;
    if (i === undefined) continue;
    toA[j] = i;
    toB[i] = j;
  }
}

/** Waits are aligned whatever they wait for, branches wherever they go: both change with every edit. */
function keyOf(program: Program, code: CodeInstruction): string {
  let key = texts.get(code);
  if (key === undefined) {
    const { instruction, pc } = code;
    const { row } = instruction;
    key = branchTarget(instruction, pc) !== undefined || waitRole(row).isWait ? row.mnemonic : program.text(pc);
    texts.set(code, key);
  }
  return key;
}

function isSameCode(a: readonly CodeInstruction[], b: readonly CodeInstruction[]): boolean {
  return a.every((code, i) => {
    const other = b[i]?.instruction;
    if (other === undefined || other.row !== code.instruction.row) return false;
    return code.instruction === other || JSON.stringify(code.instruction.operands) === JSON.stringify(other.operands);
  });
}
