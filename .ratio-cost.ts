// .ratio-cost.ts FILE rounds target [kernels] (LEVEL=0, PROF=kernel): cost of strict mode of kernels (out, in[, b], rounds, n): medians of interleaved rounds.
import { compileExample } from './tests/support/build.ts';
import { createDevice } from './src/device/index.ts';
import { readFileSync } from 'node:fs';
const [file, rounds, target, ...only] = process.argv.slice(2);
const level = Number(process.env.LEVEL ?? 2);
const object = compileExample(file, target as any, level);
const text = readFileSync(file, 'utf8');
const kernels = [...text.matchAll(/KERNEL void (\w+)\(([^)]*)\)/g)].map((m) => ({ name: m[1], params: m[2].split(',').map((p) => p.trim()) }));
const median = (a: number[]) => [...a].sort((x, y) => x - y)[a.length >> 1];
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
for (const { name, params } of kernels) {
  if (only.length && !only.includes(name)) continue;
  const groups = Number(process.env.GROUPS_ ?? 16);
  const n = 4096;
  const open = async () => {
    const device = await createDevice('sim', { target: target as any });
    const args = params.map((p) => {
      if (p.includes('*')) { const b = device.alloc(4 * groups * 256 * 16); device.write(b, new Uint8Array(Uint32Array.from({ length: groups * 256 * 16 }, (_, i) => (i * 2654435761) >>> 8).buffer)); return b; }
      if (/rounds/.test(p)) return new Uint8Array(Uint32Array.of(Number(rounds)).buffer);
      return new Uint8Array(Uint32Array.of(n).buffer);
    });
    const kernel = device.load(object).kernel(name);
    return (mode: any) => device.dispatch({ kernel, grid: [groups, 1, 1], block: [256, 1, 1], args: args as any, workers: 1, ...mode });
  };
  const modes = process.env.PROF ? [{ engine: 'compiled', strict: {} }] : [{ engine: 'compiled' }, { engine: 'compiled', strict: {} }];
  const sides = await Promise.all(modes.map(async (mode) => ({ mode, run: await open() })));
  const times: number[][] = sides.map(() => []);
  const counts: number[] = [];
  for (const { mode, run } of sides) {
    const t = cpu(); let k = 0;
    while (cpu() - t < (process.env.PROF ? 4000 : 600)) { const r: any = await run(mode); if (k++ === 0 && r.findings?.length) console.log(name, r.findings[0].rule, r.findings[0].message); }
    counts.push(Math.max(1, Math.round((60 * k) / (cpu() - t))));
    if (process.env.PROF) console.log(k, 'dispatches');
  }
  if (process.env.PROF) continue;
  for (let round = 0; round < 9; round++) for (const [i, { mode, run }] of sides.entries()) {
    const t = cpu(); for (let k = 0; k < counts[i]; k++) await run(mode); times[i].push((cpu() - t) / counts[i]);
  }
  const ratios = times[0].map((t, i) => times[1][i] / t);
  console.log(name.padEnd(20), median(times[0]).toFixed(2), median(times[1]).toFixed(2), median(ratios).toFixed(2));
}
process.exit(0);
