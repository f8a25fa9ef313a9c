// What differs between targets, as data: identity, register and LDS budgets, features.
// Source: LLVM AMDGPUUsage (EF_AMDGPU_MACH, target features), LLVM's GCNSubtarget limits, CDNA ISA manuals.
import { FEATURES } from '../generated/features.ts';
import type { TargetName } from '../types.ts';
import {
  GFX90A_MATRIX,
  GFX90A_WAITS,
  GFX942_MATRIX,
  GFX942_WAITS,
  GFX950_MATRIX,
  GFX950_WAITS,
  type MatrixWaits,
  type WaitTable,
} from './hazards.ts';
import { TARGET_NAMES } from './target-names.ts';

export interface TargetInfo {
  readonly name: TargetName;
  /** EF_AMDGPU_MACH value of e_flags. */
  readonly elfMach: number;
  /** LDS bytes a workgroup may use. */
  readonly ldsBytes: number;
  /** LDS is handed out in multiples of this many bytes. */
  readonly ldsGranule: number;
  /** Unified vector registers (VGPR + AGPR) of one SIMD lane. */
  readonly vgprTotal: number;
  /** Registers of each vector file that an instruction can name. */
  readonly vgprAddressable: number;
  readonly agprAddressable: number;
  /** Vector registers are handed out in multiples of this; AGPRs start at a multiple of 4 (`accum_offset`). */
  readonly vgprGranule: number;
  /** SGPRs of one SIMD; only the encoding of the descriptor uses the granule on these targets. */
  readonly sgprTotal: number;
  readonly sgprAddressable: number;
  readonly sgprGranule: number;
  readonly maxWavesPerSimd: number;
  readonly simdsPerCu: number;
  readonly wavefrontSize: number;
  readonly maxWorkgroupSize: number;
  /** Bytes after the start of an instruction that the decoder looks at. */
  readonly maxInstructionBytes: number;
  /** Scratch base comes from the architected FLAT_SCRATCH, not from SGPRs. */
  readonly architectedFlatScratch: boolean;
  /** Workitem ids are packed into v0, 10 bits each. */
  readonly packedWorkitemId: boolean;
  /** The first kernel arguments can be loaded into SGPRs before the wavefront starts. */
  readonly kernargPreload: boolean;
  /** Whether code objects choose the feature in their target id (`gfx942:sramecc+:xnack-`). */
  readonly supportsXnack: boolean;
  readonly supportsSramecc: boolean;
  /** Cache policy bits are called sc0, nt, sc1 instead of glc, slc, scc. */
  readonly scopedCachePolicy: boolean;
  /** FP8 and BF8 are the OCP formats (else FNUZ, with one zero and no infinity). */
  readonly ocpFloat8: boolean;
  /** How matrix instructions add products of narrow floats: rounded pair by pair (CDNA2), or cut to the largest exponent (CDNA3). */
  readonly matrixSums: 'pairwise' | 'truncating';
  /** Packed f32 results of the low half are wrong now and then where the second source is the high half. Source: ROCm/rocMLIR#2459. */
  readonly packedHighHalfFlaw: boolean;
  /** Data types whose matrix instructions have hardware counters (`SQ_INSTS_VALU_MFMA_F16`). */
  readonly matrixCounters: readonly string[];
  /** Counters of the requests from L2 to memory: the block's name, and those that tell read requests which are not of 64 bytes. */
  readonly memoryCounters: { readonly block: string; readonly otherReads: readonly string[] };
  /** Bytes of a line of the vector data cache of a compute unit. Source: AMD's CDNA 2 and CDNA 3 white papers. */
  readonly vectorCacheLine: number;
  /** How LDS serves a wavefront's banks is published. */
  readonly publishedLdsBanks: boolean;
  /** Wait states that software owes the hardware. */
  readonly waits: WaitTable;
  readonly matrixWaits: MatrixWaits;
  /** The product that a virtual device of this target stands for. */
  readonly board: Board;
  /** LLVM's subtarget features (`GFX940Insts`, `MAIInsts`, …), without `Feature`. */
  readonly features: ReadonlySet<string>;
}

/** One device of a product, as HIP shows it. Source: AMD's product pages and data sheets. */
export interface Board {
  readonly name: string;
  readonly computeUnits: number;
  /** Peak engine clock. */
  readonly clockMhz: number;
  /** Accelerator complex dies. */
  readonly xccs: number;
  readonly l2Channels: number;
  /** Memory of the device. */
  readonly memoryGib: number;
}

const COMMON = {
  vgprTotal: 512,
  vgprAddressable: 256,
  agprAddressable: 256,
  vgprGranule: 8,
  sgprTotal: 800,
  sgprAddressable: 102,
  sgprGranule: 16,
  maxWavesPerSimd: 8,
  simdsPerCu: 4,
  wavefrontSize: 64,
  maxWorkgroupSize: 1024,
};

