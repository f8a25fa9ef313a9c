// Whether two kernels are the same function: symbolic execution of both from the semantics table, matched along their control flow.
// `prove.ts` is the place to begin; `terms.ts` to `memory.ts` are the algebra, `machine.ts` and the `…-step.ts` files execute
// instructions on it, `product.ts` runs two programs side by side.
export {
  DEFAULT_LIMITS,
  type Proof,
  type ProofPlace,
  type ProveOptions,
  proveCodeObject,
  proveKernel,
} from './prove.ts';
