// Wait mutants judged twice: by the checker (as an edit of the original) and by the virtual GPU's strict mode on one run.
import { checkLdsDma, checkOrder, checkWaits } from '../../src/check/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { createDevice, type RunFinding } from '../../src/device/index.ts';
import { type CodeInstruction, liftCodeObject, type Program, type ProgramFunction } from '../../src/program/index.ts';
import { comparedWith } from './check-mutations.ts';
import type { StrictSubject } from './strict-kernels.ts';
import { contextOf, explainWait, patchWait, waitsOf, weakerWaits, withWait } from './wait-mutations.ts';

/** What both say about one mutant; `why` explains a difference. */
export interface Verdict {
  readonly wait: string;
  readonly isStatic: boolean;
  readonly isDynamic: boolean;
  readonly why: string | undefined;
}

/** Whether strict mode reports a missing wait. */
async function isFound(subject: StrictSubject, bytes: Uint8Array): Promise<boolean> {
  const device = await createDevice('sim', { target: subject.target });
  try {
    const { diagnostics = [] } = await subject.run(device, bytes, {});
    return diagnostics.some((d: RunFinding) => d.rule.startsWith('waits/'));
  } finally {
    device.close();
  }
}

/** Hardware that preloads arguments begins 256 bytes behind the entry. */
function isStub({ kernel, entry }: ProgramFunction, pc: number): boolean {
  return (kernel?.descriptor?.preload.length ?? 0) > 0 && pc - entry < 256;
}

/** Why only one of them finds a mutant. */
function explain(program: Program, f: ProgramFunction, code: CodeInstruction, bits: number, isStatic: boolean): string {
  if (isStatic && isStub(f, code.pc)) return 'code for hardware without kernarg preload, never executed here';
  const purpose = explainWait(contextOf(program, f), code, bits);
  if (isStatic && purpose.startsWith('order of memory'))
    return 'order of memory: a run shows it only when another wavefront looks';
  return isStatic ? 'on a path that this run does not take' : 'not explained';
}

/** Mutants of a kernel, at most `most` waits spread over it. */
export async function agreementOf(subject: StrictSubject, most: number): Promise<Verdict[]> {
  const program = liftCodeObject(readCodeObject(subject.codeObject));
  const f = program.functions.find((g) => g.kernel?.name === subject.kernel);
  if (f === undefined) throw new Error(`there is no kernel '${subject.kernel}'`);
  const all = waitsOf(program, f);
  const waits =
    all.length <= most
      ? all
      : Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as CodeInstruction);
  const rules = [checkWaits, checkLdsDma, checkOrder];
  const known = new Set(
    rules
      .flatMap((r) => r(contextOf(program, f)))
      .map((x) => `${x.rule} ${x.severity} ${x.place.pc} ${x.related[0]?.place.pc}`),
  );
  const verdicts: Verdict[] = [];
  for (const code of waits) {
    for (const bits of weakerWaits(code)) {
      const context = comparedWith(program, withWait(program, code, bits), f);
      const isStatic = rules
        .flatMap((r) => r(context))
        .some((x) => !known.has(`${x.rule} ${x.severity} ${x.place.pc} ${x.related[0]?.place.pc}`));
      const isDynamic = await isFound(subject, patchWait(program, code, bits));
      const why = isStatic === isDynamic ? undefined : explain(program, f, code, bits, isStatic);
      verdicts.push({
        wait: `0x${code.pc.toString(16)}: ${program.text(code.pc)} -> 0x${bits.toString(16)}`,
        isStatic,
        isDynamic,
        why,
      });
    }
  }
  return verdicts;
}
