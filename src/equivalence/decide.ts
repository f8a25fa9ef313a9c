// `decide`: a proof, or a counterexample that was run, or neither. What `wavesmith prove` prints.
import type { CodeObject } from '../codeobject/index.ts';
import type { Device } from '../device/index.ts';
import type { TargetName } from '../isa/types.ts';
import { type Counterexample, type CounterexampleOptions, findCounterexample } from './counterexample.ts';
import { type Proof, type ProveOptions, proveKernel } from './prove.ts';

/** A proof's answer, or `different` with inputs that show it. JSON-able. */
export interface Decision extends Omit<Proof, 'verdict'> {
  readonly verdict: Proof['verdict'] | 'different';
  readonly counterexample: Counterexample | undefined;
}

export interface DecideOptions extends ProveOptions, CounterexampleOptions {
  /** Opens a device on which kernels that are not proved are run; without it `different` is never said. */
  readonly openDevice?: ((target: TargetName) => Promise<Device>) | undefined;
}

/** Decides about kernel `name` of two linked code objects. Errors are those of `proveKernel`. */
export async function decideKernel(
  baseline: CodeObject,
  edited: CodeObject,
  name: string,
  options: DecideOptions = {},
): Promise<Decision> {
  const proof = proveKernel(baseline, edited, name, options);
  const { openDevice } = options;
  const target = baseline.target.processor as TargetName;
  if (proof.verdict === 'proved' || openDevice === undefined || edited.target.processor !== target) {
    return { ...proof, counterexample: undefined };
  }
  const counterexample = await findCounterexample(
    () => openDevice(target),
    [baseline.bytes, edited.bytes],
    [name, options.editedKernel ?? name],
    options,
  );
  return { ...proof, verdict: counterexample === undefined ? proof.verdict : 'different', counterexample };
}
