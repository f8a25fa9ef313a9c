// The codeobject layer: what a file is. ELF code objects, descriptors, metadata, bundles, `.vmfb`, writer and linker.

export * from './bundle.ts';
export * from './code-object.ts';
export * from './container.ts';
export * from './debug-line.ts';
export * from './descriptor.ts';
export * from './elf.ts';
export { lookupDynamicSymbol } from './elf-hash.ts';
export { elfText } from './elf-text.ts';
export { readObject, writeObject } from './elf-write.ts';
export * from './inspect.ts';
export { type LinkOptions, link } from './link.ts';
export * from './metadata.ts';
export * from './metadata-yaml.ts';
export * from './msgpack.ts';
export * from './notes.ts';
export * from './object-model.ts';
export * from './occupancy.ts';
export { relocationName } from './relocation.ts';
export * from './target-id.ts';
export * from './vmfb.ts';
export * from './vmfb-bytecode.ts';
export * from './vmfb-dispatch.ts';
export * from './vmfb-executable.ts';
export * from './vmfb-patch.ts';
