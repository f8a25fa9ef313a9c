// Bank conflicts of LDS accesses: the most addresses that lanes of one half ask of one bank at once.
import { ldsOffsets } from '../access-size.ts';
import { records } from '../state.ts';
import { defineProbe } from '../types.ts';

/** LDS has 32 banks of 4 bytes. Source: CDNA3 ISA manual, "Data Share Operations". */
const BANKS = 32;

export default defineProbe({
  name: 'lds-bank-conflicts',
  summary: 'how many addresses lanes ask of one LDS bank at once, for each access',
  state: { accesses: records({ exec: 'u64', address: 'lane32' }, { capacity: 1 << 16 }) },
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      const hasAddress = one.code.instruction.row.operands.some((o) => o.name === 'addr');
      if (one.memory !== 'lds' || !hasAddress) continue;
      at.before(one, (p) => p.append('accesses', { exec: p.exec, address: p.address }));
    }
  },
  report({ program, state }) {
    const { records: list, appended, dropped } = state.accesses;
    const sites = new Map<
      number,
      { pc: number; instruction: string; runs: number; groups: number; passes: number; worst: number }
    >();
    for (const { site, exec, address } of list) {
      const one = program.at(site.pc);
      if (one === undefined) continue;
      const entry = sites.get(site.pc) ?? {
        pc: site.pc,
        instruction: one.text,
        runs: 0,
        groups: 0,
        passes: 0,
        worst: 0,
      };
      sites.set(site.pc, entry);
      const words = Math.max(1, (one.accessSize ?? 0) / 4);
      const [first = 0, second] = ldsOffsets(one.code.instruction);
      // The words that a lane asks for, from its address.
      const parts = second === undefined ? [0] : [0, (second - first) / 4];
      const asked = parts.flatMap((part) => Array.from({ length: words / parts.length }, (_, word) => part + word));
      // Lanes go together as long as their bytes fill the banks once.
      const together = Math.max(1, Math.floor(BANKS / words));
      entry.runs++;
      for (let start = 0; start < 64; start += together) {
        const banks = new Map<number, Set<number>>();
        for (let lane = start; lane < start + together; lane++) {
          if (((exec >> BigInt(lane)) & 1n) === 0n) continue;
          for (const word of asked) {
            const at = ((address[lane] ?? 0) >>> 2) + word;
            const bank = banks.get(at % BANKS) ?? new Set();
            banks.set(at % BANKS, bank.add(at));
          }
        }
        const passes = Math.max(0, ...[...banks.values()].map((bank) => bank.size));
        if (passes > 0) entry.groups++;
        entry.passes += passes;
        entry.worst = Math.max(entry.worst, passes);
      }
    }
    const rows = [...sites.values()].map((row) => ({ ...row, conflicts: row.passes - row.groups }));
    rows.sort((a, b) => b.conflicts - a.conflicts);
    return {
      appended,
      dropped,
      instructions: rows,
      listing: rows.map(({ pc, runs, passes, conflicts, worst }) => ({ pc, runs, passes, conflicts, worst })),
    };
  },
});
