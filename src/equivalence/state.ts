// The state of one wavefront as terms: a term per register slot, and one per memory it can see.
import type { KernelDescriptor } from '../codeobject/index.ts';
import { SLOT_COUNT, Slot } from '../program/index.ts';
import type { Integers } from './integers.ts';
import type { Term } from './terms.ts';

/** The memories and clocks of a state, behind its register slots. */
export const Memory = {
  /** Device memory, with every atomic, cache operation and message on it. */
  GLOBAL: SLOT_COUNT,
  LDS: SLOT_COUNT + 1,
  SCRATCH: SLOT_COUNT + 2,
  /** What reads of time and hardware registers depend on. */
  CLOCK: SLOT_COUNT + 3,
} as const;

/** What changes how vector instructions execute, behind the memories. */
export const Control = {
  /** s_set_gpr_idx_on: 0, or 16 plus which operands are indexed (1 src0, 2 src1, 4 src2, 8 the destination). */
  INDEXING: SLOT_COUNT + 4,
  /** M0 as the instruction that chose the index left it. */
  INDEX_M0: SLOT_COUNT + 5,
  /** s_setvskip: vector instructions are passed over. A condition. */
  SKIP: SLOT_COUNT + 6,
} as const;

/** Terms of a state: register slots, memories, controls. */
export const STATE_SIZE = SLOT_COUNT + 7;

/** A term for every register slot (32 bits; of SCC a condition), every memory (an effect) and every control. */
export type State = Term[];

/** SGPRs that the dispatcher fills: user data and system values, from s0 on. */
export function initialSgprs({ rsrc2, properties, preload }: KernelDescriptor, isArchitectedScratch: boolean): number {
  const system = [
    rsrc2.enableSgprWorkgroupIdX,
    rsrc2.enableSgprWorkgroupIdY,
    rsrc2.enableSgprWorkgroupIdZ,
    rsrc2.enableSgprWorkgroupInfo,
    isArchitectedScratch ? 0 : rsrc2.enablePrivateSegment,
  ].reduce((sum, n) => sum + n, 0);
  const pairs = [
    properties.enableSgprDispatchPtr,
    properties.enableSgprQueuePtr,
    properties.enableSgprKernargSegmentPtr,
    properties.enableSgprDispatchId,
    properties.enableSgprFlatScratchInit,
  ].reduce((sum, n) => sum + n, 0);
  const user =
    4 * properties.enableSgprPrivateSegmentBuffer +
    2 * pairs +
    properties.enableSgprPrivateSegmentSize +
    preload.length;
  return Math.max(user, rsrc2.userSgprCount) + system;
}

/** The SGPR that the address of the argument segment begins in; undefined when the kernel is not given it. */
export function argumentSgpr({ properties }: KernelDescriptor): number | undefined {
  if (!properties.enableSgprKernargSegmentPtr) return undefined;
  return (
    4 * properties.enableSgprPrivateSegmentBuffer +
    2 * (properties.enableSgprDispatchPtr + properties.enableSgprQueuePtr)
  );
}

/** The SGPR that the address of scratch begins in; undefined when the kernel is not given it. */
export function flatScratchSgpr({ properties }: KernelDescriptor): number | undefined {
  const { enableSgprFlatScratchInit, enableSgprPrivateSegmentBuffer } = properties;
  if (!enableSgprFlatScratchInit) return undefined;
  const pairs = [
    properties.enableSgprDispatchPtr,
    properties.enableSgprQueuePtr,
    properties.enableSgprKernargSegmentPtr,
    properties.enableSgprDispatchId,
  ];
  return 4 * enableSgprPrivateSegmentBuffer + 2 * pairs.reduce((sum, n) => sum + n, 0);
}

/**
 * Registers as the dispatcher leaves them. What it does not fill holds one unspecified value, `undefined`: a kernel whose result
 * depends on it has no result to compare. `mode` is the value of the MODE register.
 */
export function initialState(
  integers: Integers,
  descriptor: KernelDescriptor,
  mode: number,
  isArchitectedScratch: boolean,
): State {
  const { terms } = integers;
  const unspecified = terms.symbol('undefined', 'i32', { isUniform: false, isUnspecified: true });
  const unspecifiedScalar = terms.symbol('undefined', 'i32', { attr: 'undefined scalar', isUnspecified: true });
  const state: State = new Array(STATE_SIZE);
  for (let slot = 0; slot < SLOT_COUNT; slot++) state[slot] = slot < Slot.VGPR0 ? unspecifiedScalar : unspecified;
  const count = initialSgprs(descriptor, isArchitectedScratch);
  for (let n = 0; n < count; n++) state[n] = terms.symbol(`initial s${n}`, 'i32');
  for (const slot of [Slot.FLAT_SCRATCH, Slot.FLAT_SCRATCH + 1])
    state[slot] = terms.symbol(`initial flat_scratch${slot & 1}`, 'i32');
  for (let n = 0; n < 16; n++) state[Slot.TTMP0 + n] = terms.symbol(`initial ttmp${n}`, 'i32');
  // x, y and z of the work-item in ten bits each.
  state[Slot.VGPR0] = terms.symbol('initial v0', 'i32', { isUniform: false, zeros: 0xc000_0000n });
  const exec = terms.symbol('initial exec', 'i64');
  state[Slot.EXEC] = integers.lo(exec);
  state[Slot.EXEC + 1] = integers.hi(exec);
  state[Slot.SCC] = terms.symbol('undefined condition', 'bool');
  state[Slot.MODE] = terms.i32(mode);
  for (const [slot, name] of [
    [Memory.GLOBAL, 'global'],
    [Memory.LDS, 'lds'],
    [Memory.SCRATCH, 'scratch'],
    [Memory.CLOCK, 'clock'],
  ] as const) {
    state[slot] = terms.symbol(`initial ${name}`, 'effect');
  }
  state[Control.INDEXING] = terms.i32(0);
  state[Control.INDEX_M0] = terms.i32(0);
  state[Control.SKIP] = terms.false_;
  return state;
}
