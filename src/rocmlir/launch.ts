// `gpu.launch_func` in its pretty and generic form: what it launches with how many workgroups, and rewriting it for another
// kernel. Source: MLIR's GPU dialect, GPUOps.td (LaunchFuncOp), LLVM 22.
import type { WavesmithError } from '../base/index.ts';
import { entryOf, parseDictionary, symbolName } from '../mlir/attribute.ts';
import type { Edits } from '../mlir/edit.ts';
import { quoteText, TokenKind } from '../mlir/lex.ts';
import { type Document, isPunct, type Operation, rangeText, tokenText, walk } from '../mlir/parse.ts';
import { operationError, splitAtCommas } from './lower/read.ts';
import type { LaunchStep } from './sequence.ts';

/** One launch; token positions are of its document. */
export interface DispatchSite {
  readonly operation: Operation;
  readonly module: string;
  readonly kernel: string;
  /** Tokens of the symbol reference. */
  readonly symbol: readonly [number, number];
  /** Tokens of the six sizes: grid x, y, z, block x, y, z. */
  readonly sizes: readonly number[];
  /** Constants among the sizes, as far as known. */
  readonly constants: readonly (number | undefined)[];
  /** True when the sizes are of type `index`. */
  readonly isIndex: boolean;
  /** Type of the sizes as text. */
  readonly sizeType: string;
  /** Token of the dynamic LDS size, if one is given. */
  readonly dynamicLds: number | undefined;
  /** Its value, when it is a constant. */
  readonly dynamicLdsBytes: number | undefined;
  /** Values of the kernel's arguments. */
  readonly arguments: readonly string[];
  readonly argumentTypes: readonly string[];
  /** A type of the kernel, from the arguments' types. */
  readonly functionType: string;
  /** Generic form: the dictionary token of operandSegmentSizes' value and where types stand. */
  readonly generic:
    | {
        readonly segments: readonly [number, number];
        readonly types: readonly [number, number][];
        readonly values: readonly number[];
      }
    | undefined;
}

/** Integer constants by value name, of the whole text. */
function constantsOf(document: Document): Map<string, number> {
  const constants = new Map<string, number>();
  for (const operation of walk(document.operations)) {
    if (operation.name !== 'arith.constant' && operation.name !== 'llvm.mlir.constant') continue;
    const [result] = operation.results;
    if (result === undefined) continue;
    for (let at = operation.nameToken + 1; at < operation.last; at++) {
      if (document.tokens.kinds[at] !== TokenKind.Integer) continue;
      constants.set(result.name, Number(tokenText(document, at)) * (isPunct(document, at - 1, '-') ? -1 : 1));
      break;
    }
  }
  return constants;
}

/** All launches of the text. */
export function launchOperations(document: Document): DispatchSite[] {
  const launches = [...walk(document.operations)].filter((operation) => operation.name === 'gpu.launch_func');
  if (launches.length === 0) return [];
  const constants = constantsOf(document);
  return launches.map((operation) =>
    operation.generic ? readGeneric(document, operation, constants) : readPretty(document, operation, constants),
  );
}

function malformed(document: Document, operation: Operation, what: string): WavesmithError {
  return operationError(
    document,
    operation,
    'rocmlir/malformed',
    `This gpu.launch_func ${what}.`,
    'Print the module with mlir-opt.',
  );
}

/** `!llvm.func<void (…)>` when every type is LLVM's, else `(…) -> ()`. */
export function functionTypeOf(types: readonly string[]): string {
  if (!types.every((type) => /^!llvm\.|^i\d+$|^f\d+$/.test(type))) return `(${types.join(', ')}) -> ()`;
  return `!llvm.func<void (${types.map((type) => type.replace(/^!llvm\./, '')).join(', ')})>`;
}

function symbolPath(document: Document, operation: Operation, first: number): { path: string[]; last: number } {
  const path: string[] = [];
  let at = first;
  while (document.tokens.kinds[at] === TokenKind.Symbol) {
    path.push(symbolName(tokenText(document, at++)));
    if (!isPunct(document, at, '::')) break;
    at++;
  }
  if (path.length !== 2) throw malformed(document, operation, 'names no kernel of a module');
  return { path, last: at };
}

/** The value tokens between brackets. */
function valuesIn(document: Document, open: number): number[] {
  const values: number[] = [];
  for (let at = open + 1; at < document.match[open]; at++) {
    if (document.tokens.kinds[at] === TokenKind.Value) values.push(at);
  }
  return values;
}

