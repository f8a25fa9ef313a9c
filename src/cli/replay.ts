// `wavesmith replay`: captured dispatches again. One file per subcommand in replay/.
import { runSubcommand } from './support.ts';

const SUBCOMMANDS = {
  'full-vm': {
    summary: 'replay a capture at its addresses and compare the result',
    load: () => import('./replay/full-vm.ts'),
  },
  'reserve-check': {
    summary: 'whether all addresses of a capture are free, without touching a GPU',
    load: () => import('./replay/reserve-check.ts'),
  },
} as const;

function help(): string {
  const lines = Object.entries(SUBCOMMANDS).map(([name, s]) => `  ${name.padEnd(14)} ${s.summary}`);
  return [
    'Usage: wavesmith replay SUBCOMMAND X.wscap [OPTIONS…]',
    '',
    'Run a captured dispatch again: the same kernel or an edited one, on the captured memory, at the captured addresses.',
    '',
    'Subcommands:',
    ...lines,
    '',
    "'wavesmith replay SUBCOMMAND --help' explains one.",
    '',
  ].join('\n');
}

/** Runs the command. */
export function run(argv: string[]): Promise<number> {
  return runSubcommand({ name: 'replay', help, subcommands: SUBCOMMANDS }, argv);
}
