// Device memory: reuse, guards, faults, fixed addresses, the limits tables, the limit of a device.
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../../../base/index.ts';
import { ADDRESS_TABLE_BYTES } from './address-table.ts';
import { NAMED } from './frames.ts';
import { Heap } from './heap.ts';
import { FRAME, gpuWindow, HEAP, LIMITS, PAGE, WRITABLE } from './layout.ts';
import { DeviceMemory } from './memory.ts';
import { MemoryFault, type Region } from './region.ts';

const tables = (memory: DeviceMemory, region: Region): [number[], number[]] => {
  const page = region.offset / PAGE;
  const read = (at: number): number[] => [...new Uint16Array(memory.wasm.buffer, at + 2 * (page - 1), 4)];
  return [read(LIMITS), read(WRITABLE)];
};

describe('the heap', () => {
  it('should take the smallest hole that fits and join what comes back', () => {
    const heap = new Heap(0, 1000);
    const [a, b, c] = [heap.take(100, 1), heap.take(300, 1), heap.take(50, 1)] as [number, number, number];
    expect([a, b, c]).toEqual([0, 100, 400]);
    heap.give(b);
    heap.give(a);
    expect(heap.largest).toBe(550);
    expect(heap.take(400, 1)).toBe(0);
    expect(heap.take(16, 64)).toBe(448 + 64);
    expect(heap.takeAt(400, 50)).toBe(false);
    heap.give(c);
    expect(heap.takeAt(400, 50)).toBe(true);
    expect(heap.take(1000, 1)).toBeUndefined();
    expect(() => heap.give(1)).toThrow(RangeError);
  });

  it('should hold under random use', () => {
    const heap = new Heap(64, 100_000);
    const spans = new Map<number, number>();
    const next = randomNumbers(1);
    const random = (n: number): number => Math.floor(next() * n);
    for (let i = 0; i < 4000; i++) {
      const keys = [...spans.keys()];
      if (random(2) === 0 && keys.length > 0) {
        const at = keys[random(keys.length)] as number;
        heap.give(at);
        spans.delete(at);
        continue;
      }
      const size = 1 + random(5000);
      const at = heap.take(size, 2 ** random(8));
      if (at === undefined) continue;
      for (const [from, length] of spans) expect(at + size <= from || at >= from + length).toBe(true);
      spans.set(at, size);
    }
    for (const at of spans.keys()) heap.give(at);
    expect(heap.largest).toBe(100_000 - 64);
  });
});

