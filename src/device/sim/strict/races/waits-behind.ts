// Invalidations of caches behind which a wavefront waits for others, at a poll or a barrier, before it accesses memory: what it knows then is found there.
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Launch } from '../../dispatch/launch.ts';
import { followers } from '../../dispatch/spin.ts';
import { accessPlan } from '../../interpreter/access-plan.ts';
import type { LoadedCode } from '../../interpreter/loaded-code.ts';
import { polls, remembered } from './polls.ts';

/** Of kernels whose workgroups have several wavefronts, for which barriers are counted, and of others. */
const knownWithBarriers = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownWithout = new WeakMap<LoadedCode, Map<number, boolean>>();

/** Instructions that are looked at. */
const MOST_INSTRUCTIONS = 64;

/** Whether on each way behind the instruction at an address a wavefront comes to a poll, a barrier of its workgroup or its end before it accesses memory that others see. */
export function waitsBehind(loaded: LoadedCode, { wavesPerGroup }: Launch, pc: number): boolean {
  const hasBarriers = wavesPerGroup > 1;
  return remembered(hasBarriers ? knownWithBarriers : knownWithout, loaded, pc, () => {
    const open = [pc];
    const seen = new Set<number>();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const instruction = loaded.instructionAt(at);
      if (instruction === undefined || seen.size > MOST_INSTRUCTIONS) return false;
      const { operation, flags } = instruction.row;
      if (operation === 's_endpgm' || (hasBarriers && operation === 's_barrier')) continue;
      const access = accessPlan(instruction, semanticsOf(operation));
      const isOwn = access === undefined || (!access.toLds && (access.space === 'lds' || access.space === 'scratch'));
      if (!isOwn) {
        if (polls(loaded, at)) continue;
        return false;
      }
      const next = followers(instruction, at);
      if (flags.has('isCall') || next.length === 0) return false;
      open.push(...next);
    }
    return true;
  });
}
