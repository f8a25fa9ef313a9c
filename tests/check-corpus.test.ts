// Code that ships has no errors: every code object of the corpus and of the IREE module, every rule but the waits (which have a test
// of their own), and nothing at all about the ABI and the edit when it is compared with itself.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkCodeObject } from '../src/check/index.ts';
import { codeObjectsOf, openContainer, readCodeObject } from '../src/codeobject/index.ts';
import { isTargetName } from '../src/isa/table/targets.ts';
import { compileExample, hasLlvm } from './support/build.ts';
import { sharedPath } from './support/shared.ts';

const folders = ['corpus', 'vmfb'].map((name) => sharedPath(name)).filter((path) => path !== undefined);

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (/\.(co|hsaco|vmfb)$/.test(entry.name)) yield path;
  }
}

/** Registers that these kernels only ever read: no instruction of theirs writes them, and the descriptor asks for fewer user SGPRs. */
const READ_ONLY: readonly (readonly [string, readonly string[]])[] = [
  ['pa_pa_fp16_pertokenFp8_gqa16_1tg_4w_mtp_msk1.co', ['s89', 's91']],
  ['fmoe_silu_fmoe_bf16_blockscaleBf16_g1u1_vs_1tg_silu_16x128.co', ['v8', 's89', 's88', 's87', 's86']],
  ['pa_pa_bf16_pertokenInt8_gqa16_1tg_4w_mtp_msk1.co', ['s89', 's91']],
];
const STANDING = READ_ONLY.flatMap(([file, registers]) => registers.map(() => `${file}: control-flow/uninitialised: `));

describe.skipIf(folders.length === 0)('shipped code', () => {
  it.each(folders.map((folder) => [folder as string]))(
    '%s',
    (folder) => {
      let kernels = 0;
      const errors: string[] = [];
      for (const file of filesIn(folder)) {
        for (const codeObject of codeObjectsOf(openContainer(readFileSync(file), file))) {
          if (!isTargetName(codeObject.target.processor)) continue;
          kernels += codeObject.kernels.length;
          for (const { rule, severity, message } of checkCodeObject(codeObject, { against: codeObject })) {
            const isAbi = rule.startsWith('abi/');
            const isError = severity === 'error' && !/^waits\/(?:read|write)-before-return$/.test(rule);
            if (isAbi || isError) errors.push(`${basename(file)}: ${rule}: ${message}`);
          }
        }
      }
      expect(kernels).toBeGreaterThan(100);
      expect(errors.filter((e) => !STANDING.some((s) => e.startsWith(s)))).toEqual([]);
      expect(errors).toHaveLength(folder.endsWith('corpus') ? STANDING.length : 0);
    },
    240_000,
  );
});

const SOURCES = ['examples', 'tests/sim'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.c'))
    .map((name) => join(folder, name)),
);

describe.skipIf(!hasLlvm())('what clang makes', () => {
  it.each([0, 1, 2, 3])('at -O%s has no errors and no warnings', (level) => {
    const found: string[] = [];
    for (const file of SOURCES) {
      for (const target of level === 2 ? ['gfx90a', 'gfx942', 'gfx950'] : ['gfx942']) {
        const codeObject = readCodeObject(compileExample(file, target, level));
        for (const f of checkCodeObject(codeObject, { against: codeObject })) {
          if (f.severity !== 'note') found.push(`${file} ${target}: ${f.rule}: ${f.message}`);
        }
      }
    }
    expect(found).toEqual([]);
  });
});
