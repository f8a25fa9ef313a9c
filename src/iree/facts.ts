// A loadable code object as replacing one by an edited one sees it: kernels with their code bytes, data, and the registers
// that instructions name.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, type Kernel, readCodeObject } from '../codeobject/code-object.ts';
import { SectionFlag, SectionType } from '../codeobject/elf/object-model.ts';
import type { ElfFile, ElfSection } from '../codeobject/elf/read.ts';
import type { TargetId } from '../codeobject/elf/target-id.ts';
import { KERNEL_DESCRIPTOR_SIZE, type KernelDescriptor } from '../codeobject/kernel/descriptor.ts';
import type { KernelMetadata } from '../codeobject/kernel/metadata.ts';
import { isTargetName, TARGET_LIST } from '../isa/table/targets.ts';
import type { TargetName } from '../isa/types.ts';

export interface KernelFacts {
  readonly name: string;
  /** The kernel as the code object's reader gives it. */
  readonly kernel: Kernel;
  readonly descriptor: KernelDescriptor;
  readonly descriptorBytes: Uint8Array;
  /** Undefined when the metadata does not list the kernel. */
  readonly metadata: KernelMetadata | undefined;
  /** Address of the first instruction. */
  readonly entry: number;
  /** From the entry to the end of the function. */
  readonly code: Uint8Array;
}

export interface CodeObjectFacts {
  readonly bytes: Uint8Array;
  /** As the code object's reader gives it. */
  readonly object: CodeObject;
  readonly target: TargetId;
  readonly targetName: TargetName;
  readonly text: Uint8Array;
  readonly textAddress: number;
  /** Loaded sections with content of the program's own besides code; descriptors' code offsets are zeroed in them. */
  readonly data: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** What the loader reads of the file's header and of the metadata outside the kernels: ABI version, flags, versions, target. */
  readonly identity: string;
  /** The kernels that have a descriptor, by name. */
  readonly kernels: ReadonlyMap<string, KernelFacts>;
}

/** Where the descriptor's relative code offset is; it changes with the file's layout, not with the code. */
const ENTRY_OFFSET_FIELD = [16, 24] as const;

/** Reads a loadable code object of a supported target. */
export function readFacts(bytes: Uint8Array): CodeObjectFacts {
  let facts = known.get(bytes);
  if (facts === undefined) {
    facts = parseFacts(bytes);
    known.set(bytes, facts);
  }
  return facts;
}

/** The facts of every code object that is still in memory: nobody writes to the bytes of one. */
const known = new WeakMap<Uint8Array, CodeObjectFacts>();

function parseFacts(bytes: Uint8Array): CodeObjectFacts {
  const object = readCodeObject(bytes);
  const { elf, target } = object;
  if (!isTargetName(target.processor)) {
    throw new WavesmithError('hijack/target', `The code object is for ${target.processor}, which is not supported.`, {
      hint: `Supported targets are ${TARGET_LIST}.`,
    });
  }
  if (object.isRelocatable) {
    throw new WavesmithError('hijack/not-loadable', 'The code object is not linked: it is no shared object.', {
      hint: 'Link it with ld.lld -shared, or let this tool assemble the text.',
    });
  }
  const text = elf.section('.text');
  const kernels = new Map<string, KernelFacts>();
  for (const kernel of object.kernels) {
    const facts = kernelFacts(elf, kernel);
    if (facts !== undefined) kernels.set(kernel.name, facts);
  }
  return {
    bytes,
    object,
    target,
    targetName: target.processor,
    text: text?.bytes ?? new Uint8Array(),
    textAddress: text?.address ?? 0,
    data: dataSections(elf, text, object.kernels),
    identity: identityOf(object),
    kernels,
  };
}

