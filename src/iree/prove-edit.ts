// Whether edited kernels still are the same functions as the baseline's: what `hijack build` says about an edit beside its cost.
import type { KernelProof } from '../equivalence/index.ts';
import type { CodeObjectFacts } from './facts.ts';

/** Proofs of those of the named kernels that the baseline has. */
export async function proveEdit(
  before: CodeObjectFacts,
  after: CodeObjectFacts,
  kernels: readonly string[],
): Promise<KernelProof[]> {
  const changed = kernels.filter((name) => before.kernels.has(name));
  if (changed.length === 0) return [];
  const { quickProofs } = await import('../equivalence/index.ts');
  return quickProofs(before.object, after.object, changed);
}
