// `wavesmith run`: runs one kernel of a code object on a device with described arguments.
import { WavesmithError } from '../base/index.ts';
import {
  createDevice,
  firstElements,
  type LaunchResult,
  launch,
  parseDimensions,
  parseLaunchArgument,
  writeNpy,
} from '../device/index.ts';
import { isTargetName } from '../isa/index.ts';
import { selectCodeObject } from './select-code-object.ts';
import { newCommand, parseArguments, printJson, readInput, writeOutput } from './support.ts';

interface Options {
  kernel: string;
  grid: string;
  block: string;
  arg: string[];
  out: string[];
  target?: string;
  object?: string;
  device: string;
  lds?: string;
  budget?: string;
  json?: boolean;
}

const collect = (value: string, all: string[]): string[] => [...all, value];

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('run', 'Run one kernel of a code object on the virtual GPU.')
    .argument('<file>', 'code object, offload bundle, binary with a fat binary, or IREE module')
    .requiredOption('--kernel <name>', 'the kernel')
    .requiredOption('--grid <x,y,z>', 'grid in WORKGROUPS (not work-items) per dimension')
    .requiredOption('--block <x,y,z>', 'work-items of a workgroup per dimension')
    .option('--arg <argument>', 'next explicit argument, see below; repeat in order', collect, [])
    .option('--out <n=file>', 'write buffer argument N (from 0) to a .npy file afterwards; repeatable', collect, [])
    .option('--target <name>', 'which code object of a file with several (gfx90a, gfx942, gfx950)')
    .option('--object <n|target>', 'which code object of a file with several, by number from 0 or target')
    .option('--device <kind>', 'device to run on', 'sim')
    .option('--lds <bytes>', 'dynamic LDS in bytes')
    .option('--budget <n>', 'stop after this many instructions')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Arguments:
  f32[1024]=random:7     buffer of 1024 f32, seeded random in [-1, 1)
  f16[128,64]=@in.npy    buffer from a .npy file (type and count must agree)
  @in.npy                buffer with the file's own type and shape
  i32[16]=iota           0, 1, 2, …; also =zeros (the default) and =NUMBER
  i32=5                  scalar
Types: f16 bf16 f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool`,
    );
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const [file = ''] = command.args;
  const args = options.arg.map(parseLaunchArgument);
  const outputs = options.out.map((text) => parseOutput(text, args.length));
  const codeObject = selectCodeObject(readInput(file), file, {
    object: options.object ?? options.target,
    kernel: options.kernel,
  });
  const { processor } = codeObject.target;
  if (!isTargetName(processor)) {
    throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, { file });
  }
  const device = await createDevice(options.device, { target: processor });
  const kernel = device.load(codeObject.bytes).kernel(options.kernel);
  const grid = parseDimensions(options.grid, 'grid');
  const block = parseDimensions(options.block, 'block');
  const started = performance.now();
  const result = await launch({
    device,
    kernel,
    grid,
    block,
    args,
    readFile: readInput,
    dynamicLds: parseCount(options.lds, '--lds'),
    maxInstructions: parseCount(options.budget, '--budget'),
  });
  const seconds = (performance.now() - started) / 1000;
  device.close();
  for (const { argument, path } of outputs) {
    const buffer = result.buffers.find((b) => b.argument === argument);
    if (buffer === undefined) {
      throw new WavesmithError('cli/usage', `--out ${argument}=${path}: argument ${argument} is a scalar.`);
    }
    writeOutput(path, writeNpy(buffer.array));
  }
  const facts = { file, kernel: kernel.name, target: processor, device: device.kind, grid, block, seconds };
  if (options.json) printJson({ ...facts, ...result.dispatch, buffers: result.buffers.map(summary) });
  else process.stdout.write(report(facts, result));
  return 0;
}

function parseOutput(text: string, count: number): { argument: number; path: string } {
  const match = /^(\d{1,4})=(.+)$/.exec(text);
  const argument = Number(match?.[1]);
  if (match === null || argument >= count) {
    throw new WavesmithError('cli/usage', `--out ${text} is not N=FILE with N from 0 to ${count - 1}.`);
  }
  return { argument, path: match[2] as string };
}

function parseCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new WavesmithError('cli/usage', `${option} ${text} is not a whole number.`);
  return Number(text);
}

function summary(buffer: LaunchResult['buffers'][number]) {
  const { argument, array, changed } = buffer;
  return { argument, type: array.type, shape: array.shape, changed, first: firstElements(array, 8) };
}

interface Facts {
  readonly kernel: string;
  readonly target: string;
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly seconds: number;
}

function report(facts: Facts, result: LaunchResult): string {
  const { dispatch, buffers } = result;
  const rate = dispatch.instructions / Math.max(facts.seconds, 1e-6);
  const lines = [
    `${facts.kernel} on ${facts.target}: ${facts.grid.join('×')} workgroups of ${facts.block.join('×')}, ${dispatch.wavefronts} wavefronts`,
    `${dispatch.instructions} instructions in ${facts.seconds.toFixed(3)} s (${Math.round(rate / 1000)} k/s)`,
  ];
  for (const { argument, array, changed } of buffers) {
    const first = firstElements(array, 6).map(String).join(', ');
    lines.push(
      `  argument ${argument}: ${array.type}[${array.shape.join(',')}], ${changed} elements changed: ${first}, …`,
    );
  }
  return `${lines.join('\n')}\n`;
}
