// `wavesmith capture export`: a capture in another form.
import { WavesmithError } from '../../base/index.ts';
import { openCapture, rewriteCapture, safetensorsOf } from '../../snapshot/index.ts';
import { newCommand, parseArguments, writeOutput } from '../support.ts';

const FORMATS = ['zip', 'folder', 'safetensors', 'code'] as const;

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture export', 'Write a capture in another form.')
    .argument('<capture>', 'a .wscap')
    .requiredOption('-o, --output <path>', 'where to write')
    .option(
      '--format <kind>',
      `${FORMATS.join(', ')} (default: by the name's ending: .zip, .safetensors, .co; else folder)`,
    )
    .option('--force', 'replace a capture of that name')
    .addHelpText(
      'after',
      `
zip, folder   the same capture
safetensors   its buffers before (NAME.in) and after (NAME.out); annotated ones with type and shape, others as bytes. A view: it has no
              addresses and cannot be replayed
code          the code object`,
    );
  if (!parseArguments(command, argv)) return 0;
  const { output, format: given, force } = command.opts<{ output: string; format?: string; force?: boolean }>();
  const ending = /\.(zip|safetensors|co|hsaco)$/.exec(output)?.[1];
  const byName = ending === 'co' || ending === 'hsaco' ? 'code' : (ending ?? 'folder');
  const format = FORMATS.find((f) => f === (given ?? byName));
  if (format === undefined) throw new WavesmithError('cli/usage', `--format is ${FORMATS.join(', ')}, not '${given}'.`);
  const capture = openCapture(command.args[0] ?? '');
  if (format === 'code') writeOutput(output, capture.codeObject());
  else if (format === 'safetensors') writeOutput(output, safetensorsOf(capture));
  else rewriteCapture(capture, output, { replace: force === true, zip: format === 'zip' });
  return 0;
}
