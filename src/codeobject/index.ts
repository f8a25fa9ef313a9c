// The codeobject layer: what a file is. ELF code objects, descriptors, metadata, bundles, `.vmfb`, writer and linker.

export * from './bundle.ts';
export * from './code-object.ts';
export * from './container.ts';
export * from './elf/debug-line.ts';
export { lookupDynamicSymbol } from './elf/hash.ts';
export * from './elf/notes.ts';
export * from './elf/object-model.ts';
export * from './elf/read.ts';
export { relocationName } from './elf/relocation.ts';
export * from './elf/target-id.ts';
export { elfText } from './elf/text.ts';
export { readObject, writeObject } from './elf/write.ts';
export * from './inspect.ts';
export * from './kernel/descriptor.ts';
export * from './kernel/metadata.ts';
export * from './kernel/metadata-yaml.ts';
export * from './kernel/msgpack.ts';
export * from './kernel/occupancy.ts';
export { type LinkOptions, link } from './link/link.ts';
export * from './vmfb/bytecode.ts';
export * from './vmfb/dispatch.ts';
export * from './vmfb/executable.ts';
export * from './vmfb/patch.ts';
export * from './vmfb/vmfb.ts';
