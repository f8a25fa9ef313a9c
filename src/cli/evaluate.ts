// `wavesmith evaluate`: one candidate climbs the ladder once.
import { WavesmithError } from '../base/index.ts';
import type { Measurement } from '../optimize/evaluate/measure.ts';
import { sha256 } from '../optimize/hash.ts';
import { type Evaluation, Evaluator, evaluationKey, Ledger, optionsHash } from '../optimize/index.ts';
import type { Capture } from '../snapshot/index.ts';
import { candidateBytes } from './evaluate/candidate.ts';
import { baselineCapture, classOf, stepLine, targetOf } from './evaluate/given.ts';
import { openGpu } from './evaluate/gpu.ts';
import { addQueueOptions, measureElsewhere, type QueueFlags } from './optimize/elsewhere.ts';
import { addProgramOptions, isHip, type ProgramFlags } from './optimize/program-flags.ts';
import { parseCount } from './run-common.ts';
import { newCommand, parseArguments, printJson } from './support.ts';
import { CHIP_NAMES, chipOf } from './timing.ts';

interface Options extends QueueFlags, Omit<ProgramFlags, 'device' | 'project'> {
  reductionLength: string;
  ledger?: string;
  measure?: boolean;
  device?: string;
  json?: boolean;
}

const HELP = `
The ladder: contract, static, exact, equivalence, held-out, physics, time. The first rung that rejects ends it (docs/evaluate.md).
Exit code 0: accepted, the lower bound of the speedup passes 2%. 1: rejected. 3: correct, and not faster.`;

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'evaluate',
    'Judge a candidate kernel beside a captured baseline: is it right, and is it faster?',
  )
    .argument('<baseline>', 'a capture (X.wscap), the hijack folder of one, or the folder of a HIP project')
    .argument(
      '<candidate>',
      'code object, assembler text, or a patch (.patch, .diff) of the text that disasm prints; of a HIP project another text of its source, or a patch of it',
    )
    .option('--class <class>', 'how alike results must be: bit, atomics or bounded', 'bit')
    .option('--reduction-length <n>', 'class bounded: terms of the longest sum behind one output', '1')
    .option('--chip <name|file>', `the chip to model: ${CHIP_NAMES.join(', ')}, or a chip file (.json)`)
    .option('--seed <n>', 'held-out inputs depend on it', '1')
    .option('--ledger <file>', 'keep the verdict in this ledger; one that is in it is not made again')
    .option(
      '--measure',
      'time a candidate that is right on a GPU, too: of this machine, or with --queue of a worker with --target rocm',
    )
    .option(
      '--device <device>',
      'with --measure: rocm[:N], a GPU of this machine (rocm); of a HIP project: the virtual GPU that it runs on (sim:gfx942)',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', HELP);
  addProgramOptions(addQueueOptions(command));
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const [baseline, candidate] = command.args as [string, string];
  const evaluation = isHip(options)
    ? await evaluateSource(baseline, candidate, options)
    : await evaluateFiles(baseline, candidate, options);
  if (options.measure === true && evaluation.verdict !== 'rejected')
    return await measured(evaluation, options, command.args);
  if (options.json === true) printJson(evaluation);
  else process.stdout.write(evaluationText(evaluation));
  return exitCodeOf(evaluation);
}

/** A HIP project's source beside another one. */
async function evaluateSource(project: string, candidate: string, options: Options): Promise<Evaluation> {
  const { source, device = 'sim:gfx942' } = options;
  if (options.measure === true) throw new WavesmithError('cli/usage', 'A HIP project is not measured.');
  if (source === undefined) throw new WavesmithError('cli/usage', 'A HIP project needs --build, --run and --source.');
  const { evaluateProject } = await import('./evaluate/project.ts');
  const onStep = stepLine();
  return await Ledger.during(options.ledger, (ledger) =>
    evaluateProject({ ...options, source, project, device }, candidate, ledger, onStep),
  ).finally(() => onStep?.(''));
}

