// What each file of a profile is, recognised by its content.
import { WavesmithError } from '../../base/index.ts';
import { isAttCode } from '../readers/att.ts';
import { readCsvHeader } from '../readers/csv.ts';
import { type CsvKind, csvKind } from '../readers/rocprofv3-csv.ts';
import { isRocprofJson } from '../readers/rocprofv3-json.ts';
import type { Recording } from '../recording.ts';
import { baseName } from '../source.ts';
import { isSqtt } from '../sqtt/tokens.ts';
import { wideEncoding } from './encoding.ts';
import type { DiskFile } from './files.ts';
import { withCommas } from './semicolons.ts';
import { isSqlite } from './sqlite.ts';

/** What a file is. */
export type FileFormat =
  | `csv:${CsvKind}`
  | 'rocprofv3-json'
  | 'rocpd'
  | 'analysis-db'
  | 'att-code'
  | 'att-part'
  | 'sqtt'
  | 'code-object';

/** Recognises a file by its first bytes (and, for parts of a trace folder, its company). */
export function detectFormat(file: DiskFile): FileFormat | undefined {
  return file.open((source) => {
    const start = source.read(0, 4096).slice();
    if (isSqlite(start)) return 'rocpd';
    if (start.length > 4 && start[0] === 0x7f && start[1] === 0x45 && start[2] === 0x4c && start[3] === 0x46) {
      return 'code-object';
    }
    const first = start.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
    const text = new TextDecoder().decode(start);
    if (first === 0x7b) {
      if (isRocprofJson(text)) return 'rocprofv3-json';
      const isNamed = baseName(file.path) === 'code.json' && /^\s*\{\s*"(?:code|header|version)"\s*:/.test(text);
      if (isAttCode(text) || isNamed) return 'att-code';
      return 'att-part';
    }
    if (isSqtt(start) && start.some((byte) => byte === 0 || byte > 0x7e)) return 'sqtt';
    if (start.includes(0) || !text.includes(',')) return undefined;
    try {
      const kind = csvKind(readCsvHeader(source));
      return kind === undefined ? undefined : (`csv:${kind}` as const);
    } catch (error) {
      if (error instanceof WavesmithError) return undefined;
      throw error;
    }
  });
}

/** The files whose formats are known, with these; what is wrong with a file of a table's name is reported. */
export function formatsOf(files: readonly DiskFile[], recording: Recording): Formatted[] {
  return files
    .map((file) => plainTable({ file, format: formatOf(file, recording) }, recording))
    .filter((entry): entry is Formatted => entry.format !== undefined);
}

/** A file, and what it is. */
export interface Formatted {
  readonly file: DiskFile;
  readonly format: FileFormat;
}

interface Found {
  readonly file: DiskFile;
  readonly format: FileFormat | undefined;
}

/** A file of no known format as the table with commas that it stands for, where it has semicolons. */
function plainTable(entry: Found, recording: Recording): Found {
  const { file, format } = entry;
  const isTable = format === undefined && file.size > 0 && /\.csv(?:\.gz)?$/i.test(file.path);
  if (!isTable || recording.findings.some(({ place }) => place.file === file.path)) return entry;
  const found = withCommas(file);
  if (found?.kind === 'table') {
    recording.report('profile/semicolons', file.path, found.message);
    return { file: found.file, format: detectFormat(found.file) };
  }
  if (found !== undefined) recording.report('profile/damaged-file', file.path, `${found.message} It is left out.`);
  return entry;
}

/** The format of a file; a compressed one that is damaged, or text of another encoding, is reported and left out. */
function formatOf(file: DiskFile, recording: Recording): FileFormat | undefined {
  try {
    const isText = /\.(?:csv|json)(?:\.gz)?$/i.test(file.path);
    const encoding = isText ? file.open((source) => wideEncoding(source.read(0, 4))) : undefined;
    if (encoding === undefined) return detectFormat(file);
    recording.report(
      'profile/damaged-file',
      file.path,
      `The file is encoded in ${encoding}. It is left out. Convert it to UTF-8: iconv -f ${encoding} -t UTF-8 '${baseName(file.path)}' > FILE.`,
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof WavesmithError) || error.code !== 'profile/bad-gzip') throw error;
    recording.report('profile/damaged-file', file.path, `${error.message} It is left out.`);
    return undefined;
  }
}
