// Names of a source and where they occur: labels, symbols, macros and their parameters, numeric labels.
// Numeric labels and names with `@specifier` follow llvm/lib/MC/MCParser/AsmParser.cpp; `X.kd` is the descriptor of kernel X.
import { Tok } from '../isa/text/lexer.ts';
import { isRegisterName } from './registers.ts';
import type { Scan, Statement } from './scan.ts';

export type NameKind = 'label' | 'numeric' | 'symbol' | 'macro' | 'parameter';

/** One occurrence of a name. */
export interface Occurrence {
  readonly start: number;
  readonly end: number;
  readonly entity: Entity;
  readonly isDefinition: boolean;
}

/** A thing with a name. */
export interface Entity {
  readonly key: string;
  readonly name: string;
  readonly kind: NameKind;
  readonly occurrences: Occurrence[];
  /** `.type name, @function`, or the name of an `.amdhsa_kernel`. */
  isFunction: boolean;
  isKernel: boolean;
  /** Statement of the first definition. */
  statement: number;
}

const NAME_DEFINING = new Set(['.set', '.equ', '.equiv', '.comm', '.common', '.lcomm', '.amdgpu_lds']);
const SECTION_NAMES = new Set([
  '.section',
  '.pushsection',
  '.include',
  '.incbin',
  '.error',
  '.warning',
  '.print',
  '.ident',
]);

/** All names of a scanned text. */
export class Names {
  readonly entities = new Map<string, Entity>();
  /** In order of position. */
  readonly occurrences: Occurrence[] = [];
  private readonly scan: Scan;
  private readonly instances = new Map<string, number>();

  constructor(scan: Scan) {
    this.scan = scan;
    for (const [index, statement] of scan.statements.entries()) this.define(statement, index);
    for (const [index, statement] of scan.statements.entries()) this.refer(statement, index);
    this.metadataNames();
    this.occurrences.sort((a, b) => a.start - b.start);
    for (const { occurrences } of this.entities.values()) occurrences.sort((a, b) => a.start - b.start);
  }

  /** The symbol (label or `.set`) of a name. */
  symbol(name: string): Entity | undefined {
    return this.entities.get(`s:${name}`);
  }

  macro(name: string): Entity | undefined {
    return this.entities.get(`m:${name}`);
  }

