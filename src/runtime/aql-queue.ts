// One user-mode queue: reads AQL packets from shared memory in order and runs them to completion, one after the other.
// Source: HSA Runtime Specification 1.2, section 2.8 "User mode queuing" and 2.9 "Architected Queuing Language packets";
// AMD vendor packets: hsa_ext_amd.h (hsa_amd_barrier_value_packet_t).
import { WavesmithError } from '../base/index.ts';
import { SIGNAL } from './generated/messages.ts';
import type { PacketTimes } from './packet-times.ts';
import type { BarrierPacket, CopyPacket, DispatchPacket } from './runtime-device.ts';
import { nowTicks, type SharedMemory } from './shared-memory.ts';
import { ORDINAL, type OrderedQueue, ordinalOf, type SubmitOrder } from './submit-order.ts';

const PACKET = 64;
const PacketType = { Vendor: 0, Invalid: 1, KernelDispatch: 2, BarrierAnd: 3, AgentDispatch: 4, BarrierOr: 5 } as const;
const AMD_BARRIER_VALUE = 2;
/** A vendor packet of our own HIP library: a copy or fill it made, for devices with a modelled clock (native/hip/stream.cc). */
const COPY_DONE = 0x77;
const COPY_KINDS = ['host', 'device', 'fill'] as const;
const COMPLETION = 56;
const DEPENDENCIES = 5;
/**
 * Milliseconds that packets of other queues, sent later, wait for one that waits for the host: its library copies meanwhile, and the next
 * packet is to come behind that at every run. A host that waits for a later packet costs them.
 */
const PATIENCE_MS = 200;
/** Bit of a packet's header: it waits for all packets before it in its queue. */
const BARRIER_BIT = 0x100;

export interface QueueRequest {
  readonly ring: number;
  readonly writeIndex: number;
  readonly readIndex: number;
  readonly watched: number;
  readonly packets: number;
}

/** What a queue asks of the device process. */
export interface QueueHost {
  readonly memory: SharedMemory;
  /** Under a modelled clock: whose turn it is. */
  readonly order?: SubmitOrder | undefined;
  /** Runs a kernel when no other queue does; `waits` is called when it waits for what others do. */
  dispatch(packet: DispatchPacket, signal: AbortSignal, waits: () => void): Promise<PacketTimes | undefined>;
  /** A packet that runs nothing has completed. */
  barrier(packet: BarrierPacket): PacketTimes | undefined;
  /** The program's library has copied or filled memory. */
  copied(packet: CopyPacket): PacketTimes | undefined;
  /** Resolves at the next message of a program that changed a signal, or completion of a packet of any queue. */
  signalsChanged(): Promise<void>;
  /** Something else than a packet's end changed that other queues may wait for. */
  changed(): void;
  /** The queue stopped with an error. */
  failed(error: unknown): void;
  completed(): void;
}

export class AqlQueue implements OrderedQueue {
  private readonly host: QueueHost;
  private readonly ring: number;
  private readonly readIndex: number;
  private readonly watched: number;
  private readonly packets: number;
  private readonly abort = new AbortController();
  private running: Promise<void> | undefined;
  /** What the packet waits for: whether it has come, and whether others wait no longer for that. */
  private waiting: { readonly isOver: () => boolean; isLong: boolean } | undefined;

  /** Bad addresses and sizes are `runtime/bad-address`, `runtime/bad-queue`. */
  constructor(host: QueueHost, request: QueueRequest) {
    const { packets } = request;
    if (packets < 1 || packets > 2 ** 20 || (packets & (packets - 1)) !== 0) {
      throw new WavesmithError('runtime/bad-queue', `A queue of ${packets} packets is not a power of two up to 2^20.`);
    }
    this.host = host;
    this.packets = packets;
    this.ring = host.memory.offset(request.ring, packets * PACKET, PACKET, 'queue ring');
    this.readIndex = host.memory.offset(request.readIndex, 8, 8, 'read index');
    host.memory.offset(request.writeIndex, 8, 8, 'write index');
    this.watched = host.memory.offset(request.watched, 4, 4, 'mark of a watched queue');
    host.order?.add(this);
  }

  get head(): bigint | undefined {
    if (this.abort.signal.aborted) return undefined;
    const { memory } = this.host;
    const at = this.nextPacket();
    return (memory.u16(at) & 0xff) === PacketType.Invalid ? undefined : ordinalOf(memory.u64(at + ORDINAL));
  }

  get isHeldUp(): boolean {
    const { waiting } = this;
    return waiting?.isLong === true && !waiting.isOver();
  }

