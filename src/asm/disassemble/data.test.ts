import { describe, expect, it } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { readElf } from '../../codeobject/index.ts';
import { assembleToObject } from '../build.ts';
import { dataDirectives } from './data.ts';

/** The bytes that data directives assemble to. */
function assembled(lines: readonly string[]): Uint8Array {
  const source = ['\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"', '\t.data', ...lines].join('\n');
  return readElf(assembleToObject(`${source}\n`)).section('.data')?.bytes ?? new Uint8Array(0);
}

const text = (value: string) => new TextEncoder().encode(value);

describe('dataDirectives', () => {
  it('should give back any bytes, at any position', () => {
    const zeros = fc.integer({ min: 1, max: 40 }).map((length) => new Array<number>(length).fill(0));
    const repeated = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }));
    const piece = fc.oneof(
      fc.array(fc.nat(255), { maxLength: 20 }),
      zeros,
      repeated.map(([count, word]) => new Array(count).fill(word).flat() as number[]),
      fc.string({ maxLength: 30 }).map((s) => [...text(s), 0]),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.nat(7), (pieces, address) => {
        const bytes = Uint8Array.from(pieces.flat());
        expect(assembled(dataDirectives(bytes, 0, bytes.length, address))).toEqual(bytes);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['text', text('some "text"\n\0'), ['.asciz "some \\"text\\"\\n"']],
    ['zeros', new Uint8Array(64), ['.zero 64']],
    ['equal words', new Uint8Array(64).fill(7), ['.fill 16, 4, 0x7070707']],
    ['words and a tail', Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0, 9), ['.long 0x1, 0x2', '.byte 0x9']],
  ])('should write %s compactly', (_what, bytes, lines) => {
    expect(dataDirectives(bytes, 0, bytes.length)).toEqual(lines);
  });

  it('should stay linear on printable bytes without an end', () => {
    const bytes = new Uint8Array(1 << 21).fill(0x41);
    for (let i = 0; i < bytes.length; i += 3) bytes[i] = 0x42 + (i % 7);
    expect(dataDirectives(bytes, 0, bytes.length).length).toBeGreaterThan(1000);
  });
});
