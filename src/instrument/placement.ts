// Code for points, with the registers that choose.ts finds for each, and what kernels need for it: more registers, and what they get at
// their start kept.

import { kernelCode } from '../check/code.ts';
import { preloadProblem, readPreloadStub } from '../check/index.ts';
import type { Kernel, KernelDescriptor } from '../codeobject/index.ts';
import { registerFromText } from '../isa/index.ts';
import { targetInfo } from '../isa/table/targets.ts';
import {
  type CodeInstruction,
  type FurtherReads,
  PRELOAD_STUB,
  type Program,
  type ProgramFunction,
  Slot,
} from '../program/index.ts';
import type { KernelChange, MemoryReference } from '../rewrite/index.ts';
import { assembleLines } from './assemble.ts';
import { countsOf, GroupRegisters } from './choose.ts';
import { DeadRegisters } from './dead.ts';
import { Emitter, type MemoryUse } from './emit.ts';
import { type EntryPlan, planEntry } from './entry.ts';
import type { EntryValue, KeptPlace } from './entry-value.ts';
import type { Point } from './points.ts';
import { OutOfRegisters } from './pool.ts';
import { type CallGroup, growAllocation } from './registers.ts';
import type { PlacedState, Site } from './state.ts';
import { clobberedBy, valuesOf, writtenBy } from './values.ts';
import { planWaveCounters, registersOf, type WaveCounters } from './wave-counters.ts';
import { WrittenRegisters } from './written.ts';

/** A point that has no code, and why. */
export interface RejectedPoint {
  readonly kernel: string;
  readonly pc: number;
  /** Its number among the points that the probe asked for. */
  readonly point: number;
  readonly reason: string;
}

/** The last register of each kind that points use, -1 for none, and the end of the scratch that they use. */
interface Last {
  s: number;
  v: number;
  a: number;
  scratch: number;
}

/** Where a kernel keeps what it gets at its start. */
interface KeptEntry {
  readonly plan: EntryPlan;
  /** Undefined where nothing is kept. */
  readonly place: KeptPlace | undefined;
}

/** The code at a kernel's start. Vector registers but v0 hold nothing there, and neither do VCC and M0. */
function keepLines({ plan, place }: KeptEntry, free: number, isEarly: boolean): string[] {
  const lines = isEarly ? plan.early : plan.lines;
  if (place === undefined) return lines(free);
  if (place.file === 'v') return lines(place.at);
  const keep =
    place.file === 'a'
      ? [`v_accvgpr_write_b32 a${place.at}, v${free}`]
      : place.needsRegister === true
        ? ['s_mov_b32 m0, 0', `scratch_store_dword off, v${free}, m0 offset:${place.at}`, 's_waitcnt vmcnt(0)']
        : [`scratch_store_dword off, v${free}, off offset:${place.at}`, 's_waitcnt vmcnt(0)'];
  return [...lines(free), 's_mov_b64 vcc, exec', 's_mov_b64 exec, -1', ...keep, 's_mov_b64 exec, vcc'];
}

interface PlacedCode {
  readonly point: Point;
  readonly code: Uint8Array;
  readonly uses: readonly MemoryUse[];
}

/** Registers for points, and their code. */
export class Placement {
  private readonly program: Program;
  private readonly states: readonly PlacedState[];
  private readonly codes: PlacedCode[] = [];
  private readonly preambles = new Map<number, Uint8Array>();
  /** What sets counters of waves to zero, by where kernels begin, and what adds them to memory, by where waves end. */
  private readonly zeroing = new Map<number, Uint8Array>();
  private readonly sums: { readonly pc: number; readonly code: Uint8Array; readonly uses: readonly MemoryUse[] }[] = [];
  readonly rejected: RejectedPoint[] = [];
  readonly changes = new Map<string, KernelChange>();
  drains = 0;
  private readonly dead: DeadRegisters;
  private readonly written: WrittenRegisters;
  private readonly mayGrow: boolean;

  /** `points`: all of them; `reads`: the registers that they read. */
  constructor(
    program: Program,
    states: readonly PlacedState[],
    mayGrow: boolean,
    points: readonly Point[],
    reads: FurtherReads,
  ) {
    this.program = program;
    this.mayGrow = mayGrow;
    this.dead = new DeadRegisters(program, points, reads);
    this.written = new WrittenRegisters(program, points);
    this.states = states;
  }

