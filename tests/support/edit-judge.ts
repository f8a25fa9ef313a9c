// Judges mistakes in a kernel twice: does the virtual GPU compute something else, and does `check --against` notice?
import { assembleAndLink, disassembleCodeObject } from '../../src/asm/index.ts';
import { WavesmithError } from '../../src/base/index.ts';
import { checkCodeObject } from '../../src/check/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { createDevice, type DeviceBuffer, type SimDevice } from '../../src/device/index.ts';
import { type Finding, fingerprint, newFindings } from '../../src/finding/index.ts';
import { AITER_KERNELS } from '../sim/kernels/aiter-cases.ts';
import { changedRuns, hasCorpus } from '../sim/kernels/support.ts';
import { type EditMutation, editMutants } from './edit-mutations.ts';
import type { StrictSubject } from './strict-kernels.ts';

/** What became of one mistake. */
export interface EditVerdict {
  readonly kind: string;
  readonly what: string;
  /** The result differs, or the kernel does not end well. */
  readonly isWrong: boolean;
  readonly findings: readonly Finding[];
}

/** A kernel in which mistakes are made. */
export interface EditSubject {
  readonly name: string;
  readonly codeObject: Uint8Array;
  /** Whether another code object computes something else, or does not end well. */
  readonly isWrong: (codeObject: Uint8Array) => Promise<boolean>;
}

/** Wave instructions of one run: mistakes loop. */
const BUDGET = 3_000_000;

/** A compiled kernel with its launch. */
export async function compiledSubject(subject: StrictSubject): Promise<EditSubject> {
  const { name, codeObject } = subject;
  const right = await outputOf(subject, codeObject);
  if (/^[a-z]+\/[a-z-]+$/.test(right)) throw new Error(`${name} does not run: ${right}`);
  return { name, codeObject, isWrong: async (bytes) => (await outputOf(subject, bytes)) !== right };
}

/** Hand-written kernels (AMD AITER) that are small and whose results are the same in every run; none without the reference corpus. */
export async function handWrittenSubjects(): Promise<EditSubject[]> {
  const families = ['top-k softmax', 'int8 GEMM', 'fp8 GEMM'];
  const cases = hasCorpus ? families.flatMap((family) => (AITER_KERNELS[family] ?? []).slice(0, 4)) : [];
  const subjects: EditSubject[] = [];
  for (const [index, [name, , run]] of cases.entries()) {
    let codeObject: Uint8Array | undefined;
    const runChanged = async (change: (original: Uint8Array) => Uint8Array): Promise<void> => {
      changedRuns.change = (original) => ({ bytes: change(original) });
      changedRuns.maxInstructions = BUDGET;
      try {
        await run();
      } finally {
        changedRuns.change = undefined;
        changedRuns.maxInstructions = undefined;
      }
    };
    await runChanged((original) => {
      codeObject = original;
      return original;
    });
    const isWrong = (bytes: Uint8Array): Promise<boolean> =>
      runChanged(() => bytes).then(
        () => false,
        () => true,
      );
    subjects.push({ name: `hand-written ${index} ${name}`, codeObject: codeObject as Uint8Array, isWrong });
  }
  return subjects;
}

/** The bytes of all buffers after a run; the error's code when it does not end. */
async function outputOf(subject: StrictSubject, bytes: Uint8Array): Promise<string> {
  const device = (await createDevice('sim', { target: subject.target })) as SimDevice;
  const made: DeviceBuffer[] = [];
  const watched = new Proxy(device, {
    get(of, key) {
      if (key === 'alloc') {
        return (...args: Parameters<SimDevice['alloc']>) => {
          const buffer = of.alloc(...args);
          made.push(buffer);
          return buffer;
        };
      }
      const value: unknown = Reflect.get(of, key);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  try {
    await subject.run(watched, bytes, undefined, { maxInstructions: BUDGET });
    return made.map((buffer) => Buffer.from(device.read(buffer)).toString('base64')).join();
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return error.code;
  } finally {
    device.close();
  }
}

/** The mistakes of some kinds in one kernel, at most `most` of each. */
export async function judgeEdits(
  subject: EditSubject,
  kinds: readonly EditMutation[],
  most: number,
): Promise<EditVerdict[]> {
  const baseline = readCodeObject(subject.codeObject);
  const text = disassembleCodeObject(baseline, {});
  const known = checkCodeObject(baseline).map(fingerprint);
  const verdicts: EditVerdict[] = [];
  for (const kind of kinds) {
    for (const mutant of editMutants(kind, text, most)) {
      const bytes = assembled(mutant.text);
      if (bytes === undefined) continue;
      const isWrong = await subject.isWrong(bytes);
      const findings = newFindings(checkCodeObject(readCodeObject(bytes), { against: baseline }), known);
      verdicts.push({ kind: mutant.kind, what: mutant.what, isWrong, findings });
    }
  }
  return verdicts;
}

/** What does not assemble is noticed by the assembler. */
function assembled(text: string): Uint8Array | undefined {
  try {
    return assembleAndLink(text);
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}
