// Round trips: listing against llvm-objdump, disassembly through both assemblers, on real files and on what clang makes.
// The full corpus and any other folder: node scripts/run-ts.mjs tools/roundtrip.ts [PATH…].
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disassembleCodeObject } from '../src/asm/disassemble/disassemble.ts';
import { codeObjectsOf, openContainer } from '../src/codeobject/index.ts';
import { compileC, hasLlvm, linkWithLld } from './support/build.ts';
import { COMPILED_SAMPLE } from './support/compiled-sample.ts';
import { listingDifferences, roundTrip } from './support/round-trip.ts';
import { sharedPath } from './support/shared.ts';

const withLlvm = hasLlvm();
const corpus = sharedPath('corpus');
const SMALLEST = 12;

/** Problems of one code object, named by where they were found. */
function problems(bytes: Uint8Array): string[] {
  const text = disassembleCodeObject(bytes);
  const found = roundTrip(bytes, 'wavesmith', text).map((problem) => `wavesmith: ${problem}`);
  if (!withLlvm) return found;
  const listing = listingDifferences(bytes).examples.map((example) => `listing: ${example}`);
  return [...found, ...listing, ...roundTrip(bytes, 'llvm', text).map((problem) => `llvm: ${problem}`)];
}

/** The smallest files of all, and the smallest of each family (folder and first word of the name). */
function slice(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(co|hsaco)$/.test(name))
    .map((name) => ({ name, size: statSync(join(folder, name)).size }))
    .sort((a, b) => a.size - b.size);
  const families = new Map<string, string>();
  for (const { name } of files) {
    const family = name.replace(/[_.].*$/, '');
    if (!families.has(family)) families.set(family, name);
  }
  return [...new Set([...files.slice(0, SMALLEST).map((f) => f.name), ...families.values()])];
}

describe.skipIf(corpus === undefined)('the corpus', () => {
  it.each(corpus === undefined ? [] : slice(corpus))('should round-trip %s', (name) => {
    const objects = codeObjectsOf(openContainer(readFileSync(join(corpus ?? '', name)), name));
    expect(objects.length).toBeGreaterThan(0);
    for (const object of objects) expect(problems(object.bytes)).toEqual([]);
  });
});

describe.skipIf(!withLlvm)('what clang makes', () => {
  const targets = ['gfx90a', 'gfx942:xnack-', 'gfx950'];
  const levels = ['-O0', '-O1', '-O2', '-O3'];
  const cases = targets.flatMap((target) => levels.map((level) => [target, level] as const));
  it.each(cases)('should round-trip for %s at %s, linked and not', (target, level) => {
    const object = compileC(COMPILED_SAMPLE, target, [level]);
    expect(problems(object)).toEqual([]);
    expect(problems(linkWithLld([object]))).toEqual([]);
  });

  it.each(['4', '5', '6'])('should round-trip code object version %s', (version) => {
    const flags = ['-O2', `-mcode-object-version=${version}`, '-ffunction-sections', '-fdata-sections', '-g'];
    const object = compileC(COMPILED_SAMPLE, 'gfx942', flags);
    expect(problems(object)).toEqual([]);
    expect(problems(linkWithLld([object], ['--strip-all']))).toEqual([]);
  });

  it('should round-trip several objects linked with a build id', () => {
    const second = 'int f(int x) { return x + 1; }\n__attribute__((amdgpu_kernel)) void k2(int n) { f(n); }\n';
    const objects = [COMPILED_SAMPLE, second].map((source) => compileC(source, 'gfx90a', ['-O1']));
    expect(problems(linkWithLld(objects, ['--build-id']))).toEqual([]);
  });
});
