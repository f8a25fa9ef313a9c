// `wavesmith optimize`: moves on the machine code of a captured kernel, kept when the ladder finds them right and faster.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { disassembleCodeObject } from '../asm/index.ts';
import { WavesmithError } from '../base/index.ts';
import { durationText } from '../device/sim/timing/report.ts';
import { sha256 } from '../optimize/hash.ts';
import {
  Evaluator,
  Ledger,
  MOVE_KINDS,
  type MoveKind,
  type SearchResult,
  searchMoves,
  timeText,
} from '../optimize/index.ts';
import type { Talk } from '../optimize/model/conversation.ts';
import { baselineCapture, classOf, stepLine, targetOf } from './evaluate/given.ts';
import { addElsewhereOptions, type ElsewhereFlags, openElsewhere } from './optimize/elsewhere.ts';
import { addHipOptions, type HipFlags, optimizeHip } from './optimize/hip.ts';
import { addModelOptions, atLeastOne, openModel, talkLines } from './optimize/model.ts';
import { isHip } from './optimize/program-flags.ts';
import { runTune, tunedYaml, tuneText } from './optimize/tune.ts';
import { runKernel } from './run.ts';
import { parseCount } from './run-common.ts';
import { newCommand, parseArguments, printJson, writeOutput } from './support.ts';
import { CHIP_NAMES, chipOf } from './timing.ts';

interface Options extends HipFlags, ElsewhereFlags {
  tune?: string;
  write?: boolean;
  class: string;
  chip?: string;
  seed: string;
  budget: string;
  beam: string;
  search: string;
  moves?: string;
  ledger?: string;
  output?: string;
  diff: boolean;
  json?: boolean;
}