  get placed(): number {
    return this.codes.length;
  }

  /** Places the points of a group's kernels and functions. */
  place(group: CallGroup, points: readonly Point[]): void {
    const lists = [this.codes, this.rejected, this.sums, ...this.states.map(({ sites }) => sites)];
    const lengths = lists.map((list) => list.length);
    const { drains } = this;
    if (this.placeWith(group, points, true)) return;
    // A counter in a register whose point has no code would say that the point was never reached.
    for (const [i, list] of lists.entries()) list.length = lengths[i] as number;
    for (const { entryBlocks } of group.kernels) {
      const { first = -1 } = this.program.blocks[entryBlocks.at(-1) ?? -1] ?? {};
      this.zeroing.delete(this.program.instructions[first]?.pc ?? -1);
    }
    this.drains = drains;
    this.placeWith(group, points, false);
  }

  /** The same, with counters in registers or without; false when one of them could not be placed, and nothing is to be kept. */
  private placeWith(group: CallGroup, points: readonly Point[], mayCount: boolean): boolean {
    const names = new Set(group.functions.map((f) => f.entry));
    // What nothing has written need not be kept, though a point behind asks for it.
    const own = points
      .filter((p) => names.has(p.kernel.entry))
      .map((p) => (p.isSccLive && !this.written.mayHold(p, Slot.SCC) ? { ...p, isSccLive: false } : p));
    if (own.length === 0) return true;
    if (group.kernels.length === 0) {
      for (const { kernel, pc, number } of own)
        this.rejected.push({ kernel: kernel.name, pc, point: number, reason: 'no kernel calls the function' });
      return true;
    }
    const canSetScratch = this.needsFlatScratch && group.kernels.every((one) => this.mayAdd(one, wantedOf(own)));
    const registers = new GroupRegisters(this.program, group, this.mayGrow, this.dead, canSetScratch);
    const last: Last = { s: -1, v: -1, a: -1, scratch: 0 };
    const counters = mayCount ? this.planCounters(group, own, registers, last) : undefined;
    const entries = this.planEntries(group, own, registers);
    let placed = 0;
    for (const point of own) {
      const reason = this.placeOne(point, entries.get(point.kernel.entry), registers, last, counters);
      if (reason === undefined) placed++;
      else if (counters?.sites.has(point) === true) return false;
      else this.rejected.push({ kernel: point.kernel.name, pc: point.pc, point: point.number, reason });
    }
    if (placed === 0) return true;
    for (const kept of entries.values()) {
      if (typeof kept === 'string' || kept.place === undefined) continue;
      const { file, at: register } = kept.place;
      if (file === 'scratch') last.scratch = Math.max(last.scratch, register + 4);
      else last[file] = Math.max(last[file], register);
    }
    if (this.needsFlatScratch && last.scratch > 0) {
      this.addFlatScratch(group, own, entries);
      // FLAT_SCRATCH lies behind the scalar registers that are in use.
      const starts = [...entries.values()].map((kept) => (typeof kept === 'object' ? kept.plan.lastSgpr : -1));
      last.s = Math.max(last.s, registers.lastNamedSgpr, ...starts);
    }
    for (const { kernel, entry } of group.kernels) {
      if (kernel?.descriptor === undefined) continue;
      const kept = entries.get(entry);
      const plan = typeof kept === 'object' ? kept.plan : undefined;
      if (plan !== undefined && typeof kept === 'object') {
        const put = (at: number, isEarly: boolean): void =>
          void this.preambles.set(at, assembleLines(this.program.target, keepLines(kept, registers.atEntry, isEarly)));
        put(plan.isAtEntry ? entry : entry + PRELOAD_STUB, false);
        if (!plan.isAtEntry && own.some(({ pc }) => pc >= entry && pc < entry + PRELOAD_STUB)) put(entry, true);
      }
    }
    for (const { kernel, entry } of group.kernels) {
      const kept = entries.get(entry);
      if (kernel?.descriptor !== undefined)
        this.change(
          kernel,
          kernel.descriptor,
          registers.namedVgprs,
          last,
          typeof kept === 'object' ? kept.plan : undefined,
        );
    }
    return true;
  }

