// `migraphx.attention` written out as what it stands for: dot, the operations of its region, softmax, dot. So the lowering and the
// direct reference see operations that they know. Text is replaced line for line, and errors keep their places.
// Source: rocMLIR's test MIGraphXAttentionDecompose/attention-decompose.mlir for the form and for what it becomes.
import { entryOf, parseDictionary } from '../../mlir/attribute.ts';
import { Edits } from '../../mlir/edit.ts';
import { TokenKind } from '../../mlir/lex.ts';
import { type Document, isPunct, type Operation, parseMlir, rangeText, tokenText, walk } from '../../mlir/parse.ts';
import { operationError, readOperation, readType, splitAtCommas } from './read.ts';
import { ELEMENTS, type Element, elementsOf, isFloat, standardStrides, type TensorType } from './types.ts';

const NAME = 'migraphx.attention';

/** The module with its attention operations written out; the same document when it has none. */
export function decomposeAttention(document: Document): Document {
  const edits = new Edits();
  let count = 0;
  for (const operation of walk(document.operations)) {
    if (operation.name !== NAME) continue;
    const text = decomposed(document, operation, `%attention${count++}_`);
    if (text === undefined) continue;
    const lines = rangeText(document, operation.first, operation.last).split('\n').length - 1;
    edits.replaceTokens(document, operation.first, operation.last, `${text}${'\n'.repeat(lines)}`);
  }
  const text = edits.apply(document.text);
  return text === document.text ? document : parseMlir(text, document.file);
}

const typeOf = (shape: readonly number[], element: Element): string =>
  `!migraphx.shaped<${shape.map((size) => `${size}x`).join('')}${element}, ${standardStrides(shape).join('x')}>`;

/** The words between operands and types: `softmax_type = f32`; undefined when there is one that is not understood. */
function softmaxType(document: Document, operation: Operation): string | null | undefined {
  const { kinds } = document.tokens;
  let found: string | null = null;
  for (let at = operation.nameToken + 1; at < operation.last && !isPunct(document, at, ':'); ) {
    if (kinds[at] === TokenKind.Identifier) {
      const word = tokenText(document, at);
      if (word === 'softmax_type' && isPunct(document, at + 1, '=')) {
        found = tokenText(document, at + 2);
        at += 2;
      } else if (word !== 'pre_softmax_inputs') return undefined;
    }
    at = document.match[at] > at ? document.match[at] + 1 : at + 1;
  }
  const known = new Set(['perf_config', 'softmax_type']);
  for (const open of operation.dictionaries) {
    const entries = parseDictionary(document, open);
    if (entries.some(({ name }) => !known.has(name))) return undefined;
    const value = entryOf(entries, 'softmax_type');
    if (value !== undefined) found = rangeText(document, value.first, value.last);
  }
  return found;
}

