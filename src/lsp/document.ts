// One open source at one version: its text with positions, its statements and names (made on first use), its target.
// Positions are the protocol's: lines from 0, columns in UTF-16 code units. Source: LSP 3.18, "Text Documents".
import type { Position, Range } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parseTargetId } from '../codeobject/elf/target-id.ts';
import { DEFAULT_TARGET, isTargetName } from '../isa/table/targets.ts';
import { Tok } from '../isa/text/lexer.ts';
import type { TargetName } from '../isa/types.ts';
import { Names } from './names.ts';
import { Scan, type Statement } from './scan.ts';

const utf8 = new TextEncoder();

/** The target that documentation is about when a source does not say: the newest that is common. */
const DOCUMENTED = DEFAULT_TARGET;

/** A source at one version. */
export class SourceDocument {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  private readonly positions: TextDocument;
  private scanned: Scan | undefined;
  private named: Names | undefined;
  /** Offsets of the assembler's lines, which only `\n` ends. */
  private lineStarts: number[] | undefined;

  constructor(uri: string, version: number, text: string) {
    this.uri = uri;
    this.version = version;
    this.text = text;
    this.positions = TextDocument.create(uri, 'amdgpu', version, text);
  }

  get scan(): Scan {
    this.scanned ??= new Scan(this.text);
    return this.scanned;
  }

  get names(): Names {
    this.named ??= new Names(this.scan);
    return this.named;
  }

  position(offset: number): Position {
    return this.positions.positionAt(offset);
  }

  offset(position: Position): number {
    return this.positions.offsetAt(position);
  }

  range(start: number, end: number): Range {
    return { start: this.position(start), end: this.position(end) };
  }

  get lineCount(): number {
    return this.positions.lineCount;
  }

  /** The offset of a line of the assembler, counted from 1; the end of the text behind the last one. */
  assemblerLine(line: number): number {
    if (this.lineStarts === undefined) {
      this.lineStarts = [0];
      for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1))
        this.lineStarts.push(at + 1);
    }
    return this.lineStarts[Math.max(0, line - 1)] ?? this.text.length;
  }

  /** The offset of a line and column of the assembler, whose columns count bytes of UTF-8 from 1. */
  assemblerOffset(line: number, column: number): number {
    const start = this.assemblerLine(line);
    const end = this.assemblerLine(line + 1);
    let bytes = column - 1;
    let at = start;
    while (bytes > 0 && at < end) {
      const code = this.text.codePointAt(at) as number;
      const units = code > 0xffff ? 2 : 1;
      bytes -= code < 0x80 ? 1 : utf8.encode(String.fromCodePoint(code)).length;
      at += units;
    }
    return Math.min(at, end);
  }

  /** The text of the `.amdgcn_target` directive, without quotes. */
  get targetDirective(): { readonly text: string; readonly start: number; readonly end: number } | undefined {
    const { scan } = this;
    for (const statement of scan.statements) {
      if (scan.headText(statement) !== '.amdgcn_target') continue;
      const token = statement.head + 1;
      if (token >= statement.first + statement.count || scan.kind(token) !== Tok.String) continue;
      return { text: scan.tokenText(token).slice(1, -1), start: scan.start(token), end: scan.end(token) };
    }
    return undefined;
  }

  /** The processor of the source: from its directive, else from the setting, else the one that is documented. */
  processor(setting: string | undefined): TargetName {
    const directive = this.targetDirective?.text;
    for (const id of [directive?.replace(/^.*--|^.*-unknown-/, ''), setting]) {
      if (id === undefined) continue;
      const name = processorOf(id);
      if (name !== undefined) return name;
    }
    return DOCUMENTED;
  }

  /** The statement that an offset belongs to: the one on its line at or before it. */
  statementAt(offset: number): { readonly statement: Statement; readonly index: number } | undefined {
    const { scan } = this;
    const index = scan.statementBefore(offset);
    const statement = scan.statements[index];
    if (statement === undefined) return undefined;
    if (offset > statement.end && /[\r\n]/.test(this.text.slice(statement.end, offset))) return undefined;
    return { statement, index };
  }
}

function processorOf(id: string): TargetName | undefined {
  const processor = /^\w+/.exec(id)?.[0] ?? '';
  return isTargetName(processor) ? processor : undefined;
}

/** Whether a setting is a target id that the assembler supports. */
export function isSupportedTarget(id: string): boolean {
  try {
    return isTargetName(parseTargetId(id).processor);
  } catch {
    return false;
  }
}
