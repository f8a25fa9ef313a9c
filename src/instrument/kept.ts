// What instrumenting gave, as bytes: the same code object with the same probe need not be instrumented again.
import type { Finding } from '../finding/index.ts';
import type { DataReference } from '../rewrite/index.ts';
import type { RejectedPoint } from './placement.ts';
import type { PlacedState } from './state.ts';

/** What a probe costs a kernel. */
export interface KernelCost {
  readonly kernel: string;
  readonly vgprs: readonly [before: number, after: number];
  readonly sgprs: readonly [before: number, after: number];
  /** Bytes of scratch by work-item. */
  readonly scratch: readonly [before: number, after: number];
  /** Waves per SIMD. */
  readonly occupancy: readonly [before: number | undefined, after: number | undefined];
}

/** Everything of an instrumented code object but its bytes. */
export interface KeptFacts {
  readonly memory: { readonly address: number; readonly size: number };
  /** Bytes of the state, also when nothing was placed. */
  readonly stateSize: number;
  readonly states: readonly Omit<PlacedState, 'shape'>[];
  readonly placed: number;
  readonly rejected: readonly RejectedPoint[];
  readonly costs: readonly KernelCost[];
  readonly drains: number;
  readonly findings: readonly Finding[];
  readonly data: readonly DataReference[];
  readonly segments: readonly number[];
}

/** The bytes: the length of the facts, the facts, the code object. */
export function keptBytes(facts: KeptFacts, code: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(facts));
  const out = new Uint8Array(4 + text.length + code.length);
  new DataView(out.buffer).setUint32(0, text.length, true);
  out.set(text, 4);
  out.set(code, 4 + text.length);
  return out;
}

/** What `keptBytes` wrote. */
export function readKept(bytes: Uint8Array): { readonly facts: KeptFacts; readonly code: Uint8Array } {
  const size = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as KeptFacts;
  return { facts, code: bytes.slice(4 + size) };
}

/** What decides what instrumenting gives, besides the build: the probe by its source, its settings, what is asked for, the code object. */
export function keyOf(source: string, settings: unknown, options: readonly unknown[], code: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(`${JSON.stringify([source, settings, options])}\n`);
  const out = new Uint8Array(head.length + code.length);
  out.set(head);
  out.set(code, head.length);
  return out;
}
