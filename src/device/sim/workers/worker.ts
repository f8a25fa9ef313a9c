// Room `device/sim/workers`: threads: a dispatch whose result cannot depend on order runs its workgroups on several.
// Begin with crew.ts (the device's side), then this file (the thread's side); worker-host.ts is what a host must offer.
//
// A worker thread of the virtual GPU: runs workgroups of its device's dispatches over the shared memory.

import { createEngine } from '../dispatch/create-engine.ts';
import { countsByEncoding } from '../dispatch/engine.ts';
import { contextOf } from '../dispatch/launch.ts';
import { SharedProgress } from '../dispatch/progress.ts';
import { Runner } from '../dispatch/runner.ts';
import { takeOverWaitFacts } from '../dispatch/spin.ts';
import { type DoneMessage, failureRecord, type MemoryMessage, type RunMessage } from '../dispatch/worker-messages.ts';
import { LoadedCode } from '../interpreter/loaded-code.ts';
import type { BeyondWindow } from '../state/frames.ts';
import { moveWindow, WAVE_BYTES } from '../state/layout.ts';
import { DeviceMemory } from '../state/memory.ts';
import type { ModuleCache } from '../state/module-cache.ts';
import type { Place } from '../state/places.ts';
import { takeOverCompiled } from '../wasm/engine.ts';
import type { WorkerPort } from './worker-host.ts';

/** Pieces of loaded code that a worker keeps decoded and compiled. */
const KEPT = 16;

/** Answers a device's messages. `showFrom` makes the host's `show` and `view` of what the device names as its source. */
export function serveWorker(
  port: WorkerPort,
  moduleCache?: ModuleCache,
  showFrom?: (source: unknown, memory: WebAssembly.Memory) => Pick<BeyondWindow, 'show' | 'view'>,
): void {
  let memory: DeviceMemory | undefined;
  let gate: Int32Array | undefined;
  const known = new Map<number, LoadedCode>();
  port.onMessage((received) => {
    const message = received as MemoryMessage | RunMessage;
    if (message.kind === 'memory') {
      moveWindow(message.window);
      const { thread, beyond } = message;
      gate = new Int32Array(message.memory.buffer, message.gate, 1);
      const shown = beyond === undefined ? undefined : showFrom?.(beyond.source, message.memory);
      memory = new DeviceMemory({
        memory: message.memory,
        moduleCache,
        bulkModule: message.bulkModule,
        thread,
        beyond: beyond === undefined || shown === undefined ? undefined : { ...beyond, ...shown },
      });
    } else if (memory === undefined || gate === undefined) throw new Error('the device sent no memory');
    else if (Atomics.compareExchange(gate, 0, message.ticket, 0) === message.ticket)
      port.post(run(memory, known, message));
  });
}

function loadedOf(memory: DeviceMemory, known: Map<number, LoadedCode>, { code }: RunMessage): LoadedCode {
  let found = known.get(code.id);
  if (found === undefined) {
    const region = memory.access(code.base, 4, false);
    found = new LoadedCode(code.target, region, code.codeRanges);
  }
  known.delete(code.id);
  known.set(code.id, found);
  if (known.size > KEPT) known.delete(known.keys().next().value as number);
  return found;
}

function run(memory: DeviceMemory, known: Map<number, LoadedCode>, message: RunMessage): DoneMessage {
  const { launch, regions, frameArea, place: record } = message;
  memory.adopt(regions, frameArea);
  const loaded = loadedOf(memory, known, message);
  loaded.useMatrixMode(launch.mfma);
  if (message.known !== undefined) {
    takeOverCompiled({ loaded, launch, memory }, message.known.compiled);
    takeOverWaitFacts(loaded, message.known.waits);
  }
  const engine = createEngine({ loaded, launch, memory });
  const place: Place = {
    waveBlocks: record.waveBlocks.map((offset) => memory.bytesAt(offset, WAVE_BYTES)),
    lds: memory.bytesAt(record.lds, record.ldsBytes),
    scratch: record.scratch,
  };
  const runner = new Runner({
    memory,
    loaded,
    launch,
    context: contextOf(launch),
    engine,
    progress: new SharedProgress(memory.wasm.buffer, launch.workgroups),
    window: 1,
    takePlace: () => place,
    givePlace: () => {},
    monitors: [],
  });
  while (!runner.run(Number.POSITIVE_INFINITY));
  const { failure, wavefronts, waited } = runner;
  return {
    kind: 'done',
    instructionsByEncoding: countsByEncoding(engine),
    wavefronts,
    waited,
    failure: failure === undefined ? undefined : failureRecord(failure.group, failure.error),
  };
}
