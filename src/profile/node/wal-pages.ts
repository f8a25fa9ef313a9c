// The pages that the write-ahead log of a SQLite database has in the place of those of its file. Source: sqlite.org/fileformat2.html, section 4.
import type { ReadInto } from '../readers/row-blocks.ts';

const [HEADER, FRAME_HEADER] = [32, 24];
const [MAGIC, VERSION] = [0x377f0682, 3007000];
/** Frames that are read at once. */
const FRAMES = 64;

/** How many pages the database has, and where in the log the last one of a number is. */
export interface LoggedPages {
  readonly pages: number;
  readonly places: ReadonlyMap<number, number>;
}

/** Sums of a log: two words at a time, of the order of bytes that its head says. */
class Sums {
  private first = 0;
  private second = 0;
  private readonly isLittle: boolean;

  constructor(isLittle: boolean) {
    this.isLittle = isLittle;
  }

  add(view: DataView, from: number, to: number): void {
    const { isLittle } = this;
    let [a, b] = [this.first, this.second];
    for (let at = from; at < to; at += 8) {
      a = (a + view.getInt32(at, isLittle) + b) | 0;
      b = (b + view.getInt32(at + 4, isLittle) + a) | 0;
    }
    this.first = a;
    this.second = b;
  }

  /** Whether they are those that stand at a place. */
  stand(view: DataView, at: number): boolean {
    return view.getInt32(at) === this.first && view.getInt32(at + 4) === this.second;
  }
}

/**
 * The pages of the transactions that were ended in a log of `size` bytes, as SQLite finds them; none of a log without one. Undefined for a log whose pages are of
 * another size, or that is of a version that is not known.
 */
export function loggedPages(read: ReadInto, size: number, pageSize: number): LoggedPages | 'none' | undefined {
  const head = new Uint8Array(HEADER);
  const view = new DataView(head.buffer);
  if (read(head, 0, HEADER) < HEADER || view.getUint32(0) >>> 1 !== MAGIC >>> 1) return 'none';
  const sums = new Sums((view.getUint32(0) & 1) === 0);
  sums.add(view, 0, 24);
  if (!sums.stand(view, 24)) return 'none';
  if (view.getUint32(4) !== VERSION || view.getUint32(8) !== pageSize) return undefined;
  const step = FRAME_HEADER + pageSize;
  const bytes = new Uint8Array(FRAMES * step);
  const frames = new DataView(bytes.buffer);
  /** Pages since the last transaction ended. */
  let open: [page: number, place: number][] = [];
  let pages = 0;
  const places = new Map<number, number>();
  for (let at = HEADER; at + step <= size; ) {
    const length = read(bytes, at, bytes.length);
    for (let frame = 0; frame + step <= length; frame += step, at += step) {
      const page = frames.getUint32(frame);
      const isOfHead =
        frames.getInt32(frame + 8) === view.getInt32(16) && frames.getInt32(frame + 12) === view.getInt32(20);
      sums.add(frames, frame, frame + 8);
      sums.add(frames, frame + FRAME_HEADER, frame + step);
      if (!isOfHead || page === 0 || !sums.stand(frames, frame + 16)) return pages === 0 ? 'none' : { pages, places };
      open.push([page, at + FRAME_HEADER]);
      const ended = frames.getUint32(frame + 4);
      if (ended === 0) continue;
      pages = ended;
      for (const [number, place] of open) places.set(number, place);
      open = [];
    }
    if (length < step) break;
  }
  return pages === 0 ? 'none' : { pages, places };
}
