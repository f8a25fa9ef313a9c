// A HIP project as the baseline of `wavesmith evaluate`: the candidate is its source, or a patch of that. Copied, built and run as by `optimize`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import type { Evaluation, Ledger } from '../../optimize/index.ts';
import { patched } from '../../optimize/model/workshop.ts';
import { withWorkshop } from '../optimize/hip.ts';
import type { ProgramFlags } from '../optimize/program-flags.ts';
import { readInput } from '../support.ts';

/** Lets a source climb the ladder beside the project's own. `candidate`: another text of the file that `--source` names, or a patch of it. */
export async function evaluateProject(
  flags: ProgramFlags & { readonly source: string },
  candidate: string,
  ledger: Ledger | undefined,
  onStep: ((text: string) => void) | undefined,
): Promise<Evaluation> {
  const text = sourceText(join(flags.project, flags.source), candidate);
  const { signal } = new AbortController();
  return await withWorkshop(flags, ledger, onStep, signal, async (workshop) => {
    const { code, evaluation } = await workshop.evaluate(text);
    ledger?.add(code, { change: `given as ${candidate}` }, evaluation);
    return evaluation;
  });
}

function sourceText(source: string, candidate: string): string {
  const text = new TextDecoder().decode(readInput(candidate));
  if (!/\.(?:patch|diff)$/.test(candidate)) return text;
  const next = patched(readFileSync(source, 'utf8'), text);
  if (!('problem' in next)) return next.text;
  throw new WavesmithError('evaluate/patch', `'${candidate}' cannot be applied. ${next.problem}`, {
    file: candidate,
    hint: `A patch is a unified diff of '${source}'.`,
  });
}
