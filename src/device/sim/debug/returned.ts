// The value that a function has returned, as the calling convention of AMD GPUs has it: in vector registers from v0 on.
// Source: LLVM's AMDGPUUsage, "Calling Conventions", and clang's AMDGPUABIInfo::classifyReturnType (aggregates of at most 64 bits are
// packed into registers; those of larger ones depend on their members and are not read here).
import type { DebugType } from '../../../codeobject/index.ts';
import { LANES, type Wave } from '../state/wave.ts';
import type { Load, ShownVariable } from './typed.ts';

/** What a lane of a wave that has just returned got, or undefined for `void` and where the type does not say in which registers it is. */
export function returnedValue(
  type: DebugType | undefined,
  w: Wave,
  lane: number,
  load: Load,
): ShownVariable | undefined {
  if (type === undefined || type.bytes === 0 || type.bytes > 8 || type.kind === 'unknown') return undefined;
  const names = Array.from({ length: Math.ceil(type.bytes / 4) }, (_, i) => `v${i}[${lane}]`);
  const words = Int32Array.from(names, (_, i) => w.vgprs[i * LANES + lane] as number);
  const bytes = new Uint8Array(words.buffer).slice(0, type.bytes);
  // A bool is one bit.
  if (type.kind === 'bool') bytes[0] = (bytes[0] as number) & 1;
  const home = { kind: 'registers', names, offset: 0 } as const;
  return { name: '', kind: 'local', type, bytes, why: '', home, wave: w, lane, load };
}
