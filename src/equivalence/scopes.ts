// Accesses that other wavefronts look at while the kernel runs: atomics, and loads and stores with a scope, which are flags.
import { immediateOf } from '../isa/operand.ts';
import { CPOL_GLC, CPOL_SCC } from '../isa/parse/state.ts';
import type { MemorySpace } from '../isa/semantics/index.ts';
import type { Instruction } from '../isa/types.ts';
import type { Place } from './memory.ts';
import { Memory } from './state.ts';
import type { Step } from './step.ts';
import type { Term } from './terms.ts';

/** Scopes beyond the wavefront: sc0 and sc1, glc and scc on gfx90a. Source: LLVM's AMDGPUUsage, "Memory Model". */
const SCOPES = CPOL_GLC | CPOL_SCC;

/** Whether an instruction's cache policy names a scope beyond the wavefront. */
export const hasScope = (instruction: Instruction): boolean => (immediateOf(instruction, 'cpol') & SCOPES) !== 0;

/** Whether a load or store is a flag of other wavefronts; scratch is seen by one lane only. */
export function isScoped({ instruction }: Step, space: MemorySpace): boolean {
  return space !== 'scratch' && space !== 'scalarScratch' && space !== 'lds' && hasScope(instruction);
}

/** The memories that such an access keeps in order: what a wavefront writes to any of them is behind the flag or the lock. */
export function orderedMemories(space: MemorySpace): readonly number[] {
  return space === 'flat' ? [Memory.GLOBAL, Memory.LDS, Memory.SCRATCH] : [Memory.GLOBAL, Memory.LDS];
}

/** Does an effect that nothing passes to the memories it keeps in order. */
export function orderedEffect({ state, algebra }: Step, space: MemorySpace, effect: Term): void {
  for (const memory of orderedMemories(space)) {
    state[memory] = algebra.terms.make('part', 'effect', [effect], { attr: String(memory) });
  }
}

/** The memories of an ordered access as it finds them. */
export function orderedState({ state, algebra }: Step, space: MemorySpace): Term {
  const memories = orderedMemories(space).map((m) => state[m] as Term);
  return algebra.terms.make('memories', 'effect', memories);
}

/** A load or store of a flag: whole, because two halves could be seen apart, and in order. */
export function scopedAccess(step: Step, space: MemorySpace, place: Place, lanes: Term, data: readonly Term[]): Term {
  const { terms } = step.algebra;
  const { row } = step.instruction;
  const args = [
    orderedState(step, space),
    lanes,
    place.offset,
    ...(place.base === undefined ? [] : [place.base]),
    ...data,
  ];
  const attr = `${row.operation} ${place.bytes} cpol=${immediateOf(step.instruction, 'cpol')}`;
  const effect = terms.make('scoped', 'effect', args, { attr });
  step.watcher.access(step.code, effect);
  orderedEffect(step, space, effect);
  return effect;
}
