// What a user of compiled code may add to it: code before instructions. Strict mode does, so that its checks run at compiled speed.
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { FunctionContext } from './context.ts';
import type { WasmModule } from './emit.ts';
import type { Block } from './walk.ts';

export interface Instrument {
  /** Declares imports of module `env`; called before the module's first function. Each is a function of an i32, most often the wave, and pc. */
  declare(module: WasmModule): void;
  /** Whether code stands before item `index` of a block; `items.length` is before the condition of the branch that ends it. */
  wants(block: Block, index: number): boolean;
  /**
   * Writes that code. The wave block is up to date, and the code leaves it as it is; or it executes the instruction itself, and a local (i32) is
   * not 0 where it has: returns that.
   */
  emit(context: FunctionContext, block: Block, index: number): number | undefined;
  /** Writes code behind the last item of a block that no branch ends, if there is to be any; the rest is as with `emit`. */
  finish?(context: FunctionContext, block: Block): void;
  /** The functions that `declare` imports. */
  readonly imports: Readonly<Record<string, (wave: number, pc: number) => unknown>>;
  /** Whether the instruction at a byte offset of the image is left out of compiled code, and interpreted. Always the same answer. */
  isLeftOut?(pc: number): boolean;
  /** States (STATE_MASK in place.ts) that its code follows: in others the interpreter executes. None by default. */
  readonly followedStates?: number;
  /** What is left out of compiled code with the instrument runs as compiled code of single instructions. */
  readonly compilesSteps?: boolean;
  /** An instruction is about to be executed outside of compiled code; `pc` is its loaded address. */
  step(w: Wave, pc: number, bound: BoundInstruction): void;
  /** It has been; `w.pc` is the next instruction. Not called when it faults. */
  stepped?(w: Wave, pc: number, bound: BoundInstruction): void;
  /** The wave that runs next. */
  enter(w: Wave): void;
}
