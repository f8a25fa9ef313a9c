/// <reference types="vite/client" />
// A slice of the fuzz run (`npm run fuzz` does the long one): every target survives a few hundred mutants.
import { describe, expect, test } from 'vitest';
import { type FuzzTarget, fuzz } from './mutate.ts';

const modules = import.meta.glob<{ default: FuzzTarget }>(['./*.ts', '!./*.test.ts', '!./run.ts', '!./mutate.ts'], {
  eager: true,
});

describe('parsers of outside bytes survive mutated input', () => {
  test.each(Object.values(modules).map((module) => [module.default.name, module.default] as const))(
    '%s',
    async (_name, target) => {
      const report = await fuzz(target, 400, 7);
      expect(report.failures.map((failure) => failure.reason)).toEqual([]);
      expect(report.accepted).toBeGreaterThan(0);
      expect(report.rejected).toBeGreaterThan(0);
    },
  );
});
