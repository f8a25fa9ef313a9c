// What a filtered trace costs: the same dispatches compiled, with a trace of one wavefront, and with a trace of one instruction in all
// wavefronts of one workgroup, the one that runs most often. All lines are written as `run --trace` writes them.
// bench/support/dispatches.ts says how they are timed.
// `npm run bench -- trace --only WORD…` takes the cases whose names contain one of the words.
import { readCodeObject } from '../src/codeobject/index.ts';
import type { SimDispatchRequest } from '../src/device/index.ts';
import { RunTools, type ToolRequest } from '../src/device/sim/tools/index.ts';
import type { Opened } from './support/cases.ts';
import { compareModes } from './support/dispatches.ts';

type Filter = Omit<NonNullable<ToolRequest['trace']>, 'sink'>;

let written = 0;

function traced({ kernel, object }: Opened, filter: Filter): Partial<SimDispatchRequest> {
  const sink = {
    lines: (bytes: Uint8Array): void => {
      written += bytes.length;
    },
  };
  const { monitors } = new RunTools(kernel, readCodeObject(object), { trace: { ...filter, sink } });
  return { engine: 'compiled', monitors };
}

/** The address of the instruction that runs most often. */
async function busiest({ kernel, object, dispatch }: Opened): Promise<string> {
  const tools = new RunTools(kernel, readCodeObject(object), { profile: true });
  await dispatch({ monitors: tools.monitors });
  const line = tools.profile()?.hottest[0];
  if (line === undefined) throw new Error('nothing ran');
  return line.pc;
}

await compareModes(process.argv.slice(2), [
  ['compiled', () => ({ engine: 'compiled' })],
  ['wavefront', (opened) => traced(opened, { workgroup: '0', wave: '0' })],
  ['instruction', async (opened) => traced(opened, { workgroup: '0', pc: await busiest(opened) })],
]);
if (written === 0) throw new Error('nothing was traced');
