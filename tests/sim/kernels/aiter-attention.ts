// Hand-written attention (AMD AITER, MIT): forward, paged decode, latent decode (MLA). Argument blocks as in AITER's
// csrc/cpp_itfs/mha_fwd.cu (`fmha_fwd_v3_args`), csrc/py_itfs_cu/asm_pa.cu and asm_mla.cu.
import type { TargetName } from '../../../src/isa/types.ts';
import {
  Bench,
  bytesOf,
  type Format,
  gather,
  type Outcome,
  paddedArguments,
  randomTensor,
  type Tensor,
  tensor,
} from './support.ts';

const at = (t: Tensor, i: number): number => t.values[i] as number;

/** softmax(scores) · v for one query row; -Infinity masks a key. */
export function attend(
  scores: readonly number[],
  value: (key: number, d: number) => number,
  dimension: number,
): number[] {
  const largest = Math.max(...scores);
  const weights = scores.map((s) => Math.exp(s - largest));
  const sum = weights.reduce((a, b) => a + b, 0);
  return Array.from({ length: dimension }, (_, d) => weights.reduce((o, w, key) => o + w * value(key, d), 0) / sum);
}

export interface ForwardShape {
  readonly batch: number;
  readonly queries: number;
  readonly keys: number;
  readonly heads: number;
  readonly keyHeads: number;
  /** Head dimension of Q and K, and of V. */
  readonly dimensions: readonly [number, number];
  readonly causal: boolean;
  /** Query rows of one workgroup. */
  readonly tile: number;
}

/** Attention forward on tensors [batch, sequence, head, dimension] in bf16. */
export async function attentionForward(target: TargetName, file: string, shape: ForwardShape): Promise<Outcome> {
  const { batch, queries, keys, heads, keyHeads, causal, tile } = shape;
  const [dq, dv] = shape.dimensions;
  const bench = await Bench.open(target, `${file}.co`);
  const q = randomTensor('bf16', batch * queries * heads * dq, 1, -2, 2);
  const k = randomTensor('bf16', batch * keys * keyHeads * dq, 2, -2, 2);
  const v = randomTensor('bf16', batch * keys * keyHeads * dv, 3);
  const o = bench.buffer(batch * queries * heads * dv * 2, 'O');
  const scale = 1 / Math.sqrt(dq);
  const mergedTiles = dq === 192 && target === 'gfx942' ? 0 : causal && heads % 8 !== 0 ? 3 : 5;
  const strides = (h: number, d: number, n: number) => ({ s: h * d * 2, h: d * 2, b: n * h * d * 2 });
  const [qs, ks, vs, os] = [
    strides(heads, dq, queries),
    strides(keyHeads, dq, keys),
    strides(keyHeads, dv, keys),
    strides(heads, dv, queries),
  ];
  const kernargs = paddedArguments([
    o,
    bench.buffer(q.bytes, 'Q'),
    bench.buffer(k.bytes, 'K'),
    bench.buffer(v.bytes, 'V'),
    bench.buffer(batch * heads * queries * 4, 'LSE'),
    { f32: scale },
    ...[
      queries,
      qs.s,
      tile * qs.s,
      qs.h,
      qs.b,
      heads / keyHeads,
      ks.s,
      ks.h,
      ks.b,
      mergedTiles,
      0,
      keys,
      dq,
      dv,
      heads,
    ].map((u32) => ({ u32 })),
    ...[vs.s, vs.h, vs.b, os.s, os.h, os.b].map((u32) => ({ u32 })),
    null,
    null,
    { u32: queries * 4 },
    null,
    null,
  ]);
  const tiles = Math.ceil(queries / tile);
  const grid: [number, number, number] =
    dq === 192 && target === 'gfx942' ? [heads, tiles, batch] : [causal ? Math.ceil(tiles / 2) : tiles, heads, batch];
  await bench.launch(grid, kernargs);
  const expected: number[] = [];
  for (let b = 0; b < batch; b++) {
    for (let i = 0; i < queries; i++) {
      for (let h = 0; h < heads; h++) {
        const kv = Math.floor(h / (heads / keyHeads));
        const scores = Array.from({ length: keys }, (_, j) => {
          if (causal && j > i + keys - queries) return -Infinity;
          let sum = 0;
          for (let d = 0; d < dq; d++) {
            sum += at(q, ((b * queries + i) * heads + h) * dq + d) * at(k, ((b * keys + j) * keyHeads + kv) * dq + d);
          }
          return sum * scale;
        });
        expected.push(...attend(scores, (j, d) => at(v, ((b * keys + j) * keyHeads + kv) * dv + d), dv));
      }
    }
  }
  return bench.outcome(bench.read(o, 'bf16'), expected);
}

