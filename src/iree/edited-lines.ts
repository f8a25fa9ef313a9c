// Whether an edit changed what was edited and nothing else: every instruction of a line that was not edited must be encoded as
// before. Both texts are assembled, their lines are aligned, and the instructions of each pair of equal lines are compared.
import type { InstructionLines } from '../asm/assemble/lines.ts';
import { align, Interner } from '../asm/diff/align.ts';
import type { ObjectModel, ObjectSection } from '../codeobject/elf/object-model.ts';
import { decoderFor } from '../isa/codec/decode.ts';
import { branchTarget } from '../isa/print/listing.ts';
import type { TargetName } from '../isa/types.ts';
import type { Assembled, Source, TextFile } from './engine.ts';

/** What changed besides the edit. */
export interface OutsideChanges {
  /** Lines that were edited, added or taken out. */
  readonly editedLines: number;
  /** Instructions that changed although their line is as it was. */
  readonly instructions: number;
  /** The first of them, in the edited text. */
  readonly first: { readonly file: string; readonly line: number } | null;
}

/** An assembled text. */
export interface AssembledSource {
  readonly source: Source;
  readonly assembled: Assembled;
}

/** Compares two assembled sources that have the same files; undefined when one was not assembled by this project. */
export function changesOutsideEdit(
  before: AssembledSource,
  after: AssembledSource,
  target: TargetName,
): OutsideChanges | undefined {
  const [old, now] = [before, after].map(({ assembled: { object, lines } }) =>
    object === undefined || lines === undefined ? undefined : instructionsByLine(object, lines, target),
  );
  if (old === undefined || now === undefined) return undefined;
  let editedLines = 0;
  let instructions = 0;
  let first: OutsideChanges['first'] = null;
  const files = (source: Source): TextFile[] => [source.main, ...source.included];
  const oldFiles = files(before.source);
  files(after.source).forEach(({ path, text }, f) => {
    const [a, b] = [oldFiles[f].text.split('\n'), text.split('\n')];
    const { toB, toA } = alignLines(a, b);
    editedLines += unmatched(toB, a) + unmatched(toA, b);
    const [placesA, placesB] = [old.get(oldFiles[f].path), now.get(path)];
    toA.forEach((partner, line) => {
      if (partner < 0) return;
      const [was, is] = [placesA?.get(partner + 1) ?? [], placesB?.get(line + 1) ?? []];
      const changed = countChanged(was, is, COUNTS_FROM_A_LABEL.test(b[line]));
      if (changed > 0 && first === null) first = { file: path, line: line + 1 };
      instructions += changed;
    });
  });
  return { editedLines, instructions, first };
}

/** Lines without a partner that say something. */
function unmatched(partners: Int32Array, lines: readonly string[]): number {
  let count = 0;
  partners.forEach((partner, i) => {
    if (partner < 0 && !/^\s*(?:[;/].*)?$/.test(lines[i])) count++;
  });
  return count;
}

function alignLines(a: readonly string[], b: readonly string[]): { toB: Int32Array; toA: Int32Array } {
  const names = new Interner();
  const ids = (lines: readonly string[]): Int32Array => Int32Array.from(lines, (line) => names.id(line));
  return align(ids(a), ids(b));
}

/** An operand whose value is a distance moves with every edit between the two places. */
const COUNTS_FROM_A_LABEL = /\.L[\w$.]|@(?:rel32|gotpcrel32|abs32)|[\w)]\s*-\s*[.A-Za-z_]/;

interface Placed {
  readonly bytes: Uint8Array;
  readonly mnemonic: string;
  readonly isBranch: boolean;
}

function countChanged(was: readonly Placed[], is: readonly Placed[], mayMove: boolean): number {
  let changed = Math.abs(was.length - is.length);
  for (let i = 0; i < Math.min(was.length, is.length); i++) {
    const [a, b] = [was[i], is[i]];
    if (a.bytes.length === b.bytes.length && a.bytes.every((byte, k) => byte === b.bytes[k])) continue;
    if (a.mnemonic === b.mnemonic && (mayMove || a.isBranch)) continue;
    changed++;
  }
  return changed;
}

/** The instructions of every line, by file and line. */
function instructionsByLine(
  object: ObjectModel,
  lines: InstructionLines,
  target: TargetName,
): Map<string, Map<number, Placed[]>> {
  const decoder = decoderFor(target);
  const sections = new Map<string, ObjectSection>(object.sections.map((s) => [s.name, s]));
  const files = new Map<string, Map<number, Placed[]>>();
  for (const [name, places] of lines) {
    const section = sections.get(name);
    if (section === undefined) continue;
    for (const [offset, { file, line }] of places) {
      const instruction = decoder.decode(section.bytes, offset);
      const ofFile = files.get(file) ?? new Map<number, Placed[]>();
      files.set(file, ofFile);
      const ofLine = ofFile.get(line) ?? [];
      ofLine.push({
        bytes: section.bytes.subarray(offset, offset + (instruction?.size ?? 4)),
        mnemonic: instruction?.row.mnemonic ?? '',
        isBranch: instruction !== undefined && branchTarget(instruction, offset) !== undefined,
      });
      ofFile.set(line, ofLine);
    }
  }
  return files;
}
