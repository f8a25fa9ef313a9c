// Sixty kernels with a known limiter (tests/limiters) run under counters and clock; what the classifier takes for their limiter. Prints one line
// a kernel and the confusion matrix. `--held-out` takes twenty others, which no rule was made with;
// `--compiled` twenty-four that clang compiles, `--unseen` twenty-three more. Nothing is timed: the numbers are modelled.
import { parseArgs } from 'node:util';
import { AssemblyError } from '../src/asm/index.ts';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { BOTTLENECKS } from '../src/profile/index.ts';
import { classesOf } from '../tests/limiters/classify.ts';
import { COMPILED_KERNELS, compiledObject } from '../tests/limiters/compiled.ts';
import { HELD_OUT_KERNELS } from '../tests/limiters/held-out.ts';
import { LIMITED_KERNELS } from '../tests/limiters/kernels.ts';
import { UNSEEN_KERNELS } from '../tests/limiters/unseen.ts';

const { values } = parseArgs({
  options: {
    chip: { type: 'string', default: 'mi300x' },
    only: { type: 'string' },
    'held-out': { type: 'boolean', default: false },
    compiled: { type: 'boolean', default: false },
    unseen: { type: 'boolean', default: false },
  },
});
const counts = new Map<string, number>();
let first = 0;
let second = 0;
const source = values.compiled ? 'compiled.c' : values.unseen ? 'unseen.c' : undefined;
const assembled = values['held-out'] ? HELD_OUT_KERNELS : LIMITED_KERNELS;
const all = values.compiled ? COMPILED_KERNELS : values.unseen ? UNSEEN_KERNELS : assembled;
const object = source === undefined ? undefined : compiledObject(source, chipNamed(values.chip).target);
if (source !== undefined && object === undefined) throw new Error('clang-22 is not installed');
const kernels = all.filter(
  (k) => values.only === undefined || values.only.split(',').some((part) => k.name.includes(part)),
);
let absent = 0;
for (const kernel of kernels) {
  const classes = await classesOf(kernel, values.chip, object).catch((error: unknown) => {
    if (!(error instanceof AssemblyError)) throw error;
    return undefined;
  });
  if (classes === undefined) {
    console.log(`absent ${kernel.name.padEnd(20)} ${values.chip} lacks an instruction of it`);
    absent++;
    continue;
  }
  const names = classes.map((c) => c.class);
  const found = names[0] ?? 'none';
  counts.set(`${kernel.limiter} ${found}`, (counts.get(`${kernel.limiter} ${found}`) ?? 0) + 1);
  if (found === kernel.limiter) first++;
  else if (names[1] === kernel.limiter) second++;
  const mark = found === kernel.limiter ? 'right ' : names[1] === kernel.limiter ? 'second' : 'wrong ';
  const text = classes.map((c) => `${c.class} ${c.confidence.toFixed(2)}`).join(', ');
  console.log(`${mark} ${kernel.name.padEnd(20)} ${kernel.limiter.padEnd(18)} ${text || 'no class'}`);
}
console.log(`\n${values.chip}: ${first} of ${kernels.length - absent} right first, ${second} more second\n`);
const columns = [...BOTTLENECKS, 'none'].filter((name) => kernels.some((k) => counts.has(`${k.limiter} ${name}`)));
console.log(`${'written as'.padEnd(18)} ${columns.map((c) => c.slice(0, 10).padStart(10)).join(' ')}`);
for (const name of new Set(kernels.map((k) => k.limiter))) {
  const cells = columns.map((c) => String(counts.get(`${name} ${c}`) ?? '').padStart(10));
  console.log(`${name.padEnd(18)} ${cells.join(' ')}`);
}
