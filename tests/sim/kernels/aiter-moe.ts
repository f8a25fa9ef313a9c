// Hand-written fused mixture-of-experts kernels (AMD AITER, MIT). Arguments as in AITER's csrc/py_itfs_cu/asm_moe_2stage.cu and
// asm_fmoe.cu; the routing lists as its moe_sorting makes them (token | slot << 24, each expert's rows padded to a block).
import { randomNumbers } from '../../../src/device/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { shuffleWeight } from './aiter-gemm.ts';
import { Bench, bytesOf, type Format, type Outcome, paddedArguments, randomTensor, type Tensor } from './support.ts';

const at = (t: Tensor, i: number): number => t.values[i] as number;
const silu = (x: number): number => x / (1 + Math.exp(-x));

/** Which experts each token goes to, and the lists a kernel reads. */
interface Routing {
  readonly experts: readonly (readonly number[])[];
  readonly weights: readonly (readonly number[])[];
  readonly sortedIds: Int32Array;
  readonly sortedWeights: Float32Array;
  readonly blockExperts: Int32Array;
}

function route(tokens: number, experts: number, topk: number, block: number): Routing {
  const random = randomNumbers(11);
  const chosen = Array.from({ length: tokens }, () => {
    const all = Array.from({ length: experts }, (_, e) => ({ e, key: random() }));
    return all
      .sort((x, y) => x.key - y.key)
      .slice(0, topk)
      .map(({ e }) => e);
  });
  const weights = chosen.map((list) => list.map(() => 0.25 + random()));
  const [ids, sorted, blocks]: [number[], number[], number[]] = [[], [], []];
  for (let e = 0; e < experts; e++) {
    const before = ids.length;
    for (const [t, list] of chosen.entries()) {
      const slot = list.indexOf(e);
      if (slot < 0) continue;
      ids.push(t | (slot << 24));
      sorted.push((weights[t] as number[])[slot] as number);
    }
    while ((ids.length - before) % block !== 0) {
      ids.push(tokens | (topk << 24));
      sorted.push(0);
    }
    for (let n = before; n < ids.length; n += block) blocks.push(e);
  }
  return {
    experts: chosen,
    weights,
    sortedIds: Int32Array.from(ids),
    sortedWeights: Float32Array.from(sorted),
    blockExperts: Int32Array.from(blocks),
  };
}

export interface MoeShape {
  readonly tokens: number;
  readonly experts: number;
  readonly topk: number;
  readonly dim: number;
  readonly inter: number;
  /** Rows of a block, and columns of the intermediate a workgroup computes. */
  readonly tile: readonly [number, number];
}

/** Stage 1 of a two-stage MoE: silu(x · gate) × (x · up) per token and chosen expert, quantised inputs with per-token scales, bf16. */
export async function moeStage1(target: TargetName, file: string, format: Format, shape: MoeShape): Promise<Outcome> {
  const { tokens, experts, topk, dim, inter, tile } = shape;
  const bench = await Bench.open(target, `fmoe_2stages_${file}.co`);
  const limit = format === 'i8' ? 127 : 4;
  const x = randomTensor(format, tokens * dim, 1, -limit, limit);
  const w = randomTensor(format, experts * 2 * inter * dim, 2, -limit, limit);
  const unit = 1 / (limit * Math.sqrt(dim));
  const xs = randomTensor('f32', tokens, 3, 2 / limit, 4 / limit);
  const ws = randomTensor('f32', experts * 2 * inter, 4, unit / 2, unit);
  const routing = route(tokens, experts, topk, tile[0]);
  const out = bench.buffer(tokens * topk * inter * 2, 'O');
  const size = bytesOf(format);
  const words = (a: Int32Array | Float32Array, label: string) => bench.buffer(new Uint8Array(a.buffer), label);
  const u32 = (value: number) => ({ u32: value });
  const kernargs = paddedArguments([
    out,
    bench.buffer(x.bytes, 'X'),
    bench.buffer(shuffleWeight(w, dim, 16, 16 / size), 'gate and up'),
    words(Int32Array.of(routing.sortedIds.length), 'number of rows'),
    bench.buffer(xs.bytes, 'X scales'),
    bench.buffer(ws.bytes, 'weight scales'),
    null,
    words(routing.sortedIds, 'sorted tokens'),
    words(routing.blockExperts, 'experts of blocks'),
    ...[dim, inter, tokens, experts, dim * size, dim * size, topk * inter * 2, 2 * inter * dim * size].map(u32),
    ...[2 * inter * 4, inter * 4, topk, 0, 0].map(u32),
    words(routing.sortedWeights, 'sorted weights'),
  ]);
  await bench.launch([Math.ceil(inter / tile[1]), routing.blockExperts.length, 1], kernargs);
  const expected: number[] = [];
  for (let t = 0; t < tokens; t++) {
    for (const e of routing.experts[t] as readonly number[]) {
      const row = (n: number): number => {
        let sum = 0;
        const start = (e * 2 * inter + n) * dim;
        for (let d = 0; d < dim; d++) sum += at(x, t * dim + d) * at(w, start + d);
        return sum * at(xs, t) * at(ws, e * 2 * inter + n);
      };
      for (let n = 0; n < inter; n++) expected.push(silu(row(n)) * row(inter + n));
    }
  }
  return bench.outcome(bench.read(out, 'bf16'), expected);
}

