// Files that are left out, each with a finding: tables without their columns, formats that are not read, copies.
import type { Recording } from '../recording.ts';
import { baseName, CHUNK, dirName } from '../source.ts';
import type { DiskFile } from './files.ts';
import type { FileFormat } from './formats.ts';

/** Names that profilers give to their tables. */
const TABLE =
  /(?:^|_)(?:kernel_trace|counter_collection|memory_copy_trace|memory_allocation_trace|[a-z]+_api_trace|agent_info|pmc_perf.*|timestamps|sysinfo|roofline|SQC?_[A-Z_]+)\.csv$/;

/** Names that rocprofv3 gives to its JSON files and databases. */
export const OTHER_OUTPUT = /(?:^|_)results\.(?:json|db)$/;

/** Whether a file is what Git keeps in the place of a large one. */
function isPointer(file: DiskFile): boolean {
  if (file.size > 1024) return false;
  return file.open((source) => new TextDecoder().decode(source.read(0, 64))).startsWith('version https://git-lfs');
}

/** Tables and folders packed by what is not read here. */
const PACKED = /(?:\.(?:csv|json|db|att)\.(?:zip|zst|xz|bz2|lz4|7z)|\.(?:zip|7z|tar|tgz|tar\.(?:gz|xz|zst|bz2)))$/i;

/** Outputs of profilers that are not read: Perfetto traces, OTF2, the Chrome trace of rocprof 1. */
const OTHER_FORMAT = /\.(?:pftrace|proto|otf2)$/i;

function isOtherFormat(file: DiskFile): boolean {
  if (!/\.json$/i.test(file.path)) return OTHER_FORMAT.test(file.path);
  const text = file.open((source) => new TextDecoder().decode(source.read(0, 4096)));
  return /^\s*(?:\[|\{)\s*"traceEvents"\s*:/.test(text);
}

/** Reports files of formats that are not read, where nothing else of their folder is. */
export function reportOtherFormats(
  files: readonly DiskFile[],
  entries: readonly { readonly file: DiskFile; readonly format: FileFormat }[],
  recording: Recording,
): void {
  const read = new Set(entries.filter(({ format }) => format !== 'att-part').map(({ file }) => dirName(file.path)));
  for (const file of files) {
    if (file.size === 0 || read.has(dirName(file.path)) || !isOtherFormat(file)) continue;
    recording.report('profile/other-format', file.path, 'The file has a format that is not read. It is left out.');
  }
}

/** Reports tables that have lost their columns: nothing of a run may be missing without a word. */
export function reportUnknown(files: readonly DiskFile[], known: ReadonlySet<DiskFile>, recording: Recording): void {
  for (const file of files) {
    if (known.has(file) || file.size === 0) continue;
    if (PACKED.test(file.path)) {
      const how = 'Of packed files only gzip (.csv.gz) is read: unpack it.';
      recording.report('profile/damaged-file', file.path, `The file is left out. ${how}`);
      continue;
    }
    if (recording.findings.some(({ place }) => place.file === file.path)) continue;
    if (isPointer(file)) {
      const how = 'Get the file that it stands for: git lfs pull.';
      recording.report('profile/damaged-file', file.path, `The file is a pointer of Git LFS. It is left out. ${how}`);
      continue;
    }
    if (OTHER_OUTPUT.test(baseName(file.path)) && !isOtherFormat(file)) {
      recording.report(
        'profile/damaged-file',
        file.path,
        'The file has the name of an output of rocprofv3, but not its content. It is left out.',
      );
      continue;
    }
    if (!TABLE.test(baseName(file.path))) continue;
    recording.report(
      'profile/damaged-file',
      file.path,
      'The file has the name of a table of a profiler, but not its columns in its first row, separated by commas. It is left out.',
    );
  }
}

/** Formats that tell what happened when: of one process, no two files have the same bytes. */
const TIMED: ReadonlySet<string> = new Set<FileFormat>([
  'csv:kernel-trace',
  'csv:counter-collection',
  'csv:memory-copy',
  'csv:api-trace',
  'rocprofv3-json',
  'rocpd',
]);

/** The folder of a file, and the process that rocprofv3 names it after. */
const ownerOf = (file: DiskFile): string => `${dirName(file.path)}/${/^[0-9]*/.exec(baseName(file.path))?.[0] ?? ''}`;

/** Leaves out copies of a file, which would count twice. */
export function leaveOutCopies(
  entries: { readonly file: DiskFile; readonly format: FileFormat }[],
  recording: Recording,
): void {
  const bySize = new Map<number, DiskFile[]>();
  for (let i = 0; i < entries.length; i++) {
    const { file, format } = entries[i];
    if (!TIMED.has(format)) continue;
    const others = bySize.get(file.size) ?? [];
    const original = others.find((other) => ownerOf(other) === ownerOf(file) && isSame(other, file));
    if (original === undefined) {
      bySize.set(file.size, [...others, file]);
      continue;
    }
    recording.report(
      'profile/duplicate-dispatch',
      file.path,
      `The file is a copy of ${original.path}; it is left out.`,
    );
    entries.splice(i--, 1);
  }
}

function isSame(a: DiskFile, b: DiskFile): boolean {
  return a.open((first) =>
    b.open((second) => {
      if (first.size !== second.size) return false;
      for (let at = 0; at < first.size; at += CHUNK) {
        if (Buffer.compare(first.read(at, CHUNK), second.read(at, CHUNK)) !== 0) return false;
      }
      return true;
    }),
  );
}
