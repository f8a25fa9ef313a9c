// Other launches of a captured kernel: another grid with everything that the kernel can read of it, another value of an argument.
import type { DispatchRequest } from '../../device/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import type { Triple } from '../../snapshot/manifest.ts';
import type { MemoryEdit } from './place.ts';

/** A word of an explicit argument that is passed by value. */
export interface ArgumentWord {
  /** Its number or name, and the offset in it. */
  readonly name: string;
  /** Where it is in the kernarg segment. */
  readonly at: number;
  readonly word: number;
}

/** How the host of a candidate launches it, in the place of the captured launch. */
export interface OwnLaunch extends Required<Pick<DispatchRequest, 'grid' | 'block'>> {
  /** Work-items; the last workgroups need not be full. */
  readonly gridWorkItems: Triple;
  /** Bytes of LDS beyond the static size. */
  readonly dynamicLds: number;
}

/** How a capture was launched. */
export function launchOf({ manifest: { dispatch } }: Capture): OwnLaunch {
  const { gridWorkItems, block, dynamicLds } = dispatch;
  const grid = gridWorkItems.map((n, d) => Math.ceil(n / (block[d] as number))) as [number, number, number];
  return { grid, block, gridWorkItems, dynamicLds };
}

const MAX_SCALARS = 6;

/** Explicit arguments passed by value, word by word. */
export function scalarWords(capture: Capture): ArgumentWord[] {
  const { slots } = capture.manifest.dispatch.kernarg;
  return slots
    .flatMap((slot, number) => {
      if (slot.kind !== 'by_value' || slot.points !== undefined) return [];
      const view = new DataView(slot.bytes.buffer, slot.bytes.byteOffset, slot.bytes.length);
      return Array.from({ length: slot.size >> 2 }, (_, i) => ({
        name: `${slot.name === '' ? number : `'${slot.name}'`}${i === 0 ? '' : ` + ${4 * i}`}`,
        at: slot.offset + 4 * i,
        word: view.getUint32(4 * i, true),
      }));
    })
    .slice(0, MAX_SCALARS);
}

/** Another word in the kernarg segment. */
export function argumentEdit(capture: Capture, at: number, word: number): MemoryEdit {
  return edit(capture.manifest.dispatch.kernarg.address + at, 4, word);
}

function edit(address: number, size: 2 | 4, value: number): MemoryEdit {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = value >>> (8 * i);
  return { address, bytes };
}

/** A grid with another number of work-items in one dimension. */
export function withItems(grid: Triple, dimension: number, items: number): Triple {
  return grid.map((n, d) => (d === dimension ? items : n)) as [number, number, number];
}

/** A launch of so many work-items: what is dispatched, and what stands in hidden arguments and the packet then. */
export function launchWith(
  capture: Capture,
  items: Triple,
): { readonly request: Pick<DispatchRequest, 'grid' | 'gridWorkItems'>; readonly edits: MemoryEdit[] } {
  const { block, kernarg, packet } = capture.manifest.dispatch;
  const grid = items.map((n, d) => Math.ceil(n / (block[d] as number))) as [number, number, number];
  const edits: MemoryEdit[] = [];
  for (const { kind, offset } of kernarg.slots) {
    const [, what, dimension] = /^hidden_(block_count|remainder)_([xyz])$/.exec(kind) ?? [];
    if (what === undefined || dimension === undefined) continue;
    const d = 'xyz'.indexOf(dimension);
    const [n, size] = [items[d] as number, block[d] as number];
    if (what === 'block_count') edits.push(edit(kernarg.address + offset, 4, Math.floor(n / size)));
    else edits.push(edit(kernarg.address + offset, 2, n % size));
  }
  for (const [d, n] of items.entries()) edits.push(edit(packet.address + 12 + 4 * d, 4, n));
  return { request: { grid, gridWorkItems: [...items] }, edits };
}
