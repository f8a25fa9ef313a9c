// Recognising an attention block: dot(softmax(f(dot(q, k))), v), where f scales, masks and adds, as MIGraphX writes it. IREE makes
// one kernel of it only when it sees the block as one operation; that operation has a factor and a mask that is added. The
// operations of f are taken into these two. Source: rocMLIR's mixr-attention-… tests.

import { elementType } from '../../base/index.ts';
import { rangeText } from '../../mlir/parse.ts';
import { type AttentionSite, sameShape } from './context.ts';
import type { Attention } from './contract.ts';
import { broadcastShape, type Emitter, type View } from './emit.ts';
import type { ReadOperation } from './read.ts';
import { Scalars } from './scalar.ts';
import { type Element, elementsOf, isFloat } from './types.ts';
import { sameRows, softmaxInput } from './written-softmax.ts';

/** The types of which IREE's attention is right; sums and softmax are f32 in it. */
const ELEMENTS: ReadonlySet<Element> = new Set(['f32', 'f16', 'bf16']);

/** Layout operations that leave a splat a splat. */
const KEEPS_SPLAT = new Set(['migraphx.multibroadcast', 'migraphx.broadcast', 'migraphx.reshape', 'migraphx.convert']);

/**
 * Masks whose fill is at most this leave out: the weight of such a score is 0 beside any other, and rows of nothing else are even.
 * rocMLIR takes -1e4 so too (mixr-attention-causal-inverted-where-non-inf).
 */
const LEFT_OUT = -1e4;
/** What is added to a score that is left out: it absorbs every score, so that a row of nothing else stays even. */
const ABSORBS = '-1.000000e+30';
const MINUS_INFINITY = '0xFF800000';

/** The one value of a constant, however it was broadcast. */
function splatValue({ document, definition, view }: AttentionSite, name: string): number | undefined {
  let at = name;
  let read = definition(at);
  for (; read !== undefined && KEEPS_SPLAT.has(read.name); read = definition(at)) [at] = read.operands;
  if (read === undefined || (read.name !== 'migraphx.literal' && read.name !== 'arith.constant')) return undefined;
  const text = rangeText(document, read.operation.nameToken + 1, read.operation.last);
  const word = /dense<\s*([-+.\w]+)\s*>/.exec(text)?.[1] ?? '';
  if (!/^0x[\dA-Fa-f]+$/.test(word)) {
    const value = Number(word === '' ? Number.NaN : word);
    return Number.isFinite(value) ? value : undefined;
  }
  const bits = new DataView(new ArrayBuffer(8));
  bits.setBigUint64(0, BigInt(word), true);
  const value = elementType(view(at).element).read(bits, 0);
  return Number.isNaN(value) ? undefined : value;
}

/** One operation between the first dot product and the softmax, `shape` its result's. */
type Step = { readonly shape: readonly number[] } & (
  | { readonly kind: 'factor'; readonly value: number }
  | { readonly kind: 'scale'; readonly by: View; readonly inverse: boolean }
  | { readonly kind: 'add'; readonly what: View; readonly negative: boolean }
  | { readonly kind: 'mask'; readonly condition: View; readonly keeps: boolean; readonly fill: number }
);

/** Two operands of which one comes from the scores. */
const COMBINES = new Set(['migraphx.mul', 'migraphx.div', 'migraphx.add', 'migraphx.sub', 'migraphx.where']);

/** The operation that makes the scores' value, behind conversions and reshapes that keep its matrices. */
const maker = (site: AttentionSite, name: string): ReadOperation | undefined =>
  site.definition(sameRows(site, name, 2));

/** Whether a value comes from a dot product by what the block can take in; at most `depth` operations away. */
function isScores(site: AttentionSite, name: string, elements: number, depth: number): boolean {
  const source = maker(site, name);
  if (source === undefined || depth === 0 || elementsOf(site.view(name).shape) !== elements) return false;
  if (source.name === 'migraphx.dot') return true;
  return COMBINES.has(source.name) && source.operands.some((operand) => isScores(site, operand, elements, depth - 1));
}

/** How deep the operations between dot product and softmax may nest. */
const DEPTH = 12;

