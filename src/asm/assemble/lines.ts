// Which source line each instruction comes from, for messages about the assembled code.
import type { DataFragment } from '../object/model.ts';
import type { SourceLine } from './source.ts';

/** Lines by section name and offset in the section. */
export type InstructionLines = ReadonlyMap<string, ReadonlyMap<number, SourceLine>>;

/** Collects places while reading; offsets are known once the fragments are laid out. */
export class LineTable {
  private readonly entries: { fragment: DataFragment; offset: number; line: SourceLine }[] = [];

  /** Notes that the instruction at the end of a fragment comes from a line. */
  add(fragment: DataFragment, line: SourceLine): void {
    this.entries.push({ fragment, offset: fragment.data.length, line });
  }

  /** The lines, after layout. */
  finish(): InstructionLines {
    const sections = new Map<string, Map<number, SourceLine>>();
    for (const { fragment, offset, line } of this.entries) {
      const { name } = fragment.section.description;
      let lines = sections.get(name);
      if (lines === undefined) {
        lines = new Map();
        sections.set(name, lines);
      }
      lines.set(fragment.start + offset, line);
    }
    return sections;
  }
}
