// References as assembler expressions: the operand text of a relocation or of a recovered pc-relative address.
// Source: AMDGPUUsage, "Relocation Records"; LLVM's AMDGPUELFObjectWriter.cpp (specifier and field width to type).
import { RelocationType } from '../../codeobject/index.ts';

/** Relocation types with the specifier after the symbol that makes them, in instructions and in data. */
export const RELOCATION_SPECIFIERS: ReadonlyMap<number, string> = new Map([
  [RelocationType.ABS32_LO, '@abs32@lo'],
  [RelocationType.ABS32_HI, '@abs32@hi'],
  [RelocationType.GOTPCREL, '@gotpcrel'],
  [RelocationType.GOTPCREL32_LO, '@gotpcrel32@lo'],
  [RelocationType.GOTPCREL32_HI, '@gotpcrel32@hi'],
  [RelocationType.REL32_LO, '@rel32@lo'],
  [RelocationType.REL32_HI, '@rel32@hi'],
]);

const RELOCATION_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(RelocationType).map(([name, type]) => [type, `R_AMDGPU_${name}`]),
);

/** `R_AMDGPU_ABS64`, or undefined for a type the ABI does not define. */
export function relocationName(type: number): string | undefined {
  return RELOCATION_NAMES.get(type);
}

/** `name`, `name+4`, `name@rel32@lo-8`. */
export function expressionText(name: string, addend: bigint | number, specifier = ''): string {
  if (addend === 0 || addend === 0n) return `${name}${specifier}`;
  return `${name}${specifier}${addend > 0 ? '+' : ''}${addend}`;
}

/** A data directive (`.quad expr`) with the size it fills, or undefined when no directive makes this relocation. */
export function dataReference(
  type: number,
  name: string,
  addend: bigint | number,
): { readonly line: string; readonly size: number } | undefined {
  switch (type) {
    case RelocationType.ABS64:
    case RelocationType.RELATIVE64:
      return { line: `.quad ${expressionText(name, addend)}`, size: 8 };
    case RelocationType.ABS32:
      return { line: `.long ${expressionText(name, addend)}`, size: 4 };
    case RelocationType.REL64:
      return { line: `.quad ${expressionText(name, addend, '-.')}`, size: 8 };
    case RelocationType.REL32:
      return { line: `.long ${expressionText(name, addend, '-.')}`, size: 4 };
    default: {
      const specifier = RELOCATION_SPECIFIERS.get(type);
      return specifier === undefined
        ? undefined
        : { line: `.long ${expressionText(name, addend, specifier)}`, size: 4 };
    }
  }
}
