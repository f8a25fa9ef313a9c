// The trail of a wavefront: the last blocks of compiled code that it has executed, as far back as wait states count. Compiled code keeps it in
// vectors, and asks for a look at a way to a block that it does not know. Blocks whose wait states do not depend on the way, and in which
// nothing is missing, never ask.
import { waitStates } from '../../../../program/index.ts';
import type { Launch } from '../../dispatch/launch.ts';
import { reachable } from '../../dispatch/reachable.ts';
import type { LoadedCode } from '../../interpreter/loaded-code.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { SHADOW_IS_CLEAN, SHADOW_TRAIL, SHADOW_WAYS, TRAIL_VECTORS } from '../registers/shadow-layout.ts';
import type { Executed } from '../registers/wait-states.ts';
import { remembered } from './polls.ts';

/** Numbers of 16 bits in a vector of a trail: the latest block's come first, one for each of its wait states. */
const LANES = 8;
/** In a trail that nobody has: no block has the number. */
const NO_BLOCK = 0xffff;
/** Blocks that have numbers: what comes before one without is not known. */
const MOST_BLOCKS = NO_BLOCK - 1;
/** Blocks from which on code is compiled anew for the next dispatch, with numbers from 1 on. */
const MANY_BLOCKS = 0x8000;
/** Ways that are remembered from dispatch to dispatch. */
const MOST_CLEAN = 0x4000;
/** Entries of the table of ways: a trail, and the number of the block that it leads to. */
const WAYS = 1024;

const known = new WeakMap<LoadedCode, Map<number, boolean>>();

/**
 * Vectors of the trails of a kernel's wavefronts. Matrix instructions need up to 20 wait states behind them, others 5 at most (WaitTable in
 * src/isa/table/hazards.ts).
 */
export function trailVectors(loaded: LoadedCode, { entry }: Launch): number {
  const hasMatrix = remembered(known, loaded, entry, () => {
    for (const { instruction } of reachable(loaded, entry)) if (instruction.row.flags.has('MAI')) return true;
    return false;
  });
  return hasMatrix ? TRAIL_VECTORS : 1;
}

const entryBytes = (vectors: number): number => 16 * (vectors + 1);

/** Bytes of the table of the ways that have been looked at in a dispatch: zeros at first. */
export const waysBytes = (vectors: number): number => entryBytes(vectors) * WAYS;

interface NumberedBlock {
  readonly items: readonly Executed[];
  /** Numbers of a trail that the block takes up. */
  readonly lanes: number;
}

/** A block's number, 0 where there was none left, and the numbers of a trail that it takes up. */
type Numbered = Pick<NumberedBlock, 'lanes'> & { readonly number: number };

/** The blocks of compiled code by their numbers in trails, which begin with 1. */
export class TrailBlocks {
  readonly vectors: number;
  private readonly blocks: NumberedBlock[] = [];
  /** By place in the image; of several blocks that begin there, the longest. */
  private readonly byPlace = new Map<number, readonly Executed[]>();
  /** Ways on which nothing is missing, in whichever dispatch. */
  private readonly clean = new Set<string>();

  constructor(vectors: number) {
    this.vectors = vectors;
  }

  get areMany(): boolean {
    return this.blocks.length >= MANY_BLOCKS;
  }

  /** Gives the next number to a block. */
  add(items: readonly Executed[]): Numbered {
    const { pc } = items[0] as Executed;
    if ((this.byPlace.get(pc)?.length ?? 0) < items.length) this.byPlace.set(pc, items);
    const states = items.reduce((sum, { instruction }) => sum + waitStates(instruction), 0);
    const lanes = Math.min(LANES * this.vectors, Math.max(1, states));
    return { number: this.blocks.length >= MOST_BLOCKS ? 0 : this.blocks.push({ items, lanes }), lanes };
  }

  /** A name for the way that a trail tells of to the block at a place in the image. */
  wayTo(trail: Uint16Array, pc: number): string {
    return `${trail.join()} ${pc} ${this.byPlace.get(pc)?.length}`;
  }

  isKnownClean(way: string): boolean {
    return this.clean.has(way);
  }

  addClean(way: string): void {
    if (this.clean.size >= MOST_CLEAN) this.clean.clear();
    this.clean.add(way);
  }

  /** The instructions of the block at a place in the image, and before them those of the way to it that a trail tells of. */
  pathTo(
    trail: Uint16Array,
    pc: number,
  ): { readonly before: readonly Executed[]; readonly block: readonly Executed[] } {
    const last: NumberedBlock[] = [];
    for (let lane = 0; lane < LANES * this.vectors && trail[lane] !== 0; ) {
      const one = this.blocks[(trail[lane] as number) - 1] as NumberedBlock;
      last.unshift(one);
      lane += one.lanes;
    }
    return { before: last.flatMap(({ items }) => items), block: this.byPlace.get(pc) as readonly Executed[] };
  }
}

/**
 * Writes that the wavefront executes a block of `blocks`; with `asks`, that the import `look` is called (wave, place) before that when the way to the
 * block is not known.
 */
