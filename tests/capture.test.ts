// Captures and their replay: what a recording holds, that it is complete and minimal, and that every wrong kernel is found.
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { WavesmithError } from '../src/base/index.ts';
import { SimDevice } from '../src/device/index.ts';
import {
  type Capture,
  deviceFor,
  openCapture,
  Recorder,
  type ReplayOptions,
  replayCapture,
  rewriteCapture,
  slimCapture,
  verifyCapture,
} from '../src/snapshot/index.ts';
import { addIndex, captureObject, record } from './support/captures.ts';
import { kernelSource } from './support/kernel-source.ts';
import { killCaptures } from './support/kill-captures.ts';

/** Each workgroup adds to 4 bytes, 128 KiB from the next one's. */
const EVERY_OTHER_CHUNK = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_lshl_b32 s6, s2, 17
  v_mov_b32_e32 v1, s6
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v2, 1, v2
  global_store_dword v1, v2, s[4:5]
`;

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

async function replay(capture: Capture, options: ReplayOptions = {}) {
  const device = deviceFor(capture);
  try {
    return await replayCapture(device, capture, options);
  } finally {
    device.close();
  }
}

const codeOf = async (run: () => unknown): Promise<string> => {
  try {
    await run();
  } catch (error) {
    if (error instanceof WavesmithError) return error.code;
    throw error;
  }
  return 'nothing was thrown';
};

beforeAll(async () => {
  await record(folder, 'k.wscap');
});

describe('a recording', () => {
  test('holds what is read before it is written, and what is written', () => {
    const { manifest, chunks } = openCapture(path('k.wscap'));
    const of = (label: string) => chunks.find((c) => c.allocation.label === label)?.entry;
    expect(of('argument 0')).toMatchObject({ reads: [], writes: [0, 4000] });
    expect(of('argument 0')?.pre).toBeUndefined();
    expect(of('argument 0')?.post).toMatch(/^[0-9a-f]{64}$/);
    expect(of('argument 1')).toMatchObject({ reads: [0, 4000], writes: [] });
    expect(of('argument 1')?.post).toBeUndefined();
    expect(of('kernarg segment')).toMatchObject({ reads: [0, 24] });
    expect(manifest.memory.proved).toBe(true);
    expect(manifest.determinism?.runs.map((r) => r.outcome)).toEqual(['same', 'same', 'same', 'same', 'same']);
    expect(manifest.dispatch.kernarg.slots.map((s) => s.points?.allocation)).toEqual([1, 2, undefined, undefined]);
  });

  test('is what the published schema says', () => {
    const schema = JSON.parse(readFileSync('src/snapshot/schema/wscap-1.schema.json', 'utf8')) as object;
    const validate = new Ajv2020({ allErrors: true }).compile(schema);
    validate(JSON.parse(readFileSync(join(path('k.wscap'), 'manifest.json'), 'utf8')));
    expect(validate.errors).toBeNull();
  });

  test('is private to its user', () => {
    for (const name of readdirSync(path('k.wscap'), { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(path('k.wscap'), name));
      expect(mode & 0o077, name).toBe(0);
    }
  });

  test('finds that waves race for a counter, and not that they add to it with atomics', async () => {
    const race =
      'global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_add_u32_e32 v2, 1, v2\n global_store_dword v1, v2, s[4:5]';
    const atomic = 'v_mov_b32_e32 v2, 1\n global_atomic_add v1, v2, s[4:5]';
    for (const [name, add] of Object.entries({ race, atomic })) {
      const code = captureObject(`
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32_e32 v1, 0
        s_mov_b64 exec, 1
        s_waitcnt lgkmcnt(0)
        ${add}`);
      await record(folder, `${name}.wscap`, { code });
      const varying = openCapture(path(`${name}.wscap`)).manifest.determinism?.varying;
      expect(varying, name).toHaveLength(name === 'race' ? 1 : 0);
    }
  });

  test('is the same in every recording, and replays equal', async () => {
    const hashes = new Set([openCapture(path('k.wscap')).hash]);
    for (let n = 0; n < 3; n++)
      hashes.add(
        (await record(folder, `again-${n}.wscap`, { finish: { orders: false, prove: n === 0 } })).manifestHash,
      );
    // Proof and orders are part of the manifest: one with them, one without orders, one without both.
    expect(hashes.size).toBe(3);
    expect((await record(folder, 'equal.wscap')).manifestHash).toBe(openCapture(path('k.wscap')).hash);
    expect((await replay(openCapture(path('equal.wscap')), { iterations: 20 })).verdict).toBe('equal');
  });

  test('is one dispatch wherever its packet lay in the queue, whichever signal it completed', async () => {
    await record(folder, 'queued.wscap');
    const [manifest, trailer] = [
      join(path('queued.wscap'), 'manifest.json'),
      join(path('queued.wscap'), 'trailer.json'),
    ];
    const before = openCapture(path('queued.wscap'));
    const change = (from: RegExp, to: string): void => {
      const text = readFileSync(manifest, 'utf8');
      expect(text).toMatch(from);
      writeFileSync(manifest, text.replace(from, to));
      const hash = createHash('sha256').update(readFileSync(manifest)).digest('hex');
      writeFileSync(trailer, readFileSync(trailer, 'utf8').replace(/("manifest": *")[0-9a-f]+/, `$1${hash}`));
    };
    change(/("packet": \{\s*"address": ")0x[0-9a-f]+/, '$10x7f0000001000');
    change(/("bytes": "[0-9a-f]{96})[0-9a-f]{32}"/, `$1${'76543210'.repeat(4)}"`);
    const moved = openCapture(path('queued.wscap'));
    expect(moved.hash).not.toBe(before.hash);
    expect(moved.identity()).toBe(before.identity());
    change(/("dynamicLds": )\d+/, '$1512');
    expect(openCapture(path('queued.wscap')).identity()).not.toBe(before.identity());
  });

  test('replays when what is kept of memory elsewhere would take the place of the packet', async () => {
    const device = new SimDevice('gfx942');
    try {
      const code = assembleAndLink(kernelSource({ code: EVERY_OTHER_CHUNK, args: [[8, 'global_buffer']] }));
      const far = device.allocAt(0x1000_0000_0000, 5 * 2 ** 29, 'far');
      const kernel = device.load(code).kernel('k');
      const recorder = new Recorder({
        kernel,
        codeObject: code,
        producer: { name: 'test', version: '1', device: 'sim' },
      });
      await device.dispatch({ kernel, grid: [64, 1, 1], block: [64, 1, 1], args: [far], monitors: [recorder.monitor] });
      await recorder.finish(path('far.wscap'), { orders: false });
    } finally {
      device.close();
    }
    expect((await replay(openCapture(path('far.wscap')))).verdict).toBe('equal');
  });

  test('refuses to replace what is there, and anything but a capture', async () => {
    expect(await codeOf(() => record(folder, 'k.wscap'))).toBe('capture/exists');
    mkdirSync(path('mine'));
    writeFileSync(path('mine/file'), 'mine');
    expect(await codeOf(() => record(folder, 'mine', { finish: { replace: true } }))).toBe('capture/exists');
    expect(readFileSync(path('mine/file'), 'utf8')).toBe('mine');
  });

  test('of more memory than it may have says so, and leaves nothing', async () => {
    // Two buffers of 4 KiB, and the arguments.
    expect((await record(folder, 'just.wscap', { mostBytes: 3 * 4096 })).chunks).toBe(3);
    const more = () => record(folder, 'more.wscap', { mostBytes: 2 * 4096 });
    expect(await codeOf(more)).toBe('capture/too-much-memory');
    expect(readdirSync(folder)).not.toContain('more.wscap');
  });

  test('that cannot be written says so', async () => {
    for (const name of ['mine/file/x.wscap', '../../../../../proc/none/x.wscap', '../../../../../proc/x.wscap']) {
      expect(await codeOf(() => record(folder, name)), name).toBe('io/write');
    }
  });

  test('of everything becomes the one of what is touched when it is slimmed', async () => {
    await record(folder, 'full.wscap', {
      memory: 'full',
      args: ['i32[65536]=7', 'i32[65536]=random:3', 'i32=1000', 'i32=0'],
    });
    const full = openCapture(path('full.wscap'));
    expect(full.chunks.length).toBeGreaterThan(8);
    await slimCapture(full, path('slim.wscap'));
    const slim = openCapture(path('slim.wscap'));
    expect(slim.manifest.memory).toMatchObject({ mode: 'touched', proved: true });
    expect(slim.chunks.map((c) => c.allocation.label)).toEqual(['argument 0', 'argument 1', 'kernarg segment']);
    expect((await replay(slim)).verdict).toBe('equal');
  });
});

