// One code object of a folder as it was edited: assembled, verified against the baseline, checked, proved where that is possible.
import { WavesmithError } from '../base/index.ts';
import { withoutSettled } from '../check/settled.ts';
import type { KernelProof } from '../equivalence/index.ts';
import { checkEdit, checkFailed, describeFinding, type EditFinding } from './check-edit.ts';
import type { OutsideChanges } from './edited-lines.ts';
import { assembleEdit, readEditedText } from './edited-text.ts';
import type { EngineName } from './engine.ts';
import { type CodeObjectFacts, changedKernels, readFacts, sameCode } from './facts.ts';
import type { ManifestText } from './manifest.ts';
import { normalPair } from './normal-code.ts';
import { proveEdit } from './prove-edit.ts';
import { type HostContract, verifyReplacement } from './verify.ts';

/** `unchanged`: the text was not edited. `same-code`: it was, but assembles to the same code. */
export type ExecutableState = 'unchanged' | 'same-code' | 'changed';

export interface CodeEdit {
  readonly state: ExecutableState;
  /** The code object: the baseline's own unless `state` is `changed`. */
  readonly code: Uint8Array;
  /** Null unless `state` is `changed`; with references in the form in which they are compared (normal-code.ts). */
  readonly before: CodeObjectFacts | null;
  readonly after: CodeObjectFacts | null;
  readonly outside: OutsideChanges | null;
  readonly remarks: readonly string[];
  readonly findings: readonly EditFinding[];
  readonly proofs: readonly KernelProof[];
}

export interface EditOptions {
  readonly engine: EngineName;
  /** Turn failed verification and the checker's errors into remarks. */
  readonly force: boolean;
}

/** Rules about what `verifyReplacement` has its own remarks for. */
const VERIFIED = /^(?:abi|resources)\//;

/** Reads and judges the edit of one code object. `contracts` are the kernels that its host launches. */
export async function editCode(
  folder: string,
  entry: ManifestText,
  baseline: Uint8Array,
  contracts: readonly HostContract[],
  options: EditOptions,
): Promise<CodeEdit> {
  const text = readEditedText(folder, entry);
  const untouched: CodeEdit = {
    state: 'unchanged',
    code: baseline,
    before: null,
    after: null,
    outside: null,
    remarks: [],
    findings: [],
    proofs: [],
  };
  if (!text.isEdited) return untouched;
  const before = readFacts(baseline);
  const { after, outside, lines, objects } = await assembleEdit(text, entry, before, options.engine);
  const { source } = text;
  let remarks: string[];
  try {
    remarks = verifyReplacement(before, after, contracts, source);
  } catch (error) {
    // Without its kernels the code cannot be launched at all, so nothing forces that.
    const mayForce = error instanceof WavesmithError && error.code !== 'hijack/kernel-name';
    if (!options.force || !mayForce) throw error;
    remarks = [`forced past ${error.code}: ${error.message}`];
  }
  if (sameCode(before, after)) return { ...untouched, state: 'same-code', remarks };
  const [old, edited] = normalPair(before, after, objects);
  const proofs = await proveEdit(before, after, changedKernels(old, edited));
  const findings = withoutSettled(checkEdit(old, edited, lines), proofs);
  const errors = findings.filter((f) => f.severity === 'error');
  if (errors.length > 0 && !options.force) throw checkFailed(errors, source.main.path);
  for (const f of findings) {
    if (f.severity === 'error') remarks.push(`forced past ${describeFinding(f)}`);
    else if (!VERIFIED.test(f.rule)) remarks.push(describeFinding(f));
  }
  return { state: 'changed', code: after.bytes, before: old, after: edited, outside, remarks, findings, proofs };
}
