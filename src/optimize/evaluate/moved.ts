// A capture at other addresses: every buffer, the arguments and the code elsewhere, and the pointers to them with them.

import { Chunk } from '../../snapshot/capture.ts';
import type { Capture, CaptureAllocation } from '../../snapshot/index.ts';
import { FIXED, type MemoryEdit } from './place.ts';

/** Outside of the virtual GPU's own memory and of what programs get. */
const BASE = 0x5a00_0000_0000;
const SPACING = 0x20_0000;
const PAGE = 4096;

/** Of an address that is kept by who lies over a boundary of 4 GiB. */
const ALIGNMENT = 16;
const GIB4 = 2 ** 32;

/** What a host waits for behind the dispatch: in every queue another one. Source: HSA runtime specification 2.9.6, kernel dispatch packet. */
const COMPLETION_SIGNAL = 56;
const SIGNAL = Uint8Array.of(0x40, 0x9d, 0x5c, 0x31, 0x7f, 0x7f, 0, 0);

/** Memory whose address the hardware or the host's queue chooses. */
const STAYING: ReadonlySet<CaptureAllocation['kind']> = new Set(['queue', 'packet', 'scratch']);

/**
 * The capture moved, and what must stand in its memory then; undefined when nothing can be moved. `shift`: bytes by which data lies otherwise
 * in its page than before. `room`: allocations can grow by this factor. `overBoundary`: each buffer lies over a boundary of 4 GiB, where the low half of
 * an address overflows.
 */
export function movedCapture(
  capture: Capture,
  {
    shift = 0,
    room = 1,
    overBoundary = false,
  }: { readonly shift?: number; readonly room?: number; readonly overBoundary?: boolean } = {},
): { readonly capture: Capture; readonly edits: readonly MemoryEdit[] } | undefined {
  const { memory } = capture.manifest;
  if (memory.aliases.length > 0) return undefined;
  let next = BASE;
  const deltas = memory.allocations.map((a, i) => {
    const isCode = a.kind === 'code';
    if (STAYING.has(a.kind) || (!isCode && !memory.chunks.some((c) => c.allocation === i))) return 0;
    // Of 4 KiB the odd one: what is keyed by an address misses.
    const ordinary = next + (a.address % PAGE) + PAGE * (1 + (i % 3)) + (FIXED.has(a.kind) ? 0 : shift);
    const half = Math.floor(a.size / 2 / ALIGNMENT) * ALIGNMENT;
    const over = (Math.floor((next + half) / GIB4) + 1) * GIB4 - half + (a.address % ALIGNMENT);
    const address = overBoundary && !FIXED.has(a.kind) && half > 0 ? over : ordinary;
    next = Math.ceil((address + a.size * room) / SPACING + 1) * SPACING;
    return address - a.address;
  });
  if (deltas.every((d) => d === 0)) return undefined;
  const taken = memory.allocations.some((a) => a.address < next && a.address + a.size > BASE);
  if (taken) return undefined;
  const allocations = memory.allocations.map((a, i) => ({ ...a, address: a.address + (deltas[i] as number) }));
  const deltaOf = (address: number): number => {
    const i = memory.allocations.findIndex((a) => address >= a.address && address < a.address + a.size);
    return i < 0 ? 0 : (deltas[i] as number);
  };
  const edits: MemoryEdit[] = [];
  const chunks = memory.chunks.map(
    (entry) => new Chunk(entry, allocations[entry.allocation] as CaptureAllocation, capture.pages),
  );
  for (const chunk of chunks) {
    const pre = chunk.allocation.kind === 'code' ? undefined : chunk.pre();
    if (pre === undefined) continue;
    const view = new DataView(pre.buffer, pre.byteOffset, pre.length);
    for (let at = 0; at + 8 <= pre.length; at += 8) {
      const high = view.getUint32(at + 4, true);
      if (high === 0 || high > 0x1ffff) continue;
      const value = high * 2 ** 32 + view.getUint32(at, true);
      const delta = deltaOf(value);
      if (delta === 0) continue;
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setBigUint64(0, BigInt(value + delta), true);
      edits.push({ address: chunk.address + at, bytes });
    }
  }
  const { address: packet } = capture.manifest.dispatch.packet;
  edits.push({ address: packet + COMPLETION_SIGNAL, bytes: SIGNAL });
  const annotations = capture.manifest.annotations.map((a) => ({ ...a, address: a.address + deltaOf(a.address) }));
  const { dispatch, code } = capture.manifest;
  const { kernarg } = dispatch;
  const manifest = {
    ...capture.manifest,
    dispatch: { ...dispatch, kernarg: { ...kernarg, address: kernarg.address + deltaOf(kernarg.address) } },
    code: {
      ...code,
      loadAddress: code.loadAddress + deltaOf(code.loadAddress),
      variables: code.variables.map((v) => ({ ...v, address: v.address + deltaOf(v.address) })),
    },
    memory: { ...memory, allocations },
    annotations,
  };
  return { capture: { ...capture, manifest, chunks, codeObject: () => capture.codeObject() }, edits };
}
