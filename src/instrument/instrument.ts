// Puts a probe into a code object: asks the probe for its points, finds registers for each, writes the code, lets `rewrite` lay it out,
// and has `check` look at the result: it may say nothing that it does not say of the original.
import { WavesmithError } from '../base/index.ts';
import { kernelCode } from '../check/code.ts';
import { checkCodeObject, preloadProblem, readPreloadStub } from '../check/index.ts';
import {
  type CodeObject,
  type DescriptorRegisters,
  descriptorRegisters,
  type Kernel,
  kernelOccupancy,
} from '../codeobject/index.ts';
import { type Finding, fingerprint, newFindings } from '../finding/index.ts';
import { registerFromText } from '../isa/index.ts';
import { type CodeInstruction, liftCodeObject, PRELOAD_STUB, type Program, Slot, slotsOf } from '../program/index.ts';
import {
  type DataReference,
  type KernelChange,
  type MemoryReference,
  type PcMap,
  rewriteProgram,
} from '../rewrite/index.ts';
import { assembleLines } from './assemble.ts';
import { DeadRegisters } from './dead.ts';
import { type EmittedPoint, Emitter, type MemoryUse } from './emit.ts';
import type { PointResources } from './emit-values.ts';
import { type EntryPlan, planEntry } from './entry.ts';
import { PointFlags } from './flags.ts';
import { collectPoints, type Point } from './points.ts';
import { OutOfRegisters } from './pool.ts';
import { type CallGroup, callGroups, type FreeRegisters, freeRegisters, growAllocation } from './registers.ts';
import { type ProbeProgram, selectProgram } from './select.ts';
import { mergeMemories, type PlacedState, placeState, readState, type Site, type StateShapes } from './state.ts';
import type { ProbeDefinition } from './types.ts';
import { type EntryValue, valuesOf } from './values.ts';

/** A point that has no code, and why. */
export interface RejectedPoint {
  readonly kernel: string;
  readonly pc: number;
  readonly reason: string;
}

/** What the probe costs a kernel. */
export interface KernelCost {
  readonly kernel: string;
  readonly vgprs: readonly [before: number, after: number];
  readonly sgprs: readonly [before: number, after: number];
  /** Waves per SIMD. */
  readonly occupancy: readonly [before: number | undefined, after: number | undefined];
}

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

export interface InstrumentOptions {
  /** Kernels to instrument; all by default. */
  readonly kernel?: RegExp | undefined;
  /** Let `check` compare the result with the original (default). */
  readonly verify?: boolean | undefined;
  /** Kernels may get more registers than they have (default), also where fewer waves fit on a SIMD then. */
  readonly growth?: boolean | undefined;
  /** Points that may be placed, by their number; for bisecting. */
  readonly only?: ((point: number) => boolean) | undefined;
}

/** Instruments a linked code object. Errors: those of lifting and rewriting, `probe/…` of the probe's code, `instrument/unsound`. */
export function instrument<S extends StateShapes>(
  codeObject: CodeObject,
  probe: ProbeDefinition<S>,
  options: InstrumentOptions = {},
): Instrumented {
  const program = liftCodeObject(codeObject);
  const { kernel: pattern } = options;
  const view = selectProgram(program, (name) => pattern === undefined || pattern.test(name));
  const states = Object.entries(probe.state).map(
    ([name, shape]): PlacedState => ({ name, shape, offset: 0, size: 0, sites: [] }),
  );
  const flags = new PointFlags(program);
  const points = collectPoints(probe, view, flags).filter((_, i) => options.only?.(i) ?? true);
  const placement = new Placement(program, states, options.growth !== false);
  for (const group of callGroups(program)) placement.place(group, points);
  const size = placeState(states);
  const result = rewriteProgram(program, {
    edits: placement.edits(),
    kernels: placement.changes,
    memory: placement.placed === 0 ? undefined : { size, references: placement.references() },
  });
  const changed = new Set(placement.changes.keys());
  const findings =
    options.verify === false || placement.placed === 0 ? [] : verify(codeObject, result.codeObject, changed);
  return {
    codeObject: result.codeObject,
    program: view,
    pcs: result.pcs,
    memory: { address: result.memory ?? 0, size: result.memory === undefined ? 0 : size },
    placed: placement.placed,
    rejected: placement.rejected,
    costs: costsOf(codeObject, result.codeObject, placement.changes),
    drains: placement.drains,
    findings,
    data: result.data,
    report: (...memories) => {
      const wrong = memories.find((memory) => memory.length !== size);
      if (wrong !== undefined && placement.placed > 0) throw new Error(`${wrong.length} bytes of ${size}`);
      const bytes = placement.placed === 0 ? new Uint8Array(size) : mergeMemories(states, memories, size);
      return probe.report({ program: view, state: readState(states, bytes) as never });
    },
  };
}

