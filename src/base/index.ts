// Room `base`: what every other room uses and what knows nothing of GPUs: typed errors with a code and a position, bounds-checked
// reading and writing of bytes, text made chunk by chunk, and element types.
// Begin with error.ts: every failure that a user can reach is a WavesmithError. Then bytes.ts and elements/index.ts.
export { ByteReader, ByteWriter } from './bytes.ts';
export { demangle } from './demangle.ts';
export {
  bytesOfElements,
  ELEMENT_NAMES,
  type ElementName,
  type ElementType,
  elementType,
  type Fill,
  fillElements,
  fillRandom,
  findElementType,
  getElement,
  type IntegerRange,
  KNOWN_TYPES,
  type Pattern,
  patternBytes,
  plausibleIntegers,
  putElement,
  randomBytes,
  randomNumbers,
} from './elements/index.ts';
export { type ErrorDetails, inFile, type Position, WavesmithError } from './error.ts';
export { isFunctionNamed } from './function-name.ts';
export { jsonPieces } from './json-pieces.ts';
export { TextOutput, writeHex } from './text-output.ts';
