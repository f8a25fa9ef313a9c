// Recognising a softmax along the last axis: `migraphx.softmax`, or written out as exponentials of what is left above the row's
// largest element, divided by their sum, as MIGraphX hands it to rocMLIR. Source: rocMLIR's mixr-attention-… tests.

import type { AttentionSite } from './context.ts';
import { integerAttribute, integerList, type ReadOperation } from './read.ts';
import { elementsOf, isFloat } from './types.ts';

/** The value behind conversions between floats. */
export function withoutConversions({ definition, view }: AttentionSite, name: string): string {
  let at = name;
  for (let source = definition(at); source?.name === 'migraphx.convert'; source = definition(at)) {
    if (!isFloat(view(source.operands[0]).element)) break;
    at = source.operands[0];
  }
  return at;
}

/** The value behind conversions and reshapes that keep the last `kept` dimensions. */
export function sameRows(site: AttentionSite, name: string, kept: number): string {
  const { definition, view } = site;
  for (let at = withoutConversions(site, name); ; ) {
    const source = definition(at);
    if (source?.name !== 'migraphx.reshape') return at;
    const [from, to] = [view(source.operands[0]).shape.slice(-kept), view(at).shape.slice(-kept)];
    if (from.length !== kept || from.some((size, d) => size !== to[d])) return at;
    at = withoutConversions(site, source.operands[0]);
  }
}

/** A reduction along the last axis that is kept with size 1, and one value a row since then. */
function rowsValue(site: AttentionSite, name: string, kind: string): ReadOperation | undefined {
  const { document, definition, view } = site;
  for (let at = withoutConversions(site, name); ; ) {
    const source = definition(at);
    if (source === undefined) return undefined;
    const { shape } = view(at);
    if (source.name === kind) {
      const rank = shape.length;
      const axes = integerList(document, source, 'axes').map((axis) => (axis < 0 ? axis + rank : axis));
      return axes.length === 1 && axes[0] === rank - 1 ? source : undefined;
    }
    if (source.name !== 'migraphx.reshape' && source.name !== 'migraphx.multibroadcast') return undefined;
    const from = view(source.operands[0]).shape;
    const isSpread = source.name === 'migraphx.multibroadcast';
    // Whatever it is now, it was one value a row.
    const fits = isSpread
      ? from.length === shape.length && from.every((size, d) => size === shape[d] || d === shape.length - 1)
      : shape.at(-1) === 1;
    if (!fits || from.at(-1) !== 1) return undefined;
    at = withoutConversions(site, source.operands[0]);
  }
}

const withoutOnes = (shape: readonly number[]): string => shape.filter((size) => size !== 1).join('x');

/** What the softmax `name` is of, or undefined. */
export function softmaxInput(site: AttentionSite, name: string): string | undefined {
  const { document, definition, view } = site;
  const source = definition(sameRows(site, name, 2));
  if (source?.name === 'migraphx.softmax') {
    const rank = view(source.operands[0]).shape.length;
    const axis = integerAttribute(document, source, 'axis');
    return axis === rank - 1 || axis === -1 ? source.operands[0] : undefined;
  }
  if (source?.name !== 'migraphx.div' && source?.name !== 'migraphx.mul') return undefined;
  const [power, weight] = source.operands;
  const sum = source.name === 'migraphx.div' ? weight : definition(weight)?.operands[0];
  if (source.name === 'migraphx.mul' && definition(weight)?.name !== 'migraphx.recip') return undefined;
  const total = sum === undefined ? undefined : rowsValue(site, sum, 'migraphx.reduce_sum');
  if (total === undefined) return undefined;
  const exponential = sameRows(site, power, 1);
  if (definition(exponential)?.name !== 'migraphx.exp') return undefined;
  if (sameRows(site, total.operands[0], 1) !== exponential) return undefined;
  const centred = definition(sameRows(site, definition(exponential)?.operands[0] ?? '', 1));
  if (centred?.name !== 'migraphx.sub') return undefined;
  const [scores, top] = centred.operands;
  const largest = rowsValue(site, top, 'migraphx.reduce_max');
  if (largest === undefined || sameRows(site, largest.operands[0], 1) !== sameRows(site, scores, 1)) return undefined;
  const rows = view(scores).shape.slice(0, -1);
  const isOfRows = [largest, total].every(
    ({ operands: [of] }) =>
      withoutOnes(view(of).shape.slice(0, -1)) === withoutOnes(rows) &&
      view(of).shape.at(-1) === view(scores).shape.at(-1),
  );
  if (!isOfRows || elementsOf(view(scores).shape) !== elementsOf(view(name).shape)) return undefined;
  // Who wants the sums as well gets them from kernels of their own: the block would compute all of it twice.
  const isPrivate = [total, largest].every(({ results: [result] }) => usesThrough(site, result) === 1);
  return isPrivate ? scores : undefined;
}

/** How many operations use a value, behind reshapes and conversions of it. */
function usesThrough(site: AttentionSite, name: string): number {
  const users = site.users(name);
  const [only] = users;
  const isPassedOn =
    users.length === 1 && ['migraphx.reshape', 'migraphx.convert', 'migraphx.multibroadcast'].includes(only.name);
  return isPassedOn ? usesThrough(site, only.results[0].name) : users.length;
}
