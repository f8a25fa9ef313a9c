// Rung 2: what can be said without running. The checker finds nothing in the candidate that it does not find in the baseline, the
// candidate asks nothing of its surroundings that the baseline does not, and a proof is tried.
import { checkCodeObject, repeatedCacheOperations } from '../../check/index.ts';
import type { CodeObject } from '../../codeobject/index.ts';
import { proveKernel } from '../../equivalence/index.ts';
import { type Finding, fingerprint, newFindings } from '../../finding/index.ts';
import { immediateOf } from '../../isa/operand.ts';
import { CPOL_GLC, CPOL_SCC } from '../../isa/parse/state.ts';
import { hasSlot, liftCodeObject, livenessOf, type Program, type ProgramFunction } from '../../program/index.ts';
import { Slot } from '../../program/slots.ts';

export interface StaticResult {
  /** Sentences that reject. */
  readonly objections: readonly string[];
  /** True when the candidate is the same function for all inputs. */
  readonly isProved: boolean;
  /** What the proof assumes, or why there is none. */
  readonly proof: readonly string[];
}

/** Rules about an edit that a run cannot overrule: what they guard is not seen on a device whose caches are coherent. */
const EDIT_RULES = new Set(['memory/cache-operation-lost', 'waits/order-lost']);
/** A proof is bounded by its memory, not by time, so that it ends alike on every machine. */
const MEGABYTES = 90;
const HWREG_MODE = 1;
const HWREG_ID = 0x3f;

/** What shipped code gets away with counts too: a candidate is as far on the safe side as its baseline. */
const STRICTLY = { pedantic: true } as const;

/** What the baseline is compared with: made once. */
export interface StaticBaseline {
  readonly codeObject: CodeObject;
  readonly known: readonly string[];
  readonly senses: ReadonlySet<string>;
  /** Accesses with a scope beyond the wavefront, by operation. */
  readonly scoped: ReadonlyMap<string, number>;
}

/** Looks at a baseline. */
export function staticBaseline(codeObject: CodeObject, kernel: string): StaticBaseline {
  const kernels = new Set([kernel]);
  return {
    codeObject,
    known: checkCodeObject(codeObject, { kernels, ...STRICTLY }).map(fingerprint),
    senses: sensesOf(codeObject, kernels),
    scoped: scopedOf(codeObject, kernels),
  };
}

/** What speaks against a candidate that keeps the contract, without a proof. */
export function staticObjections(baseline: StaticBaseline, candidate: CodeObject, kernel: string): string[] {
  const kernels = new Set([kernel]);
  const isSerious = ({ severity, basis }: Finding): boolean => severity !== 'note' || basis === 'shipped';
  const own = newFindings(checkCodeObject(candidate, { kernels, ...STRICTLY }), baseline.known).filter(isSerious);
  const edit = checkCodeObject(candidate, { kernels, against: baseline.codeObject }).filter(
    (f) => EDIT_RULES.has(f.rule) && isSerious(f),
  );
  const senses = [...sensesOf(candidate, kernels)].filter((s) => !baseline.senses.has(s));
  const scoped = scopedOf(candidate, kernels);
  const lost = [...baseline.scoped].filter(([name, count]) => (scoped.get(name) ?? 0) < count);
  return [
    ...[...own, ...edit].map(findingText),
    ...hiddenRegisters(candidate, kernel),
    ...lost.map(
      ([name, count]) =>
        `The baseline has ${count} ${name}, the candidate ${scoped.get(name) ?? 0}: other wavefronts may see old memory, which no run here shows.`,
    ),
    ...senses.map(
      (s) =>
        `The candidate uses ${s}, the baseline does not: its result could depend on where or when it runs, or others could depend on it.`,
    ),
  ];
}

/** The same with a proof. */
export function checkStatic(baseline: StaticBaseline, candidate: CodeObject, kernel: string): StaticResult {
  const objections = staticObjections(baseline, candidate, kernel);
  if (objections.length > 0) return { objections, isProved: false, proof: [] };
  const limits = { milliseconds: Number.POSITIVE_INFINITY, megabytes: MEGABYTES };
  const { verdict, reason, assumptions, isIdentical } = proveKernel(baseline.codeObject, candidate, kernel, { limits });
  const isProved = verdict === 'proved';
  const proof = isIdentical
    ? ['The code is the same.']
    : isProved
      ? ['Proved for all inputs.', ...assumptions.map((a) => `Assumes: ${a}`)]
      : [`Not proved: ${reason ?? 'no reason'}`];
  return { objections, isProved, proof };
}

