// Which basic blocks run, and which never do.
import { u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';

export default defineProbe({
  name: 'block-coverage',
  summary: 'which basic blocks run, how often, and which never do',
  state: { waves: u64PerSite() },
  instrument({ program, at }) {
    for (const block of program.blocks()) at.entry(block, (p) => p.atomicAdd('waves', 1));
  },
  report({ program, state }) {
    const listing: { pc: number; waves: bigint }[] = [];
    const blocks = state.waves.sites.map(({ site, value }) => {
      const block = program.at(site.pc)?.block;
      for (const { pc } of block?.instructions ?? []) listing.push({ pc, waves: value });
      return { pc: block?.pc ?? site.pc, kernel: site.kernel, instructions: block?.length ?? 0, waves: value };
    });
    const ran = blocks.filter((block) => block.waves > 0n);
    const size = (list: typeof blocks): number => list.reduce((sum, block) => sum + block.instructions, 0);
    return {
      blocks: blocks.length,
      blocksRun: ran.length,
      instructions: size(blocks),
      instructionsRun: size(ran),
      neverRun: blocks.filter((block) => block.waves === 0n).map(({ pc, instructions }) => ({ pc, instructions })),
      listing,
    };
  },
});
