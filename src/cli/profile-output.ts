// The files of a profile: profile.json, its parts, the page; long texts piece by piece.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import {
  analysisDocument,
  dagDocument,
  type PackedWork,
  type ProfileDocument,
  rooflineDocument,
} from '../profile/index.ts';
import { profilePage } from '../report/index.ts';
import { OutputPlace } from '../snapshot/output-place.ts';
import { makeFolder, writeOutput } from './support.ts';

/** Writes the files of a profile: the document, its parts, and the page with all work on its timeline. */
export function writeResults(folder: string, document: ProfileDocument, work: PackedWork | undefined): void {
  makeFolder(folder);
  const json = (value: unknown) => `${JSON.stringify(value, null, 1)}\n`;
  writeOutput(join(folder, 'profile.json'), json(document));
  writeOutput(join(folder, 'roofline.json'), json(rooflineDocument(document)));
  writeOutput(join(folder, 'dag.json'), json(dagDocument(document)));
  writeOutput(join(folder, 'analysis.json'), json(analysisDocument(document)));
  writeOutput(join(folder, 'report.html'), profilePage(document, work));
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
    for (const piece of pieces) writeSync(fd, piece);
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
