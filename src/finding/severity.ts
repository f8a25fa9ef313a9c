// How bad a finding is.

/** `error`: the code is wrong. `warning`: it is probably wrong or not portable. `note`: it is correct and could be better. */
export type Severity = 'error' | 'warning' | 'note';

/** From the strongest on. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'note'];
