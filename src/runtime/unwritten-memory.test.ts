// New memory begins with a pattern; what still has it when the host gets it is reported, once.
import { describe, expect, it } from 'vitest';
import { UnwrittenMemory } from './unwritten-memory.ts';

const BASE = 0x1000;

function filled(size: number): { readonly memory: UnwrittenMemory; readonly bytes: Uint8Array } {
  const memory = new UnwrittenMemory();
  const bytes = new Uint8Array(size);
  memory.begin(BASE, bytes);
  return { memory, bytes };
}

describe('memory that nothing has written', () => {
  it('should be counted, with the first byte, once for an allocation', () => {
    const { memory, bytes } = filled(64);
    bytes.fill(0, 0, 40);
    const found = memory.copied(BASE, 8, bytes.subarray(8));
    expect(found?.message).toBe(
      '24 of 56 bytes that are copied to the host were never written, the first at byte 32 of the copy.',
    );
    expect(found).toMatchObject({ severity: 'warning', address: BASE + 40 });
    expect(memory.copied(BASE, 8, bytes.subarray(8))).toBeUndefined();
  });

  it('should not be found where everything was written, in part of a word too', () => {
    const { memory, bytes } = filled(64);
    for (let at = 0; at < 64; at += 4) bytes[at] = 1;
    expect(memory.copied(BASE, 0, bytes)).toBeUndefined();
  });

  it('should be forgotten with its allocation', () => {
    const { memory } = filled(64);
    expect(memory.has(BASE)).toBe(true);
    memory.end(BASE);
    expect(memory.has(BASE)).toBe(false);
  });

  it('should not be looked for in allocations that are too large to fill', () => {
    const { memory, bytes } = filled(64 * 2 ** 20 + 4);
    expect(memory.has(BASE)).toBe(false);
    expect(bytes[0]).toBe(0);
  });
});
