// Atomics of memory that return what was there: a wavefront may try with them whether it gets something, a lock or a message.
import type { Operation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { bindLeavesMemory } from '../interpreter/memory-access.ts';
import type { Wave } from '../state/wave.ts';

export interface Attempt {
  /** Puts a value there, if it finds another one, or sets bits, rather than count or compute with what is there. */
  readonly mayTake: boolean;
  /** Whether it leaves the bytes of a lane at an address as they are: a comparison that fails, a lock that is taken already. */
  readonly leavesMemory: (w: Wave, lane: number, address: number) => boolean;
}

/** The attempt of an instruction, if it is one. */
export function attemptOf(instruction: Instruction, op: Operation | undefined): Attempt | undefined {
  const { row } = instruction;
  if (op?.kind !== 'atomic' || op.space === 'lds' || op.space.startsWith('scalar')) return undefined;
  if (!row.operands.some((o) => o.isOut)) return undefined;
  const mayTake = op.data === 'newThenCompare' || /_atomic_(?:swap|and|or|xor)/.test(row.operation);
  return { mayTake, leavesMemory: bindLeavesMemory(instruction, op) };
}
