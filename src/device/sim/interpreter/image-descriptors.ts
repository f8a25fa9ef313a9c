// Image and sampler descriptors of gfx90a, read from scalar registers, and the texels that they name. Images are rows of texels one after the
// other (swizzle mode 0), which is what this project's HIP runtime makes.
// Sources: AMD "Vega" ISA, chapter "Vector Memory Image Instructions" (resource and sampler descriptors); Mesa's gfx9.json (SQ_IMG_RSRC,
// SQ_IMG_SAMP).
import { bitsFromF32 } from '../../../base/elements/formats.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { KernelStop } from './kernel-stop.ts';
import { loadGlobal, storeGlobal } from './spaces.ts';
import { componentLayout, fromMemory, isIntegerFormat, toMemory } from './typed-buffers.ts';

/** Values of the descriptor's TYPE field, with the number of coordinates and whether the last one is a layer. */
const KINDS: Readonly<Record<number, { readonly coordinates: number; readonly layered: boolean }>> = {
  8: { coordinates: 1, layered: false },
  9: { coordinates: 2, layered: false },
  10: { coordinates: 3, layered: false },
  12: { coordinates: 2, layered: true },
  13: { coordinates: 3, layered: true },
};
const IMAGE_WORDS = 8;
const SAMPLER_WORDS = 4;
const FIRST_TYPED = 4;
const SRGB = 9;
const UNORM = 0;
const ONE = 0x3f800000;
/** Components of up to so many bits are looked up. */
const TABLE_BITS = 8;

