import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addIndex, record } from '../../../tests/support/captures.ts';
import { kernelSource } from '../../../tests/support/kernel-source.ts';
import { assembleAndLink } from '../../asm/index.ts';
import { type Capture, openCapture } from '../../snapshot/index.ts';
import { capturedInput, heldOutInputs } from './inputs.ts';
import { runInput } from './run.ts';
import { standFor } from './stand.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-stand-'));
let capture: Capture;

const ARGS = [
  [8, 'global_buffer'],
  [8, 'global_buffer'],
  [4, 'by_value'],
  [4, 'by_value'],
] as const;
const objectOf = (code: string, more = ''): Uint8Array =>
  assembleAndLink(`${kernelSource({ args: ARGS, code })}\n${more}`, { target: 'gfx942' });

beforeAll(async () => {
  const args = ['i32[256]=7', 'i32[256]=random:3', 'i32=200', 'i32=0'];
  await record(folder, 'one.wscap', { code: objectOf(addIndex()), args, grid: [4, 1, 1], block: [64, 1, 1] });
  capture = openCapture(join(folder, 'one.wscap'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = ({ after }: Awaited<ReturnType<typeof runInput>>): string[] =>
  [...after].map(([name, bytes]) => `${name} ${Buffer.from(bytes).toString('hex')}`);

test('runs on one device leave what they leave on devices of their own, whatever ran between them', async () => {
  const code = capture.codeObject();
  const inputs = [capturedInput(capture), ...heldOutInputs(capture, 1, 1000)];
  const alone: string[][] = [];
  // Another copy of the code: no device is used twice.
  for (const input of inputs) alone.push(bytesOf(await runInput(input, code.slice())));
  for (const n of [...inputs.keys(), ...[...inputs.keys()].reverse()])
    expect(bytesOf(await runInput(inputs[n] as (typeof inputs)[number], code))).toEqual(alone[n]);
});

test('a device is used again for the same code, and never by two runs', () => {
  const code = capture.codeObject();
  const one = standFor(capture, code);
  one.prepare(new Map());
  one.memory();
  const two = standFor(capture, code);
  expect(two).not.toBe(one);
  one.leave();
  expect(standFor(capture, code)).toBe(one);
  expect(standFor(capture, code.slice())).not.toBe(one);
});

test('what code keeps in data of its own is gone in the next run', async () => {
  const compute = `s_getpc_b64 s[12:13]
here:
  s_add_u32 s12, s12, counter@rel32@lo+4
  s_addc_u32 s13, s13, counter@rel32@hi+12
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v4, 1
  global_atomic_add v2, v3, v4, s[12:13] sc0
  s_waitcnt vmcnt(0)`;
  const code = objectOf(addIndex({ compute }), '.data\n.p2align 2\ncounter: .long 0\n');
  const first = bytesOf(await runInput(capturedInput(capture), code));
  expect(bytesOf(await runInput(capturedInput(capture), code))).toEqual(first);
});
