// Correct compiled kernels with what they need to run, for the proofs of strict mode: it has nothing to say about them, and finds
// their waits when they are weakened. clang-22 compiles examples/*.c and tests/sim/strict.c; Triton's are in the reference corpus.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { assembleAndLink } from '../../src/asm/index.ts';
import type {
  ArgumentValue,
  Dim3,
  SimDevice,
  SimDispatchRequest,
  SimDispatchResult,
  StrictOptions,
} from '../../src/device/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { compileExample, hasLlvm } from './build.ts';

/** A kernel that can be run. */
export interface StrictSubject {
  readonly name: string;
  readonly target: TargetName;
  readonly kernel: string;
  readonly codeObject: Uint8Array;
  /** Loads a code object and makes its arguments: a request that can be dispatched again and again. */
  readonly prepare: (device: SimDevice, codeObject: Uint8Array) => SimDispatchRequest;
  /** Runs the kernel of a code object that differs from `codeObject` in some waits at most. */
  readonly run: (
    device: SimDevice,
    codeObject: Uint8Array,
    strict: StrictOptions | undefined,
    more?: Partial<SimDispatchRequest>,
  ) => Promise<SimDispatchResult>;
}

/** An argument: bytes of a buffer (filled with small numbers), or a scalar. */
type Argument = { readonly bytes: number; readonly fill?: (i: number) => number } | { readonly value: Uint8Array };

/** What a kernel needs to run. */
export interface Recipe {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly args: readonly Argument[];
  readonly dynamicLds?: number;
  /** Buffers are parts of one allocation, of which nothing writes the end. */
  readonly isPooled?: boolean;
}

export const u32 = (value: number): Argument => ({ value: new Uint8Array(Uint32Array.of(value).buffer) });
const f32 = (value: number): Argument => ({ value: new Uint8Array(Float32Array.of(value).buffer) });
export const buffer = (bytes: number): Argument => ({ bytes });

export const zeros = (bytes: number): Argument => ({ bytes, fill: () => 0 });

const CLANG: Readonly<Record<string, Recipe & { readonly file: string }>> = {
  saxpy: {
    file: 'examples/saxpy.c',
    kernel: 'saxpy',
    grid: [2, 1, 1],
    block: [256, 1, 1],
    args: [buffer(2000), buffer(2000), f32(2.5), u32(500)],
  },
  reduction: {
    file: 'examples/reduction.c',
    kernel: 'reduce',
    grid: [4, 1, 1],
    block: [256, 1, 1],
    args: [buffer(4), buffer(8000), u32(2000)],
  },
  transpose: {
    file: 'examples/transpose.c',
    kernel: 'transpose',
    grid: [3, 3, 1],
    block: [16, 16, 1],
    args: [buffer(40 * 37 * 4), buffer(40 * 37 * 4), u32(40), u32(37)],
  },
  histogram: {
    file: 'examples/histogram.c',
    kernel: 'histogram',
    grid: [4, 1, 1],
    block: [256, 1, 1],
    args: [buffer(1024), buffer(3000), u32(3000)],
  },
  gather: {
    file: 'tests/sim/strict.c',
    kernel: 'gather',
    grid: [2, 1, 1],
    block: [128, 1, 1],
    args: [buffer(1000), buffer(1000), buffer(1000), u32(250)],
  },
  scan: {
    file: 'tests/sim/strict.c',
    kernel: 'scan',
    grid: [2, 1, 1],
    block: [256, 1, 1],
    args: [buffer(2048), buffer(2048)],
  },
  permute: {
    file: 'tests/sim/strict.c',
    kernel: 'permute',
    grid: [1, 1, 1],
    block: [64, 1, 1],
    args: [buffer(256), buffer(4096)],
  },
  generic: {
    file: 'tests/sim/strict.c',
    kernel: 'generic',
    grid: [1, 1, 1],
    block: [64, 1, 1],
    args: [buffer(256), buffer(256)],
  },
  stencil: {
    file: 'tests/sim/strict.c',
    kernel: 'stencil',
    grid: [2, 1, 1],
    block: [64, 1, 1],
    args: [buffer(512), buffer(512), u32(128)],
  },
  mixed: {
    file: 'tests/sim/strict.c',
    kernel: 'mixed',
    grid: [1, 1, 1],
    block: [64, 1, 1],
    args: [buffer(256), buffer(8 * 128), buffer(512), u32(128)],
  },
  uniform: {
    file: 'tests/sim/strict.c',
    kernel: 'uniform',
    grid: [1, 1, 1],
    block: [64, 1, 1],
    args: [buffer(512), buffer(64), u32(16)],
  },
};

