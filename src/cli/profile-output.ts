// The files of a profile: profile.json, its parts, the page; long texts piece by piece.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { jsonPieces, WavesmithError } from '../base/index.ts';
import {
  analysisDocument,
  dagDocument,
  type PackedWork,
  type ProfileDocument,
  rooflineDocument,
} from '../profile/index.ts';
import { profilePagePieces } from '../report/index.ts';
import { OutputPlace } from '../snapshot/output-place.ts';
import { makeFolder } from './support.ts';

/**
 * Writes the files of a profile: the document, its parts, and the page with all work on its timeline. `between` is called between the files,
 * when the text of the one before is garbage.
 */
export function writeResults(
  folder: string,
  document: ProfileDocument,
  work: PackedWork | undefined,
  between: () => void = () => {},
): void {
  makeFolder(folder);
  writeJson(join(folder, 'profile.json'), document);
  between();
  writeJson(join(folder, 'roofline.json'), rooflineDocument(document));
  writeJson(join(folder, 'dag.json'), dagDocument(document));
  writeJson(join(folder, 'analysis.json'), analysisDocument(document));
  between();
  writePieces(join(folder, 'report.html'), profilePagePieces(document, work));
}

function writeJson(path: string, value: unknown): void {
  writePieces(path, jsonLines(value));
}

function* jsonLines(value: unknown): Generator<string> {
  yield* jsonPieces(value, 1);
  yield '\n';
}

/** Prints a document as `--json` does, without its text in memory as a whole. */
export function printPieces(document: ProfileDocument): void {
  for (const piece of joined(jsonPieces(document, 2))) process.stdout.write(piece);
  process.stdout.write('\n');
}

/** Pieces joined to ones that are worth a call of the system. */
function* joined(pieces: Iterable<string>): Generator<string> {
  const ENOUGH = 1 << 16;
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < ENOUGH) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Where the files are, for people. */
export const resultsLine = (folder: string): string =>
  `Results in ${folder}: profile.json, roofline.json, dag.json, analysis.json, report.html`;

/** Writes a long text piece by piece through a temporary name. */
export function writePieces(path: string, pieces: Iterable<string>): void {
  let place: OutputPlace | undefined;
  let fd: number | undefined;
  try {
    place = new OutputPlace(path);
    fd = openSync(place.temporary, 'w');
    for (const piece of joined(pieces)) writeSync(fd, piece);
    closeSync(fd);
    fd = undefined;
    place.finish();
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    place?.discard();
    if (error instanceof WavesmithError) throw error;
    throw new WavesmithError('io/write', `Cannot write '${path}': ${(error as Error).message}.`, { file: path });
  }
}
