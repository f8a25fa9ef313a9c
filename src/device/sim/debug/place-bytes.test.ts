// Values in several places: the parts that can be read are, the others say why not.
import { expect, test } from 'vitest';
import type { DebugPlace } from '../../../codeobject/index.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { readPart, readPlace } from './place-bytes.ts';
import type { ScopeSource } from './scope-source.ts';

const vgprs = new Int32Array(4 * LANES);
vgprs[LANES + 7] = 0x01020304;
const wave = { vgprs, workgroup: {} } as unknown as Wave;
const read = (place: DebugPlace, size: number) => readPlace(place, size, wave, 7, {} as ScopeSource);
const inV1: DebugPlace = { kind: 'registers', parts: [{ register: { file: 'v', index: 1 }, bytes: 4 }] };
const gone: DebugPlace = { kind: 'absent', why: 'optimized out here' };
const five: DebugPlace = { kind: 'constant', value: 5n };

const MIXED: DebugPlace = {
  kind: 'pieces',
  pieces: [
    { bytes: 4, place: five },
    { bytes: 4, place: gone },
    { bytes: 4, place: inV1 },
  ],
};

test('a struct in pieces of which one is gone, and shorter than the struct', () => {
  const { bytes, holes } = read(MIXED, 16);
  expect([...(bytes ?? [])]).toEqual([5, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0, 0]);
  expect(holes).toEqual([
    { from: 4, to: 8, why: 'optimized out here' },
    { from: 12, to: 16, why: 'optimized out' },
  ]);
});

test('parts of it', () => {
  const whole = read(MIXED, 16);
  expect(readPart(whole, 0, 4, true)).toMatchObject({ bytes: Uint8Array.of(5, 0, 0, 0), holes: undefined });
  expect(readPart(whole, 4, 4, true)).toMatchObject({ bytes: undefined, why: 'optimized out here' });
  expect(readPart(whole, 4, 8, true)).toMatchObject({ bytes: undefined });
  expect(readPart(whole, 4, 8, false)).toMatchObject({ holes: [{ from: 0, to: 4, why: 'optimized out here' }] });
  expect(readPart(whole, 8, 4, true)).toMatchObject({ bytes: Uint8Array.of(4, 3, 2, 1) });
  expect(readPart(whole, 16, 4, true).bytes).toBeUndefined();
});

test('nothing but pieces that are gone', () => {
  expect(read({ kind: 'pieces', pieces: [{ bytes: 8, place: gone }] }, 8)).toEqual({
    bytes: undefined,
    why: 'optimized out here',
  });
});
