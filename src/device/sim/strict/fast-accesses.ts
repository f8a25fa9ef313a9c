// The quick way through the checks of a memory access: whole dwords of live, written memory that nobody else touches. It says yes, and
// then everything is recorded, or no, and the checks that can say what is wrong look at it (access-checks.ts).
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import type { AccessPlan } from '../interpreter/access-plan.ts';
import { vectorBase } from '../interpreter/operands.ts';
import { gpuWindow } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Region } from '../state/region.ts';
import { EXEC, FLAT_SCRATCH, LANES, type Wave } from '../state/wave.ts';
import type { GlobalShadow, RegionShadow } from './global.ts';
import type { LdsShadow } from './lds/lds.ts';
import { BOTH, type StrictPlan } from './plan.ts';
import type { Toucher } from './races/race-events.ts';
import { ACCESS_DATA } from './registers/shadow-layout.ts';
import type { LdsBytes } from './registers/waits.ts';
import type { WaveShadow } from './registers/wave-shadow.ts';

/** A workgroup that is running. */
export interface GroupState {
  /** Linear number in the grid. */
  readonly number: number;
  readonly lds: LdsShadow;
  /** By wavefront. */
  readonly waves: readonly WaveShadow[];
  readonly scratch: Region | undefined;
}

const HIGH_WORD = 4294967296;

/** A bit for each lane: lanes 0 to 31, and the others. */
type Lanes = [low: number, high: number];

const isAny = ([low, high]: Lanes): boolean => (low | high) !== 0;

/** Nothing of LDS is written. */
export const NO_LDS: readonly LdsBytes[] = [];

/** Accesses of whole dwords that may go the quick way. */
function isPlain({ span, toLds, kind }: AccessPlan): boolean {
  return span !== 0 && (span & 3) === 0 && !toLds && kind !== 'atomic';
}

export class FastAccesses {
  private readonly memory: DeviceMemory;
  private readonly global: GlobalShadow;
  private readonly kernarg: Region | undefined;
  private readonly addresses = new Float64Array(LANES);

  constructor(memory: DeviceMemory, global: GlobalShadow, kernarg: Region | undefined) {
    this.memory = memory;
    this.global = global;
    this.kernarg = kernarg;
  }

  /** The bytes of LDS that are written when the access is all right and recorded, else undefined; always where it `isClose` to what is to be looked at. */
  check(
    w: Wave,
    shadow: WaveShadow,
    state: GroupState,
    pc: number,
    plan: StrictPlan,
    isClose: boolean,
    place: number,
  ): readonly LdsBytes[] | undefined {
    const access = plan.access as AccessPlan;
    const { registers } = shadow;
    const known = registers.outstanding[1] as number;
    registers.outstanding[1] = 0;
    if (!isPlain(access)) return undefined;
    if (isClose) return undefined;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    if ((known & ACCESS_DATA) === 0) {
      for (const read of plan.dataReads) {
        if ((registers.undefinedLanes(read, low, 0) | registers.undefinedLanes(read, high, 1)) !== 0) return undefined;
      }
    }
    let written: readonly LdsBytes[] | undefined;
    if (access.space === 'lds' && access.laneOffsets !== undefined && state.lds.order === undefined) {
      written = eachLds(w, state, pc, access, low, high);
    } else if (access.space === 'global') {
      const start = this.gather(w, access, low, high);
      if (start === undefined) return undefined;
      const who = toucherOf(w, state, place);
      const isFine =
        start >= 0 ? this.wholeGlobal(state, who, access, start) : this.eachGlobal(state, who, access, low, high);
      written = isFine ? NO_LDS : undefined;
    } else if (access.space === 'flat') written = this.eachFlat(w, state, pc, plan, low, high, place);
    if (written !== undefined && access.kind === 'load') {
      for (const { register } of plan.writes) registers.define(register, BOTH, low, high);
    }
    return written;
  }

