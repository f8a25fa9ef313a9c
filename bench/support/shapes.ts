// The kernels of bench/shapes.c, bench/shared-shapes.c, bench/lds-shapes.c and Triton's, at sizes at which a dispatch takes some milliseconds.
import { join } from 'node:path';
import { compileExample, hasLlvm } from '../../tests/support/build.ts';
import {
  buffer,
  type Recipe,
  root,
  type StrictSubject,
  subject,
  tritonSubjects,
  u32,
  zeros,
} from '../../tests/support/strict-kernels.ts';

type Shape = Omit<Recipe, 'kernel'>;

const linear = (groups: number, size: number, args: Recipe['args']): Shape => ({
  grid: [groups, 1, 1],
  block: [size, 1, 1],
  args,
});

/** By kernel of bench/shapes.c. */
const SHAPES: Readonly<Record<string, Shape>> = {
  histogram: linear(16, 256, [buffer(1024), buffer(4 * 16 * 256 * 32), u32(32)]),
  softmax: linear(32, 256, [buffer(4 * 32 * 2000), buffer(4 * 32 * 2000), u32(2000)]),
  transpose: linear(256, 256, [buffer(4 * 512 * 512), buffer(4 * 512 * 512), u32(512)]),
  scatter: linear(64, 64, [buffer(4 * 65536), buffer(4 * 65536), u32(16), u32(65536)]),
  rows: linear(128, 64, [buffer(4 * 8192), buffer(4 * 65536), buffer(4 * 65536), u32(65536)]),
  sort: linear(16, 256, [buffer(4 * 16 * 512)]),
  product: linear(64, 256, [buffer(4 * 128 * 128), buffer(4 * 128 * 128), buffer(4 * 128 * 128), u32(128)]),
  collatz: linear(16, 1024, [buffer(4 * 16 * 1024), u32(300)]),
  scalars: linear(64, 64, [buffer(4 * 64 * 64), buffer(4096), u32(2000)]),
  bytes: linear(64, 256, [buffer(64 * 256 * 8), buffer(64 * 256 * 8 + 4), u32(8)]),
  scratch: linear(16, 64, [buffer(4 * 16 * 64), buffer(4 * 16 * 64 * 16), u32(40)]),
  gather: linear(64, 256, [buffer(4 * 64 * 256), buffer(4 * 65536), u32(64), u32(65536)]),
  gather_wide: linear(64, 256, [buffer(4 * 64 * 256), buffer(16 * 16384), u32(32), u32(16384)]),
  lookup: linear(64, 256, [buffer(64 * 256 * 16), buffer(64 * 256 * 16), buffer(256), u32(16)]),
  members: linear(64, 256, [buffer(12 * 64 * 256 * 4), buffer(12 * 64 * 256 * 4), u32(4)]),
  scatter_bytes: linear(64, 256, [buffer(65536 * 2), buffer(65536 * 2), u32(8), u32(65536 * 2)]),
  in_place: linear(64, 256, [buffer(4 * 65536 * 2), u32(8), u32(65536 * 2)]),
  bins: linear(64, 256, [buffer(4 * 4096), buffer(4 * 65536 * 2), u32(8)]),
  lds_gather: linear(32, 256, [buffer(4 * 32 * 256), buffer(8192), u32(128)]),
  lds_places: linear(32, 256, [buffer(4 * 32 * 256), buffer(65536), u32(64)]),
  places: linear(32, 256, [buffer(4 * 32 * 256), buffer(4 * 4096), u32(16)]),
  swaps: linear(32, 256, [buffer(4 * 4096), u32(8)]),
  queue: linear(16, 256, [buffer(4 * 16 * 256), buffer(65536), buffer(4), u32(32)]),
  own_counters: linear(32, 256, [buffer(4 * 32 * 256), buffer(65536), u32(16)]),
  wave_counters: linear(32, 256, [buffer(4 * 32 * 256), u32(64)]),
  odd_even: linear(16, 256, [buffer(4 * 16 * 512), buffer(2048), u32(64)]),
  sort_wide: linear(16, 256, [buffer(8 * 16 * 512), buffer(2048)]),
  lds_shorts: linear(32, 256, [buffer(4 * 32 * 256), buffer(2048), u32(128)]),
  generic: linear(32, 256, [buffer(4 * 32 * 256), buffer(4 * 32 * 256), u32(32), u32(32 * 256)]),
  items: linear(32, 256, [buffer(4 * 32 * 256), buffer(4 * 32 * 256), u32(16), u32(32 * 256)]),
  mixed: linear(32, 256, [buffer(4 * 32 * 256), buffer(4 * 32 * 256), u32(32)]),
  recursion: linear(16, 256, [buffer(4 * 16 * 256), buffer(4 * 16 * 256), u32(7)]),
  pixels: linear(16, 256, [buffer(3 * 4096), buffer(4096), u32(32), u32(4096)]),
  one_sum: linear(32, 256, [buffer(4 * 32 * 256), zeros(4), buffer(65536), u32(16), u32(16384)]),
  some: linear(32, 256, [buffer(4 * 32768), buffer(65536), u32(16), u32(16384)]),
  indexed: linear(32, 256, [buffer(4 * 32768), buffer(65536), u32(256), u32(16384)]),
  heat: linear(16, 256, [buffer(4 * 65536), buffer(4 * 65536), zeros(4), u32(16), u32(16), u32(65536)]),
};

