// `wavesmith capture -- PROGRAM`: records dispatches of a HIP or HSA program.
import { WavesmithError } from '../../base/index.ts';
import { captureProgram } from '../../hijack/capture-program.ts';
import { DEFAULT_TARGET, TARGET_LIST } from '../../isa/table/targets.ts';
import type { DispatchRange } from '../../runtime/tool-server.ts';
import { numbered, parseKernel, producer, recordingText, stepPrinter } from '../capture-options.ts';
import { programDevice } from '../program-device.ts';
import { newCommand, parseArguments } from '../support.ts';

interface Options {
  output: string;
  kernel?: string;
  dispatch: string;
  memory?: string;
  device: string;
  proof: boolean;
  orders: boolean;
  zip?: boolean;
  force?: boolean;
  json?: boolean;
}

/** Which dispatches are recorded among those that match: `N`, `FIRST-LAST`, `every:K`. */
export function parseSelection(text: string): DispatchRange {
  const match = /^(?:(\d{1,9})(?:-(\d{1,9}))?|every:([1-9]\d{0,8}))$/.exec(text);
  const [, first, last = first, every] = match ?? [];
  if (match === null || Number(last ?? 0) < Number(first ?? 0)) {
    throw new WavesmithError('cli/usage', `--dispatch is N, FIRST-LAST or every:K, not '${text}'.`);
  }
  if (every !== undefined) return { first: 0n, last: 2n ** 64n - 1n, step: BigInt(every) };
  return { first: BigInt(first ?? 0), last: BigInt(last ?? 0), step: 1n };
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture', 'Record dispatches of a program.')
    .argument('<program...>', 'the program and its arguments, after --')
    .option('-o, --output <file.wscap>', 'where to write; a second dispatch goes to FILE.1.wscap, …', 'capture.wscap')
    .option('--kernel <re>', 'dispatches of kernels whose (mangled) name matches (default: all)')
    .option('--dispatch <n>', 'which of these, from 0, in each process: N, FIRST-LAST or every:K', '0')
    .option(
      '--memory <mode>',
      'touched: what the dispatch touches (default on the virtual GPU); reachable: what pointers lead to (default with rocm); full: all allocations',
    )
    .option(
      '--device <device>',
      `sim:TARGET; targets are ${TARGET_LIST}; or rocm: the GPU and libraries of this machine`,
      `sim:${DEFAULT_TARGET}`,
    )
    .option('--no-proof', 'do not replay the capture to prove that nothing is missing')
    .option('--no-orders', 'do not replay it in other orders of workgroups and waves')
    .option('--zip', 'write the capture as one ZIP file (also when its name ends in .zip)')
    .option('--force', 'replace a capture of that name')
    .option('--json', 'print JSON to standard error')
    .addHelpText(
      'after',
      "\nThe exit status is the program's; 1 when it is 0 and no dispatch, or not every chosen one, was recorded.",
    );
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const device = programDevice(options.device);
  const { memory = device.kind === 'sim' ? 'touched' : 'reachable', output } = options;
  if (memory !== 'touched' && memory !== 'reachable' && memory !== 'full') {
    throw new WavesmithError('cli/usage', `--memory is touched, reachable or full, not '${memory}'.`);
  }
  const steps = stepPrinter(process.stderr);
  const result = await captureProgram({
    command: command.args,
    device,
    kernel: parseKernel(options.kernel),
    range: parseSelection(options.dispatch),
    memory,
    producer: producer(device.kind),
    pathOf: (n) => numbered(output, n),
    finish: {
      replace: options.force === true,
      zip: options.zip === true || output.endsWith('.zip'),
      prove: options.proof,
      orders: options.orders,
      onStep: steps.say,
    },
    show: 'inherit',
    report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
  });
  steps.end();
  for (const summary of result.captures) {
    if (options.json === true) process.stderr.write(`${JSON.stringify(summary)}\n`);
    else process.stderr.write(recordingText(summary));
  }
  if (options.json === true) {
    for (const failure of result.failures) process.stderr.write(`${JSON.stringify(failure)}\n`);
  }
  if (result.failures.length > 0) return result.status === 0 ? 1 : result.status;
  if (result.captures.length > 0) return result.status;
  const kernels = [...result.kernels].map(([name, count]) => (count === undefined ? name : `${name} (${count})`));
  const ended = result.status === 0 ? '' : ` It ended with status ${result.status}.`;
  const error = new WavesmithError('capture/no-dispatch', `No dispatch of the program was one to record.${ended}`, {
    hint:
      kernels.length === 0
        ? 'The program dispatched nothing.'
        : `It dispatched ${kernels.slice(0, 20).join(', ')}${kernels.length > 20 ? `, … (${kernels.length} kernels)` : ''}.`,
  });
  if (result.status === 0) throw error;
  process.stderr.write(`${error.format()}\n`);
  return result.status;
}
