// The golden encodings of the reference data: our text is LLVM 22's on every line.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decoderFor } from '../src/isa/codec/decode.ts';
import { printerFor } from '../src/isa/print/print.ts';
import { TARGET_NAMES } from '../src/isa/table/target-names.ts';
import type { TargetName } from '../src/isa/types.ts';
import { sharedPath } from './support/shared.ts';

/** The text of an encoding that is exactly one instruction, else an empty text. */
function textOf(target: TargetName, bytes: Uint8Array): string {
  const instruction = decoderFor(target).decode(bytes, 0);
  return instruction?.size === bytes.length ? printerFor(target).print(instruction) : '';
}

describe.each(TARGET_NAMES)('%s', (target) => {
  const golden = sharedPath('isa', 'golden', `${target}.tsv.gz`);
  test.skipIf(golden === undefined)('golden encodings decode to their text', () => {
    const lines = gunzipSync(readFileSync(golden as string))
      .toString('utf8')
      .trim()
      .split('\n');
    expect(lines.length).toBeGreaterThan(30_000);
    const wrong = lines.filter((line) => {
      const [hex = '', text] = line.split('\t');
      return textOf(target, Buffer.from(hex, 'hex')) !== text;
    });
    expect(wrong).toEqual([]);
  });

  const crashes = sharedPath('isa', 'golden', `llvm22-disasm-crashes-${target}.txt`);
  test.skipIf(crashes === undefined)('bytes that crash LLVM have an answer', () => {
    const lines = readFileSync(crashes as string, 'utf8')
      .trim()
      .split('\n');
    for (const line of lines) {
      const bytes = Buffer.from(line.split('\t')[0] ?? '', 'hex');
      const instruction = decoderFor(target).decode(bytes, 0);
      if (instruction !== undefined) expect(printerFor(target).print(instruction)).toContain(instruction.row.mnemonic);
    }
  });
});
