// How often each operation is executed, exactly: from the counts of the blocks.
import { u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';

export default defineProbe({
  name: 'opcode-histogram',
  summary: 'how often each mnemonic is executed, once for each wave',
  state: { waves: u64PerSite({ inRegisters: true }) },
  instrument({ program, at }) {
    for (const block of program.measuredBlocks()) at.entry(block, (p) => p.atomicAdd('waves', 1));
  },
  report({ program, state }) {
    const counts = new Map<string, bigint>();
    let instructions = 0n;
    for (const [block, value] of program.blockCounts(state.waves.sites)) {
      for (const { mnemonic } of block.instructions) {
        counts.set(mnemonic, (counts.get(mnemonic) ?? 0n) + value);
        instructions += value;
      }
    }
    const histogram = [...counts]
      .filter(([, count]) => count > 0n)
      .sort((a, b) => Number(b[1] - a[1]) || (a[0] < b[0] ? -1 : 1))
      .map(([mnemonic, count]) => ({ mnemonic, count }));
    return { instructions, histogram };
  },
});
