// Writes captures. What records a dispatch gives memory piece by piece; it goes into a folder beside the capture's name, which gets the
// name when everything is in it.
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { codeName, FolderWriter, MANIFEST, PACK, TRAILER } from './files.ts';
import {
  type CaptureAlias,
  type CaptureAllocation,
  type ChunkEntry,
  chunkLength,
  type DeterminismSection,
  type KernargSlot,
  type Manifest,
  type MemoryMode,
  manifestText,
  type Triple,
  type UnsupportedRecord,
} from './manifest.ts';
import { maskOf } from './masks.ts';
import { PageWriter, sha256, trailerText } from './pages.ts';

/** What is known of a dispatch before its memory is. */
export interface CaptureDescription {
  readonly producer: Manifest['producer'];
  /** `gfx942`, or with features: `gfx942:sramecc+:xnack-`. */
  readonly target: string;
  /** Name of the kernel, without `.kd`. */
  readonly kernel: string;
  /** The ELF as it was loaded. */
  readonly codeObject: Uint8Array;
  /** Address of its virtual address 0. */
  readonly loadAddress: number;
  readonly imageSize: number;
  readonly variables: Manifest['code']['variables'];
  readonly dispatch: {
    readonly sequence: number;
    readonly gridWorkItems: Triple;
    readonly block: Triple;
    readonly staticLds: number;
    readonly dynamicLds: number;
    /** Bytes of scratch of a work-item. */
    readonly scratch: number;
    readonly packet: { readonly address: number; readonly bytes: Uint8Array };
    readonly queue: { readonly address: number } | null;
  };
  readonly kernarg: { readonly address: number; readonly size: number };
  /** Without overlaps; in any order. */
  readonly allocations: readonly CaptureAllocation[];
  readonly aliases?: readonly CaptureAlias[] | undefined;
  readonly memory: MemoryMode;
  /** False: no state after the dispatch will be given. */
  readonly hasResult?: boolean | undefined;
}

export interface WriteOptions {
  /** Replaces a capture of that name. */
  readonly replace?: boolean | undefined;
  /** One ZIP instead of a folder. */
  readonly zip?: boolean | undefined;
}

/** What replays of a capture have shown. */
export interface Findings {
  readonly proved?: boolean | undefined;
  readonly determinism?: DeterminismSection | null | undefined;
  readonly instructions?: number | undefined;
}

/** A chunk that is put together from pieces. */
interface Pending {
  readonly bytes: Uint8Array;
  readonly given: Uint8Array;
  left: number;
}

interface Building {
  allocation: number;
  index: number;
  pre?: Pending | undefined;
  post?: Pending | undefined;
  /** Pages of what was complete. */
  entry: { -readonly [K in keyof ChunkEntry]: ChunkEntry[K] };
}

/** Writes one capture. Exactly one of `finish` and `abandon` ends it. */
export class CaptureWriter {
  readonly pages: PageWriter;
  readonly allocations: readonly CaptureAllocation[];
  private readonly description: CaptureDescription;
  private readonly writer: FolderWriter;
  private readonly options: WriteOptions;
  private readonly building = new Map<string, Building>();
  private readonly records: UnsupportedRecord[] = [];
  private readonly kernarg: Uint8Array;
  private readonly kernargGiven: Uint8Array;
  private entries: ChunkEntry[] | undefined;

  private constructor(path: string, description: CaptureDescription, options: WriteOptions) {
    this.description = description;
    this.options = options;
    this.allocations = [...description.allocations].sort((a, b) => a.address - b.address);
    this.kernarg = new Uint8Array(description.kernarg.size);
    this.kernargGiven = new Uint8Array(description.kernarg.size);
    this.writer = new FolderWriter(path, options.replace === true);
    this.pages = new PageWriter(this.writer);
    try {
      this.writer.write(codeName(sha256(description.codeObject)), description.codeObject);
      this.writer.write(MANIFEST, manifestText(this.manifest('recording', [])));
    } catch (error) {
      this.writer.abandon();
      throw error;
    }
  }

