// Inputs on which two kernels differ, found by running both. Without a described launch the inputs are guessed from the metadata:
// buffers of several kinds of content, small numbers for scalars, a few shapes. Only a difference that was seen twice is told.
import { randomBytes, randomNumbers, WavesmithError } from '../base/index.ts';
import {
  type Device,
  DeviceFault,
  type DeviceKernel,
  execute,
  explicitArguments,
  type LaunchPlan,
  type PlannedArgument,
} from '../device/index.ts';
import { processorTime } from './budget.ts';

/** Inputs, and the first thing that differs. JSON-able. */
export interface Counterexample {
  readonly grid: readonly number[];
  readonly block: readonly number[];
  /** The arguments in words: buffers with their size and content, scalars with their bytes. */
  readonly arguments: readonly string[];
  /** One sentence. */
  readonly difference: string;
  /** Runs of a kernel until it was found. */
  readonly runs: number;
}

export interface CounterexampleOptions {
  /** Launches to try in the place of guessed ones. */
  readonly plans?: readonly NamedPlan[] | undefined;
  /** Milliseconds of processor time for all runs together (default 5000). */
  readonly milliseconds?: number | undefined;
}

/** A launch with its arguments in words. */
export interface NamedPlan {
  readonly plan: LaunchPlan;
  readonly words: readonly string[];
}

/** Wave instructions one run may execute: a wrong edit can loop for ever. */
const RUN_BUDGET = 2_000_000;
/** An edited kernel that takes so many times the baseline's instructions has another loop; one that takes fewer may only be slow. */
const ENDLESS = 100;
/** Large enough that small indexes stay inside. */
const BUFFER_BYTES = 1 << 18;
const GUESSES = 12;

/** Runs both kernels on inputs until they differ; undefined when they never do, or the baseline cannot be run. */
export async function findCounterexample(
  openDevice: () => Promise<Device>,
  codes: readonly [Uint8Array, Uint8Array],
  names: readonly [string, string],
  options: CounterexampleOptions = {},
): Promise<Counterexample | undefined> {
  const until = processorTime() + (options.milliseconds ?? 5_000);
  const device = await openDevice();
  try {
    const kernels = codes.map((code, i) => device.load(code).kernel(names[i] as string)) as [
      DeviceKernel,
      DeviceKernel,
    ];
    let runs = 0;
    for (const { plan, words } of options.plans ?? guesses(kernels[0])) {
      if (processorTime() > until) return undefined;
      const [a, b] = [await outcome(device, kernels[0], plan), await outcome(device, kernels[1], plan)];
      runs += 2;
      if (a === undefined || a instanceof DeviceFault) continue;
      const difference = differenceOf(a, b);
      if (difference === undefined) continue;
      // A baseline that differs from itself says nothing.
      runs++;
      const again = await outcome(device, kernels[0], plan);
      if (again === undefined || differenceOf(a, again) !== undefined) continue;
      return { grid: plan.grid, block: plan.block, arguments: words, difference, runs };
    }
    return undefined;
  } finally {
    device.close();
  }
}

/** What a run left. */
interface Ended {
  readonly contents: readonly Uint8Array[];
  /** Wave instructions. */
  readonly instructions: number;
}

