// The report of `hijack run` on single kernels, and what both reports share.

import { timingText } from '../../device/sim/timing/report.ts';
import type { DispatchRun, RunResult, SideResult } from '../../iree/run.ts';
import { comparisonLines, type Verdict, type VerdictKind, verdictLine } from '../../verdict/index.ts';

/** The report as text. */
export function describeDispatches(result: RunResult): string {
  const lines = result.runs.flatMap((r) => describeRun(r, result.exact));
  lines.push(
    ...conclusion(
      result,
      result.runs.map((r) => r.verdict),
      'dispatch(es)',
      result.seed,
    ),
  );
  return lines.join('\n');
}

/** Objections in full, then the verdict. `verdicts` are those of the parts, which `what` counts. */
export function conclusion(verdict: Verdict, verdicts: readonly VerdictKind[], what: string, seed: number): string[] {
  const total = verdicts.length;
  const [exactly, bad] = [
    verdicts.filter((v) => v === 'equal').length,
    verdicts.filter((v) => v === 'different').length,
  ];
  const counts =
    total === 0
      ? ''
      : verdict.verdict === 'different'
        ? `${bad || total - exactly} of ${total} ${what}, seed ${seed}`
        : `${total} ${what}, ${exactly} identical in every bit, seed ${seed}`;
  const objections = verdict.objections.map(
    ({ by, rule, place, message }) => `${place === '' ? '' : `${place}: `}${by}[${rule}]: ${message}`,
  );
  return [...objections, verdictLine(verdict, counts), ''];
}

function sideLine(name: string, side: SideResult | null): string {
  if (side === null) return `  ${name}  did not finish`;
  const instructions = side.instructions === null ? '' : `${side.instructions} instructions, `;
  return `  ${name}  ${instructions}${side.wavefronts} wavefronts, ${side.seconds.toFixed(2)} s`;
}

/** Modelled times of both sides, the modified one's as a part of the baseline's. */
function timeLines({ baseline, modified }: DispatchRun): string[] {
  if (baseline.timing === null) return [];
  const lines = ['  baseline', ...timingText(baseline.timing)];
  if (modified === null || modified.timing === null) return lines;
  const ratio = modified.timing.microseconds / baseline.timing.microseconds;
  const change = `  modified: ${ratio.toFixed(3)} of the baseline's modelled time`;
  return [...lines, change, ...timingText(modified.timing)];
}

function describeRun(r: DispatchRun, isExact: boolean): string[] {
  const lines = [`${r.kernel}`, `  grid ${r.grid.join('×')}, workgroup ${r.block.join('×')}`];
  lines.push(sideLine('baseline', r.baseline), sideLine('modified', r.modified));
  lines.push(...timeLines(r));
  if (r.error !== null) lines.push(...r.error.message.split('\n').map((line) => `    ${line}`));
  for (const { binding, readOnly, comparison: c } of r.buffers) {
    const what = `  binding ${binding} (${readOnly ? 'input' : 'output'}, ${c.elements} × ${c.elementType})`;
    lines.push(...comparisonLines(what, c, isExact));
  }
  for (const { where, offset, bytes, comparison, written } of r.gaps) {
    const what = `  ${where}, ${bytes} bytes from ${offset} that belong to no tensor`;
    lines.push(
      ...comparisonLines(what, comparison),
      `    the baseline wrote ${written.baseline} of them, the modified kernel ${written.modified}`,
    );
  }
  if (r.gapBytes > 0 && r.gaps.length === 0) lines.push(`  ${r.gapBytes} bytes that belong to no tensor: untouched`);
  if (r.verdict === 'different' && r.error === null) lines.push(...r.reasons.map((reason) => `  ${reason}`));
  return lines;
}
