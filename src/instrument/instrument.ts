// Puts a probe into a code object: asks the probe for its points, finds registers for each, writes the code, lets `rewrite` lay it out,
// and has `check` look at the result: it may say nothing that it does not say of the original.
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject, checkWithRules } from '../check/index.ts';
import { type CodeObject, kernelOccupancy, readCodeObject } from '../codeobject/index.ts';
import type { ModuleCache } from '../device/sim/state/module-cache.ts';
import { type Finding, fingerprint, newFindings } from '../finding/index.ts';
import { liftCodeObject, type Program, type ProgramFunction } from '../program/index.ts';
import {
  type DataReference,
  type KernelChange,
  type PcMap,
  pcMapOf,
  rewriteProgram,
  unfollowedAddresses,
} from '../rewrite/index.ts';
import { type KeptFacts, type KernelCost, keptBytes, keyOf, readKept } from './kept.ts';
import { Placement, type RejectedPoint } from './placement.ts';
import { collectPoints, readsOf, type Sampling } from './points.ts';
import { type CallGroup, callGroups } from './registers.ts';
import { selectProgram } from './select.ts';
import { mergeMemories, type PlacedState, placeState, readState, type StateShapes } from './state.ts';
import type { ProbeDefinition } from './types.ts';
import { writtenBy } from './values.ts';
import type { ProbeProgram } from './view.ts';

export interface Instrumented {
  readonly codeObject: CodeObject;
  readonly program: ProbeProgram;
  readonly pcs: PcMap;
  /** Where the probe's memory is in the file's addresses, and its size; 0 bytes when no point was placed. */
  readonly memory: { readonly address: number; readonly size: number };
  readonly placed: number;
  readonly rejected: readonly RejectedPoint[];
  readonly costs: readonly KernelCost[];
  /** Points that wait for outstanding memory operations. */
  readonly drains: number;
  /** What `check` says of the result and not of the original: empty unless `verify` was off. */
  readonly findings: readonly Finding[];
  /** Where the code computes addresses of data. */
  readonly data: readonly DataReference[];
  /** What the probe makes of its memory; of several it makes one. */
  report(...memories: readonly Uint8Array[]): Readonly<Record<string, unknown>>;
}

export interface InstrumentOptions extends Sampling {
  /** Kernels to instrument; all by default. */
  readonly kernel?: RegExp | undefined;
  /** Let `check` compare the result with the original (default). */
  readonly verify?: boolean | undefined;
  /** Kernels may get more registers than they have (default), also where fewer waves fit on a SIMD then. */
  readonly growth?: boolean | undefined;
  /** The probe's settings by name; the others are as it declares them. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Points that may be placed, by their number and their instruction's address; for bisecting. */
  readonly only?: ((point: number, pc: number) => boolean) | undefined;
  /** Where results are kept by content; used for probes that say what their source is. */
  readonly cache?: ModuleCache | undefined;
}

/** Instruments a linked code object. Errors: those of lifting and rewriting, `probe/…` of the probe's code, `instrument/unsound`. */
export function instrument<S extends StateShapes>(
  codeObject: CodeObject,
  probe: ProbeDefinition<S>,
  options: InstrumentOptions = {},
): Instrumented {
  const settings = settingsOf(probe, options.settings ?? {});
  const { source } = probe;
  const cache = options.only === undefined ? options.cache : undefined;
  if (cache === undefined || source === undefined) return new Result(codeObject, probe, options, settings).made();
  const { kernel, verify, growth, workgroup, wave, every } = options;
  const key = keyOf(
    source,
    settings,
    [
      kernel?.source ?? '',
      kernel?.flags ?? '',
      verify ?? true,
      growth ?? true,
      workgroup ?? null,
      wave ?? null,
      every ?? null,
    ],
    codeObject.bytes,
  );
  const kept = cache.get(key);
  const result = new Result(codeObject, probe, options, settings);
  if (kept !== undefined) {
    const { facts, code } = readKept(kept);
    return result.from(facts, readCodeObject(code, codeObject.path), false);
  }
  const made = result.made();
  cache.put(key, keptBytes(result.facts as KeptFacts, made.codeObject.bytes));
  return made;
}

/** One instrumented code object, made or from the cache; the program is lifted when it is asked for. */
class Result<S extends StateShapes> {
  private readonly codeObject: CodeObject;
  private readonly probe: ProbeDefinition<S>;
  private readonly options: InstrumentOptions;
  private readonly settings: Readonly<Record<string, string>>;
  private lifted: ProbeProgram | undefined;
  facts: KeptFacts | undefined;

  constructor(
    codeObject: CodeObject,
    probe: ProbeDefinition<S>,
    options: InstrumentOptions,
    settings: Readonly<Record<string, string>>,
  ) {
    this.codeObject = codeObject;
    this.probe = probe;
    this.options = options;
    this.settings = settings;
  }

  private get program(): ProbeProgram {
    const { kernel } = this.options;
    this.lifted ??= selectProgram(liftCodeObject(this.codeObject), (name) => kernel === undefined || kernel.test(name));
    return this.lifted;
  }

