// A HIP project on the command line: a copy is built, run and changed; the user's folder is written when that is asked for, and only the source.
import type { Command } from 'commander';
import { WavesmithError } from '../../base/index.ts';
import { sha256 } from '../../optimize/hash.ts';
import type { HipWorkshop } from '../../optimize/hip/hip-workshop.ts';
import type { Project } from '../../optimize/hip/project.ts';
import type { Ledger, SearchResult } from '../../optimize/index.ts';
import type { Talk } from '../../optimize/model/conversation.ts';
import { parseKernel } from '../capture-options.ts';
import { classOf } from '../evaluate/given.ts';
import { programDevice } from '../program-device.ts';
import { parseCount } from '../run-common.ts';
import { chipOf } from '../timing.ts';
import type { ModelFlags } from './model.ts';
import { atLeastOne, openModel } from './model.ts';
import { addProgramOptions, type ProgramFlags } from './program-flags.ts';

export interface HipFlags extends ModelFlags, ProgramFlags {}

/** Flags of a HIP project. */
export function addHipOptions(command: Command): Command {
  return addProgramOptions(command)
    .option('--project <dir>', 'the folder of the project; it is copied', '.')
    .option('--device <device>', 'the virtual GPU that the program runs on', 'sim:gfx942');
}

export interface HipResult {
  readonly result: SearchResult;
  readonly kernel: string;
  readonly talk: Talk;
  /** The source as it became, and its diff. */
  readonly text: string;
  readonly patch: string;
  readonly comparesOutput: boolean;
  readonly digest: string | undefined;
}

/** Works on a HIP project with a language model. */
export async function optimizeHip(
  flags: HipFlags,
  ledger: Ledger | undefined,
  onStep: ((text: string) => void) | undefined,
  signal: AbortSignal,
): Promise<HipResult> {
  commandsOf(flags);
  if (flags.provider === undefined) {
    throw new WavesmithError(
      'cli/usage',
      'A HIP project needs --provider, a language model that changes the source, or --tune.',
    );
  }
  const model = await openModel(flags, ledger);
  return await withWorkshop(flags, ledger, onStep, signal, async (workshop, project) => {
    const { contest } = workshop;
    const work = sha256(JSON.stringify([contest.evaluator.key, project.text()]));
    const talk = await (model as NonNullable<typeof model>).talk(workshop, { work, onTurn: onStep, signal });
    const result = contest.result(talk.answers >= Number(flags.turns));
    return { result, kernel: contest.evaluator.oracle.kernel, talk, ...workshop.result, digest: ledger?.digest() };
  });
}

/** How a project is built and run, and what of it may change. */
function commandsOf({ build, run, source }: ProgramFlags) {
  if (build === undefined || run === undefined || source === undefined) {
    throw new WavesmithError('cli/usage', 'A HIP project needs --build, --run and --source.');
  }
  return { build, run, source };
}

/** Opens a copy of a project and its kernel's place of work, which is gone when `work` ends. */
export async function withWorkshop<T>(
  flags: ProgramFlags,
  ledger: Ledger | undefined,
  onStep: ((text: string) => void) | undefined,
  signal: AbortSignal,
  work: (workshop: HipWorkshop, project: Project) => Promise<T>,
): Promise<T> {
  const { build, run, source } = commandsOf(flags);
  const { project: folder } = flags;
  const asked = classOf(flags.class);
  const device = programDevice(flags.device);
  if (device.kind !== 'sim') throw new WavesmithError('cli/usage', '--device is a virtual GPU, sim:TARGET.');
  const chip = chipOf(flags.chip, device.target);
  const seed = parseCount(flags.seed, '--seed') ?? 1;
  const timeout = atLeastOne(flags.commandTimeout, '--command-timeout');
  const kernel = parseKernel(flags.kernel);
  const { Project } = await import('../../optimize/hip/project.ts');
  const { HipWorkshop } = await import('../../optimize/hip/hip-workshop.ts');
  const wavesmith = [process.execPath, process.argv[1] as string];
  const project = Project.open({ folder, source, build, run, wavesmith, device: flags.device, timeout, signal });
  try {
    return await work(await HipWorkshop.open(project, { kernel, chip, class: asked, seed, ledger, onStep }), project);
  } finally {
    project.close();
  }
}
