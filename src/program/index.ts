// Room `program`: a code object as a program: functions, basic blocks, control flow, and what each instruction reads, writes and waits
// for. The checker and everything that changes code work on this form.
// Begin with types.ts (what a Program is), then lift.ts (how it is made), then dataflow.ts, the solver under every analysis.
export { BlockQueue } from './block-queue.ts';
export {
  computedFrom,
  isZero,
  joinKnowledge,
  type Knowledge,
  type KnownValue,
  stepKnowledge,
  valuesOf,
} from './constants.ts';
export { type BackwardFlow, type ForwardFlow, solveBackward, solveForward } from './dataflow.ts';
export { addSlots, type Effects, effectsOf, overlaps, slotSet } from './effects.ts';
export { type ExecChange, execChange } from './exec.ts';
export { type Hazard, type HazardRule, HazardRules, type Kind, type Nearest } from './hazards/rules.ts';
export { makeStep, type Step, waitStates } from './hazards/steps.ts';
export { MAX_WAIT_STATES } from './hazards/tables.ts';
export { hasFallthrough, type LiftOptions, liftCodeObject } from './lift.ts';
export { type FurtherReads, hasSlot, type Liveness, livenessOf } from './liveness.ts';
export { ControlDependence } from './postdominators.ts';
export { rangeNames, SLOT_COUNT, SLOT_WORDS, Slot, type SlotRange, slotName, slotNames, slotsOf } from './slots.ts';
export {
  type BasicBlock,
  type BlockExit,
  type CodeInstruction,
  type JumpTable,
  PRELOAD_STUB,
  type Program,
  type ProgramFunction,
} from './types.ts';
export {
  EXP_FULL,
  FLAT_LGKM,
  FLAT_VM,
  LGKM_FULL,
  type MemoryKind,
  neededWait,
  VM_FULL,
  type WaitCounts,
  type WaitRole,
  waitCounts,
  waitRole,
} from './wait-roles.ts';
