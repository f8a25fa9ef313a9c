// What `hijack run` says about edits that an earlier comparison called equal: each was reproduced before its rule was written.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { build } from '../src/iree/build.ts';
import { initFromMlir, initFromModule } from '../src/iree/init.ts';
import { readManifest, writeManifest } from '../src/iree/manifest.ts';
import { type RunResult, run } from '../src/iree/run.ts';
import { verdictLine } from '../src/verdict/index.ts';
import {
  asmFile,
  BUILD,
  edit,
  fixtureFolder,
  ireeCompile,
  KERNEL,
  RUN,
  root,
  temporaryFolder,
} from './hijack-support.ts';

const HARMLESS = [/^\tv_mfma_/m, '\ts_nop 1\n$&'] as const;

/** A built folder with an edit. */
async function edited(pattern: RegExp, replacement: string, force = false): Promise<string> {
  const folder = fixtureFolder();
  edit(asmFile(folder), pattern, replacement);
  await build(folder, { ...BUILD, force });
  return folder;
}

const summary = (result: RunResult): [string, boolean] => [result.verdict, result.ok];
const line = (result: RunResult): string => verdictLine(result, '');

describe('edits and their build', () => {
  test('an edit that was not built is NOT BUILT, whatever the stale module says', async () => {
    const folder = await edited(...HARMLESS);
    expect(summary(await run(folder, RUN))).toEqual(['equal', true]);
    edit(asmFile(folder), /^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 0x40000000, $1\n$&');
    const stale = await run(folder, RUN);
    expect(summary(stale)).toEqual(['not-built', false]);
    expect(stale.runs).toEqual([]);
    expect(line(stale)).toMatch(
      /^NOT BUILT: .*asm\/matmul_dispatch_0\.s is not what was built \(modified\.vmfb holds another one\)/,
    );
    await build(folder, BUILD);
    expect(summary(await run(folder, RUN))).toEqual(['different', false]);
  });

  test('an edit of a folder whose module has none, one that was put back, one that cannot be assembled', async () => {
    const folder = fixtureFolder();
    await build(folder, BUILD);
    const pristine = readFileSync(asmFile(folder));
    edit(asmFile(folder), ...HARMLESS);
    expect(line(await run(folder, RUN))).toContain('(modified.vmfb has no edit of it)');
    await build(folder, BUILD);
    writeFileSync(asmFile(folder), pristine);
    expect(line(await run(folder, { ...RUN, all: true }))).toMatch(/^NOT BUILT: .*its text is as init wrote it/);
    edit(asmFile(folder), /^\tv_mfma_/m, '\tv_nonsense v0\n$&');
    expect(line(await run(folder, RUN))).toMatch(
      /^NOT BUILT: The text of matmul_dispatch_0 cannot be built: .*\.s:\d+:\d+: error\[hijack\/assemble\]/,
    );
  });

  test('a comment, another layout of the text and a module given by name are not stale', async () => {
    const folder = await edited(...HARMLESS);
    edit(asmFile(folder), /^/, '; a note\n');
    expect(summary(await run(folder, RUN))).toEqual(['equal', true]);
    edit(asmFile(folder), ...HARMLESS);
    expect(summary(await run(folder, { ...RUN, modified: join(folder, 'modified.vmfb') }))).toEqual(['equal', true]);
  });

  test('nothing changed: nothing compared', async () => {
    const folder = fixtureFolder();
    await build(folder, BUILD);
    const result = await run(folder, RUN);
    expect(summary(result)).toEqual(['nothing-compared', false]);
    expect(line(result)).toMatch(/^NOTHING COMPARED: No kernel was changed/);
  });
});

describe('waits that were dropped', () => {
  const dropped = [/^\ts_waitcnt vmcnt\(0\)\n/m, ''] as const;

  test('a forced build is never plainly equal: the checker’s objection is in the verdict, forced or not', async () => {
    const folder = await edited(...dropped, true);
    const result = await run(folder, RUN);
    expect(result.verdict).toBe('equal');
    expect(result.ok).toBe(false);
    expect(line(result)).toMatch(/^EQUAL, BUT waits\/read-before-return at asm\/matmul_dispatch_0\.s:\d+ \(checker\)/);
    const forced = await run(folder, { ...RUN, force: true });
    expect(forced.ok).toBe(true);
    expect(line(forced)).toBe(line(result));
  });

  test('--check runs both sides in strict mode; the baseline’s own findings are not the edit’s', async () => {
    const folder = await edited(...dropped, true);
    const result = await run(folder, { ...RUN, check: true });
    expect(result).toMatchObject({ check: true, ok: false });
    expect(result.objections.map((o) => o.by)).toContain('strict');
    expect(result.objections.find((o) => o.by === 'strict')).toMatchObject({
      rule: 'waits/read-before-return',
      kernel: KERNEL,
      place: expect.stringMatching(/^asm\/matmul_dispatch_0\.s:\d+$/),
    });
    expect(result.runs[0].baseline.diagnostics).toEqual([]);
    const harmless = await run(await edited(...HARMLESS), { ...RUN, check: true });
    expect(summary(harmless)).toEqual(['equal', true]);
    expect(harmless.objections).toEqual([]);
  });
});

/** At the end of the kernel s[0:1] is the output's address. */
const atEnd = (code: string): [RegExp, string] => [
  /^\ts_endpgm$/m,
  `${code
    .split('; ')
    .map((line) => `\t${line}\n`)
    .join('')}\ts_endpgm`,
];
const storeAt = (offset: number): string =>
  `v_mov_b32_e32 v40, 0x${offset.toString(16)}; v_mov_b32_e32 v41, 7; global_store_dword v40, v41, s[0:1]`;
/** Copies the word at an offset of the output's allocation over the output's first element. */
const copyFrom = (offset: number): string =>
  `v_mov_b32_e32 v40, 0x${offset.toString(16)}; global_load_dword v41, v40, s[0:1]; s_waitcnt vmcnt(0); ` +
  'v_mov_b32_e32 v40, 0; global_store_dword v40, v41, s[0:1]';

const OUTPUT = 128 * 128 * 4;

/** Makes the output binding longer than its tensor. */
function widen(folder: string, extra: number): void {
  const manifest = readManifest(folder);
  const [executable] = manifest.executables;
  const [kernel] = executable.kernels;
  const [site] = kernel.dispatches;
  const bindings = site.bindings.map((b, i) => (i === 2 ? { ...b, length: OUTPUT + extra } : b));
  const dispatches = [{ ...site, bindings }];
  writeManifest(folder, { ...manifest, executables: [{ ...executable, kernels: [{ ...kernel, dispatches }] }] });
}

describe('memory beside the tensors', () => {
  test('is untouched after a harmless edit', async () => {
    const folder = await edited(...HARMLESS);
    widen(folder, 256);
    const result = await run(folder, RUN);
    expect(summary(result)).toEqual(['equal', true]);
    expect(result.runs[0]).toMatchObject({ gapBytes: 256, gaps: [], unwrittenReads: { baseline: 0, modified: 0 } });
  });

  test.each([
    [0, false],
    [252, true],
  ])('a store %i bytes behind the output is different (strict: %s)', async (at, check) => {
    const folder = await edited(...atEnd(storeAt(OUTPUT + at)));
    widen(folder, 256);
    const result = await run(folder, { ...RUN, check });
    expect(summary(result)).toEqual(['different', false]);
    expect(result.runs[0].gaps).toMatchObject([
      { where: 'binding 2', offset: OUTPUT, bytes: 256, written: { baseline: 0, modified: 4 } },
    ]);
    expect(result.runs[0].buffers[2].comparison.different).toBe(0);
  });

  test('a result that depends on unwritten memory is different, and --check names the read', async () => {
    const folder = await edited(...atEnd(copyFrom(OUTPUT + 8)), true);
    widen(folder, 256);
    const result = await run(folder, RUN);
    expect(summary(result)).toEqual(['different', false]);
    expect(result.runs[0].unwrittenReads).toEqual({ baseline: 0, modified: 4, first: { allocation: 2, offset: 0 } });
    expect(result.reasons).toEqual([
      `Byte 0 of binding 2 depends on memory that nobody wrote, and does not in the baseline's ${KERNEL}.`,
    ]);
    const checked = await run(folder, { ...RUN, check: true });
    expect(checked.objections).toContainEqual(
      expect.objectContaining({ by: 'strict', rule: 'memory/uninitialised', kernel: KERNEL }),
    );
  });

  test('an output that the edit no longer writes is different; inputs that it writes, too', async () => {
    const empty = await run(await edited(/^(\.LBB0_0:\n)/m, '$1\ts_endpgm\n', true), RUN);
    expect(summary(empty)).toEqual(['different', false]);
    expect(empty.runs[0].buffers[2].written).toEqual({ baseline: OUTPUT, modified: 0 });
    // s[4:5] is the second input's address.
    const folder = await edited(...atEnd('v_mov_b32_e32 v40, 64; global_store_short v40, v40, s[4:5]'), true);
    const stored = await run(folder, RUN);
    expect(summary(stored)).toEqual(['different', false]);
    expect(stored.runs[0].buffers[1]).toMatchObject({ readOnly: true, written: { baseline: 0, modified: 2 } });
  });

  test('a kernel that writes nothing on either side is nothing compared', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^(\.LBB0_0:\n)/m, '$1\ts_endpgm\n');
    await build(folder, { ...BUILD, force: true });
    const module = readFileSync(join(folder, 'modified.vmfb'));
    const both = join(temporaryFolder(), 'both');
    await initFromModule(join(folder, 'modified.vmfb'), both, { force: false });
    writeFileSync(join(both, 'modified.vmfb'), module);
    const buffers = new Map([0, 1, 2].map((n) => [n, { bytes: undefined, elementType: n === 2 ? 'f32' : 'f16' }]));
    const result = await run(both, { ...RUN, all: true, buffers });
    expect(summary(result)).toEqual(['nothing-compared', false]);
    expect(line(result)).toBe(`NOTHING COMPARED: Neither side of ${KERNEL} wrote anything`);
  });
});

