// What a profile wants to know of the programs of a device: every dispatch with its exact counts, in order of completion, and what it
// waited for. Counting is compiled into the kernels; it needs them to run in one thread.
import { descriptorRegisters } from '../codeobject/index.ts';
import type { Monitor } from '../device/sim/dispatch/monitor.ts';
import type { SimKernel } from '../device/sim/module.ts';
import type { SimDispatchResult } from '../device/sim/options.ts';
import type { Chip } from '../device/sim/timing/chip.ts';
import { modelledCounters } from '../device/sim/timing/counters.ts';
import type { LaunchTime } from '../device/sim/timing/model.ts';
import {
  type TimedInstruction,
  type TimingReport,
  type TracedWave,
  timedInstructions,
  timingReport,
  tracedWaves,
} from '../device/sim/timing/report.ts';
import {
  type CounterValue,
  deriveCounters,
  deriveFlops,
  deriveTraffic,
  KeptCounter,
  type LdsBankCount,
  type Traffic,
} from '../device/sim/tools/index.ts';
import { printInstruction } from '../isa/index.ts';
import type { PacketTimes } from './packet-times.ts';
import type { BarrierPacket, CopyPacket, DispatchPacket } from './runtime-device.ts';

/** One instruction of a kernel's code with its executions over all dispatches of the kernel. */
export interface ProfiledLine {
  /** Virtual address in the code object. */
  readonly address: number;
  readonly text: string;
  readonly source: string;
  hits: number;
  lanes: number;
}

/** A kernel of a code object that was loaded. */
export interface ProfiledKernel {
  readonly name: string;
  readonly lines: Map<number, ProfiledLine>;
  /** The replay of its longest dispatch, when there is a clock. */
  replay: KernelReplay | undefined;
}

/** What the clock knows of the instructions of a kernel. */
export interface KernelReplay {
  readonly nanoseconds: number;
  readonly instructions: readonly TimedInstruction[];
  readonly waves: readonly TracedWave[];
}

/** One dispatch that ran to its end. */
export interface ProfiledDispatch {
  readonly kernel: ProfiledKernel;
  /** Number of its queue, in order of first use. */
  readonly queue: number;
  /** It began when all work before it in its queue was complete. */
  readonly barrier: boolean;
  /** Dispatches (by index) of other queues that it waited for through signals. */
  readonly dependencies: readonly number[];
  readonly workgroup: readonly [number, number, number];
  /** Work-items. */
  readonly grid: readonly [number, number, number];
  readonly lds: number;
  readonly scratch: number;
  readonly vgprs: number;
  readonly agprs: number;
  readonly sgprs: number;
  readonly instructions: number;
  readonly wavefronts: number;
  readonly counters: Readonly<Record<string, CounterValue>>;
  /** Floating-point operations of the lanes, by F16, F32, F64; matrix products left out. */
  readonly flops: Readonly<Record<string, CounterValue>>;
  readonly bytes: Readonly<Record<string, Traffic>>;
  readonly formattedAccesses: number;
  readonly ldsBanks: LdsBankCount | undefined;
  /** Executions of VALU instructions other than matrix products, and their active lanes. */
  readonly valu: number;
  readonly valuLanes: number;
  /** Milliseconds of the host's clock. They say how long the simulator took, nothing about a GPU. */
  readonly hostStart: number;
  readonly hostEnd: number;
  /** What the clock says of it, when there is one. */
  readonly modelled: ModelledDispatch | undefined;
}

/** A dispatch's modelled time. */
export interface ModelledDispatch {
  readonly report: TimingReport;
  /** Counters by their names, estimated (`modelledCounters`). */
  readonly counters: Readonly<Record<string, number>>;
  /** Nanoseconds on the modelled clock. */
  readonly startNs: number;
  readonly endNs: number;
}

/** A copy or fill with its modelled time. */
export interface ProfiledCopy {
  readonly kind: CopyPacket['kind'];
  readonly bytes: number;
  readonly startNs: number;
  readonly endNs: number;
}

const NS_PER_TICK = 10;

/** What a profile says of a modelled chip. */
export function profiledChip(chip: Chip): { readonly name: string; readonly clockMhz: number; readonly xccs: number } {
  return { name: chip.name, clockMhz: chip.get('clockMhz'), xccs: chip.get('xccs') };
}

/** A dispatch that ended, and when it ran by the modelled clock. */
export interface ProfiledRun {
  readonly result: SimDispatchResult;
  readonly times: PacketTimes | undefined;
}

function modelledDispatch(time: LaunchTime, startNs: number): ModelledDispatch {
  const endNs = startNs + Math.max(1, Math.round(time.nanoseconds));
  return { report: timingReport(time), counters: modelledCounters(time), startNs, endNs };
}

function keepLongest(kernel: ProfiledKernel, time: LaunchTime | undefined): void {
  if (time === undefined || time.nanoseconds <= (kernel.replay?.nanoseconds ?? -1)) return;
  const { nanoseconds } = time;
  kernel.replay = { nanoseconds, instructions: timedInstructions(time), waves: tracedWaves(time) };
}

