// Code objects given as files of code or as assembler text.
import { assemble } from '../asm/assemble/assemble.ts';
import { WavesmithError } from '../base/index.ts';
import { link } from '../codeobject/index.ts';
import { readCodeInput } from './read-code-input.ts';
import { selectCodeObject } from './select-code-object.ts';

/**
 * The bytes of a file's code object; text is assembled and linked. `object` and `kernel` choose among several. Text that does not
 * assemble is an error with the code `assemblyCode` and the first message.
 */
export function codeObjectBytes(
  assemblyCode: string,
  file: string,
  object: string | undefined,
  kernel: string | undefined,
): Uint8Array {
  const bytes = readCodeInput(file);
  if (!isText(bytes)) return selectCodeObject(bytes, file, { object, kernel }).bytes;
  return assembledBytes(assemblyCode, bytes, file);
}

/** The bytes of a linked code object from assembler text. */
export function assembledBytes(assemblyCode: string, text: Uint8Array, file: string): Uint8Array {
  const { object: model, diagnostics } = assemble(text, { file });
  if (model !== undefined) return link([model], { undefinedSymbols: 'dynamic' });
  const errors = diagnostics.filter((d) => d.severity === 'error');
  const [first] = errors;
  throw new WavesmithError(assemblyCode, `'${file}' does not assemble: ${first?.message ?? 'unknown error'}.`, {
    file,
    line: first?.line,
    column: first?.column,
    hint: `${errors.length} errors in all; 'wavesmith asm ${file}' shows them.`,
  });
}

const LOOKED_AT = 4096;

/** True for bytes that can be assembler text: no control characters but white space at the start of the file. */
export function isText(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.subarray(0, LOOKED_AT).every((byte) => byte >= 0x20 || (byte >= 9 && byte <= 13));
}
