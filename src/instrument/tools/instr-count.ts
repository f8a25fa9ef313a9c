// Counts executed instructions, exactly: how often waves run each block, and with how many lanes each part of it in which they stay the
// same.
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

const STATE = { waves: u64PerSite({ inRegisters: true }), lanes: u64PerSite({ inRegisters: true }) };

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
    const measured = new Set(program.measuredBlocks());
    for (const block of program.blocks()) {
      const countWaves: Write<typeof STATE> = (p) => {
        if (measured.has(block)) p.atomicAdd('waves', 1);
      };
      const [head, ...rest] = level === 'wave' ? [] : partsOf(block);
      const count: Write<typeof STATE> = (p) => {
        countWaves(p);
        p.atomicAdd('lanes', p.popcount(p.exec));
      };
      // Where the lanes change, they must be counted before they do; elsewhere the block's cheapest place will do.
      if (head?.[0] === undefined) at.entry(block, countWaves);
      else if (rest.length === 0) at.entry(block, count);
      else at.before(head[0], count);
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
    const lanesAt = new Map(state.lanes.sites.map(({ site, value }) => [site.pc, value]));
    for (const [block, value] of program.blockCounts(state.waves.sites)) {
      const parts = partsOf(block);
      for (const part of parts) {
        // Blocks that every wave leaves as it came have their lanes at one point, anywhere in the block.
        const at = parts.length === 1 ? part.find(({ pc }) => lanesAt.has(pc)) : part[0];
        const lanes = lanesAt.get(at?.pc ?? -1) ?? 0n;
        for (const sum of [ownOf(block.kernel.name), all]) {
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
