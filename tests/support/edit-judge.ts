// Judges mistakes in a kernel twice: does the virtual GPU compute something else, and does `check --against` notice?
import { assembleAndLink, disassembleCodeObject } from '../../src/asm/index.ts';
import { WavesmithError } from '../../src/base/index.ts';
import { checkCodeObject } from '../../src/check/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { createDevice, type DeviceBuffer, type SimDevice } from '../../src/device/index.ts';
import { type Finding, fingerprint, newFindings } from '../../src/finding/index.ts';
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
    await subject.run(watched, bytes, undefined, { maxInstructions: 3_000_000 });
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
  subject: StrictSubject,
  kinds: readonly EditMutation[],
  most: number,
): Promise<EditVerdict[]> {
  const baseline = readCodeObject(subject.codeObject);
  const text = disassembleCodeObject(baseline, {});
  const right = await outputOf(subject, subject.codeObject);
  if (/^[a-z]+\/[a-z-]+$/.test(right)) throw new Error(`${subject.name} does not run: ${right}`);
  const known = checkCodeObject(baseline).map(fingerprint);
  const verdicts: EditVerdict[] = [];
  for (const kind of kinds) {
    for (const mutant of editMutants(kind, text, most)) {
      const bytes = assembled(mutant.text);
      if (bytes === undefined) continue;
      const isWrong = (await outputOf(subject, bytes)) !== right;
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