export function emitTrail(
  context: FunctionContext,
  shadow: number,
  { vectors }: TrailBlocks,
  { number, lanes }: Numbered,
  asks: boolean,
  look: number,
): void {
  const { fn, wave, pc } = context;
  if (asks && number === 0) fn.get(wave).i32(pc).call(look);
  else if (asks) emitQuestion(context, shadow, vectors, number, look);
  const word = number | (number << 16);
  const old = Array.from({ length: vectors }, () => fn.local('v128'));
  // What is kept of the trail moves on.
  const kept = number === 0 ? 0 : LANES * vectors - lanes;
  const used = Math.ceil(kept / LANES);
  for (const [n, local] of old.slice(0, used).entries()) {
    fn.get(shadow)
      .memory('v128.load', SHADOW_TRAIL + 16 * n)
      .set(local);
  }
  for (let n = 0; n < vectors; n++) {
    // In a row of the block's numbers and the old trail, where the vector begins.
    const from = LANES * n - lanes;
    const vector = Math.floor(from / LANES);
    const push = (at: number): void => {
      if (at < 0) fn.v128(word, word, word, word);
      else fn.get(old[at] as number);
    };
    fn.get(shadow);
    if (number === 0 || from + LANES <= 0) push(-1);
    else {
      const [low, first] = [vector, 2 * (from - LANES * vector)];
      push(low);
      if (first > 0) {
        push(low + 1);
        fn.shuffle(Array.from({ length: 16 }, (_, byte) => first + byte));
      }
    }
    fn.memory('v128.store', SHADOW_TRAIL + 16 * n);
  }
  for (const local of old) fn.release('v128', local);
}

/** Asks for a look when the trail is not the one that was found to be clean last, and has not been looked at in the dispatch. */
function emitQuestion(
  { fn, module, wave, pc }: FunctionContext,
  shadow: number,
  vectors: number,
  number: number,
  look: number,
): void {
  const clean = Array.from({ length: vectors }, () => module.vectorGlobal(-1));
  for (const [n, global] of clean.entries()) {
    fn.get(shadow)
      .memory('v128.load', SHADOW_TRAIL + 16 * n)
      .globalGet(global)
      .op('v128.xor');
    if (n > 0) fn.op('v128.or');
  }
  fn.op('v128.any_true').if();
  fn.get(shadow).i32(number).call(isKnownWay(module, vectors)).op('i32.eqz').if();
  fn.get(wave).i32(pc).call(look);
  fn.get(shadow).memory('i32.load', SHADOW_IS_CLEAN).if();
  for (const [n, global] of clean.entries()) {
    fn.get(shadow)
      .memory('v128.load', SHADOW_TRAIL + 16 * n)
      .globalSet(global);
  }
  fn.end().end().end();
}

/**
 * (shadow, number of a block) → whether the way to it by the trail is in the table of ways that have been looked at; it is from now on. A way is in one of
 * two entries: what has been in the first one of them goes into the second.
 */
function isKnownWay(module: WasmModule, vectors: number): WasmFunction {
  return module.helper(`strict.way.${vectors}`, ['i32', 'i32'], ['i32'], (fn) => {
    const [shadow, number, place, hash] = [0, 1, fn.local('i32'), fn.local('i64')];
    const step = (): WasmFunction => {
      // A multiplier of xxHash64.
      fn.get(hash).op('i64.xor').i64(BigInt.asIntN(64, 0x9e3779b185ebca87n)).op('i64.mul').tee(hash);
      return fn.i64(32n).op('i64.shr_u').get(hash).op('i64.xor').set(hash);
    };
    fn.get(number).op('i64.extend_i32_u');
    step();
    for (let at = 0; at < 16 * vectors; at += 8) {
      fn.get(shadow).memory('i64.load', SHADOW_TRAIL + at);
      step();
    }
    fn.get(hash)
      .op('i32.wrap_i64')
      .i32(WAYS - 2)
      .op('i32.and')
      .i32(entryBytes(vectors))
      .op('i32.mul');
    fn.get(shadow).memory('i32.load', SHADOW_WAYS).op('i32.add').set(place);
    const size = entryBytes(vectors);
    const pushIsOther = (entry: number): void => {
      for (let n = 0; n <= vectors; n++) {
        fn.get(place).memory('v128.load', size * entry + 16 * n);
        if (n < vectors) fn.get(shadow).memory('v128.load', SHADOW_TRAIL + 16 * n);
        else fn.get(number).op('i32x4.splat');
        fn.op('v128.xor');
        if (n > 0) fn.op('v128.or');
      }
      fn.op('v128.any_true');
    };
    pushIsOther(0);
    fn.op('i32.eqz').if().i32(1).return().end();
    pushIsOther(1);
    fn.op('i32.eqz').if().i32(1).return().end();
    for (let n = 0; n <= vectors; n++) {
      fn.get(place)
        .get(place)
        .memory('v128.load', 16 * n)
        .memory('v128.store', size + 16 * n);
    }
    fn.i32(0);
    for (let n = 0; n <= vectors; n++) {
      fn.get(place);
      if (n < vectors) fn.get(shadow).memory('v128.load', SHADOW_TRAIL + 16 * n);
      else fn.get(number).op('i32x4.splat');
      fn.memory('v128.store', 16 * n);
    }
  });
}
