// Hand-written top-k softmax (AMD AITER, MIT): the router of a mixture of experts. Arguments as in csrc/py_itfs_cu/asm_topksoftmax.cu.
import type { TargetName } from '../../../src/isa/types.ts';
import { Bench, type Format, type Outcome, paddedArguments, randomTensor } from './support.ts';

/** Softmax over the experts of each token, its `topk` largest with their indices, weights scaled to sum to one. */
export async function topkSoftmax(
  target: TargetName,
  file: string,
  [rows, experts, topk]: [number, number, number],
  tokens: number,
  format: Format,
): Promise<Outcome> {
  const bench = await Bench.open(target, `topksoftmax_topksoftmax_${file}.co`);
  const gating = randomTensor(format, tokens * experts, 7, -4, 4);
  const indices = bench.buffer(tokens * topk * 4, 'indices');
  const weights = bench.buffer(tokens * topk * 4, 'weights');
  const kernargs = paddedArguments([
    indices,
    weights,
    bench.buffer(gating.bytes, 'gating'),
    ...[tokens, experts, topk, 1, 4 * topk].map((u32) => ({ u32 })),
  ]);
  await bench.launch([Math.ceil(tokens / rows), 1, 1], kernargs);
  const gotIndices = bench.read(indices, 'i32');
  const gotWeights = bench.read(weights, 'f32');
  const expected: number[] = [];
  const got: number[] = [];
  for (let t = 0; t < tokens; t++) {
    const row = Array.from({ length: experts }, (_, e) => ({
      e,
      p: Math.exp(gating.values[t * experts + e] as number),
    }));
    const best = row.sort((x, y) => y.p - x.p || x.e - y.e).slice(0, topk);
    const sum = best.reduce((s, { p }) => s + p, 0);
    for (const [n, { e, p }] of best.entries()) {
      expected.push(e, p / sum);
      got.push(gotIndices[t * topk + n] as number, gotWeights[t * topk + n] as number);
    }
  }
  return bench.outcome(got, expected);
}
