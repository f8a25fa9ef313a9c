// Room `device/sim/timing`: the clock: modelled time of a dispatch on a chip. Workgroups are sampled (sample.ts), run and recorded
// (record.ts), replayed on a machine of waves, units and caches (machine.ts, memory-system.ts) and extrapolated to the launch.
// Begin with this file, then chip.ts (the numbers), kernel-code.ts (one instruction), machine.ts.

import type { Launch } from '../dispatch/launch.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { ClockReadings, WaveProgress } from '../state/modelled-clock.ts';
import type { PlacePool } from '../state/places.ts';
import type { Chip } from './chip.ts';
import { KernelCode } from './kernel-code.ts';
import { Machine, type Replay } from './machine.ts';
import type { MemoryShare, Traffic } from './memory-system.ts';
import { ALL_FRESH, edgeLines, type Fresh, foreignNeighbours, freshParts, laterNeighbours } from './neighbours.ts';
import { type GroupTrace, LINE_UNIT_BITS, Recorder } from './record.ts';
import {
  byLine,
  type Held,
  L2Residency,
  offsetsOf,
  pagesOf,
  partOf,
  type Regions,
  Residency,
  regionsOf,
} from './residency.ts';
import { type Estimate, extrapolate, lastRound, planSample, type SamplePlan, type Spread, spreadOf } from './sample.ts';
import { Translations } from './translations.ts';
import type { ReplayedWave } from './wave-log.ts';

/** Instructions recorded of a launch; fewer of a kernel that is launched often. */
const BUDGET = 60_000;
const LEAST_BUDGET = 5_000;
/** Launches of a kernel after which its budget is halved. */
const OFTEN = 4;
/** Instructions of a wave of the first workgroup that say how long waves are. */
const FIRST_LOOK = 6000;

/** What a launch to be timed runs on. */
export interface TimedLaunch {
  readonly memory: DeviceMemory;
  readonly places: PlacePool;
  readonly loaded: LoadedCode;
  readonly launch: Launch;
}

/** A launch that has been recorded and not yet timed. It holds nothing of the device, so that it can be timed again on another chip. */
export interface RecordedLaunch {
  readonly launch: Launch;
  readonly code: Pick<KernelCode, 'list'>;
  readonly spread: Spread;
  readonly plan: SamplePlan;
  readonly traces: readonly GroupTrace[];
  /** Allocations that the sample reads and writes. */
  readonly regions: Regions;
  readonly written: Regions;
  /** Where these allocations lie in device memory, by address. */
  readonly offsets: ReadonlyMap<number, number>;
  /** Pages of the pieces that the sample accesses. */
  readonly pages: ReadonlyMap<number, number>;
  /** What workgroups do not share with their neighbours. */
  readonly fresh: Fresh;
  /** Workgroups of other dies store into the lines at the edges of what one stores. */
  readonly hasForeignEdges: boolean;
  /** The kernel has run before: its code is in the instruction caches. */
  readonly isWarm: boolean;
  readonly failure: string | undefined;
}

/** What a launch touches. */
type Footprint = Pick<RecordedLaunch, 'launch' | 'regions' | 'written' | 'pages'>;

const NOT_HELD: Held = { part: 0, own: 0 };

/** A launch whose sample has been replayed. */
export interface ReplayedLaunch {
  readonly recorded: RecordedLaunch;
  readonly replay: Replay;
  /** Replay of the workgroups of `lastRound`. */
  readonly last: Replay | undefined;
  /** Part of all that the launch uses that was in the memory-side cache. */
  readonly mallHits: number;
}

/** What earlier launches have left, by allocation. */
export interface CacheHits {
  /** What of the allocations that the launch only reads is in L2. */
  readonly l2: ReadonlyMap<number, Held>;
  /** Part of each allocation that is in the memory-side cache, 0 to 1. */
  readonly mall: ReadonlyMap<number, number>;
}

/** The time of a launch. */
export interface LaunchTime {
  readonly kernel: string;
  readonly chip: Chip;
  /** From the first workgroup's start to the last one's end. */
  readonly nanoseconds: number;
  readonly cycles: number;
  readonly estimate: Estimate;
  readonly launch: Launch;
  /** What all waves together executed, over what the replayed ones did. */
  readonly scale: number;
  readonly plan: SamplePlan;
  readonly failure: string | undefined;
  readonly replay: Replay;
  readonly code: Pick<KernelCode, 'list'>;
  readonly spread: Spread;
  readonly mallHits: number;
  /** Bytes that the launch leaves changed in L2, for the next launch to wait for. */
  readonly dirtyBytes: number;
}

