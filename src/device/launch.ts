// Planning the launch of one kernel from a description in text: the argument grammar of `wavesmith run`.
//   buffer:  TYPE[N] or TYPE[N,M,…], then optionally =zeros | =iota | =random | =random:SEED | =NUMBER | =@FILE.npy
//   buffer:  @FILE.npy          type and shape from the file
//   scalar:  TYPE=NUMBER
import { elementType, type Fill, fillElements, getElement, putElement, WavesmithError } from '../base/index.ts';
import type { Device, DeviceKernel, Dim3 } from './device.ts';
import {
  canReadAs,
  elementCount,
  isNpyType,
  NPY_TYPES,
  type NpyArray,
  type NpyType,
  npyElementBytes,
  readNpy,
} from './npy.ts';
import { type DispatchFields, execute, type LaunchPlan, type PlannedArgument, type ResultOf } from './plan.ts';

/** An argument as described. */
export type LaunchArgument =
  | { readonly kind: 'buffer'; readonly type: NpyType; readonly shape: readonly number[]; readonly fill: Fill }
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly type: NpyType | undefined;
      readonly shape: readonly number[] | undefined;
    }
  | { readonly kind: 'scalar'; readonly type: NpyType; readonly value: number | bigint };

function bad(text: string, column: number, message: string): WavesmithError {
  return new WavesmithError('launch/bad-argument', message, {
    file: `--arg ${text}`,
    column: column + 1,
    hint: 'Write TYPE[COUNT]=zeros|iota|random:SEED|NUMBER|@FILE.npy for a buffer, TYPE=NUMBER for a scalar.',
  });
}

/** Types of described arguments; complex arrays come from files. */
export const ARGUMENT_TYPES = NPY_TYPES.filter((type) => elementType(type).kind !== 'complex');

/** Parses one argument description; errors carry the column of the problem. */
export function parseLaunchArgument(text: string): LaunchArgument {
  if (text.startsWith('@')) return { kind: 'file', path: filePath(text, 0), type: undefined, shape: undefined };
  const type = /^[A-Za-z0-9]*/.exec(text)?.[0] ?? '';
  if (!isNpyType(type)) throw bad(text, 0, `'${type}' is not an element type (${ARGUMENT_TYPES.join(', ')}).`);
  let at = type.length;
  if (text[at] === '=') return { kind: 'scalar', type, value: parseNumber(text, at + 1, type) };
  if (text[at] !== '[') throw bad(text, at, "After the type comes '[' for a buffer or '=' for a scalar.");
  const close = text.indexOf(']', at);
  if (close < 0) throw bad(text, text.length, "The ']' after the count is missing.");
  const shape = parseShape(text, at + 1, close, npyElementBytes(type));
  at = close + 1;
  if (at === text.length) return { kind: 'buffer', type, shape, fill: { kind: 'zeros' } };
  if (text[at] !== '=') throw bad(text, at, "After ']' comes '=' and what to fill the buffer with.");
  at++;
  if (text[at] === '@') return { kind: 'file', path: filePath(text, at), type, shape };
  return { kind: 'buffer', type, shape, fill: parseFill(text, at, type) };
}

function filePath(text: string, at: number): string {
  const path = text.slice(at + 1);
  if (path === '') throw bad(text, at + 1, "A file name is missing after '@'.");
  return path;
}

function parseShape(text: string, start: number, end: number, size: number): number[] {
  let at = start;
  const shape = text
    .slice(start, end)
    .split(',')
    .map((part) => {
      if (!/^\d{1,12}$/.test(part.trim())) throw bad(text, at, `'${part}' is not a count.`);
      at += part.length + 1;
      return Number(part);
    });
  if (elementCount(shape) * size > 2 ** 32) throw bad(text, start, 'The buffer is larger than 4 GiB.');
  return shape;
}

function parseFill(text: string, at: number, type: NpyType): Fill {
  const rest = text.slice(at);
  if (rest === 'zeros' || rest === 'iota') return { kind: rest };
  const random = /^random(?::(.*))?$/.exec(rest);
  if (random !== null) {
    const seed = random[1] ?? '0';
    if (!/^\d{1,9}$/.test(seed)) throw bad(text, at + 7, `'${seed}' is not a seed.`);
    return { kind: 'random', seed: Number(seed) };
  }
  return { kind: 'value', value: parseNumber(text, at, type) };
}

/** Smallest and largest integer of a type. */
function integerRange(type: NpyType): [bigint, bigint] {
  const bits = BigInt(8 * npyElementBytes(type));
  if (type === 'bool') return [0n, 1n];
  return !elementType(type).isSigned ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
}

function parseNumber(text: string, at: number, type: NpyType): number | bigint {
  const word = text.slice(at);
  if (elementType(type).kind === 'float') {
    const special = { nan: Number.NaN, inf: Infinity, '-inf': -Infinity }[word];
    const value = special ?? (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word) ? Number(word) : undefined);
    if (value === undefined) throw bad(text, at, `'${word}' is not a number.`);
    return value;
  }
  if (!/^[-+]?(\d+|0x[0-9a-f]+)$/i.test(word)) throw bad(text, at, `'${word}' is not a whole number.`);
  const negative = word.startsWith('-');
  const magnitude = BigInt(word.replace(/^[-+]/, ''));
  const value = negative ? -magnitude : magnitude;
  const [low, high] = integerRange(type);
  if (value < low || value > high) throw bad(text, at, `${word} does not fit ${type} (${low} to ${high}).`);
  return value;
}