/** All memory afterwards, or what the kernel did wrong; undefined: it was not run, or not to an end that says something of it. */
async function outcome(
  device: Device,
  kernel: DeviceKernel,
  plan: LaunchPlan,
): Promise<Ended | DeviceFault | undefined> {
  try {
    const { contents, dispatch } = await execute(device, kernel, plan, { fields: { maxInstructions: RUN_BUDGET } });
    return { contents, instructions: dispatch.instructions ?? RUN_BUDGET };
  } catch (error) {
    if (error instanceof DeviceFault) return /unsupported/.test(error.code) ? undefined : error;
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}

const hex = (bytes: Uint8Array, at: number): string =>
  [...bytes.subarray(at & ~3, (at & ~3) + 4)].map((b) => b.toString(16).padStart(2, '0')).join(' ');

function differenceOf(a: Ended, b: Ended | DeviceFault | undefined): string | undefined {
  if (b === undefined) return undefined;
  if (b instanceof DeviceFault) {
    if (b.fault.kind !== 'budget') return `The baseline ends; the edited kernel stops with ${b.code}.`;
    if (a.instructions * ENDLESS > RUN_BUDGET) return undefined;
    return `The baseline ends after ${a.instructions} instructions; the edited kernel has not ended after ${RUN_BUDGET}.`;
  }
  for (const [n, x] of a.contents.entries()) {
    const y = b.contents[n] as Uint8Array;
    const at = x.findIndex((byte, i) => byte !== y[i]);
    if (at >= 0) {
      return `Buffer ${n} differs first at byte 0x${(at & ~3).toString(16)}: ${hex(x, at)} from the baseline, ${hex(y, at)} from the edited kernel.`;
    }
  }
  return undefined;
}

const SHAPES = [
  { grid: [2, 1, 1], scale: 1 },
  { grid: [1, 1, 1], scale: 1 },
  { grid: [2, 2, 1], scale: 1 },
] as const;
const SCALARS = [64, 256, 1, 128, 7, 1000, 16, 3];

/** Launches that a kernel's metadata allow. */
function* guesses(kernel: DeviceKernel): Generator<NamedPlan> {
  for (let turn = 0; turn < GUESSES; turn++) yield guess(kernel, turn);
}

function guess(kernel: DeviceKernel, turn: number): NamedPlan {
  const random = randomNumbers(turn + 1);
  const { grid } = SHAPES[turn % SHAPES.length] as (typeof SHAPES)[number];
  const items = Math.min(kernel.maxWorkgroupSize ?? 256, turn % 4 === 3 ? 64 : 256);
  const block = kernel.requiredWorkgroupSize ?? ([items, 1, 1] as const);
  const allocations: { label: string; bytes: Uint8Array }[] = [];
  const words: string[] = [];
  const args = explicitArguments(kernel).map((argument, n): PlannedArgument => {
    if (argument.valueKind === 'global_buffer') {
      const { bytes, name } = content(turn, n);
      allocations.push({ label: argument.name ?? `argument ${n}`, bytes });
      words.push(`${argument.name ?? `argument ${n}`}: ${BUFFER_BYTES} bytes, ${name}`);
      return { kind: 'binding', allocation: allocations.length - 1, offset: 0 };
    }
    const value = new Uint8Array(argument.size);
    const number = SCALARS[Math.floor(random() * SCALARS.length)] as number;
    if (argument.size >= 4) new DataView(value.buffer).setUint32(0, number, true);
    else value.fill(number & 0xff);
    words.push(`${argument.name ?? `argument ${n}`} = ${number}`);
    return { kind: 'value', value };
  });
  return { plan: { grid, block, dynamicLds: turn % 2 === 0 ? 0 : 16_384, allocations, arguments: args }, words };
}

/** Contents of a buffer, by turn: small bytes, floats around one, small integers, any bits. */
function content(turn: number, n: number): { bytes: Uint8Array; name: string } {
  const bytes = new Uint8Array(BUFFER_BYTES);
  const view = new DataView(bytes.buffer);
  switch (turn % 4) {
    case 0:
      for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 7 + n) % 53;
      return { bytes, name: 'byte i is (7·i + argument) mod 53' };
    case 1: {
      const random = randomNumbers(97 * turn + n);
      for (let i = 0; i < bytes.length; i += 4) view.setFloat32(i, 2 * random() - 1, true);
      return { bytes, name: `f32 from -1 to 1, seed ${97 * turn + n}` };
    }
    case 2:
      for (let i = 0; i < bytes.length; i += 4) view.setUint32(i, ((i / 4) * 5 + n) % 61, true);
      return { bytes, name: 'u32 number i is (5·i + argument) mod 61' };
    default:
      return { bytes: randomBytes(BUFFER_BYTES, 31 * turn + n), name: `random bytes, seed ${31 * turn + n}` };
  }
}
