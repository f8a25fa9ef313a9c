// The shadows of the workgroups of a dispatch: new ones, or those of workgroups that have ended.
import type { DeviceMemory } from '../../state/memory.ts';
import type { Wave } from '../../state/wave.ts';
import { type GroupShadows, Kept } from '../kept.ts';
import { LdsShadow } from '../lds/lds.ts';
import { WaveShadow } from '../registers/wave-shadow.ts';
import { Residents } from './residents.ts';

export class RunningGroups {
  private readonly memory: DeviceMemory;
  private readonly kept: Kept;
  /** Of workgroups that have not ended. */
  private readonly running = new Residents<LdsShadow, GroupShadows>();

  constructor(memory: DeviceMemory) {
    this.memory = memory;
    this.kept = Kept.of(memory);
  }

  /** Those of a workgroup that begins, its LDS untouched; `bytes` of LDS. `handsOver`: as LdsShadow.begin has it. */
  begin(bytes: number, waves: readonly Wave[], handsOver = false): GroupShadows {
    const known = this.kept.takeShadows(bytes, waves.length);
    if (known !== undefined) {
      this.running.add(known.lds, known);
      known.lds.begin(handsOver);
      return known;
    }
    const lds = new LdsShadow(this.memory, bytes, waves.length);
    const shadows: WaveShadow[] = [];
    const made = { lds, waves: shadows };
    // What a workgroup that cannot begin has taken is given back, too.
    this.running.add(lds, made);
    lds.begin(handsOver);
    for (const wave of waves) shadows.push(new WaveShadow(wave));
    return made;
  }

  /** The workgroup with this shadow of its LDS has ended. */
  end(lds: LdsShadow): void {
    this.kept.giveShadows(this.running.get(lds) as GroupShadows);
    this.running.delete(lds);
  }

  /** The dispatch is over: workgroups that have not ended do not. */
  release(): void {
    for (const one of this.running.takeAll()) this.kept.releaseShadows(one);
    this.kept.trimShadows();
  }
}
