// The image of a code object: its LOAD segments at their virtual addresses, with the dynamic relocations applied.
// Sources: ELF gABI (program loading, relocations); LLVM AMDGPUUsage, "Relocation Records".
import { WavesmithError } from '../base/index.ts';
import { type ElfFile, SegmentType } from '../codeobject/index.ts';

const PAGE = 4096;
/** Largest image that is loaded. */
const MAX_IMAGE = 2 ** 28;
/** PF_X */
const SEGMENT_EXECUTABLE = 1;
const R_AMDGPU_ABS64 = 3;
const R_AMDGPU_RELATIVE64 = 13;

/** Bytes of the image from virtual address 0, whole pages; refuses what has no segments or asks for more than 256 MiB (`device/bad-image`). */
export function imageSize(elf: ElfFile): number {
  const segments = elf.segments.filter((s) => s.type === SegmentType.LOAD);
  const end = Math.max(0, ...segments.map((s) => s.virtualAddress + s.memorySize));
  if (segments.length === 0 || end > MAX_IMAGE) {
    throw new WavesmithError('device/bad-image', `The code object asks for an image of ${end} bytes.`, {
      hint: 'It is damaged, or not a linked code object.',
    });
  }
  for (const s of segments) {
    if (s.offset + s.fileSize <= elf.bytes.length && s.fileSize <= s.memorySize) continue;
    throw new WavesmithError('device/bad-image', `LOAD segment ${s.index} lies outside the file.`, {
      byteOffset: s.offset,
    });
  }
  return Math.ceil(end / PAGE) * PAGE;
}

/** Writes the image that is loaded at an address into zeroed bytes, `imageSize` of them. */
export function fillImage(elf: ElfFile, base: number, image: Uint8Array): void {
  for (const s of elf.segments) {
    if (s.type === SegmentType.LOAD) image.set(elf.bytes.subarray(s.offset, s.offset + s.fileSize), s.virtualAddress);
  }
  const view = new DataView(image.buffer, image.byteOffset, image.length);
  for (const { relocations } of elf.relocationSections) {
    for (const r of relocations) relocate(view, BigInt(base), r.type, r.offset, r.addend ?? 0n, r.symbol);
  }
}

function relocate(
  view: DataView,
  base: bigint,
  type: number,
  offset: number,
  addend: bigint,
  symbol: { name: string; value: bigint; sectionIndex: number } | undefined,
): void {
  if (offset + 8 > view.byteLength)
    throw new WavesmithError('device/bad-relocation', 'A relocation lies outside the image.', { byteOffset: offset });
  if (type === R_AMDGPU_RELATIVE64) view.setBigUint64(offset, BigInt.asUintN(64, base + addend), true);
  else if (type === R_AMDGPU_ABS64 && symbol !== undefined && symbol.sectionIndex !== 0) {
    view.setBigUint64(offset, BigInt.asUintN(64, base + symbol.value + addend), true);
  } else {
    throw new WavesmithError(
      'device/bad-relocation',
      `Relocation type ${type} of '${symbol?.name ?? ''}' cannot be resolved.`,
      {
        byteOffset: offset,
        hint: 'The code object refers to a symbol that no loaded module defines.',
      },
    );
  }
}

/** Byte ranges of the image that hold instructions. */
export function codeRangesOf(elf: ElfFile): [number, number][] {
  return elf.segments
    .filter((s) => s.type === SegmentType.LOAD && (s.flags & SEGMENT_EXECUTABLE) !== 0)
    .map((s) => [s.virtualAddress, s.virtualAddress + s.fileSize]);
}
