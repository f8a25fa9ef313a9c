// The verdict about a module from those about its dispatches: right when all are, and as fast as their times together.
import {
  type Evaluation,
  type EvaluationKey,
  LEAST_SPEEDUP,
  RUNGS,
  SMALL_SPEEDUP,
  type TimeComparison,
} from '../evaluate/types.ts';

/** A dispatch that climbed the ladder, and how often the module makes it. */
export interface DispatchClimb {
  readonly evaluation: Evaluation;
  readonly count: number;
}

/** The most that was shown first. */
const REACHED = ['proved', 'bit', 'atomics', 'bounded'] as const;

/** `unchanged`: microseconds of the dispatches that are as they were. `climbed` is not empty; only its last may be rejected. */
export function moduleEvaluation(
  name: string,
  climbed: readonly DispatchClimb[],
  unchanged: number,
  key: Omit<EvaluationKey, 'options'>,
): Evaluation {
  const evaluations = climbed.map((c) => c.evaluation);
  const last = evaluations.at(-1);
  if (last === undefined) throw new Error('no dispatch climbed');
  const isRejected = last.verdict === 'rejected';
  const time = isRejected ? undefined : timeOf(climbed, unchanged);
  const isFaster = time !== undefined && isEnough(time) && (time.heldOut === undefined || isEnough(time.heldOut));
  const rungs = RUNGS.flatMap((rung) => {
    const records = evaluations.flatMap((e) =>
      e.rungs.filter((r) => r.rung === rung).map((r) => ({ ...r, kernel: e.kernel })),
    );
    const evidence = records.flatMap((r) => r.evidence.map((text) => `${r.kernel}: ${text}`));
    const outcome = records.some((r) => r.outcome === 'rejected') ? ('rejected' as const) : ('passed' as const);
    return records.length === 0 ? [] : [{ rung, outcome, evidence }];
  });
  const shown = evaluations.map((e) => (e.reached === undefined ? 0 : REACHED.indexOf(e.reached)));
  return {
    verdict: isRejected ? 'rejected' : isFaster ? 'accepted' : 'not-faster',
    rung: last.rung,
    kernel: name,
    target: last.target,
    asked: last.asked,
    reached: isRejected ? undefined : REACHED[Math.max(...shown)],
    rungs,
    time,
    inputs: {
      run: evaluations.reduce((sum, e) => sum + e.inputs.run, 0),
      dropped: evaluations.flatMap((e) => e.inputs.dropped.map((text) => `${e.kernel}: ${text}`)),
    },
    key: { ...key, options: last.key.options },
  };
}

const isEnough = ({ interval }: Pick<TimeComparison, 'interval'>): boolean => interval[0] >= LEAST_SPEEDUP;

/** Times together. A candidate's interval is what its dispatches' intervals leave open at worst. */
function timeOf(climbed: readonly DispatchClimb[], unchanged: number): TimeComparison {
  const parts = climbed.map(({ evaluation: { time }, count }) => {
    if (time === undefined) throw new Error('a dispatch that is right has no time');
    return { time, count };
  });
  const total = (of: (time: TimeComparison) => number): number =>
    parts.reduce((sum, { time, count }) => sum + of(time) * count, unchanged);
  const baseline = total((t) => t.baseline);
  const ratios = (of: (time: TimeComparison) => Pick<TimeComparison, 'speedup' | 'interval'>) => {
    const by = (ratio: (s: Pick<TimeComparison, 'speedup' | 'interval'>) => number): number =>
      baseline / total((t) => t.baseline / ratio(of(t)));
    return {
      speedup: by((s) => s.speedup),
      interval: [by((s) => s.interval[0]), by((s) => s.interval[1])] as const,
    };
  };
  const own = ratios((t) => t);
  const heldOut = parts.some(({ time }) => time.heldOut !== undefined) ? ratios((t) => t.heldOut ?? t) : undefined;
  const first = parts[0] as (typeof parts)[0];
  return {
    clock: 'modelled',
    chip: first.time.chip,
    baseline,
    candidate: total((t) => t.candidate),
    ...own,
    heldOut,
    isSmall: Math.min(own.speedup, heldOut?.speedup ?? own.speedup) < SMALL_SPEEDUP,
  };
}