/** The linear value of an sRGB component of 8 bits. Source: IEC 61966-2-1. */
function linearOf(raw: number): number {
  const c = raw / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

/** Register values of all components of a format that is narrow enough. */
const tables = new Map<string, Int32Array>();
function tableOf(format: number, bits: number, isColour: boolean): Int32Array | undefined {
  if (bits > TABLE_BITS) return undefined;
  const key = `${format} ${bits} ${isColour}`;
  let table = tables.get(key);
  if (table === undefined) {
    const value = (raw: number): number =>
      format !== SRGB
        ? fromMemory(raw, bits, format)
        : isColour
          ? bitsFromF32(linearOf(raw))
          : fromMemory(raw, bits, UNORM);
    table = Int32Array.from({ length: 2 ** bits }, (_, raw) => value(raw));
    tables.set(key, table);
  }
  return table;
}

/** One stored component of a texel. */
interface Component {
  readonly bits: number;
  readonly bytes: number;
  /** Bytes from the texel's first. */
  readonly at: number;
  readonly table: Int32Array | undefined;
}

/** An image as its descriptor (T#) says. */
export class Image {
  readonly base: number;
  /** Texels by coordinate: 1 where the image has no such dimension. */
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly coordinates: number;
  readonly layered: boolean;
  /** The layer is the second coordinate: an array of lines. */
  readonly isLines: boolean;
  /** Bytes of a texel. */
  readonly bytes: number;
  readonly isInteger: boolean;
  private readonly format: number;
  private readonly pitch: number;
  private readonly components: readonly Component[];
  private readonly select: Int32Array;
  private readonly stored = new Int32Array(4);
  /** Where the whole image is, if it is in one piece: `memory` is that of the wave that reads now. */
  private memory: DeviceMemory | undefined;
  private view: DataView | undefined;
  private first = 0;

  /** `words` is the descriptor; `at` says where it was, for errors. */
  constructor(words: Int32Array, at: number) {
    const word = (n: number): number => (words[n] as number) >>> 0;
    const kind = KINDS[word(3) >>> 28];
    const layout = componentLayout((word(1) >>> 20) & 63);
    const swizzle = (word(3) >>> 20) & 31;
    if (kind === undefined || layout === undefined || swizzle !== 0) {
      throw new KernelStop(
        'sim/unsupported-format',
        `The image descriptor in s[${at}:${at + 7}] has type ${word(3) >>> 28}, data format ${(word(1) >>> 20) & 63}, swizzle mode ${swizzle}.`,
      );
    }
    this.base = (word(1) & 0xff) * 2 ** 40 + word(0) * 256;
    this.width = (word(2) & 0x3fff) + 1;
    this.height = ((word(2) >>> 14) & 0x3fff) + 1;
    this.depth = (word(4) & 0x1fff) + 1;
    this.pitch = ((word(4) >>> 13) & 0xffff) + 1;
    this.coordinates = kind.coordinates;
    this.layered = kind.layered;
    this.isLines = kind.layered && kind.coordinates === 2;
    this.format = (word(1) >>> 26) & 15;
    this.isInteger = isIntegerFormat(this.format);
    this.bytes = layout.reduce((sum, bits) => sum + bits, 0) / 8;
    let bytes = 0;
    this.components = layout.map((bits, n) => {
      const component = { bits, bytes: bits / 8, at: bytes, table: tableOf(this.format, bits, n < 3) };
      bytes += bits / 8;
      return component;
    });
    this.select = Int32Array.from([0, 3, 6, 9], (shift) => (word(3) >>> shift) & 7);
  }

  /** Before texels are read through a memory: looks where the image is. */
  open(memory: DeviceMemory): void {
    this.memory = memory;
    const bytes = (((this.depth - 1) * this.height + this.height - 1) * this.pitch + this.width) * this.bytes;
    const region = memory.find(this.base, bytes);
    const isWhole = region !== undefined && !region.isBeyond;
    this.view = isWhole ? region.view : undefined;
    this.first = isWhole ? this.base - region.base : 0;
  }

  isInside(x: number, y: number, z: number): boolean {
    return x >= 0 && x < this.width && y >= 0 && y < this.height && z >= 0 && z < this.depth;
  }
  /** Bytes from the image's first to a texel. */
  offsetOf(x: number, y: number, z: number): number {
    return ((z * this.height + y) * this.pitch + x) * this.bytes;
  }

  /** Bits of a component in memory; those of 32 bits are signed. */
  private raw(offset: number, bytes: number): number {
    const { view } = this;
    if (view === undefined) return loadGlobal(this.memory as DeviceMemory, this.base + offset, bytes);
    const at = this.first + offset;
    return bytes === 4 ? view.getInt32(at, true) : bytes === 1 ? view.getUint8(at) : view.getUint16(at, true);
  }

  /** Puts the four components of a texel into `out` as register values; zeros beyond the image. After `open`. */
  read(x: number, y: number, z: number, out: Int32Array): void {
    if (!this.isInside(x, y, z)) {
      out.fill(0);
      return;
    }
    const { components, select, stored, format } = this;
    const texel = this.offsetOf(x, y, z);
    for (let n = 0; n < components.length; n++) {
      const { bits, bytes, at, table } = components[n] as Component;
      const raw = this.raw(texel + at, bytes);
      stored[n] = table === undefined ? fromMemory(raw, bits, format) : (table[raw] as number);
    }
    for (let n = 0; n < 4; n++) {
      const from = select[n] as number;
      const typed = from - FIRST_TYPED;
      if (typed >= 0) out[n] = typed < components.length ? (stored[typed] as number) : 0;
      else out[n] = from === 1 ? (this.isInteger ? 1 : ONE) : 0;
    }
  }

  /** Stores a texel's components; nothing beyond the image. */
  write(memory: DeviceMemory, x: number, y: number, z: number, values: Int32Array): void {
    if (!this.isInside(x, y, z)) return;
    const texel = this.base + this.offsetOf(x, y, z);
    const format = this.format === SRGB ? UNORM : this.format;
    this.components.forEach(({ bits, bytes, at }, n) => {
      storeGlobal(memory, texel + at, bytes, toMemory(values[n] ?? 0, bits, format));
    });
  }
}

/** A sampler as its descriptor (S#) says. */
export class Sampler {
  /** Of x, y and z: 0 wraps, 1 mirrors, 2 takes the last texel, others have a border of zeros. */
  readonly clamp: readonly [number, number, number];
  readonly isUnnormalized: boolean;
  readonly isLinear: boolean;

  constructor(words: Int32Array) {
    const word0 = (words[0] as number) >>> 0;
    const word2 = (words[2] as number) >>> 0;
    this.clamp = [word0 & 7, (word0 >>> 3) & 7, (word0 >>> 6) & 7];
    this.isUnnormalized = ((word0 >>> 15) & 1) !== 0;
    this.isLinear = ((word2 >>> 20) & 3) === 1;
  }
}

/** Gives what the descriptor in scalar registers says; made again only when those have changed. */
function descriptorReader<T>(at: number, count: number, make: (words: Int32Array) => T): (w: Wave) => T {
  const words = new Int32Array(count);
  let last: T | undefined;
  return ({ sgprs }) => {
    let isSame = last !== undefined;
    for (let n = 0; isSame && n < count; n++) isSame = words[n] === sgprs[at + n];
    if (!isSame) {
      for (let n = 0; n < count; n++) words[n] = sgprs[at + n] as number;
      last = undefined;
      last = make(words);
    }
    return last as T;
  };
}
/** Reads the T# from eight scalar registers. */
export const imageReader = (at: number): ((w: Wave) => Image) =>
  descriptorReader(at, IMAGE_WORDS, (words) => new Image(words, at));
/** Reads the S# from four scalar registers. */
export const samplerReader = (at: number): ((w: Wave) => Sampler) =>
  descriptorReader(at, SAMPLER_WORDS, (words) => new Sampler(words));
