// Changes the flags of first dispatches, then those of short commands, forth and back, while V8's other thread compiles functions that it inlines.
import { compileSimCode, optimizeLess, withOwnFlags } from '../../src/device/node/v8-flags.ts';

const end = Date.now() + Number(process.argv[2]);
const half = end - Number(process.argv[2]) / 2;
let sum = 0;
for (let n = 0; Date.now() < end; n++) {
  const body = Array.from({ length: 12 }, (_, i) => `x = (x * ${i + 3} + ${n}) | 0;`).join('');
  const leaves = Array.from({ length: 10 }, (_, i) => `function f${i}(x) { ${body} return x + ${i}; }`).join('\n');
  const calls = Array.from({ length: 10 }, (_, i) => `s += f${i}(k);`).join('');
  const hot = new Function(
    `${leaves}; return (m) => { let s = 0; for (let k = 0; k < m; k++) { ${calls} } return s; };`,
  )() as (turns: number) => number;
  withOwnFlags(() => {
    for (const turns of [300, 3000, 3000, 6000]) sum += hot(turns);
  });
  if (Date.now() > half) optimizeLess();
  sum += compileSimCode(() => hot(3000));
}
console.log(Number.isFinite(sum) ? 'ok' : 'not a number');
