// Sixty kernels with a known limiter (tests/limiters) run under counters and clock; what the classifier takes for their limiter. Prints one line
// a kernel and the confusion matrix. `--held-out` takes twenty others, which no rule was made with;
// `--compiled` twenty-four that clang compiles, `--unseen` twenty-three, `--later` fifteen, `--wide` forty, `--library` thirty-three,
// `--mixed` twenty, `--routine` twenty-three, `--fields` twenty-one, `--crafts` twenty-six, `--suites` forty-six, `--everyday` forty-eight, `--public` twenty-seven, `--classics` thirty-six, `--lessons` twenty-five, `--domains` twenty-eight, `--trades` thirty-six and
// `--staples` thirty-three more.
// `equal` is a class that is worth as much as the limiter; a kernel that nothing limits is `balanced` and is not counted.
// `--what-if` prints instead what each kernel gains where one resource of the chip costs half. Nothing is timed: the numbers are modelled.
import { parseArgs } from 'node:util';
import { AssemblyError } from '../src/asm/index.ts';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { BOTTLENECKS } from '../src/profile/index.ts';
import { CLASSIC_KERNELS } from '../tests/limiters/classics.ts';
import { classesOf, limiterOn } from '../tests/limiters/classify.ts';
import { COMPILED_KERNELS, compiledObject } from '../tests/limiters/compiled.ts';
import { CRAFT_KERNELS } from '../tests/limiters/crafts.ts';
import { DOMAIN_KERNELS } from '../tests/limiters/domains.ts';
import { EVERYDAY_KERNELS } from '../tests/limiters/everyday.ts';
import { FIELD_KERNELS } from '../tests/limiters/fields.ts';
import { HELD_OUT_KERNELS } from '../tests/limiters/held-out.ts';
import { LIMITED_KERNELS } from '../tests/limiters/kernels.ts';
import { LATER_KERNELS } from '../tests/limiters/later.ts';
import { LESSON_KERNELS } from '../tests/limiters/lessons.ts';
import { LIBRARY_KERNELS } from '../tests/limiters/library.ts';
import { MIXED_KERNELS } from '../tests/limiters/mixed.ts';
import { PUBLIC_KERNELS } from '../tests/limiters/public.ts';
import { ROUTINE_KERNELS } from '../tests/limiters/routine.ts';
import { STAPLE_KERNELS } from '../tests/limiters/staples.ts';
import { SUITE_KERNELS } from '../tests/limiters/suites.ts';
import { TRADE_KERNELS } from '../tests/limiters/trades.ts';
import { UNSEEN_KERNELS } from '../tests/limiters/unseen.ts';
import { equalsOf, isBalanced, limiterOf, whatIf } from '../tests/limiters/what-if.ts';
import { WIDE_KERNELS } from '../tests/limiters/wide.ts';

