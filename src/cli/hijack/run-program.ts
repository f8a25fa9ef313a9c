// `wavesmith hijack run` for folders that were made from a program or a file of code objects.
import { findElementType, KNOWN_TYPES, WavesmithError } from '../../base/index.ts';
import type { DispatchComparison } from '../../hijack/compare-dispatch.ts';
import { commandOf, readProgramManifest } from '../../hijack/manifest.ts';
import type { OutputFile } from '../../hijack/output-files.ts';
import { type ProgramRunResult, type ProgramSide, runProgramFolder } from '../../hijack/run.ts';
import { comparisonLines, comparisonVerdict, exitCodeOf, verdictLine } from '../../verdict/index.ts';
import { parseDispatchRange } from '../dispatch-range.ts';
import { programDevice } from '../program-device.ts';
import { DispatchProgress } from '../run-progress.ts';
import { newCommand, parseArguments, parseMatrixMode, printJson } from '../support.ts';
import { addJudgeOptions, type JudgeFlags, judgeOptions } from '../verdict-options.ts';

interface Flags extends JudgeFlags {
  output: string[];
  stdout: boolean;
  buffer: string[];
  dispatch?: string;
  device?: string;
  save?: string;
  timeout?: string;
  check?: boolean;
  force?: boolean;
  mfma: string;
  json?: boolean;
}

const collect = (value: string, list: string[]): string[] => [...list, value];

