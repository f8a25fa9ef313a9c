// Counters and profile of `wavesmith run` as text.
import type { CountersReport, Profile, ProfileLine } from '../device/sim/tools/index.ts';

/** Counters as lines: what is zero is left out, what is unknown says why. */
export function countersText(report: Partial<CountersReport>): string[] {
  const lines = ['counters (zeros left out):'];
  for (const [name, counter] of Object.entries(report.counters ?? {})) {
    if ('unknown' in counter) lines.push(`  ${name.padEnd(32)} unknown: ${counter.unknown}`);
    else if (counter.value !== 0) lines.push(`  ${name.padEnd(32)} ${String(counter.value).padStart(14)}`);
  }
  const spaces = Object.entries(report.bytes ?? {});
  if (spaces.length > 0) {
    lines.push('bytes asked for (element size × active lanes):');
    lines.push(`  ${'space'.padEnd(10)}${['loaded', 'stored', 'atomic'].map((t) => t.padStart(16)).join('')}`);
    for (const [space, { load, store, atomic }] of spaces) {
      lines.push(`  ${space.padEnd(10)}${[load, store, atomic].map((n) => String(n).padStart(16)).join('')}`);
    }
  }
  if ((report.formattedAccesses ?? 0) > 0) {
    lines.push(`  and ${report.formattedAccesses} typed buffer accesses, whose size is in their descriptors`);
  }
  const lds = report.ldsBankModel;
  if (lds !== undefined && lds.instructions + lds.notModelled > 0) {
    const rate = lds.phases === 0 ? 0 : lds.conflictCycles / lds.phases;
    lines.push(
      `LDS banks (model, docs/virtual-gpu.md): ${lds.instructions} accesses, ${lds.phases} cycles, ${lds.conflictCycles} more for bank conflicts (${rate.toFixed(2)} per cycle)`,
    );
    if (lds.notModelled > 0) lines.push(`  ${lds.notModelled} LDS instructions are outside of the model`);
  }
  return lines;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

function profileLine(line: ProfileLine): string {
  const notes: string[] = [];
  if (line.taken !== undefined) notes.push(`taken ${percent(line.taken)}`);
  if (line.source !== undefined) notes.push(`${line.source.file}:${line.source.line}`);
  const text = [
    String(line.hits).padStart(12),
    percent(line.share).padStart(7),
    (line.utilisation === undefined ? '' : percent(line.utilisation)).padStart(7),
    line.pc.padStart(8),
    ` ${line.text}`,
  ].join(' ');
  return notes.length === 0 ? text : `${text.padEnd(92)} ; ${notes.join(', ')}`;
}

/** Listings that are longer than this also get a summary of their hottest instructions. */
const LONG_LISTING = 30;

/** The profile as an annotated listing with summaries. */
export function profileText(profile: Profile): string[] {
  const lines = [
    `profile: ${profile.instructions} instructions${
      profile.utilisation === undefined
        ? ''
        : `, ${percent(profile.utilisation)} of the lanes active in vector instructions`
    }`,
    `${'executed'.padStart(12)} ${'share'.padStart(7)} ${'lanes'.padStart(7)} ${'address'.padStart(8)}  instruction`,
  ];
  for (const line of profile.lines) {
    if (line.label !== undefined) lines.push(`${line.label}:`);
    lines.push(profileLine(line));
  }
  if (profile.lines.length > LONG_LISTING) lines.push('hottest instructions:', ...profile.hottest.map(profileLine));
  if (profile.sourceLines.length > 0) {
    lines.push('hottest source lines:');
    for (const { file, line, hits, share } of profile.sourceLines) {
      lines.push(`${String(hits).padStart(12)} ${percent(share).padStart(7)}  ${file}:${line}`);
    }
  }
  if (profile.branches.length > 0) {
    lines.push('conditional branches (by wavefront):');
    for (const { pc, text, hits, taken, target } of profile.branches) {
      lines.push(
        `${pc.padStart(12)}  ${text.padEnd(32)} ${taken} of ${hits} taken${target === undefined ? '' : ` to ${target}`}`,
      );
    }
  }
  if (profile.divergence.length > 0) {
    lines.push('divergence (lanes of a wavefront part):');
    for (const { pc, text, hits, split, lanesBefore, lanesAfter } of profile.divergence) {
      lines.push(
        `${pc.padStart(12)}  ${text.padEnd(40)} ${split} of ${hits} split, lanes ${lanesBefore.toFixed(1)} → ${lanesAfter.toFixed(1)}`,
      );
    }
  }
  return lines;
}