/** By kernel of bench/shared-shapes.c. */
const SHARED_SHAPES: Readonly<Record<string, Shape>> = {
  insert: linear(16, 256, [zeros(4 * 4096), buffer(4 * 4096), u32(8), u32(4096)]),
  'insert into a full table': linear(16, 256, [buffer(4 * 4096), buffer(4 * 4096), u32(8), u32(4096)]),
  unite: linear(16, 256, [zeros(4 * 4096), buffer(4 * 4096), u32(8), u32(4096)]),
  split_k: linear(16, 256, [buffer(4 * 4096), buffer(4 * 1024), zeros(4 * 256), buffer(4 * 4096), u32(32), u32(4096)]),
  ring: linear(16, 256, [buffer(4 * 2048), buffer(4 * 2048), zeros(4 * 512), buffer(4 * 512), u32(8)]),
  locks: linear(16, 256, [zeros(4 * 1024), buffer(4 * 64), u32(32)]),
  levels: linear(16, 256, [zeros(4 * 3 * 8192), buffer(4 * 4096), zeros(4 * 128), buffer(4 * 4096), u32(4096)]),
  means: linear(16, 256, [zeros(4 * 192), buffer(4 * 4096), zeros(4), buffer(4 * 4096), u32(4096)]),
  halves: linear(16, 256, [buffer(2 * 65536), buffer(2 * 65536), u32(16), u32(65536)]),
  marks: linear(16, 256, [zeros(4096), zeros(4 * 4096), zeros(4), buffer(4 * 4096), u32(16), u32(4096)]),
  records: linear(16, 256, [buffer(8 * 8192), buffer(8 * 8192), u32(8), u32(8192)]),
  smooth: linear(304, 256, [buffer(4 * 77824), buffer(4 * 77824), zeros(4)]),
  smooth_by_flag: linear(304, 256, [buffer(4 * 77824), buffer(4 * 77824), zeros(4), zeros(4)]),
  hand_on: linear(16, 256, [buffer(4 * 4096), zeros(4 * 512), u32(8)]),
};

/** By kernel of bench/lds-shapes.c. */
const inLds = (...more: Recipe['args']): Shape =>
  linear(16, 256, [buffer(4 * 32768), ...more, buffer(4 * 4096), u32(16), u32(4096)]);
const LDS_SHAPES: Readonly<Record<string, Shape>> = {
  counting_sort: inLds(),
  frontier: inLds(zeros(4)),
  lds_ring: inLds(),
  lds_arrivals: inLds(),
  lds_table: inLds(),
  lds_lock: inLds(),
  lds_largest: inLds(),
  lds_marks: inLds(),
  columns: inLds(),
};