describe('allocations', () => {
  it('should be zeroed, in the window, with dead space around them, and in the tables', () => {
    const memory = new DeviceMemory();
    const region = memory.alloc(5000, 'x');
    expect(region.base).toBe(gpuWindow.base + region.offset);
    expect(region.base % PAGE).toBe(0);
    expect(tables(memory, region)).toEqual([
      [0, 4096, 904, 0],
      [0, 4096, 904, 0],
    ]);
    const code = memory.alloc(4096, 'code', true);
    expect(tables(memory, code)).toEqual([
      [0, 4096, 0, 0],
      [0, 0, 0, 0],
    ]);
    expect(code.offset - region.offset).toBeGreaterThanOrEqual(2 * PAGE + PAGE);
    expect(() => memory.access(region.base + 4998, 4, false)).toThrow(MemoryFault);
    expect(() => memory.access(code.base, 4, true)).toThrow('read-only');
    expect(memory.free(region.base)).toBe(true);
    expect(memory.free(region.base)).toBe(false);
    expect(tables(memory, region)[0]).toEqual([0, 0, 0, 0]);
  });

  it('should fault after they are freed, and still be known by name', () => {
    const memory = new DeviceMemory();
    const first = memory.alloc(4096, 'first');
    memory.free(first.base);
    const second = memory.alloc(4096, 'second');
    expect(second.base).not.toBe(first.base);
    expect(() => memory.access(first.base, 4, false)).toThrow(MemoryFault);
    expect(memory.freedAt(first.base + 100)?.label).toBe('first');
    expect(memory.freedAt(second.base)).toBeUndefined();
  });

  it('should use freed memory again, zeroed, without the host giving more', () => {
    const memory = new DeviceMemory();
    const size = 3 * 2 ** 22;
    for (let i = 0; i < 100; i++) {
      const region = memory.alloc(size, `buffer ${i}`);
      expect(region.bytes[i]).toBe(0);
      region.bytes.fill(255, 0, 4096);
      memory.free(region.base);
    }
    expect(memory.wasm.buffer.byteLength).toBeLessThan(2 ** 28);
  });

  it('should stay visible when memory grows', () => {
    const memory = new DeviceMemory();
    const small = memory.alloc(64, 'small');
    const size = memory.wasm.buffer.byteLength;
    const large = memory.alloc(2 ** 28, 'large');
    expect(memory.wasm.buffer.byteLength).toBeGreaterThan(size);
    small.view.setUint32(0, 77, true);
    large.view.setUint32(2 ** 28 - 4, 88, true);
    const all = new DataView(memory.wasm.buffer);
    expect(all.getUint32(small.offset, true)).toBe(77);
    expect(all.getUint32(large.offset + 2 ** 28 - 4, true)).toBe(88);
  });

  it('should refuse what a device cannot have', () => {
    const memory = new DeviceMemory();
    for (const size of [-1, 1.5, Number.NaN, 2 ** 60]) {
      expect(() => memory.alloc(size, 'x')).toThrow(expect.objectContaining({ code: 'device/bad-size' }));
    }
    expect(() => memory.alloc(2 ** 32, 'x')).toThrow(/limit of WebAssembly memory/);
    expect(() => memory.alloc(2 ** 45, 'x')).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
    // Still usable, also for what only fits where freed memory is kept from reuse.
    memory.alloc(2 ** 32 - 2 ** 26, 'most');
    for (let i = 0; i < 3; i++) memory.free(memory.alloc(2 ** 25, `part ${i}`).base);
    expect(() => memory.alloc(2 ** 26, 'x')).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
  });

  it('should cost little where nothing is touched', () => {
    const before = process.memoryUsage().rss;
    const memory = new DeviceMemory();
    const region = memory.alloc(3.5 * 2 ** 30, 'large');
    region.bytes[0] = 1;
    region.bytes[region.size - 1] = 2;
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
    expect(memory.translate(region.base + region.size - 1, 1, false)).toBe(region.offset + region.size - 1);
  });
});

describe('addresses of the caller’s choice', () => {
  it('should hold memory outside the window', () => {
    const memory = new DeviceMemory();
    const region = memory.allocAt(0x7f1234560000, 8192, 'replayed');
    expect(region.base).toBe(0x7f1234560000);
    expect(memory.translate(0x7f1234560010, 16, true)).toBe(region.offset + 16);
    expect(tables(memory, region)[0]).toEqual([0, 0, 0, 0]);
    expect(() => memory.allocAt(0x7f1234561000, 64, 'y')).toThrow(
      expect.objectContaining({ code: 'device/address-taken' }),
    );
    expect(memory.free(region.base)).toBe(true);
    expect(memory.allocAt(0x7f1234561000, 64, 'y').size).toBe(64);
  });

  it('should hold memory inside the window where it is free', () => {
    const memory = new DeviceMemory();
    const address = gpuWindow.base + HEAP + 2 ** 20;
    const region = memory.allocAt(address, 100, 'x');
    expect([region.base, region.offset]).toEqual([address, HEAP + 2 ** 20]);
    expect(tables(memory, region)[0]).toEqual([0, 100, 0, 0]);
    for (const at of [address, address - PAGE + 1, gpuWindow.base, gpuWindow.base + 2 ** 32 - PAGE]) {
      expect(() => memory.allocAt(at, 8192, 'y')).toThrow(expect.objectContaining({ code: 'device/address-taken' }));
    }
  });

  it('should hold allocations side by side, as captures of hardware have them', () => {
    const memory = new DeviceMemory();
    const first = gpuWindow.base + HEAP + 2 ** 20;
    const [a, b] = [memory.allocAt(first, 100, 'a'), memory.allocAt(first + PAGE, 100, 'b')];
    expect([b.base - a.base, memory.find(first + PAGE, 4)?.label]).toEqual([PAGE, 'b']);
  });

  it('should show memory a second time', () => {
    const memory = new DeviceMemory();
    const region = memory.alloc(8192, 'x');
    const alias = memory.map(0x600000000000, 4096, region.base + 4096, false);
    region.bytes[4096] = 9;
    expect(alias.bytes[0]).toBe(9);
    expect(() => memory.access(alias.base, 4, true)).toThrow('read-only');
    expect(memory.free(alias.base)).toBe(true);
    expect(memory.find(region.base, 8192)?.label).toBe('x');
    expect(() => memory.map(0x600000000000, 4096, region.base + 8192, true)).toThrow(
      expect.objectContaining({ code: 'device/bad-mapping' }),
    );
  });
});

