// Kernel descriptors: the 64 bytes behind a `.kd` symbol, decoded and encoded field by field for GFX90A and GFX940+.
// Source: LLVM's AMDGPUUsage, "Kernel Descriptor"; AMDHSAKernelDescriptor.h.
import { ByteReader, ByteWriter, WavesmithError } from '../../base/index.ts';

export const KERNEL_DESCRIPTOR_SIZE = 64;

/** The raw words of a kernel descriptor. */
export interface KernelDescriptorWords {
  groupSegmentFixedSize: number;
  privateSegmentFixedSize: number;
  kernargSize: number;
  /** Address of the entry point relative to the descriptor. */
  kernelCodeEntryByteOffset: bigint;
  computePgmRsrc1: number;
  computePgmRsrc2: number;
  computePgmRsrc3: number;
  kernelCodeProperties: number;
  kernargPreload: number;
}

/** One bit field of a descriptor word. */
export interface DescriptorField {
  readonly name: string;
  readonly shift: number;
  readonly width: number;
}

function field(name: string, shift: number, width: number): DescriptorField {
  return { name, shift, width };
}

/** COMPUTE_PGM_RSRC1 of GFX9. */
export const RSRC1_FIELDS = [
  field('granulatedWorkitemVgprCount', 0, 6),
  field('granulatedWavefrontSgprCount', 6, 4),
  field('priority', 10, 2),
  field('floatRoundMode32', 12, 2),
  field('floatRoundMode16_64', 14, 2),
  field('floatDenormMode32', 16, 2),
  field('floatDenormMode16_64', 18, 2),
  field('priv', 20, 1),
  field('enableDx10Clamp', 21, 1),
  field('debugMode', 22, 1),
  field('enableIeeeMode', 23, 1),
  field('bulky', 24, 1),
  field('cdbgUser', 25, 1),
  field('fp16Ovfl', 26, 1),
  field('reserved', 27, 5),
] as const;

/** COMPUTE_PGM_RSRC2 of GFX9. */
export const RSRC2_FIELDS = [
  field('enablePrivateSegment', 0, 1),
  field('userSgprCount', 1, 5),
  field('enableTrapHandler', 6, 1),
  field('enableSgprWorkgroupIdX', 7, 1),
  field('enableSgprWorkgroupIdY', 8, 1),
  field('enableSgprWorkgroupIdZ', 9, 1),
  field('enableSgprWorkgroupInfo', 10, 1),
  field('enableVgprWorkitemId', 11, 2),
  field('enableExceptionAddressWatch', 13, 1),
  field('enableExceptionMemory', 14, 1),
  field('granulatedLdsSize', 15, 9),
  field('enableExceptionFpInvalidOperation', 24, 1),
  field('enableExceptionFpDenormalSource', 25, 1),
  field('enableExceptionFpDivisionByZero', 26, 1),
  field('enableExceptionFpOverflow', 27, 1),
  field('enableExceptionFpUnderflow', 28, 1),
  field('enableExceptionFpInexact', 29, 1),
  field('enableExceptionIntDivideByZero', 30, 1),
  field('reserved', 31, 1),
] as const;

/** COMPUTE_PGM_RSRC3 of GFX90A and GFX940. */
export const RSRC3_FIELDS = [
  field('accumOffset', 0, 6),
  field('reserved0', 6, 10),
  field('tgSplit', 16, 1),
  field('reserved1', 17, 15),
] as const;

/** KERNEL_CODE_PROPERTIES. */
export const CODE_PROPERTY_FIELDS = [
  field('enableSgprPrivateSegmentBuffer', 0, 1),
  field('enableSgprDispatchPtr', 1, 1),
  field('enableSgprQueuePtr', 2, 1),
  field('enableSgprKernargSegmentPtr', 3, 1),
  field('enableSgprDispatchId', 4, 1),
  field('enableSgprFlatScratchInit', 5, 1),
  field('enableSgprPrivateSegmentSize', 6, 1),
  field('reserved0', 7, 3),
  field('enableWavefrontSize32', 10, 1),
  field('usesDynamicStack', 11, 1),
  field('reserved1', 12, 4),
] as const;

/** KERNARG_PRELOAD. */
export const PRELOAD_FIELDS = [field('length', 0, 7), field('offset', 7, 9)] as const;

type FieldValues<T extends readonly DescriptorField[]> = { -readonly [K in T[number]['name']]: number };

/** A decoded kernel descriptor; every field is the stored number. */
export interface KernelDescriptor {
  groupSegmentFixedSize: number;
  privateSegmentFixedSize: number;
  kernargSize: number;
  kernelCodeEntryByteOffset: bigint;
  rsrc1: FieldValues<typeof RSRC1_FIELDS>;
  rsrc2: FieldValues<typeof RSRC2_FIELDS>;
  rsrc3: FieldValues<typeof RSRC3_FIELDS>;
  properties: FieldValues<typeof CODE_PROPERTY_FIELDS>;
  preload: FieldValues<typeof PRELOAD_FIELDS>;
}

function unpack<T extends readonly DescriptorField[]>(word: number, fields: T): FieldValues<T> {
  const values: Record<string, number> = {};
  for (const f of fields) values[f.name] = (word >>> f.shift) & (2 ** f.width - 1);
  return values as FieldValues<T>;
}

