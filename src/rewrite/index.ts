// Room `rewrite`: the only place that moves code. An edit list on a lifted program becomes a code object that is laid out again:
// branches, addresses, relocations, symbols, descriptors and metadata follow; what was not asked for stays bit for bit.
// Begin with types.ts (what can be asked), then rewrite.ts; cuts.ts says where code is cut, layout.ts where the pieces go, islands.ts how
// far branches get there, references.ts what must be mended, image.ts what the file says about it.
export { pcMapOf } from './pc-map.ts';
export { unfollowedAddresses } from './references.ts';
export { rewriteCodeObject, rewriteProgram } from './rewrite.ts';
export type {
  CodeEdits,
  DataReference,
  KernelChange,
  MemoryReference,
  PcMap,
  RewriteOptions,
  RewriteResult,
} from './types.ts';
