// Time in which a wave has no instruction while vector memory that it waits for later is on its way. Code that came at once would not save that
// time: the wave would wait for memory instead.
import { known, type Measure, unknown } from '../measure.ts';
import type { ThreadTrace, TraceWave } from '../records.ts';
import { classOf } from './instruction-class.ts';

/** A wait of more cycles than that has waited: one that does not is over in 4 to 8. */
const WAITED = 8;

/** What a line of the code is for this: whether it goes to vector memory, and how many of those instructions a wait leaves outstanding. */
interface LineKind {
  readonly isVector: boolean;
  readonly left: number | undefined;
}

/** The gaps' share of the time of the traced waves; unknown where no wave's instructions are kept one by one. */
export function gapsInFlight({ lines, waves }: ThreadTrace): Measure {
  const kinds = lines.map(({ text }): LineKind => {
    const name = classOf(text);
    const left = name === 'wait' ? /vmcnt\((\d+)\)/.exec(text)?.[1] : undefined;
    return { isVector: name === 'VMEM' || name === 'FLAT', left: left === undefined ? undefined : Number(left) };
  });
  let [gaps, time] = [0, 0];
  for (const wave of waves) {
    if (wave.instructions.length === 0) continue;
    time += wave.end - wave.begin;
    gaps += gapsOf(wave, kinds);
  }
  return time > 0 ? known(gaps / time) : unknown('no traced wave has its instructions one by one');
}

/**
 * Cycles of gaps of a wave: those since the instruction was issued that a wait of some length waited for. That one was on its way all the time, because
 * it still was when the wait began.
 */
function gapsOf({ begin, instructions }: TraceWave, kinds: readonly LineKind[]): number {
  /** All gaps so far, at the issue of each vector memory instruction. */
  const atIssue: number[] = [];
  let [end, all, counted, found] = [begin, 0, 0, 0];
  for (const { time, duration, line } of instructions) {
    all += Math.max(0, time - end);
    end = time + duration;
    const kind = kinds[line];
    if (kind?.isVector === true) atIssue.push(all);
    if (kind?.left === undefined || duration <= WAITED) continue;
    const from = atIssue[atIssue.length - 1 - kind.left];
    if (from === undefined) continue;
    found += all - Math.max(counted, from);
    counted = all;
  }
  return found;
}
