// Dispatches that benchmarks of checks and tools time: loops over one kind of work, and whole kernels.
import { assembleAndLink } from '../../src/asm/index.ts';
import {
  type ArgumentValue,
  createDevice,
  type DeviceBuffer,
  type SimDispatchRequest,
} from '../../src/device/index.ts';
import { kernelSource } from '../../tests/support/kernel-source.ts';
import { clangSubjects, type StrictSubject, tritonSubjects } from '../../tests/support/strict-kernels.ts';

/** Processor time of this process in milliseconds: other programs on the machine do not count. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** A dispatch that can be timed; `run` gives its processor time in milliseconds. */
export interface Case {
  readonly name: string;
  readonly run: (mode: Partial<SimDispatchRequest>) => Promise<number>;
}

const PROLOGUE = `s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 4, v0
s_lshl_b32 s8, s2, 12
s_waitcnt lgkmcnt(0)
s_add_u32 s4, s4, s8
s_addc_u32 s5, s5, 0
s_mov_b32 s6, 0`;

/** A loop over `body` with constants in v2 to v9. */
const loop = (count: number, body: string): string =>
  `${PROLOGUE}\n${[2, 3, 4, 5, 6, 7, 8, 9].map((v) => `v_mov_b32_e32 v${v}, ${v % 5}.0`).join('\n')}\n.Lloop:\n${body}\ns_add_u32 s6, s6, 1\ns_cmp_lt_u32 s6, ${count}\ns_cbranch_scc1 .Lloop`;

const VALU =
  'v_fma_f32 v2, v3, v4, v2\nv_add_f32_e32 v5, v6, v5\nv_mul_f32_e32 v7, v8, v7\nv_max_f32_e32 v9, v3, v9\n'.repeat(8);
const COPY = 'global_load_dwordx4 v[12:15], v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v1, v[12:15], s[4:5]';
const LDS =
  'ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v3, v2\ns_barrier';
const MFMA = 'v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]\n'.repeat(4);
const ACCUMULATORS = `${Array.from({ length: 16 }, (_, n) => `v_accvgpr_write_b32 a${n}, v0`).join('\n')}\ns_nop 1`;

function assembled(name: string, code: string, grid: number, block: number, lds = 0): Case {
  const object = assembleAndLink(
    kernelSource({
      target: 'gfx942',
      code,
      descriptor: {
        next_free_vgpr: 40,
        accum_offset: 24,
        next_free_sgpr: 32,
        system_sgpr_workgroup_id_x: 1,
        group_segment_fixed_size: lds,
      },
      metadata: { '.group_segment_fixed_size': lds },
    }),
  );
  const device = createDevice('sim', { target: 'gfx942' });
  let buffer: DeviceBuffer | undefined;
  return {
    name,
    run: async (mode) => {
      const d = await device;
      buffer ??= d.alloc(grid * 4096 + 4096, 'x');
      d.write(buffer, new Uint8Array(buffer.size));
      const kernel = d.load(object).kernel('k');
      const args: ArgumentValue[] = [buffer];
      const request = { kernel, grid: [grid, 1, 1] as const, block: [block, 1, 1] as const, args, workers: 1, ...mode };
      const started = processorTime();
      const result = await d.dispatch(request);
      const time = processorTime() - started;
      if ((result.findings ?? []).length > 0) console.log(name, result.findings?.[0]?.message);
      return time;
    },
  };
}

function compiled(subject: StrictSubject): Case {
  return {
    name: subject.name,
    run: async (mode) => {
      const device = await createDevice('sim', { target: subject.target });
      const started = processorTime();
      await subject.run(device, subject.codeObject, mode.strict, mode);
      const time = processorTime() - started;
      device.close();
      return time;
    },
  };
}

/** Dispatches of every kind. */
export const CASES: readonly Case[] = [
  assembled('VALU loop', loop(50_000, VALU), 4, 256),
  assembled('memory copy', loop(1000, COPY), 64, 256),
  assembled('LDS and barriers', loop(10_000, LDS), 4, 256, 4096),
  assembled('MFMA f16 32x32x8', loop(1000, MFMA).replace('.Lloop:', `${ACCUMULATORS}\n.Lloop:`), 1, 256),
  ...[
    ...clangSubjects([['reduction', 'gfx942', 3]]),
    ...tritonSubjects().filter((s) => /matmul_fp16.*gfx942|attn/.test(s.name)),
  ].map(compiled),
];

/** Prints the median processor time of each mode for the cases that the words name, and the ratios to the first mode. */
export async function compareModes(
  words: readonly string[],
  modes: readonly (readonly [string, () => Partial<SimDispatchRequest>])[],
): Promise<void> {
  const only = words.filter((word) => word !== '--');
  const rounds = Number(process.env.ROUNDS ?? 5);
  console.log(
    'Timed: dispatches inside one process, its start not included, the engine warm; compiling the kernel counts in all.',
  );
  const header = modes.map(([name], n) => `${name.padStart(18)}${n === 0 ? '' : ' ratio'}`).join('');
  console.log(`${'ms of processor time, median of rounds'.padEnd(44)}${header}`);
  for (const { name, run } of CASES) {
    if (only.length > 0 && !only.some((word) => name.includes(word))) continue;
    const times = modes.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, [, request]] of modes.entries()) (times[i] as number[]).push(await run(request()));
    }
    const medians = times.map(median);
    const first = medians[0] as number;
    const cells = medians.map(
      (t, n) => `${t.toFixed(2).padStart(18)}${n === 0 ? '' : (t / first).toFixed(1).padStart(6)}`,
    );
    console.log(`${name.padEnd(44)}${cells.join('')}`);
  }
}

const median = (all: number[]): number => all.sort((a, b) => a - b)[all.length >> 1] as number;
