// `wavesmith profile`: analyse rocprofv3 and rocprof-compute output, drive rocprofv3, compare two profiles.
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WavesmithError } from '../base/index.ts';
import { TARGET_LIST } from '../isa/table/targets.ts';
import {
  type AnalyseOptions,
  analyse,
  analyseAll,
  diffProfiles,
  driveRocprofv3,
  isKnown,
  isSumOfWork,
  loadProfile,
  type Measure,
  PROFILE_SCHEMA,
  type ProfileDiff,
  type ProfileDocument,
  perfettoTrace,
  type Recording,
  SCHEMAS,
  shellLine,
  speedscopeFile,
} from '../profile/index.ts';
import { comparisonPage } from '../report/index.ts';
import { isCapturePath } from '../snapshot/index.ts';
import { printPieces, resultsLine, writePieces, writeResults } from './profile-output.ts';
import { simulateProgram } from './profile-sim.ts';
import { programDevice } from './program-device.ts';
import { runKernel } from './run.ts';
import { newCommand, parseArguments, printJson, readInput, writeOutput } from './support.ts';
import { CHIP_NAMES, isTimed, timingOf } from './timing.ts';

interface Flags {
  out: string;
  deep?: boolean;
  device?: string;
  timing?: boolean;
  chip?: string;
  arch?: string;
  hbm?: string;
  maxGap?: string;
  perfetto?: string;
  speedscope?: string;
  json?: boolean;
  schema?: boolean | string;
}

/** Runs `wavesmith profile`. */
export async function run(argv: string[]): Promise<number> {
  if (argv[0] === 'diff') return runDiff(argv.slice(1));
  const split = argv.indexOf('--');
  const own = split < 0 ? argv : argv.slice(0, split);
  const program = split < 0 ? [] : argv.slice(split + 1);
  const command = newCommand('profile', 'Analyse profiles: roofline, critical path, bottlenecks.')
    .argument('[paths...]', 'files or folders of rocprofv3 or rocprof-compute, or a capture')
    .option('-o, --out <dir>', 'where the results go', 'wavesmith-profile')
    .option('--deep', 'with -- PROGRAM: also record a thread trace')
    .option(
      '--device <device>',
      `with -- PROGRAM: rocm, the GPU of this machine, with rocprofv3 (default); or sim:TARGET, the virtual GPU (targets are ${TARGET_LIST})`,
    )
    .option('--timing', 'with --device: model the time of every dispatch on a chip (docs/timing.md)')
    .option('--chip <name|file>', `the chip to model: ${CHIP_NAMES.join(', ')}, or a chip file`)
    .option('--arch <name>', 'architecture when the recording does not tell')
    .option('--hbm <GB/s>', 'HBM bandwidth when the recording does not tell')
    .option('--max-gap <ns>', 'largest gap across queues that counts as a dependency')
    .option('--perfetto <file>', 'also write a timeline for ui.perfetto.dev')
    .option('--speedscope <file>', 'also write a profile for speedscope.app')
    .option('--json', 'print the profile document')
    .option('--schema [document]', 'print the JSON Schema of a document: profile, roofline, dag, analysis, trace')
    .addHelpText(
      'after',
      '\nAlso: wavesmith profile diff A B\n      wavesmith profile [--deep] [-o DIR] -- PROGRAM ARGS…\n      wavesmith profile --device sim[:TARGET] [-o DIR] -- PROGRAM ARGS…',
    );
  if (!parseArguments(command, own)) return 0;
  const flags = command.opts<Flags>();
  if (flags.schema !== undefined) {
    const name = flags.schema === true ? 'profile' : String(flags.schema);
    if (!Object.hasOwn(SCHEMAS, name))
      throw usage(`There is no document '${name}': ${Object.keys(SCHEMAS).join(', ')}.`);
    printJson(SCHEMAS[name]);
    return 0;
  }
  const options = analyseOptions(flags);
  let paths = command.processedArgs[0] as string[];
  if (program.length > 0 && paths.length > 0) throw usage('Give paths or a program, not both.');
  const [target] = paths;
  if (target !== undefined && paths.length === 1 && isCapture(target)) {
    if (flags.device !== undefined) throw usage('A capture is profiled on the virtual GPU of its target.');
    return await profileCapture(target, flags);
  }
  const device = flags.device === undefined ? undefined : programDevice(flags.device);
  if (device !== undefined && program.length === 0) throw usage('--device needs a program to run: -- PROGRAM.');
  if (device?.kind === 'sim') {
    if (flags.deep === true)
      throw usage('--deep records a thread trace of a real GPU; on the virtual one --timing does.');
    const timing = timingOf(flags, device.target, { keepsWaves: true });
    const { recording, status } = await simulateProgram(device.target, program, timing);
    report(recording, flags, options, shellLine(program));
    return status;
  }
  if (isTimed(flags) || flags.chip !== undefined)
    throw usage('--timing and --chip model times of the virtual GPU: add --device sim.');
  if (program.length > 0) {
    const folder = driveRocprofv3({
      folder: join(flags.out, 'raw'),
      program,
      deep: flags.deep === true,
      arch: flags.arch,
      onPasses: (arch, passes) => {
        const each = passes.map((names, i) => `  pass ${i + 1}: ${names.join(' ')}\n`).join('');
        process.stderr.write(
          `profile: the counters of ${arch} need ${passes.length} further runs of the program\n${each}`,
        );
      },
      onRun: (words) => process.stderr.write(`profile: ${shellLine(words)}\n`),
    });
    paths = [folder];
  }
  if (paths.length === 0) throw usage('Give the output of a profiler, or -- PROGRAM to run.');
  report(loadProfile(paths, { between: collectGarbage }).recording, flags, options, paths.join(' '));
  return 0;
}

