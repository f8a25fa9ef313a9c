// Room `profile/arch`: what chips can do and how counters become metrics, as data with provenance.
// Begin with this file, then metrics.ts.
//
// What the chips can do, as data with provenance. Rates are operations per CU and clock; GFLOP/s = rate * CUs * MHz / 1000.
// Source: rocprofiler-compute src/rocprof_compute_soc/analysis_configs/<arch>/0200_system_speed_of_light.yaml, AMD CDNA2,
// CDNA3 and CDNA4 white papers (peak tables), rocm.docs.amd.com "GPU hardware specifications".

/** One arithmetic roof. */
export interface Rate {
  readonly id: string;
  readonly label: string;
  /** Operations per CU and clock cycle. */
  readonly perCuClock: number;
  readonly source: string;
}

/** Bandwidth of one on-chip memory level. */
export interface LevelRate {
  readonly level: 'L2' | 'L1' | 'LDS';
  /** Bytes per clock and unit. */
  readonly bytes: number;
  /** The same of what instructions ask for, where AMD's formula over counters does not reach it. */
  readonly requestedBytes?: number;
  readonly unit: 'cu' | 'l2-channel';
  readonly source: string;
}

export interface Chip {
  readonly arch: string;
  readonly name: string;
  readonly rates: readonly Rate[];
  readonly levels: readonly LevelRate[];
  /** XCCs that every GPU of the architecture has, where they are not a matter of the product and its partition. */
  readonly xccs?: number;
  /** The most CUs, and the L2 channels, of an XCC. */
  readonly cusPerXcc: number;
  readonly l2PerXcc: number;
}

const CDNA1 = 'AMD CDNA white paper, table of peak rates (MI100, 120 CUs at 1502 MHz)';
const SOL = 'rocprofiler-compute 0200_system_speed_of_light.yaml';

function rates(mfmaF16: number, mfmaF32: number, mfmaF64: number, mfmaI8: number, more: readonly Rate[]): Rate[] {
  return [
    { id: 'fp32-valu', label: 'VALU FP32 (one operation per lane)', perCuClock: 128, source: SOL },
    {
      id: 'fp32-packed',
      label: 'VALU FP32 packed (v_pk_fma_f32)',
      perCuClock: 256,
      source: 'AMD CDNA2/3/4 white papers: 256 FP32 FLOP per CU and clock with packed instructions',
    },
    {
      id: 'fp64-valu',
      label: 'VALU FP64',
      perCuClock: 128,
      source: 'AMD CDNA2/3 white papers: 128 FP64 FLOP per CU and clock',
    },
    { id: 'f16-mfma', label: 'MFMA F16', perCuClock: mfmaF16, source: SOL },
    { id: 'bf16-mfma', label: 'MFMA BF16', perCuClock: mfmaF16, source: SOL },
    { id: 'f32-mfma', label: 'MFMA F32', perCuClock: mfmaF32, source: SOL },
    { id: 'f64-mfma', label: 'MFMA F64', perCuClock: mfmaF64, source: SOL },
    { id: 'i8-mfma', label: 'MFMA I8', perCuClock: mfmaI8, source: SOL },
    ...more,
  ];
}

/** The supported chips by architecture. */
export const CHIPS: Readonly<Record<string, Chip>> = {
  gfx908: {
    arch: 'gfx908',
    name: 'CDNA1 (MI100)',
    xccs: 1,
    cusPerXcc: 128,
    l2PerXcc: 32,
    rates: [
      { id: 'fp32-valu', label: 'VALU FP32', perCuClock: 128, source: CDNA1 },
      { id: 'fp64-valu', label: 'VALU FP64', perCuClock: 64, source: CDNA1 },
      { id: 'f16-mfma', label: 'MFMA F16', perCuClock: 1024, source: CDNA1 },
      { id: 'bf16-mfma', label: 'MFMA BF16', perCuClock: 512, source: CDNA1 },
      { id: 'f32-mfma', label: 'MFMA F32', perCuClock: 256, source: CDNA1 },
      { id: 'i8-mfma', label: 'MFMA I8', perCuClock: 1024, source: CDNA1 },
    ],
    levels: [
      { level: 'LDS', bytes: 128, unit: 'cu', source: SOL },
      { level: 'L1', bytes: 64, unit: 'cu', source: SOL },
      { level: 'L2', bytes: 64, unit: 'l2-channel', source: SOL },
    ],
  },
  gfx90a: {
    arch: 'gfx90a',
    name: 'CDNA2 (MI200)',
    xccs: 1,
    cusPerXcc: 112,
    l2PerXcc: 32,
    rates: rates(1024, 256, 256, 1024, []),
    levels: [
      { level: 'LDS', bytes: 128, unit: 'cu', source: SOL },
      { level: 'L1', bytes: 64, unit: 'cu', source: SOL },
      {
        level: 'L2',
        bytes: 128,
        unit: 'l2-channel',
        source: `AMD CDNA 2 white paper; the 64 of ${SOL} are fewer than the 5,018 GB/s that AMD's roofline measures on a die`,
      },
    ],
  },
  gfx942: {
    arch: 'gfx942',
    name: 'CDNA3 (MI300)',
    cusPerXcc: 40,
    l2PerXcc: 16,
    rates: rates(2048, 256, 256, 4096, [{ id: 'f8-mfma', label: 'MFMA F8', perCuClock: 4096, source: SOL }]),
    levels: [
      { level: 'LDS', bytes: 128, unit: 'cu', source: SOL },
      { level: 'L1', bytes: 128, unit: 'cu', source: SOL },
      { level: 'L2', bytes: 128, unit: 'l2-channel', source: SOL },
    ],
  },
  gfx950: {
    arch: 'gfx950',
    name: 'CDNA4 (MI350)',
    cusPerXcc: 36,
    l2PerXcc: 16,
    rates: rates(4096, 256, 128, 8192, [
      { id: 'f8-mfma', label: 'MFMA F8', perCuClock: 8192, source: SOL },
      {
        id: 'f6f4-mfma',
        label: 'MFMA F6/F4',
        perCuClock: 16384,
        source: `${SOL} (its 16834 is a misprint of 16384: AMD gives 10.07 PFLOP/s for 256 CUs at 2400 MHz)`,
      },
    ]),
    levels: [
      {
        level: 'LDS',
        bytes: 128,
        requestedBytes: 256,
        unit: 'cu',
        source: `${SOL}; the CDNA4 white paper doubles the read rate, which the tool does not model`,
      },
      { level: 'L1', bytes: 128, unit: 'cu', source: SOL },
      { level: 'L2', bytes: 128, unit: 'l2-channel', source: SOL },
    ],
  },
};

