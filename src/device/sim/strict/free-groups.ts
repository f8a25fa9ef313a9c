// The shadows of workgroups that have ended, for the next ones.
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { LdsShadow } from './lds.ts';
import { WaveShadow } from './wave-shadow.ts';

/** The shadows of one workgroup: its LDS, and its wavefronts by their number. */
export interface GroupShadows {
  readonly lds: LdsShadow;
  readonly waves: readonly WaveShadow[];
}

export class FreeGroups {
  private readonly free: GroupShadows[] = [];

  /** Those of a workgroup that begins, its LDS untouched; `bytes` of LDS. */
  take(memory: DeviceMemory, bytes: number, waves: readonly Wave[]): GroupShadows {
    for (let n = this.free.length - 1; n >= 0; n--) {
      const one = this.free[n] as GroupShadows;
      if (!one.lds.fits(bytes, waves.length)) continue;
      this.free.splice(n, 1);
      one.lds.clear();
      return one;
    }
    return { lds: new LdsShadow(memory, bytes, waves.length), waves: waves.map((wave) => new WaveShadow(wave)) };
  }

  give({ lds, waves }: GroupShadows): void {
    this.free.push({ lds, waves });
  }

  /** Gives their memory back. */
  release(memory: DeviceMemory): void {
    for (const { lds, waves } of this.free.splice(0)) {
      memory.release(lds.storage);
      for (const { bytes } of waves) memory.release(bytes);
    }
  }
}
