// The memory an instruction is about to touch, lane by lane, as data for traces and the debugger.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { type AccessPiece, type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { LANES, type Wave } from '../state/wave.ts';

/** One lane's consecutive bytes. */
export interface LaneAccess {
  /** -1 for an access of the whole wavefront. */
  readonly lane: number;
  readonly address: number;
}

/** Accesses of one instruction that have space, direction and size in common. */
export interface AccessGroup {
  readonly space: 'global' | 'lds' | 'scratch';
  readonly kind: 'load' | 'store' | 'atomic';
  /** Bytes of each lane. */
  readonly bytes: number;
  readonly lanes: readonly LaneAccess[];
}

/** Pieces of a lane that follow each other count as one. */
function spans(pieces: readonly AccessPiece[]): AccessPiece[][] {
  const out: AccessPiece[][] = [];
  for (const piece of pieces) {
    const last = out.at(-1)?.at(-1);
    if (last !== undefined && last.offset + last.bytes === piece.offset) out.at(-1)?.push(piece);
    else out.push([piece]);
  }
  return out;
}

const APERTURE = 4294967296;

/** Splits a flat address by its aperture. */
function physical(plan: AccessPlan, address: number): { space: AccessGroup['space']; address: number } {
  if (plan.space !== 'flat') return { space: plan.space, address };
  const high = Math.floor(address / APERTURE);
  if (high === SHARED_APERTURE_HIGH) return { space: 'lds', address: address % APERTURE };
  if (high === PRIVATE_APERTURE_HIGH) return { space: 'scratch', address: address % APERTURE };
  return { space: 'global', address };
}

/** Plans by address of the instruction, made on first use. */
export class AccessReader {
  private readonly plans: (AccessPlan | null | undefined)[] = [];

  private planAt(pc: number, bound: BoundInstruction): AccessPlan | null {
    let plan = this.plans[pc >>> 2];
    if (plan === undefined) {
      const { instruction } = bound;
      plan = accessPlan(instruction, semanticsOf(instruction.row.operation)) ?? null;
      this.plans[pc >>> 2] = plan;
    }
    return plan;
  }

  /** What the wave touches when it executes the instruction in its present state. */
  read(w: Wave, pc: number, bound: BoundInstruction): AccessGroup[] {
    const plan = this.planAt(pc, bound);
    if (plan === null || (w.vskip && !plan.isScalar)) return [];
    const groups = new Map<string, { group: Omit<AccessGroup, 'lanes'>; lanes: LaneAccess[] }>();
    const add = (space: AccessGroup['space'], kind: AccessGroup['kind'], bytes: number, at: LaneAccess): void => {
      const key = `${space} ${kind} ${bytes}`;
      let entry = groups.get(key);
      if (entry === undefined) {
        entry = { group: { space, kind, bytes }, lanes: [] };
        groups.set(key, entry);
      }
      entry.lanes.push(at);
    };
    plan.prepare(w);
    const all = spans(plan.pieces(w));
    for (let lane = 0; lane < (plan.isScalar ? 1 : LANES); lane++) {
      if (!plan.isScalar && !w.isActive(lane)) continue;
      const shown = plan.isScalar ? -1 : lane;
      for (const pieces of all) {
        const first = pieces[0] as AccessPiece;
        const address = plan.address(w, lane, first);
        if (address < 0) continue;
        const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
        const place = physical(plan, address);
        add(place.space, plan.kind, bytes, { lane: shown, address: place.address });
        if (plan.toLds) add('lds', 'store', bytes, { lane: shown, address: plan.ldsAddress(w, lane, first) });
      }
    }
    return [...groups.values()].map(({ group, lanes }) => ({ ...group, lanes }));
  }
}
