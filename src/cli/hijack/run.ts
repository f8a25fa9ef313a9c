// `wavesmith hijack run`: baseline and modified module on the same seeded inputs, every output compared; or single dispatches, every
// byte of their memory.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findElementType, KNOWN_TYPES, WavesmithError } from '../../base/index.ts';
import { noTools } from '../../device/index.ts';
import { isProgramFolder } from '../../hijack/manifest.ts';
import { isCapturedFolder, runCaptured } from '../../iree/captured.ts';
import { run as runFolder } from '../../iree/run.ts';
import { runModules } from '../../iree/run-module.ts';
import { exitCodeOf } from '../../verdict/index.ts';
import { dispatchRecorder } from '../capture-options.ts';
import { LaunchesProgress } from '../run-progress.ts';
import { newCommand, parseArguments, parseMatrixMode, printJson } from '../support.ts';
import { addTimingOptions, isTimed, type TimingOptions, timedRecord, timingOf } from '../timing.ts';
import { addJudgeOptions, type JudgeFlags, judgeOptions } from '../verdict-options.ts';
import { describeCapturedRun } from './captured.ts';
import { describeDispatches } from './describe.ts';
import { deviceOpener, isRocm, openRocm } from './device.ts';
import { rocmHostOpener } from './rocm-module-host.ts';
import { describeModules, moduleHostOpener } from './run-module.ts';
import { run as runProgram } from './run-program.ts';

interface Flags extends JudgeFlags, TimingOptions {
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
  check?: boolean;
  force?: boolean;
  maxInstructions?: string;
  mfma: string;
  capture?: string;
  json?: boolean;
}

const collect = (value: string, list: string[]): string[] => [...list, value];
const collectNames = (value: string, list: string[] | true): string[] => [...(list === true ? [] : list), value];

