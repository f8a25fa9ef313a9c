// What must be equal before code is compared: target, arguments, the registers a kernel starts with, constant data.

import type { ElfSection } from '../codeobject/elf/read.ts';
import type { CodeObject, Kernel, KernelDescriptor } from '../codeobject/index.ts';

/** Fields that say what the dispatcher puts into registers, and how floating point begins. */
const LAUNCH_FIELDS = ['rsrc2', 'properties', 'preload'] as const;
const MODE_FIELDS = [
  'floatRoundMode32',
  'floatRoundMode16_64',
  'floatDenormMode32',
  'floatDenormMode16_64',
  'enableDx10Clamp',
  'enableIeeeMode',
  'fp16Ovfl',
] as const;
/** Granulated sizes and trap enables change no value. */
const SIZES = new Set(['granulatedLdsSize', 'enableTrapHandler', 'reserved', 'reserved0', 'reserved1']);

/** The first difference that makes two kernels different to their caller, as a sentence's end; undefined: there is none. */
export function interfaceDifference(a: Kernel, b: Kernel): string | undefined {
  const [x, y] = [a.descriptor, b.descriptor];
  if (x === undefined || y === undefined) return 'a kernel has no descriptor';
  return descriptorDifference(x, y) ?? metadataDifference(a, b);
}

function descriptorDifference(x: KernelDescriptor, y: KernelDescriptor): string | undefined {
  for (const word of LAUNCH_FIELDS) {
    const [p, q] = [x[word], y[word]] as unknown as readonly [Record<string, number>, Record<string, number>];
    for (const name of Object.keys(p)) {
      if (!SIZES.has(name) && p[name] !== q[name]) return `descriptor field ${name} is ${p[name]} and ${q[name]}`;
    }
  }
  for (const name of MODE_FIELDS) {
    if (x.rsrc1[name] !== y.rsrc1[name]) return `descriptor field ${name} is ${x.rsrc1[name]} and ${y.rsrc1[name]}`;
  }
  if (x.rsrc3.tgSplit !== y.rsrc3.tgSplit) return 'one of the kernels runs with split workgroups (tg_split)';
  if (y.groupSegmentFixedSize < x.groupSegmentFixedSize)
    return `LDS shrinks from ${x.groupSegmentFixedSize} to ${y.groupSegmentFixedSize} bytes`;
  if (y.privateSegmentFixedSize < x.privateSegmentFixedSize) {
    return `scratch shrinks from ${x.privateSegmentFixedSize} to ${y.privateSegmentFixedSize} bytes`;
  }
  if (y.kernargSize !== x.kernargSize) return `the kernarg segment has ${x.kernargSize} and ${y.kernargSize} bytes`;
  return undefined;
}

function metadataDifference(a: Kernel, b: Kernel): string | undefined {
  const shape = (k: Kernel): string =>
    JSON.stringify(k.metadata?.args.map((arg) => [arg.offset, arg.size, arg.valueKind, arg.addressSpace]));
  if (shape(a) !== shape(b)) return 'the metadata describe different arguments';
  if (JSON.stringify(a.metadata?.reqdWorkgroupSize) !== JSON.stringify(b.metadata?.reqdWorkgroupSize)) {
    return 'the metadata require different workgroup sizes';
  }
  return undefined;
}

const SHF_ALLOC = 2n;
const SHF_EXECINSTR = 4n;
const SHT_NOBITS = 8;
/** Sections of the loader, which no kernel reads. */
const LOADER = /^\.(note|dynsym|gnu\.hash|hash|dynstr|dynamic|rela|relro_padding)/;

const dataSections = (o: CodeObject): readonly ElfSection[] =>
  o.elf.sections.filter(
    (s) => (s.flags & SHF_ALLOC) !== 0n && (s.flags & SHF_EXECINSTR) === 0n && !LOADER.test(s.name),
  );

/** Bytes of a section with the kernel descriptors in it blanked. */
function constantBytes(o: CodeObject, section: ElfSection): Uint8Array {
  if (section.type === SHT_NOBITS) return new Uint8Array(0);
  // Not slice(): of a Buffer it would be a view.
  const bytes = new Uint8Array(section.bytes);
  for (const { descriptorSymbol } of o.kernels) {
    if (descriptorSymbol?.section !== section) continue;
    const at = Number(descriptorSymbol.value) - section.address;
    bytes.fill(0, Math.max(at, 0), at + 64);
  }
  return bytes;
}

/**
 * How far the second file's constant data is from the first's. Undefined when the data differ or moved by different distances, so
 * that addresses of the two files cannot be compared.
 */
export function dataShift(a: CodeObject, b: CodeObject): bigint | undefined {
  const [x, y] = [dataSections(a), dataSections(b)];
  let shift: bigint | undefined;
  for (const section of x) {
    const other = y.find((s) => s.name === section.name);
    if (other === undefined) return undefined;
    const [p, q] = [constantBytes(a, section), constantBytes(b, other)];
    if (p.length !== q.length || p.some((byte, i) => byte !== q[i])) return undefined;
    const distance = BigInt(other.address) - BigInt(section.address);
    if (shift !== undefined && shift !== distance) return undefined;
    shift = distance;
  }
  return y.length === x.length ? (shift ?? 0n) : undefined;
}
