// How two captures differ: launch, code, arguments, memory before, memory after.
import type { Capture, Chunk } from './capture.ts';
import { hex, hexBytes } from './fields.ts';

export interface CaptureDifference {
  readonly section: 'dispatch' | 'code' | 'arguments' | 'before' | 'after';
  readonly what: string;
  readonly first: string;
  readonly second: string;
}

export interface DiffResult {
  readonly equal: boolean;
  readonly differences: readonly CaptureDifference[];
  /** Pages that both hold, and all pages of either. */
  readonly shared: { readonly pages: number; readonly of: number };
}

/** Compares two captures, byte by byte where both know the bytes. */
export function diffCaptures(first: Capture, second: Capture): DiffResult {
  const differences: CaptureDifference[] = [];
  const note = (section: CaptureDifference['section'], what: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) !== JSON.stringify(b)) differences.push({ section, what, first: show(a), second: show(b) });
  };
  const [a, b] = [first.manifest, second.manifest];
  for (const name of ['kernel', 'gridWorkItems', 'block', 'staticLds', 'dynamicLds', 'scratch'] as const) {
    note('dispatch', name, a.dispatch[name], b.dispatch[name]);
  }
  note('code', 'code object', a.code.sha256, b.code.sha256);
  note('code', 'target', a.code.target, b.code.target);
  note('code', 'load address', hex(a.code.loadAddress), hex(b.code.loadAddress));
  const slots = Math.max(a.dispatch.kernarg.slots.length, b.dispatch.kernarg.slots.length);
  for (let i = 0; i < slots; i++) {
    const [x, y] = [a.dispatch.kernarg.slots[i], b.dispatch.kernarg.slots[i]];
    const name = x?.name || y?.name || `argument ${i} (${x?.kind ?? y?.kind})`;
    note('arguments', name, x && hexBytes(x.bytes), y && hexBytes(y.bytes));
  }
  const others = new Map(second.chunks.map((c) => [c.address, c]));
  for (const chunk of first.chunks) {
    const other = others.get(chunk.address);
    others.delete(chunk.address);
    diffChunk(chunk, other, differences);
  }
  for (const chunk of others.values()) diffChunk(undefined, chunk, differences);
  const all = new Set([...first.stored.keys(), ...second.stored.keys()]);
  const both = [...first.stored.keys()].filter((id) => second.stored.has(id)).length;
  return { equal: differences.length === 0, differences, shared: { pages: both, of: all.size } };
}

const show = (value: unknown): string =>
  value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

function diffChunk(a: Chunk | undefined, b: Chunk | undefined, differences: CaptureDifference[]): void {
  const one = (a ?? b) as Chunk;
  const place = `${one.allocation.label || one.allocation.kind} chunk ${one.entry.index} at ${hex(one.address)}`;
  const compare = (section: 'before' | 'after', x: Uint8Array | undefined, y: Uint8Array | undefined): void => {
    if (x === undefined && y === undefined) return;
    if (x === undefined || y === undefined) {
      differences.push({
        section,
        what: place,
        first: x === undefined ? 'absent' : 'present',
        second: y === undefined ? 'absent' : 'present',
      });
      return;
    }
    let count = Math.abs(x.length - y.length);
    let at = -1;
    for (let i = 0; i < Math.min(x.length, y.length); i++) {
      if (x[i] === y[i]) continue;
      count++;
      if (at < 0) at = i;
    }
    if (count === 0) return;
    const text = (bytes: Uint8Array): string =>
      at < 0 ? `${bytes.length} bytes` : hexBytes(bytes.subarray(at, at + 8));
    differences.push({
      section,
      what: `${place}: ${count} bytes differ${at < 0 ? '' : `, first at +0x${at.toString(16)}`}`,
      first: text(x),
      second: text(y),
    });
  };
  compare('before', a?.pre(), b?.pre());
  compare('after', a?.post(), b?.post());
}
