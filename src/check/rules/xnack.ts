// Rule `hazards/xnack-clause`: with XNACK, memory instructions in a row may be replayed together after a page fault, so none may
// overwrite what another of them (or itself) reads. Source: LLVM's GCNHazardRecognizer, checkSoftClauseHazards.
import { type Finding, finding, insertStates } from '../../finding/index.ts';
import { type BasicBlock, type CodeInstruction, overlaps, type SlotRange, slotNames } from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';

/** Which kind of clause an instruction belongs to. */
function clauseKind({ instruction }: CodeInstruction): 'scalar' | 'vector' | undefined {
  const { flags } = instruction.row;
  if (flags.has('SMRD')) return 'scalar';
  const isVector = flags.has('MUBUF') || flags.has('MTBUF') || flags.has('MIMG') || flags.has('FLAT');
  return isVector ? 'vector' : undefined;
}

/** Clauses that cannot be replayed, in code that runs with XNACK: an error where the target id says so, else a note. */
export const checkXnack: Rule = (context: CheckContext) => {
  const { xnack } = context.codeObject.target;
  if (xnack !== 'on' && xnack !== 'any') return [];
  const findings: Finding[] = [];
  for (const index of context.subject.blocks) {
    const block = context.program.blocks[index] as BasicBlock;
    let kind: 'scalar' | 'vector' | undefined;
    let clause: CodeInstruction[] = [];
    for (let i = block.first; i < block.end; i++) {
      const code = context.program.instructions[i] as CodeInstruction;
      const next = clauseKind(code);
      if (next !== kind) clause = [];
      kind = next;
      if (next === undefined) continue;
      const other = conflict(clause, code);
      if (other !== undefined) {
        findings.push(report(context, code, other, xnack === 'on'));
        clause = [];
      }
      clause.push(code);
    }
  }
  return findings;
};

/** The instruction of a clause that another one cannot follow in it. */
function conflict(clause: readonly CodeInstruction[], code: CodeInstruction): CodeInstruction | undefined {
  const writer = clause.find((c) => c.effects.defs.length > 0);
  if (writer === undefined) return undefined;
  if (code.instruction.row.flags.has('mayStore')) return writer;
  if (overlaps(code.effects.defs, code.effects.uses)) return code;
  return clause.find((c) => shared(c, code).length > 0 || overlaps(c.effects.defs, c.effects.uses));
}

/** Registers that one of two instructions reads and the other writes. */
function shared(a: CodeInstruction, b: CodeInstruction): SlotRange[] {
  const of = (defs: readonly SlotRange[], uses: readonly SlotRange[]): SlotRange[] =>
    defs.filter((def) => overlaps([def], uses));
  return [...of(a.effects.defs, b.effects.uses), ...of(b.effects.defs, a.effects.uses)];
}

function report(
  { program, subject }: CheckContext,
  code: CodeInstruction,
  other: CodeInstruction,
  isOn: boolean,
): Finding {
  const registers = slotNames(
    new Set(shared(other, code).flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i))),
  );
  const what =
    registers.length > 0
      ? `would read ${registers.join(', ')} after it was overwritten`
      : 'may see what a load before it has not read yet';
  return finding({
    rule: 'hazards/xnack-clause',
    severity: isOn ? 'error' : 'note',
    kernel: subject.name,
    place: placeAt(program, code.pc),
    related: [relatedAt(program, other.pc, 'is replayed with it')],
    registers,
    message: `With XNACK these memory instructions may be replayed together, and then one ${what}.`,
    edits: [insertStates(code.pc, 1)],
    advice: isOn ? undefined : 'Or make the code for xnack-.',
  });
}
