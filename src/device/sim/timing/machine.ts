// Replays recorded workgroups on some compute units of one die: waves in their slots, one instruction of a wave at a time, units that are
// taken for as long as their instructions need, counters that waves wait on, barriers, instruction fetch.
import { Cache } from './cache.ts';
import type { Chip } from './chip.ts';
import { EventQueue } from './event-queue.ts';
import type { CodeInstruction, KernelCode } from './kernel-code.ts';
import { type MemoryShare, MemorySystem } from './memory-system.ts';
import type { GroupTrace, WaveTrace } from './record.ts';
import { WaveLog } from './wave-log.ts';

/** Why a wave did not issue. */
export const STALL_REASONS = ['vmcnt', 'lgkmcnt', 'dependency', 'unit', 'fetch', 'barrier'] as const;
export type StallReason = (typeof STALL_REASONS)[number];

/** What the waves did at one instruction. Cycles are summed over the simulated waves. */
export interface InstructionTime {
  hits: number;
  issue: number;
  readonly stalls: Record<StallReason, number>;
}

/** The outcome of a replay. */
export interface Replay {
  /** Cycle at which each workgroup started and ended, in order of their numbers in the job. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Cycles of memory and of the memory-side cache (its busier way) that each workgroup's accesses take. */
  readonly memoryCycles: Float64Array;
  readonly mallCycles: Float64Array;
  /** Cycle at which each part (of PROGRESS_STEPS) of all instructions had been issued. */
  readonly progress: Float64Array;
  /** Cycle at which the first wave came to the end of a path that was cut; infinite when none was. */
  readonly firstCut: number;
  readonly instructions: readonly InstructionTime[];
  readonly memory: MemorySystem;
  /** Cycles that the busiest SIMD's vector unit and matrix unit, and the busiest LDS port, were taken. */
  readonly valuBusy: number;
  readonly matrixBusy: number;
  readonly ldsBusy: number;
  readonly salu: number;
  readonly issued: number;
  /** Over all replayed waves: see `ReplaySums`. */
  readonly sums: ReplaySums;
  /** The waves one by one, when they were asked for. */
  readonly log: WaveLog | undefined;
}

/** Cycles and requests, summed over all replayed waves. */
export interface ReplaySums {
  /** From a wave's start to its end. */
  waveCycles: number;
  valuCycles: number;
  matrixCycles: number;
  scalarCycles: number;
  /** Of vector memory instructions: those of buffers, and those of flat addresses. */
  bufferCycles: number;
  flatCycles: number;
  /** LDS ports taken, and the part of it that bank conflicts add. */
  ldsIssueCycles: number;
  ldsCycles: number;
  ldsConflictCycles: number;
  /** Vector memory instructions, and the cycles from their issue to their data or acknowledgement. */
  vectorMemory: number;
  vectorMemoryLatency: number;
  fetches: number;
  fetchMisses: number;
}

/** What is replayed. */
export interface ReplayJob {
  readonly chip: Chip;
  readonly code: Pick<KernelCode, 'list'>;
  readonly groups: readonly GroupTrace[];
  /** Workgroups that a compute unit holds at once. */
  readonly resident: number;
  readonly share: MemoryShare;
  /** The code is in the instruction caches. */
  readonly isWarm: boolean;
  /** When the dispatcher has a workgroup ready, in order of their numbers in the job. */
  readonly arrival: (group: number) => number;
  /** Every instruction of every wave is kept. */
  readonly keepsWaves?: boolean;
}

/** Parts into which the progress of a replay is divided. */
export const PROGRESS_STEPS = 64;

/** How much less a fetch of the next line in order costs. No measurement. */
const PREFETCHED = 8;
/** Bytes of a fetch. ROCm, HIP hardware implementation: 32 bytes, one wave a cycle. */
const FETCHED = 32;
/** Ways of the instruction cache. AMD CDNA 3 white paper: 64 KB, 8-way, shared by two compute units. */
const CODE_WAYS = 8;

/** Unit numbers within a SIMD; LDS and matrix units have their own places. */
const UNITS = { valu: 0, salu: 1, branch: 2, vmem: 3, smem: 1, matrix: 4 } as const;
const UNITS_OF_SIMD = 5;

interface RunningGroup {
  readonly index: number;
  readonly unit: number;
  waves: number;
  atBarrier: number[];
}

