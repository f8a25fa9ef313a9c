// `decide`: a proof, or a counterexample that was run, or neither. What `wavesmith prove` prints.
import type { CodeObject } from '../codeobject/index.ts';
import type { Device } from '../device/index.ts';
import type { TargetName } from '../isa/types.ts';
import { DEFAULT_LIMITS, processorTime } from './budget.ts';
import { type Counterexample, type CounterexampleOptions, findCounterexample } from './counterexample.ts';
import { type Proof, type ProveOptions, proveKernel, proveKernelWith, type Solver } from './prove.ts';

/** A proof's answer, or `different` with inputs that show it. JSON-able. */
export interface Decision extends Omit<Proof, 'verdict'> {
  readonly verdict: Proof['verdict'] | 'different';
  readonly counterexample: Counterexample | undefined;
}

export interface DecideOptions extends ProveOptions, CounterexampleOptions {
  /** Opens a device on which kernels that are not proved are run; without it `different` is never said. */
  readonly openDevice?: ((target: TargetName) => Promise<Device>) | undefined;
  /** Decides where normal forms differ. */
  readonly solver?: Solver | undefined;
}

/** Decides about kernel `name` of two linked code objects. Errors are those of `proveKernel`. */
export async function decideKernel(
  baseline: CodeObject,
  edited: CodeObject,
  name: string,
  options: DecideOptions = {},
): Promise<Decision> {
  const { openDevice, solver } = options;
  const limit = options.limits?.milliseconds ?? DEFAULT_LIMITS.milliseconds;
  const started = processorTime();
  const proof = proveKernel(baseline, edited, name, options);
  const target = baseline.target.processor as TargetName;
  if (proof.verdict === 'proved') return { ...proof, counterexample: undefined };
  const canRun = openDevice !== undefined && edited.target.processor === target;
  const counterexample = canRun
    ? await findCounterexample(
        () => openDevice(target),
        [baseline.bytes, edited.bytes],
        [name, options.editedKernel ?? name],
        options,
      )
    : undefined;
  if (counterexample !== undefined) return { ...proof, verdict: 'different', counterexample };
  // The solver is asked last: most kernels that differ show it when they run.
  const left = limit - (processorTime() - started);
  if (solver === undefined || left <= 0) return { ...proof, counterexample: undefined };
  const limits = { ...options.limits, milliseconds: left };
  const decided = await proveKernelWith(solver, baseline, edited, name, { ...options, limits });
  return { ...decided, counterexample: undefined };
}
