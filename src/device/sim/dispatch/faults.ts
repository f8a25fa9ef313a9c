// Turns what an instruction threw into a typed error with kernel, pc, instruction, lane, address and the nearest allocation.
import { DeviceFault, type Fault, type FaultKind } from '../../fault.ts';
import { KernelStop } from '../interpreter/kernel-stop.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { MemoryFault } from '../state/region.ts';
import type { Wave } from '../state/wave.ts';

/** Workgroup, wave and instruction of a wave, for messages. */
export function place(loaded: LoadedCode, w: Wave): string {
  return `workgroup ${w.workgroup.id.join(',')}, wave ${w.index}, at '${loaded.textAt(w.pc)}'`;
}

/** The error for what the instruction at `w.pc` threw; what is neither fault nor stop comes back as it is. */
export function explain(loaded: LoadedCode, w: Wave, error: unknown): unknown {
  const { dispatch } = w.workgroup;
  const pc = w.pc - loaded.region.base;
  const where = `In kernel '${dispatch.kernelName}', ${place(loaded, w)}.`;
  if (error instanceof KernelStop) {
    return new DeviceFault(error.code, `${error.message} ${where}`, facts(w, kindOf(error)), { pc, hint: error.hint });
  }
  if (!(error instanceof MemoryFault)) return error;
  const { access } = error;
  let live: string;
  if (access.space === 'lds') live = `the workgroup has ${w.workgroup.lds.byteLength} bytes of LDS`;
  else if (access.space === 'scratch') live = `each lane has ${dispatch.scratchPerLane} bytes of scratch`;
  else live = nearestText(w.memory, access.address);
  // Scalar accesses have no lane.
  const isScalar = loaded.instructionAt(w.pc)?.row.operation.startsWith('s_') === true;
  const lane = isScalar ? undefined : w.lane;
  return new DeviceFault(
    'sim/memory-fault',
    `${error.message}${lane === undefined ? '' : ` by lane ${lane}`} is outside live memory: ${live}. ${where}`,
    { ...facts(w, 'memory'), ...(lane === undefined ? {} : { lane }), access },
    { pc, hint: 'Check buffer sizes, the grid and the kernel arguments.' },
  );
}

function facts(w: Wave, kind: FaultKind): Fault {
  const { dispatch, id } = w.workgroup;
  return { kind, kernel: dispatch.kernelName, workgroup: id, wavefront: w.index };
}

/** Traps and halts are the kernel's own will; every other stop is an instruction that cannot be executed. */
function kindOf({ code }: KernelStop): FaultKind {
  return code === 'sim/trap' || code === 'sim/halted' ? 'trap' : 'instruction';
}

function nearestText(memory: DeviceMemory, address: number): string {
  const freed = memory.freedAt(address);
  if (freed !== undefined) {
    return `it is in the freed allocation '${freed.label}' (${freed.size} bytes at 0x${freed.base.toString(16)})`;
  }
  const near = memory.nearest(address);
  if (near === undefined) return 'nothing is allocated';
  const { region, distance } = near;
  const side = distance < 0 ? `${-distance} bytes before its start` : `${distance} bytes past its end`;
  return `the nearest allocation is '${region.label}' (${region.size} bytes at 0x${region.base.toString(16)}), ${distance === 0 ? 'at its edge' : side}`;
}

/** The dispatch has executed more instructions than it may. */
export function budgetError(loaded: LoadedCode, w: Wave, executed: number): DeviceFault {
  return new DeviceFault(
    'sim/budget',
    `Kernel '${w.workgroup.dispatch.kernelName}' was stopped after ${executed} instructions; ${place(loaded, w)}.`,
    facts(w, 'budget'),
    {
      pc: w.pc - loaded.region.base,
      hint: 'It may loop forever; raise the instruction budget if it does not.',
    },
  );
}
