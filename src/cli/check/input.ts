// Room `cli/check`: the parts of `wavesmith check`: what it reads, what it fixes, how it reports, its settings.
// Begin with this file, then report.ts and fix.ts.
//
// What `wavesmith check` reads: code objects, or a source that is assembled, with the places of findings in it.

import { assemble, disassembleCodeObject, formatDiagnostic } from '../../asm/index.ts';
import { WavesmithError } from '../../base/index.ts';
import { type CodeObject, codeObjectsOf, link, openContainer, readCodeObject } from '../../codeobject/index.ts';
import type { Finding, Place, SourcePlace } from '../../finding/index.ts';
import { Places, SourceDocument } from '../../lsp/index.ts';
import { fileReader } from '../asm.ts';
import { readCodeInput } from '../read-code-input.ts';
import { selectCodeObject } from '../select-code-object.ts';

export interface InputOptions {
  readonly target?: string;
  readonly object?: string;
}

/** A finding and the file that it is in. */
export type PlacedFinding = Finding & { readonly file: string };

/** A source and where its code comes from in it. */
export interface CheckedSource {
  readonly file: string;
  readonly text: string;
  readonly codeObject: CodeObject;
  readonly places: Places;
  /** The file was UTF-8, so the text can be written back. */
  readonly isText: boolean;
}

/** What was read from a file: its code objects, and the source that the one of a source was assembled from. */
export interface CheckedInput {
  readonly file: string;
  readonly codeObjects: readonly CodeObject[];
  readonly source: CheckedSource | undefined;
}

function isSource(file: string, bytes: Uint8Array): boolean {
  return /\.(s|S|asm|amdgcn)$/.test(file) || (file === '-' && !bytes.subarray(0, 512).includes(0));
}

/** Reads a file. Errors: `io/read`, `check/assemble`, those of the formats. */
export function readCode(file: string, options: InputOptions): CheckedInput {
  const bytes = readCodeInput(file);
  if (isSource(file, bytes)) {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    const source = assembleSource(file, text, options);
    const isText = Buffer.from(text).equals(bytes);
    return { file, codeObjects: [source.codeObject], source: { ...source, isText } };
  }
  const codeObjects =
    options.object === undefined ? codeObjectsOf(openContainer(bytes, file)) : [selectCodeObject(bytes, file, options)];
  if (codeObjects.length === 0) {
    throw new WavesmithError('container/empty', `'${file}' holds no code object.`, { file });
  }
  return { file, codeObjects, source: undefined };
}

/** The code object of a source. What the assembler says goes to standard error, or to `say`. */
export function assembleSource(
  file: string,
  text: string,
  options: InputOptions,
  say: (text: string) => void = (line) => void process.stderr.write(line),
): CheckedSource {
  const name = file === '-' ? '<stdin>' : file;
  const { object, diagnostics, lines } = assemble(text, {
    target: options.target,
    explainConflicts: true,
    file: name,
    readFile: fileReader(file, []),
    trackLines: true,
  });
  for (const diagnostic of diagnostics) say(formatDiagnostic(diagnostic));
  if (object === undefined) {
    throw new WavesmithError('check/assemble', `'${file}' cannot be assembled, so there is nothing to check.`, {
      file,
      hint: 'Mend the errors above first.',
    });
  }
  const codeObject = readCodeObject(link([object]), [file]);
  const places = new Places(new SourceDocument(file, 0, text), codeObject, lines, name);
  return { file, text, codeObject, places, isText: true };
}

/** A code object as a source of its own, so that edits of text can be made to it. */
export function disassembleSource(file: string, codeObject: CodeObject): CheckedSource {
  return assembleSource(file, disassembleCodeObject(codeObject, {}), {});
}

/** A finding with the lines of its places. */
export function placed(finding: Finding, { file, source }: CheckedInput): PlacedFinding {
  if (source === undefined) return { ...finding, file };
  const { kernel } = finding;
  const inSource = (place: Place): Place => ({ ...place, source: sourcePlace(source, place, kernel) });
  const place = inSource(finding.place);
  const related = finding.related.map((r) => (r.place.pc === undefined ? r : { ...r, place: inSource(r.place) }));
  return { ...finding, file: place.source?.file ?? file, place, related };
}

function sourcePlace(
  { file, places }: CheckedSource,
  place: Place,
  kernel: string | undefined,
): SourcePlace | undefined {
  const line = place.pc === undefined ? undefined : places.line(place.pc);
  if (line !== undefined && line.file !== (file === '-' ? '<stdin>' : file)) return line;
  const range = places.of(place, kernel);
  return range && sourceRange(file, range);
}

/** A range of the language server as a place of a source. */
export function sourceRange(
  file: string,
  { start, end }: { readonly start: Position; readonly end: Position },
): Required<SourcePlace> & { readonly column: number; readonly endLine: number; readonly endColumn: number } {
  return {
    file,
    line: start.line + 1,
    column: start.character + 1,
    endLine: end.line + 1,
    endColumn: end.character + 1,
  };
}

interface Position {
  readonly line: number;
  readonly character: number;
}