/** The operations that take the place of one; undefined for a form that is not understood, which then falls back by name. */
function decomposed(document: Document, operation: Operation, prefix: string): string | undefined {
  const given = softmaxType(document, operation);
  if (operation.generic || given === undefined || operation.regions.length > 1) return undefined;
  const read = readOperation(document, operation);
  const types = operandTypes(document, operation);
  const [queries, keys, values] = types;
  const [outType, lseType] = read.resultTypes;
  const error = (message: string): Error => operationError(document, operation, 'rocmlir/shape', message);
  if (types.length !== 3 || read.resultTypes.length > 2 || read.operands.length < 3) return undefined;
  const rank = queries.shape.length;
  if (rank < 2 || keys.shape.length !== rank || values.shape.length !== rank) {
    throw error(`${NAME} takes queries, keys and values of one rank of 2 or more.`);
  }
  const lines: string[] = [];
  let next = 0;
  const emit = (text: string): string => {
    const name = `${prefix}${next++}`;
    lines.push(`${name} = ${text}`);
    return name;
  };
  const unary = (op: string, a: string, from: string, to: string, attributes = ''): string =>
    emit(`migraphx.${op} ${a} ${attributes}: ${from} -> ${to}`);
  const binary = (op: string, a: string, b: string, [ta, tb]: readonly [string, string], to: string): string =>
    emit(`migraphx.${op} ${a}, ${b} : ${ta}, ${tb} -> ${to}`);
  const convert = (a: string, shape: readonly number[], from: Element, to: Element): string =>
    from === to ? a : emit(`migraphx.convert ${a} : ${typeOf(shape, from)} to ${typeOf(shape, to)}`);

  const key = repeatHeads(read.operands[1], keys, queries, unary, error);
  const value = repeatHeads(read.operands[2], values, queries, unary, error);
  const scores = [...queries.shape.slice(0, -1), keys.shape[rank - 1]];
  const made = scoreElement(document, operation) ?? accumulated(queries.element);
  const product = isFloat(queries.element) ? 'dot' : 'quant_dot';
  const sums = binary(product, read.operands[0], key.name, [written(queries), key.type], typeOf(scores, made));
  const body = inlined(document, operation, [sums, ...read.operands.slice(3)], prefix, lines);
  const scored = body ?? { name: sums, element: made };
  const asked = given === null ? undefined : (given as Element);
  const wide = asked ?? (lseType !== undefined && lseType.element === 'f32' ? 'f32' : scored.element);
  if (!isFloat(wide)) throw error(`The softmax of ${NAME} is computed in floats, not in ${wide}.`);
  const input = convert(scored.name, scores, scored.element, wide);
  const [whole, column] = [typeOf(scores, wide), typeOf([...scores.slice(0, -1), 1], wide)];
  let weights: string;
  if (lseType === undefined) weights = unary('softmax', input, whole, whole, `{axis = ${rank - 1} : i64} `);
  else {
    const axes = `{axes = [${rank - 1}]} `;
    const spread = (a: string): string =>
      unary('multibroadcast', a, column, whole, `{out_lens = [${scores.join(', ')}]} `);
    const largest = unary('reduce_max', input, whole, column, axes);
    const centred = binary('sub', input, spread(largest), [whole, whole], whole);
    const powers = unary('exp', centred, whole, whole);
    const total = unary('reduce_sum', powers, whole, column, axes);
    weights = binary('div', powers, spread(total), [whole, whole], whole);
    const sum = binary('add', unary('log', total, column, column), largest, [column, column], column);
    if (elementsOf(lseType.shape) !== elementsOf(scores.slice(0, -1))) {
      throw error(`The second result of ${NAME} has one element for each row of scores.`);
    }
    const flat = unary('reshape', sum, column, typeOf(lseType.shape, wide), `{dims = [${lseType.shape.join(', ')}]} `);
    // The last of them gets the name that the module uses.
    const lse = convert(flat, lseType.shape, wide, lseType.element);
    lines[lines.length - 1] = lines[lines.length - 1].replace(lse, read.results[1]);
  }
  const probabilities = convert(weights, scores, wide, values.element);
  const types2 = `${typeOf(scores, values.element)}, ${value.type}`;
  lines.push(`${read.results[0]} = migraphx.dot ${probabilities}, ${value.name} : ${types2} -> ${written(outType)}`);
  return lines.join(' ');
}

/** Sums of narrow factors are wider than they. */
function accumulated(element: Element): Element {
  if (!isFloat(element)) return 'i32';
  return ELEMENTS[element].bits < 16 ? 'f32' : element;
}

/** The element type that the region takes its scores in; undefined without a region. */
function scoreElement(document: Document, { regions: [region] }: Operation): Element | undefined {
  const [label] = region?.labels ?? [];
  if (label === undefined || !isPunct(document, label + 1, '(')) return undefined;
  const [first] = splitAtCommas(document, label + 2, document.match[label + 1]);
  return first === undefined ? undefined : readType(document, first[0] + 2, first[1]).element;
}

/** A type as its shape says: what lies between operations has no other layout. */
const written = ({ shape, element }: TensorType): string => typeOf(shape, element);

