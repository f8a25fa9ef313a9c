// Sequences of flat accesses, and of scratch, LDS and memory between them, by lanes in one memory or in several: compiled code finds what the interpreter
// finds, and leaves the same bytes.
import { expect, test } from 'vitest';
import { countedBytes, factsOf, onBothEngines } from '../../../../tests/support/both-engines.ts';
import fc from '../../../../tests/support/fast-check.ts';
import { PROLOGUE } from '../../../../tests/support/strict.ts';
import type { TargetName } from '../../../isa/types.ts';

const LDS_BYTES = 2048;
const SCRATCH_BYTES = 76;
const BUFFER_BYTES = 8192;

/** Of the lanes' addresses: what is added to the lane's number times something. */
const place = fc.record({
  memory: fc.constantFrom('lds', 'scratch', 'scratch', 'global', 'several'),
  offset: fc.constantFrom(0, 0, 4, 8, 16, 1, 2, 48, 60),
  step: fc.constantFrom(0, 0, 4, 4, 8, 12),
});
const access = fc.record({
  place,
  kind: fc.constantFrom('load', 'load', 'store', 'store', 'store', 'atomic', 'fetch'),
  size: fc.constantFrom('dword', 'dword', 'dwordx2', 'dwordx3', 'dwordx4', 'byte', 'short', 'd16_hi'),
  /** As a flat access, or as one of its memory. */
  isFlat: fc.boolean(),
  isUndefined: fc.constantFrom(false, false, false, false, true),
  exec: fc.constantFrom('-1', '-1', '-1', '0xffff', '0x5555', '1', '0'),
  wait: fc.constantFrom('vmcnt(0) lgkmcnt(0)', 'vmcnt(0) lgkmcnt(0)', 'vmcnt(0)', 'lgkmcnt(0)', ''),
  isUsed: fc.boolean(),
  isMet: fc.constantFrom(false, false, true),
});
type Access = typeof access extends fc.Arbitrary<infer T> ? T : never;

/** Registers of data: v[16:19] are defined, v[28:31] are not until something is loaded there. */
const DEFINED = 16;
const UNDEFINED = 28;

const registers = (first: number, size: string): string => {
  const count = { dwordx2: 2, dwordx3: 3, dwordx4: 4 }[size] ?? 1;
  return count === 1 ? `v${first}` : `v[${first}:${first + count - 1}]`;
};

/** v[4:5]: the flat addresses of the lanes; v6: what they are in their memory. v8 has the number of the lane in the workgroup. */
function addresses({ memory, offset, step }: Access['place']): string {
  const of = { lds: 's9', scratch: 's11', global: 's5', several: 's11' }[memory];
  const lines = [`v_mul_u32_u24_e32 v6, ${step}, v8`, `v_add_u32_e32 v6, ${offset}, v6`];
  // Scratch is small.
  if (memory === 'scratch' || memory === 'several') lines.push(`v_and_b32_e32 v6, 63, v6`);
  lines.push(`v_mov_b32_e32 v4, v6`, `v_mov_b32_e32 v5, ${of}`);
  if (memory === 'global') lines.push('v_add_co_u32_e32 v4, vcc, s4, v6', 'v_addc_co_u32_e64 v5, vcc, v5, 0, vcc');
  if (memory === 'several')
    lines.push(
      'v_mov_b32_e32 v7, s9',
      's_mov_b32 vcc_lo, 0xf0f0',
      's_mov_b32 vcc_hi, 0',
      'v_cndmask_b32_e32 v5, v5, v7, vcc',
    );
  return lines.join('\n');
}

