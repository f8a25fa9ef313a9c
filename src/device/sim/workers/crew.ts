// The worker threads of a device: started when a dispatch is worth it, kept for the next one.
import { WavesmithError } from '../../../base/index.ts';
import type { Launch } from '../dispatch/launch.ts';
import { type DoneMessage, type MemoryMessage, placeRecord, type RunMessage } from '../dispatch/worker-messages.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { ADDRESS_TABLE_BYTES } from '../state/address-table.ts';
import { gpuWindow } from '../state/layout.ts';
import type { DeviceMemory, MemoryOptions } from '../state/memory.ts';
import type { PlacePool } from '../state/places.ts';
import type { WorkerHost, WorkerThread } from './worker-host.ts';

export class Crew {
  private readonly host: WorkerHost;
  private readonly memory: DeviceMemory;
  private readonly threads: WorkerThread[] = [];
  /** What each has of its own; the next thread gets what one that ended had. */
  private readonly own = new Map<WorkerThread, NonNullable<MemoryOptions['thread']>>();
  private readonly unused: NonNullable<MemoryOptions['thread']>[] = [];
  private busy = 0;

  constructor(host: WorkerHost, memory: DeviceMemory) {
    this.host = host;
    this.memory = memory;
  }

  get cores(): number {
    return this.host.cores;
  }
  get startMs(): number {
    return this.host.startMs;
  }
  /** Threads that are running already. */
  get size(): number {
    return this.threads.length;
  }

  /** The most threads that can work for a launch at a time: all of them need a share of the frames when there is memory beyond the window. */
  get most(): number {
    const { beyond, frameArea } = this.memory;
    return beyond === undefined || frameArea === undefined ? Number.POSITIVE_INFINITY : beyond.threads - 1;
  }

  /** Whether the threads work for a launch: they work for one at a time. */
  get isBusy(): boolean {
    return this.busy > 0;
  }

  /** Has `count` threads run workgroups of a launch; each answers when none is left. */
  run(launch: Launch, loaded: LoadedCode, places: PlacePool, count: number): Promise<DoneMessage>[] {
    this.busy += count;
    const runOn = async (n: number): Promise<DoneMessage> => {
      const place = places.take(launch);
      try {
        const { id, target, region, codeRanges } = loaded;
        const message: RunMessage = {
          kind: 'run',
          launch,
          code: { id, target, base: region.base, codeRanges },
          // With the place's own scratch, which the interpreter looks up as any other memory.
          regions: this.memory.snapshot(),
          frameArea: this.memory.frameArea,
          place: placeRecord(place),
        };
        return await this.ask(this.threads[n] ?? this.start(), message);
      } finally {
        places.give(place);
      }
    };
    return Array.from({ length: count }, (_, n) => runOn(n).finally(() => this.busy--));
  }

  private start(): WorkerThread {
    const thread = this.host.start();
    this.threads.push(thread);
    const { memory } = this;
    const own = this.unused.pop() ?? {
      number: this.own.size + 1,
      addressTable: memory.reserve(ADDRESS_TABLE_BYTES, 'address table').byteOffset,
    };
    this.own.set(thread, own);
    const { beyond } = memory;
    const message: MemoryMessage = {
      kind: 'memory',
      window: gpuWindow.base,
      memory: memory.wasm,
      thread: own,
      beyond:
        beyond === undefined ? undefined : { bytes: beyond.bytes, threads: beyond.threads, source: beyond.source },
    };
    thread.post(message);
    return thread;
  }

  private async ask(thread: WorkerThread, message: RunMessage): Promise<DoneMessage> {
    thread.hold(true);
    try {
      return await new Promise((resolve, reject) => {
        thread.onMessage = (answer) => resolve(answer as DoneMessage);
        thread.onFailure = (cause) => {
          const at = this.threads.indexOf(thread);
          if (at >= 0) this.threads.splice(at, 1);
          const own = this.own.get(thread);
          if (own !== undefined) this.unused.push(own);
          this.own.delete(thread);
          reject(
            new WavesmithError('sim/worker-lost', `A worker thread of the virtual GPU ended: ${cause.message}.`, {
              hint: 'Use one worker to see where.',
              cause,
            }),
          );
        };
        thread.post(message);
      });
    } finally {
      thread.hold(false);
    }
  }

  /** Ends all threads. */
  close(): void {
    for (const thread of this.threads.splice(0)) thread.end();
  }
}
