// Room `device/sim/workers`: threads: a dispatch whose result cannot depend on order runs its workgroups on several.
// Begin with crew.ts (the device's side), then this file (the thread's side); worker-host.ts is what a host must offer.
//
// A worker thread of the virtual GPU: runs workgroups of its device's dispatches over the shared memory.

import { createEngine } from '../dispatch/create-engine.ts';
import { countsByEncoding } from '../dispatch/engine.ts';
import { contextOf } from '../dispatch/launch.ts';
import { SharedProgress } from '../dispatch/progress.ts';
import { Runner } from '../dispatch/runner.ts';
import { type DoneMessage, failureRecord, type MemoryMessage, type RunMessage } from '../dispatch/worker-messages.ts';
import { Program } from '../interpreter/program.ts';
import { WAVE_BYTES } from '../state/layout.ts';
import { DeviceMemory } from '../state/memory.ts';
import type { ModuleCache } from '../state/module-cache.ts';
import type { Slot } from '../state/slots.ts';
import type { WorkerPort } from './worker-host.ts';

/** Programs a worker keeps decoded and compiled. */
const KEPT_PROGRAMS = 16;

/** Answers a device's messages. */
export function serveWorker(port: WorkerPort, moduleCache?: ModuleCache): void {
  let memory: DeviceMemory | undefined;
  const programs = new Map<number, Program>();
  port.onMessage((received) => {
    const message = received as MemoryMessage | RunMessage;
    if (message.kind === 'memory') memory = new DeviceMemory({ memory: message.memory, moduleCache });
    else if (memory === undefined) throw new Error('the device sent no memory');
    else port.post(run(memory, programs, message));
  });
}

function programOf(memory: DeviceMemory, programs: Map<number, Program>, { program }: RunMessage): Program {
  let found = programs.get(program.id);
  if (found === undefined) {
    const region = memory.access(program.base, 4, false);
    found = new Program(program.target, region, program.codeRanges);
  }
  programs.delete(program.id);
  programs.set(program.id, found);
  if (programs.size > KEPT_PROGRAMS) programs.delete(programs.keys().next().value as number);
  return found;
}

function run(memory: DeviceMemory, programs: Map<number, Program>, message: RunMessage): DoneMessage {
  const { launch, regions, slot: record } = message;
  memory.adopt(regions);
  const program = programOf(memory, programs, message);
  program.useMatrixMode(launch.mfma);
  const engine = createEngine({ program, launch, memory });
  const slot: Slot = {
    waveBlocks: record.waveBlocks.map((offset) => memory.bytesAt(offset, WAVE_BYTES)),
    lds: memory.bytesAt(record.lds, record.ldsBytes),
    scratch: record.scratch,
  };
  const runner = new Runner({
    memory,
    program,
    launch,
    context: contextOf(launch),
    engine,
    progress: new SharedProgress(memory.wasm.buffer, launch.workgroups),
    window: 1,
    takeSlot: () => slot,
    giveSlot: () => {},
    monitors: [],
  });
  runner.run(Number.POSITIVE_INFINITY);
  const { failure, wavefronts } = runner;
  return {
    kind: 'done',
    instructionsByEncoding: countsByEncoding(engine),
    wavefronts,
    failure: failure === undefined ? undefined : failureRecord(failure.group, failure.error),
  };
}
