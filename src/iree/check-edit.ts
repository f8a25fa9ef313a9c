// What the checker says about an edit: the findings in the edited kernels that the baseline's kernels do not have, with their lines.
import { assemble } from '../asm/index.ts';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject, type Finding } from '../check/index.ts';
import { link, readCodeObject } from '../codeobject/index.ts';
import { type CodeObjectFacts, sameKernel } from './facts.ts';

/** A finding and its line in the edited text. */
export type EditFinding = Finding & { readonly line: number | undefined };

/** The edited text as it is assembled. */
export interface EditedText {
  readonly file: string;
  readonly text: string;
  readonly target: string;
}

/** Checks the kernels that differ from the baseline's; what the baseline has too is not the edit's fault. */
export function checkEdit(before: CodeObjectFacts, after: CodeObjectFacts, source: EditedText): EditFinding[] {
  const kernels = new Set<string>();
  for (const [name, edited] of after.kernels) {
    const old = before.kernels.get(name);
    if (old === undefined || !sameKernel(old, edited)) kernels.add(name);
  }
  if (kernels.size === 0) return [];
  const baseline = readCodeObject(before.bytes);
  const known = new Map<string, number>();
  for (const f of checkCodeObject(baseline, { kernels })) known.set(keyOf(f), (known.get(keyOf(f)) ?? 0) + 1);
  const found: Finding[] = [];
  for (const f of checkCodeObject(readCodeObject(after.bytes), { kernels, against: baseline })) {
    const left = known.get(keyOf(f)) ?? 0;
    if (left > 0) known.set(keyOf(f), left - 1);
    else found.push(f);
  }
  const lineOf = found.some((f) => f.pc !== undefined) ? lineFinder(after, source) : () => undefined;
  return found.map((f) => ({ ...f, line: lineOf(f) }));
}

/** What makes a finding the same one when code before it moved. */
function keyOf({ rule, severity, kernel, instruction, other, registers }: Finding): string {
  return JSON.stringify([rule, severity, kernel, instruction, other?.instruction, registers]);
}

/** Assembles the whole text once more to learn which line an instruction comes from: at the same distance from its kernel's entry. */
function lineFinder(after: CodeObjectFacts, { file, text, target }: EditedText): (f: Finding) => number | undefined {
  const { object, lines } = assemble(text, { target, file, trackLines: true });
  if (object === undefined || lines === undefined) return () => undefined;
  const whole = readCodeObject(link([object]));
  return ({ pc, kernel }) => {
    const checked = kernel === undefined ? undefined : after.kernels.get(kernel);
    const entry = whole.kernels.find((k) => k.name === kernel)?.entry;
    if (pc === undefined || checked === undefined || entry === undefined) return undefined;
    const address = entry + pc - checked.entry;
    const section = whole.elf.sections.find((s) => address >= s.address && address < s.address + s.bytes.length);
    const place = section && lines.get(section.name)?.get(address - section.address);
    return place?.file === file ? place.line : undefined;
  };
}

/** One line about a finding. */
export function describeFinding({ rule, severity, message, line, pc }: EditFinding): string {
  const where = line !== undefined ? `line ${line}: ` : pc !== undefined ? `pc 0x${pc.toString(16)}: ` : '';
  return `${where}${severity}[${rule}]: ${message}`;
}

/** The error that stops a build: the first finding in full, and how to see or ignore the others. */
export function checkFailed(errors: readonly EditFinding[], file: string): WavesmithError {
  const [first] = errors;
  if (first === undefined) throw new Error('there is no finding to report');
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  const at = first.instruction === undefined ? '' : ` At '${first.instruction}'.`;
  return new WavesmithError('hijack/check', `${first.rule}: ${first.message}${at}${more}`, {
    file,
    line: first.line,
    pc: first.line === undefined ? first.pc : undefined,
    hint: `${first.fix ?? ''} 'wavesmith check ${file}' shows everything; --force builds anyway.`.trim(),
  });
}
