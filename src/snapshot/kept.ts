// A capture whose contents stay in memory, for who runs it many times: each page is read and checked once.
import type { Capture } from './capture.ts';
import { Chunk } from './capture.ts';
import type { CaptureAllocation, Mask, PageId } from './manifest.ts';
import { ZERO } from './manifest.ts';
import { flagsOf } from './masks.ts';
import type { PageSource } from './pages.ts';

/** Bytes of a capture's chunks up to which they are kept. */
const MOST_KEPT = 2 ** 29;

/** Pages and masks of another source, kept. What it gives is shared: nobody may change it. */
class KeptPages implements PageSource {
  private readonly source: PageSource;
  private readonly pages = new Map<string, Uint8Array>();
  private readonly masks = new Map<string, Uint8Array>();

  constructor(source: PageSource) {
    this.source = source;
  }

  page(id: PageId, length: number): Uint8Array {
    const key = id === ZERO ? `${ZERO} ${length}` : id;
    let bytes = this.pages.get(key);
    if (bytes?.length !== length) {
      bytes = this.source.page(id, length);
      this.pages.set(key, bytes);
    }
    return bytes;
  }

  flags(mask: Mask, length: number): Uint8Array {
    const key = `${length} ${typeof mask === 'string' ? mask : mask.join(' ')}`;
    let flags = this.masks.get(key);
    if (flags === undefined) {
      flags = flagsOf(mask, length, this);
      this.masks.set(key, flags);
    }
    return flags;
  }
}

/** The capture with its contents kept; a very large one as it is. */
export function keepCapture(capture: Capture): Capture {
  const { memory } = capture.manifest;
  if (capture.chunks.reduce((sum, c) => sum + c.length, 0) > MOST_KEPT) return capture;
  const pages = new KeptPages(capture.pages);
  const chunks = memory.chunks.map(
    (entry) => new Chunk(entry, memory.allocations[entry.allocation] as CaptureAllocation, pages),
  );
  let code: Uint8Array | undefined;
  const codeObject = (): Uint8Array => {
    code ??= capture.codeObject();
    return code;
  };
  return { ...capture, chunks, pages, codeObject };
}
