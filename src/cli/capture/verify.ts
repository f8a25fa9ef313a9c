// `wavesmith capture verify`: is a capture what it says, and complete?
import { openCapture, placeText, verifyCapture } from '../../snapshot/index.ts';
import { replayText } from '../replay/full-vm.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'capture verify',
    'Check every page against its hash, and replay with everything else poisoned.',
  )
    .argument('<capture>', 'a .wscap')
    .option('--no-replay', 'only the files')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit code 0: whole and, unless --no-replay, the replay gives the captured result. 1: not.',
    );
  if (!parseArguments(command, argv)) return 0;
  const { replay, json } = command.opts<{ replay: boolean; json?: boolean }>();
  const capture = openCapture(command.args[0] ?? '', { allowIncomplete: true });
  const result = await verifyCapture(capture, { replay });
  if (json === true) printJson({ capture: capture.path, ...result });
  else {
    const lines = result.problems.map((problem) => `  ${problem}\n`).join('');
    const replayed =
      result.replay === undefined ? '' : replayText(result.replay, (address) => placeText(capture, address));
    const verdict = result.ok ? 'VERIFIED' : 'NOT VERIFIED';
    process.stdout.write(
      `${lines}${replayed}${verdict}: ${result.pages} pages, manifest ${capture.hash.slice(0, 16)}…\n`,
    );
  }
  return result.ok ? 0 : 1;
}