class RunningWave {
  readonly id: number;
  readonly trace: WaveTrace;
  readonly group: RunningGroup;
  readonly simd: number;
  readonly unit: number;
  /** Next instruction, next word of its accesses. */
  at = 0;
  access = 0;
  /** Since when it could go on. */
  ready = 0;
  started = 0;
  /** When it came to the barrier that it is at. */
  arrived = 0;
  fetched = -1;
  /** When it came to the line that it has fetched. */
  entered = 0;
  /** After a taken branch: where the bytes end that have come with its target, and when the next ones are there. */
  windowEnd = Number.POSITIVE_INFINITY;
  windowReady = 0;
  /** Completion times in order of issue, each at least the one before. */
  readonly vm: number[] = [];
  readonly lgkm: number[] = [];
  /** When registers have their values, where that is later than the next instruction. */
  registers: Float64Array | undefined;
  lastRegister = 0;

  constructor(id: number, trace: WaveTrace, group: RunningGroup, unit: number, simd: number) {
    this.id = id;
    this.trace = trace;
    this.group = group;
    this.unit = unit;
    this.simd = simd;
  }
}

export class Machine {
  private readonly job: ReplayJob;
  private readonly memory: MemorySystem;
  private readonly queue = new EventQueue();
  private readonly waves: RunningWave[] = [];
  private readonly code: readonly CodeInstruction[];
  private readonly times: InstructionTime[];
  /** When units are free: by compute unit, SIMD and kind. */
  private readonly units: Float64Array;
  private readonly ldsPorts: Float64Array;
  private readonly valuBusy: Float64Array;
  private readonly matrixBusy: Float64Array;
  private readonly ldsBusy: Float64Array;
  private readonly codeCaches: Cache[];
  private readonly fetched: Set<number>[];
  private readonly simds: number;
  private readonly starts: Float64Array;
  private readonly ends: Float64Array;
  private readonly memoryCycles: Float64Array;
  private readonly mallCycles: Float64Array;
  private readonly progress = new Float64Array(PROGRESS_STEPS + 1);
  private firstCut = Number.POSITIVE_INFINITY;
  private readonly total: number;
  private nextStep = 1;
  private nextMark: number;
  private nextGroup = 0;
  private issued = 0;
  private readonly log: WaveLog | undefined;
  private readonly sums: ReplaySums = {
    waveCycles: 0,
    valuCycles: 0,
    matrixCycles: 0,
    scalarCycles: 0,
    bufferCycles: 0,
    flatCycles: 0,
    ldsIssueCycles: 0,
    ldsCycles: 0,
    ldsConflictCycles: 0,
    vectorMemory: 0,
    vectorMemoryLatency: 0,
    fetches: 0,
    fetchMisses: 0,
  };
  private readonly slots: number[];
  private readonly nextSimd: number[];
  private readonly c: {
    readonly interval: number;
    readonly taken: number;
    readonly notTaken: number;
    readonly waveStart: number;
    readonly fetchMiss: number;
    readonly nextFetch: number;
    readonly refetch: number;
    readonly fetchShift: number;
    readonly ldsLatency: number;
    readonly ldsPass: number;
    readonly ldsRate: number;
  };

  constructor(job: ReplayJob) {
    const { chip, code, groups, share } = job;
    this.job = job;
    this.code = code.list;
    this.memory = new MemorySystem(chip, share);
    this.simds = chip.get('simdsPerCu');
    this.log = job.keepsWaves === true ? new WaveLog(this.simds) : undefined;
    this.units = new Float64Array(share.units * this.simds * UNITS_OF_SIMD);
    this.ldsPorts = new Float64Array(share.units * Math.ceil(this.simds / 2));
    this.valuBusy = new Float64Array(share.units * this.simds);
    this.matrixBusy = new Float64Array(share.units * this.simds);
    this.ldsBusy = new Float64Array(share.units);
    const codeLines = chip.get('l1i.bytes') / chip.get('l1i.line');
    this.codeCaches = Array.from({ length: Math.ceil(share.units / 2) }, () => new Cache(codeLines, CODE_WAYS));
    this.fetched = Array.from({ length: Math.ceil(share.units / 2) }, () => new Set());
    this.starts = new Float64Array(groups.length);
    this.ends = new Float64Array(groups.length);
    this.memoryCycles = new Float64Array(groups.length);
    this.mallCycles = new Float64Array(groups.length);
    this.total = groups.reduce((sum, g) => sum + g.waves.reduce((n, w) => n + w.path.length, 0), 0);
    this.nextMark = this.total / PROGRESS_STEPS;
    this.slots = new Array<number>(share.units).fill(job.resident);
    this.nextSimd = new Array<number>(share.units).fill(0);
    this.times = this.code.map(() => ({
      hits: 0,
      issue: 0,
      stalls: { vmcnt: 0, lgkmcnt: 0, dependency: 0, unit: 0, fetch: 0, barrier: 0 },
    }));
    this.c = {
      interval: chip.get('issue.interval'),
      taken: chip.get('issue.branchTaken'),
      notTaken: chip.latencyClass('branch').latency,
      waveStart: chip.get('issue.waveStart'),
      fetchMiss: chip.get('l1i.miss'),
      nextFetch: chip.get('issue.nextFetch'),
      refetch: chip.get('l2.latency'),
      fetchShift: Math.log2(chip.get('l1i.line')),
      ldsLatency: chip.get('lds.latency'),
      ldsPass: chip.get('lds.extraPass'),
      ldsRate: 256 / chip.get('lds.rate'),
    };
  }

