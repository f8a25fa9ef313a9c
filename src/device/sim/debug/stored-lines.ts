// Which lines of memory, LDS and scratch instructions have stored to in a stretch of the past: what nobody has stored to has not changed
// there, so that a stretch need not be run again to know. A set may name lines that nobody has stored to, and leaves out none.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { scratchAddress } from '../interpreter/spaces.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { type AccessGroup, AccessReader } from '../tools/accessed.ts';
import { type SpaceName, spaceOfFlat } from './typed.ts';
import { writesMemory } from './watched-frame.ts';
import { LINE, type WrittenLines } from './written-lines.ts';

/** Bits of a set. */
const BITS = 2 ** 18;
/** Knuth's multiplier: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1;

/** The bit of a line. */
const bitOf = (line: number): number => (Math.imul(line ^ Math.floor(line / 2 ** 32), SPREAD) >>> 14) % BITS;

/** A set of lines. What is added to it is added to `written`, too. */
export class StoredLines {
  private readonly words = new Int32Array(BITS / 32);
  private hasAll = false;
  private readonly written: WrittenLines | undefined;

  constructor(written?: WrittenLines) {
    this.written = written;
  }

  add(line: number): void {
    this.written?.add(line);
    const bit = bitOf(line);
    this.words[bit >>> 5] = (this.words[bit >>> 5] as number) | (1 << (bit & 31));
  }

  addAll(): void {
    this.written?.addAll();
    this.hasAll = true;
  }

  has(line: number): boolean {
    const bit = bitOf(line);
    return this.hasAll || ((this.words[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
  }

  join(other: StoredLines): void {
    this.hasAll ||= other.hasAll;
    for (let n = 0; n < this.words.length; n++) this.words[n] = (this.words[n] as number) | (other.words[n] as number);
  }
}

/** Calls a function with the lines of bytes as a lane sees them. Nothing is at addresses without memory. */
export function forLines(
  memory: DeviceMemory,
  w: Wave | undefined,
  space: SpaceName,
  address: number,
  bytes: number,
  lane: number,
  call: (line: number) => void,
): void {
  if (space === 'flat') {
    const own = spaceOfFlat(address);
    forLines(memory, w, own.space, own.at, bytes, lane, call);
    return;
  }
  if (space === 'scratch') {
    if (w === undefined) return;
    const before = w.lane;
    w.lane = lane;
    for (let at = address - (address & 3); at < address + bytes; at += 4) {
      forLines(memory, w, 'global', scratchAddress(w, at), 4, lane, call);
    }
    w.lane = before;
    return;
  }
  const start = space === 'lds' ? w && w.workgroup.lds.byteOffset + address : offsetOf(memory, address);
  if (start !== undefined) forLinesAt(start, bytes, call);
}

/** The same of bytes at an offset of device memory. */
export function forLinesAt(offset: number, bytes: number, call: (line: number) => void): void {
  for (let line = Math.floor(offset / LINE); line * LINE < offset + bytes; line++) call(line);
}

/** Mappings of the same bytes at several addresses have one offset. */
function offsetOf(memory: DeviceMemory, address: number): number | undefined {
  const region = memory.find(address, 1);
  return region && region.offset + address - region.base;
}

/** Whether an instruction may write memory, and whether it can be told where. */
type Stores = 'nothing' | 'known' | 'anywhere';

/** Notes what instructions are about to store. */
export class StoreNoter {
  private readonly memory: DeviceMemory;
  private readonly reader = new AccessReader();
  private readonly stores: (Stores | undefined)[] = [];
  private readonly touched = new Set<number>();

  constructor(memory: DeviceMemory) {
    this.memory = memory;
  }

  /** What a wave is about to store; `pc` is the address of the instruction in the loaded code. */
  note(lines: StoredLines, w: Wave, pc: number, bound: BoundInstruction): void {
    const key = pc >>> 2;
    let stores = this.stores[key];
    if (stores === undefined) {
      stores = storesOf(bound);
      this.stores[key] = stores;
    }
    if (stores === 'nothing') return;
    if (stores === 'anywhere') {
      lines.addAll();
      return;
    }
    for (const group of this.reader.read(w, pc, bound)) {
      if (group.kind !== 'load') this.noteGroup(lines, w, group);
    }
  }

  private noteGroup(lines: StoredLines, w: Wave, { space, bytes, count, lanes, addresses }: AccessGroup): void {
    const { touched } = this;
    touched.clear();
    const add = (line: number): void => void touched.add(line);
    let last = -1;
    for (let n = 0; n < count; n++) {
      const address = addresses[n] as number;
      // Dwords of scratch at one offset are one line in all lanes.
      if (space === 'scratch' && address === last) continue;
      last = address;
      forLines(this.memory, w, space, address, bytes, Math.max(0, lanes[n] as number), add);
    }
    for (const line of touched) lines.add(line);
  }
}

function storesOf(bound: BoundInstruction): Stores {
  if (!writesMemory(bound)) return 'nothing';
  const { instruction } = bound;
  return accessPlan(instruction, semanticsOf(instruction.row.operation)) === undefined ? 'anywhere' : 'known';
}
