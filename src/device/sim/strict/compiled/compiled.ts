// Room `device/sim/strict/compiled`: strict mode's looks in WebAssembly: what is emitted before segments of code, and the functions of
// the module that look at LDS, global memory, waits and atomics. Every one gives up for the checker where it does not know.
// Begin with this file, then accesses.ts (loads and stores); lds.ts, global.ts, updates.ts and sync.ts are the kinds of accesses.
//
// Strict mode in compiled code: before each segment of plain instructions a few WebAssembly instructions ask whether everything it
// reads is defined and nothing it touches is in flight. Only when they say no, and for memory, waits and barriers, the checker runs.

import type { LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import type { BoundInstruction, LoadedCode } from '../../interpreter/loaded-code.ts';
import { WAVE_SHADOW } from '../../state/layout.ts';
import { EXEC, type Wave } from '../../state/wave.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import type { Instrument } from '../../wasm/instrument.ts';
import { INDEXES_REGISTERS } from '../../wasm/place.ts';
import { type Block, itemsOf } from '../../wasm/walk.ts';
import type { StrictChecker } from '../checker.ts';
import type { GroupState } from '../fast-accesses.ts';
import { HIGH, LOW, type RegisterCopy, type StrictPlan } from '../plan.ts';
import { ANNOUNCES, EARLY, EARLY_SHIFT, MOST_EARLY } from '../races/race-events.ts';
import {
  accessSegment,
  type BlockPlan,
  dataNeeds,
  type Lanes,
  planBlock,
  SELECTED,
  type Segment,
} from '../races/segments.ts';
import { emitTrail, TrailBlocks } from '../races/trails.ts';
import {
  ACCESS_DATA,
  ACCESS_REGISTERS,
  ARE_OTHER,
  SHADOW_ACCESS,
  SHADOW_BARRIERS,
  SHADOW_COMPLETE,
  SHADOW_LAST_BARRIER,
  SHADOW_ORIGINS,
  SHADOW_PENDING,
  SHADOW_RELEASED,
  SHADOW_SCALARS,
  SHADOW_SCRATCH_ORIGINS,
  SHADOW_STORES,
  SHADOW_TOTAL,
} from '../registers/shadow-layout.ts';
import type { WaveShadow } from '../registers/wave-shadow.ts';
import { emitLooks, lookedAt, movesLanes } from './accesses.ts';
import { emitInvalidation, writeBackFunction } from './caches.ts';
import type { AccessCode, Circumstances } from './circumstances.ts';
import { emitIndexedRegisters, indexedRegisters } from './indexed-registers.ts';
import { emitLogged } from './logged.ts';
import { declareOpen } from './open.ts';
import { findParts, keepParts, pushLacking } from './part-results.ts';
import { emitMissing, mayKeepUndefined } from './spaces.ts';
import { waitFunction } from './waits.ts';

export class StrictInstrument implements Instrument {
  readonly imports: Instrument['imports'];
  readonly followedStates = INDEXES_REGISTERS;
  /** Of the dispatch whose wavefront runs. */
  checker: StrictChecker;
  private readonly plans = new WeakMap<Block, BlockPlan>();
  private readonly segments = new Map<number, Segment>();
  /** By the numbers that compiled code writes into a wavefront's trail. */
  readonly blocks: TrailBlocks;
  /** Instructions that are checked alone, by pc / 4. */
  private readonly ones: StrictPlan[] = [];
  /** By function, the local that has the address of the wavefront's shadow: each block sets it. */
  private readonly shadows = new WeakMap<WasmFunction, number>();
  private wave: Wave | undefined;
  private state: GroupState | undefined;
  private shadow: WaveShadow | undefined;
  /** The local with the bit of the lane that a register chooses in the segment that is written. */
  private selected = 0;

  /** `vectors`: of trails (trails.ts). */
  constructor(checker: StrictChecker, loaded: LoadedCode, vectors: number) {
    this.blocks = new TrailBlocks(vectors);
    this.checker = checker;
    this.imports = {
      strictOne: (_wave, pc) => {
        const { wave, state, shadow } = this;
        // What an atomic of floats would do depends on MODE.
        wave?.refresh();
        this.checker.check(
          wave as Wave,
          state as GroupState,
          shadow as WaveShadow,
          pc,
          this.ones[pc >>> 2] as StrictPlan,
        );
        if (this.ones[pc >>> 2]?.wait !== undefined) this.shadow?.returnToLog();
      },
      strictBefore: (_wave, pc) => {
        const at = loaded.region.base + pc;
        this.checker.look(this.wave as Wave, at, loaded.at(at));
      },
      strictKnown: () => this.checker.noteKnown(this.shadow as WaveShadow),
      strictPath: (_wave, pc) => this.checker.traceBlock(this.wave as Wave, this.blocks, pc),
      strictOpen: (offset) => this.checker.openPage(this.state as GroupState, offset >>> 0),
      strictUnlog: (offset) => (this.checker.unlogPage(this.state as GroupState, offset >>> 0) ? 1 : 0),
      strictSegment: (_wave, pc) => this.checker.checkSegment(this.wave as Wave, this.segments.get(pc) as Segment, pc),
    };
  }

  enter(w: Wave): void {
    this.wave = w;
    this.state = this.checker.run(w);
    this.shadow = this.state.waves[w.index];
  }

  step(w: Wave, pc: number, bound: BoundInstruction): void {
    this.checker.before(w, pc, bound);
  }

  declare(module: WasmModule): void {
    this.index(module, 'strictOne');
    this.index(module, 'strictBefore');
    this.index(module, 'strictSegment');
    this.index(module, 'strictPath');
    this.index(module, 'strictKnown');
    declareOpen(module);
  }

  private index(
    module: WasmModule,
    name: 'strictOne' | 'strictBefore' | 'strictSegment' | 'strictPath' | 'strictKnown',
  ): number {
    return module.importFunction('env', name, ['i32', 'i32'], []);
  }

  private planOf(block: Block): BlockPlan {
    let plan = this.plans.get(block);
    if (plan === undefined) {
      plan = planBlock(
        block,
        (item) => this.checker.planFor(item.pc, item.instruction),
        (one) => this.checker.isBeyondAllocation(one),
        (one) => isMoved(block, one),
      );
      this.plans.set(block, plan);
    }
    return plan;
  }

  wants(block: Block, index: number): boolean {
    return index === 0 || this.planOf(block).has(index);
  }

  emit(context: FunctionContext, block: Block, index: number): number | undefined {
    if (index === 0) this.emitTrail(context, block);
    const plan = this.planOf(block).get(index);
    if (plan === undefined) return undefined;
    if (!('plans' in plan)) {
      if (!isMoved(block, plan)) return this.emitOne(context, plan);
      this.emitIndexed(context, plan);
      return undefined;
    }
    this.emitSegment(context, block, plan);
    return undefined;
  }

  /** The local with the address of the wavefront's shadow. */
  private shadowLocal(fn: WasmFunction): number {
    const local = this.shadows.get(fn) ?? fn.local('i32');
    this.shadows.set(fn, local);
    return local;
  }

  /** Notes the block in the wavefront's trail, and asks about wait states when the way to it is not known. */
  private emitTrail(context: FunctionContext, block: Block): void {
    const { fn, module, wave } = context;
    const executed = itemsOf(block);
    const shadow = this.shadowLocal(fn);
    fn.get(wave).memory('i32.load', WAVE_SHADOW).set(shadow);
    if (executed.length === 0) return;
    const asks = this.checker.asksOfPath(executed);
    const { blocks } = this;
    emitTrail(context, shadow, blocks, blocks.add(executed), asks, this.index(module, 'strictPath'));
  }

  /** An instruction that the checker looks at each time, unless it is a wait or an access that compiled code can judge. Returns as `emit`. */
  private emitOne(context: FunctionContext, plan: StrictPlan): number | undefined {
    const { fn, module, wave, pc } = context;
    this.ones[pc >>> 2] = plan;
    const isBeyond = this.checker.isBeyondAllocation(plan);
    const look = (): void => {
      fn.get(wave)
        .i32(pc)
        .call(this.index(module, isBeyond ? 'strictBefore' : 'strictOne'));
    };
    const { wait } = plan;
    if (wait !== undefined) {
      const shadow = this.shadowLocal(fn);
      fn.get(shadow).memory('i32.load', SHADOW_TOTAL).if();
      fn.get(shadow).i32(wait.vm).i32(wait.lgkm).call(waitFunction(module));
      fn.op('i32.eqz').if();
      look();
      fn.end().end();
      return undefined;
    }
    if (plan.role.isBarrier) {
      const shadow = this.shadowLocal(fn);
      fn.get(shadow)
        .get(shadow)
        .memory('i32.load', SHADOW_BARRIERS)
        .i32(1)
        .op('i32.add')
        .memory('i32.store', SHADOW_BARRIERS);
      fn.get(shadow).i32(pc).memory('i32.store', SHADOW_LAST_BARRIER);
      return undefined;
    }
    if (plan.isWriteBack && !isBeyond) {
      fn.get(this.shadowLocal(fn)).call(writeBackFunction(module)).op('i32.eqz').if();
      look();
      fn.end();
      return undefined;
    }
    if (plan.isInvalidate && !isBeyond) {
      emitInvalidation(fn, module, this.shadowLocal(fn), this.checker.traits.waitsBehind(pc, plan), look);
      return undefined;
    }
    const operation = isBeyond ? undefined : lookedAt(plan, this.checker, this.checker.traits.isPoll(pc));
    const moved = fn.local('i32');
    const isAccess = operation !== undefined || (!isBeyond && movesLanes(plan));
    const code = isAccess ? this.emitAccess(context, plan, operation, look, moved) : 'none';
    if (code === 'moves') return moved;
    fn.release('i32', moved);
    if (code === 'none') look();
    return undefined;
  }

  /** A vector instruction whose registers s_set_gpr_idx may move: the checker looks at it where something is outstanding, or not defined. */
  private emitIndexed(context: FunctionContext, plan: StrictPlan): void {
    const { fn, module, wave, pc } = context;
    const look = (): void => {
      fn.get(wave).i32(pc).call(this.index(module, 'strictBefore'));
    };
    const registers = this.checker.isBeyondAllocation(plan) ? undefined : indexedRegisters(plan);
    if (registers === undefined) {
      look();
      return;
    }
    const [shadow, exec] = [this.shadowLocal(fn), fn.local('i64')];
    const scalars = { ...accessSegment(plan), needs: [], results: [], touched: [] };
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .set(exec);
    fn.block().block();
    fn.get(shadow).memory('i32.load', SHADOW_TOTAL).brIf(0);
    if (this.pushProblems(fn, shadow, exec, scalars)) fn.i64(0n).op('i64.ne').brIf(0);
    emitIndexedRegisters(context, shadow, exec, plan, registers);
    this.writeResults(fn, shadow, exec, scalars);
    fn.br(1).end();
    look();
    fn.end();
    fn.release('i64', exec);
  }

  /**
   * An access whose registers are fine and whose bytes are all right is recorded here; else `look` is executed. Without `operation` it
   * touches no memory. `moved` is a local that is set where the code moves the data: whether it has.
   */
  private emitAccess(
    context: FunctionContext,
    plan: StrictPlan,
    operation: LoadOperation | StoreOperation | undefined,
    look: () => void,
    moved: number,
  ): AccessCode {
    const { fn, wave, pc } = context;
    const mark = fn.size;
    const [shadow, known, exec] = [this.shadowLocal(fn), fn.local('i32'), fn.local('i64')];
    const segment = accessSegment(plan);
    fn.i32(0).set(known).i32(0).set(moved);
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .set(exec);
    const needs = dataNeeds(plan);
    const askData = (): void => {
      if (needs.length === 0) return;
      this.pushNeeds(fn, shadow, exec, needs);
      fn.i64(0n).op('i64.ne').brIf(0);
      fn.i32(ACCESS_REGISTERS | ACCESS_DATA).set(known);
    };
    fn.block().block();
    if (this.pushProblems(fn, shadow, exec, segment)) fn.i64(0n).op('i64.ne').brIf(0);
    fn.i32(needs.length === 0 ? ACCESS_REGISTERS | ACCESS_DATA : ACCESS_REGISTERS).set(known);
    const announcers = this.checker.announcers(plan, pc);
    const place = announcers?.isNoted ? fn.local('i32') : 0;
    if (announcers?.isNoted) fn.i32(pc).set(place);
    const askAnnouncement = (): void => {
      if (announcers === undefined) return;
      const setPlace = (push: () => void): void => {
        push();
        fn.set(place);
        fn.get(shadow).get(shadow).memory('i32.load', SHADOW_STORES).i32(1).op('i32.add');
        fn.memory('i32.store', SHADOW_RELEASED);
      };
      fn.get(shadow).memory('i32.load', SHADOW_STORES).get(shadow).memory('i32.load', SHADOW_COMPLETE);
      if (announcers.areEarlyNoted) {
        const early = fn.local('i32');
        fn.op('i32.sub').set(early);
        setPlace(() =>
          pushEarlyPlace(fn, pc, early)
            .i32(pc | ANNOUNCES)
            .get(early)
            .select(),
        );
        fn.release('i32', early);
        return;
      }
      // It announces something only when all stores before it are done.
      fn.op('i32.eq');
      if (announcers.isOneLane) fn.get(exec).op('i64.popcnt').i64(1n).op('i64.eq').op('i32.and');
      if (!announcers.isNoted) {
        fn.brIf(0);
        return;
      }
      fn.if();
      setPlace(() => fn.i32(pc | ANNOUNCES));
      fn.end();
    };
    const pushPlace = (): void => {
      if (announcers?.isNoted) fn.get(place);
      else fn.i32(pc);
    };
    const keepsUndefined = mayKeepUndefined(plan);
    if (!keepsUndefined) {
      askData();
      askAnnouncement();
    }
    const circumstances = { ...this.looksOf(context, plan), askData, askAnnouncement, pushPlace };
    const code = emitLooks(context, shadow, plan, operation, circumstances, moved);
    if (code !== 'none') {
      if (this.pushMissing(fn, shadow, exec, segment))
        this.ifMissing(fn, () => this.writeResults(fn, shadow, exec, segment));
      if (keepsUndefined) emitMissing(context, shadow, plan);
      emitLogged(context, shadow, plan, operation, circumstances);
      fn.br(1).end();
      fn.get(shadow).get(known).memory('i32.store', SHADOW_ACCESS);
      look();
      fn.end();
    } else fn.truncate(mark);
    fn.release('i32', known);
    if (announcers?.isNoted) fn.release('i32', place);
    fn.release('i64', exec);
    return code;
  }

  /** What looks at the access at a place in the image may count on. */
  private looksOf(
    { fn, module, wave, pc }: FunctionContext,
    plan: StrictPlan,
  ): Omit<Circumstances, 'askData' | 'askAnnouncement' | 'pushPlace'> {
    const { checker } = this;
    const { traits } = checker;
    return {
      isQuiet: traits.isQuiet(pc),
      isLate: traits.isLate(pc, plan),
      handsOver: traits.handsOver,
      learns: traits.learns,
      isSynchronising: checker.isSynchronising(plan),
      isPoll: traits.isPoll(pc),
      pollsForUpdate: traits.isPoll(pc) && traits.pollsForUpdate(pc, plan),
      isOnlyLoad: traits.isOnlyLoad(pc, plan),
      looksAhead: traits.looksAhead(pc),
      noteKnown: () => fn.get(wave).i32(pc).call(this.index(module, 'strictKnown')),
    };
  }

  private emitSegment({ fn, module, wave, pc }: FunctionContext, block: Block, segment: Segment): void {
    // A block that another one runs into may hold less of the same instructions.
    const known = this.segments.get(pc);
    if (known === undefined || known.plans.length < segment.plans.length) this.segments.set(pc, segment);
    const ask = (): void => {
      fn.get(wave).i32(pc).call(this.index(module, 'strictSegment'));
    };
    if (segment.isSuspicious) {
      ask();
      return;
    }
    if (block.items.length === 0 && segment.plans.length === 0) return;
    const { copies, partResults } = segment;
    const [shadow, exec] = [this.shadowLocal(fn), fn.local('i64')];
    if (segment.laneSelect !== undefined) {
      this.selected = fn.local('i64');
      fn.i64(1n)
        .get(wave)
        .memory('i64.load32_u', 4 * segment.laneSelect)
        .op('i64.shl')
        .set(this.selected);
    }
    const slow = copies === undefined ? ask : (): void => this.copyOr(fn, shadow, exec, segment, copies, ask);
    if (dependsOnLanes(segment))
      fn.get(wave)
        .memory('i64.load', 4 * EXEC)
        .set(exec);
    const write = (): void => this.writeResults(fn, shadow, exec, segment);
    const hasResults = this.pushMissing(fn, shadow, exec, segment);
    if (this.pushProblems(fn, shadow, exec, segment)) {
      const problems = fn.local('i64');
      if (hasResults) fn.tee(problems).op('i64.or');
      if (partResults.length > 0) pushLacking(fn, shadow, exec, partResults).op('i64.or');
      fn.i64(0n).op('i64.ne').if();
      if (hasResults) {
        fn.get(problems).op('i64.eqz');
        // Why something has no value goes on with it.
        if (partResults.length > 0) fn.get(shadow).memory('i32.load', SHADOW_ORIGINS).op('i32.eqz').op('i32.and');
        fn.if();
        write();
        fn.else();
        slow();
        fn.end();
      } else slow();
      fn.end();
      fn.release('i64', problems);
    } else if (hasResults) this.ifMissing(fn, write);
    fn.release('i64', exec);
    if (segment.laneSelect !== undefined) fn.release('i64', this.selected);
  }

  /** Registers become what those are that are copied to them, or `ask` is written where something else than that is undefined, or somebody knows why. */
  private copyOr(
    fn: WasmFunction,
    shadow: number,
    exec: number,
    segment: Segment,
    copies: readonly RegisterCopy[],
    ask: () => void,
  ): void {
    fn.get(shadow).memory('i32.load', SHADOW_ORIGINS).i32(ARE_OTHER).op('i32.and').op('i64.extend_i32_u');
    if (this.pushProblems(fn, shadow, exec, { ...segment, needs: [] })) fn.op('i64.or');
    fn.i64(0n).op('i64.ne').if();
    ask();
    fn.else();
    fn.get(shadow).memory('i32.load', SHADOW_ORIGINS).if();
    for (const { to, from } of copies) {
      const [target, source] = [to, from].map((slot) => SHADOW_SCRATCH_ORIGINS + 8 * (slot - 256)) as [number, number];
      fn.get(shadow).get(shadow).memory('i64.load', source).memory('i64.store', target);
    }
    fn.end();
    for (const { to, from } of copies) {
      for (const half of [0, 8]) {
        const [target, source] = [16 * (to - 256) + half, 16 * (from - 256) + half];
        fn.get(shadow).get(shadow).memory('i64.load', target).get(exec).i64(-1n).op('i64.xor').op('i64.and');
        fn.get(shadow).memory('i64.load', source).get(exec).op('i64.and').op('i64.or').memory('i64.store', target);
      }
    }
    this.writeResults(fn, shadow, exec, { ...segment, results: [] });
    fn.end();
  }

  /** Writes results where the i64 on the stack says that some are not defined yet: from the second round of a loop on, none are. */
  private ifMissing(fn: WasmFunction, write: () => void): void {
    fn.i64(0n).op('i64.ne').if();
    write();
    fn.end();
  }

  /** Pushes an i64 that is 0 when nothing is wrong; false when there is nothing to ask. */
  private pushProblems(fn: WasmFunction, shadow: number, exec: number, segment: Segment): boolean {
    let count = 0;
    const join = (): void => {
      if (count++ > 0) fn.op('i64.or');
    };
    segment.scalarNeeds.forEach((mask, word) => {
      if (mask === 0n) return;
      fn.get(shadow).memory('i64.load', SHADOW_SCALARS + 8 * word);
      fn.i64(-1n).op('i64.xor').i64(BigInt.asIntN(64, mask)).op('i64.and');
      join();
    });
    segment.touched.forEach((mask, word) => {
      if (mask === 0n) return;
      fn.get(shadow).memory('i64.load', SHADOW_PENDING + 8 * word);
      fn.i64(BigInt.asIntN(64, mask)).op('i64.and');
      join();
    });
    if (segment.needs.length > 0) {
      this.pushNeeds(fn, shadow, exec, segment.needs);
      join();
    }
    if (segment.needsAllLanes) {
      fn.get(exec).i64(-1n).op('i64.xor');
      join();
    }
    if (segment.readsFirstLane) {
      fn.get(exec).op('i64.eqz').op('i64.extend_i32_u');
      join();
    }
    return count > 0;
  }

  /** Pushes the lanes that an instruction names, a bit each. */
  private pushLanes(fn: WasmFunction, lanes: Exclude<Lanes, undefined>): WasmFunction {
    return lanes === SELECTED ? fn.get(this.selected) : fn.i64(BigInt.asIntN(64, lanes));
  }

  /** Pushes an i64 that is 0 when everything is defined that is read of vector registers: there is something. */
  private pushNeeds(fn: WasmFunction, shadow: number, exec: number, needs: Segment['needs']): void {
    let count = 0;
    const join = (): void => {
      if (count++ > 0) fn.op('i64.or');
    };
    const plain = needs.filter((need) => need.lanes === undefined);
    plain.forEach(({ register, isHigh }, i) => {
      fn.get(shadow).memory('i64.load', 16 * register + (isHigh ? 8 : 0));
      if (i > 0) fn.op('i64.and');
    });
    if (plain.length > 0) {
      fn.i64(-1n).op('i64.xor').get(exec).op('i64.and');
      join();
    }
    for (const { register, isHigh, lanes, orExec } of needs) {
      if (lanes === undefined) continue;
      fn.get(shadow).memory('i64.load', 16 * register + (isHigh ? 8 : 0));
      if (orExec) fn.get(exec).op('i64.or');
      fn.i64(-1n).op('i64.xor');
      this.pushLanes(fn, lanes).op('i64.and');
      join();
    }
  }

  /** Pushes an i64 that is 0 when all results are defined already; false when there are none. */
  private pushMissing(fn: WasmFunction, shadow: number, exec: number, segment: Segment): boolean {
    let count = 0;
    const join = (): void => {
      if (count++ > 0) fn.op('i64.or');
    };
    const pushLacking = (loads: readonly number[], pushMask: () => void): void => {
      loads.forEach((at, n) => {
        fn.get(shadow).memory('i64.load', at);
        if (n > 0) fn.op('i64.and');
      });
      fn.i64(-1n).op('i64.xor');
      pushMask();
      fn.op('i64.and');
      join();
    };
    const ofActive: number[] = [];
    for (const { register, halves, lanes } of segment.results) {
      const words = halvesOf(halves).map((offset) => 16 * register + offset);
      if (lanes === undefined) ofActive.push(...words);
      else pushLacking(words, () => this.pushLanes(fn, lanes));
    }
    if (ofActive.length > 0) pushLacking(ofActive, () => fn.get(exec));
    segment.scalarResults.forEach((mask, word) => {
      if (mask !== 0n) pushLacking([SHADOW_SCALARS + 8 * word], () => fn.i64(BigInt.asIntN(64, mask)));
    });
    return count > 0;
  }

  private writeResults(fn: WasmFunction, shadow: number, exec: number, segment: Segment): void {
    const found = findParts(fn, shadow, exec, segment.partResults);
    for (const { register, halves, lanes } of segment.results) {
      for (const offset of halvesOf(halves)) {
        const at = 16 * register + offset;
        fn.get(shadow).get(shadow).memory('i64.load', at);
        if (lanes === undefined) fn.get(exec);
        else this.pushLanes(fn, lanes);
        fn.op('i64.or').memory('i64.store', at);
      }
    }
    segment.scalarResults.forEach((mask, word) => {
      if (mask === 0n) return;
      const at = SHADOW_SCALARS + 8 * word;
      fn.get(shadow)
        .get(shadow)
        .memory('i64.load', at)
        .i64(BigInt.asIntN(64, mask))
        .op('i64.or')
        .memory('i64.store', at);
    });
    keepParts(fn, shadow, segment.partResults, found);
  }
}

/** Whether an instruction of a block is one whose registers s_set_gpr_idx may move. */
const isMoved = ({ mode }: Block, { isVector }: StrictPlan): boolean => isVector && (mode & INDEXES_REGISTERS) !== 0;

/** Leaves the place of a store that may be an announcement while so many are outstanding as a local says (earlyPlace). */
function pushEarlyPlace(fn: WasmFunction, pc: number, outstanding: number): WasmFunction {
  fn.get(outstanding).i32(MOST_EARLY).get(outstanding).i32(MOST_EARLY).op('i32.lt_u').select();
  return fn
    .i32(EARLY_SHIFT)
    .op('i32.shl')
    .i32(pc | EARLY)
    .op('i32.or');
}

/** Where the words of halves of a register are behind those of the register. */
const halvesOf = (halves: number): readonly number[] => [
  ...((halves & LOW) === 0 ? [] : [0]),
  ...((halves & HIGH) === 0 ? [] : [8]),
];

/** Whether it matters to a segment which lanes are active. */
function dependsOnLanes({ needs, results, readsFirstLane, needsAllLanes }: Segment): boolean {
  return (
    readsFirstLane ||
    needsAllLanes ||
    needs.some(({ lanes, orExec }) => lanes === undefined || orExec) ||
    results.some(({ lanes }) => lanes === undefined)
  );
}
