// Runs every kernel of an IREE module on the virtual GPU with the grid, constants and binding sizes its own host program gives it:
// `node scripts/run-ts.mjs tools/run-vmfb-dispatches.ts MODULE.vmfb [--workgroups N] [--only TEXT] [--tokens N]`.
// Prints one line per kernel: instructions, changed bytes, or the diagnostic that stopped it. Each kernel runs twice; results must repeat.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { WavesmithError } from '../src/base/index.ts';
import { deriveDispatches, fillerFor, VmfbRunner } from '../tests/sim/kernels/vmfb.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workgroups: { type: 'string', default: '4' },
    only: { type: 'string' },
    tokens: { type: 'string', default: '32' },
  },
});
const file = positionals[0];
if (file === undefined)
  throw new Error('usage: run-vmfb-dispatches.ts MODULE.vmfb [--workgroups N] [--only TEXT] [--tokens N]');
const module = readFileSync(file);
const derived = deriveDispatches(module, { tokens: Number(values.tokens), pages: 1, cachePages: 8 });
const runner = new VmfbRunner(module);
const counts: Record<string, number> = {};
let instructions = 0;
for (const one of derived) {
  const { kernel, dispatch, reason, assumedConstants } = one;
  if (values.only !== undefined && !kernel.includes(values.only)) continue;
  let outcome: string;
  let text: string;
  if (dispatch === undefined) [outcome, text] = ['not derived', reason ?? ''];
  else {
    try {
      const limit = Number(values.workgroups);
      const first = await runner.run(kernel, dispatch, limit, fillerFor(one));
      const second = await runner.run(kernel, dispatch, limit, fillerFor(one));
      instructions += first.instructions;
      outcome = first.hash !== second.hash ? 'does not repeat' : first.changed === 0 ? 'writes nothing' : 'runs';
      const assumed = assumedConstants > 0 ? `, ${assumedConstants} constant assumed` : '';
      text = `${first.workgroups} of ${dispatch.workgroupCount.join('×')} workgroups, ${first.instructions} instructions, ${first.changed} bytes changed${assumed}`;
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      [outcome, text] = [error.code, error.message];
    }
  }
  counts[outcome] = (counts[outcome] ?? 0) + 1;
  console.log(`${outcome.padEnd(16)} ${kernel}: ${text}`);
}
console.log(`${JSON.stringify(counts)}, ${instructions} instructions`);
