// The modelled time of a device: what its programs see in events, signals and profiles instead of the host's clock. Packets run one after
// the other; each takes what the timing model says.
import type { Chip } from '../device/sim/timing/chip.ts';
import type { CopyKind, PacketTimes } from './packet-times.ts';
import { nowTicks } from './shared-memory.ts';

const NS_PER_TICK = 10;

export class ModelClock {
  private readonly chip: Chip;
  private readonly origin = nowTicks();
  private nanoseconds = 0;
  /** Since when the host has been sending what is not marked yet, and how many kernels, fills and device copies that are. */
  private sendingSince = 0;
  private sent = 0;
  /** Nanoseconds in which what the last kernel has left in L2 is written back: the next packet waits for it. */
  private owed = 0;

  constructor(chip: Chip) {
    this.chip = chip;
  }

  /** Bytes a cycle that all dies write back together. */
  private get writeBack(): number {
    return this.chip.get('xccs') * this.chip.get('l2.channels') * this.chip.get('l2.writeRate');
  }

  private get ticks(): bigint {
    return this.origin + BigInt(Math.round(this.nanoseconds / NS_PER_TICK));
  }

  /** When the host has sent the next packet: it takes as long for each, and begins when the last mark has passed. */
  private send(): number {
    return this.sendingSince + 1000 * this.chip.get('launch.hostUs') * this.sent++;
  }

  /** A kernel that takes so long, behind everything before it, as soon as the host has sent it. */
  kernel(nanoseconds: number, dirtyBytes: number): PacketTimes {
    const gap = 1000 * this.chip.get('launch.gapUs');
    this.nanoseconds = Math.max(this.nanoseconds + this.owed, this.send()) + gap;
    this.owed = (1000 * dirtyBytes) / (this.writeBack * this.chip.get('clockMhz'));
    const start = this.ticks;
    this.nanoseconds += nanoseconds;
    return { start, end: this.ticks };
  }

  /** A packet that only marks a place in its queue: an event, a synchronisation. The host sends it last, and waits for it. */
  mark(): PacketTimes {
    if (this.sent > 0) {
      const { chip } = this;
      const behind = this.nanoseconds + this.owed + 1000 * (chip.get('launch.eventUs') - chip.get('launch.gapUs'));
      const least =
        this.sendingSince + 1000 * (chip.get('launch.hostUs') * (this.sent - 1) + chip.get('launch.floorUs'));
      this.nanoseconds = Math.max(behind, least);
    }
    this.restart();
    this.owed = 0;
    return { start: this.ticks, end: this.ticks };
  }

  /** The host sends nothing before everything until now is done. */
  private restart(): void {
    this.sendingSince = this.nanoseconds;
    this.sent = 0;
  }

  /** A copy or fill. `resident` is the part of the bytes that the memory-side cache holds. */
  copy(kind: CopyKind, bytes: number, resident: number): PacketTimes {
    if (kind !== 'host') this.nanoseconds = Math.max(this.nanoseconds, this.send());
    const start = this.ticks;
    this.nanoseconds += copyNanoseconds(this.chip, kind, bytes, resident);
    if (kind === 'host') this.restart();
    return { start, end: this.ticks };
  }
}

/** How long a copy takes. GB/s are bytes per nanosecond. */
export function copyNanoseconds(chip: Chip, kind: CopyKind, bytes: number, resident: number): number {
  if (kind === 'host') {
    if (bytes <= chip.get('copy.stagedBytes')) {
      return 1000 * chip.get('copy.stagedUs') + bytes / chip.get('copy.stagedGbps');
    }
    return 1000 * chip.get('copy.pinnedUs') + bytes / chip.get('copy.pinnedGbps');
  }
  const reads = kind === 'fill' ? 0 : 1;
  // The memory-side cache reads and writes at once, memory has one bus.
  const cached = Math.max(reads / chip.get('mall.readGbps'), 1 / chip.get('mall.writeGbps'));
  const uncached = reads / chip.get('hbm.readGbps') + 1 / chip.get('hbm.writeGbps');
  const start = 1000 * (kind === 'fill' ? chip.get('fill.us') : chip.get('launch.gapUs'));
  return start + bytes * (resident * cached + (1 - resident) * uncached);
}
