// Places of `__shared__` variables, which LLVM's debug information leaves out: as LLVM lays them out, where that gives the kernel's LDS to the byte.
// Source: LLVM 16 to 22, AMDGPULowerModuleLDSPass (one structure a kernel, larger alignment for what is larger) and OptimizedStructLayout.
import type { DebugType } from './debug-types.ts';
import type { ElfFile } from './read.ts';

/** Bytes of fixed LDS of each kernel, by the address at which it begins. */
export function kernelLds(elf: ElfFile): Map<number, number> {
  const found = new Map<number, number>();
  for (const { name, value } of elf.symbols) {
    const descriptor = name.endsWith('.kd') ? elf.bytesAt(Number(value), 64) : undefined;
    if (descriptor === undefined) continue;
    const view = new DataView(descriptor.buffer, descriptor.byteOffset, 64);
    found.set(Number(value + view.getBigInt64(16, true)), view.getUint32(0, true));
  }
  return found;
}

/** Damaged debug information may have a type that contains itself. */
const MAX_TYPE_DEPTH = 40;

/** What a type is aligned to by its parts, and with what was declared. Bytes. */
export function alignmentsOf(type: DebugType, depth = 0): { natural: number; declared: number } {
  const own = type.alignment ?? 1;
  if (depth > MAX_TYPE_DEPTH) return { natural: 1, declared: 1 };
  if (type.kind === 'array' && !type.isVector) {
    return type.of === undefined ? { natural: 1, declared: 1 } : alignmentsOf(type.of(), depth + 1);
  }
  if (type.kind !== 'struct') return { natural: Math.max(1, type.bytes), declared: Math.max(1, type.bytes, own) };
  const parts = type.members.map((member) => alignmentsOf(member.type(), depth + 1));
  const natural = parts.reduce((most, part) => Math.max(most, part.natural), 1);
  return { natural, declared: parts.reduce((most, part) => Math.max(most, part.declared), Math.max(natural, own)) };
}

/** A variable that may be in the LDS of a kernel. */
export interface LdsVariable {
  /** Its symbol: of two that are alike otherwise, the one with the lesser name comes first. Undefined where it is not known. */
  readonly symbol: string | undefined;
  readonly bytes: number;
  /** As its type or its declaration says. Bytes. */
  readonly alignment: number;
  /** As the parts of its type say. Bytes. */
  readonly natural: number;
  /** Whether it is the kernel's, and not of the whole program. */
  readonly isOwn: boolean;
}

/** Variables of which all selections are tried. */
const MOST_UNSURE = 14;

const aligned = (at: number, alignment: number): number => Math.ceil(at / alignment) * alignment;

/** LLVM aligns what is larger more, so that it is read by wide instructions. */
function placedAlignment({ bytes, alignment }: LdsVariable): number {
  const wide = bytes > 8 ? 16 : bytes > 4 ? 8 : bytes > 2 ? 4 : bytes > 1 ? 2 : 1;
  return Math.max(wide, alignment);
}

/** Offsets of variables in the order given, and the bytes of them all. The next one is always that which leaves the smallest gap. */
export function ldsLayout(variables: readonly LdsVariable[]): { offsets: number[]; bytes: number } {
  const alignments = variables.map(placedAlignment);
  const left = variables.map((_, i) => i);
  left.sort((a, b) => {
    const [first, second] = [variables[a] as LdsVariable, variables[b] as LdsVariable];
    const byAlignment = (alignments[b] as number) - (alignments[a] as number);
    return byAlignment || second.bytes - first.bytes || ((first.symbol ?? '') < (second.symbol ?? '') ? -1 : 1);
  });
  const offsets: number[] = [];
  let end = 0;
  while (left.length > 0) {
    const gaps = left.map((i) => aligned(end, alignments[i] as number) - end);
    const best = gaps.indexOf(Math.min(...gaps));
    const [i] = left.splice(best, 1) as [number];
    offsets[i] = aligned(end, alignments[i] as number);
    end = (offsets[i] as number) + (variables[i] as LdsVariable).bytes;
  }
  return { offsets, bytes: aligned(end, Math.max(1, ...variables.map(({ natural }) => natural))) };
}

/** Whether a variable may come before or behind another one that is alike. */
function isUnordered(one: LdsVariable, all: readonly LdsVariable[]): boolean {
  if (one.symbol !== undefined) return false;
  const isLike = (other: LdsVariable): boolean =>
    other !== one && other.bytes === one.bytes && placedAlignment(other) === placedAlignment(one);
  return all.some(isLike);
}

/** What a structure of variables is aligned to. Bytes. */
const mostAligned = (variables: readonly LdsVariable[]): number =>
  variables.reduce((most, one) => Math.max(most, placedAlignment(one)), 1);

/**
 * Where variables are in a kernel that has so many bytes of fixed LDS, of which others take those before `from`. The kernel need not use all of them,
 * so all selections are tried that fill its LDS to the byte: a variable has a place where they agree on it, and none of them has another variable there.
 * Others are undefined. All are where no selection has all of the kernel's own: the compiler has changed some then.
 */
export function ldsPlaces(
  variables: readonly LdsVariable[],
  bytes: number,
  from = 0,
): readonly (number | undefined)[] | undefined {
  if (variables.length > MOST_UNSURE || variables.some((one) => isUnordered(one, variables))) return undefined;
  const places = variables.map(() => new Set<number>());
  const own = variables.reduce((bits, { isOwn }, i) => (isOwn ? bits | (1 << i) : bits), 0);
  let hasOwn = false;
  for (let selection = 0; selection < 1 << variables.length; selection++) {
    const chosen = variables.flatMap((_, i) => ((selection >> i) & 1 ? [i] : []));
    const sum = chosen.reduce((total, i) => total + (variables[i] as LdsVariable).bytes, 0);
    if (from + sum > bytes) continue;
    const selected = chosen.map((i) => variables[i] as LdsVariable);
    const layout = ldsLayout(selected);
    const begin = chosen.length === 0 ? from : aligned(from, mostAligned(selected));
    if (begin + layout.bytes !== bytes) continue;
    hasOwn ||= (selection & own) === own;
    for (const [n, i] of chosen.entries()) places[i]?.add(begin + (layout.offsets[n] as number));
  }
  if (!hasOwn) return undefined;
  const ranges = places.flatMap((all, of) => [...all].map((at) => ({ of, at, end: at + (variables[of]?.bytes ?? 0) })));
  return places.map((all, i) => {
    const [at] = all;
    if (at === undefined || all.size > 1) return undefined;
    const end = at + (variables[i]?.bytes ?? 0);
    return ranges.some((other) => other.of !== i && other.at < end && at < other.end) ? undefined : at;
  });
}
