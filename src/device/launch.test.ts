import { describe, expect, it, test } from 'vitest';
import { fillElements, getElement, WavesmithError } from '../base/index.ts';
import { parseDimensions, parseLaunchArgument } from './launch.ts';

describe('parseLaunchArgument', () => {
  test.each([
    ['f32[1024]', { kind: 'buffer', type: 'f32', shape: [1024], fill: { kind: 'zeros' } }],
    ['f16[128,64]=random:7', { kind: 'buffer', type: 'f16', shape: [128, 64], fill: { kind: 'random', seed: 7 } }],
    ['i32[4]=iota', { kind: 'buffer', type: 'i32', shape: [4], fill: { kind: 'iota' } }],
    ['u8[4]=0xff', { kind: 'buffer', type: 'u8', shape: [4], fill: { kind: 'value', value: 255n } }],
    ['f32[3]=@a.npy', { kind: 'file', type: 'f32', shape: [3], path: 'a.npy' }],
    ['@a b.npy', { kind: 'file', type: undefined, shape: undefined, path: 'a b.npy' }],
    ['i32=-5', { kind: 'scalar', type: 'i32', value: -5n }],
    ['f32=2.5e-3', { kind: 'scalar', type: 'f32', value: 0.0025 }],
    ['f64=-inf', { kind: 'scalar', type: 'f64', value: Number.NEGATIVE_INFINITY }],
    ['u64=18446744073709551615', { kind: 'scalar', type: 'u64', value: 18446744073709551615n }],
  ])('%s', (text, expected) => {
    expect(parseLaunchArgument(text)).toEqual(expected);
  });
  test.each([
    ['f33=1', 1],
    ['f32', 4],
    ['f32[8', 6],
    ['f32[x]', 5],
    ['f32[2,]', 7],
    ['f32[8]zeros', 7],
    ['f32[8]=ones', 8],
    ['f32[8]=random:x', 15],
    ['i8=200', 4],
    ['u32=-1', 5],
    ['i32=1.5', 5],
    ['f32[2]=@', 9],
  ])('%s is wrong at column %i', (text, column) => {
    let error: unknown;
    try {
      parseLaunchArgument(text);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(WavesmithError);
    expect((error as WavesmithError).code).toBe('launch/bad-argument');
    expect((error as WavesmithError).position.column).toBe(column);
  });
});

describe('parseDimensions', () => {
  it('should fill missing dimensions with 1', () => {
    expect(parseDimensions('4', 'grid')).toEqual([4, 1, 1]);
    expect(parseDimensions('4,2,3', 'grid')).toEqual([4, 2, 3]);
  });
  test.each(['', '0', '1,2,3,4', 'a', '-1'])("should refuse '%s'", (text) => {
    expect(() => parseDimensions(text, 'grid')).toThrow(WavesmithError);
  });
});

describe('fillElements', () => {
  it('should repeat random values for a seed and change them with it', () => {
    const a = fillElements('f32', 100, { kind: 'random', seed: 3 });
    expect(fillElements('f32', 100, { kind: 'random', seed: 3 })).toEqual(a);
    expect(fillElements('f32', 100, { kind: 'random', seed: 4 })).not.toEqual(a);
  });
  it('should encode f16 and bf16', () => {
    const view = new DataView(fillElements('bf16', 1, { kind: 'value', value: 1 }).buffer);
    expect(view.getUint16(0, true)).toBe(0x3f80);
    expect(getElement(view, 'bf16', 0)).toBe(1);
    expect(new DataView(fillElements('f16', 1, { kind: 'value', value: 0.1 }).buffer).getUint16(0, true)).toBe(0x2e66);
  });
});
