// Where the first NaN or infinity of a kernel comes from: the results of vector float instructions, as they are written.
import { records, u64PerSite } from '../state.ts';
import { defineProbe } from '../types.ts';

/** Float results of 32 and 64 bits; halves of registers are not looked at. */
const FLOAT =
  /^v_(add|sub|subrev|mul|mac|fma|fmac|mad|max|min|rcp|rsq|sqrt|exp|log|sin|cos|div_fixup|div_fmas|cvt)(_legacy)?_f(32|64)(_|$)/;

export default defineProbe({
  name: 'poison-check',
  summary: 'which instructions make NaN or infinities, and the first of them',
  state: { hits: u64PerSite(), first: records({ lanes: 'u64' }, { capacity: 64 }) },
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      const result = FLOAT.exec(one.operation);
      const [to] = one.code.instruction.operands;
      const width = result?.[3] === '64' ? 2 : 1;
      if (result === null || to?.kind !== 'reg' || to.file !== 'v' || to.dwords !== width) continue;
      at.after(one, (p) => {
        const lanes = p.ballotPoison(p.readReg(to.text));
        p.if(lanes, () => {
          p.atomicAdd('hits', 1);
          p.append('first', { lanes });
        });
      });
    }
  },
  report({ program, state }) {
    const describe = (pc: number) => ({ pc, instruction: program.at(pc)?.text, source: program.at(pc)?.source });
    const hits = state.hits.sites
      .filter(({ value }) => value > 0n)
      .map(({ site, value }) => ({ ...describe(site.pc), waves: value }));
    const [first] = state.first.records;
    return {
      first: first === undefined ? null : { ...describe(first.site.pc), lanes: `0x${first.lanes.toString(16)}` },
      hits,
      listing: hits.map(({ pc, waves }) => ({ pc, waves })),
    };
  },
});