/** The types of queries, keys and values: what follows the colon outside of all brackets. */
function operandTypes(document: Document, operation: Operation): TensorType[] {
  let at = operation.nameToken + 1;
  const step = (token: number): number => (document.match[token] > token ? document.match[token] + 1 : token + 1);
  while (at < operation.last && !isPunct(document, at, ':')) at = step(at);
  let end = at;
  while (end < operation.last && !isPunct(document, end, '->')) end = step(end);
  return splitAtCommas(document, at + 1, end).map(([a, b]) => readType(document, a, b));
}

/** Keys or values with as many batches as the queries: neighbouring heads share one. */
function repeatHeads(
  name: string,
  type: TensorType,
  queries: TensorType,
  unary: (op: string, a: string, from: string, to: string, attributes?: string) => string,
  error: (message: string) => Error,
): { readonly name: string; readonly type: string } {
  const [wanted, own] = [queries.shape.slice(0, -2), type.shape.slice(0, -2)];
  const d = wanted.findIndex((size, i) => size !== own[i]);
  if (d < 0) return { name, type: written(type) };
  const times = wanted[d] / own[d];
  if (!Number.isInteger(times) || wanted.some((size, i) => i !== d && size !== own[i])) {
    throw error(`Batches ${own.join('x')} do not divide the queries' ${wanted.join('x')}.`);
  }
  const matrix = type.shape.slice(-2);
  const split = [...own.slice(0, d + 1), 1, ...own.slice(d + 1), ...matrix];
  const spread = split.map((size, i) => (i === d + 1 ? times : size));
  const joined = [...wanted, ...matrix];
  const [a, b, c] = [split, spread, joined].map((shape) => typeOf(shape, type.element));
  const apart = unary('reshape', name, written(type), a, `{dims = [${split.join(', ')}]} `);
  const repeated = unary('multibroadcast', apart, a, b, `{out_lens = [${spread.join(', ')}]} `);
  return { name: unary('reshape', repeated, b, c, `{dims = [${joined.join(', ')}]} `), type: c };
}

/** Adds the region's operations with their values renamed; what it yields, or undefined for an empty region. */
function inlined(
  document: Document,
  operation: Operation,
  inputs: readonly string[],
  prefix: string,
  lines: string[],
): { readonly name: string; readonly element: Element } | undefined {
  const [region] = operation.regions;
  if (region === undefined || region.operations.length === 0) return undefined;
  const names = new Map<string, string>();
  const [label] = region.labels;
  if (label !== undefined && isPunct(document, label + 1, '(')) {
    const parts = splitAtCommas(document, label + 2, document.match[label + 1]);
    for (const [i, [first]] of parts.entries()) names.set(tokenText(document, first), inputs[i] ?? '');
  }
  let last: { name: string; element: Element } | undefined;
  for (const inner of region.operations) {
    if (inner.name === 'migraphx.yield') break;
    for (const { name } of inner.results) names.set(name, `${prefix}${name.slice(1)}`);
    let text = '';
    for (let at = inner.first; at < inner.last; at++) {
      const token = tokenText(document, at);
      const isValue = document.tokens.kinds[at] === TokenKind.Value;
      text += `${at === inner.first || isPunct(document, at, ',') ? '' : gap(document, at)}${isValue ? (names.get(token) ?? token) : token}`;
    }
    lines.push(text);
    const [type] = readOperation(document, inner).resultTypes;
    last = { name: names.get(inner.results[0]?.name ?? '') ?? '', element: type.element };
  }
  const end = region.operations.at(-1);
  const yielded = end?.name === 'migraphx.yield' ? readOperation(document, end).operands[0] : undefined;
  if (yielded === undefined || last === undefined) return last;
  return { ...last, name: names.get(yielded) ?? yielded };
}

/** A blank where the text has one. */
const gap = (document: Document, token: number): string =>
  document.tokens.starts[token] > document.tokens.ends[token - 1] ? ' ' : '';