  /** Fills `addresses`; the start of one run of bytes, -1 when lanes are apart, undefined when there are no addresses. */
  private gather(w: Wave, access: AccessPlan, low: number, high: number): number | undefined {
    if ((low | high) === 0 || !access.addresses(w, access.span, this.addresses)) return undefined;
    if ((low & high) !== -1 || !isConsecutive(this.addresses, access.span)) return -1;
    return this.addresses[0];
  }

  private regionOf(state: GroupState, address: number, span: number, isWrite: boolean): Region | undefined {
    const region = address < 0 ? undefined : this.memory.find(address, span);
    if (region === undefined || region === this.kernarg || region === state.scratch) return undefined;
    return isWrite && region.readOnlyRanges.length > 0 ? undefined : region;
  }

  private wholeGlobal(state: GroupState, who: Toucher, { span, kind }: AccessPlan, start: number): boolean {
    const isWrite = kind === 'store';
    const region = this.regionOf(state, start, LANES * span, isWrite);
    if (region === undefined) return false;
    const offset = start - region.base;
    return (offset & 3) === 0 && this.one(this.global.of(region), offset, span * LANES, isWrite, who);
  }

  private eachGlobal(state: GroupState, who: Toucher, { span, kind }: AccessPlan, low: number, high: number): boolean {
    const { addresses } = this;
    const isWrite = kind === 'store';
    const lane = low !== 0 ? 31 - Math.clz32(low & -low) : 63 - Math.clz32(high & -high);
    const region = this.regionOf(state, addresses[lane] as number, span, isWrite);
    if (region === undefined) return false;
    const { base } = region;
    const last = region.size - span;
    for (let i = 0; i < LANES; i++) {
      if ((((i < 32 ? low : high) >>> (i & 31)) & 1) === 0) continue;
      const offset = (addresses[i] as number) - base;
      if (!(offset >= 0 && offset <= last) || (offset & 3) !== 0) return false;
    }
    const of = this.global.of(region);
    for (let i = 0; i < LANES; i++) {
      if ((((i < 32 ? low : high) >>> (i & 31)) & 1) === 0) continue;
      if (!this.one(of, (addresses[i] as number) - base, span, isWrite, who)) return false;
    }
    return true;
  }

  /** Lanes at flat addresses, each in the space that its address says: what is stored to LDS. */
  private eachFlat(
    w: Wave,
    state: GroupState,
    pc: number,
    { instruction, access }: StrictPlan,
    low: number,
    high: number,
    place: number,
  ): readonly LdsBytes[] | undefined {
    const { addresses } = this;
    if (access === undefined || (low | high) === 0 || !access.addresses(w, access.span, addresses)) return undefined;
    const [global, lds, scratch]: [Lanes, Lanes, Lanes] = [
      [0, 0],
      [0, 0],
      [0, 0],
    ];
    for (let lane = 0; lane < LANES; lane++) {
      const half = lane >>> 5;
      const bit = 1 << (lane & 31);
      if (((half === 0 ? low : high) & bit) === 0) continue;
      const aperture = Math.floor((addresses[lane] as number) / HIGH_WORD);
      const lanes = aperture === SHARED_APERTURE_HIGH ? lds : aperture === PRIVATE_APERTURE_HIGH ? scratch : global;
      lanes[half] = (lanes[half] as number) | bit;
    }
    if (isAny(scratch) && !this.eachScratch(w, state, access, scratch)) return undefined;
    if (isAny(global) && !this.eachGlobal(state, toucherOf(w, state, place), access, ...global)) return undefined;
    if (!isAny(lds)) return NO_LDS;
    const vaddr = operandNamed(instruction, 'vaddr');
    if (state.lds.order !== undefined || vaddr?.kind !== 'reg') return undefined;
    return noteLds(w, state, pc, access, vectorBase(vaddr), immediateOf(instruction, 'offset'), lds);
  }

