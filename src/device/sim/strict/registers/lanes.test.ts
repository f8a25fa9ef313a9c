// Loads, stores and atomics whose lanes go anywhere, for any of the lanes: what compiled code finds is what the interpreter finds.
import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import type { RunFinding } from '../../../index.ts';

const LDS_BYTES = 4096;
const BUFFER_BYTES = 4096;

interface Access {
  readonly text: string;
  /** Bytes of an element: addresses are multiples of it. */
  readonly bytes: number;
}

const access = (text: string, bytes: number): Access => ({ text, bytes });
const LDS: readonly Access[] = [
  access('ds_write_b8 v5, v8', 1),
  access('ds_write_b16_d16_hi v5, v8', 2),
  access('ds_write_b32 v5, v8', 4),
  access('ds_write_b64 v5, v[8:9]', 8),
  access('ds_write_b96 v5, v[8:10]', 16),
  access('ds_write_b128 v5, v[8:11]', 16),
  access('ds_write2_b32 v5, v8, v9 offset1:7', 4),
  access('ds_read_u8 v12, v5', 1),
  access('ds_read_u16 v12, v5', 2),
  access('ds_read_b32 v12, v5', 4),
  access('ds_read_b64 v[12:13], v5', 8),
  access('ds_read_b128 v[12:15], v5', 16),
  access('ds_read2_b32 v[12:13], v5 offset1:5', 4),
  access('ds_add_u32 v5, v8', 4),
];
const TRANSPOSING: readonly Access[] = [
  access('ds_write_b8 v5, v8', 1),
  access('ds_write_b32 v5, v8', 4),
  access('ds_write_b64 v5, v[8:9]', 8),
  access('ds_read_b64_tr_b16 v[12:13], v5', 8),
  access('ds_read_b64_tr_b16 v[12:13], v5 offset:64', 8),
  access('ds_read_b64_tr_b8 v[12:13], v5', 8),
  access('ds_read_b64_tr_b4 v[12:13], v5', 8),
  access('ds_read_b96_tr_b6 v[12:14], v5', 16),
];
const GLOBAL: readonly Access[] = [
  access('global_store_byte v5, v8, s[4:5]', 1),
  access('global_store_short v5, v8, s[4:5]', 2),
  access('global_store_dword v5, v8, s[4:5]', 4),
  access('global_store_dwordx2 v5, v[8:9], s[4:5]', 8),
  access('global_store_dwordx4 v5, v[8:11], s[4:5]', 16),
  access('global_load_ubyte v12, v5, s[4:5]', 1),
  access('global_load_ushort v12, v5, s[4:5]', 2),
  access('global_load_dword v12, v5, s[4:5]', 4),
  access('global_load_dwordx2 v[12:13], v5, s[4:5]', 8),
  access('global_load_dwordx4 v[12:15], v5, s[4:5]', 16),
  access('global_atomic_add v5, v8, s[4:5]', 4),
];

interface Step {
  readonly access: Access;
  /** The lanes: all, the lower half, or any. */
  readonly exec: readonly [low: number, high: number];
  /** An element's number is (work-item × factor + more) xor flip, of 256 / bytes or so. */
  readonly factor: number;
  readonly more: number;
  readonly flip: number;
  readonly ends: readonly string[];
}

const word = fc.oneof(fc.constant(-1), fc.constant(0xffff), fc.integer());
const stepOf = (accesses: readonly Access[]): fc.Arbitrary<Step> =>
  fc.record({
    access: fc.constantFrom(...accesses),
    exec: fc.tuple(word, word).filter(([low, high]) => (low | high) !== 0),
    factor: fc.constantFrom(0, 1, 1, 1, 2, 3, 16, 33, 63),
    more: fc.nat(64),
    flip: fc.constantFrom(0, 0, 1, 3, 63),
    ends: fc.subarray(['s_waitcnt vmcnt(0) lgkmcnt(0)', 's_barrier']),
  });

