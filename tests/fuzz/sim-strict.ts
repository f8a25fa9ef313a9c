// Fuzz target: the input is the code of a kernel, run in strict mode on both engines under a small budget. Random words, mutated
// instructions, wild addresses, endless loops and barriers must end in a finding; one wavefront must do the same on both engines.

import { assembleAndLink } from '../../src/asm/index.ts';
import { WavesmithError } from '../../src/base/index.ts';
import type { DeviceBuffer, DeviceKernel, SimDispatchResult } from '../../src/device/index.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { kernelSource } from '../support/kernel-source.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
/** Dwords of code that the input replaces, and what stands there before. */
const WORDS = 200;
const FILLER = 0xbf800007;
const BYTES = 4096;

/** The address of the arguments is not kept: each dispatch has its own. */
const PROLOGUE = `s_load_dwordx4 s[4:7], s[0:1], 0x0
v_and_b32_e32 v0, 0x3ff, v0
v_lshlrev_b32_e32 v1, 2, v0
s_mov_b32 m0, 0
s_mov_b64 vcc, 0
s_mov_b64 s[10:11], 0
v_mov_b32_e32 v2, v0
v_mov_b32_e32 v3, 1.0
v_mov_b32_e32 v4, v1
v_mov_b32_e32 v5, 0
s_waitcnt lgkmcnt(0)
s_mov_b64 s[0:1], 0`;

/** Correct pieces of code that mutations start from. */
const SEEDS = [
  'global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v3, v2, v2\nglobal_store_dword v1, v3, s[6:7]',
  'ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v6, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v6, s[6:7]\ns_barrier',
  's_movk_i32 s8, 5\n.Lloop:\ns_load_dwordx2 s[12:13], s[4:5], 0x8\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v7, s12\ns_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 .Lloop',
  'v_cmp_gt_u32_e32 vcc, 16, v0\ns_and_saveexec_b64 s[10:11], vcc\ns_cbranch_execz .Lskip\nglobal_atomic_add v1, v3, s[6:7]\nds_add_u32 v1, v3 offset:16\n.Lskip:\ns_or_b64 exec, exec, s[10:11]',
  'v_mfma_f32_4x4x1f32 a[0:3], v3, v3, 0\nv_mfma_f32_4x4x1f32 a[4:7], v2, v3, 1.0\ns_nop 7\ns_nop 7\nv_accvgpr_read_b32 v6, a0\nv_readlane_b32 s14, v6, 3\nv_mov_b32_dpp v8, v6 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\nds_bpermute_b32 v9, v1, v6\ns_waitcnt lgkmcnt(0)',
];

function assembled(target: TargetName, code: string): Uint8Array {
  return assembleAndLink(
    kernelSource({
      target,
      code,
      args: [
        [8, 'global_buffer'],
        [8, 'global_buffer'],
      ],
      descriptor: { next_free_vgpr: 32, accum_offset: 16, next_free_sgpr: 32, group_segment_fixed_size: 1024 },
      metadata: { '.group_segment_fixed_size': 1024 },
    }),
  );
}

const word = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);

/** Byte offset of the first of `count` dwords of filler. */
function fillerIn(object: Uint8Array, count: number): number {
  for (let at = 0; at + 4 * count <= object.length; at += 4) {
    let n = 0;
    while (n < count && word(object, at + 4 * n) === FILLER) n++;
    if (n === count) return at;
  }
  throw new Error('the code has no filler');
}

/** The code between two pieces of filler. */
function codeOf(target: TargetName, code: string): Uint8Array {
  const marks = 's_nop 7\n'.repeat(9);
  const object = assembled(target, `${PROLOGUE}\n${marks}${code}\n${marks}`);
  const start = fillerIn(object, 9) + 36;
  return object.slice(start, start + fillerIn(object.subarray(start), 9));
}

interface Subject {
  readonly device: SimDevice;
  readonly from: DeviceBuffer;
  readonly to: DeviceBuffer;
  readonly object: Uint8Array;
  readonly at: number;
}

const subjects = new Map<TargetName, Subject>();

function subjectOf(target: TargetName): Subject {
  let subject = subjects.get(target);
  if (subject === undefined) {
    const object = assembled(target, `${PROLOGUE}\n${'s_nop 7\n'.repeat(WORDS)}`);
    const device = new SimDevice(target);
    const [from, to] = [device.alloc(BYTES, 'from'), device.alloc(BYTES, 'to')];
    subject = { device, from, to, object, at: fillerIn(object, WORDS) };
    subjects.set(target, subject);
  }
  return subject;
}

interface Outcome {
  readonly result: SimDispatchResult;
  readonly bytes: Uint8Array;
}

/** Both engines see the same addresses. */
async function runOn(
  { device, from, to }: Subject,
  kernel: DeviceKernel,
  waves: number,
  engine: 'compiled' | 'interpreter',
): Promise<Outcome> {
  device.write(from, new Uint8Array(BYTES).fill(1));
  device.write(to, new Uint8Array(BYTES));
  const kernargs = new Uint8Array(16);
  new DataView(kernargs.buffer).setBigUint64(0, BigInt(from.address), true);
  new DataView(kernargs.buffer).setBigUint64(8, BigInt(to.address), true);
  const result = await device.dispatch({
    kernel,
    grid: [waves, 1, 1],
    block: [64 * waves, 1, 1],
    kernargs,
    engine,
    strict: {},
    maxInstructions: 3000,
  });
  return { result, bytes: device.read(to) };
}

export default {
  name: 'sim-strict',
  seeds: () =>
    SEEDS.flatMap((code) =>
      TARGETS.flatMap((target, n) => [1, 2].map((waves) => Uint8Array.of(n, waves, 0, 0, ...codeOf(target, code)))),
    ),
  async run(bytes: Uint8Array): Promise<void> {
    const target = TARGETS[(bytes[0] ?? 0) % 3] as TargetName;
    const waves = 1 + ((bytes[1] ?? 0) % 2);
    const subject = subjectOf(target);
    const { device, object, at } = subject;
    const changed = object.slice();
    const code = bytes.subarray(4, 4 + 4 * WORDS);
    changed.set(code, at);
    const module = device.load(changed);
    const kernel = module.kernel('k');
    const interpreted = await runOn(subject, kernel, waves, 'interpreter');
    const compiled = await runOn(subject, kernel, waves, 'compiled');
    module.unload();
    const isComplete = interpreted.result.isComplete === true && compiled.result.isComplete === true;
    if (isComplete && waves === 1) {
      const differs = compiled.bytes.findIndex((byte, i) => byte !== interpreted.bytes[i]);
      if (differs >= 0) throw new Error(`byte ${differs} depends on the engine`);
      if (compiled.result.instructions !== interpreted.result.instructions) throw new Error('the counts differ');
    }
    if (!isComplete) {
      const last = compiled.result.findings?.at(-1) ?? interpreted.result.findings?.at(-1);
      throw new WavesmithError('sim/stopped', last?.message ?? 'The run was stopped.');
    }
  },
};
