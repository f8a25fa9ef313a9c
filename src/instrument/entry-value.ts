// What probes may ask for of what a wave knows at its start.

/**
 * What a wave knows from its start and keeps for probes: pointers and the time, of 64 bits, its workgroup's position, and
 * the position of its first work-item in the workgroup, 10 bits for each axis.
 */
export type EntryValue =
  | 'kernarg'
  | 'dispatch'
  | 'queue'
  | 'start'
  | 'workgroup-x'
  | 'workgroup-y'
  | 'workgroup-z'
  | 'work-item'
  /** No value: FLAT_SCRATCH is set where hardware does not do that. */
  | 'flat-scratch';

/** Where one register's worth of values by lane is kept throughout: a register by its number, or bytes of scratch. */
export interface KeptPlace {
  readonly file: 'v' | 'a' | 'scratch';
  readonly at: number;
  /** Of scratch: its instructions need a scalar register that is zero. */
  readonly needsRegister?: boolean;
}
