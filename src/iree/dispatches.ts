// What IREE itself records about each dispatch, read from its text dumps (`--dump-compilation-phases-to`): the HAL phase
// has `hal.command_buffer.dispatch` (grid, constants, binding ranges), the executable-sources phase has the bindings'
// `hal.interface.binding.subspan` (element types, shapes, access). Source: the assembly formats of HALOps.td in
// iree/compiler/Dialect/HAL/IR, IREE 3.9 to 3.13. Dumps in MLIR's generic form (`--mlir-print-op-generic`) give no records.
import { WavesmithError } from '../base/index.ts';
import { parseAttribute, symbolName } from '../mlir/attribute.ts';
import { lineAndColumn, TokenKind } from '../mlir/lex.ts';
import {
  type Document,
  isPunct,
  type Operation,
  parseMlir,
  rangeText,
  symbolToken,
  tokenText,
  walk,
} from '../mlir/parse.ts';

/** A tensor inside a binding. */
export interface BindingTensor {
  /** Byte offset inside the binding; null where the compiler left it to run time. */
  readonly offset: number | null;
  /** MLIR element type: `f16`, `bf16`, `f8E4M3FNUZ`, `i32`, `i1`, … */
  readonly elementType: string;
  /** Dimensions; null for a dynamic one. */
  readonly shape: readonly (number | null)[];
  readonly access: 'read' | 'write' | 'readwrite';
}

/** Where a binding's bytes come from at one dispatch. Equal `buffer` means the same underlying buffer. */
export interface BindingRange {
  readonly buffer: string;
  /** Byte offset in that buffer and length; null where only known at run time. */
  readonly offset: number | null;
  readonly length: number | null;
}

/** One `hal.command_buffer.dispatch`. */
export interface DispatchSite {
  /** Grid in workgroups; null where it is only known at run time. */
  readonly grid: readonly [number, number, number] | null;
  /** The 32-bit constants after the bindings; null where only known at run time. */
  readonly constants: readonly (number | null)[];
  readonly bindings: readonly BindingRange[];
}

/** The record of one kernel. */
export interface KernelRecord {
  /** The executable the kernel belonged to before linking: the name `--iree-hal-substitute-executable-object` wants. */
  readonly executable: string | null;
  /** Tensors by binding number. */
  readonly bindings: readonly (readonly BindingTensor[])[];
  readonly dispatches: readonly DispatchSite[];
}

const SUBSPAN = 'hal.interface.binding.subspan';
const DISPATCH = /^hal\.command_buffer\.dispatch(?:\.indirect)?(?:\.symbol)?$/;
/** Operations in which names of values begin anew. */
const SCOPES = new Set(['func.func', 'util.func', 'util.initializer']);

/** Values of a function by name (`%c0`): integer constants, and the kernels that `hal.executable.*` operations name. */
interface Values {
  readonly constants: Map<string, number>;
  readonly kernels: Map<string, string>;
}

interface Source {
  readonly executable: string;
  readonly bindings: BindingTensor[][];
}

/** Reads the two phase dumps into one record per kernel (export name). An empty text stands for a dump that is not there. */
export function readKernelRecords(sourcesText: string, halText: string): Map<string, KernelRecord> {
  const sources = readSources(readDump(sourcesText, 'executable-sources', (name) => name === SUBSPAN));
  const sites = readSites(readDump(halText, 'hal', (name) => DISPATCH.test(name)));
  const records = new Map<string, KernelRecord>();
  for (const name of new Set([...sources.keys(), ...sites.keys()])) {
    const source = sources.get(name);
    records.set(name, {
      executable: source?.executable ?? null,
      bindings: source?.bindings ?? [],
      dispatches: distinct(sites.get(name) ?? []),
    });
  }
  return records;
}

function distinct(sites: readonly DispatchSite[]): DispatchSite[] {
  return [...new Map(sites.map((site) => [JSON.stringify(site), site])).values()];
}

