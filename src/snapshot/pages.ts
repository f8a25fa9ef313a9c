// Pages: memory by the SHA-256 of its content, each packed by a codec that the trailer names.
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { WavesmithError } from '../base/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { Field } from './fields.ts';
import { type CaptureFiles, type FolderWriter, PACK, pageName } from './files.ts';
import { type Mask, type PageId, ZERO } from './manifest.ts';

/**
 * Level 6 shrinks tensors by 2 to 4 percent more than level 1 and takes three times as long (`../shared/notes/replay.md`, section 3). Of a page
 * that is mostly zeros it takes less time (0.56 ms, level 1: 0.86 ms, with 4 KiB of noise) and shrinks differences to the half.
 */
const DENSE_LEVEL = 1;
const SPARSE_LEVEL = 6;
/** Bytes of a page that are looked at to tell which it is. */
const SAMPLES = 256;
/** Zeros at the end of a page are left out in steps of so many bytes. */
const STEP = 256;
const zeros = Buffer.alloc(CHUNK_BYTES);
/** A page that would not shrink to this share is stored as it is. */
const WORTH = 0.9;

/** `delta`: deflated exclusive or with another page, its `base`, which is stored without one. */
export type Codec = 'raw' | 'deflate' | 'delta';

/** How a page is stored. */
export interface StoredPage {
  /** Of its content. */
  readonly bytes: number;
  /** As it is stored. */
  readonly stored: number;
  /** Where it is in the file of pages; of format 1.0 every page is a file. */
  readonly at?: number | undefined;
  readonly codec: Codec;
  /** Of a delta. */
  readonly base?: string | undefined;
}

/** A page that another one is like: the state before a dispatch, of the state after it. */
export interface BasePage {
  readonly id: PageId;
  readonly bytes: Uint8Array;
}

/** Each byte of one page changed by the byte of the other. */
function exclusiveOr(a: Uint8Array, b: Uint8Array): Uint8Array {
  const out = new Uint8Array(a);
  const words = b.byteOffset % 4 === 0 ? out.length >>> 2 : 0;
  const to = new Uint32Array(out.buffer, 0, words);
  const from = new Uint32Array(b.buffer, words === 0 ? 0 : b.byteOffset, words);
  for (let i = 0; i < words; i++) to[i] = (to[i] as number) ^ (from[i] as number);
  for (let i = 4 * words; i < out.length; i++) out[i] = (out[i] as number) ^ (b[i] as number);
  return out;
}

/** Without the zeros at its end: a reader adds them. */
function trimmed(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end >= STEP && zeros.compare(bytes, end - STEP, end, 0, STEP) === 0) end -= STEP;
  return bytes.subarray(0, end);
}

function pack(page: Uint8Array): Uint8Array {
  const bytes = trimmed(page);
  let empty = 0;
  for (let n = 0; n < SAMPLES; n++) if (bytes[Math.floor((n * bytes.length) / SAMPLES)] === 0) empty++;
  return deflateRawSync(bytes, { level: 2 * empty > SAMPLES ? SPARSE_LEVEL : DENSE_LEVEL });
}

/** `trailer.json`: the last file of a capture. Without it the capture is incomplete. */
export interface Trailer {
  /** SHA-256 of manifest.json. */
  readonly manifest: string;
  readonly pages: ReadonlyMap<string, StoredPage>;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Whether all bytes of a chunk are zero. */
export function isZero(bytes: Uint8Array): boolean {
  return bytes.length <= CHUNK_BYTES && zeros.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;
}

/** Where the pages of a capture come from. */
export interface PageSource {
  /** The content of a page of this length. One that is missing or not what its name says is `capture/damaged`. */
  page(id: PageId, length: number): Uint8Array;
  /** One flag for each byte of a mask, when the source keeps such. */
  flags?(mask: Mask, length: number): Uint8Array;
}

/** Stores pages as they come. */
export class PageWriter {
  readonly pages = new Map<string, StoredPage>();
  /** What was stored, when somebody who has it in memory anyway wants to read it again soon. */
  kept: Map<string, Uint8Array> | undefined;
  private readonly writer: FolderWriter;

  constructor(writer: FolderWriter) {
    this.writer = writer;
  }

  put(bytes: Uint8Array, base?: BasePage): PageId {
    if (isZero(bytes)) return ZERO;
    return this.store(bytes, base);
  }

  /** The same for content that is not memory: zeros are stored too. */
  store(bytes: Uint8Array, base?: BasePage): string {
    const id = sha256(bytes);
    if (this.pages.has(id)) return id;
    this.kept?.set(id, bytes);
    if (base !== undefined && this.storeDelta(id, bytes, base)) return id;
    const packed = pack(bytes);
    const isWorth = packed.length <= WORTH * bytes.length;
    const stored = isWorth ? packed : bytes;
    const at = this.writer.writePage(stored);
    this.pages.set(id, { bytes: bytes.length, stored: stored.length, at, codec: isWorth ? 'deflate' : 'raw' });
    return id;
  }

