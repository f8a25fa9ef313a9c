// What compiled vector code knows of MODE when it is written.
import type { Rounding } from '../../../base/elements/formats.ts';
import type { LaneMode } from './lane-writer.ts';
import { MODE_MASK } from './place.ts';

const modes = new Map<number, LaneMode>();

/** What compiled code knows of MODE: one object for each. */
export function laneMode(mode: number, ocp: boolean): LaneMode {
  const key = 2 * (mode & MODE_MASK) + (ocp ? 1 : 0);
  let known = modes.get(key);
  if (known === undefined) {
    known = modeFacts(mode, ocp);
    modes.set(key, known);
  }
  return known;
}

function modeFacts(mode: number, ocp: boolean): LaneMode {
  return {
    round32: (mode & 3) as Rounding,
    round64: ((mode >> 2) & 3) as Rounding,
    in32: (mode & 0x10) !== 0,
    out32: (mode & 0x20) !== 0,
    in64: (mode & 0x40) !== 0,
    out64: (mode & 0x80) !== 0,
    dx10Clamp: (mode & 0x100) !== 0,
    ieee: (mode & 0x200) !== 0,
    saturate: (mode & 0x800000) !== 0,
    ocp,
  };
}
