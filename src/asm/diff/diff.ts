// Room `asm/diff`: what differs between two code objects: kernels, instructions, descriptors, metadata, data.
// Begin with this file; align.ts pairs the instructions, text.ts prints the result.
//
// What differs between two code objects: kernels and functions matched by name, instructions aligned by longest common
// subsequence on text in which branch targets do not count, descriptors, resources, metadata and data.
import { WavesmithError } from '../../base/index.ts';
import { type CodeObject, type Kernel, readCodeObject, SymbolType } from '../../codeobject/index.ts';
import { type Analysis, analyseCodeObject } from '../disassemble/analysis.ts';
import type { CodeLine } from '../disassemble/code.ts';
import { type Alignment, align, Interner } from './align.ts';
import { changedFields, descriptorFields, type FieldChange, metadataFields, resourceFields } from './fields.ts';

export interface DiffOptions {
  /** Compare this kernel only. */
  readonly kernel?: string | undefined;
  /** Unchanged lines around a change; default 3. */
  readonly context?: number | undefined;
}

/** A line of a hunk; the addresses are those in the two files. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly a: number | null;
  readonly b: number | null;
}

/** Changes that stand together, with the index of the first line on both sides. */
export interface DiffHunk {
  readonly a: number;
  readonly b: number;
  readonly lines: readonly DiffLine[];
}

export type DiffStatus = 'same' | 'changed' | 'only-a' | 'only-b';

export interface LineCounts {
  readonly a: number;
  readonly b: number;
  readonly removed: number;
  readonly added: number;
}

/** A kernel or another function. */
export interface FunctionDiff {
  readonly name: string;
  readonly kind: 'kernel' | 'function';
  readonly status: DiffStatus;
  readonly instructions: LineCounts;
  readonly hunks: readonly DiffHunk[];
  readonly resources: readonly FieldChange[];
  readonly descriptor: readonly FieldChange[];
  readonly metadata: readonly FieldChange[];
}

/** A data section whose text differs. */
export interface DataDiff {
  readonly section: string;
  readonly status: DiffStatus;
  readonly hunks: readonly DiffHunk[];
}

export interface CodeObjectDiff {
  readonly same: boolean;
  /** Target and code object version. */
  readonly header: readonly FieldChange[];
  /** Metadata beside that of the kernels. */
  readonly metadata: readonly FieldChange[];
  readonly functions: readonly FunctionDiff[];
  readonly data: readonly DataDiff[];
}

/** One side. */
interface Side {
  readonly codeObject: CodeObject;
  readonly analysis: Analysis;
  readonly kernels: ReadonlyMap<string, Kernel>;
  readonly functions: ReadonlyMap<string, FunctionBody>;
}

/** The instructions of a function with the address of its section. */
interface FunctionBody {
  readonly base: number;
  readonly start: number;
  readonly end: number;
  readonly lines: readonly CodeLine[];
}

const DEFAULT_CONTEXT = 3;

/** Compares two code objects. */
export function diffCodeObjects(a: Uint8Array, b: Uint8Array, options: DiffOptions = {}): CodeObjectDiff {
  const sideA = readSide(a);
  const sideB = readSide(b);
  const { kernel } = options;
  if (kernel !== undefined && !sideA.kernels.has(kernel) && !sideB.kernels.has(kernel)) {
    throw new WavesmithError('diff/no-kernel', `Neither side has a kernel '${kernel}'.`, {
      hint: `A has ${sideA.kernels.size} kernels, B has ${sideB.kernels.size}; 'inspect' lists them.`,
    });
  }
  const context = options.context ?? DEFAULT_CONTEXT;
  const names = new Set([...sideA.functions.keys(), ...sideB.functions.keys()]);
  const functions: FunctionDiff[] = [];
  for (const name of names) {
    if (kernel === undefined || name === kernel) functions.push(diffFunction(name, sideA, sideB, context));
  }
  const header = kernel === undefined ? changedFields(headerFields(sideA), headerFields(sideB)) : [];
  const metadata = kernel === undefined ? changedFields(commonMetadata(sideA), commonMetadata(sideB)) : [];
  const data = kernel === undefined ? diffData(sideA.analysis, sideB.analysis, context) : [];
  const same =
    header.length === 0 && metadata.length === 0 && data.length === 0 && functions.every((f) => f.status === 'same');
  return { same, header, metadata, functions, data };
}

function readSide(bytes: Uint8Array): Side {
  const codeObject = readCodeObject(bytes);
  const analysis = analyseCodeObject(codeObject);
  const kernels = new Map(codeObject.kernels.map((kernel) => [kernel.name, kernel]));
  return { codeObject, analysis, kernels, functions: readFunctions(analysis) };
}

