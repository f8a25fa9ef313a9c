// The code a kernel can reach, as basic blocks: decoded from an entry along branches, each block for one known MODE.
// What cannot be known (indirect jumps, MODE from a register, code outside the image) ends a block; the engine goes on from there.

import { decoderFor } from '../../../isa/index.ts';
import { hasOperand, immediateOf, requireOperand } from '../../../isa/operand.ts';
import { type Operation, type StructuralOperation, semanticsOfRow } from '../../../isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../../isa/types.ts';
import { loadRow, loadsIntoLds } from '../interpreter/loaded-code.ts';
import { INDEXES_REGISTERS, keyOf, MODE_MASK, type Place, SKIPS_VECTORS, STATE_MASK } from './place.ts';
import { constantOf } from './scalar.ts';
import { changesScalars, type ScalarValues } from './scalar-values.ts';

/** Instructions of one block. */
export const BLOCK_LIMIT = 200;
const HW_MODE = 1;
/** A decoded instruction at its byte offset in the image. */
export interface Item {
  readonly pc: number;
  readonly instruction: Instruction;
  readonly operation: Operation | undefined;
}

/** Where control goes after a block. Targets are keys of blocks or of code outside the module. */
export type Ending =
  | { readonly kind: 'goto'; readonly to: Place }
  | { readonly kind: 'branch'; readonly item: Item; readonly taken: Place; readonly otherwise: Place }
  /** The last item has decided whether vector instructions are passed over from here on. */
  | { readonly kind: 'skip'; readonly skipped: Place; readonly executed: Place }
  /** `s_endpgm` and the like, `s_barrier`: the last item of the block; the engine looks at the state. */
  | { readonly kind: 'end' }
  | { readonly kind: 'barrier'; readonly next: number }
  /** The last item is interpreted and leaves a program counter. */
  | { readonly kind: 'dynamic' }
  /** The code goes on outside the module, or not at all. */
  | { readonly kind: 'leave'; readonly pc: number };

export interface Block extends Place {
  readonly items: readonly Item[];
  readonly ending: Ending;
  /** Starts with a load into LDS: a wave that is in no row of them ends its turn before it, so that the others catch up. */
  readonly late: boolean;
}

/** The items of a block and the branch that ends it. */
export function itemsOf({ items, ending }: Block): readonly Item[] {
  return ending.kind === 'branch' ? [...items, ending.item] : items;
}

/** Whether a wave is in a row of loads into LDS after a block; undefined where it is if it was before. */
export function rowAfter({ items, ending }: Pick<Block, 'items' | 'ending'>): boolean | undefined {
  return ending.kind === 'branch' ? false : rowAfterItems(items);
}

/**
 * Whether a wave that enters a block in a row of loads into LDS leaves its unit in it: there is only arithmetic on the way. `blocks` are those of the
 * unit, by key; `known` what was found of its blocks so far. A wave that goes round for ever leaves nothing.
 */
export function leavesInRow(block: Block, blocks: ReadonlyMap<number, Block>, known: Map<Block, boolean>): boolean {
  const way: Block[] = [];
  let one: Block | undefined = block;
  while (one !== undefined && !known.has(one) && rowAfter(one) === undefined) {
    way.push(one);
    known.set(one, false);
    const { ending }: Block = one;
    one = ending.kind === 'goto' ? blocks.get(keyOf(ending.to)) : undefined;
  }
  const leaves = one === undefined || known.get(one) === true;
  for (const passed of way) known.set(passed, leaves);
  return leaves;
}

function rowAfterItems(items: readonly Item[]): boolean | undefined {
  for (let n = items.length - 1; n >= 0; n--) {
    const row = loadRow((items[n] as Item).instruction);
    if (row !== undefined) return row;
  }
  return undefined;
}

const DYNAMIC = new Set<StructuralOperation['name']>(['gridBarrier', 'setpc', 'swappc', 'sendmsg', 'sethalt', 'trap']);

/** The hardware register and field of an s_getreg or s_setreg. */
export function hardwareField(instruction: Instruction): { id: number; offset: number; size: number } {
  const field = immediateOf(instruction, 'simm16');
  return { id: field & 63, offset: (field >> 6) & 31, size: ((field >> 11) & 31) + 1 };
}

