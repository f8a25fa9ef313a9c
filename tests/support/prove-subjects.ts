// Kernels for the prover's tests and bench, with what running them gives: the kernels of strict mode's proofs.
import { WavesmithError } from '../../src/base/index.ts';
import { createDevice, type DeviceBuffer, type SimDevice, type StrictOptions } from '../../src/device/index.ts';
import { type StrictSubject, strictSubjects } from './strict-kernels.ts';

/** All memory after a run, or how it failed; `findings` counts those of strict mode. */
export interface Outcome {
  readonly memory: string;
  readonly findings: number;
}

export interface ProveSubject {
  readonly name: string;
  readonly kernel: string;
  readonly codeObject: Uint8Array;
  /** Runs the kernel of a code object like `codeObject`; undefined when no launch is known. */
  readonly outputs: ((codeObject: Uint8Array, strict: StrictOptions | undefined) => Promise<Outcome>) | undefined;
}

/** Wave instructions of one run: mutants loop. */
const BUDGET = 3_000_000;

async function outputsOf(
  subject: StrictSubject,
  codeObject: Uint8Array,
  strict: StrictOptions | undefined,
): Promise<Outcome> {
  const device = await createDevice('sim', { target: subject.target });
  const buffers: DeviceBuffer[] = [];
  const recording: SimDevice = Object.create(device, {
    alloc: {
      value: (size: number, label?: string) => {
        const buffer = device.alloc(size, label);
        buffers.push(buffer);
        return buffer;
      },
    },
  });
  try {
    const { diagnostics = [] } = await subject.run(recording, codeObject, strict, { maxInstructions: BUDGET });
    const memory = buffers.map((b) => Buffer.from(device.read(b)).toString('latin1')).join('|');
    return { memory, findings: diagnostics.length };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { memory: `stopped: ${error.code}`, findings: 0 };
  } finally {
    device.close();
  }
}

/** The C and Triton kernels of the strict mode's proofs; none without LLVM and the reference data. */
export function proveSubjects(): ProveSubject[] {
  return strictSubjects().map((subject) => ({
    name: subject.name,
    kernel: subject.kernel,
    codeObject: subject.codeObject,
    outputs: (codeObject, strict) => outputsOf(subject, codeObject, strict),
  }));
}

/** Whether running another code object gives other memory, or strict mode objects to it; false when no launch is known. */
export async function changesResult(subject: ProveSubject, codeObject: Uint8Array): Promise<boolean> {
  const { outputs } = subject;
  if (outputs === undefined) return false;
  const before = await outputs(subject.codeObject, undefined);
  const after = await outputs(codeObject, undefined);
  if (before.memory !== after.memory) return true;
  return (await outputs(codeObject, {})).findings > (await outputs(subject.codeObject, {})).findings;
}
