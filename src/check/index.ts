// Room `check`: the checker: what is wrong with a code object before it runs. Rules are pure functions from a context to findings.
// Begin with types.ts (finding, context, rule), then this file, which runs the rules.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, type DebugLines, debugLines } from '../codeobject/index.ts';
import { type Finding, type Place, ruleInfo } from '../finding/index.ts';
import { isTargetName, TARGET_LIST } from '../isa/table/targets.ts';
import { liftCodeObject, type Program } from '../program/index.ts';
import { checkEntry, checkFileAgainst, checkKernelAgainst } from './rules/abi.ts';
import { checkConstantBounds } from './rules/constant-bounds.ts';
import { checkControlFlow } from './rules/control-flow.ts';
import { checkControlShape } from './rules/control-shape.ts';
import { checkDefinedness } from './rules/definedness.ts';
import { checkLost } from './rules/edit-lost.ts';
import { checkOrder } from './rules/edit-order.ts';
import { checkEditedValues } from './rules/edit-values.ts';
import { checkHazards } from './rules/hazards.ts';
import { checkLdsDma } from './rules/lds-dma.ts';
import { checkLdsReuse } from './rules/lds-reuse.ts';
import { checkMemoryModel } from './rules/memory-model.ts';
import { checkModes } from './rules/modes.ts';
import { checkResources } from './rules/resources.ts';
import { checkStrongWaits } from './rules/strong-waits.ts';
import { checkWaits } from './rules/waits.ts';
import { checkXnack } from './rules/xnack.ts';
import type { Rule } from './types.ts';

export {
  countFindings,
  type Edit as FindingEdit,
  type Finding,
  findingRecord,
  newFindings,
  type Severity as FindingSeverity,
} from '../finding/index.ts';
export { type Edit, editOf, instructionsOf } from './edit.ts';
export { type PreloadStub, preloadProblem, readPreloadStub } from './entry.ts';
export {
  instructionsIn,
  type PlacedInstruction,
  type RegisterMention,
  type RegisterUse,
  registerUse,
} from './register-use.ts';
export { argumentLayout, checkEntry, checkFileAgainst, checkKernelAgainst } from './rules/abi.ts';
export { checkConstantBounds } from './rules/constant-bounds.ts';
export { checkControlFlow } from './rules/control-flow.ts';
export { checkControlShape } from './rules/control-shape.ts';
export { checkDefinedness, initialRegisters, valueReads, type Written, writtenAtBlocks } from './rules/definedness.ts';
export { checkLost } from './rules/edit-lost.ts';
export { checkOrder } from './rules/edit-order.ts';
export { checkEditedValues, repeatedCacheOperations } from './rules/edit-values.ts';
export { checkHazards } from './rules/hazards.ts';
export { checkLdsDma } from './rules/lds-dma.ts';
export { checkLdsReuse } from './rules/lds-reuse.ts';
export { checkMemoryModel } from './rules/memory-model.ts';
export { checkModes } from './rules/modes.ts';
export { checkResources, workgroupFit } from './rules/resources.ts';
export { checkStrongWaits } from './rules/strong-waits.ts';
export { checkWaits, outstandingAtBlocks, replayBlock, stepThrough } from './rules/waits.ts';
export { checkXnack } from './rules/xnack.ts';
export type { CheckContext, Rule } from './types.ts';

/** The rules that every kernel and function is checked with. */
const RULES: readonly Rule[] = [
  checkResources,
  checkEntry,
  checkKernelAgainst,
  checkControlFlow,
  checkHazards,
  checkWaits,
  checkLdsDma,
  checkLdsReuse,
  checkOrder,
  checkEditedValues,
  checkLost,
  checkDefinedness,
  checkControlShape,
  checkConstantBounds,
  checkMemoryModel,
  checkXnack,
  checkModes,
];

export interface CheckOptions {
  /** The code object whose place the checked one is to take. */
  readonly against?: CodeObject | undefined;
  /** The lifted program, when the caller has it already. */
  readonly program?: Program | undefined;
  /** Check only these kernels, with the functions they call; nothing about the whole file. */
  readonly kernels?: ReadonlySet<string> | undefined;
  /** Also say what could be better: waits that are too strong, dead code, registers that some paths leave unwritten. */
  readonly notes?: boolean | undefined;
  /** Also what the manual forbids, but code that ships does and was never seen to fail. */
  readonly pedantic?: boolean | undefined;
  /** Only these rules; all by default. */
  readonly rules?: ReadonlySet<Rule> | undefined;
}

/** All findings about a code object, in the order of its functions; those about the whole file come first. */
export function checkCodeObject(codeObject: CodeObject, options: CheckOptions = {}): Finding[] {
  return checkWithRules(codeObject, options).findings;
}

/** The same, and the rules that found something. */
export function checkWithRules(
  codeObject: CodeObject,
  options: CheckOptions = {},
): { readonly findings: Finding[]; readonly rules: ReadonlySet<Rule> } {
  const { processor } = codeObject.target;
  if (!isTargetName(processor)) {
    throw new WavesmithError('check/target', `The code object is for ${processor}, which is not supported.`, {
      hint: `Supported targets are ${TARGET_LIST}.`,
    });
  }
  const { kernels } = options;
  const program = options.program ?? liftCodeObject(codeObject, { kernels });
  const baseline = options.against;
  const findings = baseline === undefined || kernels !== undefined ? [] : checkFileAgainst(codeObject, baseline);
  const isComparable = baseline !== undefined && baseline.target.processor === processor && !baseline.isRelocatable;
  const baselineProgram = isComparable ? liftCodeObject(baseline, { kernels }) : undefined;
  const rules = new Set<Rule>();
  for (const subject of program.functions) {
    const { kernel } = subject;
    const context = { target: processor, codeObject, program, subject, kernel, baseline, baselineProgram };
    for (const rule of RULES) {
      if (options.rules?.has(rule) === false) continue;
      for (const f of rule(context)) {
        const isWanted = options.pedantic === true || f.basis !== 'shipped';
        if (!isWanted || (options.notes !== true && isQuiet(f))) continue;
        findings.push(f);
        rules.add(rule);
      }
    }
    if (options.notes === true) findings.push(...checkStrongWaits(context));
  }
  return { findings: withLines(findings, codeObject), rules };
}

/** Notes that many correct kernels have. */
function isQuiet({ rule, severity }: Finding): boolean {
  return severity === 'note' && ruleInfo(rule).shown === 'notes';
}

/** The findings with the lines of the compiler's source, where the code object has a line table. */
function withLines(findings: readonly Finding[], { elf }: CodeObject): Finding[] {
  const lines = findings.length === 0 ? undefined : debugLines(elf);
  if (lines === undefined) return [...findings];
  return findings.map((one) => ({
    ...one,
    place: withLine(one.place, lines),
    related: one.related.map((r) => ({ ...r, place: withLine(r.place, lines) })),
  }));
}

function withLine(place: Place, lines: DebugLines): Place {
  return place.pc === undefined ? place : { ...place, source: lines.at(place.pc) };
}