/** Functions by name, each up to its size or the next function; code before the first one is named by its section. */
function readFunctions({ code }: Analysis): Map<string, FunctionBody> {
  const functions = new Map<string, FunctionBody>();
  for (const [section, part] of code) {
    const symbols = section.symbols.filter((s) => s.elf.type === SymbolType.FUNC);
    const starts = [...new Set(symbols.map((s) => s.offset))];
    const names = starts.map((offset) => symbols.filter((s) => s.offset === offset));
    const ends = starts.map((offset, i) => {
      const size = Math.max(...names[i].map((s) => s.size));
      return size > 0 ? offset + size : (starts[i + 1] ?? section.size);
    });
    const linesOf = starts.map((): CodeLine[] => []);
    const outside: CodeLine[] = [];
    let current = -1;
    for (const line of part.lines()) {
      while (current + 1 < starts.length && starts[current + 1] <= line.offset) current++;
      if (current >= 0 && line.offset < ends[current]) linesOf[current].push(line);
      else if (current < 0) outside.push(line);
    }
    if (outside.length > 0) {
      functions.set(section.name, { base: section.base, start: 0, end: starts[0] ?? section.size, lines: outside });
    }
    starts.forEach((start, i) => {
      const body = { base: section.base, start, end: ends[i], lines: linesOf[i] };
      for (const symbol of names[i]) functions.set(symbol.name, body);
    });
  }
  return functions;
}

function headerFields({ analysis, codeObject }: Side) {
  return new Map<string, string | number>([
    ['target', codeObject.targetId],
    ['code object version', analysis.header.version],
    ['file type', codeObject.isRelocatable ? 'relocatable' : 'linked'],
  ]);
}

const KERNELS_KEY = new Set(['amdhsa.kernels']);

function commonMetadata({ codeObject }: Side) {
  return metadataFields(codeObject.metadata[0]?.raw, KERNELS_KEY);
}

function diffFunction(name: string, a: Side, b: Side, context: number): FunctionDiff {
  const blockA = a.functions.get(name);
  const blockB = b.functions.get(name);
  const kernelA = a.kernels.get(name);
  const kernelB = b.kernels.get(name);
  const kind = kernelA === undefined && kernelB === undefined ? 'function' : 'kernel';
  if (blockA === undefined || blockB === undefined) {
    const count = (body: FunctionBody | undefined) => body?.lines.length ?? 0;
    const [countA, countB] = [count(blockA), count(blockB)];
    return {
      name,
      kind,
      status: blockA === undefined ? 'only-b' : 'only-a',
      instructions: { a: countA, b: countB, removed: countA, added: countB },
      hunks: [],
      resources: [],
      descriptor: [],
      metadata: [],
    };
  }
  const { instructions, hunks } = diffInstructions(blockA, blockB, context);
  const fieldsOf = <T>(side: Side, kernel: Kernel | undefined, read: (kernel: Kernel, side: Side) => T) =>
    kernel === undefined ? undefined : read(kernel, side);
  const empty = new Map();
  const compare = (read: (kernel: Kernel, side: Side) => ReturnType<typeof metadataFields>) =>
    changedFields(fieldsOf(a, kernelA, read) ?? empty, fieldsOf(b, kernelB, read) ?? empty);
  const resources = compare((kernel, side) => resourceFields(kernel, side.codeObject));
  const descriptor = compare((kernel) => descriptorFields(kernel.descriptor));
  const metadata = compare((kernel) => metadataFields(kernel.metadata?.raw));
  const isSame = hunks.length + resources.length + descriptor.length + metadata.length === 0;
  const status = isSame ? 'same' : 'changed';
  return { name, kind, status, instructions, hunks, resources, descriptor, metadata };
}

function diffInstructions(
  a: FunctionBody,
  b: FunctionBody,
  context: number,
): { instructions: LineCounts; hunks: DiffHunk[] } {
  const interner = new Interner();
  const keys = (body: FunctionBody) => Int32Array.from(body.lines, (line) => interner.id(keyOf(line, body)));
  const alignment = align(keys(a), keys(b));
  separateBranches(a, b, alignment);
  const hunks = hunksOf(
    a.lines.map((line) => ({ text: line.text, address: a.base + line.offset })),
    b.lines.map((line) => ({ text: line.text, address: b.base + line.offset })),
    alignment,
    context,
  );
  const unmatched = (partners: Int32Array) => partners.reduce((count, partner) => count + (partner < 0 ? 1 : 0), 0);
  const removed = unmatched(alignment.toB);
  const added = unmatched(alignment.toA);
  return { instructions: { a: a.lines.length, b: b.lines.length, removed, added }, hunks };
}

