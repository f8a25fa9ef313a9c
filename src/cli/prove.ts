// `wavesmith prove`: whether the kernels of one code object are the same functions as those of another.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, readCodeObject } from '../codeobject/index.ts';
import { createDevice, type Dim3, parseDimensions, parseLaunchArgument, planLaunch } from '../device/index.ts';
import {
  DEFAULT_LIMITS,
  type DecideOptions,
  type Decision,
  decideKernel,
  type Limits,
  type NamedPlan,
} from '../equivalence/index.ts';
import { codeObjectBytes } from './code-or-text.ts';
import { openSolver } from './prove/solver.ts';
import { newCommand, parseArguments, printJson, readInput } from './support.ts';

interface Options {
  kernel?: string;
  editedKernel?: string;
  object?: string;
  objectB?: string;
  grid?: string;
  block?: string;
  dynamicLds?: string;
  arg: string[];
  launch?: string;
  alias: boolean;
  safeLoads?: boolean;
  limit?: string;
  run: boolean;
  solver: boolean;
  json?: boolean;
}

/** What is known of a launch: the flags, or the file of `--launch` with the same names. */
interface LaunchDescription {
  readonly grid?: string | undefined;
  readonly block?: string | undefined;
  readonly dynamicLds?: number | undefined;
  readonly args: readonly string[];
  readonly noAlias: boolean;
}

const HELP = `
Verdicts: proved (exit code 0), different with inputs that show it (1), not proved with the place where the comparison stopped (3).
--grid, --block and --arg describe a launch as in 'wavesmith run'; inputs are guessed without them.
`;

/** Runs the command: exit code 0 all proved, 1 some different, 3 some not proved. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('prove', 'Prove that edited kernels are the same functions as their baseline.')
    .argument('<baseline>', 'code object, container or assembler text')
    .argument('<edited>', 'code object, container or assembler text')
    .option(
      '--kernel <name>',
      'compare one kernel (default: all of the baseline; one that the edited file lacks is not proved)',
    )
    .option('--edited-kernel <name>', 'its name in the edited file when it differs')
    .option('--object <n|target>', 'which code object of a file with several')
    .option('--object-b <n|target>', 'the same for the edited file when it differs')
    .option('--grid <x,y,z>', 'workgroups of a launch to try')
    .option('--block <x,y,z>', 'work-items per workgroup; the proof may use and then names it')
    .option('--dynamic-lds <bytes>', 'LDS beyond the static size')
    .option(
      '--arg <argument>',
      "an argument of the launch, as in 'wavesmith run' (repeat)",
      (v, all: string[]) => [...all, v],
      [],
    )
    .option('--launch <file>', 'JSON with grid, block, dynamicLds, args, noAlias in the place of the flags')
    .option('--no-alias', 'assume that no two pointer arguments reach the same byte')
    .option('--safe-loads', 'assume that loads do not fault where the edited kernel moved them to')
    .option(
      '--limit <seconds[,megabytes]>',
      'processor time, and memory of terms and states, that the proof of one kernel may take',
      `${DEFAULT_LIMITS.milliseconds / 1000},${DEFAULT_LIMITS.megabytes}`,
    )
    .option('--no-solver', 'do not ask z3 where normal forms differ (it is asked when z3-solver is installed)')
    .option('--no-run', 'never run kernels: say proved or not proved')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP);
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const [fileA, fileB] = command.args as [string, string];
  const baseline = readCodeObject(codeObjectBytes('prove/assembly', fileA, options.object, options.kernel));
  const edited = readCodeObject(
    codeObjectBytes('prove/assembly', fileB, options.objectB ?? options.object, options.editedKernel ?? options.kernel),
  );
  const solver = options.solver ? openSolver(limitsOf(options).megabytes) : undefined;
  const decideOptions = { ...decideOptionsOf(options), solver: solver?.solve };
  const decisions: Decision[] = [];
  try {
    for (const name of kernelsOf(baseline, edited, options)) {
      const isLost = !edited.kernels.some((k) => k.name === (options.editedKernel ?? name));
      const isAsked = options.kernel !== undefined;
      const decision = isLost && !isAsked ? lost(name) : await decideKernel(baseline, edited, name, decideOptions);
      decisions.push(decision);
      if (!options.json) process.stdout.write(decisionText(decision));
    }
  } finally {
    await solver?.close();
  }
  if (options.json) printJson({ kernels: decisions });
  if (decisions.some((d) => d.verdict === 'different')) return 1;
  return decisions.every((d) => d.verdict === 'proved') ? 0 : 3;
}

/** What is said of a kernel that the edited file has no more. */
function lost(kernel: string): Decision {
  return {
    kernel,
    verdict: 'not-proved',
    isIdentical: false,
    reason: 'The edited file has no kernel of this name.',
    places: { baseline: undefined, edited: undefined },
    assumptions: [],
    effort: { instructions: 0, points: 0, steps: 0, milliseconds: 0 },
    counterexample: undefined,
  };
}

