// `wavesmith capture diff`: how two captures differ.
import { diffCaptures, openCapture } from '../../snapshot/index.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'capture diff',
    'How two captures differ: launch, code, arguments, memory before and after.',
  )
    .argument('<first>', 'a .wscap')
    .argument('<second>', 'another one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code 0: no difference. 1: there are some.');
  if (!parseArguments(command, argv)) return 0;
  const [first = '', second = ''] = command.args;
  const result = diffCaptures(openCapture(first), openCapture(second));
  if (command.opts<{ json?: boolean }>().json === true) printJson(result);
  else {
    const lines = result.differences.map((d) => `${d.section.padEnd(9)} ${d.what}\n    ${d.first}\n    ${d.second}`);
    const { pages, of } = result.shared;
    lines.push(
      `${result.equal ? 'EQUAL' : `DIFFERENT: ${result.differences.length} differences`}; ${pages} of ${of} pages are in both`,
    );
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return result.equal ? 0 : 1;
}