export class TimingModel {
  readonly chip: Chip;
  private readonly residency: Residency;
  private readonly l2: L2Residency;
  /** Launches so far, by kernel entry. */
  private readonly launches = new Map<number, number>();
  private readonly codes = new WeakMap<LoadedCode, KernelCode>();
  private readonly budget: number;

  private readonly keepsWaves: boolean;
  private readonly knowsPages: boolean;
  /** `residency` of the constructor. */
  private readonly occupancy: number;
  /** Pages that launches have used. */
  private readonly known = new Set<number>();
  /** Cycles that launches have taken so far, with the gaps between them. */
  private elapsed = 0;

  /**
   * `keepsWaves`: what each replayed wave did is a part of every launch's time. `knowsPages`: all addresses have been translated before, as
   * in the middle of a program. `residency`: so many times as many workgroups are on a compute unit as registers and LDS allow, as long as
   * there are wave slots: what a kernel would gain that needed less of them.
   */
  constructor(chip: Chip, { budget = BUDGET, keepsWaves = false, knowsPages = false, residency = 1 } = {}) {
    this.chip = chip;
    this.keepsWaves = keepsWaves;
    this.knowsPages = knowsPages;
    this.occupancy = residency;
    this.budget = budget;
    this.residency = new Residency(chip.get('mall.bytes'), chip.get('mall.loss'));
    this.l2 = new L2Residency(chip);
  }

  /** Records sampled workgroups of a launch that is about to run; memory is as before afterwards. */
  record(job: TimedLaunch): RecordedLaunch {
    const { chip } = this;
    const { launch, loaded, memory } = job;
    let code = this.codes.get(loaded);
    if (code === undefined) {
      code = new KernelCode(chip, loaded);
      this.codes.set(loaded, code);
    }
    const spread = spreadOf(chip, launch, this.occupancy);
    const isWarm = this.launches.has(launch.entry);
    const dies = chip.get('xccs');
    const recorder = new Recorder({ ...job, code });
    try {
      const first = recorder.record(0, FIRST_LOOK);
      const length = Math.max(1, ...first.waves.map((w) => w.path.length));
      const plan = planSample(chip, launch, spread, length, this.budgetOf(launch));
      const canKeep = first.waves.every((w) => w.isWhole);
      const traces = plan.groups.map((n) => (n === 0 && canKeep ? first : recorder.record(n * dies, plan.limit)));
      const pages = this.knowsPages ? new Map() : pagesOf(memory, linesOf(traces, code), chip.get('tlb.page'));
      const regions = regionsOf(memory, linesOf(traces, code, false));
      const written = regionsOf(memory, linesOf(traces, code, true));
      const neighbours = this.neighboursOf(recorder, code, launch, traces, length);
      const { list } = code;
      return {
        launch,
        code: { list },
        spread,
        plan,
        traces,
        regions,
        written,
        offsets: offsetsOf(memory, new Map([...regions, ...written])),
        pages,
        ...neighbours,
        isWarm,
        failure: recorder.failure,
      };
    } finally {
      recorder.undo();
    }
  }

  /** What a whole workgroup of the sample, and so all of them, have in common with their neighbours. */
  private neighboursOf(
    recorder: Recorder,
    code: KernelCode,
    launch: Launch,
    traces: readonly GroupTrace[],
    length: number,
  ): Pick<RecordedLaunch, 'fresh' | 'hasForeignEdges'> {
    const { chip } = this;
    const candidates = traces.filter((t) => t.waves.every((w) => w.isWhole));
    const reference = candidates.at(candidates.length >>> 1);
    if (reference === undefined) return { fresh: ALL_FRESH, hasForeignEdges: false };
    const { number } = reference;
    const neighbour = (step: number): GroupTrace => recorder.record(number + step, 2 * length);
    const sectorsOf = (trace: GroupTrace, stores: boolean): Iterable<number> => linesOf([trace], code, stores);
    const later = laterNeighbours(chip, launch, number).map((step) => ({ step, trace: neighbour(step) }));
    const edges = edgeLines(chip, [reference], code);
    const shift = Math.log2(chip.get('l2.line')) - LINE_UNIT_BITS;
    let hasForeignEdges = false;
    for (const step of edges.size === 0 ? [] : foreignNeighbours(chip, launch, number)) {
      for (const sector of sectorsOf(neighbour(step), true)) hasForeignEdges ||= edges.has(sector >>> shift);
    }
    return { fresh: freshParts(chip, reference, later, sectorsOf), hasForeignEdges };
  }

