// LDS bank conflicts at the speed of compiled code: accesses whose addresses are those of the last time have the conflicts of the last
// time; others are counted by the functions of bank-rows.ts, bank-planes.ts or bank-phases.ts. What those leave is counted by lds-banks.ts.
import type { TargetName } from '../../../isa/types.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { LANES, VGPR_BYTES, WAVE_BYTES, WAVE_VGPRS } from '../state/layout.ts';
import { EXEC, type Wave } from '../state/wave.ts';
import type { FunctionContext } from '../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import type { Item } from '../wasm/walk.ts';
import { PHASE_MEMORY, phasesFunction, shapeOf } from './bank-phases.ts';
import { hasPlanes, PLANES_MEMORY, planesFunction } from './bank-planes.ts';
import { ROWS_MEMORY, rowsFunction } from './bank-rows.ts';
import { runsFunction } from './bank-runs.ts';
import {
  accessesOf,
  type BankAccess,
  hasLdsBankModel,
  type LdsBankCount,
  LdsBankMonitor,
  usesBanks,
} from './lds-banks.ts';
import type { Records } from './records.ts';

// Of an LDS instruction and a wavefront: executions like the last one that was kept, what that counted (phases, from bit 32 on
// conflict cycles), EXEC and addresses then, i32 1 when there was one; accesses that planes did not count, one after the other; and the sums of
// those before.
const REPEATS = 0;
const LAST = 8;
const LAST_EXEC = 16;
const IS_KNOWN = 24;
const UNCOUNTED = 28;
const INSTRUCTIONS = 32;
const PHASES = 40;
const CONFLICT_CYCLES = 48;
// Of executions that were not kept, until the next one that is: i16 phases, i16 executions, i32 conflict cycles.
const PENDING = 56;
// i32: executions whose addresses were new, one after the other.
const NEWS = 64;
// i32: accesses whose lanes had too few addresses in common, and those that rows did not count, one after the other.
const APART = 68;
const FAR = 72;
const ADDRESSES = 80;
const RECORD = ADDRESSES + 4 * LANES;

/** New addresses after which only those of every 16th execution are kept, to be compared with the next ones. */
const NEWS_KEPT = 4;
const KEPT_EVERY = 16;
/** Failures of a way of counting after which it is tried once in a while only. */
const FAILURES_TRIED = 4;
const TRIED_EVERY = 64;
/** Lanes that are counted one by one in less time than all of them in fours. */
const FEW_LANES = 32n;
/** Wavefronts that have records of their own; wave blocks follow each other, so that those of a workgroup are different. */
const WAVES = 16;
const WAVE_SHIFT = 10;
if ((WAVE_BYTES >> WAVE_SHIFT) % 2 === 0) throw new Error('wave blocks fall on the same records');

/** What is counted of an LDS instruction: records by wavefront, or (outside of the model) one number of executions. */
type Site = { readonly accesses: readonly BankAccess[]; readonly record: number } | { readonly notModelled: number };

/** Counts the bank conflicts of the dispatches of one loaded code. */
export class CompiledBanks {
  private readonly records: Records;
  private readonly base: number;
  private readonly sites = new Map<number, Site | undefined>();
  private monitor: LdsBankMonitor;
  private memory: Uint8Array | undefined;

  /** `base`: loaded address of the code object. */
  constructor(records: Records, base: number) {
    this.records = records;
    this.base = base;
    this.monitor = new LdsBankMonitor(base);
  }

  /** Undefined on targets without a model. */
  static of(target: TargetName, records: Records, base: number): CompiledBanks | undefined {
    return hasLdsBankModel(target) ? new CompiledBanks(records, base) : undefined;
  }

  /** Forgets what was counted; the records have been cleared. */
  reset(): void {
    this.monitor = new LdsBankMonitor(this.base);
  }

  /** The sums since the last reset. */
  result(): LdsBankCount {
    let { instructions, notModelled, phases, conflictCycles } = this.monitor.result();
    for (const site of this.sites.values()) {
      if (site === undefined) continue;
      if ('notModelled' in site) {
        notModelled += this.records.read(site.notModelled);
        continue;
      }
      for (let n = 0; n < WAVES; n++) {
        const record = site.record + n * RECORD;
        const view = this.records.viewAt(record);
        const repeats = this.records.read(record + REPEATS);
        instructions += repeats + view.getInt16(PENDING + 2, true) + this.records.read(record + INSTRUCTIONS);
        phases +=
          repeats * view.getInt32(LAST, true) + view.getInt16(PENDING, true) + this.records.read(record + PHASES);
        conflictCycles +=
          repeats * view.getInt32(LAST + 4, true) +
          view.getInt32(PENDING + 4, true) +
          this.records.read(record + CONFLICT_CYCLES);
      }
    }
    return { instructions, notModelled, phases, conflictCycles };
  }

