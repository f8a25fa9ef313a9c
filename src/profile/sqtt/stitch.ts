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
  const jumps = new Map(
    wave.addresses.filter((a) => a.address !== undefined).map((a) => [a.index, (a.address ?? 0) - base]),
  );
  const open = new Set(wave.addresses.filter((a) => a.address === undefined).map((a) => a.index));
  let pc = jumps.get(0);
  let matched = 0;
  let total = 0;
  let skipped = 0;
  let skips = 0;
  let stopped: string | undefined = pc === undefined ? 'the trace does not tell where the wave started' : undefined;
  let ended = false;
  let swapped = -1;
  for (let i = 0; i < n; ) {
    if (wave.category[i] === Category.REPLAY || i === swapped) {
      if (i === swapped) swapped = -1;
      i++;
      continue;
    }
    if (i > 0 && jumps.has(i) && skips === 0) pc = jumps.get(i);
    else if (open.has(i)) {
      stopped = 'an indirect jump has no address in the trace';
      pc = undefined;
    }
    const line = pc === undefined ? undefined : code.line(pc);
    if (line === undefined || wave.category[i] === Category.PENDING) {
      stopped ??=
        line === undefined ? `there is no code at 0x${(pc ?? 0).toString(16)}` : 'the trace ends in this instruction';
      break;
    }
    const token = wave.category[i];
    if (fits(token, line.category)) {
      lines[i] = line;
      matched++;
      skips = 0;
      pc = token === Category.JUMP ? line.target : line.address + line.size;
      ended = line.category === 'end';
      i++;
      // A barrier reports its entry as a message and its exit as an immediate one.
      if (line.category === 'barrier' && token === Category.MSG && wave.category[i] === Category.IMMED) {
        lines[i] = line;
        matched++;
        i++;
      }
      continue;
    }
    // Two neighbours of different kinds may have issued in the other order.
    const after = code.line(line.address + line.size);
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
      pc = after.address + after.size;
      i++;
      continue;
    }
    if (line.category === 'immediate' && skips < MAX_SKIPS) {
      skips++;
      skipped++;
      pc = line.address + line.size;
      continue;
    }
    stopped = `token ${i} does not fit the instruction at 0x${line.address.toString(16)} (${line.text})`;
    break;
  }
  for (let i = 0; i < n; i++) if (wave.category[i] !== Category.REPLAY) total++;
  return { lines, matched, total, skipped, stopped: matched === total ? undefined : stopped, ended };
}