/** Parses a dump and makes sure that each operation that matters is in the tree: none may be missing from the records. */
function readDump(text: string, phase: string, matters: (name: string) => boolean): Document {
  const document = parseMlir(text, `the ${phase} dump`);
  const { kinds, starts, count } = document.tokens;
  const found = new Set([...walk(document.operations)].map((operation) => operation.nameToken));
  for (let token = 0; token < count; token++) {
    if (kinds[token] !== TokenKind.Identifier || found.has(token) || !matters(tokenText(document, token))) continue;
    throw new WavesmithError('iree/unreadable-dump', `IREE's ${phase} dump has a form that is not understood.`, {
      ...lineAndColumn(text, starts[token]),
      hint: 'Please report it with the dump: iree-compile --dump-compilation-phases-to=FOLDER.',
    });
  }
  return document;
}

/** The opening brackets of `name(…)` among the tokens of an operation, by name. */
function clausesOf(document: Document, operation: Operation): Map<string, number> {
  const clauses = new Map<string, number>();
  for (let at = operation.nameToken + 1; at < operation.last; at++) {
    const match = document.match[at];
    if (match > at) at = match;
    else if (document.tokens.kinds[at] === TokenKind.Identifier && isPunct(document, at + 1, '(')) {
      clauses.set(tokenText(document, at), at + 1);
    }
  }
  return clauses;
}

/** The tokens of values (`%x`) between an opening bracket and its partner. */
function valuesWithin(document: Document, open: number): string[] {
  const values: string[] = [];
  for (let at = open + 1; at < document.match[open]; at++) {
    if (document.tokens.kinds[at] === TokenKind.Value) values.push(tokenText(document, at));
  }
  return values;
}

/** Remembers what an operation defines: `arith.constant 4 : index`, `llvm.mlir.constant(4 : i32)`, `hal.executable.… @a::@b::@c`. */
function define(document: Document, operation: Operation, values: Values): void {
  const [result] = operation.results;
  if (result === undefined || operation.generic) return;
  const { name, nameToken, last } = operation;
  if (name === 'arith.constant' || name === 'llvm.mlir.constant') {
    const first = name === 'arith.constant' ? nameToken + 1 : nameToken + 2;
    const value = parseAttribute(document, isPunct(document, first, '{') ? document.match[first] + 1 : first, last);
    if (value.kind === 'integer' || value.kind === 'boolean') values.constants.set(result.name, Number(value.value));
    else values.constants.delete(result.name);
  } else if (name.startsWith('hal.executable.')) {
    for (const open of clausesOf(document, operation).values()) {
      const kernel = kernelNamed(document, open);
      if (kernel !== undefined) values.kernels.set(result.name, kernel);
    }
  }
}

/** The last part of `(@executable::@variant::@kernel)`. */
function kernelNamed(document: Document, open: number): string | undefined {
  const symbol = parseAttribute(document, open + 1, document.match[open]);
  return symbol.kind === 'symbol' && symbol.path.length === 3 ? symbol.path[2] : undefined;
}

function readSources(document: Document): Map<string, Source> {
  const kernels = new Map<string, Source>();
  const executables = [...walk(document.operations)].filter(({ name }) => name === 'hal.executable');
  for (const outer of executables) {
    const executable = symbolOf(document, outer);
    if (executable === undefined) continue;
    for (const operation of walk([outer])) {
      const name = operation.name === 'func.func' ? symbolOf(document, operation) : undefined;
      if (name === undefined) continue;
      const bindings = bindingsOf(document, operation);
      // Functions called by a kernel are no kernels: they have no bindings of their own.
      if (bindings.length > 0) kernels.set(name, { executable, bindings });
    }
  }
  return kernels;
}

function symbolOf(document: Document, operation: Operation): string | undefined {
  const token = symbolToken(document, operation);
  return token === undefined ? undefined : symbolName(tokenText(document, token));
}

