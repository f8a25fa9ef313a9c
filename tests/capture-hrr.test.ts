// Archives of AMD's HIP Record & Replay become captures of single launches: the calls before one are done again on the virtual GPU.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { randomBytes, WavesmithError } from '../src/base/index.ts';
import { deviceFor, importHrr, openCapture, replayCapture } from '../src/snapshot/index.ts';
import { addIndex, captureObject } from './support/captures.ts';
import { CALL, HrrWriter } from './support/hrr.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-hrr-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [IN, OUT, SECOND] = [0x7f10_0000_0000, 0x7f20_0000_0000, 0x7f30_0000_0000];
const BYTES = 4096;
const OBJECT = captureObject();
const CODE = HrrWriter.nameOf(OBJECT);
const PRODUCER = { name: 'test', version: '1', device: 'sim' };
const pointer = (address: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(address)).buffer);
const word = (n: number): Uint8Array => new Uint8Array(Uint32Array.of(n).buffer);
const input = new Uint32Array(randomBytes(BYTES, 9).buffer);
/** What `addIndex` makes of it. */
const plusIndex = (from: Uint32Array): Uint32Array => from.map((x, i) => (x + i) >>> 0);

/** Two launches, of which the second works on the result of the first. */
function program(given = new Uint8Array(input.buffer), result = plusIndex(plusIndex(input))): HrrWriter {
  const writer = new HrrWriter();
  writer.code.set(CODE, OBJECT);
  const args = (to: number, from: number): Uint8Array[] => [pointer(to), pointer(from), word(1024), word(0)];
  return writer
    .record(CALL.streamCreate, [4, 0], [8, 0x5000])
    .allocate(IN, BYTES)
    .allocate(OUT, BYTES)
    .allocate(SECOND, BYTES)
    .copy(IN, 0x1000, BYTES, writer.keep(given))
    .fill(OUT, 0xab, BYTES)
    .launch('k', CODE, 16, 64, args(OUT, IN))
    .copy(SECOND, OUT, BYTES)
    .launch('k.kd', CODE, 16, 64, args(OUT, SECOND))
    .copyFromDevice(OUT, BYTES, writer.keep(new Uint8Array(result.buffer)))
    .launch('k', CODE, 16, 64, args(IN, OUT));
}

async function codeOf(run: () => Promise<unknown>): Promise<string> {
  const error = await run().then(
    () => undefined,
    (e: unknown) => e,
  );
  if (error instanceof WavesmithError) return error.code;
  throw error ?? new Error('nothing was thrown');
}

let count = 0;
function written(writer: HrrWriter, options = {}): { readonly from: string; readonly to: string } {
  const from = join(folder, `${count++}.hrr`);
  writer.write(from, options);
  return { from, to: `${from}.wscap` };
}

test('a launch that works on the result of an earlier one', async () => {
  const { from, to } = written(program());
  const result = await importHrr(from, to, PRODUCER, { dispatch: 1 });
  expect(result.remarks).toEqual([expect.stringContaining('computed on the virtual GPU')]);
  const capture = openCapture(to);
  expect(capture.manifest.memory).toMatchObject({ proved: true, mode: 'touched' });
  const after = (address: number): Uint8Array | undefined => capture.chunks.find((c) => c.address === address)?.post();
  expect(after(OUT)).toEqual(new Uint8Array(plusIndex(plusIndex(input)).buffer));
  expect(capture.manifest.memory.allocations.find((a) => a.address === OUT)?.provenance).toBe('hipMalloc');
  const replay = async (code?: Uint8Array): Promise<string> => {
    const device = deviceFor(capture);
    const { verdict } = await replayCapture(device, capture, { code });
    device.close();
    return verdict;
  };
  expect(await replay()).toBe('equal');
  expect(await replay(captureObject(addIndex({ bound: 'v_cmp_ne_u32_e32 vcc, 9, v0' })))).toBe('different');
});

test('results that the program read are compared', async () => {
  const { from, to } = written(program());
  const right = await importHrr(from, to, PRODUCER, { dispatch: 2, orders: false });
  expect(right.remarks.join()).not.toContain('differs');
  const wrong = written(program(undefined, new Uint32Array(BYTES / 4)));
  const { remarks } = await importHrr(wrong.from, wrong.to, PRODUCER, { dispatch: 2, orders: false });
  expect(remarks.join()).toContain('hipMemcpyDtoH read from the GPU differs');
});

