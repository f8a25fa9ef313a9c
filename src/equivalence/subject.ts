// One of the two kernels of a proof: lifted, and checked. It is kept, because a baseline is compared with one edit after the other.
import { WavesmithError } from '../base/index.ts';
import { type CheckContext, checkCodeObject } from '../check/index.ts';
import { earlyInstructions } from '../check/rules/waits.ts';
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import { type Finding, fingerprint, newFindings } from '../finding/index.ts';
import { branchTarget, isTargetName, type TargetName } from '../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  liftCodeObject,
  type Program,
  type ProgramFunction,
  waitRole,
} from '../program/index.ts';

/** A kernel of a proof. */
export interface Subject {
  readonly codeObject: CodeObject;
  readonly kernel: Kernel;
  readonly program: Program;
  readonly subject: ProgramFunction;
  readonly target: TargetName;
  /** What the checker says of time, and its errors. */
  readonly findings: readonly Finding[];
}

/** Bytes of LDS that a workgroup gets without what the launch adds. */
export const ldsOf = ({ kernel }: Subject): number => kernel.descriptor?.groupSegmentFixedSize ?? 0;

function findKernel(codeObject: CodeObject, name: string, which: string): Kernel {
  const kernel = codeObject.kernels.find((k) => k.name === name);
  if (kernel !== undefined) return kernel;
  throw new WavesmithError('prove/no-such-kernel', `The ${which} has no kernel '${name}'.`, {
    hint: `It has ${codeObject.kernels.map((k) => k.name).join(', ') || 'none'}.`,
  });
}

/** Findings about time, which terms do not have: of waits and hazards all count, warnings too. */
const TIMING = /^(?:waits|hazards)\//;

/** The kernel that each code object was last asked for. */
const lifted = new WeakMap<CodeObject, Subject>();

/** Kernel `name` of a code object. Throws `prove/no-such-kernel`, `prove/target`, `prove/no-code`; `which` names the file for people. */
export function subjectOf(codeObject: CodeObject, name: string, which: string): Subject {
  let subject = lifted.get(codeObject);
  if (subject?.kernel.name !== name) {
    subject = lift(codeObject, name, which);
    lifted.set(codeObject, subject);
  }
  return subject;
}

function lift(codeObject: CodeObject, name: string, which: string): Subject {
  const { processor } = codeObject.target;
  if (!isTargetName(processor)) {
    throw new WavesmithError('prove/target', `The ${which} is for ${processor}, which is not supported.`);
  }
  const kernel = findKernel(codeObject, name, which);
  const program = liftCodeObject(codeObject, { kernels: new Set([name]) });
  const subject = program.functions.find((f) => f.kernel === kernel);
  if (subject === undefined) {
    throw new WavesmithError('prove/no-code', `The entry of kernel '${name}' in the ${which} is not code.`);
  }
  let findings: readonly Finding[] | undefined;
  return {
    codeObject,
    kernel,
    program,
    subject,
    target: processor,
    get findings() {
      findings ??= checkCodeObject(codeObject, { kernels: new Set([name]), program }).filter(
        (f) => isOfTime(f) || (f.basis === 'manual' && f.severity === 'error'),
      );
      return findings;
    },
  };
}

/** What the checker's analyses ask for. */
export function contextOf(s: Subject): CheckContext {
  const { target, codeObject, program, subject, kernel } = s;
  return { target, codeObject, program, subject, kernel, baseline: undefined };
}

/** The first finding of the edited kernel that the baseline does not have, how many they share, and how many only the baseline has. */
export function compareFindings(
  a: Subject,
  b: Subject,
): { finding: Finding | undefined; shared: number; mended: number } {
  const added = newFindings(b.findings, a.findings.map(fingerprint));
  const mended = newFindings(a.findings, b.findings.map(fingerprint)).length;
  return { finding: added[0], shared: b.findings.length - added.length, mended };
}

/** Indexes of the instructions that may come too early, by the findings of one kernel. */
function earlyIn(s: Subject): ReadonlySet<number> {
  const early = new Set<number>();
  const found = s.findings.filter(isOfTime);
  for (const { rule, place, related } of found) {
    const pcs = [place.pc, ...(rule.startsWith('hazards/') ? related.map((r) => r.place.pc) : [])];
    for (const pc of pcs) {
      const code = pc === undefined ? undefined : s.program.at(pc);
      if (code !== undefined) early.add(code.index);
    }
  }
  if (!found.some(({ rule }) => rule.startsWith('waits/'))) return early;
  for (const index of earlyInstructions(contextOf(s))) early.add(index);
  return early;
}

/** Names of instructions by index: the text, and which one with this text it is. */
function namesOf({ program }: Subject): readonly string[] {
  const counts = new Map<string, number>();
  return program.instructions.map(({ pc }) => {
    const text = program.text(pc);
    const n = counts.get(text) ?? 0;
    counts.set(text, n + 1);
    return `${text} ${n}`;
  });
}

/** Whether two programs are the same operations in the same order: only operands differ, as where registers have other names. */
const hasSameOperations = ({ program: p }: Subject, { program: q }: Subject): boolean =>
  p.instructions.length === q.instructions.length &&
  p.instructions.every(
    ({ instruction }, i) => instruction.row.operation === q.instructions[i]?.instruction.row.operation,
  );

/**
 * Indexes of the instructions of baseline and edited kernel that may come too early: with one finding in common, the two may still do
 * different things at the wrong time. Of the baseline's only those whose namesakes in the edited kernel come too early as well: the
 * others may come in time, too.
 */
export function earlyInBoth(a: Subject, b: Subject): readonly [ReadonlySet<number>, ReadonlySet<number>] {
  const edited = earlyIn(b);
  if (edited.size === 0) return [edited, edited];
  if (hasSameOperations(a, b)) return [new Set([...earlyIn(a)].filter((index) => edited.has(index))), edited];
  const names = namesOf(b);
  const wanted = new Set([...edited].map((index) => names[index]));
  const own = namesOf(a);
  return [new Set([...earlyIn(a)].filter((index) => wanted.has(own[index] as string))), edited];
}

const isOfTime = ({ rule }: Finding): boolean => TIMING.test(rule);

/** Instructions that do something. */
const workOf = ({ program, subject }: Subject): number => {
  let count = 0;
  for (const index of subject.blocks) {
    const { first, end } = program.blocks[index] as BasicBlock;
    for (let i = first; i < end; i++) {
      const { row } = (program.instructions[i] as CodeInstruction).instruction;
      if (!waitRole(row).isWait && row.operation !== 's_nop') count++;
    }
  }
  return count;
};

/** Whether one of two kernels may have unrolled a loop of the other: there is one, and they are not as long. */
export const mayBeUnrolled = (a: Subject, b: Subject): boolean => (hasLoop(a) || hasLoop(b)) && workOf(a) !== workOf(b);

/** Whether a branch of the kernel goes back. */
const hasLoop = ({ program, subject }: Subject): boolean =>
  subject.blocks.some((index) => {
    const code = program.instructions[(program.blocks[index]?.end ?? 0) - 1];
    return code !== undefined && (branchTarget(code.instruction, code.pc) ?? Number.POSITIVE_INFINITY) <= code.pc;
  });