/** GELU by its tanh approximation, which the kernels compute. */
const gelu = (x: number): number => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

export interface FusedOptions {
  readonly format: Format;
  readonly output: Format;
  readonly activation: 'silu' | 'gelu';
  /** The routing weight scales the input (kernels named `tkw1`), not the output. */
  readonly weightFirst: boolean;
}

/**
 * A whole MoE layer in one kernel: out[t] = Σ over chosen experts of weight × down · act(x · gate) × (x · up). The kernel quantises
 * the intermediate per row again, so the result is compared loosely.
 */
export async function fusedMoe(
  target: TargetName,
  file: string,
  { format, output, activation, weightFirst }: FusedOptions,
  shape: MoeShape,
): Promise<Outcome> {
  const { tokens, experts, topk, dim, inter, tile } = shape;
  const bench = await Bench.open(target, `${file}.co`);
  const limit = format === 'i8' ? 127 : 4;
  const x = randomTensor(format, tokens * dim, 1, -limit, limit);
  const gateUp = randomTensor(format, experts * 2 * inter * dim, 2, -limit, limit);
  const down = randomTensor(format, experts * dim * inter, 3, -limit, limit);
  const scales = (count: number, seed: number, unit: number): Tensor =>
    randomTensor('f32', count, seed, unit / 2, unit);
  const xs = scales(tokens, 4, 4 / limit);
  const gs = scales(experts * 2 * inter, 5, 1 / (limit * Math.sqrt(dim)));
  const ds = scales(experts * dim, 6, 1 / (limit * Math.sqrt(inter)));
  const routing = route(tokens, experts, topk, tile[0]);
  const out = bench.zeros(tokens * dim * 2, 'O');
  const size = bytesOf(format);
  const words = (a: Int32Array | Float32Array, label: string) => bench.buffer(new Uint8Array(a.buffer), label);
  const u32 = (value: number) => ({ u32: value });
  const fields = [
    out,
    bench.buffer(x.bytes, 'X'),
    bench.buffer(shuffleWeight(gateUp, dim, 16, 16 / size), 'gate and up'),
    words(Int32Array.of(routing.sortedIds.length), 'number of rows'),
    bench.buffer(shuffleWeight(down, inter, 16, 16 / size), 'down'),
    bench.buffer(xs.bytes, 'X scales'),
    bench.buffer(gs.bytes, 'gate and up scales'),
    bench.buffer(ds.bytes, 'down scales'),
    null,
    words(routing.sortedIds, 'sorted tokens'),
    words(routing.sortedWeights, 'sorted weights'),
    words(routing.blockExperts, 'experts of blocks'),
    ...[dim, inter, tokens, experts, dim * size, dim * size, inter * size, dim * 2].map(u32),
    ...[2 * inter * dim * size, inter * dim * size, 2 * inter * 4, dim * 4, inter * 4, topk].map(u32),
    ...[0, Math.ceil(inter / tile[1])].map(u32),
  ];
  const kernargs = paddedArguments(fields.slice(0, (bench.kernels[0]?.kernargSize ?? 0) / 16));
  await bench.launch([Math.ceil(inter / tile[1]), routing.blockExperts.length, 1], kernargs);
  const act = activation === 'silu' ? silu : gelu;
  const expected = new Float64Array(tokens * dim);
  for (let t = 0; t < tokens; t++) {
    for (const [slot, e] of (routing.experts[t] as readonly number[]).entries()) {
      const chosen = (routing.weights[t] as readonly number[])[slot] as number;
      const [before, weight] = weightFirst ? [chosen, 1] : [1, chosen];
      const row = (n: number): number => {
        let sum = 0;
        const start = (e * 2 * inter + n) * dim;
        for (let d = 0; d < dim; d++) sum += at(x, t * dim + d) * at(gateUp, start + d);
        return before * sum * at(xs, t) * at(gs, e * 2 * inter + n);
      };
      const hidden = Array.from({ length: inter }, (_, n) => act(row(n)) * row(inter + n));
      for (let d = 0; d < dim; d++) {
        let sum = 0;
        for (let n = 0; n < inter; n++) sum += (hidden[n] as number) * at(down, (e * dim + d) * inter + n);
        expected[t * dim + d] = (expected[t * dim + d] as number) + weight * sum * at(ds, e * dim + d);
      }
    }
  }
  return bench.outcome(bench.read(out, output), expected);
}
