// `wavesmith optimize --tune`: configurations on the command line.
import { stringify } from 'yaml';
import { WavesmithError } from '../../base/index.ts';
import { durationText } from '../../device/sim/timing/report.ts';
import { type Ledger, type SearchResult, timeText } from '../../optimize/index.ts';
import type { Configuration } from '../../optimize/tune/configuration.ts';
import type { HipSpace, ModelSpace } from '../../optimize/tune/space.ts';
import type { TuneOptions, TuneResult } from '../../optimize/tune/tune.ts';
import { classOf } from '../evaluate/given.ts';
import { programDevice } from '../program-device.ts';
import { parseCount } from '../run-common.ts';
import { readInput } from '../support.ts';
import { chipOf } from '../timing.ts';
import { type HipFlags, withWorkshop } from './hip.ts';
import { atLeastOne } from './model.ts';

export interface Tuned extends TuneResult {
  readonly result: SearchResult;
  readonly kernel: string;
  /** How the found configuration is built: of a HIP program the command, of a model flags of iree-compile and the tuning specification. */
  readonly recipe:
    | { readonly build: string }
    | { readonly flags: readonly string[]; readonly spec: string | undefined };
  readonly digest: string | undefined;
}

type TuneFlags = HipFlags & { readonly budget: string };

/** Searches the configurations of a `tune.yaml`. */
export async function runTune(
  file: string,
  flags: TuneFlags,
  ledger: Ledger | undefined,
  onStep: ((text: string) => void) | undefined,
  signal: AbortSignal,
): Promise<Tuned> {
  const { readSpace } = await import('../../optimize/tune/space.ts');
  const space = readSpace(new TextDecoder().decode(readInput(file)), file);
  const budget = atLeastOne(flags.budget, '--budget');
  const seed = parseCount(flags.seed, '--seed') ?? 1;
  const how = { budget, seed, onStep, signal };
  return space.kind === 'hip' ? tuneHip(space, flags, ledger, how) : tuneModel(space, file, flags, ledger, how);
}

async function tuneHip(
  space: HipSpace,
  flags: TuneFlags,
  ledger: Ledger | undefined,
  how: TuneOptions & { readonly signal: AbortSignal },
): Promise<Tuned> {
  const { withValues } = await import('../../optimize/tune/space.ts');
  const { tune } = await import('../../optimize/tune/tune.ts');
  const { build, run, source, kernel } = space;
  const buildOf = (configuration: Configuration): string => withValues(build, configuration);
  const own = { ...flags, run, source, build: buildOf(space.first), ...(kernel === undefined ? {} : { kernel }) };
  return await withWorkshop(own, ledger, how.onStep, how.signal, async (workshop) => {
    const { contest } = workshop;
    const attempt = (configuration: Configuration) => workshop.tryBuild(buildOf(configuration));
    const tuned = await tune(space, { start: space.first, before: contest.best.nanoseconds, attempt }, how);
    const result = contest.result(!tuned.isExhaustive);
    const recipe = { build: buildOf(tuned.configuration ?? space.first) };
    return { ...tuned, recipe, result, kernel: contest.evaluator.oracle.kernel, digest: ledger?.digest() };
  });
}

async function tuneModel(
  space: ModelSpace,
  file: string,
  flags: TuneFlags,
  ledger: Ledger | undefined,
  how: TuneOptions & { readonly signal: AbortSignal },
): Promise<Tuned> {
  const { checkPlaces, withValues } = await import('../../optimize/tune/space.ts');
  const { tune } = await import('../../optimize/tune/tune.ts');
  const { Model } = await import('../../optimize/iree/model.ts');
  const { ModuleWorkshop } = await import('../../optimize/iree/module-workshop.ts');
  const { project: folder, seed: _, ...rest } = flags;
  const device = programDevice(rest.device);
  if (device.kind !== 'sim') throw new WavesmithError('cli/usage', '--device is a virtual GPU, sim:TARGET.');
  const chip = chipOf(rest.chip, device.target);
  const asked = classOf(rest.class);
  const timeout = atLeastOne(rest.commandTimeout, '--command-timeout');
  const wavesmith = [process.execPath, process.argv[1] as string];
  const { seed, signal, onStep } = how;
  const model = await Model.open({ ...space, folder, target: device.target, seed, wavesmith, timeout, signal });
  try {
    checkPlaces(
      space,
      model.specWith((text) => text),
      file,
    );
    const workshop = await ModuleWorkshop.open(model, space, { chip, class: asked, seed, ledger, onStep });
    const tuned = await tune(space, workshop, how);
    const fill = (text: string): string => withValues(text, tuned.configuration ?? {});
    const recipe =
      tuned.configuration === undefined
        ? { flags: workshop.plainFlags, spec: undefined }
        : { flags: space.flags.map(fill), spec: model.specWith(fill) };
    const result = workshop.result(!tuned.isExhaustive);
    return { ...tuned, recipe, result, kernel: workshop.name, digest: ledger?.digest() };
  } finally {
    model.close();
  }
}

/** What was found, for `-o`. */
export const tunedYaml = ({ configuration, recipe }: Pick<Tuned, 'configuration' | 'recipe'>): string =>
  stringify({ configuration, ...recipe });

/** A search as text: what was tried, the fastest first, and the verdict as the last line. */
export function tuneText({ kernel, tried, configuration, result, isExhaustive }: Tuned): string {
  const { evaluation } = result;
  const line = (c: Configuration | undefined): string =>
    c === undefined
      ? "the compiler's own choice"
      : Object.entries(c)
          .map(([name, v]) => `${name}=${JSON.stringify(v)}`)
          .join(' ');
  const shown = [...tried].sort((a, b) => (a.nanoseconds ?? Number.MAX_VALUE) - (b.nanoseconds ?? Number.MAX_VALUE));
  const accepted = evaluation?.verdict === 'accepted';
  return [
    kernel,
    ...shown.map(({ configuration: c, nanoseconds, words, isKept }) => {
      const time = nanoseconds === undefined ? 'no candidate' : durationText(nanoseconds / 1000);
      return `  ${time.padEnd(12)} ${line(c)}${isKept ? '  *' : ''}\n    ${(words.split('\n')[0] ?? '').slice(0, 160)}`;
    }),
    `${tried.filter((t) => t.configuration !== undefined).length} configurations${isExhaustive ? ', all that there are' : ''}; the best is ${line(configuration)}`,
    evaluation?.time === undefined
      ? 'NOTHING FASTER FOUND'
      : `${accepted ? 'ACCEPTED' : 'NOT ENOUGH'}: ${timeText(evaluation.time)}`,
    '',
  ].join('\n');
}