/** Findings of the result that the original has not: of the kernels that were changed, and of what they call. */
function verify(original: CodeObject, result: CodeObject, kernels: ReadonlySet<string>): Finding[] {
  const before = checkCodeObject(original, { pedantic: true, kernels }).map(fingerprint);
  const fresh = newFindings(checkCodeObject(result, { pedantic: true, kernels }), before);
  const [first] = fresh.filter((f) => f.severity === 'error' && f.isCertain && f.basis !== 'shipped');
  if (first !== undefined) {
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
        occupancy: [kernelOccupancy(kernel, processor)?.wavesPerSimd, kernelOccupancy(now, processor)?.wavesPerSimd],
      },
    ];
  });
}

interface PlacedCode {
  readonly point: Point;
  readonly code: Uint8Array;
  readonly uses: readonly MemoryUse[];
}

/** Registers for points, and their code. */
class Placement {
  private readonly program: Program;
  private readonly states: readonly PlacedState[];
  private readonly codes: PlacedCode[] = [];
  private readonly preambles = new Map<number, Uint8Array>();
  readonly rejected: RejectedPoint[] = [];
  readonly changes = new Map<string, KernelChange>();
  drains = 0;
  private readonly dead: DeadRegisters;
  private readonly mayGrow: boolean;

  constructor(program: Program, states: readonly PlacedState[], mayGrow: boolean) {
    this.program = program;
    this.mayGrow = mayGrow;
    this.dead = new DeadRegisters(program);
    this.states = states;
  }

  get placed(): number {
    return this.codes.length;
  }

  /** Places the points of a group's kernels and functions. */
  place(group: CallGroup, points: readonly Point[]): void {
    const names = new Set(group.functions.map((f) => f.entry));
    const own = points.filter((p) => names.has(p.kernel.entry));
    if (own.length === 0) return;
    const free = freeRegisters(this.program, group, this.mayGrow);
    const wanted = [
      ...new Set(own.flatMap((p) => valuesOf(p.statements).flatMap((v) => (v.op === 'entry' ? [v.value] : [])))),
    ];
    const [store, ...vgprs] = free.vgprs;
    const entries = new Map<number, EntryPlan | string>();
    if (wanted.length > 0) {
      for (const { kernel, entry, entryBlocks } of group.kernels) {
        // The compatibility block is the one other way to where preloading hardware begins.
        const main = this.program.blocks[entryBlocks.at(-1) ?? -1];
        const isLoop = (main?.predecessors.length ?? 0) >= entryBlocks.length && (main?.predecessors.length ?? 0) > 0;
        const plan =
          kernel?.descriptor === undefined
            ? 'it has no descriptor'
            : isLoop
              ? 'it jumps back to its entry'
              : store === undefined
                ? 'no vector register is free throughout'
                : planEntry(kernel.descriptor, wanted, this.hasStub(kernel));
        entries.set(entry, plan);
      }
    }
    const pool: FreeRegisters = wanted.length > 0 ? { sgprs: free.sgprs, vgprs } : free;
    const last = { s: -1, v: wanted.length > 0 ? (store ?? -1) : -1 };
    let placed = 0;
    for (const point of own) {
      const reason = this.placeOne(point, pool, entries, store, last, group);
      if (reason === undefined) placed++;
      else this.rejected.push({ kernel: point.kernel.name, pc: point.pc, reason });
    }
    if (placed === 0) return;
    for (const { kernel, entry } of group.kernels) {
      if (kernel?.descriptor === undefined) continue;
      const plan = entries.get(entry);
      const isPlan = plan !== undefined && typeof plan !== 'string';
      if (isPlan && store !== undefined) {
        const at = plan.isAtEntry ? entry : entry + PRELOAD_STUB;
        this.preambles.set(at, assembleLines(this.program.target, plan.lines(store)));
      }
      const grown = structuredClone(kernel.descriptor);
      const counts = growAllocation(grown, last.v, last.s);
      const { vgprCount = 0, sgprCount = 0 } = kernel.metadata ?? {};
      const isRaised =
        grown.rsrc1.granulatedWorkitemVgprCount !== kernel.descriptor.rsrc1.granulatedWorkitemVgprCount ||
        last.v >= vgprCount;
      this.changes.set(kernel.name, {
        descriptor: (d) => {
          growAllocation(d, last.v, last.s);
          if (isPlan) plan.change(d);
        },
        metadata: new Map([
          ...(isRaised ? [['.vgpr_count', BigInt(Math.max(vgprCount, counts.vgprs))] as const] : []),
          ...(last.s >= 0 ? [['.sgpr_count', BigInt(Math.max(sgprCount, counts.sgprs))] as const] : []),
        ]),
      });
    }
  }

  /** Whether a kernel with preloaded arguments has a block that loads them, for firmware that does not. */
  private hasStub(kernel: Kernel): boolean {
    const code = kernelCode(this.program.codeObject, kernel);
    const stub = code === undefined ? undefined : readPreloadStub(code, this.program.target);
    return stub !== undefined && !stub.traps && preloadProblem(stub) === undefined;
  }