/** `X`, `X,Y` or `X,Y,Z` as three dimensions. */
export function parseDimensions(text: string, what: string): Dim3 {
  const parts = text.split(',');
  if (parts.length > 3 || parts.some((part) => !/^\d{1,10}$/.test(part.trim()) || Number(part) === 0)) {
    throw new WavesmithError(
      'launch/bad-dimensions',
      `'${text}' is not a ${what}: X, X,Y or X,Y,Z with whole numbers from 1.`,
    );
  }
  return [Number(parts[0] ?? 1), Number(parts[1] ?? 1), Number(parts[2] ?? 1)];
}

/** A buffer argument after the run. */
export interface BufferAfter {
  readonly argument: number;
  readonly array: NpyArray;
  /** Elements whose bits the kernel changed. */
  readonly changed: number;
}

/** A launch from descriptions: its plan, and what its allocations are to who described them. */
export interface DescribedLaunch {
  readonly plan: LaunchPlan;
  /** The buffer arguments, from the contents that `execute` gives. */
  buffersAfter(contents: readonly Uint8Array[]): BufferAfter[];
}

/** Plans a launch: one allocation for each buffer. `readFile` reads a `.npy` file that an argument names. */
export function planLaunch(
  { grid, block, dynamicLds }: Pick<LaunchPlan, 'grid' | 'block' | 'dynamicLds'>,
  descriptions: readonly LaunchArgument[],
  readFile: (path: string) => Uint8Array,
): DescribedLaunch {
  const buffers: { argument: number; before: NpyArray }[] = [];
  const args = descriptions.map((argument, index): PlannedArgument => {
    if (argument.kind === 'scalar') return { kind: 'value', value: scalar(argument.type, argument.value) };
    const before = contentOf(argument, readFile);
    buffers.push({ argument: index, before });
    return { kind: 'binding', allocation: buffers.length - 1, offset: 0 };
  });
  const allocations = buffers.map(({ argument, before }) => ({
    label: `argument ${argument}`,
    bytes: before.bytes,
  }));
  return {
    plan: { grid, block, dynamicLds, allocations, arguments: args },
    buffersAfter: (contents) =>
      buffers.map(({ argument, before }, i) => {
        const array = { ...before, bytes: contents[i] as Uint8Array };
        return { argument, array, changed: changedElements(before, array) };
      }),
  };
}

/** A described launch on a device. */
export interface LaunchRequest<D extends Device = Device> {
  readonly device: D;
  readonly kernel: DeviceKernel;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly args: readonly LaunchArgument[];
  /** Reads a `.npy` file named in an argument. */
  readonly readFile: (path: string) => Uint8Array;
  readonly dynamicLds?: number | undefined;
  /** More fields of the dispatch. */
  readonly fields?: DispatchFields<D> | undefined;
}

export interface LaunchResult<D extends Device = Device> {
  readonly dispatch: ResultOf<D>;
  readonly buffers: readonly BufferAfter[];
}

/** Plans a described launch and executes it. */
export async function launch<D extends Device>(request: LaunchRequest<D>): Promise<LaunchResult<D>> {
  const { device, kernel, args, readFile, fields } = request;
  const { plan, buffersAfter } = planLaunch(request, args, readFile);
  const { dispatch, contents } = await execute(device, kernel, plan, { fields });
  return { dispatch, buffers: buffersAfter(contents) };
}

/** The bytes of a by-value argument of a type. */
export function scalar(type: NpyType, value: number | bigint): Uint8Array {
  const bytes = new Uint8Array(npyElementBytes(type));
  putElement(new DataView(bytes.buffer), type, 0, value);
  return bytes;
}

function contentOf(
  argument: Exclude<LaunchArgument, { kind: 'scalar' }>,
  readFile: (path: string) => Uint8Array,
): NpyArray {
  if (argument.kind === 'buffer') {
    const { type, shape, fill } = argument;
    return { type, shape, bytes: fillElements(type, elementCount(shape), fill) };
  }
  const array = readNpy(readFile(argument.path), argument.path);
  const type = argument.type ?? array.type;
  const shape = argument.shape ?? array.shape;
  if (!canReadAs(array.type, type) || elementCount(shape) !== elementCount(array.shape)) {
    throw new WavesmithError(
      'launch/wrong-file',
      `'${argument.path}' holds ${array.type}[${array.shape.join(',')}], the argument asks for ${type}[${shape.join(',')}].`,
      { file: argument.path },
    );
  }
  return { type, shape, bytes: array.bytes };
}

function changedElements(before: NpyArray, after: NpyArray): number {
  const size = npyElementBytes(before.type);
  let changed = 0;
  for (let at = 0; at < before.bytes.length; at += size) {
    for (let n = 0; n < size; n++) {
      if (before.bytes[at + n] === after.bytes[at + n]) continue;
      changed++;
      break;
    }
  }
  return changed;
}

/** The first elements of an array as numbers. */
export function firstElements(array: NpyArray, count: number): (number | bigint)[] {
  const view = new DataView(array.bytes.buffer, array.bytes.byteOffset, array.bytes.byteLength);
  return Array.from({ length: Math.min(count, elementCount(array.shape)) }, (_, n) => getElement(view, array.type, n));
}
