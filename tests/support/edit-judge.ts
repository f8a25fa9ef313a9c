// Judges mistakes in a kernel twice: does the virtual GPU compute something else, and does `check --against` notice?
import { assembleAndLink, disassembleCodeObject } from '../../src/asm/index.ts';
import { WavesmithError } from '../../src/base/index.ts';
import { checkCodeObject } from '../../src/check/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { createDevice, type DeviceBuffer, type SimDevice } from '../../src/device/index.ts';
import { type Finding, fingerprint, newFindings } from '../../src/finding/index.ts';
import { AITER_KERNELS } from '../sim/kernels/aiter-cases.ts';
import { changedRuns, hasCorpus } from '../sim/kernels/support.ts';
import { TENSILE_KERNELS } from '../sim/kernels/tensile-cases.ts';
import { type EditMutant, type EditMutation, editMutant, editMutants, editPlaces, spread } from './edit-mutations.ts';
import { ownSubjects, type StrictSubject } from './strict-kernels.ts';

/** What became of one mistake. */
export interface EditVerdict {
  readonly kernel: string;
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
const BUDGET = 300_000;

/** A compiled kernel with its launch. */
export async function compiledSubject(subject: StrictSubject): Promise<EditSubject> {
  const { name, codeObject } = subject;
  const right = await outputOf(subject, codeObject);
  if (/^[a-z]+\/[a-z-]+$/.test(right)) throw new Error(`${name} does not run: ${right}`);
  return { name, codeObject, isWrong: async (bytes) => (await outputOf(subject, bytes)) !== right };
}

/** Families of AMD AITER whose runs take less than a second. */
const QUICK_FAMILIES = ['top-k softmax', 'int8 GEMM', 'fp8 GEMM', 'bf16 GEMM'];

/** Hand-written kernels: those of tests/fixtures, and of the reference corpus those of AITER and hipBLASLt that run quickly. */
export function handWrittenSubjects(): (readonly [string, () => Promise<EditSubject>])[] {
  const aiter = QUICK_FAMILIES.flatMap((family) => AITER_KERNELS[family] ?? []);
  const cases = hasCorpus ? [...aiter, ...TENSILE_KERNELS] : [];
  return [
    ...ownSubjects().map((own) => [own.name, () => compiledSubject(own)] as const),
    ...cases.map(([name, , run]) => [name, () => handWrittenSubject(name, run)] as const),
  ];
}

async function handWrittenSubject(name: string, run: () => Promise<unknown>): Promise<EditSubject> {
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
  return { name, codeObject: codeObject as Uint8Array, isWrong };
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
  const text = disassembleCodeObject(readCodeObject(subject.codeObject), {});
  return judgeMutants(
    subject,
    kinds.flatMap((kind) => editMutants(kind, text, most)),
  );
}

/** Judges some mistakes in one kernel; those that do not assemble are left out. */
async function judgeMutants(subject: EditSubject, mutants: Iterable<EditMutant>): Promise<EditVerdict[]> {
  const baseline = readCodeObject(subject.codeObject);
  const known = checkCodeObject(baseline).map(fingerprint);
  const verdicts: EditVerdict[] = [];
  for (const { kind, what, text } of mutants) {
    const bytes = assembled(text);
    if (bytes === undefined) continue;
    const isWrong = await subject.isWrong(bytes);
    const findings = newFindings(checkCodeObject(readCodeObject(bytes), { against: baseline }), known);
    verdicts.push({ kernel: subject.name, kind, what, isWrong, findings });
  }
  return verdicts;
}

/** One mistake in one kernel of a list. */
interface Chosen {
  readonly subject: number;
  readonly mutant: EditMutant;
}

/** Mistakes of a kind, from each kernel in turn, places of a kernel spread over it; endless ones are cut by who asks. */
function* inTurn(
  kind: EditMutation,
  texts: readonly (readonly string[])[],
  first: number,
  most: number,
): Generator<Chosen> {
  const lists = texts.map((lines) => spread(editPlaces(kind, lines), most));
  for (let round = 0; round < most; round++) {
    for (let n = 0; n < lists.length; n++) {
      const subject = (first + n) % lists.length;
      const places = lists[subject] as number[];
      // Not the first place of every kernel.
      const at = round < places.length ? places[(round + 5 * subject) % places.length] : undefined;
      if (at !== undefined) yield { subject, mutant: editMutant(kind, texts[subject] as readonly string[], at) };
    }
  }
}

/**
 * `each` mistakes of every kind: half in compiled kernels and half in hand-written ones, more in the others where one sort has too few
 * places. They come from as many kernels as there are. `tell` is told of each kind when it is done.
 */
export async function judgeEach(
  compiled: readonly EditSubject[],
  handWritten: readonly EditSubject[],
  kinds: readonly EditMutation[],
  each: number,
  tell: (kind: string, verdicts: readonly EditVerdict[]) => void,
): Promise<EditVerdict[]> {
  const linesOf = ({ codeObject }: EditSubject): string[] =>
    disassembleCodeObject(readCodeObject(codeObject), {}).split('\n');
  const sorts = [handWritten, compiled].map((subjects) => ({ subjects, texts: subjects.map(linesOf) }));
  const verdicts: EditVerdict[] = [];
  for (const [index, kind] of kinds.entries()) {
    const [written, machine] = sorts.map(({ subjects, texts }) => ({
      subjects,
      from: inTurn(kind, texts, index * 7, each),
    })) as [Sort, Sort];
    const chosen = [...take(written, each >> 1)];
    chosen.push(...take(machine, each - chosen.length));
    chosen.push(...take(written, each - chosen.length));
    const own: EditVerdict[] = [];
    for (const [subject, mutant] of chosen) own.push(...(await judgeMutants(subject, [mutant])));
    tell(kind.name, own);
    verdicts.push(...own);
  }
  return verdicts;
}

/** Kernels of one sort, and the mistakes of a kind in them that were not taken yet. */
interface Sort {
  readonly subjects: readonly EditSubject[];
  readonly from: Generator<Chosen>;
}

/** The next mistakes that assemble, at most `most`. */
function take({ subjects, from }: Sort, most: number): (readonly [EditSubject, EditMutant])[] {
  const taken: (readonly [EditSubject, EditMutant])[] = [];
  while (taken.length < most) {
    const { value, done } = from.next();
    if (done === true) break;
    if (assembled(value.mutant.text) !== undefined) taken.push([subjects[value.subject] as EditSubject, value.mutant]);
  }
  return taken;
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
