// Room `profile/node`: the files of a profile on disk: finding and recognising them, SQLite, and driving rocprofv3.
// Begin with this file, which calls the reader of each file; formats.ts recognises them by their content.
//
// Loads whatever profile data lies under the given paths: every file is recognised by its content, folders by what they hold.
import { WavesmithError } from '../../base/index.ts';
import { isAnalysisDatabase, readAnalysisDatabase } from '../readers/analysis-db.ts';
import { readAttFolder, readAttStats } from '../readers/att.ts';
import { readNativeCounters } from '../readers/compute-native.ts';
import { readCsvHeader } from '../readers/csv.ts';
import { readRocpd } from '../readers/rocpd.ts';
import { readLong, readMeasuredRoofline, readSysinfo, readWide } from '../readers/rocprof-compute.ts';
import { type CsvKind, REPLAY, readAgentInfo, readRocprofCsv } from '../readers/rocprofv3-csv.ts';
import { readRocprofJson } from '../readers/rocprofv3-json.ts';
import { reportEmpty } from '../readers/row-problems.ts';
import { Recording, Timing } from '../recording.ts';
import { type ByteSource, baseName, dirName, readWhole } from '../source.ts';
import { LoadedCode } from '../sqtt/code.ts';
import { contradictions } from '../sqtt/contradictions.ts';
import { readSqtt, type SqttResult } from '../sqtt/trace.ts';
import { type DiskFile, findFiles } from './files.ts';
import { formatsOf } from './formats.ts';
import { leaveOutCopies, OTHER_OUTPUT, reportOtherFormats, reportUnknown } from './left-out.ts';
import { pairPasses } from './pair-passes.ts';
import { joinPasses } from './passes.ts';
import { placeRuns, tellsRun } from './runs.ts';
import { withDatabase } from './sqlite.ts';
import { logProblem } from './wal.ts';

export interface LoadOptions {
  /** Load address of the code object given with raw traces. */
  readonly base?: number | undefined;
  /** Called between the stages of reading, when what only the one before needed is garbage. */
  readonly between?: (() => void) | undefined;
}

export interface Loaded {
  readonly recording: Recording;
  /** Details of raw traces, in the order of their traces. */
  readonly sqtt: readonly SqttResult[];
}

/** Order of reading: what others refer to comes first (agents and system before rows, traces of kernels before counters). */
const ORDER: readonly string[] = [
  'csv:agent-info',
  'csv:compute-sysinfo',
  'csv:compute-roofline',
  'csv:kernel-trace',
  'csv:compute-wide',
  'csv:compute-long',
  'csv:counter-collection',
];
/** Read after everything else: what refers to databases. */
const LAST = 'csv:compute-native';