function pack<T extends readonly DescriptorField[]>(values: FieldValues<T>, fields: T): number {
  let word = 0;
  for (const f of fields) {
    const value = (values as Record<string, number>)[f.name];
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** f.width) {
      throw new WavesmithError(
        'descriptor/range',
        `Kernel descriptor field ${f.name} is ${value}, which does not fit ${f.width} bits.`,
      );
    }
    word |= value << f.shift;
  }
  return word >>> 0;
}

/** Reads the raw words of a descriptor; the reserved bytes must be zero. */
export function readDescriptorWords(bytes: Uint8Array): KernelDescriptorWords {
  const reader = new ByteReader(bytes, 'kernel descriptor', 'descriptor/truncated');
  reader.check(0, KERNEL_DESCRIPTOR_SIZE);
  const reserved = [...bytes.subarray(12, 16), ...bytes.subarray(24, 44), ...bytes.subarray(60, 64)];
  if (reserved.some((byte) => byte !== 0)) {
    throw new WavesmithError('descriptor/reserved', 'The kernel descriptor has reserved bytes that are not zero.', {
      hint: 'The symbol is not a kernel descriptor, or the code object is damaged.',
    });
  }
  return {
    groupSegmentFixedSize: reader.u32(0),
    privateSegmentFixedSize: reader.u32(4),
    kernargSize: reader.u32(8),
    kernelCodeEntryByteOffset: reader.i64(16),
    computePgmRsrc3: reader.u32(44),
    computePgmRsrc1: reader.u32(48),
    computePgmRsrc2: reader.u32(52),
    kernelCodeProperties: reader.u16(56),
    kernargPreload: reader.u16(58),
  };
}

/** Writes the 64 bytes of a descriptor. */
export function writeDescriptorWords(words: KernelDescriptorWords): Uint8Array {
  return new ByteWriter(KERNEL_DESCRIPTOR_SIZE)
    .u32(words.groupSegmentFixedSize)
    .u32(words.privateSegmentFixedSize)
    .u32(words.kernargSize)
    .u32(0)
    .u64(words.kernelCodeEntryByteOffset)
    .fill(20)
    .u32(words.computePgmRsrc3)
    .u32(words.computePgmRsrc1)
    .u32(words.computePgmRsrc2)
    .u16(words.kernelCodeProperties)
    .u16(words.kernargPreload)
    .u32(0)
    .finish();
}

/** Decodes the 64 bytes of a kernel descriptor. */
export function decodeDescriptor(bytes: Uint8Array): KernelDescriptor {
  const words = readDescriptorWords(bytes);
  return {
    groupSegmentFixedSize: words.groupSegmentFixedSize,
    privateSegmentFixedSize: words.privateSegmentFixedSize,
    kernargSize: words.kernargSize,
    kernelCodeEntryByteOffset: words.kernelCodeEntryByteOffset,
    rsrc1: unpack(words.computePgmRsrc1, RSRC1_FIELDS),
    rsrc2: unpack(words.computePgmRsrc2, RSRC2_FIELDS),
    rsrc3: unpack(words.computePgmRsrc3, RSRC3_FIELDS),
    properties: unpack(words.kernelCodeProperties, CODE_PROPERTY_FIELDS),
    preload: unpack(words.kernargPreload, PRELOAD_FIELDS),
  };
}

/** Encodes a kernel descriptor; a value that does not fit its field is `descriptor/range`. */
export function encodeDescriptor(d: KernelDescriptor): Uint8Array {
  return writeDescriptorWords({
    groupSegmentFixedSize: d.groupSegmentFixedSize,
    privateSegmentFixedSize: d.privateSegmentFixedSize,
    kernargSize: d.kernargSize,
    kernelCodeEntryByteOffset: d.kernelCodeEntryByteOffset,
    computePgmRsrc1: pack(d.rsrc1, RSRC1_FIELDS),
    computePgmRsrc2: pack(d.rsrc2, RSRC2_FIELDS),
    computePgmRsrc3: pack(d.rsrc3, RSRC3_FIELDS),
    kernelCodeProperties: pack(d.properties, CODE_PROPERTY_FIELDS),
    kernargPreload: pack(d.preload, PRELOAD_FIELDS),
  });
}

/** Registers a wavefront gets by its descriptor on GFX90A and GFX940 (unified file, VGPR granule 8, SGPR granule 16). */
export interface DescriptorRegisters {
  /** VGPRs and AGPRs together. */
  readonly totalVgprs: number;
  /** VGPRs below accum_offset. */
  readonly vgprs: number;
  /** AGPRs from accum_offset on. */
  readonly agprs: number;
  readonly sgprs: number;
}

/** The register allocation that the descriptor asks for. */
export function descriptorRegisters(d: KernelDescriptor): DescriptorRegisters {
  const totalVgprs = (d.rsrc1.granulatedWorkitemVgprCount + 1) * 8;
  const vgprs = Math.min(totalVgprs, (d.rsrc3.accumOffset + 1) * 4);
  const sgprs = (Math.floor(d.rsrc1.granulatedWavefrontSgprCount / 2) + 1) * 16;
  return { totalVgprs, vgprs, agprs: totalVgprs - vgprs, sgprs };
}
