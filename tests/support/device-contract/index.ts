// What every Device must do, whatever executes: a suite that runs against any of them. A device joins with one call:
//   deviceContract('sim', { target: 'gfx942', open: () => createDevice('sim', { target: 'gfx942' }) });
// Where devices may differ (a real GPU notices a wild access by page, a simulator by byte) the subject says so.
import { afterEach, describe, expect, it, test } from 'vitest';
import { assembleAndLink } from '../../../src/asm/index.ts';
import { WavesmithError } from '../../../src/base/index.ts';
import {
  type Device,
  type DeviceBuffer,
  DeviceFault,
  type DeviceKernel,
  type DeviceModule,
  DispatchAborted,
  type DispatchRequest,
  execute,
  scalar,
} from '../../../src/device/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { contractSource } from './kernels.ts';

/** A device to be tested. */
export interface DeviceSubject {
  readonly target: TargetName;
  /** Opens a fresh device. */
  readonly open: () => Promise<Device>;
  /** Whether an access one byte past an allocation is a fault, or only one that no allocation is near. */
  readonly faults: 'by byte' | 'by page';
  /** Whether `maxInstructions` counts instructions, or only bounds the time. */
  readonly countsInstructions: boolean;
}

const objects = new Map<TargetName, Uint8Array>();
function objectFor(target: TargetName): Uint8Array {
  const bytes = objects.get(target) ?? assembleAndLink(contractSource(target), { target, file: 'contract.s' });
  objects.set(target, bytes);
  return bytes;
}

const words = (bytes: Uint8Array): number[] => [...new Uint32Array(bytes.slice().buffer)];

/** The typed error that `run` fails with. */
async function failure(run: () => unknown): Promise<WavesmithError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof WavesmithError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

/** An address that no allocation is near. */
const WILD: DeviceBuffer = { address: 0x7000_0000_0000, size: 2 ** 20, label: 'wild' };

