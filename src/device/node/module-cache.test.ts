// The module cache on disk: hits, damaged files, other builds, bounded size, several processes, and that results are the same.
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { SimDevice } from '../sim/sim-device.ts';
import { clearModuleCache, DiskModuleCache, moduleCacheFacts, moduleCacheFolder } from './module-cache.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-cache-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const bytes = (n: number, size = 10): Uint8Array => new Uint8Array(size).fill(n);

it('should give back what it was given, to the same build only', () => {
  const cache = new DiskModuleCache('a', folder);
  expect(cache.get(bytes(1))).toBeUndefined();
  cache.put(bytes(1), bytes(7));
  expect(new DiskModuleCache('a', folder).get(bytes(1))).toEqual(Buffer.from(bytes(7)));
  expect(new DiskModuleCache('b', folder).get(bytes(1))).toBeUndefined();
  expect(moduleCacheFacts(folder)).toMatchObject({ folder, modules: 1, bytes: 42 });
  clearModuleCache(folder);
  expect(moduleCacheFacts(folder).modules).toBe(0);
});

it('should remove damaged files, and write them again', () => {
  const cache = new DiskModuleCache('a', folder);
  for (const damage of [(b: Buffer) => b.subarray(0, 20), (b: Buffer) => b.fill(0, 40, 41), () => Buffer.alloc(0)]) {
    cache.put(bytes(1), bytes(7));
    const path = join(folder, readdirSync(folder)[0] as string);
    writeFileSync(path, damage(readFileSync(path)));
    expect(cache.get(bytes(1))).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  }
});

it('should remove the oldest when there is too much, and files nobody finished', () => {
  const cache = new DiskModuleCache('a', folder, 10_000);
  for (let n = 0; n < 20; n++) {
    cache.put(bytes(n), bytes(n, 968));
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (readFileSync(path)[40] === n) utimesSync(path, 1000 + n, 1000 + n);
    }
  }
  writeFileSync(join(folder, 'x.1.2.tmp'), 'unfinished');
  utimesSync(join(folder, 'x.1.2.tmp'), 1000, 1000);
  // A new process looks at the folder with its first module.
  new DiskModuleCache('a', folder, 10_000).put(bytes(99), bytes(99, 968));
  expect(readdirSync(folder)).toHaveLength(8);
  expect(cache.get(bytes(99))).toBeDefined();
  expect(cache.get(bytes(19))).toBeDefined();
  expect(cache.get(bytes(0))).toBeUndefined();
});

it('should do without a folder that cannot be written', () => {
  writeFileSync(join(folder, 'file'), '');
  const cache = new DiskModuleCache('a', join(folder, 'file', 'below'));
  cache.put(bytes(1), bytes(7));
  expect(cache.get(bytes(1))).toBeUndefined();
});

it('should follow the environment', () => {
  expect(moduleCacheFolder({ WAVESMITH_CACHE: '/w', XDG_CACHE_HOME: '/x' })).toBe('/w/sim-modules');
  expect(moduleCacheFolder({ XDG_CACHE_HOME: '/x' })).toBe('/x/wavesmith/sim-modules');
});

it('should make no difference to results', async () => {
  const { bytes: object } = kernelObject({
    code: `s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_mul_u32_u24_e32 v2, 3, v0
s_waitcnt lgkmcnt(0)
s_mov_b32 s4, 10
.L: v_add_u32_e32 v2, 1, v2
s_sub_u32 s4, s4, 1
s_cmp_lg_u32 s4, 0
s_cbranch_scc1 .L
global_store_dword v1, v2, s[2:3]`,
  });
  const runs = [];
  const writes: number[] = [];
  for (const build of ['a', 'a', 'b']) {
    const moduleCache = new DiskModuleCache(build, folder);
    const device = new SimDevice('gfx942', { moduleCache });
    const buffer = device.alloc(256);
    const kernel = device.load(object).kernel('k');
    const result = await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer] });
    runs.push({ result, words: [...new Uint32Array(device.read(buffer).buffer)] });
    writes.push(moduleCacheFacts(folder).modules);
    expect(writes.at(-1)).toBeGreaterThan(0);
  }
  expect(runs[0]?.words[5]).toBe(25);
  expect(runs[1]).toEqual(runs[0]);
  expect(runs[2]).toEqual(runs[0]);
  expect(writes[1]).toBe(writes[0]);
  expect(writes[2]).toBe(2 * (writes[0] as number));
});
