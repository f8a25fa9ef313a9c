// Captures of unmodified HIP programs (tests/hip): the first dispatch of each of their kernels, as `wavesmith capture -- PROGRAM` writes it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Capture, openCapture } from '../../src/snapshot/index.ts';
import { compileHip, type HipProgram, run } from './hip.ts';

/** Programs with kernels of many kinds: LDS, atomics, half floats, complex numbers, cross-lane operations, variables, pointers in memory. */
export const CAPTURED_PROGRAMS: readonly (Omit<HipProgram, 'targets'> & { readonly target?: string })[] = [
  { sources: ['vector_add'] },
  { sources: ['isolate'] },
  { sources: ['capture', 'capture_other'] },
  { sources: ['arguments'], library: 6 },
  { sources: ['atomics'], target: 'gfx90a' },
  { sources: ['lds'] },
  { sources: ['templates'] },
  { sources: ['half'], target: 'gfx950' },
  { sources: ['complex'] },
  { sources: ['math'] },
  { sources: ['wavefront'] },
  { sources: ['affine'] },
  { sources: ['asta'] },
  { sources: ['graphs'] },
  { sources: ['streams'] },
  { sources: ['memory_kinds'] },
  { sources: ['rdc', 'rdc_other'], flags: ['-fgpu-rdc'] },
  { sources: ['symbols'] },
  { sources: ['virtual_memory'] },
];

/** Captures a program's first dispatches; gives the first capture of each kernel, and what the command said. */
export async function captureKernels(
  { target = 'gfx942', ...program }: (typeof CAPTURED_PROGRAMS)[number],
  folder: string,
  dispatches = '0-60',
): Promise<{ readonly captures: readonly Capture[]; readonly stderr: string; readonly status: number | null }> {
  const path = await compileHip({ ...program, targets: [target] });
  const name = `${program.sources[0]}.wscap`;
  const options = ['--dispatch', dispatches, '--device', `sim:${target}`, '-o', join(folder, name)];
  const { stderr, status } = await run(process.execPath, ['bin/wavesmith', 'capture', ...options, '--', path]);
  const first = new Map<string, Capture>();
  const files = readdirSync(folder).filter((file) => file.startsWith(`${program.sources[0]}.`));
  for (const file of files.sort(new Intl.Collator('en', { numeric: true }).compare)) {
    if (file.includes('.partial-')) continue;
    const capture = openCapture(join(folder, file));
    const key = `${capture.manifest.code.sha256} ${capture.manifest.dispatch.kernel}`;
    const known = first.get(key);
    if (known === undefined || known.manifest.dispatch.sequence > capture.manifest.dispatch.sequence)
      first.set(key, capture);
  }
  return { captures: [...first.values()], stderr, status };
}
