// Dispatches that benchmarks of checks and tools time: loops over one kind of work, and whole kernels.
import { assembleAndLink } from '../../src/asm/index.ts';
import { createDevice, type SimDispatchRequest } from '../../src/device/index.ts';
import { kernelSource } from '../../tests/support/kernel-source.ts';
import { clangSubjects, type StrictSubject } from '../../tests/support/strict-kernels.ts';
import { aiterCases } from './aiter.ts';
import type { Case, Opened } from './cases.ts';
import { shapeSubjects } from './shapes.ts';

/** Processor time of this process in milliseconds: other programs on the machine do not count. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
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
  const open = async (): Promise<Opened> => {
    const device = await createDevice('sim', { target: 'gfx942' });
    const buffer = device.alloc(grid * 4096 + 4096, 'x');
    device.write(buffer, new Uint8Array(buffer.size));
    const kernel = device.load(object).kernel('k');
    const request = {
      kernel,
      grid: [grid, 1, 1] as const,
      block: [block, 1, 1] as const,
      args: [buffer],
      workers: 1,
    };
    const dispatch: Opened['dispatch'] = (mode) => device.dispatch({ ...request, ...mode });
    return { kernel, object, dispatch, close: () => device.close() };
  };
  return { name, open };
}

function compiled({ name, target, codeObject, prepare }: StrictSubject): Case {
  const open = async (): Promise<Opened> => {
    const device = await createDevice('sim', { target });
    const request = { ...prepare(device, codeObject), workers: 1 };
    const dispatch: Opened['dispatch'] = (mode) => device.dispatch({ ...request, ...mode });
    return { kernel: request.kernel, object: codeObject, dispatch, close: () => device.close() };
  };
  return { name, open };
}

/** Dispatches of every kind. */
export const CASES: readonly Case[] = [
  assembled('VALU loop', loop(5000, VALU), 4, 256),
  assembled('memory copy', loop(1000, COPY), 64, 256),
  assembled('LDS and barriers', loop(10_000, LDS), 4, 256, 4096),
  assembled('MFMA f16 32x32x8', loop(1000, MFMA).replace('.Lloop:', `${ACCUMULATORS}\n.Lloop:`), 1, 256),
  ...[...clangSubjects([['reduction', 'gfx942', 3]]), ...shapeSubjects()].map(compiled),
];

/** Rounds of a comparison, unless ROUNDS says otherwise. */
const ROUNDS = 11;
/** Rounds of first dispatches. */
const FIRST_ROUNDS = 5;
/**
 * Least processor time of one measured side of a round, in milliseconds, and of all that V8 gets to settle before. Dispatches of 0.1 ms are slower
 * by a half while V8 compiles what they run, which takes some hundred milliseconds.
 */
const SIDE = 100;
const WARM_UP = 1000;

/** What the dispatches of a mode ask for; made for each opened device. */
type Mode = readonly [
  name: string,
  request: (opened: Opened) => Partial<SimDispatchRequest> | Promise<Partial<SimDispatchRequest>>,
];

/**
 * Prints for each case that the words name the processor time of a dispatch in each mode, and its ratio to that of the first mode:
 * the median of the ratios of rounds, in which the modes take turns, with the quarter and three quarters points of them. `first` is
 * the ratio of first dispatches on a fresh device: compiling is in it.
 */
export async function compareModes(words: readonly string[], modes: readonly Mode[]): Promise<void> {
  const only = words.filter((word) => !word.startsWith('--'));
  console.log('Timed: dispatches inside one process, its start not included. ms: processor time of a dispatch, warm.');
  console.log(`ratio: median of rounds (quarter points); first: a first dispatch, compiling included.`);
  const header = modes.map(
    ([name], n) => name.padStart(n === 0 ? 12 : 18) + (n === 0 ? '' : '  ratio             first'),
  );
  console.log(`${'ms'.padEnd(48)}${header.join('')}`);
  for (const one of [...CASES, ...aiterCases()]) {
    if (only.length > 0 && !only.some((word) => one.name.includes(word))) continue;
    const warm = await warmTimes(one, modes);
    const first = await firstTimes(one, modes);
    const cells = modes.map((_, n) => {
      const ms = median(warm[n] as number[]).toFixed(2);
      if (n === 0) return ms.padStart(12);
      const all = ratios(warm, n);
      const range = `(${at(all, 0.25).toFixed(2)}–${at(all, 0.75).toFixed(2)})`;
      return `${ms.padStart(18)}${median(all).toFixed(2).padStart(7)} ${range.padEnd(12)}${median(ratios(first, n)).toFixed(1).padStart(7)}`;
    });
    console.log(`${one.name.padEnd(48)}${cells.join('')}`);
  }
}

/** Processor times of dispatches in each mode, by round. A mode has a device of its own: one that is not watched may write all memory. */
async function warmTimes({ name, open }: Case, modes: readonly Mode[]): Promise<number[][]> {
  const sides: { readonly opened: Opened; readonly request: Partial<SimDispatchRequest> }[] = [];
  for (const [, request] of modes) {
    const opened = await open();
    sides.push({ opened, request: await request(opened) });
  }
  const counts: number[] = [];
  for (const { opened, request } of sides) {
    const started = processorTime();
    let dispatches = 0;
    let settled: { readonly at: number; readonly dispatches: number } | undefined;
    for (let time = 0; dispatches < 4 || time < WARM_UP; time = processorTime() - started) {
      const { findings } = await opened.dispatch(request);
      if (dispatches++ === 0 && findings?.[0] !== undefined) console.log(name, findings[0].rule, findings[0].message);
      if (dispatches >= 2 && time >= WARM_UP / 2) settled ??= { at: time, dispatches };
    }
    const { at, dispatches: before } = settled ?? { at: 0, dispatches: 0 };
    const one = (processorTime() - started - at) / Math.max(1, dispatches - before);
    counts.push(Math.max(1, Math.ceil(SIDE / one)));
  }
  const times = modes.map((): number[] => []);
  for (let round = 0; round < Number(process.env.ROUNDS ?? ROUNDS); round++) {
    for (const [n, { opened, request }] of sides.entries()) {
      const count = counts[n] as number;
      const started = processorTime();
      for (let i = 0; i < count; i++) await opened.dispatch(request);
      (times[n] as number[]).push((processorTime() - started) / count);
    }
  }
  for (const { opened } of sides) opened.close();
  return times;
}

/** Processor times of first dispatches in each mode, by round. */
async function firstTimes({ open }: Case, modes: readonly Mode[]): Promise<number[][]> {
  const times = modes.map((): number[] => []);
  for (let round = 0; round < FIRST_ROUNDS; round++) {
    for (const [n, [, request]] of modes.entries()) {
      const started = processorTime();
      const opened = await open();
      await opened.dispatch(await request(opened));
      (times[n] as number[]).push(processorTime() - started);
      opened.close();
    }
  }
  return times;
}

/** Times of a mode over those of the first one, round by round. */
const ratios = (times: readonly number[][], mode: number): number[] =>
  (times[mode] as number[]).map((time, round) => time / ((times[0] as number[])[round] as number));

const at = (all: readonly number[], part: number): number =>
  [...all].sort((a, b) => a - b)[Math.floor(part * (all.length - 1) + 0.5)] as number;
const median = (all: readonly number[]): number => at(all, 0.5);
