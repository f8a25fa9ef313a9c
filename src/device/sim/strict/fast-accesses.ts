// The quick way through the checks of a memory access: whole dwords of live, written memory that nobody else touches. It says yes, and
// then everything is recorded, or no, and the checks that can say what is wrong look at it (access-checks.ts).
import type { AccessPlan } from '../accesses.ts';
import type { DeviceMemory, Region } from '../memory.ts';
import { EXEC, LANES, type Wave } from '../wave.ts';
import type { GlobalShadow, RegionShadow } from './global.ts';
import type { LdsShadow } from './lds.ts';
import { BOTH, type StrictPlan } from './plan.ts';
import type { LdsBytes } from './waits.ts';
import type { WaveShadow } from './wave-shadow.ts';

/** Whose access it is. */
export interface FastActor {
  readonly w: Wave;
  readonly shadow: WaveShadow;
  readonly lds: LdsShadow;
  readonly group: number;
  readonly scratch: Region | undefined;
  readonly pc: number;
  readonly plan: StrictPlan;
  readonly access: AccessPlan;
  readonly isSynchronising: boolean;
}

export class FastAccesses {
  private readonly memory: DeviceMemory;
  private readonly global: GlobalShadow;
  private readonly kernarg: Region | undefined;
  private readonly followsRaces: boolean;
  private readonly addresses = new Float64Array(LANES);

  constructor(memory: DeviceMemory, global: GlobalShadow, kernarg: Region | undefined, workgroups: number) {
    this.memory = memory;
    this.global = global;
    this.kernarg = kernarg;
    this.followsRaces = workgroups > 1;
  }

  /** True when the access is all right and recorded; its bytes of LDS that it writes go to `written`. */
  check(actor: FastActor, written: LdsBytes[]): boolean {
    const { w, access, plan, shadow } = actor;
    const { span } = access;
    if ((span & 3) !== 0 || span === 0 || access.toLds || access.kind === 'atomic') return false;
    if (access.space !== 'global' && access.space !== 'lds') return false;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    if ((low | high) === 0 || !access.addresses(w, span, this.addresses)) return false;
    const { registers } = shadow;
    for (const read of plan.dataReads) {
      if ((registers.undefinedLanes(read, low, 0) | registers.undefinedLanes(read, high, 1)) !== 0) return false;
    }
    const isFine =
      access.space === 'lds' ? this.checkLds(actor, low, high, written) : this.checkGlobal(actor, low, high);
    if (!isFine) return false;
    if (access.kind === 'load') {
      for (const { register } of access.pieces(w)) if (register >= 0) registers.define(register, BOTH, low, high);
    }
    return true;
  }

  private checkGlobal(actor: FastActor, low: number, high: number): boolean {
    const { access, group, pc, isSynchronising } = actor;
    const { addresses } = this;
    const { span } = access;
    const isWrite = access.kind === 'store';
    if (isSynchronising && this.followsRaces) return false;
    const lane = low !== 0 ? 31 - Math.clz32(low & -low) : 63 - Math.clz32(high & -high);
    const start = addresses[lane] as number;
    const region = start < 0 ? undefined : this.memory.find(start, span);
    if (region === undefined || region === this.kernarg || region === actor.scratch) return false;
    if (isWrite && region.readOnlyRanges.length > 0) return false;
    const { base } = region;
    if ((low & high) === -1 && isConsecutive(addresses, span)) {
      const offset = start - base;
      if ((offset & 3) !== 0 || offset + LANES * span > region.size) return false;
      return this.one(this.global.of(region), offset, span * LANES, isWrite, group, pc);
    }
    const last = region.size - span;
    for (let i = 0; i < LANES; i++) {
      if ((((i < 32 ? low : high) >>> (i & 31)) & 1) === 0) continue;
      const offset = (addresses[i] as number) - base;
      if (!(offset >= 0 && offset <= last) || (offset & 3) !== 0) return false;
    }
    const of = this.global.of(region);
    for (let i = 0; i < LANES; i++) {
      if ((((i < 32 ? low : high) >>> (i & 31)) & 1) === 0) continue;
      if (!this.one(of, (addresses[i] as number) - base, span, isWrite, group, pc)) return false;
    }
    return true;
  }

  /** Consecutive dwords. */
  private one(of: RegionShadow, offset: number, bytes: number, isWrite: boolean, group: number, pc: number): boolean {
    if (!isWrite && !of.hasDwords(offset, bytes)) return false;
    if (this.followsRaces && !this.global.accessDwords(of, offset, bytes, group, pc, isWrite)) return false;
    if (isWrite) of.setDwords(offset, bytes);
    return true;
  }

  private checkLds(actor: FastActor, low: number, high: number, written: LdsBytes[]): boolean {
    const { w, lds, access, pc } = actor;
    if (!lds.isSettled) return false;
    const { addresses } = this;
    const { span } = access;
    const last = w.workgroup.lds.byteLength - span;
    const isWrite = access.kind === 'store';
    if ((low & high) === -1 && isConsecutive(addresses, span)) {
      const from = addresses[0] as number;
      if ((from & 3) !== 0 || from + LANES * span > w.workgroup.lds.byteLength) return false;
      lds.touchRange(from, from + LANES * span);
      if (!isWrite) return lds.readDwords(w.index, from, LANES * span, pc);
      if (!lds.writeDwords(w.index, from, LANES * span, pc)) return false;
      written.push({ addresses: Uint32Array.of(from), count: 1, bytes: LANES * span });
      return true;
    }
    let least = Number.POSITIVE_INFINITY;
    let most = 0;
    for (let i = 0; i < LANES; i++) {
      if ((((i < 32 ? low : high) >>> (i & 31)) & 1) === 0) continue;
      const address = addresses[i] as number;
      if (address > last || (address & 3) !== 0) return false;
      if (address < least) least = address;
      if (address > most) most = address;
    }
    lds.touchRange(least, most + span);
    const starts = isWrite ? lds.takeArray() : undefined;
    let count = 0;
    for (let i = 0; i < LANES; i++) {
      if ((((i < 32 ? low : high) >>> (i & 31)) & 1) === 0) continue;
      const address = addresses[i] as number;
      if (starts === undefined) {
        if (!lds.readDwords(w.index, address, span, pc)) return false;
        continue;
      }
      starts[count++] = address;
      if (!lds.writeDwords(w.index, address, span, pc)) return false;
    }
    if (starts !== undefined) written.push({ addresses: starts, count, bytes: span });
    return true;
  }
}

/** Whether lane after lane follows without a gap. */
function isConsecutive(addresses: Float64Array, span: number): boolean {
  const start = addresses[0] as number;
  if ((addresses[LANES - 1] as number) !== start + (LANES - 1) * span) return false;
  for (let i = 1; i < LANES; i++) if ((addresses[i] as number) !== start + i * span) return false;
  return start >= 0;
}
