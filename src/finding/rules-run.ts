// The rules of strict mode (`wavesmith run --check`). Each is explained in docs/virtual-gpu.md, "Strict".
import type { RuleInfo } from './rule-info.ts';
import { CHECK_RULES } from './rules-check.ts';
import { SOURCES } from './sources.ts';

export const RUN_RULES = {
  'memory/out-of-bounds': {
    severity: 'error',
    title: 'A global access outside of every allocation',
    source: SOURCES.memory,
  },
  'memory/use-after-free': {
    severity: 'error',
    title: 'A global access in a buffer that was freed',
    source: SOURCES.memory,
  },
  'memory/read-only': {
    severity: 'error',
    title: 'A store to code',
    source: SOURCES.memory,
  },
  'memory/lds-out-of-bounds': {
    severity: 'error',
    title: "LDS beyond static and dynamic size; hardware gives zero or other workgroups' data",
    source: SOURCES.lds,
  },
  'memory/scratch-out-of-bounds': {
    severity: 'error',
    title: 'Scratch beyond the bytes of a lane',
    source: SOURCES.descriptor,
  },
  'memory/misaligned': {
    severity: 'error',
    title: 'An address that the hardware faults on or truncates, see below',
    source: SOURCES.memory,
  },
  'memory/uninitialised': {
    severity: 'error',
    title: 'A value loaded from bytes that nothing has written is used, or an atomic works on them',
    source: SOURCES.memory,
  },
  'memory/uninitialised-copy': {
    severity: 'warning',
    title: 'A program copies bytes of the device to the host that nothing has written (`exec --check`)',
    source: SOURCES.memory,
  },
  'memory/dropped': {
    severity: 'note',
    title:
      'Lanes of a buffer access lie behind `num_records`: loads give zero, stores do nothing. The count is of lanes',
    source: SOURCES.memory,
  },
  'modes/omod-ignored': CHECK_RULES['modes/omod-ignored'],
  'hazards/wait-states': {
    severity: 'error',
    title:
      'An instruction is executed too few wait states after one that hardware does not hold it back for. The count is of ways to it',
    source: SOURCES.waitStates,
  },
  'memory/kernarg-overrun': {
    severity: 'error',
    title: 'Arguments beyond the declared kernarg segment are read, or used after a wide load',
    source: SOURCES.kernarg,
  },
  'registers/uninitialised': {
    severity: 'error',
    title: 'A value matters that is, or is computed from, a register that nothing has written in that lane',
    source: SOURCES.initialState,
  },
  'registers/beyond-allocation': {
    severity: 'error',
    title: 'A VGPR, AGPR or SGPR that the descriptor does not allocate',
    source: SOURCES.descriptor,
  },
  'waits/read-before-return': {
    severity: 'error',
    title: 'A register is read while an operation that writes it is counted',
    source: SOURCES.dependency,
  },
  'waits/write-before-return': {
    severity: 'error',
    title: 'A register is overwritten while such an operation is counted',
    source: SOURCES.dependency,
  },
  'waits/lds-before-return': {
    severity: 'error',
    title: 'LDS bytes are used while a load into LDS by the same wavefront is counted by vmcnt',
    source: SOURCES.dependency,
  },
  'waits/barrier-before-write': {
    severity: 'error',
    title: "LDS bytes are used that another wavefront's operation had not surely written when it passed the barrier",
    source: SOURCES.dependency,
  },
  'races/lds': {
    severity: 'error',
    title: 'Two wavefronts touch the same LDS bytes between two barriers, one writes, not both atomically',
    source: SOURCES.barrier,
  },
  'races/lds-in-flight': {
    severity: 'warning',
    title:
      'The same with a load into LDS: when its bytes arrive is not defined, shipped kernels count on it being late',
    source: SOURCES.dependency,
  },
  'races/global': {
    severity: 'error',
    title:
      'Two workgroups touch the same global bytes without atomics between, or two wavefronts of a workgroup without a barrier, and one writes',
    source: SOURCES.memoryModel,
  },
  'races/unreleased': {
    severity: 'error',
    title:
      'Data that another workgroup uses was handed over, by an atomic or a store with device scope, before its store was known to be complete and written back',
    source: SOURCES.memoryModel,
  },
  'races/unacquired': {
    severity: 'error',
    title:
      'Data of another workgroup is read through caches that nothing has invalidated since the flag or atomic that hands it over was read',
    source: SOURCES.memoryModel,
  },
  'races/lanes': {
    severity: 'warning',
    title:
      'Lanes of one store have the same address, or overlap, with different values, or have added to the same value there: one of them stays',
    source: SOURCES.memoryModel,
  },
  'races/untracked': {
    severity: 'warning',
    title: 'The dispatch touches more than 256 MiB; races in the rest are not found',
    source: SOURCES.memoryModel,
  },
  'barriers/divergence': {
    severity: 'warning',
    title:
      'Wavefronts of a workgroup executed different numbers of `s_barrier`: a wavefront that has ended no longer takes part, so hardware goes on',
    source: SOURCES.barrier,
  },
  'schedule/deadlock': {
    severity: 'error',
    title: 'Every live wavefront waits at a barrier or repeats a state bit for bit while no memory changes',
    source: SOURCES.flow,
  },
  'schedule/budget': {
    severity: 'error',
    title: 'More instructions than `--budget`',
    source: SOURCES.flow,
  },
  'run/stopped': {
    severity: 'error',
    title: 'The kernel executed something that ends it: a trap, an illegal or unsupported instruction',
    source: SOURCES.flow,
  },
} as const satisfies Readonly<Record<string, RuleInfo>>;
