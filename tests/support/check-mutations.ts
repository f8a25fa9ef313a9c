// Mistakes that an edit can make, made one at a time in a lifted program: waits weakened, wait states lost, dependent neighbours
// swapped, a register past the allocation, an argument changed. Each knows the rules that should notice.
import {
  type CheckContext,
  checkDefinedness,
  checkEditedValues,
  checkHazards,
  checkKernelAgainst,
  checkLdsDma,
  checkOrder,
  checkResources,
  checkWaits,
  checkXnack,
  type Finding,
  type Rule,
} from '../../src/check/index.ts';
import { descriptorRegisters, type Kernel } from '../../src/codeobject/index.ts';
import { immediate, printInstruction } from '../../src/isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  effectsOf,
  overlaps,
  type Program,
  type ProgramFunction,
} from '../../src/program/index.ts';
import { contextOf, explainWait, waitsOf, weakerWaits, withWait } from './wait-mutations.ts';

export type MutationKind = 'wait' | 's_nop' | 'swap' | 'register' | 'argument';
export const MUTATION_KINDS: readonly MutationKind[] = ['wait', 's_nop', 'swap', 'register', 'argument'];

export interface Mutant {
  readonly kind: MutationKind;
  /** What was done, for people. */
  readonly what: string;
  readonly context: CheckContext;
  /** Why it may be right as it is, when no rule notices. */
  explain(): string;
}

const RULES: Readonly<Record<MutationKind, readonly Rule[]>> = {
  wait: [checkWaits, checkLdsDma, checkOrder],
  s_nop: [checkHazards, checkXnack],
  swap: [checkEditedValues, checkDefinedness, checkWaits, checkHazards],
  register: [checkResources],
  argument: [checkKernelAgainst, checkResources],
};

const keyOf = (f: Finding): string => `${f.severity} ${f.rule} ${f.place.pc} ${f.related[0]?.place.pc} ${f.message}`;

/** What the rules of a kind find in the unchanged function. */
export function findingsOf(kind: MutationKind, context: CheckContext): Finding[] {
  return RULES[kind].flatMap((rule) => rule(context));
}

/** What a mutant has that the original has not. */
export function newFindings(mutant: Mutant, before: readonly Finding[]): Finding[] {
  const known = new Set(before.map(keyOf));
  return findingsOf(mutant.kind, mutant.context).filter((f) => !known.has(keyOf(f)));
}

/** A context whose baseline is the original. */
export function comparedWith(program: Program, mutated: Program, subject: ProgramFunction): CheckContext {
  return { ...contextOf(mutated, subject), baseline: program.codeObject, baselineProgram: program };
}

/** All mutants of a function. */
export function* mutantsOf(program: Program, subject: ProgramFunction): Generator<Mutant> {
  yield* waits(program, subject);
  yield* nops(program, subject);
  yield* swaps(program, subject);
  yield* registers(program, subject);
  yield* argumentsOf(program, subject);
}

function* waits(program: Program, subject: ProgramFunction): Generator<Mutant> {
  for (const code of waitsOf(program, subject)) {
    for (const bits of weakerWaits(code)) {
      yield {
        kind: 'wait',
        what: `${program.text(code.pc)} -> 0x${bits.toString(16)} at 0x${code.pc.toString(16)}`,
        context: comparedWith(program, withWait(program, code, bits), subject),
        explain: () => explainWait(contextOf(program, subject), code, bits),
      };
    }
  }
}

/** The program with other instructions at some places of one block; sizes stay the same in total. */
function withInstructions(program: Program, changed: ReadonlyMap<number, CodeInstruction>): Program {
  const instructions = program.instructions.slice();
  for (const [index, code] of changed) instructions[index] = code;
  const byPc = new Map([...changed.values()].map((code) => [code.pc, code]));
  const at = (pc: number): CodeInstruction | undefined => byPc.get(pc) ?? program.at(pc);
  const text = (pc: number): string => {
    const code = byPc.get(pc);
    return code === undefined ? program.text(pc) : printInstruction(program.target, code.instruction).trim();
  };
  return Object.create(program, { instructions: { value: instructions }, at: { value: at }, text: { value: text } });
}

/** Two neighbours in the other order. */
function swapped(program: Program, a: CodeInstruction, b: CodeInstruction): Program {
  const first: CodeInstruction = { ...b, index: a.index, pc: a.pc };
  const second: CodeInstruction = { ...a, index: b.index, pc: a.pc + b.instruction.size };
  return withInstructions(
    program,
    new Map([
      [a.index, first],
      [b.index, second],
    ]),
  );
}

/** Neighbours in one block, without what ends it. */
function* neighbours(program: Program, subject: ProgramFunction): Generator<[CodeInstruction, CodeInstruction]> {
  for (const index of subject.blocks) {
    const block = program.blocks[index] as BasicBlock;
    for (let i = block.first; i + 1 < block.end; i++) {
      const [a, b] = [program.instructions[i] as CodeInstruction, program.instructions[i + 1] as CodeInstruction];
      const { flags } = b.instruction.row;
      if (
        !flags.has('isBranch') &&
        !flags.has('isCall') &&
        !flags.has('isReturn') &&
        !/endpgm|getpc/.test(b.instruction.row.operation)
      ) {
        yield [a, b];
      }
    }
  }
}

