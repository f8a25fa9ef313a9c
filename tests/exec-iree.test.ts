// The real iree-run-module with the virtual GPU as its GPU: the same MLIR compiled for gfx942 and for the CPU must give the same results,
// judged by IREE's own comparison (--expected_output).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { elementType, fillRandom, randomNumbers } from '../src/base/index.ts';
import { findIreeTool } from '../src/iree/tools.ts';
import { exec, hasNativeBuild, root } from './support/native.ts';

const tool = (name: string): string => join(root, '.wavesmith/venv/bin', name);
const hasIree = findIreeTool('iree-compile') !== undefined && findIreeTool('iree-run-module') !== undefined;
if (!hasIree) console.warn("skipped: IREE is not installed ('npm run setup' installs it).");

interface Example {
  readonly name: string;
  readonly function: string;
  readonly inputs: readonly string[];
  readonly output: string;
}

const EXAMPLES: readonly Example[] = [
  { name: 'matmul_f16', function: 'matmul', inputs: ['128x128xf16', '128x128xf16'], output: '128x128xf32' },
  { name: 'matmul_f32', function: 'matmul_f32', inputs: ['64x64xf32', '64x64xf32'], output: '64x64xf32' },
  { name: 'matmul_i8', function: 'matmul_i8', inputs: ['128x128xi8', '128x128xi8'], output: '128x128xi32' },
  { name: 'conv2d', function: 'conv2d', inputs: ['1x18x18x16xf16', '3x3x16x32xf16'], output: '1x16x16x32xf32' },
  { name: 'softmax', function: 'softmax', inputs: ['8x256xf32'], output: '8x256xf32' },
  {
    name: 'attention',
    function: 'attention',
    inputs: ['4x64x32xf16', '4x64x32xf16', '4x64x32xf16'],
    output: '4x64x32xf16',
  },
];

describe.skipIf(!hasIree || !hasNativeBuild())('iree-run-module --device=hip', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-iree-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function compile(name: string, backend: 'rocm' | 'llvm-cpu'): string {
    const output = join(folder, `${name}.${backend}.vmfb`);
    const flags = backend === 'rocm' ? ['--iree-rocm-target=gfx942'] : ['--iree-llvmcpu-target-cpu=generic'];
    const args = [`--iree-hal-target-backends=${backend}`, ...flags, join(root, 'examples', `${name}.mlir`)];
    const run = spawnSync(tool('iree-compile'), [...args, '-o', output], { encoding: 'utf8' });
    expect(run.status, run.stderr).toBe(0);
    return output;
  }

  function makeInputs({ name, inputs }: Example): string[] {
    const next = randomNumbers(11);
    return inputs.map((input, n) => {
      const parts = input.split('x');
      const type = parts.pop() as string;
      const bytes = new Uint8Array(
        parts.reduce((a, b) => a * Number(b), 1) * (type.endsWith('8') ? 1 : type === 'f32' ? 4 : 2),
      );
      fillRandom(bytes, elementType(type), next);
      const file = join(folder, `${name}-${n}.bin`);
      writeFileSync(file, bytes);
      return `--input=${input}=@${file}`;
    });
  }

  it.each(EXAMPLES)('runs $name and agrees with the CPU', async (example) => {
    const inputs = makeInputs(example);
    const common = [`--function=${example.function}`, ...inputs];
    const expected = join(folder, `${example.name}.bin`);
    const cpu = spawnSync(
      tool('iree-run-module'),
      ['--device=local-task', `--module=${compile(example.name, 'llvm-cpu')}`, ...common, `--output=@${expected}`],
      { encoding: 'utf8' },
    );
    expect(cpu.status, cpu.stderr).toBe(0);
    const module = compile(example.name, 'rocm');
    const run = [tool('iree-run-module'), '--device=hip', `--module=${module}`, ...common];
    const gpu = await exec([...run, `--expected_output=${example.output}=@${expected}`]);
    expect(gpu.status, `${gpu.stdout}${gpu.stderr}`).toBe(0);
    expect(gpu.stdout).toContain('[SUCCESS] all function outputs matched their expected values.');
    // The comparison can fail: another expectation is not met.
    const bytes = readFileSync(expected);
    bytes.fill(0x33, bytes.length - 8);
    const wrong = join(folder, `${example.name}-wrong.bin`);
    writeFileSync(wrong, bytes);
    const refused = await exec([...run, `--expected_output=${example.output}=@${wrong}`]);
    expect(refused.status).not.toBe(0);
    expect(refused.stdout).toContain('[FAILED]');
  });

  it('is measured by iree-benchmark-module', async () => {
    const module = compile('matmul_f32', 'rocm');
    const inputs = makeInputs(EXAMPLES[1] as Example);
    const run = await exec([
      tool('iree-benchmark-module'),
      '--device=hip',
      `--module=${module}`,
      '--function=matmul_f32',
      ...inputs,
      '--benchmark_min_time=5x',
    ]);
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toMatch(/BM_matmul_f32\S*\s+[\d.]+ (?:us|ms)/);
  });
});