function readPretty(document: Document, operation: Operation, constants: ReadonlyMap<string, number>): DispatchSite {
  const { kinds } = document.tokens;
  let first = operation.nameToken + 1;
  while (first < operation.last && kinds[first] !== TokenKind.Symbol) first++;
  const { path, last } = symbolPath(document, operation, first);
  const listOf = (word: string): number | undefined => {
    for (let at = last; at + 2 < operation.last; at++) {
      if (tokenText(document, at) === word && tokenText(document, at + 1) === 'in') return at + 2;
    }
    return undefined;
  };
  const [blocks, threads] = [listOf('blocks'), listOf('threads')];
  if (blocks === undefined || threads === undefined) throw malformed(document, operation, 'has no blocks or threads');
  const sizes = [...valuesIn(document, blocks), ...valuesIn(document, threads)];
  if (sizes.length !== 6) throw malformed(document, operation, 'does not give three blocks and three threads sizes');
  const behind = document.match[threads] + 1;
  const sizeType = isPunct(document, behind, ':') ? tokenText(document, behind + 1) : 'index';
  let dynamicLds: number | undefined;
  let names: string[] = [];
  let types: string[] = [];
  for (let at = behind; at < operation.last; at++) {
    const word = kinds[at] === TokenKind.Identifier ? tokenText(document, at) : '';
    if (word === 'dynamic_shared_memory_size') dynamicLds = at + 1;
    if (word === 'args' && isPunct(document, at + 1, '(')) {
      const parts = splitAtCommas(document, at + 2, document.match[at + 1]);
      names = parts.map(([from]) => tokenText(document, from));
      types = parts.map(([from, to]) => rangeText(document, from + 2, to));
      break;
    }
  }
  return {
    operation,
    module: path[0],
    kernel: path[1],
    symbol: [first, last],
    sizes,
    constants: sizes.map((token) => constants.get(tokenText(document, token))),
    isIndex: sizeType === 'index',
    sizeType,
    dynamicLds,
    dynamicLdsBytes: dynamicLds === undefined ? undefined : constants.get(tokenText(document, dynamicLds)),
    arguments: names,
    argumentTypes: types,
    functionType: functionTypeOf(types),
    generic: undefined,
  };
}

/** Operand segments: dependencies, grid x y z, block x y z, cluster x y z, dynamic LDS, arguments, asynchronous object. */
const SEGMENT = { blockZ: 6, lds: 10, arguments: 11 } as const;

function readGeneric(document: Document, operation: Operation, constants: ReadonlyMap<string, number>): DispatchSite {
  const open = operation.nameToken + 1;
  const values = valuesIn(document, open);
  const entries = operation.dictionaries.flatMap((dictionary) => parseDictionary(document, dictionary));
  const kernel = entryOf(entries, 'kernel');
  const segments = entryOf(entries, 'operandSegmentSizes') ?? entryOf(entries, 'operand_segment_sizes');
  if (kernel?.kind !== 'symbol' || segments?.kind !== 'denseArray' || segments.items.length < SEGMENT.arguments + 1) {
    throw malformed(document, operation, 'lacks its kernel or operandSegmentSizes');
  }
  const counts = segments.items.map(Number);
  const start = (segment: number): number => counts.slice(0, segment).reduce((sum, n) => sum + n, 0);
  if (start(counts.length) !== values.length || counts.slice(1, SEGMENT.blockZ + 1).some((n) => n !== 1)) {
    throw malformed(document, operation, 'has other operands than operandSegmentSizes says');
  }
  const { path } = symbolPath(document, operation, kernel.first);
  let colon = document.match[open] + 1;
  while (colon < operation.last && !isPunct(document, colon, ':')) {
    colon = document.match[colon] > colon ? document.match[colon] + 1 : colon + 1;
  }
  const types = splitAtCommas(document, colon + 2, document.match[colon + 1]);
  if (types.length !== values.length) throw malformed(document, operation, 'lists other types than operands');
  const sizes = values.slice(start(1), start(SEGMENT.blockZ + 1));
  const sizeType = rangeText(document, ...types[start(1)]);
  const from = start(SEGMENT.arguments);
  const to = from + counts[SEGMENT.arguments];
  const dynamicLds = counts[SEGMENT.lds] === 1 ? values[start(SEGMENT.lds)] : undefined;
  const argumentTypes = types.slice(from, to).map((range) => rangeText(document, ...range));
  return {
    operation,
    module: path[0],
    kernel: path[1],
    symbol: [kernel.first, kernel.last],
    sizes,
    constants: sizes.map((token) => constants.get(tokenText(document, token))),
    isIndex: sizeType === 'index',
    sizeType,
    dynamicLds,
    dynamicLdsBytes: dynamicLds === undefined ? undefined : constants.get(tokenText(document, dynamicLds)),
    arguments: values.slice(from, to).map((token) => tokenText(document, token)),
    argumentTypes,
    functionType: functionTypeOf(argumentTypes),
    generic: { segments: [segments.first, segments.last], types, values },
  };
}