/** HBM peak in GB/s from memory clock and channels: 32 bytes per channel and clock (rocprofiler-compute utils/parser.py). */
export function hbmPeak(memoryClockMhz: number, channels: number): number {
  return (memoryClockMhz / 1000) * 32 * channels;
}

/** HBM peaks of products whose recording does not carry memory clock and channel count, from AMD's data sheets (GB/s). */
const PRODUCT_HBM: readonly { readonly name: RegExp; readonly gbps: number }[] = [
  // rocprof-compute writes `MI350` for both.
  { name: /MI35[05]/i, gbps: 8000 },
  { name: /MI325X/i, gbps: 6000 },
  { name: /MI300[XA]/i, gbps: 5300 },
  { name: /MI2(?:00|10|50X?)/i, gbps: 1638.4 },
  { name: /MI100/i, gbps: 1228.8 },
];

/** Data-sheet HBM peak of a product by its marketing name; MI250 is per die, as the runtime shows it; MI200 is what rocprof-compute calls each of them. */
export function productHbmPeak(name: string | undefined): number | undefined {
  return name === undefined ? undefined : PRODUCT_HBM.find((product) => product.name.test(name))?.gbps;
}

/** CUs of an XCC of products, from AMD's data sheets: those that are switched on. */
const PRODUCT_CUS: readonly { readonly name: RegExp; readonly cus: readonly number[] }[] = [
  { name: /\bMI100(?![0-9])/i, cus: [120] },
  { name: /\bMI2(?:00|10|50X?)(?![0-9])/i, cus: [104, 110] },
  { name: /\bMI3(?:00[AX]|25X)(?![0-9])/i, cus: [38] },
  { name: /\bMI35[05]X?(?![0-9])/i, cus: [32] },
];

/** How many CUs an XCC of a product may have by its marketing name; undefined for names that are not known. */
export function productCus(name: string | undefined): readonly number[] | undefined {
  return name === undefined ? undefined : PRODUCT_CUS.find((product) => product.name.test(name))?.cus;
}

/** Architectures of products, from AMD's data sheets. */
const PRODUCT_ARCH: readonly { readonly name: RegExp; readonly arch: string }[] = [
  { name: /\bMI100(?![0-9])/i, arch: 'gfx908' },
  { name: /\bMI2(?:00|10|50X?)(?![0-9])/i, arch: 'gfx90a' },
  { name: /\bMI3(?:00[AX]?|08X|25X)(?![0-9])/i, arch: 'gfx942' },
  { name: /\bMI35[05]X?(?![0-9])/i, arch: 'gfx950' },
];

/** The architecture of a product by its marketing name; undefined for names that are not known. */
export function productArch(name: string | undefined): string | undefined {
  return name === undefined ? undefined : PRODUCT_ARCH.find((product) => product.name.test(name))?.arch;
}

/** XCCs of whole packages, from AMD's data sheets: the runtime shows a partition of one as a GPU with fewer. */
const PACKAGE_XCCS: readonly { readonly name: RegExp; readonly xccs: number }[] = [
  { name: /MI3(?:00X|25X|50|55)/i, xccs: 8 },
  { name: /MI300A/i, xccs: 6 },
];

/** How many XCCs a product has by its marketing name; undefined for those that are not partitioned. */
export function packageXccs(name: string | undefined): number | undefined {
  return name === undefined ? undefined : PACKAGE_XCCS.find((product) => product.name.test(name))?.xccs;
}

/** Cycles that the dispatcher of an XCC takes for a wave and for a workgroup, and whether hardware was measured. */
export interface Dispatcher {
  readonly wave: number;
  readonly workgroup: number;
  readonly isMeasured: boolean;
}

/**
 * Up to CDNA2 nobody measured it. A fill of AMD's published Omniperf workloads starts 131,072 workgroups of four waves in 384,563 cycles on gfx90a, and
 * memory may limit that: the rate is no lower, and the timing model has it (src/device/sim/timing/chips/mi210.ts).
 */
const DISPATCHERS: Readonly<Record<string, Dispatcher>> = {
  gfx908: { wave: 0.73, workgroup: 2.93, isMeasured: false },
  gfx90a: { wave: 0.73, workgroup: 2.93, isMeasured: false },
};

/**
 * The dispatcher of an architecture with so many XCCs. MI300X: a cycle for a wave, and one for each XCC that a workgroup goes past (empty kernels: 16.9
 * cycles a workgroup of 16 waves, 8.03 a workgroup of a die).
 */
export const dispatcherOf = (arch: string | undefined, xccs: number): Dispatcher =>
  DISPATCHERS[arch ?? ''] ?? { wave: 1, workgroup: xccs, isMeasured: true };
