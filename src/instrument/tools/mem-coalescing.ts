// How well accesses of global memory come together: cache lines touched against the fewest that would hold the bytes, and the stride.
import { records } from '../state.ts';
import { defineProbe } from '../types.ts';
import { accessSize } from './accesses.ts';

/** Bytes of a line of the vector data cache of CDNA3. Source: CDNA3 ISA manual, "Memory hierarchy". */
const LINE = 128n;

export default defineProbe({
  name: 'mem-coalescing',
  summary: 'cache lines that each access of global memory touches, against the fewest possible, and its strides',
  state: { accesses: records({ exec: 'u64', address: 'lane64' }, { capacity: 1 << 15 }) },
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      if (one.memory !== 'global' && one.memory !== 'flat' && one.memory !== 'buffer') continue;
      at.before(one, (p) => p.append('accesses', { exec: p.exec, address: p.address }));
    }
  },
  report({ program, state }) {
    const { records: list, appended, dropped } = state.accesses;
    const sites = new Map<
      number,
      {
        pc: number;
        instruction: string;
        runs: number;
        lanes: number;
        lines: number;
        needed: number;
        strides: Map<string, number>;
      }
    >();
    for (const { site, exec, address } of list) {
      const one = program.at(site.pc);
      if (one === undefined) continue;
      const size = BigInt(accessSize(one));
      const entry = sites.get(site.pc) ?? {
        pc: site.pc,
        instruction: one.text,
        runs: 0,
        lanes: 0,
        lines: 0,
        needed: 0,
        strides: new Map(),
      };
      sites.set(site.pc, entry);
      const touched = new Set<bigint>();
      const bytes = new Set<bigint>();
      let last: bigint | undefined;
      for (let lane = 0; lane < 64; lane++) {
        const at = address[lane] ?? 0n;
        if (((exec >> BigInt(lane)) & 1n) === 0n) continue;
        entry.lanes++;
        for (let line = at / LINE; line <= (at + size - 1n) / LINE; line++) touched.add(line);
        bytes.add(at);
        if (last !== undefined) {
          const stride = String(at - last);
          entry.strides.set(stride, (entry.strides.get(stride) ?? 0) + 1);
        }
        last = at;
      }
      entry.runs++;
      entry.lines += touched.size;
      entry.needed += Math.ceil((bytes.size * Number(size)) / Number(LINE));
    }
    const rows = [...sites.values()].sort((a, b) => b.lines - b.needed - (a.lines - a.needed));
    const instructions = rows.map(({ strides, ...row }) => ({
      ...row,
      efficiency: row.lines === 0 ? 1 : row.needed / row.lines,
      strides: [...strides]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 8)
        .map(([stride, count]) => ({ stride, count })),
    }));
    return {
      appended,
      dropped,
      instructions,
      listing: rows.map(({ pc, runs, lanes, lines, needed }) => ({ pc, runs, lanes, lines, needed })),
    };
  },
});