/** What a queue or a signal carries along: the dispatches that must have completed. */
type Waits = ReadonlySet<number>;
const NOTHING: Waits = new Set();

/** Records the dispatches of a device. */
export class RuntimeProfiler {
  readonly dispatches: ProfiledDispatch[] = [];
  /** Copies and fills, when there is a clock. */
  readonly copies: ProfiledCopy[] = [];
  /** Kernels that failed, with why: what they executed is not in `dispatches`. */
  readonly failures: { readonly kernel: string; readonly reason: string }[] = [];
  private origin: bigint | undefined;
  private readonly kernels = new WeakMap<SimKernel, ProfiledKernel>();
  private readonly queues = new Map<number, { readonly number: number; waits: Waits }>();
  private readonly signals = new Map<number, Waits>();

  /** Runs a dispatch under the counters. */
  async record(
    kernel: SimKernel,
    packet: DispatchPacket,
    run: (monitors: readonly Monitor[]) => Promise<ProfiledRun>,
  ): Promise<PacketTimes | undefined> {
    const { module } = kernel;
    const counter = new KeptCounter();
    const hostStart = performance.now();
    let ended: ProfiledRun;
    try {
      ended = await run([counter]);
    } catch (error) {
      this.failures.push({ kernel: kernel.name, reason: error instanceof Error ? error.message : String(error) });
      throw error;
    }
    const hostEnd = performance.now();
    const { result, times } = ended;
    const counts = counter.counts();
    const { spaces, formatted } = deriveTraffic(counts);
    const registers = descriptorRegisters(kernel.descriptor);
    const queue = this.queueOf(packet.queue);
    const index = this.dispatches.length;
    const profiled = this.kernelOf(kernel);
    let valu = 0;
    let valuLanes = 0;
    for (const { pc, instruction, hits, lanes } of counts.instructions) {
      const { flags } = instruction.row;
      if (flags.has('VALU') && !flags.has('MAI')) {
        valu += hits;
        valuLanes += lanes;
      }
      const line = profiled.lines.get(pc);
      if (line !== undefined) {
        line.hits += hits;
        line.lanes += lanes;
        continue;
      }
      const at = module.lines?.at(pc);
      const source = at === undefined ? '' : `${at.file}:${at.line}`;
      const text = printInstruction(module.target, instruction).trim();
      profiled.lines.set(pc, { address: pc, text, source, hits, lanes });
    }
    this.dispatches.push({
      kernel: profiled,
      queue: queue.number,
      barrier: packet.barrier,
      dependencies: [...queue.waits].filter((n) => this.dispatches[n]?.queue !== queue.number),
      workgroup: packet.workgroupSize,
      grid: packet.gridSize,
      lds: Math.max(packet.groupSegmentSize, kernel.ldsSize),
      scratch: kernel.scratchSize,
      vgprs: registers.vgprs,
      agprs: registers.agprs,
      sgprs: registers.sgprs,
      instructions: result.instructions,
      wavefronts: result.wavefronts,
      counters: deriveCounters(counts, module.target),
      flops: deriveFlops(counts),
      bytes: spaces as Readonly<Record<string, Traffic>>,
      formattedAccesses: formatted,
      ldsBanks: counter.ldsBanks(),
      valu,
      valuLanes,
      hostStart,
      hostEnd,
      modelled: result.timing && modelledDispatch(result.timing, this.since(times?.start)),
    });
    keepLongest(profiled, result.timing);
    queue.waits = new Set([index]);
    if (packet.completion !== 0) this.signals.set(packet.completion, queue.waits);
    return times;
  }

  /** A copy or fill has taken modelled time. */
  copied({ kind, bytes }: CopyPacket, times: PacketTimes | undefined): void {
    if (times === undefined) return;
    this.copies.push({ kind, bytes, startNs: this.since(times.start), endNs: this.since(times.end) });
  }

  /** Nanoseconds from a little before the first work of the program. */
  private since(ticks = 0n): number {
    this.origin ??= ticks - 1n;
    return Number(ticks - this.origin) * NS_PER_TICK;
  }

  /** A barrier packet completed: what comes after it in its queue has waited for its signals too. */
  barrier(packet: BarrierPacket): void {
    const queue = this.queueOf(packet.queue);
    const waits = new Set(queue.waits);
    for (const signal of packet.dependencies) for (const n of this.signals.get(signal) ?? NOTHING) waits.add(n);
    queue.waits = waits;
    if (packet.completion !== 0) this.signals.set(packet.completion, waits);
  }

  private queueOf(address: number): { readonly number: number; waits: Waits } {
    let queue = this.queues.get(address);
    if (queue === undefined) {
      queue = { number: this.queues.size + 1, waits: NOTHING };
      this.queues.set(address, queue);
    }
    return queue;
  }

  private kernelOf(kernel: SimKernel): ProfiledKernel {
    let profiled = this.kernels.get(kernel);
    if (profiled === undefined) {
      profiled = { name: kernel.name, lines: new Map(), replay: undefined };
      this.kernels.set(kernel, profiled);
    }
    return profiled;
  }
}