  /** Packets were written. */
  doorbell(): void {
    if (this.running !== undefined || this.abort.signal.aborted) return;
    this.running = this.drain()
      .catch((error: unknown) => {
        if (!this.abort.signal.aborted) this.host.failed(error);
        this.stop();
      })
      .finally(() => {
        this.running = undefined;
      });
  }

  /** From now on the program sends no doorbells: `look()` is called again and again. */
  watch(): void {
    if (!this.abort.signal.aborted) this.host.memory.setU32(this.watched, 1);
  }
  /** Doorbells come again. A packet that was written before the program could know it is run. */
  unwatch(): void {
    // The memory of a queue that was destroyed may be something else's.
    if (this.abort.signal.aborted) return;
    this.host.memory.setU32(this.watched, 0);
    this.look();
  }
  /** Runs packets that were written without a doorbell; whether there were some. */
  look(): boolean {
    if (this.running !== undefined || this.abort.signal.aborted) return false;
    if ((this.host.memory.u16(this.nextPacket()) & 0xff) === PacketType.Invalid) return false;
    this.doorbell();
    return true;
  }

  /** Stops after the running packet; resolves when nothing runs any more. */
  async destroy(): Promise<void> {
    this.stop();
    await this.running;
  }

  /** As `destroy`, when the program has ended: the copies behind, which it has made itself, are told yet. The queue's memory must still be there. */
  async finish(): Promise<void> {
    await this.destroy();
    while (this.isCopyDone(this.nextPacket())) {
      this.host.copied(this.copyAt(this.nextPacket()));
      this.pass();
    }
  }

  private stop(): void {
    this.abort.abort();
    this.host.order?.remove(this);
    this.host.changed();
  }

  /** Waits until everything that the program sent before this packet has run, or waits itself. */
  private async turn(): Promise<void> {
    const { order } = this.host;
    if (order === undefined) return;
    while (!order.isTurn(this)) {
      await this.host.signalsChanged();
      this.checkAborted();
    }
  }

  private checkAborted(): void {
    if (this.abort.signal.aborted) throw new WavesmithError('runtime/aborted', 'The queue was destroyed.');
  }

  private async drain(): Promise<void> {
    const { memory } = this.host;
    while (!this.abort.signal.aborted) {
      const at = this.nextPacket();
      const header = memory.u16(at);
      const type = header & 0xff;
      if (type === PacketType.Invalid) return;
      await this.execute(type, at);
      this.pass();
      this.host.completed();
    }
  }

  /** The packet that is read next is over. */
  private pass(): void {
    const { memory } = this.host;
    memory.setU16(this.nextPacket(), PacketType.Invalid);
    memory.setU64(this.readIndex, memory.u64(this.readIndex) + 1n);
  }

  /** Whether the packet at an offset tells of a copy that the program has made. */
  private isCopyDone(at: number): boolean {
    const { memory } = this.host;
    return (memory.u16(at) & 0xff) === PacketType.Vendor && ((memory.u32(at) >>> 16) & 0xff) === COPY_DONE;
  }

  /** Offset of the packet that is read next. */
  private nextPacket(): number {
    return this.ring + Number(this.host.memory.u64(this.readIndex) & BigInt(this.packets - 1)) * PACKET;
  }

  private async execute(type: number, at: number): Promise<void> {
    const { memory } = this.host;
    const completion = memory.address(at + COMPLETION);
    const signal = completion === 0 ? -1 : memory.offset(completion, SIGNAL.size, 8, 'completion signal');
    const start = nowTicks();
    let times: PacketTimes | undefined;
    await this.turn();
    if (type === PacketType.KernelDispatch) {
      checkSetup(memory.u16(at + 2));
      times = await this.dispatch(at);
    } else if (type === PacketType.BarrierAnd || type === PacketType.BarrierOr) {
      await this.waitForDependencies(at, type === PacketType.BarrierAnd);
      await this.turn();
      times = this.host.barrier(this.barrierAt(at, DEPENDENCIES));
    } else if (type === PacketType.Vendor && ((memory.u32(at) >>> 16) & 0xff) === AMD_BARRIER_VALUE) {
      await this.waitForValue(at);
      await this.turn();
      times = this.host.barrier(this.barrierAt(at, 1));
    } else if (this.isCopyDone(at)) {
      times = this.host.copied(this.copyAt(at));
    } else {
      throw new WavesmithError('runtime/unsupported-packet', `AQL packet type ${type} is not supported.`, {
        hint: 'Kernel dispatch, barrier-AND, barrier-OR and AMD barrier-value packets are.',
      });
    }
    if (signal >= 0) memory.complete(signal, times?.start ?? start, times?.end ?? nowTicks());
  }