  private budgetOf(launch: Launch): number {
    const before = this.launches.get(launch.entry) ?? 0;
    this.launches.set(launch.entry, before + 1);
    return Math.max(LEAST_BUDGET, this.budget / (1 + before / OFTEN));
  }

  /** A launch has gone through the caches; gives the parts of what it read that were there. */
  pass({ launch, regions, written, pages }: Footprint): CacheHits {
    for (const page of pages.values()) this.known.add(page);
    const l2 = this.l2.use(launch, regions, written);
    return { l2, mall: this.residency.use(new Map([...regions, ...written])) };
  }

  /** A copy or fill has gone through the memory-side cache; gives the part of its bytes that was there. */
  copied(regions: Regions): number {
    return partOf(this.residency.use(regions), regions);
  }

  /** Replays a recorded launch. Launches are replayed in the order in which they run. */
  replay(recorded: RecordedLaunch): ReplayedLaunch {
    const { code, spread, plan, traces, isWarm } = recorded;
    const { chip } = this;
    const translations = new Translations(chip, { pages: recorded.pages, known: new Set(this.known) });
    const { l2, mall } = this.pass(recorded);
    const { offsets } = recorded;
    const regions = new Map([...recorded.regions, ...recorded.written]);
    const foreign = recorded.hasForeignEdges ? edgeLines(chip, traces, code) : undefined;
    const share: MemoryShare = {
      units: plan.units,
      unitsOfDie: spread.unitsOfDie,
      unitsOfChip: spread.unitsOfChip,
      mallHits: byLine(regions, offsets, (base) => mall.get(base) ?? 0),
      l2Held: byLine(regions, offsets, (base) => l2.get(base) ?? NOT_HELD),
      translations,
      fresh: recorded.fresh,
      isForeign: (line) => foreign?.has(line) === true,
      ...sharing(chip, traces, code, plan.units),
    };
    const job = {
      isWarm,
      chip,
      code,
      groups: traces,
      resident: spread.resident,
      share,
      arrival: (n: number) => (plan.groups[n] as number) * spread.interval,
    };
    const keepsWaves = this.keepsWaves || code.list.some((c) => c.readsClock);
    const replay = new Machine({ ...job, keepsWaves }).run();
    const last = lastRound(spread, plan, traces);
    return {
      recorded,
      replay,
      last: last > 0 ? new Machine({ ...job, isWarm: true, groups: traces.slice(0, last) }).run() : undefined,
      mallHits: partOf(mall, regions),
    };
  }

  /**
   * What the wavefronts of a launch read from clocks; undefined when they read none. The clock stands still between launches but for the gap
   * between two kernels of a stream.
   */
  readings({ recorded, replay, last }: ReplayedLaunch): ClockReadings | undefined {
    const { launch, code, spread, plan, traces } = recorded;
    if (replay.log === undefined || !code.list.some((c) => c.readsClock)) return undefined;
    const dies = this.chip.get('xccs');
    const progress: WaveProgress[][] = traces.map(() => []);
    for (const wave of replay.log.waves) (progress[wave.group] as WaveProgress[])[wave.index] = progressOf(wave, code);
    const samples = progress.map((own, at) => ({
      number: (plan.groups[at] as number) * dies,
      start: replay.starts[at] as number,
      waves: own,
    }));
    const waves = traces.flatMap((t) => t.waves);
    const length = waves.reduce((sum, w) => sum + w.path.length, 0) / Math.max(1, waves.length);
    const { cycles } = extrapolate(launch, spread, plan, traces, replay, last, length);
    samples.sort((a, b) => a.number - b.number);
    return { clockMhz: this.chip.get('clockMhz'), base: Math.round(this.elapsed), grid: launch.grid, cycles, samples };
  }

