// Queues that wait for the same signals: none loses the wake-up of a change, whoever stops waiting first.
import { describe, expect, it } from 'vitest';
import type { Addon } from './addon.ts';
import { AqlQueue, type QueueHost } from './aql-queue.ts';
import { SIGNAL } from './generated/messages.ts';
import type { RuntimeDevice } from './runtime-device.ts';
import { SharedMemory } from './shared-memory.ts';
import { ORDINAL, SubmitOrder } from './submit-order.ts';

const WINDOW = 0x2000_0000_0000;
const PACKETS = 8;
const BARRIER_AND = 3;
const BARRIER_OR = 5;
const COPY_DONE = 0x77;
const COMPLETION = 56;

/** A program and a device process over one buffer: as in native/common/client.cc, a change of a signal is announced only where the device waits. */
class World {
  readonly memory: SharedMemory;
  private readonly view: DataView;
  private next = 64;
  private waiting: (() => void)[] = [];
  private readonly order: SubmitOrder | undefined;
  /** Addresses of the completion signals of barriers, as they passed. */
  readonly completed: number[] = [];
  /** Bytes of the copies that were told of. */
  readonly copies: number[] = [];

  /** `isOrdered`: as under a modelled clock. */
  constructor(isOrdered = false) {
    this.order = isOrdered ? new SubmitOrder() : undefined;
    const buffer = new SharedArrayBuffer(65536);
    const device = { buffer, windowAddress: WINDOW, offsetOf: (a: number) => a - WINDOW };
    this.view = new DataView(buffer);
    this.memory = new SharedMemory(device as unknown as RuntimeDevice, { wake: () => {} } as unknown as Addon);
  }

  allocate(size: number): number {
    const at = this.next;
    this.next += Math.ceil(size / 64) * 64;
    return at;
  }
  signal(value: bigint): number {
    const at = this.allocate(SIGNAL.size);
    this.view.setBigInt64(at + SIGNAL.value, value, true);
    return at;
  }
  value(signal: number): bigint {
    return this.memory.signalValue(signal);
  }
  waits(signal: number): number {
    return this.view.getUint32(signal + SIGNAL.deviceWaits, true);
  }
  /** What a program does: stores, and kicks the device when it waits. */
  store(signal: number, value: bigint): void {
    this.view.setBigInt64(signal + SIGNAL.value, value, true);
    if (this.waits(signal) !== 0) this.announce();
  }

  /** A queue with one packet. With an `ordinal` nobody rings its doorbell. */
  queue(
    type: number,
    dependencies: readonly number[],
    ordinal?: bigint,
  ): { queue: AqlQueue; passed: number; ring: number; mark: number } {
    const ring = this.allocate(PACKETS * 64);
    for (let n = 0; n < PACKETS; n++) this.view.setUint16(ring + 64 * n, 1, true);
    const [write, read, watched, passed] = [this.allocate(8), this.allocate(8), this.allocate(4), this.signal(1n)];
    this.view.setUint16(ring, type, true);
    for (const [n, s] of dependencies.entries()) this.view.setBigUint64(ring + 8 + 8 * n, BigInt(WINDOW + s), true);
    this.view.setBigUint64(ring + COMPLETION, BigInt(WINDOW + passed), true);
    const queue = new AqlQueue(this.host(), {
      ring: WINDOW + ring,
      writeIndex: WINDOW + write,
      readIndex: WINDOW + read,
      watched: WINDOW + watched,
      packets: PACKETS,
    });
    if (ordinal === undefined) queue.doorbell();
    else this.view.setBigUint64(ring + ORDINAL, (0x5753n << 48n) | ordinal, true);
    return { queue, passed, ring, mark: watched };
  }
  /** Writes a barrier at a place of a ring, without a doorbell; its signal. */
  barrier(ring: number, place: number): number {
    const passed = this.signal(1n);
    this.view.setBigUint64(ring + 64 * place + COMPLETION, BigInt(WINDOW + passed), true);
    this.view.setUint16(ring + 64 * place, BARRIER_AND, true);
    return passed;
  }
  /** Writes at a place of a ring that the program has copied so many bytes, without a doorbell. */
  copy(ring: number, place: number, bytes: number): void {
    this.view.setUint32(ring + 64 * place, COPY_DONE << 16, true);
    this.view.setBigUint64(ring + 64 * place + 24, BigInt(bytes), true);
  }
  mark(at: number): number {
    return this.view.getUint32(at, true);
  }

