// Test helper: assembles the body of one function and lifts it.
import { assembleAndLink } from '../../src/asm/index.ts';
import type { CheckContext, Rule } from '../../src/check/types.ts';
import { type CodeObject, readCodeObject } from '../../src/codeobject/index.ts';
import type { Finding } from '../../src/finding/index.ts';
import type { TargetName } from '../../src/isa/index.ts';
import { liftCodeObject, type Program, type ProgramFunction } from '../../src/program/index.ts';

/** A code object with one function `main` whose body is the source; more functions may follow it. */
export function codeObjectOf(body: string, target: TargetName = 'gfx942'): CodeObject {
  const source = `.amdgcn_target "amdgcn-amd-amdhsa--${target}"\n.text\n.type main,@function\nmain:\n${body}\n`;
  return readCodeObject(assembleAndLink(source));
}

/** The function `main` of the source, lifted. */
export function liftBody(body: string, target?: TargetName): { program: Program; main: ProgramFunction } {
  const program = liftCodeObject(codeObjectOf(body, target));
  const main = program.functions.find((f) => f.name === 'main');
  if (main === undefined) throw new Error('the source has no function main');
  return { program, main };
}

/** What a rule finds in the function `main` of the source. */
export function checkBody(rule: Rule, body: string, target?: TargetName): Finding[] {
  const { program, main } = liftBody(body, target);
  const context: CheckContext = {
    target: program.target,
    codeObject: program.codeObject,
    program,
    subject: main,
    kernel: main.kernel,
    baseline: undefined,
  };
  return rule(context);
}
