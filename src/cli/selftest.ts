// `wavesmith selftest`: whether a device does what the virtual GPU does: what a person with a GPU runs, and a report to attach.
import { assembleAndLink } from '../asm/index.ts';
import { randomBytes, WavesmithError } from '../base/index.ts';
import {
  createDevice,
  type Device,
  type DeviceBuffer,
  DeviceFault,
  type DispatchRequest,
  RocmDevice,
} from '../device/index.ts';
import type { TargetName } from '../isa/types.ts';
import { rocmOptions } from './rocm-options.ts';
import { type DeviceTestKernel, deviceTestSource } from './selftest-kernels.ts';
import { newCommand, parseArguments, printJson, writeOutput } from './support.ts';
import { version } from './version.ts';

interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly milliseconds: number;
  /** What went wrong, or a figure. */
  readonly detail: string;
}

const KERNELS: Readonly<Record<string, DeviceTestKernel>> = {
  store: { code: 'v_mov_b32_e32 v2, s6\nglobal_store_dword v1, v2, s[4:5]' },
  add: {
    code: 'global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v2, s6, v2\nglobal_store_dword v1, v2, s[4:5]',
  },
  float: {
    code: `global_load_dword v2, v1, s[4:5]
s_waitcnt vmcnt(0)
v_cvt_f32_i32_e32 v3, v2
v_mul_f32_e32 v4, 0x3f99999a, v3
v_fma_f32 v4, v4, v3, v3
v_cvt_i32_f32_e32 v5, v4
v_xor_b32_e32 v4, v4, v5
global_store_dword v1, v4, s[4:5]`,
  },
  lds: {
    lds: 256,
    code: `global_load_dword v2, v1, s[4:5]
v_lshlrev_b32_e32 v3, 2, v0
v_sub_u32_e32 v4, 0xfc, v3
s_waitcnt vmcnt(0)
ds_write_b32 v3, v2
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v5, v4
s_waitcnt lgkmcnt(0)
global_store_dword v1, v5, s[4:5]`,
  },
  count: { code: 'v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, s6\nglobal_atomic_add v1, v2, s[4:5]' },
  trap: { code: 's_trap 2' },
  illegal: { code: '.long 0xffffffff' },
  endless: { code: '.Lagain:\ns_nop 0\ns_branch .Lagain' },
};

const WORK_ITEMS = 64 * 100;
/** An address that programs rarely have. */
const CHOSEN = 0x3f00_0000_0000;

