// Execution counts at the speed of compiled code: before each run of instructions with one EXEC the compiled code adds an execution and
// the active lanes to a record in wasm memory. Conditional branches add their condition. What other branches or a writer of EXEC did is
// counted when the wavefront's next run begins. What runs outside of compiled code is counted one instruction at a time.
import type { Expr } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, overlaps, Slot } from '../../../program/index.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { DispatchInfo } from '../dispatch/monitor.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import { LANES, WAVE_COUNTED, WAVE_COUNTED_LANES } from '../state/layout.ts';
import { EXEC, type Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import type { FunctionContext } from '../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Instrument } from '../wasm/instrument.ts';
import { INDEXES_REGISTERS } from '../wasm/place.ts';
import { pushCondition } from '../wasm/scalar.ts';
import { type Block, branchDistance, type Item, itemsOf } from '../wasm/walk.ts';
import { CompiledBanks } from './compiled-banks.ts';
import { countWaves, type ExecutionCounts, type InstructionCount, newSite, noWaves } from './counts.ts';
import { popcount } from './lanes.ts';
import type { LdsBankCount } from './lds-banks.ts';
import { Records } from './records.ts';

const EXEC_SLOTS = [{ first: Slot.EXEC, count: 2 }];

// Records are i64. Of a segment: executions with all lanes; those with fewer, and the sum of their active lanes.
const FULL = 0;
const PARTIAL = 8;
const PARTIAL_LANES = 16;
// Of a branch or writer of EXEC: as InstructionCount says; place in the image of the next instruction; 1 for a branch, 2 for one that leaves
// EXEC as it is: of those only TAKEN is looked at.
const TAKEN = 0;
const LANES_AFTER = 8;
const SPLIT = 16;
const NEXT = 24;
const IS_BRANCH = 28;
const ONLY_BRANCH = 2;
const RECORD = 32;

/** Instructions that always run together, under one EXEC. */
interface Segment {
  readonly sites: readonly Item[];
  readonly record: number;
}

type Site = Pick<Item, 'pc' | 'instruction'>;

function writesExec(instruction: Instruction): boolean {
  return overlaps(effectsOf(instruction).defs, EXEC_SLOTS);
}

/** Parts of a block at whose starts EXEC may have changed: index of the first item, and the sites. */
function partsOf(block: Block): Map<number, Segment['sites']> {
  const parts = new Map<number, Segment['sites']>();
  let sites: Item[] = [];
  let changed = true;
  for (const [index, item] of itemsOf(block).entries()) {
    if (changed) {
      sites = [];
      parts.set(index, sites);
    }
    sites.push(item);
    changed = writesExec(item.instruction);
  }
  return parts;
}

function isLds({ instruction }: Site): boolean {
  return instruction.row.encoding === 'DS';
}

/** Whether a branch goes elsewhere than to the next instruction: always, never, when its condition holds, or by what a register says. */
function whenTaken({ instruction, operation }: Item): 'always' | 'never' | 'condition' | 'unknown' {
  if (!isBranch(instruction)) return 'never';
  const isConditional = operation?.kind === 'branch' && operation.condition !== undefined;
  const isCall = operation?.kind === 'structural' && operation.name === 'call';
  if (operation?.kind !== 'branch' && !isCall) return 'unknown';
  if (branchDistance(instruction) === 0) return 'never';
  return isConditional ? 'condition' : 'always';
}

/** Whether what an instruction did is seen only after it. */
function isWatched(item: Item): boolean {
  return writesExec(item.instruction) || whenTaken(item) === 'unknown';
}

/** A monitor that counts the dispatches of one loaded code, one after the other, and keeps the code it compiled for them. */
export class CompiledCounter {
  private readonly loaded: LoadedCode;
  private readonly segments: Segment[] = [];
  private readonly single = new Map<number, InstructionCount>();
  /** Records of branches and writers of EXEC, by place in the image. */
  private readonly watched = new Map<number, number>();
  private readonly parts = new WeakMap<Block, Map<number, Segment['sites']>>();
  private readonly instrument: Instrument;
  private readonly engines = new Map<string, CompiledEngine>();
  private readonly records = new Records();
  private readonly banks: CompiledBanks | undefined;
  private waves = noWaves();
  private wave: Wave | undefined;

  /** `countsBanks`: bank conflicts are asked for, too. */
  constructor(loaded: LoadedCode, countsBanks = true) {
    this.loaded = loaded;
    const { region, target } = loaded;
    this.banks = countsBanks ? CompiledBanks.of(target, this.records, region.base) : undefined;
    this.instrument = {
      followedStates: INDEXES_REGISTERS,
      imports: {
        countLds: (_wave, pc) => {
          const at = region.base + pc;
          this.banks?.before(this.wave as Wave, at, loaded.at(at));
        },
      },
      declare: (module) => {
        importOf(module);
      },
      wants: (block, index) => {
        const item = itemsOf(block)[index];
        if (item === undefined) return false;
        return (
          this.partsOf(block).has(index) ||
          (this.banks !== undefined && isLds(item)) ||
          isWatched(item) ||
          whenTaken(item) === 'condition'
        );
      },
      emit: (context, block, index) => {
        this.emit(context, block, index);
        return undefined;
      },
      enter: (w) => {
        this.wave = w;
      },
      step: (w, pc, bound) => this.countOne(w, pc, bound),
    };
  }

  /** The engine of a dispatch; `Monitor.engine`. */
  engine(job: EngineJob): Engine {
    this.records.memory = job.memory;
    let engine = this.engines.get(job.launch.mfma);
    if (engine === undefined) {
      engine = new CompiledEngine(job, this.instrument);
      this.engines.set(job.launch.mfma, engine);
    }
    return engine;
  }

  startDispatch({ memory }: DispatchInfo): void {
    this.records.memory = memory;
  }

  /** Where the interpreter runs, because it was asked for or there are other monitors: it counts each instruction. */
  before(w: Wave, pc: number, bound: BoundInstruction): void {
    this.countOne(w, pc, bound);
  }

  startWorkgroup(_group: Workgroup, waves: readonly Wave[]): void {
    countWaves(this.waves, waves);
    for (const w of waves) w.setField(WAVE_COUNTED, 0);
  }

  /** Forgets what was counted. */
  reset(): void {
    this.records.clear();
    for (const [pc, record] of this.watched) this.describe(pc, record);
    this.single.clear();
    this.waves = noWaves();
    this.banks?.reset();
  }

  /** What ran since the last reset, by address. */
  counts(): ExecutionCounts {
    const sites = new Map<number, InstructionCount>();
    const siteOf = ({ pc, instruction }: Site): InstructionCount => {
      let site = sites.get(pc);
      if (site === undefined) {
        site = newSite(pc, instruction);
        sites.set(pc, site);
      }
      return site;
    };
    for (const { sites: all, record } of this.segments) {
      const full = this.records.read(record + FULL);
      const runs = full + this.records.read(record + PARTIAL);
      if (runs === 0) continue;
      for (const one of all) {
        const site = siteOf(one);
        site.hits += runs;
        site.lanes += LANES * full + this.records.read(record + PARTIAL_LANES);
        site.full += full;
        if (whenTaken(one) === 'always') site.taken += runs;
      }
    }
    for (const { pc, instruction, hits, lanes, full, skipped } of this.single.values()) {
      const site = siteOf({ pc, instruction });
      site.hits += hits;
      site.lanes += lanes;
      site.full += full;
      site.skipped += skipped;
    }
    for (const [pc, record] of this.watched) {
      const site = sites.get(pc);
      if (site === undefined) continue;
      if (site.isBranch) site.taken += this.records.read(record + TAKEN);
      if (!site.writesExec) continue;
      site.lanesAfter = this.records.read(record + LANES_AFTER);
      site.split = this.records.read(record + SPLIT);
    }
    return { instructions: [...sites.values()].sort((a, b) => a.pc - b.pc), waves: { ...this.waves } };
  }

  /** The bank conflicts since the last reset; undefined on targets without a model. */
  ldsBanks(): LdsBankCount | undefined {
    return this.banks?.result();
  }

  private partsOf(block: Block): Map<number, Segment['sites']> {
    let parts = this.parts.get(block);
    if (parts === undefined) {
      parts = partsOf(block);
      this.parts.set(block, parts);
    }
    return parts;
  }

  /** The record of a branch or writer of EXEC. */
  private watch({ pc }: Site): number {
    let record = this.watched.get(pc);
    if (record === undefined) {
      record = this.records.take(RECORD);
      this.watched.set(pc, record);
      this.describe(pc, record);
    }
    return record;
  }

  private describe(pc: number, record: number): void {
    const { instruction, size } = this.loaded.at(this.loaded.region.base + pc);
    const view = this.records.viewAt(record);
    view.setInt32(NEXT, pc + size, true);
    view.setInt32(IS_BRANCH, isBranch(instruction) ? (writesExec(instruction) ? 1 : ONLY_BRANCH) : 0, true);
  }

  // Compiled code ----------------------------------------------------------------------------------------------------------------

  private emit(context: FunctionContext, block: Block, index: number): void {
    const { fn, module, wave, pc } = context;
    const sites = this.partsOf(block).get(index);
    const item = itemsOf(block)[index];
    if (sites !== undefined) {
      const record = this.records.take(RECORD);
      this.segments.push({ sites, record });
      fn.get(wave).memory('i32.load', WAVE_COUNTED).if();
      fn.get(wave).i32(pc).call(outcomeFunction(module)).end();
      const exec = fn.local('i64');
      fn.get(wave)
        .memory('i64.load', 4 * EXEC)
        .tee(exec);
      fn.i64(-1n).op('i64.eq').if();
      increase(fn, record + FULL, () => fn.i64(1n));
      fn.else();
      increase(fn, record + PARTIAL, () => fn.i64(1n));
      increase(fn, record + PARTIAL_LANES, () => fn.get(exec).op('i64.popcnt'));
      fn.end();
      fn.release('i64', exec);
    }
    if (item === undefined) return;
    if (isWatched(item)) {
      fn.get(wave).i32(this.watch(item)).memory('i32.store', WAVE_COUNTED);
      if (writesExec(item.instruction)) {
        fn.get(wave)
          .get(wave)
          .memory('i64.load', 4 * EXEC)
          .op('i64.popcnt')
          .op('i32.wrap_i64')
          .memory('i32.store', WAVE_COUNTED_LANES);
      }
    } else if (item.operation?.kind === 'branch' && whenTaken(item) === 'condition') {
      const condition = item.operation.condition as Expr;
      increase(fn, this.watch(item) + TAKEN, () => {
        pushCondition(context, condition);
        fn.i32(0).op('i32.ne').op('i64.extend_i32_u');
      });
    }
    if (isLds(item)) this.banks?.emit(context, item, importOf(module));
  }

  // Outside of compiled code -----------------------------------------------------------------------------------------------------

  private countOne(w: Wave, pc: number, bound: BoundInstruction): void {
    const at = pc - this.loaded.region.base;
    let site = this.single.get(at);
    if (site === undefined) {
      site = newSite(at, bound.instruction);
      this.single.set(at, site);
    }
    const active = popcount(w.sgprs[EXEC] as number) + popcount(w.sgprs[EXEC + 1] as number);
    this.countOutcome(w, at, active);
    site.hits++;
    site.lanes += active;
    if (active === LANES) site.full++;
    if (w.vskip && site.isVector) site.skipped++;
    if (site.isBranch || site.writesExec) {
      w.setField(WAVE_COUNTED, this.watch(site));
      w.setField(WAVE_COUNTED_LANES, active);
    }
    this.banks?.before(w, pc, bound);
  }

  /** What `outcomeFunction` does. */
  private countOutcome(w: Wave, pc: number, active: number): void {
    const record = w.field(WAVE_COUNTED);
    if (record === 0) return;
    w.setField(WAVE_COUNTED, 0);
    const view = this.records.viewAt(record);
    this.records.add(record + LANES_AFTER, active);
    if (active > 0 && active < w.field(WAVE_COUNTED_LANES)) this.records.add(record + SPLIT, 1);
    if (view.getInt32(IS_BRANCH, true) !== 0 && view.getInt32(NEXT, true) !== pc) this.records.add(record + TAKEN, 1);
  }
}

function isBranch({ row }: Instruction): boolean {
  return row.flags.has('isBranch') || row.flags.has('isCall');
}

/** Writes code that adds to the i64 at a place. */
function increase(fn: WasmFunction, at: number, push: () => void): void {
  fn.i32(0).i32(0).memory('i64.load', at);
  push();
  fn.op('i64.add').memory('i64.store', at);
}

/** (wave, place in the image): counts what the branch or writer of EXEC did that was executed last. */
function outcomeFunction(module: WasmModule): WasmFunction {
  return module.helper('count.outcome', ['i32', 'i32'], [], (fn) => {
    const [wave, pc] = [0, 1] as const;
    const [record, active] = [fn.local('i32'), fn.local('i32')];
    const increase = (at: number, push: () => void): void => {
      fn.get(record).get(record).memory('i64.load', at);
      push();
      fn.op('i64.extend_i32_u').op('i64.add').memory('i64.store', at);
    };
    fn.get(wave).memory('i32.load', WAVE_COUNTED).set(record);
    fn.get(wave).i32(0).memory('i32.store', WAVE_COUNTED);
    fn.get(record).memory('i32.load', IS_BRANCH).i32(ONLY_BRANCH).op('i32.eq').if();
    increase(TAKEN, () => fn.get(record).memory('i32.load', NEXT).get(pc).op('i32.ne'));
    fn.return().end();
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .op('i64.popcnt')
      .op('i32.wrap_i64')
      .set(active);
    increase(LANES_AFTER, () => fn.get(active));
    increase(SPLIT, () => {
      fn.get(active).i32(0).op('i32.ne');
      fn.get(active).get(wave).memory('i32.load', WAVE_COUNTED_LANES).op('i32.lt_u').op('i32.and');
    });
    increase(TAKEN, () => {
      fn.get(record).memory('i32.load', IS_BRANCH);
      fn.get(record).memory('i32.load', NEXT).get(pc).op('i32.ne').op('i32.and');
    });
  });
}

function importOf(module: WasmModule): number {
  return module.importFunction('env', 'countLds', ['i32', 'i32'], []);
}
