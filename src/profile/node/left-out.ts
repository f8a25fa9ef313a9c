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

/** Outputs of profilers that are not read, by their names, and JSON by how it begins. */
const OTHER_FORMATS: readonly (readonly [name: RegExp, what: string])[] = [
  [/\.(?:pftrace|proto)$/i, 'a Perfetto trace'],
  [/\.otf2$/i, 'an OTF2 trace'],
];
const OTHER_JSON: readonly (readonly [start: RegExp, what: string])[] = [
  [/^\s*(?:\[|\{)\s*"traceEvents"\s*:/, 'a Chrome trace, as rocprof 1 writes it'],
  [/^\s*\{\s*"schemaVersion"\s*:.*"(?:deviceProperties|traceEvents|distributedInfo)"\s*:/s, 'a trace of PyTorch'],
  [/^\s*\{\s*"timemory"\s*:/, 'a table of timemory, as rocprof-sys and Omnitrace write it'],
];

/** What a file of a format that is not read is. */
function otherFormat(file: DiskFile): string | undefined {
  if (!/\.json$/i.test(file.path)) return OTHER_FORMATS.find(([name]) => name.test(file.path))?.[1];
  const text = file.open((source) => new TextDecoder().decode(source.read(0, 4096)));
  return OTHER_JSON.find(([start]) => start.test(text))?.[1];
}

/** A file of one wave of a thread trace. */
const WAVE = /^se[0-9]+_sm[0-9]+_sl[0-9]+_wv[0-9]+\.json$/;

/** Reports files of formats that are not read, where nothing else of their folder is, and parts of thread traces whose code is missing. */
export function reportOtherFormats(
  files: readonly DiskFile[],
  entries: readonly { readonly file: DiskFile; readonly format: FileFormat }[],
  recording: Recording,
): void {
  const read = new Set(entries.filter(({ format }) => format !== 'att-part').map(({ file }) => dirName(file.path)));
  for (const file of files) {
    const what = file.size === 0 || read.has(dirName(file.path)) ? undefined : otherFormat(file);
    if (what === undefined) continue;
    recording.report('profile/other-format', file.path, `The file is ${what}, which is not read. It is left out.`);
  }
  const traced = new Set(entries.filter(({ format }) => format === 'att-code').map(({ file }) => dirName(file.path)));
  const waves = new Map<string, number>();
  for (const { file, format } of entries) {
    const folder = dirName(file.path);
    const isLost = format === 'att-part' && !traced.has(folder) && WAVE.test(baseName(file.path));
    if (isLost) waves.set(folder, (waves.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of waves) {
    const what = count === 1 ? 'A wave of a thread trace is' : `${count} waves of a thread trace are`;
    recording.report('profile/damaged-file', folder, `${what} here, without the code.json of the trace, and left out.`);
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
    if (OTHER_OUTPUT.test(baseName(file.path)) && otherFormat(file) === undefined) {
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
