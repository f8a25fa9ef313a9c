// Comparisons as lines of a report.
import { type ComparedElement, type Comparison, comparisonVerdict } from './compare.ts';

/** Five digits of a number, all of an integer, both parts of a complex one. */
export function valueText(value: ComparedElement['baseline']): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'object') return `${valueText(value[0])}${value[1] < 0 ? '' : '+'}${valueText(value[1])}i`;
  if (Object.is(value, -0)) return '-0';
  return Number.isInteger(value) || !Number.isFinite(value) ? String(value) : String(Number(value.toPrecision(5)));
}

/** How two arrays differ: one line for what `what` names, and what is behind its elements when that differs. */
export function comparisonLines(what: string, c: Comparison, isExact = false): string[] {
  const verdict = comparisonVerdict(c);
  const { first, trailing } = c;
  const nans =
    c.nans === 0 ? '' : ` (${c.nans === c.elements ? 'every element is' : `${c.nans} are`} NaN on both sides)`;
  const lines: string[] = [];
  if (c.different === 0) {
    if (trailing.different === 0) lines.push(`${what}: identical${nans}`);
  } else {
    const at =
      first === null ? '' : `; element ${first.index}: ${valueText(first.baseline)} → ${valueText(first.modified)}`;
    const size = `largest difference ${valueText(c.maxAbsolute)}, relative ${valueText(c.maxRelative)}`;
    const scale = c.scale === null ? '' : ` of the ${c.scale}`;
    if (verdict === 'within-tolerance') {
      lines.push(
        `${what}: ${c.different} differ in bits, all within the ${c.elementType} tolerance ${c.tolerance}${scale} (${size})${nans}`,
      );
      if (isExact) {
        lines.push(
          `    --exact was asked for; rounding differences like these are normal for ${c.elementType}: leave it out`,
        );
      }
    } else if (c.scale === null) {
      lines.push(`${what}: ${c.outside} of ${c.elements} differ (largest difference ${valueText(c.maxAbsolute)}${at})`);
    } else if (c.outside > 0) {
      lines.push(
        `${what}: ${c.outside} outside the ${c.elementType} tolerance ${c.tolerance}${scale} (${size}${at})${nans}`,
      );
    }
    if (c.changed > c.changedLimit) {
      lines.push(
        `${c.outside > 0 ? '    ' : `${what}: `}${c.changed} of ${c.elements} changed by more than half of their size, ${c.changedLimit} may${c.outside > 0 ? '' : ` (${size}${at})`}`,
      );
    }
  }
  if (trailing.different > 0) {
    lines.push(`${what}: ${trailing.different} of ${trailing.bytes} bytes behind the last whole element differ`);
  }
  return lines;
}