const MATRIX_COUNTERS = ['F16', 'BF16', 'F32', 'F64', 'I8'];

/** Facts that LLVM's features do not say. */
type OwnFacts = Pick<
  TargetInfo,
  | 'elfMach'
  | 'ldsBytes'
  | 'ldsGranule'
  | 'maxInstructionBytes'
  | 'ocpFloat8'
  | 'matrixSums'
  | 'matrixCounters'
  | 'memoryCounters'
  | 'packedHighHalfFlaw'
  | 'vectorCacheLine'
  | 'publishedLdsBanks'
  | 'waits'
  | 'matrixWaits'
  | 'board'
>;

const PER_TARGET: Readonly<Record<TargetName, OwnFacts>> = {
  gfx90a: {
    elfMach: 0x3f,
    ldsBytes: 65536,
    ldsGranule: 512,
    maxInstructionBytes: 8,
    ocpFloat8: false,
    matrixSums: 'pairwise',
    packedHighHalfFlaw: false,
    matrixCounters: MATRIX_COUNTERS,
    memoryCounters: { block: 'TCC_EA', otherReads: ['TCC_EA_RDREQ_32B'] },
    vectorCacheLine: 64,
    publishedLdsBanks: true,
    waits: GFX90A_WAITS,
    matrixWaits: GFX90A_MATRIX,
    board: { name: 'AMD Instinct MI210', computeUnits: 104, clockMhz: 1700, xccs: 1, l2Channels: 32, memoryGib: 64 },
  },
  gfx942: {
    elfMach: 0x4c,
    ldsBytes: 65536,
    ldsGranule: 512,
    maxInstructionBytes: 8,
    ocpFloat8: false,
    matrixSums: 'truncating',
    packedHighHalfFlaw: false,
    matrixCounters: [...MATRIX_COUNTERS, 'F8'],
    memoryCounters: { block: 'TCC_EA0', otherReads: ['TCC_EA0_RDREQ_32B', 'TCC_BUBBLE'] },
    vectorCacheLine: 128,
    publishedLdsBanks: true,
    waits: GFX942_WAITS,
    matrixWaits: GFX942_MATRIX,
    board: { name: 'AMD Instinct MI300X', computeUnits: 304, clockMhz: 2100, xccs: 8, l2Channels: 128, memoryGib: 192 },
  },
  gfx950: {
    elfMach: 0x4f,
    ldsBytes: 163840,
    ldsGranule: 1280,
    maxInstructionBytes: 16,
    ocpFloat8: true,
    matrixSums: 'truncating',
    packedHighHalfFlaw: true,
    matrixCounters: [...MATRIX_COUNTERS, 'F8', 'XF32', 'F6F4'],
    memoryCounters: { block: 'TCC_EA0', otherReads: ['TCC_EA0_RDREQ_32B', 'TCC_EA0_RDREQ_128B'] },
    vectorCacheLine: 128,
    publishedLdsBanks: false,
    waits: GFX950_WAITS,
    matrixWaits: GFX950_MATRIX,
    board: { name: 'AMD Instinct MI350X', computeUnits: 256, clockMhz: 2200, xccs: 8, l2Channels: 128, memoryGib: 288 },
  },
};

function makeInfo(name: TargetName): TargetInfo {
  const features: ReadonlySet<string> = new Set((FEATURES[name] ?? '').split(' '));
  return {
    name,
    ...COMMON,
    ...PER_TARGET[name],
    architectedFlatScratch: features.has('ArchitectedFlatScratch'),
    packedWorkitemId: features.has('PackedTID'),
    kernargPreload: features.has('KernargPreload'),
    supportsXnack: features.has('SupportsXNACK'),
    supportsSramecc: features.has('SupportsSRAMECC'),
    scopedCachePolicy: features.has('GFX940Insts'),
    features,
  };
}

/** The target of commands that are not told one. */
export const DEFAULT_TARGET: TargetName = 'gfx942';

/** `gfx90a, gfx942 and gfx950`, for messages. */
export const TARGET_LIST = `${TARGET_NAMES.slice(0, -1).join(', ')} and ${TARGET_NAMES.at(-1)}`;

const infos = new Map<TargetName, TargetInfo>();

/** The properties of a target. */
export function targetInfo(name: TargetName): TargetInfo {
  let info = infos.get(name);
  if (info === undefined) {
    info = makeInfo(name);
    infos.set(name, info);
  }
  return info;
}

/** The target of an EF_AMDGPU_MACH value (`e_flags & 0xff`), or undefined. */
export function targetFromElfMach(mach: number): TargetName | undefined {
  return TARGET_NAMES.find((name) => PER_TARGET[name].elfMach === mach);
}

/** Whether a text names a supported target. */
export function isTargetName(text: string): text is TargetName {
  return (TARGET_NAMES as readonly string[]).includes(text);
}
