// Microbenchmarks on the model beside published measurements: small kernels in assembler, whose times are slopes over their length.
// Measured figures: ../shared/timing/mi300x/README.md (sarchlab/mgpusim), the matrix tables of AMD's matrix instruction calculator.

import { assemble } from '../../src/asm/index.ts';
import { writeObject } from '../../src/codeobject/elf/write.ts';
import { readElf } from '../../src/codeobject/index.ts';
import type { SimDispatchResult } from '../../src/device/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { chipNamed } from '../../src/device/sim/timing/chips/index.ts';
import { TimingModel } from '../../src/device/sim/timing/model.ts';
import { analyseBlock } from '../../src/device/sim/timing/throughput.ts';
import { decoderFor } from '../../src/isa/codec/decode.ts';
import { copyNanoseconds } from '../../src/runtime/model-clock.ts';
import { kernelObject } from '../../tests/support/kernel-source.ts';

/** A figure that was measured, and the model's. */
export interface MicroRow {
  readonly what: string;
  readonly chip: string;
  readonly unit: string;
  readonly measured: number;
  readonly modelled: number;
}

/** A kernel to time: `code(n)` does its work n times. Two lengths give the slope. */
export interface Micro {
  readonly code: (n: number) => string;
  readonly lengths: readonly [number, number];
  readonly groups?: number;
  readonly threads?: number;
  readonly ldsBytes?: number;
  readonly vgprs?: number;
  readonly bytes?: number;
  /** Words to write before the launch: byte offset and value. */
  readonly words?: readonly (readonly [number, number])[];
}

const loop = (turns: number, body: string): string => `s_mov_b32 s9, ${turns}
.Lturn:
${body}
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lturn`;
const times = (n: number, line: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => line(i)).join('\n');

/** Cycles of the second of two launches of a micro of length `n`: caches are as an earlier launch leaves them. */
export async function microCycles(chipName: string, micro: Micro, n: number): Promise<number> {
  const chip = chipNamed(chipName);
  const device = new SimDevice(chip.target, {});
  const { ldsBytes = 0, vgprs = 64 } = micro;
  try {
    const { bytes } = kernelObject({
      target: chip.target,
      code: `s_mov_b32 s8, s2\ns_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n${micro.code(n)}`,
      descriptor: {
        next_free_sgpr: 32,
        next_free_vgpr: vgprs,
        accum_offset: vgprs,
        group_segment_fixed_size: ldsBytes,
        system_sgpr_workgroup_id_x: 1,
      },
      metadata: {
        '.group_segment_fixed_size': ldsBytes,
        '.max_flat_workgroup_size': 1024,
        '.vgpr_count': vgprs,
      },
    });
    const buffer = device.alloc(micro.bytes ?? 65536);
    for (const [offset, value] of micro.words ?? []) {
      device.write(buffer, new Uint8Array(Int32Array.of(value).buffer), offset);
    }
    const request = {
      kernel: device.load(bytes).kernel('k'),
      grid: [micro.groups ?? 1, 1, 1],
      block: [micro.threads ?? 64, 1, 1],
      args: [buffer],
      timing: new TimingModel(chip),
      sampleOnly: true,
    } as const;
    await device.dispatch(request);
    const result: SimDispatchResult = await device.dispatch(request);
    return result.timing?.cycles ?? Number.NaN;
  } finally {
    device.close();
  }
}

/** Cycles of each of the micro's turns. */
async function cyclesOf(chipName: string, micro: Micro): Promise<number> {
  const [short, long] = micro.lengths;
  const less = await microCycles(chipName, micro, short);
  return ((await microCycles(chipName, micro, long)) - less) / (long - short);
}

/** A random walk through all nodes of 64 bytes, or through 20,000 of them. */
function chase(bytes: number): Micro {
  const nodes = bytes / 64;
  const visited = Math.min(nodes, 20_000);
  let seed = 42;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const order = Array.from({ length: visited }, (_, i) => Math.floor((i * nodes) / visited));
  for (let n = visited - 1; n > 0; n--) {
    const other = random(n + 1);
    [order[n], order[other]] = [order[other] as number, order[n] as number];
  }
  const start = order.indexOf(0);
  const at = (n: number): number => order[(start + n) % visited] as number;
  const steps = Math.min(visited, 2000);
  // As clang compiles idx = array[idx] of a uniform index of 32 bits.
  const step = `s_ashr_i32 s5, s4, 31
s_lshl_b64 s[6:7], s[4:5], 2
s_add_u32 s6, s2, s6
s_addc_u32 s7, s3, s7
s_load_dword s4, s[6:7], 0x0
s_waitcnt lgkmcnt(0)`;
  const first = Math.max(1, Math.floor(steps / 16 / 2));
  return {
    code: (n) =>
      `s_mov_b32 s4, 0\n${loop(
        n / 16,
        times(16, () => step),
      )}`,
    // Small arrays are walked several times, as the measured program does.
    lengths: nodes <= 1024 ? [64 * 16, 128 * 16] : [first * 16, 2 * first * 16],
    bytes,
    words: order.map((_, n) => [at(n) * 64, at(n + 1) * 16] as const),
  };
}