  /** The occurrence that holds an offset, its end included. */
  at(offset: number): Occurrence | undefined {
    let low = 0;
    let high = this.occurrences.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.occurrences[middle] as Occurrence).start <= offset) low = middle + 1;
      else high = middle;
    }
    const found = this.occurrences[low - 1];
    return found !== undefined && offset <= found.end ? found : undefined;
  }

  private entity(key: string, name: string, kind: NameKind, statement: number): Entity {
    let entity = this.entities.get(key);
    if (entity === undefined) {
      entity = { key, name, kind, occurrences: [], isFunction: false, isKernel: false, statement };
      this.entities.set(key, entity);
    }
    return entity;
  }

  private occur(entity: Entity, start: number, end: number, isDefinition: boolean): void {
    const occurrence = { start, end, entity, isDefinition };
    entity.occurrences.push(occurrence);
    this.occurrences.push(occurrence);
  }

  /** The name that an identifier or string token spells, with its place; strings without their quotes. */
  private named(token: number): { name: string; start: number; end: number } | undefined {
    const { scan } = this;
    const kind = scan.kind(token);
    const text = scan.tokenText(token);
    const start = scan.start(token);
    if (kind === Tok.String) {
      const name = text.slice(1, -1);
      return name === '' || name.includes('\\') ? undefined : { name, start: start + 1, end: start + 1 + name.length };
    }
    if (kind !== Tok.Identifier) return undefined;
    const at = text.indexOf('@', 1);
    const name = at < 0 ? text : text.slice(0, at);
    return { name, start, end: start + name.length };
  }

  // ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

  private define(statement: Statement, index: number): void {
    const { scan } = this;
    if (statement.region === 'metadata') return;
    const end = statement.first + statement.count;
    for (let token = statement.first; token < (statement.head < 0 ? end : statement.head); token += 2) {
      if (scan.kind(token) === Tok.Integer) {
        const label = scan.tokenText(token);
        const instance = (this.instances.get(label) ?? 0) + 1;
        this.instances.set(label, instance);
        const entity = this.entity(`n:${label}:${instance}`, label, 'numeric', index);
        this.occur(entity, scan.start(token), scan.end(token), true);
      } else this.defineSymbol(token, 'label', index);
    }
    if (statement.head < 0) return;
    const head = scan.headText(statement);
    const next = statement.head + 1;
    if (scan.kind(next) === Tok.Equal && next < end) this.defineSymbol(statement.head, 'symbol', index);
    else if (NAME_DEFINING.has(head) && next < end) this.defineSymbol(next, 'symbol', index);
    else if (head === '.macro' && next < end) this.defineMacro(statement, index);
  }

  private defineSymbol(token: number, kind: NameKind, statement: number): void {
    const found = this.named(token);
    if (found === undefined || found.name === '.') return;
    this.occur(this.entity(`s:${found.name}`, found.name, kind, statement), found.start, found.end, true);
  }

  private defineMacro(statement: Statement, index: number): void {
    const { scan } = this;
    const found = this.named(statement.head + 1);
    if (found === undefined) return;
    this.occur(this.entity(`m:${found.name}`, found.name, 'macro', index), found.start, found.end, true);
    for (let token = statement.head + 2; token < statement.first + statement.count; token++) {
      const before = scan.kind(token - 1);
      if (scan.kind(token) !== Tok.Identifier || before === Tok.Equal || before === Tok.Colon) continue;
      const name = scan.tokenText(token);
      const entity = this.entity(`p:${index}:${name}`, name, 'parameter', index);
      this.occur(entity, scan.start(token), scan.end(token), true);
    }
  }

  // ── references ────────────────────────────────────────────────────────────────────────────────────────────────────

  private refer(statement: Statement, index: number): void {
    const { scan } = this;
    if (statement.region === 'metadata' || statement.head < 0) return;
    const end = statement.first + statement.count;
    const head = scan.headText(statement);
    if (head === '.macro' || SECTION_NAMES.has(head)) return;
    const isAssignment = scan.kind(statement.head + 1) === Tok.Equal && statement.head + 1 < end;
    const macro = head === '' || isAssignment ? undefined : this.macro(head);
    if (macro !== undefined) this.occur(macro, scan.start(statement.head), scan.end(statement.head), false);
    const isDefining = NAME_DEFINING.has(head);
    for (let token = statement.head + 1; token < end; token++) {
      if (isDefining && token === statement.head + 1) continue;
      this.referTo(token, end, index);
    }
    if (head === '.purgem') this.referToMacro(statement.head + 1);
    const name = this.named(statement.head + 1)?.name;
    if (name === undefined) return;
    const entity = this.symbol(name);
    if (entity === undefined) return;
    if (head === '.amdhsa_kernel') {
      entity.isKernel = true;
      entity.isFunction = true;
    } else if (head === '.type' && /function|STT_FUNC/.test(scan.text.slice(statement.start, statement.end))) {
      entity.isFunction = true;
    }
  }

  private referTo(token: number, end: number, statement: number): void {
    const { scan } = this;
    const kind = scan.kind(token);
    if (kind === Tok.Integer) {
      this.referToNumeric(token, end, statement);
      return;
    }
    if (kind !== Tok.Identifier && kind !== Tok.String) return;
    if (kind === Tok.Identifier && token > 0 && scan.kind(token - 1) === Tok.BackSlash) {
      this.referToParameter(token, statement);
      return;
    }
    if (token + 1 < end && scan.kind(token + 1) === Tok.Colon) return;
    const found = this.named(token);
    if (found === undefined || (kind === Tok.Identifier && isRegisterName(found.name))) return;
    const { name, start } = found;
    const entity = this.symbol(name) ?? (name.endsWith('.kd') ? this.symbol(name.slice(0, -3)) : undefined);
    if (entity !== undefined) this.occur(entity, start, start + entity.name.length, false);
  }

  private referToMacro(token: number): void {
    const found = this.named(token);
    const macro = found && this.macro(found.name);
    if (found !== undefined && macro !== undefined) this.occur(macro, found.start, found.end, false);
  }

  /** `1b`, `1f`. */
  private referToNumeric(token: number, end: number, statement: number): void {
    const { scan } = this;
    if (token + 1 >= end || scan.start(token + 1) !== scan.end(token)) return;
    const direction = scan.tokenText(token + 1);
    if (direction !== 'b' && direction !== 'f') return;
    const label = scan.tokenText(token);
    let instance = 0;
    for (let i = 1; ; i++) {
      const entity = this.entities.get(`n:${label}:${i}`);
      if (entity === undefined || entity.statement > statement) break;
      instance = i;
    }
    const entity = this.entities.get(`n:${label}:${direction === 'b' ? instance : instance + 1}`);
    if (entity !== undefined) this.occur(entity, scan.start(token), scan.end(token), false);
  }

  private referToParameter(token: number, statement: number): void {
    const { scan } = this;
    for (let i = scan.blocks.length - 1; i >= 0; i--) {
      const { kind, open, close } = scan.blocks[i] as (typeof scan.blocks)[number];
      if (kind !== 'macro' || open >= statement || close < statement) continue;
      const entity = this.entities.get(`p:${open}:${scan.tokenText(token)}`);
      if (entity === undefined) continue;
      this.occur(entity, scan.start(token), scan.end(token), false);
      return;
    }
  }

  /** `.symbol: k.kd` and the `.name: k` of the same kernel, which has the same indentation. */
  private metadataNames(): void {
    const { scan } = this;
    for (const block of scan.blocks) {
      if (block.kind !== 'metadata') continue;
      const start = (scan.statements[block.open] as Statement).start;
      const { end } = scan.statements[block.close] as Statement;
      const text = scan.text.slice(start, end);
      const indents = new Set([...text.matchAll(/^([ \t]*(?:- +)?)\.symbol:/gm)].map((m) => (m[1] as string).length));
      for (const match of text.matchAll(/^([ \t]*(?:- +)?)\.(name|symbol):[ \t]+(['"]?)([^\s'"]+)/gm)) {
        const [whole, indent, key, , value] = match as unknown as [string, string, string, string, string];
        if (!indents.has(indent.length)) continue;
        const name = key === 'symbol' ? value.replace(/\.kd$/, '') : value;
        const entity = this.symbol(name);
        if (entity === undefined) continue;
        const at = start + match.index + whole.length - value.length;
        this.occur(entity, at, at + name.length, false);
      }
    }
  }
}
