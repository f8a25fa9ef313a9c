// Waits that nothing counted explains. No counter tells how long waves wait at barriers or for code. SQ_WAIT_ANY counts these waits with all
// others, and what memory, scalar loads and LDS take has counters: what is left of SQ_WAIT_ANY was for a barrier or for code.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import type { KernelNumbers } from './bottleneck-numbers.ts';
import type { ClassifierInput, Condition } from './bottleneck-types.ts';
import { metricOf } from './metrics.ts';
import { apart, perWave } from './per-wave.ts';
import { vectorLatency } from './queues.ts';
import { ldsAtIdle } from './units-worth.ts';

/** Cycles of a scalar load that its cache has (MI300X, pointer chase: 68), and of one that it has not: those of a vector load from memory. */
const SCALAR_HIT = 68;
const SCALAR_MISS = 850;
/** More than half of the time: twice as many waves cannot save that, so few waves are not what it is. */
const MOST_OF_IT = 0.5;

/**
 * Share of wave time in waits that are neither for vector memory, nor for scalar loads, nor for LDS, even if those came one after the other: waits for
 * code and at barriers. Unknown where a trace or samples tell what waves wait for, and where what would explain waits was not counted.
 */
export function waitsLeft(input: ClassifierInput): Measure {
  if (input.trace !== undefined || input.sampledStalls !== undefined)
    return unknown('a trace or samples tell of waits');
  const other = apart(input, ['wait.any', 'waves', 'insts.vmem', 'insts.smem', 'insts.lds', 'cycles.per-wave']);
  if (other !== undefined) return unknown(other);
  const metric = (id: string): Measure => metricOf(input.metrics, id);
  const [waits, cycles] = [metric('wait.any'), metric('cycles.per-wave')];
  const [vectors, scalars, lds] = [perWave(input, 'insts.vmem'), perWave(input, 'insts.smem'), ldsAtIdle(input)];
  const latency = isKnown(vectors) && vectors.value === 0 ? known(0) : vectorLatency(input.metrics);
  for (const needed of [waits, cycles, vectors, scalars, lds, latency]) if (!isKnown(needed)) return needed;
  const of = (measure: Measure): number => numberOf(measure) ?? 0;
  const hits = numberOf(metric('dcache.hit')) ?? 0;
  const scalar = SCALAR_MISS + hits * (SCALAR_HIT - SCALAR_MISS);
  const explained = of(vectors) * of(latency) + of(scalars) * scalar;
  return known(Math.max(0, of(waits) - explained / Math.max(1, of(cycles)) - of(lds)));
}

/** Waits at barriers where neither a trace nor samples tell of them: of workgroups of several waves, whose code is there. */
export function barrierLeft(numbers: KernelNumbers): Condition {
  const isAlone = numberOf(numbers.input.wavesPerGroup) === 1;
  return {
    metric: 'share of wave time in waits that no counter explains',
    value: isAlone ? unknown('a workgroup is one wave, which waits at no barrier') : waitsLeft(numbers.input),
    threshold: MOST_OF_IT,
    comparison: 'at least',
    formula:
      'SQ_WAIT_ANY / SQ_WAVE_CYCLES - cycles of vector memory instructions, scalar loads and LDS instructions of a wave / its cycles',
  };
}
