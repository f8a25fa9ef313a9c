// What the rewriter is asked for (code to put in, facts of kernels to change) and what it gives back.
import type { CodeObject, KernelDescriptor, MsgPackValue } from '../codeobject/index.ts';
import type { ProgramFunction } from '../program/index.ts';

/**
 * Changes of a program's code. Keys are addresses of its instructions; values are machine code that means the same wherever it
 * stands (no pc-relative operands that leave it), a multiple of 4 bytes. Lists run in their order.
 */
export interface CodeEdits {
  /** Runs whenever the instruction is about to run, by whatever way it was reached. */
  readonly before?: ReadonlyMap<number, readonly Uint8Array[]> | undefined;
  /** Runs when the instruction was executed and the one behind it comes next; of a branch: when it is not taken. */
  readonly after?: ReadonlyMap<number, readonly Uint8Array[]> | undefined;
  /** Runs when the direct branch at the address is taken, on the way to its target. */
  readonly taken?: ReadonlyMap<number, readonly Uint8Array[]> | undefined;
  /** Stands in the instruction's place; no bytes remove it. Not for address computations and branches, but a conditional branch may be removed. */
  readonly replace?: ReadonlyMap<number, Uint8Array> | undefined;
}

/** A field of `code` that holds the distance from a `s_getpc_b64` result to the probe memory; see `RewriteOptions.memory`. */
export interface MemoryReference {
  /** The inserted code that the fields are in, the same object as in the edits. */
  readonly code: Uint8Array;
  /** Offset in the code of what `s_getpc_b64` returns: the instruction behind it. */
  readonly pc: number;
  /** Offsets in the code of the literals of the low and of the high half. */
  readonly low: number;
  readonly high: number;
  /** Bytes from the start of the memory. */
  readonly offset: number;
}

/** Changes of one kernel's descriptor and metadata. */
export interface KernelChange {
  /** Changes the decoded descriptor; its entry is kept by the rewriter. */
  readonly descriptor?: ((descriptor: KernelDescriptor) => void) | undefined;
  /** Keys of the kernel's metadata map (`.vgpr_count`), integers as bigint. */
  readonly metadata?: ReadonlyMap<string, MsgPackValue> | undefined;
}

export interface RewriteOptions {
  readonly edits?: CodeEdits | undefined;
  /** By kernel name. */
  readonly kernels?: ReadonlyMap<string, KernelChange> | undefined;
  /** Zeroed, writable memory to add to the image, with the code that refers to it. */
  readonly memory?: { readonly size: number; readonly references: readonly MemoryReference[] } | undefined;
  /**
   * Functions that run as they are, where they are, when others change: code that cannot be moved, as `unfollowedAddresses` says. No other
   * function may lead into them, nor they into others. The rest of the code goes behind the image then.
   */
  readonly stays?: readonly ProgramFunction[] | undefined;
  /** Bytes that a direct branch may reach, for tests; the hardware's reach by default. */
  readonly reach?: number | undefined;
}

/** Where the code of a rewritten object came from and went to. Addresses are those of the files. */
export interface PcMap {
  /** All of it as numbers, for `pcMapOf`. */
  readonly segments: readonly number[];
  /** Where an instruction is now; undefined for one that was removed or is no code of the original. */
  now(pc: number): number | undefined;
  /** The original instruction at an address of the new code, or the one that inserted code stands with. */
  original(pc: number): { readonly pc: number; readonly isInserted: boolean } | undefined;
}

/** Instructions of the new code that compute the address of data, which did not move. Addresses are those of the files. */
export interface DataReference {
  /** What is computed. */
  readonly target: number;
  /** What the distance is added to: the result of `s_getpc_b64`. */
  readonly base: number;
  /** The literal of the distance's low half, and of its high half; undefined for one that is no literal. */
  readonly low: number;
  readonly high: number | undefined;
}

export interface RewriteResult {
  readonly codeObject: CodeObject;
  readonly pcs: PcMap;
  readonly data: readonly DataReference[];
  /** Address of the memory that was asked for, in the file. */
  readonly memory: number | undefined;
  /** Bytes of code before and after. */
  readonly codeBytes: readonly [number, number];
  /** Jumps that were put between a branch and a target that it cannot reach any more. */
  readonly islands: number;
}
