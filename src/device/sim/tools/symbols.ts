// Names of code addresses for the run tools: symbols of the executable sections, and how `--break` and the filters name a place.
// An address is the ELF's virtual address, as listings print it. Source: ELF gABI (symbol table).
import { isFunctionNamed, WavesmithError } from '../../../base/index.ts';
import { type CodeObject, SectionFlag, SymbolType } from '../../../codeobject/index.ts';
import {
  branchTarget,
  type Instruction,
  isTargetName,
  printInstruction,
  type TargetName,
  targetInfo,
} from '../../../isa/index.ts';
import { PRELOAD_STUB } from '../../../program/index.ts';

/** Where a code address comes from in the source, when there is debug information. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
}

/** A named address. */
export interface CodeSymbol {
  readonly name: string;
  readonly address: number;
  /** 0 when the symbol has none: it then reaches to the next one. */
  readonly size: number;
}

/**
 * The name of a function in the source, without namespaces and template arguments: `add` for `_ZN4math3addIfEEvPT_`. Names that are not
 * mangled, and those of operators and constructors, are given as they are. Source: Itanium C++ ABI, "Mangling".
 */
export function sourceName(symbol: string): string {
  let at = /^_Z(?:L|N[rVK]*[RO]?)*/.exec(symbol)?.[0].length ?? 0;
  let name: string | undefined;
  for (;;) {
    // The length of a name, which substitutions (St) and internal linkage (L) may stand before.
    const found = at === 0 ? null : /^(?:S[a-z0-9A-Z]?_?|L)?([1-9]\d{0,4})/.exec(symbol.slice(at));
    if (found === null) return name ?? symbol;
    const length = Number(found[1]);
    const begin = at + found[0].length;
    name = symbol.slice(begin, begin + length);
    if (!/^_ZL?N/.test(symbol)) return name;
    at = begin + length;
  }
}

/** The symbols of a code object's code. */
export class CodeSymbols {
  /** Sorted by address; functions before other labels of the same address. */
  readonly symbols: readonly CodeSymbol[];
  private readonly byName = new Map<string, CodeSymbol>();
  /** Bounds of the executable sections. */
  readonly first: number;
  readonly end: number;
  private readonly entry: number;
  /** Entries of kernels whose execution begins behind the code there, which loads arguments where hardware does not preload them. */
  private readonly preloaded: readonly number[];
  private readonly sizeAt: (address: number) => number | undefined;

  /** `entry` is where the kernel starts: `+N` counts from there. `sizeAt` gives the bytes of the instruction at an address. */
  constructor(codeObject: CodeObject, entry: number, sizeAt: (address: number) => number | undefined) {
    this.sizeAt = sizeAt;
    const { elf } = codeObject;
    const isCode = (flags: bigint) => (flags & BigInt(SectionFlag.EXECINSTR)) !== 0n;
    const table = elf.symbols.length > 0 ? elf.symbols : elf.dynamicSymbols;
    this.symbols = table
      .filter((s) => s.name !== '' && s.section !== undefined && isCode(s.section.flags))
      .filter((s) => s.type === SymbolType.NOTYPE || s.type === SymbolType.FUNC)
      .sort((a, b) => Number(a.value - b.value) || b.type - a.type)
      .map((s) => ({ name: s.name, address: Number(s.value), size: Number(s.size) }));
    for (const symbol of this.symbols) if (!this.byName.has(symbol.name)) this.byName.set(symbol.name, symbol);
    const code = elf.sections.filter((s) => isCode(s.flags));
    this.first = Math.min(...code.map((s) => s.address));
    this.end = Math.max(...code.map((s) => s.address + s.size));
    this.entry = entry;
    const { processor } = codeObject.target;
    const preloads = isTargetName(processor) && targetInfo(processor).kernargPreload;
    this.preloaded = codeObject.kernels.flatMap(({ descriptor, entry: at }) =>
      preloads && at !== undefined && (descriptor?.preload.length ?? 0) > 0 ? [at] : [],
    );
  }

  /** An address, or where execution begins instead when it is in code that hardware skips because it preloads arguments. */
  executedAt(address: number): number {
    const entry = this.preloaded.find((at) => address >= at && address < at + PRELOAD_STUB);
    return entry === undefined ? address : entry + PRELOAD_STUB;
  }

