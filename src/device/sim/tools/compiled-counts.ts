// Execution counts at the speed of compiled code: before each run of instructions with one EXEC the compiled code adds an execution and
// the active lanes to a record in wasm memory. What a branch or a writer of EXEC did is counted when the wavefront's next run begins.
// LDS accesses whose addresses are those of the last time have the bank conflicts of the last time. What runs outside of compiled code
// is counted one instruction at a time.
import { operandNamed } from '../../../isa/operand.ts';
import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, overlaps, Slot } from '../../../program/index.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import { LANES, WAVE_BYTES, WAVE_COUNTED, WAVE_COUNTED_LANES } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { EXEC, type Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { type FunctionContext, registerAt } from '../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Instrument } from '../wasm/instrument.ts';
import type { Block } from '../wasm/walk.ts';
import { countWaves, type ExecutionCounts, type InstructionCount, newSite, noWaves } from './counts.ts';
import { popcount } from './lanes.ts';
import { hasLdsBankModel, type LdsBankCount, LdsBankMonitor } from './lds-banks.ts';

const EXEC_SLOTS = [{ first: Slot.EXEC, count: 2 }];

// Records are i64. Of a segment: executions, active lanes summed, executions with all lanes.
const RUNS = 0;
const LANE_SUM = 8;
const FULL = 16;
// Of a branch or writer of EXEC: as InstructionCount says; place in the image of the next instruction; 1 for a branch, 2 for one that leaves
// EXEC as it is: of those only TAKEN is looked at.
const TAKEN = 0;
const LANES_AFTER = 8;
const SPLIT = 16;
const NEXT = 24;
const IS_BRANCH = 28;
const ONLY_BRANCH = 2;
const RECORD = 32;
// Of an LDS instruction: executions like the last one that was looked at; EXEC and addresses then, i32 1 when there was one.
const REPEATS = 0;
const LDS_EXEC = 8;
const LDS_IS_KNOWN = 16;
const LDS_ADDRESSES = 32;
const LDS_RECORD = LDS_ADDRESSES + 4 * LANES;
/** Wavefronts that have records of their own; wave blocks follow each other, so that those of a workgroup are different. */
const LDS_WAVES = 16;
const LDS_WAVE_SHIFT = 10;
if ((WAVE_BYTES >> LDS_WAVE_SHIFT) % 2 === 0) throw new Error('wave blocks fall on the same records');

/** Bytes of wasm memory that records are cut from. */
const CHUNK = 65536;

/** Instructions that always run together, under one EXEC. */
interface Segment {
  readonly sites: readonly Site[];
  readonly record: number;
}

interface Site {
  readonly pc: number;
  readonly instruction: Instruction;
}

/** An LDS instruction: what its last executions that were looked at counted, by record. */
interface LdsSite {
  /** The first of LDS_WAVES. */
  readonly record: number;
  /** First word of its address register in the wave's vector registers. */
  readonly register: number;
  readonly last: LdsBankCount[];
}

const NO_BANKS: LdsBankCount = { instructions: 0, notModelled: 0, phases: 0, conflictCycles: 0 };

function combine(a: LdsBankCount, b: LdsBankCount, times: number): LdsBankCount {
  return {
    instructions: a.instructions + times * b.instructions,
    notModelled: a.notModelled + times * b.notModelled,
    phases: a.phases + times * b.phases,
    conflictCycles: a.conflictCycles + times * b.conflictCycles,
  };
}

function writesExec(instruction: Instruction): boolean {
  return overlaps(effectsOf(instruction).defs, EXEC_SLOTS);
}

function itemsOf({ items, ending }: Block): Block['items'] {
  return ending.kind === 'branch' ? [...items, ending.item] : items;
}

