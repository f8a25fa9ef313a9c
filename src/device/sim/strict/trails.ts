// The trail of a wavefront: the last blocks of compiled code that it has executed, as far back as wait states count. Compiled code keeps it in one
// vector, and asks for a look at a way to a block that it does not know. Blocks whose wait states do not depend on the way, and in which
// nothing is missing, never ask.
import { MAX_WAIT_STATES, waitStates } from '../../../program/index.ts';
import type { FunctionContext } from '../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { SHADOW_IS_CLEAN, SHADOW_TRAIL, SHADOW_WAYS } from './registers.ts';
import type { Executed } from './wait-states.ts';

/** Numbers of 16 bits in a trail: the latest block's come first. */
const LANES = 8;
/** Blocks that have numbers: what comes before one without is not known. */
const MOST_BLOCKS = 0xffff;
/** Blocks from which on code is compiled anew for the next dispatch, with numbers from 1 on. */
const MANY_BLOCKS = 0x8000;
/** Vectors of the table of ways. */
const WAYS = 1024;
/** Bytes of the table of the ways that have been looked at in a dispatch: zeros at first. */
export const WAYS_BYTES = 16 * WAYS;

interface NumberedBlock {
  readonly items: readonly Executed[];
  /** Numbers of a trail that the block takes up: as large a part as its wait states are of the most that count. */
  readonly lanes: number;
}

/** The blocks of compiled code by their numbers in trails, which begin with 1. */
export class TrailBlocks {
  private readonly blocks: NumberedBlock[] = [];
  private readonly others = new Map<number, readonly Executed[]>();

  get areMany(): boolean {
    return this.blocks.length >= MANY_BLOCKS;
  }

  /** Gives the next number to a block; 0 when there is none left. */
  add(items: readonly Executed[]): { readonly number: number; readonly lanes: number } {
    const states = items.reduce((sum, { instruction }) => sum + waitStates(instruction), 0);
    const lanes = Math.min(LANES, Math.max(1, Math.ceil((LANES * states) / MAX_WAIT_STATES)));
    if (this.blocks.length >= MOST_BLOCKS) {
      this.others.set((items[0] as Executed).pc, items);
      return { number: 0, lanes };
    }
    return { number: this.blocks.push({ items, lanes }), lanes };
  }

  /** What a wavefront has executed: the block that it begins, at a place in the image, and what is known of the way to it. */
  pathTo(
    trail: Uint16Array,
    pc: number,
  ): { readonly before: readonly Executed[]; readonly block: readonly Executed[] } {
    const last: NumberedBlock[] = [];
    for (let lane = 0; lane < LANES && trail[lane] !== 0; ) {
      const one = this.blocks[(trail[lane] as number) - 1] as NumberedBlock;
      last.unshift(one);
      lane += one.lanes;
    }
    const block = last.pop()?.items ?? (this.others.get(pc) as readonly Executed[]);
    return { before: last.flatMap(({ items }) => items), block };
  }
}

/** Writes that the wavefront executes a block; with `asks`, that the import `look` is called (wave, place) when the way to it is not known. */
export function emitTrail(
  { fn, module, wave, pc }: FunctionContext,
  shadow: number,
  { number, lanes }: { readonly number: number; readonly lanes: number },
  asks: boolean,
  look: number,
): void {
  const ask = (): void => {
    fn.get(wave).i32(pc).call(look);
  };
  if (number === 0) {
    fn.get(shadow).v128(0, 0, 0, 0).memory('v128.store', SHADOW_TRAIL);
    if (asks) ask();
    return;
  }
  const word = number | (number << 16);
  fn.get(shadow).v128(word, word, word, word);
  if (lanes < LANES) {
    const selectors = Array.from({ length: 16 }, (_, n) => (n < 2 * lanes ? n : 16 + n - 2 * lanes));
    fn.get(shadow).memory('v128.load', SHADOW_TRAIL).shuffle(selectors);
  }
  if (!asks) {
    fn.memory('v128.store', SHADOW_TRAIL);
    return;
  }
  const [way, known] = [fn.local('v128'), module.vectorGlobal()];
  fn.tee(way).memory('v128.store', SHADOW_TRAIL);
  fn.get(way).globalGet(known).op('v128.xor').op('v128.any_true').if();
  fn.get(shadow).get(way).call(isKnownWay(module)).op('i32.eqz').if();
  ask();
  fn.get(shadow).memory('i32.load', SHADOW_IS_CLEAN).if().get(way).globalSet(known).end();
  fn.end().end();
  fn.release('v128', way);
}

/** (shadow, way) → whether it is in the table of ways that have been looked at; it is from now on. */
function isKnownWay(module: WasmModule): WasmFunction {
  return module.helper('strict.way', ['i32', 'v128'], ['i32'], (fn) => {
    const [shadow, way, place] = [0, 1, fn.local('i32')];
    const part = (lane: number): WasmFunction => fn.get(way).lane('i64x2.extract_lane', lane);
    // The multipliers of xxHash64.
    part(0).i64(BigInt.asIntN(64, 0x9e3779b185ebca87n)).op('i64.mul');
    part(1).op('i64.xor').i64(BigInt.asIntN(64, 0xc2b2ae3d27d4eb4fn)).op('i64.mul');
    fn.i64(BigInt(64 - Math.log2(WAYS)))
      .op('i64.shr_u')
      .op('i32.wrap_i64')
      .i32(4)
      .op('i32.shl');
    fn.get(shadow).memory('i32.load', SHADOW_WAYS).op('i32.add').tee(place).memory('v128.load').get(way).op('v128.xor');
    fn.op('v128.any_true').op('i32.eqz').get(place).get(way).memory('v128.store');
  });
}
