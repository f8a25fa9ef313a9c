// The memory an instruction is about to touch, lane by lane, as data for traces and the debugger.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { type AccessPiece, type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';

const APERTURE = 4294967296;
/** An instruction touches in each lane at most two places that do not follow each other. */
const MOST_RUNS = 2;

/** Accesses of one instruction that have space, direction and size in common, in the order of lanes. The reader's next ones replace them. */
export class AccessGroup {
  space: 'global' | 'lds' | 'scratch' = 'global';
  kind: AccessPlan['kind'] = 'load';
  /** Of each access: they follow each other. */
  bytes = 0;
  /** Accesses; a lane may have two. */
  count = 0;
  /** The lane of each access; -1 for an access of the whole wavefront. */
  readonly lanes = new Int8Array(MOST_RUNS * LANES);
  /** The address of each access in its space. */
  readonly addresses = new Float64Array(MOST_RUNS * LANES);

  add(lane: number, address: number): void {
    this.lanes[this.count] = lane;
    this.addresses[this.count++] = address;
  }

  /** One access of each lane of a mask; `all` by lane. */
  addLanes(all: Float64Array, low: number, high: number): void {
    const { lanes, addresses } = this;
    let { count } = this;
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      lanes[count] = lane;
      addresses[count++] = all[lane] as number;
    }
    this.count = count;
  }

  /** Bytes from lane to lane, when it is the same between all of them; undefined for fewer than two accesses. */
  get stride(): number | undefined {
    const { count, lanes, addresses } = this;
    if (count < 2) return undefined;
    const lane = lanes[0] as number;
    const first = addresses[0] as number;
    const stride = ((addresses[1] as number) - first) / ((lanes[1] as number) - lane);
    for (let n = 1; n < count; n++) {
      if ((addresses[n] as number) !== first + stride * ((lanes[n] as number) - lane)) return undefined;
    }
    return stride;
  }

  some(test: (lane: number, address: number) => boolean): boolean {
    for (let n = 0; n < this.count; n++) {
      if (test(this.lanes[n] as number, this.addresses[n] as number)) return true;
    }
    return false;
  }
}

/** Pieces of a lane that follow each other. */
interface Run {
  readonly first: AccessPiece;
  readonly bytes: number;
}

function runsOf(pieces: readonly AccessPiece[]): readonly Run[] {
  const runs: { first: AccessPiece; bytes: number }[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last !== undefined && last.first.offset + last.bytes === piece.offset) last.bytes += piece.bytes;
    else runs.push({ first: piece, bytes: piece.bytes });
  }
  if (runs.length > MOST_RUNS) throw new Error(`an access of ${runs.length} places in each lane`);
  return runs;
}

/** The plan of an instruction, and the runs of the pieces that it had last. */
interface Known {
  readonly plan: AccessPlan;
  pieces: readonly AccessPiece[];
  runs: readonly Run[];
}

function areInBounds(addresses: Float64Array): boolean {
  for (let lane = 0; lane < LANES; lane++) if ((addresses[lane] as number) < 0) return false;
  return true;
}

/** The space of an address: of flat ones its aperture decides. */
function spaceOf({ space }: AccessPlan, address: number): AccessGroup['space'] {
  if (space !== 'flat') return space;
  const high = Math.floor(address / APERTURE);
  if (high === SHARED_APERTURE_HIGH) return 'lds';
  return high === PRIVATE_APERTURE_HIGH ? 'scratch' : 'global';
}

/** Plans by address of the instruction, made on first use. */
export class AccessReader {
  private readonly known: (Known | null | undefined)[] = [];
  private readonly addresses = new Float64Array(LANES);
  private readonly pool: AccessGroup[] = [];
  private groups: AccessGroup[] = [];

  private knownAt(pc: number, bound: BoundInstruction): Known | null {
    let known = this.known[pc >>> 2];
    if (known === undefined) {
      const { instruction } = bound;
      const plan = accessPlan(instruction, semanticsOf(instruction.row.operation));
      known = plan === undefined ? null : { plan, pieces: [], runs: [] };
      this.known[pc >>> 2] = known;
    }
    return known;
  }

  /** What the wave touches when it executes the instruction in its present state. */
  read(w: Wave, pc: number, bound: BoundInstruction): readonly AccessGroup[] {
    this.groups = [];
    const known = this.knownAt(pc, bound);
    if (known === null) return this.groups;
    const { plan } = known;
    if (w.vskip && !plan.isScalar) return this.groups;
    plan.prepare(w);
    const pieces = plan.pieces(w);
    if (pieces !== known.pieces) {
      known.pieces = pieces;
      known.runs = runsOf(pieces);
    }
    if (plan.isScalar) this.readLane(w, known, 0);
    else this.readLanes(w, known);
    return this.groups;
  }

  private readLanes(w: Wave, known: Known): void {
    const { plan } = known;
    const { kind, span } = plan;
    const { addresses } = this;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    if ((low | high) === 0) return;
    const isTogether = span > 0 && !plan.toLds && plan.addresses(w, span, addresses);
    const isFlat = plan.space === 'flat';
    if (isTogether && plan.space !== 'flat' && areInBounds(addresses)) {
      this.groupOf(plan.space, kind, span).addLanes(addresses, low, high);
      return;
    }
    let group: AccessGroup | undefined;
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      const address = isTogether ? (addresses[lane] as number) : -1;
      // A buffer's bounds may end inside of what a lane accesses: its first piece tells whether any of it is.
      if (address < 0) {
        this.readLane(w, known, lane);
        continue;
      }
      const space = isFlat || group === undefined ? spaceOf(plan, address) : group.space;
      if (group?.space !== space) group = this.groupOf(space, kind, span);
      group.add(lane, isFlat && space !== 'global' ? address % APERTURE : address);
    }
  }

  private readLane(w: Wave, { plan, runs }: Known, lane: number): void {
    const shown = plan.isScalar ? -1 : lane;
    for (const { first, bytes } of runs) {
      const address = plan.address(w, lane, first);
      if (address < 0) continue;
      const space = spaceOf(plan, address);
      const isAperture = plan.space === 'flat' && space !== 'global';
      this.groupOf(space, plan.kind, bytes).add(shown, isAperture ? address % APERTURE : address);
      if (plan.toLds) this.groupOf('lds', 'store', bytes).add(shown, plan.ldsAddress(w, lane, first));
    }
  }

  private groupOf(space: AccessGroup['space'], kind: AccessGroup['kind'], bytes: number): AccessGroup {
    const { groups, pool } = this;
    for (const group of groups) {
      if (group.space === space && group.kind === kind && group.bytes === bytes) return group;
    }
    const group = pool[groups.length] ?? new AccessGroup();
    pool[groups.length] = group;
    group.space = space;
    group.kind = kind;
    group.bytes = bytes;
    group.count = 0;
    groups.push(group);
    return group;
  }
}
