// What probes cost: the time to put one into the largest kernel of the corpus, anew and from the cache; executed instructions with a probe
// against without, on kernels that the virtual GPU runs; registers, scratch and waves per SIMD before and after. `npm run bench probe`,
// `-- --quick` for compiled kernels only. Timed are whole processes of the command anew, and the call alone when the cache has the result.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import { DiskModuleCache } from '../src/device/node/module-cache.ts';
import { optimizeLess } from '../src/device/node/v8-flags.ts';
import { instrument, type ProbeDefinition, TOOLS } from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/types.ts';
import { AITER_KERNELS } from '../tests/sim/kernels/aiter-cases.ts';
import { changedRuns } from '../tests/sim/kernels/support.ts';
import { TENSILE_KERNELS } from '../tests/sim/kernels/tensile-cases.ts';
import { sharedPath } from '../tests/support/shared.ts';
import { clangSubjects, tritonSubjects } from '../tests/support/strict-kernels.ts';

const ROUNDS = 5;
const wavesmith = join(dirname(dirname(resolve(process.argv[1] ?? '.'))), 'bin', 'wavesmith');
const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? Number.NaN;

/** The code object with one kernel that has the most code. */
function largest(): string | undefined {
  const corpus = sharedPath('corpus');
  if (corpus === undefined) return undefined;
  let best: { readonly path: string; readonly size: number } | undefined;
  for (const target of ['gfx942', 'gfx950'] as const) {
    for (const name of readdirSync(join(corpus, target)).filter((file) => file.endsWith('.co'))) {
      const path = join(corpus, target, name);
      const { elf, kernels } = readCodeObject(readFileSync(path));
      const size = elf.sections.find((s) => s.name === '.text')?.bytes.length ?? 0;
      if (kernels.length === 1 && size > (best?.size ?? 0)) best = { path, size };
    }
  }
  return best?.path;
}

/** Run in a process of its own: milliseconds of the call alone, from a cache that has the result. */
function timeCached(path: string, tool: string, folder: string): void {
  optimizeLess();
  const bytes = readFileSync(path);
  const probe = { ...(TOOLS as unknown as Record<string, ProbeDefinition>)[tool], source: tool } as ProbeDefinition;
  const cache = new DiskModuleCache('bench', folder);
  instrument(readCodeObject(bytes), probe, { cache });
  const before = performance.now();
  const { placed } = instrument(readCodeObject(bytes), probe, { cache });
  console.log(JSON.stringify({ ms: performance.now() - before, placed }));
}

/** Milliseconds of `wavesmith probe --no-cache` as users start it. */
function timeAnew(path: string, tool: string, folder: string): number {
  const before = performance.now();
  const command = ['probe', '--tool', tool, path, '--no-cache', '-o', join(folder, 'out.co')];
  const { status, stderr } = spawnSync(wavesmith, command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`wavesmith probe ended with ${status}: ${stderr}`);
  return performance.now() - before;
}

function timeAll(path: string): void {
  for (const tool of ['instr-count', 'mem-trace']) {
    const times: Record<'cold' | 'cached', number[]> = { cold: [], cached: [] };
    let placed = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
      times.cold.push(timeAnew(path, tool, folder));
      const call = [...process.execArgv, ...runLine(), '--cached', path, tool, folder];
      const { stdout } = spawnSync(process.execPath, call, { encoding: 'utf8' });
      const result = JSON.parse(stdout) as { ms: number; placed: number };
      times.cached.push(result.ms);
      placed = result.placed;
      rmSync(folder, { recursive: true });
    }
    console.log(
      `${tool} into ${path.split('/').at(-1)}: ${placed} points, median of ${ROUNDS}: ${median(times.cold).toFixed(0)} ms anew, the whole process (goal 1000), ` +
        `${median(times.cached).toFixed(1)} ms the call from the cache (goal 20)`,
    );
  }
}

/** How this file is run again. */
function runLine(): string[] {
  return [join(import.meta.dirname, '..', '..', '..', 'scripts', 'run-ts.mjs'), process.argv[1] as string].map(
    (p) => p,
  );
}

