// Values of the debugger's expressions: integers and floats, and the bytes that hold them.
import { type ElementType, findElementType } from '../../../base/index.ts';

/** An integer (a bigint) or a float (a number). */
export type Value = bigint | number;

/** A type by its name, as `f32` or `bf16`: whole bytes, one number. */
export function valueType(name: string): ElementType | undefined {
  const type = findElementType(name.toLowerCase()) ?? findElementType(name);
  return type !== undefined && type.storageBits >= 8 && type.numbers === 1 ? type : undefined;
}

/** Bits as a value of a type. */
export function fromBits(bits: bigint, type: ElementType): Value {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, bits), true);
  const value = type.exact(view, 0);
  return type.kind === 'integer' ? BigInt(value) : value;
}

/** Little-endian bytes as an unsigned integer. */
export function bitsOf(bytes: Uint8Array): bigint {
  let bits = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) bits = (bits << 8n) | BigInt(bytes[i] as number);
  return bits;
}