function kernelsOf(a: CodeObject, b: CodeObject, { kernel, editedKernel }: Options): string[] {
  if (kernel !== undefined) return [kernel];
  if (editedKernel !== undefined) {
    throw new WavesmithError('cli/usage', '--edited-kernel needs --kernel, the name in the baseline.');
  }
  const names = a.kernels.map((k) => k.name);
  if (names.some((name) => b.kernels.some((k) => k.name === name))) return names;
  throw new WavesmithError('prove/no-common-kernel', 'The two files have no kernel of the same name.', {
    hint: 'Name one with --kernel and the other with --edited-kernel.',
  });
}

function decideOptionsOf(options: Options): DecideOptions {
  const description = descriptionOf(options);
  const block = description.block === undefined ? undefined : parseDimensions(description.block, 'block');
  return {
    editedKernel: options.editedKernel,
    limits: limitsOf(options),
    facts: {
      block: block as [number, number, number] | undefined,
      noAlias: description.noAlias,
      safeLoads: options.safeLoads,
    },
    plans: plansOf(description, block),
    openDevice: options.run ? (target) => createDevice('sim', { target }) : undefined,
  };
}

function limitsOf({ limit }: Options): Limits {
  const [seconds, megabytes = DEFAULT_LIMITS.megabytes, ...more] = (limit ?? '').split(',').map(Number);
  if (!(seconds !== undefined && seconds > 0 && megabytes > 0) || more.length > 0) {
    throw new WavesmithError('cli/usage', `--limit takes seconds, or seconds and megabytes, not '${limit}'.`, {
      hint: '--limit 60,1000 is a minute of processor time and a gigabyte.',
    });
  }
  return { milliseconds: 1000 * seconds, megabytes };
}

function descriptionOf({ grid, block, dynamicLds, arg, launch, alias }: Options): LaunchDescription {
  const flags = {
    grid,
    block,
    dynamicLds: dynamicLds === undefined ? undefined : Number(dynamicLds),
    args: arg,
    noAlias: !alias,
  };
  if (launch === undefined) return flags;
  let file: unknown;
  try {
    file = JSON.parse(new TextDecoder().decode(readInput(launch)));
  } catch (error) {
    if (error instanceof WavesmithError) throw error;
    throw new WavesmithError('prove/bad-launch', `'${launch}' is not JSON: ${(error as Error).message}.`, {
      file: launch,
    });
  }
  return { ...flags, ...checkedLaunch(file, launch) };
}

function checkedLaunch(value: unknown, file: string): Partial<LaunchDescription> {
  const bad = (what: string): WavesmithError => new WavesmithError('prove/bad-launch', `'${file}': ${what}.`, { file });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad('the launch is not an object');
  const out: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    if (key === 'grid' || key === 'block') {
      if (!Array.isArray(part) || !part.every((n) => Number.isInteger(n) && n > 0))
        throw bad(`${key} is not a list of numbers from 1`);
      out[key] = part.join(',');
    } else if (key === 'dynamicLds') {
      if (!Number.isInteger(part) || (part as number) < 0) throw bad('dynamicLds is not a number of bytes');
      out[key] = part;
    } else if (key === 'args') {
      if (!Array.isArray(part) || !part.every((a) => typeof a === 'string')) throw bad('args is not a list of texts');
      out[key] = part;
    } else if (key === 'noAlias') {
      if (typeof part !== 'boolean') throw bad('noAlias is not true or false');
      out[key] = part;
    } else throw bad(`there is no field '${key}'; there are grid, block, dynamicLds, args, noAlias`);
  }
  return out;
}

/** The described launch; undefined when inputs are to be guessed. */
function plansOf({ grid, args, dynamicLds }: LaunchDescription, block: Dim3 | undefined): NamedPlan[] | undefined {
  if (args.length === 0) return undefined;
  if (grid === undefined || block === undefined) {
    throw new WavesmithError('cli/usage', 'A launch with arguments needs its grid and block as well.', {
      hint: 'Add --grid X,Y,Z and --block X,Y,Z.',
    });
  }
  const shape = { grid: parseDimensions(grid, 'grid'), block, dynamicLds };
  return [{ plan: planLaunch(shape, args.map(parseLaunchArgument), readInput).plan, words: args }];
}

function decisionText(d: Decision): string {
  const lines = [
    `${d.kernel}: ${d.verdict === 'not-proved' ? 'not proved' : d.verdict}${d.isIdentical ? ' (identical code)' : ''}`,
  ];
  if (d.counterexample !== undefined) {
    const { grid, block, difference } = d.counterexample;
    lines.push(
      `  grid ${grid.join(',')}, block ${block.join(',')}`,
      ...d.counterexample.arguments.map((a) => `  ${a}`),
      `  ${difference}`,
    );
  }
  if (d.reason !== undefined) lines.push(`  ${d.reason}`);
  for (const [which, place] of Object.entries(d.places)) {
    if (place !== undefined) lines.push(`  ${which}: 0x${place.pc.toString(16)} ${place.instruction}`);
  }
  for (const assumption of d.assumptions) lines.push(`  assumes: ${assumption}`);
  const { instructions, points, milliseconds } = d.effort;
  if (!d.isIdentical) lines.push(`  ${instructions} instructions, ${points} points, ${milliseconds} ms`);
  return `${lines.join('\n')}\n`;
}