function must(holds: boolean, message: string): void {
  if (!holds) throw new WavesmithError('selftest/failed', message);
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Runs one kernel on some bytes and gives what it leaves. */
async function leaves(device: Device, code: Uint8Array, kernel: string, input: Uint8Array): Promise<Uint8Array> {
  const module = device.load(code);
  const out = device.alloc(input.length, 'out');
  try {
    device.write(out, input);
    await device.dispatch(request(module.kernel(kernel), out, 3, WORK_ITEMS / 64));
    return device.read(out);
  } finally {
    device.free(out);
    module.unload();
  }
}

function request(kernel: DispatchRequest['kernel'], out: DeviceBuffer, value: number, groups: number): DispatchRequest {
  return { kernel, grid: [groups, 1, 1], block: [64, 1, 1], args: [out, value] };
}

type Check = (device: Device, sim: Device, code: Uint8Array) => Promise<string>;

const CHECKS: Readonly<Record<string, Check>> = {
  'memory is zero, and keeps what is written': async (device) => {
    const buffer = device.alloc(1_000_003, 'memory');
    must(
      device.read(buffer).every((byte) => byte === 0),
      'New memory is not zero.',
    );
    const bytes = randomBytes(buffer.size, 1);
    device.write(buffer, bytes);
    must(isSame(device.read(buffer), bytes), 'What is read is not what was written.');
    const other = device.alloc(buffer.size, 'copy');
    device.copy(other, buffer);
    must(isSame(device.read(other), bytes), 'A copy is not what was copied.');
    device.free(buffer);
    device.free(other);
    return '';
  },
  'memory at a chosen address': async (device, _sim, code) => {
    const buffer = device.allocAt(CHOSEN, 1 << 21, 'chosen');
    must(buffer.address === CHOSEN, `It is at 0x${buffer.address.toString(16)}.`);
    const module = device.load(code);
    await device.dispatch(request(module.kernel('store'), buffer, 77, 1));
    must(device.read(buffer, 0, 256)[4] === 77, 'A kernel that stores there does not reach it.');
    module.unload();
    device.free(buffer);
    return `0x${CHOSEN.toString(16)}`;
  },
  ...Object.fromEntries(
    ['store', 'add', 'float', 'lds', 'count'].map((kernel): [string, Check] => [
      `kernel ${kernel} leaves the bytes that the virtual GPU leaves`,
      async (device, sim, code) => {
        const input = randomBytes(4 * WORK_ITEMS, 7);
        const [got, want] = [await leaves(device, code, kernel, input), await leaves(sim, code, kernel, input)];
        const first = got.findIndex((byte, i) => byte !== want[i]);
        must(first < 0, `Byte ${first} differs: ${got[first]}, not ${want[first]}.`);
        return `${got.length} bytes`;
      },
    ]),
  ),
  'work-items, partial workgroups included, are counted': async (device, _sim, code) => {
    const out = device.alloc(4, 'count');
    const module = device.load(code);
    const shape = { grid: [3, 2, 1], block: [32, 4, 1], gridWorkItems: [70, 5, 1] } as const;
    await device.dispatch({ kernel: module.kernel('count'), args: [out, 1], ...shape });
    const [count] = device.read(out);
    must((count ?? 0) + 256 * (device.read(out)[1] ?? 0) === 350, `${count} of 350 work-items ran.`);
    device.free(out);
    module.unload();
    return '';
  },
  ...Object.fromEntries(
    (
      [
        ['a wild store', 'store', 'memory'],
        ['s_trap', 'trap', 'trap'],
        ['an illegal instruction', 'illegal', 'instruction'],
        ['a kernel that does not end', 'endless', 'budget'],
      ] as const
    ).map(([what, kernel, kind]): [string, Check] => [
      `${what} is a fault, and the device goes on`,
      async (device, _sim, code) => {
        const module = device.load(code);
        const wild: DeviceBuffer = { address: 0x7000_0000_0000, size: 256, label: 'wild' };
        const out = device.alloc(256, 'out');
        const wrong = {
          ...request(module.kernel(kernel), kernel === 'store' ? wild : out, 1, 1),
          maxInstructions: 100_000,
        };
        const error = await device.dispatch(wrong).then(
          () => undefined,
          (e: unknown) => e,
        );
        must(error instanceof DeviceFault, `It ended with ${error instanceof Error ? error.message : 'no fault'}.`);
        const { fault } = error as DeviceFault;
        must(fault.kind === kind, `The fault is of the kind ${fault.kind}.`);
        await device.dispatch(request(module.kernel('store'), out, 5, 1));
        must(device.read(out)[0] === 5, 'The next kernel does not run.');
        device.free(out);
        module.unload();
        return (error as DeviceFault).code;
      },
    ]),
  ),
  'the clock of the device': async (device, _sim, code) => {
    const module = device.load(code);
    const out = device.alloc(4 * WORK_ITEMS, 'out');
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const { nanoseconds } = await device.dispatch(request(module.kernel('add'), out, 1, WORK_ITEMS / 64));
      if (nanoseconds !== undefined) times.push(nanoseconds);
    }
    device.free(out);
    module.unload();
    const sorted = times.sort((a, b) => a - b);
    return sorted.length === 0 ? 'it has none' : `median of 20 dispatches ${((sorted[10] ?? 0) / 1000).toFixed(1)} µs`;
  },
};

/** Runs every check; one that fails does not keep the others from running. */
export async function selftest(device: Device, onStep: (step: Step) => void): Promise<readonly Step[]> {
  const { target } = device;
  const sim = await createDevice('sim', { target });
  const code = assembleAndLink(deviceTestSource(target, KERNELS), { target, file: 'selftest.s' });
  const steps: Step[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const started = performance.now();
    let ok = true;
    let detail: string;
    try {
      detail = await check(device, sim, code);
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      ok = false;
      detail = `${error.code}: ${error.message}`;
    }
    const step = { name, ok, milliseconds: performance.now() - started, detail };
    steps.push(step);
    onStep(step);
  }
  sim.close();
  return steps;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('selftest', 'Test whether a GPU does what the virtual GPU does.')
    .option('--device <kind>', 'rocm[:N]: a GPU of this machine; sim', 'rocm')
    .option('--target <name>', 'of sim', 'gfx942')
    .option('-o, --output <file.json>', 'write the report, to attach to an issue')
    .option('--json', 'print the report')
    .addHelpText('after', '\nExit code 0: every check passed. 1: some did not; each says why.');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<{ device: string; target: TargetName; output?: string; json?: boolean }>();
  const device = await createDevice(options.device, { target: options.target, rocm: rocmOptions() });
  const say = (text: string): void => {
    if (options.json !== true) process.stdout.write(text);
  };
  const agent = device instanceof RocmDevice ? device.agent : undefined;
  say(
    `${agent === undefined ? device.target : `${agent.product}, ${agent.isa}, ${agent.computeUnits} compute units`}\n`,
  );
  const steps = await selftest(device, ({ ok, name, milliseconds, detail }) => {
    say(`  ${ok ? 'ok    ' : 'FAILED'} ${name} (${milliseconds.toFixed(0)} ms)${detail === '' ? '' : `: ${detail}`}\n`);
  });
  device.close();
  const failed = steps.filter(({ ok }) => !ok).length;
  const report = { version: version(), device: options.device, target: device.target, agent, ok: failed === 0, steps };
  if (options.output !== undefined) writeOutput(options.output, `${JSON.stringify(report, null, 2)}\n`);
  if (options.json === true) printJson(report);
  else say(failed === 0 ? `PASSED: all ${steps.length} checks\n` : `FAILED: ${failed} of ${steps.length} checks\n`);
  return failed === 0 ? 0 : 1;
}