const HELP = `
Moves: ${MOVE_KINDS.join(', ')} (docs/optimize.md).
Every kept step climbed the ladder of 'wavesmith evaluate'. Times are modelled. With --provider a language model proposes, and judges nothing.
Exit code 0: a faster kernel was accepted. 3: none was found. 130: stopped; with --ledger the same command goes on.`;

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'optimize',
    'Make a kernel faster, by proved or exactly tested changes of its machine code or its HIP source.',
  )
    .argument('[target]', 'a capture (X.wscap), the hijack folder of one, or a code object; none for a HIP project')
    .argument('[launch...]', "code object, behind --: its launch as of 'wavesmith run' (--grid 4 --block 256 --arg …)")
    .option(
      '-o, --output <file>',
      'write the best: a code object, text when the name ends with .s; a patch of a HIP source',
    )
    .option(
      '--tune <file>',
      'search the configurations of a HIP project or an IREE model: parameters, flags, constraints',
    )
    .option('--write', 'HIP project: change the source itself')
    .option('--budget <n>', 'candidates that may be looked at', '200')
    .option('--beam <n>', 'candidates that a round goes on with', '2')
    .option('--search <method>', 'how moves are searched: beam, or mcts (Monte-Carlo tree search)', 'beam')
    .option('--moves <kinds>', 'only moves of these kinds, comma-separated')
    .option('--class <class>', 'how alike results must be: bit or atomics; of a HIP project also bounded', 'bit')
    .option('--chip <name|file>', `the chip to model: ${CHIP_NAMES.join(', ')}, or a chip file (.json)`)
    .option('--seed <n>', 'held-out inputs depend on it', '1')
    .option('--ledger <file>', 'keep what was tried; a search that was ended goes on from there')
    .option('--no-diff', 'do not print the diffs of the steps')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP);
  addHipOptions(addModelOptions(addElsewhereOptions(command)));
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const [target, ...launch] = command.args;
  const ways = [target !== undefined, isHip(options), options.tune !== undefined];
  if (ways.filter(Boolean).length !== 1) {
    throw new WavesmithError(
      'cli/usage',
      'Give a capture, or --build, --run and --source of a HIP project, or --tune.',
    );
  }
  const ending = new AbortController();
  const interrupt = (): void => ending.abort();
  process.on('SIGINT', interrupt);
  try {
    if (options.tune !== undefined) return await tuned(options.tune, options, ending.signal);
    if (target === undefined) return await hip(options, ending.signal);
    const work = (path: string) => optimize(path, options, ending.signal);
    const { result, kernel, digest, talk } = await (launch.length === 0
      ? work(target)
      : withLaunch(target, launch, work));
    const { code, ...rest } = result;
    // What was found is printed first: it is known then, also where it cannot be written.
    if (options.json === true) printJson({ kernel, ...rest, talk, ledger: digest });
    else process.stdout.write(searchText(kernel, result, options, talk));
    const isAccepted = result.evaluation?.verdict === 'accepted';
    if (isAccepted && code !== undefined && options.output !== undefined) {
      writeOutput(options.output, options.output.endsWith('.s') ? disassembleCodeObject(code) : code);
    }
    return exitCode(result, talk, ending.signal);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

/** 0 accepted, 1 the provider failed first, 3 nothing was found, 130 stopped. */
function exitCode({ evaluation }: SearchResult, talk: Talk | undefined, signal: AbortSignal): number {
  if (signal.aborted) return 130;
  if (evaluation?.verdict === 'accepted') return 0;
  return talk?.isFailure === true ? 1 : 3;
}

async function hip(options: Options, signal: AbortSignal): Promise<number> {
  const { output, source = '', project } = options;
  const onStep = stepLine();
  return await Ledger.during(options.ledger, async (ledger) => {
    const found = await optimizeHip(options, ledger, onStep, signal);
    const { result, kernel, talk, text, patch, comparesOutput, digest } = found;
    const { code: _, ...rest } = result;
    onStep?.('');
    if (!comparesOutput) ledger?.addFault('optimize/output-varies', OUTPUT_VARIES);
    if (talk?.isFailure === true) ledger?.addFault('model/failed', talk.ended);
    if (options.json === true) printJson({ kernel, ...rest, patch, comparesOutput, talk, ledger: digest });
    else {
      const note = comparesOutput ? '' : `${OUTPUT_VARIES}\n`;
      process.stdout.write(note + searchText(kernel, result, options, talk));
    }
    if (result.evaluation?.verdict === 'accepted') {
      if (output !== undefined) writeOutput(output, patch);
      if (options.write === true) writeOutput(resolve(project, source), text);
    }
    return exitCode(result, talk, signal);
  });
}

const OUTPUT_VARIES = 'The program prints something else in every run: its output was not compared.';

async function tuned(file: string, options: Options, signal: AbortSignal): Promise<number> {
  const onStep = stepLine();
  return await Ledger.during(options.ledger, async (ledger) => {
    const found = await runTune(file, options, ledger, onStep, signal);
    const { result, kernel, digest, tried, configuration, recipe, isExhaustive } = found;
    const { code: _, ...rest } = result;
    onStep?.('');
    if (options.json === true) {
      printJson({ kernel, ...rest, configuration, ...recipe, tried, isExhaustive, ledger: digest });
    } else process.stdout.write(tuneText(found));
    const isAccepted = result.evaluation?.verdict === 'accepted';
    if (isAccepted && options.output !== undefined) writeOutput(options.output, tunedYaml(found));
    return exitCode(result, undefined, signal);
  });
}

/** A launch of a code object, recorded for as long as `work` needs it. */
async function withLaunch<T>(
  file: string,
  launch: readonly string[],
  work: (capture: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-launch-'));
  try {
    const capture = join(folder, 'launch.wscap');
    const code = await runKernel([file, ...launch, '--capture', capture], { write: () => {}, print: () => {} });
    if (code === 0 && existsSync(capture)) return await work(capture);
    throw new WavesmithError(
      'evaluate/baseline',
      `'${file}' cannot be recorded in this launch: 'run' ends with ${code}.`,
      {
        file,
        hint: `'wavesmith run ${file} ${launch.join(' ')}' says why.`,
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function optimize(target: string, options: Options, signal: AbortSignal) {
  const capture = baselineCapture(target);
  const asked = classOf(options.class);
  if (asked === 'bounded') {
    throw new WavesmithError('cli/usage', 'Changes of machine code are of the class bit or atomics, not bounded.');
  }
  const budget = atLeastOne(options.budget, '--budget');
  const beam = atLeastOne(options.beam, '--beam');
  const method = (['beam', 'mcts'] as const).find((m) => m === options.search);
  if (method === undefined) throw new WavesmithError('cli/usage', `--search is beam or mcts, not '${options.search}'.`);
  const kinds = options.moves === undefined ? undefined : kindsOf(options.moves);
  const chip = chipOf(options.chip, targetOf(capture));
  const onStep = stepLine();
  const seed = parseCount(options.seed, '--seed') ?? 1;
  return await Ledger.during(options.ledger, async (ledger) => {
    const model = await openModel(options, ledger);
    const evaluator = await Evaluator.open(capture, { chip, class: asked, seed, onStep });
    if (model !== undefined) {
      const { KernelWorkshop } = await import('../optimize/model/kernel-workshop.ts');
      const { Contest } = await import('../optimize/search/contest.ts');
      const contest = await Contest.open(evaluator, ledger);
      const work = sha256(JSON.stringify(evaluator.key));
      const talk = await model.talk(new KernelWorkshop(contest, ledger), { work, onTurn: onStep, signal });
      if (talk.isFailure) ledger?.addFault('model/failed', talk.ended);
      const result = contest.result(talk.answers >= Number(options.turns));
      return { result, kernel: capture.manifest.dispatch.kernel, digest: ledger?.digest(), talk };
    }
    const onLook = (done: number, of: number, best: number): void =>
      onStep?.(`${done} of ${of} candidates, best ${durationText(best / 1000)}`);
    const opened = await openElsewhere(options, capture, evaluator.options);
    try {
      const how = { budget, beam, method, seed, kinds, ledger, onLook, signal, elsewhere: opened?.elsewhere };
      const result = await searchMoves(evaluator, how);
      return { result, kernel: capture.manifest.dispatch.kernel, digest: ledger?.digest(), talk: undefined };
    } finally {
      await opened?.close();
    }
  }).finally(() => onStep?.(''));
}

function kindsOf(text: string): MoveKind[] {
  return text.split(',').map((name) => {
    const kind = MOVE_KINDS.find((k) => k === name.trim());
    if (kind !== undefined) return kind;
    throw new WavesmithError('cli/usage', `There is no move '${name}'.`, {
      hint: `There are ${MOVE_KINDS.join(', ')}.`,
    });
  });
}

/** A search as text: each kept step with its moves and diff, what was tried, the verdict as the last line. */
export function searchText(kernel: string, result: SearchResult, { diff }: Pick<Options, 'diff'>, talk?: Talk): string {
  const { steps, nanoseconds, looks, climbs, outcomes, evaluation, isBudgetUsed } = result;
  const lines = [kernel];
  let before = nanoseconds[0];
  steps.forEach((step, n) => {
    lines.push(
      `step ${n + 1}: ${durationText(before / 1000)} to ${durationText(step.nanoseconds / 1000)}, ${step.reached ?? step.verdict}`,
      ...(step.reason === undefined ? [] : [`  ${step.reason}`]),
      ...step.moves.map((m) => `  ${m.kind} at 0x${m.pc.toString(16)}: ${m.text}`),
    );
    if (diff)
      lines.push(
        ...step.diff
          .split('\n')
          .slice(2)
          .filter((line) => line !== ''),
      );
    before = step.nanoseconds;
  });
  const tried = Object.entries(outcomes).sort(([a], [b]) => (a < b ? -1 : 1));
  const rest = isBudgetUsed ? '; the budget is used up' : '';
  lines.push(
    `${looks} candidates (${tried.map(([what, n]) => `${n} ${what}`).join(', ') || 'none'}), ${climbs} climbed the ladder${rest}`,
  );
  if (talk !== undefined) lines.push(...talkLines(talk));
  if (evaluation?.time === undefined) lines.push('NOTHING FASTER FOUND');
  else lines.push(`${evaluation.verdict === 'accepted' ? 'ACCEPTED' : 'NOT ENOUGH'}: ${timeText(evaluation.time)}`);
  return `${lines.join('\n')}\n`;
}
