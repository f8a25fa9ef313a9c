// Inputs that the proposer never sees, made from a capture: other data in the buffers that the kernel reads, other scalars, other shapes,
// other addresses. The baseline says on each what is right; an input on which it fails by itself is dropped.
import { bitsFromF16, bitsFromF32 } from '../../base/elements/formats.ts';
import { randomNumbers } from '../../base/index.ts';
import { readCodeObject } from '../../codeobject/index.ts';
import type { DispatchRequest } from '../../device/index.ts';
import type { Capture, Chunk } from '../../snapshot/index.ts';
import { growingBytes, grownCapture, MOST_GROWN } from './grown.ts';
import { argumentEdit, launchWith, scalarWords, withItems } from './launches.ts';
import { movedCapture } from './moved.ts';
import { LONG } from './part.ts';
import { FIXED, type MemoryEdit } from './place.ts';
import { DENORMALS, EDGES, isPlausibleFloat, kindOfWords, pair, type WordKind, wordText } from './words.ts';

/** A launch that is like the captured one but for what is said here. */
export interface Input {
  readonly name: string;
  readonly capture: Capture;
  readonly edits: readonly MemoryEdit[];
  readonly request: Partial<Pick<DispatchRequest, 'grid' | 'gridWorkItems'>>;
  /** Run in strict mode too. */
  readonly isStrict: boolean;
  /** How many times larger than the captured one: a sum may have as many times the terms. */
  readonly growth: number;
  /** Wave instructions that the baseline may take. */
  readonly patience: number;
  /** Taken when the baseline fails on this one. */
  readonly otherwise?: Input | undefined;
}

/** Words of memory that the captured launch reads and that may hold something else: no pointers, no arguments, no code. */
interface DataArea {
  readonly chunk: Chunk;
  /** Offsets of 4-byte words in the chunk. */
  readonly offsets: readonly number[];
  readonly words: Uint32Array;
  readonly kind: WordKind;
}

/** Words of a sparse change that keep their place: what looks for a known input looks there first. */
const SPARSE_SHARE = 1 / 32;
/** Share of words that edge values replace. */
const EDGE_SHARE = 1 / 16;
/** Integers that are drawn where the captured ones are all smaller. */
const LEAST_RANGE = 7;
/** Share of words that zeros replace. */
const ZERO_SHARE = 1 / 8;
const PATIENCE = 8;
/** Wave instructions that any run may take. */
export const LEAST_PATIENCE = 200_000;

/** Where buffers lie otherwise: by how many bytes beside their place in a page, or over a boundary. */
const MOVES: readonly (readonly [string, Parameters<typeof movedCapture>[1]])[] = [
  ['other addresses', { shift: 0 }],
  ['buffers at odd multiples of 16 bytes', { shift: 16 }],
  ['buffers at odd multiples of 4 bytes', { shift: 4 }],
  ['buffers over boundaries of 4 GiB', { overBoundary: true }],
];

/** Workgroups of an input. */
export function workgroupsOf({ capture, request }: Input): number {
  const { gridWorkItems, block } = capture.manifest.dispatch;
  const grid = request.grid ?? gridWorkItems.map((n, d) => Math.ceil(n / (block[d] as number)));
  return grid.reduce((a, b) => a * b, 1);
}

/** The captured launch itself. */
export function capturedInput(capture: Capture): Input {
  return {
    name: 'captured',
    capture,
    edits: [],
    request: {},
    isStrict: true,
    growth: 1,
    patience: Number.POSITIVE_INFINITY,
  };
}

/** Instructions that a run like one of `instructions` may take before it is one without end. */
export const patienceOf = (instructions: number): number => PATIENCE * instructions + LEAST_PATIENCE;

