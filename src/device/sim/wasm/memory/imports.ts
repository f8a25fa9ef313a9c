// What memory helpers of compiled code call: the imports of an instance. It needs nothing of the compiler, so that a thread which is only just starting
// runs what another has compiled without it.
import type { LaneAccess } from '../../state/frames.ts';
import type { DeviceMemory } from '../../state/memory.ts';
import { EXEC } from '../../state/wave.ts';

/**
 * The import `resume`: has `interpret` execute the instruction at `pc` for the active lanes from `lane` on. EXEC is masked for it,
 * and restored also when the instruction faults. (No instruction that writes EXEC is resumed at a lane above 0.)
 */
export function resumeImport(
  interpret: (wave: number, pc: number) => void,
  memory: WebAssembly.Memory,
): (wave: number, pc: number, lane: number) => void {
  let words = new Int32Array(memory.buffer);
  return (wave, pc, lane) => {
    if (lane === 0) {
      interpret(wave, pc);
      return;
    }
    if (words.buffer !== memory.buffer) words = new Int32Array(memory.buffer);
    const at = (wave >>> 2) + EXEC;
    const low = words[at] as number;
    const high = words[at + 1] as number;
    words[at] = lane >= 32 ? 0 : (low >>> lane) << lane;
    if (lane >= 32) words[at + 1] = (high >>> (lane - 32)) << (lane - 32);
    try {
      interpret(wave, pc);
    } finally {
      words[at] = low;
      words[at + 1] = high;
    }
  };
}

/** The imports that memory helpers need, for the instance's `env`. */
export function memoryImports(
  interpret: (wave: number, pc: number) => void,
  memory: DeviceMemory,
  inPlace: boolean,
): WebAssembly.ModuleImports {
  return {
    resume: resumeImport(interpret, memory.wasm),
    locate: locateImport(memory, inPlace),
    moveLanes: moveLanesImport(memory, inPlace),
  };
}

/** The import `moveLanes`. Code with checks has every lane looked at. */
export function moveLanesImport(
  memory: DeviceMemory,
  inPlace: boolean,
): (wave: number, register: number, wide: number, low: number, high: number, data: number, words: number) => number {
  if (inPlace) return () => 0;
  const all = new Int32Array(memory.wasm.buffer);
  const access: LaneAccess = {
    execLow: 0,
    execHigh: 0,
    register: 0,
    isWide: false,
    constant: 0,
    constantLow: 0,
    data: 0,
    count: 0,
    isWrite: false,
  };
  return (wave, register, wide, low, high, data, words) => {
    const exec = (wave >>> 2) + EXEC;
    access.execLow = all[exec] as number;
    access.execHigh = all[exec + 1] as number;
    access.register = (register >>> 0) / 4;
    access.isWide = wide !== 0;
    access.constant = high * 2 ** 32 + (low >>> 0);
    access.constantLow = low;
    access.data = (data >>> 0) / 4;
    access.count = Math.abs(words);
    access.isWrite = words < 0;
    return memory.moveLanes(all, access) ? 1 : 0;
  };
}

/** The import `locate`. Code with checks has records of the memory itself: `inPlace` has all of it done there. */
export function locateImport(
  memory: DeviceMemory,
  inPlace: boolean,
): (low: number, high: number, write: number, bytes: number) => number {
  return (low, high, write, bytes) =>
    memory.locate((high >>> 0) * 2 ** 32 + (low >>> 0), write !== 0, inPlace ? 0 : bytes);
}
