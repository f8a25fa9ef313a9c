// `wavesmith check --fix`: makes the edits that findings carry, checks again, and goes on until nothing is left to mend.
// A code object is mended through its text: disassembled, edited, assembled and linked.
import { assembleAndLink } from '../../asm/index.ts';
import { WavesmithError } from '../../base/index.ts';
import { type CheckOptions, checkCodeObject } from '../../check/index.ts';
import { type Finding, fingerprint, ruleInfo } from '../../finding/index.ts';
import { applySourceEdits, sourceEdits } from '../../lsp/index.ts';
import { writeOutput } from '../support.ts';
import { assembleSource, type CheckedInput, type CheckedSource, disassembleSource } from './input.ts';

/** Rounds of mending; an edit that makes room for another finding gets its turn in the next. */
const MAX_ROUNDS = 10;

/** A finding with edits that were not made, and why. */
export interface Refused {
  readonly finding: Finding;
  readonly problem: string;
}

export interface FixResult {
  /** Findings whose edits were made. */
  readonly fixed: number;
  readonly refused: readonly Refused[];
  readonly source: CheckedSource;
}

export interface FixOptions extends CheckOptions {
  readonly target?: string | undefined;
  /** Also edits that may change what the kernel computes. */
  readonly unsafe?: boolean | undefined;
  /** Which of the findings are to be mended. */
  readonly select: (findings: readonly Finding[], source: CheckedSource) => readonly Finding[];
}

/** The source after its findings are mended. A finding that its edit does not remove is not mended again. */
export function fixSource(start: CheckedSource, options: FixOptions): FixResult {
  let source = start;
  let fixed = 0;
  let refused: readonly Refused[] = [];
  const tried = new Map<string, number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = checkCodeObject(source.codeObject, {
      against: options.against,
      notes: options.notes,
      pedantic: options.pedantic,
    });
    const counts = countKeys(found);
    const mendable = options.select(found, source).filter((f) => f.edits.length > 0);
    const isUnsafe = (f: Finding): boolean => options.unsafe !== true && ruleInfo(f.rule).isEditUnsafe === true;
    const wanted = mendable
      .filter((f) => !isUnsafe(f))
      .filter((f) => (counts.get(fingerprint(f)) ?? 0) < (tried.get(fingerprint(f)) ?? Number.POSITIVE_INFINITY));
    const { made, next } = mend(source, wanted, options);
    const problem = 'its edit may change what the kernel computes; --unsafe-fixes makes it';
    refused = [...made.refused, ...mendable.filter(isUnsafe).map((finding) => ({ finding, problem }))];
    if (next === undefined) break;
    for (const f of made.mended) tried.set(fingerprint(f), counts.get(fingerprint(f)) ?? 0);
    fixed += made.mended.length;
    source = next;
  }
  return { fixed, refused, source };
}

/** The source with the edits of all findings; of one of them where all together do not assemble; or none. */
function mend(source: CheckedSource, wanted: readonly Finding[], { target }: FixOptions): Mended {
  const assembled = (made: Made): CheckedSource | undefined => {
    if (made.text === undefined) return undefined;
    try {
      return assembleSource(source.file, made.text, target === undefined ? {} : { target }, () => {});
    } catch (error) {
      if (error instanceof WavesmithError && error.code === 'check/assemble') return undefined;
      throw error;
    }
  };
  const made = makeEdits(source, wanted);
  const next = assembled(made);
  if (next !== undefined || made.text === undefined) return { made, next };
  const problem = 'the source does not assemble with its edit';
  const refused: Refused[] = [...made.refused];
  for (const finding of made.mended) {
    const alone = makeEdits(source, [finding]);
    const after = assembled(alone);
    if (after !== undefined) return { made: { ...alone, refused }, next: after };
    refused.push({ finding, problem });
  }
  return { made: { text: undefined, mended: [], refused }, next: undefined };
}

function countKeys(findings: readonly Finding[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const f of findings) counts.set(fingerprint(f), (counts.get(fingerprint(f)) ?? 0) + 1);
  return counts;
}

interface Made {
  /** Undefined when no edit was made. */
  readonly text: string | undefined;
  readonly mended: readonly Finding[];
  readonly refused: readonly Refused[];
}

interface Mended {
  readonly made: Made;
  readonly next: CheckedSource | undefined;
}

function makeEdits({ places, text }: CheckedSource, findings: readonly Finding[]): Made {
  const refused: Refused[] = [];
  const possible: Finding[] = [];
  for (const finding of findings) {
    const { problem } = sourceEdits(places, finding.edits);
    if (problem === undefined) possible.push(finding);
    else refused.push({ finding, problem });
  }
  const { edits = [] } = sourceEdits(
    places,
    possible.flatMap((f) => f.edits),
  );
  if (edits.length === 0) return { text: undefined, mended: [], refused };
  const after = applySourceEdits(places.document, edits);
  return { text: after === text ? undefined : after, mended: possible, refused };
}

/** The source that a file is mended in. Errors: `check/fix-input` for what cannot be written back. */
export function fixableSource({ file, codeObjects, source }: CheckedInput): CheckedSource {
  if (file === '-') {
    throw new WavesmithError('check/fix-input', 'Standard input cannot be mended in place.', {
      hint: 'Write the source to a file, or name the output with -o.',
    });
  }
  if (source !== undefined) {
    if (source.isText) return source;
    throw new WavesmithError('check/fix-input', `'${file}' is no UTF-8 text, so it cannot be written back.`, { file });
  }
  const [codeObject] = codeObjects;
  if (codeObject === undefined || codeObjects.length !== 1 || codeObject.isRelocatable || codeObject.path.length > 1) {
    throw new WavesmithError('check/fix-input', `'${file}' is not one linked code object, so it cannot be mended.`, {
      file,
      hint: "Take the code object out with 'wavesmith extract' first.",
    });
  }
  return disassembleSource(file, codeObject);
}

/** Writes the mended file: text for a source, bytes for a code object. */
export function writeFixed(path: string, { source }: CheckedInput, mended: CheckedSource): void {
  writeOutput(path, source === undefined ? assembleAndLink(mended.text) : mended.text);
}
