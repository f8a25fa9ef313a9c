// What is watched or looked for means one thing, wherever its wave is: `v4` is a register for ever, or a variable of the source program for
// ever, also in functions and blocks in which the other one has the name.

import type { Wave } from '../state/wave.ts';
import { UnknownName } from './arithmetic.ts';
import type { Expression, Scope } from './expression.ts';
import type { ScopeSource } from './scope-source.ts';
import { quietValue } from './watched-frame.ts';

/** An expression whose names are variables of the source program where they are some for this wave now, and nowhere else. */
export function boundNow(expression: Expression, w: Wave | undefined, lane: number, source: ScopeSource): Expression {
  const areVariables = new Map<string, boolean>();
  const noting = (s: Scope): Scope =>
    withVariable(s, (name, of) => {
      const found = s.variable(name, of);
      areVariables.set(name, found !== undefined);
      return found;
    });
  quietValue({ ...expression, operand: (s) => expression.operand(noting(s)) }, w, lane, source);
  const bound = (s: Scope): Scope =>
    withVariable(s, (name, of) => {
      const isVariable = areVariables.get(name);
      const found = isVariable === false ? undefined : s.variable(name, of);
      if (isVariable === true && found === undefined)
        throw new UnknownName(expression.text, `the variable '${name}' is not in scope here.`);
      return found;
    });
  return {
    ...expression,
    evaluate: (s) => expression.evaluate(bound(s)),
    operand: (s) => expression.operand(bound(s)),
  };
}

const withVariable = (scope: Scope, variable: Scope['variable']): Scope =>
  Object.create(scope, { variable: { value: variable } }) as Scope;