/** What a GPU says of a candidate that is right; its word counts. */
async function measured(evaluation: Evaluation, options: Options, args: readonly string[]): Promise<number> {
  const [baseline = '', candidate = ''] = args;
  const { isMeasuredFaster, measurementText } = await import('../optimize/evaluate/measure.ts');
  const capture = baselineCapture(baseline);
  const measurement = await measure(capture, candidateBytes(capture, candidate), options);
  const isFaster = isMeasuredFaster(measurement);
  const verdict = measurement.differing > 0 ? 'rejected' : isFaster ? 'accepted' : 'not-faster';
  if (options.json === true) printJson({ ...evaluation, verdict, measurement });
  else {
    const text = `${evaluationText(evaluation)}${measurementText(measurement)}`;
    process.stdout.write(`${text}\n${HEADLINES[verdict]}: measured\n`);
  }
  return exitCodeOf({ verdict });
}

/** By a GPU of this machine, or by a worker that has one. */
async function measure(capture: Capture, code: Uint8Array, options: Options): Promise<Measurement> {
  const seed = parseCount(options.seed, '--seed') ?? 1;
  const { queue } = options;
  if (queue !== undefined) {
    const chip = chipOf(options.chip, targetOf(capture));
    return await measureElsewhere({ ...options, queue }, capture, code, { chip, seed });
  }
  const { measurePair } = await import('../optimize/evaluate/measure.ts');
  const device = await openGpu(capture, options.device ?? 'rocm');
  const onStep = stepLine();
  try {
    return await measurePair(device, capture, code, { seed, onStep });
  } finally {
    onStep?.('');
    device.close();
  }
}

async function evaluateFiles(baseline: string, candidate: string, options: Options): Promise<Evaluation> {
  const asked = classOf(options.class);
  const seed = parseCount(options.seed, '--seed') ?? 1;
  const reductionLength = parseCount(options.reductionLength, '--reduction-length') ?? 1;
  const capture = baselineCapture(baseline);
  const chip = chipOf(options.chip, targetOf(capture));
  const code = candidateBytes(capture, candidate);
  // A compiler may have made it: the registers that it starts with are its own to choose.
  const isRebuilt = true;
  const settings = { chip, class: asked, seed, reductionLength, isRebuilt, onStep: stepLine() };
  return await Ledger.during(options.ledger, async (ledger) => {
    try {
      const key = evaluationKey({
        baseline: capture.identity(),
        candidate: sha256(code),
        options: optionsHash(settings),
      });
      const known = ledger?.find(key);
      if (known !== undefined) return known;
      const evaluator = await Evaluator.open(capture, settings);
      const evaluation = await evaluator.evaluate(code);
      ledger?.add(code, { change: `given as ${candidate}` }, evaluation);
      return evaluation;
    } finally {
      settings.onStep?.('');
    }
  });
}

/** 0 accepted, 1 rejected, 3 correct and not faster. */
export function exitCodeOf({ verdict }: Pick<Evaluation, 'verdict'>): number {
  return verdict === 'accepted' ? 0 : verdict === 'rejected' ? 1 : 3;
}

const HEADLINES = { accepted: 'ACCEPTED', rejected: 'REJECTED', 'not-faster': 'CORRECT, NOT FASTER' } as const;

/** An evaluation as text: the rungs, what they rest on, and the verdict as the last line. */
export function evaluationText({ verdict, rung, kernel, target, reached, rungs, inputs, time }: Evaluation): string {
  const lines = [`${kernel} on ${target}`];
  for (const { rung: name, outcome, evidence } of rungs) {
    lines.push(`  ${name.padEnd(12)} ${outcome}`, ...evidence.map((e) => `    ${e}`));
  }
  for (const one of inputs.dropped.slice(0, 3)) lines.push(`  left out: ${one}`);
  if (inputs.dropped.length > 3) lines.push(`  left out: ${inputs.dropped.length - 3} more`);
  const how = reached === 'proved' ? 'proved' : `${reached} on ${inputs.run} inputs`;
  const end =
    verdict === 'rejected'
      ? `at ${rung}`
      : `×${time?.speedup.toFixed(3)} modelled on ${time?.chip}, ${how}${time?.isSmall && verdict === 'accepted' ? ', a small gain' : ''}`;
  lines.push(`${HEADLINES[verdict]}: ${end}`);
  return `${lines.join('\n')}\n`;
}
