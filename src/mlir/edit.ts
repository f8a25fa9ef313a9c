// Changing MLIR text in place: replacements of ranges, and the attribute dictionary of the top module. Everything else keeps
// its bytes. Source: MLIR language reference, "Module"; a file without a module operation has an implied one.
import { type Attribute, entryOf, parseDictionary } from './attribute.ts';
import { mlirError } from './lex.ts';
import { type Document, isPunct, type Operation, rangeText } from './parse.ts';

/** Replacements in one text, applied together. */
export class Edits {
  private readonly list: { start: number; end: number; text: string }[] = [];

  /** Replaces the characters from `start` to `end` (exclusive); equal offsets insert. */
  replace(start: number, end: number, text: string): void {
    this.list.push({ start, end, text });
  }

  /** Replaces tokens `first` to `last` (exclusive) of a document. */
  replaceTokens({ tokens }: Document, first: number, last: number, text: string): void {
    this.replace(tokens.starts[first], tokens.ends[last - 1], text);
  }

  /** Inserts behind a token. */
  insertAfter({ tokens }: Document, token: number, text: string): void {
    this.replace(tokens.ends[token], tokens.ends[token], text);
  }

  apply(text: string): string {
    const parts: string[] = [];
    let at = 0;
    const sorted = this.list.map((edit, order) => ({ ...edit, order }));
    sorted.sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
    for (const { start, end, text: replacement } of sorted) {
      parts.push(text.slice(at, start), replacement);
      at = end;
    }
    parts.push(text.slice(at));
    return parts.join('');
  }
}

/** True for a `builtin.module` in any form. */
export function isModule(operation: Operation): boolean {
  return operation.name === 'module' || operation.name === 'builtin.module';
}

/** The module operation that holds everything, or undefined when the text leaves it out. */
export function topModule(document: Document): Operation | undefined {
  const [first] = document.operations;
  return document.operations.length === 1 && isModule(first) ? first : undefined;
}

/** The operations of the top module's body (of the text, when the module is implied). */
export function topOperations(document: Document): readonly Operation[] {
  const module = topModule(document);
  return module === undefined ? document.operations : (module.regions[0]?.operations ?? []);
}

/** The `{` of the top module's discardable attributes. */
function attributeDictionary(document: Document, module: Operation): number | undefined {
  return module.dictionaries.find((open) => !isPunct(document, open - 1, '<'));
}

/** The value of an attribute of the top module. */
export function moduleAttribute(document: Document, name: string): Attribute | undefined {
  const module = topModule(document);
  const open = module && attributeDictionary(document, module);
  return open === undefined ? undefined : entryOf(parseDictionary(document, open), name);
}

/** Adds the edit that sets an attribute of the top module; an implied module is written out. */
export function setModuleAttribute(document: Document, edits: Edits, name: string, value: string): void {
  const module = topModule(document);
  if (module === undefined) {
    wrapInModule(document, edits, `${name} = ${value}`);
    return;
  }
  const open = attributeDictionary(document, module);
  if (open !== undefined) {
    const entries = parseDictionary(document, open);
    const old = entries.find((entry) => entry.name === name);
    if (old !== undefined) edits.replaceTokens(document, old.first, old.last, `${name} = ${value}`);
    else if (entries.length === 0) edits.insertAfter(document, open, `${name} = ${value}`);
    else edits.insertAfter(document, entries[entries.length - 1].last - 1, `, ${name} = ${value}`);
    return;
  }
  const body = module.regions[0];
  if (body === undefined) throw noBody(document, module);
  if (module.generic) {
    // Regions stand in parentheses: the attributes follow them.
    const parenthesis = document.match[body.close + 1] >= 0 ? body.close + 1 : body.close;
    edits.insertAfter(document, parenthesis, ` {${name} = ${value}}`);
  } else edits.insertAfter(document, body.open - 1, ` attributes {${name} = ${value}}`);
}

/** Adds the edit that removes an attribute of the top module, with its comma. */
export function removeModuleAttribute(document: Document, edits: Edits, name: string): void {
  const module = topModule(document);
  const open = module && attributeDictionary(document, module);
  if (open === undefined) return;
  const entries = parseDictionary(document, open);
  const index = entries.findIndex((entry) => entry.name === name);
  if (index < 0) return;
  const { starts, ends } = document.tokens;
  const entry = entries[index];
  if (index > 0) edits.replace(ends[entries[index - 1].last - 1], ends[entry.last - 1], '');
  else if (entries.length > 1) edits.replace(starts[entry.first], starts[entries[1].first], '');
  else edits.replaceTokens(document, entry.first, entry.last, '');
}

function noBody(document: Document, module: Operation): Error {
  return mlirError(
    document,
    document.tokens.starts[module.first],
    'mlir/no-module-body',
    'The top module has no body in braces.',
    'Give a module whose body is written out.',
  );
}

/** Writes out the implied module around the operations; aliases between them move in front of it. */
function wrapInModule(document: Document, edits: Edits, attribute: string): void {
  const { operations, tokens } = document;
  if (operations.length === 0) {
    edits.replace(document.text.length, document.text.length, `module attributes {${attribute}} {\n}\n`);
    return;
  }
  const first = tokens.starts[operations[0].first];
  const last = operations[operations.length - 1].last - 1;
  let moved = '';
  for (const alias of document.aliases.values()) {
    const start = tokens.starts[alias.first];
    if (start < first || start > tokens.starts[last]) continue;
    moved += `${rangeText(document, alias.first, alias.last)}\n`;
    edits.replaceTokens(document, alias.first, alias.last, '');
  }
  edits.replace(first, first, `${moved}module attributes {${attribute}} {\n`);
  edits.insertAfter(document, last, '\n}');
}
