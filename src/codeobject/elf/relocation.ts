// Names and sizes of the relocations of EM_AMDGPU. Source: LLVM's AMDGPUUsage, "Relocation Records".
import { WavesmithError } from '../../base/index.ts';
import { RelocationType } from './object-model.ts';

const RELOCATION_NAMES = new Map<number, string>(Object.entries(RelocationType).map(([name, value]) => [value, name]));

/** `R_AMDGPU_REL32_LO`; unknown numbers give undefined. */
export function relocationName(type: number): string | undefined {
  const name = RELOCATION_NAMES.get(type);
  return name === undefined ? undefined : `R_AMDGPU_${name}`;
}

/** Bytes that a relocation patches; an unknown type is an error that names `where`. */
export function relocationWidth(type: number, where: string): number {
  switch (type) {
    case RelocationType.NONE:
      return 0;
    case RelocationType.REL16:
      return 2;
    case RelocationType.ABS64:
    case RelocationType.REL64:
      return 8;
    default:
      if (relocationName(type) !== undefined && type !== RelocationType.RELATIVE64) return 4;
      throw new WavesmithError('link/unknown-relocation', `Relocation type ${type} at ${where} is not known.`);
  }
}
