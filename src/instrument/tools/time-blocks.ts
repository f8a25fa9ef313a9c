// Cycles that waves spend in each basic block: the time at its end less the time at its beginning, summed over waves.
import { u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';

const WORD = 1n << 64n;

export default defineProbe({
  name: 'time-blocks',
  summary: 'cycles that each wave spends in each basic block',
  state: { begin: u64PerSite(), end: u64PerSite(), waves: u64PerSite() },
  instrument({ program, at }) {
    for (const block of program.blocks()) {
      const [first, last] = [block.instructions[0], block.instructions.at(-1)];
      if (first === undefined || last === undefined) continue;
      at.before(first, (p) => {
        p.atomicAdd('waves', 1);
        p.atomicAdd('begin', p.time);
      });
      const leaves = last.isBranch || /^s_(endpgm|setpc|swappc)/.test(last.operation);
      at[leaves ? 'before' : 'after'](last, (p) => p.atomicAdd('end', p.time));
    }
  },
  report({ program, state }) {
    const ends = new Map(state.end.sites.map(({ site, value }) => [program.at(site.pc)?.block, value]));
    const blocks = state.waves.sites.flatMap(({ site, value: waves }, i) => {
      const block = program.at(site.pc)?.block;
      const end = ends.get(block);
      if (block === undefined || end === undefined || waves === 0n) return [];
      const cycles = (end - (state.begin.sites[i]?.value ?? 0n) + WORD) % WORD;
      const perWave = Math.round((10 * Number(cycles)) / Number(waves)) / 10;
      return [{ pc: block.pc, kernel: site.kernel, instructions: block.length, waves, cycles, perWave }];
    });
    blocks.sort((a, b) => Number(b.cycles - a.cycles));
    return {
      blocks,
      listing: blocks.map(({ pc, waves, cycles, perWave }) => ({ pc, waves, cycles, perWave })),
    };
  },
});
