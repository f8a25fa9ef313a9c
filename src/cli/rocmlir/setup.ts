// `wavesmith rocmlir setup`: what `setup.sh all` does, step by step or at once, and undone by `clean`.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { SETUP_STEPS, type SetupStep, setUp, setupSummary } from '../../rocmlir/setup.ts';
import { newCommand, parseArguments } from '../support.ts';

interface Flags {
  root: string;
  dryRun?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'rocmlir setup',
    'Set up the integration: tools, configuration, environment, and a check of each.',
  )
    .argument('[steps...]', `all (default), or one or more of ${[...SETUP_STEPS, 'clean'].join(', ')}`)
    .option('--root <folder>', 'the folder', process.env.ROOT_DIR ?? join(homedir(), 'iree-rocMLIR'))
    .option('-n, --dry-run', 'say what would be done')
    .addHelpText('after', `\nSteps, in this order:\n${setupSummary().join('\n')}\n`);
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const steps = (command.args.length === 0 ? ['all'] : command.args).flatMap((name): readonly SetupStep[] => {
    if (name === 'all') return SETUP_STEPS;
    const step = [...SETUP_STEPS, 'clean' as const].find((known) => known === name);
    if (step !== undefined) return [step];
    throw new WavesmithError('cli/usage', `invalid function: '${name}'`, {
      hint: `Steps are all, ${[...SETUP_STEPS, 'clean'].join(', ')}.`,
    });
  });
  await setUp(steps, {
    root: resolve(flags.root),
    dryRun: flags.dryRun === true,
    say: (line) => process.stdout.write(`${line}\n`),
  });
  if (steps.includes('config') && flags.dryRun !== true) {
    process.stdout.write(`Now: source ${join(resolve(flags.root), 'setup-env.sh')}\n`);
  }
  return 0;
}