/** Whether a path is a capture: many folders hold profiles, only captures have a trailer. */
const isCapture = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? existsSync(join(path, 'trailer.json')) || /\.wscap\/?$/.test(path)
    : isCapturePath(path);

/** Counts everything that a captured dispatch does on the virtual GPU. */
async function profileCapture(path: string, flags: Flags): Promise<number> {
  const clock = [
    ...(flags.timing === true ? ['--timing'] : []),
    ...(flags.chip === undefined ? [] : ['--chip', flags.chip]),
  ];
  return await runKernel([path, '--report', flags.out, ...clock, ...(flags.json === true ? ['--json'] : [])]);
}

/** Analyses, writes the files, prints. */
function report(recording: Recording, flags: Flags, options: AnalyseOptions, title: string): void {
  const isLarge = recording.dispatches.length + recording.calls.total > LARGE;
  if (isLarge) collectGarbage();
  const document = writeAnalysis(recording, flags, options, isLarge);
  if (isLarge && (flags.perfetto !== undefined || flags.speedscope !== undefined)) collectGarbage();
  if (flags.perfetto !== undefined) writePieces(flags.perfetto, perfettoTrace(recording, document.dispatches.tracks));
  if (flags.speedscope !== undefined) writePieces(flags.speedscope, speedscopeFile(recording, title));
  if (flags.json === true) printPieces(document);
  else process.stdout.write(summary(document, flags.out));
}

/** Analyses and writes the files. What only the page needs is garbage when the exports begin. */
function writeAnalysis(recording: Recording, flags: Flags, options: AnalyseOptions, isLarge: boolean): ProfileDocument {
  const { document, work } = analyseAll(recording, options, isLarge ? collectGarbage : undefined);
  if (isLarge) collectGarbage();
  writeResults(flags.out, document, work, isLarge ? collectGarbage : undefined);
  return document;
}

/** Dispatches and calls from which on it matters what each stage leaves behind. */
const LARGE = 100_000;

