// Lanes of one store that have the same address, or of elements of more than a dword bytes in common: with different values, which of them stays is not defined; with the same one, made of what was
// there, all but one of their additions are lost.

import type { Instruction } from '../../../../isa/types.ts';
import { PRIVATE_APERTURE_HIGH } from '../../../apertures.ts';
import type { AccessPiece, AccessPlan } from '../../interpreter/access-plan.ts';
import { EXEC, LANES, maskBit, type Wave } from '../../state/wave.ts';
import type { StrictPlan } from '../plan.ts';
import type { Reporter } from '../reporter.ts';
import { updatesInPlace } from './lost-updates.ts';

const DWORD = 4;
const HIGH_WORD = 4294967296;
/** Of the lanes of the store that is looked at; -1 where there is none, or it is of the lane alone. */
const addresses = new Float64Array(LANES);

/**
 * Reports two lanes of a store that contradict each other, or of which one undoes what the other one has added. True where lanes store the same at one address, and none of them undoes
 * anything; where the store `isScoped`, also where none have one address.
 */
export function checkLanes(
  reporter: Reporter,
  w: Wave,
  pc: number,
  { operation, instruction }: StrictPlan,
  access: AccessPlan,
  isScoped: boolean,
): boolean {
  if (operation?.kind !== 'store' || access.isScalar || access.space === 'scratch') return false;
  const pieces = access.pieces(w);
  const piece = pieces[0];
  if (piece === undefined) return false;
  const [low, high] = [w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number];
  const isGathered = access.span > 0 && access.addresses(w, access.span, addresses);
  const length = runBytes(pieces);
  let [end, isApart] = [0, true];
  for (let lane = 0; lane < LANES; lane++) {
    const isActive = maskBit(low, high, lane);
    if (isActive && !isGathered) {
      w.lane = lane;
      addresses[lane] = access.address(w, lane, piece);
    }
    const address = isActive ? (addresses[lane] as number) : -1;
    if (address < 0 || Math.floor(address / HIGH_WORD) === PRIVATE_APERTURE_HIGH) {
      addresses[lane] = -1;
      continue;
    }
    isApart &&= address >= end;
    end = address + (length > DWORD ? length : 1);
  }
  if (isApart) return isScoped && updatedBy(reporter, pc) === undefined;
  const first = new Map<number, number>();
  let shared: readonly [number, number] | undefined;
  for (const [lane, address] of addresses.entries()) {
    const other = address < 0 ? lane : (first.get(address) ?? lane);
    if (other === lane) first.set(address, lane);
    else if (pieces.some((one) => valueIn(w, one, lane) !== valueIn(w, one, other))) {
      report(reporter, w, pc, access, address, [other, lane]);
      return false;
    } else shared ??= [other, lane];
  }
  if (shared === undefined) {
    if (length > DWORD && !isIndexed(instruction) && access.rowBytes() === 0)
      checkOverlaps(reporter, w, pc, access, pieces, length);
    return isScoped && length <= DWORD && updatedBy(reporter, pc) === undefined;
  }
  const load = updatedBy(reporter, pc);
  if (load === undefined) return true;
  if (isShareEven()) return false;
  report(reporter, w, pc, access, addresses[shared[0]] as number, shared, load);
  return false;
}

/** The place in the image of the load of what the store at a place there puts back with something added, if it is such a one. */
export function updatedBy({ dispatch: { loaded, entry } }: Reporter, pc: number): number | undefined {
  const load = updatesInPlace(loaded, entry).get(loaded.region.base + pc);
  return load === undefined ? undefined : load - loaded.region.base;
}

/** Whether lanes give the number of an element of a buffer, whose size is in its resource: what these overlap is not looked at. */
export const isIndexed = ({ row }: Instruction): boolean => / idxen/.test(row.template);

/** Bytes of the first piece and those that follow it without a gap. */
function runBytes(pieces: readonly AccessPiece[]): number {
  const start = pieces[0]?.offset ?? 0;
  let end = start;
  for (const { offset, bytes } of pieces) {
    if (offset !== end) break;
    end += bytes;
  }
  return end - start;
}

/** Reports two lanes of which the first pieces, which are dwords of so many bytes, have bytes in common and different values there. No two have the same address. */
function checkOverlaps(
  reporter: Reporter,
  w: Wave,
  pc: number,
  access: AccessPlan,
  pieces: readonly AccessPiece[],
  length: number,
): void {
  const lanes = [...addresses.keys()].filter((lane) => (addresses[lane] as number) >= 0);
  lanes.sort((a, b) => (addresses[a] as number) - (addresses[b] as number));
  const byte = (lane: number, n: number): number => {
    return (valueIn(w, pieces[n >>> 2] as AccessPiece, lane) >>> (8 * (n & 3))) & 255;
  };
  for (const [n, low] of lanes.entries()) {
    const at = addresses[low] as number;
    for (let k = n + 1; k < lanes.length; k++) {
      const high = lanes[k] as number;
      const shift = (addresses[high] as number) - at;
      if (shift >= length) break;
      for (let b = shift; b < length; b++) {
        if (byte(low, b) === byte(high, b - shift)) continue;
        report(reporter, w, pc, access, at + b, [low, high]);
        return;
      }
    }
  }
}

/**
 * Whether as many lanes have each address of the store: lanes that keep what belongs to a row or a column of theirs all compute the same, and mean it once. Counters
 * that values choose have some lanes more than others.
 */
function isShareEven(): boolean {
  const counts = new Map<number, number>();
  for (const address of addresses) if (address >= 0) counts.set(address, (counts.get(address) ?? 0) + 1);
  return new Set(counts.values()).size === 1;
}

function valueIn({ vgprs }: Wave, { register, half, bytes }: AccessPiece, lane: number): number {
  if (register < 0) return 0;
  const word = vgprs[register * LANES + lane] as number;
  return (half === 'high' ? word >>> 16 : word) << (32 - 8 * bytes);
}

/** `load`: the place in the image of the load of what the lanes have added to, where they store the same. */
function report(
  reporter: Reporter,
  w: Wave,
  pc: number,
  { space }: AccessPlan,
  address: number,
  [first, second]: readonly [number, number],
  load?: number,
): void {
  const isLds = space === 'lds';
  const where = `0x${address.toString(16)}`;
  reporter.report('races/lanes', w, pc, () => ({
    lane: second,
    space: isLds ? 'lds' : 'global',
    address,
    allocation: isLds ? undefined : reporter.near(address),
    ...(load === undefined
      ? {
          message: `Lanes ${first} and ${second} store different values to the same address ${where}: which of them stays is not defined.`,
          advice: 'Let one lane store, use an atomic, or give each lane an address of its own.',
        }
      : {
          related: [reporter.other('loads the value', load)],
          message: `Lanes ${first} and ${second} load the same value from address ${where}, add to it, and store it there: what all of them but one add is lost.`,
          advice: 'Use an atomic, or let one lane add for all.',
        }),
  }));
}
