// Strict mode on kernels that ship, unmodified: it has nothing to say but what strict-exceptions.ts argues from the code.
// Skips without the reference corpus.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RunFinding } from '../../../src/device/index.ts';
import { createDevice } from '../../../src/device/index.ts';
import { sharedPath } from '../../support/shared.ts';
import { tritonSubjects } from '../../support/strict-kernels.ts';
import { AITER_KERNELS } from './aiter-cases.ts';
import { EXCEPTIONS } from './strict-exceptions.ts';
import { hasCorpus, strictRuns } from './support.ts';
import { TENSILE_KERNELS } from './tensile-cases.ts';
import { deriveDispatches, fillerFor, VmfbRunner } from './vmfb.ts';

/** Kinds of findings: code, address and instruction. Notes are no mistakes. */
function summary(findings: readonly RunFinding[]): string[] {
  const mistakes = findings.filter(({ severity }) => severity !== 'note');
  const texts = mistakes.map(({ rule, place }) => `${rule} 0x${place.pc?.toString(16)} ${place.instruction}`);
  return [...new Set(texts)].sort();
}

async function findingsOf(run: () => Promise<unknown>): Promise<string[]> {
  strictRuns.findings = [];
  try {
    await run();
    return summary(strictRuns.findings);
  } finally {
    strictRuns.findings = undefined;
  }
}

describe.skipIf(!hasCorpus)('hand-written kernels (AITER)', () => {
  const cases = Object.entries(AITER_KERNELS).flatMap(([family, all]) =>
    all.map(([name, , run]) => [`${family}: ${name}`, run] as const),
  );

  test.each(cases)('%s', async (name, run) => {
    const found = await findingsOf(run);
    expect(found).toEqual([...(EXCEPTIONS[name]?.findings ?? [])].sort());
  });

  test('every exception belongs to a kernel', () => {
    const names = new Set<string>(cases.map(([name]) => name));
    expect(Object.keys(EXCEPTIONS).filter((name) => !names.has(name))).toEqual([]);
  });
});

test.skipIf(!hasCorpus).each(TENSILE_KERNELS.map(([name, , run]) => [name, run] as const))(
  'hipBLASLt: %s',
  async (_name, run) => {
    expect(await findingsOf(run)).toEqual([]);
  },
);

test.skipIf(!hasCorpus).each(hasCorpus ? tritonSubjects().map((s) => [s.name, s] as const) : [])(
  '%s',
  async (_name, subject) => {
    const device = await createDevice('sim', { target: subject.target });
    const { diagnostics, isComplete } = await subject.run(device, subject.codeObject, {});
    device.close();
    expect(summary(diagnostics ?? [])).toEqual([]);
    expect(isComplete).toBe(true);
  },
);

const module = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');

describe.skipIf(module === undefined)('a language model compiled by IREE', () => {
  const bytes = module === undefined ? new Uint8Array() : readFileSync(module);
  const derived = module === undefined ? [] : deriveDispatches(bytes, { tokens: 32, pages: 1, cachePages: 8 });
  const runner = module === undefined ? undefined : new VmfbRunner(bytes);

  test.each([
    '_initializer_0_dispatch_0',
    'decode_bs4$async_dispatch_0_',
    'decode_bs4$async_dispatch_1_reduction',
    'decode_bs4$async_dispatch_2_matmul',
    'decode_bs4$async_dispatch_8_elementwise',
    'decode_bs4$async_dispatch_13_scatter',
    'decode_bs4$async_dispatch_15_attention',
    'decode_bs4$async_dispatch_19_',
    'prefill_bs4$async_dispatch_12_scatter',
  ])('%s', async (start) => {
    const one = derived.find((d) => d.kernel.startsWith(start));
    if (one?.dispatch === undefined || runner === undefined) throw new Error(`no dispatch of ${start}`);
    const { diagnostics } = await runner.run(one.kernel, one.dispatch, 1, fillerFor(one), {});
    expect(summary(diagnostics)).toEqual([]);
  });
});
