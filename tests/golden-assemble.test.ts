// Golden encodings: assembling LLVM's text gives LLVM's bytes, for every line of the reference data.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encode } from '../src/isa/codec/encode.ts';
import { InstructionParser } from '../src/isa/parse/parse.ts';
import { TARGET_NAMES } from '../src/isa/table/target-names.ts';
import { Lexer } from '../src/isa/text/lexer.ts';
import { sharedPath } from './support/shared.ts';

describe.each(TARGET_NAMES)('%s', (target) => {
  const path = sharedPath('isa', 'golden', `${target}.asm.tsv.gz`);
  test.skipIf(path === undefined)('every golden line assembles to the golden bytes', () => {
    const lines = gunzipSync(readFileSync(path as string))
      .toString('latin1')
      .trim()
      .split('\n')
      .map((line) => line.split('\t') as [string, string]);
    const lexer = new Lexer(`${lines.map(([, text]) => text).join('\n')}\n`);
    const parser = new InstructionParser(lexer, {
      target,
      xnack: false,
      constant: () => undefined,
      here: () => '.Ltmp',
      numericLabel: () => undefined,
    });
    const wrong: string[] = [];
    for (const [hex, text] of lines) {
      lexer.nextStatement();
      const parsed = parser.parse();
      const ours = parsed === undefined ? 'refused' : Buffer.from(encode(parsed.instruction)).toString('hex');
      if (ours !== hex) wrong.push(`${text}: ${hex} expected, ${ours} made`);
    }
    expect(lines.length).toBeGreaterThan(30_000);
    expect(wrong).toEqual([]);
  });
});