/** Parts of a block at whose starts EXEC may have changed: index of the first item, and the sites. */
function partsOf(block: Block): Map<number, Segment['sites']> {
  const parts = new Map<number, Segment['sites']>();
  let sites: Site[] = [];
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

function isLds(block: Block, index: number): boolean {
  return block.items[index]?.instruction.row.encoding === 'DS';
}

function isWatched({ instruction }: Site): boolean {
  return isBranch(instruction) || writesExec(instruction);
}

/** A monitor that counts the dispatches of one loaded code, one after the other, and keeps the code it compiled for them. */
export class CompiledCounter {
  private readonly loaded: LoadedCode;
  private readonly countsBanks: boolean;
  private readonly segments: Segment[] = [];
  private readonly single = new Map<number, InstructionCount>();
  /** Records of branches and writers of EXEC, by place in the image. */
  private readonly watched = new Map<number, number>();
  private readonly ldsSites = new Map<number, LdsSite>();
  private readonly parts = new WeakMap<Block, Map<number, Segment['sites']>>();
  private readonly instrument: Instrument;
  private readonly engines = new Map<string, CompiledEngine>();
  private waves = noWaves();
  private banks: LdsBankMonitor | undefined;
  private wave: Wave | undefined;
  private memory: DeviceMemory | undefined;
  private readonly chunks: Uint8Array[] = [];
  private used = CHUNK;

  /** `countsBanks`: bank conflicts are asked for, too. */
  constructor(loaded: LoadedCode, countsBanks = true) {
    this.loaded = loaded;
    this.countsBanks = countsBanks;
    this.instrument = {
      imports: { countLds: (_wave, pc) => this.lookAtLds(this.wave as Wave, pc) },
      declare: (module) => {
        importOf(module);
      },
      wants: (block, index) => {
        const item = itemsOf(block)[index];
        return this.partsOf(block).has(index) || isLds(block, index) || (item !== undefined && isWatched(item));
      },
      emit: (context, block, index) => this.emit(context, block, index),
      enter: (w) => {
        this.wave = w;
      },
      step: (w, pc, bound) => this.countOne(w, pc, bound),
    };
    this.reset();
  }

  /** The engine of a dispatch; `Monitor.engine`. */
  engine(job: EngineJob): Engine {
    this.memory = job.memory;
    let engine = this.engines.get(job.launch.mfma);
    if (engine === undefined) {
      engine = new CompiledEngine(job, this.instrument);
      this.engines.set(job.launch.mfma, engine);
    }
    return engine;
  }

  startWorkgroup(_group: Workgroup, waves: readonly Wave[]): void {
    countWaves(this.waves, waves);
    for (const w of waves) w.setField(WAVE_COUNTED, 0);
  }

  /** Forgets what was counted. */
  reset(): void {
    for (const chunk of this.chunks) chunk.fill(0);
    for (const site of this.ldsSites.values()) site.last.fill(NO_BANKS);
    for (const [pc, record] of this.watched) this.describe(pc, record);
    this.single.clear();
    this.waves = noWaves();
    const { region, target } = this.loaded;
    this.banks = this.countsBanks && hasLdsBankModel(target) ? new LdsBankMonitor(region.base) : undefined;
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
      const runs = this.read(record + RUNS);
      if (runs === 0) continue;
      for (const one of all) {
        const site = siteOf(one);
        site.hits += runs;
        site.lanes += this.read(record + LANE_SUM);
        site.full += this.read(record + FULL);
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
      if (site.isBranch) site.taken = this.read(record + TAKEN);
      if (!site.writesExec) continue;
      site.lanesAfter = this.read(record + LANES_AFTER);
      site.split = this.read(record + SPLIT);
    }
    return { instructions: [...sites.values()].sort((a, b) => a.pc - b.pc), waves: { ...this.waves } };
  }

  /** The bank conflicts since the last reset; undefined on targets without a model. */
  ldsBanks(): LdsBankCount | undefined {
    let sum = this.banks?.result();
    if (sum === undefined) return undefined;
    for (const { record, last } of this.ldsSites.values()) {
      for (const [n, one] of last.entries()) sum = combine(sum, one, this.read(record + n * LDS_RECORD + REPEATS));
    }
    return sum;
  }

  /** The records can be given back: nothing is counted from now on. */
  close(): void {
    for (const chunk of this.chunks) this.memory?.release(chunk);
    this.chunks.length = 0;
  }

  private partsOf(block: Block): Map<number, Segment['sites']> {
    let parts = this.parts.get(block);
    if (parts === undefined) {
      parts = partsOf(block);
      this.parts.set(block, parts);
    }
    return parts;
  }

  // Records ----------------------------------------------------------------------------------------------------------------------

  private take(bytes: number): number {
    if (this.used + bytes > CHUNK) {
      if (this.memory === undefined) throw new Error('the dispatch has not begun');
      this.chunks.push(this.memory.reserve(CHUNK, 'counters'));
      this.used = 0;
    }
    const at = (this.chunks[this.chunks.length - 1] as Uint8Array).byteOffset + this.used;
    this.used += bytes;
    return at;
  }

  private viewAt(record: number): DataView {
    const chunk = this.chunks.find(
      ({ byteOffset }) => record >= byteOffset && record < byteOffset + CHUNK,
    ) as Uint8Array;
    return new DataView(chunk.buffer, record);
  }

  private read(at: number): number {
    return Number(this.viewAt(at).getBigInt64(0, true));
  }

  private add(at: number, amount: number): void {
    const view = this.viewAt(at);
    view.setBigInt64(0, view.getBigInt64(0, true) + BigInt(amount), true);
  }

  /** The record of a branch or writer of EXEC. */
  private watch({ pc }: Site): number {
    let record = this.watched.get(pc);
    if (record === undefined) {
      record = this.take(RECORD);
      this.watched.set(pc, record);
      this.describe(pc, record);
    }
    return record;
  }

  private describe(pc: number, record: number): void {
    const { instruction, size } = this.loaded.at(this.loaded.region.base + pc);
    const view = this.viewAt(record);
    view.setInt32(NEXT, pc + size, true);
    view.setInt32(IS_BRANCH, isBranch(instruction) ? (writesExec(instruction) ? 1 : ONLY_BRANCH) : 0, true);
  }

  // Compiled code ----------------------------------------------------------------------------------------------------------------

  private emit(context: FunctionContext, block: Block, index: number): void {
    const { fn, module, wave, pc } = context;
    const sites = this.partsOf(block).get(index);
    const item = itemsOf(block)[index];
    if (sites !== undefined) {
      const record = this.take(RECORD);
      this.segments.push({ sites, record });
      fn.get(wave).memory('i32.load', WAVE_COUNTED).if();
      fn.get(wave).i32(pc).call(outcomeFunction(module)).end();
      const increase = (at: number, push: () => void): void => {
        fn.i32(0).i32(0).memory('i64.load', at);
        push();
        fn.op('i64.add').memory('i64.store', at);
      };
      const pushExec = (): void => {
        fn.get(wave).memory('i64.load', 4 * EXEC);
      };
      increase(record + RUNS, () => fn.i64(1n));
      increase(record + LANE_SUM, () => {
        pushExec();
        fn.op('i64.popcnt');
      });
      increase(record + FULL, () => {
        pushExec();
        fn.i64(-1n).op('i64.eq').op('i64.extend_i32_u');
      });
    }
    if (item !== undefined && isWatched(item)) {
      fn.get(wave).i32(this.watch(item)).memory('i32.store', WAVE_COUNTED);
      if (writesExec(item.instruction)) {
        fn.get(wave)
          .get(wave)
          .memory('i64.load', 4 * EXEC)
          .op('i64.popcnt')
          .op('i32.wrap_i64')
          .memory('i32.store', WAVE_COUNTED_LANES);
      }
    }
    if (item !== undefined && isLds(block, index) && this.banks !== undefined) this.emitLds(context, item);
  }

  private emitLds({ fn, module, wave, pc }: FunctionContext, { instruction }: Site): void {
    const register = ldsAddressRegister(instruction);
    if (register === undefined) {
      fn.get(wave).i32(pc).call(importOf(module));
      return;
    }
    let site = this.ldsSites.get(pc);
    if (site === undefined) {
      const last = Array.from({ length: LDS_WAVES }, () => NO_BANKS);
      site = { record: this.take(LDS_WAVES * LDS_RECORD), register: register * LANES, last };
      this.ldsSites.set(pc, site);
    }
    const record = fn.local('i32');
    fn.get(wave)
      .i32(LDS_WAVE_SHIFT)
      .op('i32.shr_u')
      .i32(LDS_WAVES - 1)
      .op('i32.and')
      .i32(LDS_RECORD)
      .op('i32.mul')
      .i32(site.record)
      .op('i32.add')
      .set(record);
    fn.get(wave).i32(registerAt(register)).op('i32.add').get(wave).get(record).call(sameAddresses(module)).if();
    fn.get(record).get(record).memory('i64.load', REPEATS).i64(1n).op('i64.add').memory('i64.store', REPEATS);
    fn.else().get(wave).i32(pc).call(importOf(module)).end();
    fn.release('i32', record);
  }

  /** An LDS instruction whose addresses are not those of the last time. */
  private lookAtLds(w: Wave, pc: number): void {
    const at = this.loaded.region.base + pc;
    const { banks } = this;
    if (banks === undefined) return;
    const site = this.ldsSites.get(pc);
    if (site === undefined) {
      banks.before(w, at, this.loaded.at(at));
      return;
    }
    const slot = (w.pointer >>> LDS_WAVE_SHIFT) & (LDS_WAVES - 1);
    const record = site.record + slot * LDS_RECORD;
    banks.add(combine(NO_BANKS, site.last[slot] as LdsBankCount, this.read(record + REPEATS)));
    const start = banks.result();
    banks.before(w, at, this.loaded.at(at));
    site.last[slot] = combine(banks.result(), start, -1);
    const { buffer } = this.viewAt(record);
    new BigInt64Array(buffer, record, 1)[0] = 0n;
    new Int32Array(buffer, record + LDS_EXEC, 2).set([w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number]);
    new Int32Array(buffer, record + LDS_IS_KNOWN, 1)[0] = 1;
    const addresses = new Int32Array(buffer, record + LDS_ADDRESSES, LANES);
    addresses.set(w.vgprs.subarray(site.register, site.register + LANES));
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
    if (isWatched(site)) {
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
    const view = this.viewAt(record);
    this.add(record + LANES_AFTER, active);
    if (active > 0 && active < w.field(WAVE_COUNTED_LANES)) this.add(record + SPLIT, 1);
    if (view.getInt32(IS_BRANCH, true) !== 0 && view.getInt32(NEXT, true) !== pc) this.add(record + TAKEN, 1);
  }
}

function isBranch({ row }: Instruction): boolean {
  return row.flags.has('isBranch') || row.flags.has('isCall');
}

/** The register of the address of an LDS access whose banks depend on nothing else. */
function ldsAddressRegister(instruction: Instruction): number | undefined {
  const operand = operandNamed(instruction, 'addr');
  return operand?.kind === 'reg' && operand.file === 'v' ? operand.index : undefined;
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

/** (place of a register, wave, record of an LDS instruction) → 1 when EXEC and the register are as in the record. */
function sameAddresses(module: WasmModule): WasmFunction {
  return module.helper('count.addresses', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [register, wave, record] = [0, 1, 2] as const;
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(register)
        .memory('v128.load', at)
        .get(record)
        .memory('v128.load', LDS_ADDRESSES + at)
        .op('v128.xor');
      if (at > 0) fn.op('v128.or');
    }
    fn.op('v128.any_true').op('i32.eqz');
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .get(record)
      .memory('i64.load', LDS_EXEC)
      .op('i64.eq')
      .op('i32.and');
    fn.get(record).memory('i32.load', LDS_IS_KNOWN).op('i32.and');
  });
}

function importOf(module: WasmModule): number {
  return module.importFunction('env', 'countLds', ['i32', 'i32'], []);
}
