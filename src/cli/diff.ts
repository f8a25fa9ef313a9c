// `wavesmith diff`: what differs between two code objects, or between assembler texts, which are assembled first.
import { type CodeObjectDiff, diffCodeObjects } from '../asm/diff/diff.ts';
import { diffText } from '../asm/diff/text.ts';
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { optimizeLess } from '../device/node/v8-flags.ts';
import { type KernelProof, quickProofs, quickProofText } from '../equivalence/index.ts';
import { isTargetName } from '../isa/index.ts';
import { codeObjectBytes } from './code-or-text.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

interface Options {
  kernel?: string;
  object?: string;
  objectB?: string;
  context: string;
  json?: boolean;
  color: boolean;
  prove?: boolean;
}

/** Runs the command: exit code 1 when the sides differ. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('diff', 'Compare two code objects kernel by kernel. Exit code 1 when they differ.')
    .argument('<a>', 'code object, container or assembler text')
    .argument('<b>', 'code object, container or assembler text')
    .option('--kernel <name>', 'compare one kernel')
    .option('--object <n|target>', 'which code object of a file with several')
    .option('--object-b <n|target>', 'the same for the second file when it differs')
    .option('--context <lines>', 'unchanged lines around a change', '3')
    .option('--prove', 'say of each changed kernel whether it is proved to be the same function')
    .option('--json', 'print JSON')
    .option('--no-color', 'never colour the output (NO_COLOR does the same)');
  if (!parseArguments(command, argv)) return 0;
  optimizeLess();
  const options = command.opts<Options>();
  const [fileA, fileB] = command.args;
  if (!/^\d{1,6}$/.test(options.context)) {
    throw new WavesmithError('cli/usage', `--context takes a number of lines, not '${options.context}'.`);
  }
  const a = codeObjectBytes('diff/assembly', fileA, options.object, options.kernel);
  const b = codeObjectBytes('diff/assembly', fileB, options.objectB ?? options.object, options.kernel);
  const diff = diffCodeObjects(a, b, { kernel: options.kernel, context: Number(options.context) });
  const proofs = options.prove === true ? proofsOf(diff, a, b) : undefined;
  if (options.json) printJson(proofs === undefined ? diff : { ...diff, proofs });
  else {
    const notes = new Map(proofs?.map((proof) => [proof.kernel, quickProofText(proof)]));
    const proved = new Set(proofs?.filter(({ verdict }) => verdict === 'proved').map(({ kernel }) => kernel));
    process.stdout.write(diffText(diff, fileA, fileB, useColours(options), { notes, proved }));
  }
  return diff.same ? 0 : 1;
}

/** Proofs of the kernels whose code or descriptor differ. */
function proofsOf({ functions }: CodeObjectDiff, a: Uint8Array, b: Uint8Array): KernelProof[] {
  const changed = functions.filter(({ kind, status }) => kind === 'kernel' && status === 'changed');
  const [baseline, edited] = [readCodeObject(a), readCodeObject(b)];
  if ([baseline, edited].some((o) => o.isRelocatable || !isTargetName(o.target.processor))) return [];
  return quickProofs(
    baseline,
    edited,
    changed.map(({ name }) => name),
  );
}

function useColours({ color }: Options): boolean {
  const noColor = process.env.NO_COLOR;
  return color && process.stdout.isTTY === true && (noColor === undefined || noColor === '');
}
