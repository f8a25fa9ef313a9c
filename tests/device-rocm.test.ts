// A real GPU's device keeps the contract of every device, and replays captures. There is no GPU here: the HSA runtime is the virtual one.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { randomBytes } from '../src/base/index.ts';
import { SimDevice } from '../src/device/index.ts';
import { openCapture, Recorder, type ReplayResult, replayCapture } from '../src/snapshot/index.ts';
import { addIndex, captureObject } from './support/captures.ts';
import { deviceContract } from './support/device-contract/index.ts';
import { run } from './support/hip.ts';
import { exec, root } from './support/native.ts';
import { APERTURE_RANGES, apertureFailures, hasNativeBuild, openRocm } from './support/rocm.ts';

const isBuilt = hasNativeBuild();

if (isBuilt) {
  deviceContract('rocm on the virtual runtime', {
    target: 'gfx942',
    faults: 'by page',
    countsInstructions: false,
    open: () => openRocm('gfx942'),
  });
}

describe.skipIf(!isBuilt)('a capture on a GPU', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-rocm-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const OUTSIDE = 0x4100_0000_0000;
  const WINDOW = 0x4800_4000_0000;
  const CODE = 0x4100_7000_0000;

  /** Records a dispatch whose memory is where the virtual runtime has nothing, or where it has its own unless something is in the way. */
  async function recorded(name: string, first = OUTSIDE, { pointsIntoCode = false } = {}): Promise<string> {
    const device = new SimDevice('gfx942');
    const code = captureObject();
    const module = device.load(code, CODE);
    const kernel = module.kernel('k');
    const [out, input, kernarg] = [0, 1, 2].map((n) => device.allocAt(first + n * 2 ** 24, 4096, `b${n}`));
    if (out === undefined || input === undefined || kernarg === undefined) throw new Error('unreachable');
    device.write(input, randomBytes(4096, 5));
    if (pointsIntoCode) device.write(input, new Uint8Array(BigUint64Array.of(BigInt(CODE + 64)).buffer), 8);
    const segment = new Uint8Array(24);
    const view = new DataView(segment.buffer);
    view.setBigUint64(0, BigInt(out.address), true);
    view.setBigUint64(8, BigInt(input.address), true);
    view.setUint32(16, 1000, true);
    device.write(kernarg, segment);
    const recorder = new Recorder({
      kernel,
      codeObject: code,
      producer: { name: 'test', version: '1', device: 'sim' },
    });
    const monitors = [recorder.monitor];
    await device.dispatch({
      kernel,
      grid: [16, 1, 1],
      block: [64, 1, 1],
      segment: { kernarg: kernarg.address },
      monitors,
    });
    device.close();
    await recorder.finish(join(folder, name), { orders: false });
    return join(folder, name);
  }

  test('is replayed at its addresses, with times by its clock; wrong code is found', async () => {
    const capture = openCapture(await recorded('k.wscap'));
    const replay = async (code?: Uint8Array): Promise<ReplayResult> => {
      const device = await openRocm('gfx942');
      try {
        return await replayCapture(device, capture, { iterations: 5, code });
      } finally {
        device.close();
      }
    };
    const result = await replay();
    expect(result).toMatchObject({ verdict: 'equal', device: 'rocm', bytes: 4000 });
    expect(result.times?.clock).toBe('device');
    for (const code of [addIndex({ bound: 's_lshr_b32 s3, s3, 1\n v_cmp_gt_u32_e32 vcc, s3, v0' }), '']) {
      expect((await replay(captureObject(code))).verdict).toBe('different');
    }
  });

  test('runs a kernel with a probe in it; strict mode and modelled time are refused', async () => {
    const file = join(folder, 'k.co');
    writeFileSync(file, captureObject());
    const line = ['run', file, '--kernel', 'k', '--grid', '16,1,1', '--block', '64,1,1', '--device', 'rocm'];
    const args = ['i32[1024]=7', 'i32[1024]=random:3', 'i32=1000', 'i32=0'].flatMap((one) => ['--arg', one]);
    const onGpu = (...words: readonly string[]) =>
      run(process.execPath, ['bin/wavesmith', 'exec', '--', 'bin/wavesmith', ...words]);
    const probed = await onGpu('probe', '--tool', 'instr-count', '--', ...line, ...args);
    expect(probed.status, probed.stderr).toBe(0);
    expect(probed.stdout).toMatch(/^instructions: 2\d\d$/m);
    for (const tool of ['--check', '--timing']) {
      expect((await onGpu(...line, ...args, tool)).stderr).toContain('device/no-tools');
    }
  });

  test('is not replayed where code cannot be placed and memory points into it', async () => {
    const plain = openCapture(await recorded('plain.wscap'));
    const pointing = openCapture(await recorded('pointing.wscap', OUTSIDE, { pointsIntoCode: true }));
    const replay = async (capture: typeof plain, hasSharedMemory: boolean): Promise<ReplayResult> => {
      const device = await openRocm('gfx942', hasSharedMemory);
      try {
        return await replayCapture(device, capture);
      } finally {
        device.close();
      }
    };
    for (const capture of [plain, pointing]) {
      const result = await replay(capture, true);
      expect([result.verdict, result.remarks]).toEqual(['equal', []]);
    }
    const elsewhere = await replay(plain, false);
    expect([elsewhere.verdict, elsewhere.remarks]).toEqual([
      'equal',
      [expect.stringMatching(/^the device chose 0x\w+ for the code, not 0x410070000000; nothing .* points there$/)],
    ]);
    await expect(replay(pointing, false)).rejects.toMatchObject({
      code: 'replay/relocated',
      message: expect.stringContaining('0x410001000008'),
    });
    expect((await replay(pointing, true)).verdict).toBe('equal');
  });

  test('by the commands, also at addresses of the virtual GPU', async () => {
    const wavesmith = join(root, 'bin/wavesmith');
    for (const first of [OUTSIDE, WINDOW]) {
      const path = await recorded(`cli-${first}.wscap`, first);
      const replay = await exec([process.execPath, wavesmith, 'replay', 'full-vm', path, '--device', 'rocm']);
      expect(replay.stdout, replay.stderr).toMatch(/^EQUAL/m);
    }
    const selftest = await exec([process.execPath, wavesmith, 'selftest']);
    expect(selftest.stdout, selftest.stderr).toMatch(/^PASSED: all \d+ checks$/m);
  });

  test('has its addresses although the runtime takes them for itself when it starts', async () => {
    const [[address]] = APERTURE_RANGES;
    const there = `${2 ** 40}@${address - 2 ** 39}`;
    expect(await apertureFailures(2, false, there)).toBe(2);
    expect(await apertureFailures(2, true, there)).toBe(0);
    expect(await apertureFailures(10, true, String(12 * 2 ** 40))).toBe(0);
  });

  test.skipIf(!existsSync('/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1') || existsSync('/dev/kfd'))(
    'without a GPU is told so by the real runtime',
    async () => {
      const { status, stderr } = await run(process.execPath, [join(root, 'bin/wavesmith'), 'selftest']);
      expect([status, stderr]).toEqual([1, expect.stringContaining('device/no-gpu')]);
      const none = await run(process.execPath, [join(root, 'bin/wavesmith'), 'selftest'], {
        WAVESMITH_HSA: '/nowhere.so',
      });
      expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('device/no-rocm')]);
    },
  );
});
