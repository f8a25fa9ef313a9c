// Room `runtime`: the device process of `wavesmith exec`: programs of the user connect, and the virtual GPU is their GPU.
// Begin with this file (connections), then session.ts (one program), aql-queue.ts (its packets) and sim-runtime.ts (its device).
//
// The device process's server: one session for each program.
import type { Addon } from './addon.ts';
import type { AqlQueue } from './aql-queue.ts';
import type { HelloReply } from './generated/messages.ts';
import { MessageServer } from './message-server.ts';
import type { PacketTimes } from './packet-times.ts';
import type { DispatchPacket, RuntimeDevice } from './runtime-device.ts';
import { Session, type SessionHost } from './session.ts';
import { SharedMemory } from './shared-memory.ts';

/** How long the event loop goes on without sleep. */
const AWAKE_MS = 0.2;
/** How long it looks at queues between two looks at everything else. */
const LOOK_MS = 0.01;

export class RuntimeServer implements SessionHost {
  readonly device: RuntimeDevice;
  readonly memory: SharedMemory;
  readonly hello: HelloReply;
  private readonly server: MessageServer;
  private readonly sessions = new Set<Session>();
  private waiters: (() => void)[] = [];
  private awakeUntil = 0;
  /** Queues that send no doorbells now. */
  private readonly watched = new Set<AqlQueue>();
  private busy: Promise<void> = Promise.resolve();
  /** Sessions whose program is gone, while they free what was its. */
  private readonly ending = new Set<Promise<void>>();
  /** Sessions beyond the first that have an allocation. */
  private readonly shares = new Map<number, number>();

  /** How a fault is told: at other places where the code that ran is not the program's own. */
  explain: (error: unknown) => unknown = (error) => error;
  /** Hears of every fault of a kernel. */
  onFault: (text: string) => void = () => {};

  /** `report` gets one line for each refused or misbehaving peer. */
  constructor(device: RuntimeDevice, addon: Addon, hello: HelloReply, report: (text: string) => void) {
    this.device = device;
    this.hello = hello;
    this.memory = new SharedMemory(device, addon);
    this.server = new MessageServer(
      addon,
      (send) => {
        const session = new Session(this, send);
        this.sessions.add(session);
        return {
          handle: (message) => session.handle(message),
          closed: () => {
            this.sessions.delete(session);
            // Queues that wait for a signal of this program must see that they were destroyed.
            const ending = session.close().finally(() => this.ending.delete(ending));
            this.ending.add(ending);
            this.announceChange();
          },
        };
      },
      report,
    );
  }

  /** Value for WAVESMITH_SOCKET. */
  get address(): string {
    return this.server.address;
  }

  /** Programs connected now. */
  get programs(): number {
    return this.sessions.size;
  }

  listen(): Promise<void> {
    return this.server.listen();
  }

  async close(): Promise<void> {
    this.server.close();
    await Promise.all([...this.ending, ...[...this.sessions].map((session) => session.close())]);
    this.sessions.clear();
  }

  /** Ends every program with an error that no queue of its own has made. */
  endPrograms(error: unknown): void {
    for (const session of this.sessions) session.end(error);
  }

  /** Runs one kernel after the other, unless the device runs several at once; one that waits for another kernel or its program lets the next one go. */
  dispatch(packet: DispatchPacket, signal: AbortSignal, waits: () => void): Promise<PacketTimes | undefined> {
    if (this.device.isConcurrent === true) return this.device.dispatch(packet, signal);
    let pass = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      pass = resolve;
    });
    const run = this.busy.then(() =>
      this.device.dispatch(packet, signal, () => {
        pass();
        waits();
      }),
    );
    const ended = run.then(
      () => {},
      () => {},
    );
    this.busy = Promise.race([ended, waiting]);
    return run;
  }

  share(address: number): void {
    this.shares.set(address, (this.shares.get(address) ?? 0) + 1);
  }
  release(address: number): void {
    const shares = this.shares.get(address) ?? 0;
    if (shares === 0) this.device.free(address);
    else if (shares === 1) this.shares.delete(address);
    else this.shares.set(address, shares - 1);
  }

  faulted(text: string): void {
    this.onFault(text);
  }

  /**
   * The event loop does not sleep for a while, and looks at the queue itself: a program that has waited for a kernel mostly has the next one at
   * once.
   */
  stayAwake(queue: AqlQueue): void {
    this.awakeUntil = performance.now() + AWAKE_MS;
    if (this.watched.has(queue)) return;
    if (this.watched.size === 0) setImmediate(() => this.lookAtQueues());
    this.watched.add(queue);
    queue.watch();
  }

  private lookAtQueues(): void {
    const end = performance.now() + LOOK_MS;
    let now: number;
    let found = false;
    do {
      for (const queue of this.watched) found = queue.look() || found;
      now = performance.now();
    } while (!found && now < end);
    if (found || now < this.awakeUntil) {
      setImmediate(() => this.lookAtQueues());
      return;
    }
    for (const queue of this.watched) queue.unwatch();
    this.watched.clear();
  }

  signalsChanged(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }
  announceChange(): void {
    const waiting = this.waiters;
    this.waiters = [];
    for (const resolve of waiting) resolve();
  }
}
