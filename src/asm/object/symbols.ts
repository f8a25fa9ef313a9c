// The assembler's symbols: labels, variables, commons, numeric labels, and where they are.
// Sources: llvm/lib/MC/MCSymbol.cpp, MCSymbolELF.cpp, MCContext.cpp (temporary and directional labels).
import { AsmSymbol } from './model.ts';

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
