// The models of `npm run models`: MLIR made here or taken from examples/, and ONNX models made by onnx_models.py.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/iree/tools.ts';

/** The checkout. */
export const root = packageRoot() ?? '.';

/** A model to try. */
export interface Model {
  readonly name: string;
  /** Targets it exists for; absent: all. */
  readonly targets?: readonly string[];
  /** MLIR text for a target, the name of a model in onnx_models.py, or a file (.mlir or .onnx). */
  readonly source:
    | { readonly mlir: (target: string) => string }
    | { readonly onnx: string }
    | { readonly file: string };
  /** Keep IREE's linking: several kernels in one executable. */
  readonly link?: boolean;
  /** Weights in a parameter archive. */
  readonly outside?: boolean;
  /** Kernels that no function runs without further inputs: they stay as they are. */
  readonly unedited?: RegExp;
  /** Flags for iree-compile. */
  readonly flags?: readonly string[];
  /** Arguments of `hijack run`, as shapes that are known only at run time need. */
  readonly run?: (target: string) => readonly string[];
}

const example = (name: string) => () => readFileSync(join(root, 'examples', `${name}.mlir`), 'utf8');

function matmul(type: string, sum: string, m: string, n: string, k: string): string {
  const [a, b, c] = [`tensor<${m}x${k}x${type}>`, `tensor<${k}x${n}x${type}>`, `tensor<${m}x${n}x${sum}>`];
  return `func.func @matmul(%a: ${a}, %b: ${b}, %c: ${c}) -> ${c} {
  %0 = linalg.matmul ins(%a, %b : ${a}, ${b}) outs(%c : ${c}) -> ${c}
  return %0 : ${c}
}
`;
}

/** The 8-bit float that the target's matrix instructions take. */
const fp8 = (target: string): string => (target === 'gfx950' ? 'f8E4M3FN' : 'f8E4M3FNUZ');
const WITH_FP8 = ['gfx942', 'gfx950'];

interface MatmulType {
  readonly name: string;
  readonly type: (target: string) => string;
  readonly sum: string;
  readonly targets?: readonly string[];
}

const MATMUL_TYPES: readonly MatmulType[] = [
  { name: 'f16', type: () => 'f16', sum: 'f32' },
  { name: 'bf16', type: () => 'bf16', sum: 'f32' },
  { name: 'i8', type: () => 'i8', sum: 'i32' },
  { name: 'fp8', type: fp8, sum: 'f32', targets: WITH_FP8 },
];

const matmuls: readonly Model[] = MATMUL_TYPES.flatMap(({ name, type, sum, targets }): Model[] => [
  {
    name: `matmul-${name}`,
    source: { mlir: (target) => matmul(type(target), sum, '64', '96', '128') },
    ...(targets === undefined ? {} : { targets }),
  },
  {
    name: `matmul-${name}-dynamic`,
    source: { mlir: (target) => matmul(type(target), sum, '?', '?', '?') },
    run: (target) => [
      '--input',
      `48x64x${type(target)}`,
      '--input',
      `64x80x${type(target)}`,
      '--input',
      `48x80x${sum}`,
    ],
    ...(targets === undefined ? {} : { targets }),
  },
]);

const LAYER_NORM = `func.func @layer_norm(%x: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 128.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %rows = tensor.empty() : tensor<16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x128xf32>) outs(%start : tensor<16xf32>) {
    ^bb0(%a: f32, %s: f32):
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
  } -> tensor<16xf32>
  %square = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<16x128xf32>, tensor<16xf32>) outs(%start : tensor<16xf32>) {
    ^bb0(%a: f32, %s: f32, %q: f32):
      %mean = arith.divf %s, %width : f32
      %d = arith.subf %a, %mean : f32
      %d2 = arith.mulf %d, %d : f32
      %t = arith.addf %d2, %q : f32
      linalg.yield %t : f32
  } -> tensor<16xf32>
  %empty = tensor.empty() : tensor<16x128xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>,
        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %square : tensor<16x128xf32>, tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<16x128xf32>) {
    ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
      %mean = arith.divf %s, %width : f32
      %variance = arith.divf %q, %width : f32
      %safe = arith.addf %variance, %tiny : f32
      %r = math.rsqrt %safe : f32
      %d = arith.subf %a, %mean : f32
      %t = arith.mulf %d, %r : f32
      linalg.yield %t : f32
  } -> tensor<16x128xf32>
  return %y : tensor<16x128xf32>
}
`;

const SEVERAL = `func.func @scale(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func @mix(%x: tensor<4x8xf32>, %n: i32) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %e = tensor.empty() : tensor<4x8xi32>
  %v = linalg.fill ins(%n : i32) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %f = arith.sitofp %v : tensor<4x8xi32> to tensor<4x8xf32>
  %y = arith.mulf %x, %f : tensor<4x8xf32>
  %z = arith.addi %v, %v : tensor<4x8xi32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xi32>
}
func.func @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.absf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
`;

/** A model of the folder mlir/. */
const file = (name: string): Pick<Model, 'name' | 'source'> => ({
  name,
  source: { file: join(root, 'tests', 'models', 'mlir', `${name}.mlir`) },
});

export const MODELS: readonly Model[] = [
  ...matmuls,
  { name: 'conv2d', source: { mlir: example('conv2d') } },
  { name: 'attention', source: { mlir: example('attention') } },
  { name: 'softmax', source: { mlir: example('softmax') } },
  { name: 'layer-norm', source: { mlir: () => LAYER_NORM } },
  { name: 'several-functions', source: { mlir: () => SEVERAL }, unedited: /^open_/ },
  { name: 'multi-head', source: { onnx: 'multi_head' } },
  { name: 'conv-net', source: { onnx: 'conv_net' }, link: true },
  { name: 'llama', source: { onnx: 'llama' }, link: true },
  { name: 'parameters-outside', source: { onnx: 'outside' }, outside: true },
  file('matmul-f64'),
  file('i4-dequant'),
  file('reduce-odd'),
  file('scan'),
  file('fft'),
  file('complex'),
  file('bools'),
  file('pool-group'),
  file('loop'),
  file('no-outputs'),
  file('odd-names'),
  { ...file('dynamic-tuple'), run: () => ['--input', '5x8xf32', '--input', '3x7xf32', '--input', '13'] },
  // Without the flag LLVM gives its loads offsets below zero, which the range check of buffers does not let through: nothing is sorted.
  { ...file('sort'), flags: ['--disable-lsr'] },
  { name: 'transposed-conv', source: { onnx: 'transposed_conv' } },
  { name: 'group-conv', source: { onnx: 'group_conv' } },
  { name: 'top-k', source: { onnx: 'top_k' } },
  { name: 'embedding', source: { onnx: 'embedding' } },
  { name: 'lstm', source: { onnx: 'lstm' } },
  { name: 'quantized', source: { onnx: 'quantized' } },
  { name: 'non-zero', source: { onnx: 'non_zero' } },
  { name: 'dynamic-batch', source: { onnx: 'dynamic_batch' }, run: () => ['--input', '5x32xf32'] },
];

export const TARGETS: readonly string[] = ['gfx90a', 'gfx942', 'gfx950'];
