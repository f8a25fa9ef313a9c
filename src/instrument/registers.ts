// Registers that a probe may use: those that nothing in a kernel or in the functions it calls names, inside the allocation first, then
// by raising it. Kernels that share functions share the answer.
// Source: AMDGPUUsage, "Kernel Descriptor" (granules); a unified register file holds AGPRs behind accum_offset.
import { descriptorRegisters, type KernelDescriptor } from '../codeobject/index.ts';
import { addSlots, type Program, type ProgramFunction, SLOT_WORDS, Slot } from '../program/index.ts';

/** s0 to s101; behind them are the special registers. */
const SGPRS = 102;
/** VCC, FLAT_SCRATCH and XNACK_MASK are counted with a kernel's SGPRs. */
const EXTRA_SGPRS = 6;
const VGPRS = 256;
const ALL_VGPRS = 512;

/** Registers that are free everywhere in a group of kernels, best first. */
export interface FreeRegisters {
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
}

/** Kernels and functions that may run in one wave. */
export interface CallGroup {
  readonly functions: readonly ProgramFunction[];
  readonly kernels: readonly ProgramFunction[];
}

/** Operations that address vector, or scalar, registers by a number in M0. */
const INDEXED_VGPRS = /^v_movrel|^s_set_gpr_idx_(on|mode)$/;
const INDEXED_SGPRS = /^s_movrel/;

/** Kernels each for itself; all together when the file has functions, which any of them may call. */
export function callGroups(program: Program): CallGroup[] {
  const kernels = program.functions.filter((f) => f.kernel !== undefined);
  if (kernels.length < program.functions.length) return [{ functions: program.functions, kernels }];
  return kernels.map((kernel) => ({ functions: [kernel], kernels: [kernel] }));
}

/** The free registers of a group; of those that are allocated already when its kernels may not grow. */
export function freeRegisters(program: Program, group: CallGroup, mayGrow: boolean): FreeRegisters {
  const used = new Uint32Array(SLOT_WORDS);
  let [hasIndexedVgprs, hasIndexedSgprs] = [false, false];
  for (const subject of group.functions) {
    for (const index of subject.blocks) {
      const block = program.blocks[index];
      for (let i = block?.first ?? 0; i < (block?.end ?? 0); i++) {
        const { effects, instruction } = program.instructions[i] ?? {};
        if (effects === undefined) continue;
        addSlots(used, effects.uses);
        addSlots(used, effects.keeps);
        addSlots(used, effects.defs);
        const operation = instruction?.row.operation ?? '';
        if (INDEXED_VGPRS.test(operation)) hasIndexedVgprs = true;
        if (INDEXED_SGPRS.test(operation)) hasIndexedSgprs = true;
      }
    }
  }
  const isFree = (slot: number): boolean => (((used[slot >>> 5] as number) >>> (slot & 31)) & 1) === 0;
  const descriptors = group.kernels.map((f) => f.kernel?.descriptor).filter((d) => d !== undefined);
  const registers = descriptors.map(descriptorRegisters);
  // Registers by number in M0 can be any of those that are allocated.
  const firstVgpr = hasIndexedVgprs ? Math.max(0, ...registers.map((r) => r.vgprs)) : 0;
  const firstSgpr = hasIndexedSgprs ? Math.min(SGPRS, Math.max(0, ...registers.map((r) => r.sgprs - EXTRA_SGPRS))) : 0;
  const agprs = Math.max(0, ...registers.map((r) => r.agprs));
  const ownVgprs = Math.min(...registers.map((r) => r.vgprs));
  const ownSgprs = Math.min(...registers.map((r) => r.sgprs)) - EXTRA_SGPRS;
  const lastVgpr = Math.min(VGPRS, ALL_VGPRS - agprs, mayGrow ? VGPRS : ownVgprs);
  const lastSgpr = Math.min(SGPRS, mayGrow ? SGPRS : ownSgprs);
  const sgprs: number[] = [];
  for (let n = firstSgpr; n < lastSgpr; n++) if (isFree(n)) sgprs.push(n);
  const vgprs: number[] = [];
  for (let n = firstVgpr; n < lastVgpr; n++) if (isFree(Slot.VGPR0 + n)) vgprs.push(n);
  return { sgprs, vgprs };
}

/** Raises a descriptor's allocation so that a VGPR and an SGPR lie in it; what its counts in the metadata must be at least. */
export function growAllocation(
  d: KernelDescriptor,
  lastVgpr: number,
  lastSgpr: number,
): { vgprs: number; sgprs: number } {
  const { totalVgprs, vgprs } = descriptorRegisters(d);
  const accumulators = totalVgprs - vgprs;
  if (lastVgpr >= vgprs) {
    d.rsrc3.accumOffset = Math.ceil((lastVgpr + 1) / 4) - 1;
    const total = (d.rsrc3.accumOffset + 1) * 4 + accumulators;
    d.rsrc1.granulatedWorkitemVgprCount = Math.max(d.rsrc1.granulatedWorkitemVgprCount, Math.ceil(total / 8) - 1);
  }
  const sgprs = Math.ceil((lastSgpr + 1 + EXTRA_SGPRS) / 16);
  d.rsrc1.granulatedWavefrontSgprCount = Math.max(d.rsrc1.granulatedWavefrontSgprCount, 2 * (sgprs - 1));
  return { vgprs: descriptorRegisters(d).totalVgprs, sgprs: lastSgpr + 1 + EXTRA_SGPRS };
}
