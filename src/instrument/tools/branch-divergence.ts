// Conditional branches: how often each is taken, and how many lanes are active there.
import { u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';

export default defineProbe({
  name: 'branch-divergence',
  summary: 'how often each conditional branch is taken, and with how many lanes',
  state: { runs: u64PerSite(), lanes: u64PerSite(), taken: u64PerSite() },
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      if (!one.isConditional) continue;
      at.before(one, (p) => {
        p.atomicAdd('runs', 1);
        p.atomicAdd('lanes', p.popcount(p.exec));
      });
      at.taken(one, (p) => p.atomicAdd('taken', 1));
    }
  },
  report({ program, state }) {
    const taken = new Map(state.taken.sites.map(({ site, value }) => [site.pc, value]));
    const branches = state.runs.sites.map(({ site, value }, i) => {
      const lanes = state.lanes.sites[i]?.value ?? 0n;
      return {
        pc: site.pc,
        branch: program.at(site.pc)?.text,
        runs: value,
        taken: taken.get(site.pc) ?? 0n,
        lanes,
        // Share of the lanes of the waves that came here which were off.
        idleLanes: value === 0n ? 0 : 1 - Number(lanes) / (64 * Number(value)),
      };
    });
    const ran = branches.filter((branch) => branch.runs > 0n);
    return {
      branches: ran,
      listing: ran.map(({ pc, runs, taken: count, lanes }) => ({ pc, runs, taken: count, lanes })),
    };
  },
});
