// Fuzz target: ELF files, with everything a reader asks of them (symbols, relocations, dynamic table, kernels).
import { readCodeObject, readElf, readObject } from '../../src/codeobject/index.ts';
import { makeCodeObject, makeHostElf, makeObjectFile } from '../support/make-code-object.ts';

export default {
  name: 'elf',
  seeds: () => [
    makeCodeObject(),
    makeObjectFile({ version: 6 }),
    makeObjectFile({ version: 4, targetId: 'amdgcn-amd-amdhsa--gfx90a' }),
    makeHostElf(new Uint8Array(64)),
  ],
  run(bytes: Uint8Array): void {
    const elf = readElf(bytes);
    for (const symbol of [...elf.symbols, ...elf.dynamicSymbols]) elf.bytesOf(symbol);
    for (const table of elf.relocationSections) void table.relocations.length;
    void elf.dynamicEntries;
    if (elf.header.type === 1 && elf.header.machine === 224) readObject(elf);
    if (elf.header.machine === 224) readCodeObject(bytes);
  },
};
