// Places for workgroups to run in: wave blocks, LDS and scratch in the device's memory, used again from workgroup to workgroup.
import { targetInfo } from '../../../isa/index.ts';
import type { Launch } from '../dispatch/launch.ts';
import type { ScratchPlace } from '../dispatch/wave-start.ts';
import { WAVE_BYTES } from './layout.ts';
import type { DeviceMemory } from './memory.ts';
import type { Region } from './region.ts';

/** One place, as wasm offsets. */
export interface Place {
  readonly waveBlocks: readonly Uint8Array[];
  /** At least the launch's LDS. */
  readonly lds: Uint8Array;
  readonly scratch: ScratchPlace | undefined;
}

/** Gives out places for a device. Those that have come back are kept until memory is needed for something else: others would have to be cleared as a whole. */
export class PlacePool {
  private readonly memory: DeviceMemory;
  private readonly freeBlocks: Uint8Array[] = [];
  private readonly freeLds: Uint8Array[] = [];
  private readonly scratch = new Map<Place, Region>();

  constructor(memory: DeviceMemory) {
    this.memory = memory;
    memory.addKeeper(() => this.release());
  }

  take(launch: Launch): Place {
    const { memory } = this;
    const waveBlocks: Uint8Array[] = [];
    let lds: Uint8Array | undefined;
    try {
      for (let n = 0; n < launch.wavesPerGroup; n++) {
        waveBlocks.push(this.freeBlocks.pop() ?? memory.reserve(WAVE_BYTES, 'wave state'));
      }
      lds = this.freeLds.pop() ?? memory.reserve(targetInfo(launch.target).ldsBytes, 'LDS');
      const bytes = launch.scratchPerWave * launch.wavesPerGroup;
      const region = bytes === 0 ? undefined : memory.alloc(bytes, 'scratch');
      const place: Place = {
        waveBlocks,
        lds,
        scratch: region === undefined ? undefined : { address: region.base, offset: region.offset },
      };
      if (region !== undefined) this.scratch.set(place, region);
      return place;
    } catch (error) {
      this.freeBlocks.push(...waveBlocks);
      if (lds !== undefined) this.freeLds.push(lds);
      throw error;
    }
  }

  give(place: Place): void {
    const region = this.scratch.get(place);
    if (region !== undefined) this.memory.free(region.base);
    this.scratch.delete(place);
    this.freeBlocks.push(...place.waveBlocks);
    this.freeLds.push(place.lds);
  }

  /** Gives the memory of all that nobody has back. */
  private release(): void {
    for (const bytes of [...this.freeBlocks.splice(0), ...this.freeLds.splice(0)]) this.memory.release(bytes);
  }
}

/** Places of a dispatch that may go back: what is taken again after that is what was taken the first time, addresses included. */
export class RepeatablePlaces {
  private readonly pool: PlacePool;
  private readonly launch: Launch;
  /** In the order in which they were first taken. */
  private readonly all: Place[] = [];
  private free: Place[] = [];
  private opened = 0;

  constructor(pool: PlacePool, launch: Launch) {
    this.pool = pool;
    this.launch = launch;
  }

  take(): Place {
    const place = this.free.pop() ?? this.all[this.opened++];
    if (place !== undefined) return place;
    const taken = this.pool.take(this.launch);
    this.all.push(taken);
    return taken;
  }

  give(place: Place): void {
    this.free.push(place);
  }

  /** Where their bytes are in wasm memory, scratch aside, which is device memory. */
  spans(): { readonly offset: number; readonly size: number }[] {
    return this.all
      .flatMap(({ waveBlocks, lds }) => [...waveBlocks, lds])
      .map(({ byteOffset, byteLength }) => ({ offset: byteOffset, size: byteLength }));
  }

  save(): { readonly free: readonly Place[]; readonly opened: number } {
    return { free: [...this.free], opened: this.opened };
  }
  restore({ free, opened }: { readonly free: readonly Place[]; readonly opened: number }): void {
    this.free = [...free];
    this.opened = opened;
  }

  /** Gives all of them back to the pool. */
  close(): void {
    for (const place of this.all.splice(0)) this.pool.give(place);
  }
}
