// Islands: jumps on the way of a branch whose target is out of its reach. They need no register and change no flag, unlike a jump
// through an address in registers, so they can stand wherever code stands.
// Source: CDNA3 ISA manual, "S_BRANCH": a 16-bit distance in dwords from the next instruction.
import type { Cut } from './layout.ts';

/** Bytes forward that a branch reaches from the instruction behind it; backward it is one dword more. */
export const BRANCH_REACH = 32767 * 4;

/** Whether a branch at `at` reaches an address. */
export function isInReach(at: number, to: number, reach: number): boolean {
  const distance = to - (at + 4);
  return distance <= reach && distance >= -reach;
}

/** Where the island number `index` of a cut's pool is: behind the jump over the pool. */
export function islandAddress(cut: Cut, index: number): number {
  return cut.newPool + 4 * (1 + index);
}

/** Chooses islands. Pools stand at some of the cuts; the list is in the order of the addresses. */
export class IslandRouter {
  private readonly pools: readonly Cut[];
  private readonly reach: number;
  /** Islands made. */
  count = 0;

  constructor(pools: readonly Cut[], reach: number) {
    this.pools = pools;
    this.reach = reach;
  }

  /**
   * Where a branch at `at` goes on its way to `place`, the new place of the old address `target`: `place` itself, or an island, made if
   * it is not there: then `count` rises, and the layout must be done again. Undefined when there is no way. An island that is routed is
   * `from` its cut, so that it does not lead to its own pool.
   */
  route(at: number, place: number, target: number, from?: Cut): number | undefined {
    if (isInReach(at, place, this.reach)) return place;
    const isForward = place > at;
    // Pools grow while islands are added, so the last eighth of the reach is left alone.
    const reach = this.reach * 0.875;
    let best: Cut | undefined;
    for (const cut of this.pools) {
      if (cut === from) continue;
      const distance = cut.newPool - at;
      if (isForward ? distance > 8 && distance <= reach : distance < 0 && distance >= -reach) {
        if (best === undefined || isForward) best = cut;
      }
    }
    if (best?.pool === undefined) return undefined;
    const { islands } = best.pool;
    const known = islands.findIndex((island) => island.target === target);
    if (known >= 0) return islandAddress(best, known);
    islands.push({ target });
    this.count++;
    return 0;
  }
}
