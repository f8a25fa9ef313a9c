// The part of a code object's text that a model sees and edits: the code of one kernel and its descriptor.
import { disassembleCodeObject } from '../../asm/index.ts';
import { STALL_REASONS } from '../../device/sim/timing/machine.ts';
import type { TimedInstruction } from '../../device/sim/timing/report.ts';

/** Between the code and the descriptor. */
const MARK = '\n; ---- the descriptor of the kernel\n';
/** Characters of the listing that a model is shown; around the longest stalls when there are more. */
const SHOWN = 90_000;
/** Lines around a stall that are shown of a long listing. */
const AROUND = 12;

/** A text in pieces: what is edited, and what stays. */
export interface KernelText {
  readonly edited: string;
  /** The whole text with another edited part; undefined when the line between code and descriptor is gone. */
  whole(edited: string): string | undefined;
}

/** Cuts the kernel out of the text of a code object. */
export function kernelText(text: string, kernel: string): KernelText {
  const code = rangeOf(text, `\n${kernel}:\n`, `\n\t.size\t${kernel},`);
  const descriptor = rangeOf(text, `\n\t.amdhsa_kernel ${kernel}\n`, '\n\t.end_amdhsa_kernel');
  if (code === undefined || descriptor === undefined || descriptor[0] < code[1]) {
    return { edited: text, whole: (edited) => edited };
  }
  const [a, b, c, d] = [code[0], code[1], descriptor[0], descriptor[1]];
  return {
    edited: `${text.slice(a, b)}${MARK}${text.slice(c, d)}`,
    whole: (edited) => {
      const parts = edited.split(MARK);
      if (parts.length !== 2) return undefined;
      return `${text.slice(0, a)}${parts[0]}${text.slice(b, c)}${parts[1]}${text.slice(d)}`;
    },
  };
}

function rangeOf(text: string, from: string, to: string): [number, number] | undefined {
  const start = text.indexOf(from);
  const end = start < 0 ? -1 : text.indexOf(to, start);
  return end < 0 ? undefined : [start + 1, end];
}

/** The same with what waves did at each instruction behind it, as `;@ share of the time, reasons`. */
export function annotatedText(code: Uint8Array, kernel: string, instructions: readonly TimedInstruction[]): string {
  const byOffset = new Map(instructions.map((i) => [i.offset, i]));
  const cyclesOf = (i: TimedInstruction): number =>
    STALL_REASONS.reduce((sum, r) => sum + i.stalls[r], i.issue) * i.hits;
  const total = instructions.reduce((sum, i) => sum + cyclesOf(i), 0);
  const { edited } = kernelText(disassembleCodeObject(code, { addresses: true }), kernel);
  const weights: number[] = [];
  const lines = edited.split('\n').map((line, n) => {
    const [, text, address] = /^(.*?)\t\/\/ ([0-9A-F]{12}):/.exec(line) ?? [];
    const found = address === undefined ? undefined : byOffset.get(Number.parseInt(address, 16));
    weights[n] = found === undefined ? 0 : cyclesOf(found);
    if (text === undefined) return line;
    if (found === undefined) return `${text} ;@ not executed`;
    const why = STALL_REASONS.filter((r) => found.stalls[r] >= 0.5).map((r) => `${r} ${found.stalls[r].toFixed(0)}`);
    const share = total === 0 ? 0 : (100 * cyclesOf(found)) / total;
    return `${text} ;@ ${share.toFixed(1)}%${why.length === 0 ? '' : `, ${why.join(', ')}`}`;
  });
  return shortened(lines, weights);
}

/** Lines around the heaviest, as many as may be shown. */
function shortened(lines: readonly string[], weights: readonly number[]): string {
  const whole = lines.join('\n');
  if (whole.length <= SHOWN) return whole;
  const shown = new Set<number>();
  let size = 0;
  for (const n of weights.map((_, n) => n).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b)) {
    for (let i = Math.max(0, n - AROUND); i <= Math.min(lines.length - 1, n + AROUND); i++) {
      if (shown.has(i)) continue;
      shown.add(i);
      size += (lines[i] ?? '').length + 1;
    }
    if (size > SHOWN) break;
  }
  const out: string[] = [];
  let left = 0;
  lines.forEach((line, n) => {
    if (!shown.has(n)) left++;
    else {
      if (left > 0) out.push(`;@ ${left} lines are not shown`);
      left = 0;
      out.push(line);
    }
  });
  if (left > 0) out.push(`;@ ${left} lines are not shown`);
  return out.join('\n');
}