/** The tensors of a kernel's bindings, by binding number, in the order of the text. */
function bindingsOf(document: Document, kernel: Operation): BindingTensor[][] {
  const bindings: BindingTensor[][] = [];
  const values: Values = { constants: new Map(), kernels: new Map() };
  for (const operation of walk(kernel.regions.flatMap((region) => region.operations))) {
    define(document, operation, values);
    if (operation.name !== SUBSPAN || operation.generic) continue;
    const clauses = clausesOf(document, operation);
    const binding = clauses.get('binding');
    const tensor = tensorOf(document, operation);
    if (binding === undefined || tensor === undefined) continue;
    const index = Number(tokenText(document, binding + 1));
    while (bindings.length <= index) bindings.push([]);
    const offset = clauses.get('offset');
    const [value] = offset === undefined ? [] : valuesWithin(document, offset);
    bindings[index].push({ offset: value === undefined ? 0 : (values.constants.get(value) ?? null), ...tensor });
  }
  return bindings;
}

/** The type behind the colon of a subspan: `!….tensor<readonly:tensor<64x?xf16>>` or `memref<64xf32, …>`. */
function tensorOf(document: Document, operation: Operation): Omit<BindingTensor, 'offset'> | undefined {
  let access: BindingTensor['access'] = 'readwrite';
  for (let at = operation.nameToken + 1; at < operation.last; at++) {
    const text = tokenText(document, at);
    if (isPunct(document, at + 1, ':') && (text === 'readonly' || text === 'writeonly')) {
      access = text === 'readonly' ? 'read' : 'write';
    }
    if ((text !== 'tensor' && text !== 'memref') || !isPunct(document, at + 1, '<')) continue;
    const close = document.match[at + 1];
    let end = at + 2;
    while (end < close && !isPunct(document, end, ','))
      end = document.match[end] > end ? document.match[end] + 1 : end + 1;
    const [, dimensions, elementType] = /^((?:(?:\d+|\?)x)*)(.*)$/.exec(
      rangeText(document, at + 2, end),
    ) as RegExpExecArray;
    const shape = dimensions.split('x').slice(0, -1);
    return { elementType, shape: shape.map((size) => (size === '?' ? null : Number(size))), access };
  }
  return undefined;
}

function readSites(document: Document): Map<string, DispatchSite[]> {
  const sites = new Map<string, DispatchSite[]>();
  let values: Values = { constants: new Map(), kernels: new Map() };
  for (const operation of walk(document.operations)) {
    if (SCOPES.has(operation.name)) values = { constants: new Map(), kernels: new Map() };
    define(document, operation, values);
    if (!DISPATCH.test(operation.name) || operation.generic) continue;
    const clauses = clausesOf(document, operation);
    const target = clauses.get('target');
    if (target === undefined) continue;
    const [ordinal] = valuesWithin(document, document.match[target] + 1);
    const kernel = kernelNamed(document, target) ?? (ordinal === undefined ? undefined : values.kernels.get(ordinal));
    if (kernel === undefined) continue;
    const numbers = (name: string): (number | null)[] => {
      const open = clauses.get(name);
      return open === undefined ? [] : valuesWithin(document, open).map((value) => values.constants.get(value) ?? null);
    };
    const grid = numbers('workgroups');
    const isKnown = grid.length === 3 && grid.every((n) => n !== null);
    const list = sites.get(kernel) ?? [];
    list.push({
      grid: isKnown ? (grid as [number, number, number]) : null,
      constants: numbers('constants'),
      bindings: rangesOf(document, clauses.get('bindings'), values.constants),
    });
    sites.set(kernel, list);
  }
  return sites;
}

/** The items of `bindings([(%buffer : type)[%offset, %length], …])`. */
function rangesOf(
  document: Document,
  open: number | undefined,
  constants: ReadonlyMap<string, number>,
): BindingRange[] {
  const ranges: BindingRange[] = [];
  if (open === undefined) return ranges;
  for (let at = open + 2; at < document.match[open]; at++) {
    if (!isPunct(document, at, '(')) continue;
    const [buffer = ''] = valuesWithin(document, at);
    at = document.match[at] + 1;
    const [offset = '', length = ''] = valuesWithin(document, at);
    const slot = constants.get(buffer);
    ranges.push({
      // A slot of the binding table is named by its number; anything else by its value in this function.
      buffer: slot === undefined ? buffer : `slot ${slot}`,
      offset: constants.get(offset) ?? null,
      length: constants.get(length) ?? null,
    });
    at = document.match[at];
  }
  return ranges;
}