  /** Counters in registers, with the code that begins and ends them; undefined where there are none. */
  private planCounters(
    group: CallGroup,
    own: readonly Point[],
    registers: GroupRegisters,
    last: Last,
  ): WaveCounters | undefined {
    if (group.kernels.some((one) => one.kernel?.descriptor === undefined || this.isReentered(one))) return undefined;
    const before = this.states.map(({ sites }) => sites.length);
    const plan = planWaveCounters(this.program, group, own, this.states, registers.unnamedSgprs);
    if (plan === undefined) return undefined;
    const numbers = registersOf(plan.registers);
    registers.keepSgprs(numbers);
    const sums = plan.ends.map((end) => this.sumsOf(end, registers, last));
    if (sums.some((code) => code === undefined)) {
      for (const [i, { sites }] of this.states.entries()) sites.length = before[i] as number;
      return undefined;
    }
    for (const one of sums) if (one !== undefined) this.sums.push(one);
    last.s = Math.max(last.s, ...numbers);
    if (numbers.length > 0) this.zeroing.set(plan.start.pc, assembleLines(this.program.target, plan.start.lines));
    return plan;
  }

  /** The code where a wave ends; undefined when too few registers are free there. */
  private sumsOf(
    { pc, kernel, first, sums }: WaveCounters['ends'][number],
    registers: GroupRegisters,
    last: Last,
  ): { pc: number; code: Uint8Array; uses: readonly MemoryUse[] } | undefined {
    const point = { number: -1, side: 'before', pc, kernel, instruction: undefined, statements: [] } as const;
    const wanted = { ...point, isSccLive: false, indexing: undefined, problem: undefined };
    const { target } = this.program;
    for (const attempt of registers.attempts(wanted, undefined)) {
      if (typeof attempt === 'string' || attempt.loan !== undefined) continue;
      try {
        const resources = { ...attempt, target, isSccLive: false, entry: undefined, drain: false };
        const { code, uses, lastSgpr, lastVgpr } = new Emitter(resources, undefined, pc, first).emitSums(sums);
        last.s = Math.max(last.s, lastSgpr);
        last.v = Math.max(last.v, lastVgpr);
        return { pc, code, uses };
      } catch (error) {
        if (!(error instanceof OutOfRegisters)) throw error;
        attempt.lacks(error.kind);
      }
    }
    return undefined;
  }

  /** Raises what a kernel has to what its points use. */
  private change(
    kernel: Kernel,
    descriptor: KernelDescriptor,
    namedVgprs: number,
    last: Last,
    plan: EntryPlan | undefined,
  ): void {
    const grown = structuredClone(descriptor);
    const counts = growAllocation(grown, namedVgprs, last);
    const { vgprCount = 0, sgprCount = 0 } = kernel.metadata ?? {};
    const isRaised =
      grown.rsrc1.granulatedWorkitemVgprCount !== descriptor.rsrc1.granulatedWorkitemVgprCount || last.v >= vgprCount;
    const agprs = BigInt(last.a + 1);
    const scratch = (d: KernelDescriptor): number => Math.max(d.privateSegmentFixedSize, last.scratch);
    const hasMoreAgprs = last.a >= 0 && agprs > BigInt(kernel.metadata?.agprCount ?? 0);
    this.changes.set(kernel.name, {
      descriptor: (d) => {
        growAllocation(d, namedVgprs, last);
        plan?.change(d);
        if (last.scratch > 0) d.rsrc2.enablePrivateSegment = 1;
        d.privateSegmentFixedSize = scratch(d);
      },
      metadata: new Map([
        ...(isRaised ? [['.vgpr_count', BigInt(Math.max(vgprCount, counts.vgprs))] as const] : []),
        ...(hasMoreAgprs ? [['.agpr_count', agprs] as const] : []),
        ...(last.scratch > 0 ? [['.private_segment_fixed_size', BigInt(scratch(descriptor))] as const] : []),
        ...(last.s >= 0 ? [['.sgpr_count', BigInt(Math.max(sgprCount, counts.sgprs))] as const] : []),
      ]),
    });
  }

  /** Whether FLAT_SCRATCH is set by the code of kernels. */
  private get needsFlatScratch(): boolean {
    return !targetInfo(this.program.target).architectedFlatScratch;
  }

