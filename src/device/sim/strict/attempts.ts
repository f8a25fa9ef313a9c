// Atomics that return what was there: a wavefront may try with them whether it gets something, a lock or a message.
import type { Operation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { bindLeavesMemory } from '../interpreter/memory-access.ts';
import type { Wave } from '../state/wave.ts';

/** Of memory. */
export interface Attempt {
  readonly mayTake: boolean;
  /** Whether it leaves the bytes of a lane at an address as they are: a comparison that fails, a lock that is taken already. */
  readonly leavesMemory: (w: Wave, lane: number, address: number) => boolean;
}

/** Whether an atomic puts a value there, if it finds another one, or sets bits, rather than count or compute with what is there. */
export const mayTake = ({ row }: Instruction): boolean =>
  /^(?:ds|[a-z]+_atomic)_(?:cmpst|cmpswap|swap|wrxchg|and|or|xor|mskor)/.test(row.operation);

/** The attempt of an instruction, if it is one. */
export function attemptOf(instruction: Instruction, op: Operation | undefined): Attempt | undefined {
  if (op?.kind !== 'atomic' || op.space === 'lds' || op.space.startsWith('scalar')) return undefined;
  if (!instruction.row.operands.some((o) => o.isOut)) return undefined;
  return { mayTake: mayTake(instruction), leavesMemory: bindLeavesMemory(instruction, op) };
}
