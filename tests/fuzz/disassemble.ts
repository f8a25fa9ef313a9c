// Fuzz target: the disassembler and the listing on damaged code objects.
import { disassembleCodeObject } from '../../src/asm/disassemble/disassemble.ts';
import { listCodeObject } from '../../src/asm/disassemble/listing.ts';
import { readElf } from '../../src/codeobject/index.ts';
import { buildWithWavesmith } from '../support/round-trip.ts';
import { sampleText } from '../support/sample.ts';

const target = {
  name: 'disassemble',
  seeds(): Uint8Array[] {
    return ['gfx90a', 'gfx942', 'gfx950:xnack-'].flatMap((name) => [
      buildWithWavesmith(sampleText(name), false),
      buildWithWavesmith(sampleText(name), true),
    ]);
  },
  run(bytes: Uint8Array): void {
    const elf = readElf(bytes);
    disassembleCodeObject({ elf });
    for (const { lines } of listCodeObject(elf)) for (const line of lines) line.text.at(0);
  },
};

export default target;