/** One turn of a loop of independent instructions, `threads` in one workgroup. */
const turns = (body: string, threads: number): Micro => ({ code: (n) => loop(n, body), lengths: [256, 768], threads });

const LDS_CHAIN = `ds_read_b32 v2, v3
s_waitcnt lgkmcnt(0)
v_add_f32 v4, v4, v2
ds_write_b32 v3, v4`;

interface MicroCase {
  readonly what: string;
  readonly unit: string;
  readonly measured: number;
  readonly micro: Micro;
  /** Modelled cycles of a turn to the unit of the figure. */
  readonly scale?: number;
}

const kilobytes = (n: number): string => (n >= 1 << 20 ? `${n >> 20} MB` : `${n >> 10} KB`);
const CHASES: readonly (readonly [number, number])[] = [
  [16 << 10, 68],
  [256 << 10, 176],
  [2 << 20, 177],
  [16 << 20, 414],
  [64 << 20, 416],
  [128 << 20, 462],
  [192 << 20, 494],
  [256 << 20, 505],
  [384 << 20, 692],
  [512 << 20, 709],
];

const MI300X: readonly MicroCase[] = [
  ...CHASES.map(
    ([bytes, measured]): MicroCase => ({
      what: `scalar pointer chase, ${kilobytes(bytes)}`,
      unit: 'cycles a load',
      measured,
      micro: chase(bytes),
    }),
  ),
  {
    what: 'loop of LDS load, add, store without conflict, 1 wave',
    unit: 'cycles',
    measured: 101.5,
    micro: {
      code: (n) => `v_mov_b32 v3, v1\n${loop(n, `${LDS_CHAIN}\nv_add_u32 v3, 256, v3`)}`,
      lengths: [64, 192],
      ldsBytes: 65536,
    },
  },
  {
    what: 'LDS load, add, store with every lane in one bank, 16 waves',
    unit: 'cycles a wave',
    measured: 128,
    micro: {
      code: (n) =>
        `v_and_b32 v3, 31, v0\nv_lshlrev_b32 v3, 7, v3\nv_lshrrev_b32 v5, 5, v0\nv_lshl_add_u32 v3, v5, 2, v3\n${loop(
          n,
          times(8, () => LDS_CHAIN),
        )}`,
      lengths: [16, 48],
      threads: 1024,
      ldsBytes: 65536,
    },
    scale: 1 / 8 / 16,
  },
  {
    what: '4 packed f32 FMAs as 2 instructions and the loop, 1 wave',
    unit: 'cycles',
    measured: 36,
    micro: turns(
      times(2, (i) => `v_pk_fma_f32 v[${8 + 2 * i}:${9 + 2 * i}], v[4:5], v[6:7], v[${8 + 2 * i}:${9 + 2 * i}]`),
      256,
    ),
  },
  {
    what: 'the same, 4 waves on a SIMD',
    unit: 'cycles a wave',
    measured: 12,
    micro: turns(
      times(2, (i) => `v_pk_fma_f32 v[${8 + 2 * i}:${9 + 2 * i}], v[4:5], v[6:7], v[${8 + 2 * i}:${9 + 2 * i}]`),
      1024,
    ),
    scale: 1 / 4,
  },
  {
    what: '4 f64 FMAs and the loop, 1 wave',
    unit: 'cycles',
    measured: 56,
    micro: turns(
      times(4, (i) => `v_fma_f64 v[${8 + 2 * i}:${9 + 2 * i}], v[4:5], v[6:7], v[${8 + 2 * i}:${9 + 2 * i}]`),
      256,
    ),
  },
  {
    what: 'the same, 4 waves on a SIMD',
    unit: 'cycles a wave',
    measured: 21.6,
    micro: turns(
      times(4, (i) => `v_fma_f64 v[${8 + 2 * i}:${9 + 2 * i}], v[4:5], v[6:7], v[${8 + 2 * i}:${9 + 2 * i}]`),
      1024,
    ),
    scale: 1 / 4,
  },
  {
    what: '4 packed f16 FMAs and the loop, 1 wave',
    unit: 'cycles',
    measured: 56,
    micro: turns(
      times(4, (i) => `v_pk_fma_f16 v${8 + i}, v4, v5, v${8 + i}`),
      256,
    ),
  },
  {
    what: 'the same, 4 waves on a SIMD',
    unit: 'cycles a wave',
    measured: 20.7,
    micro: turns(
      times(4, (i) => `v_pk_fma_f16 v${8 + i}, v4, v5, v${8 + i}`),
      1024,
    ),
    scale: 1 / 4,
  },
  {
    what: '4 integer a * 3 + 1 as a shift-add and an addition, and the loop, 1 wave',
    unit: 'cycles',
    measured: 68,
    micro: turns(
      times(4, (i) => `v_lshl_add_u32 v${8 + i}, v${8 + i}, 1, v${8 + i}\nv_add_u32 v${8 + i}, 1, v${8 + i}`),
      256,
    ),
  },
  {
    what: 'one atomic addition of a wave to one address, 8192 waves',
    unit: 'cycles',
    measured: 19.9,
    micro: {
      code: (n) =>
        `s_mov_b64 exec, 1\nv_mov_b32 v2, 0\nv_mov_b32 v3, 1\n${times(n, () => 'global_atomic_add v2, v3, s[2:3]')}`,
      lengths: [16, 48],
      groups: 2048,
      threads: 256,
    },
    scale: 1 / 8192,
  },
];

