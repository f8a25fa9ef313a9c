// Which registers hold a value that may still be read: SGPRs, VGPRs, AGPRs, SCC, VCC, EXEC, M0 and MODE, one bit per slot.
// A vector instruction writes its active lanes only, so it ends the life of a VGPR's old value only where no lane that it leaves
// alone can be read later: that depends on how EXEC changes between the write and the reads. Backward data flow.
// Source: CDNA3 ISA manual, "EXECute Mask"; LLVM's SIWholeQuadMode and register liveness for the treatment of partial writes.
import { solveBackward } from './dataflow.ts';
import { execChange } from './exec.ts';
import { SLOT_WORDS, Slot, type SlotRange } from './slots.ts';
import type { BasicBlock, CodeInstruction, Program, ProgramFunction } from './types.ts';

/** First word of a bit set that is about vector registers. */
const VECTOR_WORD = Slot.VGPR0 / 32;

/**
 * `now`: read later by lanes that are active here (for scalar registers: read later). `more`: vector registers read later by lanes
 * that may be off here.
 */
interface Live {
  readonly now: Uint32Array;
  readonly more: Uint32Array;
}

/** The registers that may be read later, at each place of a function. */
export interface Liveness {
  /** Before an instruction, as a bit set over slots. */
  before(code: CodeInstruction): Uint32Array;
  /** After an instruction. */
  after(code: CodeInstruction): Uint32Array;
  /** The instructions of a block from its end to its start, with what is live before and after each; the sets are used again. */
  walk(block: BasicBlock, visit: (code: CodeInstruction, before: Uint32Array, after: Uint32Array) => void): void;
}

/** Whether a slot is in a bit set. */
export function hasSlot(set: Uint32Array, slot: number): boolean {
  return (((set[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0;
}

function add(set: Uint32Array, ranges: readonly SlotRange[]): void {
  for (const { first, count } of ranges) {
    for (let s = first; s < first + count; s++) set[s >>> 5] = (set[s >>> 5] as number) | (1 << (s & 31));
  }
}

function remove(set: Uint32Array, slot: number): void {
  set[slot >>> 5] = (set[slot >>> 5] as number) & ~(1 << (slot & 31));
}

/** All that is live, in `out`. */
function union({ now, more }: Live, out: Uint32Array): Uint32Array {
  for (let w = 0; w < VECTOR_WORD; w++) out[w] = now[w] as number;
  for (let w = VECTOR_WORD; w < SLOT_WORDS; w++) out[w] = (now[w] as number) | (more[w] as number);
  return out;
}

/** Reads that are not in the code, by the index of an instruction: right before it and right behind it. */
export interface FurtherReads {
  readonly before: ReadonlyMap<number, readonly SlotRange[]>;
  readonly after: ReadonlyMap<number, readonly SlotRange[]>;
}

const NO_READS: FurtherReads = { before: new Map(), after: new Map() };

class LivenessSolver implements Liveness {
  private readonly program: Program;
  private readonly ends: ReadonlyMap<number, Live>;
  private readonly further: FurtherReads;

  constructor(program: Program, subject: ProgramFunction, further: FurtherReads) {
    this.program = program;
    this.further = further;
    this.ends = solveBackward<Live>(program, subject, {
      exit: liveBehind,
      copy: ({ now, more }) => ({ now: now.slice(), more: more.slice() }),
      transfer: (block, live) => {
        for (let i = block.end - 1; i >= block.first; i--) this.step(live, program.instructions[i] as CodeInstruction);
      },
      join,
      isSame,
    });
  }

  before(code: CodeInstruction): Uint32Array {
    return this.at(code, true);
  }

  after(code: CodeInstruction): Uint32Array {
    return this.at(code, false);
  }

  walk(block: BasicBlock, visit: (code: CodeInstruction, before: Uint32Array, after: Uint32Array) => void): void {
    const end = this.ends.get(block.index);
    if (end === undefined) return;
    const live = { now: end.now.slice(), more: end.more.slice() };
    let before: Uint32Array = new Uint32Array(SLOT_WORDS);
    let after = union(live, new Uint32Array(SLOT_WORDS));
    for (let i = block.end - 1; i >= block.first; i--) {
      const code = this.program.instructions[i] as CodeInstruction;
      const reads = this.further.after.get(i);
      if (reads !== undefined) {
        add(live.now, reads);
        union(live, after);
      }
      this.step(live, code);
      visit(code, union(live, before), after);
      [before, after] = [after, before];
    }
  }

  private at(code: CodeInstruction, isBefore: boolean): Uint32Array {
    const block = this.program.blockAt(code.pc);
    const end = block && this.ends.get(block.index);
    if (block === undefined || end === undefined) return new Uint32Array(SLOT_WORDS);
    const live = { now: end.now.slice(), more: end.more.slice() };
    for (let i = block.end - 1; i >= (isBefore ? code.index : code.index + 1); i--) {
      this.step(live, this.program.instructions[i] as CodeInstruction);
    }
    if (!isBefore) add(live.now, this.further.after.get(code.index) ?? []);
    return union(live, live.now);
  }

  private step(live: Live, code: CodeInstruction): void {
    const { before, after } = this.further;
    add(live.now, after.get(code.index) ?? []);
    step(live, code);
    add(live.now, before.get(code.index) ?? []);
  }
}

/** What is live behind a block. Callers and callees, and places that are not known, may read everything. */
function liveBehind({ exit }: BasicBlock): Live {
  const isOpen = exit === 'call' || exit === 'return' || exit === 'unresolved';
  const live = { now: new Uint32Array(SLOT_WORDS).fill(isOpen ? 0xffffffff : 0), more: new Uint32Array(SLOT_WORDS) };
  if (isOpen) live.more.fill(0xffffffff, VECTOR_WORD);
  return live;
}

function join(live: Live, other: Live): boolean {
  let changed = false;
  for (const part of ['now', 'more'] as const) {
    const [into, from] = [live[part], other[part]];
    for (let w = 0; w < SLOT_WORDS; w++) {
      const word = ((into[w] as number) | (from[w] as number)) >>> 0;
      if (word !== into[w]) changed = true;
      into[w] = word;
    }
  }
  return changed;
}

function isSame(a: Live, b: Live): boolean {
  return a.now.every((word, i) => word === b.now[i] && a.more[i] === b.more[i]);
}

/** What is live before an instruction, from what is live after it. */
function step({ now, more }: Live, code: CodeInstruction): void {
  const { effects, instruction } = code;
  const change = execChange(code);
  if (change === 'other' || change === 'all') {
    // Lanes that are read later may have been off before.
    for (let w = VECTOR_WORD; w < SLOT_WORDS; w++) {
      more[w] = (more[w] as number) | (now[w] as number);
      now[w] = 0;
    }
  }
  // Matrix instructions ignore EXEC.
  const writesEveryLane = /^v_s?mfmac?_/.test(instruction.row.operation);
  const writesOneLane = instruction.row.operation === 'v_writelane_b32';
  for (const { first, count } of effects.defs) {
    for (let slot = first; slot < first + count; slot++) {
      if (slot >= Slot.VGPR0 && writesOneLane) continue;
      remove(now, slot);
      if (slot >= Slot.VGPR0 && writesEveryLane) remove(more, slot);
    }
  }
  add(now, effects.uses);
  add(now, effects.keeps);
}

/** Solves the liveness of a function; linear in its size for reducible control flow. */
export function livenessOf(program: Program, subject: ProgramFunction, further: FurtherReads = NO_READS): Liveness {
  return new LivenessSolver(program, subject, further);
}