export interface PagedShape {
  readonly sequences: readonly { readonly context: number; readonly queries: number }[];
  readonly keyHeads: number;
  /** Query heads of one key head. */
  readonly group: number;
  /** Element formats of Q and the output, and of the cache. */
  readonly formats: readonly [Format, Format];
  /** One scale per token and head for quantised caches. */
  readonly scaled: boolean;
  readonly causal: boolean;
}

const PAGE = 16;
const HEAD = 128;

/** Decode attention over a paged cache: K [page, head, 128/x, 16, x] and V [page, head, 16/x, 128, x] with 16-byte rows of x elements. */
export async function pagedAttention(target: TargetName, file: string, shape: PagedShape): Promise<Outcome> {
  const { sequences, keyHeads, group, causal, scaled } = shape;
  const [queryFormat, cacheFormat] = shape.formats;
  const bench = await Bench.open(target, `${file}.co`);
  const pagesOf = sequences.map((s) => Math.ceil(s.context / PAGE));
  const tableWidth = Math.max(...pagesOf);
  const pages = pagesOf.reduce((a, b) => a + b, 0);
  // Pages of all sequences are interleaved backwards, so that a wrong table lookup shows.
  const table = new Int32Array(sequences.length * tableWidth);
  let next = pages;
  for (const [s, count] of pagesOf.entries()) for (let n = 0; n < count; n++) table[s * tableWidth + n] = --next;
  const limit = cacheFormat === 'i8' ? 127 : cacheFormat.startsWith('fp8') ? 8 : 1;
  const cache = (seed: number): Tensor =>
    randomTensor(cacheFormat, pages * keyHeads * PAGE * HEAD, seed, -limit, limit);
  const [k, v] = [cache(1), cache(2)];
  const scales = (seed: number): Tensor => randomTensor('f32', keyHeads * pages * PAGE, seed, 0.5 / limit, 1 / limit);
  const [ks, vs] = [scales(3), scales(4)];
  const tokens = sequences.reduce((a, s) => a + s.queries, 0);
  const heads = keyHeads * group;
  const q = randomTensor(queryFormat, tokens * heads * HEAD, 5, -2, 2);
  const o = bench.buffer(tokens * heads * HEAD * 2, 'O');
  const size = bytesOf(cacheFormat);
  const x = 16 / size;
  // Position in the stored cache → index in [page, head, token, dimension].
  const keyLayout = (p: number): number => {
    const [block, inBlock] = [Math.floor(p / (PAGE * HEAD)), p % (PAGE * HEAD)];
    const [chunk, rest] = [Math.floor(inBlock / (PAGE * x)), inBlock % (PAGE * x)];
    return (block * PAGE + Math.floor(rest / x)) * HEAD + chunk * x + (rest % x);
  };
  const valueLayout = (p: number): number => {
    const [block, inBlock] = [Math.floor(p / (PAGE * HEAD)), p % (PAGE * HEAD)];
    const [chunk, rest] = [Math.floor(inBlock / (HEAD * x)), inBlock % (HEAD * x)];
    return (block * PAGE + chunk * x + (rest % x)) * HEAD + Math.floor(rest / x);
  };
  const offsets = [0];
  for (const s of sequences) offsets.push((offsets.at(-1) as number) + s.queries);
  const headBytes = HEAD * PAGE * size;
  const takes = (name: string): boolean => bench.kernels[0]?.arguments.some((a) => a.name === name) ?? false;
  const kernargs = paddedArguments([
    o,
    bench.buffer(q.bytes, 'Q'),
    bench.buffer(gather(k, keyLayout), 'K'),
    bench.buffer(gather(v, valueLayout), 'V'),
    bench.buffer(new Uint8Array(table.buffer), 'block table'),
    bench.buffer(
      tensor(
        'i32',
        sequences.map((s) => s.context),
      ).bytes,
      'context lengths',
    ),
    scaled ? bench.buffer(ks.bytes, 'K scales') : null,
    scaled ? bench.buffer(vs.bytes, 'V scales') : null,
    { f32: Math.LOG2E / Math.sqrt(HEAD) },
    ...[tableWidth, keyHeads, heads * HEAD * 2, keyHeads * headBytes, headBytes].map((u32) => ({ u32 })),
    ...(takes('mtp') ? [{ u32: 0 }] : []),
    { u32: group },
    ...(takes('QTP') ? [bench.buffer(tensor('i32', offsets).bytes, 'query offsets')] : []),
  ]);
  await bench.launch([keyHeads, sequences.length, 1], kernargs);
  const expected: number[] = [];
  for (const [s, { context, queries }] of sequences.entries()) {
    const token = (key: number, head: number): number =>
      ((table[s * tableWidth + Math.floor(key / PAGE)] as number) * keyHeads + head) * PAGE + (key % PAGE);
    for (let i = 0; i < queries; i++) {
      for (let h = 0; h < heads; h++) {
        const kv = Math.floor(h / group);
        const scores = Array.from({ length: context }, (_, j) => {
          if (causal && j > i + context - queries) return -Infinity;
          let sum = 0;
          const row = token(j, kv);
          for (let d = 0; d < HEAD; d++) {
            sum += at(q, (((offsets[s] as number) + i) * heads + h) * HEAD + d) * at(k, row * HEAD + d);
          }
          return (sum / Math.sqrt(HEAD)) * (scaled ? at(ks, row) : 1);
        });
        const value = (j: number, d: number): number => {
          const row = token(j, kv);
          return at(v, row * HEAD + d) * (scaled ? at(vs, row) : 1);
        };
        expected.push(...attend(scores, value, HEAD));
      }
    }
  }
  return bench.outcome(bench.read(o, queryFormat), expected);
}