/** Loads all profile data under the paths. */
export function loadProfile(paths: readonly string[], options: LoadOptions = {}): Loaded {
  const files = findFiles(paths);
  const recording = new Recording(options.between);
  const byFormat = formatsOf(files, recording);
  const rank = (format: string) => {
    if (format === LAST) return ORDER.length + 1;
    const at = ORDER.indexOf(format);
    return at < 0 ? ORDER.length : at;
  };
  // The first file of a folder that tells the times of a dispatch is believed: the run without counters, where there is one.
  const timed = new Set(
    byFormat.filter(({ file, format }) => format === 'csv:compute-wide' && hasTimes(file)).map(({ file }) => file.path),
  );
  const wideRank = (path: string) =>
    [/^timestamps\.csv$/, /^pmc_perf/, /^/].findIndex((name) => name.test(baseName(path))) + (timed.has(path) ? 0 : 3);
  const isRead = ({ file, format }: (typeof byFormat)[number]) =>
    format !== 'att-part' || !OTHER_OUTPUT.test(baseName(file.path));
  reportUnknown(files, new Set(byFormat.filter(isRead).map(({ file }) => file)), recording);
  reportOtherFormats(files, byFormat, recording);
  leaveOutCopies(byFormat, recording);
  byFormat.sort((a, b) => rank(a.format) - rank(b.format) || wideRank(a.file.path) - wideRank(b.file.path));
  placeRuns(byFormat, recording);
  joinPasses(byFormat, recording);
  for (const { file, format } of byFormat) {
    const isReplayed = format === 'csv:counter-collection' && file.open((source) => readCsvHeader(source).has(REPLAY));
    if (isReplayed) recording.replayed.add(dirName(file.path));
  }
  recording.isMultiplexed = files.some(takesTurns);
  const hasTraces = new Set(
    byFormat.filter((entry) => entry.format === 'csv:kernel-trace').map((entry) => dirName(entry.file.path)),
  );
  const databases = byFormat.filter(({ format }) => format === 'rocpd').map(({ file }) => file.path);
  const attFolders = new Set(byFormat.filter((e) => e.format === 'att-code').map((e) => dirName(e.file.path)));
  const hasSqtt = byFormat.some((entry) => entry.format === 'sqtt');
  const codeFiles = byFormat.filter((entry) => entry.format === 'code-object').map((entry) => entry.file);
  const codes = hasSqtt ? loadCode(codeFiles, recording) : [];
  const sqtt: SqttResult[] = [];
  let isPaired = false;
  for (const { file, format } of byFormat) {
    // The machines of files are known once what describes agents has been read.
    if (!isPaired && tellsRun({ format })) {
      pairPasses(byFormat, recording);
      isPaired = true;
    }
    const folder = dirName(file.path);
    let used = true;
    let read = format;
    const table = (use: (source: ByteSource) => void): void =>
      file.open((source) => {
        const tables = [recording.dispatches, recording.copies].map((one) => ({ one, from: one.length }));
        use(source);
        for (const { one, from } of tables) spreadFractions(one, from);
        reportOpenEnd(source, recording);
      });
    switch (format) {
      case 'rocpd':
        reportLog(file, recording);
        withDatabase(file, (db) => {
          if (isAnalysisDatabase(db)) {
            read = 'analysis-db';
            readAnalysisDatabase(db, file.path, recording);
          } else readRocpd(db, file.path, recording);
        });
        break;
      case 'rocprofv3-json':
        file.open((source) => readRocprofJson(source, recording));
        break;
      case 'att-code':
        readAttFolder(
          file,
          files.filter((other) => dirName(other.path) === folder),
          recording,
        );
        break;
      case 'att-part':
        used = attFolders.has(folder);
        break;
      case 'sqtt':
        sqtt.push(loadSqtt(file, codes, options, recording));
        break;
      case 'code-object':
        used = hasSqtt;
        break;
      case 'csv:att-stats':
        // The folder's code.json has the same sums and more.
        used = attFolders.size === 0;
        if (used) table((source) => readAttStats(source, recording));
        break;
      case 'csv:agent-info':
        table((source) => readAgentInfo(source, recording));
        break;
      case 'csv:compute-sysinfo':
        table((source) => readSysinfo(source, recording));
        break;
      case 'csv:compute-roofline':
        table((source) => readMeasuredRoofline(source, recording));
        break;
      case 'csv:compute-wide':
        // The databases of newer rocprof-compute folders are in `out/` below, and tell the same dispatches.
        used = baseName(file.path) !== 'timestamps.csv' || !databases.some((db) => db.startsWith(`${folder}/out/`));
        if (used) table((source) => readWide(source, recording));
        break;
      case 'csv:compute-long':
        table((source) => readLong(source, recording));
        break;
      case 'csv:compute-native':
        table((source) => readNativeCounters(source, databases, recording));
        break;
      case 'csv:compute-dispatch-info':
        break;
      case 'csv:streamed-counters':
        used = false;
        recording.report('profile/other-format', file.path, STREAMED);
        break;
      case 'csv:stats':
        // Sums of a trace that is here as well would count twice, as those of all calls of a domain beside those of each.
        used = hasTraces.size === 0 && !byFormat.some((e) => e.format === 'csv:api-trace');
        used &&= !isOfDomains(file) || !byFormat.some((e) => e.format === format && !isOfDomains(e.file));
        if (used) table((source) => readRocprofCsv(source, 'stats', recording));
        break;
      default:
        table((source) => readRocprofCsv(source, format.slice(4) as CsvKind, recording));
    }
    if (used) recording.sources.push({ path: file.path, format: read });
  }
  for (const file of files)
    if (file.size === 0 && /\.(csv|json|db|att)(\.gz)?$/.test(file.path)) reportEmpty(recording, file.path);
  recording.endReading();
  const why = () => recording.findings.map(({ place, message }) => ` ${place.file ?? ''}: ${message}`).join('');
  if (recording.sources.length > 0 && recording.isEmpty) {
    throw new WavesmithError('profile/nothing-found', `The files under ${paths.join(', ')} hold no data.${why()}`, {
      file: paths[0],
      hint: 'Check that the program launched kernels, and that the profiler ended in order.',
    });
  }
  if (recording.sources.length === 0) {
    throw new WavesmithError('profile/nothing-found', `No profile data was found under ${paths.join(', ')}.${why()}`, {
      file: paths[0],
      hint: 'Give the output of rocprofv3 (CSV, JSON, rocpd, ATT), of rocprof-compute, or raw .att traces.',
    });
  }
  return { recording, sqtt };
}