/** Cycles that a die takes for a workgroup of an empty kernel. Source: slopes of micro_empty_kernel.csv. */
const DISPATCH: readonly (readonly [threads: number, measured: number])[] = [
  [64, 8.03],
  [256, 8.03],
  [1024, 16.9],
];
/** Copies on the device: MB and ms. Source: micro.csv, memory_bandwidth. */
const COPIES: readonly (readonly [megabytes: number, ms: number])[] = [
  [64, 0.03087],
  [128, 0.059842],
  [256, 0.130482],
  [1024, 0.532169],
  [4096, 2.218835],
];

/** Passes (4 cycles) by chip: mi210, mi300x, mi350x; 0 where there is no such instruction. Source: AMD's matrix instruction calculator. */
export const MATRIX: readonly (readonly [text: string, passes: readonly [number, number, number]])[] = [
  ['v_mfma_f32_32x32x1_2b_f32 v[0:31], v40, v41, v[0:31]', [16, 16, 16]],
  ['v_mfma_f32_16x16x1_4b_f32 v[0:15], v40, v41, v[0:15]', [8, 8, 8]],
  ['v_mfma_f32_4x4x1_16b_f32 v[0:3], v40, v41, v[0:3]', [2, 2, 2]],
  ['v_mfma_f32_32x32x2_f32 v[0:15], v40, v41, v[0:15]', [16, 16, 16]],
  ['v_mfma_f32_16x16x4_f32 v[0:3], v40, v41, v[0:3]', [8, 8, 8]],
  ['v_mfma_f32_32x32x8_f16 v[0:15], v[40:41], v[42:43], v[0:15]', [16, 8, 8]],
  ['v_mfma_f32_16x16x16_f16 v[0:3], v[40:41], v[42:43], v[0:3]', [8, 4, 4]],
  ['v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[40:41], v[42:43], v[0:15]', [0, 8, 8]],
  ['v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[40:41], v[42:43], v[0:3]', [0, 4, 4]],
  ['v_mfma_i32_16x16x32_i8 v[0:3], v[40:41], v[42:43], v[0:3]', [0, 4, 4]],
  ['v_mfma_i32_32x32x16_i8 v[0:15], v[40:41], v[42:43], v[0:15]', [0, 8, 8]],
  ['v_mfma_f32_16x16x8_xf32 v[0:3], v[40:41], v[42:43], v[0:3]', [0, 4, 0]],
  ['v_mfma_f32_32x32x4_xf32 v[0:15], v[40:41], v[42:43], v[0:15]', [0, 8, 0]],
  ['v_mfma_f64_16x16x4_f64 v[0:7], v[40:41], v[42:43], v[0:7]', [8, 8, 16]],
  ['v_mfma_f64_4x4x4_4b_f64 v[0:1], v[40:41], v[42:43], v[0:1]', [4, 4, 4]],
  ['v_smfmac_f32_16x16x32_f16 v[0:3], v[40:41], v[42:45], v46', [0, 4, 4]],
  ['v_smfmac_f32_32x32x16_f16 v[0:15], v[40:41], v[42:45], v46', [0, 8, 8]],
  ['v_mfma_f32_16x16x32_f16 v[0:3], v[40:43], v[44:47], v[0:3]', [0, 0, 4]],
  ['v_mfma_f32_32x32x16_f16 v[0:15], v[40:43], v[44:47], v[0:15]', [0, 0, 8]],
  ['v_mfma_i32_16x16x64_i8 v[0:3], v[40:43], v[44:47], v[0:3]', [0, 0, 4]],
  ['v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[40:47], v[48:55], v[0:3]', [0, 0, 8]],
  ['v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[40:47], v[48:55], v[0:15]', [0, 0, 16]],
  ['v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[40:43], v[48:51], v[0:3] cbsz:4 blgp:4', [0, 0, 4]],
  ['v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[40:43], v[48:51], v[0:15] cbsz:4 blgp:4', [0, 0, 8]],
];
const MATRIX_CHIPS = ['mi210', 'mi300x', 'mi350x'] as const;

