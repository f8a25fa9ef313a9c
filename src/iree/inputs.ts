// Inputs of a module's function as iree-run-module takes them: from the command line, from files, or seeded with the shapes that the
// module declares or that its host program checks. Paged caches get page numbers that exist and that no two sequences share.
import { existsSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import {
  bytesOfElements,
  type ElementType,
  elementType,
  fillElements,
  fillRandom,
  findElementType,
  randomNumbers,
  WavesmithError,
} from '../base/index.ts';
import type { ViewSize, VmfbSignature, VmfbType } from '../codeobject/index.ts';
import { canReadAs, elementCount, isNpyType, type NpyType, readNpy, writeNpy } from '../device/npy.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { readWhole } from './files.ts';

export interface InputOptions {
  /** Values of `--input`, in order; empty: every input is seeded. */
  readonly given: readonly string[];
  readonly seed: number;
  /** Where the files of seeded inputs go; made when there is something to write. */
  readonly folder: string;
}

export interface FunctionInputs {
  /** The `--input=` flags, one for each input. */
  readonly flags: readonly string[];
  /** What each input is, for people. */
  readonly shown: readonly string[];
}

/** Inputs of one function may be this large together. */
const MOST_BYTES = 2 ** 30;
/** Values of integer inputs of 32 bits and more, which may be indices. */
const FEW = 8;

/** One input: a value to hand on, or a tensor whose bytes are made here. */
type Planned =
  | { readonly kind: 'as-given'; readonly text: string; readonly shape: readonly number[] | undefined }
  | {
      readonly kind: 'file';
      readonly shape: readonly number[];
      readonly elementType: string;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: 'seeded';
      readonly shape: readonly ViewSize[];
      readonly elementType: string;
      readonly fill: string;
    };

/** Makes the inputs of a function. */
export function makeInputs(one: VmfbSignature, options: InputOptions): FunctionInputs {
  const { given, seed, folder } = options;
  if (given.length > 0 && given.length !== one.inputs.length) {
    throw new WavesmithError(
      'hijack/input-count',
      `Function '${one.name}' takes ${one.inputs.length} inputs, ${given.length} were given.`,
      { hint: `Its inputs are ${one.inputs.map(typeText).join(', ')}: give --input once for each.` },
    );
  }
  const plans = one.inputs.map((type, i) =>
    given[i] === undefined ? plannedOfType(one, i, type) : plannedOfText(one, i, type, given[i]),
  );
  const shapes = plans.map((plan, i) => resolveShape(one, i, plan, plans));
  const empty = shapes.findIndex((shape) => shape?.includes(0));
  if (empty >= 0) {
    throw noInput(
      one,
      empty,
      `has no elements (${shapes[empty]?.join('x')}), and iree-run-module makes no empty buffers`,
    );
  }
  const total = plans.reduce((sum, plan, i) => sum + bytesOf(plan, shapes[i]), 0);
  if (!(total <= MOST_BYTES)) {
    throw new WavesmithError('hijack/too-large', `The inputs of '${one.name}' are larger than ${MOST_BYTES} bytes.`, {
      hint: 'Compile the model with smaller shapes, or give smaller ones with --input.',
    });
  }
  makeFolders(folder);
  const random = randomNumbers(seed);
  const pages = pageCount(plans, shapes);
  const flags: string[] = [];
  const shown: string[] = [];
  plans.forEach((plan, i) => {
    if (plan.kind === 'as-given') {
      flags.push(`--input=${plan.text}`);
      shown.push(plan.text);
      return;
    }
    const shape = shapes[i] ?? [];
    const isScalar = one.inputs[i].shape === undefined && shape.length === 0;
    const bytes = plan.kind === 'file' ? plan.bytes : seededBytes(plan, shape, random, pages);
    if (isScalar) {
      const type = elementType(plan.elementType);
      flags.push(`--input=${type.exact(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0)}`);
    } else {
      flags.push(
        `--input=${written(join(folder, `${one.name.replace(/[^\w.$-]/g, '_')}-input${i}`), plan.elementType, shape, bytes)}`,
      );
    }
    shown.push([...shape, plan.elementType].join('x'));
  });
  return { flags, shown };
}

/** Writes a tensor to a file and gives the value of `--input` for it. */
function written(stem: string, type: string, shape: readonly number[], bytes: Uint8Array): string {
  const text = [...shape, type].join('x');
  // iree-run-module takes the x of `complex` for one between sizes.
  const npy = type.startsWith('complex<') ? npyTypeOf(type) : undefined;
  const file = `${stem}.${npy === undefined ? 'bin' : 'npy'}`;
  writeFileSync(file, npy === undefined ? bytes : writeNpy({ type: npy, shape, bytes }));
  return npy === undefined ? `${text}=@${file}` : `@${file}`;
}

function typeText(type: VmfbType): string {
  return type.text ?? 'of unknown type';
}

function noInput(one: VmfbSignature, i: number, what: string): WavesmithError {
  return new WavesmithError('hijack/no-input', `Input ${i} of '${one.name}' ${what}.`, {
    hint: 'Give every input with --input, as iree-run-module takes it: --input 4x8xf16=@data.bin, or --input 4x8xf16 to be seeded.',
  });
}

function plannedOfType(one: VmfbSignature, i: number, type: VmfbType): Planned {
  if (type.elementType === undefined || findElementType(type.elementType) === undefined) {
    throw noInput(
      one,
      i,
      type.text === undefined ? 'has a type that the module does not tell' : `has type ${type.text}`,
    );
  }
  return { kind: 'seeded', shape: type.shape ?? [], elementType: type.elementType, fill: 'random' };
}

const TENSOR = /^((?:\d+x)*)([a-zA-Z]\w*(?:<\w+>)?)(?:=(.*))?$/s;
const FILLS: ReadonlySet<string> = new Set(['random', 'zeros', 'iota']);

function plannedOfText(one: VmfbSignature, i: number, type: VmfbType, text: string): Planned {
  const file = /^@?(.*\.npy)$/.exec(text)?.[1];
  // Nothing else that IREE takes ends so: a file that is missing is told as one.
  const isFile = file !== undefined && (text.startsWith('@') || !text.includes('=') || existsSync(file));
  if (isFile) return npyInput(one, i, type, file);
  const raw = /^@(.+)$/.exec(text)?.[1] ?? (/[/.]/.test(text) && existsSync(text) ? text : undefined);
  if (raw !== undefined) return rawInput(one, i, type, raw);
  const match = TENSOR.exec(text);
  if (match === null || findElementType(match[2]) === undefined) return { kind: 'as-given', text, shape: undefined };
  const shape = [...match[1].matchAll(/(\d+)x/g)].map((m) => Number(m[1]));
  checkType(one, i, type, shape, match[2], text);
  const value = match[3];
  if (value === undefined || FILLS.has(value) || /^random:-?\d+$/.test(value)) {
    return { kind: 'seeded', shape, elementType: match[2], fill: value ?? 'random' };
  }
  const npy = /^@(.*\.npy)$/.exec(value)?.[1];
  if (npy !== undefined) return npyInput(one, i, type, npy);
  if (value.startsWith('@') && !existsSync(value.slice(1))) readWhole(value.slice(1), `input ${i}`);
  return { kind: 'as-given', text, shape };
}

/** A file without a type has the declared one. */
function rawInput(one: VmfbSignature, i: number, type: VmfbType, path: string): Planned {
  const bytes = readWhole(path, `input ${i}`);
  const shape = type.shape?.every((size) => typeof size === 'number') ? (type.shape as number[]) : undefined;
  if (shape === undefined || type.elementType === undefined) {
    throw noInput(one, i, `is ${typeText(type)}, so a file needs its shape: --input SHAPExTYPE=@${path}`);
  }
  const wanted = bytesOfElements(elementType(type.elementType), elementCount(shape));
  if (bytes.length !== wanted) {
    throw new WavesmithError(
      'hijack/input-size',
      `Input ${i} of '${one.name}' is ${typeText(type)}, ${wanted} bytes; '${path}' has ${bytes.length}.`,
      {
        file: path,
        hint: `A ${extname(path) || 'raw'} file holds nothing but the elements; .npy files have a header.`,
      },
    );
  }
  return { kind: 'file', shape, elementType: type.elementType, bytes };
}

function npyInput(one: VmfbSignature, i: number, type: VmfbType, path: string): Planned {
  const array = readNpy(readWhole(path, `input ${i}`), path);
  const stored = MLIR_OF[array.type] ?? array.type;
  const wanted = type.elementType ?? stored;
  const name = npyTypeOf(wanted);
  if (name === undefined || !canReadAs(array.type, name)) throw wrongType(one, i, type, array.shape, stored, path);
  checkType(one, i, type, array.shape, wanted, path);
  return { kind: 'file', shape: array.shape, elementType: wanted, bytes: array.bytes };
}

const MLIR_OF: Readonly<Record<string, string>> = { bool: 'i1', u8: 'ui8', u16: 'ui16', u32: 'ui32', u64: 'ui64' };

/** The `.npy` name of an MLIR type, where files can hold it. */
export function npyTypeOf(name: string): NpyType | undefined {
  const found = name === 'i1' ? 'bool' : name === 'index' ? 'i64' : name.replace(/^si/, 'i').replace(/^ui/, 'u');
  return isNpyType(found) ? found : undefined;
}

function wrongType(
  one: VmfbSignature,
  i: number,
  type: VmfbType,
  shape: readonly number[],
  name: string,
  from: string,
): WavesmithError {
  return new WavesmithError(
    'hijack/input-type',
    `Input ${i} of '${one.name}' is ${typeText(type)}; '${from}' is ${[...shape, name].join('x')}.`,
    { hint: 'Sizes written as ? are free; all others and the element type must agree.' },
  );
}

function checkType(
  one: VmfbSignature,
  i: number,
  type: VmfbType,
  shape: readonly number[],
  name: string,
  from: string,
): void {
  const plain = (text: string): string => text.replace(/^[su]i/, 'i');
  const isSame =
    (type.elementType === undefined || plain(type.elementType) === plain(name)) &&
    (type.shape === undefined ||
      (type.shape.length === shape.length &&
        type.shape.every((size, k) => typeof size !== 'number' || size === shape[k])));
  if (!isSame) throw wrongType(one, i, type, shape, name, from);
}

/** The sizes of an input; those that the host program takes from another input are that one's. */
function resolveShape(
  one: VmfbSignature,
  i: number,
  plan: Planned,
  plans: readonly Planned[],
): readonly number[] | undefined {
  if (plan.kind !== 'seeded') return plan.shape;
  return plan.shape.map((size, k) => {
    if (typeof size === 'number') return size;
    const other = size === null || size.argument === i ? undefined : plans[size.argument]?.shape?.[size.dimension];
    if (typeof other === 'number') return other;
    const text = `${plan.shape.map((n) => (typeof n === 'number' ? n : '?')).join('x')}x${plan.elementType}`;
    throw new WavesmithError('hijack/dynamic-shape', `The shape of input ${i} of '${one.name}' is ${text}.`, {
      hint:
        `Give every input with its shape, for example ${one.inputs.map((input) => `--input ${exampleOf(input)}`).join(' ')}` +
        ` with --function ${one.name} (dimension ${k} is open).`,
    });
  });
}

function exampleOf({ shape, elementType: type }: VmfbType): string {
  if (type === undefined) return 'SHAPExTYPE';
  if (shape === undefined) return '1';
  return [...shape.map((size) => (typeof size === 'number' ? size : 16)), type].join('x');
}

function bytesOf(plan: Planned, shape: readonly number[] | undefined): number {
  if (plan.kind === 'as-given') return 0;
  if (plan.kind === 'file') return plan.bytes.length;
  return bytesOfElements(elementType(plan.elementType), elementCount(shape ?? []));
}

/** Pages of a cache: the first size of the largest float input; undefined without one. */
function pageCount(plans: readonly Planned[], shapes: readonly (readonly number[] | undefined)[]): number | undefined {
  let most = 0;
  let pages: number | undefined;
  plans.forEach((plan, i) => {
    const shape = shapes[i];
    if (plan.kind === 'as-given' || shape === undefined || shape.length < 2) return;
    if (findElementType(plan.elementType)?.kind !== 'float' || elementCount(shape) <= most) return;
    most = elementCount(shape);
    pages = shape[0];
  });
  return pages;
}

function seededBytes(
  plan: Planned & { kind: 'seeded' },
  shape: readonly number[],
  random: () => number,
  pages: number | undefined,
): Uint8Array {
  const type = elementType(plan.elementType);
  const count = elementCount(shape);
  const seed = /^random:(.*)$/.exec(plan.fill)?.[1];
  if (plan.fill === 'zeros' || plan.fill === 'iota') return fillElements(plan.elementType, count, { kind: plan.fill });
  const source = seed === undefined ? random : randomNumbers(Number(seed));
  if (type.kind === 'integer' && type.bits >= 32) return indices(type, shape, source, pages);
  const bytes = new Uint8Array(bytesOfElements(type, count));
  fillRandom(bytes, type, source);
  return bytes;
}

/** Small numbers; those of a table (page numbers of sequences) are all different, as far as there are pages. */
function indices(
  type: ElementType,
  shape: readonly number[],
  random: () => number,
  pages: number | undefined,
): Uint8Array {
  const count = elementCount(shape);
  const bytes = new Uint8Array(bytesOfElements(type, count));
  const view = new DataView(bytes.buffer);
  const limit = Math.max(1, Math.min(Math.max(FEW, count), pages ?? FEW));
  const isTable = shape.length > 1 && count > 1 && pages !== undefined && count <= limit;
  const order = Array.from({ length: limit }, (_, n) => n);
  if (isTable) {
    for (let n = limit - 1; n > 0; n--) {
      const other = Math.floor(random() * (n + 1));
      [order[n], order[other]] = [order[other] as number, order[n] as number];
    }
  }
  const few = Math.min(FEW, limit);
  for (let n = 0; n < count; n++) type.write(view, n, isTable ? (order[n] as number) : Math.floor(random() * few));
  return bytes;
}
