// The e_flags of a link. Source: LLVM's AMDGPUUsage, "ELF Header"; lld/ELF/Arch/AMDGPU.cpp.
import { WavesmithError } from '../../base/index.ts';
import type { ObjectModel } from '../elf/object-model.ts';

/** e_flags of the output: from code object v4 on, "any" gives way to what another object asks for. */
export function mergeFlags(objects: readonly ObjectModel[]): number {
  const first = objects[0];
  let flags = first.flags;
  for (const object of objects.slice(1)) {
    const fail = (what: string) =>
      new WavesmithError('link/incompatible', `The objects do not fit together: they differ in ${what}.`, {
        hint: 'Assemble all objects for the same target id and code object version.',
      });
    if (object.abiVersion !== first.abiVersion || object.osAbi !== first.osAbi) throw fail('code object version');
    if (first.abiVersion < 2) {
      if (object.flags !== flags) throw fail('target or features');
      continue;
    }
    if (((object.flags ^ flags) & 0xff) !== 0) throw fail('target');
    if ((object.flags ^ flags) >>> 24 !== 0) throw fail('generic version');
    for (const [shift, name] of [
      [8, 'xnack'],
      [10, 'sramecc'],
    ] as const) {
      const ours = (flags >> shift) & 3;
      const theirs = (object.flags >> shift) & 3;
      if (ours === theirs || theirs === 1) {
        if (ours === 0 && theirs === 1) throw fail(name);
        continue;
      }
      if (ours !== 1) throw fail(name);
      flags = (flags & ~(3 << shift)) | (theirs << shift);
    }
  }
  return flags >>> 0;
}