export async function run(argv: string[]): Promise<number> {
  // Everything after `--` belongs to iree-run-module.
  const cut = argv.indexOf('--');
  const own = cut < 0 ? argv : argv.slice(0, cut);
  const extra = cut < 0 ? [] : argv.slice(cut + 1);
  const folder = own.find((word) => !word.startsWith('-') && isHijackFolder(word));
  if (folder !== undefined && !isCapturedFolder(folder) && isProgramFolder(folder)) return runProgram(own, extra);
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
    .option('--device <device>', 'sim, or rocm[:N]: a GPU of this machine', process.env.WAVESMITH_DEVICE ?? 'sim')
    .option('--seed <n>', 'seed of the inputs', '1')
    .option('--grid <x,y,z>', 'kernels: workgroups, where the grid is not recorded')
    .option('--buffer <n=bytes:type>', 'kernels: size, element type or both of binding N; repeatable', collect, [])
    .option('--constant <n=value>', 'kernels: value of constant N; repeatable', collect, [])
    .option('--check', 'run both sides in strict mode: every access, register and wait is checked')
    .option('--force', 'objections of the checker and of --check do not fail the run (the verdict still names them)')
    .option('--max-instructions <n>', 'stop a dispatch after this many wavefront instructions')
    .option('--mfma <mode>', 'matrix products: exact (as the silicon, where published) or fast (sums in f32)', 'exact')
    .option('--capture <file.wscap>', "kernels: record the baseline's dispatches (the second in FILE.1.wscap, …)")
    .option('--json', 'print the result as JSON');
  addTimingOptions(command).addHelpText(
    'after',
    `
The whole module runs through iree-run-module with the virtual GPU as its GPU (docs/exec.md). With --dispatch, --all, --grid, --buffer,
--constant, --max-instructions or --timing single kernels run instead, with memory that Wavesmith makes, and every byte of it is compared.
Flags after '--' go to iree-run-module.

A folder made from a program or a code object has options of its own: 'wavesmith hijack run DIR --help' shows them.

Exit code: 0 for EQUAL and EQUAL WITHIN TOLERANCE; 1 for DIFFERENT, NOTHING COMPARED, EDITED KERNEL NOT LAUNCHED and NOT BUILT, and
when the checker (or --check) objects to the edit. docs/verdict.md explains them.`,
  );
  addJudgeOptions(command);
  if (!parseArguments(command, own)) return 0;
  const flags = command.opts<Flags>();
  const isByKernel =
    flags.dispatch === true ||
    flags.dispatch.length > 0 ||
    flags.all === true ||
    flags.grid !== undefined ||
    flags.buffer.length > 0 ||
    flags.constant.length > 0 ||
    flags.capture !== undefined ||
    flags.maxInstructions !== undefined ||
    isTimed(flags);
  const common = {
    modified: flags.modified,
    seed: integer('--seed', flags.seed),
    check: flags.check === true,
    force: flags.force === true,
    ...judgeOptions(flags),
  };
  const mfma = parseMatrixMode(flags.mfma);
  if (isTimed(flags) && isRocm(flags.device)) throw noTools();
  if (isCapturedFolder(command.args[0])) {
    const isForCapture = flags.maxInstructions !== undefined || isTimed(flags);
    if (isByKernel && (!isForCapture || flags.capture !== undefined)) throw noModule();
    const result = await runCaptured(command.args[0], {
      modified: flags.modified,
      open: async (target, capture) =>
        isRocm(flags.device)
          ? await openRocm(flags.device, target, capture)
          : await deviceOpener(flags.device, { mfma, timing: timingOf(flags, target, { knowsPages: true }) })(target),
      exact: common.exact,
      force: common.force,
      maxInstructions:
        flags.maxInstructions === undefined ? undefined : integer('--max-instructions', flags.maxInstructions),
    });
    if (flags.json) printJson(timedRecord(result));
    else process.stdout.write(describeCapturedRun(result, command.args[0], flags.timingListing));
    return exitCodeOf(result);
  }
  if (!isByKernel) {
    const result = await runModules(command.args[0], {
      ...common,
      openHost: isRocm(flags.device) ? rocmHostOpener(flags.device) : moduleHostOpener(flags.device, mfma),
      function: flags.function,
      inputs: flags.input,
      parameters: flags.parameters,
      save: flags.save,
      extra,
    });
    if (flags.json) printJson(result);
    else process.stdout.write(describeModules(result));
    return exitCodeOf(result);
  }
  if (extra.length > 0) {
    throw new WavesmithError('cli/usage', "Flags after '--' go to iree-run-module, which single kernels do without.");
  }
  if (flags.capture !== undefined && common.check) {
    throw new WavesmithError(
      'cli/usage',
      '--capture cannot be combined with --check: record first, then check the capture.',
    );
  }
  const progress = new LaunchesProgress(process.stderr);
  const result = await runFolder(command.args[0], {
    ...common,
    onProgress: (done, total) => progress.update(done, total),
    record: flags.capture === undefined ? undefined : dispatchRecorder(flags.capture),
    // Each side has a clock of its own.
    openDevice: (target, strict) =>
      isRocm(flags.device)
        ? openRocm(flags.device, target)
        : deviceOpener(flags.device, { mfma, timing: timingOf(flags, target, { knowsPages: true }) })(target, strict),
    dispatches: flags.dispatch === true ? [] : flags.dispatch,
    all: flags.all === true,
    grid: flags.grid === undefined ? undefined : gridFlag(flags.grid),
    buffers: new Map(flags.buffer.map(bufferFlag)),
    constants: new Map(flags.constant.map(constantFlag)),
    maxInstructions:
      flags.maxInstructions === undefined ? undefined : integer('--max-instructions', flags.maxInstructions),
  });
  if (flags.json) printJson(result);
  else process.stdout.write(describeDispatches(result));
  return exitCodeOf(result);
}

function noModule(): WavesmithError {
  return new WavesmithError(
    'cli/usage',
    'The folder is of a capture: it is one dispatch, with its grid and its memory.',
    {
      hint: 'Leave out --dispatch, --all, --grid, --buffer and --constant.',
    },
  );
}

/** Whether a word of the command line is a folder that hijack init made. */
const isHijackFolder = (word: string): boolean => existsSync(join(word, 'manifest.json'));

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
  const match = /^(\d+)=(?:(\d+)(?::([a-zA-Z][\w<>]*))?|([a-zA-Z][\w<>]*))$/.exec(text);
  if (match === null) {
    throw new WavesmithError('cli/usage', `--buffer needs N=BYTES, N=TYPE or N=BYTES:TYPE, not '${text}'.`, {
      hint: 'For example --buffer 0=8192:f16.',
    });
  }
  const type = match[3] ?? match[4];
  if (type !== undefined && findElementType(type) === undefined) {
    throw new WavesmithError('hijack/element-type', `There is no element type '${type}'.`, { hint: KNOWN_TYPES });
  }
  return [Number(match[1]), { bytes: match[2] === undefined ? undefined : Number(match[2]), elementType: type }];
}

function constantFlag(text: string): [number, number] {
  const match = /^(\d+)=(.+)$/.exec(text);
  if (match !== null) return [Number(match[1]), integer('--constant', match[2])];
  throw new WavesmithError('cli/usage', `--constant needs N=VALUE, not '${text}'.`);
}
