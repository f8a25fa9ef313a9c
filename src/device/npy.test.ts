import { describe, expect, it, test } from 'vitest';
import { WavesmithError } from '../base/index.ts';
import { canReadAs, NPY_TYPES, npyElementBytes, readNpy, writeNpy } from './npy.ts';

/** A file with this header text, in format version `major`. */
function file(header: string, data: Uint8Array, major = 1): Uint8Array {
  const start = major === 1 ? 10 : 12;
  const bytes = new Uint8Array(start + header.length + data.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, major, 0, header.length & 255, header.length >> 8]);
  bytes.set(new TextEncoder().encode(header), start);
  bytes.set(data, start + header.length);
  return bytes;
}
const f32 = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
const values = (bytes: Uint8Array): number[] => [...new Float32Array(bytes.slice().buffer)];

function codeOf(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    if (error instanceof WavesmithError) return error.code;
    throw error;
  }
  return 'no error';
}

describe('writeNpy and readNpy', () => {
  test.each(NPY_TYPES)('%s survives the round trip', (type) => {
    const bytes = Uint8Array.from({ length: 12 * npyElementBytes(type) }, (_, i) => (i * 37) & 255);
    const back = readNpy(writeNpy({ type, shape: [3, 4], bytes }));
    // bf16 and the 8-bit floats have no NumPy type of their own.
    expect(canReadAs(back.type, type)).toBe(true);
    expect(back.type).toBe(type === 'bf16' ? 'u16' : type.startsWith('f8') ? 'u8' : type);
    expect(back.shape).toEqual([3, 4]);
    expect(back.bytes).toEqual(bytes);
  });
  it('should align the data to 64 bytes and write what numpy.save writes', () => {
    const written = writeNpy({ type: 'f32', shape: [2], bytes: f32(1, 2) });
    expect(written.length).toBe(128 + 8);
    expect(new TextDecoder().decode(written.subarray(10, 70))).toContain(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
    );
  });
  it('should refuse bytes that are not the shape', () => {
    expect(codeOf(() => writeNpy({ type: 'f32', shape: [3], bytes: f32(1, 2) }))).toBe('npy/size');
  });
});

describe('readNpy', () => {
  it('should turn Fortran order into C order', () => {
    const text = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
    // Columns (0,3) (1,4) (2,5) of [[0,1,2],[3,4,5]].
    const array = readNpy(file(text, f32(0, 3, 1, 4, 2, 5)));
    expect(values(array.bytes)).toEqual([0, 1, 2, 3, 4, 5]);
  });
  it('should swap big-endian elements', () => {
    const text = "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n";
    expect(values(readNpy(file(text, f32(1.5).reverse())).bytes)).toEqual([1.5]);
  });
  test.each([2, 3])('version %i has a longer header length', (major) => {
    const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n";
    expect(readNpy(file(text, f32(2), major))).toMatchObject({ type: 'f32', shape: [] });
  });
  it('should read bfloat16 of ml_dtypes', () => {
    const text = "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }\n";
    expect(readNpy(file(text, Uint8Array.of(0x80, 0x3f))).type).toBe('bf16');
  });
  test.each([
    ['no magic', new Uint8Array(64), 'npy/bad-file'],
    ['an empty file', new Uint8Array(0), 'npy/truncated'],
    ['an unknown version', file('{}', new Uint8Array(0), 9), 'npy/bad-file'],
    ['too little data', file("{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }", f32(1)), 'npy/truncated'],
    [
      'a huge shape',
      file("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999), }", f32(1)),
      'npy/bad-file',
    ],
    ['an object array', file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", f32(1)), 'npy/bad-file'],
    ['a missing key', file("{'descr': '<f4', 'shape': (1,), }", f32(1)), 'npy/bad-file'],
    [
      'a repeated key',
      file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", f32(1)),
      'npy/bad-file',
    ],
    ['code in the header', file("{'descr': __import__('os'), }", f32(1)), 'npy/bad-file'],
    ['a negative size', file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", f32(1)), 'npy/bad-file'],
  ])('should refuse %s', (_what, bytes, code) => {
    expect(codeOf(() => readNpy(bytes))).toBe(code);
    const position = expect.objectContaining({ file: 'in.npy' });
    expect(() => readNpy(bytes, 'in.npy')).toThrow(expect.objectContaining({ code, position }));
  });
});
