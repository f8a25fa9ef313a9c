// Captures of other tools. rocm-perf-lab's `isolate_capture` folder: dispatch.json, kernarg.bin, kernel.hsaco, memory_regions.json and
// memory/region_BASE.bin, the memory before the dispatch. kerncap's folder (AMDResearch/intellikit) is the same with metadata.json and
// module_variables.json, but its memory is that AFTER the dispatch. Neither has a result beside it: `capture slim` computes one.
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readCodeObject, SegmentType } from '../codeobject/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { badImport, fileIn, jsonIn, reading, wholeFileIn } from './foreign-files.ts';
import {
  type CaptureAllocation,
  MAX_CHUNKS,
  MAX_KERNARG_BYTES,
  type Manifest,
  manifestText,
  readManifest,
} from './manifest.ts';
import { type CaptureDescription, CaptureWriter, type WriteOptions } from './writer.ts';

const PAGE = 4096;
const STT_OBJECT = 1;
const DISPATCH_HEADER = 2;

export interface ImportResult {
  readonly from: 'rocm-perf-lab' | 'kerncap' | 'hrr';
  readonly manifestHash: string;
  readonly regions: number;
  /** What the folder does not say, one sentence each; the same is in the capture. */
  readonly remarks: readonly string[];
}

interface Region {
  readonly base: number;
  readonly size: number;
  readonly file: string;
  /** Bytes of the file. */
  readonly length: number;
  readonly isVmem: boolean;
  /** Bytes of the file before `base`, of a region that was cut. */
  readonly skip: number;
}

/** Whether a folder is one of those that `importFolder` reads. */
export function isImportable(folder: string): boolean {
  return ['dispatch.json', 'memory_regions.json', 'kernel.hsaco'].every((name) => existsSync(join(folder, name)));
}

