// Registers that a probe may use: those that nothing in a kernel or in the functions it calls names, inside the allocation first, then
// by raising it. Kernels that share functions share the answer.
// Source: AMDGPUUsage, "Kernel Descriptor" (granules); a unified register file holds AGPRs behind accum_offset.
import {
  type DescriptorRegisters,
  descriptorRegisters,
  type Kernel,
  type KernelDescriptor,
  kernelOccupancy,
  kernelResources,
} from '../codeobject/index.ts';
import {
  addSlots,
  type BasicBlock,
  type FurtherReads,
  type Program,
  type ProgramFunction,
  SLOT_WORDS,
  Slot,
} from '../program/index.ts';

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
  readonly agprs: readonly number[];
  /** One more than the last scalar register that is named, or may be by a number in M0. */
  readonly namedSgprs: number;
  /** One more than the last vector register that is named; 0 where accumulation registers are named too. */
  readonly namedVgprs: number;
}

/** How far kernels may grow: not at all, as far as as many waves fit on a SIMD, or to all registers. */
export type Growth = 'none' | 'calm' | 'all';

/** Kernels and functions that may run in one wave. */
export interface CallGroup {
  readonly functions: readonly ProgramFunction[];
  readonly kernels: readonly ProgramFunction[];
}

/** Operations that address vector, or scalar, registers by a number in M0. */
const INDEXED_VGPRS = /^v_movrel|^s_set_gpr_idx_(on|mode)$/;
const INDEXED_SGPRS = /^s_movrel/;

/** Kernels and functions that call each other or share code; all together when a call goes to a place that is not known. */
export function callGroups(program: Program): CallGroup[] {
  const { functions, blocks } = program;
  const groupOf = functions.map((_, n) => n);
  const root = (n: number): number => {
    let at = n;
    while (groupOf[at] !== at) at = groupOf[at] as number;
    return at;
  };
  const join = (a: number, b: number): void => {
    groupOf[root(a)] = root(b);
  };
  const byEntry = new Map(functions.map(({ entry }, n) => [entry, n]));
  const owner = new Map<number, number>();
  for (const [n, subject] of functions.entries()) {
    for (const index of subject.blocks) {
      const { exit, callees } = blocks[index] as BasicBlock;
      const other = owner.get(index);
      if (other === undefined) owner.set(index, n);
      else join(n, other);
      const called = callees.map((pc) => byEntry.get(pc));
      const isOpen = (exit === 'call' && callees.length === 0) || exit === 'unresolved' || called.includes(undefined);
      if (isOpen) return [groupWith(functions)];
      for (const one of called) join(n, one as number);
    }
  }
  const members = new Map<number, ProgramFunction[]>();
  for (const [n, subject] of functions.entries()) {
    const list = members.get(root(n)) ?? [];
    list.push(subject);
    members.set(root(n), list);
  }
  return [...members.values()].map(groupWith);
}

function groupWith(functions: readonly ProgramFunction[]): CallGroup {
  return { functions, kernels: functions.filter((f) => f.kernel !== undefined) };
}

/** Whether a group addresses vector, or scalar, registers by a number in M0: any of them may be read at any time then. */
export function indexedFiles(program: Program, group: CallGroup): { readonly vgprs: boolean; readonly sgprs: boolean } {
  const has = (operation: RegExp): boolean =>
    group.functions.some((subject) =>
      subject.blocks.some((index) => {
        const { first = 0, end = 0 } = program.blocks[index] ?? {};
        for (let i = first; i < end; i++)
          if (operation.test(program.instructions[i]?.instruction.row.operation ?? '')) return true;
        return false;
      }),
    );
  return { vgprs: has(INDEXED_VGPRS), sgprs: has(INDEXED_SGPRS) };
}

