// Fuzz target: ELF files: symbols, relocations, dynamic table, kernels, the printed text, and writing and linking them.
import {
  elfText,
  link,
  lookupDynamicSymbol,
  readCodeObject,
  readElf,
  readObject,
  writeObject,
} from '../../src/codeobject/index.ts';
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
    for (const table of ['gnu', 'sysv'] as const) lookupDynamicSymbol(elf, 'k.kd', table);
    if (elf.header.type === 1 && elf.header.machine === 224) {
      const object = readObject(elf);
      writeObject(object);
      link([object]);
    }
    if (elf.header.machine === 224) readCodeObject(bytes);
    elfText(elf);
  },
};
