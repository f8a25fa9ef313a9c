// What a capture says: `manifest.json`, version 1. The published schema is schema/wscap-1.schema.json; this is the same as types, the
// reader that believes nothing, and the writer whose text depends on nothing but the content.
//
// A capture (`.wscap`, a folder or one ZIP of the same tree) holds
//   manifest.json            this document
//   code/SHA256              the code object, the ELF as it was loaded
//   pages.pack               memory in chunks of 64 KiB, by the SHA-256 of their content; chunks of zeros are not stored
//   trailer.json             written last: SHA-256 of the manifest, and place and codec of every page (pages.ts)
// Format 1.0 had a file pages/HH/SHA256 for each page and no section `pages`; it is read, and not written.
// A reader fails on a section of `required` that it does not know, and skips other unknown members.
import { WavesmithError } from '../base/index.ts';
import { CHUNK_BYTES } from '../device/sim/tools/index.ts';
import { Field, hex, hexBytes } from './fields.ts';
import { PACK } from './files.ts';

export const FORMAT_VERSION = '1.1';
const REQUIRED = ['dispatch', 'code', 'memory', 'pages'] as const;
const KNOWN_SECTIONS: readonly string[] = [...REQUIRED, 'determinism', 'annotations', 'unsupported'];
const MAX_ALLOCATIONS = 2 ** 20;
export const MAX_KERNARG_BYTES = 2 ** 20;
/** Most chunks of a capture: 256 GiB. */
export const MAX_CHUNKS = 2 ** 22;
const MAX_RUNS = 64;

export type Triple = readonly [number, number, number];

/** A page by the SHA-256 of its content, or `zero`. */
export type PageId = string;
export const ZERO: PageId = 'zero';

/** Bytes of a chunk: starts and ends in turn, or the page that has one bit for each byte. */
export type Mask = readonly number[] | PageId;

export const ALLOCATION_KINDS = [
  'coarse',
  'fine',
  'kernarg',
  'managed',
  'host',
  'vmem',
  'code',
  'variable',
  'queue',
  'packet',
  'scratch',
  'unknown',
] as const;
export type AllocationKind = (typeof ALLOCATION_KINDS)[number];

/** An allocation of the captured program. `code` is the image of the code object. */
export interface CaptureAllocation {
  readonly address: number;
  /** Of all of it, however few chunks are stored. */
  readonly size: number;
  readonly kind: AllocationKind;
  readonly flags: readonly string[];
  /** The call that made it, as far as it is known. */
  readonly provenance: string;
  readonly label: string;
}

/** A part of an allocation's memory. */
export interface ChunkEntry {
  /** Number of the allocation. */
  readonly allocation: number;
  /** Number of the chunk in it. */
  readonly index: number;
  /** Before the dispatch; absent when nobody may read it. */
  readonly pre?: PageId | undefined;
  /** After it; absent when it is as before. */
  readonly post?: PageId | undefined;
  /** Bytes of `pre` that are known; absent for all. */
  readonly known?: Mask | undefined;
  /** Bytes that the dispatch reads before it writes them; absent when that is not known. */
  readonly reads?: Mask | undefined;
  /** Bytes that it writes; absent when that is not known. */
  readonly writes?: Mask | undefined;
}

/** A mapping of an allocation at another address. */
export interface CaptureAlias {
  readonly address: number;
  readonly size: number;
  /** The address of the same bytes in an allocation. */
  readonly source: number;
}

export interface KernargSlot {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  /** `.value_kind` of the metadata; hidden arguments begin with `hidden_`. */
  readonly kind: string;
  readonly bytes: Uint8Array;
  /** The allocation that its 8 bytes point into. */
  readonly points?: { readonly allocation: number; readonly offset: number } | undefined;
}

export interface DispatchSection {
  /** Name of the kernel, without `.kd`. */
  readonly kernel: string;
  /** Number of the dispatch in its program, from 0. */
  readonly sequence: number;
  /** In work-items. */
  readonly gridWorkItems: Triple;
  readonly block: Triple;
  /** Bytes of LDS. */
  readonly staticLds: number;
  readonly dynamicLds: number;
  /** Bytes of scratch of a work-item. */
  readonly scratch: number;
  /** The AQL packet's 64 bytes and where they lay; its memory is among the allocations when the kernel reads it. */
  readonly packet: { readonly address: number; readonly bytes: Uint8Array };
  /** Address of the amd_queue_t; null when it is not known. */
  readonly queue: number | null;
  readonly kernarg: { readonly address: number; readonly size: number; readonly slots: readonly KernargSlot[] };
  /** Instructions of all waves, counted by the virtual GPU; absent when it did not count them, or when they depend on time. */
  readonly instructions?: number | undefined;
}

