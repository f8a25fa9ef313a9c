// `wavesmith run --expect`: a verdict about buffers, exit codes, JSON.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { type NpyType, writeNpy } from '../src/device/index.ts';
import { temporaryFolder } from './hijack-support.ts';
import { wavesmith } from './support/command.ts';
import { kernelSource } from './support/kernel-source.ts';

/** Each lane writes its number as an integer. */
const CODE = `
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[2:3]
`;

const folder = () => {
  const path = temporaryFolder();
  const args = [
    [8, 'global_buffer'],
    [4, 'by_value'],
  ] as const;
  writeFileSync(join(path, 'k.co'), assembleAndLink(kernelSource({ code: CODE, args })));
  return path;
};

const run = (path: string, type: string, ...flags: string[]) =>
  wavesmith(
    ...['run', join(path, 'k.co'), '--kernel', 'k', '--grid', '1', '--block', '64'],
    ...['--arg', `${type}[64]`, '--arg', 'i32=1', ...flags],
  );

const npy = (path: string, type: NpyType, values: Int32Array | Float32Array, shape = [values.length]): string => {
  const file = join(path, `${type}-${shape.join('x')}.npy`);
  writeFileSync(file, writeNpy({ type, shape, bytes: new Uint8Array(values.buffer) }));
  return file;
};

const lanes = Int32Array.from({ length: 64 }, (_, i) => i);

test('equal and different buffers', async () => {
  const path = folder();
  const right = npy(path, 'i32', lanes, [8, 8]);
  const equal = await run(path, 'i32', '--expect', `0=${right}`);
  expect(equal).toMatchObject({ status: 0, err: '' });
  expect(equal.out).toContain(`  argument 0 beside ${right}: identical\n`);
  expect(equal.out).toContain('EQUAL: 1 buffer(s) beside what was expected\n');

  const wrong = npy(path, 'i32', lanes.with(63, 62));
  const different = await run(path, 'i32', '--expect', `0=${wrong}`, '--tolerance', '10');
  expect(different.status).toBe(1);
  expect(different.out).toContain('1 of 64 differ (largest difference 1; element 63: 62 → 63)');
  expect(different.out).toContain('DIFFERENT: 1 buffer(s) beside what was expected\n');
});

test('floats have a tolerance, which --exact takes away; --json holds the verdict', async () => {
  const path = folder();
  // The lanes' numbers as bits of f32 are denormals; one unit is within the type's two smallest steps.
  const near = new Float32Array(lanes.with(40, 41).buffer.slice(0));
  const file = npy(path, 'f32', near);
  const close = await run(path, 'f32', '--expect', `0=${file}`);
  expect(close).toMatchObject({ status: 0, err: '' });
  expect(close.out).toContain('EQUAL WITHIN TOLERANCE: 1 buffer(s) beside what was expected; relative to the median');
  const exact = await run(path, 'f32', '--expect', `0=${file}`, '--exact', '--json');
  expect(exact.status).toBe(1);
  expect(JSON.parse(exact.out)).toMatchObject({
    verdict: 'different',
    ok: false,
    expected: [{ argument: 0, path: file, comparison: { different: 1, outside: 0 } }],
  });
});

test('bytes of any file are an expectation', async () => {
  const path = folder();
  const raw = join(path, 'raw.bin');
  writeFileSync(raw, new Uint8Array(lanes.buffer));
  expect((await run(path, 'i32', '--expect', `0=${raw}`)).status).toBe(0);
  writeFileSync(raw, new Uint8Array(lanes.buffer).subarray(0, 255));
  expect((await run(path, 'i32', '--expect', `0=${raw}`)).out).toContain('bytes behind the last whole element differ');
});

test.each<[string[], string]>([
  [['--exact'], '--exact, --tolerance and --changed-share judge what --expect compares.'],
  [['--expect', '2=x.npy'], '--expect 2=x.npy is not N=FILE with N from 0 to 1.'],
  [['--expect', 'x.npy'], '--expect x.npy is not N=FILE'],
  [['--expect', '0=missing.npy'], "Cannot read 'missing.npy': no such file."],
])('%j', async (flags, text) => {
  const result = await run(folder(), 'i32', ...flags);
  expect(result.err).toContain(text);
  expect(result.status).not.toBe(0);
});

test('a scalar, another type and another count are errors', async () => {
  const path = folder();
  const short = npy(path, 'i32', lanes.slice(1));
  expect((await run(path, 'i32', '--expect', `0=${short}`)).err).toContain('holds i32[63], argument 0 is i32[64].');
  expect((await run(path, 'f32', '--expect', `0=${npy(path, 'i32', lanes)}`)).err).toContain('launch/wrong-file');
  expect((await run(path, 'i32', '--expect', `1=${short}`)).err).toContain('argument 1 is a scalar.');
});
