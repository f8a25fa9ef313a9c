// `wavesmith check FILE`: what is wrong with a code object or an assembly file before it runs.
import { assemble, formatDiagnostic, type InstructionLines, type SourceLine } from '../asm/index.ts';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject, countFindings, type Finding } from '../check/index.ts';
import { type CodeObject, codeObjectsOf, link, openContainer, readCodeObject } from '../codeobject/index.ts';
import { fileReader } from './asm.ts';
import { type PlacedFinding, sarifLog } from './sarif.ts';
import { selectCodeObject } from './select-code-object.ts';
import { newCommand, parseArguments, printJson, readInput } from './support.ts';

interface Options {
  readonly against?: string;
  readonly target?: string;
  readonly object?: string;
  readonly json?: boolean;
  readonly sarif?: boolean;
  readonly notes?: boolean;
}

/** What was read from a file: its code objects, and the source they were assembled from. */
interface Input {
  readonly codeObjects: readonly CodeObject[];
  place(codeObject: CodeObject, finding: Finding): SourceLine | undefined;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('check', 'Find what is wrong with a kernel before it runs.')
    .argument('<file>', 'code object, offload bundle, binary with a fat binary, IREE module, or assembly (.s)')
    .option('--against <file>', 'the code object (or assembly) whose place the file is to take')
    .option('--target <id>', "the target id (gfx942:xnack-), for sources without '.amdgcn_target'")
    .option('--object <n|target>', 'check only this code object of a file with several (number from 0, or target)')
    .option('--notes', 'also what could be better: waits that are too strong, dead code')
    .option('--json', 'print the findings as JSON')
    .option('--sarif', 'print the findings as a SARIF 2.1.0 log');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const [file] = command.args;
  if (options.json && options.sarif) throw new WavesmithError('cli/usage', '--json and --sarif exclude each other.');
  const input = readCode(file, options);
  const against = options.against === undefined ? undefined : baselineOf(options.against, options);
  const findings: PlacedFinding[] = [];
  for (const codeObject of input.codeObjects) {
    for (const finding of checkCodeObject(codeObject, { against, notes: options.notes })) {
      const place = input.place(codeObject, finding);
      findings.push({ ...finding, file: place?.file ?? file, line: place?.line });
    }
  }
  const counts = countFindings(findings);
  if (options.sarif) printJson(sarifLog(findings));
  else if (options.json) printJson({ ok: counts.error === 0, counts, findings });
  else {
    for (const finding of findings) process.stdout.write(formatFinding(finding));
    const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
    const { error, warning, note } = counts;
    process.stdout.write(`${plural(error, 'error')}, ${plural(warning, 'warning')}, ${plural(note, 'note')}\n`);
  }
  return counts.error === 0 ? 0 : 1;
}

/** `file:line: error[rule]: message`, then the instructions and the fix. */
function formatFinding(finding: PlacedFinding): string {
  const { file, line, pc, severity, rule, message, instruction, other, fix, reference } = finding;
  const address = (at: number): string => `0x${at.toString(16)}`;
  const where = line !== undefined ? `${file}:${line}` : pc === undefined ? file : `${file} (pc ${address(pc)})`;
  const lines = [`${where}: ${severity}[${rule}]: ${message}`];
  if (other !== undefined) lines.push(`    ${address(other.pc)}: ${other.instruction}`);
  if (instruction !== undefined && pc !== undefined) lines.push(`    ${address(pc)}: ${instruction}`);
  if (fix !== undefined) lines.push(`  fix: ${fix}`);
  if (reference !== undefined) lines.push(`  see: ${reference}`);
  return `${lines.join('\n')}\n`;
}

function isSource(file: string, bytes: Uint8Array): boolean {
  return /\.(s|S|asm|amdgcn)$/.test(file) || (file === '-' && !bytes.subarray(0, 512).includes(0));
}

function readCode(file: string, options: Options): Input {
  const bytes = readInput(file);
  if (isSource(file, bytes)) return readSource(file, bytes, options);
  const codeObjects =
    options.object === undefined ? codeObjectsOf(openContainer(bytes, file)) : [selectCodeObject(bytes, file, options)];
  if (codeObjects.length === 0) {
    throw new WavesmithError('container/empty', `'${file}' holds no code object.`, { file });
  }
  return { codeObjects, place: () => undefined };
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

function readSource(file: string, bytes: Uint8Array, options: Options): Input {
  const { object, diagnostics, lines } = assemble(bytes, {
    target: options.target,
    explainConflicts: true,
    file: file === '-' ? '<stdin>' : file,
    readFile: fileReader(file, []),
    trackLines: true,
  });
  for (const diagnostic of diagnostics) process.stderr.write(formatDiagnostic(diagnostic));
  if (object === undefined) {
    throw new WavesmithError('check/assemble', `'${file}' cannot be assembled, so there is nothing to check.`, {
      file,
      hint: 'Mend the errors above first.',
    });
  }
  const codeObject = readCodeObject(link([object]), [file]);
  const text = new TextDecoder().decode(bytes);
  const place = (checked: CodeObject, finding: Finding) =>
    lineOfInstruction(checked, finding, lines) ?? lineOfDirective(text, file, finding);
  return { codeObjects: [codeObject], place };
}

/** The source line of the instruction that a finding is about. */
function lineOfInstruction(
  codeObject: CodeObject,
  { pc }: Finding,
  lines: InstructionLines | undefined,
): SourceLine | undefined {
  if (pc === undefined) return undefined;
  const section = codeObject.elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
  return section && lines?.get(section.name)?.get(pc - section.address);
}

/** The line of the directive that a finding's fix names, in the block of its kernel; else that block's first line. */
function lineOfDirective(text: string, file: string, { kernel, fix }: Finding): SourceLine | undefined {
  const lines = text.split('\n');
  const literal = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const find = (pattern: RegExp, from = 0): number => lines.findIndex((line, i) => i >= from && pattern.test(line));
  const block =
    kernel === undefined ? -1 : find(new RegExp(`^\\s*\\.amdhsa_kernel\\s+"?${literal(kernel)}"?\\s*(?:$|[;/])`));
  const directive = fix === undefined ? undefined : /\.(?:amdhsa_\w+|amdgcn_target|\w+:)/.exec(fix)?.[0];
  const isMetadata = directive?.endsWith(':') === true;
  const named =
    directive === undefined ? -1 : find(new RegExp(`^\\s*(?:- )?${literal(directive)}`), isMetadata ? 0 : block);
  const at = named >= 0 ? named : block;
  return at < 0 ? undefined : { file, line: at + 1 };
}
