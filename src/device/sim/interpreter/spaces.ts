// Address spaces: where the bytes of global, LDS, scratch, flat and buffer accesses are. Every access is checked.
// Sources: AMD CDNA3 ISA, "Flat Memory Instructions", "Memory Buffer Addressing", "Range checking"; LLVM AMDGPUUsage, "Flat Scratch".

import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { MemoryFault } from '../state/region.ts';
import { FLAT_SCRATCH, LANES, type Wave } from '../state/wave.ts';

/** Reads and writes 1, 2 or 4 bytes at an address of its space, as raw unsigned (1, 2) or signed (4) numbers. */
export interface Space {
  load(w: Wave, address: number, bytes: number): number;
  store(w: Wave, address: number, bytes: number, value: number): void;
  /** Stores 1 or 2 words if memory still holds `old`; false when another thread has changed it. For atomics. */
  replace(w: Wave, address: number, words: number, old: Int32Array, next: Int32Array): boolean;
}

function loadView(view: DataView, at: number, bytes: number): number {
  return bytes === 4 ? view.getInt32(at, true) : bytes === 1 ? view.getUint8(at) : view.getUint16(at, true);
}
function storeView(view: DataView, at: number, bytes: number, value: number): void {
  if (bytes === 4) view.setInt32(at, value, true);
  else if (bytes === 1) view.setUint8(at, value);
  else view.setUint16(at, value, true);
}

/** Reads physical device memory. */
export function loadGlobal(memory: DeviceMemory, address: number, bytes: number): number {
  const region = memory.access(address, bytes, false);
  return loadView(region.view, address - region.base, bytes);
}
export function storeGlobal(memory: DeviceMemory, address: number, bytes: number, value: number): void {
  const region = memory.access(address, bytes, true);
  storeView(region.view, address - region.base, bytes, value);
}

/** `replace` of spaces that belong to one thread. */
function replaceAlone(store: Space['store']): Space['replace'] {
  return (w, address, words, _old, next) => {
    for (let n = 0; n < words; n++) store(w, address + 4 * n, 4, next[n] as number);
    return true;
  };
}

/** Stores 1 or 2 words if memory still holds `old`. */
export function replaceGlobal(
  memory: DeviceMemory,
  address: number,
  words: number,
  old: Int32Array,
  next: Int32Array,
): boolean {
  const bytes = 4 * words;
  if (memory.isShared && address % bytes === 0) {
    return memory.compareExchange(memory.translate(address, bytes, true), words, old, next);
  }
  for (let n = 0; n < words; n++) storeGlobal(memory, address + 4 * n, 4, next[n] as number);
  return true;
}

export const globalSpace: Space = {
  load: (w, address, bytes) => loadGlobal(w.memory, address, bytes),
  store: (w, address, bytes, value) => storeGlobal(w.memory, address, bytes, value),
  replace: (w, address, words, old, next) => replaceGlobal(w.memory, address, words, old, next),
};

function storeLds(w: Wave, address: number, bytes: number, value: number): void {
  w.workgroup.checkLds(address, bytes, true);
  storeView(w.workgroup.ldsView, address, bytes, value);
}
export const ldsSpace: Space = {
  load: (w, address, bytes) => {
    w.workgroup.checkLds(address, bytes, false);
    return loadView(w.workgroup.ldsView, address, bytes);
  },
  store: storeLds,
  replace: replaceAlone(storeLds),
};

/** Physical address of a byte of the current lane's scratch. */
export function scratchAddress(w: Wave, offset: number): number {
  return w.address(FLAT_SCRATCH) + Math.floor(offset / 4) * 4 * LANES + w.lane * 4 + (offset & 3);
}
function checkScratch(w: Wave, offset: number, bytes: number, isWrite: boolean): void {
  if (!(offset >= 0 && offset + bytes <= w.workgroup.dispatch.scratchPerLane)) {
    throw new MemoryFault('scratch', offset, bytes, isWrite);
  }
}
function storeScratch(w: Wave, offset: number, bytes: number, value: number): void {
  checkScratch(w, offset, bytes, true);
  if ((offset & 3) + bytes <= 4) storeGlobal(w.memory, scratchAddress(w, offset), bytes, value);
  else for (let n = 0; n < bytes; n++) storeGlobal(w.memory, scratchAddress(w, offset + n), 1, value >>> (8 * n));
}
export const scratchSpace: Space = {
  load: (w, offset, bytes) => {
    checkScratch(w, offset, bytes, false);
    if ((offset & 3) + bytes <= 4) return loadGlobal(w.memory, scratchAddress(w, offset), bytes);
    let value = 0;
    for (let n = 0; n < bytes; n++) value |= loadGlobal(w.memory, scratchAddress(w, offset + n), 1) << (8 * n);
    return value;
  },
  store: storeScratch,
  replace: replaceAlone(storeScratch),
};

