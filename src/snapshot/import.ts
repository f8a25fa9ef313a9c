// Captures of other tools. rocm-perf-lab's `isolate_capture` folder: dispatch.json, kernarg.bin, kernel.hsaco, memory_regions.json and
// memory/region_BASE.bin, the memory before the dispatch. kerncap's folder (AMDResearch/intellikit) is the same with metadata.json and
// module_variables.json, but its memory is that AFTER the dispatch. Neither has a result beside it: `capture slim` computes one.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readCodeObject, SegmentType } from '../codeobject/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { Field } from './fields.ts';
import type { CaptureAllocation, Manifest } from './manifest.ts';
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
  readonly isVmem: boolean;
  /** Bytes of the file before `base`, of a region that was cut. */
  readonly skip: number;
}

function readJson(folder: string, name: string): Field {
  const path = join(folder, name);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new WavesmithError('io/read', `Cannot read '${path}': ${(error as Error).message}.`, { file: path });
  }
  try {
    // isolate_tool leaves a comma behind the last region when it skips one.
    return new Field(JSON.parse(text.replace(/,(\s*[\]}])/g, '$1')), '');
  } catch (cause) {
    throw new WavesmithError('capture/bad-import', `'${path}' is not JSON.`, { file: path, cause });
  }
}

/** Whether a folder is one of those that `importFolder` reads. */
export function isImportable(folder: string): boolean {
  return ['dispatch.json', 'memory_regions.json', 'kernel.hsaco'].every((name) => existsSync(join(folder, name)));
}

/** Writes a capture of another tool's folder. What is wrong with the folder is `capture/bad-import`. */
export function importFolder(
  folder: string,
  path: string,
  producer: Manifest['producer'],
  options: WriteOptions = {},
): ImportResult {
  const bad = (message: string): WavesmithError => new WavesmithError('capture/bad-import', message, { file: folder });
  if (!isImportable(folder)) {
    throw new WavesmithError('capture/bad-import', `'${folder}' is no capture of rocm-perf-lab or kerncap.`, {
      file: folder,
      hint: 'Such a folder has dispatch.json, memory_regions.json and kernel.hsaco.',
    });
  }
  const dispatch = readJson(folder, 'dispatch.json');
  const name = dispatch.at('mangled_name').text().replace(/\.kd$/, '');
  const code = new Uint8Array(readFileSync(join(folder, 'kernel.hsaco')));
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
  const regions = readRegions(folder);
  const segments = object.elf.segments.filter((s) => s.type === SegmentType.LOAD);
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
  const kernargBytes = existsSync(join(folder, 'kernarg.bin'))
    ? new Uint8Array(readFileSync(join(folder, 'kernarg.bin')))
    : new Uint8Array();
  const kernargSize = Math.max(kernel.metadata?.kernargSegmentSize ?? 0, kernel.descriptor.kernargSize);
  const kernarg = { address: takeFree(kernargSize + 64), size: kernargSize };
  remarks.push('The folder does not say where the kernarg segment lay; it is at a free address.');
  if (kernargBytes.length < kernargSize)
    remarks.push(`kernarg.bin has ${kernargBytes.length} of ${kernargSize} bytes; the others are zero.`);
  if (from === 'kerncap') {
    remarks.push('kerncap copies memory after the dispatch: what the kernel changes in place is already changed.');
  }
  const variables = object.elf.symbols
    .filter((s) => s.type === STT_OBJECT && s.sectionIndex !== 0 && !s.name.endsWith('.kd'))
    .map((s) => ({ name: s.name, address: loadAddress + Number(s.value), size: Number(s.size) }));
  const contents = variableContents(folder);
  if (from === 'rocm-perf-lab' && variables.length > 0) {
    remarks.push(
      `The folder has no contents of module variables (${variables.length}); they are as the code object has them.`,
    );
  }
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

/** The regions with content, without those that lie inside of others. */
function readRegions(folder: string): Region[] {
  const all = readJson(folder, 'memory_regions.json')
    .at('regions')
    .list(2 ** 20, (f): Region => {
      const base = f.at('base').whole();
      const file = join(folder, 'memory', `region_${base.toString(16)}.bin`);
      return { base, size: f.at('size').whole(2 ** 48), file, isVmem: Boolean(f.at('is_vmem').value), skip: 0 };
    })
    .filter((region) => region.size > 0 && existsSync(region.file))
    .sort((a, b) => a.base - b.base || b.size - a.size);
  const kept: Region[] = [];
  for (const region of all) {
    const last = kept.at(-1);
    const end = last === undefined ? 0 : last.base + last.size;
    if (region.base + region.size <= end) continue;
    kept.push(...outside(region, 0, end));
  }
  return kept;
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

/** Copies a file of any size, as far as it goes. */
function copyRegion({ base, size, file, skip }: Region, writer: CaptureWriter): void {
  const descriptor = openSync(file, 'r');
  try {
    const length = Math.min(size, fstatSync(descriptor).size - skip);
    const chunk = new Uint8Array(16 * CHUNK_BYTES);
    for (let at = 0; at < length; ) {
      const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, length - at), skip + at);
      if (count === 0) return;
      writer.writePre(base + at, chunk.subarray(0, count));
      at += count;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** kerncap's module_variables.json: contents by name, of the captured executable where that is known. */
function variableContents(folder: string): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  if (!existsSync(join(folder, 'module_variables.json'))) return contents;
  const own = existsSync(join(folder, 'metadata.json'))
    ? readJson(folder, 'metadata.json').at('hsaco_sha256').value
    : undefined;
  for (const entry of readJson(folder, 'module_variables.json')
    .at('variables')
    .list(2 ** 20, (f) => f)) {
    const sha = entry.at('executable_sha256').value;
    if (typeof own === 'string' && typeof sha === 'string' && sha !== own) continue;
    const blob = entry.at('blob').text(4096);
    // A blob is a file of the folder: no name leads out of it.
    if (blob.startsWith('/') || blob.split(/[\\/]/).includes('..') || !existsSync(join(folder, blob))) continue;
    contents.set(entry.at('name').text(), new Uint8Array(readFileSync(join(folder, blob))));
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