test('what is not done again, and what the log lacks, is said', async () => {
  const writer = new HrrWriter()
    .allocate(0x7f40_0000_0000, 64, CALL.hostMalloc)
    .record(CALL.graphLaunch, [4, 0], [8, 1], [8, 0]);
  writer.code.set(CODE, OBJECT);
  writer
    .allocate(IN, BYTES)
    .allocate(OUT, BYTES)
    .copy(IN, 0x1000, BYTES, HrrWriter.hash(77))
    .launch('k', CODE, 16, 64, [pointer(OUT), pointer(IN), word(1024), word(0)]);
  const { from, to } = written(writer, { end: false });
  const { remarks } = await importHrr(from, to, PRODUCER, { orders: false });
  for (const what of ['hipGraphLaunch', 'hipHostMalloc', 'lacks what hipMemcpy', 'no last record'])
    expect(remarks.join('\n')).toContain(what);
  expect(openCapture(to).manifest.unsupported.map((u) => u.message)).toEqual(remarks);
});

test('what is wrong is a sentence', async () => {
  const { from, to } = written(program());
  expect(await codeOf(() => importHrr(from, to, PRODUCER, { dispatch: 3 }))).toBe('capture/no-dispatch');
  expect(await codeOf(() => importHrr(from, to, PRODUCER, { kernel: /other/ }))).toBe('capture/no-dispatch');
  expect(await codeOf(() => importHrr(from, to, PRODUCER, { target: 'gfx90a' }))).toBe('capture/bad-import');
  for (const version of [5, 9]) {
    const other = written(program(), { version });
    expect(await codeOf(() => importHrr(other.from, other.to, PRODUCER))).toBe('capture/bad-import');
  }
  const noCode = program();
  noCode.code.clear();
  const without = written(noCode);
  expect(await codeOf(() => importHrr(without.from, without.to, PRODUCER))).toBe('capture/bad-import');
  const cut = written(program(new Uint8Array(10)));
  expect(await codeOf(() => importHrr(cut.from, cut.to, PRODUCER))).toBe('capture/bad-import');
  const two = written(program());
  symlinkSync(join(two.from, 'pid-7'), join(two.from, 'pid-8'));
  await importHrr(two.from, two.to, PRODUCER, { orders: false });
  mkdirSync(join(two.from, 'pid-9'));
  writeFileSync(join(two.from, 'pid-9', 'events.bin'), program().log());
  expect(await codeOf(() => importHrr(two.from, to, PRODUCER))).toBe('capture/bad-import');
  expect(await codeOf(() => importHrr(join(folder, 'nothing'), to, PRODUCER))).toBe('capture/bad-import');
});

test('blobs and code that were changed, and a log whose records were, are found', async () => {
  for (const [n, folderOf] of [
    [0, (writer: HrrWriter) => writer.blobs],
    [1, (writer: HrrWriter) => writer.code],
  ] as const) {
    const writer = program();
    const files = folderOf(writer);
    const [name = '', bytes = new Uint8Array()] = [...files][0] ?? [];
    const changed = bytes.slice();
    changed[changed.length >> 1] = (changed[changed.length >> 1] as number) ^ 1;
    files.set(name, changed);
    const { from, to } = written(writer);
    const error = await importHrr(from, to, PRODUCER).catch((e: unknown) => e);
    expect(error, String(n)).toMatchObject({ code: 'capture/bad-import', message: expect.stringContaining('damaged') });
    expect(existsSync(to)).toBe(false);
  }
  const { from, to } = written(
    program().record(CALL.streamCreate, [4, 0], [8, 1]).record(CALL.streamCreate, [4, 0], [8, 2]),
  );
  const log = join(from, 'pid-7', 'events.bin');
  const bytes = readFileSync(log);
  // These two and the end have 44 bytes each. The first now holds the second, too.
  bytes.writeUInt32LE(2 * 44, bytes.length - 3 * 44 + 26);
  writeFileSync(log, bytes);
  expect((await importHrr(from, to, PRODUCER, { orders: false })).remarks.join()).toContain(
    '12 records, and its last one says 13',
  );
});

test('a log that was cut off has the calls before', async () => {
  const { from, to } = written(program());
  const log = join(from, 'pid-7', 'events.bin');
  truncateSync(log, program().log().length - 60);
  const { remarks } = await importHrr(from, to, PRODUCER, { dispatch: 1, orders: false });
  expect(remarks.join()).toContain('no last record');
});
