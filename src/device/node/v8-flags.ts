// What compiled matrix code needs of V8 that its version may have behind a flag.
import { setFlagsFromString } from 'node:v8';

/** The version that ships relaxed SIMD. Measured: 11.3 (Node 20.20) needs the flag, 12.4 (Node 22) needs none and has none. */
const SHIPS_RELAXED_SIMD = [11, 4] as const;

/** Turns relaxed SIMD on where it is behind a flag (Node 20). It must be on before the first module is compiled. */
export function enableRelaxedSimd(): void {
  const [major = 0, minor = 0] = process.versions.v8.split('.').map(Number);
  const [first, second] = SHIPS_RELAXED_SIMD;
  // Later versions have no such flag and print a complaint.
  if (major < first || (major === first && minor < second)) setFlagsFromString('--experimental-wasm-relaxed-simd');
}
