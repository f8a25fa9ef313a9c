// Kernels that `prove` cannot compare: not proved, with a sentence and a place, within its bounds; never an exception, never "proved".
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test, vi } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { main } from '../src/cli/main.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { type Proof, proveKernel } from '../src/equivalence/index.ts';
import { type KernelSource, kernelSource } from './support/kernel-source.ts';

const build = (source: KernelSource) => readCodeObject(assembleAndLink(kernelSource(source)));
const BODY = `s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
v_mov_b32 v2, 7
global_store_dword v1, v2, s[2:3]`;

function proveBoth(
  a: KernelSource,
  b: KernelSource,
  limits: { readonly milliseconds?: number; readonly megabytes?: number } = {},
): Proof {
  const proof = proveKernel(build(a), build(b), 'k', { limits, ignoreIdentity: true });
  expect(proof.verdict === 'proved' || /^[A-Z'].*\.$/s.test(proof.reason ?? ''), proof.reason).toBe(true);
  return proof;
}

describe('other targets and ABIs', () => {
  test.each<[string, KernelSource, RegExp]>([
    ['another target', { code: BODY, target: 'gfx950' }, /target|gfx950/i],
    ['another feature', { code: BODY, target: 'gfx942:xnack+' }, /target|xnack/i],
    ['another code object version', { code: BODY, version: 6 }, /./],
    ['other arguments', { code: BODY, args: [[4, 'by_value']] }, /argument|segment/i],
    ['another kernarg pointer', { code: BODY, descriptor: { user_sgpr_dispatch_ptr: 1 } }, /./],
    ['other rounding', { code: BODY, descriptor: { float_round_mode_32: 1 } }, /./],
    ['less LDS', { code: BODY, descriptor: { group_segment_fixed_size: 64 } }, /./],
  ])('%s', (what, edited, reason) => {
    const proof = proveBoth({ code: BODY }, edited);
    // A file that only has another version or more LDS is the same function of its arguments.
    if (/version|LDS/.test(what)) return;
    expect(proof.verdict).toBe('not-proved');
    expect(proof.reason).toMatch(reason);
  });
});

describe('code that is not followed', () => {
  const behind = (code: string): string => `${code}\ns_nop 0\n${BODY}`;
  test.each([
    ['a jump to a loaded address', 's_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_setpc_b64 s[8:9]'],
    [
      'a call of a loaded address',
      's_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_swappc_b64 s[10:11], s[8:9]',
    ],
    [
      'a loop with two entries',
      's_cmp_eq_u32 s1, 0\ns_cbranch_scc1 .Lb\n.La:\ns_sub_u32 s4, s4, 1\n.Lb:\ns_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, s4\ns_cbranch_scc1 .La',
    ],
    ['registers by number', 's_mov_b32 m0, s1\ns_nop 1\ns_movrels_b32 s4, s5'],
    ['bytes that are no instruction', 's_branch .Lx\n.Lx:\n.long 0xffffffff'],
    ['an endless loop', '.Lforever:\ns_sleep 1\ns_branch .Lforever'],
    ['a trap', 's_trap 2'],
    ['a message', 's_mov_b32 m0, 0\ns_nop 0\ns_sendmsg sendmsg(MSG_INTERRUPT)'],
  ])('%s beside nothing of the kind', (_what, code) => {
    for (const [a, b] of [
      [BODY, behind(code)],
      [behind(code), BODY],
    ] as const) {
      const proof = proveBoth({ code: a }, { code: b });
      expect(proof.verdict).toBe('not-proved');
    }
  });
  test('a branch into the middle of an instruction', () => {
    const code = `s_branch 1\nv_add_f32_e64 v0, v1, v2\n${BODY}`;
    expect(proveBoth({ code }, { code: behind(code) }).verdict).toBe('not-proved');
  });
  test('an empty kernel, and one that runs off its end', () => {
    expect(proveBoth({ code: '' }, { code: BODY }).verdict).toBe('not-proved');
    expect(proveBoth({ code: '' }, { code: 's_nop 0' }).verdict).toBe('proved');
    const off = `${BODY}\ns_branch .Lend`;
    expect(proveBoth({ code: BODY }, { code: off }).verdict).toBe('not-proved');
  });
});

describe('bounds', () => {
  /** Every value depends on all before it. */
  const grown = (n: number, by: number): string =>
    Array.from(
      { length: n },
      (_, i) => `v_mad_u64_u32 v[2:3], s[8:9], v${2 + (i % 2)}, v${2 + ((i + by) % 2)}, v[2:3]`,
    ).join('\n');
  const many = (n: number, by: number): string => `v_mov_b32 v2, v0\nv_mov_b32 v3, v0\n${grown(n, by)}\n${BODY}`;
  test('terms', () => {
    const proof = proveBoth({ code: many(200, 0) }, { code: many(200, 1) }, { megabytes: 0.5 });
    expect(proof.verdict).toBe('not-proved');
    expect(proof.reason).toBe('The memory that is allowed is used up.');
    expect(proof.places.baseline?.instruction).toMatch(/^v_mad_u64_u32/);
  });
  test('time', () => {
    const proof = proveBoth({ code: many(2000, 0) }, { code: many(2000, 1) }, { milliseconds: 200 });
    expect(proof.verdict).toBe('not-proved');
  });
  test('one block as long as a kernel', () => {
    const step = (i: number): string => `v_lshlrev_b32 v3, ${1 + (i % 7)}, v2\nv_xor_b32 v2, v2, v3`;
    const chain = `v_mov_b32 v2, v0\n${Array.from({ length: 2500 }, (_, i) => step(i)).join('\n')}\n${BODY}`;
    const proof = proveBoth({ code: chain }, { code: `s_nop 0\n${chain}` }, { milliseconds: 20 });
    expect(proof).toMatchObject({ verdict: 'not-proved', reason: expect.stringContaining('time') });
    expect(proveBoth({ code: chain }, { code: `s_nop 0\n${chain}` }).verdict).toBe('proved');
  });
  test('loads in flight over thousands of branches', () => {
    const guarded = (before: string): string =>
      Array.from(
        { length: 400 },
        (_, i) =>
          `${before}s_bitcmp1_b32 s4, ${i % 32}\ns_cbranch_scc1 .L${i}\nglobal_load_dword v9, v1, s[4:5]\n.L${i}:`,
      ).join('\n');
    const kernel = (before: string): string =>
      `s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 0\ns_waitcnt lgkmcnt(0)\n${guarded(before)}\ns_waitcnt vmcnt(0)\n${BODY}`;
    const proof = proveBoth({ code: kernel('') }, { code: kernel('global_load_dword v8, v1, s[4:5] offset:4\n') });
    expect(proof).toMatchObject({ verdict: 'not-proved', reason: expect.stringContaining('may touch memory') });
  });
  test('stores in the opposite order fill the memory', () => {
    const stores = (at: (i: number) => number): string =>
      `s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v2, 0\ns_waitcnt lgkmcnt(0)\n${Array.from(
        { length: 2000 },
        (_, i) => `v_mov_b32 v3, ${4 * at(i)}\nglobal_store_dword v3, v2, s[4:5]`,
      ).join('\n')}\n${BODY}`;
    const proof = proveBoth({ code: stores((i) => i) }, { code: stores((i) => 1999 - i) }, { megabytes: 60 });
    expect(proof.reason).toBe('The memory that is allowed is used up.');
    expect(proof.places.edited).toBeDefined();
  });
  test('thousands of branches that meet', () => {
    const code = Array.from(
      { length: 1500 },
      (_, i) => `s_bitcmp1_b32 s0, ${i % 32}\ns_cbranch_scc1 .L${i}\ns_add_u32 s4, s4, ${i % 60}\n.L${i}:`,
    ).join('\n');
    const proof = proveBoth(
      { code: `${code}\n${BODY}` },
      { code: `s_nop 0\n${code}\n${BODY}` },
      { milliseconds: 2000 },
    );
    expect(['proved', 'not-proved']).toContain(proof.verdict);
  });
});

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  async function prove(...argv: string[]): Promise<{ code: number; out: string }> {
    let out = '';
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      out += chunk.toString();
      return true;
    });
    const silent = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    try {
      return { code: await main(['prove', ...argv]), out };
    } finally {
      spy.mockRestore();
      silent.mockRestore();
    }
  }
  const one = (name: string): string => kernelSource({ name, code: BODY });
  /** Two kernels in one source: the metadata of both. */
  const both = (): string => {
    const [a, b] = [one('a'), one('b').replaceAll('.Lend', '.Lend2')];
    const list = /amdhsa.kernels:\n((?: .*\n)+)/.exec(b)?.[1] ?? '';
    const code = b.slice(b.indexOf('\t.text'), b.indexOf('\t.amdgpu_metadata'));
    return a.replace('\t.amdgpu_metadata', `${code}\t.amdgpu_metadata`).replace(/(amdhsa.kernels:\n)/, `$1${list}`);
  };

  it('says of a kernel that the edited file has lost that it is not proved', async () => {
    const [two, lone] = [file('two.s', both()), file('lone.s', one('a'))];
    expect(await prove(two, two)).toMatchObject({ code: 0 });
    const lost = await prove(two, lone);
    expect(lost.code).toBe(3);
    expect(lost.out).toMatch(/^b: not proved/m);
    expect(lost.out).toMatch(/^a: proved/m);
    const found = await prove(lone, two);
    expect(found.code).toBe(0);
    expect((await prove(two, lone, '--kernel', 'a')).code).toBe(0);
    const json = await prove(two, lone, '--json');
    expect(JSON.parse(json.out).kernels).toHaveLength(2);
  });

  it('does not call kernels different that are only launched otherwise, and says when one does not end', async () => {
    const [a, more] = [
      file('a.s', one('a')),
      file(
        'more.s',
        kernelSource({
          name: 'a',
          code: BODY,
          args: [
            [4, 'by_value'],
            [8, 'global_buffer'],
          ],
        }),
      ),
    ];
    const other = await prove(a, more);
    expect(other).toMatchObject({ code: 3, out: expect.stringContaining('not proved') });
    const endless = file('endless.s', kernelSource({ name: 'a', code: `.Ll:\ns_cbranch_execnz .Ll\n${BODY}` }));
    const { code, out } = await prove(a, endless);
    expect(code).toBe(1);
    expect(out).toMatch(/The baseline ends after \d+ instructions; the edited kernel has not ended after 2000000\./);
  });

  it.each([
    ['nothing', ''],
    ['no assembly', 'these are words\n'],
    ['an ELF header alone', '\x7fELF'],
  ])('refuses %s with a code', async (_what, text) => {
    const [bad, good] = [file('bad', text), file('good.s', one('a'))];
    for (const files of [
      [bad, good],
      [good, bad],
    ]) {
      const { code, out } = await prove(...files, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(out).error).toMatch(/^(?:container|prove|elf)\/[a-z-]+$/);
    }
  });
});
