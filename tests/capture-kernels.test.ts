// A slice of `npm run bench replay`: captures of compiled, Triton, hand-written and IREE kernels replay equal, wrong versions are found,
// and nothing in them is needless.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openCapture } from '../src/snapshot/index.ts';
import { mutationScore } from './support/capture-mutants.ts';
import { needlessParts } from './support/capture-removals.ts';
import { budgetBeside, captureSubjects, recordFirst, replayOnce, wrongVersions } from './support/capture-subjects.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-kernels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WANTED =
  /^(transpose gfx950|scan gfx950|triton softmax|aiter top-k softmax gfx942 4x128x4|aiter bf16 GEMM gfx942 64x64, split K|iree decode_bs4\$async_dispatch_0_)/;
const subjects = captureSubjects().filter(({ name }) => WANTED.test(name));

describe.skipIf(subjects.length === 0)('a captured kernel', () => {
  test.each(subjects.map((s) => [s.name, s.run] as const))('%s', async (name, run) => {
    const path = join(folder, `${name.replace(/\W/g, '_').slice(0, 40)}.wscap`);
    await recordFirst(run, path, { orders: false });
    const capture = openCapture(path);
    const replayed = await replayOnce(capture, { iterations: 2 });
    expect(replayed).toMatchObject({ verdict: 'equal', reasons: [] });
    const instructions = replayed.dispatch?.instructions ?? 0;
    const versions = wrongVersions(capture, folder);
    expect(versions.length).toBeGreaterThan(0);
    for (const version of versions) {
      const result = await replayOnce(version.path === undefined ? capture : openCapture(version.path), {
        code: version.code,
        against: version.path === undefined ? undefined : capture,
        maxInstructions: budgetBeside(instructions),
      });
      expect(result.ok, version.name).toBe(false);
    }
    const { tried, needless } = await needlessParts(capture, 6, 1, instructions);
    expect([tried > 0, needless]).toEqual([true, []]);
    // Bounds that are off by one, stores one element further, stores left out: whatever changes memory is found.
    const { changed, missed } = await mutationScore(capture, 2);
    expect(missed).toEqual([]);
    expect([changed.further + changed.bound, changed.stale].every((n) => n > 0)).toBe(true);
  });
});
