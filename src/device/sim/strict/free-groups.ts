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
  /** All that has been made: what a workgroup that could not begin has taken, too. */
  private readonly made: Uint8Array[] = [];

  /** Those of a workgroup that begins, its LDS untouched; `bytes` of LDS. */
  take(memory: DeviceMemory, bytes: number, waves: readonly Wave[]): GroupShadows {
    for (let n = this.free.length - 1; n >= 0; n--) {
      const one = this.free[n] as GroupShadows;
      if (!one.lds.fits(bytes, waves.length)) continue;
      this.free.splice(n, 1);
      one.lds.clear();
      return one;
    }
    const lds = new LdsShadow(memory, bytes, waves.length);
    this.made.push(lds.storage);
    const shadows = waves.map((wave) => {
      const shadow = new WaveShadow(wave);
      this.made.push(shadow.bytes);
      return shadow;
    });
    return { lds, waves: shadows };
  }

  give({ lds, waves }: GroupShadows): void {
    this.free.push({ lds, waves });
  }

  /** Gives the memory of all back, of workgroups that run as well. */
  release(memory: DeviceMemory): void {
    for (const bytes of this.made.splice(0)) memory.release(bytes);
    this.free.length = 0;
  }
}