  run(): Replay {
    const { queue, waves, job } = this;
    // The first workgroups go round the compute units.
    for (let round = 0; round < job.resident; round++) {
      for (let unit = 0; unit < job.share.units; unit++) this.startGroup(unit, 0);
    }
    while (!queue.isEmpty) {
      const { time } = queue;
      this.step(waves[queue.pop()] as RunningWave, time);
    }
    return {
      starts: this.starts,
      ends: this.ends,
      memoryCycles: this.memoryCycles,
      mallCycles: this.mallCycles,
      progress: this.progress,
      firstCut: this.firstCut,
      instructions: this.times,
      memory: this.memory,
      valuBusy: Math.max(...this.valuBusy),
      matrixBusy: Math.max(...this.matrixBusy),
      ldsBusy: Math.max(...this.ldsBusy),
      salu: this.sums.scalarCycles,
      issued: this.issued,
      sums: this.sums,
      log: this.log,
    };
  }

  private startGroup(unit: number, now: number): void {
    const { job, nextGroup: index } = this;
    const trace = job.groups[index];
    if (trace === undefined || (this.slots[unit] as number) <= 0) return;
    this.nextGroup++;
    this.slots[unit] = (this.slots[unit] as number) - 1;
    const start = Math.max(now, job.arrival(index));
    this.starts[index] = start;
    const group: RunningGroup = { index, unit, waves: trace.waves.length, atBarrier: [] };
    trace.waves.forEach((wave, n) => {
      const simd = this.nextSimd[unit] as number;
      this.nextSimd[unit] = (simd + 1) % this.simds;
      const ready = start + this.c.waveStart;
      const id = this.waves.length;
      const w = new RunningWave(id, wave, group, unit, unit * this.simds + simd);
      w.ready = ready;
      w.started = start;
      this.waves.push(w);
      this.log?.start({ group: index, index: n, unit, simd }, start);
      this.queue.push(ready, id);
    });
  }

  /** The wave's slot is free; the workgroup's too with its last wave. */
  private endWave(w: RunningWave, time: number): void {
    const { group } = w;
    group.waves--;
    this.sums.waveCycles += time - w.started;
    this.log?.end(w.id, time);
    if (!w.trace.isWhole && time < this.firstCut) this.firstCut = time;
    // Stores that nobody waits for still keep the workgroup's end in memory, not its slot.
    const last = Math.max(time, w.vm.at(-1) ?? 0, w.lgkm.at(-1) ?? 0);
    if (last > (this.ends[group.index] as number)) this.ends[group.index] = last;
    this.releaseBarrier(group, time);
    if (group.waves > 0) return;
    this.slots[group.unit] = (this.slots[group.unit] as number) + 1;
    this.startGroup(group.unit, time);
  }

  private releaseBarrier(group: RunningGroup, time: number): void {
    if (group.waves === 0 || group.atBarrier.length < group.waves) return;
    for (const id of group.atBarrier) {
      const w = this.waves[id] as RunningWave;
      const number = w.trace.path.data[w.at - 1] as number;
      (this.times[number] as InstructionTime).stalls.barrier += time - w.arrived;
      w.ready = time + this.c.interval;
      this.log?.release(id, time, w.ready);
      this.queue.push(w.ready, id);
    }
    group.atBarrier = [];
  }

  private wait(time: number, until: number, reason: StallReason, t: InstructionTime, id: number): void {
    t.stalls[reason] += until - time;
    this.queue.push(until, id);
  }

