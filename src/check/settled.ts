// What a proof of the same function settles: rules that suspect an edit because its code differs from the baseline's.
import type { Finding, RuleId } from '../finding/index.ts';

const COMPARED: ReadonlySet<RuleId> = new Set<RuleId>([
  'control-flow/barrier-changed',
  'control-flow/branch-changed',
  'control-flow/clobbered',
  'control-flow/definition-lost',
  'control-flow/instruction-changed',
  'control-flow/reordered',
  'memory/cache-operation-lost',
  'memory/store-lost',
  'waits/order-lost',
]);

/** The findings without those that only compare code, in kernels that are proved to be the same functions as the baseline's. */
export function withoutSettled<F extends Finding>(
  findings: readonly F[],
  proofs: readonly { readonly kernel: string; readonly verdict: string }[],
): F[] {
  const proved = new Set(proofs.filter(({ verdict }) => verdict === 'proved').map(({ kernel }) => kernel));
  return findings.filter(({ rule, kernel }) => kernel === undefined || !COMPARED.has(rule) || !proved.has(kernel));
}
