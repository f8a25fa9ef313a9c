// The rules of the checker (`wavesmith check`). Each has a page in docs/check/.
import type { RuleInfo } from './rule-info.ts';
import { SOURCES } from './sources.ts';

export const CHECK_RULES = {
  'abi/preload-changed': {
    severity: 'error',
    title: 'Other kernel arguments are preloaded into SGPRs than in the baseline',
    source: SOURCES.preload,
    isFixable: true,
  },
  'control-flow/barrier-changed': {
    severity: 'error',
    title: 'A barrier of the baseline is gone, new, or on another side of a memory operation',
    source: SOURCES.barrier,
  },
  'control-flow/branch-changed': {
    severity: 'error',
    title: 'A branch of the baseline is gone, goes elsewhere, or has another condition',
    source: SOURCES.flow,
  },
  'control-flow/definition-lost': {
    severity: 'error',
    title: 'An instruction of the baseline is gone whose result is still read',
    source: SOURCES.operands,
  },
  'control-flow/instruction-changed': {
    severity: 'note',
    title: 'An instruction stands in the place of another one of the baseline',
    source: SOURCES.operands,
  },
  'memory/store-lost': {
    severity: 'error',
    title: 'A store or an LDS write of the baseline is gone',
    source: SOURCES.memory,
  },
  'resources/lds-shrunk': {
    severity: 'error',
    title: 'The kernel has less LDS than in the baseline',
    source: SOURCES.descriptor,
    isFixable: true,
  },
  'abi/code-object-version': {
    severity: 'error',
    title: 'The code object has another version than the baseline',
    source: SOURCES.codeObject,
    isFixable: true,
  },
  'abi/entry-alignment': {
    severity: 'error',
    title: 'The entry point is not aligned to 256 bytes',
    source: SOURCES.dispatch,
    isFixable: true,
  },
  'abi/kernarg-layout': {
    severity: 'error',
    title: 'The arguments differ from the baseline',
    source: SOURCES.kernarg,
    isFixable: true,
  },
  'abi/kernel-name': {
    severity: 'error',
    title: 'A kernel of the baseline is missing',
    source: SOURCES.metadata,
  },
  'abi/preload-entry': {
    severity: 'error',
    title: 'A kernel with preloaded arguments has no intact block for hardware that does not preload',
    source: SOURCES.preload,
  },
  'abi/target': {
    severity: 'error',
    title: 'The target or its features differ from the baseline',
    source: SOURCES.targetId,
    isFixable: true,
  },
  'abi/user-sgprs-changed': {
    severity: 'error',
    title: 'The kernel starts with other user SGPRs than the baseline',
    source: SOURCES.initialState,
    isFixable: true,
  },
  'abi/user-sgprs': {
    severity: 'error',
    title: 'The kernel enables more user SGPRs than its descriptor loads',
    source: SOURCES.initialState,
  },
  'abi/wavefront-size': {
    severity: 'error',
    title: 'The wavefront size differs from the baseline',
    source: SOURCES.dispatch,
    isFixable: true,
  },
  'abi/workgroup-size': {
    severity: 'error',
    title: 'The kernel requires another workgroup size, or allows fewer work-items, than the baseline',
    source: SOURCES.dispatch,
    isFixable: true,
  },
  'control-flow/branch-target': {
    severity: 'error',
    title:
      'A branch or call goes to a place that holds no instruction: outside of the code, or into the middle of an instruction',
    source: SOURCES.flow,
  },
  'control-flow/clobbered': {
    severity: 'error',
    title:
      'An instruction that the edit inserted overwrites a register between its definition and a use that both files have',
    source: SOURCES.operands,
  },
  'control-flow/divergent-barrier': {
    severity: 'note',
    title: 'A barrier is reached or not depending on an `s_cbranch_execz` or `s_cbranch_execnz`',
    source: SOURCES.flow,
    shown: 'notes',
  },
  'control-flow/exec-not-restored': {
    severity: 'warning',
    title: 'The EXEC that an `s_…_saveexec` saved is never used again, and vector code follows the region',
    source: SOURCES.flow,
    isEditUnsafe: true,
    isFixable: true,
  },
  'control-flow/maybe-uninitialised': {
    severity: 'note',
    title: 'A register is read that only some paths write',
    source: SOURCES.initialState,
    shown: 'notes',
  },
  'control-flow/no-end': {
    severity: 'error',
    title:
      'Execution goes on past the last instruction of a kernel or function, into data, padding that is no instruction, or the end of the section',
    source: SOURCES.flow,
    isEditUnsafe: true,
    isFixable: true,
  },
  'control-flow/reordered': {
    severity: 'error',
    title:
      'An instruction that both files have reads another value than in the baseline, because instructions changed places',
    source: SOURCES.operands,
  },
  'control-flow/uninitialised': {
    severity: 'error',
    title: 'An instruction computes with a register that nothing before it writes, on any path',
    source: SOURCES.initialState,
  },
  'control-flow/unreachable': {
    severity: 'note',
    title: 'Instructions of a kernel that no path from its entry reaches',
    source: SOURCES.flow,
    shown: 'notes',
  },
  'hazards/div-fmas': {
    severity: 'error',
    title: '`v_div_fmas` reads VCC too shortly after a vector instruction wrote it',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/dot': {
    severity: 'error',
    title: 'The result of a dot product is read or overwritten too early',
    source: SOURCES.matrixWaitStates,
    isFixable: true,
  },
  'hazards/dpp': {
    severity: 'error',
    title: 'A DPP instruction reads a VGPR too shortly after a vector instruction wrote it',
    source: SOURCES.waitStates,
    isFixable: true,
    seen: '1 of 2 wait states: 10 kernels',
  },
  'hazards/exec': {
    severity: 'error',
    title: 'A vector instruction that writes EXEC is followed too early by one that needs the new lanes',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/lane-select': {
    severity: 'error',
    title:
      '`v_readlane` or `v_writelane` selects a lane with an SGPR that a vector instruction wrote too shortly before',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/m0': {
    severity: 'error',
    title: 'An instruction reads M0 right after a scalar instruction wrote it',
    source: SOURCES.waitStates,
    isFixable: true,
    seen: 'loads to LDS right behind s_mov and s_add of M0: 59 kernels',
  },
  'hazards/matrix-overwrite': {
    severity: 'error',
    title: 'A vector or memory instruction overwrites the result or the C operand of a matrix instruction too early',
    source: SOURCES.matrixWaitStates,
    isFixable: true,
    seen: 'vector instructions half of the passes behind: 6 kernels',
  },
  'hazards/matrix-result': {
    severity: 'error',
    title: 'A vector or memory instruction reads the result of a matrix instruction too early',
    source: SOURCES.matrixWaitStates,
    isFixable: true,
    seen: 'vector instructions half of the passes behind: 19 kernels',
  },
  'hazards/matrix-source': {
    severity: 'error',
    title: 'A matrix instruction takes the result of another too early',
    source: SOURCES.matrixWaitStates,
    isFixable: true,
  },
  'hazards/matrix-to-fma64': {
    severity: 'error',
    title: 'A double precision fused multiply-add follows a double precision matrix instruction too early',
    source: SOURCES.matrixWaitStates,
    isFixable: true,
  },
  'hazards/partial-write': {
    severity: 'error',
    title: 'A vector instruction reads or writes a register of which the one before wrote a part (gfx942, gfx950)',
    source: SOURCES.hazardRecognizer,
    isFixable: true,
  },
  'hazards/permlane': {
    severity: 'error',
    title: 'A permlane swap follows a vector instruction that wrote one of its registers (gfx950)',
    source: SOURCES.waitStates,
    isFixable: true,
    seen: '1 of 2 wait states, 0 between two swaps: 4 kernels',
  },
  'hazards/readlane': {
    severity: 'error',
    title: '`v_readlane` or `v_readfirstlane` reads a VGPR right after a vector instruction wrote it (gfx942, gfx950)',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/scalar-to-memory': {
    severity: 'error',
    title: 'A vector memory instruction reads an SGPR, VCC or EXEC that a vector instruction wrote too shortly before',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/scalar-to-vector': {
    severity: 'error',
    title:
      'A vector instruction reads an SGPR or VCC that a vector instruction wrote too shortly before (gfx942, gfx950)',
    source: SOURCES.waitStates,
    isFixable: true,
    seen: 'v_cmp to v_cndmask, v_add_co to v_addc_co, v_readlane to v_mov, v_writelane and v_mul_lo: 55 kernels',
  },
  'hazards/setreg': {
    severity: 'error',
    title: 'A hardware register is read or written again too shortly after `s_setreg`',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/store-data': {
    severity: 'error',
    title: 'A vector instruction overwrites the data of a store of more than 64 bits',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/store-data-scalar': {
    severity: 'note',
    title: 'A vector instruction overwrites the data of a wide buffer store with an SGPR offset (gfx942, gfx950)',
    source: SOURCES.hazardRecognizerMain,
    isFixable: true,
  },
  'hazards/packed-high-half': {
    severity: 'note',
    title: 'A packed f32 instruction takes the low result of its second source from the high half (gfx950)',
    source: SOURCES.packedHighHalf,
  },
  'hazards/trans': {
    severity: 'error',
    title: 'A vector instruction reads the result of a transcendental one right after it (gfx942, gfx950)',
    source: SOURCES.waitStates,
    isFixable: true,
  },
  'hazards/vector-to-matrix': {
    severity: 'error',
    title: 'A matrix instruction reads a register that a vector instruction wrote too shortly before',
    source: SOURCES.matrixWaitStates,
    isFixable: true,
    seen: '1 of 2 wait states: 2 kernels',
  },
  'hazards/xnack-clause': {
    severity: 'error',
    shown: 'notes',
    title: 'With XNACK on, memory instructions in a row overwrite what one of them reads',
    source: SOURCES.hazardRecognizer,
    isFixable: true,
  },
  'memory/cache-operation-lost': {
    severity: 'error',
    title: 'A cache write-back or invalidate of the baseline is gone',
    source: SOURCES.memoryModel,
    isFixable: true,
  },
  'memory/invalidate-order': {
    severity: 'warning',
    title: '`buffer_inv` may run before a returning atomic has come back',
    source: SOURCES.memoryModel,
    isFixable: true,
  },
  'memory/lds-bounds': {
    severity: 'error',
    title: "An LDS instruction touches bytes behind the kernel's segment",
    source: SOURCES.lds,
  },
  'memory/kernarg-bounds': {
    severity: 'error',
    title: "A scalar load reads behind the kernel's arguments",
    source: SOURCES.scalarMemory,
  },
  'memory/empty-buffer': {
    severity: 'warning',
    title: 'A buffer instruction goes to a resource of 0 records',
    source: SOURCES.memory,
  },
  'modes/omod-ignored': {
    severity: 'warning',
    title:
      'An output modifier (`mul:2`, `mul:4`, `div:2`) that hardware ignores: IEEE mode is on, or results keep denormals',
    source: SOURCES.operands,
  },
  'memory/write-back-order': {
    severity: 'warning',
    title: 'A store, an atomic or a barrier follows `buffer_wbl2` with no `s_waitcnt vmcnt(0)` between',
    source: SOURCES.memoryModel,
    isFixable: true,
    seen: 'LLVM 22 drops the wait where it counts nothing as outstanding',
  },
  'resources/accum-offset': {
    severity: 'error',
    title: 'The code uses VGPRs where the AGPRs would start',
    source: SOURCES.descriptor,
    isFixable: true,
  },
  'resources/agprs': {
    severity: 'error',
    title: 'The code names an AGPR above what the kernel descriptor allocates',
    source: SOURCES.descriptor,
    isFixable: true,
  },
  'resources/does-not-fit': {
    severity: 'error',
    title: 'A workgroup of the required size cannot start',
    source: SOURCES.descriptor,
  },
  'resources/lds': {
    severity: 'error',
    title: 'The kernel asks for more LDS than a workgroup of the target may have',
    source: SOURCES.descriptor,
  },
  'resources/metadata': {
    severity: 'error',
    title: 'Metadata and descriptor, or metadata and itself, disagree',
    source: SOURCES.metadata,
    isFixable: true,
    seen: 'descriptors that leave a segment size at zero: 76 kernels',
  },
  'resources/occupancy': {
    severity: 'warning',
    title: 'More or fewer wavefronts of the kernel fit on a SIMD',
    source: SOURCES.kernelState,
  },
  'resources/scratch': {
    severity: 'error',
    title: 'The code accesses scratch memory, but the kernel has none',
    source: SOURCES.descriptor,
  },
  'resources/sgprs': {
    severity: 'error',
    title: 'The code names an SGPR above what the kernel descriptor allocates',
    source: SOURCES.descriptor,
    isFixable: true,
  },
  'resources/vgprs': {
    severity: 'error',
    title: 'The code names a VGPR above what the kernel descriptor allocates',
    source: SOURCES.descriptor,
    isFixable: true,
  },
  'waits/barrier-before-read': {
    severity: 'warning',
    title: 'A barrier may be passed before LDS has been read that is overwritten behind it',
    source: SOURCES.dependency,
    isFixable: true,
  },
  'waits/barrier-before-write': {
    severity: 'warning',
    title: 'A barrier may be passed before LDS has been written',
    source: SOURCES.dependency,
    isFixable: true,
  },
  'waits/lds-dma': {
    severity: 'error',
    title:
      'A load into LDS (`buffer_load … lds`, `global_load_lds`) that no wait proves complete before any LDS read behind it',
    source: SOURCES.dependency,
    isFixable: true,
  },
  'waits/order-lost': {
    severity: 'error',
    title:
      'At a barrier, an atomic, a cache operation or an LDS read the edit may have memory operations outstanding that the baseline has proved complete there',
    source: SOURCES.dependency,
    isFixable: true,
  },
  'waits/read-before-return': {
    severity: 'error',
    title: 'A register is read while the memory operation that writes it may still be outstanding',
    source: SOURCES.dependency,
    isFixable: true,
  },
  'waits/too-strong': {
    severity: 'note',
    title: 'An `s_waitcnt` waits for more than the code behind it needs',
    source: SOURCES.dependency,
    shown: 'notes',
    isEditUnsafe: true,
    isFixable: true,
  },
  'waits/write-before-return': {
    severity: 'error',
    title: 'A register is overwritten while a memory operation that writes it too may still be outstanding',
    source: SOURCES.dependency,
    isFixable: true,
  },
} as const satisfies Readonly<Record<string, RuleInfo>>;
