// What wavefronts of a workgroup hand over to each other through LDS without a barrier: vector clocks. Kept for kernels whose code polls
// LDS or uses what LDS atomics return (polls.ts). LDS executes the operations of a wavefront in order, so a store of a flag
// hands over all that the wavefront has done in LDS before it, and its global stores; to other workgroups those that a wait has proved complete.
// Source: LLVM's AMDGPUUsage, "Memory Model gfx942", local address space.
import type { AccessPlan } from '../interpreter/access-plan.ts';
import { type CompleteStores, type HandedOver, latest } from './synchronisation.ts';

type AccessKind = AccessPlan['kind'];

/** What a wavefront hands over to others of its workgroup. */
export interface HandedToOwn extends HandedOver {
  /** By wavefront: global stores that are issued. A compute unit keeps their order, and what its wavefronts read behind them. */
  readonly issued: CompleteStores;
}

/** What a wavefront has told: how far it had got, and those it had heard from. */
export interface Told extends HandedToOwn {
  readonly clock: Uint32Array;
}

export class LdsOrder {
  private readonly waves: number;
  /** By wavefront: its own time, which every release ends, and how far it has heard of the others. */
  private readonly clocks: Uint32Array[];
  /** By dword × wavefronts: times of the last write, of the last that was no atomic, and of the last read since the barrier. */
  private readonly writes: Uint32Array;
  private readonly stores: Uint32Array;
  private readonly reads: Uint32Array;
  /** By dword: what reading it tells. */
  private readonly told = new Map<number, { readonly all: Told; readonly last: Told }>();
  /** Dwords that are polled: their accesses are what orders the rest. */
  private readonly polled = new Set<number>();

  constructor(bytes: number, waves: number) {
    this.waves = waves;
    this.clocks = Array.from({ length: waves }, () => new Uint32Array(waves));
    this.writes = new Uint32Array(((bytes + 3) >>> 2) * waves);
    this.stores = new Uint32Array(this.writes.length);
    this.reads = new Uint32Array(this.writes.length);
    this.startTimes();
  }

  private startTimes(): void {
    for (const [wave, clock] of this.clocks.entries()) {
      clock.fill(0);
      clock[wave] = 1;
    }
  }

  /** A barrier orders everything. */
  barrier(): void {
    this.startTimes();
    this.told.clear();
    this.writes.fill(0);
    this.stores.fill(0);
    this.reads.fill(0);
  }

  /** A wavefront is about to store to LDS, which may be a flag: what that tells. */
  release(wave: number, handed: HandedToOwn): Told {
    const clock = this.clocks[wave] as Uint32Array;
    const told = { ...handed, clock: clock.slice() };
    clock[wave] = (clock[wave] as number) + 1;
    return told;
  }

  /** A store of a dword tells this from now on; an atomic adds to what the dword told. */
  tell(address: number, told: Told, isAtomic: boolean): void {
    const dword = address >>> 2;
    const before = isAtomic ? this.told.get(dword) : undefined;
    // Several lanes of an access tell the same.
    if (before?.last === told) return;
    this.told.set(dword, { all: before === undefined ? told : joined(before.all, told), last: told });
  }

  /** A wavefront reads a dword by which others may have told something. */
  hear(wave: number, address: number): Told | undefined {
    const told = this.told.get(address >>> 2)?.all;
    if (told === undefined) return undefined;
    const clock = this.clocks[wave] as Uint32Array;
    for (let i = 0; i < this.waves; i++)
      if (i !== wave) clock[i] = Math.max(clock[i] as number, told.clock[i] as number);
    return told;
  }

  setPolled(address: number): void {
    this.polled.add(address >>> 2);
  }
  isPolled(address: number): boolean {
    return this.polled.has(address >>> 2);
  }

  /** An access is noted; `behind` is the release of the same instruction. */
  note(wave: number, address: number, bytes: number, kind: AccessKind, behind: Told | undefined): void {
    const time = (behind?.clock ?? (this.clocks[wave] as Uint32Array))[wave] as number;
    for (let dword = address >>> 2; dword <= (address + bytes - 1) >>> 2; dword++) {
      const at = dword * this.waves + wave;
      if (kind === 'load') this.reads[at] = time;
      else this.writes[at] = time;
      if (kind === 'store') this.stores[at] = time;
    }
  }

  /**
   * Whether what the others have done to the bytes comes before what a wavefront does now: their writes, of an atomic those that were none, and if it writes
   * their reads.
   */
  isBehind(wave: number, address: number, bytes: number, kind: AccessKind): boolean {
    const writes = kind === 'atomic' ? this.stores : this.writes;
    const clock = this.clocks[wave] as Uint32Array;
    for (let dword = address >>> 2; dword <= (address + bytes - 1) >>> 2; dword++) {
      for (let i = 0; i < this.waves; i++) {
        if (i === wave) continue;
        const at = dword * this.waves + i;
        const time = Math.max(writes[at] as number, kind === 'load' ? 0 : (this.reads[at] as number));
        if (time > (clock[i] as number)) return false;
      }
    }
    return true;
  }

  /** Whether a wavefront has heard from another one since the barrier; -1 for any. */
  hasHeard(wave: number, other: number): boolean {
    const clock = this.clocks[wave] as Uint32Array;
    return other < 0 ? clock.some((time, i) => i !== wave && time > 0) : (clock[other] as number) > 0;
  }
}

/** What two have told; the first itself where the second adds nothing. */
function joined(a: Told, b: Told): Told {
  const clock = latest(a.clock, b.clock);
  const complete = latest(a.complete, b.complete);
  const written = latest(a.written, b.written);
  const issued = latest(a.issued, b.issued);
  const isSame = clock === a.clock && complete === a.complete && written === a.written && issued === a.issued;
  return isSame ? a : { clock, complete, written, issued };
}
