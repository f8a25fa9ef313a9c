// Comments of disassembled code: the source line of an instruction before it, its address and encoding behind it, as
// llvm-objdump shows them. Both assemblers read `//` as a comment, so the text stays what it was.
import type { DebugLines } from '../../codeobject/elf/debug-line.ts';
import { wordAt } from './data.ts';
import type { ImageSection } from './image.ts';

const WORD = 4;

/** What to write. */
export interface CodeComments {
  /** Source lines by address: `// file:line` wherever it changes. */
  readonly lines: DebugLines | undefined;
  readonly addresses: boolean;
  readonly encodings: boolean;
}

/** Adds comments to the instructions of one section, in ascending order. */
export class Commenter {
  private readonly comments: CodeComments;
  private readonly section: ImageSection;
  private place = '';

  constructor(comments: CodeComments, section: ImageSection) {
    this.comments = comments;
    this.section = section;
  }

  /** The lines of an instruction with their comments. */
  comment(lines: readonly string[], offset: number, size: number): string[] {
    const { addresses, encodings } = this.comments;
    const out: string[] = [];
    const source = this.comments.lines?.at(this.section.base + offset);
    if (source !== undefined) {
      const place = `${printable(source.file)}:${source.line}`;
      if (place !== this.place) out.push(`\t// ${place}`);
      this.place = place;
    }
    const parts: string[] = [];
    if (addresses) parts.push(`${hexDigits(this.section.base + offset, 12)}:`);
    if (encodings) {
      for (let at = offset; at < offset + size; at += WORD) parts.push(hexDigits(wordAt(this.section.bytes, at), 8));
    }
    if (parts.length === 0) return [...out, ...lines];
    return [...out, ...lines.slice(0, -1), `${lines[lines.length - 1]}\t// ${parts.join(' ')}`];
  }
}

const hexDigits = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');

/** A file name without characters that would end the comment. */
function printable(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be written.
  return name.replace(/[\x00-\x1f\x7f]/g, '?');
}