  /** Lanes in scratch; loads of what has been written. */
  private eachScratch(w: Wave, state: GroupState, { span, kind }: AccessPlan, [low, high]: Lanes): boolean {
    const { addresses } = this;
    const { scratch, waves } = state;
    const { registers } = waves[w.index] as WaveShadow;
    if (scratch === undefined || !registers.isScalarDefined(FLAT_SCRATCH)) return false;
    const limit = w.workgroup.dispatch.scratchPerLane;
    const of = this.global.of(scratch);
    const rows = w.address(FLAT_SCRATCH) - scratch.base;
    const isWrite = kind === 'store';
    for (let lane = 0; lane < LANES; lane++) {
      if ((((lane < 32 ? low : high) >>> (lane & 31)) & 1) === 0) continue;
      const offset = (addresses[lane] as number) % HIGH_WORD;
      if ((offset & 3) !== 0 || offset + span > limit) return false;
      for (let at = offset; at < offset + span; at += 4) {
        const place = rows + at * LANES + 4 * lane;
        if (isWrite) of.setDwords(place, 4);
        else if (!of.hasDwords(place, 4)) return false;
      }
    }
    return true;
  }

  /** Where the record of the page at an offset of wasm memory is, made when there was none; 0 where only TypeScript looks at accesses of it. */
  openPage(state: GroupState, offset: number): number {
    const region = this.regionOf(state, gpuWindow.base + offset, 1, false);
    return region === undefined ? 0 : this.global.openPage(region, offset - region.offset);
  }

  /** The reads of the page at an offset of wasm memory, which is to be stored to, leave the log; false where that is not known to do. */
  unlogPage(state: GroupState, offset: number): boolean {
    const region = this.regionOf(state, gpuWindow.base + offset, 1, true);
    return region !== undefined && this.global.unlogPage(region, offset - region.offset);
  }

  /** Consecutive dwords. */
  private one(of: RegionShadow, offset: number, bytes: number, isWrite: boolean, who: Toucher): boolean {
    if (!isWrite && !of.hasDwords(offset, bytes)) return false;
    if (!this.global.accessDwords(of, offset, bytes, who, isWrite)) return false;
    if (isWrite) of.setDwords(offset, bytes);
    return true;
  }
}

/** Who a wavefront is to the records of global memory; `place`: of its event (ANNOUNCES). */
export function toucherOf(w: Wave, { waves }: GroupState, place: number): Toucher {
  const { registers, issuedFirst: before } = waves[w.index] as WaveShadow;
  const { actor, epoch, releases, told } = registers;
  return { actor, epoch, store: registers.outstanding[2] as number, releases, told, pc: place, before };
}

function eachLds(
  w: Wave,
  state: GroupState,
  pc: number,
  access: AccessPlan,
  low: number,
  high: number,
): readonly LdsBytes[] | undefined {
  const piece = access.pieces(w)[0];
  if (piece === undefined || (low | high) === 0) return undefined;
  const { laneOffsets: first = 0 } = access;
  return noteLds(w, state, pc, access, first, access.address(w, 0, piece) - (w.vgprs[first] as number), [low, high]);
}

/** Lanes whose LDS addresses are words of a register and something to be added: what is stored there. */
function noteLds(
  w: Wave,
  { lds, waves }: GroupState,
  pc: number,
  { span, kind }: AccessPlan,
  first: number,
  delta: number,
  [low, high]: Lanes,
): readonly LdsBytes[] | undefined {
  if (!lds.isSettledFor(waves[w.index] as WaveShadow)) return undefined;
  const isWrite = kind === 'store';
  const starts = isWrite && lds.isShared ? lds.takeArray() : undefined;
  if (!lds.accessLanes(w.index, pc, w.vgprs, first, delta, span, isWrite, low, high, starts)) return undefined;
  return starts === undefined ? NO_LDS : [{ addresses: starts, count: lds.laneCount, bytes: span }];
}

/** Whether lane after lane follows without a gap. */
function isConsecutive(addresses: Float64Array, span: number): boolean {
  const start = addresses[0] as number;
  if ((addresses[LANES - 1] as number) !== start + (LANES - 1) * span) return false;
  for (let i = 1; i < LANES; i++) if ((addresses[i] as number) !== start + i * span) return false;
  return start >= 0;
}
