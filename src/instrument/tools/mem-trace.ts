// Every access of global memory: instruction, workgroup, lanes and addresses, in the order of the waves' records.
import { defineProbe } from '../types.ts';
import { ACCESSES, recordAccesses } from './accesses.ts';

export default defineProbe({
  name: 'mem-trace',
  summary: 'addresses, sizes and lanes of every vector access of global memory',
  state: ACCESSES,
  instrument({ program, at }) {
    recordAccesses(program, at);
  },
  report({ program, state }) {
    const { records: list, appended, dropped } = state.accesses;
    const accesses = list.map(({ site, exec, address }) => {
      const one = program.at(site.pc);
      const lanes: number[] = [];
      for (let lane = 0; lane < 64; lane++) if ((exec >> BigInt(lane)) & 1n) lanes.push(lane);
      return {
        pc: site.pc,
        instruction: one?.text,
        bytes: one?.accessSize ?? 0,
        exec: `0x${exec.toString(16)}`,
        addresses: lanes.map((lane) => `0x${(address[lane] ?? 0n).toString(16)}`),
      };
    });
    return { appended, dropped, accesses };
  },
  text: ({ appended, dropped, accesses }) => [
    `${appended} accesses, ${dropped} dropped`,
    ...(accesses as { pc: number; instruction?: string; addresses: string[] }[])
      .slice(0, 40)
      .map(
        (a) =>
          `  ${a.pc.toString(16)}  ${a.instruction}  ${a.addresses.length} lanes: ${a.addresses.slice(0, 4).join(' ')}${a.addresses.length > 4 ? ' …' : ''}`,
      ),
  ],
});
