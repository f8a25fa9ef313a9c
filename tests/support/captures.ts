// Captures for tests: one small kernel that is recorded, and edited versions of it.
import { join } from 'node:path';
import { assembleAndLink } from '../../src/asm/index.ts';
import { createDevice, execute, parseLaunchArgument, planLaunch } from '../../src/device/index.ts';
import { isSimKernel } from '../../src/device/sim/module.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { type FinishOptions, Recorder, type RecordSummary } from '../../src/snapshot/index.ts';
import { kernelSource } from './kernel-source.ts';

const ARGS = [
  [8, 'global_buffer'],
  [8, 'global_buffer'],
  [4, 'by_value'],
  [4, 'by_value'],
] as const;

/** Parts of the kernel that edits replace: where the buffers are, the bound, what is stored. */
export interface KernelParts {
  readonly load?: string;
  readonly bound?: string;
  readonly compute?: string;
  readonly store?: string;
}

/** out[i] = in[i] + i for i < n, 64 work-items in a workgroup. */
export function addIndex({
  load = 's_load_dwordx4 s[4:7], s[0:1], 0x0',
  bound = 'v_cmp_gt_u32_e32 vcc, s3, v0',
  compute = 'v_add_u32_e32 v2, v2, v0',
  store = 'global_store_dword v1, v2, s[4:5]',
}: KernelParts = {}): string {
  return `
  ${load}
  s_load_dword s3, s[0:1], 0x10
  s_lshl_b32 s8, s2, 6
  v_add_u32_e32 v0, s8, v0
  s_waitcnt lgkmcnt(0)
  ${bound}
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz done
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(0)
  ${compute}
  ${store}
done:
`;
}

/** The code object of a kernel `k` with two buffers and a count. */
export function captureObject(code = addIndex(), target: TargetName = 'gfx942'): Uint8Array {
  return assembleAndLink(kernelSource({ code, args: ARGS, target }), { target });
}

export interface Recording {
  readonly code?: Uint8Array;
  readonly kernel?: string;
  readonly target?: TargetName;
  readonly args?: readonly string[];
  readonly grid?: readonly [number, number, number];
  readonly block?: readonly [number, number, number];
  readonly dynamicLds?: number;
  readonly memory?: 'touched' | 'full';
  readonly mostBytes?: number;
  readonly finish?: FinishOptions;
}

/** Records a kernel: by default `addIndex` over 1000 of 1024 elements. */
export async function record(folder: string, name: string, recording: Recording = {}): Promise<RecordSummary> {
  const {
    target = 'gfx942',
    code = captureObject(undefined, target),
    kernel: kernelName = 'k',
    args = ['i32[1024]=7', 'i32[1024]=random:3', 'i32=1000', 'i32=0'],
    grid = [16, 1, 1],
    block = [64, 1, 1],
    dynamicLds,
    memory,
    mostBytes,
    finish = {},
  } = recording;
  const device = await createDevice('sim', { target });
  try {
    const kernel = device.load(code).kernel(kernelName);
    if (!isSimKernel(kernel)) throw new Error('not on the virtual GPU');
    const recorder = new Recorder({
      kernel,
      codeObject: code,
      memory,
      mostBytes,
      producer: { name: 'test', version: '1', device: 'sim' },
    });
    const { plan } = planLaunch({ grid, block, dynamicLds }, args.map(parseLaunchArgument), () => new Uint8Array());
    await execute(device, kernel, plan, { fields: { monitors: [recorder.monitor] } });
    return await recorder.finish(join(folder, name), finish);
  } finally {
    device.close();
  }
}
