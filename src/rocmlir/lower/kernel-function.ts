// The function of a module that becomes the kernel, and its text as IREE wants it: public, alone, without attributes of dialects
// that IREE does not know. rocMLIR's tests write it `func.func private @mlir_…`, often with a host program beside it.
// Source: rocMLIR's tests (attributes `rock.kernel`, `kernel`); IREE's ABI, `iree.abi.output`.
import { WavesmithError } from '../../base/index.ts';
import { entryOf, parseDictionary } from '../../mlir/attribute.ts';
import type { Edits } from '../../mlir/edit.ts';
import { type Document, isPunct, type Operation, parseMlir, rangeText } from '../../mlir/parse.ts';
import { functionHeader } from './read.ts';

/** True for a function that says it is a kernel. */
export function isMarked(document: Document, operation: Operation): boolean {
  return operation.dictionaries.some((open) => {
    const entries = parseDictionary(document, open);
    return entryOf(entries, 'kernel') !== undefined || entryOf(entries, 'rock.kernel') !== undefined;
  });
}

/** The one function that becomes the kernel: the only one, or the only one marked as kernel. Throws `rocmlir/several-functions`. */
export function kernelOperation(document: Document, functions: readonly Operation[]): Operation {
  if (functions.length === 1) return functions[0];
  const marked = functions.filter((operation) => isMarked(document, operation));
  if (marked.length === 1) return marked[0];
  throw new WavesmithError(
    'rocmlir/several-functions',
    functions.length === 0
      ? 'The module has no function with a body.'
      : `The module has ${functions.length} functions, ${marked.length} of them marked as kernel.`,
    {
      file: document.file,
      hint: 'Give a module with exactly one function, or mark one with the attribute rock.kernel.',
    },
  );
}

/**
 * The document with one function alone: what is around it is blank, so that everything keeps its line. Aliases and resources,
 * which it may name, stay.
 */
export function onlyFunction(document: Document, operation: Operation): Document {
  const { text, tokens, match } = document;
  const kept = [...document.aliases.values(), operation].map(({ first, last }) => [
    tokens.starts[first],
    tokens.ends[last - 1],
  ]);
  for (let at = 0; at < tokens.count; at++) {
    if (isPunct(document, at, '{-#')) kept.push([tokens.starts[at], tokens.ends[match[at]]]);
  }
  kept.sort(([a], [b]) => a - b);
  const blank = (from: number, to: number): string => text.slice(from, to).replaceAll(/[^\n]/g, ' ');
  let alone = '';
  let at = 0;
  for (const [from, to] of kept) {
    alone += blank(at, from) + text.slice(from, to);
    at = to;
  }
  return parseMlir(alone + blank(at, text.length), document.file);
}

/** Of several functions the kernel alone, wherever it stands; a document of one function is what it was. */
export function kernelDocument(document: Document, functions: readonly Operation[]): Document {
  return functions.length > 1 ? onlyFunction(document, kernelOperation(document, functions)) : document;
}

/** Adds the edit that makes a function public. */
export function publish(document: Document, edits: Edits, operation: Operation): void {
  const { privateToken } = functionHeader(document, operation) ?? {};
  if (privateToken !== undefined) edits.replaceTokens(document, privateToken, privateToken + 1, 'public');
}

/** Adds the edits that give a function, as it is written, the buffers of its results as arguments behind the others. */
export function storageArgument(document: Document, edits: Edits, operation: Operation): void {
  const header = functionHeader(document, operation);
  if (header === undefined) return;
  const { open, close, results } = header;
  const given = rangeText(document, open, close + 1);
  let next = 0;
  const added = results.map((_, i) => {
    while (given.includes(`%result${next}`)) next++;
    return `%result${next++}: !hal.buffer {iree.abi.output = ${i} : index}`;
  });
  if (added.length === 0) return;
  const empty = close === open + 1;
  edits.insertAfter(document, close - 1, `${empty ? '' : ', '}${added.join(', ')}`);
}
