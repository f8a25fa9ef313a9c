// Proofs beside another answer: what `hijack build`, `check --against` and `diff --prove` say of changed kernels.
import { kernelCode } from '../check/code.ts';
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import type { Limits } from './budget.ts';
import { isSameBytes } from './image.ts';
import { proveKernel } from './prove.ts';

/** A changed kernel. JSON-able. `reason`: why it is not proved to be the same function, null when it is. */
export interface KernelProof {
  readonly kernel: string;
  readonly verdict: 'proved' | 'not-proved';
  readonly reason: string | null;
}

/**
 * What one kernel may take: the other answer waits for it. The memory bounds it in the same way on every machine; measured, attention
 * kernels of 1,900 instructions need less than 50,000 terms and 1 to 2 s of processor time. `wavesmith prove` takes longer when asked.
 */
const LIMITS: Limits = { megabytes: 60, milliseconds: 10_000 };

/** A proof of one kernel of two linked code objects, within limits. */
export function quickProof(
  baseline: CodeObject,
  edited: CodeObject,
  kernel: string,
  limits: Partial<Limits> = LIMITS,
): KernelProof {
  const { verdict, reason } = proveKernel(baseline, edited, kernel, { limits });
  return { kernel, verdict, reason: reason ?? null };
}

/** Proofs of kernels that both linked code objects have, in the order of the names. */
export function quickProofs(baseline: CodeObject, edited: CodeObject, kernels: Iterable<string>): KernelProof[] {
  return [...kernels].map((kernel) => quickProof(baseline, edited, kernel));
}

/** Names of the kernels that both code objects have, with other code or another descriptor, in the baseline's order. */
export function changedKernels(baseline: CodeObject, edited: CodeObject): string[] {
  return baseline.kernels.flatMap((before) => {
    const after = edited.kernels.find(({ name }) => name === before.name);
    return after === undefined || isSame([baseline, before], [edited, after]) ? [] : [before.name];
  });
}

function isSame(...[[a, x], [b, y]]: readonly [readonly [CodeObject, Kernel], readonly [CodeObject, Kernel]]): boolean {
  const [p, q] = [kernelCode(a, x), kernelCode(b, y)];
  const descriptor = (k: Kernel): string => JSON.stringify({ ...k.descriptor, kernelCodeEntryByteOffset: 0 }, plain);
  return p !== undefined && q !== undefined && isSameBytes(p, q) && descriptor(x) === descriptor(y);
}

const plain = (_key: string, part: unknown): unknown => (typeof part === 'bigint' ? `${part}` : part);

/** What a proof says, as a sentence about one kernel. */
export function quickProofText({ kernel, verdict, reason }: KernelProof): string {
  const says = verdict === 'proved' ? "proved ('wavesmith prove' prints the assumptions)" : `not proved. ${reason}`;
  return `same function: ${kernel}: ${says}`;
}
