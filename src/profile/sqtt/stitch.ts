// Walks the code along a wave's tokens, so that every token gets its instruction. A taken branch (JUMP) goes to its target,
// an INST_PC token gives the address after an indirect jump. Source: rocprof-trace-decoder source/stitch/stitch.cpp.
import type { CodeLine, LineCategory, LoadedCode } from './code.ts';
import { Category, type SqttWave } from './waves.ts';

export interface StitchResult {
  /** Per instruction of the wave the code line, undefined for the ones not matched. */
  readonly lines: (CodeLine | undefined)[];
  readonly matched: number;
  /** Instructions that should be matched: all but replays. */
  readonly total: number;
  /** Code lines passed over because the hardware emits no token for them. */
  readonly skipped: number;
  /** Why matching ended early. */
  readonly stopped: string | undefined;
  /** Whether the last matched instruction ends the program. */
  readonly ended: boolean;
}

/** Lines that may pass without a token before matching gives up. */
const MAX_SKIPS = 8;

function fits(token: number, line: LineCategory): boolean {
  switch (line) {
    case 'VALU':
      return token === Category.VALU;
    case 'SALU':
      return token === Category.SALU;
    case 'SMEM':
      return token === Category.SMEM;
    case 'LDS':
      return token === Category.LDS;
    case 'FLAT':
    case 'VMEM':
      return token === Category.FLAT || token === Category.VMEM;
    case 'branch':
      return token === Category.JUMP || token === Category.NEXT;
    case 'jump':
      return token === Category.PC || token === Category.SALU;
    case 'immediate':
      return token === Category.IMMED || token === Category.MSG || token === Category.SALU;
    case 'end':
      return token === Category.MSG || token === Category.IMMED;
    case 'barrier':
      return token === Category.MSG || token === Category.IMMED;
  }
}

/** Matches a wave's instructions with the code loaded at `base`. */
export function stitchWave(wave: SqttWave, code: LoadedCode, base: number): StitchResult {
  const n = wave.time.length;
  const lines: (CodeLine | undefined)[] = new Array(n).fill(undefined);
  const at = (address: number | undefined) => (address === undefined ? undefined : code.line(address - base));
  const [start] = wave.addresses;
  let next = start?.index === 0 ? 1 : 0;
  let line = start?.index === 0 ? at(start.address) : undefined;
  let matched = 0;
  let total = 0;
  let skipped = 0;
  let skips = 0;
  let stopped: string | undefined;
  let ended = false;
  let swapped = -1;
  if (start?.index !== 0) stopped = 'the trace does not tell where the wave started';
  else if (line === undefined) stopped = `there is no code at 0x${((start.address ?? 0) - base).toString(16)}`;
  for (let i = 0; i < n; ) {
    const token = wave.category[i];
    if (token === Category.REPLAY || i === swapped) {
      i++;
      continue;
    }
    // An INST_PC token says where an indirect jump went.
    while (next < wave.addresses.length && wave.addresses[next].index <= i) {
      const { index, address } = wave.addresses[next++];
      if (index !== i) continue;
      line = at(address);
      if (address === undefined) stopped = 'an indirect jump has no address in the trace';
    }
    if (line === undefined || token === Category.PENDING) {
      stopped ??= line === undefined ? 'the code ends before the wave' : 'the trace ends in this instruction';
      break;
    }
    if (fits(token, line.category)) {
      lines[i] = line;
      matched++;
      skips = 0;
      i++;
      // A barrier reports its entry as a message and its exit as an immediate one.
      if (line.category === 'barrier' && token === Category.MSG && wave.category[i] === Category.IMMED) {
        lines[i] = line;
        matched++;
        i++;
      }
      ended = line.category === 'end';
      line =
        token === Category.JUMP ? (line.target === undefined ? undefined : code.line(line.target)) : code.after(line);
      continue;
    }
    // Two neighbours of different kinds may have issued in the other order.
    const after = code.after(line);
    if (
      i + 1 < n &&
      after !== undefined &&
      line.category !== 'branch' &&
      fits(wave.category[i + 1], line.category) &&
      fits(token, after.category)
    ) {
      lines[i] = after;
      lines[i + 1] = line;
      matched += 2;
      skips = 0;
      swapped = i + 1;
      line = code.after(after);
      i++;
      continue;
    }
    if (line.category === 'immediate' && skips < MAX_SKIPS) {
      skips++;
      skipped++;
      line = after;
      continue;
    }
    stopped = `token ${i} does not fit the instruction at 0x${line.address.toString(16)} (${line.text})`;
    break;
  }
  for (let i = 0; i < n; i++) if (wave.category[i] !== Category.REPLAY) total++;
  return { lines, matched, total, skipped, stopped: matched === total ? undefined : stopped, ended };
}