/** Those that are also timed with their buffers in one allocation, as IREE and PyTorch have them. */
const POOLED = ['scatter', 'rows', 'gather', 'gather_wide', 'lookup', 'members', 'in_place'] as const;

/** Those that are also timed without optimisation: their variables are in scratch, and are reached by flat addresses. */
const UNOPTIMIZED = [
  'softmax',
  'transpose',
  'sort',
  'bins',
  'lds_places',
  'swaps',
  'odd_even',
  'generic',
  'items',
  'recursion',
] as const;

/** Those that are also timed on gfx90a, where buffers reach scratch, and plain stores may be flags. */
const ON_GFX90A = ['items', 'heat'] as const;

function ownShapes(): StrictSubject[] {
  if (!hasLlvm()) return [];
  const file = join(root(), 'bench', 'shapes.c');
  const codeObject = compileExample(file, 'gfx942', 2);
  const all = Object.entries(SHAPES).map(([kernel, shape]) =>
    subject(kernel, 'gfx942', codeObject, { kernel, ...shape }),
  );
  const pooled = POOLED.map((kernel) =>
    subject(`${kernel} in a pool`, 'gfx942', codeObject, { kernel, ...(SHAPES[kernel] as Shape), isPooled: true }),
  );
  const builds = [
    ...UNOPTIMIZED.map((kernel) => [kernel, 'gfx942', 0] as const),
    ...ON_GFX90A.map((kernel) => [kernel, 'gfx90a', 2] as const),
  ];
  const sharedFile = join(root(), 'bench', 'shared-shapes.c');
  const sharedObject = compileExample(sharedFile, 'gfx942', 2);
  const shared = Object.entries(SHARED_SHAPES).map(([name, shape]) =>
    subject(name, 'gfx942', sharedObject, { kernel: name.split(' ')[0] as string, ...shape }),
  );
  const ldsObject = compileExample(join(root(), 'bench', 'lds-shapes.c'), 'gfx942', 2);
  const lds = Object.entries(LDS_SHAPES).map(([kernel, shape]) =>
    subject(kernel, 'gfx942', ldsObject, { kernel, ...shape }),
  );
  const others = builds.map(([kernel, target, level]) =>
    subject(`${kernel} ${target} -O${level}`, target, compileExample(file, target, level), {
      kernel,
      ...(SHAPES[kernel] as Shape),
    }),
  );
  return [...all, ...shared, ...lds, ...pooled, ...others];
}

/** Strides of square matrices are their size; `a` and `c` are bytes an element. */
const matmul =
  (size: number, a: number, c: number) =>
  (block: Recipe['block']): Shape => ({
    grid: [size / 64, size / 64, 1],
    block,
    args: [
      buffer(size * size * a),
      buffer(size * size * a),
      buffer(size * size * c),
      ...Array.from({ length: 6 }, () => u32(size)),
    ],
  });

const TRITON = {
  add_f32: (block: Recipe['block']): Shape => ({
    grid: [200, 1, 1],
    block,
    args: [buffer(819_200), buffer(819_200), buffer(819_200), u32(204_800)],
  }),
  softmax_f32: (block: Recipe['block']): Shape => ({
    grid: [64, 1, 1],
    block,
    args: [buffer(256_000), buffer(256_000), u32(1000), u32(1000), u32(1000)],
  }),
  matmul_fp16: matmul(256, 2, 4),
  matmul_fp8: matmul(256, 1, 4),
  matmul_fp32: matmul(128, 4, 4),
  attn_fwd: (block: Recipe['block']): Shape => ({
    grid: [8, 1, 1],
    block,
    args: [
      ...Array.from({ length: 4 }, () => buffer(512 * 64 * 2)),
      { value: new Uint8Array(Float32Array.of(0.125).buffer) },
      ...[64, 64, 64, 64, 512].map(u32),
    ],
  }),
};

/** Of all shapes. */
export const shapeSubjects = (): StrictSubject[] => [
  ...ownShapes(),
  ...tritonSubjects(TRITON).filter(({ target }) => target === 'gfx942'),
];