/** Cycles that a SIMD full of waves takes for each of an instruction. */
function throughput(chipName: string, text: string): number {
  const chip = chipNamed(chipName);
  const { object, diagnostics } = assemble(text, { target: chip.target });
  if (object === undefined) throw new Error(`${text}: ${diagnostics[0]?.message}`);
  const section = readElf(writeObject(object)).sections.find((s) => s.name === '.text');
  const instruction = decoderFor(chip.target).decode(section?.bytes ?? new Uint8Array(), 0);
  if (instruction === undefined) throw new Error(`${text} does not decode`);
  return analyseBlock(chip, [{ pc: 0, size: instruction.size, instruction }], 4).cyclesPerTurn;
}

/** Matrix instructions: the published passes and the model's throughput. */
export function matrixRows(): MicroRow[] {
  return MATRIX.flatMap(([text, passes]) =>
    passes.flatMap((count, n) => {
      const chip = MATRIX_CHIPS[n] as string;
      if (count === 0) return [];
      const what = `${text.split(' ')[0]}${text.includes('cbsz:4') ? ', FP4' : ''}`;
      // gfx90a calls the older ones without the last underscores.
      const own =
        chip === 'mi210'
          ? text.replace(/_(\d+b_)?(f32|f16|f64) v/, (_, blocks: string | undefined, type: string) =>
              type === 'f64' && blocks !== undefined ? 'f64 v' : `${type} v`,
            )
          : text;
      return [{ what, chip, unit: 'cycles', measured: 4 * count, modelled: throughput(chip, own) }];
    }),
  );
}

/** Figures of MI300X, all or those whose name matches. */
export async function mi300xRows(wanted = /./): Promise<MicroRow[]> {
  const chip = chipNamed('mi300x');
  const row = (what: string, unit: string, measured: number, modelled: number): MicroRow => ({
    what,
    chip: 'mi300x',
    unit,
    measured,
    modelled,
  });
  const rows: MicroRow[] = [];
  for (const { what, unit, measured, micro, scale = 1 } of MI300X.filter((m) => wanted.test(m.what))) {
    rows.push(row(what, unit, measured, scale * (await cyclesOf('mi300x', micro))));
  }
  for (const [threads, measured] of DISPATCH) {
    const short = await dispatchCycles(threads, 100_000);
    const long = await dispatchCycles(threads, 200_000);
    rows.push(
      row(
        `empty kernel, ${threads} threads a workgroup`,
        'cycles a workgroup and die',
        measured,
        ((long - short) * 8) / 100_000,
      ),
    );
  }
  for (const [megabytes, ms] of COPIES) {
    const bytes = megabytes * 2 ** 20;
    const resident = Math.min(1, chip.get('mall.bytes') / (2 * bytes)) ** chip.get('mall.loss');
    const modelled = chip.get('launch.eventUs') / 1000 + copyNanoseconds(chip, 'device', bytes, resident) / 1e6;
    rows.push(row(`copy of ${megabytes} MB on the device`, 'ms', ms, modelled));
  }
  return rows;
}

async function dispatchCycles(threads: number, groups: number): Promise<number> {
  const micro: Micro = { code: () => '', lengths: [0, 1], groups, threads };
  const chip = chipNamed('mi300x');
  const device = new SimDevice(chip.target, {});
  try {
    const { bytes } = kernelObject({ code: micro.code(0), metadata: { '.max_flat_workgroup_size': 1024 } });
    const result: SimDispatchResult = await device.dispatch({
      kernel: device.load(bytes).kernel('k'),
      grid: [groups, 1, 1],
      block: [threads, 1, 1],
      args: [device.alloc(64)],
      timing: new TimingModel(chip),
      sampleOnly: true,
    });
    return result.timing?.cycles ?? Number.NaN;
  } finally {
    device.close();
  }
}
