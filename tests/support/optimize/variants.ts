// Changes of the subjects: a wrong one names the rung of the ladder that must reject it.
import { readCodeObject } from '../../../src/codeobject/index.ts';
import type { Rung } from '../../../src/optimize/index.ts';
import type { Capture } from '../../../src/snapshot/index.ts';
import type { KernelSource } from '../kernel-source.ts';
import { objectOf, SUBJECTS, type SubjectName } from './subjects.ts';

/** A change of a subject: texts that are replaced in its code, and what else of its source is other. */
export interface Variant {
  readonly name: string;
  readonly of: SubjectName;
  readonly replace?: readonly (readonly [from: string, to: string])[];
  readonly source?: Partial<KernelSource>;
  /** Bits that are set in the descriptor's first resource word: no directive has them. */
  readonly bytes?: { readonly rsrc1: number };
}

/** A wrong one, with the rung that must reject it. */
export interface Cheat extends Variant {
  readonly rung: Rung;
}

/**
 * The code object of a variant; a text that is not there is an error of the table. KERNARG_PAGE and CODE_PAGE stand for what addresses have above
 * their page in the capture that it is to be judged by.
 */
export function variantObject({ name, of, replace = [], source, bytes }: Variant, capture?: Capture): Uint8Array {
  let { code }: { code: string } = SUBJECTS[of].source;
  for (const [from, to] of replace) {
    if (!code.includes(from)) throw new Error(`${name}: '${from}' is not in ${of}`);
    code = code.replace(from, () => (capture === undefined ? to : withPages(to, capture)));
  }
  const object = objectOf(of, { code, ...source });
  return bytes === undefined ? object : withBits(object, bytes.rsrc1);
}

function withPages(text: string, { manifest: { dispatch, code } }: Capture): string {
  const page = (address: number): string => String(Math.floor((address % 2 ** 32) / 4096));
  // The code of a small kernel is in the second page of its image.
  return text
    .replace('KERNARG_PAGE', page(dispatch.kernarg.address))
    .replace('CODE_PAGE', page(code.loadAddress + 4096));
}

const RSRC1 = 48;

/** A copy with bits set in COMPUTE_PGM_RSRC1. */
function withBits(object: Uint8Array, bits: number): Uint8Array {
  const out = object.slice();
  const symbol = readCodeObject(object).kernels[0]?.descriptorSymbol;
  if (symbol?.section === undefined) throw new Error('the kernel has no descriptor');
  const at = symbol.section.offset + Number(symbol.value) - symbol.section.address + RSRC1;
  const view = new DataView(out.buffer);
  view.setUint32(at, view.getUint32(at, true) | bits, true);
  return out;
}

/** How the subjects store a result. */
export const STORE = 'global_store_dword v1, v2, s[4:5]';