export interface CodeSection {
  readonly sha256: string;
  readonly bytes: number;
  /** `gfx942:sramecc+:xnack-` */
  readonly target: string;
  /** Address of the code object's virtual address 0. */
  readonly loadAddress: number;
  readonly imageSize: number;
  readonly variables: readonly { readonly name: string; readonly address: number; readonly size: number }[];
}

/** Bytes whose value depends on the order of workgroups and waves. */
export interface VaryingRange {
  readonly address: number;
  readonly bytes: number;
}

export interface DeterminismSection {
  /** The orders that were run: `ascending`, `descending`, `seed 1`; outcome `same`, `varies`, or why it did not finish. */
  readonly runs: readonly { readonly order: string; readonly outcome: string }[];
  readonly varying: readonly VaryingRange[];
}

/** Something about a buffer that the machine code does not say. */
export interface Annotation {
  readonly address: number;
  readonly elementType: string;
  readonly shape: readonly number[];
  readonly name: string;
  /** Relative tolerance of a comparison; undefined for the type's own; 0 for equal bits. */
  readonly tolerance?: number | undefined;
}

export interface UnsupportedRecord {
  readonly what: string;
  readonly message: string;
}

export type MemoryMode = 'touched' | 'reachable' | 'full';

export interface MemorySection {
  readonly mode: MemoryMode;
  /** True when a replay with everything else unreadable gave the same result. */
  readonly proved: boolean;
  /** Whether the state after the dispatch is in the capture; false of imported ones. */
  readonly hasResult: boolean;
  readonly allocations: readonly CaptureAllocation[];
  readonly aliases: readonly CaptureAlias[];
  /** Sorted by allocation and index. */
  readonly chunks: readonly ChunkEntry[];
}

export interface Manifest {
  readonly producer: { readonly name: string; readonly version: string; readonly device: string };
  /** `recording`: the capture was begun and not finished. */
  readonly state: 'complete' | 'recording';
  readonly dispatch: DispatchSection;
  readonly code: CodeSection;
  readonly memory: MemorySection;
  readonly determinism: DeterminismSection | null;
  readonly annotations: readonly Annotation[];
  readonly unsupported: readonly UnsupportedRecord[];
}

/** The text of a manifest: the same for the same content. */
export function manifestText(manifest: Manifest): string {
  const { dispatch, code, memory, determinism } = manifest;
  const document = {
    format: 'wscap',
    formatVersion: FORMAT_VERSION,
    required: REQUIRED,
    state: manifest.state,
    producer: manifest.producer,
    dispatch: {
      ...dispatch,
      packet: { address: hex(dispatch.packet.address), bytes: hexBytes(dispatch.packet.bytes) },
      queue: dispatch.queue === null ? null : hex(dispatch.queue),
      kernarg: {
        address: hex(dispatch.kernarg.address),
        size: dispatch.kernarg.size,
        slots: dispatch.kernarg.slots.map((slot) => ({ ...slot, bytes: hexBytes(slot.bytes) })),
      },
    },
    code: {
      ...code,
      loadAddress: hex(code.loadAddress),
      variables: code.variables.map((v) => ({ ...v, address: hex(v.address) })),
    },
    memory: {
      mode: memory.mode,
      proved: memory.proved,
      hasResult: memory.hasResult,
      chunkBytes: CHUNK_BYTES,
      allocations: memory.allocations.map((a) => ({ ...a, address: hex(a.address) })),
      aliases: memory.aliases.map((a) => ({ ...a, address: hex(a.address), source: hex(a.source) })),
      chunks: memory.chunks,
    },
    pages: { file: PACK },
    determinism:
      determinism === null
        ? null
        : { runs: determinism.runs, varying: determinism.varying.map((v) => ({ ...v, address: hex(v.address) })) },
    annotations: manifest.annotations.map((a) => ({ ...a, address: hex(a.address) })),
    unsupported: manifest.unsupported,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Reads a manifest. What is wrong with it is `capture/bad-manifest`; a newer version is `capture/version`. */
export function readManifest(bytes: Uint8Array): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new WavesmithError('capture/bad-manifest', 'manifest.json is not JSON.', { cause });
  }
  const root = new Field(json, '');
  if (root.at('format').value !== 'wscap') throw root.at('format').bad("is not 'wscap'");
  const version = root.at('formatVersion').matching(/^\d{1,4}\.\d{1,4}$/, 'a version');
  if (!version.startsWith('1.')) {
    throw new WavesmithError(
      'capture/version',
      `The capture has format version ${version}; this Wavesmith reads 1.x.`,
      {
        hint: 'Use a newer Wavesmith.',
      },
    );
  }
  for (const section of root.at('required').list(64, (one) => one.text(100))) {
    if (KNOWN_SECTIONS.includes(section)) continue;
    throw new WavesmithError('capture/version', `The capture needs a reader that knows its section '${section}'.`, {
      hint: 'Use a newer Wavesmith.',
    });
  }
  root.at('pages').optional((one) => one.at('file').oneOf([PACK]));
  const producer = root.at('producer');
  const manifest: Manifest = {
    state: root.at('state').oneOf(['complete', 'recording']),
    producer: {
      name: producer.at('name').text(200),
      version: producer.at('version').text(200),
      device: producer.at('device').text(200),
    },
    dispatch: readDispatch(root.at('dispatch')),
    code: readCode(root.at('code')),
    memory: readMemory(root.at('memory')),
    determinism: root.at('determinism').optional(readDeterminism) ?? null,
    annotations: root.at('annotations').optional((f) => f.list(65536, readAnnotation)) ?? [],
    unsupported:
      root
        .at('unsupported')
        .optional((f) =>
          f.list(65536, (one) => ({ what: one.at('what').text(200), message: one.at('message').text() })),
        ) ?? [],
  };
  checkPlaces(root, manifest);
  return manifest;
}