/** Of a million dispatches each stage leaves 100 MB that V8 would keep until the next has added its own. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function usage(message: string): WavesmithError {
  return new WavesmithError('cli/usage', message, { hint: "'wavesmith profile --help' shows the usage." });
}

function analyseOptions(flags: Pick<Flags, 'arch' | 'hbm' | 'maxGap'>): AnalyseOptions {
  const positive = (name: string, text: string | undefined) => {
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!(value > 0)) throw usage(`--${name} must be a positive number, not '${text}'.`);
    return value;
  };
  return { arch: flags.arch, hbmGbps: positive('hbm', flags.hbm), maxGapNs: positive('max-gap', flags.maxGap) };
}

function show(measure: Measure, format: (value: number) => string): string {
  return isKnown(measure) ? format(measure.value) : 'unknown';
}

const ms = (ns: number) => `${(ns / 1e6).toFixed(3)} ms`;
/** A time in the unit in which it has few digits before the point. */
const time = (ns: number) => {
  if (ns >= 1e6) return ns >= 1e9 ? `${(ns / 1e9).toFixed(3)} s` : ms(ns);
  return `${ns < 100 ? (ns / 1e3).toPrecision(2) : (ns / 1e3).toFixed(2)} µs`;
};
const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

/** Control characters of names from outside must not reach the terminal. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}

/** What it was, where the time went, what to change. */
function answerLines(document: ProfileDocument): string[] {
  const { answer } = document;
  const { command, host, machines, date, changes } = answer;
  const where = [machines.join(', ') || 'an unknown GPU', host ?? ''].filter((text) => text !== '').join(' of ');
  const out = [
    `${command === null ? 'an unrecorded command' : clean(command)} on ${clean(where)}${date === null ? '' : `, ${clean(date)}`}`,
  ];
  const most = answer.kernels.filter(({ share }) => isKnown(share));
  if (most.length > 0) {
    out.push(`time: ${most.map((k) => `${show(k.share, percent)} ${clean(k.name)}`).join('; ')}`);
  }
  for (const [i, change] of changes.entries()) {
    const worth = isKnown(change.worthNs)
      ? `worth at most ${show(change.worthNs, time)} (${show(change.worthShare, percent)})`
      : 'worth unknown';
    out.push(`change ${i + 1}: ${clean(change.title)}; ${worth}; ${change.evidence.join('; ')}`);
  }
  if (answer.whyNoChange !== null) out.push(`change: ${answer.whyNoChange}`);
  out.push('');
  return out;
}

