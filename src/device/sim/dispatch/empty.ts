// Kernels that end at once: what running them would give is known.
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { SimDispatchResult } from '../options.ts';
import type { Launch } from './launch.ts';

/** What compilers put before the end of a kernel without a body: the frame of calls that it might have made. */
const SETS_REGISTERS = /^s_(mov_b32|mov_b64|nop)$/;
const MOST = 8;

/** The result of a launch whose wavefronts only set registers and end; undefined where they do anything else. */
export function emptyResult(loaded: LoadedCode, launch: Launch): SimDispatchResult | undefined {
  const families = instructionsToEnd(loaded, launch.entry);
  if (families === undefined) return undefined;
  const wavefronts = countWaves(launch);
  const instructionsByEncoding: Record<string, number> = {};
  for (const name of families) instructionsByEncoding[name] = (instructionsByEncoding[name] ?? 0) + wavefronts;
  return {
    instructions: families.length * wavefronts,
    wavefronts,
    workgroups: launch.workgroups,
    instructionsByEncoding,
  };
}

/** The encoding of each instruction from an address to the end of the kernel, where there is nothing else. */
function instructionsToEnd(loaded: LoadedCode, entry: number): string[] | undefined {
  const families: string[] = [];
  for (let at = entry; families.length < MOST; ) {
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined) return undefined;
    const { operation, encoding } = instruction.row;
    families.push(encoding);
    if (operation === 's_endpgm') return families;
    if (!SETS_REGISTERS.test(operation)) return undefined;
    at += instruction.size;
  }
  return undefined;
}

/** Wavefronts of all workgroups; those at the grid's edges have fewer. */
function countWaves({ grid, block, workItems }: Launch): number {
  // Of each dimension: the sizes there are, and how many workgroups have each.
  const sizes = ([0, 1, 2] as const).map((d) => [
    [block[d], grid[d] - 1] as const,
    [workItems[d] - (grid[d] - 1) * block[d], 1] as const,
  ]);
  const [xs = [], ys = [], zs = []] = sizes;
  let waves = 0;
  for (const [x, ofX] of xs) {
    for (const [y, ofY] of ys) {
      for (const [z, ofZ] of zs) waves += ofX * ofY * ofZ * Math.ceil((x * y * z) / 64);
    }
  }
  return waves;
}
