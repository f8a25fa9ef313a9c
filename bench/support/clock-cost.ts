// What the clock of `--timing` costs dispatches that do not ask for it: two devices in turns, one that never had a clock and one whose
// dispatches before had one. Figures are medians of processor time.
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { chipNamed } from '../../src/device/sim/timing/chips/index.ts';
import { TimingModel } from '../../src/device/sim/timing/model.ts';

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;

/** The cost of the clock for one kernel. */
export interface ClockCost {
  /** Milliseconds of a dispatch without a clock, on the device that never had one and on the other. */
  readonly never: number;
  readonly off: number;
  /** Median of off / never of the same round. */
  readonly ratio: number;
  /** Milliseconds of a dispatch under the clock. */
  readonly on: number;
  /** Instructions, and every byte of the buffers, are the same in all three. */
  readonly isSame: boolean;
}

/** Runs `kernel` of `code` over `groups` workgroups of 256, `rounds` times each way on one thread. */
export async function clockCost(code: Uint8Array, kernel: string, groups: number, rounds: number): Promise<ClockCost> {
  const bytes = 65536 * groups;
  const open = () => {
    const device = new SimDevice('gfx942', {});
    const args = [device.alloc(bytes), device.alloc(bytes)];
    device.write(args[1] as (typeof args)[number], new Uint8Array(Float32Array.of(0.5, 1.5).buffer));
    return { device, args, kernel: device.load(code).kernel(kernel) };
  };
  const run = async (on: ReturnType<typeof open>, timing?: TimingModel) => {
    const before = process.cpuUsage();
    const grid = [groups, 1, 1] as const;
    const { instructions } = await on.device.dispatch({
      kernel: on.kernel,
      grid,
      block: [256, 1, 1],
      args: on.args,
      timing,
    });
    const { user, system } = process.cpuUsage(before);
    return { instructions, ms: (user + system) / 1000 };
  };
  const contents = ({ device, args }: ReturnType<typeof open>): Buffer =>
    Buffer.concat(args.map((a) => device.read(a, bytes)));
  const plain = open();
  const clocked = open();
  const model = new TimingModel(chipNamed('mi300x'));
  try {
    await run(plain);
    const timed = await run(clocked, model);
    const never: number[] = [];
    const off: number[] = [];
    const on: number[] = [];
    let isSame = true;
    for (let round = 0; round < rounds; round++) {
      const a = await run(plain);
      const b = await run(clocked);
      // Both devices run as often: kernels go on from what is in memory.
      const c = await run(clocked, model);
      await run(plain);
      never.push(a.ms);
      off.push(b.ms);
      on.push(c.ms);
      isSame &&= a.instructions === b.instructions && a.instructions === c.instructions;
      isSame &&= a.instructions === timed.instructions && contents(plain).equals(contents(clocked));
    }
    const ratios = off.map((ms, n) => ms / (never[n] as number));
    return { never: median(never), off: median(off), ratio: median(ratios), on: median(on), isSame };
  } finally {
    plain.device.close();
    clocked.device.close();
  }
}
