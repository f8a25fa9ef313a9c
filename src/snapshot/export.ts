// Views of a capture for other tools. safetensors holds buffers before and after as tensors; it has no addresses, no overlaps and no code,
// so it is a view and never comes back. Format: https://huggingface.co/docs/safetensors, "Format".
import type { Capture, Chunk } from './capture.ts';
import { annotationBytes, labelOf } from './compare.ts';
import { hex } from './fields.ts';

/** Names of element types in safetensors 0.5. Others are exported as bytes. */
const DTYPES: Readonly<Record<string, string>> = {
  bool: 'BOOL',
  u8: 'U8',
  i8: 'I8',
  i16: 'I16',
  u16: 'U16',
  f16: 'F16',
  bf16: 'BF16',
  i32: 'I32',
  u32: 'U32',
  f32: 'F32',
  f64: 'F64',
  i64: 'I64',
  u64: 'U64',
  f8E4M3FN: 'F8_E4M3',
  f8E5M2: 'F8_E5M2',
};

interface Tensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** A part of memory on one side; undefined unless every byte is in the capture. */
function memoryOf(capture: Capture, side: 'in' | 'out', address: number, size: number): Uint8Array | undefined {
  const bytes = new Uint8Array(size);
  let left = size;
  for (const chunk of capture.chunks) {
    const from = Math.max(address, chunk.address);
    const to = Math.min(address + size, chunk.address + chunk.length);
    if (from >= to) continue;
    const content = side === 'out' ? (chunk.post() ?? chunk.pre()) : chunk.pre();
    if (content === undefined) continue;
    bytes.set(content.subarray(from - chunk.address, to - chunk.address), from - address);
    left -= to - from;
  }
  return left === 0 ? bytes : undefined;
}

/** The annotated buffers as tensors of their type; without annotations every chunk run as bytes. */
function tensorsOf(capture: Capture): Tensor[] {
  const { annotations } = capture.manifest;
  const sides = ['in', 'out'] as const;
  const annotated = annotations.flatMap((a) =>
    sides.flatMap((side): Tensor[] => {
      const bytes = memoryOf(capture, side, a.address, annotationBytes(a));
      if (bytes === undefined) return [];
      const dtype = DTYPES[a.elementType];
      const shape = dtype === undefined ? [bytes.length] : a.shape;
      return [{ name: `${a.name}.${side}`, dtype: dtype ?? 'U8', shape, bytes }];
    }),
  );
  const isAnnotated = (chunk: Chunk): boolean =>
    annotations.some((a) => a.address < chunk.address + chunk.length && chunk.address < a.address + annotationBytes(a));
  const plain = capture.chunks
    .filter((c) => !isAnnotated(c) && c.allocation.kind !== 'code')
    .flatMap((chunk) =>
      sides.flatMap((side): Tensor[] => {
        const bytes = side === 'in' ? chunk.pre() : chunk.post();
        const name = `${labelOf(chunk.allocation)}@${hex(chunk.address)}.${side}`;
        return bytes === undefined ? [] : [{ name, dtype: 'U8', shape: [bytes.length], bytes }];
      }),
    );
  return [...annotated, ...plain];
}

/** The buffers as a safetensors file. */
export function safetensorsOf(capture: Capture): Uint8Array {
  const { manifest, hash } = capture;
  const header: Record<string, unknown> = {
    __metadata__: { format: 'wscap', kernel: manifest.dispatch.kernel, target: manifest.code.target, manifest: hash },
  };
  const tensors = tensorsOf(capture);
  let at = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    at += bytes.length;
  }
  const text = JSON.stringify(header);
  // Tensors begin at a multiple of 8: the header is filled up with spaces.
  const padded = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8));
  const filled = new Uint8Array(Math.ceil(padded.length / 8) * 8).fill(0x20);
  filled.set(padded);
  const out = new Uint8Array(8 + filled.length + at);
  new DataView(out.buffer).setBigUint64(0, BigInt(filled.length), true);
  out.set(filled, 8);
  let to = 8 + filled.length;
  for (const { bytes } of tensors) {
    out.set(bytes, to);
    to += bytes.length;
  }
  return out;
}
