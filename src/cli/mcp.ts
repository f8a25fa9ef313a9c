// `wavesmith mcp`: the Model Context Protocol on standard input and output, for agents of any make.
import { newCommand, parseArguments } from './support.ts';

interface Options {
  root: string;
  timeout: string;
}

const HELP = `
Tools: disasm, asm, check, prove, run, time, profile, evaluate (docs/mcp.md). Each is the command of that name, in a process of its own.
An agent reaches files below --root only. A faster kernel is one that 'evaluate' accepts: there is no other way to a win.`;

/** Runs the command: it ends when the client does. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('mcp', 'A Model Context Protocol server: the verbs of Wavesmith as tools of an agent.')
    .option('--root <dir>', 'the folder that tools may read and write in', '.')
    .option('--timeout <seconds>', 'time that one call may take', '600')
    .addHelpText('after', HELP);
  if (!parseArguments(command, argv)) return 0;
  const { root, timeout } = command.opts<Options>();
  const { serveTools } = await import('./mcp/serve.ts');
  await serveTools({ root, timeout });
  return 0;
}