function textOf({ access: { text, bytes }, exec, factor, more, flip, ends }: Step, limit: number): string {
  return [`s_mov_b32 exec_lo, ${exec[0]}\ns_mov_b32 exec_hi, ${exec[1]}`, text, 's_mov_b64 exec, -1', ...ends].reduce(
    (all, line) => `${all}\n${line}`,
    // The address of every lane.
    `s_mov_b64 exec, -1
v_mul_u32_u24_e32 v5, ${factor}, v4
v_add_u32_e32 v5, ${more}, v5
v_xor_b32_e32 v5, ${flip}, v5
v_and_b32_e32 v5, ${limit / 2 / bytes - 1}, v5
v_lshlrev_b32_e32 v5, ${Math.log2(bytes)}, v5
s_nop 4`,
  );
}

const BEGIN = `v_lshrrev_b32_e32 v4, 2, v1
${[8, 9, 10, 11, 12, 13, 14, 15].map((v) => `v_mov_b32_e32 v${v}, v4`).join('\n')}`;
/** All of LDS is written. */
const FILL = `${Array.from({ length: LDS_BYTES / 512 }, (_, n) => `ds_write_b32 v1, v4 offset:${512 * n}`).join('\n')}
s_waitcnt lgkmcnt(0)
s_barrier`;
const END = 's_waitcnt vmcnt(0) lgkmcnt(0)';

/**
 * What is found. Which of two earlier accesses of the same bytes by one wavefront is named beside it is not compared: records are by dword in
 * one engine and by byte in the other.
 */
const told = (findings: readonly RunFinding[] | undefined): unknown[] =>
  (findings ?? []).map(({ rule, severity, place, registers, related }) => ({
    rule,
    severity,
    place,
    registers,
    related: related?.map(({ role }) => role),
  }));

const one = (text: string, bytes: number, exec: Step['exec'], factor: number, ends: readonly string[] = []): Step => ({
  access: access(text, bytes),
  exec,
  factor,
  more: 0,
  flip: 0,
  ends,
});
/** A wavefront reads before and behind an atomic, then another one updates: the read behind it is the one that counts. */
const READ_AGAIN: readonly Step[] = [
  one('global_load_dwordx2 v[12:13], v5, s[4:5]', 8, [-1, -1], 1),
  one('global_atomic_add v5, v8, s[4:5]', 4, [0xffff, 0], 0, [END]),
  one('global_load_ushort v12, v5, s[4:5]', 2, [-1, 0], 0),
  one('global_store_byte v5, v8, s[4:5]', 1, [0, -1], 0),
];

for (const [name, target, accesses, limit, known] of [
  ['LDS', 'gfx942', LDS, LDS_BYTES, []],
  ['LDS, and loads that transpose', 'gfx950', TRANSPOSING, LDS_BYTES, []],
  ['memory', 'gfx942', GLOBAL, BUFFER_BYTES, [READ_AGAIN]],
] as const) {
  test(`lanes anywhere in ${name}: the engines find the same`, { timeout: 300_000 }, async () => {
    const [steps, isFilled] = [fc.array(stepOf(accesses), { minLength: 1, maxLength: 5 }), fc.boolean()];
    let found = 0;
    await fc.assert(
      fc.asyncProperty(steps, isFilled, async (list, filled) => {
        const code = [BEGIN, ...(filled ? [FILL] : []), ...list.map((step) => textOf(step, limit)), END].join('\n');
        const options = { target, block: [128, 1, 1], lds: LDS_BYTES, bufferBytes: BUFFER_BYTES } as const;
        const [one, other] = await Promise.all(
          (['interpreter', 'compiled'] as const).map((engine) => strictFindings(code, { ...options, engine })),
        );
        found += one?.length ?? 0;
        expect(told(other)).toEqual(told(one));
      }),
      {
        numRuns: Number(process.env.FUZZ_RUNS ?? 120),
        examples: known.map((list): [Step[], boolean] => [[...list], false]),
      },
    );
    expect(found).toBeGreaterThan(50);
  });
}
