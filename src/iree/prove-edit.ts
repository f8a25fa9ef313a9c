// Whether edited kernels still are the same functions as the baseline's: what `hijack build` says about an edit beside its cost.
import { readCodeObject } from '../codeobject/index.ts';
import { type CodeObjectFacts, sameKernel } from './facts.ts';

/** One edited kernel. `reason`: why it is not proved, null when it is. */
export interface EditProof {
  readonly kernel: string;
  readonly verdict: 'proved' | 'not-proved';
  readonly reason: string | null;
}

/**
 * What one kernel may take: a build is waited for. The terms bound it in the same way on every machine; measured, attention
 * kernels of 1,900 instructions need less than 50,000 and 1 to 2 s of processor time. `wavesmith prove` takes longer when asked.
 */
const LIMITS = { terms: 100_000, milliseconds: 10_000 };

/** Proofs of the kernels whose code or descriptor an edit changed. */
export async function proveEdit(before: CodeObjectFacts, after: CodeObjectFacts): Promise<EditProof[]> {
  const changed = [...after.kernels].flatMap(([name, edited]) => {
    const old = before.kernels.get(name);
    return old === undefined || sameKernel(old, edited) ? [] : [name];
  });
  if (changed.length === 0) return [];
  const { proveKernel } = await import('../equivalence/index.ts');
  const [baseline, edited] = [readCodeObject(before.bytes), readCodeObject(after.bytes)];
  return changed.map((kernel) => {
    const { verdict, reason } = proveKernel(baseline, edited, kernel, { limits: LIMITS });
    return { kernel, verdict, reason: reason ?? null };
  });
}
