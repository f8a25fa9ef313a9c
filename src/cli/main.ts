// Room `cli`: the command line. Each command has a file of its name, which reads flags, calls the library and prints.
// Begin with this file, then commands.ts (the list) and inspect.ts, a short command.
//
// The CLI: picks the command, loads only its module, turns errors into messages and exit codes.
// Exit codes: 0 done, 1 the answer is no or the input is bad, 2 wrong usage, 70 a defect of Wavesmith.
import { WavesmithError } from '../base/index.ts';
import { COMMANDS } from './commands.ts';
import { isStdoutFile } from './stdout.ts';

export { isShortCommand, withOwnFlags } from '../device/node/v8-flags.ts';
export { isAllWritten } from './stdout.ts';

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, c]) => `  ${name.padEnd(width)}  ${c.summary}`);
  return [
    'Usage: wavesmith COMMAND [ARGS…]',
    '',
    'A workbench for AMD GPU machine code (gfx90a, gfx942, gfx950); needs no GPU.',
    '',
    'Commands:',
    ...lines,
    '',
    "'wavesmith COMMAND --help' explains a command.",
    '',
  ].join('\n');
}

/** Reports an exception that nothing expected; the exit code of a defect. */
async function reportDefect(error: unknown, wantsJson: boolean): Promise<number> {
  const { INTERNAL_ERROR, internalError, internalErrorText } = await import('./internal-error.ts');
  const defect = internalError(error);
  if (wantsJson) process.stdout.write(`${JSON.stringify(defect, null, 2)}\n`);
  process.stderr.write(internalErrorText(defect));
  return INTERNAL_ERROR;
}

/** Exceptions of timers and event handlers, which no command awaits, end the process with the same report. */
function reportUncaught(wantsJson: boolean): () => void {
  const handler = (error: unknown): void => {
    void reportDefect(error, wantsJson).then((code) => process.exit(code));
  };
  process.on('uncaughtException', handler);
  return () => process.off('uncaughtException', handler);
}

/** Runs one command line (without node and script) and returns the exit code. */
export async function main(argv: string[]): Promise<number> {
  // A reader that closes the pipe early (`| head`) ends the command quietly, as it ends the classic tools.
  if (!isStdoutFile())
    process.stdout.once('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  // Messages that nobody reads any more do not cost the result.
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  const [name, ...rest] = argv;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const asked = name === 'help' ? rest[0] : undefined;
    if (asked !== undefined && asked in COMMANDS) return main([asked, '--help']);
    (name === undefined ? process.stderr : process.stdout).write(help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    const { version } = await import('./version.ts');
    process.stdout.write(`wavesmith ${version()}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    process.stderr.write(
      `error[cli/unknown-command]: there is no command '${name}'.\n  hint: 'wavesmith --help' lists the commands.\n`,
    );
    return 2;
  }
  const wantsJson = rest.includes('--json');
  const restore = reportUncaught(wantsJson);
  try {
    const { run } = await command.load();
    return await run(rest);
  } catch (error) {
    if (!(error instanceof WavesmithError)) return await reportDefect(error, wantsJson);
    if (wantsJson) process.stdout.write(`${JSON.stringify(error.toJSON(), null, 2)}\n`);
    process.stderr.write(`${error.format()}\n`);
    return error.code.startsWith('cli/') ? 2 : 1;
  } finally {
    restore();
  }
}