/** Files of kernels that are put in order by more than barriers, and their builds. Polling of LDS is seen in optimized code only. */
const ORDERED_BUILDS: readonly (readonly [file: string, target: TargetName, level: number])[] = [
  ['orders.c', 'gfx90a', 2],
  ['orders.c', 'gfx942', 0],
  ['orders.c', 'gfx950', 2],
  ['lds-orders.c', 'gfx90a', 1],
  ['lds-orders.c', 'gfx942', 2],
];

/** Locks, semaphores, queues, barriers of the grid, last workgroups, mailboxes. */
export function orderedSubjects(): StrictSubject[] {
  if (!hasLlvm()) return [];
  return ORDERED_BUILDS.flatMap(([name, target, level]) => {
    const file = join(root(), 'tests', 'sim', name);
    const kernels = [...readFileSync(file, 'utf8').matchAll(/^KERNEL void (\w+)/gm)].map(([, kernel = '']) => kernel);
    const codeObject = compileExample(file, target, level);
    return kernels.map((kernel) =>
      subject(`${kernel} ${target} -O${level}`, target, codeObject, {
        kernel,
        grid: [4, 1, 1],
        block: [256, 1, 1],
        args: [zeros(8192), zeros(4096)],
      }),
    );
  });
}

/** C kernels that wait for each other without barriers. */
const WAITING: typeof CLANG = {
  handover: {
    file: 'tests/sim/waiting.c',
    kernel: 'handover',
    grid: [2, 1, 1],
    block: [128, 1, 1],
    args: [buffer(512), buffer(512), zeros(4)],
  },
  grid: {
    file: 'tests/sim/waiting.c',
    kernel: 'grid',
    grid: [4, 1, 1],
    block: [128, 1, 1],
    args: [buffer(2048), buffer(2048), zeros(4), u32(4)],
  },
  locked: {
    file: 'tests/sim/waiting.c',
    kernel: 'locked',
    grid: [4, 1, 1],
    block: [64, 1, 1],
    args: [zeros(8), zeros(4)],
  },
  ring: {
    file: 'tests/sim/waiting.c',
    kernel: 'ring',
    grid: [1, 1, 1],
    block: [128, 1, 1],
    args: [buffer(256), buffer(1536)],
  },
  look_back: {
    file: 'tests/sim/waiting.c',
    kernel: 'look_back',
    grid: [5, 1, 1],
    block: [64, 1, 1],
    args: [buffer(1280), buffer(1280), zeros(40), zeros(4)],
  },
  parts: {
    file: 'tests/sim/waiting.c',
    kernel: 'parts',
    grid: [4, 1, 1],
    block: [128, 1, 1],
    args: [buffer(512), buffer(2048), zeros(4), u32(4)],
  },
  slots: {
    file: 'tests/sim/waiting.c',
    kernel: 'slots',
    grid: [5, 1, 1],
    block: [64, 1, 1],
    args: [buffer(1280), zeros(8), buffer(512)],
  },
  locked_flat: {
    file: 'tests/sim/waiting.c',
    kernel: 'locked_flat',
    grid: [4, 1, 1],
    block: [64, 1, 1],
    args: [zeros(8), zeros(4), u32(1)],
  },
};

/** Which builds of them are run. */
const WAITING_BUILDS: typeof BUILDS = [
  ['handover', 'gfx90a', 1],
  ['handover', 'gfx942', 3],
  ['grid', 'gfx90a', 2],
  ['grid', 'gfx950', 1],
  ['locked', 'gfx90a', 1],
  ['locked', 'gfx942', 2],
  ['ring', 'gfx90a', 3],
  ['ring', 'gfx942', 1],
  ['look_back', 'gfx90a', 2],
  ['look_back', 'gfx942', 2],
  ['parts', 'gfx90a', 2],
  ['parts', 'gfx950', 2],
  ['slots', 'gfx90a', 2],
  ['slots', 'gfx942', 2],
  ['locked_flat', 'gfx90a', 2],
  ['locked_flat', 'gfx90a', 0],
  ['locked_flat', 'gfx942', 2],
];

