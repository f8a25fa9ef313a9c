// `wavesmith extract FILE -o DIR`: every embedded code object to a file of its own, and a manifest.

import { basename, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { extractCodeObjects, openContainer } from '../codeobject/index.ts';
import { readCodeInput } from './read-code-input.ts';
import { newCommand, parseArguments, printJson, writeOutput } from './support.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('extract', 'Write every embedded code object to a file of its own.')
    .argument('<file>', 'host binary, offload bundle, IREE module or code object (- for standard input)')
    .requiredOption('-o, --output <dir>', 'the folder to write to')
    .option('--json', 'print the manifest');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<{ output: string; json?: boolean }>();
  const file = command.args[0];
  const extracted = extractCodeObjects(openContainer(readCodeInput(file), basename(file)));
  if (extracted.length === 0) {
    throw new WavesmithError('container/no-gpu-code', 'The file holds no code object.', { file });
  }
  const manifest = {
    source: basename(file),
    codeObjects: extracted.map(({ fileName, bytes, path, targetId, kernels }) => ({
      file: fileName,
      size: bytes.length,
      targetId,
      path,
      kernels,
    })),
  };
  for (const { fileName, bytes } of extracted) writeOutput(join(options.output, fileName), bytes);
  writeOutput(join(options.output, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  if (options.json) printJson(manifest);
  else {
    for (const { file: name, size, targetId, kernels } of manifest.codeObjects) {
      process.stdout.write(`${join(options.output, name)}  ${targetId}  ${size} bytes  ${kernels.length} kernels\n`);
    }
  }
  return 0;
}
