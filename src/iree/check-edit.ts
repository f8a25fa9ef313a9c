// What the checker says about an edit: the findings in the edited kernels that the baseline's kernels do not have, with their lines.

import type { InstructionLines } from '../asm/assemble/lines.ts';
import { WavesmithError } from '../base/index.ts';
import { checkCodeObject } from '../check/index.ts';
import { type Finding, fingerprint, newFindings } from '../finding/index.ts';
import { type CodeObjectFacts, changedKernels } from './facts.ts';

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
  const kernels = new Set(changedKernels(before, after));
  if (kernels.size === 0) return [];
  const baseline = before.object;
  const known = checkCodeObject(baseline, { kernels, pedantic: true }).map(fingerprint);
  return newFindings(checkCodeObject(after.object, { kernels, against: baseline, pedantic: true }), known).map((f) => {
    const { pc } = f.place;
    const section =
      pc === undefined
        ? undefined
        : after.object.elf.sections.find((s) => pc >= s.address && pc < s.address + s.bytes.length);
    const place = section && lines?.get(section.name)?.get((pc as number) - section.address);
    return { ...f, file: place?.file, line: place?.line };
  });
}

/** One line about a finding. */
export function describeFinding({ rule, severity, message, line, place: { pc } }: EditFinding): string {
  const where = line !== undefined ? `line ${line}: ` : pc !== undefined ? `pc 0x${pc.toString(16)}: ` : '';
  return `${where}${severity}[${rule}]: ${message}`;
}

/** The error that stops a build: the first finding in full, and how to see or ignore the others. */
export function checkFailed(errors: readonly EditFinding[], file: string): WavesmithError {
  const [first] = errors;
  if (first === undefined) throw new Error('there is no finding to report');
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  const at = first.place.instruction === undefined ? '' : ` At '${first.place.instruction}'.`;
  return new WavesmithError('hijack/check', `${first.rule}: ${first.message}${at}${more}`, {
    file: first.file ?? file,
    line: first.line,
    pc: first.line === undefined ? first.place.pc : undefined,
    hint: `${first.fix ?? ''} 'wavesmith check ${file}' shows everything; --force builds anyway.`.trim(),
  });
}
