// Elements of arrays. `types.ts` says what a type is and how it is read and written; `formats.ts` holds the bit patterns of floats;
// `random.ts` is the one seeded generator; `fill.ts` makes data of any type. Begin with `types.ts`.
export {
  type Fill,
  fillElements,
  fillRandom,
  getElement,
  type IntegerRange,
  plausibleIntegers,
  putElement,
} from './fill.ts';
export { randomBytes, randomNumbers } from './random.ts';
export {
  bytesOfElements,
  ELEMENT_NAMES,
  type ElementName,
  type ElementType,
  elementType,
  findElementType,
  KNOWN_TYPES,
} from './types.ts';
