// Room `cli/evaluate`: what `wavesmith evaluate` takes as a candidate. Begin with this file.
import { applyPatch } from 'diff';
import { disassembleCodeObject } from '../../asm/index.ts';
import { WavesmithError } from '../../base/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import { assembledBytes, codeObjectBytes } from '../code-or-text.ts';
import { readInput } from '../support.ts';

/**
 * The code object of a candidate: a file of code, assembler text, or a patch of what `disasm` prints of the baseline. Text that does not
 * assemble is `evaluate/assembly`; a patch that does not fit is `evaluate/patch`.
 */
export function candidateBytes(capture: Capture, file: string): Uint8Array {
  const { kernel } = capture.manifest.dispatch;
  if (!/\.(?:patch|diff)$/.test(file)) return codeObjectBytes('evaluate/assembly', file, undefined, kernel);
  const text = disassembleCodeObject(capture.codeObject());
  const patch = new TextDecoder().decode(readInput(file));
  if (!/^@@ /m.test(patch)) throw badPatch(file, 'it changes nothing');
  let patched: string | false;
  try {
    patched = applyPatch(text, patch, { fuzzFactor: 0 });
  } catch (cause) {
    throw badPatch(file, (cause as Error).message, cause);
  }
  if (patched === false) throw badPatch(file, 'it does not fit the text of the baseline');
  return assembledBytes('evaluate/assembly', new TextEncoder().encode(patched), file);
}

function badPatch(file: string, reason: string, cause?: unknown): WavesmithError {
  return new WavesmithError('evaluate/patch', `'${file}' cannot be applied: ${reason}.`, {
    file,
    hint: "A patch is a unified diff of one file, of what 'wavesmith disasm BASELINE' prints.",
    cause,
  });
}