const { values } = parseArgs({
  options: {
    chip: { type: 'string', default: 'mi300x' },
    only: { type: 'string' },
    'held-out': { type: 'boolean', default: false },
    compiled: { type: 'boolean', default: false },
    unseen: { type: 'boolean', default: false },
    later: { type: 'boolean', default: false },
    wide: { type: 'boolean', default: false },
    library: { type: 'boolean', default: false },
    mixed: { type: 'boolean', default: false },
    routine: { type: 'boolean', default: false },
    fields: { type: 'boolean', default: false },
    crafts: { type: 'boolean', default: false },
    suites: { type: 'boolean', default: false },
    everyday: { type: 'boolean', default: false },
    public: { type: 'boolean', default: false },
    classics: { type: 'boolean', default: false },
    lessons: { type: 'boolean', default: false },
    domains: { type: 'boolean', default: false },
    trades: { type: 'boolean', default: false },
    staples: { type: 'boolean', default: false },
    'what-if': { type: 'boolean', default: false },
  },
});
const counts = new Map<string, number>();
let first = 0;
let equal = 0;
let second = 0;
let sure = 0;
let balanced = 0;
const compiled = {
  'compiled.c': values.compiled && COMPILED_KERNELS,
  'unseen.c': values.unseen && UNSEEN_KERNELS,
  'later.c': values.later && LATER_KERNELS,
  'wide.c': values.wide && WIDE_KERNELS,
  'library.c': values.library && LIBRARY_KERNELS,
  'mixed.c': values.mixed && MIXED_KERNELS,
  'routine.c': values.routine && ROUTINE_KERNELS,
  'fields.c': values.fields && FIELD_KERNELS,
  'crafts.c': values.crafts && CRAFT_KERNELS,
  'suites.c': values.suites && SUITE_KERNELS,
  'everyday.c': values.everyday && EVERYDAY_KERNELS,
  'public.c': values.public && PUBLIC_KERNELS,
  'classics.c': values.classics && CLASSIC_KERNELS,
  'lessons.c': values.lessons && LESSON_KERNELS,
  'domains.c': values.domains && DOMAIN_KERNELS,
  'trades.c': values.trades && TRADE_KERNELS,
  'staples.c': values.staples && STAPLE_KERNELS,
};
const [source, chosen] = Object.entries(compiled).find(([, list]) => list !== false) ?? [undefined, false];
const all = chosen === false ? (values['held-out'] ? HELD_OUT_KERNELS : LIMITED_KERNELS) : chosen;
const object = source === undefined ? undefined : compiledObject(source, chipNamed(values.chip).target);
if (source !== undefined && object === undefined) throw new Error('clang-22 is not installed');
const kernels = all.filter(
  (k) => values.only === undefined || values.only.split(',').some((part) => k.name.includes(part)),
);
let absent = 0;
for (const kernel of kernels) {
  if (values['what-if']) {
    const gains = await whatIf(kernel, values.chip, object);
    const sorted = Object.entries(gains.of).sort((a, b) => b[1] - a[1]);
    const text = sorted
      .flatMap(([name, gain]) => (gain < 0.01 ? [] : `${name} ${(100 * gain).toFixed(1)}%`))
      .join(', ');
    const [limiter, found] = [limiterOn(kernel, values.chip), limiterOf(gains)];
    const mark = limiter === found ? 'agrees ' : 'differs';
    const others = isBalanced(gains)
      ? ' (nothing stands out)'
      : equalsOf(gains)
          .map((name) => ` = ${name}`)
          .join('');
    console.log(`${mark} ${kernel.name.padEnd(20)} ${limiter.padEnd(18)} ${text}${others}`);
    continue;
  }
  const limiter = limiterOn(kernel, values.chip);
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
  const text = classes.map((c) => `${c.class} ${c.confidence.toFixed(2)}`).join(', ');
  const limits = [limiter, ...(('equals' in kernel ? kernel.equals?.[values.chip] : undefined) ?? [])];
  const isLimit = (name: string | undefined): boolean => limits.some((one) => one === name);
  if ('balanced' in kernel && kernel.balanced?.includes(values.chip) === true) {
    console.log(`balanced ${kernel.name.padEnd(18)} ${limiter.padEnd(18)} ${text || 'no class'}`);
    balanced++;
    continue;
  }
  counts.set(`${limiter} ${found}`, (counts.get(`${limiter} ${found}`) ?? 0) + 1);
  if (found === limiter) first++;
  else if (isLimit(found)) equal++;
  else if (isLimit(names[1])) second++;
  if (!isLimit(found) && (classes[0]?.confidence ?? 0) >= 0.75) sure++;
  const mark = found === limiter ? 'right ' : isLimit(found) ? 'equal ' : isLimit(names[1]) ? 'second' : 'wrong ';
  console.log(`${mark} ${kernel.name.padEnd(20)} ${limiter.padEnd(18)} ${text || 'no class'}`);
}
if (values['what-if']) process.exit();
const judged = kernels.length - absent - balanced;
console.log(
  `\n${values.chip}: ${first} of ${judged} right first, ${equal} more as good, ${second} more second; wrong and sure: ${sure}\n`,
);
const columns = [...BOTTLENECKS, 'none'].filter((name) =>
  kernels.some((k) => counts.has(`${limiterOn(k, values.chip)} ${name}`)),
);
console.log(`${'written as'.padEnd(18)} ${columns.map((c) => c.slice(0, 10).padStart(10)).join(' ')}`);
for (const name of new Set(kernels.map((k) => limiterOn(k, values.chip)))) {
  const cells = columns.map((c) => String(counts.get(`${name} ${c}`) ?? '').padStart(10));
  console.log(`${name.padEnd(18)} ${cells.join(' ')}`);
}
