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
  private hasRun = false;
  /** What the last kernel has left in L2 and the next one waits for. */
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

  /** A kernel that takes so long, behind everything before it. */
  kernel(nanoseconds: number, dirtyBytes: number): PacketTimes {
    this.nanoseconds += 1000 * this.chip.get('launch.gapUs') + this.owed;
    this.owed = (1000 * dirtyBytes) / (this.writeBack * this.chip.get('clockMhz'));
    const start = this.ticks;
    this.nanoseconds += nanoseconds;
    this.hasRun = true;
    return { start, end: this.ticks };
  }

  /** A packet that only marks a place in its queue: an event, a synchronisation. */
  mark(): PacketTimes {
    if (this.hasRun) this.nanoseconds += 1000 * (this.chip.get('launch.eventUs') - this.chip.get('launch.gapUs'));
    this.hasRun = false;
    this.owed = 0;
    return { start: this.ticks, end: this.ticks };
  }

  /** A copy or fill. `resident` is the part of the bytes that the memory-side cache holds. */
  copy(kind: CopyKind, bytes: number, resident: number): PacketTimes {
    const start = this.ticks;
    this.nanoseconds += copyNanoseconds(this.chip, kind, bytes, resident);
    if (kind !== 'host') this.hasRun = true;
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