function readDispatch(f: Field): DispatchSection {
  const kernarg = f.at('kernarg');
  const packet = f.at('packet');
  const bytes = packet.at('bytes').bytes(64);
  if (bytes.length !== 64) throw packet.at('bytes').bad('does not have 64 bytes');
  return {
    kernel: f.at('kernel').text(),
    sequence: f.at('sequence').whole(),
    gridWorkItems: f.at('gridWorkItems').triple(0xffffffff),
    block: f.at('block').triple(0xffff),
    staticLds: f.at('staticLds').whole(2 ** 24),
    dynamicLds: f.at('dynamicLds').whole(2 ** 24),
    scratch: f.at('scratch').whole(2 ** 24),
    packet: { address: packet.at('address').address(), bytes },
    queue: f.at('queue').optional((q) => q.address()) ?? null,
    kernarg: {
      address: kernarg.at('address').address(),
      size: kernarg.at('size').whole(MAX_KERNARG_BYTES),
      slots: kernarg.at('slots').list(65536, readSlot),
    },
    instructions: f.at('instructions').optional((n) => n.whole()),
  };
}

function readSlot(f: Field): KernargSlot {
  return {
    name: f.at('name').text(),
    offset: f.at('offset').whole(2 ** 20),
    size: f.at('size').whole(2 ** 20),
    kind: f.at('kind').text(200),
    bytes: f.at('bytes').bytes(2 ** 20),
    points: f.at('points').optional((p) => ({
      allocation: p.at('allocation').whole(MAX_ALLOCATIONS),
      offset: p.at('offset').whole(),
    })),
  };
}

function readCode(f: Field): CodeSection {
  return {
    sha256: f.at('sha256').sha256(),
    bytes: f.at('bytes').whole(2 ** 31),
    target: f.at('target').matching(/^gfx[0-9a-f]{3,4}[a-z0-9:+-]{0,60}$/, 'a target id'),
    loadAddress: f.at('loadAddress').address(),
    imageSize: f.at('imageSize').whole(2 ** 32),
    variables: f.at('variables').list(2 ** 20, (v) => ({
      name: v.at('name').text(),
      address: v.at('address').address(),
      size: v.at('size').whole(2 ** 40),
    })),
  };
}

