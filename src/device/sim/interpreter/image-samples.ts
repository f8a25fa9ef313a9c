// Samples images: which texels coordinates read, and with which weights.
// Sources: AMD "Vega" ISA, chapter "Vector Memory Image Instructions"; hip-tests' unit/texture/texture_reference.hh (eight fraction bits of a
// linear filter's weights).
import { bitsFromF32, f32FromBits } from '../../../base/elements/formats.ts';
import type { Image, Sampler } from './image-descriptors.ts';

const WEIGHT_STEPS = 256;

/** The texel that a clamp mode takes for one beyond the edge; -1 is the border. */
function clampTexel(n: number, size: number, mode: number): number {
  if (n >= 0 && n < size) return n;
  if (mode === 2) return n < 0 ? 0 : size - 1;
  if (mode > 2) return -1;
  const wrapped = ((n % size) + size) % size;
  if (mode === 0) return wrapped;
  return Math.abs(Math.floor(n / size)) % 2 === 0 ? wrapped : size - 1 - wrapped;
}

/** The layer nearest to a coordinate, ties to the even one. */
function layerOf(value: number, layers: number): number {
  const layer = Math.round(value) - (Math.abs(value % 1) === 0.5 && Math.round(value) % 2 !== 0 ? 1 : 0);
  return Math.min(layers - 1, Math.max(0, layer || 0));
}

/** A coordinate in texels. */
function scaledOf(value: number, size: number, isUnnormalized: boolean): number {
  if (Number.isNaN(value)) return 0;
  return isUnnormalized ? value : Math.fround(value * size);
}

/** One dimension of a sample: one texel, or two with their weights. */
class Taps {
  count = 1;
  readonly texel = new Int32Array(2);
  readonly weight = new Float64Array([1, 0]);

  one(texel: number): void {
    this.count = 1;
    this.texel[0] = texel;
    this.weight[0] = 1;
  }

  /** The two texels around a coordinate. */
  two(scaled: number, size: number, mode: number): void {
    const shifted = Math.round((scaled - 0.5) * WEIGHT_STEPS) / WEIGHT_STEPS;
    const first = Math.floor(shifted);
    this.count = 2;
    this.texel[0] = clampTexel(first, size, mode);
    this.texel[1] = clampTexel(first + 1, size, mode);
    this.weight[0] = 1 - (shifted - first);
    this.weight[1] = shifted - first;
  }
}
const across = new Taps();
const down = new Taps();
const deep = new Taps();
const read = new Int32Array(4);
const sums = new Float64Array(4);

/**
 * Puts the four components of a sample at coordinates (x, y, z; the layer of an array of lines is in z) into `out`. The image is open. A layer is
 * the nearest one, whatever the filter.
 */
export function sample(
  image: Image,
  sampler: Sampler,
  isUnnormalized: boolean,
  x: number,
  y: number,
  z: number,
  out: Int32Array,
): void {
  const { width, height, depth, layered, isLines } = image;
  const [modeX, modeY, modeZ] = sampler.clamp;
  const hasRows = image.coordinates > 1 && !isLines;
  const hasDepth = image.coordinates > 2 || isLines;
  const atX = scaledOf(x, width, isUnnormalized);
  const atY = hasRows ? scaledOf(y, height, isUnnormalized) : 0;
  const atZ = hasDepth && !layered ? scaledOf(z, depth, isUnnormalized) : 0;
  if (!sampler.isLinear || image.isInteger) {
    const texelZ = !hasDepth ? 0 : layered ? layerOf(z, depth) : clampTexel(Math.floor(atZ), depth, modeZ);
    const texelY = hasRows ? clampTexel(Math.floor(atY), height, modeY) : 0;
    image.read(clampTexel(Math.floor(atX), width, modeX), texelY, texelZ, out);
    return;
  }
  across.two(atX, width, modeX);
  if (hasRows) down.two(atY, height, modeY);
  else down.one(0);
  if (!hasDepth) deep.one(0);
  else if (layered) deep.one(layerOf(z, depth));
  else deep.two(atZ, depth, modeZ);
  sums.fill(0);
  for (let k = 0; k < deep.count; k++) {
    for (let j = 0; j < down.count; j++) {
      for (let i = 0; i < across.count; i++) {
        image.read(across.texel[i] as number, down.texel[j] as number, deep.texel[k] as number, read);
        const weight = (across.weight[i] as number) * (down.weight[j] as number) * (deep.weight[k] as number);
        for (let n = 0; n < 4; n++) sums[n] = (sums[n] as number) + weight * f32FromBits(read[n] as number);
      }
    }
  }
  for (let n = 0; n < 4; n++) out[n] = bitsFromF32(sums[n] as number);
}
