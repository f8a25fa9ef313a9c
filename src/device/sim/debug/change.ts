// Changes of registers and memory by the debugger's user, made in a way that they are made again after going back.
import { type ElementType, WavesmithError } from '../../../base/index.ts';
import type { Wave } from '../state/wave.ts';
import { writeRegister } from '../tools/registers.ts';
import { isWave, keyOf } from './breakpoints.ts';
import type { Debugger } from './debugger.ts';
import { loadBytes, storeBytes } from './scope.ts';
import type { SpaceName } from './typed.ts';
import type { Value } from './value.ts';

/** The integer bits that a register takes for a value: a float becomes f32. */
export function registerBits(value: Value): bigint {
  return typeof value === 'bigint' ? value : BigInt(new Uint32Array(Float32Array.of(value).buffer)[0] as number);
}

/** Writes a register of a wave; one that does not exist, or a value that does not fit, changes nothing. */
export function setRegister(d: Debugger, w: Wave, register: string, bits: bigint): void {
  writeRegister(w, register, bits);
  const key = keyOf(w);
  d.change(() => {
    const now = d.allWaves.find((one) => isWave(one, key));
    if (now !== undefined) writeRegister(now, register, bits);
  });
}

/** Writes bytes as a lane of a wave would; memory that is not there changes nothing. */
export function setBytes(d: Debugger, w: Wave, space: SpaceName, address: number, bytes: Uint8Array): void {
  loadBytes(w, space, address, bytes.length, d.lane);
  const key = keyOf(w);
  const { lane } = d;
  const apply = (): void => {
    const now = d.allWaves.find((one) => isWave(one, key));
    if (now !== undefined) storeBytes(now, space, address, bytes, lane);
  };
  d.change(apply, { wave: w, space, address, bytes: bytes.length, lane });
}

/** A value as bytes of a type; an integer gets what is before the point of a float. */
export function bytesOf(value: Value, type: ElementType): Uint8Array {
  const converted = type.kind === 'integer' && typeof value === 'number' ? Math.trunc(value) : value;
  if (type.kind === 'integer' && typeof converted === 'number' && !Number.isFinite(converted)) {
    throw new WavesmithError('run/bad-value', `${value} is not a value of ${type.name}.`);
  }
  const bytes = new Uint8Array(type.storageBits / 8);
  type.write(new DataView(bytes.buffer), 0, converted);
  return bytes;
}
