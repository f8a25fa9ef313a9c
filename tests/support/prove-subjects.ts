// Kernels for the prover's tests and bench, with what running them gives: the kernels of strict mode's proofs.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { WavesmithError } from '../../src/base/index.ts';
import { codeObjectsOf, openContainer } from '../../src/codeobject/index.ts';
import { createDevice, type DeviceBuffer, type SimDevice, type StrictOptions } from '../../src/device/index.ts';
import { hasLlvm } from './build.ts';
import {
  buildName,
  clangSubjects,
  EVERY_BUILD,
  type StrictSubject,
  strictSubjects,
  tritonSubjects,
} from './strict-kernels.ts';

/** A register that is read for nothing changes no result, and one unspecified value is as good as another. */
const UNINITIALISED = 'registers/uninitialised';

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
    return { memory, findings: diagnostics.filter(({ rule }) => rule !== UNINITIALISED).length };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { memory: `stopped: ${error.code}`, findings: 0 };
  } finally {
    device.close();
  }
}

const runnable = (subject: StrictSubject): ProveSubject => ({
  name: subject.name,
  kernel: subject.kernel,
  codeObject: subject.codeObject,
  outputs: (codeObject, strict) => outputsOf(subject, codeObject, strict),
});

/** The C and Triton kernels of the strict mode's proofs; none without LLVM and the reference data. */
export const proveSubjects = (): ProveSubject[] => strictSubjects().map(runnable);

/** C kernels at all levels and Triton kernels whose name has a text: names, and how to compile them one by one. */
export function runnableSubjects(only = ''): (readonly [string, () => ProveSubject])[] {
  const compiled = (hasLlvm() ? EVERY_BUILD : []).filter((build) => buildName(build).includes(only));
  return [
    ...compiled.map((build) => [buildName(build), () => runnable(clangSubjects([build])[0] as StrictSubject)] as const),
    ...tritonSubjects()
      .filter(({ name }) => name.includes(only))
      .map((subject) => [subject.name, () => runnable(subject)] as const),
  ];
}

/** Kernels of files; they have no launch. */
export function subjectsOf(files: readonly string[]): ProveSubject[] {
  return files.flatMap((file) =>
    codeObjectsOf(openContainer(new Uint8Array(readFileSync(file)), file)).flatMap(({ bytes, kernels }) =>
      kernels.map(({ name }) => ({
        name: `${basename(file)} ${name}`,
        kernel: name,
        codeObject: bytes,
        outputs: undefined,
      })),
    ),
  );
}

/** Whether strict mode has more to say about another code object. */
export async function isWorse({ outputs, codeObject }: ProveSubject, changed: Uint8Array): Promise<boolean> {
  if (outputs === undefined) return false;
  return (await outputs(changed, {})).findings > (await outputs(codeObject, {})).findings;
}

/** Whether running another code object gives other memory, or strict mode objects to it; false when no launch is known. */
export async function changesResult(subject: ProveSubject, codeObject: Uint8Array): Promise<boolean> {
  const { outputs } = subject;
  if (outputs === undefined) return false;
  const [before, after] = [await outputs(subject.codeObject, undefined), await outputs(codeObject, undefined)];
  return before.memory !== after.memory || (await isWorse(subject, codeObject));
}