function kernelFacts(elf: ElfFile, kernel: Kernel): KernelFacts | undefined {
  const { name, descriptor, descriptorSymbol, metadata, entry, codeSize } = kernel;
  const descriptorBytes = descriptorSymbol && elf.bytesOf(descriptorSymbol, KERNEL_DESCRIPTOR_SIZE);
  if (descriptor === undefined || descriptorBytes === undefined) return undefined;
  const section = elf.sections.find(
    (s) => entry !== undefined && entry >= s.address && entry < s.address + s.bytes.length,
  );
  if (section === undefined || entry === undefined) {
    throw new WavesmithError('hijack/entry', `The entry point of kernel '${name}' is outside the code.`, {
      pc: entry,
      hint: 'The kernel descriptor is damaged.',
    });
  }
  const start = entry - section.address;
  const end = codeSize === 0 ? section.bytes.length : start + codeSize;
  return { name, kernel, descriptor, descriptorBytes, metadata, entry, code: section.bytes.subarray(start, end) };
}

function identityOf({ elf, metadata }: CodeObject): string {
  const { osAbi, abiVersion, flags } = elf.header;
  const documents = metadata.map(({ version, target, printf }) => ({ version, processor: targetOf(target), printf }));
  return JSON.stringify({ osAbi, abiVersion, flags, documents });
}

/** Processor and features of a target id; triples are spelt differently from LLVM 24 on and mean the same. */
function targetOf(id: string | undefined): string | null {
  return id === undefined ? null : (/gfx[\w-]+(?::\w+[+-])*$/.exec(id)?.[0] ?? id);
}

function dataSections(
  elf: ElfFile,
  text: ElfSection | undefined,
  kernels: readonly Kernel[],
): { name: string; bytes: Uint8Array }[] {
  const loaded = BigInt(SectionFlag.ALLOC);
  const sections = elf.sections.filter(
    (s) => s.type === SectionType.PROGBITS && (s.flags & loaded) !== 0n && s !== text,
  );
  return sections.map((section) => {
    const bytes = new Uint8Array(section.bytes);
    for (const { descriptorSymbol: symbol } of kernels) {
      if (symbol?.section !== section) continue;
      const at = Number(symbol.value) - section.address;
      bytes.fill(0, at + ENTRY_OFFSET_FIELD[0], at + ENTRY_OFFSET_FIELD[1]);
    }
    return { name: section.name, bytes };
  });
}

/** True when two kernels have the same instructions and the same descriptor, wherever the code lies. */
export function sameKernel(a: KernelFacts, b: KernelFacts): boolean {
  const [from, to] = ENTRY_OFFSET_FIELD;
  return (
    sameBytes(a.code, b.code) &&
    sameBytes(a.descriptorBytes.subarray(0, from), b.descriptorBytes.subarray(0, from)) &&
    sameBytes(a.descriptorBytes.subarray(to), b.descriptorBytes.subarray(to))
  );
}

/** Names of the kernels of `after` that `before` has otherwise or not at all. */
export function changedKernels(before: CodeObjectFacts, after: CodeObjectFacts): string[] {
  return [...after.kernels].flatMap(([name, edited]) => {
    const old = before.kernels.get(name);
    return old !== undefined && sameKernel(old, edited) ? [] : [name];
  });
}

/** True when two code objects do the same whatever their files' layout: header, code, descriptors, metadata and data agree. */
export function sameCode(a: CodeObjectFacts, b: CodeObjectFacts): boolean {
  if (a.identity !== b.identity) return false;
  if (!sameBytes(a.text, b.text) || a.data.length !== b.data.length || a.kernels.size !== b.kernels.size) return false;
  if (!a.data.every((d, i) => d.name === b.data[i].name && sameBytes(d.bytes, b.data[i].bytes))) return false;
  for (const [name, before] of a.kernels) {
    const after = b.kernels.get(name);
    if (after === undefined || before.entry - a.textAddress !== after.entry - b.textAddress) return false;
    if (!sameKernel(before, after) || metadataText(before) !== metadataText(after)) return false;
  }
  return true;
}

/** The kernel's metadata as comparable text. */
function metadataText(kernel: KernelFacts): string {
  const plain = (_key: string, value: unknown): unknown =>
    value instanceof Map ? [...value] : typeof value === 'bigint' ? String(value) : value;
  return JSON.stringify(kernel.metadata?.raw ?? null, plain);
}

/** True when two byte arrays are equal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