describe('a replay', () => {
  const edits: readonly (readonly [string, string])[] = [
    ['a kernel that does nothing', ''],
    ['half of the grid', addIndex({ bound: 's_lshr_b32 s3, s3, 1\n v_cmp_gt_u32_e32 vcc, s3, v0' })],
    ['swapped buffers', addIndex({ load: 's_load_dwordx2 s[6:7], s[0:1], 0x0\n s_load_dwordx2 s[4:5], s[0:1], 0x8' })],
    ['a bound that is one too large', addIndex({ bound: 'v_cmp_ge_u32_e32 vcc, s3, v0' })],
    ['a bound that is one too small', addIndex({ bound: 's_sub_u32 s3, s3, 1\n v_cmp_gt_u32_e32 vcc, s3, v0' })],
    [
      'a stale output',
      addIndex({
        store: 'v_cmp_ne_u32_e32 vcc, 5, v0\n s_and_b64 exec, exec, vcc\n global_store_dword v1, v2, s[4:5]',
      }),
    ],
    ['another result', addIndex({ compute: 'v_sub_u32_e32 v2, v2, v0' })],
    [
      'a result that it reads from the output',
      addIndex({ compute: 'global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)' }),
    ],
    ['a fault', addIndex({ store: 's_add_u32 s5, s5, 0x100\n global_store_dword v1, v2, s[4:5]' })],
  ];
  test.each(edits)('finds %s', async (_what, code) => {
    const result = await replay(openCapture(path('k.wscap')), { code: captureObject(code) });
    expect(result.verdict).toBe('different');
    expect(result.ok).toBe(false);
  });

  test('stops a kernel that never ends after many times the instructions of the captured one, and says so', async () => {
    const capture = openCapture(path('k.wscap'));
    const captured = (await replay(capture)).dispatch?.instructions;
    expect(capture.manifest.dispatch.instructions).toBe(captured);
    const code = captureObject('forever:\n s_branch forever');
    for (const follow of [true, false]) {
      const { verdict, stopped } = await replay(capture, { code, follow });
      expect(verdict).toBe('different');
      expect(stopped).toMatchObject({
        code: 'sim/budget',
        kind: 'budget',
        hint: expect.stringContaining(`took ${captured}`),
      });
      expect(stopped?.budget).toEqual({ allowed: follow ? 10_000_000 : 200_000_000, captured });
    }
    const less = await replay(capture, { maxInstructions: 10 });
    expect(less.stopped?.budget).toEqual({ allowed: 10, captured });
    const { instructions: _unknown, ...dispatch } = capture.manifest.dispatch;
    rewriteCapture(capture, path('uncounted.wscap'), {}, () => ({ dispatch }));
    expect(await replay(openCapture(path('uncounted.wscap')))).toMatchObject({ verdict: 'equal', stopped: undefined });
  });

  test('finds them without following bytes too, but for writes of nothing new', async () => {
    for (const [, code] of edits.slice(0, 3)) {
      const result = await replay(openCapture(path('k.wscap')), { code: captureObject(code), follow: false });
      expect(result.ok).toBe(false);
    }
  });

  test('accepts other code with the same result', async () => {
    const code = captureObject(addIndex({ compute: 'v_sub_u32_e32 v3, 0, v0\n v_sub_u32_e32 v2, v2, v3' }));
    expect((await replay(openCapture(path('k.wscap')), { code, iterations: 2 })).verdict).toBe('equal');
  });

  test('needs every chunk of a recording', async () => {
    const capture = openCapture(path('k.wscap'));
    const { memory } = capture.manifest;
    for (const [n, chunk] of memory.chunks.entries()) {
      const chunks = memory.chunks.filter((one) => one !== chunk);
      rewriteCapture(capture, path('less.wscap'), { replace: true }, () => ({ memory: { ...memory, chunks } }));
      const less = openCapture(path('less.wscap'));
      const outcome = await codeOf(async () => {
        if ((await replay(less)).ok) throw new Error(`chunk ${n} is not needed`);
      });
      expect(['nothing was thrown', 'capture/no-arguments']).toContain(outcome);
    }
  });

  test('leaves its addresses free: the device can replay it again', async () => {
    const capture = openCapture(path('k.wscap'));
    const device = deviceFor(capture);
    try {
      for (let n = 0; n < 3; n++) expect((await replayCapture(device, capture)).verdict).toBe('equal');
    } finally {
      device.close();
    }
  });

  test('keeps memory between iterations when it is asked to', async () => {
    const code = captureObject(
      addIndex({ load: 's_load_dwordx2 s[6:7], s[0:1], 0x0\n s_load_dwordx2 s[4:5], s[0:1], 0x0' }),
    );
    await record(folder, 'in-place.wscap', { code });
    const result = await replay(openCapture(path('in-place.wscap')), { iterations: 3, recopy: false });
    expect(result.verdict).toBe('equal');
    expect(result.remarks.join()).toMatch(/only the first is compared/);
  });

  test('is refused on another target', async () => {
    await record(folder, 'gfx90a.wscap', { target: 'gfx90a' });
    const other = openCapture(path('gfx90a.wscap'));
    expect((await replay(other)).verdict).toBe('equal');
    const device = deviceFor(openCapture(path('k.wscap')));
    expect(await codeOf(() => replayCapture(device, other))).toBe('device/wrong-target');
    device.close();
  });
});

