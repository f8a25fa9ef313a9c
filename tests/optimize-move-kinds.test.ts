// Moves of loops, registers, branches and idle states: each where it arises, with what the ladder says of it, and where it must not arise.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { disassembleCodeObject } from '../src/asm/index.ts';
import { descriptorRegisters, readCodeObject } from '../src/codeobject/index.ts';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { type Evaluation, Evaluator, KernelView, type MoveKind, movesOf, searchMoves } from '../src/optimize/index.ts';
import { withMoves } from '../src/optimize/moves/view.ts';
import { openCapture } from '../src/snapshot/index.ts';
import { record } from './support/captures.ts';
import { SUBJECTS, type SubjectName } from './support/optimize/subjects.ts';
import { STORE, type Variant, variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-move-kinds-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let captures = 0;

const objectOf = (of: SubjectName, replace: Variant['replace'] = [], source: Variant['source'] = {}): Uint8Array =>
  variantObject({ name: 'subject', of, replace, source });

function movesFor(code: Uint8Array, kind: MoveKind) {
  const view = new KernelView(readCodeObject(code), 'k');
  return { view, moves: movesOf(view).filter((m) => m.kind === kind) };
}

/** What the ladder says of each move of a kind. */
async function judged(
  of: SubjectName,
  code: Uint8Array,
  kind: MoveKind,
): Promise<{ text: string; verdict: Evaluation }[]> {
  const { view, moves } = movesFor(code, kind);
  const { args, grid, block } = SUBJECTS[of];
  const name = `${captures++}.wscap`;
  await record(folder, name, { code, args, grid, block });
  const evaluator = await Evaluator.open(openCapture(join(folder, name)), { chip: chipNamed('mi300x') });
  const out: { text: string; verdict: Evaluation }[] = [];
  for (const move of moves) {
    const changed = withMoves(view, [move]);
    out.push({ text: disassembleCodeObject(changed), verdict: await evaluator.evaluate(changed) });
  }
  return out;
}

/** The one move of a kind, which must be right. */
async function right(
  of: SubjectName,
  code: Uint8Array,
  kind: MoveKind,
): Promise<{ text: string; verdict: Evaluation }> {
  const found = await judged(of, code, kind);
  expect(found.map(({ verdict }) => [verdict.rung, verdict.rungs.at(-1)?.evidence[0]])).toEqual([
    [undefined, expect.stringMatching(/^Modelled/)],
  ]);
  return found[0] as { text: string; verdict: Evaluation };
}

const none = (code: Uint8Array, kind: MoveKind): void => expect(movesFor(code, kind).moves).toEqual([]);

test('loads of a counted loop go one turn ahead, which is faster', async () => {
  const { verdict, text } = await right('dot', objectOf('dot'), 'pipeline-loop');
  expect(verdict.verdict).toBe('accepted');
  expect(text.match(/global_load_dword /g)).toHaveLength(2);
});

test('no loads of loops that write memory, change EXEC, chase pointers, or read what the turn before loaded', () => {
  const inLoop = (line: string) => objectOf('dot', [['v_add_u32_e32 v1, 4, v1', line]]);
  none(inLoop('v_add_u32_e32 v1, 4, v1\n  global_store_dword v1, v2, s[4:5]'), 'pipeline-loop');
  none(inLoop('v_add_u32_e32 v1, 4, v1\n  s_and_b64 exec, exec, s[10:11]'), 'pipeline-loop');
  none(inLoop('v_add_u32_e32 v1, v3, v1'), 'pipeline-loop');
  none(objectOf('dot', [['loop:', 'v_mov_b32_e32 v3, 0\nloop:\n  v_add_f32_e32 v2, v3, v2']]), 'pipeline-loop');
});

test('what every turn makes alike is made before the loop', async () => {
  const code = objectOf('dot', [
    [
      'v_fmac_f32_e32 v2, s17, v3',
      'v_cvt_f32_u32_e32 v4, s14\n  v_fmac_f32_e32 v2, s17, v3\n  v_max_f32_e32 v2, v4, v2',
    ],
  ]);
  const { text } = await right('dot', code, 'hoist-invariant');
  expect(text.indexOf('v_cvt_f32_u32')).toBeLessThan(text.indexOf('global_load_dword'));
  none(
    objectOf('dot', [['v_fmac_f32_e32 v2, s17, v3', 'v_cvt_f32_u32_e32 v4, s16\n  v_fmac_f32_e32 v2, v4, v3']]),
    'hoist-invariant',
  );
});

test('readers of a copy take the scalar', async () => {
  const fma = 'v_fma_f32 v2, s9, v2, v3';
  const code = objectOf('elementwise', [[fma, 'v_mov_b32_e32 v4, s9\n  v_fma_f32 v2, v4, v2, v3']]);
  const { text } = await right('elementwise', code, 'scalar-operand');
  expect(text).toContain(fma);
  expect(text).not.toContain('v_mov_b32');
  const changed = objectOf('elementwise', [
    [fma, 'v_mov_b32_e32 v4, s9\n  s_mov_b32 s9, 0\n  v_fma_f32 v2, v4, v2, v3'],
  ]);
  none(changed, 'scalar-operand');
});

test('a branch over vector code that no lane runs goes', async () => {
  const { text } = await right('elementwise', objectOf('elementwise'), 'drop-skip');
  expect(text).not.toContain('s_cbranch_execz');
  none(objectOf('elementwise', [[STORE, `s_mov_b32 s9, 0\n  ${STORE}`]]), 'drop-skip');
});

test('loads begin before a branch over code that no lane runs', async () => {
  const { text } = await right('elementwise', objectOf('elementwise'), 'hoist-across');
  expect(text.indexOf('global_load_dword')).toBeLessThan(text.indexOf('s_cbranch_execz'));
  const load = 'global_load_dword v2, v1, s[6:7]';
  none(objectOf('elementwise', [[load, `s_add_u32 s6, s6, 0\n  ${load}`]]), 'hoist-across');
});

test('arithmetic takes the place of idle states', async () => {
  const shift = 'v_lshlrev_b32_e32 v1, 2, v0';
  const { text } = await right('elementwise', objectOf('elementwise', [[shift, `s_nop 1\n  ${shift}`]]), 'fill-nop');
  expect(text).toMatch(/v_cvt_f32_u32_e32 v3, v0.*\n\ts_nop 0/);
  none(objectOf('elementwise', [['v_fma_f32 v2', 's_nop 1\n  v_fma_f32 v2']]), 'fill-nop');
});

const TWICE = `v_lshlrev_b32_e32 v4, 2, v0
  global_load_dword v2, v4, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v5, v2, v3
  global_load_dword v2, v1, s[6:7]`;

test('a load takes a register of its own where its register is in use', async () => {
  const code = objectOf('elementwise', [
    ['  global_load_dword v2, v1, s[6:7]\n  v_cvt_f32_u32_e32 v3, v0', `  v_cvt_f32_u32_e32 v3, v0\n  ${TWICE}`],
    ['v_fma_f32 v2, s9, v2, v3', 'v_fma_f32 v2, s9, v2, v5'],
  ]);
  const found = await judged('elementwise', code, 'rename');
  expect(found.map(({ verdict }) => verdict.rung)).toEqual(found.map(() => undefined));
  expect(found.some(({ verdict }) => verdict.verdict === 'accepted')).toBe(true);
  none(objectOf('elementwise'), 'rename');
});

test('registers are packed where names never hold something together', async () => {
  const source = { descriptor: { next_free_vgpr: 64, accum_offset: 64 }, metadata: { '.vgpr_count': 64 } };
  const far: readonly (readonly [string, string])[] = [
    ['v_cvt_f32_u32_e32 v3, v0', 'v_cvt_f32_u32_e32 v61, v0'],
    ['v2, s9, v2, v3', 'v40, s9, v2, v61'],
    ['v1, v2, s[4:5]', 'v1, v40, s[4:5]'],
  ];
  const code = objectOf('elementwise', far, source);
  const { text } = await right('elementwise', code, 'pack-registers');
  expect(text).not.toMatch(/v40|v61/);
  const { view, moves } = movesFor(code, 'pack-registers');
  const { descriptor } = readCodeObject(withMoves(view, moves)).kernels[0] ?? {};
  expect(descriptor && descriptorRegisters(descriptor).totalVgprs).toBe(8);
  none(objectOf('elementwise'), 'pack-registers');
});

test('tuples stay together and even when registers are packed', async () => {
  const source = { descriptor: { next_free_vgpr: 64, accum_offset: 64 }, metadata: { '.vgpr_count': 64 } };
  const code = objectOf(
    'elementwise',
    [
      ['global_load_dword v2, v1, s[6:7]', 'v_and_b32_e32 v9, -8, v1\n  global_load_dwordx2 v[30:31], v9, s[6:7]'],
      ['v_fma_f32 v2, s9, v2, v3', 'v_add_f32_e32 v2, v30, v31\n  v_fma_f32 v2, s9, v2, v3'],
    ],
    source,
  );
  const { text } = await right('elementwise', code, 'pack-registers');
  expect(text).toMatch(/global_load_dwordx2 v\[[246]:[357]\]/);
});

const lds = (bytes: number) => ({
  descriptor: { group_segment_fixed_size: bytes },
  metadata: { '.group_segment_fixed_size': bytes },
});
/** Each LDS word in a row of its own: all lanes use one bank. */
const ONE_BANK: Variant['replace'] = [
  ['v_lshlrev_b32_e32 v1, 2, v0', 'v_lshlrev_b32_e32 v1, 7, v0'],
  ['v_lshlrev_b32_e32 v5, 2, v5', 'v_lshlrev_b32_e32 v5, 7, v5'],
];

test('rows of LDS are padded, which is right and faster, where there is LDS for it', async () => {
  const { verdict } = await right('reverse', objectOf('reverse', ONE_BANK, lds(32768)), 'pad-lds');
  expect(verdict.verdict).toBe('accepted');
  none(objectOf('reverse', ONE_BANK, lds(65536)), 'pad-lds');
});

test('two stores become one', async () => {
  const pair = (between: string): Variant['replace'] => [
    ['v_cmp_gt_u32_e32', 's_lshr_b32 s8, s8, 1\n  v_cmp_gt_u32_e32'],
    ['v_fma_f32 v2, s9, v2, v3', 'v_fma_f32 v2, s9, v2, v3\n  v_lshlrev_b32_e32 v1, 3, v0'],
    [STORE, `${STORE}\n  ${between}global_store_dword v1, v3, s[4:5] offset:4`],
  ];
  const { text } = await right('elementwise', objectOf('elementwise', pair('')), 'merge-stores');
  expect(text).toContain('global_store_dwordx2 v1, v[2:3], s[4:5]');
  none(objectOf('elementwise', pair('v_mov_b32_e32 v2, 0\n  ')), 'merge-stores');
});

test('a cache operation that repeats the one before goes, and no other', async () => {
  const fence = 'buffer_wbl2 sc0 sc1';
  const code = objectOf('total', [[fence, `${fence}\n  ${fence}`]]);
  const { text } = await right('total', code, 'drop-fence');
  expect(text.match(/buffer_wbl2/g)).toHaveLength(1);
  none(objectOf('total', [[fence, `${fence}\n  global_load_dword v5, v1, s[6:7]\n  ${fence}`]]), 'drop-fence');
});

test('a tree of moves finds what is faster, and the same again with the same seed', async () => {
  const { args, grid, block } = SUBJECTS.reverse;
  await record(folder, 'tree.wscap', { code: objectOf('reverse', ONE_BANK, lds(32768)), args, grid, block });
  const evaluator = await Evaluator.open(openCapture(join(folder, 'tree.wscap')), { chip: chipNamed('mi300x') });
  const search = (seed: number) => searchMoves(evaluator, { budget: 14, beam: 1, method: 'mcts', seed });
  const first = await search(1);
  expect(first.evaluation?.verdict).toBe('accepted');
  expect(first.looks).toBeLessThanOrEqual(14);
  const hashes = (found: typeof first) => found.steps.map((s) => s.hash);
  expect(hashes(await search(1))).toEqual(hashes(first));
});
