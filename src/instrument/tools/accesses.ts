// What the probes of global memory share: a record of each access.

import { records } from '../state.ts';
import type { Points } from '../types.ts';
import type { ProbeProgram } from '../view.ts';

/** The state of a probe that records accesses: the active lanes and the address of each. */
export const ACCESSES = { accesses: records({ exec: 'u64', address: 'lane64' }, { capacity: 1 << 15 }) };

/** Records every vector access of global memory. */
export function recordAccesses(program: ProbeProgram, at: Points<typeof ACCESSES>): void {
  for (const one of program.instructions()) {
    if (one.memory !== 'global' && one.memory !== 'flat' && one.memory !== 'buffer') continue;
    at.before(one, (p) => p.append('accesses', { exec: p.exec, address: p.address }));
  }
}