describe('a recording beside others', () => {
  test('does not take the name of one that was complete before it, nor of what is no capture', async () => {
    const root = path('beside');
    mkdirSync(root);
    const at = (name: string): string => join(root, name);
    const both = await Promise.allSettled([record(root, 'x.wscap'), record(root, 'x.wscap')]);
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
    mkdirSync(at('folder'));
    writeFileSync(at('folder/manifest.json'), '{"precious": true}');
    writeFileSync(at('other.zip'), zipSync({ 'a.txt': new Uint8Array(9) }));
    for (const name of ['folder', 'other.zip']) {
      expect(await codeOf(() => record(root, name, { finish: { replace: true } }))).toBe('capture/exists');
    }
    await record(root, 'x.wscap', { finish: { replace: true } });
    expect(readdirSync(root).sort()).toEqual(['folder', 'other.zip', 'x.wscap']);
  });
});

describe('a recording that is killed', () => {
  test('is complete or incomplete, never wrong', async () => {
    const report = await killCaptures(process.cwd(), 3, 7);
    expect(report.wrong).toEqual([]);
    expect(report.complete + report.incomplete + report.nothing).toBe(3);
  });
});

describe('a capture from outside', () => {
  const copy = (name: string): string => {
    cpSync(path('k.wscap'), path(name), { recursive: true });
    return path(name);
  };
  const packOf = (root: string): string => join(root, 'pages.pack');

  test('without its trailer, pages or code is incomplete and says what is missing', async () => {
    for (const [n, part] of ['trailer.json', 'manifest.json', 'code', 'page'].entries()) {
      const root = copy(`missing-${n}`);
      rmSync(part === 'page' ? packOf(root) : join(root, part), { recursive: true });
      expect(await codeOf(() => openCapture(root))).toBe('capture/incomplete');
    }
    expect(openCapture(path('missing-3'), { allowIncomplete: true }).missing.join()).toMatch(
      /^(\d) of its \1 pages are missing\.$/,
    );
    const short = copy('short');
    truncateSync(packOf(short), statSync(packOf(short)).size - 1);
    expect(openCapture(short, { allowIncomplete: true }).missing.join()).toMatch(/^1 of its \d pages are missing\.$/);
  });

  test('with a changed page, manifest or code is damaged', async () => {
    const page = copy('changed-page');
    const bytes = readFileSync(packOf(page));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
    writeFileSync(packOf(page), bytes);
    expect((await verifyCapture(openCapture(page))).ok).toBe(false);
    const manifest = copy('changed-manifest');
    const text = readFileSync(join(manifest, 'manifest.json'), 'utf8');
    writeFileSync(join(manifest, 'manifest.json'), text.replace('"sequence": 0', '"sequence": 1'));
    expect(await codeOf(() => openCapture(manifest))).toBe('capture/damaged');
  });

  test('does not lead out of its folder', async () => {
    const linked = copy('linked');
    const page = packOf(linked);
    cpSync(page, path('elsewhere'));
    rmSync(page);
    symlinkSync(path('elsewhere'), page);
    expect(await codeOf(() => openCapture(linked))).toBe('capture/incomplete');
    const folders = copy('linked-folder');
    cpSync(join(folders, 'code'), path('elsewhere-code'), { recursive: true });
    rmSync(join(folders, 'code'), { recursive: true });
    symlinkSync(path('elsewhere-code'), join(folders, 'code'));
    expect(await codeOf(() => openCapture(folders))).toBe('capture/incomplete');
    for (const name of ['../manifest.json', '/etc/passwd', 'pages/../../x', 'pages\\..\\x']) {
      writeFileSync(path('bad.zip'), zipSync({ 'manifest.json': new Uint8Array(1), [name]: new Uint8Array(1) }));
      expect(await codeOf(() => openCapture(path('bad.zip')))).toBe('capture/bad-path');
    }
  });

  test('needs a reader that knows its required sections', async () => {
    for (const [name, from, to] of [
      ['newer', '"formatVersion": "1.1"', '"formatVersion": "2.0"'],
      ['section', '"required": [\n', '"required": [\n  "future",\n'],
    ] as const) {
      const root = copy(name);
      const text = readFileSync(join(root, 'manifest.json'), 'utf8');
      writeFileSync(join(root, 'manifest.json'), text.replace(from, to));
      expect(await codeOf(() => openCapture(root))).toBe('capture/version');
    }
  });

  test('of format 1.0 is read, and written again as it is written now', async () => {
    const root = copy('old');
    const capture = openCapture(root);
    const pages = Object.fromEntries(
      [...capture.stored].map(([id, { bytes }]) => {
        mkdirSync(join(root, 'pages', id.slice(0, 2)), { recursive: true });
        writeFileSync(join(root, 'pages', id.slice(0, 2), id), capture.pages.page(id, bytes));
        return [id, { bytes, stored: bytes, codec: 'raw' }];
      }),
    );
    rmSync(packOf(root));
    const { pages: _section, ...manifest } = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8'));
    const text = JSON.stringify({ ...manifest, formatVersion: '1.0', required: ['dispatch', 'code', 'memory'] });
    writeFileSync(join(root, 'manifest.json'), text);
    const hash = createHash('sha256').update(text).digest('hex');
    const count = capture.stored.size;
    const trailer = { format: 'wscap-trailer', manifest: hash, count, pages };
    writeFileSync(join(root, 'trailer.json'), JSON.stringify(trailer));
    const old = openCapture(root);
    expect((await verifyCapture(old)).ok).toBe(true);
    rewriteCapture(old, path('new-again.wscap'), {});
    expect(openCapture(path('new-again.wscap')).hash).toBe(capture.hash);
    const [id = ''] = capture.stored.keys();
    rmSync(join(root, 'pages', id.slice(0, 2), id));
    expect(await codeOf(() => openCapture(root))).toBe('capture/incomplete');
  });

  test('is the same as one file', async () => {
    const capture = openCapture(path('k.wscap'));
    rewriteCapture(capture, path('k.wscap.zip'), { zip: true });
    rewriteCapture(capture, path('k2.wscap.zip'), { zip: true });
    expect(readFileSync(path('k.wscap.zip')).equals(readFileSync(path('k2.wscap.zip')))).toBe(true);
    const zipped = openCapture(path('k.wscap.zip'));
    expect(zipped.hash).toBe(capture.hash);
    expect((await verifyCapture(zipped)).ok).toBe(true);
  });
});
