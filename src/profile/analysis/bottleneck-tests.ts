// The rules of the classifier: which number speaks for a class from where on, what must be seen besides, and what refutes it. One file for each
// family of classes. Thresholds: docs/profile.md, "Bottleneck classes".
import { conditionsOf } from './bottleneck-conditions.ts';
import { frontTests } from './bottleneck-front.ts';
import { memoryTests } from './bottleneck-memory.ts';
import { KernelNumbers } from './bottleneck-numbers.ts';
import { traceTests } from './bottleneck-traces.ts';
import type { ClassifierInput, ClassTest } from './bottleneck-types.ts';
import { unitTests } from './bottleneck-units.ts';
import { waveTests } from './bottleneck-waves.ts';

/** All tests on the numbers of a kernel. */
export function classTests(input: ClassifierInput): ClassTest[] {
  const numbers = new KernelNumbers(input);
  const conditions = conditionsOf(numbers);
  const { valuBusy, mfmaBusy } = conditions;
  return [
    ...memoryTests(numbers, conditions),
    ...waveTests(numbers, conditions),
    ...unitTests(numbers, conditions),
    ...frontTests(numbers, conditions),
    ...traceTests(input, {
      ...conditions,
      unitsBusy: [valuBusy, mfmaBusy],
      noMisses: numbers.when('instruction cache misses per request', 'icache.miss', 0.001, 'at most'),
      fewWaves: conditions.causes,
    }),
  ];
}