/** The bits of MODE that an s_setreg changes (none: another register), and their value when it is known. */
export function modeChange(instruction: Instruction): { readonly mask: number; readonly value: number | undefined } {
  const { id, offset, size } = hardwareField(instruction);
  if (id !== HW_MODE) return { mask: 0, value: 0 };
  const mask = (size === 32 ? -1 : (1 << size) - 1) << offset;
  const known = hasOperand(instruction.row, 'imm');
  return { mask, value: known ? (immediateOf(instruction, 'imm') << offset) & mask : undefined };
}

/** MODE after an s_setreg; undefined when the value is not known. */
function modeAfter(instruction: Instruction, mode: number): number | undefined {
  const { mask, value } = modeChange(instruction);
  if (mask === 0) return mode;
  return value === undefined ? undefined : ((value | (mode & ~mask)) & MODE_MASK) | (mode & STATE_MASK);
}

/** Whether an s_setvskip makes vector instructions be passed over, when it is known. */
function skipSet(instruction: Instruction): boolean | undefined {
  const [word, bit] = ['src0', 'src1'].map((name) => constantOf(requireOperand(instruction, name), 'i32'));
  return word === undefined || bit === undefined ? undefined : ((word >> (bit & 31n)) & 1n) !== 0n;
}

export const branchDistance = (instruction: Instruction): number =>
  ((immediateOf(instruction, 'simm16') << 16) >> 16) * 4;

interface Step {
  readonly item: Item;
  /** Whether what is known of scalar registers may differ behind it. */
  readonly changesScalars: boolean;
  /** How the instruction ends its block, if it does. */
  readonly ending: Ending | undefined;
  readonly next: Place;
}

/** Where control may be behind a step that ends its block: `ways` lead there, and after a call `back` comes from elsewhere. */
function waysFrom({ item, ending, next }: Step): { readonly ways: readonly Place[]; readonly back: Place | undefined } {
  const { operation } = item;
  const calls = operation?.kind === 'structural' && (operation.name === 'call' || operation.name === 'swappc');
  const back = calls ? next : undefined;
  switch (ending?.kind) {
    case 'goto':
      return { ways: [ending.to], back };
    case 'branch':
      return { ways: [ending.taken, ending.otherwise], back };
    case 'skip':
      return { ways: [ending.skipped, ending.executed], back };
    case 'barrier':
      return { ways: [next], back };
    default:
      return { ways: [], back };
  }
}

/** Those of the ways behind a step that a wave with such registers may take. */
function openWays(step: Step, values: ScalarValues): readonly Place[] {
  const { operation } = step.item;
  const taken = operation?.kind === 'branch' ? values.isTaken(operation) : undefined;
  if (step.ending?.kind !== 'branch' || taken === undefined) return waysFrom(step).ways;
  return [taken ? step.ending.taken : step.ending.otherwise];
}

class Walker {
  private readonly bytes: Uint8Array;
  private readonly limit: number;
  private readonly decode: (at: number) => Instruction | undefined;
  private readonly followedStates: number;
  private readonly blockLimit: number;
  readonly steps = new Map<number, Step>();
  readonly leaders = new Map<number, Place>();
  private readonly pending: Place[] = [];

  constructor(
    bytes: Uint8Array,
    limit: number,
    decode: (at: number) => Instruction | undefined,
    followedStates: number,
    blockLimit: number,
  ) {
    this.followedStates = followedStates;
    this.blockLimit = blockLimit;
    this.limit = limit;
    this.bytes = bytes;
    this.decode = decode;
  }

  private lead(place: Place): void {
    const key = keyOf(place);
    if (this.leaders.has(key)) return;
    this.leaders.set(key, place);
    this.pending.push(place);
  }

  /** Walks the ways behind branches that are `open`, and all others; gives the rest. */
  walk(entry: Place, known: (place: Place) => boolean, open: (place: Place) => boolean): readonly Place[] {
    this.lead(entry);
    for (let n = 0; n < this.pending.length; n++) {
      let place = this.pending[n] as Place;
      if (n > 0 && known(place)) continue;
      while (this.steps.size < this.limit && !this.steps.has(keyOf(place))) {
        const step = this.step(place);
        if (step === undefined) break;
        this.steps.set(keyOf(place), step);
        if (step.ending !== undefined) {
          const { ways, back } = waysFrom(step);
          const isBranch = step.ending.kind === 'branch';
          for (const way of ways) if (!isBranch || open(way)) this.lead(way);
          if (back !== undefined) this.lead(back);
          break;
        }
        place = step.next;
      }
    }
    return this.closeWays();
  }

