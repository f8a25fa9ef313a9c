// Room `codeobject`: what a file is: ELF code objects with their kernels, and everything that holds them (bundles, host programs, IREE
// modules). Reading trusts no offset; writing gives the bytes that LLVM's tools give.
// Begin with code-object.ts, the form that all other rooms work on; container.ts opens any file.
export {
  BUNDLE_MAGIC,
  type Bundle,
  type BundleEntry,
  bundleKind,
  readBundle,
  readBundles,
  writeBundle,
  writeCompressedBundle,
} from './bundle.ts';
export { type CodeObject, type Kernel, readCodeObject } from './code-object.ts';
export { type Container, type ContainerKind, codeObjectsOf, openContainer } from './container.ts';
export { declaration } from './elf/debug-declaration.ts';
export { debugInfo } from './elf/debug-info.ts';
export { type DebugLine, type DebugLines, debugLines } from './elf/debug-line.ts';
export type { ComputedStep, DebugPlace, DebugRegister, IntegerType, ValueOperation } from './elf/debug-place.ts';
export type { DebugFrame, DebugInfo, DebugMember, DebugType, DebugVariable } from './elf/debug-types.ts';
export { lookupDynamicSymbol } from './elf/hash.ts';
export {
  AMDGPU_NOTE_OWNER,
  type ElfNote,
  metadataNotes,
  NT_AMDGPU_METADATA,
  notesOf,
  readNotes,
  writeNote,
} from './elf/notes.ts';
export {
  type ObjectGroup,
  type ObjectModel,
  type ObjectRelocation,
  type ObjectSection,
  type ObjectSymbol,
  RelocationType,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
  SymbolVisibility,
} from './elf/object-model.ts';
export {
  type ElfDynamicEntry,
  ElfFile,
  type ElfHeader,
  ElfMachine,
  type ElfRelocation,
  type ElfRelocationSection,
  type ElfSection,
  ElfSectionType,
  type ElfSegment,
  type ElfSymbol,
  ElfType,
  isElf,
  readElf,
  SectionIndex,
  SegmentType,
} from './elf/read.ts';
export { relocationName } from './elf/relocation.ts';
export {
  AMDHSA_TRIPLE,
  codeObjectVersion,
  type FeatureSetting,
  featureSupport,
  flagsOfTargetId,
  formatProcessorAndFeatures,
  formatTargetId,
  isCompatible,
  machOfProcessor,
  parseTargetId,
  processorOfFlags,
  type TargetId,
  targetIdOfFlags,
} from './elf/target-id.ts';
export { elfText } from './elf/text.ts';
export { readObject, writeObject } from './elf/write.ts';
export {
  type ArgumentReport,
  type CodeObjectReport,
  type ContainerReport,
  type ExtractedCodeObject,
  extractCodeObjects,
  type InspectReport,
  inspectCodeObject,
  inspectContainer,
  inspectFile,
  type KernelReport,
} from './inspect.ts';
export {
  CODE_PROPERTY_FIELDS,
  type DescriptorField,
  type DescriptorRegisters,
  decodeDescriptor,
  descriptorRegisters,
  encodeDescriptor,
  KERNEL_DESCRIPTOR_SIZE,
  type KernelDescriptor,
  type KernelDescriptorWords,
  PRELOAD_FIELDS,
  RSRC1_FIELDS,
  RSRC2_FIELDS,
  RSRC3_FIELDS,
  readDescriptorWords,
  writeDescriptorWords,
} from './kernel/descriptor.ts';
export {
  type CodeObjectMetadata,
  encodeMetadata,
  type KernelArgument,
  type KernelMetadata,
  metadataFromDocument,
  readMetadata,
} from './kernel/metadata.ts';
export { metadataFromYaml, metadataToYaml, type YamlOrigin } from './kernel/metadata-yaml.ts';
export {
  compareKeys,
  decodeMsgPack,
  encodeMsgPack,
  MsgPackExtension,
  type MsgPackMap,
  type MsgPackValue,
  sortedEntries,
} from './kernel/msgpack.ts';
export {
  type KernelResources,
  kernelOccupancy,
  kernelResources,
  type Occupancy,
  type OccupancyLimit,
  occupancy,
} from './kernel/occupancy.ts';
export { type LinkOptions, link } from './link/link.ts';
export {
  decodeVmInstruction,
  isKnownBytecode,
  listRegister,
  type VmInstruction,
  type VmRegister,
} from './vmfb/bytecode.ts';
export { readDispatches, type VmfbDispatch, type VmfbDispatchBinding } from './vmfb/dispatch.ts';
export {
  EXECUTABLE_HEADER_SIZE,
  type ExecutableBlob,
  type ExecutableExport,
  type ExecutableFormat,
  type ExecutableImage,
  executableFormat,
  readExecutable,
} from './vmfb/executable.ts';
export { needsParameters, readParameters, type VmfbParameter } from './vmfb/parameters.ts';
export {
  inconsistentEntries,
  patchExecutables,
  type VmfbChange,
  type VmfbPatchResult,
  type VmfbPatchStep,
} from './vmfb/patch.ts';
export type { DimensionQuery, PropagationOptions, ViewSize } from './vmfb/propagate.ts';
export { readSignatures, type VmfbSignature, type VmfbType } from './vmfb/signature.ts';
export {
  isVmfb,
  readVmfb,
  type Vmfb,
  type VmfbBytecode,
  type VmfbExecutable,
  type VmfbFunction,
  type VmfbRodata,
} from './vmfb/vmfb.ts';
