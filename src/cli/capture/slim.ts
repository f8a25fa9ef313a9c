// `wavesmith capture slim`: a capture without the memory that its dispatch does not touch.
import { openCapture, slimCapture } from '../../snapshot/index.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';
import { addOutputOptions, type OutputOptions, writeOptionsOf } from './output.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture slim', 'Keep what the dispatch touches, and prove that nothing is missing.')
    .argument('<capture>', 'a .wscap')
    .option('--no-orders', 'do not replay it in other orders of workgroups and waves')
    .option('--json', 'print JSON');
  addOutputOptions(command, 'default: in its place');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<OutputOptions & { orders: boolean; json?: boolean }>();
  const [path = ''] = command.args;
  const capture = openCapture(path);
  const result = await slimCapture(capture, options.output ?? path, {
    ...writeOptionsOf(options, path),
    orders: options.orders,
  });
  if (options.json === true) printJson(result);
  else {
    const { before, after } = result;
    process.stdout.write(
      `${result.path}: ${before.chunks} chunks (${before.stored} bytes) → ${after.chunks} chunks (${after.stored} bytes), proved complete\n`,
    );
  }
  return 0;
}
