// Symbols as directives: binding, visibility, type, label and size.
// Source: System V gABI, "Symbol Table"; the ELF directives of LLVM's ELFAsmParser.cpp.
import { type ElfSymbol, SymbolBinding, SymbolType, SymbolVisibility } from '../../codeobject/index.ts';

const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [SymbolType.OBJECT, 'object'],
  [SymbolType.FUNC, 'function'],
  [SymbolType.COMMON, 'common'],
  [SymbolType.TLS, 'tls_object'],
]);

const VISIBILITY_DIRECTIVES: ReadonlyMap<number, string> = new Map([
  [SymbolVisibility.HIDDEN, '.hidden'],
  [SymbolVisibility.INTERNAL, '.internal'],
  [SymbolVisibility.PROTECTED, '.protected'],
]);

/** The directives for binding and visibility; `isImplicitlyProtected` leaves `.protected` to `.amdhsa_kernel`. */
export function bindingLines(name: string, symbol: ElfSymbol, isImplicitlyProtected = false): string[] {
  const lines: string[] = [];
  if (symbol.binding === SymbolBinding.WEAK) lines.push(`\t.weak\t${name}`);
  else if (symbol.binding !== SymbolBinding.LOCAL) lines.push(`\t.globl\t${name}`);
  const visibility = VISIBILITY_DIRECTIVES.get(symbol.visibility);
  if (visibility !== undefined && !isImplicitlyProtected) lines.push(`\t${visibility}\t${name}`);
  return lines;
}

/** Everything that precedes and makes a definition: binding, visibility, type and the label itself. */
export function definitionLines(name: string, symbol: ElfSymbol, isImplicitlyProtected = false): string[] {
  const lines = bindingLines(name, symbol, isImplicitlyProtected);
  const type = TYPE_NAMES.get(symbol.type);
  if (type !== undefined) lines.push(`\t.type\t${name},@${type}`);
  lines.push(`${name}:`);
  return lines;
}
