// Spaces, constraints and the sampler of `optimize --tune`.
import { describe, expect, test } from 'vitest';
import { randomNumbers } from '../../base/index.ts';
import type { Configuration } from './configuration.ts';
import { parseConstraint } from './constraint.ts';
import { Sampler } from './sampler.ts';
import { allOf, readSpace, withValues } from './space.ts';

const TEXT = `
source: k.hip
build: make k FLAGS="-DTILE={tile} {flags}"
run: ./k
parameters:
  tile: [8, 16, 32, 64]
  flags: ['', '-O2']
first: { tile: 16 }
constraints: ["tile * 2 <= 64 || flags == '-O2'"]
`;

describe('a space', () => {
  test('is read, and its build command has the values', () => {
    const space = readSpace(TEXT, 'tune.yaml');
    expect(space.first).toEqual({ tile: 16, flags: '' });
    expect(space.kind === 'hip' && withValues(space.build, { tile: 64, flags: '-O2' })).toBe(
      'make k FLAGS="-DTILE=64 -O2"',
    );
    expect(allOf(space, 100)).toHaveLength(7);
    expect(allOf(space, 6)).toBeUndefined();
  });

  test.each([
    ['', /document/],
    ['source: [', /./],
    [TEXT.replace('run: ./k\n', ''), /run/],
    [TEXT.replace('{flags}', ''), /does not hold \{flags\}/],
    [TEXT.replace('tile: 16', 'tile: 17'), /no value 17/],
    [TEXT.replace('64]', '8]'), /twice/],
    [TEXT.replace("tile * 2 <= 64 || flags == '-O2'", 'tile > 100'), /first configuration breaks/],
    [TEXT.replace('tile * 2', 'size * 2'), /no parameter 'size'/],
    [TEXT.replace('parameters:', 'other: 1\nparameters:'), /other/],
  ])('%#: what is none is refused', (text, message) => {
    expect(() => readSpace(text, 'tune.yaml')).toThrow(
      expect.objectContaining({ code: 'tune/bad-space', message: expect.stringMatching(message) }),
    );
  });
});

describe('constraints', () => {
  const holds = (text: string, c: Configuration): boolean | string => {
    const constraint = parseConstraint(text, Object.keys(c));
    return typeof constraint === 'string' ? constraint : constraint(c);
  };
  test.each([
    ['a + 2 * b == 8', true],
    ['(a + 2) * b == 12', true],
    ['a - 1 - 1 == 0', true],
    ['!(a == 2) || b > 2', true],
    ['a % 2 != 0 && b', false],
    ['-a < 0', true],
    ["c == 'x' && d", true],
  ])('%s', (text, expected) => {
    expect(holds(text, { a: 2, b: 3, c: 'x', d: true })).toBe(expected);
  });
  test.each(['', 'a +', '(a', 'a b', 'a @ 1', 'process.exit()', '('.repeat(5000)])('%# makes no sense', (text) => {
    expect(typeof holds(text, { a: 1 })).toBe('string');
  });
});

describe('the sampler', () => {
  const values = [0, 1, 2, 3, 4, 5, 6, 7];
  const names = ['a', 'b', 'c', 'd'];
  const space = readSpace(
    JSON.stringify({
      source: 's',
      run: 'r',
      build: '{a}{b}{c}{d}',
      parameters: Object.fromEntries(names.map((n) => [n, values])),
    }),
    'x.yaml',
  );
  const cost = (c: Configuration): number =>
    names.reduce((sum, n, i) => sum + ((c[n] as number) - ([6, 1, 4, 2][i] as number)) ** 2, 0);

  test('the same seed asks for the same, and never twice', () => {
    const run = (): Configuration[] => {
      const sampler = new Sampler(space, 3);
      return Array.from({ length: 60 }, () => {
        const configuration = sampler.next() as Configuration;
        sampler.observe({ configuration, cost: cost(configuration) });
        return configuration;
      });
    };
    expect(run()).toEqual(run());
    expect(new Set(run().map((c) => JSON.stringify(c))).size).toBe(60);
  });

  test('finds better than chance with as many tries', () => {
    let [better, worse] = [0, 0];
    for (let seed = 1; seed <= 20; seed++) {
      const sampler = new Sampler(space, seed);
      let best = Number.POSITIVE_INFINITY;
      for (let i = 0; i < 60; i++) {
        const configuration = sampler.next() as Configuration;
        sampler.observe({ configuration, cost: cost(configuration) });
        best = Math.min(best, cost(configuration));
      }
      const random = randomNumbers(seed);
      let chance = Number.POSITIVE_INFINITY;
      for (let i = 0; i < 60; i++) {
        chance = Math.min(chance, cost(Object.fromEntries(names.map((n) => [n, Math.floor(random() * 8)]))));
      }
      if (best < chance) better++;
      if (best > chance) worse++;
    }
    expect(better).toBeGreaterThan(3 * worse);
  });

  test('ends when everything was asked for', () => {
    const small = readSpace(TEXT, 'tune.yaml');
    const sampler = new Sampler(small, 1);
    let count = 0;
    while (sampler.next() !== undefined) count++;
    expect(count).toBe(7);
  });
});
