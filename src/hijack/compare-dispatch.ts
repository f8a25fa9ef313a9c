// What two kernels left in memory, of one dispatch that ran both on the same bytes: every byte of every allocation, through the one comparison.
import { CHUNK_BYTES } from '../runtime/generated/tool-messages.ts';
import type { IsolatedDispatch, ToolAllocation } from '../runtime/tool-records.ts';
import { type Comparison, compareElements } from '../verdict/index.ts';

/** Element types of what pointer arguments point to, by number of the argument. */
export type BufferTypes = ReadonlyMap<number, string>;

/** A part of an allocation that either side changed. */
export interface DispatchPlace {
  /** `argument 2 (out)`, or the allocation. */
  readonly where: string;
  /** Address of its first byte, and bytes. */
  readonly address: number;
  readonly bytes: number;
  readonly comparison: Comparison;
}

export interface DispatchComparison {
  readonly kernel: string;
  readonly sequence: bigint;
  readonly index: bigint;
  /** Work-items. */
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly places: readonly DispatchPlace[];
  /** Bytes that each side wrote (bytes written with what was there do not show). */
  readonly written: { readonly baseline: number; readonly modified: number };
  readonly status: IsolatedDispatch['status'];
}

interface Pointer {
  readonly label: string;
  readonly address: number;
  readonly type: string | undefined;
}

/** Compares one dispatch. */
export function compareDispatch(
  dispatch: IsolatedDispatch,
  kernel: string,
  types: BufferTypes,
  options: { readonly tolerance?: number | undefined; readonly changedShare?: number | undefined },
): DispatchComparison {
  const pointers = pointersOf(dispatch, types);
  const places: DispatchPlace[] = [];
  const written = { baseline: 0, modified: 0 };
  for (const allocation of dispatch.allocations) {
    const { id, address, size } = allocation;
    const inside = pointers.filter((p) => p.address >= address && p.address < address + size);
    for (const [from, to] of changedRuns(dispatch, allocation)) {
      for (const [start, end, pointer] of cut(from, to, address, inside)) {
        const before = dispatch.before.bytes(id, start, end - start);
        const a = (dispatch.original ?? dispatch.before).bytes(id, start, end - start);
        const b = dispatch.after.bytes(id, start, end - start);
        written.baseline += differing(before, a);
        written.modified += differing(before, b);
        const { type } = pointer ?? { type: undefined };
        const how = type === undefined ? { bitwise: true } : options;
        places.push({
          where: pointer?.label ?? labelOf(allocation),
          address: address + start,
          bytes: end - start,
          comparison: compareElements(a, b, type ?? 'u8', how),
        });
      }
    }
  }
  const { sequence, index, fields, status } = dispatch;
  return { kernel, sequence, index, grid: fields.grid, block: fields.block, places, written, status };
}

const labelOf = ({ kind, address, size }: ToolAllocation): string =>
  `${kind} memory at 0x${address.toString(16)} (${size} bytes)`;

/** The pointers among a kernel's arguments. */
function pointersOf({ code, kernel, kernarg }: IsolatedDispatch, types: BufferTypes): Pointer[] {
  const view = new DataView(kernarg.buffer, kernarg.byteOffset, kernarg.byteLength);
  const args = code.object.kernels.find((k) => k.name === kernel)?.metadata?.args ?? [];
  return args.flatMap(({ name, valueKind, offset, size }, n): Pointer[] => {
    if (valueKind !== 'global_buffer' || size !== 8 || offset + 8 > kernarg.byteLength) return [];
    const label = name === undefined || name === '' ? `argument ${n}` : `argument ${n} (${name})`;
    return [{ label, address: Number(view.getBigUint64(offset, true)), type: types.get(n) }];
  });
}

/** Ranges of neighbouring chunks that either side changed. */
function changedRuns({ before }: IsolatedDispatch, { id, size }: ToolAllocation): [number, number][] {
  const runs: [number, number][] = [];
  for (const offset of before.offsets(id)) {
    const end = Math.min(offset + CHUNK_BYTES, size);
    const last = runs[runs.length - 1];
    if (last !== undefined && last[1] === offset) last[1] = end;
    else runs.push([offset, end]);
  }
  return runs;
}

/** Cuts a range where pointers lead into it; a pointer's part goes to the next one. */
function cut(
  from: number,
  to: number,
  base: number,
  pointers: readonly Pointer[],
): [number, number, Pointer | undefined][] {
  const inOrder = [...pointers].sort((a, b) => a.address - b.address);
  const parts: [number, number, Pointer | undefined][] = [];
  let at = from;
  let owner = inOrder.filter((p) => p.address - base <= from).at(-1);
  for (const pointer of inOrder) {
    const start = pointer.address - base;
    if (start <= at || start >= to) continue;
    parts.push([at, start, owner]);
    at = start;
    owner = pointer;
  }
  parts.push([at, to, owner]);
  return parts;
}

function differing(a: Uint8Array, b: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) count++;
  return count;
}
