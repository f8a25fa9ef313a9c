// Probes at both sides of every instruction, for what must hold at any point: a counter, and a record with values of every kind.
import { defineProbe, records, u64 } from '../../src/instrument/index.ts';

/** Behind these nothing comes next. */
const LEAVES = /^s_(endpgm|setpc|branch$|rfe|trap|sethalt)/;

/** Counts every point. */
export const EVERY_COUNTER = defineProbe({
  name: 'every-counter',
  summary: 'a counter before and behind every instruction',
  state: { runs: u64() },
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      at.before(one, (p) => p.atomicAdd('runs', 1));
      if (!LEAVES.test(one.operation)) at.after(one, (p) => p.atomicAdd('runs', 1));
    }
  },
  report: ({ state }) => ({ runs: state.runs.value }),
});

/** A record at every point, with values by lane and what a wave knows from its start. */
export const EVERY_RECORD = defineProbe({
  name: 'every-record',
  summary: 'a record with EXEC, the workgroup, the arguments and a value by lane, before and behind every instruction',
  state: {
    list: records({ exec: 'u64', workgroup: 'u32', kernarg: 'u64', lane: 'lane32' }, { capacity: 64 }),
    runs: u64(),
  },
  instrument({ program, at }) {
    for (const one of program.instructions()) {
      for (const side of ['before', 'after'] as const) {
        if (side === 'after' && LEAVES.test(one.operation)) continue;
        at[side](one, (p) => {
          if (!one.block.kernel.isKernel) p.atomicAdd('runs', 1);
          else p.append('list', { exec: p.exec, workgroup: p.workgroupId.x, kernarg: p.kernargPtr, lane: p.laneId });
        });
      }
    }
  },
  report: ({ state }) => ({ appended: state.list.appended }),
});
