// `wavesmith check FILE`: what is wrong with a code object or an assembly file before it runs, and how it is mended.
import { readFileSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject } from '../check/index.ts';
import { withoutSettled } from '../check/settled.ts';
import type { CodeObject } from '../codeobject/index.ts';
import { optimizeLess } from '../device/node/v8-flags.ts';
import type { KernelProof } from '../equivalence/index.ts';
import {
  type Allowance,
  allowanceFor,
  allowanceProblem,
  applyPolicy,
  countFindings,
  type FailOn,
  type Finding,
  failsOn,
  findingRecord,
  newFindings,
  parseAllowances,
  parseFailOn,
  RULE_IDS,
  type RuleId,
} from '../finding/index.ts';
import { isTargetName } from '../isa/index.ts';
import { fixableSource, fixSource, writeFixed } from './check/fix.ts';
import { type CheckedInput, type CheckedSource, type PlacedFinding, placed, readCode } from './check/input.ts';
import { readKnown } from './check/known.ts';
import { fullReport, groupedReport, type Hidden, summaryText } from './check/report.ts';
import { type CheckSettings, CONFIG_NAME, findConfig, readSettings } from './check/settings.ts';
import { rulePageFile } from './rule-pages.ts';
import { sarifLog } from './sarif.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

interface Options {
  readonly against?: string;
  readonly target?: string;
  readonly object?: string;
  readonly json?: boolean;
  readonly sarif?: boolean;
  readonly notes?: boolean;
  readonly pedantic?: boolean;
  readonly all?: boolean;
  readonly baseline?: string;
  readonly failOn?: string;
  /** A path, or false for `--no-config`. */
  readonly config?: string | false;
  readonly prove: boolean;
  readonly fix?: boolean;
  readonly unsafeFixes?: boolean;
  readonly output?: string;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('check', 'Find what is wrong with a kernel before it runs.')
    .argument('<file>', 'code object, offload bundle, binary with a fat binary, IREE module, or assembly (.s)')
    .option('--against <file>', 'the code object (or assembly) whose place the file is to take')
    .option('--no-prove', 'with --against: do not try to prove that changed kernels are the same functions')
    .option('--target <id>', "the target id (gfx942:xnack-), for sources without '.amdgcn_target'")
    .option('--object <n|target>', 'check only this code object of a file with several (number from 0, or target)')
    .option('--all', 'every finding in full, instead of one line for each rule and kernel')
    .option('--notes', 'also what could be better: waits that are too strong, dead code')
    .option('--pedantic', 'also what the manual forbids, but code that ships does and was never seen to fail')
    .option('--baseline <file>', "only findings that this file does not have (written by 'check --json')")
    .option(
      '--fail-on <what>',
      'exit with 1 for findings of a severity or stronger (error, warning, note), of rules (waits,abi/target), or never (none)',
    )
    .option('--config <file>', `settings; default: the nearest ${CONFIG_NAME} at or above the file`)
    .option('--no-config', 'no settings file')
    .option('--fix', 'mend what has an edit, in the file itself')
    .option('--unsafe-fixes', 'with --fix: also edits that may change what the kernel computes')
    .option('-o, --output <file>', 'with --fix: write the mended file here instead')
    .option('--json', 'print the findings as JSON')
    .option('--sarif', 'print the findings as a SARIF 2.1.0 log');
  if (!parseArguments(command, argv)) return 0;
  optimizeLess();
  const options = command.opts<Options>();
  const [file] = command.args as [string];
  checkUsage(options);
  const settings = readSettings(options.config === false ? undefined : (options.config ?? findConfig(file)));
  const view = viewOf(options, settings);
  let input = readCode(file, options);
  const against = options.against === undefined ? undefined : baselineOf(options.against, options);
  if (options.fix === true) input = fix(input, against, view, options);
  const proofs = against === undefined || !options.prove ? [] : await proofsOf(against, input);
  const { shown, hidden } = check(input, against, view, proofs);
  const isFailed = shown.some((f) => failsOn(view.failOn, f));
  if (options.sarif) {
    const sources = new Map(input.source === undefined ? [] : [[input.source.file, input.source]]);
    printJson(sarifLog(shown, sources, pageText));
  } else if (options.json) {
    printJson({
      ok: !isFailed,
      counts: countFindings(shown),
      hidden,
      findings: shown.map(record),
      proofs: proofs.map(({ proof }) => proof),
    });
  } else {
    process.stdout.write(options.all === true ? fullReport(shown) : groupedReport(shown));
    for (const { text } of proofs) process.stdout.write(`${text}\n`);
    process.stdout.write(summaryText(shown, hidden));
  }
  return isFailed ? 1 : 0;
}

function checkUsage({ json, sarif, fix, unsafeFixes, output }: Options): void {
  if (json && sarif) throw new WavesmithError('cli/usage', '--json and --sarif exclude each other.');
  if (fix !== true && (unsafeFixes === true || output !== undefined)) {
    throw new WavesmithError('cli/usage', '--unsafe-fixes and -o go with --fix.', { hint: 'Add --fix.' });
  }
}

/** Which findings are wanted. */
interface View {
  readonly settings: CheckSettings;
  readonly notes: boolean;
  readonly pedantic: boolean;
  readonly known: readonly string[];
  readonly failOn: FailOn;
}