  /** Walks the ways that are open to a wave with such registers at the entry; gives the rest. */
  follow(entry: Place, known: (place: Place) => boolean, start: ScalarValues): readonly Place[] {
    const before = new Map<number, ScalarValues>();
    const waiting = new Map<number, Place>();
    const reach = (place: Place, values: ScalarValues): void => {
      const key = keyOf(place);
      const met = before.get(key);
      if (met !== undefined && !met.meet(values)) return;
      if (met === undefined) before.set(key, values.copy());
      this.leaders.set(key, place);
      waiting.set(key, place);
    };
    reach(entry, start);
    const values = start.copy();
    for (const [key, first] of waiting) {
      waiting.delete(key);
      if (first !== entry && known(first)) continue;
      values.take(before.get(key) as ScalarValues);
      let at = key;
      let place = first;
      for (;;) {
        let step = this.steps.get(at);
        if (step === undefined) {
          step = this.steps.size < this.limit ? this.step(place) : undefined;
          if (step === undefined) break;
          this.steps.set(at, step);
        }
        if (step.changesScalars) values.after(step.item);
        if (step.ending !== undefined) {
          for (const way of openWays(step, values)) reach(way, values);
          const { back } = waysFrom(step);
          values.forgetAll();
          if (back !== undefined) reach(back, values);
          break;
        }
        place = step.next;
        at = keyOf(place);
        if (!before.has(at)) continue;
        reach(place, values);
        break;
      }
    }
    return this.closeWays();
  }

  /** Ways behind branches that were not walked: those to code that was walked get a block, the others are given. */
  private closeWays(): readonly Place[] {
    const left = new Map<number, Place>();
    for (const step of this.steps.values()) {
      if (step.ending?.kind !== 'branch') continue;
      for (const way of waysFrom(step).ways) {
        const key = keyOf(way);
        if (this.leaders.has(key)) continue;
        if (this.steps.has(key)) this.leaders.set(key, way);
        else left.set(key, way);
      }
    }
    return [...left.values()];
  }

  private step({ pc, mode }: Place): Step | undefined {
    if (pc < 0 || pc + 4 > this.bytes.length || (pc & 3) !== 0) return undefined;
    const instruction = this.decode(pc);
    if (instruction === undefined) return undefined;
    const operation = semanticsOfRow(instruction.row);
    const item: Item = { pc, instruction, operation };
    const next: Place = { pc: pc + instruction.size, mode };
    return { item, changesScalars: changesScalars(item), next, ending: this.endingOf(item, next) };
  }

  private endingOf(item: Item, next: Place): Ending | undefined {
    const { instruction, operation } = item;
    if (operation?.kind === 'branch') {
      const taken = { pc: next.pc + branchDistance(instruction), mode: next.mode };
      if (operation.condition === undefined) return { kind: 'goto', to: taken };
      return { kind: 'branch', item, taken, otherwise: next };
    }
    if (operation?.kind !== 'structural') return undefined;
    const { name } = operation;
    if (name === 'endpgm') return { kind: 'end' };
    if (name === 'barrier') return { kind: 'barrier', next: next.pc };
    if (name === 'call') {
      return { kind: 'goto', to: { pc: next.pc + branchDistance(instruction), mode: next.mode } };
    }
    if (name === 'setreg') {
      const mode = modeAfter(instruction, next.mode);
      if (mode === undefined) return { kind: 'dynamic' };
      return mode === next.mode ? undefined : { kind: 'goto', to: { pc: next.pc, mode } };
    }
    if (name === 'setGprIndexOn' || name === 'setGprIndexOff' || name === 'setVskip') {
      return this.stateEnding(instruction, name, next);
    }
    return DYNAMIC.has(name) ? { kind: 'dynamic' } : undefined;
  }

