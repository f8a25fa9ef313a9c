// A capture of a dispatch whose memory somebody copied before and after it, without following its bytes: what the tools library does on every
// runtime. `slimCapture` keeps of it what the dispatch touches.
import { readCodeObject } from '../codeobject/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { hex } from './fields.ts';
import { instructionRanges, outsideOf } from './image.ts';
import type { CaptureAllocation, Manifest, MemoryMode, Triple, UnsupportedRecord } from './manifest.ts';
import { type CaptureDescription, CaptureWriter, type WriteOptions } from './writer.ts';

/** Live memory when the dispatch ran. */
export interface CopiedMemory extends CaptureAllocation {
  /** Contents before it by offset (a multiple of 64 KiB); undefined when they were not copied. A chunk that is undefined is zero. */
  readonly before: ((offset: number) => Uint8Array | undefined) | undefined;
  /** The chunks that it changed. */
  readonly changed: readonly { readonly offset: number; readonly bytes: Uint8Array }[];
}

/** A dispatch with copies of memory around it. */
export interface CopiedDispatch {
  readonly producer: Manifest['producer'];
  readonly mode: MemoryMode;
  readonly kernel: string;
  /** The ELF as it was loaded, and the address of its virtual address 0. */
  readonly codeObject: Uint8Array;
  readonly loadAddress: number;
  readonly imageSize: number;
  readonly sequence: number;
  readonly gridWorkItems: Triple;
  readonly block: Triple;
  /** Bytes of LDS with the dynamic part, and of scratch of a work-item. */
  readonly lds: number;
  readonly scratch: number;
  readonly packet: Uint8Array;
  readonly kernarg: { readonly address: number; readonly bytes: Uint8Array };
  readonly memory: readonly CopiedMemory[];
  readonly unsupported: readonly UnsupportedRecord[];
}

const STT_OBJECT = 1;
const PAGE = 4096;
/** Packets of dispatches whose ring is not known are placed from here on. */
const FREE_ADDRESS = 0x6f00_0000_0000;

/** Begins a capture and gives it all memory that was copied; `finishProved` completes it. */
export function writeCopied(path: string, dispatch: CopiedDispatch, options: WriteOptions): CaptureWriter {
  const { loadAddress, imageSize, kernarg, unsupported } = dispatch;
  const records = [...unsupported];
  const object = readCodeObject(dispatch.codeObject);
  const kernel = object.kernels.find((k) => k.name === dispatch.kernel);
  const staticLds = kernel?.descriptor?.groupSegmentFixedSize ?? 0;
  const isImage = ({ address, size }: CaptureAllocation): boolean =>
    address < loadAddress + imageSize && address + size > loadAddress;
  const copied = dispatch.memory.filter((m) => m.before !== undefined && !isImage(m));
  const memory = withoutOverlaps(copied, records);
  const holdsKernarg = memory.some(
    (m) => m.address <= kernarg.address && kernarg.address + kernarg.bytes.length <= m.address + m.size,
  );
  const image: CaptureAllocation = {
    address: loadAddress,
    size: imageSize,
    kind: 'code',
    flags: [],
    provenance: 'code object',
    label: 'code object',
  };
  const segment: CaptureAllocation = {
    address: kernarg.address,
    size: kernarg.bytes.length,
    kind: 'kernarg',
    flags: [],
    provenance: '',
    label: 'kernarg segment',
  };
  const description: CaptureDescription = {
    producer: dispatch.producer,
    target: object.targetId.replace(/^.*--/, ''),
    kernel: dispatch.kernel,
    codeObject: dispatch.codeObject,
    loadAddress,
    imageSize,
    variables: object.elf.symbols
      .filter((s) => s.type === STT_OBJECT && s.sectionIndex !== 0 && !s.name.endsWith('.kd'))
      .map((s) => ({ name: s.name, address: loadAddress + Number(s.value), size: Number(s.size) })),
    dispatch: {
      sequence: dispatch.sequence,
      gridWorkItems: dispatch.gridWorkItems,
      block: dispatch.block,
      staticLds,
      dynamicLds: Math.max(0, dispatch.lds - staticLds),
      scratch: dispatch.scratch,
      packet: { address: freePage([...memory, image, segment]), bytes: dispatch.packet },
      queue: null,
    },
    kernarg: { address: kernarg.address, size: kernarg.bytes.length },
    allocations: [...memory.map(allocationOf), image, ...(holdsKernarg || segment.size === 0 ? [] : [segment])],
    memory: dispatch.mode,
  };
  const writer = CaptureWriter.create(path, description, options);
  try {
    if (!holdsKernarg && segment.size > 0) writer.writePre(kernarg.address, kernarg.bytes);
    for (const m of memory) copyMemory(m, writer);
    const instructions = instructionRanges(dispatch.codeObject, loadAddress);
    for (const m of dispatch.memory.filter(isImage)) copyImage(m, instructions, writer);
    for (const { what, message } of records) writer.unsupported(what, message);
    return writer;
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

const allocationOf = ({ address, size, kind, flags, provenance, label }: CopiedMemory): CaptureAllocation => ({
  address,
  size,
  kind,
  flags,
  provenance,
  label,
});

/** Memory that is known under two ranges that overlap is kept once. */
function withoutOverlaps(memory: readonly CopiedMemory[], records: UnsupportedRecord[]): CopiedMemory[] {
  const kept: CopiedMemory[] = [];
  for (const one of [...memory].sort((a, b) => a.address - b.address || b.size - a.size)) {
    const last = kept.at(-1);
    if (last === undefined || one.address >= last.address + last.size) {
      kept.push(one);
      continue;
    }
    if (one.address + one.size <= last.address + last.size) continue;
    records.push({
      what: 'overlap',
      message: `The memory at ${hex(one.address)} (${one.size} bytes) overlaps that at ${hex(last.address)}; it is not in the capture.`,
    });
  }
  return kept;
}

/** The address of a page beside all of these. */
function freePage(taken: readonly CaptureAllocation[]): number {
  let address = FREE_ADDRESS;
  for (const m of [...taken].sort((a, b) => a.address - b.address)) {
    if (m.address < address + PAGE && m.address + m.size > address)
      address = Math.ceil((m.address + m.size) / PAGE) * PAGE;
  }
  return address;
}

function copyMemory({ address, size, before, changed }: CopiedMemory, writer: CaptureWriter): void {
  const zeros = new Uint8Array(CHUNK_BYTES);
  for (let offset = 0; offset < size; offset += CHUNK_BYTES) {
    const bytes = before?.(offset) ?? zeros;
    writer.writePre(address + offset, bytes.subarray(0, Math.min(CHUNK_BYTES, size - offset)));
  }
  for (const { offset, bytes } of changed) writer.writePost(address + offset, bytes);
}

/** Of the image of a code object all but its instructions is memory. */
function copyImage(
  { address, size, before, changed }: CopiedMemory,
  instructions: readonly (readonly [number, number])[],
  writer: CaptureWriter,
): void {
  const zeros = new Uint8Array(CHUNK_BYTES);
  for (let offset = 0; before !== undefined && offset < size; offset += CHUNK_BYTES) {
    const bytes = before(offset) ?? zeros;
    const start = address + offset;
    for (const [from, to] of outsideOf(instructions, start, start + Math.min(CHUNK_BYTES, size - offset)))
      writer.writePre(from, bytes.subarray(from - start, to - start));
  }
  // Whole chunks: what is not given after the dispatch would count as not written by it.
  for (const { offset, bytes } of changed) writer.writePost(address + offset, bytes);
}