  /** Begins a capture; a name that exists is `capture/exists` unless it is to be replaced. */
  static create(path: string, description: CaptureDescription, options: WriteOptions = {}): CaptureWriter {
    return new CaptureWriter(path, description, options);
  }

  /** Bytes as they are before the dispatch, in any pieces. */
  writePre(address: number, bytes: Uint8Array): void {
    this.put('pre', address, bytes);
  }

  /** Bytes as the dispatch left them. Where none are given, nothing changed. */
  writePost(address: number, bytes: Uint8Array): void {
    this.put('post', address, bytes);
  }

  /** The chunks with everything about them, instead of `writePre` and `writePost`; sorted. The pages are in `pages`. */
  setChunks(entries: ChunkEntry[], kernarg: Uint8Array): void {
    this.entries = entries;
    this.kernarg.set(kernarg.subarray(0, this.kernarg.length));
    this.kernargGiven.fill(1);
  }

  /** Records what could not be captured. */
  unsupported(what: string, message: string): void {
    this.records.push({ what, message });
  }

  private put(side: 'pre' | 'post', address: number, bytes: Uint8Array): void {
    if (side === 'pre') this.noteKernarg(address, bytes);
    let at = 0;
    while (at < bytes.length) {
      const n = this.allocationAt(address + at);
      const allocation = this.allocations[n];
      if (allocation === undefined) {
        throw new WavesmithError(
          'capture/no-allocation',
          `Memory at 0x${(address + at).toString(16)} was given to a capture that has no allocation there.`,
        );
      }
      const offset = address + at - allocation.address;
      const index = Math.floor(offset / CHUNK_BYTES);
      const from = offset % CHUNK_BYTES;
      const length = chunkLength(allocation, index);
      const count = Math.min(length - from, bytes.length - at);
      this.piece(side, n, index, length, from, bytes.subarray(at, at + count));
      at += count;
    }
  }

  private piece(
    side: 'pre' | 'post',
    allocation: number,
    index: number,
    length: number,
    from: number,
    bytes: Uint8Array,
  ): void {
    const key = `${allocation}.${index}`;
    let chunk = this.building.get(key);
    if (chunk === undefined) {
      chunk = { allocation, index, entry: { allocation, index } };
      this.building.set(key, chunk);
    }
    let pending = chunk[side];
    if (pending === undefined && bytes.length === length) {
      chunk.entry[side] = this.pages.put(bytes);
      return;
    }
    if (pending === undefined) {
      pending = { bytes: new Uint8Array(length), given: new Uint8Array(length), left: length };
      chunk[side] = pending;
    }
    pending.bytes.set(bytes, from);
    for (let i = from; i < from + bytes.length; i++) {
      if (pending.given[i] === 1) continue;
      pending.given[i] = 1;
      pending.left--;
    }
    if (pending.left > 0) return;
    chunk.entry[side] = this.pages.put(pending.bytes);
    chunk[side] = undefined;
  }

  private noteKernarg(address: number, bytes: Uint8Array): void {
    const start = this.description.kernarg.address;
    const from = Math.max(address, start);
    const to = Math.min(address + bytes.length, start + this.kernarg.length);
    if (from >= to) return;
    this.kernarg.set(bytes.subarray(from - address, to - address), from - start);
    this.kernargGiven.fill(1, from - start, to - start);
  }

