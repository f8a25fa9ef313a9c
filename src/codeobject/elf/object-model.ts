// A relocatable AMDGPU object in memory: what the assembler produces and the ELF writer and the linker consume.
// Field meanings are those of ELF64 (System V gABI, chapter 4) and of LLVM's AMDGPUUsage, "ELF Code Object".

/** Numbers of ELF64 that both producers and consumers of the model need. */
export const SectionType = {
  PROGBITS: 1,
  STRTAB: 3,
  NOTE: 7,
  NOBITS: 8,
  INIT_ARRAY: 14,
  FINI_ARRAY: 15,
  PREINIT_ARRAY: 16,
  LLVM_ADDRSIG: 0x6fff4c03,
} as const;

export const SectionFlag = {
  WRITE: 0x1,
  ALLOC: 0x2,
  EXECINSTR: 0x4,
  MERGE: 0x10,
  STRINGS: 0x20,
  INFO_LINK: 0x40,
  LINK_ORDER: 0x80,
  GROUP: 0x200,
  TLS: 0x400,
  GNU_RETAIN: 0x200000,
  EXCLUDE: 0x80000000,
} as const;

export const SymbolBinding = { LOCAL: 0, GLOBAL: 1, WEAK: 2 } as const;

export const SymbolType = {
  NOTYPE: 0,
  OBJECT: 1,
  FUNC: 2,
  SECTION: 3,
  FILE: 4,
  COMMON: 5,
  TLS: 6,
  AMDGPU_HSA_KERNEL: 10,
} as const;

export const SymbolVisibility = { DEFAULT: 0, INTERNAL: 1, HIDDEN: 2, PROTECTED: 3 } as const;

/** Relocation types of EM_AMDGPU (AMDGPUUsage, "Relocation Records"). */
export const RelocationType = {
  NONE: 0,
  ABS32_LO: 1,
  ABS32_HI: 2,
  ABS64: 3,
  REL32: 4,
  REL64: 5,
  ABS32: 6,
  GOTPCREL: 7,
  GOTPCREL32_LO: 8,
  GOTPCREL32_HI: 9,
  REL32_LO: 10,
  REL32_HI: 11,
  RELATIVE64: 13,
  REL16: 14,
} as const;

/** A COMDAT group; sections that carry the same object belong together. */
export interface ObjectGroup {
  readonly signature: string;
  readonly comdat: boolean;
}

/** A section with content. Tables that the file format needs (.symtab, .strtab, .rela.*, .group) are the writer's. */
export interface ObjectSection {
  name: string;
  /** sh_type, a `SectionType` or any other number. */
  type: number;
  /** sh_flags, a sum of `SectionFlag`. */
  flags: number;
  /** A power of two, at least 1. */
  alignment: number;
  /** sh_entsize, 0 when entries have no fixed size. */
  entrySize: number;
  /** Size in bytes; equals `bytes.length` unless the section is NOBITS (then `bytes` is empty). */
  size: number;
  bytes: Uint8Array;
  /** In ascending order of offset. */
  relocations: ObjectRelocation[];
  group?: ObjectGroup | undefined;
  /** The section that SHF_LINK_ORDER refers to. */
  linkedTo?: ObjectSection | undefined;
}

/** A symbol. Section symbols have type SECTION, an empty name and value 0. */
export interface ObjectSymbol {
  name: string;
  /** A `SymbolBinding`. */
  binding: number;
  /** A `SymbolType`. */
  type: number;
  /** A `SymbolVisibility`. */
  visibility: number;
  /** `common` symbols hold their alignment in `value`; `lds` is SHN_AMDGPU_LDS, alignment in `value` too. */
  section: ObjectSection | 'undefined' | 'absolute' | 'common' | 'lds';
  value: bigint;
  size: bigint;
}

/** One RELA record of a section. */
export interface ObjectRelocation {
  /** Byte offset within the section. */
  offset: number;
  /** A `RelocationType`. */
  type: number;
  /** Undefined for relocations without a symbol. */
  symbol: ObjectSymbol | undefined;
  addend: bigint;
}

/** A relocatable object. Sections and symbols are in file order; local symbols come before the others. */
export interface ObjectModel {
  /** e_flags: mach and feature bits. */
  flags: number;
  /** e_ident[EI_OSABI]: 64 for amdhsa. */
  osAbi: number;
  /** e_ident[EI_ABIVERSION]: code object version 4 is 2, 5 is 3, 6 is 4. */
  abiVersion: number;
  sections: ObjectSection[];
  symbols: ObjectSymbol[];
}
