// Moves of the search that are about more than a few instructions, one by one: where they arise, what they change, and what the ladder says.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { disassembleCodeObject } from '../src/asm/index.ts';
import { descriptorRegisters, readCodeObject } from '../src/codeobject/index.ts';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { Evaluator, KernelView, type Move, type MoveKind, movesOf, searchMoves } from '../src/optimize/index.ts';
import { withMoves } from '../src/optimize/moves/view.ts';
import { openCapture } from '../src/snapshot/index.ts';
import { record } from './support/captures.ts';
import { doubleBuffered } from './support/optimize/double-buffered.ts';
import { SUBJECTS, type SubjectName } from './support/optimize/subjects.ts';
import { variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-moves-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function evaluatorOf(name: string, of: SubjectName, code: Uint8Array): Promise<Evaluator> {
  const { args, grid, block } = SUBJECTS[of];
  await record(folder, `${name}.wscap`, { code, args, grid, block });
  return await Evaluator.open(openCapture(join(folder, `${name}.wscap`)), { chip: chipNamed('mi300x') });
}

const viewOf = (code: Uint8Array): KernelView => new KernelView(readCodeObject(code), 'k');
const ofKind = (view: KernelView, kind: MoveKind): Move[] => movesOf(view).filter((m) => m.kind === kind);

/** Each LDS word in a row of its own: all lanes use one bank. */
const oneBank = variantObject({
  name: 'one bank',
  of: 'reverse',
  source: { descriptor: { group_segment_fixed_size: 32768 }, metadata: { '.group_segment_fixed_size': 32768 } },
  replace: [
    ['v_lshlrev_b32_e32 v1, 2, v0', 'v_lshlrev_b32_e32 v1, 7, v0'],
    ['v_lshlrev_b32_e32 v5, 2, v5', 'v_lshlrev_b32_e32 v5, 7, v5'],
  ],
});

test('LDS addresses that share a bank are swizzled, which is right and faster', async () => {
  const evaluator = await evaluatorOf('bank', 'reverse', oneBank);
  const view = viewOf(oneBank);
  const [move] = ofKind(view, 'swizzle-lds');
  const { verdict, reached, rungs } = await evaluator.evaluate(withMoves(view, [move as Move]));
  expect([verdict, reached, rungs.at(-1)?.outcome]).toEqual(['accepted', 'bit', 'passed']);
});

test('no swizzle where an access has another form', () => {
  const code = variantObject({
    name: 'two',
    of: 'reverse',
    replace: [['ds_read_b32 v6, v5', 'ds_read2_b32 v[6:7], v5 offset1:0']],
  });
  expect(ofKind(viewOf(code), 'swizzle-lds')).toEqual([]);
});

test('registers that nobody names are given back', async () => {
  const source = { descriptor: { next_free_vgpr: 128, accum_offset: 128 }, metadata: { '.vgpr_count': 128 } };
  const code = variantObject({ name: 'wide', of: 'elementwise', source });
  const view = viewOf(code);
  const [move] = ofKind(view, 'trim-registers');
  const trimmed = withMoves(view, [move as Move]);
  const { descriptor, metadata } = readCodeObject(trimmed).kernels[0] ?? {};
  expect([descriptor && descriptorRegisters(descriptor).totalVgprs, metadata?.vgprCount]).toEqual([8, 8]);
  expect(ofKind(viewOf(trimmed), 'trim-registers')).toEqual([]);
  const evaluator = await evaluatorOf('wide', 'elementwise', code);
  expect((await evaluator.evaluate(trimmed)).verdict).not.toBe('rejected');
});

test('a schedule moves what can be moved, and nothing wrong is accepted for it', async () => {
  for (const of of ['elementwise', 'reverse', 'dot'] as const) {
    const code = variantObject({ name: 'same', of });
    const view = viewOf(code);
    const moves = ofKind(view, 'schedule');
    const evaluator = await evaluatorOf(`schedule-${of}`, of, code);
    expect(moves.length).toBeGreaterThan(0);
    for (const move of moves) {
      const scheduled = withMoves(view, [move]);
      const lines = (bytes: Uint8Array): string[] =>
        disassembleCodeObject(bytes)
          .split('\n')
          .filter((line) => /^\t[sv]_|^\tds_|^\tglobal_/.test(line))
          .map((line) => line.replace(/\s*\/\/.*/, ''))
          .sort();
      expect(lines(scheduled)).toEqual(lines(code));
      const { verdict, rung } = await evaluator.evaluate(scheduled);
      // The checker knows idle states that a schedule does not.
      expect(verdict === 'rejected' ? rung : 'right').toMatch(/^(?:right|static)$/);
    }
  }
});

test('the published barrier that is not needed is found', async () => {
  const evaluator = await evaluatorOf('double', 'reverse', doubleBuffered());
  const { evaluation, steps, code } = await searchMoves(evaluator, { budget: 30, beam: 1 });
  expect(evaluation).toMatchObject({ verdict: 'accepted' });
  expect(steps.flatMap((s) => s.moves.map((m) => m.kind))).toContain('drop-barrier');
  expect(disassembleCodeObject(code as Uint8Array).match(/s_barrier/g)).toHaveLength(1);
});
