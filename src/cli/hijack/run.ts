// `wavesmith hijack run`: baseline and modified module on the same seeded inputs, every output compared; or single dispatches, every buffer.
import { WavesmithError } from '../../base/index.ts';
import { elementType } from '../../iree/compare.ts';
import { type DispatchRun, type RunResult, run as runFolder } from '../../iree/run.ts';
import { runModules } from '../../iree/run-module.ts';
import { newCommand, parseArguments, parseMatrixMode, printJson } from '../support.ts';
import { deviceOpener } from './device.ts';
import { describeModules, differenceLines, moduleHostOpener } from './run-module.ts';

interface Flags {
  modified?: string;
  /** `true`: without a name. */
  dispatch: string[] | true;
  function?: string;
  input: string[];
  parameters: string[];
  save?: string;
  all?: boolean;
  device: string;
  seed: string;
  grid?: string;
  buffer: string[];
  constant: string[];
  exact?: boolean;
  tolerance?: string;
  maxInstructions?: string;
  mfma: string;
  json?: boolean;
}

const collect = (value: string, list: string[]): string[] => [...list, value];
const collectNames = (value: string, list: string[] | true): string[] => [...(list === true ? [] : list), value];

export async function run(argv: string[]): Promise<number> {
  // Everything after `--` belongs to iree-run-module.
  const cut = argv.indexOf('--');
  const own = cut < 0 ? argv : argv.slice(0, cut);
  const extra = cut < 0 ? [] : argv.slice(cut + 1);
  const command = newCommand('hijack run', 'Run the baseline and the modified module on the same inputs and compare.')
    .argument('<dir>', 'a folder made by hijack init and built by hijack build')
    .option('--modified <file>', 'the modified module (default DIR/modified.vmfb)')
    .option('--function <name>', 'the function to run (default: every one)')
    .option(
      '--input <value>',
      'an input as iree-run-module takes it, a .npy file, or a shape and type to seed (4x8xf16, 4x8xf16=random:7, =zeros, =iota); repeatable',
      collect,
      [],
    )
    .option(
      '--parameters <[scope=]file>',
      'parameters outside the module: .irpa, .safetensors, .gguf; repeatable',
      collect,
      [],
    )
    .option('--save <dir>', 'keep the inputs and the outputs of both sides in this folder')
    .option('--dispatch [name]', 'run single kernels instead: the changed ones, or these; repeatable', collectNames, [])
    .option('--all', 'run every kernel by itself')
    .option('--device <device>', 'the device', process.env.WAVESMITH_DEVICE ?? 'sim')
    .option('--seed <n>', 'seed of the inputs', '1')
    .option('--grid <x,y,z>', 'kernels: workgroups, where the grid is not recorded')
    .option('--buffer <n=bytes:type>', 'kernels: size, element type or both of binding N; repeatable', collect, [])
    .option('--constant <n=value>', 'kernels: value of constant N; repeatable', collect, [])
    .option('--exact', 'fail on any different bit')
    .option('--tolerance <x>', 'relative tolerance instead of the element types’ own')
    .option('--max-instructions <n>', 'stop a dispatch after this many wavefront instructions')
    .option('--mfma <mode>', 'matrix products: exact (as the silicon, where published) or fast (sums in f32)', 'exact')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
The whole module runs through iree-run-module with the virtual GPU as its GPU (docs/exec.md). With --dispatch, --all, --grid, --buffer,
--constant or --max-instructions single kernels run instead, with buffers that Wavesmith makes.
Flags after '--' go to iree-run-module.`,
    );
  if (!parseArguments(command, own)) return 0;
  const flags = command.opts<Flags>();
  const isByKernel =
    flags.dispatch === true ||
    flags.dispatch.length > 0 ||
    flags.all === true ||
    flags.grid !== undefined ||
    flags.buffer.length > 0 ||
    flags.constant.length > 0 ||
    flags.maxInstructions !== undefined;
  if (!isByKernel) return runWhole(command.args[0], flags, extra);
  if (extra.length > 0) {
    throw new WavesmithError('cli/usage', "Flags after '--' go to iree-run-module, which single kernels do without.");
  }
  const result = await runFolder(command.args[0], {
    openDevice: deviceOpener(flags.device),
    modified: flags.modified,
    dispatches: flags.dispatch === true ? [] : flags.dispatch,
    all: flags.all === true,
    seed: integer('--seed', flags.seed),
    grid: flags.grid === undefined ? undefined : gridFlag(flags.grid),
    buffers: new Map(flags.buffer.map(bufferFlag)),
    constants: new Map(flags.constant.map(constantFlag)),
    exact: flags.exact === true,
    tolerance: flags.tolerance === undefined ? undefined : toleranceFlag(flags.tolerance),
    maxInstructions:
      flags.maxInstructions === undefined ? undefined : integer('--max-instructions', flags.maxInstructions),
  });
  if (flags.json) printJson(result);
  else process.stdout.write(describe(result));
  return result.ok ? 0 : 1;
}

async function runWhole(folder: string, flags: Flags, extra: readonly string[]): Promise<number> {
  const result = await runModules(folder, {
    openHost: moduleHostOpener(flags.device, parseMatrixMode(flags.mfma)),
    modified: flags.modified,
    function: flags.function,
    inputs: flags.input,
    parameters: flags.parameters,
    save: flags.save,
    extra,
    seed: integer('--seed', flags.seed),
    exact: flags.exact === true,
    tolerance: flags.tolerance === undefined ? undefined : toleranceFlag(flags.tolerance),
  });
  if (flags.json) printJson(result);
  else process.stdout.write(describeModules(result));
  return result.ok ? 0 : 1;
}

function integer(name: string, text: string): number {
  const value = /^-?(?:0x[0-9a-f]+|\d+)$/i.test(text)
    ? Number(text.replace('-', '')) * (text.startsWith('-') ? -1 : 1)
    : NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new WavesmithError('cli/usage', `${name} needs an integer, not '${text}'.`);
}

function gridFlag(text: string): [number, number, number] {
  const parts = text.split(',').map((part) => integer('--grid', part));
  while (parts.length < 3) parts.push(1);
  if (parts.length === 3 && parts.every((n) => n > 0)) return [parts[0], parts[1], parts[2]];
  throw new WavesmithError('cli/usage', `--grid needs X,Y,Z in workgroups, not '${text}'.`);
}

function bufferFlag(text: string): [number, { bytes: number | undefined; elementType: string | undefined }] {
  const match = /^(\d+)=(?:(\d+)(?::([a-zA-Z]\w*))?|([a-zA-Z]\w*))$/.exec(text);
  if (match === null) {
    throw new WavesmithError('cli/usage', `--buffer needs N=BYTES, N=TYPE or N=BYTES:TYPE, not '${text}'.`, {
      hint: 'For example --buffer 0=8192:f16.',
    });
  }
  const type = match[3] ?? match[4];
  if (type !== undefined) elementType(type);
  return [Number(match[1]), { bytes: match[2] === undefined ? undefined : Number(match[2]), elementType: type }];
}

function constantFlag(text: string): [number, number] {
  const match = /^(\d+)=(.+)$/.exec(text);
  if (match !== null) return [Number(match[1]), integer('--constant', match[2])];
  throw new WavesmithError('cli/usage', `--constant needs N=VALUE, not '${text}'.`);
}

function toleranceFlag(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0) return value;
  throw new WavesmithError('cli/usage', `--tolerance needs a number from 0, not '${text}'.`);
}

function describe(result: RunResult): string {
  if (result.runs.length === 0) {
    return 'No kernel was changed: baseline and modified module hold the same code (--all runs every kernel).\n';
  }
  const lines = result.runs.flatMap((r) => describeRun(r, result));
  const bad = result.runs.filter((r) => r.verdict === 'different' || r.verdict === 'failed').length;
  const exactly = result.runs.filter((r) => r.verdict === 'identical').length;
  lines.push(
    result.ok
      ? `EQUAL: ${result.runs.length} dispatch(es), ${exactly} identical in every bit, seed ${result.seed}`
      : `DIFFERENT: ${bad || result.runs.length - exactly} of ${result.runs.length} dispatch(es), seed ${result.seed}`,
    '',
  );
  return lines.join('\n');
}

function describeRun(r: DispatchRun, result: RunResult): string[] {
  const lines = [`${r.kernel}`, `  grid ${r.grid.join('×')}, workgroup ${r.block.join('×')}`];
  const side = (name: string, s: DispatchRun['modified']): string =>
    s === null
      ? `  ${name}  did not finish`
      : `  ${name}  ${s.instructions === null ? '' : `${s.instructions} instructions, `}${s.wavefronts} wavefronts, ${s.seconds.toFixed(2)} s`;
  lines.push(side('baseline', r.baseline), side('modified', r.modified));
  if (r.error !== null) lines.push(...r.error.message.split('\n').map((line) => `    ${line}`));
  for (const { binding, readOnly, comparison: c } of r.buffers) {
    const what = `  binding ${binding} (${readOnly ? 'input' : 'output'}, ${c.elements} × ${c.elementType})`;
    lines.push(...differenceLines(what, c, result.exact));
  }
  return lines;
}
