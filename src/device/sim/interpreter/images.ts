// Executes image instructions of gfx90a: texels by whole coordinates (image_load, image_store), sampled ones (image_sample), and an image's
// size. Images are rows of texels one after the other (swizzle mode 0), which is what this project's HIP runtime makes.
// Sources: AMD "Vega" ISA, chapter "Vector Memory Image Instructions" (resource and sampler descriptors); Mesa's gfx9.json (SQ_IMG_RSRC,
// SQ_IMG_SAMP); hip-tests' unit/texture/texture_reference.hh (eight fraction bits of a linear filter's weights).
import { bitsFromF16, bitsFromF32, f16FromBits, f32FromBits } from '../../../base/elements/formats.ts';
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import type { ImageOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { KernelStop } from './kernel-stop.ts';
import { forActiveLanes } from './memory-access.ts';
import { registerOf, vectorBase } from './operands.ts';
import { loadGlobal, storeGlobal } from './spaces.ts';
import { componentLayout, fromMemory, isIntegerFormat, toMemory } from './typed-buffers.ts';
import type { Step } from './vector.ts';

/** Values of the descriptor's TYPE field, with the number of coordinates and whether the last one is a layer. */
const KINDS: Readonly<Record<number, { readonly coordinates: number; readonly layered: boolean }>> = {
  8: { coordinates: 1, layered: false },
  9: { coordinates: 2, layered: false },
  10: { coordinates: 3, layered: false },
  12: { coordinates: 2, layered: true },
  13: { coordinates: 3, layered: true },
};
const FIRST_TYPED = 4;
const SRGB = 9;
const UNORM = 0;
const ONE = 0x3f800000;

/** An image as its descriptor (T#) says. */
interface Image {
  readonly base: number;
  /** Texels by coordinate: 1 where the image has no such dimension. */
  readonly size: readonly [number, number, number];
  readonly pitch: number;
  readonly coordinates: number;
  readonly layered: boolean;
  /** The layer is the second coordinate: an array of lines. */
  readonly isLines: boolean;
  readonly layout: readonly number[];
  readonly bytes: number;
  readonly format: number;
  readonly select: readonly number[];
}

/** Reads a T# from eight scalar registers. */
function readImage(w: Wave, at: number): Image {
  const word = (n: number): number => (w.sgprs[at + n] as number) >>> 0;
  const kind = KINDS[word(3) >>> 28];
  const layout = componentLayout((word(1) >>> 20) & 63);
  const swizzle = (word(3) >>> 20) & 31;
  if (kind === undefined || layout === undefined || swizzle !== 0) {
    throw new KernelStop(
      'sim/unsupported-format',
      `The image descriptor in s[${at}:${at + 7}] has type ${word(3) >>> 28}, data format ${(word(1) >>> 20) & 63}, swizzle mode ${swizzle}.`,
    );
  }
  return {
    base: (word(1) & 0xff) * 2 ** 40 + word(0) * 256,
    size: [(word(2) & 0x3fff) + 1, ((word(2) >>> 14) & 0x3fff) + 1, (word(4) & 0x1fff) + 1],
    pitch: ((word(4) >>> 13) & 0xffff) + 1,
    coordinates: kind.coordinates,
    layered: kind.layered,
    isLines: kind.layered && kind.coordinates === 2,
    layout,
    bytes: layout.reduce((sum, bits) => sum + bits, 0) / 8,
    format: (word(1) >>> 26) & 15,
    select: [0, 3, 6, 9].map((shift) => (word(3) >>> shift) & 7),
  };
}

type Texel = readonly [number, number, number];

/** Coordinates in the order x, y, z: the layer of an array of lines is in z. */
function placed(image: Image, values: readonly number[]): Texel {
  const [x = 0, y = 0, z = 0] = values;
  return image.isLines ? [x, 0, y] : [x, y, z];
}
function isInside(image: Image, [x, y, z]: Texel): boolean {
  const { size } = image;
  return x >= 0 && x < size[0] && y >= 0 && y < size[1] && z >= 0 && z < size[2];
}
function addressOf(image: Image, [x, y, z]: Texel): number {
  return image.base + ((z * image.size[1] + y) * image.pitch + x) * image.bytes;
}

/** The linear value of an sRGB component of 8 bits. Source: IEC 61966-2-1. */
function linearOf(raw: number): number {
  const c = raw / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}
function componentOf(image: Image, raw: number, bits: number, n: number): number {
  if (image.format !== SRGB) return fromMemory(raw, bits, image.format);
  return n < 3 ? bitsFromF32(linearOf(raw)) : fromMemory(raw, bits, UNORM);
}

/** The four components of a texel as register values; zeros beyond the image. */
function readTexel(w: Wave, image: Image, texel: Texel): number[] {
  if (!isInside(image, texel)) return [0, 0, 0, 0];
  let at = addressOf(image, texel);
  const stored = image.layout.map((bits, n) => {
    const raw = loadGlobal(w.memory, at, bits / 8);
    at += bits / 8;
    return componentOf(image, raw, bits, n);
  });
  const one = isIntegerFormat(image.format) ? 1 : ONE;
  return image.select.map((select) =>
    select >= FIRST_TYPED ? (stored[select - FIRST_TYPED] ?? 0) : select === 1 ? one : 0,
  );
}

function writeTexel(w: Wave, image: Image, texel: Texel, values: readonly number[]): void {
  if (!isInside(image, texel)) return;
  let at = addressOf(image, texel);
  image.layout.forEach((bits, n) => {
    storeGlobal(w.memory, at, bits / 8, toMemory(values[n] ?? 0, bits, image.format === SRGB ? UNORM : image.format));
    at += bits / 8;
  });
}

// Sampling -------------------------------------------------------------------------------------------------------------------------

/** A sampler as its descriptor (S#) says. */
interface Sampler {
  /** Of x, y and z: 0 wraps, 1 mirrors, 2 takes the last texel, others have a border of zeros. */
  readonly clamp: readonly number[];
  readonly isUnnormalized: boolean;
  readonly isLinear: boolean;
}
function readSampler(w: Wave, at: number): Sampler {
  const word0 = (w.sgprs[at] as number) >>> 0;
  const word2 = (w.sgprs[at + 2] as number) >>> 0;
  return {
    clamp: [0, 3, 6].map((shift) => (word0 >>> shift) & 7),
    isUnnormalized: ((word0 >>> 15) & 1) !== 0,
    isLinear: ((word2 >>> 20) & 3) === 1,
  };
}

/** The texel that a clamp mode takes for one beyond the edge; -1 is the border. */
function clampTexel(n: number, size: number, mode: number): number {
  if (n >= 0 && n < size) return n;
  const wrapped = ((n % size) + size) % size;
  switch (mode) {
    case 0:
      return wrapped;
    case 1:
      return Math.abs(Math.floor(n / size)) % 2 === 0 ? wrapped : size - 1 - wrapped;
    case 2:
      return n < 0 ? 0 : size - 1;
    default:
      return -1;
  }
}

const WEIGHT_STEPS = 256;

/** What a coordinate reads: texels and their weights. A layer is the nearest one, whatever the filter. */
function tapsOf(
  image: Image,
  sampler: Sampler,
  value: number,
  dimension: 0 | 1 | 2,
): [texel: number, weight: number][] {
  const size = image.size[dimension];
  if (image.layered && dimension === 2) {
    const layer = Math.round(value) - (Math.abs(value % 1) === 0.5 && Math.round(value) % 2 !== 0 ? 1 : 0);
    return [[Math.min(size - 1, Math.max(0, layer || 0)), 1]];
  }
  const scaled = Number.isNaN(value) ? 0 : sampler.isUnnormalized ? value : Math.fround(value * size);
  const mode = sampler.clamp[dimension] as number;
  if (!sampler.isLinear || isIntegerFormat(image.format)) return [[clampTexel(Math.floor(scaled), size, mode), 1]];
  const shifted = Math.round((scaled - 0.5) * WEIGHT_STEPS) / WEIGHT_STEPS;
  const first = Math.floor(shifted);
  const weight = shifted - first;
  return [
    [clampTexel(first, size, mode), 1 - weight],
    [clampTexel(first + 1, size, mode), weight],
  ];
}

function sample(w: Wave, image: Image, sampler: Sampler, values: readonly number[]): number[] {
  const [x, y, z] = placed(image, values);
  const flat: [number, number][] = [[0, 1]];
  const across = tapsOf(image, sampler, x, 0);
  const down = image.coordinates > 1 && !image.isLines ? tapsOf(image, sampler, y, 1) : flat;
  const deep = image.coordinates > 2 || image.isLines ? tapsOf(image, sampler, z, 2) : flat;
  if (across.length * down.length * deep.length === 1) {
    return readTexel(w, image, [across[0]?.[0] ?? 0, down[0]?.[0] ?? 0, deep[0]?.[0] ?? 0]);
  }
  const sums = [0, 0, 0, 0];
  for (const [tz, wz] of deep) {
    for (const [ty, wy] of down) {
      for (const [tx, wx] of across) {
        readTexel(w, image, [tx, ty, tz]).forEach((bits, n) => {
          sums[n] = (sums[n] as number) + wx * wy * wz * f32FromBits(bits);
        });
      }
    }
  }
  return sums.map(bitsFromF32);
}

/** The texels that an image_load or image_store touches, for observers: `prepare` comes first, once per execution. */
export function bindTexels(
  instruction: Instruction,
  op: ImageOperation,
): { readonly prepare: (w: Wave) => number; readonly address: (w: Wave, lane: number) => number } {
  const address = vectorBase(registerOf(instruction, 'vaddr'));
  const descriptor = registerOf(instruction, 'srsrc').encoding;
  let image: Image | undefined;
  return {
    prepare: (w) => {
      image = readImage(w, descriptor);
      return image.bytes;
    },
    address: (w, lane) => {
      if (image === undefined) return -1;
      const { coordinates } = image;
      if (op.mip && w.vgprs[address + coordinates * LANES + lane] !== 0) return -1;
      const values = Array.from({ length: coordinates }, (_, n) => w.vgprs[address + n * LANES + lane] as number);
      const texel = placed(image, values);
      return isInside(image, texel) ? addressOf(image, texel) : -1;
    },
  };
}

// Instructions ---------------------------------------------------------------------------------------------------------------------

/** Registers of the components that `dmask` names, in order: a register each, or a half with `d16`. */
function componentsOf(dmask: number): number[] {
  return [0, 1, 2, 3].filter((n) => ((dmask >>> n) & 1) !== 0);
}

/** Binds an image instruction. */
export function bindImage(instruction: Instruction, op: ImageOperation): Step {
  const data = vectorBase(registerOf(instruction, 'vdata'));
  const address = vectorBase(registerOf(instruction, 'vaddr'));
  const descriptor = registerOf(instruction, 'srsrc').encoding;
  const samplerOperand = operandNamed(instruction, 'ssamp');
  const samplerAt = samplerOperand?.kind === 'reg' ? samplerOperand.encoding : -1;
  const components = componentsOf(immediateOf(instruction, 'dmask'));
  const d16 = immediateOf(instruction, 'd16') !== 0;
  const isUnnormalized = immediateOf(instruction, 'unorm') !== 0;
  for (const modifier of ['tfe', 'lwe', 'a16', 'r128']) {
    if (immediateOf(instruction, modifier) !== 0) {
      throw new KernelStop('sim/unsupported-instruction', `Image instructions with ${modifier} are not simulated.`);
    }
  }
  const put = (w: Wave, lane: number, values: readonly number[], integer: boolean): void => {
    components.forEach((component, n) => {
      const value = values[component] as number;
      if (!d16) {
        w.vgprs[data + n * LANES + lane] = value;
        return;
      }
      const half = integer ? value & 0xffff : bitsFromF16(f32FromBits(value));
      const at = data + (n >> 1) * LANES + lane;
      w.vgprs[at] = (n & 1) === 0 ? half : (w.vgprs[at] as number) | (half << 16);
    });
  };
  const take = (w: Wave, lane: number, integer: boolean): number[] => {
    const values = [0, 0, 0, 0];
    components.forEach((component, n) => {
      if (!d16) {
        values[component] = w.vgprs[data + n * LANES + lane] as number;
        return;
      }
      const word = w.vgprs[data + (n >> 1) * LANES + lane] as number;
      const half = ((n & 1) === 0 ? word : word >>> 16) & 0xffff;
      values[component] = integer ? half : bitsFromF32(f16FromBits(half));
    });
    return values;
  };
  const coordinates = (w: Wave, lane: number, count: number): number[] =>
    Array.from({ length: count }, (_, n) => w.vgprs[address + n * LANES + lane] as number);

  switch (op.action) {
    case 'size':
      return (w) => {
        const image = readImage(w, descriptor);
        const [width, height, depth] = image.size;
        // Lines have their layers where planes have rows.
        const values = image.isLines ? [width, depth, 1, 1] : [width, height, depth, 1];
        forActiveLanes(w, (lane) => put(w, lane, values, true));
      };
    case 'sample':
      return (w) => {
        const image = readImage(w, descriptor);
        const read = readSampler(w, samplerAt);
        const sampler = isUnnormalized ? { ...read, isUnnormalized } : read;
        const integer = isIntegerFormat(image.format);
        forActiveLanes(w, (lane) => {
          const values = coordinates(w, lane, image.coordinates).map(f32FromBits);
          put(w, lane, sample(w, image, sampler, values), integer);
        });
      };
    default:
      return (w) => {
        const image = readImage(w, descriptor);
        const integer = isIntegerFormat(image.format);
        forActiveLanes(w, (lane) => {
          const values = coordinates(w, lane, image.coordinates + (op.mip ? 1 : 0));
          // An image has one level.
          const exists = !op.mip || values[image.coordinates] === 0;
          const texel = placed(image, values.slice(0, image.coordinates));
          if (op.action === 'store') {
            if (exists) writeTexel(w, image, texel, take(w, lane, integer));
          } else {
            put(w, lane, exists ? readTexel(w, image, texel) : [0, 0, 0, 0], integer);
          }
        });
      };
  }
}
