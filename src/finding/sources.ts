// The documents that rules come from: how they are cited, and where they can be read.

/** A section of a public document. */
export interface Source {
  /** As findings cite it. */
  readonly title: string;
  readonly url: string;
}

const ISA_MANUALS = 'https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/instruction-set-architectures';
const AMDGPU_USAGE = 'https://llvm.org/docs/AMDGPUUsage.html';
const LLVM = 'https://github.com/llvm/llvm-project/blob/llvmorg-22.1.0/llvm/lib/Target/AMDGPU';

/** A section of the CDNA3 manual; the CDNA2 and CDNA4 manuals have the same sections. */
function manual(section: string): Source {
  return {
    title: `CDNA3 ISA manual, "${section}"`,
    url: `${ISA_MANUALS}/amd-instinct-mi300-cdna3-instruction-set-architecture.pdf`,
  };
}

function usage(section: string, anchor: string): Source {
  return { title: `LLVM AMDGPUUsage, "${section}"`, url: `${AMDGPU_USAGE}#${anchor}` };
}

/** All of them, by a short name. */
export const SOURCES = {
  dependency: manual('Data Dependency Resolution'),
  waitStates: manual('Manually Inserted Wait States (NOPs)'),
  matrixWaitStates: manual('Dependency Resolution: Required Independent Instructions'),
  flow: manual('Program Flow Control'),
  operands: manual('Instructions'),
  kernelState: manual('Wave State Registers'),
  memory: manual('Vector Memory Operations'),
  scalarMemory: manual('Scalar Memory Operations'),
  lds: manual('Data Share Operations'),
  barrier: manual('S_BARRIER'),
  hazardRecognizer: {
    title: 'LLVM 22, GCNHazardRecognizer',
    url: `${LLVM}/GCNHazardRecognizer.cpp`,
  },
  hazardRecognizerMain: {
    title: "LLVM's main branch after 22, GCNHazardRecognizer",
    url: 'https://github.com/llvm/llvm-project/blob/main/llvm/lib/Target/AMDGPU/GCNHazardRecognizer.cpp',
  },
  packedHighHalf: {
    title: 'rocMLIR, "Disable packed FP32 on gfx950" (ROCm/rocMLIR#2459)',
    url: 'https://github.com/ROCm/rocMLIR/pull/2459',
  },
  descriptor: usage('Kernel Descriptor', 'kernel-descriptor'),
  metadata: usage('Code Object Metadata', 'code-object-metadata'),
  dispatch: usage('Kernel Dispatch', 'kernel-dispatch'),
  initialState: usage('Initial Kernel Execution State', 'initial-kernel-execution-state'),
  kernarg: usage('Kernarg Segment', 'kernel-descriptor'),
  preload: usage('Preloaded Kernel Arguments', 'preloaded-kernel-arguments'),
  targetId: usage('Target ID', 'target-id'),
  codeObject: usage('Code Object', 'code-object'),
  memoryModel: usage('Memory Model gfx942', 'memory-model-gfx942'),
  rocprofv3: {
    title: 'rocprofiler-sdk, "Using rocprofv3"',
    url: 'https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/using-rocprofv3.html',
  },
  rocpd: {
    title: 'rocprofiler-sdk, "Using rocpd output format"',
    url: 'https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/using-rocpd-output-format.html',
  },
  threadTrace: {
    title: 'rocprofiler-sdk, "Using thread trace"',
    url: 'https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/using-thread-trace.html',
  },
  rocprofCompute: {
    title: 'ROCm Compute Profiler',
    url: 'https://rocm.docs.amd.com/projects/rocprofiler-compute/en/latest/index.html',
  },
} as const satisfies Readonly<Record<string, Source>>;
