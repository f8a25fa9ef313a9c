// What a thread trace says against itself: a damaged file must not give numbers without a word.
import type { ProfileRuleId } from '../../finding/index.ts';
import { PACKET_BYTES } from './rhythm.ts';
import type { SqttResult } from './trace.ts';

/** A contradiction: the code of its finding, and what was seen. */
export interface Contradiction {
  readonly code: ProfileRuleId;
  readonly message: string;
}

/** Everything in a decoded trace that a whole and undamaged one does not have. */
export function contradictions(result: SqttResult): Contradiction[] {
  const found: Contradiction[] = [];
  const { tokens, counts } = result;
  const tell = (code: ProfileRuleId, isTold: boolean, message: string) => {
    if (isTold) found.push({ code, message });
  };
  const { trailingBytes, rhythm } = tokens;
  tell('sqtt/truncated', trailingBytes > 0, `The last ${trailingBytes} bytes are not a whole token.`);
  tell(
    'sqtt/truncated',
    trailingBytes === 0 && rhythm.rest > 0,
    `The trace is written in packets of ${PACKET_BYTES} bytes, and the last one has ${rhythm.rest}: the end is missing.`,
  );
  tell(
    'sqtt/no-wave',
    counts.starts === 0,
    'No wave starts in the trace: nothing ran on this shader engine, or the trace ends before the first wave.',
  );
  tell('sqtt/time', tokens.backwards > 0, `Time runs backwards at ${tokens.backwards} tokens.`);
  tell('sqtt/lost', counts.packetsLost > 0, `Packets were lost ${counts.packetsLost} times; waves are incomplete.`);
  tell('sqtt/stray', counts.strayTokens > 0, `${counts.strayTokens} tokens belong to no live wave.`);
  tell(
    'sqtt/target-cu',
    result.targetCu !== result.header.targetCu,
    `The header names CU ${result.header.targetCu}, but the instructions belong to CU ${result.targetCu}.`,
  );
  for (const [count, what] of [
    [tokens.unpairedTimes, 'time resets and time stamps have no counterpart'],
    [rhythm.pauses, 'pauses stand in the middle of a packet, or do not fill the counter of a time reset'],
    [rhythm.steps, 'steps of the clock have more or fewer tokens than cycles, so times may be off by some cycles'],
    [counts.endsWithoutStart, 'waves end that did not start'],
    [counts.startsInUse, 'waves start in a slot that is in use'],
    [counts.unended, 'waves start that do not end'],
    [counts.unpairedInstructions, 'instructions were issued and not executed, or the other way round'],
    [
      counts.unknownInstructions,
      'instructions are of a type that gfx9 does not have, or repeat an access that was not there',
    ],
    [counts.emptyIssues, 'issue tokens report nothing'],
    [
      result.changedKinds,
      'executions of a memory instruction are of another kind than the others of the same instruction',
    ],
  ] as const) {
    tell('sqtt/inconsistent', count > 0, `The trace contradicts itself: ${count} ${what}.`);
  }
  const { matched, total } = result.stitched;
  tell(
    'sqtt/wrong-code',
    !result.fits,
    `${matched} of ${total} tokens fit the given code, so it is not the traced one; sums by instruction are left out.`,
  );
  for (const [reason, waves] of result.problems) tell('sqtt/unmatched', true, `${waves} waves: ${reason}.`);
  return found;
}