  private step(w: RunningWave, time: number): void {
    const { trace } = w;
    const { c } = this;
    const { id } = w;
    if (w.at >= trace.path.length) {
      this.endWave(w, time);
      return;
    }
    const number = trace.path.data[w.at] as number;
    const code = this.code[number] as CodeInstruction;
    const t = this.times[number] as InstructionTime;
    const line = code.offset >>> c.fetchShift;
    if (line !== w.fetched) {
      const asked = line === w.fetched + 1 ? w.entered : time;
      w.fetched = line;
      w.entered = time;
      const until = this.fetch(w.unit >>> 1, line, asked, time);
      if (until > time) {
        w.ready = until;
        this.wait(time, until, 'fetch', t, id);
        return;
      }
    }
    if (code.offset + code.size > w.windowEnd) {
      w.windowEnd = Number.POSITIVE_INFINITY;
      if (w.windowReady > time) {
        this.wait(time, w.windowReady, 'fetch', t, id);
        return;
      }
    }
    if (w.lastRegister > time) {
      const until = this.registersReady(w, code, time);
      if (until > time) {
        this.wait(time, until, 'dependency', t, id);
        return;
      }
    }
    if (code.isWait && this.waitCounters(w, code, time, t)) return;
    const place = this.placeOf(w, code);
    if (place >= 0 && (this.units[place] as number) > time) {
      this.wait(time, this.units[place] as number, 'unit', t, id);
      return;
    }
    t.hits++;
    this.issued++;
    w.at++;
    const { ready } = w;
    while (this.issued >= this.nextMark && this.nextStep <= PROGRESS_STEPS) {
      this.progress[this.nextStep++] = time;
      this.nextMark = (this.total * this.nextStep) / PROGRESS_STEPS;
    }
    this.log?.issue(id, number, ready, time, time);
    const next = this.issue(w, code, time, place, id);
    t.issue += next - time;
    if (code.isBarrier) return;
    w.ready = next;
    this.log?.release(id, time, next);
  }

  /**
   * When a line of code that a wave comes to is there: at once when the cache of the two compute units has it. The line behind the last one
   * was `asked` for when the wave came to that one.
   */
  private fetch(cache: number, line: number, asked: number, time: number): number {
    const { c, sums } = this;
    const lines = this.codeCaches[cache] as Cache;
    sums.fetches++;
    if (lines.find(line, true)) return Math.max(time, lines.ready);
    lines.insert(line);
    const known = this.fetched[cache] as Set<number>;
    const wasThere = known.has(line);
    known.add(line);
    // A line that this replay has not seen yet is in the cache when the kernel ran before.
    if (!wasThere && this.job.isWarm) return time;
    sums.fetchMisses++;
    const cycles = wasThere ? c.refetch : c.fetchMiss;
    const until = Math.max(time, Math.min(asked + cycles, asked < time ? time + cycles / PREFETCHED : time + cycles));
    lines.fill(0, until);
    return until;
  }

  private registersReady(w: RunningWave, code: CodeInstruction, time: number): number {
    const { registers } = w;
    let until = time;
    if (registers === undefined) return until;
    for (let n = 0; n < code.uses.length; n++) {
      const ready = registers[code.uses[n] as number] as number;
      if (ready > until) until = ready;
    }
    for (let n = 0; n < code.defs.length; n++) {
      const ready = registers[code.defs[n] as number] as number;
      if (ready > until) until = ready;
    }
    return until;
  }

  private waitCounters(w: RunningWave, code: CodeInstruction, time: number, t: InstructionTime): boolean {
    const vm = code.waitVm < 63 ? (w.vm[w.vm.length - 1 - code.waitVm] ?? 0) : 0;
    const lgkm = code.waitLgkm < 15 ? (w.lgkm[w.lgkm.length - 1 - code.waitLgkm] ?? 0) : 0;
    const until = Math.max(vm, lgkm);
    if (until <= time) return false;
    this.wait(time, until, vm >= lgkm ? 'vmcnt' : 'lgkmcnt', t, w.id);
    return true;
  }

  private placeOf(w: RunningWave, code: CodeInstruction): number {
    if (code.unit === 'internal') return -1;
    const unit = code.unit === 'lds' ? 'vmem' : code.unit;
    return w.simd * UNITS_OF_SIMD + UNITS[unit];
  }