  /** Stores what differs from a page that is stored as it is, when that is little. */
  private storeDelta(id: string, bytes: Uint8Array, base: BasePage): boolean {
    const stored = this.pages.get(base.id);
    if (stored === undefined || stored.codec === 'delta' || base.bytes.length !== bytes.length) return false;
    const packed = pack(exclusiveOr(bytes, base.bytes));
    if (packed.length > WORTH * stored.stored) return false;
    const at = this.writer.writePage(packed);
    this.pages.set(id, { bytes: bytes.length, stored: packed.length, at, codec: 'delta', base: base.id });
    return true;
  }
}

/** The text of trailer.json: the same for the same pages. */
export function trailerText({ manifest, pages }: Trailer): string {
  const sorted = [...pages.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  const document = { format: 'wscap-trailer', manifest, count: pages.size, pages: Object.fromEntries(sorted) };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Reads a trailer; what is wrong with it is `capture/bad-manifest`. */
export function readTrailer(bytes: Uint8Array): Trailer {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new WavesmithError('capture/bad-manifest', 'trailer.json is not JSON.', { cause });
  }
  const root = new Field(json, '');
  if (root.at('format').value !== 'wscap-trailer') throw root.at('format').bad("is not 'wscap-trailer'");
  const table = root.at('pages');
  const pages = new Map<string, StoredPage>();
  for (const id of Object.keys(table.value ?? {})) {
    const page = table.at(id);
    if (!/^[0-9a-f]{64}$/.test(id)) throw table.bad('has a page whose name is no SHA-256');
    pages.set(id, {
      bytes: page.at('bytes').whole(CHUNK_BYTES),
      stored: page.at('stored').whole(CHUNK_BYTES),
      at: page.at('at').optional((one) => one.whole()),
      codec: page.at('codec').oneOf(['raw', 'deflate', 'delta']),
      base: page.at('base').optional((one) => one.sha256()),
    });
  }
  if (root.at('count').whole() !== pages.size) throw root.at('count').bad(`is not the number of pages, ${pages.size}`);
  return { manifest: root.at('manifest').sha256(), pages };
}

/** Pages that were kept in memory. */
export function keptPages(kept: ReadonlyMap<string, Uint8Array>): PageSource {
  return {
    page: (id, length) => {
      const bytes = id === ZERO ? new Uint8Array(length) : kept.get(id);
      if (bytes?.length === length) return bytes;
      throw new WavesmithError('capture/damaged', `Page ${id.slice(0, 16)}… was not kept.`);
    },
  };
}

/** The bytes with zeros up to a length; no Buffer, whose slices are not copies. */
function padded(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length >= length) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const out = new Uint8Array(length);
  out.set(bytes);
  return out;
}

/** Whether the file that a page is in goes as far as the page. */
export function hasPage(files: CaptureFiles, id: string, info: StoredPage | undefined): boolean {
  if (info?.at === undefined) return files.size(pageName(id)) !== undefined;
  return info.at + info.stored <= (files.size(PACK) ?? 0);
}

/** The pages in the files of a capture. */
export class StoredPages implements PageSource {
  private readonly files: CaptureFiles;
  private readonly pages: ReadonlyMap<string, StoredPage>;

  constructor(files: CaptureFiles, pages: ReadonlyMap<string, StoredPage>) {
    this.files = files;
    this.pages = pages;
  }

  private damaged(id: PageId, message: string): WavesmithError {
    return new WavesmithError('capture/damaged', `Page ${id.slice(0, 16)}… ${message}.`, {
      file: this.files.path,
      hint: 'The capture was changed or damaged after it was written; record it again.',
    });
  }

  page(id: PageId, length: number): Uint8Array {
    if (id === ZERO) return new Uint8Array(length);
    const info = this.pages.get(id);
    if (info === undefined) throw this.damaged(id, 'is missing');
    if (info.bytes !== length) throw this.damaged(id, 'has another length than its chunk');
    const { at, stored } = info;
    const file = at === undefined ? this.files.read(pageName(id)) : this.files.readPart(PACK, at, stored);
    if (file === undefined) throw this.damaged(id, 'is missing');
    let bytes = file;
    if (info.codec !== 'raw') {
      try {
        bytes = padded(inflateRawSync(file, { maxOutputLength: CHUNK_BYTES }), info.bytes);
      } catch {
        throw this.damaged(id, 'cannot be unpacked');
      }
    }
    if (info.codec === 'delta') {
      const base = this.pages.get(info.base ?? '');
      if (base === undefined || base.codec === 'delta' || bytes.length !== base.bytes)
        throw this.damaged(id, 'has no page that it is the difference from');
      bytes = exclusiveOr(bytes, this.page(info.base as string, base.bytes));
    }
    if (sha256(bytes) !== id) throw this.damaged(id, 'is not what its name says');
    return bytes;
  }
}