  /** Lets everything that can go on do so. */
  async settle(): Promise<void> {
    for (let n = 0; n < 20; n++) await Promise.resolve();
  }

  private announce(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
  private host(): QueueHost {
    return {
      memory: this.memory,
      order: this.order,
      dispatch: async () => undefined,
      barrier: ({ completion }) => {
        this.completed.push(completion - WINDOW);
        return undefined;
      },
      copied: ({ bytes }) => {
        this.copies.push(bytes);
        return undefined;
      },
      signalsChanged: () => new Promise((resolve) => this.waiting.push(resolve)),
      failed: (error) => {
        throw error;
      },
      completed: () => this.announce(),
      changed: () => this.announce(),
    };
  }
}

describe('queues whose packets have an order', () => {
  /** Lets time pass until a signal is complete. */
  const complete = async (world: World, signal: number): Promise<void> => {
    while (world.value(signal) !== 0n) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('run what was sent first first, whoever hears of it first', async () => {
    const world = new World(true);
    const sent = [3n, 1n, 2n].map((ordinal) => world.queue(BARRIER_AND, [], ordinal));
    for (const { queue } of sent) queue.doorbell();
    await world.settle();
    const [third, first, second] = sent.map(({ passed }) => passed);
    expect(world.completed).toEqual([first, second, third]);
  });
  it('have a packet run that nobody has rung for', async () => {
    const world = new World(true);
    const [later, earlier] = [2n, 1n].map((ordinal) => world.queue(BARRIER_AND, [], ordinal));
    later?.queue.doorbell();
    await world.settle();
    expect(world.completed).toEqual([earlier?.passed, later?.passed]);
  });
  it('come behind one that waits for the host, when that does not take long', async () => {
    const world = new World(true);
    const host = world.signal(1n);
    const first = world.queue(BARRIER_AND, [host], 1n);
    const second = world.queue(BARRIER_AND, [], 2n);
    for (const { queue } of [second, first]) queue.doorbell();
    await world.settle();
    expect(world.completed).toEqual([]);
    world.store(host, 0n);
    await world.settle();
    expect(world.completed).toEqual([first.passed, second.passed]);
  });
  it('do not wait for ever for one that waits for a later one', async () => {
    const world = new World(true);
    const second = world.queue(BARRIER_AND, [], 2n);
    const first = world.queue(BARRIER_AND, [second.passed], 1n);
    for (const { queue } of [first, second]) queue.doorbell();
    await complete(world, first.passed);
    expect(world.completed).toEqual([second.passed, first.passed]);
  });
  it('do not wait for a queue that was destroyed', async () => {
    const world = new World(true);
    const first = world.queue(BARRIER_AND, [world.signal(1n)], 1n);
    const second = world.queue(BARRIER_AND, [], 2n);
    for (const { queue } of [first, second]) queue.doorbell();
    await world.settle();
    await first.queue.destroy();
    await world.settle();
    expect(world.completed).toEqual([second.passed]);
  });
  it('run as their packets come without a clock', async () => {
    const world = new World();
    const sent = [2n, 1n].map((ordinal) => world.queue(BARRIER_AND, [], ordinal));
    for (const { queue } of sent) queue.doorbell();
    await world.settle();
    expect(world.completed).toEqual(sent.map(({ passed }) => passed));
  });
});

describe('queues that wait for the same signals', () => {
  it('wake both: one waits for A or B, the other for B', async () => {
    const world = new World();
    const [a, b] = [world.signal(1n), world.signal(1n)];
    const or = world.queue(BARRIER_OR, [a, b]);
    const and = world.queue(BARRIER_AND, [b]);
    await world.settle();
    expect([world.waits(a), world.waits(b)]).toEqual([1, 2]);
    world.store(a, 0n);
    await world.settle();
    expect([world.value(or.passed), world.value(and.passed)]).toEqual([0n, 1n]);
    world.store(b, 0n);
    await world.settle();
    expect(world.value(and.passed)).toBe(0n);
    expect([world.waits(a), world.waits(b)]).toEqual([0, 0]);
  });

  it('count a signal that a packet names twice, and one whose queue is destroyed', async () => {
    const world = new World();
    const [a, b] = [world.signal(1n), world.signal(1n)];
    const twice = world.queue(BARRIER_AND, [a, a, b]);
    const other = world.queue(BARRIER_AND, [a, b]);
    await world.settle();
    expect([world.waits(a), world.waits(b)]).toEqual([3, 2]);
    const ended = twice.queue.destroy();
    world.store(a, 1n);
    await ended;
    expect([world.waits(a), world.waits(b)]).toEqual([1, 1]);
    world.store(a, 0n);
    world.store(b, 0n);
    await world.settle();
    expect(world.value(other.passed)).toBe(0n);
    expect([world.waits(a), world.waits(b)]).toEqual([0, 0]);
  });

  it('are not disturbed by a program that makes a new signal of one that is waited for', async () => {
    const world = new World();
    const a = world.signal(1n);
    const first = world.queue(BARRIER_AND, [a]);
    await world.settle();
    // The program's runtime clears the whole signal.
    world.memory.bytes.fill(0, a, a + SIGNAL.size);
    world.store(a, 1n);
    const second = world.queue(BARRIER_AND, [a]);
    await world.settle();
    expect(world.waits(a)).toBe(2);
    world.store(a, 0n);
    await world.settle();
    expect([world.value(first.passed), world.value(second.passed), BigInt(world.waits(a))]).toEqual([0n, 0n, 0n]);
  });
});

describe('a watched queue', () => {
  it('runs packets that came without a doorbell, and one that came while it was left', async () => {
    const world = new World();
    const { queue, ring, mark } = world.queue(BARRIER_AND, []);
    await world.settle();
    expect(queue.look()).toBe(false);
    queue.watch();
    expect(world.mark(mark)).toBe(1);
    const second = world.barrier(ring, 1);
    expect([queue.look(), queue.look()]).toEqual([true, false]);
    await world.settle();
    expect(world.value(second)).toBe(0n);
    const third = world.barrier(ring, 2);
    queue.unwatch();
    await world.settle();
    expect([world.value(third), BigInt(world.mark(mark))]).toEqual([0n, 0n]);
  });

  it('leaves its memory alone when it was destroyed', async () => {
    const world = new World();
    const { queue, ring, mark } = world.queue(BARRIER_AND, []);
    await world.settle();
    queue.watch();
    const second = world.barrier(ring, 1);
    await queue.destroy();
    world.memory.setU32(mark, 77);
    queue.unwatch();
    queue.watch();
    expect([queue.look(), world.value(second), world.mark(mark)]).toEqual([false, 1n, 77]);
  });
});

describe('AqlQueue at the end of a program', () => {
  it('tells of the copies that the program has made', async () => {
    const world = new World();
    const { queue, ring } = world.queue(BARRIER_AND, []);
    await world.settle();
    world.copy(ring, 1, 100);
    world.copy(ring, 2, 200);
    await queue.finish();
    expect(world.copies).toEqual([100, 200]);
    await queue.finish();
    expect(world.copies).toEqual([100, 200]);
  });

  it('tells of none behind what was not executed', async () => {
    const world = new World();
    const { queue, ring } = world.queue(BARRIER_AND, [world.signal(1n)]);
    await world.settle();
    world.copy(ring, 1, 100);
    await queue.finish();
    expect(world.copies).toEqual([]);
  });

  it('tells of none when a queue is destroyed, whose memory may be something else', async () => {
    const world = new World();
    const { queue, ring } = world.queue(BARRIER_AND, []);
    await world.settle();
    world.copy(ring, 1, 100);
    await queue.destroy();
    expect(world.copies).toEqual([]);
  });
});