  private async dispatch(at: number): Promise<PacketTimes | undefined> {
    try {
      return await this.host.dispatch(this.packetAt(at), this.abort.signal, () => {
        this.waiting = { isOver: () => false, isLong: true };
        this.host.changed();
      });
    } finally {
      this.waiting = undefined;
    }
  }

  private packetAt(at: number): DispatchPacket {
    const { memory } = this.host;
    const low = memory.u32(at + 4);
    return {
      address: memory.addressOf(at),
      workgroupSize: [low & 0xffff, low >>> 16, memory.u32(at + 8) & 0xffff],
      gridSize: [memory.u32(at + 12), memory.u32(at + 16), memory.u32(at + 20)],
      privateSegmentSize: memory.u32(at + 24),
      groupSegmentSize: memory.u32(at + 28),
      kernelObject: memory.address(at + 32),
      kernargAddress: memory.address(at + 40),
      queue: memory.addressOf(this.ring),
      barrier: (memory.u16(at) & BARRIER_BIT) !== 0,
      completion: memory.address(at + COMPLETION),
    };
  }

  private copyAt(at: number): CopyPacket {
    const { memory } = this.host;
    const kind = COPY_KINDS[memory.u32(at + 4)];
    if (kind === undefined)
      throw new WavesmithError('runtime/unsupported-packet', 'A copy packet has an unknown kind.');
    return { kind, to: memory.address(at + 8), from: memory.address(at + 16), bytes: memory.address(at + 24) };
  }

  private barrierAt(at: number, signals: number): BarrierPacket {
    const { memory } = this.host;
    return {
      queue: memory.addressOf(this.ring),
      barrier: (memory.u16(at) & BARRIER_BIT) !== 0,
      completion: memory.address(at + COMPLETION),
      dependencies: Array.from({ length: signals }, (_, n) => memory.address(at + 8 + 8 * n)).filter((a) => a !== 0),
    };
  }

  private async waitForDependencies(at: number, all: boolean): Promise<void> {
    const { memory } = this.host;
    const signals: number[] = [];
    for (let n = 0; n < DEPENDENCIES; n++) {
      const address = memory.address(at + 8 + 8 * n);
      if (address !== 0) signals.push(memory.offset(address, SIGNAL.size, 8, 'dependency signal'));
    }
    if (signals.length === 0) return;
    const reached = (signal: number): boolean => memory.signalValue(signal) === 0n;
    await this.waitUntil(signals, () => (all ? signals.every(reached) : signals.some(reached)));
  }

  private async waitForValue(at: number): Promise<void> {
    const { memory } = this.host;
    const signal = memory.offset(memory.address(at + 8), SIGNAL.size, 8, 'dependency signal');
    const signed = (offset: number): bigint => BigInt.asIntN(64, memory.u64(offset));
    const value = signed(at + 16);
    const mask = signed(at + 24);
    const condition = memory.u32(at + 32);
    const holds = (): boolean => {
      const now = BigInt.asIntN(64, memory.signalValue(signal) & mask);
      if (condition === 0) return now === value;
      if (condition === 1) return now !== value;
      return condition === 2 ? now < value : now >= value;
    };
    await this.waitUntil([signal], holds);
  }

  private async waitUntil(signals: readonly number[], holds: () => boolean): Promise<void> {
    const { memory } = this.host;
    for (const signal of signals) memory.countDeviceWait(signal, 1);
    const waiting = { isOver: holds, isLong: false };
    this.waiting = waiting;
    const lose = (): void => {
      waiting.isLong = true;
      this.host.changed();
    };
    const patience = this.host.order === undefined ? undefined : setTimeout(lose, PATIENCE_MS);
    try {
      while (!holds()) {
        this.checkAborted();
        await this.host.signalsChanged();
      }
    } finally {
      clearTimeout(patience);
      this.waiting = undefined;
      for (const signal of signals) memory.countDeviceWait(signal, -1);
    }
  }
}

/** A dispatch has one to three dimensions, in two bits; the other bits of the word are none. */
function checkSetup(setup: number): void {
  if (setup >= 1 && setup <= 3) return;
  throw new WavesmithError(
    'device/bad-grid',
    `A dispatch packet with the setup 0x${setup.toString(16)} has no dimensions.`,
  );
}