/** All held-out inputs of a capture, the same for the same seed. `instructions`: of the captured launch; `ownsLaunch`: its size is no input. */
export function heldOutInputs(capture: Capture, seed: number, instructions: number, ownsLaunch = false): Input[] {
  const areas = dataAreas(capture);
  const patience = patienceOf(instructions);
  const inputs: Input[] = [];
  const add = (name: string, parts: Partial<Input>): void => {
    inputs.push({ name, capture, edits: [], request: {}, isStrict: false, growth: 1, patience, ...parts });
  };
  for (const [n, [name, how]] of MOVES.entries()) {
    const moved = movedCapture(capture, how);
    if (moved === undefined) continue;
    const plain: Input = { name, isStrict: false, request: {}, growth: 1, patience, ...moved };
    const random = randomNumbers((seed * 7919 + n * 65_537 + 5) >>> 0);
    // Other data, too: where all words are alike nobody sees which one was read.
    const data = dataAreas(moved.capture).flatMap((area) => editOf(area, redrawn(area, random)));
    inputs.push({ ...plain, edits: [...moved.edits, ...data], otherwise: plain });
  }
  for (const [n, [name, change, strict]] of DATA.entries()) {
    const random = randomNumbers((seed * 7919 + n * 104_729 + 17) >>> 0);
    const edits = areas.flatMap((area) => editOf(area, change(area, random)));
    // The timed one is run whole, which is long in strict mode.
    const isStrict = instructions > LONG ? name === SHUFFLED : strict;
    if (edits.length > 0) add(name, { edits, isStrict });
  }
  const random = randomNumbers((seed * 7919 + 31) >>> 0);
  const between = areas.flatMap((area) => editOf(area, ties(area, random)));
  if (between.length > 0) {
    const units = ownsLaunch ? [] : unitArguments(capture);
    add('numbers between two others', { edits: [...between, ...units] });
  }
  // Who chooses the launch chooses it by these.
  if (ownsLaunch) return inputs;
  for (const [name, edits] of scalarChanges(capture)) add(name, { edits, isStrict: /less one|half/.test(name) });
  for (const [name, request, edits] of gridChanges(capture)) add(name, { request, edits });
  for (const [name, parts] of largerLaunches(capture, seed, instructions)) add(name, parts);
  return inputs;
}

/** New words of an area, or undefined to leave it. */
type Change = (area: DataArea, random: () => number) => Uint32Array | undefined;

const below = (random: () => number, n: number): number => Math.floor(random() * n);

const shuffled: Change = ({ words }, random) => {
  const out = words.slice();
  for (let i = out.length - 1; i > 0; i--) {
    const j = below(random, i + 1);
    const kept = out[i] as number;
    out[i] = out[j] as number;
    out[j] = kept;
  }
  return out;
};

/** Words drawn from the area's own, with other low bits and signs where they are floats: indices stay in their range. */
function redrawn({ words, kind }: DataArea, random: () => number): Uint32Array {
  let high = 0;
  for (const word of words) high = Math.max(high, word);
  return words.map(() => {
    const word = words[below(random, words.length)] as number;
    if (kind === 'integer') return below(random, Math.max(high, LEAST_RANGE) + 1);
    if (kind === 'float') return word === 0 ? 0 : word ^ below(random, 4096) ^ (below(random, 2) << 31);
    if (kind === 'halves')
      return word ^ (below(random, 2) << 31) ^ (below(random, 2) << 15) ^ (below(random, 8) | (below(random, 8) << 16));
    return word;
  });
}

/** A few words change and all others stay. */
const sparse: Change = (area, random) => {
  const { words, kind } = area;
  const other = redrawn(area, random);
  const out = words.slice();
  const count = Math.max(1, Math.floor(words.length * SPARSE_SHARE));
  for (let k = 0; k < count; k++) {
    const at = below(random, words.length);
    const flipped = kind === 'float' || kind === 'halves' ? ((words[at] as number) ^ 0x8000_0000) >>> 0 : other[at];
    out[at] = flipped as number;
  }
  return out;
};

/** Edge values among the data. The first word, which indices and sums begin with, is a denormal. */
const edges: Change = ({ words, kind }, random) => {
  const values = EDGES[kind];
  if (values === undefined) return undefined;
  const any = (): number => values[below(random, values.length)] as number;
  return words.map((word, i) => (i === 0 ? DENORMALS[kind] : undefined) ?? (random() < EDGE_SHARE ? any() : word));
};

/** Powers of two by which floats grow: an exponential of one of 8 is past the largest f32 then, and sums of them are not. */
const LARGER = { float: 7, halves: 3 } as const;

/** Floats that are larger, all alike: what takes no care of their size overflows. */
const larger: Change = ({ words, kind }) => {
  if (kind === 'float') return words.map((word) => grownField(word, 23, 0xff, LARGER.float));
  if (kind !== 'halves') return undefined;
  return words.map((word) => grownField(grownField(word, 10, 0x1f, LARGER.halves), 26, 0x1f, LARGER.halves));
};

/** A word with an exponent that is so much greater, where the number is normal and stays so. */
function grownField(word: number, shift: number, mask: number, by: number): number {
  const exponent = (word >>> shift) & mask;
  return exponent === 0 || exponent + by >= mask ? word : (word + by * 2 ** shift) >>> 0;
}

/** Halves of small numbers, and floats in the middle between two neighbours of bf16, of f16: where ways of rounding differ. */
const ties: Change = ({ words, kind }, random) => {
  if (kind === 'halves') return words.map(() => pair(smallHalf(random), smallHalf(random)));
  if (kind !== 'float') return undefined;
  return words.map((word, i) => {
    if (i % 3 === 0) return bitsFromF32((below(random, 33) - 16) / 2) >>> 0;
    return i % 3 === 1 ? ((word & 0xffff_0000) | 0x8000) >>> 0 : ((word & ~0x1fff) | 0x1000) >>> 0;
  });
};

