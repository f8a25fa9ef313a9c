// A code object lifted to a control flow graph: instructions, basic blocks, functions and calls.
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import type { Instruction, TargetName } from '../isa/index.ts';
import type { Effects } from './effects.ts';

/** An instruction at its address. */
export interface CodeInstruction {
  /** Position in `Program.instructions`; the next in the block has the next index. */
  readonly index: number;
  readonly pc: number;
  readonly instruction: Instruction;
  readonly effects: Effects;
}

/**
 * How a block ends. `fallthrough`: the next block begins. `branch`, `jump`: conditional, unconditional. `call`: s_swappc or s_call;
 * the block after it is where the call returns to. `return`: s_setpc to an address that came in. `indirect`: s_setpc with targets
 * that were derived. `end`: s_endpgm. `unresolved`: s_setpc to an unknown place. `invalid`: bytes that are no instruction follow.
 * `off-end`: the code ends.
 */
export type BlockExit =
  | 'fallthrough'
  | 'branch'
  | 'jump'
  | 'call'
  | 'return'
  | 'indirect'
  | 'end'
  | 'unresolved'
  | 'invalid'
  | 'off-end';

/** Instructions that run one after the other. */
export interface BasicBlock {
  /** Position in `Program.blocks`; blocks are sorted by address. */
  readonly index: number;
  /** Indexes of the first instruction and of the one after the last. */
  readonly first: number;
  readonly end: number;
  readonly exit: BlockExit;
  /** Blocks that may run next in the same function. A call's successor is the block it returns to. */
  readonly successors: readonly number[];
  readonly predecessors: readonly number[];
  /** Addresses that a call goes to; empty when they are unknown or it is no call. */
  readonly callees: readonly number[];
  /** Targets of a branch or call that are outside of the code or inside an instruction. */
  readonly badTargets: readonly number[];
}

/** Entries of kernels are aligned to this, and the code that preloading hardware starts with is this many bytes behind the entry. */
export const PRELOAD_STUB = 256;

/** Code that is entered at one address: a kernel, a function symbol, or the target of a call. */
export interface ProgramFunction {
  readonly name: string;
  readonly entry: number;
  /** Undefined when it is no kernel. */
  readonly kernel: Kernel | undefined;
  /** Blocks reachable from the entries without entering callees, in address order. */
  readonly blocks: readonly number[];
  /** Blocks in which it is entered: that of `entry`, and of a kernel with preloaded arguments the one that preloading hardware starts in. */
  readonly entryBlocks: readonly number[];
}

/** How an address was made: by this `s_getpc_b64`, and by adding the literals of these instructions. */
export interface Origin {
  readonly getPc: number;
  readonly sums: readonly number[];
}

/**
 * A jump whose target an index chooses. `places`: the index was scaled by `step` and added to the address of the first target.
 * `distances`: the dwords at `entries` are distances from `base`. `pointers`: addresses that relocations fill in were loaded.
 */
export type JumpTable = {
  /** Of the s_setpc_b64. */
  readonly pc: number;
  /** Where it goes, by the index. */
  readonly targets: readonly number[];
} & (
  | { readonly kind: 'places'; readonly step: number; readonly from: Origin }
  | {
      readonly kind: 'distances';
      /** Addresses of the entries. */
      readonly entries: readonly number[];
      readonly base: number;
      /** How the base was made. */
      readonly from: Origin;
      /** The instruction that adds an entry to it. */
      readonly sum: number;
    }
  | { readonly kind: 'pointers' }
);

export interface Program {
  readonly target: TargetName;
  readonly codeObject: CodeObject;
  /** Every instruction that was reached, by address. */
  readonly instructions: readonly CodeInstruction[];
  readonly blocks: readonly BasicBlock[];
  readonly functions: readonly ProgramFunction[];
  /** Jumps through tables that were recovered. */
  readonly jumpTables: readonly JumpTable[];
  /** The instruction at an address. */
  at(pc: number): CodeInstruction | undefined;
  /** The block that an address lies in. */
  blockAt(pc: number): BasicBlock | undefined;
  /** The instruction's text, without the surrounding white space. */
  text(pc: number): string;
}
