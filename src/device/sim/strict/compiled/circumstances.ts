// What looks at accesses in compiled code have in common.
import type { LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { StrictPlan } from '../plan.ts';

/** What code has been written for an access: none, code that looks at it, or code that also moves its data. */
export type AccessCode = 'none' | 'looks' | 'moves';

/** What looks at an access may count on. */
export interface Circumstances {
  /** Nobody can race with it (quiet-loads.ts). */
  readonly isQuiet: boolean;
  /** A load of LDS may be outstanding at a barrier: the log has what it reads. */
  readonly isLate: boolean;
  /** Wavefronts may hand over data through LDS without a barrier, or learn what others have done otherwise. */
  readonly handsOver: boolean;
  readonly learns: boolean;
  /** It goes past the caches, as StrictChecker.isSynchronising has it. */
  readonly isSynchronising: boolean;
  /** It waits for other wavefronts. */
  readonly isPoll: boolean;
  /** It does so by an atomic of LDS, or before one. */
  readonly pollsForUpdate: boolean;
  /** A load of LDS that no atomic of LDS can follow. */
  readonly isOnlyLoad: boolean;
  /** A load may read what atomics of others are changing (StrictChecker.looksAhead). */
  readonly looksAhead: boolean;
  /** Its buffer is not the wavefront's scratch. */
  readonly isNoScratch?: true;
  /** Leaves the block where the data of a store is not defined. */
  readonly askData: () => void;
  /** Leaves the block where a store to memory may be an announcement of which its event does not say so (AccessChecks.announcers). */
  readonly askAnnouncement: () => void;
  /** Pushes the place of the access as its event has it, behind askAnnouncement. */
  readonly pushPlace: () => void;
  /** Has the log of atomics get what the wavefront knows of stores (GlobalRaces.noteKnown). */
  readonly noteKnown: () => void;
}

/**
 * Looks at the bytes of a load or store, if there is one. Written inside of a block: leaves it when TypeScript has to look. With `none` nothing has been written; with
 * `moves` the local `moved` is 1 where the data has been moved.
 */
export type EmitLooks = (
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  circumstances: Circumstances,
  moved: number,
) => AccessCode;

/** Whether what a load finds of others' atomics goes into the log of these: of one dword or a part. */
export function looksAhead(
  { access }: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  { looksAhead }: Circumstances,
): boolean {
  if (operation?.kind !== 'load' || access?.space !== 'global' || access.isScalar || access.toLds) return false;
  return looksAhead && operation.bytes <= 4 && operation.pairStride === undefined;
}

/** Whether a load with device scope may be one by which a wavefront learns of others, or waits for them over and over again. */
export function isPollable({ access, operation, role, isDefinedByAccess }: StrictPlan): boolean {
  if (operation?.kind !== 'load' || operation.half !== undefined || operation.pairStride !== undefined) return false;
  if (access?.space !== 'global' || access.isScalar || access.toLds || role.kind !== 'vm') return false;
  return isDefinedByAccess && (operation.bytes === 4 || operation.bytes === 8);
}

/** Whether a store with device scope may be one by which a wavefront tells others something. */
export function isRelease({ access, operation, role }: StrictPlan): boolean {
  if (operation?.kind !== 'store' || operation.pairStride !== undefined) return false;
  if (access?.space !== 'global' || access.isScalar || role.kind !== 'vm') return false;
  return operation.bytes === 4 || operation.bytes === 8;
}

/** Whether what a load finds of others goes into the log of atomics: an entry of the log of outstanding operations has the number of its entry there, or 0. */
export function mayLearn(
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  circumstances: Circumstances,
): boolean {
  if (circumstances.isSynchronising) return isPollable(plan);
  return looksAhead(plan, operation, circumstances);
}
