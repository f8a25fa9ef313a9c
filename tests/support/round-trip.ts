// One code object around the whole loop: listing against llvm-objdump, disassembly, both assemblers, comparison.
import { assemble } from '../../src/asm/assemble/assemble.ts';
import { disassembleCodeObject } from '../../src/asm/disassemble/disassemble.ts';
import { writeListing } from '../../src/asm/disassemble/listing.ts';
import { TextOutput } from '../../src/base/index.ts';
import { writeObject } from '../../src/codeobject/elf/write.ts';
import { ElfType, formatProcessorAndFeatures, readElf, targetIdOfFlags } from '../../src/codeobject/index.ts';
import { link } from '../../src/codeobject/link/link.ts';
import { assembleWithClang, linkWithLld, objdumpListing } from './build.ts';
import { roundTripDifferences } from './compare.ts';

export type Engine = 'wavesmith' | 'llvm';

/** Assembles (and for a linked object links) text with our own tools. */
export function buildWithWavesmith(text: string, isRelocatable: boolean): Uint8Array {
  const { object, diagnostics } = assemble(text, { file: 'round-trip.s' });
  if (object === undefined) {
    const shown = diagnostics.slice(0, 3).map((d) => `${d.line}:${d.column}: ${d.message}: ${d.sourceLine.trim()}`);
    throw new Error(`assembling failed: ${shown.join(' | ')}`);
  }
  return isRelocatable ? writeObject(object) : link([object], { undefinedSymbols: 'dynamic' });
}

function buildWithLlvm(text: string, target: string, isRelocatable: boolean): Uint8Array {
  const object = assembleWithClang(text, target);
  return isRelocatable ? object : linkWithLld([object]);
}

/** Disassembles, assembles with an engine and lists what differs; errors are differences too. */
export function roundTrip(bytes: Uint8Array, engine: Engine, text = disassembleCodeObject(bytes)): string[] {
  const { header } = readElf(bytes);
  const isRelocatable = header.type === ElfType.REL;
  const target = formatProcessorAndFeatures(targetIdOfFlags(header.flags, header.osAbi, header.abiVersion));
  try {
    const rebuilt =
      engine === 'wavesmith' ? buildWithWavesmith(text, isRelocatable) : buildWithLlvm(text, target, isRelocatable);
    return roundTripDifferences(bytes, rebuilt);
  } catch (error) {
    return [(error as Error).message];
  }
}

/** The listing of a code object, as `disasm --listing` prints it. */
export function listingText(bytes: Uint8Array): string {
  const chunks: Buffer[] = [];
  const out = new TextOutput((chunk) => chunks.push(Buffer.from(chunk)));
  writeListing(readElf(bytes), out);
  out.finish();
  return Buffer.concat(chunks).toString();
}

/** The lines in which our listing and llvm-objdump differ (the first few), and how many instructions there are. */
export function listingDifferences(bytes: Uint8Array): { count: number; different: number; examples: string[] } {
  const theirs = objdumpListing(bytes);
  const ours = listingText(bytes).split('\n').slice(0, -1);
  const examples: string[] = [];
  let different = Math.abs(ours.length - theirs.length);
  if (different > 0) examples.push(`${ours.length} lines instead of ${theirs.length}`);
  for (let i = 0; i < Math.min(ours.length, theirs.length); i++) {
    if (ours[i] === theirs[i]) continue;
    different++;
    if (examples.length < 4) examples.push(`'${ours[i]}' instead of '${theirs[i]}'`);
  }
  return { count: theirs.length, different, examples };
}
