// Recognising an attention block: dot(softmax(dot(q, k) * scale + mask), v), as MIGraphX writes it. IREE makes one kernel of
// it only when it sees the block as one operation. Source: rocMLIR's attention e2e modules.

import { type Document, rangeText } from '../../mlir/parse.ts';
import type { Attention } from './contract.ts';
import type { View } from './emit.ts';
import { integerAttribute, type ReadOperation } from './read.ts';
import { isFloat } from './types.ts';

/** Layout operations that leave a splat a splat. */
const KEEPS_SPLAT = new Set(['migraphx.multibroadcast', 'migraphx.broadcast', 'migraphx.reshape', 'migraphx.convert']);

/** The one value of a constant, however it was broadcast. */
function splatValue(
  document: Document,
  name: string,
  definition: (name: string) => ReadOperation | undefined,
): number | undefined {
  let read = definition(name);
  while (read !== undefined && KEEPS_SPLAT.has(read.name)) read = definition(read.operands[0]);
  if (read === undefined || (read.name !== 'migraphx.literal' && read.name !== 'arith.constant')) return undefined;
  const text = rangeText(document, read.operation.nameToken + 1, read.operation.last);
  const value = Number(/dense<\s*([-+.\deE]+)\s*>/.exec(text)?.[1] ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** The attention block that ends in the dot product `read`, or undefined. */
export function matchAttention(
  document: Document,
  read: ReadOperation,
  definition: (name: string) => ReadOperation | undefined,
  view: (name: string) => View,
): Attention | undefined {
  if (read.name !== 'migraphx.dot') return undefined;
  const value = view(read.operands[1]);
  const skipConversions = (name: string): string => {
    let at = name;
    for (let source = definition(at); source?.name === 'migraphx.convert'; source = definition(at)) {
      if (!isFloat(view(source.operands[0]).element)) break;
      at = source.operands[0];
    }
    return at;
  };
  const softmax = definition(skipConversions(read.operands[0]));
  if (softmax?.name !== 'migraphx.softmax') return undefined;
  const rank = view(softmax.operands[0]).shape.length;
  const axis = integerAttribute(document, softmax, 'axis');
  if (rank < 3 || (axis !== rank - 1 && axis !== -1)) return undefined;
  let scale = 1;
  let mask: View | undefined;
  let name = skipConversions(softmax.operands[0]);
  for (;;) {
    const source = definition(name);
    if (source === undefined) return undefined;
    if (source.name === 'migraphx.dot') {
      const [query, key] = source.operands.map(view);
      if (!isFloat(query.element) || value.element !== query.element) return undefined;
      return { query, key, value, scale, mask };
    }
    const [a, b] = source.operands;
    if (source.name === 'migraphx.mul' || source.name === 'migraphx.div') {
      const right = splatValue(document, b, definition);
      const left = source.name === 'migraphx.mul' ? splatValue(document, a, definition) : undefined;
      const factor = right ?? left;
      if (factor === undefined) return undefined;
      scale *= source.name === 'migraphx.mul' ? factor : 1 / factor;
      name = skipConversions(right === undefined ? b : a);
    } else if (source.name === 'migraphx.add' && mask === undefined && scale === 1) {
      const isScores = (operand: string): boolean => {
        const found = definition(skipConversions(operand));
        return found !== undefined && ['migraphx.dot', 'migraphx.mul', 'migraphx.div'].includes(found.name);
      };
      const scores = isScores(a) ? a : isScores(b) ? b : undefined;
      if (scores === undefined) return undefined;
      mask = view(scores === a ? b : a);
      name = skipConversions(scores);
    } else return undefined;
  }
}
