// Execution counts at the speed of compiled code: before each run of instructions with one EXEC the compiled code calls a counter,
// which adds an execution and the active lanes. What runs outside of compiled code is counted one instruction at a time.
import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, overlaps, Slot } from '../../../program/index.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import { EXEC, type Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import type { FunctionContext } from '../wasm/context.ts';
import type { WasmModule } from '../wasm/emit.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Instrument } from '../wasm/instrument.ts';
import type { Block } from '../wasm/walk.ts';
import { countWaves, noWaves, type SiteCount, type SiteCounts } from './counts.ts';
import { popcount } from './lanes.ts';
import { hasLdsBankModel, type LdsBankCount, LdsBankMonitor } from './lds-banks.ts';

const EXEC_SLOTS = [{ first: Slot.EXEC, count: 2 }];

/** Instructions that always run together, under one EXEC. */
interface Segment {
  readonly sites: readonly { readonly pc: number; readonly instruction: Instruction }[];
  runs: number;
  lanes: number;
}

/** Parts of a block at whose starts EXEC may have changed: index of the first item, and the sites. */
function partsOf(block: Block): Map<number, Segment['sites']> {
  const parts = new Map<number, Segment['sites']>();
  let sites: { pc: number; instruction: Instruction }[] = [];
  const { items, ending } = block;
  const all = ending.kind === 'branch' ? [...items, ending.item] : items;
  let changed = true;
  for (const [index, item] of all.entries()) {
    if (changed) {
      sites = [];
      parts.set(index, sites);
    }
    sites.push(item);
    changed = overlaps(effectsOf(item.instruction).defs, EXEC_SLOTS);
  }
  return parts;
}

/** A monitor that counts the dispatches of one loaded code, one after the other, and keeps the code it compiled for them. */
export class CompiledCounter {
  private readonly loaded: LoadedCode;
  private readonly segments: Segment[] = [];
  private readonly single = new Map<number, SiteCount>();
  private readonly parts = new WeakMap<Block, Map<number, Segment['sites']>>();
  private readonly instrument: Instrument;
  private readonly engines = new Map<string, CompiledEngine>();
  private waves = noWaves();
  private banks: LdsBankMonitor | undefined;
  private wave: Wave | undefined;

  constructor(loaded: LoadedCode) {
    this.loaded = loaded;
    this.instrument = {
      imports: {
        countSegment: (_wave, id) => {
          const segment = this.segments[id] as Segment;
          const { sgprs } = this.wave as Wave;
          segment.runs++;
          segment.lanes += popcount(sgprs[EXEC] as number) + popcount(sgprs[EXEC + 1] as number);
        },
        countLds: (_wave, pc) => {
          const at = loaded.region.base + pc;
          this.banks?.before(this.wave as Wave, at, loaded.at(at));
        },
      },
      declare: (module) => {
        importOf(module, 'countSegment');
        importOf(module, 'countLds');
      },
      wants: (block, index) => this.partsOf(block).has(index) || isLds(block, index),
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
    let engine = this.engines.get(job.launch.mfma);
    if (engine === undefined) {
      engine = new CompiledEngine(job, this.instrument);
      this.engines.set(job.launch.mfma, engine);
    }
    return engine;
  }

  startWorkgroup(_group: Workgroup, waves: readonly Wave[]): void {
    countWaves(this.waves, waves);
  }

  /** Forgets what was counted. */
  reset(): void {
    for (const segment of this.segments) {
      segment.runs = 0;
      segment.lanes = 0;
    }
    this.single.clear();
    this.waves = noWaves();
    const { region, target } = this.loaded;
    this.banks = hasLdsBankModel(target) ? new LdsBankMonitor(region.base) : undefined;
  }

  /** What ran since the last reset, by address. */
  counts(): SiteCounts {
    const sites = new Map<number, SiteCount>();
    const add = (pc: number, instruction: Instruction, hits: number, lanes: number, skipped: number): void => {
      const known = sites.get(pc);
      if (known === undefined) sites.set(pc, { pc, instruction, hits, lanes, skipped });
      else {
        known.hits += hits;
        known.lanes += lanes;
        known.skipped += skipped;
      }
    };
    for (const { sites: all, runs, lanes } of this.segments) {
      if (runs > 0) for (const { pc, instruction } of all) add(pc, instruction, runs, lanes, 0);
    }
    for (const s of this.single.values()) add(s.pc, s.instruction, s.hits, s.lanes, s.skipped);
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

  private emit({ fn, module, wave, pc }: FunctionContext, block: Block, index: number): void {
    const sites = this.partsOf(block).get(index);
    if (sites !== undefined) {
      fn.get(wave).i32(this.segments.length).call(importOf(module, 'countSegment'));
      this.segments.push({ sites, runs: 0, lanes: 0 });
    }
    if (isLds(block, index)) fn.get(wave).i32(pc).call(importOf(module, 'countLds'));
  }

  private countOne(w: Wave, pc: number, bound: BoundInstruction): void {
    const at = pc - this.loaded.region.base;
    let site = this.single.get(at);
    if (site === undefined) {
      site = { pc: at, instruction: bound.instruction, hits: 0, lanes: 0, skipped: 0 };
      this.single.set(at, site);
    }
    site.hits++;
    site.lanes += popcount(w.sgprs[EXEC] as number) + popcount(w.sgprs[EXEC + 1] as number);
    const { flags } = bound.instruction.row;
    if (w.vskip && ['VALU', 'DS', 'FLAT', 'MUBUF', 'MTBUF'].some((name) => flags.has(name))) site.skipped++;
    this.banks?.before(w, pc, bound);
  }
}

function importOf(module: WasmModule, name: 'countSegment' | 'countLds'): number {
  return module.importFunction('env', name, ['i32', 'i32'], []);
}

function isLds(block: Block, index: number): boolean {
  return block.items[index]?.instruction.row.encoding === 'DS';
}
