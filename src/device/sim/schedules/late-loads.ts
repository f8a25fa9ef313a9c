// Loads that return as late as the waits of the kernel allow: a loaded register keeps its old value until an s_waitcnt proves the load
// complete, and so does LDS that a load into LDS writes. A kernel without the wait then computes with the old value, each time.
// Source: CDNA3 ISA manual, "Data Dependency Resolution". Stores are done at once.
import {
  effectsOf,
  FLAT_LGKM,
  FLAT_VM,
  LGKM_FULL,
  type MemoryKind,
  type SlotRange,
  VM_FULL,
  waitCounts,
  waitRole,
} from '../../../program/index.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';

/** The first slot of a vector register; the program layer numbers scalar ones below. */
const VECTORS = 256;

/** A load whose results have not been delivered. */
interface Late {
  readonly slots: readonly SlotRange[];
  /** The values, slot by slot; 64 for a vector register. */
  readonly values: Int32Array;
  readonly exec: readonly [number, number];
  /** Bytes of LDS: address and value. */
  readonly lds: readonly (readonly [number, number])[];
  /** Flat loads: counters not drained since. */
  left: number;
}

/** What a wavefront waits for. */
type Queues = Readonly<Record<MemoryKind, Late[]>>;

interface Issued {
  readonly wave: Wave;
  readonly kind: MemoryKind;
  readonly slots: readonly SlotRange[];
  readonly before: Int32Array;
  readonly exec: readonly [number, number];
  readonly lds: Uint8Array | undefined;
}

function sizeOf(slots: readonly SlotRange[]): number {
  return slots.reduce((sum, { first, count }) => sum + count * (first >= VECTORS ? LANES : 1), 0);
}

/** Values of registers, slot by slot. */
function valuesOf(w: Wave, slots: readonly SlotRange[]): Int32Array {
  const out = new Int32Array(sizeOf(slots));
  let at = 0;
  for (const { first, count } of slots) {
    const isVector = first >= VECTORS;
    const [file, from, words] = isVector
      ? [w.vgprs, (first - VECTORS) * LANES, count * LANES]
      : [w.sgprs, first, count];
    out.set(file.subarray(from, from + words), at);
    at += words;
  }
  return out;
}

/** Writes values to registers, of vector registers in some lanes. */
function put(w: Wave, slots: readonly SlotRange[], values: Int32Array, [low, high]: readonly [number, number]): void {
  let at = 0;
  for (const { first, count } of slots) {
    if (first < VECTORS) {
      w.sgprs.set(values.subarray(at, at + count), first);
      at += count;
      continue;
    }
    const base = (first - VECTORS) * LANES;
    for (let i = 0; i < count * LANES; i++) {
      if (maskBit(low, high, i % LANES)) w.vgprs[base + i] = values[at + i] as number;
    }
    at += count * LANES;
  }
}

export class LateLoads implements Monitor {
  private readonly queues = new Map<Wave, Queues>();
  private issued: Issued | undefined;

  startWorkgroup(_group: unknown, waves: readonly Wave[]): void {
    for (const wave of waves) this.queues.set(wave, { vm: [], lds: [], scalar: [], flat: [] });
  }

  before(w: Wave, _pc: number, { instruction }: BoundInstruction): void {
    this.issued = undefined;
    const role = waitRole(instruction.row);
    if (role.isWait) {
      this.wait(w, instruction);
      return;
    }
    const { kind } = role;
    if (kind === undefined) return;
    const slots = effectsOf(instruction).defs;
    const toLds = instruction.row.flags.has('LDSDMA');
    // What only stores is counted too: loads in front of it are complete when fewer operations are outstanding.
    this.issued = {
      wave: w,
      kind,
      slots,
      before: valuesOf(w, slots),
      exec: [w.sgprs[EXEC] as number, w.sgprs[EXEC + 1] as number],
      lds: toLds ? w.workgroup.lds.slice() : undefined,
    };
  }

  after(w: Wave): void {
    const { issued } = this;
    const queues = this.queues.get(w);
    if (issued === undefined || issued.wave !== w || queues === undefined) return;
    const { slots, before, exec, kind } = issued;
    const late: Late = {
      slots,
      values: valuesOf(w, slots),
      exec,
      lds: issued.lds === undefined ? [] : this.takeBack(w, issued.lds),
      left: FLAT_VM | FLAT_LGKM,
    };
    put(w, slots, before, exec);
    queues[kind].push(late);
    // A full counter stalls issue.
    if (kind === 'vm') this.keepLast(w, queues.vm, VM_FULL);
    if (kind === 'lds') this.keepLast(w, queues.lds, LGKM_FULL);
  }

  /** The bytes of LDS that an operation has changed, which are put back. */
  private takeBack({ workgroup: { lds } }: Wave, before: Uint8Array): (readonly [number, number])[] {
    const changed: (readonly [number, number])[] = [];
    for (let i = 0; i < lds.length; i++) if (lds[i] !== before[i]) changed.push([i, lds[i] as number]);
    for (const [at] of changed) lds[at] = before[at] as number;
    return changed;
  }

  private wait(w: Wave, instruction: BoundInstruction['instruction']): void {
    const queues = this.queues.get(w);
    if (queues === undefined) return;
    const { vm, lgkm } = waitCounts(instruction);
    if (vm < VM_FULL) this.keepLast(w, queues.vm, vm);
    if (lgkm < LGKM_FULL) this.keepLast(w, queues.lds, lgkm);
    if (lgkm === 0) this.keepLast(w, queues.scalar, 0);
    const drained = (vm === 0 ? FLAT_VM : 0) | (lgkm === 0 ? FLAT_LGKM : 0);
    for (const late of [...queues.flat]) {
      late.left &= ~drained;
      if (late.left === 0) this.deliver(w, queues.flat.splice(queues.flat.indexOf(late), 1)[0] as Late);
    }
  }

  private keepLast(w: Wave, queue: Late[], n: number): void {
    while (queue.length > n) this.deliver(w, queue.shift() as Late);
  }

  private deliver(w: Wave, { slots, values, exec, lds }: Late): void {
    put(w, slots, values, exec);
    for (const [at, value] of lds) w.workgroup.lds[at] = value;
  }
}