/** The registers that a group and `reads` name nowhere and that its kernels have or, as far as they may grow, can have. */
export function freeRegisters(program: Program, group: CallGroup, growth: Growth, reads: FurtherReads): FreeRegisters {
  const used = new Uint32Array(SLOT_WORDS);
  const { vgprs: hasIndexedVgprs, sgprs: hasIndexedSgprs } = indexedFiles(program, group);
  for (const subject of group.functions) {
    for (const index of subject.blocks) {
      const block = program.blocks[index];
      for (let i = block?.first ?? 0; i < (block?.end ?? 0); i++) {
        const { effects } = program.instructions[i] ?? {};
        if (effects === undefined) continue;
        addSlots(used, effects.uses);
        addSlots(used, effects.keeps);
        addSlots(used, effects.defs);
        addSlots(used, reads.before.get(i) ?? []);
        addSlots(used, reads.after.get(i) ?? []);
      }
    }
  }
  const isFree = (slot: number): boolean => (((used[slot >>> 5] as number) >>> (slot & 31)) & 1) === 0;
  const named = (base: number, count: number): number =>
    1 + Array.from({ length: count }, (_, n) => isFree(base + n)).lastIndexOf(false);
  const namedVgprs = named(Slot.AGPR0, VGPRS) === 0 ? named(Slot.VGPR0, VGPRS) : 0;
  const descriptors = group.kernels.map((f) => f.kernel?.descriptor).filter((d) => d !== undefined);
  const registers = descriptors.map((descriptor) => registersWith(descriptor, namedVgprs));
  const { target } = program;
  const occupancies = group.kernels.map(({ kernel }) => kernel && kernelOccupancy(kernel, target)?.wavesPerSimd);
  // Registers by number in M0 can be any of those that are allocated.
  const firstVgpr = hasIndexedVgprs ? Math.max(0, ...registers.map((r) => r.vgprs)) : 0;
  const firstSgpr = hasIndexedSgprs ? Math.min(SGPRS, Math.max(0, ...registers.map((r) => r.sgprs - EXTRA_SGPRS))) : 0;
  const most = group.kernels.flatMap(({ kernel }) => (kernel?.descriptor === undefined ? [] : [mostRegisters(kernel)]));
  const limits = registers.map((own, i) => limitsOf(own, occupancies[i], growth, most[i] ?? ALL_VGPRS));
  const limit = (of: (l: Limits) => number): number => Math.min(...limits.map(of));
  const list = (from: number, to: number, base: number): number[] => {
    const out: number[] = [];
    for (let n = from; n < to; n++) if (isFree(base + n)) out.push(n);
    return out;
  };
  return {
    sgprs: list(
      firstSgpr,
      limit((l) => l.sgprs),
      0,
    ),
    vgprs: list(
      firstVgpr,
      limit((l) => l.vgprs),
      Slot.VGPR0,
    ),
    agprs: list(
      0,
      limit((l) => l.agprs),
      Slot.AGPR0,
    ),
    namedSgprs: Math.max(firstSgpr, named(0, SGPRS)),
    namedVgprs,
  };
}

/**
 * What a kernel has whose code names vector registers up to this count. Code that names no accumulation registers may go on where those
 * would start: Tensile's softmax kernels do.
 */
export function registersWith(descriptor: KernelDescriptor, namedVgprs: number): DescriptorRegisters {
  const own = descriptorRegisters(descriptor);
  const vgprs = Math.min(own.totalVgprs, Math.max(own.vgprs, Math.ceil(namedVgprs / 4) * 4));
  return { ...own, vgprs, agprs: own.totalVgprs - vgprs };
}

interface Limits {
  readonly sgprs: number;
  readonly vgprs: number;
  readonly agprs: number;
}

/** Vector registers that the waves of one whole workgroup can have: all of them run at once, on four SIMDs. */
function mostRegisters(kernel: Kernel): number {
  const { workgroupSize } = kernelResources(kernel);
  const waves = Math.ceil(Math.ceil(workgroupSize / 64) / 4);
  return Math.floor(ALL_VGPRS / Math.max(1, waves) / 8) * 8;
}

/** One more than the last register of each kind; `most`: vector and accumulation registers with which a workgroup still fits. */
function limitsOf(own: DescriptorRegisters, waves: number | undefined, growth: Growth, most: number): Limits {
  const accumulators = own.totalVgprs - own.vgprs;
  if (growth === 'none') {
    const sgprs = Math.min(SGPRS, own.sgprs - EXTRA_SGPRS);
    return { sgprs, vgprs: own.vgprs, agprs: accumulators };
  }
  const calm = Math.floor(ALL_VGPRS / Math.max(1, waves ?? 8) / 8) * 8;
  const total = Math.max(own.totalVgprs, growth === 'all' ? most : Math.min(calm, most));
  // Vector registers grow in front of the accumulation registers; both together have the total.
  const vgprs = Math.min(VGPRS, Math.floor((total - accumulators) / 4) * 4);
  return {
    sgprs: SGPRS,
    vgprs,
    agprs: Math.max(accumulators, Math.min(VGPRS, total - VGPRS)),
  };
}

/** The last register of each kind that a kernel's points use, -1 for none. */
export interface LastRegisters {
  readonly v: number;
  readonly s: number;
  readonly a: number;
}

/**
 * Raises the allocation of a kernel whose code names vector registers up to a count, so that these registers lie in it too; what its
 * counts in the metadata must be at least.
 */
export function growAllocation(
  d: KernelDescriptor,
  namedVgprs: number,
  { v, s: lastSgpr, a: lastAgpr }: LastRegisters,
): { vgprs: number; sgprs: number } {
  const { agprs } = registersWith(d, namedVgprs);
  const lastVgpr = lastAgpr >= 0 ? Math.max(v, namedVgprs - 1) : v;
  if (lastVgpr >= descriptorRegisters(d).vgprs || lastAgpr >= agprs) {
    d.rsrc3.accumOffset = Math.max(d.rsrc3.accumOffset, Math.ceil((lastVgpr + 1) / 4) - 1);
    const total = (d.rsrc3.accumOffset + 1) * 4 + Math.max(agprs, lastAgpr + 1);
    d.rsrc1.granulatedWorkitemVgprCount = Math.max(d.rsrc1.granulatedWorkitemVgprCount, Math.ceil(total / 8) - 1);
  }
  const sgprs = Math.ceil((lastSgpr + 1 + EXTRA_SGPRS) / 16);
  d.rsrc1.granulatedWavefrontSgprCount = Math.max(d.rsrc1.granulatedWavefrontSgprCount, 2 * (sgprs - 1));
  return { vgprs: descriptorRegisters(d).totalVgprs, sgprs: lastSgpr + 1 + EXTRA_SGPRS };
}
