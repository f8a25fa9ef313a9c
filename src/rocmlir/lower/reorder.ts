// Giving the kernel the function's own argument order: IREE passes buffers in the order its code uses them, rocMLIR's launch
// passes arguments, then results. The executable's source is renumbered and compiled once more.
// Source: IREE's HAL dialect, `hal.pipeline.layout` and `hal.interface.binding.subspan`, as `--iree-hal-dump-executable-sources-to` prints them.

import { Edits } from '../../mlir/edit.ts';
import { TokenKind } from '../../mlir/lex.ts';
import { isPunct, parseMlir, rangeText, tokenText } from '../../mlir/parse.ts';
import { splitAtCommas } from './read.ts';

/** True when pointer i already is argument i and none is left out. */
export const inOrder = (order: readonly number[], total: number): boolean =>
  order.length === total && order.every((position, i) => position === i);

/**
 * The executable's source with binding i renumbered to `order[i]` of `total`. Returns undefined when two bindings would be one
 * or the text is not as expected.
 */
export function renumberBindings(source: string, order: readonly number[], total: number): string | undefined {
  if (new Set(order).size !== order.length || order.some((position) => position >= total)) return undefined;
  const document = parseMlir(source);
  const edits = new Edits();
  const { kinds, count } = document.tokens;
  let layouts = 0;
  for (let at = 0; at + 3 < count; at++) {
    if (kinds[at] !== TokenKind.Identifier) continue;
    const word = tokenText(document, at);
    if (word === 'bindings' && isPunct(document, at + 1, '=') && isPunct(document, at + 2, '[')) {
      const parts = splitAtCommas(document, at + 3, document.match[at + 2]);
      if (parts.length !== order.length) return undefined;
      const texts = parts.map(([first, last]) => rangeText(document, first, last));
      const renumbered = Array.from({ length: total }, (_, position) => {
        const binding = order.indexOf(position);
        // An argument nobody reads still takes its place.
        return texts[Math.max(binding, 0)];
      });
      edits.replaceTokens(document, at + 2, document.match[at + 2] + 1, `[${renumbered.join(', ')}]`);
      layouts++;
    } else if (word === 'binding' && isPunct(document, at + 1, '(') && kinds[at + 2] === TokenKind.Integer) {
      const position = order[Number(tokenText(document, at + 2))];
      if (position === undefined) return undefined;
      edits.replaceTokens(document, at + 2, at + 3, String(position));
    }
  }
  return layouts === 0 ? undefined : edits.apply(source);
}