/** A half of a number of four bits, as a 16-bit float. */
const smallHalf = (random: () => number): number => bitsFromF16((below(random, 33) - 16) / 2);

/** Every float argument is one, so that what it is multiplied with stays as it is. */
const unitArguments = (capture: Capture): MemoryEdit[] =>
  scalarWords(capture)
    .filter(({ word }) => isPlausibleFloat(word) && word !== 0)
    .map(({ at }) => argumentEdit(capture, at, bitsFromF32(1) >>> 0));

const zeros: Change = ({ words }, random) => words.map((word) => (random() < ZERO_SHARE ? 0 : word));

const wide: Change = ({ words, kind }, random) =>
  kind === 'float' || kind === 'halves' ? undefined : words.map(() => Math.floor(random() * 2 ** 32));

/** The set of data on which times are taken again. */
export const TIMED_INPUT = 'data redrawn';

const SHUFFLED = 'data shuffled';

const DATA: readonly (readonly [string, Change, boolean])[] = [
  [TIMED_INPUT, redrawn, true],
  [SHUFFLED, shuffled, false],
  ['one word in 32 changed', sparse, false],
  ['one other word in 32 changed', sparse, false],
  ['zeros among the data', zeros, false],
  ['zeros, denormals, infinities and NaNs among the data', edges, false],
  ['other zeros, denormals, infinities and NaNs among the data', edges, false],
  ['larger numbers', larger, false],
  ['all data zero', ({ words }) => new Uint32Array(words.length), false],
  ['integers of all sizes', wide, false],
];

/** Bytes of a chunk that a run reads before it writes them and that hold data. */
export function dataAreas(capture: Capture): DataArea[] {
  const { allocations } = capture.manifest.memory;
  const isAddress = (n: number): boolean => n > 0 && allocations.some((a) => n >= a.address && n < a.address + a.size);
  const areas: DataArea[] = [];
  for (const chunk of capture.chunks) {
    if (FIXED.has(chunk.allocation.kind) || chunk.entry.pre === undefined) continue;
    const pre = chunk.pre() as Uint8Array;
    const reads = chunk.reads() ?? chunk.known();
    const view = new DataView(pre.buffer, pre.byteOffset, pre.length);
    const offsets: number[] = [];
    for (let at = 0; at + 4 <= pre.length; at += 4) {
      if (at % 8 === 0 && at + 8 <= pre.length && isAddress(Number(view.getBigUint64(at, true)))) {
        at += 4;
        continue;
      }
      if (reads === undefined || (reads[at] === 1 && reads[at + 3] === 1)) offsets.push(at);
    }
    if (offsets.length === 0) continue;
    const words = Uint32Array.from(offsets, (at) => view.getUint32(at, true));
    areas.push({ chunk, offsets, words, kind: kindOfWords(words) });
  }
  return areas;
}

/** The whole chunk with new words, as one edit. */
export function editOf({ chunk, offsets }: DataArea, words: Uint32Array | undefined): MemoryEdit[] {
  if (words === undefined) return [];
  const bytes = (chunk.pre() as Uint8Array).slice();
  const view = new DataView(bytes.buffer);
  const runs: MemoryEdit[] = [];
  for (const [i, at] of offsets.entries()) view.setUint32(at, words[i] as number, true);
  // Only the words: what lies between is what the placed capture has there.
  for (let i = 0; i < offsets.length; ) {
    let end = i + 1;
    while (end < offsets.length && offsets[end] === (offsets[end - 1] as number) + 4) end++;
    const from = offsets[i] as number;
    runs.push({ address: chunk.address + from, bytes: bytes.subarray(from, (offsets[end - 1] as number) + 4) });
    i = end;
  }
  return runs;
}

/** NaN, zeros, infinity, a denormal, and a number whose square is infinite. */
const SCALAR_EDGES = [0x7fc0_0000, 0, 0x8000_0000, 0x7f80_0000, 0x0000_1234, 0x7149_f2ca];