  /** How s_set_gpr_idx_on and _off and s_setvskip end a block. States that are not followed are left to the interpreter. */
  private stateEnding(instruction: Instruction, name: StructuralOperation['name'], next: Place): Ending | undefined {
    const [bit, value] =
      name === 'setVskip'
        ? ([SKIPS_VECTORS, skipSet(instruction)] as const)
        : ([INDEXES_REGISTERS, name === 'setGprIndexOn'] as const);
    if ((this.followedStates & bit) === 0) return name === 'setGprIndexOff' ? undefined : { kind: 'dynamic' };
    const [on, off] = [next.mode | bit, next.mode & ~bit].map((mode): Place => ({ pc: next.pc, mode })) as [
      Place,
      Place,
    ];
    if (value === undefined) return { kind: 'skip', skipped: on, executed: off };
    const to = value ? on : off;
    return to.mode === next.mode ? undefined : { kind: 'goto', to };
  }

  /** Whether a load into LDS has to begin a block: the wave is not known to be in a row of them. */
  private beginsRow({ item }: Step, before: readonly Item[]): boolean {
    return item.operation?.kind === 'load' && loadsIntoLds(item.instruction) && rowAfterItems(before) !== true;
  }

  block(start: Place): Block {
    const items: Item[] = [];
    let place = start;
    let late = false;
    for (;;) {
      const key = keyOf(place);
      const step = this.steps.get(key);
      if (step === undefined) {
        const leads = this.leaders.has(key) && items.length > 0;
        const ending: Ending = leads ? { kind: 'goto', to: place } : { kind: 'leave', pc: place.pc };
        return { ...start, items, ending, late };
      }
      if (items.length === 0) late = loadsIntoLds(step.item.instruction);
      else if (this.leaders.has(key) || items.length >= this.blockLimit || this.beginsRow(step, items)) {
        return { ...start, items, ending: { kind: 'goto', to: place }, late };
      }
      if (step.ending?.kind === 'branch') return { ...start, items, ending: step.ending, late };
      items.push(step.item);
      if (step.ending !== undefined) return { ...start, items, ending: step.ending, late };
      place = step.next;
    }
  }
}

/** How far code is walked. */
export interface WalkOptions {
  /** Code that other modules hold already. */
  readonly known?: ((place: Place) => boolean) | undefined;
  /** About the most instructions; the rest is compiled when it is reached. */
  readonly limit?: number | undefined;
  readonly decode?: ((pc: number) => Instruction | undefined) | undefined;
  /** Of STATE_MASK, the states in which code is reached, too; all by default. */
  readonly followedStates?: number | undefined;
  /** The most instructions of one block. */
  readonly blockLimit?: number | undefined;
  /** What is known of a wave at the entry: ways that it does not take are left out. */
  readonly start?: ScalarValues | undefined;
  /** Without `start`: which ways behind branches are not left out; all by default. */
  readonly open?: ((place: Place) => boolean) | undefined;
}

/** Blocks, and where branches lead beyond them. */
export interface Reachable {
  readonly blocks: readonly Block[];
  readonly leftOut: readonly Place[];
}

/** Blocks reachable from `entry`, in address order, the entry's first. */
export function reachableBlocks(
  target: TargetName,
  bytes: Uint8Array,
  entry: Place,
  options: WalkOptions = {},
): Reachable {
  const {
    known = () => false,
    limit = 6000,
    decode = (pc) => decoderFor(target).decode(bytes, pc),
    followedStates = STATE_MASK,
    blockLimit = BLOCK_LIMIT,
    start,
    open = () => true,
  } = options;
  const walker = new Walker(bytes, limit, decode, followedStates, blockLimit);
  const leftOut = start === undefined ? walker.walk(entry, known, open) : walker.follow(entry, known, start);
  const blocks = new Map<number, Block>();
  const pending: Place[] = [entry];
  for (const place of walker.leaders.values()) if (walker.steps.has(keyOf(place))) pending.push(place);
  for (let n = 0; n < pending.length; n++) {
    const place = pending[n] as Place;
    const key = keyOf(place);
    if (blocks.has(key) || (n > 0 && !walker.steps.has(key))) continue;
    const block = walker.block(place);
    blocks.set(key, block);
    // A block cut at its limit goes on at a place that is no leader.
    if (block.ending.kind === 'goto') pending.push(block.ending.to);
  }
  const [first, ...rest] = blocks.values();
  return { blocks: first === undefined ? [] : [first, ...rest.sort((a, b) => a.pc - b.pc)], leftOut };
}
