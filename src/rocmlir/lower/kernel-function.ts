// The function of a module that becomes the kernel, and its text as IREE wants it: public, alone, without attributes of dialects
// that IREE does not know. rocMLIR's tests write it `func.func private @mlir_…`, often with a host program beside it.
// Source: rocMLIR's tests (attributes `rock.kernel`, `kernel`); IREE's ABI, `iree.abi.output`.
import { WavesmithError } from '../../base/index.ts';
import { entryOf, parseDictionary } from '../../mlir/attribute.ts';
import type { Edits } from '../../mlir/edit.ts';
import { type Document, type Operation, rangeText } from '../../mlir/parse.ts';
import { functionHeader } from './read.ts';

/** True for a function that says it is a kernel. */
function isMarked(document: Document, operation: Operation): boolean {
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
 * Adds the edits that make the kernel's function public and the module's only one; returns what is left. Functions of which
 * none is the kernel stay, public.
 */
export function publish(document: Document, edits: Edits, functions: readonly Operation[]): readonly Operation[] {
  const marked = functions.filter((operation) => isMarked(document, operation));
  const kept = functions.length > 1 && marked.length === 1 ? marked : functions;
  for (const operation of functions) {
    if (!kept.includes(operation)) {
      edits.replaceTokens(document, operation.first, operation.last, '');
      continue;
    }
    const { privateToken } = functionHeader(document, operation) ?? {};
    if (privateToken !== undefined) edits.replaceTokens(document, privateToken, privateToken + 1, 'public');
  }
  return kept;
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
