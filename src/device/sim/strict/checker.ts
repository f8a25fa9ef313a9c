// Room `device/sim/strict`: strict mode: a run that reports reads of undefined values, missing waits, races and deadlocks. It keeps a
// shadow of every register and byte.
// Begin with this file, then findings.ts (what is reported); registers, lds and races are what it knows, compiled/ and fast-accesses.ts the quick
// ways through: they come last.
//
// Strict mode: a monitor that looks at every instruction before the interpreter executes it and reports what is wrong with it.
// It keeps shadows of registers, LDS, scratch and global memory and a model of the wait counters (see the files beside this one).
import { type DebugLines, descriptorRegisters } from '../../../codeobject/index.ts';
import { type Instruction, type RegisterFile, targetInfo } from '../../../isa/index.ts';
import { MAX_WAIT_STATES } from '../../../program/index.ts';
import type { DispatchInfo, Monitor } from '../dispatch/monitor.ts';
import { polledLoops } from '../dispatch/spin.ts';
import { type BoundInstruction, indexedInstruction, type LoadedCode } from '../interpreter/loaded-code.ts';
import { gpuWindow, WAVE_SCRATCH_BASE } from '../state/layout.ts';
import type { Region } from '../state/region.ts';
import { M0, type Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { AccessChecks } from './access-checks.ts';
import type { DispatchRegions } from './access-reports.ts';
import { DeadlockFinder, type Others } from './deadlock.ts';
import { DropTable } from './drops.ts';
import type { GroupState } from './fast-accesses.ts';
import { FindingLog, type StrictOptions } from './findings.ts';
import { GlobalShadow } from './global.ts';
import type { MemoryHistory } from './history.ts';
import { Kept } from './kept.ts';
import { KernelTraits } from './kernel-traits.ts';
import type { FlightsOf, LateRead, LdsShadow } from './lds/lds.ts';
import { type StrictPlan, strictPlan } from './plan.ts';
import { announcing, atomicsOf, readersStay } from './races/polls.ts';
import { Residents } from './races/residents.ts';
import { RunningGroups } from './races/running-groups.ts';
import type { Segment } from './races/segments.ts';
import type { TrailBlocks } from './races/trails.ts';
import { RegisterChecks } from './registers/register-checks.ts';
import { initialScalars } from './registers/registers.ts';
import { ACCESS_REGISTERS } from './registers/shadow-layout.ts';
import { type Executed, KnownPaths, PathHazards } from './registers/wait-states.ts';
import type { IssuedOperation } from './registers/waits.ts';
import { ALL_REGISTERS, type Beginning, WaveShadow } from './registers/wave-shadow.ts';
import { Reporter } from './reporter.ts';

/** What the device knows of the kernel besides the launch. */
export interface StrictKernel {
  /** Bytes of the kernarg segment that the kernel declares. */
  readonly kernargSize: number;
  /** Byte of the kernarg segment at which the address of the grid's barrier is (`hidden_multigrid_sync_arg`). */
  readonly gridSync?: number | undefined;
  /** As `gridSync`, of the buffer for calls to the host (`hidden_hostcall_buffer`). */
  readonly hostcall?: number | undefined;
  /** See `DispatchRegions`. */
  readonly heapCode?: DispatchRegions['heapCode'];
  readonly lines: DebugLines | undefined;
  /** Its program runs meanwhile, and may change what kernels wait for. */
  readonly hostAnswers?: boolean | undefined;
}

/** What there is from the start of the dispatch on. */
interface Running {
  readonly info: DispatchInfo;
  readonly base: number;
  readonly reporter: Reporter;
  readonly registers: RegisterChecks;
  readonly accesses: AccessChecks;
  readonly global: GlobalShadow;
  readonly deadlocks: DeadlockFinder;
  readonly hazards: PathHazards;
  readonly facts: CodeFacts;
  readonly kept: Kept;
  readonly shadows: RunningGroups;
  /** The ways to blocks that have been looked at (trails.ts). */
  readonly ways: Uint8Array | undefined;
  readonly drops: DropTable;
  /** What the shadows of all its wavefronts begin with. */
  readonly beginning: Beginning;
  /** See `DispatchRegions`. */
  readonly hasDies: boolean;
  readonly traits: KernelTraits;
}

const NO_OPERATIONS: readonly IssuedOperation[] = [];
const NO_READS: readonly LateRead[] = [];
const NO_FLIGHTS: readonly FlightsOf[] = [];
/** Stands for the grid's barrier (`ds_gws_barrier`) among the addresses through which workgroups are put in order. */
const GRID_BARRIER = -1;

/** What strict mode knows of loaded code, whichever dispatch executes it. */
class CodeFacts {
  /** By pc / 4. */
  readonly plans: (StrictPlan | undefined)[] = [];
  /** Those under s_set_gpr_idx: by dword of the code and what M0 adds to which operands. */
  readonly indexedPlans = new Map<number, StrictPlan>();
  readonly paths = new KnownPaths();
  /** An instruction seen so far names an AGPR. */
  namesAccumulators = false;

  private static readonly all = new WeakMap<LoadedCode, CodeFacts>();

  static of(loaded: LoadedCode): CodeFacts {
    let facts = CodeFacts.all.get(loaded);
    if (facts === undefined) {
      facts = new CodeFacts();
      CodeFacts.all.set(loaded, facts);
    }
    return facts;
  }
}

export class StrictChecker implements Monitor {
  readonly log: FindingLog;
  private readonly kernel: StrictKernel;
  private readonly history: MemoryHistory;
  private running: Running | undefined;
  /** By instruction: names a register beyond the allocation. */
  private readonly isBeyond: (boolean | undefined)[] = [];
  private readonly groups = new Residents<Workgroup, GroupState>();
  private lastGroup: Workgroup | undefined;
  private lastState: GroupState | undefined;
  /** Vector registers of each file that what has been executed so far can have named, `[vgprs, agprs]`. */
  named: () => readonly [number, number] = () => ALL_REGISTERS;
  /** The blocks of the compiled code that runs; undefined on the interpreter. */
  blocks: TrailBlocks | undefined;
  /** No way to a block has been found on which something is missing. */
  private areWaysClean = true;
  private instructions = 0;
  private started = 0;
  private finished = 0;
  private wavefronts = 0;

  constructor(kernel: StrictKernel, history: MemoryHistory, options: StrictOptions) {
    this.kernel = kernel;
    this.history = history;
    this.log = new FindingLog(options);
  }

  startDispatch(info: DispatchInfo): void {
    const { launch, loaded, memory } = info;
    // A segment that a runtime has written lies in memory of its own making.
    const segment = memory.find(launch.kernarg, 1);
    const kernarg = segment?.base === launch.kernarg ? segment : undefined;
    const { kernargSize, heapCode = [], lines } = this.kernel;
    const polls = polledLoops(loaded, launch.entry).length > 0;
    const gridSync = pointerAt(segment, launch.kernarg, this.kernel.gridSync);
    const calls = pointerAt(segment, launch.kernarg, this.kernel.hostcall);
    const hostcall = calls === undefined ? undefined : memory.find(calls, 1);
    const { target, grid, kernelName, workgroups, wavesPerGroup, descriptor } = launch;
    const hasDies = targetInfo(target).scopedCachePolicy;
    const traits = new KernelTraits(loaded, launch);
    const areOrdered = traits.learns && workgroups * wavesPerGroup > 1;
    const announces = announcing(loaded, launch);
    const reporter = new Reporter(this.log, { kernelName, loaded, entry: launch.entry, memory, lines, grid });
    const registers = new RegisterChecks(reporter);
    const global = new GlobalShadow(this.history, memory, {
      readersStay: readersStay(loaded, launch),
      learns: areOrdered,
      polls,
      handsOver: traits.handsOver,
      announces: announces !== 'nobody',
      isAtomic: atomicsOf(loaded),
      workgroups,
    });
    const kept = Kept.of(memory);
    const drops = new DropTable(kept);
    const regions = {
      target,
      kernarg,
      kernargSize,
      gridSync,
      hostcall,
      heapCode,
      workgroups,
      wavesPerGroup,
      hasDies,
      announcing: announces,
      learns: traits.learns,
    };
    const accesses = new AccessChecks(reporter, registers, regions, global, drops);
    const deadlocks = new DeadlockFinder(reporter, () => this.started === workgroups, this.othersOf(info));
    const facts = CodeFacts.of(loaded);
    const hazards = new PathHazards(reporter, target, facts.paths);
    const { base } = loaded.region;
    const ways = this.blocks === undefined ? undefined : kept.takeWays(this.blocks);
    const beginning: Beginning = {
      scalars: initialScalars(descriptor, targetInfo(target).architectedFlatScratch),
      hasDies,
      announces: announces !== 'nobody',
      pages: global.pages.table,
      events: global.pages.eventsHead,
      kernargPlace: gridSync === undefined ? placeOf(kernarg, kernargSize) : [0, 0],
      learns: regions.learns,
      syncLog: global.log.storage.byteOffset,
      drops: drops.storage.byteOffset,
      ways: ways?.byteOffset ?? 0,
      arrive: (actor, number) => {
        global.log.workOff();
        accesses.arrive(actor, number);
      },
      planAt: (pc) => this.planFor(pc, loaded.at(base + pc).instruction),
    };
    this.running = {
      info,
      base,
      reporter,
      registers,
      accesses,
      global,
      deadlocks,
      hazards,
      facts,
      kept,
      shadows: new RunningGroups(memory),
      ways,
      drops,
      beginning,
      hasDies,
      traits,
    };
  }

  /** Who else may change memory; nobody without a program. */
  private othersOf({ launch, memory, loaded }: DispatchInfo): Others | undefined {
    const { isSeenByHost } = memory;
    if (!this.kernel.hostAnswers) return undefined;
    const { region } = loaded;
    const isIn = (address: number, base: number, size: number): boolean => address >= base && address < base + size;
    return {
      isSeenByHost: (address) => isSeenByHost?.(address) ?? true,
      isConstant: (address) =>
        isIn(address, launch.kernarg, this.kernel.kernargSize) || isIn(address, region.base, region.size),
      areRunning: () => this.history.dispatches > 1,
      now: () => performance.now(),
    };
  }

  private get now(): Running {
    if (this.running === undefined) throw new Error('the dispatch has not begun');
    return this.running;
  }

  /** A workgroup begins; its waves are in their initial state. */
  startWorkgroup(workgroup: Workgroup, waves: readonly Wave[]): void {
    const { info, global, deadlocks, beginning, shadows } = this.now;
    const { grid } = info.launch;
    const { id } = workgroup;
    const number = id[0] + grid[0] * (id[1] + grid[1] * id[2]);
    const scratch = this.scratchOf(waves[0]);
    const bits = scratch === undefined ? undefined : global.resetScratch(scratch);
    const { lds, waves: all } = shadows.begin(workgroup.lds.byteLength, waves, this.now.traits.handsOver);
    for (let n = 0; n < waves.length; n++) (all[n] as WaveShadow).begin(waves[n] as Wave, lds, number, beginning);
    if (scratch !== undefined && bits !== undefined && scratch.base === gpuWindow.base + scratch.offset) {
      for (const { registers } of all) registers.scratch = { place: bits.byteOffset, offset: scratch.offset };
    }
    this.started++;
    global.begin(number, all);
    this.wavefronts += waves.length;
    this.groups.add(workgroup, { number, lds, waves: all, scratch });
    deadlocks.startWorkgroup(all);
  }

  private scratchOf(wave: Wave | undefined): Region | undefined {
    const { info } = this.now;
    if (wave === undefined || info.launch.scratchPerWave === 0) return undefined;
    const field = new DataView(info.memory.wasm.buffer).getUint32(wave.pointer + WAVE_SCRATCH_BASE, true);
    return info.memory.find(gpuWindow.base + field, 1);
  }

  /** What is kept about a running workgroup. */
  stateOf(workgroup: Workgroup): GroupState {
    if (workgroup !== this.lastGroup) {
      this.lastGroup = workgroup;
      this.lastState = this.groups.get(workgroup);
    }
    return this.lastState as GroupState;
  }

  /** The plan of the instruction at an offset of the image. */
  planFor(pc: number, instruction: Instruction): StrictPlan {
    const { facts } = this.running as Running;
    let plan = facts.plans[pc >>> 2];
    if (plan === undefined) {
      plan = strictPlan(instruction);
      facts.plans[pc >>> 2] = plan;
      if (instruction.operands.some((o) => o.kind === 'reg' && o.file === 'a')) facts.namesAccumulators = true;
    }
    return plan;
  }

  /** The plan of an instruction with the registers that M0 moves its operands to. */
  private indexedPlan(w: Wave, pc: number, { instruction }: BoundInstruction): StrictPlan {
    const { indexedPlans } = (this.running as Running).facts;
    const m0 = w.sgprs[M0] as number;
    const key = (pc >>> 2) * 4096 + ((m0 & 0xff) | ((m0 >>> 4) & 0xf00));
    let plan = indexedPlans.get(key);
    if (plan === undefined) {
      plan = strictPlan(indexedInstruction(w, instruction).moved);
      indexedPlans.set(key, plan);
    }
    return plan;
  }

  /** Whether an instruction names a register that the descriptor does not allocate. */
  isBeyondAllocation(plan: StrictPlan): boolean {
    const limits = this.limits();
    return plan.instruction.operands.some((o) => o.kind === 'reg' && o.index + o.dwords > limits(o.file));
  }

  /** Registers of each file. VGPRs may reach into the accumulation registers as long as the kernel names none of those. */
  private limits(): (file: RegisterFile) => number {
    const { vgprs, totalVgprs, agprs, sgprs } = descriptorRegisters(this.now.info.launch.descriptor);
    const mostVgprs = this.now.facts.namesAccumulators ? vgprs : totalVgprs;
    return (file) =>
      file === 'v' ? mostVgprs : file === 'a' ? agprs : file === 's' ? sgprs : Number.POSITIVE_INFINITY;
  }

  /** Registers that the descriptor does not allocate. */
  private checkAllocation(w: Wave, pc: number, plan: StrictPlan): void {
    const limits = this.limits();
    const { totalVgprs } = descriptorRegisters(this.now.info.launch.descriptor);
    for (const operand of plan.instruction.operands) {
      if (operand.kind !== 'reg') continue;
      const { file, index, dwords, text } = operand;
      const limit = limits(file);
      if (index + dwords <= limit) continue;
      this.now.reporter.report('registers/beyond-allocation', w, pc, () => ({
        registers: [text],
        message:
          file === 'v' && index + dwords <= totalVgprs
            ? `${text} is where the AGPRs begin: the descriptor's accum offset is ${limit}.`
            : `${text} is beyond the ${limit} ${file === 's' ? 'SGPRs' : file === 'a' ? 'AGPRs' : 'VGPRs'} that the descriptor allocates.`,
        advice:
          file === 's'
            ? `Raise .amdhsa_next_free_sgpr to at least ${index + dwords}.`
            : `Raise .amdhsa_next_free_vgpr and .amdhsa_accum_offset so that ${text} exists.`,
      }));
    }
  }

  /** An instruction is about to be interpreted; `at` is its loaded address. */
  before(w: Wave, at: number, bound: BoundInstruction): void {
    this.traceOne(w, at - this.now.base, bound.instruction);
    this.look(w, at, bound);
    this.now.deadlocks.before(w, bound);
  }

  /** The path of instructions that are interpreted: they follow each other as long as nothing else has been executed. */
  private traceOne(w: Wave, pc: number, instruction: Instruction): void {
    const shadow = this.stateOf(w.workgroup).waves[w.index] as WaveShadow;
    shadow.registers.forgetBlocks();
    if (shadow.interpretedUntil !== w.executed) shadow.interpreted = [];
    shadow.interpretedUntil = w.executed + 1;
    const { interpreted } = shadow;
    if (interpreted.length > MAX_WAIT_STATES) interpreted.shift();
    interpreted.push({ pc, instruction });
    this.now.hazards.follow(w, interpreted, interpreted.length - 1);
  }

  /** Compiled code begins the block at a place in the image on a way that it does not know. */
  traceBlock(w: Wave, blocks: TrailBlocks, pc: number): void {
    const { registers } = this.stateOf(w.workgroup).waves[w.index] as WaveShadow;
    const way = blocks.wayTo(registers.trail, pc);
    let isClean = blocks.isKnownClean(way);
    if (!isClean) {
      const { before, block } = blocks.pathTo(registers.trail, pc);
      isClean = this.now.hazards.follow(w, [...before, ...block], before.length);
      if (isClean) blocks.addClean(way);
      else this.areWaysClean = false;
    }
    registers.setClean(isClean);
  }

  /** Whether there can be something to say about wait states of a block, for which the way to it must be known. */
  asksOfPath(block: readonly Executed[]): boolean {
    const { hazards } = this.now;
    return hazards.dependsOnPath(block) || hazards.isMissing(block);
  }

  /** What there is to say about an instruction that is about to execute; `at` is its loaded address. */
  look(w: Wave, at: number, bound: BoundInstruction): void {
    const { base } = this.now;
    const pc = at - base;
    const plan = this.planFor(pc, bound.instruction);
    const isBeyond = this.isBeyond[pc >>> 2] ?? this.isBeyondAllocation(plan);
    this.isBeyond[pc >>> 2] = isBeyond;
    if (isBeyond) this.checkAllocation(w, pc, plan);
    const state = this.stateOf(w.workgroup);
    const shadow = state.waves[w.index] as WaveShadow;
    if (w.vskip || w.gprIndexing) shadow.registers.outstanding[1] = 0;
    if (w.vskip && (plan.isVector || (plan.access !== undefined && !plan.access.isScalar))) return;
    this.check(w, state, shadow, pc, w.gprIndexing && plan.isVector ? this.indexedPlan(w, pc, bound) : plan);
  }

  /** One instruction that vector skipping does not pass over. */
  check(w: Wave, state: GroupState, shadow: WaveShadow, pc: number, plan: StrictPlan): void {
    const { registers: checks, accesses, traits } = this.running as Running;
    const { lds } = state;
    if (plan.wait !== undefined) {
      shadow.queue.wait(plan.wait, lds.epoch);
      return;
    }
    if (((shadow.registers.outstanding[1] as number) & ACCESS_REGISTERS) === 0) {
      checks.checkWaits(w, shadow, pc, plan);
      checks.checkReads(w, shadow, pc, plan);
    }
    if (plan.role.isBarrier) shadow.registers.passBarrier(pc);
    if (plan.outputModifier !== undefined) checks.checkModifier(w, pc, plan);
    if (plan.isWriteBack) shadow.writeBack();
    if (plan.invalidatesScalars) shadow.invalidateScalars();
    if (plan.writesScalarsBack) accesses.scalarStores.writeBack(state.number);
    if (plan.isInvalidate) {
      const { global } = this.now;
      global.invalidate(state.number);
      shadow.registers.invalidated = global.log.state;
    }
    const { access } = plan;
    if (access === undefined) {
      checks.define(w, shadow, plan);
      shadow.issue(pc, plan, lds.epoch, undefined, undefined);
      return;
    }
    const read = lds.isShared && traits.isLate(pc, plan) ? accesses.addresses(w, access) : undefined;
    const written = accesses.check(w, state, pc, plan);
    if (!plan.isDefinedByAccess) checks.define(w, shadow, plan);
    if (plan.role.kind !== undefined) shadow.issue(pc, plan, lds.epoch, read ?? written, accesses.takeArrival(state));
  }

  /** The record of the page at an offset of wasm memory, for compiled code to go on with; 0 where it is not to (AccessChecks.openPage). */
  openPage(state: GroupState, offset: number): number {
    return this.now.accesses.openPage(state, offset);
  }

  /** Whether the page at an offset of wasm memory, which is to be stored to, is logged no longer. */
  unlogPage(state: GroupState, offset: number): boolean {
    return this.now.accesses.unlogPage(state, offset);
  }

  /** What a wavefront knows of stores, for what compiled code notes of its atomics from now on. */
  noteKnown(shadow: WaveShadow): void {
    this.now.accesses.noteKnown(shadow);
  }

  /**
   * The registers of instructions that follow each other under one EXEC, before the first of them executes. A select by a mask that
   * one of them makes is taken to choose what is defined.
   */
  checkSegment(w: Wave, segment: Segment, pc: number): void {
    const { registers: checks } = this.now;
    const shadow = this.stateOf(w.workgroup).waves[w.index] as WaveShadow;
    const written = new Set<number>();
    let at = pc;
    for (const plan of segment.plans) {
      if (segment.isSuspicious && this.isBeyondAllocation(plan)) this.checkAllocation(w, at, plan);
      checks.checkWaits(w, shadow, at, plan);
      checks.checkReads(w, shadow, at, plan);
      checks.define(w, shadow, plan, written);
      for (const slot of plan.scalarWrites) written.add(slot);
      at += plan.instruction.size;
    }
  }

  /** Whether an access orders workgroups. */
  isSynchronising(plan: StrictPlan): boolean {
    return this.now.accesses.isSynchronising(plan);
  }

  /** As AccessChecks has them. */
  announcers(plan: StrictPlan, pc: number): ReturnType<AccessChecks['announcers']> {
    return this.now.accesses.announcers(plan, pc);
  }

  /** What the kernel's code says before it runs. */
  get traits(): KernelTraits {
    return this.now.traits;
  }

  /** Looks for wavefronts that never end, from now on. */
  examine(): void {
    this.now.deadlocks.examine();
  }

  /** How often something has let wavefronts go on since they are looked at. */
  get progress(): number {
    return this.now.deadlocks.progress;
  }

  /** Whether a deadlock is only waited for, so that the wavefronts are to be looked at further. */
  isPatient(): boolean {
    return this.now.deadlocks.takePatience();
  }

  /** A wavefront goes on, where another one may have run; what is kept about its workgroup. */
  run(w: Wave): GroupState {
    const state = this.stateOf(w.workgroup);
    this.now.global.run(state.number, w.index);
    return state;
  }

  /** An instruction has executed. */
  after(w: Wave, at: number, bound: BoundInstruction): void {
    const { deadlocks, base } = this.now;
    deadlocks.after(w, at - base, bound);
  }

  /** All live waves have reached a barrier, which is released. */
  barrier(workgroup: Workgroup): void {
    const { number, lds, waves } = this.stateOf(workgroup);
    let areIdle = true;
    for (let n = 0; n < waves.length; n++) areIdle &&= (waves[n] as WaveShadow).isIdle;
    if (areIdle) lds.barrier(NO_OPERATIONS, NO_READS, NO_FLIGHTS);
    else this.meetAtBarrier(lds, waves);
    lds.meet(comeFromSeveral(waves));
    const { epoch } = lds;
    if (waves.length > 1) for (let n = 0; n < waves.length; n++) (waves[n] as WaveShadow).registers.epoch = epoch;
    WaveShadow.meet(waves, !this.now.hasDies);
    this.now.global.passBarrier(number, epoch, areIdle);
    this.now.deadlocks.changed();
  }

  /** What wavefronts at a barrier leave behind it. */
  private meetAtBarrier(lds: LdsShadow, waves: readonly WaveShadow[]): void {
    const { epoch } = lds;
    const outstanding: IssuedOperation[] = [];
    const reads: LateRead[] = [];
    const flights: FlightsOf[] = [];
    for (const shadow of waves) {
      if (shadow.flightsIssued > 0) {
        flights.push({ wave: shadow.wave.index, done: shadow.flightsDone, outstanding: shadow.flights() });
      }
      reads.push(...shadow.readingLds());
      outstanding.push(...shadow.writingLds(epoch));
    }
    lds.barrier(outstanding, reads, flights);
  }

  /** Every workgroup of the grid has come to its barrier, and all go on: what they have stored is handed over. */
  gridBarrier(workgroups: readonly Workgroup[]): void {
    const { global } = this.now;
    const { synchronisation } = global;
    // It waits for as many wavefronts as there are workgroups: those of one may come for another one, which goes on without it.
    const arrived = workgroups
      .map((workgroup) => this.stateOf(workgroup))
      .filter(({ waves }) => waves.some(({ wave }) => wave.state === 'grid barrier'));
    for (const { waves, number } of arrived) {
      for (const shadow of waves) {
        const { state, pc } = shadow.wave;
        if (state !== 'grid barrier') continue;
        synchronisation.release(number, GRID_BARRIER, shadow.releaseAtGridBarrier(pc - this.now.base));
      }
    }
    const all = synchronisation.seenAt(GRID_BARRIER);
    for (const { number } of arrived) {
      if (all !== undefined && synchronisation.acquire(number, all)) global.acquired(number);
      synchronisation.invalidate(number);
    }
    this.now.deadlocks.changed();
  }

  /** All waves of the workgroup have ended. */
  endWorkgroup(workgroup: Workgroup): void {
    const state = this.stateOf(workgroup);
    const { waves } = state;
    const { deadlocks, reporter } = this.now;
    const named = this.named();
    let [most, least] = [waves[0] as WaveShadow, waves[0] as WaveShadow];
    for (const shadow of waves) {
      if (shadow.registers.barriers > most.registers.barriers) most = shadow;
      if (shadow.registers.barriers < least.registers.barriers) least = shadow;
      this.instructions += shadow.wave.executed;
      shadow.used = named;
    }
    const [mostPassed, leastPassed] = [most.registers.barriers, least.registers.barriers];
    if (mostPassed !== leastPassed) {
      const count = (n: number): string => `${n} barrier${n === 1 ? '' : 's'}`;
      reporter.report('barriers/divergence', most.wave, most.registers.lastBarrier, () => ({
        message:
          `Wavefront ${most.wave.index} passed ${count(mostPassed)}, wavefront ${least.wave.index} only ${leastPassed}: ` +
          'one that has ended no longer takes part, so the barriers did not wait for it.',
        advice: 'Let every wavefront of the workgroup execute the same barriers before it ends.',
      }));
    }
    this.finished++;
    this.groups.delete(workgroup);
    this.lastGroup = undefined;
    this.now.shadows.end(state.lds);
    this.now.accesses.endGroup(state);
    this.now.global.end(state.number);
    deadlocks.endWorkgroup(waves);
  }

  /** The dispatch is over, however it ended. */
  endDispatch(): void {
    if (this.running === undefined) return;
    const { kept, shadows, ways, drops, reporter, global } = this.running;
    shadows.release();
    for (const [pc, lanes] of drops.counted()) reporter.countMore('memory/dropped', pc, lanes);
    if (ways !== undefined) kept.giveWays(this.blocks as TrailBlocks, ways, this.areWaysClean);
    drops.release();
    global.release();
  }

  /** A dispatch that ended well: what was not looked at. */
  finish(): void {
    const { global, reporter } = this.now;
    if (!global.pages.isTruncated) return;
    reporter.report('races/untracked', undefined, undefined, () => ({
      message: 'The dispatch touches more memory than strict mode follows; races in the rest of it are not found.',
      advice: 'Run a smaller grid or smaller buffers.',
    }));
  }

  /** Keeps the reason of a run that was stopped by something else than a finding. */
  stopped(rule: 'schedule/budget' | 'run/stopped', message: string, pc: number | undefined, advice: string): void {
    const { reporter, info } = this.now;
    this.log.record({
      rule,
      kernel: info.launch.kernelName,
      message,
      advice,
      place: reporter.placeAt(pc),
    });
  }

  /**
   * Nothing more is asked of the dispatch. V8 puts literals of code that runs often where only a large garbage collection looks: those of requests would
   * keep all that the checker has until then, and each small collection would copy it (an eighth of a dispatch of 0.8 ms).
   */
  letGo(): void {
    this.running = undefined;
    this.lastGroup = undefined;
    this.lastState = undefined;
    this.groups.takeAll();
  }

  /** Whether the dispatch got as far as to begin. */
  get hasBegun(): boolean {
    return this.running !== undefined;
  }

  /** What a dispatch that was stopped had done. */
  partialResult() {
    let { instructions } = this;
    for (const { waves } of this.groups.values) for (const { wave } of waves) instructions += wave.executed;
    return { instructions, wavefronts: this.wavefronts, workgroups: this.finished, instructionsByEncoding: {} };
  }
}

/** Whether the wavefronts that are at a barrier have come to several instructions. */
function comeFromSeveral(waves: readonly WaveShadow[]): boolean {
  let place = -1;
  for (let n = 0; n < waves.length; n++) {
    const { wave, registers } = waves[n] as WaveShadow;
    // Those that have not ended run on.
    if (!wave.isRunning) continue;
    const { lastBarrier } = registers;
    if (place >= 0 && lastBarrier !== place) return true;
    place = lastBarrier;
  }
  return false;
}

/** Where the first bytes of a region are in wasm memory, and how many these are; zeros where they are elsewhere. */
function placeOf(region: Region | undefined, bytes: number): readonly [number, number] {
  if (region === undefined || region.base !== gpuWindow.base + region.offset) return [0, 0];
  return [region.offset, Math.min(bytes, region.size)];
}

/** The address in a kernarg segment at an offset; undefined where there is none. */
function pointerAt(region: Region | undefined, kernarg: number, offset: number | undefined): number | undefined {
  if (region === undefined || offset === undefined) return undefined;
  const { buffer, byteOffset, byteLength } = region.bytes;
  const at = kernarg - region.base + offset;
  if (at + 8 > byteLength) return undefined;
  return Number(new DataView(buffer, byteOffset).getBigUint64(at, true)) || undefined;
}
