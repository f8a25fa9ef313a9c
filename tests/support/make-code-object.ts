// Makes small code objects at test time with the project's own writers: one kernel, descriptor, metadata, relocations.
import {
  encodeMetadata,
  flagsOfTargetId,
  link,
  metadataFromYaml,
  type ObjectModel,
  type ObjectSection,
  type ObjectSymbol,
  parseTargetId,
  RelocationType,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
  SymbolVisibility,
  writeDescriptorWords,
  writeNote,
  writeObject,
} from '../../src/codeobject/index.ts';

export interface MadeCodeObject {
  kernel?: string;
  targetId?: string;
  /** Code object version, 4 to 6. */
  version?: number;
  code?: Uint8Array;
}

const S_ENDPGM = new Uint8Array([0, 0, 0x81, 0xbf]);

/** A relocatable object with one kernel. */
export function makeObject(options: MadeCodeObject = {}): ObjectModel {
  const { kernel = 'k', targetId = 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-', version = 5 } = options;
  const section = (name: string, type: number, flags: number, alignment: number, bytes: Uint8Array): ObjectSection => ({
    name,
    type,
    flags,
    alignment,
    entrySize: 0,
    size: bytes.length,
    bytes,
    relocations: [],
  });
  const text = section(
    '.text',
    SectionType.PROGBITS,
    SectionFlag.ALLOC | SectionFlag.EXECINSTR,
    256,
    options.code ?? S_ENDPGM,
  );
  const descriptor = writeDescriptorWords({
    groupSegmentFixedSize: 1024,
    privateSegmentFixedSize: 16,
    kernargSize: 16,
    kernelCodeEntryByteOffset: 0n,
    computePgmRsrc1: 0x00af0082,
    computePgmRsrc2: 0x84,
    computePgmRsrc3: 3,
    kernelCodeProperties: 8,
    kernargPreload: 0,
  });
  const rodata = section('.rodata', SectionType.PROGBITS, SectionFlag.ALLOC, 64, descriptor);
  const metadata = metadataFromYaml(`
amdhsa.kernels:
  - .agpr_count: 4
    .args:
      - {.address_space: global, .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .type_name: 'float*'}
      - {.name: n, .offset: 8, .size: 4, .value_kind: by_value, .type_name: int}
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 256
    .name: ${kernel}
    .private_segment_fixed_size: 16
    .reqd_workgroup_size: [64, 4, 1]
    .sgpr_count: 20
    .sgpr_spill_count: 0
    .symbol: ${kernel}.kd
    .vgpr_count: 20
    .vgpr_spill_count: 2
    .wavefront_size: 64
amdhsa.target: ${targetId}
amdhsa.version: [1, ${version - 3}]
`);
  const note = section(
    '.note',
    SectionType.NOTE,
    SectionFlag.ALLOC,
    4,
    writeNote('AMDGPU', 32, encodeMetadata(metadata)),
  );
  const symbol = (name: string, type: number, where: ObjectSection, size: number): ObjectSymbol => ({
    name,
    binding: SymbolBinding.GLOBAL,
    type,
    visibility: SymbolVisibility.PROTECTED,
    section: where,
    value: 0n,
    size: BigInt(size),
  });
  const entry = symbol(kernel, SymbolType.FUNC, text, text.size);
  rodata.relocations = [{ offset: 16, type: RelocationType.REL64, symbol: entry, addend: 16n }];
  return {
    flags: flagsOfTargetId(parseTargetId(targetId), version),
    osAbi: 64,
    abiVersion: version - 2,
    sections: [text, rodata, note],
    symbols: [entry, symbol(`${kernel}.kd`, SymbolType.OBJECT, rodata, 64)],
  };
}

/** The relocatable file. */
export function makeObjectFile(options: MadeCodeObject = {}): Uint8Array {
  return writeObject(makeObject(options));
}

/** The linked code object. */
export function makeCodeObject(options: MadeCodeObject = {}): Uint8Array {
  return link([makeObject(options)]);
}

/** A host ELF file (x86-64) with a `.hip_fatbin` section. */
export function makeHostElf(fatBinary: Uint8Array): Uint8Array {
  const bytes = writeObject({
    flags: 0,
    osAbi: 0,
    abiVersion: 0,
    sections: [
      {
        name: '.hip_fatbin',
        type: SectionType.PROGBITS,
        flags: SectionFlag.ALLOC,
        alignment: 4096,
        entrySize: 0,
        size: fatBinary.length,
        bytes: fatBinary,
        relocations: [],
      },
    ],
    symbols: [],
  });
  new DataView(bytes.buffer).setUint16(18, 62, true);
  return bytes;
}