const isNop = ({ instruction }: CodeInstruction): boolean => instruction.row.operation === 's_nop';

/** Each s_nop one wait state shorter; a single one goes behind the instruction that it protects. */
function* nops(program: Program, subject: ProgramFunction): Generator<Mutant> {
  for (const [a, b] of neighbours(program, subject)) {
    if (!isNop(a)) continue;
    const [operand] = a.instruction.operands;
    const count = operand?.kind === 'imm' ? operand.value & 15 : 0;
    const shorter = { ...a, instruction: { ...a.instruction, operands: [immediate(count - 1)] } };
    const mutated = count > 0 ? withInstructions(program, new Map([[a.index, shorter]])) : swapped(program, a, b);
    yield {
      kind: 's_nop',
      what: `${program.text(a.pc)} before ${program.text(b.pc)} at 0x${a.pc.toString(16)}`,
      context: comparedWith(program, mutated, subject),
      explain: () =>
        isNop(b) || /^s_(?:branch|endpgm)/.test(b.instruction.row.operation)
          ? 'padding'
          : 'no wait state table asks for it',
    };
  }
}

function* swaps(program: Program, subject: ProgramFunction): Generator<Mutant> {
  for (const [a, b] of neighbours(program, subject)) {
    const { effects: x } = a;
    const { effects: y } = b;
    if (a.instruction.row === b.instruction.row && program.text(a.pc) === program.text(b.pc)) continue;
    const isRead = overlaps(x.defs, y.uses) || overlaps(x.uses, y.defs);
    if (!isRead) continue;
    yield {
      kind: 'swap',
      what: `${program.text(a.pc)} / ${program.text(b.pc)} at 0x${a.pc.toString(16)}`,
      context: comparedWith(program, swapped(program, a, b), subject),
      explain: () =>
        overlaps(x.defs, y.uses)
          ? 'a value that nobody reads in the block'
          : 'the overwritten value was from another block',
    };
  }
}

/** Single VGPR operands replaced by the first register that is not allocated. */
function* registers(program: Program, subject: ProgramFunction): Generator<Mutant> {
  const descriptor = subject.kernel?.descriptor;
  if (descriptor === undefined) return;
  const { vgprs, agprs } = descriptorRegisters(descriptor);
  const past = Math.max(vgprs, agprs > 0 ? vgprs : 0);
  if (past >= 256) return;
  for (const index of subject.blocks) {
    const block = program.blocks[index] as BasicBlock;
    for (let i = block.first; i < block.end; i++) {
      const code = program.instructions[i] as CodeInstruction;
      const at = code.instruction.operands.findIndex((o) => o.kind === 'reg' && o.file === 'v' && o.dwords === 1);
      const operand = code.instruction.operands[at];
      if (operand?.kind !== 'reg') continue;
      const operands = code.instruction.operands.slice();
      operands[at] = { ...operand, index: past, id: -1, text: `v${past}` };
      const instruction = { ...code.instruction, operands };
      const mutated = withInstructions(
        program,
        new Map([[i, { ...code, instruction, effects: effectsOf(code.instruction) }]]),
      );
      yield {
        kind: 'register',
        what: `${program.text(code.pc)} with v${past}`,
        context: comparedWith(program, mutated, subject),
        explain: () => 'not explained',
      };
    }
  }
}

/** Each argument of the metadata moved, resized, and left out. */
function* argumentsOf(program: Program, subject: ProgramFunction): Generator<Mutant> {
  const { kernel } = subject;
  const metadata = kernel?.metadata;
  if (kernel === undefined || metadata === undefined) return;
  const make = (what: string, changes: Partial<typeof metadata>): Mutant => {
    const changed: Kernel = { ...kernel, metadata: { ...metadata, ...changes } };
    const edited = { ...subject, kernel: changed };
    return {
      kind: 'argument',
      what,
      context: { ...comparedWith(program, program, edited), kernel: changed },
      explain: () => 'not explained',
    };
  };
  for (const [n, arg] of metadata.args.entries()) {
    if (arg.valueKind.startsWith('hidden_')) continue;
    const replace = (changes: Partial<typeof arg>) => metadata.args.map((a, i) => (i === n ? { ...a, ...changes } : a));
    yield make(`argument ${n} moved`, { args: replace({ offset: arg.offset + 4 }) });
    yield make(`argument ${n} resized`, { args: replace({ size: arg.size * 2 }) });
    yield make(`argument ${n} left out`, { args: metadata.args.filter((_, i) => i !== n) });
  }
  yield make('kernarg segment shorter', { kernargSegmentSize: Math.max(0, metadata.kernargSegmentSize - 8) });
}