  /** `name` or `name+0x1c` for an address, from the closest symbol before it. */
  nameOf(address: number): string | undefined {
    let low = 0;
    let high = this.symbols.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.symbols[middle] as CodeSymbol).address <= address) low = middle + 1;
      else high = middle;
    }
    const symbol = this.symbols[low - 1];
    if (symbol === undefined || address >= this.end) return undefined;
    const offset = address - symbol.address;
    return offset === 0 ? symbol.name : `${symbol.name}+0x${offset.toString(16)}`;
  }

  /** Where the function that an address belongs to begins. */
  beginOf(address: number): number | undefined {
    return this.symbols.findLast((s) => s.address <= address && s.size > 0 && address < s.address + s.size)?.address;
  }

  /** The label that stands exactly at an address. */
  labelAt(address: number): string | undefined {
    return this.symbols.find((s) => s.address === address)?.name;
  }

  /** An instruction's text; a branch target is its label, or the closest label before it and a distance. */
  textOf(target: TargetName, instruction: Instruction, address: number): string {
    const text = printInstruction(target, instruction).trim();
    const to = branchTarget(instruction, address);
    const name = to === undefined ? undefined : this.nameOf(to);
    return name === undefined ? text : text.replace(/-?\w+$/, () => name);
  }

  /** Functions that the source calls so. */
  private writtenAs(name: string): readonly CodeSymbol[] {
    const isQualified = /[:(<]/.test(name);
    return this.symbols.filter(
      (s) => s.name !== name && (sourceName(s.name) === name || (isQualified && isFunctionNamed(s.name, name))),
    );
  }

  /**
   * The address a text names: `0x1800`, `6144`, `label`, `label+0x10`, or `+0x10` from the kernel's first instruction. A label may be
   * written as in the source, with or without namespaces and parameters, where one function is called so.
   */
  resolve(text: string): number {
    const match = /^([^+]*?)(?:\+(0x[0-9a-f]{1,12}|\d{1,12}))?$/i.exec(text.trim());
    const name = match?.[1] ?? '';
    const offset = match?.[2] === undefined ? 0 : Number(match[2]);
    let base: number | undefined;
    if (name === '' && match?.[2] !== undefined) base = this.entry;
    else if (this.byName.has(name)) base = this.byName.get(name)?.address;
    else if (this.writtenAs(name).length === 1) base = this.writtenAs(name)[0]?.address;
    else if (/^(0x[0-9a-f]{1,12}|\d{1,12})$/i.test(name)) base = Number(name);
    if (base === undefined) {
      const several = this.writtenAs(name).map((s) => s.name);
      const known = several.length > 1 ? several : [...this.byName.keys()];
      const what = several.length > 1 ? 'the name of several functions' : 'neither an address nor a label of the code';
      throw new WavesmithError('run/no-such-place', `'${text}' is ${what}.`, {
        hint: `Labels: ${known.slice(0, 12).join(', ')}${known.length > 12 ? ', …' : ''}; +N counts from the kernel's start.`,
      });
    }
    const address = base + offset;
    if (address < this.first || address >= this.end || address % 4 !== 0) {
      throw new WavesmithError(
        'run/no-such-place',
        `'${text}' is 0x${address.toString(16)}, which is not an instruction address in 0x${this.first.toString(16)} to 0x${this.end.toString(16)}.`,
        { hint: "'wavesmith disasm --listing' shows the addresses." },
      );
    }
    return address;
  }

  /** The same for a place where execution can stop: an address inside an instruction is refused. */
  resolveInstruction(text: string): number {
    const address = this.resolve(text);
    let at = this.first;
    for (const symbol of this.symbols) if (symbol.address <= address) at = Math.max(at, symbol.address);
    let previous = at;
    while (at < address) {
      previous = at;
      at += this.sizeAt(at) ?? 4;
    }
    if (at === address) return address;
    throw new WavesmithError(
      'run/no-such-place',
      `'${text}' is 0x${address.toString(16)}, inside the instruction at 0x${previous.toString(16)}.`,
      { hint: "'wavesmith disasm --listing' shows where instructions begin." },
    );
  }
}
