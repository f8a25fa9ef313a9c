// Whether an instruction's text assembles to the bytes it came from. Texts that do not are written as `.long`: encodings
// with bits that the text does not show, and registers that the target id forbids.
import type { TargetId } from '../../codeobject/index.ts';
import { encodeInto } from '../../isa/codec/encode.ts';
import type { TargetName } from '../../isa/index.ts';
import { InstructionParser, type ParseContext } from '../../isa/parse/parse.ts';
import { Lexer } from '../../isa/text/lexer.ts';
import type { InstructionCache } from './cache.ts';

/** Texts parsed with one lexer: large enough to be cheap, small enough to stay in the cache. */
const CHUNK = 4096;
const MAX_BYTES = 32;

/** For each instruction of the cache, by number, whether parsing and encoding its text gives its bytes. */
export function areCanonical(cache: InstructionCache, target: TargetName, id: TargetId): boolean[] {
  const context: ParseContext = {
    target,
    xnack: id.xnack === 'on',
    constant: () => undefined,
    here: () => '.',
    numericLabel: () => undefined,
  };
  const results: boolean[] = new Array(cache.count).fill(false);
  const ids = byRow(cache);
  for (let start = 0; start < ids.length; start += CHUNK) {
    checkChunk(cache, ids.subarray(start, start + CHUNK), context, results);
  }
  return results;
}

/** The instructions of the cache, those of one row together: what parser and encoder know of a row stays in the processor's cache. */
function byRow(cache: InstructionCache): Int32Array {
  const starts: number[] = [];
  for (let id = 0; id < cache.count; id++) {
    const row = cache.rowOf(id).id;
    starts[row] = (starts[row] ?? 0) + 1;
  }
  let total = 0;
  for (let row = 0; row < starts.length; row++) {
    const count = starts[row] ?? 0;
    starts[row] = total;
    total += count;
  }
  const ids = new Int32Array(total);
  for (let id = 0; id < total; id++) {
    const row = cache.rowOf(id).id;
    ids[starts[row]++] = id;
  }
  return ids;
}

function checkChunk(cache: InstructionCache, ids: Int32Array, context: ParseContext, results: boolean[]) {
  const lexer = new Lexer(cache.linesOf(ids));
  const parser = new InstructionParser(lexer, context);
  const buffer = new Uint8Array(MAX_BYTES);
  for (let i = 0, line = 1; i < ids.length; i++, line++) {
    const id = ids[i];
    // A statement is a line; should a text hold more than one, the ones behind it stay in step.
    let isThere = lexer.nextStatement();
    while (isThere && lexer.line < line) isThere = lexer.nextStatement();
    const parsed = isThere && lexer.line === line ? parser.parse() : undefined;
    lexer.diagnostics.length = 0;
    results[id] =
      parsed !== undefined &&
      parsed.fixups.length === 0 &&
      sameBytes(buffer, encodeInto(parsed.instruction, buffer, 0), cache.encodingOf(id));
  }
}

function sameBytes(bytes: Uint8Array, size: number, expected: Uint8Array): boolean {
  if (size !== expected.length) return false;
  for (let i = 0; i < size; i++) if (bytes[i] !== expected[i]) return false;
  return true;
}