/** Flat addresses: the high word selects the LDS or scratch aperture, everything else is global. */
export const flatSpace: Space = {
  load: (w, address, bytes) => {
    const high = Math.floor(address / 4294967296);
    if (high === SHARED_APERTURE_HIGH) return ldsSpace.load(w, address % 4294967296, bytes);
    if (high === PRIVATE_APERTURE_HIGH) return scratchSpace.load(w, address % 4294967296, bytes);
    return globalSpace.load(w, address, bytes);
  },
  store: (w, address, bytes, value) => {
    const high = Math.floor(address / 4294967296);
    if (high === SHARED_APERTURE_HIGH) ldsSpace.store(w, address % 4294967296, bytes, value);
    else if (high === PRIVATE_APERTURE_HIGH) scratchSpace.store(w, address % 4294967296, bytes, value);
    else globalSpace.store(w, address, bytes, value);
  },
  replace: (w, address, words, old, next) => {
    const high = Math.floor(address / 4294967296);
    const space =
      high === SHARED_APERTURE_HIGH ? ldsSpace : high === PRIVATE_APERTURE_HIGH ? scratchSpace : globalSpace;
    const at = space === globalSpace ? address : address % 4294967296;
    return space.replace(w, at, words, old, next);
  },
};

/** Fields of a buffer resource descriptor (V#). */
export interface BufferResource {
  readonly base: number;
  readonly stride: number;
  readonly swizzle: boolean;
  readonly records: number;
  readonly indexStride: number;
  readonly addThreadId: boolean;
  readonly numberFormat: number;
  readonly dataFormat: number;
  /** Selectors of the four components: 0 zero, 1 one, 4–7 x–w. */
  readonly select: readonly [number, number, number, number];
}

/** Reads a V# from four scalar registers. */
export function readResource(w: Wave, at: number): BufferResource {
  const word0 = (w.sgprs[at] as number) >>> 0;
  const word1 = (w.sgprs[at + 1] as number) >>> 0;
  const word3 = (w.sgprs[at + 3] as number) >>> 0;
  return {
    base: (word1 & 0xffff) * 4294967296 + word0,
    stride: (word1 >>> 16) & 0x3fff,
    swizzle: word1 >>> 31 !== 0,
    records: (w.sgprs[at + 2] as number) >>> 0,
    select: [word3 & 7, (word3 >>> 3) & 7, (word3 >>> 6) & 7, (word3 >>> 9) & 7],
    numberFormat: (word3 >>> 12) & 7,
    dataFormat: (word3 >>> 15) & 15,
    indexStride: 8 << ((word3 >>> 21) & 3),
    addThreadId: ((word3 >>> 23) & 1) !== 0,
  };
}

/**
 * Address of a byte of a buffer, or -1 when the access is out of range (loads give zero, stores are dropped).
 * `vindex` is undefined without idxen. Indexed access to a structured buffer checks the index against num_records, all other
 * access the byte offset. The offset is the sum of the instruction's and the register's, both unsigned, and does not wrap at 2^32: a
 * register of −4 with `offset:4` is out of range. Source: LLVM's `splitBufferOffsets` (a negative register offset is "illegal … even if
 * adding the immediate offset makes it positive"); llvm/llvm-project pull request 134734 (the check "uses saturating arithmetic").
 * In a private segment (swizzled by thread id, without a stride) it does wrap: compilers walk arrays there with a register of −1 and
 * `offset:2`. Source: LLVM's `SelectMUBUFScratchOffen` ("safe to fold any VGPR offset on gfx9").
 */
export function bufferAddress(
  r: BufferResource,
  lane: number,
  vindex: number | undefined,
  offset: number,
  soffset: number,
  bytes: number,
): number {
  const index = (vindex ?? 0) + (r.addThreadId ? lane : 0);
  if (!r.swizzle) {
    const bufferOffset = index * r.stride + offset;
    const structured = r.stride !== 0 && vindex !== undefined;
    if (structured ? index >= r.records : bufferOffset + bytes > r.records - soffset) return -1;
    return r.base + soffset + bufferOffset;
  }
  const inRow = r.addThreadId && r.stride === 0 ? offset % 2 ** 32 : offset;
  if (r.stride !== 0 ? index >= r.records : inRow + bytes > r.records) return -1;
  const indexHigh = Math.floor(index / r.indexStride);
  const indexLow = index % r.indexStride;
  const offsetHigh = Math.floor(inRow / 4);
  return r.base + soffset + (indexHigh * r.stride + offsetHigh * 4) * r.indexStride + indexLow * 4 + (inRow & 3);
}

/**
 * Memory behind a buffer descriptor. In a swizzled buffer what follows a dword of a lane is the same dword of the next lane, so an
 * access that straddles dwords goes on in the lane's next row. Source: LLVM's FeatureUnalignedScratchAccess, which gfx9 has: compilers
 * make such accesses of private memory.
 */
export function bufferSpace(resource: () => BufferResource): Space {
  const straddles = (address: number, bytes: number): boolean => (address & 3) + bytes > 4 && resource().swizzle;
  const byteAt = (address: number, n: number): number => {
    const at = (address & 3) + n;
    return address - (address & 3) + Math.floor(at / 4) * 4 * resource().indexStride + (at & 3);
  };
  const store: Space['store'] = (w, address, bytes, value) => {
    if (!straddles(address, bytes)) storeGlobal(w.memory, address, bytes, value);
    else for (let n = 0; n < bytes; n++) storeGlobal(w.memory, byteAt(address, n), 1, value >>> (8 * n));
  };
  return {
    load: (w, address, bytes) => {
      if (!straddles(address, bytes)) return loadGlobal(w.memory, address, bytes);
      let value = 0;
      for (let n = 0; n < bytes; n++) value |= loadGlobal(w.memory, byteAt(address, n), 1) << (8 * n);
      return value;
    },
    store,
    replace: globalSpace.replace,
  };
}
