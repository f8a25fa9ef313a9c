// What `wavesmith probe` prints: the probe's report, what became of its points, and the listing.
import type { Instrumented, ProbeDefinition, ProbeProgram } from '../../instrument/index.ts';
import type { ProbePageCode } from '../../report/index.ts';

/** How the points were placed, as JSON. */
export function placementRecord(result: Instrumented) {
  const { placed, rejected, costs, drains, memory, findings } = result;
  return {
    placed,
    rejected: rejected.map(({ kernel, pc, reason }) => ({ kernel, pc, reason })),
    drains,
    memory: memory.size,
    kernels: costs,
    findings: findings.length,
  };
}

/** Whether the probe is at every point it asked for: otherwise what it counts is too little. */
export function isComplete(result: Pick<Instrumented, 'rejected'>): boolean {
  return result.rejected.length === 0;
}

/** One line for the points, one for each reason why points were left out, one for each kernel that grew. */
export function placementText(result: Instrumented): string[] {
  const { placed, rejected, costs, drains } = result;
  const all = placed + rejected.length;
  const lines = [
    ...(isComplete(result)
      ? []
      : ['INCOMPLETE: the numbers leave out what happens at points that could not be placed']),
    `${placed} of ${all} points placed${drains === 0 ? '' : `, ${drains} wait for outstanding memory operations`}`,
  ];
  const reasons = new Map<string, number>();
  for (const { reason } of rejected) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  for (const [reason, count] of reasons) lines.push(`  ${count} left out: ${reason}`);
  for (const { kernel, vgprs, sgprs, occupancy } of costs) {
    const grown = vgprs[0] !== vgprs[1] || sgprs[0] !== sgprs[1];
    if (grown) {
      lines.push(
        `  ${kernel}: VGPRs ${vgprs.join(' → ')}, SGPRs ${sgprs.join(' → ')}, waves per SIMD ${occupancy.join(' → ')}`,
      );
    }
  }
  return lines;
}

/** What a probe found, with the listing when it is wanted, and how its points were placed. */
export function reportText(
  probe: ProbeDefinition,
  report: Readonly<Record<string, unknown>>,
  result: Instrumented,
  hasListing: boolean,
): string[] {
  const { listing: _, ...rest } = report;
  const listing = hasListing
    ? (listingText(result.program, report) ?? ['This probe says nothing of single instructions.'])
    : [];
  return [...(probe.text?.(report) ?? plainText(rest)), ...listing, ...placementText(result)];
}

/** A report without lines of its own: its numbers and lists. */
export function plainText(report: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(report).flatMap(([name, value]) => {
    if (!Array.isArray(value)) return [`${name}: ${shown(value)}`];
    const rows = value.slice(0, 40).map((row) => `  ${shown(row)}`);
    const more = value.length > rows.length ? [`  … ${value.length - rows.length} more; --json has them`] : [];
    return [`${name}:`, ...rows, ...more];
  });
}

function shown(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value))
    return `[${value.map((one) => (typeof one === 'object' ? `(${shown(one)})` : String(one))).join(', ')}]`;
  return Object.entries(value)
    .map(([key, one]) => `${key} ${key === 'pc' && typeof one === 'number' ? `0x${one.toString(16)}` : shown(one)}`)
    .join(', ');
}

/** The instructions of the program with what the report's `listing` says of each; undefined when it has none. */
function listingOf(
  program: ProbeProgram,
  report: Readonly<Record<string, unknown>>,
): Pick<ProbePageCode, 'columns' | 'kernels'> | undefined {
  const { listing } = report;
  if (!Array.isArray(listing) || listing.length === 0) return undefined;
  const known = new Map(listing.map((row: { pc: number }) => [row.pc, row as Readonly<Record<string, unknown>>]));
  const columns = Object.keys(listing[0] as object).filter(
    (name) => name !== 'pc' && name !== 'text' && name !== 'kernel',
  );
  const kernels = program.kernels.flatMap(({ name, blocks }) => {
    const all = [...blocks].sort((a, b) => a.pc - b.pc).flatMap((block) => block.instructions);
    if (!all.some((one) => known.has(one.pc))) return [];
    const rows = all.map(({ pc, text, source }) => ({
      pc,
      text,
      source: source === undefined ? '' : `${source.file}:${source.line}`,
      cells: columns.map((column) => String(known.get(pc)?.[column] ?? '')),
    }));
    return [{ name, rows }];
  });
  return { columns, kernels };
}

/** The listing as lines of text. */
export function listingText(program: ProbeProgram, report: Readonly<Record<string, unknown>>): string[] | undefined {
  const found = listingOf(program, report);
  if (found === undefined) return undefined;
  const { columns, kernels } = found;
  const rows = kernels.flatMap((kernel) => kernel.rows);
  const widths = columns.map((name, i) =>
    rows.reduce((most, { cells }) => Math.max(most, cells[i]?.length ?? 0), name.length),
  );
  const line = (cells: readonly string[]): string => cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  ');
  return [
    `${line(columns)}  `,
    ...kernels.flatMap((kernel) => [
      `${kernel.name}:`,
      ...kernel.rows.map(({ cells, pc, text }) => `${line(cells)}  ${pc.toString(16).padStart(6)}  ${text}`),
    ]),
  ];
}

/** What a probe found in a code object, for the HTML page. */
export function pageCode(
  title: string,
  probe: ProbeDefinition,
  report: Readonly<Record<string, unknown>>,
  result: Instrumented,
): ProbePageCode {
  const { columns = [], kernels = [] } = listingOf(result.program, report) ?? {};
  return { title, lines: reportText(probe, report, result, false), columns, kernels };
}
