// An opened capture: its manifest, and its memory by address.
import { inFile, WavesmithError } from '../base/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { type CaptureFiles, codeName, MANIFEST, openFiles, TRAILER } from './files.ts';
import {
  type CaptureAllocation,
  type ChunkEntry,
  chunkLength,
  type Manifest,
  type Mask,
  manifestText,
  readManifest,
  ZERO,
} from './manifest.ts';
import { flagsOf } from './masks.ts';
import { hasPage, type PageSource, readTrailer, type StoredPage, StoredPages, sha256 } from './pages.ts';

/** A chunk of a capture's memory. Contents are read, and checked, when they are asked for. */
export class Chunk {
  readonly entry: ChunkEntry;
  readonly allocation: CaptureAllocation;
  readonly address: number;
  readonly length: number;
  private readonly pages: PageSource;

  constructor(entry: ChunkEntry, allocation: CaptureAllocation, pages: PageSource) {
    this.entry = entry;
    this.allocation = allocation;
    this.address = allocation.address + entry.index * CHUNK_BYTES;
    this.length = chunkLength(allocation, entry.index);
    this.pages = pages;
  }

  /** Before the dispatch; undefined when that is not in the capture. */
  pre(): Uint8Array | undefined {
    const { pre } = this.entry;
    return pre === undefined ? undefined : this.pages.page(pre, this.length);
  }
  /** After it; undefined when it is as before. */
  post(): Uint8Array | undefined {
    const { post } = this.entry;
    return post === undefined ? undefined : this.pages.page(post, this.length);
  }
  private flags(mask: Mask | undefined): Uint8Array | undefined {
    if (mask === undefined) return undefined;
    return this.pages.flags?.(mask, this.length) ?? flagsOf(mask, this.length, this.pages);
  }
  /** One flag for each byte of `pre` that is known; undefined for all. */
  known(): Uint8Array | undefined {
    return this.flags(this.entry.known);
  }
  /** One flag for each byte; undefined when nobody knows. */
  reads(): Uint8Array | undefined {
    return this.flags(this.entry.reads);
  }
  writes(): Uint8Array | undefined {
    return this.flags(this.entry.writes);
  }
}

/** An opened capture. */
export interface Capture {
  readonly path: string;
  readonly manifest: Manifest;
  readonly chunks: readonly Chunk[];
  /** What is missing of an incomplete one, one sentence each; empty when it is complete. */
  readonly missing: readonly string[];
  /** The pages and how they are stored; empty without a trailer. */
  readonly stored: ReadonlyMap<string, StoredPage>;
  readonly pages: PageSource;
  /** SHA-256 of manifest.json: of everything the capture says. */
  readonly hash: string;
  /**
   * SHA-256 of what the dispatch is: of the manifest without the packet's place in its queue, its number and the signal that it completes, which depend on
   * what the host's threads sent just before.
   */
  identity(): string;
  /** The code object, checked against its hash. */
  codeObject(): Uint8Array;
}

/** What a capture is opened for. */
export interface OpenOptions {
  /** Opens an incomplete capture too, as far as its manifest goes. */
  readonly allowIncomplete?: boolean | undefined;
}

/**
 * Opens a capture: a folder or a ZIP. One whose recording was interrupted is `capture/incomplete` and says what is missing; what was changed
 * since is `capture/damaged`; a manifest that makes no sense is `capture/bad-manifest`. Contents of memory are checked when they are read.
 */
export function openCapture(path: string, options: OpenOptions = {}): Capture {
  return readCapture(openFiles(path), options);
}

/** Every page that a manifest names. */
export function pageIds({ memory }: Manifest): Set<string> {
  const ids = new Set<string>();
  for (const { pre, post, known, reads, writes } of memory.chunks) {
    for (const id of [pre, post, known, reads, writes]) if (typeof id === 'string' && id !== ZERO) ids.add(id);
  }
  return ids;
}

/** The capture in some files; its pages from elsewhere when `source` is given. */
export function readCapture(
  files: CaptureFiles,
  { allowIncomplete = false }: OpenOptions = {},
  source?: PageSource,
): Capture {
  const { path } = files;
  const text = files.read(MANIFEST);
  if (text === undefined) {
    throw new WavesmithError('capture/incomplete', `'${path}' holds no ${MANIFEST}.`, {
      file: path,
      hint: 'Nothing was recorded yet, or it is no capture.',
    });
  }
  const manifest = inFile(path, () => readManifest(text));
  const hash = sha256(text);
  const end = files.read(TRAILER);
  const trailer = end === undefined ? undefined : inFile(path, () => readTrailer(end));
  const missing = missingParts(files, manifest, trailer?.pages, source !== undefined);
  if (trailer !== undefined && trailer.manifest !== hash) {
    throw new WavesmithError('capture/damaged', `${MANIFEST} of '${path}' is not the one that its trailer names.`, {
      file: path,
      hint: 'The capture was changed after it was written.',
    });
  }
  if (missing.length > 0 && !allowIncomplete) {
    throw new WavesmithError('capture/incomplete', `'${path}' is incomplete: ${missing.join(' ')}`, {
      file: path,
      hint: 'Its recording was interrupted; record it again.',
    });
  }
  const stored: ReadonlyMap<string, StoredPage> = trailer?.pages ?? new Map();
  const pages = source ?? new StoredPages(files, stored);
  const chunks = manifest.memory.chunks.map(
    (entry) => new Chunk(entry, manifest.memory.allocations[entry.allocation] as CaptureAllocation, pages),
  );
  let identity: string | undefined;
  return {
    path,
    manifest,
    chunks,
    missing,
    stored,
    pages,
    hash,
    identity: () => {
      identity ??= sha256(new TextEncoder().encode(manifestText(withoutQueue(manifest))));
      return identity;
    },
    codeObject: () => readCode(files, manifest),
  };
}

/** Where an AQL packet has its second reserved field, by which HIP knows it again, and behind it the completion signal (HSA 2.9). */
const RESERVED = 48;

function withoutQueue(manifest: Manifest): Manifest {
  const { dispatch } = manifest;
  const bytes = dispatch.packet.bytes.slice().fill(0, RESERVED);
  return { ...manifest, dispatch: { ...dispatch, packet: { address: 0, bytes } } };
}

function missingParts(
  files: CaptureFiles,
  manifest: Manifest,
  stored: ReadonlyMap<string, StoredPage> | undefined,
  hasPages: boolean,
): string[] {
  const missing: string[] = [];
  if (manifest.state === 'recording') {
    missing.push('The recording did not come to its end: its memory is not, or not all, in it.');
  }
  if (stored === undefined) missing.push('Its trailer is missing, which says where its pages are.');
  if (files.size(codeName(manifest.code.sha256)) === undefined) missing.push('Its code object is missing.');
  if (stored === undefined || hasPages) return missing;
  const ids = pageIds(manifest);
  let absent = 0;
  for (const id of ids) if (!hasPage(files, id, stored.get(id))) absent++;
  if (absent > 0) missing.push(`${absent} of its ${ids.size} pages are missing.`);
  return missing;
}

function readCode(files: CaptureFiles, { code }: Manifest): Uint8Array {
  const bytes = files.read(codeName(code.sha256));
  if (bytes === undefined || bytes.length !== code.bytes || sha256(bytes) !== code.sha256) {
    throw new WavesmithError('capture/damaged', `The code object of '${files.path}' is not what its name says.`, {
      file: files.path,
      hint: 'The capture was changed or damaged after it was written; record it again.',
    });
  }
  return bytes;
}
