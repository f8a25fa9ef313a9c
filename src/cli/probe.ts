// `wavesmith probe`: puts a probe into a code object, or into the kernel of a `wavesmith run` line, and says what it found.

import { WavesmithError } from '../base/index.ts';
import { type ProbeDefinition, TOOLS } from '../instrument/index.ts';
import { DEFAULT_TARGET } from '../isa/table/targets.ts';
import { probeFile } from './probe/file.ts';
import type { ProbeFlags } from './probe/flags.ts';
import { loadProbe } from './probe/load.ts';
import { STARTER } from './probe/starter.ts';
import { newCommand, parseArguments, printJson, writeOutput } from './support.ts';

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
  const { set, ...flags } = command.opts<ProbeFlags & { readonly set: string[] }>();
  const options: ProbeFlags = { ...flags, settings: Object.fromEntries(set.map(setting)) };
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
  if (line?.[0] === 'run') return (await import('./probe/run-line.ts')).probeRun(probe, line.slice(1), kernel, options);
  if (line !== undefined) return (await import('./probe/program.ts')).probeCommand(probe, line, kernel, options);
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

function list({ json }: ProbeFlags): number {
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
