// `wavesmith probe`: puts a probe into a code object, or into the kernel of a `wavesmith run` line, and says what it found.

import { WavesmithError } from '../base/index.ts';
import type { CodeObject } from '../codeobject/index.ts';
import { nodeProbeCache } from '../device/node/index.ts';
import { optimizeLess } from '../device/node/v8-flags.ts';
import {
  atOriginal,
  type Instrumented,
  instrument,
  type ProbeDefinition,
  placeAtOriginal,
  TOOLS,
} from '../instrument/index.ts';
import { DEFAULT_TARGET } from '../isa/table/targets.ts';
import { probePage } from '../report/index.ts';
import { folderCodes, isHijackFolder } from './probe/folder.ts';
import { loadProbe } from './probe/load.ts';
import { isComplete, pageCode, placementRecord, placementText, reportText } from './probe/print.ts';
import { exportReport, type ProgramFlags, probeCommand } from './probe/program.ts';
import { samplingOf } from './probe/sampling.ts';
import { exactly, selfCheck } from './probe/self-check.ts';
import { STARTER } from './probe/starter.ts';
import { readCodeInput } from './read-code-input.ts';
import { runKernel } from './run.ts';
import { loadable } from './run-common.ts';
import { selectCodeObject } from './select-code-object.ts';
import { newCommand, parseArguments, printJson, writeOutput } from './support.ts';

interface Options extends ProgramFlags {
  readonly tool?: string;
  readonly kernel?: string;
  readonly output?: string;
  readonly object?: string;
  readonly list?: boolean;
  readonly new?: string;
  readonly selfCheck?: boolean;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const split = argv.indexOf('--');
  const [own, line] = split < 0 ? [argv, undefined] : [argv.slice(0, split), argv.slice(split + 1)];
  const command = newCommand('probe', 'Put a probe into kernels and say what it found.')
    .usage(
      '--tool NAME|FILE.ts [options] FILE -o OUT\n       wavesmith probe --tool NAME|FILE.ts [options] -- run FILE --kernel NAME …\n       wavesmith probe --tool NAME|FILE.ts [options] -- PROGRAM ARGS',
    )
    .argument('[file]', 'code object, or hijack folder, to rewrite (with -o)')
    .option('--tool <name>', 'a shipped probe (see --list), or a file with one: .ts, or .hip with hooks')
    .option('--kernel <regex>', 'only kernels whose name has this')
    .option('--object <n|target>', 'which code object of a file with several, by number from 0 or target')
    .option('-o, --output <file>', 'where to write the instrumented code object')
    .option(
      '--device <device>',
      'of a program: sim:TARGET, or rocm for the GPU that the machine has',
      `sim:${DEFAULT_TARGET}`,
    )
    .option('--dispatch <range>', 'of a program: dispatches that run the probe: N, A-B, A- or every:K (default: all)')
    .option('--workgroup <x[,y[,z]]>', 'only the waves of this workgroup run the probe')
    .option('--wave <n>', 'only this wave of each workgroup runs the probe')
    .option('--every <n>', 'only every Nth workgroup of a row runs the probe, in the next row shifted by one')
    .option('--no-growth', 'give no kernel more registers than it has')
    .option('--listing', 'print the instructions with what the probe says of each')
    .option('--html <file>', 'write a page with what the probe found, and the instructions with what it says of each')
    .option('--set <name=value>', 'a setting of the probe (see --list); repeatable', collect, [])
    .option('--export <file>', 'write what the probe found in the format of another program (trace-export: Perfetto)')
    .option('--self-check', 'also run the original, compare all that both leave in memory, and find the guilty point')
    .option('--no-cache', 'instrument anew what was instrumented before with the same probe')
    .option('--require-all', 'exit with 1 when a point could not be placed')
    .option('--list', 'the shipped probes')
    .option('--new <file.ts>', 'write a small probe to start from')
    .option('--json', 'print JSON');
  if (!parseArguments(command, own)) return 0;
  const { set, ...flags } = command.opts<Options & { readonly set: string[] }>();
  const options: Options = { ...flags, settings: Object.fromEntries(set.map(setting)) };
  const [file] = command.args;
  if (options.list === true) return list(options);
  if (options.new !== undefined) return startNew(options.new);
  if (options.tool === undefined)
    throw usage('--tool is missing.', "'wavesmith probe --list' shows the shipped probes.");
  if ((file === undefined) === (line === undefined)) {
    throw usage(
      'Give a code object, or a run line or a program behind --.',
      'wavesmith probe --tool instr-count -- run FILE --kernel NAME …',
    );
  }
  const isProgram = line !== undefined && line[0] !== 'run';
  if (options.dispatch !== undefined && !isProgram)
    throw usage('--dispatch chooses dispatches of a program.', 'A run line has one dispatch, a file none.');
  if (command.getOptionValueSource('device') === 'cli' && !isProgram)
    throw usage('--device is of a program.', 'A run line has its own: -- run FILE … --device rocm. A file is not run.');
  if (options.selfCheck === true && line === undefined)
    throw usage(
      '--self-check compares runs, and a file is not run.',
      'Behind --: run FILE --kernel NAME …, or a program',
    );
  if (options.html !== undefined && line === undefined)
    throw usage('--html writes what a probe found, and a file is not run.', 'Or run it: behind --.');
  if (options.export !== undefined && line === undefined)
    throw usage('--export writes what a probe found, and a file is not run.', 'Or run it: behind --.');
  const kernel = kernelPattern(options.kernel);
  const probe = await loadProbe(options.tool);
  if (line?.[0] === 'run') return probeRun(probe, line.slice(1), kernel, options);
  if (line !== undefined) return probeCommand(probe, line, kernel, options);
  return probeFile(probe, file as string, kernel, options);
}

