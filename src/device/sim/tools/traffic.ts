// Bytes that instructions ask for, by address space, derived from execution counts: element size × active lanes.
import { type Operation, semanticsOf } from '../../../isa/semantics/index.ts';
import type { SiteCounts } from './counts.ts';

/** Address spaces as instructions name them; `flat` goes where the address points, `buffer` may be out of range and go nowhere. */
export type TrafficSpace = 'global' | 'buffer' | 'flat' | 'lds' | 'scratch' | 'scalar';

/** Bytes asked for. */
export interface Traffic {
  load: number;
  store: number;
  /** Bytes of the memory operand, once per atomic. */
  atomic: number;
}

const SPACES: Readonly<Record<string, TrafficSpace>> = {
  global: 'global',
  buffer: 'buffer',
  tbuffer: 'buffer',
  flat: 'flat',
  lds: 'lds',
  scratch: 'scratch',
  scalar: 'scalar',
  scalarBuffer: 'scalar',
  scalarScratch: 'scalar',
};

const ATOMIC_BYTES: Readonly<Record<string, number>> = { i32: 4, i64: 8, f32: 4, f64: 8, f16x2: 4, bf16x2: 4 };

/** Bytes one lane moves, how, and where; undefined for what moves none or a number that depends on a descriptor. */
function movement(op: Operation | undefined): { space: TrafficSpace; kind: keyof Traffic; bytes: number } | undefined {
  if (op === undefined || !('space' in op)) return undefined;
  const space = SPACES[op.space] as TrafficSpace;
  if (op.kind === 'format') return undefined;
  const elements = op.pairStride === undefined ? 1 : 2;
  if (op.kind === 'atomic') return { space, kind: 'atomic', bytes: elements * (ATOMIC_BYTES[op.type] as number) };
  return { space, kind: op.kind, bytes: elements * op.bytes };
}

/** Sums per space; spaces nothing touched are left out. Typed buffer accesses are not counted, their number is. */
export function deriveTraffic(counts: SiteCounts): {
  readonly spaces: Partial<Record<TrafficSpace, Traffic>>;
  readonly formatted: number;
} {
  const spaces: Partial<Record<TrafficSpace, Traffic>> = {};
  let formatted = 0;
  const add = (space: TrafficSpace, kind: keyof Traffic, bytes: number): void => {
    spaces[space] ??= { load: 0, store: 0, atomic: 0 };
    (spaces[space] as Traffic)[kind] += bytes;
  };
  for (const { instruction, hits, lanes, skipped } of counts.instructions) {
    const op = semanticsOf(instruction.row.operation);
    if (op?.kind === 'format') formatted += hits;
    const moved = movement(op);
    if (moved === undefined || skipped > 0) continue;
    add(moved.space, moved.kind, moved.bytes * (moved.space === 'scalar' ? hits : lanes));
    const toLds = op?.kind === 'load' && (op.toLds || / lds$/.test(instruction.row.template));
    if (toLds) add('lds', 'store', Math.max(4, moved.bytes) * lanes);
  }
  return { spaces, formatted };
}
