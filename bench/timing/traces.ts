// Thread traces of gfx950 hardware beside the model: when the traced waves came to each instruction. Traces: ../shared/profiles/sqtt, tinygrad's
// examples. A trace does not say how the kernel was launched, so that stands here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimDispatchResult } from '../../src/device/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { chipNamed } from '../../src/device/sim/timing/chips/index.ts';
import { TimingModel } from '../../src/device/sim/timing/model.ts';
import type { ReplayedWave } from '../../src/device/sim/timing/wave-log.ts';
import { loadProfile } from '../../src/profile/index.ts';

const CHIP = 'mi350x';

interface Launch {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Bytes of each buffer argument. */
  readonly buffers: readonly number[];
}

/** tinygrad's launches by kernel name: a product of two 32 by 32 matrices in f32, one workgroup an element; an empty kernel. */
const LAUNCHES: Readonly<Record<string, Launch>> = {
  r_32_32_16_2: { grid: [32, 32, 1], block: [16, 1, 1], buffers: [4096, 4096, 4096] },
  E: { grid: [1, 1, 1], block: [1, 1, 1], buffers: [] },
};

/** One instruction of a path. Cycles from the start of the wave until it comes to the instruction, the median over waves. */
export interface TracedInstruction {
  readonly text: string;
  readonly measured: number;
  readonly modelled: number;
}

/** A trace beside the model. */
export interface TraceRow {
  readonly kernel: string;
  /** Traced waves with instructions. */
  readonly waves: number;
  readonly instructions: readonly TracedInstruction[];
  /** Cycles from start to end of a wave, the median over all waves that the traces show the ends of. */
  readonly span: { readonly waves: number; readonly measured: number; readonly modelled: number };
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
};

/** Median of |modelled - measured| / measured over those times. */
export function timeError({ instructions }: TraceRow): number {
  return median(instructions.map(({ measured, modelled }) => Math.abs(modelled - measured) / measured));
}

/** The same over the cycles from one instruction to the next. */
export function stepError({ instructions }: TraceRow): number {
  return median(
    instructions.slice(1).map((i, n) => {
      const before = instructions[n] as TracedInstruction;
      const measured = i.measured - before.measured;
      return Math.abs(i.modelled - before.modelled - measured) / measured;
    }),
  );
}

/** All traces beside the checkout, each kernel with its model. Kernels whose launch is not known are named in `unknown`. */
export async function traceRows(root: string): Promise<{ rows: readonly TraceRow[]; unknown: readonly string[] }> {
  const folder = join(root, '../shared/profiles/sqtt');
  const rows: TraceRow[] = [];
  const unknown: string[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const { events } = JSON.parse(readFileSync(join(folder, name, 'manifest.json'), 'utf8')) as {
      readonly events: readonly {
        readonly type: string;
        readonly name?: string;
        readonly lib?: { readonly file: string };
      }[];
    };
    const program = events.find((e) => e.type === 'ProfileProgramEvent');
    const launch = LAUNCHES[program?.name ?? ''];
    if (program?.name === undefined || program.lib === undefined || launch === undefined) unknown.push(name);
    else rows.push(await traceRow(join(folder, name), program.name, join(folder, name, program.lib.file), launch));
  }
  return { rows, unknown };
}

async function traceRow(folder: string, kernel: string, object: string, launch: Launch): Promise<TraceRow> {
  const { recording } = await loadProfile([folder]);
  const traced = recording.traces.flatMap((t) => t.waves).filter((w) => w.instructions.length > 0);
  const spans: number[] = [];
  for (const { occupancy } of recording.traces) {
    const starts = new Map<string, number>();
    for (const { cu, simd, slot, start, time } of occupancy) {
      const place = `${cu} ${simd} ${slot}`;
      const began = starts.get(place);
      if (start) starts.set(place, time);
      else if (began !== undefined) spans.push(time - began);
    }
  }
  const { waves, list } = await modelled(object, kernel, launch);
  // The traced compute unit is the first of its shader engine, and its waves are the first of the launch.
  const first = waves.filter((w) => w.unit === 0).slice(0, Math.max(1, traced.length));
  const path = traced[0]?.instructions ?? [];
  return {
    kernel,
    waves: traced.length,
    instructions: path.map((_, n) => ({
      text: list[first[0]?.instructions.data[n] ?? -1]?.instruction.row.operation ?? '',
      measured: median(traced.map((w) => (w.instructions[n]?.time ?? Number.NaN) - w.begin)),
      modelled: median(first.map((w) => (w.times.data[3 * n] as number) - w.begin)),
    })),
    span: { waves: spans.length, measured: median(spans), modelled: median(waves.map((w) => w.end - w.begin)) },
  };
}

/** The replayed waves of a first launch, when nothing is in any cache and no address has been translated. */
async function modelled(object: string, kernel: string, { grid, block, buffers }: Launch) {
  const chip = chipNamed(CHIP);
  const device = new SimDevice(chip.target, {});
  try {
    const result: SimDispatchResult = await device.dispatch({
      kernel: device.load(readFileSync(object)).kernel(kernel),
      grid,
      block,
      args: buffers.map((bytes) => device.alloc(bytes)),
      timing: new TimingModel(chip, { keepsWaves: true }),
    });
    const { timing } = result;
    if (timing?.replay.log === undefined) throw new Error(`${kernel} was not timed`);
    const waves: readonly ReplayedWave[] = timing.replay.log.waves;
    const { list } = timing.code;
    return { waves, list };
  } finally {
    device.close();
  }
}
