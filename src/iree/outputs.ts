// Results of a module's function in the files that iree-run-module writes.
import type { VmfbSignature } from '../codeobject/index.ts';
import { readNpy } from '../device/npy.ts';
import { readWhole } from './files.ts';

/** Types that IREE writes as .npy; others are kept as their bytes. */
const NPY_BY_IREE: ReadonlySet<string> = new Set(['f16', 'f32', 'f64', 'i8', 'i16', 'i32', 'i64']);

/** A result, with its type where the file says it. */
export interface Output {
  readonly bytes: Uint8Array;
  readonly elementType: string | undefined;
  readonly shape: readonly number[] | undefined;
}

/** Files for the results of a function, for `--output=@FILE`; `stem`: what their paths begin with. */
export const outputFiles = ({ outputs }: VmfbSignature, stem: string): string[] =>
  outputs.map(({ elementType }, i) => {
    const isNpy = elementType === undefined || NPY_BY_IREE.has(elementType);
    return `${stem}-output${i}.${isNpy ? 'npy' : 'bin'}`;
  });

/** Reads one of them. */
export function readOutput(file: string): Output {
  const content = readWhole(file, 'an output');
  if (!file.endsWith('.npy')) return { bytes: content, elementType: undefined, shape: undefined };
  const { type, shape, bytes } = readNpy(content, file);
  return { bytes, elementType: type, shape };
}
