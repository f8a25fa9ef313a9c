// The worker threads of a device: started when a dispatch is worth it, kept for the next one.
import { WavesmithError } from '../../../base/index.ts';
import type { Launch } from '../dispatch/launch.ts';
import { waitFacts } from '../dispatch/spin.ts';
import {
  type CodeFacts,
  type DoneMessage,
  type MemoryMessage,
  placeRecord,
  type RunMessage,
} from '../dispatch/worker-messages.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { MatrixMode } from '../interpreter/matrix.ts';
import { ADDRESS_TABLE_BYTES } from '../state/address-table.ts';
import { gpuWindow } from '../state/layout.ts';
import type { DeviceMemory, MemoryOptions } from '../state/memory.ts';
import type { PlacePool } from '../state/places.ts';
import { compiledSoFar } from '../wasm/engine.ts';
import type { WorkerHost, WorkerThread } from './worker-host.ts';

/** What a thread has of its own. */
interface Own {
  readonly thread: NonNullable<MemoryOptions['thread']>;
  /** Offset of the word with the ticket of what the thread has been asked and has not begun; 0 when there is nothing. */
  readonly gate: number;
}
const GATE_BYTES = 64;

/** Threads at work for one launch. */
export interface CrewRun {
  /** One for each thread, when there is nothing left for it. */
  readonly answers: readonly Promise<DoneMessage>[];
  /** Lets threads that have not begun leave it: a thread that is only just starting is not waited for. */
  withdraw(): void;
}

/** The answer of a thread that did not begin. */
const NOTHING_DONE: DoneMessage = {
  kind: 'done',
  instructionsByEncoding: {},
  wavefronts: 0,
  waited: 0,
  failure: undefined,
};

export class Crew {
  private readonly host: WorkerHost;
  private readonly memory: DeviceMemory;
  private readonly threads: WorkerThread[] = [];
  /** The next thread gets what one that ended had. */
  private readonly own = new Map<WorkerThread, Own>();
  private readonly unused: Own[] = [];
  /** Loaded code and matrix modes that a thread has been told about. */
  private readonly told = new WeakMap<WorkerThread, WeakMap<LoadedCode, Set<MatrixMode>>>();
  private busy = 0;
  /** Work of dispatches in one thread that others would have shared if they had been running, ms: together it is worth a start. */
  missedMs = 0;
  private tickets = 0;

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

  /** Has threads `first` to `end` - 1 run workgroups of a launch; each answers when none is left. */
  run(launch: Launch, loaded: LoadedCode, places: PlacePool, first: number, end: number): CrewRun {
    this.busy += end - first;
    const withdrawals: (() => void)[] = [];
    const runOn = async (n: number): Promise<DoneMessage> => {
      const place = places.take(launch);
      try {
        const { id, target, region, codeRanges } = loaded;
        const thread = this.threads[n] ?? this.start();
        const message: RunMessage = {
          kind: 'run',
          ticket: ++this.tickets,
          launch,
          code: { id, target, base: region.base, codeRanges },
          known: this.news(thread, loaded, launch),
          // With the place's own scratch, which the interpreter looks up as any other memory.
          regions: this.memory.snapshot(),
          frameArea: this.memory.frameArea,
          place: placeRecord(place),
        };
        return await this.ask(thread, message, withdrawals);
      } finally {
        places.give(place);
      }
    };
    const answers = Array.from({ length: end - first }, (_, n) => runOn(first + n).finally(() => this.busy--));
    // Who waits for them may do so later than one fails.
    for (const answer of answers) answer.catch(() => {});
    return {
      answers,
      withdraw: () => {
        for (const withdraw of withdrawals) withdraw();
      },
    };
  }

  /** What a thread may take over of what is known of code; undefined when it has been told before. */
  private news(thread: WorkerThread, loaded: LoadedCode, { mfma }: Launch): CodeFacts | undefined {
    const told = this.told.get(thread) ?? new WeakMap<LoadedCode, Set<MatrixMode>>();
    this.told.set(thread, told);
    const modes = told.get(loaded) ?? new Set();
    told.set(loaded, modes);
    const compiled = modes.has(mfma) ? [] : compiledSoFar(loaded, mfma);
    if (compiled.length === 0) return undefined;
    modes.add(mfma);
    return { compiled, waits: waitFacts(loaded) };
  }

  private start(): WorkerThread {
    const thread = this.host.start();
    this.threads.push(thread);
    const { memory } = this;
    const own = this.unused.pop() ?? this.newOwn();
    this.own.set(thread, own);
    const { beyond } = memory;
    const message: MemoryMessage = {
      kind: 'memory',
      window: gpuWindow.base,
      memory: memory.wasm,
      bulkModule: memory.bulkModule,
      ...own,
      beyond:
        beyond === undefined ? undefined : { bytes: beyond.bytes, threads: beyond.threads, source: beyond.source },
    };
    thread.post(message);
    return thread;
  }

  private newOwn(): Own {
    const at = this.memory.reserve(ADDRESS_TABLE_BYTES + GATE_BYTES, 'address table').byteOffset;
    return { thread: { number: this.own.size + 1, addressTable: at }, gate: at + ADDRESS_TABLE_BYTES };
  }

  /** `withdrawals` gets what takes the question back as long as the thread has not begun. */
  private async ask(thread: WorkerThread, message: RunMessage, withdrawals: (() => void)[]): Promise<DoneMessage> {
    const { ticket } = message;
    const gate = new Int32Array(this.memory.wasm.buffer, (this.own.get(thread) as Own).gate, 1);
    thread.hold(true);
    try {
      return await new Promise((resolve, reject) => {
        withdrawals.push(() => {
          if (Atomics.compareExchange(gate, 0, ticket, 0) === ticket) resolve(NOTHING_DONE);
        });
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
        Atomics.store(gate, 0, ticket);
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
