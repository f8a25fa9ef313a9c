// The assembler's symbols: labels, variables, commons, numeric labels, and where they are.
// Sources: llvm/lib/MC/MCSymbol.cpp, MCSymbolELF.cpp, MCContext.cpp (temporary and directional labels).
import { SymbolBinding, SymbolType } from '../../codeobject/elf/object-model.ts';
import type { Expr } from '../../isa/text/expr.ts';
import type { Location } from '../assemble/source.ts';
import type { Fragment } from './sections.ts';

/** A common block (`.comm`, `.amdgpu_lds`): space that the linker or loader places. */
export interface CommonBlock {
  readonly size: bigint;
  readonly alignment: bigint;
  /** `.amdgpu_lds`: in LDS instead of memory. */
  readonly lds: boolean;
}

/** One symbol. `key` is unique; `name` is what is printed and written to the object. */
export class AsmSymbol {
  readonly key: string;
  readonly name: string;
  /** Assembler-local labels (`.L…`) stay out of the symbol table. */
  readonly isTemporary: boolean;
  /** A `SymbolBinding` once a directive has set one. */
  binding: number | undefined;
  type: number = SymbolType.NOTYPE;
  visibility = 0;
  size: Expr | undefined;
  /** Place of a label. */
  fragment: Fragment | undefined;
  offset = 0;
  /** Value of a variable (`.set`, `=`). */
  value: Expr | undefined;
  /** Assigned by `.set` or `=`, so it may be assigned again. */
  redefinable = false;
  common: CommonBlock | undefined;
  /** Where it was defined or first mentioned. */
  location: Location | undefined;
  /** Known to the object; position in the symbol table follows the order of registration. */
  registered = false;
  usedInRelocation = false;
  /** Assigned again since; only expressions read before refer to it, and the object does not list it. */
  isReplaced = false;
  isSignature = false;

  constructor(key: string, name: string, isTemporary: boolean) {
    this.key = key;
    this.name = name;
    this.isTemporary = isTemporary;
  }

  /** A label with a place. */
  get isLabel(): boolean {
    return this.fragment !== undefined;
  }

  get isDefined(): boolean {
    return this.fragment !== undefined || this.value !== undefined || this.common !== undefined;
  }

  /** The ELF binding, defaulted as LLVM does: local when defined, else global. */
  elfBinding(isDefined: boolean): number {
    if (this.binding !== undefined) return this.binding;
    if (isDefined) return SymbolBinding.LOCAL;
    if (this.usedInRelocation) return SymbolBinding.GLOBAL;
    return this.isSignature ? SymbolBinding.LOCAL : SymbolBinding.GLOBAL;
  }
}

/** All symbols of one assembly. */
export class SymbolTable {
  private readonly current = new Map<string, AsmSymbol>();
  private readonly byKey = new Map<string, AsmSymbol>();
  /** In order of registration. */
  readonly registered: AsmSymbol[] = [];
  private readonly nameTemporaries: boolean;
  private temporaries = 0;
  private clones = 0;
  private readonly instances = new Map<bigint, number>();
  private readonly directional = new Map<string, AsmSymbol>();

  constructor(nameTemporaries = false) {
    this.nameTemporaries = nameTemporaries;
  }

  /** The symbol a name means now, or undefined when it was never mentioned. */
  lookup(name: string): AsmSymbol | undefined {
    return this.current.get(name);
  }

  /** The symbol behind a key that stands in an expression. */
  get(key: string): AsmSymbol | undefined {
    return this.byKey.get(key);
  }

  /** The symbol a name means now, created when it is new. */
  getOrCreate(name: string): AsmSymbol {
    let symbol = this.current.get(name);
    if (symbol === undefined) {
      symbol = new AsmSymbol(name, name, name.startsWith('.L'));
      this.current.set(name, symbol);
      this.byKey.set(name, symbol);
    }
    return symbol;
  }

  /** True when some name was assigned again, so that names in new expressions must be turned into keys. */
  get hasClones(): boolean {
    return this.clones > 0;
  }

  /** A new symbol for a name that is assigned again; expressions read before keep the old one. */
  clone(symbol: AsmSymbol): AsmSymbol {
    this.clones++;
    const copy = new AsmSymbol(`${symbol.name}\0${this.clones}`, symbol.name, symbol.isTemporary);
    copy.binding = symbol.binding;
    copy.type = symbol.type;
    copy.visibility = symbol.visibility;
    copy.size = symbol.size;
    copy.redefinable = symbol.redefinable;
    this.current.set(symbol.name, copy);
    this.byKey.set(copy.key, copy);
    symbol.isReplaced = true;
    return copy;
  }

  /** Puts the symbol in the object's table (once). */
  register(symbol: AsmSymbol): void {
    if (symbol.registered) return;
    symbol.registered = true;
    this.registered.push(symbol);
  }

  /** A new temporary label: nameless, or `.Ltmp<n>` when labels are printed. */
  createTemporary(): AsmSymbol {
    let name = '.Ltmp';
    if (this.nameTemporaries) {
      do name = `.Ltmp${this.temporaries++}`;
      while (this.current.has(name));
    } else this.temporaries++;
    const key = `${name}\0tmp${this.temporaries}`;
    const symbol = new AsmSymbol(key, name, true);
    this.byKey.set(key, symbol);
    return symbol;
  }

  /** The label that `N:` defines here. */
  defineDirectional(label: bigint): AsmSymbol {
    const instance = (this.instances.get(label) ?? 0) + 1;
    this.instances.set(label, instance);
    return this.directionalInstance(label, instance);
  }

  /** The label that `Nb` or `Nf` means here; undefined for `Nb` without a label before. */
  referDirectional(label: bigint, direction: 'b' | 'f'): AsmSymbol | undefined {
    const instance = this.instances.get(label) ?? 0;
    if (direction === 'b') return instance === 0 ? undefined : this.directionalInstance(label, instance);
    return this.directionalInstance(label, instance + 1);
  }

  private directionalInstance(label: bigint, instance: number): AsmSymbol {
    const key = `${label}:${instance}`;
    let symbol = this.directional.get(key);
    if (symbol === undefined) {
      symbol = this.createTemporary();
      this.directional.set(key, symbol);
    }
    return symbol;
  }
}