/** Runs the command. `argv` begins with the folder; everything after `--` is the program. */
export async function run(argv: readonly string[], program: readonly string[]): Promise<number> {
  const command = newCommand('hijack run', 'Run a program with its own and with the edited kernels and compare.')
    .argument('<dir>', 'a folder made by hijack init -- PROGRAM or hijack init FILE, and built by hijack build')
    .option('--output <file[=type]>', 'a file that the program writes, and its element type; repeatable', collect, [])
    .option('--no-stdout', 'do not compare standard output')
    .option(
      '--buffer <arg=type>',
      'element type of what pointer argument N of the kernel points to; repeatable',
      collect,
      [],
    )
    .option(
      '--dispatch <range>',
      'dispatches of edited kernels to compare in memory: N, A-B, A-, every:K (default: all)',
    )
    .option(
      '--device <device>',
      'sim:TARGET (default: the target of the folder), or rocm for the GPU that the machine has',
    )
    .option('--save <dir>', 'keep the outputs of both runs in this folder')
    .option('--timeout <s>', 'seconds after which a run is killed')
    .option('--check', 'run both sides in strict mode: every access, register and wait is checked')
    .option('--force', 'objections of the checker and of --check do not fail the run (the verdict still names them)')
    .option('--mfma <mode>', 'matrix products: exact (as the silicon, where published) or fast (sums in f32)', 'exact')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
The program is that of hijack init, or what follows '--'. It runs twice. In the second run the edited kernels take the place of its own when
they are loaded; each of their dispatches first runs the original on the same memory, and every byte that both leave is compared.

Exit code: 0 for EQUAL and EQUAL WITHIN TOLERANCE; 1 for DIFFERENT, NOTHING COMPARED, EDITED KERNEL NOT LAUNCHED and NOT BUILT, and
when the checker (or --check) objects to the edit. docs/verdict.md explains them.`,
    );
  addJudgeOptions(command);
  if (!parseArguments(command, [...argv])) return 0;
  const flags = command.opts<Flags>();
  const [folder = ''] = command.args;
  const manifest = readProgramManifest(folder);
  const mfma = parseMatrixMode(flags.mfma);
  const progress = new DispatchProgress(process.stderr);
  const result = await runProgramFolder(folder, {
    ...judgeOptions(flags),
    check: flags.check === true,
    force: flags.force === true,
    command: commandOf(manifest, program),
    device: (isStrict, maxInstructions) =>
      programDevice(flags.device ?? `sim:${manifest.target}`, {
        mfma,
        maxInstructions,
        strict: isStrict ? {} : undefined,
      }),
    outputs: flags.output.map(outputFlag),
    stdout: flags.stdout,
    types: new Map(flags.buffer.map(bufferFlag)),
    range: parseDispatchRange(flags.dispatch),
    timeout: flags.timeout === undefined ? undefined : secondsFlag(flags.timeout),
    save: flags.save,
    report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
    onProgress: (count, kernel) => progress.update(count, kernel),
  });
  progress.clear();
  if (flags.json) printJson(result);
  else process.stdout.write(describe(result));
  return exitCodeOf(result);
}

function elementTypeFlag(name: string): string {
  if (findElementType(name) !== undefined) return name;
  throw new WavesmithError('hijack/element-type', `There is no element type '${name}'.`, { hint: KNOWN_TYPES });
}

function outputFlag(text: string): OutputFile {
  const cut = text.lastIndexOf('=');
  if (cut < 0) return { path: text };
  return { path: text.slice(0, cut), elementType: elementTypeFlag(text.slice(cut + 1)) };
}

function bufferFlag(text: string): [number, string] {
  const match = /^(\d+)=(.+)$/.exec(text);
  if (match !== null) return [Number(match[1]), elementTypeFlag(match[2] ?? '')];
  throw new WavesmithError('cli/usage', `--buffer needs ARG=TYPE, not '${text}'.`, {
    hint: 'For example --buffer 2=f32: the third argument points to floats.',
  });
}

function secondsFlag(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds < 1e6) return seconds * 1000;
  throw new WavesmithError('cli/usage', `--timeout needs a number of seconds, not '${text}'.`);
}

function describe(result: ProgramRunResult): string {
  const lines = [result.command.join(' ')];
  const side = (name: string, s: ProgramSide | null): string => {
    if (s === null) return `  ${name}  not run`;
    const work = s.kernels === null ? '' : `${s.kernels} kernel(s) run, ${s.instructions} instructions, `;
    return `  ${name}  ${work}status ${s.status}, ${s.seconds.toFixed(2)} s`;
  };
  if (result.baseline !== null) lines.push(side('baseline', result.baseline), side('modified', result.modified));
  if (result.error !== null) lines.push(...result.error.split('\n').map((line) => `    ${line}`));
  for (const { kernel, dispatches, compared } of result.launches) {
    const unseen = dispatches === compared ? '' : `, ${compared} of them compared`;
    lines.push(`  ${kernel}: the edited kernel was launched ${dispatches} time(s)${unseen}`);
  }
  for (const { name, comparison, problem } of result.outputs) {
    if (comparison === null) lines.push(`  ${name}: ${problem}`);
    else lines.push(...comparisonLines(`  ${name}`, comparison, result.exact));
  }
  lines.push(...dispatchLines(result));
  for (const { place, by, rule, message } of result.objections.slice(0, SHOWN)) {
    lines.push(`${place === '' ? '' : `${place}: `}${by}[${rule}]: ${message}`);
  }
  const more = result.objections.length - SHOWN;
  if (more > 0) lines.push(`… and ${more} more objections (--json has them all)`);
  if (result.verdict === 'different') lines.push(...result.reasons.map((reason) => `  ${reason}`));
  lines.push(verdictLine(result, countsOf(result)), '');
  return lines.join('\n');
}

/** Most dispatches that differ, and most objections, that are shown. */
const SHOWN = 5;

function dispatchLines({ dispatches, exact }: ProgramRunResult): string[] {
  const bad = dispatches.filter((d) => verdictsOf(d).some((v) => v !== 'equal') || d.status !== 'done');
  const lines = bad
    .slice(0, SHOWN)
    .flatMap((d) => [
      `  dispatch ${d.sequence} of ${d.kernel}, grid ${d.grid.join('×')}, workgroup ${d.block.join('×')}: ` +
        (d.status === 'done'
          ? `the original wrote ${d.written.baseline} bytes, the edited kernel ${d.written.modified}`
          : `ended as '${d.status}'`),
      ...d.places
        .filter((p) => comparisonVerdict(p.comparison) !== 'equal')
        .flatMap((p) =>
          comparisonLines(`    ${p.where}, ${p.bytes} bytes from 0x${p.address.toString(16)}`, p.comparison, exact),
        ),
    ]);
  if (bad.length > SHOWN) lines.push(`  … and ${bad.length - SHOWN} more dispatches that differ`);
  const bytes = dispatches.reduce((sum, d) => sum + d.written.baseline, 0);
  const equal = dispatches.length - bad.length;
  if (dispatches.length > 0) {
    lines.push(
      `  memory: ${equal} of ${dispatches.length} dispatch(es) left the same bytes everywhere (${bytes} bytes written)`,
    );
  }
  return lines;
}

const verdictsOf = (d: DispatchComparison): string[] => d.places.map((p) => comparisonVerdict(p.comparison));

function countsOf({ dispatches, outputs, verdict }: ProgramRunResult): string {
  const compared = outputs.filter((o) => o.comparison !== null).length;
  const bad = dispatches.filter((d) => verdictsOf(d).includes('different')).length;
  if (verdict === 'different')
    return `${bad} of ${dispatches.length} dispatch(es) differ, ${compared} output(s) compared`;
  return dispatches.length + compared === 0 ? '' : `${dispatches.length} dispatch(es), ${compared} output(s)`;
}
