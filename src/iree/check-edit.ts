// What the checker says about an edit: the findings in the edited kernels that the baseline's kernels do not have, with their lines.

import type { InstructionLines } from '../asm/assemble/lines.ts';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject, type Finding } from '../check/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { type CodeObjectFacts, sameKernel } from './facts.ts';

/** A finding and its place in the edited text. */
export type EditFinding = Finding & { readonly file: string | undefined; readonly line: number | undefined };

/**
 * Checks the kernels that differ from the baseline's; what the baseline has too is not the edit's fault. `lines` are those of
 * `after`.
 */
export function checkEdit(
  before: CodeObjectFacts,
  after: CodeObjectFacts,
  lines: InstructionLines | undefined,
): EditFinding[] {
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
  const { elf } = readCodeObject(after.bytes);
  return found.map((f) => {
    const section = elf.sections.find(
      (s) => f.pc !== undefined && f.pc >= s.address && f.pc < s.address + s.bytes.length,
    );
    const place =
      section === undefined || f.pc === undefined ? undefined : lines?.get(section.name)?.get(f.pc - section.address);
    return { ...f, file: place?.file, line: place?.line };
  });
}

/** What makes a finding the same one when code before it moved. */
function keyOf({ rule, severity, kernel, instruction, other, registers }: Finding): string {
  return JSON.stringify([rule, severity, kernel, instruction, other?.instruction, registers]);
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
    file: first.file ?? file,
    line: first.line,
    pc: first.line === undefined ? first.pc : undefined,
    hint: `${first.fix ?? ''} 'wavesmith check ${file}' shows everything; --force builds anyway.`.trim(),
  });
}
