// What the waves of a workgroup share: LDS, ids, scratch, the dispatch.
import type { TargetName } from '../../../isa/types.ts';
import { MemoryFault } from './memory.ts';

/** Facts of the running dispatch that every wave may ask for. */
export interface DispatchContext {
  readonly target: TargetName;
  readonly kernelName: string;
  /** Scratch bytes of one lane; scratch is swizzled: dword d of lane l is at base + d·256 + l·4. */
  readonly scratchPerLane: number;
  /** Architected flat scratch: FLAT_SCRATCH is set up by hardware. */
  readonly architectedScratch: boolean;
}

export class Workgroup {
  readonly dispatch: DispatchContext;
  /** In wasm memory; `lds.byteOffset` is what compiled code adds to LDS addresses. */
  readonly lds: Uint8Array;
  readonly ldsView: DataView;
  readonly id: readonly [number, number, number];
  /** What stands for the time: instructions executed so far by the workgroup. The same for any number of threads. */
  clock = 0;

  constructor(dispatch: DispatchContext, lds: Uint8Array, id: readonly [number, number, number]) {
    this.dispatch = dispatch;
    this.lds = lds;
    this.ldsView = new DataView(lds.buffer, lds.byteOffset, lds.byteLength);
    this.id = id;
  }

  /** Throws unless `bytes` bytes of LDS exist at `offset`. */
  checkLds(offset: number, bytes: number, isWrite: boolean): void {
    if (!(offset >= 0 && offset + bytes <= this.lds.byteLength)) throw new MemoryFault('lds', offset, bytes, isWrite);
  }

  /** The value of the `lds_direct` source: the dword at M0[15:0]. */
  ldsDirect(m0: number): number {
    const offset = m0 & 0xffff;
    this.checkLds(offset, 4, false);
    return this.ldsView.getInt32(offset, true);
  }
}
