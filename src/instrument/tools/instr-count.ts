// Counts executed instructions, exactly: each block counts how often a wave runs it, and with how many lanes it runs each part in which they stay
// the same.
import { Slot } from '../../program/index.ts';
import { u64PerSite } from '../state.ts';
import { defineProbe, settingError, type Write } from '../types.ts';
import type { ProbeBlock, ProbeInstruction } from '../view.ts';

/** The parts of a block that run with the same lanes: EXEC is written by the last instruction of each but the last. */
function partsOf({ instructions }: ProbeBlock): ProbeInstruction[][] {
  const parts: ProbeInstruction[][] = [[]];
  for (const one of instructions) {
    parts.at(-1)?.push(one);
    const writes = one.code.effects.defs.some(({ first, count }) => first < Slot.EXEC + 2 && first + count > Slot.EXEC);
    if (writes) parts.push([]);
  }
  return parts.filter((part) => part.length > 0);
}

const STATE = { waves: u64PerSite(), lanes: u64PerSite() };

export default defineProbe({
  name: 'instr-count',
  summary: 'executed instructions, once for each wave and once for each work-item',
  state: STATE,
  settings: {
    level: { summary: "'thread' counts waves and work-items, 'wave' only waves, at less cost", value: 'thread' },
  },
  instrument({ program, at, settings: { level = '' } }) {
    if (level !== 'thread' && level !== 'wave')
      throw settingError('instr-count', 'level', level, "it is 'thread' or 'wave'");
    for (const block of program.blocks()) {
      if (level === 'wave') {
        at.entry(block, (p) => p.atomicAdd('waves', 1));
        continue;
      }
      const [head, ...rest] = partsOf(block);
      const count: Write<typeof STATE> = (p) => {
        p.atomicAdd('waves', 1);
        p.atomicAdd('lanes', p.popcount(p.exec));
      };
      // Where the lanes change, they must be counted before they do; elsewhere the block's cheapest place will do.
      if (rest.length === 0) at.entry(block, count);
      else if (head?.[0] !== undefined) at.before(head[0], count);
      for (const [first] of rest)
        if (first !== undefined) at.before(first, (p) => p.atomicAdd('lanes', p.popcount(p.exec)));
    }
  },
  report({ program, state }) {
    const kernels = new Map<string, { instructions: bigint; threadInstructions: bigint }>();
    const listing: { pc: number; waves: bigint; lanes: bigint }[] = [];
    const all = { instructions: 0n, threadInstructions: 0n };
    const ownOf = (kernel: string): typeof all => {
      const own = kernels.get(kernel) ?? { instructions: 0n, threadInstructions: 0n };
      kernels.set(kernel, own);
      return own;
    };
    // Blocks that every wave leaves as it came have their lanes at the one point of the block.
    const lanesAt = new Map(state.lanes.sites.map(({ site, value }) => [site.pc, value]));
    for (const { site, value } of state.waves.sites) {
      const block = program.at(site.pc)?.block;
      if (block === undefined) continue;
      const parts = partsOf(block);
      for (const part of parts) {
        const lanes = lanesAt.get(parts.length === 1 ? site.pc : (part[0]?.pc ?? -1)) ?? 0n;
        for (const sum of [ownOf(site.kernel), all]) {
          sum.instructions += value * BigInt(part.length);
          sum.threadInstructions += lanes * BigInt(part.length);
        }
        for (const { pc } of part) listing.push({ pc, waves: value, lanes });
      }
    }
    return {
      ...all,
      kernels: [...kernels].map(([kernel, counts]) => ({ kernel, ...counts })).filter((k) => k.instructions > 0n),
      listing,
    };
  },
});
