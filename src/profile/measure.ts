// A number that may be unknown. Derived numbers are never guessed: a missing or contradictory input makes them unknown,
// with the reason, and the reason travels with every number computed from it.

export interface Known {
  readonly value: number;
}

export interface Unknown {
  /** Why the number is not known, one sentence fragment ("counter TCC_BUBBLE was not collected"). */
  readonly unknown: string;
}

export type Measure = Known | Unknown;

/** A known number. */
export function known(value: number): Measure {
  return Number.isFinite(value) ? { value } : { unknown: 'the result is not a finite number' };
}

/** An unknown number with its reason. */
export function unknown(reason: string): Unknown {
  return { unknown: reason };
}

export function isKnown(measure: Measure): measure is Known {
  return 'value' in measure;
}

/** The value, or undefined when unknown. */
export function numberOf(measure: Measure): number | undefined {
  return isKnown(measure) ? measure.value : undefined;
}

/** Applies `f` when every input is known; otherwise the first unknown's reason. */
export function combine(inputs: readonly Measure[], f: (...values: number[]) => number): Measure {
  const values: number[] = [];
  for (const input of inputs) {
    if (!isKnown(input)) return input;
    values.push(input.value);
  }
  return known(f(...values));
}

/** `a / b`; a zero divisor is unknown. */
export function ratio(a: Measure, b: Measure, whatIsZero: string): Measure {
  if (!isKnown(a)) return a;
  if (!isKnown(b)) return b;
  return b.value === 0 ? unknown(`${whatIsZero} is zero`) : known(a.value / b.value);
}