function isInside(target: number | undefined, body: FunctionBody): target is number {
  return target !== undefined && target >= body.start && target <= body.end;
}

/** Text to align by: targets inside the function do not count, so that an insertion does not change every branch. */
function keyOf(line: CodeLine, body: FunctionBody): string {
  return isInside(line.target, body) ? line.general : line.text;
}

/** Takes pairs of branches apart that lead to different places of the alignment. */
function separateBranches(a: FunctionBody, b: FunctionBody, { toA, toB }: Alignment): void {
  const beforeA = pairsBefore(toB);
  const beforeB = pairsBefore(toA);
  const apart: number[] = [];
  toB.forEach((j, i) => {
    if (j < 0) return;
    const targetA = a.lines[i].target;
    const targetB = b.lines[j].target;
    if (!isInside(targetA, a) || !isInside(targetB, b)) return;
    if (beforeA[indexOf(a, targetA)] !== beforeB[indexOf(b, targetB)]) apart.push(i);
  });
  for (const i of apart) {
    toA[toB[i]] = -1;
    toB[i] = -1;
  }
}

/** How many elements before each index have a partner. */
function pairsBefore(partners: Int32Array): Int32Array {
  const counts = new Int32Array(partners.length + 1);
  partners.forEach((partner, i) => {
    counts[i + 1] = counts[i] + (partner < 0 ? 0 : 1);
  });
  return counts;
}

/** Index of the first line at or behind an offset. */
function indexOf({ lines }: FunctionBody, offset: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].offset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface SideLine {
  readonly text: string;
  readonly address: number | null;
}

/** The changed places with their context. */
function hunksOf(a: readonly SideLine[], b: readonly SideLine[], { toA, toB }: Alignment, context: number): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let lines: DiffLine[] = [];
  let start: { a: number; b: number } | undefined;
  let trailing = 0;
  let i = 0;
  let j = 0;
  const finish = () => {
    if (start === undefined) return;
    hunks.push({ ...start, lines: lines.slice(0, lines.length - Math.max(0, trailing - context)) });
    start = undefined;
    lines = [];
  };
  const change = (line: DiffLine) => {
    if (start === undefined) {
      const before = Math.min(context, i, j);
      let usable = 0;
      while (usable < before && toB[i - usable - 1] === j - usable - 1) usable++;
      start = { a: i - usable, b: j - usable };
      for (let k = usable; k > 0; k--) {
        lines.push({ kind: 'same', text: a[i - k].text, a: a[i - k].address, b: b[j - k].address });
      }
    }
    lines.push(line);
    trailing = 0;
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && toB[i] < 0) {
      change({ kind: 'removed', text: a[i].text, a: a[i].address, b: null });
      i++;
    } else if (j < b.length && toA[j] < 0) {
      change({ kind: 'added', text: b[j].text, a: null, b: b[j].address });
      j++;
    } else {
      if (start !== undefined) {
        lines.push({ kind: 'same', text: b[j].text, a: a[i].address, b: b[j].address });
        if (++trailing > 2 * context) finish();
      }
      i++;
      j++;
    }
  }
  finish();
  return hunks;
}

/** Data sections by name, compared as text without the descriptors, which are compared field by field. */
function diffData(a: Analysis, b: Analysis, context: number): DataDiff[] {
  const textsA = dataTexts(a);
  const textsB = dataTexts(b);
  const found: DataDiff[] = [];
  for (const section of new Set([...textsA.keys(), ...textsB.keys()])) {
    const linesA = textsA.get(section) ?? [];
    const linesB = textsB.get(section) ?? [];
    const interner = new Interner();
    const keys = (lines: readonly string[]) => Int32Array.from(lines, (line) => interner.id(line));
    const alignment = align(keys(linesA), keys(linesB));
    const plain = (text: string): SideLine => ({ text, address: null });
    const hunks = hunksOf(linesA.map(plain), linesB.map(plain), alignment, context);
    if (hunks.length === 0) continue;
    const status = !textsA.has(section) ? 'only-b' : !textsB.has(section) ? 'only-a' : 'changed';
    found.push({ section, status, hunks });
  }
  return found;
}

function dataTexts({ data }: Analysis): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const [section, part] of data) {
    const lines: string[] = [];
    part.print(lines, () => false);
    const known = texts.get(section.name);
    const trimmed = lines.map((line) => line.trim());
    if (known === undefined) texts.set(section.name, trimmed);
    else for (const line of trimmed) known.push(line);
  }
  return texts;
}
