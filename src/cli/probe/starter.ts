// What `wavesmith probe --new FILE` writes: a small probe that works as it is.

/** The source of a new probe. */
export const STARTER = `import { defineProbe, u64PerSite } from 'wavesmith/instrument';

// Counts how often each global store runs, and with how many lanes. Try it:
//   wavesmith probe --tool THIS_FILE -- run KERNEL.co --kernel NAME --grid 1 --block 64 …
export default defineProbe({
  name: 'store-count',
  summary: 'how often each global store runs, and with how many lanes',
  // Memory that the probe keeps: here one counter for each point that adds to it.
  state: { runs: u64PerSite(), lanes: u64PerSite() },
  // Where code goes. Properties of instructions choose the points.
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      if (one.memory !== 'global' || !one.isStore) continue;
      at.before(one, (p) => {
        p.atomicAdd('runs', 1);
        p.atomicAdd('lanes', p.popcount(p.exec));
      });
    }
  },
  // What it means, once the kernel has ended.
  report({ program, state }) {
    const stores = state.runs.sites.map(({ site, value }, i) => ({
      pc: site.pc,
      instruction: program.at(site.pc)?.text,
      runs: value,
      lanes: state.lanes.sites[i]?.value,
    }));
    return { stores };
  },
});
`;
