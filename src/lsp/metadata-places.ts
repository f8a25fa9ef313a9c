// Where a key of a kernel's metadata stands: the YAML between `.amdgpu_metadata` and `.end_amdgpu_metadata`, read by its
// indentation as the disassembler and compilers write it. Source: LLVM AMDGPUUsage, "Code Object V5 Metadata".
import type { SourceDocument } from './document.ts';
import type { Statement } from './scan.ts';

interface Line {
  readonly start: number;
  readonly end: number;
  /** Column of the key, behind a list's dash. */
  readonly column: number;
  readonly isItem: boolean;
  readonly key: string;
  /** Offset of the value. */
  readonly value: number;
  readonly text: string;
}

/** A key of a kernel's metadata: the place of its line, and of its value. */
export interface MetadataPlace {
  readonly start: number;
  readonly end: number;
  readonly value: number;
}

function linesOf(document: SourceDocument, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (const match of document.text
    .slice(from, to)
    .matchAll(/^([ \t]*)(- +)?(\.?[A-Za-z_][\w.]*):[ \t]*([^\r\n]*)/gm)) {
    const [whole, indent, dash, key, value] = match as unknown as [string, string, string | undefined, string, string];
    const column = indent.length + (dash ?? '').length;
    const start = from + match.index + column;
    const end = from + match.index + whole.trimEnd().length;
    const text = value.trim().replace(/^(['"])(.*)\1$/, '$2');
    lines.push({ start, end, column, isItem: dash !== undefined, key, value: end - value.trimEnd().length, text });
  }
  return lines;
}

/** The place of `key` (`.vgpr_count`) in the metadata of a kernel. */
export function metadataPlace(document: SourceDocument, kernel: string, key: string): MetadataPlace | undefined {
  const { scan } = document;
  for (const block of scan.blocks) {
    if (block.kind !== 'metadata') continue;
    const lines = linesOf(
      document,
      (scan.statements[block.open] as Statement).start,
      (scan.statements[block.close] as Statement).end,
    );
    const own = lines.findIndex((line) => line.key === '.symbol' && line.text === `${kernel}.kd`);
    const symbol = lines[own];
    if (symbol === undefined) continue;
    let first = own;
    while (first > 0 && !startsEntry(lines[first] as Line, symbol.column)) first--;
    for (let i = first; i < lines.length; i++) {
      const line = lines[i] as Line;
      if (line.column < symbol.column || (i > first && startsEntry(line, symbol.column))) break;
      if (line.column === symbol.column && line.key === key) return line;
    }
  }
  return undefined;
}

function startsEntry(line: Line, column: number): boolean {
  return line.isItem && line.column === column;
}