function readMemory(f: Field): MemorySection {
  if (f.at('chunkBytes').whole() !== CHUNK_BYTES) throw f.at('chunkBytes').bad(`is not ${CHUNK_BYTES}`);
  return {
    mode: f.at('mode').oneOf(['touched', 'reachable', 'full']),
    proved: f.at('proved').flag(),
    hasResult: f.at('hasResult').optional((one) => one.flag()) ?? true,
    allocations: f.at('allocations').list(MAX_ALLOCATIONS, (a) => ({
      address: a.at('address').address(),
      size: a.at('size').whole(2 ** 48),
      kind: a.at('kind').oneOf(ALLOCATION_KINDS),
      flags: a.at('flags').list(64, (flag) => flag.text(200)),
      provenance: a.at('provenance').text(),
      label: a.at('label').text(),
    })),
    aliases: f.at('aliases').list(MAX_ALLOCATIONS, (a) => ({
      address: a.at('address').address(),
      size: a.at('size').whole(2 ** 48, 1),
      source: a.at('source').address(),
    })),
    chunks: f.at('chunks').list(MAX_CHUNKS, readChunk),
  };
}

function readChunk(f: Field): ChunkEntry {
  const page = (one: Field): PageId => one.matching(/^(zero|[0-9a-f]{64})$/, 'a page');
  const mask = (one: Field): Mask => {
    if (typeof one.value === 'string') return one.sha256();
    const runs = one.list(2 * MAX_RUNS, (end) => end.whole(CHUNK_BYTES));
    const isSorted = runs.every((end, i) => i === 0 || end > (runs[i - 1] as number));
    if (runs.length % 2 !== 0 || !isSorted) throw one.bad('is not a list of growing starts and ends');
    return runs;
  };
  return {
    allocation: f.at('allocation').whole(MAX_ALLOCATIONS),
    index: f.at('index').whole(2 ** 32),
    pre: f.at('pre').optional(page),
    post: f.at('post').optional(page),
    known: f.at('known').optional(mask),
    reads: f.at('reads').optional(mask),
    writes: f.at('writes').optional(mask),
  };
}

function readDeterminism(f: Field): DeterminismSection {
  return {
    runs: f.at('runs').list(1000, (r) => ({ order: r.at('order').text(100), outcome: r.at('outcome').text() })),
    varying: f.at('varying').list(2 ** 20, (v) => ({
      address: v.at('address').address(),
      bytes: v.at('bytes').whole(2 ** 40, 1),
    })),
  };
}

function readAnnotation(f: Field): Annotation {
  return {
    address: f.at('address').address(),
    elementType: f.at('elementType').text(40),
    shape: f.at('shape').list(16, (n) => n.whole(2 ** 40)),
    name: f.at('name').text(1000),
    tolerance: f.at('tolerance').optional((t) => t.number()),
  };
}

/** Bytes of a chunk: as many as are left of its allocation. */
export function chunkLength({ size }: CaptureAllocation, index: number): number {
  return Math.min(CHUNK_BYTES, size - index * CHUNK_BYTES);
}

/** Checks what fields say about each other: places inside of allocations, allocations beside each other. */
function checkPlaces(root: Field, { dispatch, memory }: Manifest): void {
  const { allocations, chunks } = memory;
  const list = root.at('memory').at('allocations');
  const order = allocations.map((a, i) => ({ ...a, i })).sort((a, b) => a.address - b.address);
  order.forEach(({ address, size, i }, n) => {
    const next = order[n + 1];
    if (address + size > Number.MAX_SAFE_INTEGER) throw new Field(0, `${list.path}[${i}]`).bad('ends beyond 2^53');
    if (next !== undefined && address + size > next.address) {
      throw new Field(0, `${list.path}[${next.i}]`).bad(`overlaps allocation ${i}`);
    }
  });
  let last = -1;
  let lastIndex = -1;
  chunks.forEach((chunk, i) => {
    const f = new Field(chunk, `memory.chunks[${i}]`);
    const allocation = allocations[chunk.allocation];
    if (allocation === undefined) throw f.bad(`names allocation ${chunk.allocation}, which does not exist`);
    if (chunkLength(allocation, chunk.index) <= 0) throw f.bad('lies beyond its allocation');
    const isNext = chunk.allocation > last || (chunk.allocation === last && chunk.index > lastIndex);
    if (!isNext) throw f.bad('is not in order');
    last = chunk.allocation;
    lastIndex = chunk.index;
  });
  for (const slot of dispatch.kernarg.slots) {
    if (slot.offset + slot.size > dispatch.kernarg.size || slot.bytes.length !== slot.size) {
      throw root
        .at('dispatch')
        .at('kernarg')
        .bad(`has an argument '${slot.name.slice(0, 40)}' outside of its ${dispatch.kernarg.size} bytes`);
    }
  }
}