  /**
   * The time of a replayed launch, whose waves executed `instructions` on average, and of which one waited for `waited` cycles by reading the
   * cycle counter.
   */
  time({ recorded, replay, last, mallHits }: ReplayedLaunch, instructions: number, waited = 0): LaunchTime {
    const { launch, code, spread, plan, traces, failure } = recorded;
    const { chip } = this;
    const moving = extrapolate(launch, spread, plan, traces, replay, last, instructions);
    const estimate = { ...moving, cycles: moving.cycles + waited };
    this.elapsed += estimate.cycles + chip.get('launch.gapUs') * chip.get('clockMhz');
    return {
      kernel: launch.kernelName,
      chip,
      nanoseconds: (estimate.cycles * 1000) / chip.get('clockMhz'),
      cycles: estimate.cycles,
      estimate,
      launch,
      scale: scaleOf(launch, traces, replay, instructions),
      plan,
      failure,
      replay,
      code,
      spread,
      mallHits,
      dirtyBytes: dirtyBytes(chip, replay.memory.traffic, launch.workgroups / Math.max(1, traces.length)),
    };
  }
}

/** Changed bytes that are still in L2 when a launch ends that is `times` as large as what was replayed. */
function dirtyBytes(chip: Chip, { writes }: Traffic, times: number): number {
  const most = chip.get('l2.dirtyPart') * chip.get('l2.bytes') * chip.get('xccs');
  return Math.min(most, writes * times * 2 ** LINE_UNIT_BITS);
}

/** How often the replayed waves' work is in the launch: by waves when all of them are whole, else by instructions. */
function scaleOf(launch: Launch, traces: readonly GroupTrace[], replay: Replay, instructions: number): number {
  const waves = traces.flatMap((t) => t.waves);
  const all = launch.workgroups * launch.wavesPerGroup;
  const isWhole = waves.every((w) => w.isWhole);
  return Math.max(1, isWhole ? all / Math.max(1, waves.length) : (instructions * all) / Math.max(1, replay.issued));
}

/** The lines of vector and scalar memory that recorded waves touch. */
function* linesOf(traces: readonly GroupTrace[], code: Pick<KernelCode, 'list'>, stores?: boolean): Generator<number> {
  for (const { waves } of traces) {
    for (const { path, accesses } of waves) {
      let at = 0;
      for (let n = 0; n < path.length; n++) {
        const instruction = code.list[path.data[n] as number];
        if (instruction === undefined) continue;
        if (instruction.unit === 'lds') at++;
        else if (instruction.plan !== undefined) {
          const count = accesses.data[at] as number;
          const isWanted = stores === undefined || stores === instruction.stores;
          for (let i = 1; i <= count && isWanted; i++) yield accesses.data[at + i] as number;
          at += 1 + count;
        }
      }
    }
  }
}

/** Which lines several compute units touch. */
function sharing(
  chip: Chip,
  traces: readonly GroupTrace[],
  code: Pick<KernelCode, 'list'>,
  units: number,
): Pick<MemoryShare, 'isShared' | 'sharedPart'> {
  const owner = new Map<number, number>();
  const shift = Math.log2(chip.get('l2.line')) - LINE_UNIT_BITS;
  let shared = 0;
  traces.forEach((trace, n) => {
    const unit = n % units;
    for (const unitLine of linesOf([trace], code)) {
      const line = unitLine >>> shift;
      const known = owner.get(line);
      if (known === undefined) owner.set(line, unit);
      else if (known !== unit && known >= 0) {
        owner.set(line, -1);
        shared++;
      }
    }
  });
  return {
    isShared: (line) => owner.get(line) === -1,
    sharedPart: owner.size === 0 ? 0 : shared / owner.size,
  };
}

/** Points of a wave's progress beside those at which it reads clocks. */
const STEPS = 16;

/** How far a replayed wave had come when it read clocks, and at even steps between. */
function progressOf({ instructions, times, begin, end }: ReplayedWave, code: Pick<KernelCode, 'list'>): WaveProgress {
  const { length } = instructions;
  const step = Math.max(1, Math.floor(length / STEPS));
  const points: [number, number][] = length === 0 ? [[0, begin]] : [];
  for (let n = 0; n < length; n++) {
    const isRead = code.list[instructions.data[n] as number]?.readsClock === true;
    if (isRead || n % step === 0) points.push([n, times.data[3 * n + 1] as number]);
  }
  points.push([Math.max(1, length), end]);
  return { instructions: points.map(([n]) => n), cycles: points.map(([, time]) => time) };
}
