// The entry of a kernel with preloaded arguments: a 256-byte block for firmware without preload support, then the code.
// Source: LLVM's AMDGPUUsage, "Preloaded Kernel Arguments".
import { decoderFor } from '../isa/codec/decode.ts';
import { branchTarget } from '../isa/print/listing.ts';
import type { TargetName } from '../isa/types.ts';
import { PRELOAD_STUB } from '../program/index.ts';

/** The backwards-compatibility block of a kernel with preloaded arguments. */
export interface PreloadStub {
  /** Offset from the entry that its last branch goes to; at least `PRELOAD_STUB` when the block is intact. */
  readonly branchTarget: number;
  /** Instructions up to that branch. */
  readonly instructions: number;
  /** It does nothing but trap: such a kernel refuses to run without preloading. */
  readonly traps: boolean;
  /** The block stands in front of the entry, where nothing but a jump to it is: `rewrite` makes that of a block that outgrew its place. */
  readonly isMoved?: boolean;
}

/**
 * Reads the block that `code` starts with: up to the first unconditional branch that leaves its 256 bytes, else up to the last
 * one inside. Undefined when there is none.
 */
export function readPreloadStub(code: Uint8Array, target: TargetName): PreloadStub | undefined {
  const decoder = decoderFor(target);
  let stub: PreloadStub | undefined;
  let instructions = 0;
  for (let at = 0; at + 4 <= Math.min(PRELOAD_STUB, code.length); ) {
    const instruction = decoder.decode(code, at);
    if (instruction === undefined) return stub;
    instructions++;
    if (at === 0 && instruction.row.operation === 's_trap') return { branchTarget: 0, instructions, traps: true };
    const to = instruction.row.flags.has('isBarrier') ? branchTarget(instruction, at) : undefined;
    if (at === 0 && to !== undefined && to < 0) return { branchTarget: to, instructions, traps: false, isMoved: true };
    if (to !== undefined) stub = { branchTarget: to, instructions, traps: false };
    if (to !== undefined && to >= PRELOAD_STUB) return stub;
    at += instruction.size;
  }
  return stub;
}

/**
 * Why preloading hardware would not start with the kernel's code; undefined when it does. Compilers let the block branch to
 * exactly the place where that hardware starts (`isCompiled`); hand-written code may put instructions of its own between.
 */
export function preloadProblem(stub: PreloadStub | undefined, isCompiled = false): string | undefined {
  if (stub === undefined) return `the first ${PRELOAD_STUB} bytes have no s_branch to the code behind them`;
  const { branchTarget: to, traps, isMoved } = stub;
  if (traps || isMoved || to === PRELOAD_STUB || (to > PRELOAD_STUB && !isCompiled)) return undefined;
  return `the code behind the first block is at ${to}`;
}