interface Cost {
  readonly name: string;
  readonly ratio: number;
}

const BLOCKS = { tool: 'instr-count', settings: { level: 'wave' }, name: 'instr-count, wave level' } as const;
const LANES = { tool: 'instr-count', settings: {}, name: 'instr-count, thread level' } as const;
const TRACE = { tool: 'mem-trace', settings: {}, name: 'mem-trace' } as const;

function put(
  bytes: Uint8Array,
  { tool, settings }: { readonly tool: string; readonly settings: Record<string, string> },
) {
  const probe = (TOOLS as unknown as Record<string, ProbeDefinition>)[tool] as ProbeDefinition;
  return instrument(readCodeObject(bytes), probe, { settings, verify: false });
}

async function slowdown(kind: typeof BLOCKS | typeof LANES | typeof TRACE, isQuick: boolean): Promise<void> {
  const costs: Cost[] = [];
  const kernels: ReturnType<typeof put>['costs'][number][] = [];
  let [before, after] = [0, 0];
  for (const subject of [...clangSubjects(), ...tritonSubjects()].filter((_, i) => !isQuick || i % 4 === 0)) {
    const changed = put(subject.codeObject, kind);
    const counts: number[] = [];
    for (const code of [subject.codeObject, changed.codeObject.bytes]) {
      const device = await createDevice('sim', { target: subject.target as TargetName });
      counts.push((await subject.run(device, code, undefined)).instructions);
      device.close();
    }
    kernels.push(...changed.costs);
    note(subject.name, counts[0] as number, counts[1] as number);
  }
  if (!isQuick) {
    changedRuns.change = (bytes) => {
      const changed = put(bytes, kind);
      kernels.push(...changed.costs);
      return {
        bytes: changed.codeObject.bytes,
        compare: ({ original, changed: run, kernel }) => note(kernel.name, original.instructions, run.instructions),
      };
    };
    for (const [, , run] of [...Object.values(AITER_KERNELS).flat(), ...TENSILE_KERNELS]) await run();
    changedRuns.change = undefined;
  }
  function note(name: string, one: number, two: number): void {
    costs.push({ name, ratio: two / one });
    before += one;
    after += two;
  }
  const sorted = [...costs].sort((a, b) => a.ratio - b.ratio);
  const worst = sorted.at(-1);
  const grown = kernels.filter(({ vgprs }) => vgprs[0] !== vgprs[1]);
  const fewer = kernels.filter(({ occupancy: [a = 0, b = 0] }) => b < a);
  const scratch = kernels.filter(({ scratch: [a, b] }) => b > a);
  console.log(
    `${kind.name}: ${costs.length} launches, executed instructions × ${(after / before).toFixed(2)} in all, median × ${(sorted[sorted.length >> 1]?.ratio ?? 0).toFixed(2)}, ` +
      `most × ${worst?.ratio.toFixed(2)} (${worst?.name}); ${costs.filter((c) => c.ratio <= 2).length} at most × 2`,
  );
  console.log(
    `  of ${kernels.length} kernels ${grown.length} have more vector registers, ${scratch.length} more scratch, ${fewer.length} fewer waves per SIMD`,
  );
  for (const { kernel, vgprs, sgprs, scratch: bytes, occupancy } of fewer.slice(0, 8))
    console.log(
      `  ${kernel}: VGPRs ${vgprs.join(' → ')}, SGPRs ${sgprs.join(' → ')}, scratch ${bytes.join(' → ')}, waves ${occupancy.join(' → ')}`,
    );
}

const one = process.argv.indexOf('--cached');
if (one >= 0) {
  const [path = '', tool = '', folder = ''] = process.argv.slice(one + 1);
  timeCached(path, tool, folder);
} else {
  const path = largest();
  if (path === undefined) console.log('the reference corpus is absent: nothing is timed');
  else timeAll(path);
  const isQuick = process.argv.includes('--quick');
  for (const kind of [BLOCKS, LANES, TRACE]) await slowdown(kind, isQuick);
}
