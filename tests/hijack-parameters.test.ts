// `hijack run --parameters` with .safetensors and .gguf files as their makers write them, and with files that do not fit.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNpy } from '../src/device/npy.ts';
import { findIreeTool } from '../src/iree/tools.ts';
import { asmFile, edit } from './hijack-support.ts';
import { wavesmith } from './support/command.ts';
import { hasNativeBuild } from './support/native.ts';

const MODULE = `
util.global private @weights = #stream.parameter.named<"model"::"layer.weight"> : tensor<4x8xf32>
func.func @apply(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = util.global.load @weights : tensor<4x8xf32>
  %y = arith.mulf %x, %w : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
`;

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const bytesOf = (values: readonly number[]): Buffer => Buffer.from(Float32Array.from(values).buffer);

/** Length of the header, its JSON, the tensors' bytes. Source: the safetensors format, "Format". */
function safetensors(tensors: readonly Tensor[]): Buffer {
  let at = 0;
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  for (const { name, shape, values } of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [at, at + 4 * values.length] };
    at += 4 * values.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...tensors.map(({ values }) => bytesOf(values))]);
}

/** Source: ggml's gguf.md, version 3: header, key-value pairs, tensor infos (dimensions innermost first), aligned data. */
function gguf(tensors: readonly Tensor[]): Buffer {
  const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
  const u64 = (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
  const text = (value: string): Buffer => Buffer.concat([u64(value.length), Buffer.from(value)]);
  const align = (size: number): number => Math.ceil(size / 32) * 32;
  let at = 0;
  const infos = tensors.map(({ name, shape, values }) => {
    const info = [text(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(0), u64(at)];
    at += align(4 * values.length);
    return Buffer.concat(info);
  });
  const pair = Buffer.concat([text('general.architecture'), u32(8), text('llama')]);
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(1), pair, ...infos]);
  const data = tensors.map(({ values }) => {
    const bytes = bytesOf(values);
    return Buffer.concat([bytes, Buffer.alloc(align(bytes.length) - bytes.length)]);
  });
  return Buffer.concat([head, Buffer.alloc(align(head.length) - head.length), ...data]);
}

const ready =
  findIreeTool('iree-run-module') !== undefined && findIreeTool('iree-compile') !== undefined && hasNativeBuild();
if (!ready) console.warn("skipped: IREE or the native libraries are missing ('npm run setup').");

const values = Array.from({ length: 32 }, (_, i) => i / 4 - 3);
const weight: Tensor = { name: 'layer.weight', shape: [4, 8], values };
const other: Tensor = { name: 'layer.bias', shape: [8], values: values.slice(0, 8) };

describe.skipIf(!ready)('parameters outside the module', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'wavesmith-parameters-'));
  const folder = join(scratch, 'work');
  const run = (file: string, ...flags: string[]) =>
    wavesmith('hijack', 'run', folder, `--parameters=model=${join(folder, file)}`, ...flags);

  beforeAll(async () => {
    const input = join(scratch, 'model.mlir');
    writeFileSync(input, MODULE);
    const made = await wavesmith('hijack', 'init', input, '-o', folder, '--target', 'gfx942');
    expect(made.status, made.err).toBe(0);
    edit(asmFile(folder), /^\ts_endpgm$/m, '\ts_nop 0\n$&');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  it.each([
    ['safetensors', safetensors],
    ['gguf', gguf],
  ] as const)('.%s: read by name, and the kernel sees their values', async (kind, write) => {
    writeFileSync(join(folder, `m.${kind}`), write([other, weight]));
    const kept = join(folder, `kept-${kind}`);
    const ran = await run(`m.${kind}`, '--input', '4x8xf32=2', '--save', kept);
    expect(ran.status, ran.err + ran.out).toBe(0);
    expect(ran.out).toContain('EQUAL: 1 function(s)');
    const { bytes } = readNpy(new Uint8Array(readFileSync(join(kept, 'modified-apply-output0.npy'))));
    expect([...new Float32Array(bytes.slice().buffer)]).toEqual(values.map((value) => 2 * value));
  });

  it.each([
    ['safetensors', safetensors],
    ['gguf', gguf],
  ] as const)(
    '.%s: another name, a smaller tensor and a damaged file are told before anything runs',
    async (kind, write) => {
      writeFileSync(join(folder, `a.${kind}`), write([{ ...weight, name: 'layer.weights' }]));
      const name = await run(`a.${kind}`);
      expect([name.status, name.err]).toEqual([
        1,
        expect.stringContaining(
          "error[hijack/parameters]: The module loads parameter 'model::layer.weight', and the archives hold 'layer.weights'.",
        ),
      ]);
      writeFileSync(join(folder, `b.${kind}`), write([{ ...weight, shape: [2, 8], values: values.slice(0, 16) }]));
      expect((await run(`b.${kind}`)).err).toContain(
        "The module loads 128 bytes of parameter 'model::layer.weight', and the archive holds 64.",
      );
      writeFileSync(join(folder, `c.${kind}`), write([weight]).subarray(0, 40));
      const cut = await run(`c.${kind}`);
      expect([cut.status, cut.err]).toEqual([1, expect.stringContaining('error[hijack/parameters]')]);
      expect(cut.out).not.toContain('EQUAL');
    },
  );
});