const iree = ireeCompile();

describe.skipIf(iree === undefined)('modules with several kernels', () => {
  test('an edited kernel that was not launched is no verdict', async () => {
    const folder = join(temporaryFolder(), 'two');
    const { manifest } = await initFromMlir(join(root, 'examples', 'two_matmuls.mlir'), folder, {
      target: 'gfx942',
      extra: [],
      link: false,
      force: false,
    });
    const [first, second] = manifest.executables.map((e) => e.kernels[0].name);
    edit(asmFile(folder, 'dispatch_0'), ...HARMLESS);
    edit(asmFile(folder, 'dispatch_1'), /^\tbuffer_store_dword (v\d+),/m, '\tv_mul_f32_e32 $1, 0x40000000, $1\n$&');
    await build(folder, BUILD);
    const named = await run(folder, { ...RUN, dispatches: [first] });
    expect(summary(named)).toEqual(['equal', true]);
    expect(line(named)).toBe(`EQUAL: ${second} is edited and did not run`);
    expect(summary(await run(folder, RUN))).toEqual(['different', false]);
    copyFileSync(join(folder, 'baseline', basename(asmFile(folder, 'dispatch_0'))), asmFile(folder, 'dispatch_0'));
    await build(folder, BUILD);
    const result = await run(folder, { ...RUN, dispatches: [first] });
    expect(result.runs.map((r) => r.verdict)).toEqual(['equal']);
    expect(summary(result)).toEqual(['not-launched', false]);
    expect(line(result)).toBe(`EDITED KERNEL NOT LAUNCHED: ${second} is edited and did not run`);
  });
});
