// `wavesmith hijack`: edit the machine code inside an IREE module and compare. One file per subcommand in hijack/.
import { runSubcommand } from './support.ts';

const SUBCOMMANDS: Readonly<
  Record<string, { summary: string; load: () => Promise<{ run(argv: string[]): Promise<number> }> }>
> = {
  init: {
    summary: 'compile INPUT.mlir (or take MODEL.vmfb) into a folder to edit',
    load: () => import('./hijack/init.ts'),
  },
  build: { summary: 'put the edited assembly back and prove it', load: () => import('./hijack/build.ts') },
  run: { summary: 'run baseline and modified kernels and compare', load: () => import('./hijack/run.ts') },
  watch: { summary: 'build, run and compare on each save', load: () => import('./hijack/watch.ts') },
  asm: { summary: 'one assembly file into a freshly compiled module', load: () => import('./hijack/asm.ts') },
};

function help(): string {
  const lines = Object.entries(SUBCOMMANDS).map(([name, s]) => `  ${name.padEnd(6)} ${s.summary}`);
  return [
    'Usage: wavesmith hijack SUBCOMMAND [ARGS…]',
    '',
    'Edit the machine code inside an IREE module, build it back, run both and compare.',
    '',
    'Subcommands:',
    ...lines,
    '',
    "'wavesmith hijack SUBCOMMAND --help' explains one.",
    '',
  ].join('\n');
}

export function run(argv: string[]): Promise<number> {
  return runSubcommand({ name: 'hijack', help, subcommands: SUBCOMMANDS }, argv);
}