/** The steps from the softmax's input back to the dot product, last first; undefined when one cannot be taken in. */
function stepsTo(
  site: AttentionSite,
  input: string,
): { readonly steps: Step[]; readonly product: ReadOperation } | undefined {
  const steps: Step[] = [];
  const elements = elementsOf(site.view(input).shape);
  for (let name = input; ; ) {
    const source = maker(site, name);
    if (source === undefined) return undefined;
    if (source.name === 'migraphx.dot') return { steps, product: source };
    if (!COMBINES.has(source.name) || steps.length === DEPTH) return undefined;
    const from = source.operands.findIndex((operand) => isScores(site, operand, elements, DEPTH));
    const step = from < 0 ? undefined : stepOf(site, source, from);
    if (step === undefined) return undefined;
    steps.push(step);
    name = source.operands[from];
  }
}

/** What the operation `source` does to the scores, its operand `from`. */
function stepOf(site: AttentionSite, source: ReadOperation, from: number): Step | undefined {
  const { shape } = site.view(source.results[0]);
  const { operands } = source;
  if (source.name === 'migraphx.where') {
    if (from === 0) return undefined;
    const fill = splatValue(site, operands[3 - from]);
    const condition = site.view(operands[0]);
    if (fill === undefined || fill > LEFT_OUT || isFloat(condition.element)) return undefined;
    return { kind: 'mask', shape, condition, keeps: from === 1, fill };
  }
  const other = operands[1 - from];
  const view = site.view(other);
  const isProduct = source.name === 'migraphx.mul' || source.name === 'migraphx.div';
  // What is divided or subtracted comes second.
  if (from !== 0 && (source.name === 'migraphx.div' || source.name === 'migraphx.sub')) return undefined;
  if (!isProduct) return { kind: 'add', shape, what: view, negative: source.name === 'migraphx.sub' };
  const inverse = source.name === 'migraphx.div';
  const factor = splatValue(site, other);
  if (factor === undefined) return { kind: 'scale', shape, by: view, inverse };
  const value = inverse ? 1 / factor : factor;
  return Number.isFinite(value) ? { kind: 'factor', shape, value } : undefined;
}

/** The attention block that ends in the dot product `read`, or undefined. Only a block that is one emits operations. */
export function matchAttention(site: AttentionSite, read: ReadOperation): Attention | undefined {
  if (read.name !== 'migraphx.dot') return undefined;
  const { view } = site;
  const value = view(read.operands[1]);
  const input = softmaxInput(site, read.operands[0]);
  const found = input === undefined ? undefined : stepsTo(site, input);
  if (found === undefined) return undefined;
  const [query, key] = found.product.operands.map(view);
  const { shape } = view(found.product.results[0]);
  const isNarrow = [query, key, value].every(({ element }) => element === query.element && ELEMENTS.has(element));
  // One batch of matrices throughout: the result of the block is that of its last product.
  const out = view(read.operands[0]).shape;
  if (!isNarrow || shape.length < 2 || !sameShape(shape.slice(-2), out.slice(-2))) return undefined;
  const steps = found.steps.reverse();
  if (!canTakeIn(steps, shape)) return undefined;
  return takeIn(site.emit, steps, { query, key, value, scores: shape, out });
}

/** Whether factor and mask can stand for all steps. */
function canTakeIn(steps: readonly Step[], scores: readonly number[]): boolean {
  const rank = scores.length;
  let masked = false;
  for (const step of steps) {
    if (step.kind === 'mask') masked = true;
    // What is left out would not stay so.
    else if (step.kind === 'factor' && masked && step.value <= 0) return false;
    else if (step.kind === 'scale') {
      // A factor for each row belongs to the queries, one for each column to the keys; one for each score to none of them.
      const by = spread(step.by, step.shape);
      const isOne = sameShape(step.shape, scores) && by !== undefined && [1, 2].some((d) => by.map[rank - d] === null);
      if (!isOne || masked || !isFloat(step.by.element)) return false;
    } else if (step.kind === 'add' && !isFloat(step.what.element)) return false;
  }
  return true;
}

/** The operand's map when it is repeated to a shape that it fits. */
function spread(view: View, shape: readonly number[]): { readonly map: readonly (number | null)[] } | undefined {
  const common = broadcastShape([view.shape, shape]);
  if (common === undefined || !sameShape(common, shape)) return undefined;
  const first = shape.length - view.shape.length;
  const map = shape.map((size, d) => {
    const from = d < first ? null : view.map[d - first];
    return from !== null && view.base[from] === 1 && size !== 1 ? null : from;
  });
  return { map };
}

