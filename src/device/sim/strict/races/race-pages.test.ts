import { describe, expect, it } from 'vitest';
import { HEAP } from '../../state/layout.ts';
import { DeviceMemory } from '../../state/memory.ts';
import { DETAILS_SIZE, DETAILS_WORDS, PAGE, PAGE_DETAILS, RECORD_WORDS, RECORD_WRITER } from './race-details.ts';
import { EVENT_SHIFT } from './race-events.ts';
import { PAGE_WORDS } from './race-page.ts';
import { RacePages } from './race-pages.ts';

describe('RacePages', () => {
  it('should find what compiled code notes where memory has grown since the page was opened', () => {
    const memory = new DeviceMemory();
    const region = memory.alloc(4 * PAGE, 'buffer');
    const pages = new RacePages(memory);
    const page = pages.open(region, 0, undefined);
    if (page === undefined) throw new Error('the page is not followed');
    const before = memory.wasm.buffer.byteLength;
    const late = memory.tryReserve(2 ** 28);
    if (late === undefined) throw new Error('memory does not grow');
    expect(memory.wasm.buffer.byteLength).toBeGreaterThan(before);
    const at = late.byteOffset + late.length - DETAILS_SIZE;
    const record = pages.table.find((offset) => offset !== 0) as number;
    new Uint32Array(memory.wasm.buffer, record, PAGE_WORDS)[PAGE_DETAILS] = at;
    const event = page.detailed.event({ actor: 18, epoch: 0, store: 1, pc: 4 }, true);
    new Uint32Array(memory.wasm.buffer, at, DETAILS_WORDS)[7 * RECORD_WORDS + RECORD_WRITER] =
      (event << EVENT_SHIFT) | 15;
    expect(page.isStored(7)).toBe(true);
    expect(page.isStored(8)).toBe(false);
    pages.release();
  });

  it('should say that memory is full, and note nothing, where there is no room for events', () => {
    const pages = (HEAP + 2 ** 22) / 65_536;
    const wasm = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    const memory = new DeviceMemory({ memory: wasm });
    const room = memory.alloc((wasm.buffer.byteLength / 4096) * 8 + 4096, 'as large as the table of pages');
    for (let size = 2 ** 20; size >= 4096; ) {
      try {
        memory.alloc(size, 'what else there is');
      } catch {
        size /= 2;
      }
    }
    expect(() => new RacePages(memory)).toThrow("for 'strict mode' do not fit");
    memory.free(room.base);
    for (const _again of [1, 2]) {
      expect(() => new RacePages(memory)).toThrow("262144 bytes for 'strict mode' do not fit");
    }
  });
});
