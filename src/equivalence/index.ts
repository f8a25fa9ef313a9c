// Room `equivalence`: whether two kernels are the same function, by symbolic execution of both from the semantics table, matched along
// their control flow.
// Begin with prove.ts. terms.ts to memory.ts are the algebra, machine.ts executes instructions on it, product.ts runs two programs
// side by side, decide.ts adds counterexamples that were run.

export { DEFAULT_LIMITS, type Limits, processorTime } from './budget.ts';
export type { Counterexample, CounterexampleOptions, NamedPlan } from './counterexample.ts';
export { type DecideOptions, type Decision, decideKernel } from './decide.ts';
export { isIdenticalKernel } from './identity.ts';
export {
  type LaunchFacts,
  type Proof,
  type ProofPlace,
  type ProveOptions,
  proveCodeObject,
  proveKernel,
  proveKernelWith,
  type Solver,
} from './prove.ts';
export { changedKernels, type KernelProof, quickProofs, quickProofText } from './quick.ts';
