// Room `base/elements`: elements of arrays: what a type is and how it is read and written exactly, the bit patterns of floats, the
// one seeded generator, and data of any type.
// Begin with types.ts, then fill.ts.
export {
  type Fill,
  fillElements,
  fillRandom,
  getElement,
  type IntegerRange,
  plausibleIntegers,
  putElement,
} from './fill.ts';
export { type Pattern, patternBytes, randomBytes, randomNumbers } from './random.ts';
export {
  bytesOfElements,
  ELEMENT_NAMES,
  type ElementName,
  type ElementType,
  elementType,
  findElementType,
  KNOWN_TYPES,
} from './types.ts';