function instruction(target: TargetName, { place: { memory }, kind, size, isFlat, isUndefined }: Access): string {
  const data = registers(isUndefined ? UNDEFINED : DEFINED, size);
  if (kind === 'atomic' || kind === 'fetch') {
    const wide = size === 'dwordx2';
    const operand = registers(isUndefined ? UNDEFINED : DEFINED, wide ? 'dwordx2' : 'dword');
    const name = `flat_atomic_add${wide ? '_x2' : ''}`;
    return kind === 'atomic'
      ? `${name} v[4:5], ${operand}`
      : `${name} ${operand}, v[4:5], ${operand} ${target === 'gfx90a' ? 'glc' : 'sc0'}`;
  }
  const isHigh = size === 'd16_hi';
  const narrow = size === 'byte' ? 'ubyte' : size === 'short' ? 'ushort' : size;
  const name = kind === 'load' ? (isHigh ? 'short_d16_hi' : narrow) : isHigh ? 'short_d16_hi' : size;
  if (isFlat || memory === 'several' || memory === 'global' || memory === 'lds') {
    return kind === 'load' ? `flat_load_${name} ${data}, v[4:5]` : `flat_store_${name} v[4:5], ${data}`;
  }
  if (target === 'gfx90a') return `buffer_${kind}_${name} ${data}, v6, s[0:3], 0 offen`;
  return kind === 'load' ? `scratch_load_${name} ${data}, v6, off` : `scratch_store_${name} v6, ${data}, off`;
}

/** What other instructions do with LDS between. */
const LDS = `ds_write_b32 v8, v${DEFINED} offset:512\ns_waitcnt lgkmcnt(0)`;

/** What gfx90a has a wavefront do before it reaches its scratch: s[0:3] is the buffer of it then. Source: LLVM AMDGPUUsage, "Flat Scratch". */
const PROLOGUE_GFX90A = `s_add_u32 flat_scratch_lo, s6, s9
s_addc_u32 flat_scratch_hi, s7, 0
s_add_u32 s0, s0, s9
s_addc_u32 s1, s1, 0
s_load_dwordx2 s[4:5], s[4:5], 0x0
s_waitcnt lgkmcnt(0)`;
const DESCRIPTOR_GFX90A = { user_sgpr_private_segment_buffer: 1, user_sgpr_flat_scratch_init: 1 };
const DESCRIPTOR = { enable_private_segment: 1 };

function code(target: TargetName, all: readonly Access[]): string {
  const lines = [
    'v_mov_b32_e32 v8, v0',
    's_mov_b64 s[8:9], src_shared_base',
    's_mov_b64 s[10:11], src_private_base',
    ...[0, 1, 2, 3].map((n) => `v_add_u32_e32 v${DEFINED + n}, ${n}, v0`),
  ];
  all.forEach((one, n) => {
    lines.push(addresses(one.place), `s_mov_b64 exec, ${one.exec}`, instruction(target, one));
    if (one.wait !== '') lines.push(`s_waitcnt ${one.wait}`);
    lines.push('s_mov_b64 exec, -1');
    const used = one.kind === 'load' || one.kind === 'fetch' ? (one.isUndefined ? UNDEFINED : DEFINED) : DEFINED;
    if (one.isUsed) lines.push(`v_add_u32_e32 v12, 1, v${used}`);
    if (n % 5 === 4) lines.push(LDS);
    if (one.isMet) lines.push('s_barrier');
  });
  lines.push('s_waitcnt vmcnt(0) lgkmcnt(0)');
  return lines.join('\n');
}

const run = (target: TargetName, text: string) =>
  onBothEngines(text, {
    target,
    prologue: target === 'gfx90a' ? PROLOGUE_GFX90A : PROLOGUE,
    descriptor: {
      accum_offset: 40,
      private_segment_fixed_size: SCRATCH_BYTES,
      ...(target === 'gfx90a' ? DESCRIPTOR_GFX90A : DESCRIPTOR),
    },
    metadata: { '.private_segment_fixed_size': SCRATCH_BYTES },
    grid: [2, 1, 1],
    block: [128, 1, 1],
    lds: LDS_BYTES,
    bufferBytes: BUFFER_BYTES,
    input: [[0, countedBytes(1024, 128)]],
  });

test.each(['gfx90a', 'gfx942', 'gfx950'] as const)('of %s', async (target) => {
  await fc.assert(
    fc.asyncProperty(fc.array(access, { minLength: 1, maxLength: 14 }), async (all) => {
      const text = code(target, all);
      const { compiled, interpreted } = await run(target, text);
      expect(factsOf(compiled), text).toEqual(factsOf(interpreted));
      expect(compiled.bytes).toEqual(interpreted.bytes);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 60) },
  );
});