  /** An instruction outside of compiled code, or one that compiled code does not count; `pc` is its loaded address. */
  before(w: Wave, pc: number, bound: BoundInstruction): void {
    this.monitor.before(w, pc, bound);
  }

  /** Writes the code that counts an LDS instruction; `look`: import (wave, pc) that calls `before`. */
  emit({ fn, module, wave, pc }: FunctionContext, item: Item, look: number): void {
    const site = this.siteAt(item);
    if (site === undefined) return;
    if ('notModelled' in site) {
      fn.i32(0).i32(0).memory('i64.load', site.notModelled).i64(1n).op('i64.add').memory('i64.store', site.notModelled);
      return;
    }
    const { accesses, record: first } = site;
    const { base } = accesses[0] as BankAccess;
    const [register, record] = [fn.local('i32'), fn.local('i32')];
    fn.get(wave)
      .i32(WAVE_SHIFT)
      .op('i32.shr_u')
      .i32(WAVES - 1)
      .op('i32.and')
      .i32(RECORD)
      .op('i32.mul')
      .i32(first)
      .op('i32.add')
      .set(record);
    fn.get(wave)
      .i32(WAVE_VGPRS + (base / LANES) * VGPR_BYTES)
      .op('i32.add')
      .set(register);
    fn.get(record).memory('i32.load', IS_KNOWN).if('i32');
    fn.get(register).get(wave).get(record).call(sameAddresses(module));
    fn.else().i32(0).end().if();
    fn.get(record).get(record).memory('i64.load', REPEATS).i64(1n).op('i64.add').memory('i64.store', REPEATS);
    fn.else();
    fn.get(register).get(wave).get(record);
    for (const { offset } of accesses) fn.i32(offset);
    fn.call(this.newAddresses(module, accesses)).if();
    fn.get(wave).i32(pc).call(look).end().end();
    fn.release('i32', register);
    fn.release('i32', record);
  }

  private siteAt({ pc, instruction }: Item): Site | undefined {
    if (this.sites.has(pc)) return this.sites.get(pc);
    const accesses = accessesOf(instruction);
    let site: Site | undefined;
    if (accesses !== undefined) site = { accesses, record: this.records.take(WAVES * RECORD) };
    else if (usesBanks(instruction)) site = { notModelled: this.records.take(8) };
    this.sites.set(pc, site);
    return site;
  }

  /** Where the functions that count work: phases, planes, rows. */
  private workspace(): number {
    this.memory ??= this.records.memory?.reserve(PHASE_MEMORY + PLANES_MEMORY + ROWS_MEMORY, 'counters').fill(0);
    if (this.memory === undefined) throw new Error('the dispatch has not begun');
    return this.memory.byteOffset;
  }