  /** Puts the probe in. */
  made(): Instrumented {
    const { codeObject, probe, options, program: view } = this;
    const program = view.lifted;
    const states = Object.entries(probe.state).map(
      ([name, shape]): PlacedState => ({ name, shape, offset: 0, size: 0, sites: [] }),
    );
    const groups = callGroups(program);
    const stays = unmovable(program, groups);
    const points = collectPoints(probe, view, this.settings, options, stays).filter(
      ({ pc }, i) => options.only?.(i, pc) ?? true,
    );
    const placement = new Placement(program, states, options.growth !== false, points, readsOf(view, points));
    for (const group of groups) placement.place(group, points);
    const size = placeState(states);
    const { placed } = placement;
    const result = rewriteProgram(program, {
      edits: placement.edits(),
      kernels: placement.changes,
      stays: [...stays.keys()],
      memory: placed === 0 ? undefined : { size, references: placement.references() },
    });
    const changed = new Set(placement.changes.keys());
    // A probe that changes what the kernel does may be meant to make mistakes; what is found is reported.
    const isNeutral = points.every((p) => p.side !== 'replace' && writtenBy(p.statements).length === 0);
    const findings =
      options.verify === false || placed === 0 ? [] : verify(program, result.codeObject, changed, isNeutral);
    const facts: KeptFacts = {
      memory: { address: result.memory ?? 0, size: result.memory === undefined ? 0 : size },
      stateSize: size,
      states: states.map(({ shape: _, ...state }) => state),
      placed,
      rejected: placement.rejected,
      costs: costsOf(codeObject, result.codeObject, placement.changes),
      drains: placement.drains,
      findings,
      data: result.data,
      segments: result.pcs.segments,
    };
    this.facts = facts;
    return this.from(facts, result.codeObject, true);
  }

  /** The result as others see it; `isNew` when the probe has just named its points. */
  from(facts: KeptFacts, codeObject: CodeObject, isNew: boolean): Instrumented {
    const { probe } = this;
    const program = (): ProbeProgram => this.program;
    const states = facts.states.map(
      (state): PlacedState => ({ ...state, shape: probe.state[state.name] as PlacedState['shape'] }),
    );
    const size = facts.stateSize;
    let hasRun = isNew;
    return {
      codeObject,
      get program() {
        return program();
      },
      pcs: pcMapOf(() => this.program.lifted, facts.segments),
      memory: facts.memory,
      placed: facts.placed,
      rejected: facts.rejected,
      costs: facts.costs,
      drains: facts.drains,
      findings: facts.findings,
      data: facts.data,
      report: (...memories) => {
        const wrong = memories.find((memory) => memory.length !== size);
        if (wrong !== undefined && facts.placed > 0) throw new Error(`${wrong.length} bytes of ${size}`);
        // A probe of a user's may note things while it names its points.
        if (!hasRun) collectPoints(probe, program(), this.settings, this.options);
        hasRun = true;
        const bytes = facts.placed === 0 ? new Uint8Array(size) : mergeMemories(states, memories, size);
        return probe.report({ program: program(), state: readState(states, bytes) as never });
      },
    };
  }
}

/** Functions whose code cannot be moved, with those that call them or that they call, and why. */
function unmovable(program: Program, groups: readonly CallGroup[]): ReadonlyMap<ProgramFunction, string> {
  const out = new Map<ProgramFunction, string>();
  const open = unfollowedAddresses(program);
  if (open.size === 0) return out;
  const blocks = new Map([...open].map(([pc, why]) => [program.blockAt(pc)?.index ?? -1, why]));
  for (const { functions } of groups) {
    const found = functions.flatMap((subject) => subject.blocks).find((index) => blocks.has(index));
    if (found === undefined) continue;
    for (const subject of functions) out.set(subject, blocks.get(found) as string);
  }
  return out;
}

/** All settings of a probe. Errors: `probe/setting` for one that it does not have. */
function settingsOf<S extends StateShapes>(
  { name, settings = {} }: ProbeDefinition<S>,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(settings, key));
  if (unknown !== undefined) {
    throw new WavesmithError('probe/setting', `The probe '${name}' has no setting '${unknown}'.`, {
      hint: `It has: ${Object.keys(settings).join(', ') || 'none'}.`,
    });
  }
  return { ...Object.fromEntries(Object.entries(settings).map(([key, { value }]) => [key, value])), ...given };
}

/** Findings of the result that the original has not: of the kernels that were changed, and of what they call. */
function verify(original: Program, result: CodeObject, kernels: ReadonlySet<string>, isNeutral: boolean): Finding[] {
  const { findings: after, rules } = checkWithRules(result, { pedantic: true, kernels });
  if (after.length === 0) return [];
  const { codeObject } = original;
  const program = codeObject.kernels.every(({ name }) => kernels.has(name)) ? original : undefined;
  const before = checkCodeObject(codeObject, { pedantic: true, kernels, program, rules });
  const fresh = newFindings(after, before.map(fingerprint));
  const [first] = fresh.filter((f) => f.severity === 'error' && f.isCertain && f.basis !== 'shipped');
  if (first !== undefined && isNeutral) {
    throw new WavesmithError('instrument/unsound', `The instrumented code would not be correct: ${first.message}`, {
      hint: `The checker's rule is ${first.rule}. This is a defect of wavesmith; the code object that shows it helps to mend it.`,
    });
  }
  return fresh;
}

function costsOf(before: CodeObject, after: CodeObject, changes: ReadonlyMap<string, KernelChange>): KernelCost[] {
  const { processor } = before.target;
  return before.kernels.flatMap((kernel) => {
    const now = after.kernels.find((k) => k.name === kernel.name);
    if (now === undefined || !changes.has(kernel.name)) return [];
    return [
      {
        kernel: kernel.name,
        vgprs: [kernel.metadata?.vgprCount ?? 0, now.metadata?.vgprCount ?? 0],
        sgprs: [kernel.metadata?.sgprCount ?? 0, now.metadata?.sgprCount ?? 0],
        scratch: [kernel.descriptor?.privateSegmentFixedSize ?? 0, now.descriptor?.privateSegmentFixedSize ?? 0],
        occupancy: [kernelOccupancy(kernel, processor)?.wavesPerSimd, kernelOccupancy(now, processor)?.wavesPerSimd],
      },
    ];
  });
}