/** Whether a file is what rocprof-compute was asked for, and that was to take sets of counters in turns. */
function takesTurns(file: DiskFile): boolean {
  const MOST = 1 << 20;
  if (baseName(file.path) !== 'profiling_config.yaml' || file.size > MOST) return false;
  const text = file.open((source) => new TextDecoder().decode(readWhole(source, MOST)));
  const value = /^iteration_multiplexing:[ \t]*(.*?)[ \t]*$/m.exec(text)?.[1] ?? '';
  return !/^(?:|null|~|false|none|''|"")$/i.test(value);
}

/** Reports a database whose last changes are not to be read. */
function reportLog(file: DiskFile, recording: Recording): void {
  const problem = logProblem(file.realPath);
  if (problem !== undefined) recording.report('rocpd/open-log', file.path, problem);
}

/** Where times of a file have fractions, those that happen to have none are in the same unit: they are no nanoseconds either. */
function spreadFractions(table: Recording['dispatches'] | Recording['copies'], from: number): void {
  const { timing } = table;
  if (timing.length === from || !timing.view().includes(Timing.FRACTION, from)) return;
  for (let row = from; row < timing.length; row++)
    if (timing.get(row) === Timing.KNOWN) timing.set(row, Timing.FRACTION);
}

/** Reports a table whose last row has no line end: the copy of a file that ends early looks so, and no profiler writes it. */
function reportOpenEnd(source: ByteSource, recording: Recording): void {
  if (source.size === 0 || source.read(source.size - 1, 1)[0] === 0x0a) return;
  recording.report(
    'profile/open-end',
    source.path,
    'The last row has no line end, so the file may be cut: the row may lack digits, and rows after it may be missing. What is there is used.',
  );
}

const STREAMED =
  'The file has samples of counters over time (SPM), which are not read: they are no values of dispatches. It is left out.';

/** Whether a table of sums has those of domains (`KERNEL_DISPATCH`, `HIP_API`), and not of functions. */
const isOfDomains = (file: DiskFile): boolean => /domain_stats\.csv/.test(baseName(file.path));

/** Whether a wide table tells when its dispatches ran. */
function hasTimes(file: DiskFile): boolean {
  return file.open((source) => readCsvHeader(source).at('Start_Timestamp', 'BeginNs') >= 0);
}

/** Reads the code objects; one that is not for a known target is reported and left out. */
function loadCode(files: readonly DiskFile[], recording: Recording): LoadedCode[] {
  const MAX_CODE = 1 << 30;
  return files.flatMap((file) => {
    try {
      return [
        new LoadedCode(
          file.open((source) => readWhole(source, MAX_CODE)),
          file.path,
        ),
      ];
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      recording.report('profile/bad-source', file.path, `${error.message} (${error.code})`);
      return [];
    }
  });
}

function loadSqtt(
  file: DiskFile,
  codes: readonly LoadedCode[],
  options: LoadOptions,
  recording: Recording,
): SqttResult {
  const result = file.open((source) => readSqtt(source, { codes, base: options.base }));
  recording.traces.push(result.trace);
  for (const { code, message } of contradictions(result)) recording.report(code, file.path, message);
  return result;
}