  /**
   * The function (place of the address register, wave, record, offset of each access) → 1 when the addresses are none that compiled code
   * counts; else the record is of this execution.
   */
  private newAddresses(module: WasmModule, accesses: readonly BankAccess[]): WasmFunction {
    const one = accesses[0] as BankAccess;
    const memory = this.workspace();
    const phases = phasesFunction(module, one, memory);
    const planes = hasPlanes(one) ? planesFunction(module, one, memory + PHASE_MEMORY) : undefined;
    const rows =
      planes === undefined || one.atomic ? undefined : rowsFunction(module, one, memory + PHASE_MEMORY + PLANES_MEMORY);
    const runs = planes === undefined || one.atomic ? undefined : runsFunction(module, one);
    const parameters = ['i32', 'i32', 'i32', ...accesses.map(() => 'i32' as const)] as const;
    return module.helper(`count.banks ${accesses.length} ${shapeOf(one)}`, parameters, ['i32'], (fn) => {
      const [register, wave, record, offset] = [0, 1, 2, 3] as const;
      const [exec, lanes, part, sum] = [fn.local('i64'), fn.local('i64'), fn.local('i64'), fn.local('i64')];
      const [failures, apart, news] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
      const add = (at: number, push: () => void): void => {
        fn.get(record).get(record).memory('i64.load', at);
        push();
        fn.op('i64.add').memory('i64.store', at);
      };
      /** Lets a function count access `n`, unless it has failed often. */
      const count = (way: WasmFunction, failed: number, n: number): void => {
        fn.get(record).memory('i32.load', failed).set(failures);
        pushIsTried(fn, failures);
        fn.if();
        fn.get(register)
          .get(offset + n)
          .call(way)
          .set(part);
        fn.get(failures).i32(-1).get(part).i64(-1n).op('i64.eq').select().set(failures).end();
        fn.get(record).get(failures).i32(1).op('i32.add').memory('i32.store', failed);
      };
      // Executions like the one that was kept are over.
      fn.get(record).memory('i32.load', IS_KNOWN).if();
      add(INSTRUCTIONS, () => fn.get(record).memory('i64.load', REPEATS));
      for (const [at, half] of [
        [PHASES, LAST],
        [CONFLICT_CYCLES, LAST + 4],
      ] as const) {
        add(at, () => {
          fn.get(record).memory('i64.load', REPEATS).get(record).memory('i64.load32_u', half).op('i64.mul');
        });
      }
      fn.get(record).memory('i64.load', REPEATS).i64(1n).op('i64.gt_u').if();
      fn.get(record).i32(0).memory('i32.store', NEWS).end();
      fn.get(record).i64(0n).memory('i64.store', REPEATS);
      fn.get(record).i32(0).memory('i32.store', IS_KNOWN).end();
      fn.get(wave)
        .memory('i64.load', 4 * EXEC)
        .set(exec);
      for (let n = 0; n < accesses.length; n++) {
        fn.i64(-1n).set(part).get(exec).set(lanes);
        if (planes !== undefined) {
          fn.get(exec).i64(-1n).op('i64.eq').if();
          if (rows !== undefined) count(rows, FAR, n);
          if (rows !== undefined) fn.get(part).i64(-1n).op('i64.eq').if();
          count(planes, UNCOUNTED, n);
          if (rows !== undefined) fn.end();
          if (runs !== undefined) {
            fn.get(part).i64(-1n).op('i64.eq').if();
            fn.get(record).memory('i32.load', APART).set(apart);
            pushIsTried(fn, apart);
            fn.if().get(register).call(runs).set(lanes);
            fn.get(lanes).op('i64.popcnt').i64(FEW_LANES).op('i64.gt_u').if();
            fn.get(exec).set(lanes);
            fn.else().i32(-1).set(apart).end().end();
            fn.get(record).get(apart).i32(1).op('i32.add').memory('i32.store', APART).end();
          }
          fn.end();
        }
        fn.get(part).i64(-1n).op('i64.eq').if();
        fn.get(register)
          .get(lanes)
          .get(offset + n)
          .call(phases)
          .tee(part)
          .i64(-1n)
          .op('i64.eq')
          .if();
        fn.i32(1).return().end().end();
        fn.get(part);
        if (n > 0) fn.get(sum).op('i64.add');
        fn.set(sum);
      }
      fn.get(record).get(record).memory('i32.load', NEWS).i32(1).op('i32.add').tee(news).memory('i32.store', NEWS);
      fn.get(news).i32(NEWS_KEPT).op('i32.gt_u');
      fn.get(news)
        .i32(KEPT_EVERY - 1)
        .op('i32.and')
        .i32(0)
        .op('i32.ne')
        .op('i32.and')
        .if();
      add(PENDING, () => fn.get(sum).i64(0x10000n).op('i64.add'));
      fn.i32(0).return().end();
      add(PHASES, () => fn.get(record).memory('i64.load16_u', PENDING));
      add(INSTRUCTIONS, () => fn.get(record).memory('i64.load16_u', PENDING + 2));
      add(CONFLICT_CYCLES, () => fn.get(record).memory('i64.load32_u', PENDING + 4));
      fn.get(record).i64(0n).memory('i64.store', PENDING);
      fn.get(record).get(sum).memory('i64.store', LAST);
      fn.get(record).get(exec).memory('i64.store', LAST_EXEC);
      for (let at = 0; at < VGPR_BYTES; at += 16) {
        fn.get(record)
          .get(register)
          .memory('v128.load', at)
          .memory('v128.store', ADDRESSES + at);
      }
      fn.get(record).i64(1n).memory('i64.store', REPEATS);
      fn.get(record).i32(1).memory('i32.store', IS_KNOWN);
      fn.i32(0);
    });
  }
}

/** Pushes whether to try what has failed so many times, one after the other. */
function pushIsTried(fn: WasmFunction, failures: number): void {
  fn.get(failures).i32(FAILURES_TRIED).op('i32.lt_u');
  fn.get(failures)
    .i32(TRIED_EVERY - 1)
    .op('i32.and')
    .op('i32.eqz')
    .op('i32.or');
}

/** (place of a register, wave, record of an LDS instruction that is known) → 1 when EXEC and the register are as in the record. */
function sameAddresses(module: WasmModule): WasmFunction {
  return module.helper('count.addresses', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [register, wave, record] = [0, 1, 2] as const;
    for (let at = 0; at < VGPR_BYTES; at += 16) {
      fn.get(register)
        .memory('v128.load', at)
        .get(record)
        .memory('v128.load', ADDRESSES + at)
        .op('v128.xor');
      if (at > 0) fn.op('v128.or');
    }
    fn.op('v128.any_true').op('i32.eqz');
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .get(record)
      .memory('i64.load', LAST_EXEC)
      .op('i64.eq')
      .op('i32.and');
  });
}
