// `wavesmith run --check --schedules N`: a race that the first order does not show.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { wavesmith } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-schedules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'k.co');
const INCLUDED = join(import.meta.dirname, 'fixtures', 'buggy-kernels', 'kernel.inc');

/** Workgroup 0 reads what workgroup 1 has stored, without a release, if that has counted before: not so where workgroups run in order. */
const KERNEL = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.include "kernel.inc"
kernel wrong
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 1
  s_mov_b64 exec, 1
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 .Lreader
  global_store_dword v2, v3, s[4:5]
  global_atomic_add v2, v3, s[6:7]
  s_branch .Lend
.Lreader:
  global_atomic_add v4, v2, v3, s[6:7] sc0
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_eq_u32 s8, 1
  s_cbranch_scc0 .Lend
  buffer_inv sc1
  global_load_dword v5, v2, s[4:5]
.Lend:
finish wrong
kernel right
finish right
`;

describe('run --check --schedules', () => {
  writeFileSync(file, assembleAndLink(KERNEL, { file: 'k.s', readFile: () => readFileSync(INCLUDED) }));
  const command = ['run', file, '--kernel', 'wrong', '--grid', '2', '--block', '64', '--check'];
  const args = ['--arg', 'i32[1]=zeros', '--arg', 'i32[1]=zeros'];

  test('checks in every schedule and names the seed', async () => {
    const once = await wavesmith(...command, ...args);
    expect([once.code, once.out]).toEqual([0, expect.stringContaining('0 errors')]);
    const { code, out } = await wavesmith(...command, ...args, '--schedules', '8');
    const [, seed] = /races\/unreleased\].* Found with --schedules 1 --seed (\d+)\./.exec(out) ?? [];
    expect([code, seed]).toEqual([1, expect.stringMatching(/^[1-8]$/)]);
    const again = await wavesmith(...command, ...args, '--schedules', '1', '--seed', seed as string, '--json');
    const { findings } = JSON.parse(again.out) as { findings: { rule: string }[] };
    expect(findings.map(({ rule }) => rule)).toEqual(['races/unreleased']);
  });
});
