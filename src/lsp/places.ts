// Where the places of findings are in a source: the statement of an instruction, a directive of a kernel's block, a key of its metadata.
import type { Range } from 'vscode-languageserver';
import type { InstructionLines, SourceLine } from '../asm/index.ts';
import type { CodeObject } from '../codeobject/index.ts';
import type { Place } from '../finding/index.ts';
import type { SourceDocument } from './document.ts';
import { metadataPlace } from './metadata-places.ts';
import type { Statement } from './scan.ts';

/** Places of one code object in the source that it was assembled from. */
export class Places {
  readonly document: SourceDocument;
  private readonly codeObject: CodeObject;
  private readonly lines: InstructionLines | undefined;
  private readonly name: string;
  private expansions: ReadonlyMap<string, readonly number[]> | undefined;

  /** `name` is what the assembler was told that the source is called. */
  constructor(document: SourceDocument, codeObject: CodeObject, lines: InstructionLines | undefined, name: string) {
    this.document = document;
    this.codeObject = codeObject;
    this.lines = lines;
    this.name = name;
  }

  /** The line of the instruction at an address, in this source or in a file that it includes. */
  line(pc: number): SourceLine | undefined {
    const section = this.codeObject.elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
    return section && this.lines?.get(section.name)?.get(pc - section.address);
  }

  /** The line of an instruction when it stands in this source, from 1. */
  ownLine(pc: number): number | undefined {
    const line = this.line(pc);
    return line?.file === this.name ? line.line : undefined;
  }

  /** The addresses of the instructions that come from the same line as the one at an address, in their order. */
  expansion(pc: number): readonly number[] {
    const line = this.line(pc);
    if (line === undefined) return [];
    this.expansions ??= this.allExpansions();
    return this.expansions.get(`${line.file}:${line.line}`) ?? [];
  }

  private allExpansions(): Map<string, number[]> {
    const all = new Map<string, number[]>();
    for (const { name, address } of this.codeObject.elf.sections) {
      for (const [offset, { file, line }] of this.lines?.get(name) ?? []) {
        const key = `${file}:${line}`;
        const known = all.get(key);
        if (known === undefined) all.set(key, [address + offset]);
        else known.push(address + offset);
      }
    }
    for (const list of all.values()) list.sort((x, y) => x - y);
    return all;
  }

  /** The instruction at an address: its statement here, or the `.include` that it comes from. */
  instruction(pc: number): Range | undefined {
    const line = this.line(pc);
    if (line === undefined) return undefined;
    const { document } = this;
    if (line.file === this.name) return statementRange(document, document.assemblerLine(line.line));
    const { scan } = document;
    const include = scan.statements.find(
      (s) => scan.headText(s) === '.include' && document.text.slice(s.start, s.end).includes(`"${line.file}"`),
    );
    return include && document.range(include.start, include.end);
  }

  /** The place of a finding: as near as the source has it, at the worst the kernel's block. */
  of(place: Place, kernel: string | undefined): Range | undefined {
    const own = place.pc === undefined ? undefined : this.instruction(place.pc);
    return own ?? this.metadata(place, kernel) ?? this.directive(place, kernel);
  }

  private metadata({ metadata }: Place, kernel: string | undefined): Range | undefined {
    if (metadata === undefined || kernel === undefined) return undefined;
    const found = metadataPlace(this.document, kernel, metadata);
    return found && this.document.range(found.start, found.end);
  }

  private directive({ directive }: Place, kernel: string | undefined): Range | undefined {
    const { document } = this;
    const block = kernel === undefined ? undefined : kernelBlock(document, kernel);
    const found =
      (directive === undefined ? undefined : directiveStatement(document, kernel, directive)) ??
      (block && document.scan.statements[block.open]);
    return found && document.range(found.start, found.end);
  }
}

/** The `.amdhsa_kernel` block of a kernel, as indexes of statements. */
export function kernelBlock(
  document: SourceDocument,
  kernel: string,
): { readonly open: number; readonly close: number } | undefined {
  const { scan } = document;
  return scan.blocks.find((block) => {
    if (block.kind !== 'kernel') return false;
    const open = scan.statements[block.open] as Statement;
    const name = open.count < 2 ? '' : scan.tokenText(open.head + 1);
    return name === kernel || name === `"${kernel}"`;
  });
}

/** A directive of a kernel's block; without a kernel one of the file. */
export function directiveStatement(
  document: SourceDocument,
  kernel: string | undefined,
  directive: string,
): Statement | undefined {
  const { scan } = document;
  const block = kernel === undefined ? undefined : kernelBlock(document, kernel);
  if (kernel !== undefined && block === undefined) return undefined;
  const [from, to] = block === undefined ? [-1, scan.statements.length] : [block.open, block.close];
  return scan.statements.find((s, i) => i > from && i < to && scan.headText(s) === directive);
}

/** The statement at an offset, without its labels; the next one of the line when the offset is before it. */
export function statementRange(document: SourceDocument, offset: number): Range {
  const statement = statementOf(document, offset);
  if (statement === undefined) return document.range(offset, wordEnd(document, offset, 1));
  const start = statement.head < 0 ? statement.start : document.scan.start(statement.head);
  return document.range(start, statement.end);
}

function statementOf(document: SourceDocument, offset: number): Statement | undefined {
  const { scan } = document;
  const at = scan.statementBefore(offset);
  const candidates = [scan.statements[at], scan.statements[at + 1]];
  return candidates.find((s) => s !== undefined && s.end >= offset && !/\n/.test(document.text.slice(offset, s.start)));
}

/** The end of what a message marks: its length when it has one, else the word there; never beyond the line. */
export function wordEnd(document: SourceDocument, start: number, length: number): number {
  const { text } = document;
  let limit = text.slice(start, start + 4096).search(/[\r\n]/);
  limit = limit < 0 ? Math.min(text.length, start + 4096) : start + limit;
  const word = /^[\w.$@]+/.exec(text.slice(start, limit))?.[0].length ?? 1;
  return Math.min(limit, start + (length > 1 ? length : word));
}
