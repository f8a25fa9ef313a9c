// A source as the editor sees it: statements with their tokens, and the blocks they stand in. Nothing is evaluated, so it
// works on half-typed text. Source: the assembler's lexer; block directives of llvm/lib/MC/MCParser and AMDGPUAsmParser.cpp.
import { Lexer, Tok } from '../isa/text/lexer.ts';

/** Where a statement stands. `macro`: in the body of a macro or repeat. */
export type Region = 'code' | 'kernel' | 'metadata';

/** One statement: labels, then at most one instruction, directive, assignment or macro call. */
export interface Statement {
  /** Index of its first token; it has `count` tokens, the end of the statement not counted. */
  readonly first: number;
  readonly count: number;
  /** Offsets of the first token and of the end of the last one. */
  readonly start: number;
  readonly end: number;
  readonly region: Region;
  /** Index of the token that says what the statement is (behind its labels); -1 when there is none. */
  readonly head: number;
}

/** The text between an opening and a closing directive, whole statements. */
export interface DirectiveBlock {
  readonly kind: 'kernel' | 'metadata' | 'macro' | 'repeat' | 'conditional';
  /** Index of the statement that opens it, and of the one that closes it (the last statement when it is still open). */
  readonly open: number;
  readonly close: number;
}

export interface Comment {
  readonly start: number;
  readonly end: number;
}

const OPENS: Readonly<Record<string, DirectiveBlock['kind']>> = {
  '.amdhsa_kernel': 'kernel',
  '.amdgpu_metadata': 'metadata',
  '.macro': 'macro',
  '.rept': 'repeat',
  '.rep': 'repeat',
  '.irp': 'repeat',
  '.irpc': 'repeat',
};
const CLOSES: Readonly<Record<string, DirectiveBlock['kind']>> = {
  '.end_amdhsa_kernel': 'kernel',
  '.end_amdgpu_metadata': 'metadata',
  '.endm': 'macro',
  '.endmacro': 'macro',
  '.endr': 'repeat',
  '.endif': 'conditional',
};

/** Kind of the block that a directive opens. */
function opened(name: string): DirectiveBlock['kind'] | undefined {
  if (name.startsWith('.if')) return 'conditional';
  return Object.hasOwn(OPENS, name) ? OPENS[name] : undefined;
}

/** The statements, tokens, comments and blocks of a text. */
export class Scan {
  readonly text: string;
  readonly statements: Statement[] = [];
  readonly blocks: DirectiveBlock[] = [];
  readonly comments: Comment[] = [];
  private readonly kinds: Tok[] = [];
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(text: string) {
    this.text = text;
    const lexer = new Lexer(text);
    const open: { kind: DirectiveBlock['kind']; statement: number }[] = [];
    let region: Region = 'code';
    let covered = 0;
    let more = true;
    while (more) {
      more = lexer.nextStatement();
      const first = this.kinds.length;
      for (let i = 0; i < lexer.count - 1; i++) {
        const start = lexer.start(i);
        this.blockComments(covered, start);
        this.kinds.push(lexer.kind(i));
        this.starts.push(start);
        covered = lexer.end(i);
        this.ends.push(covered);
      }
      const end = lexer.start(lexer.count - 1);
      this.blockComments(covered, end);
      covered = lexer.end(lexer.count - 1);
      if (/[;/#]/.test(text.charAt(end)) && covered > end) this.comments.push({ start: end, end: covered });
      const count = this.kinds.length - first;
      if (count === 0) continue;
      const head = this.headOf(first, count);
      const name = head < 0 || this.kinds[head] !== Tok.Identifier ? '' : this.tokenText(head);
      const closes = Object.hasOwn(CLOSES, name) ? CLOSES[name] : undefined;
      if (closes === 'kernel' || closes === 'metadata') region = 'code';
      const index = this.statements.length;
      this.statements.push({
        first,
        count,
        start: this.starts[first] as number,
        end: this.ends[first + count - 1] as number,
        region,
        head,
      });
      if (closes !== undefined) {
        const at = open.findLastIndex((o) => o.kind === closes);
        if (at >= 0) {
          this.blocks.push({ kind: closes, open: (open[at] as { statement: number }).statement, close: index });
          open.length = at;
        }
      }
      const opens: DirectiveBlock['kind'] | undefined = region === 'metadata' ? undefined : opened(name);
      if (opens === undefined) continue;
      open.push({ kind: opens, statement: index });
      if (opens === 'kernel' || opens === 'metadata') region = opens;
    }
    for (const { kind, statement } of open) {
      this.blocks.push({ kind, open: statement, close: this.statements.length - 1 });
    }
    this.blocks.sort((a, b) => a.open - b.open);
  }

  /** Notes the block comments between two tokens. */
  private blockComments(from: number, to: number): void {
    if (to - from < 4) return;
    for (let at = this.text.indexOf('/*', from); at >= 0 && at < to; at = this.text.indexOf('/*', at)) {
      const close = this.text.indexOf('*/', at + 2);
      const end = close < 0 || close + 2 > to ? to : close + 2;
      this.comments.push({ start: at, end });
      at = end;
    }
  }

  /** The token behind the statement's labels. */
  private headOf(first: number, count: number): number {
    let i = first;
    while (i + 1 < first + count && this.kinds[i + 1] === Tok.Colon && this.isLabelToken(i)) i += 2;
    return i < first + count ? i : -1;
  }

  private isLabelToken(token: number): boolean {
    const kind = this.kinds[token];
    return kind === Tok.Identifier || kind === Tok.Integer || kind === Tok.String;
  }

  kind(token: number): Tok {
    return this.kinds[token] ?? Tok.EndOfStatement;
  }

  start(token: number): number {
    return this.starts[token] as number;
  }

  end(token: number): number {
    return this.ends[token] as number;
  }

  tokenText(token: number): string {
    return this.text.slice(this.starts[token], this.ends[token]);
  }

  /** Text of the head of a statement when it is an identifier, else empty. */
  headText(statement: Statement): string {
    return statement.head >= 0 && this.kinds[statement.head] === Tok.Identifier ? this.tokenText(statement.head) : '';
  }

  /** Index of the last statement that starts at or before an offset; -1 before the first. */
  statementBefore(offset: number): number {
    let low = 0;
    let high = this.statements.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.statements[middle] as Statement).start <= offset) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Index of the token of a statement that holds an offset, its end included; -1 when there is none. */
  tokenAt(statement: Statement, offset: number): number {
    let found = -1;
    for (let token = statement.first; token < statement.first + statement.count; token++) {
      if ((this.starts[token] as number) > offset) break;
      if (offset < (this.ends[token] as number)) return token;
      if (offset === this.ends[token]) found = token;
    }
    return found;
  }

  /** Whether an offset lies in a comment. */
  isComment(offset: number): boolean {
    let low = 0;
    let high = this.comments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.comments[middle] as Comment).start < offset) low = middle + 1;
      else high = middle;
    }
    const comment = this.comments[low - 1];
    return comment !== undefined && offset <= comment.end;
  }
}
