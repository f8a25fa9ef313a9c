// Counts executed instructions, exactly: each block counts how often a wave runs it and with how many lanes.
import { u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';

export default defineProbe({
  name: 'instr-count',
  summary: 'executed instructions, once for each wave and once for each work-item',
  state: { waves: u64PerSite(), lanes: u64PerSite() },
  instrument({ program, at }) {
    for (const block of program.blocks()) {
      at.entry(block, (p) => {
        p.atomicAdd('waves', 1);
        p.atomicAdd('lanes', p.popcount(p.exec));
      });
    }
  },
  report({ program, state }) {
    const kernels = new Map<string, { instructions: bigint; threadInstructions: bigint }>();
    const listing: { pc: number; waves: bigint; lanes: bigint }[] = [];
    const all = { instructions: 0n, threadInstructions: 0n };
    state.waves.sites.forEach(({ site, value }, i) => {
      const block = program.at(site.pc)?.block;
      const lanes = state.lanes.sites[i]?.value ?? 0n;
      const length = BigInt(block?.length ?? 0);
      const own = kernels.get(site.kernel) ?? { instructions: 0n, threadInstructions: 0n };
      kernels.set(site.kernel, own);
      for (const sum of [own, all]) {
        sum.instructions += value * length;
        sum.threadInstructions += lanes * length;
      }
      for (const { pc } of block?.instructions ?? []) listing.push({ pc, waves: value, lanes });
    });
    return {
      ...all,
      kernels: [...kernels].map(([kernel, counts]) => ({ kernel, ...counts })).filter((k) => k.instructions > 0n),
      listing,
    };
  },
});