describe('memory of the caller', () => {
  it('should be used as it is, shared or not', () => {
    for (const shared of [true, false]) {
      const wasm = new WebAssembly.Memory({ initial: 256, maximum: 256, shared });
      const memory = new DeviceMemory({ memory: wasm });
      expect(memory.isShared).toBe(shared);
      const region = memory.alloc(4 * 2 ** 20, 'x');
      region.bytes[0] = 5;
      expect(new Uint8Array(wasm.buffer)[region.offset]).toBe(5);
      expect(() => memory.alloc(16 * 2 ** 20, 'y')).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
    }
  });
});

describe('memory beyond the window', () => {
  const GIB = 2 ** 30;

  /** A device of 64 GiB whose frames hold nothing; `shown` are the calls that would map them. */
  function makeDevice(threads = 1) {
    const memory = new WebAssembly.Memory({ initial: 65536, maximum: 65536, shared: true });
    const shown: (readonly [at: number, offset: number, size: number])[] = [];
    const discarded: (readonly [number, number])[] = [];
    const viewed: number[] = [];
    const device = new DeviceMemory({
      memory,
      discard: (offset, size) => discarded.push([offset, size]),
      beyond: {
        bytes: 64 * GIB,
        threads,
        show: (at, offset, size) => shown.push([at, offset, size]),
        view: (offset, size) => {
          viewed.push(offset);
          return new ArrayBuffer(size);
        },
        source: undefined,
      },
    });
    return { device, shown, viewed, discarded };
  }

  it('should begin where what data may have of the window ends, and leave the rest to other things', () => {
    const { device } = makeDevice();
    const near = device.allocData(3 * GIB, 'near');
    const far = device.allocData(GIB, 'far');
    expect(near.isBeyond).toBe(false);
    expect(far.isBeyond).toBe(true);
    expect(far.base).toBe(gpuWindow.base + 4 * GIB);
    expect(device.alloc(2 ** 27, 'code').isBeyond).toBe(false);
    expect(() => device.allocData(64 * GIB, 'x')).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
    expect(() => device.allocAt(far.base + 8 * GIB, 4096, 'x')).toThrow(
      expect.objectContaining({ code: 'device/address-taken' }),
    );
  });

  it('should show what is accessed, with its bounds, and have the oldest give way', () => {
    const { device, shown } = makeDevice();
    const far = device.allocData(40 * GIB + 4096, 'far');
    const end = far.base + far.size;
    device.translate(far.base + 5 * FRAME + 12, 4, false);
    const part = device.access(far.base + 5 * FRAME + 12, 4, false);
    expect(shown).toEqual([[part.offset, far.offset + 5 * FRAME, FRAME + PAGE]]);
    expect([part.base, part.size]).toEqual([far.base + 5 * FRAME, FRAME + PAGE]);
    expect(device.access(end - 4, 4, true).size).toBe(4096);
    expect(() => device.access(end - 3, 4, true)).toThrow(MemoryFault);
    // The first bytes of a frame's end are shown with it.
    expect(device.translate(far.base + 6 * FRAME - 2, 4, false)).toBe(part.offset + FRAME - 2);
    expect(shown).toHaveLength(1);
    const positions = Math.floor((device.frameArea?.bytes ?? 0) / (FRAME + PAGE));
    for (let n = 10; n < 10 + positions; n++) device.translate(far.base + n * FRAME, 4, false);
    device.translate(far.base + 5 * FRAME, 4, false);
    expect(shown).toHaveLength(positions + 2);
  });

  it('should name it to compiled code until it gives way or is freed', () => {
    const { device } = makeDevice();
    const far = device.allocData(40 * GIB, 'far');
    const words = new Int32Array(device.wasm.buffer, device.addressTable, ADDRESS_TABLE_BYTES / 4);
    const names = (): number => words.reduce((count, word) => count + (word === 0 ? 0 : 1), 0);
    expect(device.locate(far.base + far.size, false)).toBe(0);
    expect(names()).toBe(0);
    expect(device.locate(far.base + 3 * FRAME, true)).toBe(NAMED);
    const before = words.slice();
    expect(names()).toBeGreaterThan(0);
    const positions = Math.floor((device.frameArea?.bytes ?? 0) / (FRAME + PAGE));
    for (let n = 10; n < 10 + positions; n++) device.translate(far.base + n * FRAME, 4, false);
    expect(names()).toBe(0);
    device.locate(far.base + 3 * FRAME, true);
    expect([...words].filter((word) => word !== 0).length).toBe([...before].filter((word) => word !== 0).length);
    device.free(far.base);
    expect(names()).toBe(0);
    expect(device.locate(far.base + 3 * FRAME, true)).toBe(0);
  });

  it('should pass accesses that come to ever other frames when all positions are taken', () => {
    const { device, shown, viewed } = makeDevice();
    const far = device.allocData(40 * GIB + 4096, 'far');
    const wasm = new DataView(device.wasm.buffer);
    const positions = Math.floor((device.frameArea?.bytes ?? 0) / (FRAME + PAGE));
    const at = (n: number): number => far.base + (100 + n) * FRAME + 40;
    for (let n = 0; n < positions; n++) device.translate(far.base + (10000 + n) * FRAME, 4, false);
    const before = shown.length;
    // A store is in memory when something else is looked up, or the turn ends.
    const first = device.locate(at(0), true, 4);
    expect(first).toBeGreaterThan(NAMED);
    wasm.setInt32(first, 77, true);
    const second = device.locate(at(10), true, 64);
    for (let n = 0; n < 64; n++) wasm.setUint8(second + n, n);
    device.settle();
    const read = (n: number, more: number): number => {
      const region = device.access(at(n) + more, 1, false);
      return region.view.getUint8(at(n) + more - region.base);
    };
    expect([read(0, 0), read(0, 4), read(10, 0), read(10, 63), read(10, 64)]).toEqual([77, 0, 0, 63, 0]);
    // A load finds what is there.
    for (let n = 20; n < 30; n++) expect(device.locate(at(n), false, 4)).toBeGreaterThan(NAMED);
    expect(wasm.getInt32(device.locate(at(0), false, 4), true)).toBe(77);
    expect([shown.length, viewed.length]).toEqual([before, 1]);
    // A frame that is come back to is shown, and so is one whose memory itself is needed.
    expect(device.locate(at(0) + 8, false, 4)).toBe(NAMED);
    expect(device.locate(at(50), true, 0)).toBe(NAMED);
    expect(shown).toHaveLength(before + 2);
    // Not beyond the allocation's end.
    expect(device.locate(far.base + far.size - 3, false, 4)).toBe(0);
    expect(device.locate(far.base + far.size, false, 4)).toBe(0);
  });

  it('should move words of lanes that each go elsewhere, once frames are short', () => {
    const { device, viewed } = makeDevice();
    const far = device.allocData(40 * GIB + PAGE, 'far');
    const words = new Int32Array(device.wasm.buffer);
    const block = device.reserve(64 * 4 * 8, 'registers').byteOffset / 4;
    const access = {
      execLow: -1,
      execHigh: 0x7fffffff,
      register: block,
      isWide: true,
      constant: -8,
      constantLow: -8,
      data: block + 128,
      count: 2,
      isWrite: true,
    };
    const place = (lane: number): number => far.base + lane * 500 * 2 ** 20 + 4 * lane;
    for (let lane = 0; lane < 64; lane++) {
      const address = BigInt(place(lane)) + 8n;
      words[block + lane] = Number(address & 0xffffffffn) | 0;
      words[block + 64 + lane] = Number(address >> 32n);
      words[block + 128 + lane] = lane + 1;
      words[block + 192 + lane] = -lane;
    }
    expect(device.moveLanes(words, access)).toBe(false);
    const positions = Math.floor((device.frameArea?.bytes ?? 0) / (FRAME + PAGE));
    for (let n = 0; n < positions; n++) device.translate(far.base + n * FRAME, 4, false);
    expect(device.moveLanes(words, access)).toBe(true);
    expect(new Set(viewed).size).toBe(viewed.length);
    const at = (lane: number): number[] =>
      [0, 4].map((n) => {
        const part = device.access(place(lane) + n, 4, false);
        return part.view.getInt32(place(lane) + n - part.base, true);
      });
    expect([at(20), at(62)]).toEqual([
      [21, -20],
      [63, -62],
    ]);
    // Lane 63 is not active, and a load gives back what was written.
    expect(at(63)).toEqual([0, 0]);
    words.fill(7, block + 128, block + 256);
    expect(device.moveLanes(words, { ...access, isWrite: false })).toBe(true);
    expect([words[block + 128 + 9], words[block + 192 + 9], words[block + 128 + 63]]).toEqual([10, -9, 7]);
    // One lane off its words, or beyond the allocation: nothing is moved.
    words[block + 40] = (words[block + 40] as number) + 2;
    expect(device.moveLanes(words, access)).toBe(false);
    words[block + 40] = (words[block + 40] as number) - 2;
    words[block + 64 + 40] = (words[block + 64 + 40] as number) + 40;
    expect(device.moveLanes(words, access)).toBe(false);
    expect(device.moveLanes(words, { ...access, execLow: 0, execHigh: 0 })).toBe(true);
  });

  it('should copy what lies partly in a frame, up to the end of the allocation', () => {
    const { device } = makeDevice();
    const far = device.allocData(40 * GIB + 3 * PAGE, 'far');
    const aside = device.access(far.base + 7 * FRAME, 4, true);
    aside.bytes.fill(2, 7 * FRAME, 9 * FRAME);
    device.translate(far.base + 7 * FRAME, 4, true);
    const shown = device.access(far.base + 7 * FRAME, 4, true);
    shown.bytes.fill(1);
    const copy = device.copyOf(far, 7 * FRAME + 100, FRAME + 2 * PAGE);
    expect(copy).toHaveLength(FRAME + 2 * PAGE);
    const inFrame = FRAME + PAGE - 100;
    expect([copy.indexOf(2), copy.lastIndexOf(1), copy.indexOf(0)]).toEqual([inFrame, inFrame - 1, -1]);
    expect(device.copyOf(far, 40 * GIB + PAGE, 65536)).toHaveLength(2 * PAGE);
    const near = device.alloc(PAGE, 'near');
    near.bytes.fill(3);
    expect(device.copyOf(near, PAGE - 8, 100)).toEqual(new Uint8Array(8).fill(3));
  });

  it('should give each thread positions of its own', () => {
    const { device, shown } = makeDevice(2);
    const far = device.allocData(40 * GIB, 'far');
    const other: (readonly [number, number, number])[] = [];
    const thread = new DeviceMemory({
      memory: device.wasm,
      thread: { number: 1, addressTable: device.reserve(ADDRESS_TABLE_BYTES, 'table').byteOffset },
      beyond: {
        bytes: 64 * GIB,
        threads: 2,
        show: (at, offset, size) => other.push([at, offset, size]),
        view: (_, size) => new ArrayBuffer(size),
        source: undefined,
      },
    });
    thread.adopt(device.snapshot(), device.frameArea);
    const area = device.frameArea;
    for (let n = 0; n < 3000; n++) {
      device.translate(far.base + n * FRAME, 4, false);
      thread.translate(far.base + n * FRAME, 4, false);
    }
    const first = Math.max(...shown.map(([at, , size]) => at + size));
    expect(first).toBeLessThanOrEqual(Math.min(...other.map(([at]) => at)));
    expect(Math.max(...other.map(([at, , size]) => at + size))).toBeLessThanOrEqual(
      (area?.at ?? 0) + (area?.bytes ?? 0),
    );
  });
});
