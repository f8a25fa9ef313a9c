// `wavesmith capture`: captured dispatches as files. One file per subcommand in capture/.
import { runSubcommand } from './support.ts';

const SUBCOMMANDS = {
  info: { summary: 'what a capture holds', load: () => import('./capture/info.ts') },
  verify: { summary: 'check every page, and that the capture is complete', load: () => import('./capture/verify.ts') },
  slim: { summary: 'keep what the dispatch touches, and prove it', load: () => import('./capture/slim.ts') },
  diff: { summary: 'how two captures differ', load: () => import('./capture/diff.ts') },
  export: {
    summary: 'as one ZIP, a folder, safetensors, or the code object',
    load: () => import('./capture/export.ts'),
  },
  import: {
    summary: 'a folder of rocm-perf-lab or kerncap, or an .hrr archive',
    load: () => import('./capture/import.ts'),
  },
  annotate: { summary: 'name, type, shape and tolerance of buffers', load: () => import('./capture/annotate.ts') },
} as const;

function help(): string {
  const lines = Object.entries(SUBCOMMANDS).map(([name, s]) => `  ${name.padEnd(9)} ${s.summary}`);
  return [
    'Usage: wavesmith capture SUBCOMMAND X.wscap [ARGS…]',
    '       wavesmith capture [OPTIONS] -o X.wscap -- PROGRAM [ARGS…]',
    '',
    'A capture is one dispatch: its code, arguments and memory, before and after. `wavesmith run … --capture X.wscap` records one,',
    'and the second form those of a program (`wavesmith capture --help --` says how);',
    '`wavesmith replay full-vm X.wscap` runs it again; `wavesmith run X.wscap` debugs, checks and profiles it.',
    '',
    'Subcommands:',
    ...lines,
    '',
    "'wavesmith capture SUBCOMMAND --help' explains one.",
    '',
  ].join('\n');
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const [first = ''] = argv;
  if (argv.includes('--') || (first.startsWith('-') && first !== '--help' && first !== '-h')) {
    return await (await import('./capture/program.ts')).run(argv);
  }
  return await runSubcommand({ name: 'capture', help, subcommands: SUBCOMMANDS }, argv);
}
