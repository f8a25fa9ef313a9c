// Small allocations as ROCm places them: side by side in blocks of 2 MiB, all of which is mapped. A program that goes over the end of a small
// buffer then reads and writes what else is in the block, as on hardware. Source: ROCr, SimpleHeap of a GPU's memory region.
import { PAGE } from '../device/sim/state/layout.ts';

/** Bytes of a block, and the largest allocation that goes into one. */
export const BLOCK_BYTES = 2 ** 21;

/** A part of a block: an allocation, or a hole between them. */
interface Piece {
  readonly base: number;
  size: number;
  isFree: boolean;
}

/** Where blocks come from. Both take and give addresses. */
export interface BlockSource {
  readonly take: () => number;
  readonly give: (base: number) => void;
}

export class SmallAllocations {
  private readonly source: BlockSource;
  /** By the address of the block: its pieces in the order of their addresses. Two free ones never follow each other. */
  private readonly blocks = new Map<number, Piece[]>();

  constructor(source: BlockSource) {
    this.source = source;
  }

  /** Places `size` bytes, at most `BLOCK_BYTES`, on a multiple of `alignment` (of a page at least): in the smallest hole that has room. */
  allocate(size: number, alignment: number): number {
    const bytes = Math.max(PAGE, Math.ceil(size / PAGE) * PAGE);
    const step = Math.max(PAGE, alignment);
    const start = ({ base }: Piece): number => Math.ceil(base / step) * step;
    let best: { pieces: Piece[]; piece: Piece } | undefined;
    for (const pieces of this.blocks.values()) {
      for (const piece of pieces) {
        const hasRoom = piece.isFree && start(piece) + bytes <= piece.base + piece.size;
        if (hasRoom && (best === undefined || piece.size < best.piece.size)) best = { pieces, piece };
      }
    }
    if (best === undefined) {
      const base = this.source.take();
      const piece: Piece = { base, size: BLOCK_BYTES, isFree: true };
      best = { pieces: [piece], piece };
      this.blocks.set(base, best.pieces);
    }
    const { pieces, piece } = best;
    const from = start(piece);
    const parts: Piece[] = [
      { base: piece.base, size: from - piece.base, isFree: true },
      { base: from, size: bytes, isFree: false },
      { base: from + bytes, size: piece.base + piece.size - from - bytes, isFree: true },
    ];
    pieces.splice(pieces.indexOf(piece), 1, ...parts.filter((p) => p.size > 0));
    return from;
  }

  /** Ends an allocation; false when none begins there. A block that is empty then is given back. */
  free(address: number): boolean {
    const [base, pieces] = this.blockOf(address) ?? [];
    const piece = pieces?.find((p) => p.base === address && !p.isFree);
    if (base === undefined || pieces === undefined || piece === undefined) return false;
    piece.isFree = true;
    for (let n = pieces.length - 1; n > 0; n--) {
      const [before, after] = [pieces[n - 1] as Piece, pieces[n] as Piece];
      if (!before.isFree || !after.isFree) continue;
      before.size += after.size;
      pieces.splice(n, 1);
    }
    if (pieces.length === 1) {
      this.blocks.delete(base);
      this.source.give(base);
    }
    return true;
  }

  /** The allocation or hole at an address; undefined outside of the blocks. */
  pieceAt(address: number): Readonly<Piece> | undefined {
    return this.blockOf(address)?.[1].find((p) => address >= p.base && address < p.base + p.size);
  }

  private blockOf(address: number): readonly [number, Piece[]] | undefined {
    const base = Math.floor(address / BLOCK_BYTES) * BLOCK_BYTES;
    const pieces = this.blocks.get(base);
    return pieces === undefined ? undefined : [base, pieces];
  }
}
