// How well accesses of global memory come together: cache lines touched against the fewest that would hold the bytes, and the stride.
import { targetInfo } from '../../isa/table/targets.ts';
import { defineProbe } from '../types.ts';
import { ACCESSES, recordAccesses } from './accesses.ts';

export default defineProbe({
  name: 'mem-coalescing',
  summary: 'cache lines that each access of global memory touches, against the fewest possible, and its strides',
  state: ACCESSES,
  instrument({ program, at }) {
    recordAccesses(program, at);
  },
  report({ program, state }) {
    const { records: list, appended, dropped } = state.accesses;
    const lineBytes = BigInt(targetInfo(program.target).vectorCacheLine);
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
      const size = BigInt(one.accessSize ?? 0);
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
        for (let line = at / lineBytes; line <= (at + size - 1n) / lineBytes; line++) touched.add(line);
        // Lanes may overlap.
        for (let byte = at; byte < at + size; byte++) bytes.add(byte);
        if (last !== undefined) {
          const stride = String(at - last);
          entry.strides.set(stride, (entry.strides.get(stride) ?? 0) + 1);
        }
        last = at;
      }
      entry.runs++;
      entry.lines += touched.size;
      entry.needed += Math.ceil(bytes.size / Number(lineBytes));
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