/** Which builds of the C kernels are run: optimised ones differ most in their waits. */
const BUILDS: readonly (readonly [string, TargetName, number])[] = [
  ['saxpy', 'gfx90a', 1],
  ['reduction', 'gfx942', 3],
  ['reduction', 'gfx90a', 1],
  ['transpose', 'gfx950', 2],
  ['transpose', 'gfx942', 0],
  ['histogram', 'gfx942', 3],
  ['histogram', 'gfx90a', 1],
  ['gather', 'gfx942', 2],
  ['scan', 'gfx950', 2],
  ['permute', 'gfx942', 2],
  ['permute', 'gfx90a', 1],
  ['generic', 'gfx942', 1],
  ['stencil', 'gfx90a', 2],
  ['mixed', 'gfx942', 3],
  ['uniform', 'gfx950', 2],
];

/** The hand-written kernels of tests/fixtures/hand-written: their arguments are preloaded, their lanes part and meet. */
const HAND_WRITTEN: Readonly<Record<string, number>> = { ranges: 64, steps: 64, tree: 128, counts: 64, compact: 64 };

/** These kernels for the targets that preload arguments. */
export const ownSubjects = (): StrictSubject[] =>
  Object.entries(HAND_WRITTEN).flatMap(([kernel, block]) => {
    const text = readFileSync(join(root(), 'tests', 'fixtures', 'hand-written', `${kernel}.s`), 'utf8');
    return (['gfx942', 'gfx950'] as const).map((target) =>
      subject(`${kernel}.s ${target}`, target, assembleAndLink(text.replaceAll('gfx942', target)), {
        kernel,
        grid: [3, 1, 1],
        block: [block, 1, 1],
        args: [buffer(4 * block * 3), buffer(4 * block * 3), u32(3 * block - 7), u32(9)],
      }),
    );
  });

/** Every C kernel for every target at every level. */
export const EVERY_BUILD: typeof BUILDS = Object.keys(CLANG).flatMap((name) =>
  (['gfx90a', 'gfx942', 'gfx950'] as const).flatMap((target) =>
    [0, 1, 2, 3].map((level) => [name, target, level] as const),
  ),
);

const matmul = (a: number, b: number, block: Dim3): Omit<Recipe, 'kernel' | 'dynamicLds'> => ({
  grid: [1, 1, 1],
  block,
  args: [
    buffer(64 * 256 * a),
    buffer(256 * 64 * a),
    buffer(64 * 64 * b),
    u32(64),
    u32(64),
    u32(256),
    u32(256),
    u32(64),
    u32(64),
  ],
});

/** Recipes of Triton's kernels by the start of their file names. */
type TritonRecipes = Readonly<Record<string, (block: Dim3) => Omit<Recipe, 'kernel' | 'dynamicLds'>>>;

/** Sizes as small as the kernels allow. */
const TRITON: TritonRecipes = {
  add_f32: (block) => ({ grid: [2, 1, 1], block, args: [buffer(8000), buffer(8000), buffer(8000), u32(2000)] }),
  softmax_f32: (block) => ({
    grid: [2, 1, 1],
    block,
    args: [buffer(8000), buffer(8000), u32(1000), u32(1000), u32(1000)],
  }),
  rmsnorm_bf16: (block) => ({
    grid: [1, 1, 1],
    block,
    args: [buffer(8192), buffer(8192), buffer(8192), u32(4096), u32(4096), f32(1e-5)],
  }),
  matmul_fp16: (block) => matmul(2, 4, block),
  matmul_bf16: (block) => matmul(2, 4, block),
  matmul_fp8: (block) => matmul(1, 4, block),
  matmul_fp32: (block) => matmul(4, 4, block),
  attn_fwd: (block) => ({
    grid: [1, 1, 1],
    block,
    args: [
      buffer(16384),
      buffer(16384),
      buffer(16384),
      buffer(16384),
      f32(0.125),
      u32(64),
      u32(64),
      u32(64),
      u32(64),
      u32(128),
    ],
  }),
};

/** The Triton kernels of the reference data beside the checkout, those with a recipe; none when it is absent. */
export function tritonSubjects(recipes: TritonRecipes = TRITON): StrictSubject[] {
  const folder = join(root(), '..', 'shared', 'corpus', 'triton');
  if (!existsSync(folder)) return [];
  const keyOf = (name: string): string | undefined => Object.keys(recipes).find((start) => name.startsWith(start));
  const files = TRITON_FILES.filter((name) => keyOf(name) !== undefined && existsSync(join(folder, `${name}.hsaco`)));
  return files.map((name) => {
    const meta = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as {
      kernel: string;
      shared: number;
      num_warps: number;
      sig: Record<string, string>;
    };
    const recipe = (recipes[keyOf(name) as string] as (block: Dim3) => Recipe)([64 * meta.num_warps, 1, 1]);
    const order = Object.keys(meta.sig).filter((argument) => meta.sig[argument] !== 'constexpr');
    if (order.length !== recipe.args.length)
      throw new Error(`${name} takes ${order.length} arguments: ${order.join(', ')}`);
    const codeObject = readFileSync(join(folder, `${name}.hsaco`));
    const target = name.split('.').pop() as TargetName;
    return subject(`triton ${name}`, target, codeObject, { ...recipe, kernel: meta.kernel, dynamicLds: meta.shared });
  });
}