function summary(document: ProfileDocument, folder: string): string {
  const p = document.criticalPath;
  const out = answerLines(document);
  out.push(
    `dispatches ${document.dispatches.total}, kernels ${document.kernels.length + document.omitted.kernels}; span ${show(p.spanNs, ms)}, ` +
      `critical path ${show(p.lengthNs, ms)}, GPU idle ${show(p.gapNs, ms)}`,
  );
  if (document.dependencyPath !== null) {
    const d = document.dependencyPath;
    const times = document.modelledChip === null ? 'no times' : `times modelled for ${document.modelledChip}`;
    out.push(
      `simulated: exact counts, ${times}; ${d.work} instructions, ${d.length} of them on the longest chain of ${d.pathNodes} dependent dispatches`,
    );
  }
  for (const kernel of document.kernels.slice(0, 20)) {
    const top = kernel.bottleneck.classes[0];
    const hbm = kernel.roofline.points.find((point) => point.level === 'HBM') ?? kernel.roofline.points[0];
    const asked = kernel.roofline.points.find((point) => point.level === 'Requested');
    out.push(
      `\n${clean(kernel.name)}`,
      ...(kernel.symbol === null ? [] : [`  symbol ${clean(kernel.symbol)}`]),
      `  calls ${kernel.calls}, total ${show(kernel.totalNs, ms)} (${show(kernel.share, percent)}), mean ${show(kernel.meanNs, time)}, on the critical path ${show(kernel.critical.criticalNs, ms)}`,
      `  FLOPs ${show(kernel.roofline.flops, (v) => v.toExponential(3))}, HBM bytes ${show(hbm.bytes, (v) => v.toExponential(3))}, HBM ${show(hbm.bandwidth, (v) => `${v.toFixed(1)} GB/s`)} (${show(hbm.ofPeak, percent)} of peak), occupancy ${show(kernel.occupancy.share, percent)}`,
      ...coverage(kernel),
      ...(isKnown(kernel.cyclesNs)
        ? [
            `  about ${show(kernel.cyclesNs, time)} a call by busy cycles at the highest clock: an estimate, no measured time`,
          ]
        : []),
      ...(isKnown(kernel.totalNs) || !isKnown(kernel.roofline.leastNs)
        ? []
        : [
            `  at least ${show(kernel.roofline.leastNs, time)} in all: a lower bound from the roof of ${kernel.roofline.leastBy ?? ''}, no time`,
          ]),
      ...(asked === undefined
        ? []
        : [
            `  bytes asked for ${show(asked.bytes, (v) => v.toExponential(3))}, FLOPs per byte asked for ${show(asked.intensity, (v) => v.toPrecision(4))}`,
          ]),
      top === undefined
        ? '  bottleneck: none with evidence'
        : `  bottleneck: ${top.class} (confidence ${top.confidence.toFixed(2)}; ${top.evidence.map((e) => `${e.metric} ${e.value.toPrecision(3)}`).join('; ')})`,
    );
    for (const [name, value] of [
      ['FLOPs', kernel.roofline.flops],
      ['HBM bytes', hbm.bytes],
      ['durations', kernel.totalNs],
    ] as const) {
      if (!isKnown(value)) out.push(`  ${name} unknown: ${value.unknown}`);
    }
  }
  for (const trace of document.traces.filter((t) => t.hits > 0 || t.lines.length > 0).slice(0, 8)) {
    out.push(
      `\ntrace ${clean(trace.source)} (${trace.kind}): ${trace.lines.length} lines, ${trace.hits} executions, ` +
        `stalled ${show(trace.stallShare, percent)}, idle ${show(trace.idleShare, percent)}`,
    );
  }
  const sums = document.calls.filter(({ domain }) => isSumOfWork(domain));
  const calls = document.calls.filter(({ domain }) => !isSumOfWork(domain));
  if (calls.length > 0) out.push(callsLine('API calls and markers', calls, document.omitted.calls));
  if (sums.length > 0) out.push(callsLine('Sums of statistics files', sums, 0));
  if (document.findings.length > 0) out.push('\nFindings:');
  for (const finding of document.findings.slice(0, 20)) {
    out.push(`  ${finding.code} ${clean(finding.file)}: ${clean(finding.message)}`);
  }
  if (document.findings.length > 20) out.push(`  … and ${document.findings.length - 20} more in profile.json`);
  out.push('', resultsLine(folder), '');
  return out.join('\n');
}

/** How many calls have counters, where that is not all: times are of all calls, FLOPs and bytes of these. */
function coverage({ calls, counters }: ProfileDocument['kernels'][number]): string[] {
  const counts = Object.values(counters).map(({ dispatches }) => dispatches);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (counts.length === 0 || least >= calls) return [];
  return [
    `  counters of ${least === most ? '' : `${least} to `}${most} of ${calls} calls: FLOPs and bytes are of these`,
  ];
}

/** How many calls there were, and those of most time; `others` are not in the list. */
function callsLine(what: string, calls: ProfileDocument['calls'], others: number): string {
  const most = calls.slice(0, 3).map((call) => `${clean(call.name)} ${call.calls} times, ${ms(call.totalNs)}`);
  const all = calls.reduce((sum, call) => sum + call.calls, others);
  return `\n${what} ${all}: ${most.join('; ')}${calls.length > 3 ? '; …' : ''}`;
}

