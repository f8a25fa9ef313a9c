// The numbers of a kernel as the rules of the classifier read them: a metric with its formula and source, a share of a roof, a condition.
import { type Measure, unknown } from '../measure.ts';
import { MODEL } from './bottleneck-traces.ts';
import type { ClassifierInput, ClassTest, Condition } from './bottleneck-types.ts';
import type { MetricSum } from './metrics.ts';
import type { RooflinePoint } from './roofline.ts';

/** What a kernel's numbers are called by. */
export class KernelNumbers {
  readonly input: ClassifierInput;
  private readonly metrics = new Map<string, MetricSum>();

  constructor(input: ClassifierInput) {
    this.input = input;
    for (const sum of input.metrics) if (!this.metrics.has(sum.metric.id)) this.metrics.set(sum.metric.id, sum);
  }

  private find(id: string): MetricSum | undefined {
    return this.metrics.get(id);
  }

  /** The value of a metric; unknown where the architecture has no formula for it or its counters are missing. */
  metric(id: string): Measure {
    return this.find(id)?.value ?? unknown(`there is no formula for ${id} on this architecture`);
  }

  /** The counters that a metric is made of. */
  formula(id: string): string {
    const found = this.find(id)?.metric;
    if (found === undefined) return id;
    return found.over === undefined ? found.formula : `(${found.formula}) / (${found.over})`;
  }

  source(id: string): string {
    return this.find(id)?.metric.source ?? MODEL;
  }

  /** A metric as the evidence of a test. */
  evidence(id: string): Pick<ClassTest, 'value' | 'formula' | 'source'> {
    return { value: this.metric(id), formula: this.formula(id), source: this.source(id) };
  }

  point(level: string): RooflinePoint | undefined {
    return this.input.roofline.points.find((point) => point.level === level);
  }

  /** Bytes of a level over what its roof allows in the kernel's time. */
  level(name: string): Measure {
    return this.point(name)?.ofPeak ?? unknown('no such level');
  }

  /** A metric at a threshold. */
  when(name: string, id: string, threshold: number, comparison: Condition['comparison'] = 'at least'): Condition {
    return { metric: name, value: this.metric(id), comparison, threshold, formula: this.formula(id) };
  }

  /** A level of memory that gives as much as `threshold` of its peak. */
  bandwidth(name: 'HBM' | 'L2', threshold: number): Condition {
    return {
      metric: `share of the ${name} bandwidth`,
      value: this.level(name),
      comparison: 'at least',
      threshold,
      formula: `bytes of ${name} / time / ${name} peak`,
    };
  }
}