function viewOf(options: Options, settings: CheckSettings): View {
  const baseline = options.baseline ?? settings.baseline;
  return {
    settings,
    notes: options.notes ?? settings.notes ?? false,
    pedantic: options.pedantic ?? settings.pedantic ?? false,
    known: baseline === undefined ? [] : readKnown(baseline),
    failOn: options.failOn === undefined ? (settings.failOn ?? 'error') : parseFailOn(options.failOn, RULE_IDS),
  };
}

/** The findings that a view shows, and how many it does not. */
function check(
  input: CheckedInput,
  against: CodeObject | undefined,
  view: View,
  proofs: readonly { readonly proof: KernelProof }[],
): { readonly shown: readonly PlacedFinding[]; readonly hidden: Hidden } {
  const all: PlacedFinding[] = [];
  for (const codeObject of input.codeObjects) {
    const found = checkCodeObject(codeObject, { against, notes: view.notes, pedantic: true });
    for (const f of applyPolicy(found, view.settings.policy)) all.push(placed(f, input));
  }
  const wanted = view.pedantic ? all : all.filter((f) => f.basis !== 'shipped');
  const fresh = newFindings(wanted, view.known);
  const allowances = input.source === undefined ? [] : parseAllowances(input.source.text);
  for (const one of allowances) warnOfAllowance(input.file, one);
  const open = fresh.filter((f) => !isAllowed(allowances, f, input));
  const shown = withoutSettled(
    open,
    proofs.map(({ proof }) => proof),
  );
  return {
    shown,
    hidden: {
      pedantic: all.length - wanted.length,
      baseline: wanted.length - fresh.length,
      allowed: fresh.length - open.length,
      settled: open.length - shown.length,
    },
  };
}

function isAllowed(allowances: readonly Allowance[], finding: PlacedFinding, { source }: CheckedInput): boolean {
  const { source: place } = finding.place;
  return allowanceFor(allowances, finding, place?.file === source?.file ? place?.line : undefined) !== undefined;
}

function warnOfAllowance(file: string, allowance: Allowance): void {
  const problem = allowanceProblem(allowance);
  if (problem !== undefined) process.stderr.write(`${file}:${allowance.line}: warning: ${problem}\n`);
}

/** Mends a file and says what was done; the result is what was written. */
function fix(input: CheckedInput, against: CodeObject | undefined, view: View, options: Options): CheckedInput {
  const select = (found: readonly Finding[], source: CheckedSource): PlacedFinding[] => {
    const now: CheckedInput = { file: input.file, codeObjects: [source.codeObject], source };
    const wanted = applyPolicy(found, view.settings.policy).map((f) => placed(f, now));
    const allowances = parseAllowances(source.text);
    return newFindings(wanted, view.known).filter((f) => !isAllowed(allowances, f, now));
  };
  const result = fixSource(fixableSource(input), {
    against,
    notes: view.notes,
    pedantic: view.pedantic,
    target: options.target,
    unsafe: options.unsafeFixes,
    select,
  });
  const output = options.output ?? input.file;
  if (result.fixed > 0 || options.output !== undefined) writeFixed(output, input, result.source);
  for (const { finding, problem } of result.refused) {
    process.stderr.write(`not mended: ${finding.rule}: ${problem}${where(finding)}\n`);
  }
  process.stderr.write(`${result.fixed} finding${result.fixed === 1 ? '' : 's'} mended in '${output}'\n`);
  const mended = input.source === undefined ? undefined : result.source;
  return { ...input, codeObjects: [result.source.codeObject], source: mended };
}

/** Proofs of what changed; only of code objects that are built for the baseline's target. */
async function proofsOf(
  against: CodeObject,
  { codeObjects }: CheckedInput,
): Promise<{ readonly proof: KernelProof; readonly text: string }[]> {
  if (against.isRelocatable || !isTargetName(against.target.processor)) return [];
  const { changedKernels, quickProofs, quickProofText } = await import('../equivalence/index.ts');
  return codeObjects
    .filter((codeObject) => codeObject.target.processor === against.target.processor && !codeObject.isRelocatable)
    .flatMap((codeObject) => quickProofs(against, codeObject, changedKernels(against, codeObject)))
    .map((proof) => ({ proof, text: quickProofText(proof) }));
}

/** Where a finding is, behind a message about it. */
function where({ place: { instruction } }: Finding): string {
  return instruction === undefined ? '' : ` (at '${instruction}')`;
}

/** A finding as `--json` prints it. */
function record(finding: PlacedFinding): Readonly<Record<string, unknown>> {
  return { ...findingRecord(finding), file: finding.file };
}

/** The text of a rule's page. */
function pageText(rule: RuleId): string | undefined {
  const path = rulePageFile(rule);
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

function baselineOf(file: string, options: Options): CodeObject {
  const { codeObjects } = readCode(file, options);
  const [first] = codeObjects;
  if (first !== undefined && codeObjects.length === 1) return first;
  throw new WavesmithError('container/ambiguous', `The baseline '${file}' holds ${codeObjects.length} code objects.`, {
    file,
    hint: 'Pick one with --object N or --object TARGET, or extract it first.',
  });
}
