// Strict mode sees what is in scratch, by whichever instructions a target and a level reach it: flat ones, those of scratch, and buffers on gfx90a.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDevice } from '../src/device/index.ts';
import { compileExample, hasLlvm } from './support/build.ts';
import { root } from './support/strict-kernels.ts';

const FILE = join(root(), 'tests', 'sim', 'scratch.c');
const KERNELS = [...readFileSync(FILE, 'utf8').matchAll(/^KERNEL void (\w+)/gm)].map(([, name = '']) => name);

describe
  .skipIf(!hasLlvm())
  .each((['gfx90a', 'gfx942', 'gfx950'] as const).flatMap((target) => [0, 2].map((level) => [target, level] as const)))(
  'scratch of %s at -O%i',
  (target, level) => {
    const code = hasLlvm() ? compileExample(FILE, target, level) : new Uint8Array();

    test.each(KERNELS)('%s', async (name) => {
      const run = async (engine: 'compiled' | 'interpreter') => {
        const device = await createDevice('sim', { target });
        try {
          const [out, input] = [device.alloc(1024, 'out'), device.alloc(1024, 'in')];
          device.write(input, new Uint8Array(Uint32Array.from({ length: 256 }, (_, i) => (i * 37) % 101).buffer));
          const { findings = [] } = await device.dispatch({
            kernel: device.load(code).kernel(name),
            grid: [2, 1, 1],
            block: [128, 1, 1],
            args: [out, input],
            engine,
            strict: {},
          });
          return {
            bytes: device.read(out),
            found: findings.map(({ rule, place, lane, message }) => ({ rule, place, lane, message })),
          };
        } finally {
          device.close();
        }
      };
      const [compiled, interpreted] = [await run('compiled'), await run('interpreter')];
      expect(compiled).toEqual(interpreted);
      const rules = [...new Set(compiled.found.map(({ rule }) => rule))];
      expect(rules).toEqual(name.startsWith('unwritten') ? ['memory/uninitialised'] : []);
    });
  },
);
