// Executes image instructions of gfx90a: texels by whole coordinates (image_load, image_store), sampled ones (image_sample), and an image's
// size. What descriptors say is in image-descriptors.ts, sampling in image-samples.ts.
// Source: AMD "Vega" ISA, chapter "Vector Memory Image Instructions".
import { bitsFromF16, bitsFromF32, f16FromBits, f32FromBits } from '../../../base/elements/formats.ts';
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import type { ImageOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { type Image, imageReader, samplerReader } from './image-descriptors.ts';
import { sample } from './image-samples.ts';
import { KernelStop } from './kernel-stop.ts';
import { forActiveLanes } from './memory-access.ts';
import { registerOf, vectorBase } from './operands.ts';
import type { Step } from './vector.ts';

/** Registers of the coordinates, as they lie in `vgprs` from the lane on; 0 for a coordinate that the image does not have. */
class Coordinates {
  private readonly base: number;
  constructor(base: number) {
    this.base = base;
  }
  private at(w: Wave, n: number, lane: number): number {
    return w.vgprs[this.base + n * LANES + lane] as number;
  }
  x(w: Wave, lane: number): number {
    return this.at(w, 0, lane);
  }
  y(w: Wave, { coordinates, isLines }: Image, lane: number): number {
    return coordinates > 1 && !isLines ? this.at(w, 1, lane) : 0;
  }
  /** The layer of an array of lines is its second register. */
  z(w: Wave, { coordinates, isLines }: Image, lane: number): number {
    return isLines ? this.at(w, 1, lane) : coordinates > 2 ? this.at(w, 2, lane) : 0;
  }
  /** Whether the level that the register behind the coordinates names exists: an image has one. */
  hasLevel(w: Wave, { coordinates }: Image, lane: number): boolean {
    return this.at(w, coordinates, lane) === 0;
  }
}

/** The texels that an image_load or image_store touches, for observers: `prepare` comes first, once per execution. */
export function bindTexels(
  instruction: Instruction,
  op: ImageOperation,
): { readonly prepare: (w: Wave) => number; readonly address: (w: Wave, lane: number) => number } {
  const at = new Coordinates(vectorBase(registerOf(instruction, 'vaddr')));
  const readImage = imageReader(registerOf(instruction, 'srsrc').encoding);
  let image: Image | undefined;
  return {
    prepare: (w) => {
      image = readImage(w);
      return image.bytes;
    },
    address: (w, lane) => {
      if (image === undefined || (op.mip && !at.hasLevel(w, image, lane))) return -1;
      const [x, y, z] = [at.x(w, lane), at.y(w, image, lane), at.z(w, image, lane)];
      return image.isInside(x, y, z) ? image.base + image.offsetOf(x, y, z) : -1;
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
  const at = new Coordinates(vectorBase(registerOf(instruction, 'vaddr')));
  const readImage = imageReader(registerOf(instruction, 'srsrc').encoding);
  const samplerOperand = operandNamed(instruction, 'ssamp');
  const readSampler = samplerReader(samplerOperand?.kind === 'reg' ? samplerOperand.encoding : -1);
  const values = new Int32Array(4);
  const components = componentsOf(immediateOf(instruction, 'dmask'));
  const d16 = immediateOf(instruction, 'd16') !== 0;
  const isUnnormalized = immediateOf(instruction, 'unorm') !== 0;
  for (const modifier of ['tfe', 'lwe', 'a16', 'r128']) {
    if (immediateOf(instruction, modifier) !== 0) {
      throw new KernelStop('sim/unsupported-instruction', `Image instructions with ${modifier} are not simulated.`);
    }
  }
  /** `values` to the data registers. */
  const put = (w: Wave, lane: number, integer: boolean): void => {
    for (let n = 0; n < components.length; n++) {
      const value = values[components[n] as number] as number;
      if (!d16) {
        w.vgprs[data + n * LANES + lane] = value;
        continue;
      }
      const half = integer ? value & 0xffff : bitsFromF16(f32FromBits(value));
      const register = data + (n >> 1) * LANES + lane;
      w.vgprs[register] = (n & 1) === 0 ? half : (w.vgprs[register] as number) | (half << 16);
    }
  };
  /** The data registers to `values`. */
  const take = (w: Wave, lane: number, integer: boolean): void => {
    values.fill(0);
    components.forEach((component, n) => {
      if (!d16) {
        values[component] = w.vgprs[data + n * LANES + lane] as number;
        return;
      }
      const word = w.vgprs[data + (n >> 1) * LANES + lane] as number;
      const half = ((n & 1) === 0 ? word : word >>> 16) & 0xffff;
      values[component] = integer ? half : bitsFromF32(f16FromBits(half));
    });
  };

  switch (op.action) {
    case 'size':
      return (w) => {
        const { width, height, depth, isLines } = readImage(w);
        // Lines have their layers where planes have rows.
        values.set(isLines ? [width, depth, 1, 1] : [width, height, depth, 1]);
        forActiveLanes(w, (lane) => put(w, lane, true));
      };
    case 'sample':
      return (w) => {
        const image = readImage(w);
        const sampler = readSampler(w);
        const unnormalized = isUnnormalized || sampler.isUnnormalized;
        image.open(w.memory);
        forActiveLanes(w, (lane) => {
          const x = f32FromBits(at.x(w, lane));
          const y = f32FromBits(at.y(w, image, lane));
          sample(image, sampler, unnormalized, x, y, f32FromBits(at.z(w, image, lane)), values);
          put(w, lane, image.isInteger);
        });
      };
    case 'store':
      return (w) => {
        const image = readImage(w);
        forActiveLanes(w, (lane) => {
          if (op.mip && !at.hasLevel(w, image, lane)) return;
          take(w, lane, image.isInteger);
          image.write(w.memory, at.x(w, lane), at.y(w, image, lane), at.z(w, image, lane), values);
        });
      };
    default:
      return (w) => {
        const image = readImage(w);
        image.open(w.memory);
        forActiveLanes(w, (lane) => {
          if (op.mip && !at.hasLevel(w, image, lane)) values.fill(0);
          else image.read(at.x(w, lane), at.y(w, image, lane), at.z(w, image, lane), values);
          put(w, lane, image.isInteger);
        });
      };
  }
}
