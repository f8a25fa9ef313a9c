// The memory an instruction is about to touch, lane by lane, as data for traces and the debugger.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { type AccessPiece, type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';
import { popcount } from './lanes.ts';

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

/** One access of all active lanes. */
export interface ShortAccess {
  readonly space: AccessGroup['space'];
  readonly kind: AccessGroup['kind'];
  readonly bytes: number;
  /** Active lanes; 0 for an access of the whole wavefront. */
  readonly lanes: number;
  readonly first: number;
  /** From lane to lane; undefined for fewer than two lanes, and where it differs. */
  readonly stride: number | undefined;
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

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

/** Whether all active lanes have an address of memory: none that bounds drop, and of flat ones none of another space. */
function isPlain(addresses: Float64Array, low: number, high: number, isFlat: boolean): boolean {
  for (let lane = 0; lane < LANES; lane++) {
    const address = addresses[lane] as number;
    if ((address < 0 || (isFlat && isAperture(address))) && maskBit(low, high, lane)) return false;
  }
  return true;
}

/** From lane to lane, when it is the same between all active ones. */
function strideOf(addresses: Float64Array, low: number, high: number, firstLane: number): number | undefined {
  const first = addresses[firstLane] as number;
  if ((low & high) === -1) {
    const stride = (addresses[1] as number) - first;
    for (let lane = 2; lane < LANES; lane++)
      if ((addresses[lane] as number) !== first + stride * lane) return undefined;
    return stride;
  }
  let stride: number | undefined;
  for (let lane = firstLane + 1; lane < LANES; lane++) {
    if (!maskBit(low, high, lane)) continue;
    const more = (addresses[lane] as number) - first;
    stride ??= more / (lane - firstLane);
    if (more !== stride * (lane - firstLane)) return undefined;
  }
  return stride;
}

const isAperture = (address: number): boolean => {
  const high = Math.floor(address / APERTURE);
  return high === SHARED_APERTURE_HIGH || high === PRIVATE_APERTURE_HIGH;
};

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
  private readonly addresses = new Float64Array(LANES);

  private planAt(pc: number, bound: BoundInstruction): AccessPlan | null {
    let plan = this.plans[pc >>> 2];
    if (plan === undefined) {
      const { instruction } = bound;
      plan = accessPlan(instruction, semanticsOf(instruction.row.operation)) ?? null;
      this.plans[pc >>> 2] = plan;
    }
    return plan;
  }

  /**
   * What the wave touches when it executes the instruction in its present state, as one regular access or one of which only the first
   * address counts; undefined where only `read` can tell: two spaces, several sizes, lanes that a buffer's bounds drop.
   */
  readShort(w: Wave, pc: number, bound: BoundInstruction): ShortAccess | undefined {
    const plan = this.planAt(pc, bound);
    if (plan === null || plan.toLds) return undefined;
    const { kind, span, space } = plan;
    if (plan.isScalar) return this.readScalar(plan, w);
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    if (span === 0 || w.vskip || (low | high) === 0) return undefined;
    plan.prepare(w);
    const { addresses } = this;
    if (!plan.addresses(w, span, addresses)) return undefined;
    if (!isPlain(addresses, low, high, space === 'flat')) return undefined;
    const firstLane = low === 0 ? 32 + trailingZeros(high) : trailingZeros(low);
    const lanes = popcount(low) + popcount(high);
    return {
      space: space === 'flat' ? 'global' : space,
      kind,
      bytes: span,
      lanes,
      first: addresses[firstLane] as number,
      stride: lanes < 2 ? undefined : strideOf(addresses, low, high, firstLane),
    };
  }

  private readScalar(plan: AccessPlan, w: Wave): ShortAccess | undefined {
    plan.prepare(w);
    const pieces = plan.pieces(w);
    const [first] = pieces;
    const last = pieces.at(-1);
    if (first === undefined || last === undefined || plan.space === 'flat') return undefined;
    const address = plan.address(w, 0, first);
    if (address < 0) return undefined;
    let end = first.offset;
    for (const { offset, bytes } of pieces) {
      if (offset !== end) return undefined;
      end += bytes;
    }
    const { space, kind } = plan;
    return { space, kind, bytes: end - first.offset, lanes: 0, first: address, stride: undefined };
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
