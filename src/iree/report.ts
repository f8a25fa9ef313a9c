// What an edit changed, kernel by kernel: instructions added and removed, registers, LDS, scratch, occupancy.
import { align, Interner } from '../asm/diff/align.ts';
import { instructionsIn, registerUse } from '../check/register-use.ts';
import { descriptorRegisters } from '../codeobject/kernel/descriptor.ts';
import { kernelOccupancy } from '../codeobject/kernel/occupancy.ts';
import { branchTarget, listing } from '../isa/print/listing.ts';
import type { TargetName } from '../isa/types.ts';
import { type CodeObjectFacts, type KernelFacts, sameKernel } from './facts.ts';

/** A figure before and after. */
export type BeforeAfter<T = number> = readonly [T, T];

export interface KernelChange {
  readonly name: string;
  readonly instructions: BeforeAfter;
  readonly added: number;
  readonly removed: number;
  /** Registers the instructions name. */
  readonly vgprsUsed: BeforeAfter;
  readonly agprsUsed: BeforeAfter;
  readonly sgprsUsed: BeforeAfter;
  /** Vector registers the descriptor allocates, VGPRs and AGPRs together. */
  readonly vgprsAllocated: BeforeAfter;
  readonly ldsBytes: BeforeAfter;
  readonly scratchBytes: BeforeAfter;
  /** Wavefronts per SIMD. */
  readonly occupancy: BeforeAfter;
  /** What sets the occupancy. */
  readonly limiters: BeforeAfter<readonly string[]>;
}

export interface ChangeReport {
  /** The kernels whose code or descriptor changed. */
  readonly kernels: readonly KernelChange[];
  readonly unchangedKernels: number;
  /** Bytes of the code object before and after. */
  readonly bytes: BeforeAfter;
}

/** Compares two code objects kernel by kernel. */
export function describeChange(before: CodeObjectFacts, after: CodeObjectFacts): ChangeReport {
  const kernels: KernelChange[] = [];
  let unchangedKernels = 0;
  for (const [name, a] of before.kernels) {
    const b = after.kernels.get(name);
    if (b === undefined) continue;
    if (sameKernel(a, b)) unchangedKernels++;
    else kernels.push(describeKernel(a, b, after.targetName));
  }
  return { kernels, unchangedKernels, bytes: [before.bytes.length, after.bytes.length] };
}

function describeKernel(a: KernelFacts, b: KernelFacts, target: TargetName): KernelChange {
  const names = new Interner();
  const keys = (k: KernelFacts): Int32Array => Int32Array.from(instructionKeys(k, target), (key) => names.id(key));
  const [before, after] = [keys(a), keys(b)];
  const { toB, toA } = align(before, after);
  const unmatched = (partners: Int32Array): number => partners.reduce((n, partner) => n + (partner < 0 ? 1 : 0), 0);
  const [usedA, usedB] = [a, b].map((k) => registerUse(instructionsIn(k.code, target)));
  const [occupancyA, occupancyB] = [a, b].map((k) => kernelOccupancy(k.kernel, target));
  return {
    name: a.name,
    instructions: [before.length, after.length],
    added: unmatched(toA),
    removed: unmatched(toB),
    vgprsUsed: [usedA.vgprs, usedB.vgprs],
    agprsUsed: [usedA.agprs, usedB.agprs],
    sgprsUsed: [usedA.sgprs, usedB.sgprs],
    vgprsAllocated: [descriptorRegisters(a.descriptor).totalVgprs, descriptorRegisters(b.descriptor).totalVgprs],
    ldsBytes: [a.descriptor.groupSegmentFixedSize, b.descriptor.groupSegmentFixedSize],
    scratchBytes: [a.descriptor.privateSegmentFixedSize, b.descriptor.privateSegmentFixedSize],
    occupancy: [occupancyA?.wavesPerSimd ?? 0, occupancyB?.wavesPerSimd ?? 0],
    limiters: [occupancyA?.limiters ?? [], occupancyB?.limiters ?? []],
  };
}

/** One text per instruction; a branch counts as the same whatever distance it has, since that moves with every edit. */
function* instructionKeys(kernel: KernelFacts, target: TargetName): Generator<string> {
  for (const { instruction, text, address } of listing(kernel.code, kernel.entry, target)) {
    const isBranch = instruction !== undefined && branchTarget(instruction, address) !== undefined;
    yield isBranch ? instruction.row.mnemonic : text;
  }
}

/** The report as lines of text. */
export function formatChange(report: ChangeReport): string[] {
  const lines: string[] = [];
  for (const k of report.kernels) {
    lines.push(
      k.name,
      `  instructions ${pair(k.instructions)} (+${k.added} −${k.removed})`,
      `  registers used: VGPR ${pair(k.vgprsUsed)}, AGPR ${pair(k.agprsUsed)}, SGPR ${pair(k.sgprsUsed)}; ` +
        `allocated ${pair(k.vgprsAllocated)} vector registers`,
      `  LDS ${pair(k.ldsBytes)} bytes, scratch ${pair(k.scratchBytes)} bytes per work-item`,
      `  occupancy ${pair(k.occupancy)} waves per SIMD${limiterText(k.limiters)}`,
    );
  }
  if (report.kernels.length === 0) lines.push('no kernel changed; data or metadata did');
  if (report.unchangedKernels > 0)
    lines.push(`${report.unchangedKernels} other kernel(s) of this executable: unchanged`);
  lines.push(`code object ${pair(report.bytes)} bytes`);
  return lines;
}

function pair([before, after]: BeforeAfter): string {
  return before === after ? String(after) : `${before} → ${after}`;
}

function limiterText([before, after]: BeforeAfter<readonly string[]>): string {
  const [a, b] = [before.join(', '), after.join(', ')];
  if (b === '' && a === '') return '';
  return a === b ? ` (limited by ${b})` : ` (limited by ${a || 'nothing'} → ${b || 'nothing'})`;
}
