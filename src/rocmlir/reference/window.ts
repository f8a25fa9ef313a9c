// Convolutions by definition: every product of an image element and a filter element, added where it belongs.
// Source: MIGraphX operator reference, convolution and convolution_backwards; N, C, spatial… and F, C/group, spatial….
import { type Element, elementsOf, standardStrides } from '../lower/types.ts';

/** A tensor's values in row-major order. */
export interface Tensor {
  readonly element: Element;
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

interface Settings {
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  /** One number a spatial dimension, or what comes before each and then what comes behind. */
  readonly padding: readonly number[];
  readonly group: number;
}

/** Every position of a shape. */
function positionsOf(shape: readonly number[]): number[][] {
  let positions: number[][] = [[]];
  for (const size of shape) {
    positions = positions.flatMap((position) => Array.from({ length: size }, (_, at) => [...position, at]));
  }
  return positions;
}

const indexOf = (position: readonly number[], strides: readonly number[]): number =>
  position.reduce((sum, at, d) => sum + at * strides[d], 0);

/** Calls `visit` for each pair of a small position (of the convolved image) and a window position that meet inside the large image. */
function meet(
  small: readonly number[],
  large: readonly number[],
  window: readonly number[],
  { stride, dilation, padding }: Settings,
  visit: (small: number, large: number, window: number) => void,
): void {
  const [smallStrides, largeStrides, windowStrides] = [small, large, window].map(standardStrides);
  for (const position of positionsOf(small)) {
    for (const offset of positionsOf(window)) {
      const place = position.map((at, d) => at * stride[d] + offset[d] * dilation[d] - padding[d]);
      if (place.some((at, d) => at < 0 || at >= large[d])) continue;
      visit(indexOf(position, smallStrides), indexOf(place, largeStrides), indexOf(offset, windowStrides));
    }
  }
}

/** Convolution: the sum over channels and window. */
export function convolve(image: Tensor, filter: Tensor, shape: readonly number[], settings: Settings): Float64Array {
  const [batch, features] = shape;
  const channels = image.shape[1];
  const perGroup = filter.shape[1];
  const [small, large, window] = [shape.slice(2), image.shape.slice(2), filter.shape.slice(2)];
  const [smallSize, largeSize, windowSize] = [small, large, window].map(elementsOf);
  const data = new Float64Array(elementsOf(shape));
  meet(small, large, window, settings, (to, from, at) => {
    for (let n = 0; n < batch; n++) {
      for (let f = 0; f < features; f++) {
        const first = Math.floor(f / (features / settings.group)) * perGroup;
        for (let c = 0; c < perGroup; c++) {
          data[(n * features + f) * smallSize + to] +=
            image.data[(n * channels + first + c) * largeSize + from] *
            filter.data[(f * perGroup + c) * windowSize + at];
        }
      }
    }
  });
  return data;
}

/** The gradient of a convolution to its image: each input element spreads over the window. Filters are C, F/group, spatial…. */
export function convolveBackwards(
  input: Tensor,
  filter: Tensor,
  shape: readonly number[],
  settings: Settings,
): Float64Array {
  const [batch, channels] = input.shape;
  const features = shape[1];
  const perGroup = filter.shape[1];
  const [small, large, window] = [input.shape.slice(2), shape.slice(2), filter.shape.slice(2)];
  const [smallSize, largeSize, windowSize] = [small, large, window].map(elementsOf);
  const data = new Float64Array(elementsOf(shape));
  meet(small, large, window, settings, (from, to, at) => {
    for (let n = 0; n < batch; n++) {
      for (let c = 0; c < channels; c++) {
        const first = Math.floor(c / (channels / settings.group)) * perGroup;
        for (let f = 0; f < perGroup; f++) {
          data[(n * features + first + f) * largeSize + to] +=
            input.data[(n * channels + c) * smallSize + from] * filter.data[(c * perGroup + f) * windowSize + at];
        }
      }
    }
  });
  return data;
}