/** `@name`, quoted when it has to be. */
export function symbolText(name: string): string {
  return /^[A-Za-z_][\w$.]*$/.test(name) ? `@${name}` : `@${quoteText(name)}`;
}

const freshNames = new WeakMap<Document, { taken: ReadonlySet<string>; next: number }>();

/** A value name that the text does not use. */
export function fresh(document: Document): string {
  let state = freshNames.get(document);
  if (state === undefined) {
    const taken = new Set<string>();
    for (let at = 0; at < document.tokens.count; at++) {
      if (document.tokens.kinds[at] === TokenKind.Value) taken.add(tokenText(document, at));
    }
    state = { taken, next: 0 };
    freshNames.set(document, state);
  }
  for (;;) {
    const name = `%iree_${state.next++}`;
    if (!state.taken.has(name)) return name;
  }
}

/** Adds the edits that make a launch one of `facts`. */
export function rewriteLaunch(
  document: Document,
  edits: Edits,
  launch: DispatchSite,
  module: string,
  facts: LaunchStep,
): void {
  const { text, tokens } = document;
  const { operation } = launch;
  const start = tokens.starts[operation.first];
  const lineStart = text.lastIndexOf('\n', start) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, start))?.[0] ?? '';
  const lines: string[] = [];
  const constant = (value: number, type: string): string => {
    const name = fresh(document);
    const operationName = launch.isIndex
      ? `arith.constant ${value} : ${type}`
      : `llvm.mlir.constant(${value} : ${type}) : ${type}`;
    lines.push(`${name} = ${operationName}`);
    return name;
  };
  const sizes = [...facts.workgroupCount, ...facts.workgroupSizes];
  launch.sizes.forEach((token, i) => {
    edits.replaceTokens(document, token, token + 1, constant(sizes[i], launch.sizeType));
  });
  const lds = constant(facts.workgroupMemory, 'i32');
  edits.replaceTokens(
    document,
    launch.symbol[0],
    launch.symbol[1],
    `${symbolText(module)}::${symbolText(facts.kernel)}`,
  );
  if (launch.dynamicLds !== undefined) edits.replaceTokens(document, launch.dynamicLds, launch.dynamicLds + 1, lds);
  else if (launch.generic === undefined) insertPrettyLds(document, edits, launch, lds);
  else insertGenericLds(document, edits, launch.generic, lds);
  edits.replace(start, start, lines.map((line) => `${line}\n${indent}`).join(''));
}

function insertPrettyLds(document: Document, edits: Edits, launch: DispatchSite, lds: string): void {
  // Behind `threads in (…)` and the sizes' type, where there is one.
  let at = launch.sizes[5];
  while (!isPunct(document, at, ')')) at++;
  if (isPunct(document, at + 1, ':')) at += 2;
  edits.insertAfter(document, at, ` dynamic_shared_memory_size ${lds}`);
}

function insertGenericLds(
  document: Document,
  edits: Edits,
  generic: NonNullable<DispatchSite['generic']>,
  lds: string,
): void {
  const [first, last] = generic.segments;
  const counts = rangeText(document, first, last)
    .replace(/^array<i32:\s*|>$/g, '')
    .split(',')
    .map(Number);
  const before = counts.slice(0, SEGMENT.lds).reduce((sum, n) => sum + n, 0);
  counts[SEGMENT.lds] = 1;
  edits.replaceTokens(document, first, last, `array<i32: ${counts.join(', ')}>`);
  edits.insertAfter(document, generic.values[before - 1], `, ${lds}`);
  edits.insertAfter(document, generic.types[before - 1][1] - 1, ', i32');
}
