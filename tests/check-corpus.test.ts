// Code that ships has no errors of resources, ABI and hazards: every code object of the corpus and of the IREE module.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkCodeObject } from '../src/check/index.ts';
import { codeObjectsOf, openContainer } from '../src/codeobject/index.ts';
import { isTargetName } from '../src/isa/targets.ts';
import { sharedPath } from './support/shared.ts';

const folders = ['corpus', 'vmfb'].map((name) => sharedPath(name)).filter((path) => path !== undefined);

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (/\.(co|hsaco|vmfb)$/.test(entry.name)) yield path;
  }
}

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
            const isError = severity === 'error' && /^(resources|hazards)\//.test(rule);
            if (isAbi || isError) errors.push(`${file}: ${rule}: ${message}`);
          }
        }
      }
      expect(kernels).toBeGreaterThan(100);
      expect(errors).toEqual([]);
    },
    60_000,
  );
});
