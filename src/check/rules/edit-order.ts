// Rule `waits/order-lost` (with a baseline): what registers do not show. At a barrier, a cache operation or an LDS read the edited code
// may have memory operations outstanding that the baseline has proved complete there, or older ones than the baseline.
// Sources: CDNA3 ISA manual, "Data Dependency Resolution", "Memory Scopes"; LLVM's AMDGPUUsage, "Memory Model gfx942".
import { type Finding, finding, insertWait, type WaitCounters } from '../../finding/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type MemoryKind,
  neededWait,
  type Program,
  type ProgramFunction,
  waitRole,
} from '../../program/index.ts';
import { type Edit, editOf } from '../edit.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { outstandingAtBlocks, stepThrough } from './waits.ts';
import type { WaitState } from './waits-state.ts';

/** What is outstanding at one place: by operation index, the ages on the paths with the fewest and the most operations since. */
type Outstanding = Map<number, { operation: CodeInstruction; kind: MemoryKind; least: number; most: number }>;

/** A place where the order of memory matters. `reads`: reads LDS. `orders`: a barrier, an atomic or a cache operation. */
function placeKind({ instruction }: CodeInstruction): 'reads' | 'orders' | undefined {
  const { row } = instruction;
  if (waitRole(row).isBarrier || /^buffer_(?:wbl2|inv|wbinvl1)/.test(row.operation)) return 'orders';
  if (row.flags.has('IsAtomicRet') || row.flags.has('IsAtomicNoRet') || row.operation === 's_endpgm') return 'orders';
  return row.flags.has('DS') && row.flags.has('mayLoad') ? 'reads' : undefined;
}

/** Whether an operation still being outstanding matters at such a place. */
function matters(place: 'reads' | 'orders', code: CodeInstruction, operation: CodeInstruction): boolean {
  const { flags } = operation.instruction.row;
  if (flags.has('LDSDMA')) return true;
  if (place === 'reads' || code.instruction.row.operation === 's_endpgm') return false;
  return flags.has('DS') ? !code.instruction.row.flags.has('DS') : flags.has('mayStore') || flags.has('FLAT');
}

function outstandingAt(context: CheckContext): Map<number, Outstanding> {
  const { program, subject } = context;
  const inputs = outstandingAtBlocks(context);
  const out = new Map<number, Outstanding>();
  for (const index of subject.blocks) {
    const input = inputs.get(index);
    if (input === undefined) continue;
    stepThrough(context, program.blocks[index] as BasicBlock, input, (code, state) => {
      const place = placeKind(code);
      if (place !== undefined) out.set(code.index, collect(place, code, state));
    });
  }
  return out;
}

function collect(place: 'reads' | 'orders', code: CodeInstruction, state: WaitState): Outstanding {
  const found: Outstanding = new Map();
  if (state.isEmpty) return found;
  for (const kind of ['vm', 'lds', 'flat'] as const) {
    for (const { operation, least, most } of state.ages(kind)) {
      if (matters(place, code, operation)) found.set(operation.index, { operation, kind, least, most });
    }
  }
  return found;
}

const known = new WeakMap<Program, Map<ProgramFunction, Map<number, Outstanding>>>();

/** The baseline does not change while many edits are compared with it. */
function baselineOutstanding(context: CheckContext, { baseline, subject }: Edit): Map<number, Outstanding> {
  const bySubject = known.get(baseline) ?? new Map<ProgramFunction, Map<number, Outstanding>>();
  known.set(baseline, bySubject);
  let found = bySubject.get(subject);
  if (found === undefined) {
    found = outstandingAt({ ...context, program: baseline, subject, codeObject: baseline.codeObject });
    bySubject.set(subject, found);
  }
  return found;
}

/** Memory operations that the baseline has proved complete at a place, and the edit has not. */
export const checkOrder: Rule = (context) => {
  const edit = editOf(context);
  if (edit === undefined) return [];
  const before = baselineOutstanding(context, edit);
  const findings: Finding[] = [];
  for (const [index, outstanding] of outstandingAt(context)) {
    const old = edit.old(index);
    const allowed = old && before.get(old.index);
    if (old === undefined || allowed === undefined) continue;
    for (const entry of outstanding.values()) {
      const was = edit.old(entry.operation.index);
      if (was === undefined && !entry.operation.instruction.row.flags.has('LDSDMA')) continue;
      const most = was === undefined ? -1 : (allowed.get(was.index)?.most ?? -1);
      const isLost = entry.kind === 'flat' ? (entry.most & ~Math.max(most, 0)) !== 0 : entry.most > most;
      if (isLost) {
        findings.push(report(context, edit, index, entry.operation, was, old, neededWait(entry.kind, entry.least)));
        break;
      }
    }
  }
  return findings;
};

function report(
  { program, subject }: CheckContext,
  edit: Edit,
  index: number,
  operation: CodeInstruction,
  was: CodeInstruction | undefined,
  old: CodeInstruction,
  wait: WaitCounters,
): Finding {
  const code = program.instructions[index] as CodeInstruction;
  const [place, other] = [program.text(code.pc), program.text(operation.pc)];
  const sameBlock = (p: Program, a: number, b: number): boolean => p.blockAt(a) === p.blockAt(b);
  const isMoved =
    was === undefined ||
    (sameBlock(program, code.pc, operation.pc) &&
      sameBlock(edit.baseline, was.pc, old.pc) &&
      operation.index < code.index !== was.index < old.index);
  return finding({
    rule: 'waits/order-lost',
    severity: isMoved ? 'warning' : 'error',
    kernel: subject.name,
    place: placeAt(program, code.pc),
    related: [relatedAt(program, operation.pc, 'may be outstanding')],
    message: isMoved
      ? `'${other}' may be outstanding here, where the baseline does not have it: LDS or memory may change under other wavefronts.`
      : `In the baseline '${other}' is complete at '${place}'; in the edit it may still be outstanding.`,
    edits: [insertWait(code.pc, wait)],
    advice: 'Or lower the count of the wait that is there.',
  });
}
