// What code says about itself to the hardware and no result depends on: the priority of its waves, and what caches should keep. The clock of the
// virtual GPU times neither, so these are worth something only on a GPU; the search tries them last.
import { targetInfo } from '../../isa/index.ts';
import { waitRole } from '../../program/index.ts';
import type { KernelView, Move } from './view.ts';

const MATRIX = /^v_s?mfma/;

/** Matrix work before other waves' work: `s_setprio 1` at the first matrix instruction of a block, 0 behind the last. */
export function raisedPriority(view: KernelView): Move[] {
  return view.regions.flatMap((region) => {
    const matrix = region.filter((code) => MATRIX.test(code.instruction.row.operation));
    const [first, last] = [matrix[0], matrix.at(-1)];
    if (first === undefined || last === undefined || first === last) return [];
    const replace = new Map([
      [first.pc, Buffer.concat([view.line('s_setprio 1'), view.bytes(first)])],
      [last.pc, Buffer.concat([view.bytes(last), view.line('s_setprio 0')])],
    ]);
    return [{ kind: 'raise-priority', pc: first.pc, text: `around ${matrix.length} matrix instructions`, replace }];
  });
}

/** Stores that no cache need keep: `nt`, on older targets `slc`. */
export function streams(view: KernelView): Move[] {
  const moves: Move[] = [];
  const bit = targetInfo(view.target).features.has('GFX940Insts') ? 'nt' : 'slc';
  for (const code of view.instructions()) {
    const { row } = code.instruction;
    const { kind, stores } = waitRole(row);
    const text = view.text(code);
    if (
      kind !== 'vm' ||
      !stores ||
      !/^(?:global|buffer)_store/.test(text) ||
      / (?:nt|sc0|sc1|glc|slc|scc)\b/.test(text)
    )
      continue;
    const replace = new Map([[code.pc, view.line(`${text} ${bit}`)]]);
    moves.push({ kind: 'stream', pc: code.pc, text: `${text} ${bit}`, replace });
  }
  return moves;
}