const TRITON_FILES = [
  'add_f32.gfx90a',
  'add_f32.gfx950',
  'softmax_f32.gfx942',
  'rmsnorm_bf16.gfx90a',
  'rmsnorm_bf16.gfx950',
  'matmul_fp16_64x64x32.gfx90a',
  'matmul_fp16_64x64x32.gfx950',
  'matmul_bf16_64x64x32.gfx90a',
  'matmul_bf16_64x64x32.gfx950',
  'matmul_fp16_64x64x128_mfma16x16.gfx942',
  'matmul_fp8_64x64x128.gfx942',
  'matmul_fp8_64x64x128_mfma16x16.gfx942',
  'matmul_fp32_64x64x32.gfx942',
  'attn_fwd_fp16.gfx942',
];

/** The checkout: scripts/run-ts.mjs bundles scripts elsewhere, but keeps their path in argv; tests know their folder. */
export function root(): string {
  for (const start of [process.cwd(), dirname(dirname(resolve(process.argv[1] ?? '.')))]) {
    if (existsSync(join(start, 'examples', 'kernel.h'))) return start;
  }
  throw new Error('the examples folder is not found; run from the checkout');
}

/** What a compiled kernel is called. */
export const buildName = ([name, target, level]: (typeof BUILDS)[number]): string => `${name} ${target} -O${level}`;

/** The C kernels, compiled. */
export function clangSubjects(builds = BUILDS): StrictSubject[] {
  if (!hasLlvm()) return [];
  return builds.map(([name, target, level]) => {
    const recipe = { ...CLANG, ...WAITING }[name] as (typeof CLANG)[string];
    const codeObject = compileExample(join(root(), recipe.file), target, level);
    return subject(buildName([name, target, level]), target, codeObject, recipe);
  });
}

/** C kernels that wait for each other without barriers: flags, a barrier of the grid, a lock, a ring in LDS. */
export const waitingSubjects = (): StrictSubject[] => clangSubjects(WAITING_BUILDS);

/** The kernels of the mutation bench. */
export function strictSubjects(): StrictSubject[] {
  return [...clangSubjects(), ...tritonSubjects()];
}

/** A code object and what its kernel needs. */
export function subject(name: string, target: TargetName, codeObject: Uint8Array, recipe: Recipe): StrictSubject {
  const { kernel: kernelName, grid, block, dynamicLds } = recipe;
  const prepare: StrictSubject['prepare'] = (device, bytes) => {
    const kernel = device.load(bytes).kernel(kernelName);
    const sizes = recipe.args.map((argument) => ('bytes' in argument ? Math.ceil(argument.bytes / 256) * 256 : 0));
    const pool = recipe.isPooled
      ? device.alloc(
          sizes.reduce((sum, size) => sum + size, 4096),
          'pool',
        )
      : undefined;
    let next = 0;
    const args = recipe.args.map((argument, n): ArgumentValue => {
      if ('value' in argument) return argument.value;
      const made = pool ?? device.alloc(argument.bytes, `argument ${n}`);
      const data = Uint8Array.from({ length: argument.bytes }, (_, i) => argument.fill?.(i) ?? (i * 7 + n) % 53);
      device.write(made, data, next);
      if (pool === undefined) return made;
      const address = BigUint64Array.of(BigInt(pool.address + next));
      next += sizes[n] as number;
      return new Uint8Array(address.buffer);
    });
    // Triton appends pointers to its own global scratch.
    const wanted = kernel.arguments.filter(
      (a) => !a.valueKind.startsWith('hidden_') && a.valueKind !== 'dynamic_shared_pointer',
    );
    while (args.length < wanted.length) args.push(device.alloc(64, 'Triton scratch'));
    return { kernel, grid, block, args, dynamicLds };
  };
  const run: StrictSubject['run'] = (device, bytes, strict, more) =>
    device.dispatch({ ...prepare(device, bytes), ...more, strict });
  return { name, target, kernel: kernelName, codeObject, prepare, run };
}
