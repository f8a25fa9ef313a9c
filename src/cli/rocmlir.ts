// `wavesmith rocmlir`: IREE as kernel generator for rocMLIR modules. One file per subcommand in rocmlir/.
import { runSubcommand } from './support.ts';

const SUBCOMMANDS: Readonly<
  Record<string, { summary: string; load: () => Promise<{ run(argv: string[]): Promise<number> }> }>
> = {
  gen: { summary: 'compile a module with IREE into its iree.export attribute', load: () => import('./rocmlir/gen.ts') },
  merge: { summary: "put that kernel in the place of rocMLIR's own", load: () => import('./rocmlir/merge.ts') },
  export: { summary: 'the iree-export executable: code objects as JSON', load: () => import('./rocmlir/export.ts') },
  compile: { summary: 'a module to a code object and a manifest', load: () => import('./rocmlir/compile.ts') },
  run: { summary: 'run a module’s kernels and compare with what it means', load: () => import('./rocmlir/run.ts') },
  survey: {
    summary: 'compile every function of many modules; count the fallbacks',
    load: () => import('./rocmlir/survey.ts'),
  },
  operations: {
    summary: 'the migraphx dialect: lowered or not, and why',
    load: () => import('./rocmlir/operations.ts'),
  },
  setup: { summary: 'tools, configuration and a check of each', load: () => import('./rocmlir/setup.ts') },
  doctor: { summary: 'show what was found and what it is for', load: () => import('./rocmlir/doctor.ts') },
};

function help(): string {
  const lines = Object.entries(SUBCOMMANDS).map(([name, s]) => `  ${name.padEnd(10)} ${s.summary}`);
  return [
    'Usage: wavesmith rocmlir SUBCOMMAND [ARGS…]',
    '',
    'IREE as kernel generator for rocMLIR: TOSA, linalg or migraphx modules in, merged modules out.',
    '',
    'Subcommands:',
    ...lines,
    '',
    'Environment: IREE_BIN (folder with iree-compile), IREE_DEBUG (0, 1, 2), IREE_CONFIG (YAML list of flags), IREE_DISABLE=1.',
    "'wavesmith rocmlir SUBCOMMAND --help' explains one.",
    '',
  ].join('\n');
}

export function run(argv: string[]): Promise<number> {
  return runSubcommand({ name: 'rocmlir', help, subcommands: SUBCOMMANDS }, argv);
}
