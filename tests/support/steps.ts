// Lists of steps that random kernels are made of.

/** The steps of a list, where those that are so again take all but their kind from the one before; barriers are what they are. */
export function resolvedSteps<S extends { readonly kind: string; readonly isAgain: boolean }>(
  steps: readonly S[],
): readonly S[] {
  let last: S | undefined;
  return steps.map((step) => {
    const { kind } = step;
    if (kind === 'barrier') return step;
    last = step.isAgain && last !== undefined ? { ...last, kind } : step;
    return last;
  });
}
