// Whether edited kernels still are the same functions as the baseline's: what `hijack build` says about an edit beside its cost.
import { readCodeObject } from '../codeobject/index.ts';
import type { KernelProof } from '../equivalence/index.ts';
import { type CodeObjectFacts, sameKernel } from './facts.ts';

/** Proofs of the kernels whose code or descriptor an edit changed. */
export async function proveEdit(before: CodeObjectFacts, after: CodeObjectFacts): Promise<KernelProof[]> {
  const changed = [...after.kernels].flatMap(([name, edited]) => {
    const old = before.kernels.get(name);
    return old === undefined || sameKernel(old, edited) ? [] : [name];
  });
  if (changed.length === 0) return [];
  const { quickProofs } = await import('../equivalence/index.ts');
  return quickProofs(readCodeObject(before.bytes), readCodeObject(after.bytes), changed);
}