/** Writes a capture of another tool's folder. What is wrong with the folder is `capture/bad-import`. */
export function importFolder(
  given: string,
  path: string,
  producer: Manifest['producer'],
  options: WriteOptions = {},
): ImportResult {
  // The project that kerncap makes of a capture has it in a folder of its own.
  const folder = !isImportable(given) && isImportable(join(given, 'capture')) ? join(given, 'capture') : given;
  const bad = (message: string): WavesmithError => badImport(message, folder);
  if (!isImportable(folder)) {
    throw badImport(
      `'${folder}' is no capture of rocm-perf-lab or kerncap.`,
      folder,
      'Such a folder has dispatch.json, memory_regions.json and kernel.hsaco.',
    );
  }
  const dispatch = jsonIn(folder, 'dispatch.json');
  const name = dispatch.at('mangled_name').text().replace(/\.kd$/, '');
  const code = wholeFileIn(folder, 'kernel.hsaco') ?? new Uint8Array();
  const object = readCodeObject(code);
  const kernel = object.kernels.find((k) => k.name === name);
  if (kernel?.descriptor === undefined || kernel.descriptorSymbol === undefined) {
    throw bad(`kernel.hsaco has no kernel '${name}'.`);
  }
  const from =
    existsSync(join(folder, 'metadata.json')) || existsSync(join(folder, 'capture_complete'))
      ? 'kerncap'
      : 'rocm-perf-lab';
  const remarks: string[] = [];
  const { regions, missing } = readRegions(folder);
  if (missing.length > 0) {
    remarks.push(
      `memory_regions.json names ${missing.length} regions whose files are missing (first ${missing[0]}): their memory is not in the capture.`,
    );
  }
  const short = regions.filter((r) => r.length < r.skip + r.size).length;
  if (short > 0)
    remarks.push(`The files of ${short} regions are shorter than the regions: the rest is not in the capture.`);
  const segments = object.elf.segments.filter((s) => s.type === SegmentType.LOAD);
  if (segments.length === 0) throw bad('kernel.hsaco has nothing to load.');
  const imageSize = Math.ceil(Math.max(...segments.map((s) => s.virtualAddress + s.memorySize)) / PAGE) * PAGE;
  let free = Math.max(PAGE, ...regions.map((r) => r.base + r.size));
  const takeFree = (size: number): number => {
    const at = Math.ceil(free / CHUNK_BYTES) * CHUNK_BYTES + CHUNK_BYTES;
    free = at + size;
    return at;
  };
  const kernelObject = dispatch.at('kernel_object').optional((f) => f.whole()) ?? 0;
  const loaded = kernelObject - Number(kernel.descriptorSymbol.value);
  const isKnown = kernelObject > 0 && loaded > 0 && loaded % PAGE === 0;
  if (!isKnown) remarks.push('The folder does not say where the code was loaded; it is at a free address.');
  const loadAddress = isKnown ? loaded : takeFree(imageSize);
  const kept = regions.flatMap((region) => outside(region, loadAddress, loadAddress + imageSize));
  const kernargBytes = wholeFileIn(folder, 'kernarg.bin') ?? new Uint8Array();
  const kernargSize = Math.max(kernel.metadata?.kernargSegmentSize ?? 0, kernel.descriptor.kernargSize);
  if (kernargSize > MAX_KERNARG_BYTES) throw bad(`The kernel has ${kernargSize} bytes of arguments.`);
  const kernarg = { address: takeFree(kernargSize + 64), size: kernargSize };
  remarks.push('The folder does not say where the kernarg segment lay; it is at a free address.');
  if (kernargBytes.length < kernargSize)
    remarks.push(`kernarg.bin has ${kernargBytes.length} of ${kernargSize} bytes; the others are zero.`);
  if (from === 'kerncap') {
    remarks.push('kerncap copies memory after the dispatch: what the kernel changes in place is already changed.');
    if (!existsSync(join(folder, 'capture_complete')))
      remarks.push('The folder has no file capture_complete: kerncap may not have come to its end.');
  }
  const variables = object.elf.symbols
    .filter((s) => s.type === STT_OBJECT && s.sectionIndex !== 0 && !s.name.endsWith('.kd'))
    .map((s) => ({ name: s.name, address: loadAddress + Number(s.value), size: Number(s.size) }));
  const contents = variableContents(folder, remarks);
  if (from === 'rocm-perf-lab' && variables.length > 0) {
    remarks.push(
      `The folder has no contents of module variables (${variables.length}); they are as the code object has them.`,
    );
  }
  const chunks = kept.reduce((sum, r) => sum + Math.ceil(copiedBytes(r) / CHUNK_BYTES) + 1, 0);
  if (chunks > MAX_CHUNKS) throw bad(`Its regions have more than ${MAX_CHUNKS} chunks of ${CHUNK_BYTES} bytes.`);
  const staticLds = kernel.descriptor.groupSegmentFixedSize;
  const grid = dispatch.at('grid').triple(0xffffffff);
  const block = dispatch.at('block').triple(1024);
  const lds = dispatch.at('group_segment_size').optional((f) => f.whole(2 ** 24)) ?? staticLds;
  const scratch = dispatch.at('private_segment_size').optional((f) => f.whole(2 ** 24)) ?? 0;
  const packetAddress = takeFree(64);
  const allocations: CaptureAllocation[] = [
    ...kept.map(
      (region): CaptureAllocation => ({
        address: region.base,
        size: region.size,
        kind: region.isVmem ? 'vmem' : 'unknown',
        flags: [],
        provenance: `${from} ${region.file}`,
        label: '',
      }),
    ),
    { address: loadAddress, size: imageSize, kind: 'code', flags: [], provenance: '', label: 'code object' },
    {
      address: kernarg.address,
      size: kernargSize + 64,
      kind: 'kernarg',
      flags: [],
      provenance: '',
      label: 'kernarg segment',
    },
  ];
  const description: CaptureDescription = {
    producer,
    target: object.targetId.replace(/^.*--/, ''),
    kernel: name,
    codeObject: code,
    loadAddress,
    imageSize,
    variables,
    dispatch: {
      sequence: dispatch.at('dispatch_index').optional((f) => f.whole()) ?? 0,
      gridWorkItems: grid,
      block,
      staticLds,
      dynamicLds: Math.max(0, lds - staticLds),
      scratch,
      packet: { address: packetAddress, bytes: packetOf(grid, block, scratch, lds, kernelObject, kernarg.address) },
      queue: null,
    },
    kernarg,
    allocations,
    memory: 'full',
    hasResult: false,
  };
  const writer = CaptureWriter.create(path, description, options);
  try {
    checkWritable(writer, folder);
    const segment = new Uint8Array(kernargSize + 64);
    segment.set(kernargBytes.subarray(0, kernargSize));
    writer.writePre(kernarg.address, segment);
    for (const region of kept) copyRegion(region, writer);
    for (const variable of variables) {
      const bytes = contents.get(variable.name);
      if (bytes !== undefined) writer.writePre(variable.address, bytes.subarray(0, variable.size));
    }
    for (const remark of remarks) writer.unsupported(from, remark);
    return { from, manifestHash: writer.finish(), regions: kept.length, remarks };
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/** What a capture would not be read with: addresses and sizes that it cannot have. */
function checkWritable(writer: CaptureWriter, folder: string): void {
  try {
    readManifest(new TextEncoder().encode(manifestText(writer.manifest('recording', []))));
  } catch (cause) {
    if (!(cause instanceof WavesmithError)) throw cause;
    throw new WavesmithError('capture/bad-import', `The folder makes no capture: ${cause.message}`, {
      file: folder,
      hint: 'The folder is damaged, or of another version.',
      cause,
    });
  }
}

/** The regions with content, without those that lie inside of others, and the names of the files that are missing. */
function readRegions(folder: string): { readonly regions: readonly Region[]; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const all = jsonIn(folder, 'memory_regions.json')
    .at('regions')
    .list(2 ** 20, (f): Region[] => {
      const base = f.at('base').whole();
      const size = f.at('size').whole(2 ** 48);
      const name = join('memory', `region_${base.toString(16)}.bin`);
      const found = size > 0 ? fileIn(folder, name) : undefined;
      if (found === undefined) {
        if (size > 0) missing.push(name);
        return [];
      }
      return [{ base, size, file: found.path, length: found.size, isVmem: Boolean(f.at('is_vmem').value), skip: 0 }];
    })
    .flat()
    .sort((a, b) => a.base - b.base || b.size - a.size);
  const kept: Region[] = [];
  for (const region of all) {
    const last = kept.at(-1);
    const end = last === undefined ? 0 : last.base + last.size;
    if (region.base + region.size <= end) continue;
    kept.push(...outside(region, 0, end));
  }
  return { regions: kept, missing };
}

/** What of a region does not lie in an address range. */
function outside(region: Region, from: number, to: number): Region[] {
  const end = region.base + region.size;
  if (end <= from || region.base >= to) return [region];
  const parts: Region[] = [];
  if (region.base < from) parts.push({ ...region, size: from - region.base });
  if (end > to) parts.push({ ...region, base: to, size: end - to, skip: region.skip + to - region.base });
  return parts;
}

/** Bytes of a region that its file has. */
const copiedBytes = ({ size, length, skip }: Region): number => Math.max(0, Math.min(size, length - skip));

/** Copies a file of any size, as far as it goes. */
function copyRegion(region: Region, writer: CaptureWriter): void {
  const { base, file, skip } = region;
  const descriptor = reading(file, () => openSync(file, 'r'));
  try {
    const length = copiedBytes(region);
    const chunk = new Uint8Array(16 * CHUNK_BYTES);
    for (let at = 0; at < length; ) {
      const want = Math.min(chunk.length, length - at);
      const count = reading(file, () => readSync(descriptor, chunk, 0, want, skip + at));
      if (count === 0) return;
      writer.writePre(base + at, chunk.subarray(0, count));
      at += count;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** kerncap's module_variables.json: contents by name, of the captured executable where that is known. */
function variableContents(folder: string, remarks: string[]): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  if (!existsSync(join(folder, 'module_variables.json'))) return contents;
  const own = existsSync(join(folder, 'metadata.json'))
    ? jsonIn(folder, 'metadata.json').at('hsaco_sha256').value
    : undefined;
  for (const entry of jsonIn(folder, 'module_variables.json')
    .at('variables')
    .list(2 ** 20, (f) => f)) {
    const sha = entry.at('executable_sha256').value;
    if (typeof own === 'string' && typeof sha === 'string' && sha !== own) continue;
    const blob = entry.at('blob').text(4096);
    const name = entry.at('name').text();
    // A blob is a file of the folder: no name leads out of it.
    if (blob.startsWith('/') || blob.split(/[\\/]/).includes('..') || blob.includes('\0')) {
      throw entry.at('blob').bad(`names a file outside of the folder: '${blob.slice(0, 80)}'`);
    }
    const bytes = wholeFileIn(folder, blob);
    if (bytes === undefined) remarks.push(`The content of variable '${name}' is missing ('${blob}').`);
    else contents.set(name, bytes);
  }
  return contents;
}

/** The AQL packet as the sizes make it. */
function packetOf(
  grid: readonly number[],
  block: readonly number[],
  scratch: number,
  lds: number,
  kernelObject: number,
  kernarg: number,
): Uint8Array {
  const bytes = new Uint8Array(64);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, DISPATCH_HEADER, true);
  view.setUint16(2, (grid[2] as number) > 1 ? 3 : (grid[1] as number) > 1 ? 2 : 1, true);
  for (const d of [0, 1, 2]) {
    view.setUint16(4 + 2 * d, block[d] as number, true);
    view.setUint32(12 + 4 * d, grid[d] as number, true);
  }
  view.setUint32(24, scratch, true);
  view.setUint32(28, lds, true);
  view.setBigUint64(32, BigInt(kernelObject), true);
  view.setBigUint64(40, BigInt(kernarg), true);
  return bytes;
}