function findingText({ rule, severity, place, message }: Finding): string {
  const at = place.pc === undefined ? '' : ` at pc 0x${place.pc.toString(16)}`;
  return `${severity}[${rule}]${at}: ${message}`;
}

/** Atomics, and loads, stores and cache operations that are no repetition with a scope, by operation and scope. The sc0 of an atomic only asks for the old value. */
function scopedOf(codeObject: CodeObject, kernels: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>();
  const program = liftCodeObject(codeObject, { kernels });
  for (const code of program.instructions) {
    const { instruction } = code;
    const { operation, flags } = instruction.row;
    if (repeatedCacheOperations(program, code).some((same) => same.pc < code.pc)) continue;
    if (flags.has('DS') || flags.has('SMRD')) continue;
    const isAtomic = flags.has('IsAtomicRet') || flags.has('IsAtomicNoRet');
    const scope = immediateOf(instruction, 'cpol') & (isAtomic ? CPOL_SCC : CPOL_SCC | CPOL_GLC);
    if (scope === 0) continue;
    const kind = isAtomic ? operation : flags.has('mayStore') ? 'stores' : 'loads';
    const name = `${kind} with scope bits ${scope}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Clocks, messages, levels of performance counters, branches that a debugger decides, memory and barriers of all workgroups. */
const SENSES = /^(?:s_(?:memtime|memrealtime|sendmsg|ttracedata|incperflevel|decperflevel)|ds_gws)/;
const DEBUGGER = /^s_cbranch_cdbg/;

/** What code knows of its surroundings or tells them: also hardware registers, and registers of the trap handler. */
function sensesOf(codeObject: CodeObject, kernels: ReadonlySet<string>): Set<string> {
  const program = liftCodeObject(codeObject, { kernels });
  const senses = new Set<string>(program.functions.flatMap((subject) => givenOf(program, subject)));
  for (const { instruction, effects } of program.instructions) {
    const { operation } = instruction.row;
    if (SENSES.test(operation)) senses.add(operation);
    if (DEBUGGER.test(operation)) senses.add('whether a debugger is there');
    // Of the trap handler: no kernel is promised what is in them.
    if (effects.uses.some(({ first }) => first >= Slot.TTMP0 && first < Slot.M0)) senses.add('trap registers');
    if (!/^s_[gs]etreg/.test(operation)) continue;
    const id = immediateOf(instruction, 'simm16') & HWREG_ID;
    if (id !== HWREG_MODE) senses.add(`hardware register ${id}`);
  }
  return senses;
}

/** What a kernel is given beside its arguments, and reads: all of it is the queue's. Source: AMDGPUUsage, initial kernel execution state. */
function givenOf(program: Program, subject: ProgramFunction): string[] {
  const { properties } = subject.kernel?.descriptor ?? {};
  const first = program.blocks[subject.entryBlocks[0] ?? -1];
  const start = program.instructions[first?.first ?? -1];
  if (properties === undefined || start === undefined) return [];
  const { enableSgprDispatchPtr, enableSgprQueuePtr, enableSgprKernargSegmentPtr, enableSgprDispatchId } = properties;
  const pairs = [
    ['the packet of the dispatch', enableSgprDispatchPtr],
    ['the queue', enableSgprQueuePtr],
    [undefined, enableSgprKernargSegmentPtr],
    ['the number of the dispatch', enableSgprDispatchId],
  ] as const;
  const live = livenessOf(program, subject).before(start);
  let slot = 4 * properties.enableSgprPrivateSegmentBuffer;
  return pairs.flatMap(([name, isGiven]) => {
    if (!isGiven) return [];
    slot += 2;
    return name !== undefined && (hasSlot(live, slot - 2) || hasSlot(live, slot - 1)) ? [name] : [];
  });
}

/** Vector registers that the code names beyond those that its metadata count: who reads occupancy there is told a wrong one. */
function hiddenRegisters(codeObject: CodeObject, kernel: string): string[] {
  const count = codeObject.kernels.find((k) => k.name === kernel)?.metadata?.vgprCount;
  if (count === undefined) return [];
  let highest = -1;
  for (const { effects } of liftCodeObject(codeObject, { kernels: new Set([kernel]) }).instructions) {
    for (const { first, count: slots } of [...effects.uses, ...effects.defs]) {
      if (first >= Slot.VGPR0 && first < Slot.AGPR0) highest = Math.max(highest, first - Slot.VGPR0 + slots - 1);
    }
  }
  return highest < count ? [] : [`The metadata count ${count} vector registers, and the code names v${highest}.`];
}
