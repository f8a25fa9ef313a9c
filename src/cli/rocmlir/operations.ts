// `wavesmith rocmlir operations`: every operation of the `migraphx` dialect, lowered or not and why.
import { MIGRAPHX_OPERATIONS, operationStatus, operationTable } from '../../rocmlir/dialect.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'rocmlir operations',
    'List every operation and attribute of the migraphx dialect: lowered, or falls back and why.',
  ).option('--json', 'print the list as JSON');
  if (!parseArguments(command, argv)) return 0;
  if (command.opts<{ json?: boolean }>().json) {
    printJson(MIGRAPHX_OPERATIONS.map((operation) => ({ ...operation, ...operationStatus(operation.name) })));
  } else process.stdout.write(operationTable());
  return 0;
}
