// `wavesmith capture -- PROGRAM`: records dispatches of a HIP or HSA program that runs with the virtual GPU as its GPU. The device process runs
// one kernel at a time, so a recorded dispatch is alone: its memory is followed from its first to its last instruction.
import { WavesmithError } from '../../base/index.ts';
import { packageRoot } from '../../iree/index.ts';
import { DEFAULT_TARGET, TARGET_LIST } from '../../isa/table/targets.ts';
import { runProgram, startDeviceProcess } from '../../runtime/exec.ts';
import { Recorder } from '../../snapshot/index.ts';
import { finishRecording, numbered, producer, recordingText } from '../capture-options.ts';
import { parseDevice } from '../exec.ts';
import { newCommand, parseArguments } from '../support.ts';

interface Options {
  output: string;
  kernel?: string;
  dispatch: string;
  memory: string;
  device: string;
  proof: boolean;
  orders: boolean;
  zip?: boolean;
  force?: boolean;
  json?: boolean;
}

/** Whether the nth dispatch of those that match is recorded: `N`, `FIRST-LAST`, `every:K`. */
export function parseSelection(text: string): (n: number) => boolean {
  const match = /^(?:(\d{1,9})(?:-(\d{1,9}))?|every:([1-9]\d{0,8}))$/.exec(text);
  if (match === null) throw new WavesmithError('cli/usage', `--dispatch is N, FIRST-LAST or every:K, not '${text}'.`);
  const [, first, last, every] = match;
  if (every !== undefined) return (n) => n % Number(every) === 0;
  return (n) => n >= Number(first) && n <= Number(last ?? first);
}

function parseKernel(text: string | undefined): RegExp {
  try {
    return new RegExp(text ?? '');
  } catch (error) {
    throw new WavesmithError(
      'cli/usage',
      `--kernel '${text}' is not a regular expression: ${(error as Error).message}.`,
    );
  }
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture', 'Record dispatches of a program that runs on the virtual GPU.')
    .argument('<program...>', 'the program and its arguments, after --')
    .option('-o, --output <file.wscap>', 'where to write; a second dispatch goes to FILE.1.wscap, …', 'capture.wscap')
    .option('--kernel <re>', 'dispatches of kernels whose (mangled) name matches (default: all)')
    .option('--dispatch <n>', 'which of these, from 0: N, FIRST-LAST or every:K', '0')
    .option('--memory <mode>', 'touched: what the dispatch touches; full: all allocations', 'touched')
    .option('--device <device>', `sim:TARGET; targets are ${TARGET_LIST}`, `sim:${DEFAULT_TARGET}`)
    .option('--no-proof', 'do not replay the capture to prove that nothing is missing')
    .option('--no-orders', 'do not replay it in other orders of workgroups and waves')
    .option('--zip', 'write the capture as one ZIP file (also when its name ends in .zip)')
    .option('--force', 'replace a capture of that name')
    .option('--json', 'print JSON to standard error')
    .addHelpText('after', "\nThe exit status is the program's; 1 when it is 0 and no dispatch was recorded.");
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const { memory, output } = options;
  if (memory !== 'touched' && memory !== 'full') {
    throw new WavesmithError('cli/usage', `--memory is touched or full on the virtual GPU, not '${memory}'.`);
  }
  const isWanted = parseSelection(options.dispatch);
  const pattern = parseKernel(options.kernel);
  const target = parseDevice(options.device);
  const recorders: Recorder[] = [];
  const seen = new Map<string, number>();
  let sequence = 0;
  let matching = 0;
  const device = await startDeviceProcess({
    root: packageRoot() ?? '.',
    target,
    observe: (kernel, _packet, codeObject) => {
      const number = sequence++;
      seen.set(kernel.name, (seen.get(kernel.name) ?? 0) + 1);
      if (!pattern.test(kernel.name) || !isWanted(matching++)) return undefined;
      const describe = ({ label }: { label: string }) => (label === 'allocation' ? { label: '' } : {});
      const recorder = new Recorder({
        kernel,
        codeObject,
        memory,
        sequence: number,
        producer: producer('sim'),
        describe,
      });
      recorders.push(recorder);
      return recorder.monitor;
    },
    report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
  });
  let status: number;
  try {
    status = await runProgram(device, command.args);
  } finally {
    await device.close();
  }
  for (const [n, recorder] of recorders.entries()) {
    const { zip = false, force = false, proof, orders } = options;
    const summary = await finishRecording(recorder, { capture: numbered(output, n), zip, force, proof, orders });
    if (options.json === true) process.stderr.write(`${JSON.stringify(summary)}\n`);
    else process.stderr.write(recordingText(summary));
  }
  if (recorders.length > 0) return status;
  const kernels = [...seen].slice(0, 20).map(([name, count]) => `${name} (${count})`);
  throw new WavesmithError('capture/no-dispatch', `No dispatch of ${sequence} was one to record.`, {
    hint: kernels.length === 0 ? 'The program dispatched nothing.' : `It dispatched: ${kernels.join(', ')}.`,
  });
}
