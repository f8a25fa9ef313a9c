// The same C source, compiled natively and for the three targets at -O0 to -O3, must give the same bits for every result.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createDevice, randomNumbers } from '../../src/device/index.ts';
import { withFolder } from '../support/build.ts';
import { llvmTool } from '../support/llvm.ts';

const source = join(import.meta.dirname, 'arithmetic.c');
const clang = llvmTool('clang-22');
const CASES = 512;
const RESULTS = 96;

/** Words that reach edge cases: special floats, normal floats of every type, small and arbitrary integers. */
function inputs(seed: number): Uint32Array {
  const random = randomNumbers(seed);
  const word = (): number => Math.floor(random() * 2 ** 32);
  const SPECIAL = [
    0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00800000,
    0x007fffff, 0x7f7fffff, 0x3c003c00, 0x7c00, 0x0400, 0x3ff00000, 0x7ff00000, 0x00100000, 0x000fffff,
  ];
  return Uint32Array.from({ length: 8 * CASES }, () => {
    const kind = Math.floor(random() * 4);
    if (kind === 0) return SPECIAL[Math.floor(random() * SPECIAL.length)] as number;
    if (kind === 1) return (word() & 0x807fffff) | ((100 + Math.floor(random() * 56)) << 23);
    return kind === 2 ? Math.floor(random() * 1000) : word();
  });
}

function compile(flags: readonly string[], run: (output: string) => Uint8Array): Uint8Array {
  return withFolder((folder) => {
    const output = join(folder, 'out');
    const result = spawnSync(clang as string, ['-ffp-contract=off', ...flags, source, '-o', output], {
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(`clang ${flags.join(' ')}: ${result.stderr}`);
    return run(output);
  });
}

const input = inputs(1);
const words = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.slice().buffer);

describe.skipIf(clang === undefined)('compiled arithmetic', () => {
  let expected: Uint32Array;
  beforeAll(() => {
    const native = compile(['-O1', '-lm'], (program) => {
      const run = spawnSync(program, { input: new Uint8Array(input.buffer), maxBuffer: 1 << 28 });
      if (run.status !== 0) throw new Error(`the native program failed: ${run.stderr}`);
      return run.stdout;
    });
    expected = words(native);
  });

  const builds = ['gfx90a', 'gfx942', 'gfx950'].flatMap((target) =>
    [0, 1, 2, 3].map((level) => [target, level] as const),
  );
  test.each(builds)('%s at -O%i equals the native result', async (target, level) => {
    const flags = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', `-O${level}`];
    const codeObject = compile(flags, (path) => readFileSync(path));
    const device = await createDevice('sim', { target: target as 'gfx942' });
    const from = device.alloc(input.byteLength, 'in');
    const to = device.alloc(4 * RESULTS * CASES, 'out');
    device.write(from, new Uint8Array(input.buffer));
    const count = new Uint8Array(Uint32Array.of(CASES).buffer);
    await device.dispatch({
      kernel: device.load(codeObject).kernel('arithmetic_kernel'),
      grid: [CASES / 64, 1, 1],
      block: [64, 1, 1],
      args: [from, to, count],
    });
    const got = words(device.read(to));
    const wrong = Array.from(expected.keys())
      .filter((i) => got[i] !== expected[i])
      .slice(0, 5)
      .map((i) => ({ case: Math.floor(i / RESULTS), result: i % RESULTS, expected: expected[i], got: got[i] }));
    expect(wrong).toEqual([]);
    expect(expected.length).toBe(CASES * RESULTS);
  });
});
