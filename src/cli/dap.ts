// `wavesmith dap`: the debug adapter on standard input and output.
import { checkedFrames } from '../dap/framing.ts';
import { WavesmithDebugSession } from '../dap/session.ts';
import { execProgram } from './exec.ts';
import { runKernel } from './run.ts';
import { newCommand, parseArguments } from './support.ts';

/** Runs the command: it ends when the editor does. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'dap',
    'A debug adapter for editors (Debug Adapter Protocol), on standard input and output.',
  )
    .option('--stdio', 'the only transport, and the default')
    .addHelpText('after', '\nThe launch configuration is described in docs/debugging.md.');
  if (!parseArguments(command, argv)) return 0;
  const session = new WavesmithDebugSession(({ command: name, words }, leader, write) =>
    name === 'run' ? runKernel([...words], { leader, write }) : execProgram([...words], { leader, write }),
  );
  session.setRunAsServer(true);
  const frames = process.stdin.pipe(checkedFrames());
  const closed = new Promise<void>((resolve, reject) => {
    process.stdin.on('close', () => {
      if (!session.isLeft) resolve();
    });
    frames.on('error', reject);
  });
  session.start(frames, process.stdout);
  try {
    await Promise.race([closed, session.over]);
  } finally {
    // The editor may keep its end open.
    process.stdin.destroy();
  }
  return 0;
}