/** Dimensions of a latent-attention row: the first `LATENT` elements are also the value. */
const [LATENT_KEY, LATENT] = [576, 512];

/**
 * First stage of latent (MLA) decode: 128 query heads against one latent row per token, the context in `splits` parts. Each part
 * stores its normalised output and log-sum-exp; they are joined here as the second stage does.
 */
export async function latentDecode(target: TargetName, contexts: readonly number[], splits: number): Promise<Outcome> {
  const bench = await Bench.open(target, 'mla_mla_dec_stage1_bf16_a16w16_subQ128_mqa128.co');
  const [batch, heads] = [contexts.length, 128];
  const starts = [0];
  for (const c of contexts) starts.push((starts.at(-1) as number) + c);
  const pages = starts.at(-1) as number;
  const q = randomTensor('bf16', batch * heads * LATENT_KEY, 1, -1, 1);
  const kv = randomTensor('bf16', pages * LATENT_KEY, 2, -1, 1);
  const order = Array.from({ length: pages }, (_, i) => pages - 1 - i);
  const partial = bench.buffer(batch * splits * heads * LATENT * 4, 'partial outputs');
  const lse = bench.buffer(batch * splits * heads * 4, 'log-sum-exp');
  const scale = 1 / Math.sqrt(192);
  const integers = (values: readonly number[], label: string) => bench.buffer(tensor('i32', values).bytes, label);
  const kernargs = paddedArguments([
    partial,
    lse,
    bench.buffer(q.bytes, 'Q'),
    bench.buffer(kv.bytes, 'KV'),
    integers(starts, 'context offsets'),
    integers(order, 'page indices'),
    integers(
      contexts.map(() => 1),
      'last page lengths',
    ),
    { f32: scale },
    ...[heads, splits, heads * LATENT_KEY * 2, LATENT_KEY * 2, 0].map((u32) => ({ u32 })),
    integers(
      Array.from({ length: batch + 1 }, (_, i) => i),
      'query offsets',
    ),
  ]);
  await bench.launch([1, batch, splits], kernargs);
  const [gotPartial, gotLse] = [bench.read(partial, 'f32'), bench.read(lse, 'f32')];
  const [got, expected]: [number[], number[]] = [[], []];
  for (const [b, context] of contexts.entries()) {
    for (let h = 0; h < heads; h++) {
      const parts = Array.from({ length: splits }, (_, s) => (b * splits + s) * heads + h);
      got.push(
        ...attend(
          parts.map((part) => gotLse[part] as number),
          (part, d) => gotPartial[(parts[part] as number) * LATENT + d] as number,
          LATENT,
        ),
      );
      const row = (j: number): number => (order[(starts[b] as number) + j] as number) * LATENT_KEY;
      const scores = Array.from({ length: context }, (_, j) => {
        let sum = 0;
        for (let d = 0; d < LATENT_KEY; d++) sum += at(q, (b * heads + h) * LATENT_KEY + d) * at(kv, row(j) + d);
        return sum * scale;
      });
      expected.push(...attend(scores, (j, d) => at(kv, row(j) + d), LATENT));
    }
  }
  return bench.outcome(got, expected);
}