  /** Issues an instruction; gives when the wave can issue its next one. */
  private issue(w: RunningWave, code: CodeInstruction, time: number, place: number, id: number): number {
    const { c, units } = this;
    let next = time + c.interval;
    switch (code.unit) {
      case 'valu':
        units[place] = time + code.issue;
        this.valuBusy[w.simd] = (this.valuBusy[w.simd] as number) + code.issue;
        this.sums.valuCycles += code.issue;
        if (code.latency > c.interval) this.define(w, code, time + code.latency);
        break;
      case 'matrix':
        units[place] = time + code.issue;
        this.matrixBusy[w.simd] = (this.matrixBusy[w.simd] as number) + code.issue;
        this.sums.matrixCycles += code.issue;
        this.define(w, code, time + code.latency);
        break;
      case 'salu':
        units[place] = time + code.issue;
        this.sums.scalarCycles += code.issue;
        if (code.latency > c.interval) this.define(w, code, time + code.latency);
        break;
      case 'branch':
        units[place] = time + code.issue;
        next = time + c.notTaken;
        if (this.isTaken(w, code)) {
          next = time + c.taken;
          w.windowEnd = (this.code[w.trace.path.data[w.at] as number] as CodeInstruction).offset + FETCHED;
          w.windowReady = next + c.nextFetch;
        }
        break;
      case 'internal':
        if (code.isBarrier) {
          w.arrived = time;
          w.group.atBarrier.push(id);
          this.releaseBarrier(w.group, time);
          return next;
        }
        next = time + code.idle;
        break;
      default:
        units[place] = time + c.interval;
        this.memoryAccess(w, code, time);
    }
    this.queue.push(next, id);
    return next;
  }

  private isTaken(w: RunningWave, code: CodeInstruction): boolean {
    const after = w.trace.path.data[w.at];
    if (w.at >= w.trace.path.length || after === undefined) return false;
    return (this.code[after] as CodeInstruction).offset !== code.offset + code.size;
  }

  private define(w: RunningWave, code: CodeInstruction, ready: number): void {
    w.registers ??= new Float64Array(768);
    for (let n = 0; n < code.defs.length; n++) w.registers[code.defs[n] as number] = ready;
    if (ready > w.lastRegister) w.lastRegister = ready;
  }

  private memoryAccess(w: RunningWave, code: CodeInstruction, time: number): void {
    const { memory, memoryCycles, mallCycles } = this;
    const { index } = w.group;
    const [hbm, mall] = [memory.hbmCycles, memory.mallCycles];
    this.access(w, code, time);
    memoryCycles[index] = (memoryCycles[index] as number) + memory.hbmCycles - hbm;
    mallCycles[index] = (mallCycles[index] as number) + memory.mallCycles - mall;
  }

  private access(w: RunningWave, code: CodeInstruction, time: number): void {
    const { data } = w.trace.accesses;
    const { memory, c, sums } = this;
    if (code.unit === 'lds') {
      const passes = data[w.access++] as number;
      const port = (w.unit * this.simds + (w.simd % this.simds)) >>> 1;
      const busy = Math.max(passes * c.ldsPass, c.ldsRate * code.dwords);
      const start = Math.max(time, this.ldsPorts[port] as number);
      this.ldsPorts[port] = start + busy;
      this.ldsBusy[w.unit] = (this.ldsBusy[w.unit] as number) + busy;
      sums.ldsIssueCycles += c.interval;
      sums.ldsCycles += busy;
      sums.ldsConflictCycles += busy - c.ldsRate * code.dwords;
      complete(w.lgkm, start + c.ldsLatency + Math.max(0, busy - c.ldsRate));
      return;
    }
    const count = code.plan === undefined ? 0 : (data[w.access++] as number);
    const first = w.access;
    w.access += count;
    if (code.plan === undefined) {
      // s_memtime, cache control: as long as a scalar load that hits.
      complete(code.countsVm ? w.vm : w.lgkm, memory.scalarLoad(w.unit, time, data, 0, 0));
      return;
    }
    if (code.unit === 'smem') {
      const done = code.stores
        ? memory.scalarStore(time, data, first, count)
        : memory.scalarLoad(w.unit, time, data, first, count);
      complete(w.lgkm, done);
      return;
    }
    const done = code.isAtomic
      ? memory.atomic(w.unit, time, code.returns, data, first, count)
      : code.stores
        ? memory.store(w.unit, time, code.dwords, data, first, count)
        : memory.load(w.unit, time, code.dwords, data, first, count);
    sums.vectorMemory++;
    sums.vectorMemoryLatency += done - time;
    if (code.isFlat) sums.flatCycles += c.interval;
    else sums.bufferCycles += c.interval;
    complete(w.vm, done);
  }
}

/** Results come back in the order of issue. */
function complete(list: number[], time: number): void {
  const last = list.at(-1) ?? 0;
  list.push(Math.max(time, last));
}
