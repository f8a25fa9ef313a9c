// A program as a probe sees it: kernels, blocks, instructions, ways and loops, with the properties that points are chosen by.
import type { DebugLine } from '../codeobject/index.ts';
import type { TargetName } from '../isa/index.ts';
import type { BasicBlock, CodeInstruction, Program, ProgramFunction } from '../program/index.ts';

/** Memory that an instruction accesses. */
export type MemorySpace = 'global' | 'flat' | 'buffer' | 'scratch' | 'lds' | 'scalar';

/** An instruction that points can be put at. */
export interface ProbeInstruction {
  readonly pc: number;
  /** As it is disassembled. */
  readonly text: string;
  readonly mnemonic: string;
  /** The operation whatever its encoding. */
  readonly operation: string;
  readonly size: number;
  readonly code: CodeInstruction;
  readonly block: ProbeBlock;
  /** The memory it accesses; undefined for most. */
  readonly memory: MemorySpace | undefined;
  readonly isLoad: boolean;
  readonly isStore: boolean;
  readonly isAtomic: boolean;
  readonly isBranch: boolean;
  /** Goes on in two ways. */
  readonly isConditional: boolean;
  readonly isMatrix: boolean;
  readonly isVector: boolean;
  readonly isScalar: boolean;
  /** Bytes that it accesses for each lane, of a scalar one for the wave; undefined when it accesses no memory. */
  readonly accessSize: number | undefined;
  /** The line of the compiler's source. */
  readonly source: DebugLine | undefined;
  /** Whether it reads, or writes, a register or part of it: `s4`, `v[8:9]`, `a0`, `vcc`, `exec`, `m0`, `scc`. Errors: `probe/register`. */
  reads(register: string): boolean;
  writes(register: string): boolean;
}

/** Instructions that run one after the other. */
export interface ProbeBlock {
  readonly index: number;
  readonly pc: number;
  readonly kernel: ProbeKernel;
  readonly instructions: readonly ProbeInstruction[];
  /** How many instructions. */
  readonly length: number;
  readonly block: BasicBlock;
}

/** A kernel, or a function that kernels call. */
export interface ProbeKernel {
  readonly name: string;
  readonly isKernel: boolean;
  readonly entry: number;
  readonly subject: ProgramFunction;
  readonly blocks: readonly ProbeBlock[];
}

/** The kernels and functions that are instrumented. */
export interface ProbeProgram {
  readonly target: TargetName;
  /** The whole program, for analyses. */
  readonly lifted: Program;
  readonly kernels: readonly ProbeKernel[];
  /** Every block once. */
  blocks(): readonly ProbeBlock[];
  instructions(): readonly ProbeInstruction[];
  /** Every way from a block to the next, once. */
  edges(): readonly ProbeEdge[];
  /** Every loop with one entry, outer ones first. */
  loops(): readonly ProbeLoop[];
  /** An instruction by its address. */
  at(pc: number): ProbeInstruction | undefined;
  /** Blocks whose counts say how often all blocks run: those to count. */
  measuredBlocks(): readonly ProbeBlock[];
  /** How often blocks ran, from what points in `measuredBlocks()` counted; blocks for which counts are missing are not in it. */
  blockCounts(
    counted: readonly { readonly site: { readonly pc: number }; readonly value: bigint }[],
  ): ReadonlyMap<ProbeBlock, bigint>;
}

/** A way from a block to one that may run next. */
export interface ProbeEdge {
  readonly from: ProbeBlock;
  readonly to: ProbeBlock;
  /** `taken`: by a direct branch; `next`: to the code behind, also when a call returns; `indirect`: by a jump to a computed address. */
  readonly kind: 'taken' | 'next' | 'indirect';
  /** It leads back to the entry of a loop that it is in. */
  readonly isBack: boolean;
}

/** Blocks that run again and again, entered at one of them. */
export interface ProbeLoop {
  readonly kernel: ProbeKernel;
  /** Where it is entered; runs once for each turn. */
  readonly header: ProbeBlock;
  /** All of it, by address. */
  readonly blocks: readonly ProbeBlock[];
  /** Ways that begin another turn. */
  readonly back: readonly ProbeEdge[];
  /** Ways into it, and out of it. */
  readonly entries: readonly ProbeEdge[];
  readonly exits: readonly ProbeEdge[];
  /** 1 for a loop that is in no other. */
  readonly depth: number;
}