  /** Whether a kernel's start can set FLAT_SCRATCH besides keeping values. */
  private mayAdd(subject: ProgramFunction, wanted: readonly EntryValue[]): boolean {
    const { kernel } = subject;
    if (kernel?.descriptor === undefined || this.isReentered(subject)) return false;
    const plan = planEntry(kernel.descriptor, [...wanted, 'flat-scratch'], this.hasStub(kernel));
    return typeof plan === 'object' && (this.mayGrow || plan.lastSgpr < countsOf(kernel.descriptor).sgprs);
  }

  /** Lets every kernel of a group set FLAT_SCRATCH where it begins. */
  private addFlatScratch(group: CallGroup, own: readonly Point[], entries: Map<number, KeptEntry | string>): void {
    for (const { kernel, entry } of group.kernels) {
      if (kernel?.descriptor === undefined) continue;
      const kept = entries.get(entry);
      const wanted = typeof kept === 'object' ? wantedOf(own) : [];
      const plan = planEntry(kernel.descriptor, [...wanted, 'flat-scratch'], this.hasStub(kernel));
      if (typeof plan === 'string') throw new Error(plan);
      entries.set(entry, { plan, place: typeof kept === 'object' ? kept.place : undefined });
    }
  }

  /** Whether a kernel jumps back to where it begins; the compatibility block is the one other way to where preloading hardware does. */
  private isReentered({ entryBlocks }: ProgramFunction): boolean {
    const { predecessors = [] } = this.program.blocks[entryBlocks.at(-1) ?? -1] ?? {};
    return predecessors.length > 0 && predecessors.length >= entryBlocks.length;
  }

  /** How each kernel keeps what it gets at its start, where points ask for it; the reason when it cannot. */
  private planEntries(
    group: CallGroup,
    own: readonly Point[],
    registers: GroupRegisters,
  ): Map<number, KeptEntry | string> {
    const out = new Map<number, KeptEntry | string>();
    const uses = own.filter((p) => valuesOf(p.statements).some((v) => v.op === 'entry'));
    const wanted = wantedOf(own);
    if (wanted.length === 0) return out;
    const store = registers.keepOne();
    for (const subject of group.kernels) {
      const { kernel, entry, entryBlocks } = subject;
      const main = this.program.blocks[entryBlocks.at(-1) ?? -1];
      const isLoop = this.isReentered(subject);
      if (kernel?.descriptor === undefined || isLoop) {
        out.set(entry, isLoop ? 'it jumps back to its entry' : 'it has no descriptor');
        continue;
      }
      const plan = planEntry(kernel.descriptor, wanted, this.hasStub(kernel));
      const start = this.program.instructions[main?.first ?? -1]?.pc;
      const isLocal = uses.every((p) => p.kernel.entry !== entry || (p.pc === start && p.side === 'before'));
      if (typeof plan === 'string') out.set(entry, plan);
      else if (store !== undefined) out.set(entry, { plan, place: store });
      else if (isLocal && registers.atEntry > 0) out.set(entry, { plan, place: { file: 'v', at: registers.atEntry } });
      else out.set(entry, 'no vector register is free throughout');
    }
    return out;
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
    kept: KeptEntry | string | undefined,
    registers: GroupRegisters,
    last: Last,
    counters: WaveCounters | undefined,
  ): string | undefined {
    if (point.problem !== undefined) return point.problem;
    const values = valuesOf(point.statements);
    const empty = this.written.lacking(point);
    if (empty !== undefined) return `nothing has written ${empty} when it is reached`;
    if (values.some((v) => v.op === 'entry')) {
      if (typeof kept === 'string') return kept;
      if (kept === undefined) return 'what a kernel gets at its start is not known in a function';
    }
    const absent = registers.absent(point);
    if (absent !== undefined) return `the kernel has no register ${absent}`;
    const sites = new Map<string, { state: PlacedState; site: number }>();
    const planned = counters?.sites.get(point);
    for (const state of this.states)
      sites.set(state.name, { state, site: planned?.get(state.name) ?? state.sites.length });
    const keeper =
      typeof kept === 'object' && kept.place !== undefined ? { plan: kept.plan, place: kept.place } : undefined;
    const common = {
      target: this.program.target,
      isSccLive: point.isSccLive,
      indexing: typeof point.indexing === 'object' ? point.indexing.mode : undefined,
      entry: keeper && {
        place: keeper.place,
        laneOf: (value: EntryValue) => keeper.plan.lanes.get(value) ?? 0,
      },
      drain:
        writtenBy(point.statements).length + clobberedBy(point.statements).length > 0 ||
        (point.side !== 'before'
          ? values.some(isRegister)
          : values.some((v) => isRegister(v) && !isOperand(point, v.name))),
    };
    if (point.statements.length === 0 || counters?.atEnds.has(point) === true) {
      this.codes.push({ point, code: new Uint8Array(0), uses: [] });
      return undefined;
    }
    const settles = common.drain && this.dead.hasMatrix(point.kernel);
    let reason = '';
    for (const attempt of registers.attempts(point, keeper?.place.file === 'v' ? keeper.place.at : undefined)) {
      if (typeof attempt === 'string') {
        reason = attempt;
        continue;
      }
      try {
        const emitted = new Emitter(
          { ...common, ...attempt, settle: attempt.settle || settles },
          point.instruction,
          point.pc,
          sites,
          counters?.registers.get(point),
        ).emit(point.statements);
        const { loan } = attempt;
        last.s = Math.max(last.s, emitted.lastSgpr, loan?.lastSgpr ?? -1);
        last.v = Math.max(last.v, emitted.lastVgpr, loan?.lastVgpr ?? -1);
        last.a = Math.max(last.a, loan?.lastAgpr ?? -1);
        last.scratch = Math.max(last.scratch, loan?.scratchEnd ?? 0);
        for (const name of writtenBy(point.statements)) {
          const register = registerFromText(name);
          if (register === undefined || !(register.file === 's' || register.file === 'v' || register.file === 'a'))
            continue;
          last[register.file] = Math.max(last[register.file], register.index + register.dwords - 1);
        }
        if (emitted.drains > 0) this.drains++;
        for (const name of new Set(emitted.uses.map((use) => use.state.name))) {
          const site: Site = { index: sites.get(name)?.site ?? 0, pc: point.pc, kernel: point.kernel.name };
          this.states.find((s) => s.name === name)?.sites.push(site);
        }
        this.codes.push({ point, code: emitted.code, uses: emitted.uses });
        return undefined;
      } catch (error) {
        if (!(error instanceof OutOfRegisters)) throw error;
        attempt.lacks(error.kind);
        reason = error.message;
      }
    }
    return reason;
  }