function runDiff(argv: string[]): number {
  const command = newCommand('profile diff', 'Compare two profiles (profile.json files or profiler output).')
    .argument('<A>', 'before')
    .argument('<B>', 'after')
    .option('--arch <name>', 'architecture when the recording does not tell')
    .option('--hbm <GB/s>', 'HBM bandwidth when the recording does not tell')
    .option('-o, --html <file>', 'write the comparison as a page')
    .option('--json', 'print the comparison as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags & { readonly html?: string }>();
  const [before, after] = command.processedArgs as [string, string];
  const diff = diffProfiles(openProfile(before, flags), openProfile(after, flags));
  if (flags.html !== undefined) writeOutput(flags.html, comparisonPage(diff, [before, after]));
  if (flags.json === true) printJson(diff);
  else process.stdout.write(diffText(diff));
  return 0;
}

/** A profile document from its own JSON, a folder that holds one, or profiler output. */
function openProfile(path: string, flags: Flags): ProfileDocument {
  const inFolder = join(path, 'profile.json');
  const file = existsSync(inFolder) ? inFolder : path;
  if (file.endsWith('.json') && basename(file) !== 'code.json') {
    const document = parseProfile(file);
    if (document !== undefined) return document;
  }
  return analyse(loadProfile([path]).recording, analyseOptions(flags));
}

function parseProfile(path: string): ProfileDocument | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(readInput(path)));
  } catch (error) {
    if (error instanceof WavesmithError) throw error;
    throw new WavesmithError('profile/bad-json', `${path} is not complete JSON: ${(error as Error).message}.`, {
      file: path,
    });
  }
  const document = value as Partial<ProfileDocument> | null;
  if (typeof document !== 'object' || document?.schema !== PROFILE_SCHEMA) return undefined;
  if (
    document.version?.split('.')[0] !== '1' ||
    !Array.isArray(document.kernels) ||
    document.criticalPath === undefined
  ) {
    throw new WavesmithError(
      'profile/schema-version',
      `${path} has profile version ${String(document.version)}; 1.x is known.`,
      {
        file: path,
      },
    );
  }
  return document as ProfileDocument;
}

function diffText(diff: ProfileDiff): string {
  const [before, after] = diff.machines.map((names) => names.map(clean).join(', '));
  const out = [
    ...(before === after
      ? []
      : [
          `A ran on ${before || 'an unknown GPU'}, B on ${after || 'an unknown GPU'}: times differ without any change of the program`,
        ]),
    `GPU work ${show(diff.totalNs[0], ms)} -> ${show(diff.totalNs[1], ms)} (x${show(diff.totalRatio, (v) => v.toFixed(3))}), ` +
      `critical path ${show(diff.criticalNs[0], ms)} -> ${show(diff.criticalNs[1], ms)}`,
  ];
  for (const kernel of diff.kernels) {
    const certainty = kernel.significant === null ? '' : kernel.significant ? ', significant' : ', within noise';
    out.push(
      `\n${clean(kernel.name)}${kernel.status === 'both' ? '' : ` (${kernel.status})`}`,
      `  calls ${kernel.calls.join(' -> ')}, mean ${kernel.meanNs.map((m) => show(m, time)).join(' -> ')} (x${show(kernel.meanRatio, (v) => v.toFixed(3))}${certainty})`,
    );
    if (kernel.bottleneck[0] !== kernel.bottleneck[1]) {
      out.push(`  bottleneck ${kernel.bottleneck.map((name) => name ?? 'none').join(' -> ')}`);
    }
    for (const metric of kernel.metrics) {
      out.push(`  ${metric.label}: ${metric.a.toPrecision(5)} -> ${metric.b.toPrecision(5)}`);
    }
  }
  return `${out.join('\n')}\n`;
}