const collect = (value: string, list: string[]): string[] => [...list, value];

/** `name=value` as an entry. */
function setting(text: string): [string, string] {
  const cut = text.indexOf('=');
  if (cut < 1)
    throw usage(
      `--set ${text} is not name=value.`,
      "'wavesmith probe --list' shows the settings of the shipped probes.",
    );
  return [text.slice(0, cut), text.slice(cut + 1)];
}

function usage(message: string, hint: string): WavesmithError {
  return new WavesmithError('cli/usage', message, { hint });
}

function kernelPattern(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw usage(
      `--kernel ${text} is no regular expression: ${(error as Error).message}.`,
      'A plain part of the name is one.',
    );
  }
}

function list({ json }: Options): number {
  const all = Object.values(TOOLS as unknown as Readonly<Record<string, ProbeDefinition>>).map(
    ({ name, summary, settings = {} }) => ({ name, summary, settings }),
  );
  if (json === true) printJson(all);
  else process.stdout.write(all.map(listed).join(''));
  return 0;
}

function listed({ name, summary, settings }: Pick<Required<ProbeDefinition>, 'name' | 'summary' | 'settings'>): string {
  const more = Object.entries(settings).map(([key, one]) => `${' '.repeat(20)} --set ${key}=…: ${one.summary}\n`);
  return `${name.padEnd(20)} ${summary}\n${more.join('')}`;
}

function startNew(file: string): number {
  if (!file.endsWith('.ts')) throw usage(`--new ${file} is no .ts file.`, 'wavesmith probe --new my-probe.ts');
  writeOutput(file, STARTER.replace('THIS_FILE', file));
  process.stdout.write(`${file} is written. The first lines say how to try it.\n`);
  return 0;
}

/** Rewrites a code object. Its memory is read by whoever loads it: the record says where it is. */
function probeFile(probe: ProbeDefinition, file: string, kernel: RegExp | undefined, options: Options): number {
  if (options.output === undefined)
    throw usage('-o is missing: the instrumented code object is written there.', 'Or run it: behind --.');
  optimizeLess();
  if (isHijackFolder(file)) return probeFolder(probe, file, options.output, kernel, options);
  const codeObject = loadable(selectCodeObject(readCodeInput(file), file, { object: options.object }), file);
  const { record, lines, result } = rewritten(probe, codeObject, { file, output: options.output }, kernel, options);
  if (options.json === true) printJson(record);
  else process.stdout.write([...lines, ''].join('\n'));
  return options.requireAll === true && result.rejected.length > 0 ? 1 : 0;
}

