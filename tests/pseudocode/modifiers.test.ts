// A slice of the fuzz of modifiers: every encoding of every vector operation once, with random modifiers, MODE, EXEC and operands.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../../src/base/index.ts';
import { NOT_COMPARED } from './adjudicated.ts';
import { Evaluator } from './evaluate.ts';
import { compareModified, EXTRA_TEXTS, modifiedRows } from './modifiers.ts';
import { readTexts } from './suite.ts';

const file = join(import.meta.dirname, '../../../shared/isa/cdna-pseudocode.json');
if (!existsSync(file)) console.warn(`skipped: ${file} is not there (the texts of AMD's documents).`);

describe.skipIf(!existsSync(file))("AMD's pseudo-code with modifiers", () => {
  it.each(['gfx90a', 'gfx942', 'gfx950'] as const)('agrees with every encoding of %s in any MODE', (target) => {
    const texts = new Map([...readTexts(file).texts, ...Object.entries(EXTRA_TEXTS)]);
    const evaluator = new Evaluator(texts);
    const random = randomNumbers(17);
    const problems: string[] = [];
    const compared = new Set<string>();
    for (const row of modifiedRows(target)) {
      const name = row.operation.toUpperCase();
      const isLeft = Object.values(NOT_COMPARED).some((patterns) => patterns.some((p) => p.test(name)));
      if (isLeft || !texts.has(name)) continue;
      for (let k = 0; k < 2; k++) {
        const made = compareModified(evaluator, name, target, row, random);
        if (made === undefined) continue;
        compared.add(row.mnemonic);
        if (made.differences.length > 0) problems.push([made.text, ...made.differences.slice(0, 2)].join('\n'));
      }
    }
    expect(problems).toEqual([]);
    expect(compared.size).toBeGreaterThan(1100);
  });
});
