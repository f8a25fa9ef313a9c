// Whether an instruction's text assembles to the bytes it came from. Texts that do not are written as `.long`: encodings
// with bits that the text does not show, and registers that the target id forbids.
import type { TargetId } from '../../codeobject/index.ts';
import { encodeInto } from '../../isa/codec/encode.ts';
import type { TargetName } from '../../isa/index.ts';
import { InstructionParser, type ParseContext } from '../../isa/parse/parse.ts';
import { Lexer } from '../../isa/text/lexer.ts';

/** Texts parsed with one lexer: large enough to be cheap, small enough to stay in the cache. */
const CHUNK = 4096;
const MAX_BYTES = 32;

/** A text and the bytes it should give. */
export interface TextAndEncoding {
  readonly text: string;
  readonly encoding: Uint8Array;
}

/** For each item, whether parsing and encoding its text gives its bytes. */
export function areCanonical(items: readonly TextAndEncoding[], target: TargetName, id: TargetId): boolean[] {
  const context: ParseContext = {
    target,
    xnack: id.xnack === 'on',
    constant: () => undefined,
    here: () => '.',
    numericLabel: () => undefined,
  };
  const results: boolean[] = [];
  for (let start = 0; start < items.length; start += CHUNK) {
    checkChunk(items.slice(start, start + CHUNK), context, results);
  }
  return results;
}

function checkChunk(items: readonly TextAndEncoding[], context: ParseContext, results: boolean[]): void {
  const lexer = new Lexer(items.map((item) => item.text).join('\n'));
  const parser = new InstructionParser(lexer, context);
  const buffer = new Uint8Array(MAX_BYTES);
  items.forEach((item, i) => {
    // A statement is a line; should a text hold more than one, the ones behind it stay in step.
    let isThere = lexer.nextStatement();
    while (isThere && lexer.line < i + 1) isThere = lexer.nextStatement();
    const parsed = isThere && lexer.line === i + 1 ? parser.parse() : undefined;
    lexer.diagnostics.length = 0;
    results.push(
      parsed !== undefined &&
        parsed.fixups.length === 0 &&
        sameBytes(buffer, encodeInto(parsed.instruction, buffer, 0), item.encoding),
    );
  });
}

function sameBytes(bytes: Uint8Array, size: number, expected: Uint8Array): boolean {
  if (size !== expected.length) return false;
  for (let i = 0; i < size; i++) if (bytes[i] !== expected[i]) return false;
  return true;
}