/** Rewrites the code objects of a hijack folder into another folder. */
function probeFolder(
  probe: ProbeDefinition,
  folder: string,
  output: string,
  kernel: RegExp | undefined,
  options: Options,
): number {
  const all = folderCodes(folder, output).map((code) =>
    rewritten(probe, loadable(selectCodeObject(code.bytes, code.file, {}), code.file), code, kernel, options),
  );
  if (options.json === true) printJson({ tool: probe.name, folder, codeObjects: all.map(({ record }) => record) });
  else process.stdout.write(all.map(({ lines }) => [...lines, ''].join('\n')).join(''));
  return options.requireAll === true && all.some(({ result }) => result.rejected.length > 0) ? 1 : 0;
}

/** Writes the instrumented code object; what is said of it. */
function rewritten(
  probe: ProbeDefinition,
  codeObject: CodeObject,
  { file, output }: { readonly file: string; readonly output: string },
  kernel: RegExp | undefined,
  options: Options,
) {
  const result = instrument(codeObject, probe, {
    kernel,
    growth: options.growth,
    settings: options.settings,
    ...samplingOf(options),
    cache: options.cache ? nodeProbeCache() : undefined,
  });
  writeOutput(output, result.codeObject.bytes);
  const record = {
    tool: probe.name,
    file,
    output,
    complete: isComplete(result),
    placement: placementRecord(result),
    memory: result.memory,
  };
  return { record, lines: [`${probe.name} in '${output}'`, ...placementText(result)], result };
}

/** Runs a kernel with a probe in it. */
async function probeRun(
  probe: ProbeDefinition,
  line: readonly string[],
  kernel: RegExp | undefined,
  options: Options,
): Promise<number> {
  let result: Instrumented | undefined;
  let report: Readonly<Record<string, unknown>> = {};
  const code = await runKernel([...line], {
    replace: (codeObject, one) => {
      const isWanted = kernel === undefined || kernel.test(one);
      const only = isWanted ? exactly(one) : /(?!)/;
      result = instrument(codeObject, probe, {
        kernel: only,
        growth: options.growth,
        settings: options.settings,
        ...samplingOf(options),
        cache: options.cache ? nodeProbeCache() : undefined,
      });
      return result.codeObject;
    },
    place: (place) => (result === undefined ? place : placeAtOriginal(place, result)),
    ended: (image) => {
      if (result === undefined) return;
      const { address, size } = result.memory;
      report = result.report(size === 0 ? new Uint8Array() : image(address, size));
    },
    print: (record, text) => {
      if (result === undefined) return;
      exportReport(probe, report, options.export);
      if (options.html !== undefined) {
        const page = pageCode(String(record.file), probe, report, result);
        writeOutput(options.html, probePage(probe.name, probe.summary, [page]));
      }
      if (options.json === true)
        printJson({
          tool: probe.name,
          ...report,
          complete: isComplete(result),
          placement: placementRecord(result),
          run: record,
        });
      else {
        const lines = reportText(probe, report, result, options.listing === true);
        process.stdout.write(`${[`${probe.name}: ${probe.summary}`, ...lines].join('\n')}\n\n${text()}`);
      }
    },
  }).catch((error: unknown) => {
    throw result === undefined ? error : atOriginal(error, result.pcs);
  });
  if (options.selfCheck === true) {
    const verdict = await selfCheck(probe, line, kernel, options.settings);
    if (verdict !== undefined) throw verdict;
    process.stderr.write('self-check: every buffer is as the original leaves it\n');
  }
  return code !== 0 ? code : options.requireAll === true && (result?.rejected.length ?? 0) > 0 ? 1 : 0;
}