  edits() {
    const before = new Map<number, Uint8Array[]>();
    const after = new Map<number, Uint8Array[]>();
    const taken = new Map<number, Uint8Array[]>();
    const replace = new Map<number, Uint8Array>();
    for (const [pc, code] of this.preambles) before.set(pc, [code]);
    // Counters begin before other points count, and are added when no point counts any more.
    for (const [pc, code] of this.zeroing) before.set(pc, [...(before.get(pc) ?? []), code]);
    for (const { point, code } of this.codes) {
      if (point.side === 'replace') {
        replace.set(point.pc, code);
        continue;
      }
      const map = point.side === 'before' ? before : point.side === 'after' ? after : taken;
      const list = map.get(point.pc);
      if (list === undefined) map.set(point.pc, [code]);
      else list.push(code);
    }
    for (const { pc, code } of this.sums) before.set(pc, [...(before.get(pc) ?? []), code]);
    return { before, after, taken, replace };
  }

  references(): MemoryReference[] {
    return [...this.codes, ...this.sums].flatMap(({ code, uses }) =>
      uses.map(({ state, site, pc, low, high, offset = 0 }) => ({
        code,
        pc,
        low,
        high,
        offset: state.offset + offset + (state.shape.kind === 'counters' ? 8 * site : 0),
      })),
    );
  }
}

/** What points ask for of what a wave knows at its start. */
function wantedOf(points: readonly Point[]): EntryValue[] {
  const values = points.flatMap((p) => valuesOf(p.statements));
  return [...new Set(values.flatMap((v) => (v.op === 'entry' ? [v.value] : [])))];
}

function isRegister(value: { readonly op: string }): value is { readonly op: 'register'; readonly name: string } {
  return value.op === 'register';
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