/** The block with its steps in factor, mask, queries and keys. */
function takeIn(
  emit: Emitter,
  steps: readonly Step[],
  block: {
    readonly query: View;
    readonly key: View;
    readonly value: View;
    readonly scores: readonly number[];
    readonly out: readonly number[];
  },
): Attention {
  const s = new Scalars(emit);
  const { scores } = block;
  const rank = scores.length;
  /** An operand of a step as it stands beside the scores. */
  const beside = (view: View, shape: readonly number[]): View => {
    const wide = sameShape(view.shape, shape) ? view : emit.broadcast(view, shape, shape.length - view.shape.length);
    return sameShape(shape, scores) ? wide : emit.reshape(wide, scores);
  };
  const alone = (view: View, body: (value: string) => string): View =>
    emit.elementwise([view], 'f32', ([a]) => body(s.convert(a, view.element, 'f32')));
  let { query, key } = block;
  let scale = 1;
  let mask: View | undefined;
  for (const step of steps) {
    if (step.kind === 'factor') {
      scale *= step.value;
      mask &&= alone(mask, (a) => s.binary('arith.mulf', a, s.constant(step.value.toExponential(9), 'f32'), 'f32'));
    } else if (step.kind === 'add') {
      const what = beside(step.what, step.shape);
      const before = mask;
      if (before === undefined && !step.negative) mask = what;
      else {
        const operation = step.negative ? 'arith.subf' : 'arith.addf';
        mask = emit.elementwise(before === undefined ? [what] : [what, before], 'f32', ([a, b]) => {
          const [x, y] = [a, b].map((arg, i) => (i === 0 ? s.convert(arg, what.element, 'f32') : (arg ?? '')));
          const old = before === undefined ? s.constant('0.0', 'f32') : s.convert(y, before.element, 'f32');
          return s.binary(operation, old, x, 'f32');
        });
      }
    } else if (step.kind === 'mask') {
      const condition = beside(step.condition, step.shape);
      const before = mask;
      const fill = step.fill === Number.NEGATIVE_INFINITY ? MINUS_INFINITY : ABSORBS;
      mask = emit.elementwise(before === undefined ? [condition] : [condition, before], 'f32', ([c, m]) => {
        const zero = s.constant(condition.element === 'i1' ? 'false' : '0', condition.element);
        const old = before === undefined ? s.constant('0.0', 'f32') : s.convert(m, before.element, 'f32');
        const holds = s.compare(step.keeps ? 'ne' : 'eq', c, zero, condition.element);
        return s.select(holds, old, s.constant(fill, 'f32'), 'f32');
      });
    } else {
      const by = beside(step.by, step.shape);
      const multiply = (a: View, b: View, to: Element): View =>
        emit.elementwise([a, b], to, ([x, y]) => {
          const [p, q] = [s.convert(x, a.element, 'f32'), s.convert(y, b.element, 'f32')];
          return s.convert(s.binary(step.inverse ? 'arith.divf' : 'arith.mulf', p, q, 'f32'), 'f32', to);
        });
      mask &&= multiply(mask, by, 'f32');
      const [m, n] = [rank - 2, rank - 1];
      const batch = by.map.slice(0, m);
      if (by.map[n] === null) {
        const wide = emit.broadcast(
          query,
          [...scores.slice(0, m), ...query.shape.slice(-2)],
          rank - query.shape.length,
        );
        query = multiply(wide, { ...by, shape: wide.shape, map: [...batch, by.map[m], null] }, query.element);
      } else {
        const wide = emit.broadcast(key, [...scores.slice(0, m), ...key.shape.slice(-2)], rank - key.shape.length);
        key = multiply(wide, { ...by, shape: wide.shape, map: [...batch, null, by.map[n]] }, key.element);
      }
    }
  }
  const batch = scores.slice(0, -2);
  const widened = (view: View, from: readonly number[]): View => {
    const shape = [...from, ...view.shape.slice(-2)];
    const wide = sameShape(view.shape, shape) ? view : emit.broadcast(view, shape, shape.length - view.shape.length);
    return sameShape(from, batch) ? wide : emit.reshape(wide, [...batch, ...view.shape.slice(-2)]);
  };
  return {
    query: widened(query, batch),
    key: widened(key, batch),
    value: widened(block.value, block.out.slice(0, -2)),
    scale,
    mask,
    batch: block.out.slice(0, -2),
  };
}