  /** Writes the code of a point; the reason when it cannot be. */
  private placeOne(
    point: Point,
    pool: FreeRegisters,
    entries: ReadonlyMap<number, EntryPlan | string>,
    store: number | undefined,
    last: { s: number; v: number },
    group: CallGroup,
  ): string | undefined {
    if (point.problem !== undefined) return point.problem;
    const values = valuesOf(point.statements);
    const plan = entries.get(point.kernel.entry);
    if (values.some((v) => v.op === 'entry')) {
      if (typeof plan === 'string') return plan;
      if (plan === undefined) return 'what a kernel gets at its start is not known in a function';
      if (!plan.isAtEntry && point.pc < point.kernel.entry + PRELOAD_STUB)
        return 'the block for firmware that preloads nothing runs before its values are kept';
    }
    const sites = new Map<string, { state: PlacedState; site: number }>();
    for (const state of this.states) sites.set(state.name, { state, site: state.sites.length });
    const resources: PointResources = {
      target: this.program.target,
      sgprs: pool.sgprs,
      vgprs: pool.vgprs,
      isSccLive: point.isSccLive,
      entry: (value: EntryValue) => ({ register: store ?? 0, lane: (plan as EntryPlan).lanes.get(value) ?? 0 }),
      drain:
        point.side !== 'before'
          ? values.some(isRegister)
          : values.some((v) => isRegister(v) && !isOperand(point, v.name)),
    };
    try {
      const emitted = this.emit(point, resources, sites, group);
      last.s = Math.max(last.s, emitted.lastSgpr);
      last.v = Math.max(last.v, emitted.lastVgpr);
      if (emitted.drains > 0) this.drains++;
      for (const name of new Set(emitted.uses.map((use) => use.state.name))) {
        const site: Site = { index: sites.get(name)?.site ?? 0, pc: point.pc, kernel: point.kernel.name };
        this.states.find((s) => s.name === name)?.sites.push(site);
      }
      this.codes.push({ point, code: emitted.code, uses: emitted.uses });
      return undefined;
    } catch (error) {
      if (error instanceof OutOfRegisters) return error.message;
      throw error;
    }
  }

  /** Writes a point's code with registers that are free everywhere, else with those that are free there. */
  private emit(
    point: Point,
    resources: PointResources,
    sites: ReadonlyMap<string, { readonly state: PlacedState; readonly site: number }>,
    group: CallGroup,
  ): EmittedPoint {
    try {
      return new Emitter(resources, point.instruction, sites).emit(point.statements);
    } catch (error) {
      if (!(error instanceof OutOfRegisters)) throw error;
    }
    const allocated = group.kernels
      .map((f) => f.kernel?.descriptor)
      .filter((d) => d !== undefined)
      .map(descriptorRegisters);
    const limit = (most: number, of: (r: DescriptorRegisters) => number): number =>
      Math.min(most, ...allocated.map(of));
    const { kernel, pc, side } = point;
    const dead = this.dead.at(
      kernel,
      pc,
      side,
      limit(102, (r) => r.sgprs - 6),
      limit(256, (r) => r.vgprs),
    );
    const read = new Set(valuesOf(point.statements).flatMap((v) => (v.op === 'register' ? slotsByName(v.name) : [])));
    if (point.instruction !== undefined)
      for (const { first, count } of point.instruction.code.effects.uses)
        for (let i = 0; i < count; i++) read.add(first + i);
    const more = (known: readonly number[], found: readonly number[], base: number): number[] => [
      ...known,
      ...found.filter((n) => !known.includes(n) && !read.has(base + n)),
    ];
    const widened: PointResources = {
      ...resources,
      sgprs: more(resources.sgprs, dead.sgprs, 0),
      vgprs: more(resources.vgprs, dead.vgprs, Slot.VGPR0),
      settle: this.dead.hasMatrix(kernel),
    };
    return new Emitter(widened, point.instruction, sites).emit(point.statements);
  }

  edits() {
    const before = new Map<number, Uint8Array[]>();
    const after = new Map<number, Uint8Array[]>();
    const taken = new Map<number, Uint8Array[]>();
    for (const [pc, code] of this.preambles) before.set(pc, [code]);
    for (const { point, code } of this.codes) {
      const map = point.side === 'before' ? before : point.side === 'after' ? after : taken;
      const list = map.get(point.pc);
      if (list === undefined) map.set(point.pc, [code]);
      else list.push(code);
    }
    return { before, after, taken };
  }

  references(): MemoryReference[] {
    return this.codes.flatMap(({ code, uses }) =>
      uses.map(({ state, site, pc, low, high }) => ({
        code,
        pc,
        low,
        high,
        offset: state.offset + (state.shape.kind === 'counters' ? 8 * site : 0),
      })),
    );
  }
}

function isRegister(value: { readonly op: string }): value is { readonly op: 'register'; readonly name: string } {
  return value.op === 'register';
}

function slotsByName(name: string): number[] {
  const register = registerFromText(name);
  const range = register && slotsOf(register);
  return range === undefined ? [] : Array.from({ length: range.count }, (_, i) => range.first + i);
}

/** Whether an instruction reads a register, so that the kernel itself waits for it. */
function isOperand(point: Point, name: string): boolean {
  const code: CodeInstruction | undefined = point.instruction?.code;
  return (
    code?.instruction.operands.some(
      (o, i) => o.kind === 'reg' && o.text === name && code.instruction.row.operands[i]?.isOut === false,
    ) ?? false
  );
}
