// The name of a file's first function, for messages: never a reason to fail.
import { WavesmithError } from '../base/index.ts';
import { readWhole } from '../iree/files.ts';
import { symbolName } from '../mlir/attribute.ts';
import { decodeModule } from '../mlir/lex.ts';
import { parseMlir, symbolToken, tokenText } from '../mlir/parse.ts';
import { functionsOf } from './lower/lower.ts';

/** The first function's name, or nothing when the file cannot be read. */
export function functionName(path: string): string {
  try {
    const document = parseMlir(decodeModule(readWhole(path, 'the module'), path), path);
    const [first] = functionsOf(document);
    const token = first && symbolToken(document, first);
    return token === undefined ? '' : symbolName(tokenText(document, token));
  } catch (error) {
    if (error instanceof WavesmithError) return '';
    throw error;
  }
}