/** Runs the contract against a device. */
export function deviceContract(name: string, subject: DeviceSubject): void {
  const { target } = subject;
  const opened: Device[] = [];
  const open = async (): Promise<Device> => {
    const device = await subject.open();
    opened.push(device);
    return device;
  };
  afterEach(() => {
    for (const device of opened.splice(0)) device.close();
  });
  const load = async (): Promise<{ device: Device; module: DeviceModule }> => {
    const device = await open();
    return { device, module: device.load(objectFor(target)) };
  };
  const request = (kernel: DeviceKernel, out: DeviceBuffer, value: number, more: Partial<DispatchRequest> = {}) => ({
    kernel,
    grid: [1, 1, 1] as const,
    block: [64, 1, 1] as const,
    args: [out, value],
    ...more,
  });
  /** The device still computes. */
  const expectUsable = async (device: Device, module: DeviceModule): Promise<void> => {
    const out = device.alloc(256, 'after');
    await device.dispatch(request(module.kernel('store'), out, 77));
    expect(new Set(words(device.read(out)))).toEqual(new Set([77]));
    device.free(out);
  };

  describe(`device contract: ${name}`, () => {
    describe('memory', () => {
      it('should be what it was opened as', async () => {
        const device = await open();
        expect(device.target).toBe(target);
        expect(device.kind).not.toBe('');
      });

      it('should allocate zeroed, aligned memory that does not overlap, also where memory was freed', async () => {
        const device = await open();
        for (let round = 0; round < 3; round++) {
          const all = [1, 255, 256, 4097, 100_000].map((size, n) => device.alloc(size, `b${n}`));
          for (const [n, { address, size, label }] of all.entries()) {
            expect([address % 256, label]).toEqual([0, `b${n}`]);
            expect(device.read(all[n] as DeviceBuffer).every((byte) => byte === 0)).toBe(true);
            for (const other of all.slice(n + 1)) {
              expect(address + size <= other.address || other.address + other.size <= address).toBe(true);
            }
          }
          for (const buffer of all) device.write(buffer, new Uint8Array(buffer.size).fill(0xa5));
          for (const buffer of all) device.free(buffer);
        }
      });

      it('should give an empty allocation an address of its own', async () => {
        const device = await open();
        const [a, b] = [device.alloc(0), device.alloc(0)];
        expect(a.address).not.toBe(b.address);
        expect(device.read(a)).toHaveLength(0);
      });

      test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 50])(
        'should refuse to allocate %d bytes',
        async (size) => {
          const device = await open();
          const { code } = await failure(() => device.alloc(size));
          expect(code).toMatch(/^device\/(bad-size|out-of-memory)$/);
          device.free(device.alloc(64));
        },
      );

      it('should write and read at offsets, as copies', async () => {
        const device = await open();
        const buffer = device.alloc(16, 'b');
        const bytes = Uint8Array.of(1, 2, 3, 4);
        device.write(buffer, bytes, 5);
        bytes.fill(9);
        const seen = device.read(buffer, 4, 6);
        expect([...seen]).toEqual([0, 1, 2, 3, 4, 0]);
        seen.fill(7);
        expect([...device.read(buffer, 5, 4)]).toEqual([1, 2, 3, 4]);
        const into = new Uint8Array(4);
        expect(device.read(buffer, 5, 4, into)).toBe(into);
        expect([...into]).toEqual([1, 2, 3, 4]);
      });

      it.each([
        [-1, 4],
        [13, 4],
        [17, 0],
        [0, 17],
        [0, -1],
        [0.5, 1],
        [Number.NaN, 1],
      ])('should refuse to read %d, %d of 16 bytes', async (offset, size) => {
        const device = await open();
        const buffer = device.alloc(16, 'b');
        expect((await failure(() => device.read(buffer, offset, size))).code).toBe('device/out-of-bounds');
      });

      it('should refuse to write past the end and leave the bytes before it', async () => {
        const device = await open();
        const buffer = device.alloc(16, 'b');
        expect((await failure(() => device.write(buffer, new Uint8Array(4).fill(1), 13))).code).toBe(
          'device/out-of-bounds',
        );
        expect(device.read(buffer)).toEqual(new Uint8Array(16));
      });

      it('should copy between buffers, the smaller size unless told, and within one where they overlap', async () => {
        const device = await open();
        const [from, to] = [device.alloc(8, 'from'), device.alloc(12, 'to')];
        device.write(from, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
        device.copy(to, from, 4);
        expect([...device.read(to)]).toEqual([1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
        device.copy(to, from);
        expect([...device.read(to)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0]);
        device.copy(from, from);
        expect([...device.read(from)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        expect((await failure(() => device.copy(to, from, 9))).code).toBe('device/out-of-bounds');
      });

      it('should refuse freed buffers everywhere', async () => {
        const { device, module } = await load();
        const buffer = device.alloc(256, 'gone');
        device.free(buffer);
        expect((await failure(() => device.free(buffer))).code).toBe('device/double-free');
        expect((await failure(() => device.read(buffer))).code).toBe('device/out-of-bounds');
        expect((await failure(() => device.write(buffer, new Uint8Array(1)))).code).toBe('device/out-of-bounds');
        expect((await failure(() => device.copy(buffer, buffer))).code).toBe('device/out-of-bounds');
        await expectUsable(device, module);
      });
    });

    describe('modules', () => {
      it('should say what a code object has', async () => {
        const { device, module } = await load();
        expect(module.target).toBe(device.target);
        const kernel = module.kernel('through_lds');
        expect(kernel).toMatchObject({ name: 'through_lds', kernargSize: 16, ldsSize: 64, maxWorkgroupSize: 256 });
        expect(kernel.arguments).toEqual([
          { name: 'out', offset: 0, size: 8, valueKind: 'global_buffer' },
          { name: 'value', offset: 8, size: 4, valueKind: 'by_value' },
        ]);
        expect(module.kernels.map((k) => k.name)).toContain('store');
        const { code, hint } = await failure(() => module.kernel('nosuch'));
        expect([code, hint]).toEqual(['device/no-such-kernel', expect.stringContaining('store')]);
      });

      it('should refuse bytes that are no code object, truncated ones and those of another target', async () => {
        const device = await open();
        const object = objectFor(target);
        for (const bytes of [new Uint8Array(), Uint8Array.of(1, 2, 3), object.slice(0, 100), object.slice(0, -200)]) {
          await failure(() => device.load(bytes));
        }
        const other = objectFor(target === 'gfx90a' ? 'gfx942' : 'gfx90a');
        expect((await failure(() => device.load(other))).code).toBe('device/wrong-target');
        const unlinked = object.slice();
        new DataView(unlinked.buffer).setUint16(16, 1, true);
        await failure(() => device.load(unlinked));
        await expectUsable(device, device.load(object));
      });

      it('should load at a chosen address and run there, again after it was unloaded; a taken address is refused', async () => {
        const device = await open();
        const object = objectFor(target);
        const address = 0x4200_0030_0000;
        for (let n = 0; n < 2; n++) {
          const module = device.load(object, address);
          expect(module.address).toBe(address);
          await expectUsable(device, module);
          expect((await failure(() => device.load(object, address))).code).toBe('device/address-taken');
          await expectUsable(device, module);
          module.unload();
        }
        const there = device.allocAt(address, 4096);
        expect((await failure(() => device.load(object, address))).code).toBe('device/address-taken');
        device.free(there);
        await expectUsable(device, device.load(object));
      });

      it('should keep modules of the same code object apart', async () => {
        const { device, module } = await load();
        const second = device.load(objectFor(target));
        module.unload();
        await expectUsable(device, second);
      });

      it('should refuse a kernel of an unloaded module, and to unload twice is no error', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const kernel = module.kernel('store');
        module.unload();
        module.unload();
        expect((await failure(() => device.dispatch(request(kernel, out, 1)))).code).toBe('device/not-loaded');
      });

      it('should finish what runs when its module is unloaded', async () => {
        const { device, module } = await load();
        const out = device.alloc(4);
        const running = device.dispatch(request(module.kernel('count'), out, 1, { grid: [2000, 1, 1] }));
        module.unload();
        await running;
        expect(words(device.read(out))).toEqual([128_000]);
      });

      it("should refuse another device's kernel", async () => {
        const { module } = await load();
        const device = await open();
        const out = device.alloc(256);
        expect((await failure(() => device.dispatch(request(module.kernel('store'), out, 1)))).code).toBe(
          'device/not-loaded',
        );
      });
    });

    describe('dispatches', () => {
      it('should take values as numbers, bigints and bytes, and whole segments as bytes', async () => {
        const { device, module } = await load();
        const kernel = module.kernel('store');
        const out = device.alloc(256);
        const segment = new Uint8Array(12);
        new DataView(segment.buffer).setBigUint64(0, BigInt(out.address), true);
        new DataView(segment.buffer).setUint32(8, 5, true);
        for (const [given, expected] of [
          [{ args: [out, 3] }, 3],
          [{ args: [out, -1] }, 0xffffffff],
          [{ args: [out, 0xfffffffen] }, 0xfffffffe],
          [{ args: [out, scalar('f32', 1.5)] }, 0x3fc00000],
          [{ kernargs: segment }, 5],
        ] as const) {
          await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], ...given });
          expect(words(device.read(out, 0, 4))).toEqual([expected]);
        }
      });

      it.each([
        ['too few', (out: DeviceBuffer) => [out]],
        ['too many', (out: DeviceBuffer) => [out, 1, 2]],
        ['bytes of another size', (out: DeviceBuffer) => [out, new Uint8Array(8)]],
        ['a buffer for a value', (out: DeviceBuffer) => [out, out]],
        ['a number for a pointer', () => [4096, 1]],
        ['an array of other elements', (out: DeviceBuffer) => [out, Float32Array.of(1) as unknown as Uint8Array]],
        ['a text', (out: DeviceBuffer) => [out, '1' as unknown as number]],
        ['nothing', (out: DeviceBuffer) => [out, null as unknown as number]],
        ['an object', () => [{} as DeviceBuffer, 1]],
        ['a number that does not fit', (out: DeviceBuffer) => [out, 2 ** 32]],
        ['a fraction', (out: DeviceBuffer) => [out, 0.5]],
        ['NaN', (out: DeviceBuffer) => [out, Number.NaN]],
      ])('should refuse arguments: %s', async (_what, argsOf) => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const args = argsOf(out);
        expect((await failure(() => device.dispatch(request(module.kernel('store'), out, 0, { args })))).code).toBe(
          'device/arguments',
        );
        expect(device.read(out)).toEqual(new Uint8Array(256));
      });

      it.each([
        ['numbers', [1, 2]],
        ['an array of other elements', Float32Array.of(1)],
        ['a text', '1'],
        ['nothing', undefined],
      ])('should refuse to write and to load what is no bytes: %s', async (_what, value) => {
        const { device } = await load();
        const out = device.alloc(16);
        for (const act of [
          () => device.write(out, value as unknown as Uint8Array),
          () => device.load(value as unknown as Uint8Array),
        ]) {
          expect((await failure(async () => act())).code).toBe('device/arguments');
        }
        expect(device.read(out)).toEqual(new Uint8Array(16));
      });

      it.each([
        ['device/bad-grid', { grid: [0, 1, 1] }],
        ['device/bad-grid', { grid: undefined }],
        ['device/bad-block', { block: '1' }],
        ['device/bad-grid', { grid: [1.5, 1, 1] }],
        ['device/bad-grid', { grid: [2 ** 33, 1, 1] }],
        ['device/bad-block', { block: [0, 1, 1] }],
        ['device/bad-block', { block: [257, 1, 1] }],
        ['device/bad-block', { block: [2048, 1, 1] }],
        ['device/bad-grid', { gridWorkItems: [65, 1, 1] }],
        ['device/bad-grid', { gridWorkItems: [0, 1, 1] }],
        ['device/lds-too-large', { dynamicLds: 2 ** 20 }],
        ['device/lds-too-large', { dynamicLds: -1 }],
      ] as const)('should refuse %s', async (code, more) => {
        const { device, module } = await load();
        const out = device.alloc(256);
        expect(
          (
            await failure(() =>
              device.dispatch(request(module.kernel('store'), out, 0, more as Partial<DispatchRequest>)),
            )
          ).code,
        ).toBe(code);
        await expectUsable(device, module);
      });

      it("should hold a kernel to its metadata's workgroup size", async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const wide = request(module.kernel('narrow'), out, 0, { block: [65, 1, 1] });
        expect((await failure(() => device.dispatch(wide))).code).toBe('device/bad-block');
      });

      it('should run partial last workgroups and say what ran', async () => {
        const { device, module } = await load();
        const out = device.alloc(4);
        const result = await device.dispatch(
          request(module.kernel('count'), out, 1, { grid: [3, 2, 1], block: [32, 4, 1], gridWorkItems: [70, 5, 1] }),
        );
        expect(words(device.read(out))).toEqual([350]);
        expect(result.workgroups).toBe(6);
        // 32×4 is two wavefronts, 6×4 and 32×1 and 6×1 one.
        expect(result.wavefronts).toBe(2 * 2 + 1 + 3);
      });

      it('should give dynamic LDS behind the static part', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        await device.dispatch(request(module.kernel('through_lds'), out, 64 + 4096 - 4, { dynamicLds: 4096 }));
        expect(words(device.read(out, 0, 4))).toEqual([0x600d]);
      });

      it('should see each dispatch the memory that the one before it left, in the order asked for', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const kernel = module.kernel('increment');
        await Promise.all([
          device.dispatch(request(module.kernel('store'), out, 100)),
          ...Array.from({ length: 5 }, () => device.dispatch(request(kernel, out, 3))),
        ]);
        expect(new Set(words(device.read(out)))).toEqual(new Set([115]));
      });

      it('should run what was asked for after one that fails', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const [bad, good] = await Promise.allSettled([
          device.dispatch(request(module.kernel('trap'), out, 0)),
          device.dispatch(request(module.kernel('store'), out, 8)),
        ]);
        expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled']);
        expect(words(device.read(out, 0, 4))).toEqual([8]);
      });

      it('should tell progress from none to all', async () => {
        const { device, module } = await load();
        const seen: [number, number][] = [];
        const out = device.alloc(4);
        const onProgress = (done: number, total: number): void => void seen.push([done, total]);
        await device.dispatch(request(module.kernel('count'), out, 1, { grid: [50, 1, 1], onProgress }));
        expect([seen[0], seen.at(-1)]).toEqual([
          [0, 50],
          [50, 50],
        ]);
      });

      it('should end a dispatch by its signal', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const { signal } = new AbortController();
        const now = AbortSignal.abort();
        await device.dispatch(request(module.kernel('store'), out, 1, { signal }));
        expect(
          await failure(() => device.dispatch(request(module.kernel('store'), out, 2, { signal: now }))),
        ).toBeInstanceOf(DispatchAborted);
        const later = new AbortController();
        const running = device.dispatch(request(module.kernel('endless'), out, 0, { signal: later.signal }));
        setTimeout(() => later.abort(), 20);
        expect(await failure(() => running)).toBeInstanceOf(DispatchAborted);
        await expectUsable(device, module);
      });
    });

    describe('faults', () => {
      const faultOf = async (run: () => unknown): Promise<DeviceFault> => {
        const error = await failure(run);
        expect(error).toBeInstanceOf(DeviceFault);
        return error as DeviceFault;
      };

      it('should carry the address, kernel and place of a wild store, and leave the device usable', async () => {
        const { device, module } = await load();
        const { fault, position } = await faultOf(() => device.dispatch(request(module.kernel('store'), WILD, 1)));
        expect(fault).toMatchObject({ kind: 'memory', kernel: 'store', access: { space: 'global' } });
        const at = (fault.access?.address ?? 0) - WILD.address;
        expect(at).toBeGreaterThanOrEqual(0);
        expect(at).toBeLessThan(4096);
        if (subject.faults === 'by byte') {
          expect(fault).toMatchObject({ workgroup: [0, 0, 0], wavefront: 0, access: { size: 4, isWrite: true } });
          expect(position.pc).toBeDefined();
        }
        await expectUsable(device, module);
      });

      it.runIf(subject.faults === 'by byte')(
        'should see the first byte past an allocation, and a freed one',
        async () => {
          const { device, module } = await load();
          const out = device.alloc(252, 'short');
          const { fault } = await faultOf(() => device.dispatch(request(module.kernel('store'), out, 1)));
          expect(fault).toMatchObject({ lane: 63, access: { address: out.address + 252 } });
          device.free(out);
          const after = await faultOf(() => device.dispatch(request(module.kernel('increment'), out, 1)));
          expect(after.fault.access).toMatchObject({ isWrite: false });
          await expectUsable(device, module);
        },
      );

      it.each([
        ['trap', 'trap'],
        ['illegal', 'instruction'],
      ])('should say of the kernel %s that it was a fault of the kind %s', async (kernel, kind) => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const { fault } = await faultOf(() => device.dispatch(request(module.kernel(kernel), out, 1)));
        expect(fault).toMatchObject({ kind, kernel });
        await expectUsable(device, module);
      });

      it('should end a kernel that never ends by its budget', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const endless = request(module.kernel('endless'), out, 1, { maxInstructions: 10_000 });
        expect((await faultOf(() => device.dispatch(endless))).fault).toMatchObject({
          kind: 'budget',
          kernel: 'endless',
        });
        if (subject.countsInstructions) {
          await device.dispatch(request(module.kernel('store'), out, 1, { maxInstructions: 100 }));
        }
        await expectUsable(device, module);
      });
    });

    describe('plans', () => {
      it('should execute a plan, give back every allocation whole and free them', async () => {
        const { device, module } = await load();
        const plan = {
          grid: [1, 1, 1],
          block: [64, 1, 1],
          allocations: [
            { label: 'untouched', bytes: Uint8Array.of(1, 2, 3) },
            { label: 'out', bytes: new Uint8Array(300).fill(0xee) },
          ],
          arguments: [
            { kind: 'binding', allocation: 1, offset: 4 },
            { kind: 'value', value: 6 },
          ],
        } as const;
        for (let round = 0; round < 2; round++) {
          const { contents, dispatch } = await execute(device, module.kernel('store'), plan);
          expect(dispatch.workgroups).toBe(1);
          expect([...(contents[0] as Uint8Array)]).toEqual([1, 2, 3]);
          const out = contents[1] as Uint8Array;
          expect([...out.subarray(0, 4), ...out.subarray(260)]).toEqual(new Array(44).fill(0xee));
          expect(new Set(words(out.subarray(4, 260)))).toEqual(new Set([6]));
        }
      });

      it('should pass a failure on after showing the memory, and free it', async () => {
        const { device, module } = await load();
        const seen: number[] = [];
        const addresses: number[] = [];
        const plan = {
          grid: [1, 1, 1],
          block: [64, 1, 1],
          allocations: [{ label: 'out', bytes: new Uint8Array(256) }],
          arguments: [
            { kind: 'binding', allocation: 0, offset: 0 },
            { kind: 'value', value: 6 },
          ],
        } as const;
        const run = () =>
          execute(device, module.kernel('trap'), plan, {
            onPlaced: ([out]) => void addresses.push((out as DeviceBuffer).address),
            onFailure: (contents) => void seen.push(contents.length),
          });
        expect((await failure(run)).code).toMatch(/trap/);
        expect(seen).toEqual([1]);
        const gone: DeviceBuffer = { address: addresses[0] as number, size: 256, label: 'out' };
        expect((await failure(() => device.read(gone))).code).toBe('device/out-of-bounds');
      });
    });

    describe('closing', () => {
      it('should end what runs and what waits', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const all = Promise.allSettled([
          device.dispatch(request(module.kernel('endless'), out, 1)),
          device.dispatch(request(module.kernel('store'), out, 1)),
        ]);
        setTimeout(() => device.close(), 20);
        expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      });

      it('should close twice, and refuse what comes after', async () => {
        const { device, module } = await load();
        const out = device.alloc(256);
        const kernel = module.kernel('store');
        device.close();
        device.close();
        expect((await failure(() => device.alloc(1))).code).toBe('device/closed');
        expect((await failure(() => device.read(out))).code).toBe('device/closed');
        expect((await failure(() => device.load(objectFor(target)))).code).toBe('device/closed');
        expect((await failure(() => device.dispatch(request(kernel, out, 1)))).code).toBe('device/closed');
      });
    });
  });
}