  private allocationAt(address: number): number {
    let low = 0;
    let high = this.allocations.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const { address: start, size } = this.allocations[middle] as CaptureAllocation;
      if (address < start) high = middle - 1;
      else if (address >= start + size) low = middle + 1;
      else return middle;
    }
    return -1;
  }

  /** The chunks of `writePre` and `writePost`. Parts of chunks keep which bytes are known. */
  private builtChunks(): ChunkEntry[] {
    const entries: ChunkEntry[] = [];
    for (const { entry, pre, post } of this.building.values()) {
      if (pre !== undefined) {
        entry.pre = this.pages.put(pre.bytes);
        entry.known = maskOf(pre.given, 1, this.pages);
      }
      if (post !== undefined) {
        // Bytes that were not given are as before.
        const before = pre?.bytes;
        if (before !== undefined)
          for (let i = 0; i < before.length; i++) if (post.given[i] === 0) post.bytes[i] = before[i] as number;
        entry.post = this.pages.put(post.bytes);
        entry.writes ??= maskOf(post.given, 1, this.pages);
      }
      if (entry.post === entry.pre) entry.post = undefined;
      entries.push(entry);
    }
    return entries.sort((a, b) => a.allocation - b.allocation || a.index - b.index);
  }

  private slots(): KernargSlot[] {
    const { codeObject, kernel, kernarg } = this.description;
    const metadata = readCodeObject(codeObject).kernels.find((k) => k.name === kernel)?.metadata;
    const view = new DataView(this.kernarg.buffer);
    return (metadata?.args ?? [])
      .filter(({ offset, size }) => offset + size <= kernarg.size)
      .map(({ name, offset, size, valueKind }): KernargSlot => {
        const bytes = this.kernarg.slice(offset, offset + size);
        const isPointer = size === 8 && !valueKind.startsWith('by_value');
        const value = isPointer ? Number(view.getBigUint64(offset, true)) : 0;
        const allocation = value === 0 ? -1 : this.allocationAt(value);
        const target = this.allocations[allocation];
        return {
          name: name ?? '',
          offset,
          size,
          kind: valueKind,
          bytes,
          ...(target === undefined ? {} : { points: { allocation, offset: value - target.address } }),
        };
      });
  }

  /** The manifest as it is so far. */
  manifest(
    state: Manifest['state'],
    chunks: readonly ChunkEntry[],
    { proved = false, determinism = null, instructions }: Findings = {},
  ): Manifest {
    const { description: d } = this;
    const { packet, queue, ...dispatch } = d.dispatch;
    return {
      state,
      producer: d.producer,
      dispatch: {
        kernel: d.kernel,
        ...dispatch,
        packet,
        queue: queue?.address ?? null,
        kernarg: { ...d.kernarg, slots: state === 'recording' ? [] : this.slots() },
        ...(instructions === undefined ? {} : { instructions }),
      },
      code: {
        sha256: sha256(d.codeObject),
        bytes: d.codeObject.length,
        target: d.target,
        loadAddress: d.loadAddress,
        imageSize: d.imageSize,
        variables: d.variables,
      },
      memory: {
        mode: d.memory,
        proved,
        hasResult: d.hasResult ?? true,
        allocations: this.allocations,
        aliases: d.aliases ?? [],
        chunks,
      },
      determinism,
      annotations: [],
      unsupported: [...this.records],
    };
  }

  /** The chunks so far, in order: what `finish` will write. */
  chunks(): readonly ChunkEntry[] {
    this.entries ??= this.builtChunks();
    return this.entries;
  }

  /** Where the files are until the capture is finished. */
  get files() {
    return this.writer.files;
  }

  /** Completes the capture: it has its name afterwards. Returns its manifest hash. */
  finish(findings: Findings = {}): string {
    if (this.kernargGiven.includes(0)) {
      this.unsupported(
        'kernarg',
        'Not all bytes of the kernarg segment were captured; those that are missing read as zeros.',
      );
    }
    const manifest = this.manifest('complete', this.chunks(), findings);
    return finishCapture(this.writer, manifest, this.pages.pages, this.options.zip === true);
  }

  /** Ends without a capture; nothing is left. */
  abandon(): void {
    this.writer.abandon();
  }
}

/** Writes manifest and trailer of a capture whose other files are there, and gives it its name. */
export function finishCapture(
  writer: FolderWriter,
  manifest: Manifest,
  pages: PageWriter['pages'],
  zip: boolean,
): string {
  const text = manifestText(manifest);
  const hash = sha256(new TextEncoder().encode(text));
  writer.write(MANIFEST, text);
  writer.write(TRAILER, trailerText({ manifest: hash, pages }));
  writer.finish([MANIFEST, codeName(manifest.code.sha256), ...(pages.size > 0 ? [PACK] : []), TRAILER], zip);
  return hash;
}