function* scalarChanges(capture: Capture): Generator<[string, MemoryEdit[]]> {
  const edit = (at: number, word: number): MemoryEdit[] => [argumentEdit(capture, at, word)];
  for (const { name, at, word } of scalarWords(capture)) {
    if (isPlausibleFloat(word) && word !== 0) {
      for (const other of [(word ^ 0x8000_0000) >>> 0, (word ^ 1) >>> 0, (word ^ 0x0012_3456) >>> 0, ...SCALAR_EDGES]) {
        yield [`argument ${name} is ${wordText(other)}`, edit(at, other)];
      }
      continue;
    }
    if (word > 1) yield [`argument ${name} is less one`, edit(at, word - 1)];
    if (word > 3) yield [`argument ${name} is half`, edit(at, word >>> 1)];
    if (word > 8) yield [`argument ${name} is 7`, edit(at, 7)];
    if (word !== 1) yield [`argument ${name} is 1`, edit(at, 1)];
    if (word !== 0) yield [`argument ${name} is 0`, edit(at, 0)];
    yield [`argument ${name} is one more`, edit(at, (word + 1) >>> 0)];
    // With a sign it is less than nothing, without one more than memory: the launch bounds what is touched then.
    yield [`argument ${name} is -1`, edit(at, 0xffff_ffff)];
  }
}

type GridChange = readonly [string, Input['request'], readonly MemoryEdit[]];

/** Fewer workgroups, and a last workgroup that is not full, with what the kernel can read of that. */
function gridChanges(capture: Capture): GridChange[] {
  const { gridWorkItems, block, kernel: name } = capture.manifest.dispatch;
  // A kernel may be promised that every workgroup is full, as HIP's launches are. Source: AMDGPUUsage, `.uniform_work_group_size`.
  const kernel = readCodeObject(capture.codeObject()).kernels.find((k) => k.name === name);
  const isUniform = kernel?.metadata?.uniformWorkGroupSize === 1;
  const changes: GridChange[] = [];
  gridWorkItems.forEach((n, d) => {
    const size = block[d] as number;
    const groups = Math.ceil(n / size);
    const axis = 'xyz'[d];
    const add = (name: string, items: number): void => {
      const { request, edits } = launchWith(capture, withItems(gridWorkItems, d, items));
      changes.push([name, request, edits]);
    };
    if (groups > 1) add(`half of the workgroups in ${axis}`, Math.floor(groups / 2) * size);
    if (size > 1 && n > 1 && !isUniform)
      add(`a last workgroup in ${axis} that is not full`, n % size === 1 ? n - 2 || 1 : n - 1);
  });
  return changes;
}

/** Wave instructions that one larger launch, and all of them, may take. */
const MOST_LARGER = 500_000;
const ALL_LARGER = 1_500_000;
/** Work-items that a larger launch goes for: indices of 16 bits are too small for it. */
const MANY_ITEMS = 2 ** 17;
const MAX_LARGER = 6;
/** How much more an argument counts that is no size of the grid. */
const LONGER = 4;

/**
 * More workgroups and one argument that counts more with them, or that argument alone, in buffers that are as much larger. Most pairs make no sense
 * to a kernel; it fails on them by itself. `instructions`: of the captured launch.
 */
function* largerLaunches(
  capture: Capture,
  seed: number,
  instructions: number,
): Generator<readonly [string, Partial<Input>]> {
  const { gridWorkItems, block } = capture.manifest.dispatch;
  const bytes = growingBytes(capture);
  const items = gridWorkItems.reduce((a, b) => a * b, 1);
  let factor = 2;
  while (items * factor < MANY_ITEMS && instructions * factor * 2 <= MOST_LARGER && bytes * factor * 2 <= MOST_GROWN)
    factor *= 2;
  const counts = scalarWords(capture).filter(({ word }) => word > 1 && !isPlausibleFloat(word));
  const axes = [0, 1].filter((d) => d === 0 || (gridWorkItems[d] as number) > (block[d] as number));
  const along = axes.flatMap((d) =>
    (counts.length === 0 ? [undefined] : counts).map((count) => ({ d, count, factor })),
  );
  const alone = counts.map((count) => ({ d: undefined, count, factor: LONGER }));
  let left = ALL_LARGER;
  for (const { d, count, factor: by } of [...along.slice(0, MAX_LARGER - 2), ...alone].slice(0, MAX_LARGER)) {
    left -= instructions * by;
    if (left < 0 || bytes * by > MOST_GROWN) continue;
    const moved = movedCapture(capture, { room: by });
    if (moved === undefined) return;
    const grown = grownCapture(moved.capture, by, seed);
    const grid = d === undefined ? gridWorkItems : withItems(gridWorkItems, d, (gridWorkItems[d] as number) * by);
    const { request, edits } = launchWith(grown, grid);
    const own = count === undefined ? [] : [argumentEdit(grown, count.at, (count.word * by) >>> 0)];
    const what = [
      ...(d === undefined ? [] : [`${by} times the workgroups in ${'xyz'[d]}`]),
      ...(count === undefined ? [] : [`argument ${count.name} is ${count.word * by}`]),
    ];
    yield [
      what.join(', '),
      {
        capture: grown,
        request,
        edits: [...moved.edits, ...edits, ...own],
        growth: by,
        patience: 2 * by * instructions + LEAST_PATIENCE,
      },
    ];
  }
}
