// Which buffer each binding of the kernel is, read from the host program that IREE made around it (its HAL phase): a function
// argument, a result, or something of IREE's own. Source: IREE's HALOps.td, printed forms.
import { TokenKind } from '../mlir/lex.ts';
import { type Document, isPunct, type Operation, parseMlir, tokenText, walk } from '../mlir/parse.ts';

/** What a slot of the command buffer's binding table holds. */
export type BufferSource =
  | { readonly kind: 'argument'; readonly index: number }
  /** Result `index` begins `offset` bytes into the buffer. */
  | { readonly kind: 'result'; readonly results: readonly { readonly index: number; readonly offset: number | null }[] }
  | { readonly kind: 'other'; readonly name: string };

/** The host program of the one public function. */
export interface HostProgram {
  /** Arguments that are buffers (fences of the asynchronous model do not count). */
  readonly arguments: number;
  readonly results: number;
  /** By slot. */
  readonly slots: readonly BufferSource[];
}

/** The value tokens of an operation, in order, from its name on. */
function valuesOf(document: Document, operation: Operation): string[] {
  const values: string[] = [];
  for (let at = operation.nameToken + 1; at < operation.last; at++) {
    if (document.tokens.kinds[at] === TokenKind.Value) values.push(tokenText(document, at));
  }
  return values;
}

/** The `(` after the identifier `word` of an operation. */
function listAfter(document: Document, operation: Operation, word: string): number | undefined {
  for (let at = operation.nameToken + 1; at < operation.last - 1; at++) {
    const isWord = document.tokens.kinds[at] === TokenKind.Identifier && tokenText(document, at) === word;
    if (isWord && isPunct(document, at + 1, '(')) return at + 1;
  }
  return undefined;
}

/** First value and byte offset of each `(%buffer : type)[%offset, %length]` in brackets. */
function bufferRanges(document: Document, open: number): { buffer: string; offset: string }[] {
  const ranges: { buffer: string; offset: string }[] = [];
  const bracket = open + 1;
  for (let at = bracket + 1; at < document.match[bracket]; ) {
    if (isPunct(document, at, '(')) {
      const close = document.match[at];
      ranges.push({ buffer: tokenText(document, at + 1), offset: tokenText(document, close + 2) });
      at = document.match[close + 1] + 1;
    } else at++;
  }
  return ranges;
}

/** Reads the text of the HAL phase; undefined when it has no public function that executes one command buffer. */
export function readHostProgram(text: string): HostProgram | undefined {
  const document = parseMlir(text);
  for (const operation of walk(document.operations)) {
    if (operation.name !== 'util.func' || tokenText(document, operation.nameToken + 1) !== 'public') continue;
    const program = readHostFunction(document, operation);
    if (program !== undefined) return program;
  }
  return undefined;
}

function readHostFunction(document: Document, operation: Operation): HostProgram | undefined {
  const parameters: string[] = [];
  const open = operation.nameToken + 3;
  if (!isPunct(document, open, '(')) return undefined;
  for (let at = open + 1; at < document.match[open]; at++) {
    const isBuffer =
      tokenText(document, at + 2) === '!hal.buffer_view' || tokenText(document, at + 2) === '!hal.buffer';
    if (document.tokens.kinds[at] === TokenKind.Value && isBuffer) parameters.push(tokenText(document, at));
  }
  const constants = new Map<string, number>();
  const buffers = new Map<string, number>();
  const views = new Map<string, { buffer: string; offset: string }>();
  let returned: string[] = [];
  let executed: { buffer: string; offset: string }[] | undefined;
  let executions = 0;
  for (const inner of walk(operation.regions.flatMap((region) => region.operations))) {
    const [result] = inner.results;
    const values = valuesOf(document, inner);
    switch (inner.name) {
      case 'arith.constant': {
        const number = Number(tokenText(document, inner.nameToken + 1));
        if (result !== undefined && Number.isSafeInteger(number)) constants.set(result.name, number);
        break;
      }
      case 'hal.buffer_view.buffer':
        if (result !== undefined && parameters.includes(values[0])) {
          buffers.set(result.name, parameters.indexOf(values[0]));
        }
        break;
      case 'hal.buffer_view.create': {
        const parenthesis = listAfter(document, inner, 'buffer');
        if (result === undefined || parenthesis === undefined) break;
        const offset = tokenText(document, document.match[parenthesis] + 2);
        views.set(result.name, { buffer: tokenText(document, parenthesis + 1), offset });
        break;
      }
      case 'hal.device.queue.execute.indirect': {
        const list = listAfter(document, inner, 'bindings');
        executions++;
        if (list !== undefined) executed = bufferRanges(document, list);
        break;
      }
      case 'hal.device.queue.execute':
        executions++;
        break;
      case 'util.return':
        returned = values;
        break;
    }
  }
  if (executed === undefined || executions !== 1) return undefined;
  const slots = executed.map(({ buffer, offset }): BufferSource => {
    const argument = buffers.get(buffer);
    if (argument !== undefined) return { kind: 'argument', index: argument };
    const start = constants.get(offset);
    const results = returned.flatMap((name, index) => {
      const view = views.get(name);
      if (view?.buffer !== buffer) return [];
      const at = constants.get(view.offset);
      return [{ index, offset: at === undefined || start === undefined ? null : at - start }];
    });
    return results.length > 0 ? { kind: 'result', results } : { kind: 'other', name: buffer };
  });
  return { arguments: parameters.length, results: returned.length, slots };
}
