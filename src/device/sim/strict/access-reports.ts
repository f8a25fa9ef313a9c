// Who accesses memory, and the findings about one access: outside of allocations, misaligned, of bytes that nothing has written.

import type { TargetName } from '../../../isa/types.ts';
import type { AccessPlan } from '../interpreter/access-plan.ts';
import type { Region } from '../state/region.ts';
import type { Wave } from '../state/wave.ts';
import type { DropTable } from './drops.ts';
import type { GroupState } from './fast-accesses.ts';
import type { LdsShadow } from './lds/lds.ts';
import type { Told } from './lds/lds-order.ts';
import type { StrictPlan } from './plan.ts';
import type { Announcing } from './races/polls.ts';
import type { Toucher } from './races/race-events.ts';
import type { WaveShadow } from './registers/wave-shadow.ts';
import type { Reporter } from './reporter.ts';

/** Regions of a dispatch that have rules of their own. */
export interface DispatchRegions {
  readonly target: TargetName;
  readonly kernarg: Region | undefined;
  /** Bytes of the kernarg segment that the kernel declares. */
  readonly kernargSize: number;
  /** Address of the counters of the grid's barrier (`multi_grid_sync_info` of AMD's device libraries). */
  readonly gridSync: number | undefined;
  /** Memory through which AMD's device libraries call the host. */
  readonly hostcall: Region | undefined;
  /** Start and end, from the program's start, of the functions behind malloc and free of kernels. */
  readonly heapCode: readonly (readonly [number, number])[];
  readonly workgroups: number;
  readonly wavesPerGroup: number;
  /** Compute units are on dies with caches of their own: what is stored is seen by others once it is written back. */
  readonly hasDies: boolean;
  /** Whose stores may be announcements, where they come behind all that the wavefront has stored (announcements.ts). */
  readonly announcing: Announcing;
  /** A wavefront can learn what others have done, other than at barriers: what they release is kept. */
  readonly learns: boolean;
}

/** Who accesses. */
export interface Actor {
  readonly w: Wave;
  readonly shadow: WaveShadow;
  readonly lds: LdsShadow;
  readonly state: GroupState;
  readonly who: Toucher;
  readonly scratch: Region | undefined;
  readonly pc: number;
  readonly plan: StrictPlan;
  readonly access: AccessPlan;
  readonly isSynchronising: boolean;
  /** A store that may tell other workgroups that what its wavefront has stored is there, which its event does not say. */
  readonly isAnnouncement: boolean;
  /** What the access tells other wavefronts that read what it writes to LDS. */
  readonly told: Told | undefined;
}

export class AccessReports {
  private readonly reporter: Reporter;
  private readonly regions: DispatchRegions;
  private readonly drops: DropTable;

  constructor(reporter: Reporter, regions: DispatchRegions, drops: DropTable) {
    this.reporter = reporter;
    this.regions = regions;
    this.drops = drops;
  }

  /** A buffer's `num_records` drops a lane: loads give zero, stores do nothing. */
  dropped({ w, pc, access }: Actor, lane: number): void {
    this.reporter.report('memory/dropped', w, pc, () => ({
      lane,
      space: 'global',
      message: `The ${access.kind} of lane ${lane} is behind the records of its buffer resource: ${access.kind === 'load' ? 'it gives zero' : 'nothing is written'}.`,
      advice:
        'Where this is no bounds test, compare the num_records of the resource (bytes, or elements of a stride) with the buffer.',
    }));
    if (this.reporter.isKnown('memory/dropped', pc)) this.drops.learn(pc);
  }

  outside({ w, pc, access }: Actor, lane: number | undefined, address: number, bytes: number): never {
    const { reporter } = this;
    const { memory } = reporter.dispatch;
    const what = access.kind;
    const place = `0x${address.toString(16)}`;
    const freed = memory.freedAt(address);
    if (freed !== undefined) {
      const allocation = { label: freed.label, base: freed.base, size: freed.size, distance: 0 };
      return reporter.fatal('memory/use-after-free', w, pc, () => ({
        lane,
        space: 'global',
        address,
        allocation,
        message: `The ${what} of ${bytes} bytes at ${place} is in '${freed.label}', which has been freed.`,
        advice: 'Free the buffer after the last dispatch that uses it.',
      }));
    }
    return reporter.fatal('memory/out-of-bounds', w, pc, () => ({
      lane,
      space: 'global',
      address,
      allocation: reporter.near(address),
      message: `The ${what} of ${bytes} bytes at ${place} is outside of every allocation.`,
      advice: 'Check the sizes of the buffers, the grid, and the bounds test of the kernel.',
    }));
  }

  misaligned(
    { w, pc, access }: Actor,
    lane: number | undefined,
    space: 'global' | 'lds' | 'scratch',
    address: number,
    alignment: number,
  ): void {
    this.reporter.report('memory/misaligned', w, pc, () => ({
      lane,
      space,
      address,
      message: `The ${access.isScalar ? 'scalar ' : ''}${access.kind} at 0x${address.toString(16)} must be aligned to ${alignment} bytes.`,
      advice:
        access.isScalar && access.kind !== 'atomic'
          ? 'Use an address that is a multiple of 4: scalar memory drops the low two bits.'
          : `Use an address that is a multiple of ${alignment}.`,
    }));
  }

  uninitialised({ w, pc }: Actor, lane: number | undefined, space: 'global' | 'lds', address: number): void {
    this.reporter.report('memory/uninitialised', w, pc, () => ({
      lane,
      space,
      address,
      allocation: space === 'global' ? this.reporter.near(address) : undefined,
      message: `The atomic reads ${space} address 0x${address.toString(16)}, which nothing has written.`,
      advice: `Initialise the ${space === 'lds' ? 'LDS' : 'buffer'} first.`,
    }));
  }

  kernargOverrun({ w, pc }: Actor, lane: number | undefined, address: number): void {
    const { kernarg, kernargSize } = this.regions;
    this.reporter.report('memory/kernarg-overrun', w, pc, () => ({
      lane,
      space: 'global',
      address,
      message: `Byte ${address - (kernarg?.base ?? 0)} of the kernarg segment is read; the kernel declares ${kernargSize} bytes.`,
      advice: 'Raise .amdhsa_kernarg_size and .kernarg_segment_size, or correct the offset.',
    }));
  }
}
