// Loads and stores in compiled code: their lanes' bytes are noted in the shadows of memory, and the operation goes into the wavefront's
// log of outstanding ones (compiled/waits.ts), which WaitQueue takes over when somebody asks it.
import { immediateOf } from '../../../../isa/operand.ts';
import type {
  AtomicOperation,
  LoadOperation,
  StoreOperation,
  StructuralOperation,
} from '../../../../isa/semantics/index.ts';
import { PAGE } from '../../state/layout.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import {
  atomicBytes,
  emitLook,
  emitScalarMove,
  emitScalarPlace,
  type Look,
  namedVector,
  pushIsOtherMode,
  pushKeepsDenormals,
} from '../../wasm/memory/index.ts';
import type { StrictChecker } from '../checker.ts';
import { canDrop, emitDropped } from '../drops.ts';
import type { StrictPlan } from '../plan.ts';
import { LOGGED } from '../races/race-details.ts';
import { ENTRY_ATTEMPTS, ENTRY_LANES } from '../races/sync-log.ts';
import {
  LOG_ENTRIES,
  LOG_PART,
  LOG_PART_BYTES,
  MAY_LOOK_AHEAD,
  SHADOW_AHEAD,
  SHADOW_ANNOUNCES,
  SHADOW_KERNARG,
  SHADOW_KERNARG_BYTES,
  SHADOW_KNOWN,
  SHADOW_LOGGED,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
} from '../registers/shadow-layout.ts';
import { elementBytes } from '../registers/wave-shadow.ts';
import {
  type AccessCode,
  type Circumstances,
  type EmitLooks,
  isPollable,
  isRelease,
  looksAhead,
} from './circumstances.ts';
import { lookAtGlobal, lookAtUpdate, movesGlobal } from './global.ts';
import { emitHandOver } from './hand-over.ts';
import { dataPlace, emitAddressRegister, pushMayOverlapEachOther } from './lanes.ts';
import { emitFlight } from './lds-loads.ts';
import { lookAtLds, movesLds } from './lds-look.ts';
import { logRunFunction } from './log.ts';
import { partsOf, pushEntry } from './logged.ts';
import { emitLookAndMove } from './moves.ts';
import { noteLearnt, noteLearntOfUpdates } from './order.ts';
import { isOrderable } from './ordered.ts';
import { pageFunction } from './pages.ts';
import { notePolledFunction, pollFunction } from './polls.ts';
import { emitRepeated, mayRepeat } from './repeated.ts';
import { lanesFunction, MAX_LANE_BYTES } from './scattered.ts';
import { emitBuffer, emitFlat, emitScratch, mayBeScratch } from './spaces.ts';
import { attemptsFunction, beginEntry, canLog, emitLookedAhead, forgetNumber, keepLanes, logFunction } from './sync.ts';
import { noteLanesFunction, onePlaceFunction, pastLanesFunction, releaseLanesFunction } from './sync-lanes.ts';

/**
 * The load or store of an instruction when compiled code can look at it; an atomic as a store. `isPoll`: it waits for other wavefronts.
 */
export function lookedAt(
  plan: StrictPlan,
  checker: Pick<StrictChecker, 'isSynchronising' | 'traits'>,
  isPoll: boolean,
): LoadOperation | StoreOperation | undefined {
  const { access, operation, role } = plan;
  const { handsOver, storesScalars } = checker.traits;
  if (access === undefined || plan.effects.defs.length > 1) return undefined;
  if (access.space === 'lds' && handsOver && isPoll && !isOrderable(elementBytes(operation))) return undefined;
  if (access.space !== 'lds' && access.space !== 'scratch' && storesScalars) return undefined;
  if (operation?.kind === 'atomic') {
    if (access.isScalar || (plan.writes.length > 0 && !plan.isDefinedByAccess)) return undefined;
    if (access.space === 'lds') return role.kind === 'lds' ? asStore(operation) : undefined;
    if (plan.writes.length > 0 && !canLog(plan.instruction, operation)) return undefined;
    const isOfMemory = access.space === 'flat' ? role.kind === 'flat' : access.space === 'global' && role.kind === 'vm';
    return isOfMemory ? asStore(operation) : undefined;
  }
  if (checker.isSynchronising(plan) && !mayBeOwn(plan))
    return isPollable(plan) || isRelease(plan) ? (operation as LoadOperation | StoreOperation) : undefined;
  if (operation?.kind === 'structural' && operation.name === 'readTransposed')
    return role.kind === 'lds' ? asLoad(operation) : undefined;
  if (operation?.kind !== 'load' && operation?.kind !== 'store') return undefined;
  if (access.toLds)
    return operation.kind === 'load' && access.space === 'global' && role.kind === 'vm' ? operation : undefined;
  if (operation.kind === 'load' && !plan.isDefinedByAccess) return undefined;
  if (access.isScalar) return access.space === 'global' && operation.kind === 'load' ? operation : undefined;
  if (access.space === 'lds') return role.kind === 'lds' ? operation : undefined;
  if (access.space === 'flat') return role.kind === 'flat' ? operation : undefined;
  return role.kind === 'vm' ? operation : undefined;
}

/** Whether the memory of an access may be one that other workgroups do not see: then it does not matter which caches it goes past. */
function mayBeOwn(plan: StrictPlan): boolean {
  const space = plan.access?.space;
  return space === 'scratch' || space === 'lds' || space === 'flat' || mayBeScratch(plan);
}

/** Whether an instruction of the LDS unit moves values between lanes, and touches no memory. */
export function movesLanes({ access, role, special, effects }: StrictPlan): boolean {
  return access === undefined && role.kind === 'lds' && special === 'none' && effects.defs.length === 1;
}

/** An atomic as a store of the same bytes; undefined for pairs. */
function asStore(operation: AtomicOperation): StoreOperation | undefined {
  const { space, pairStride } = operation;
  return pairStride === undefined
    ? { kind: 'store', space, bytes: atomicBytes(operation), half: undefined, pairStride }
    : undefined;
}

/** A transposing load as one of the bytes that each lane brings. */
function asLoad({ parameter }: StructuralOperation): LoadOperation {
  const bytes = parameter === 6 ? 12 : 8;
  return { kind: 'load', space: 'lds', bytes, signed: false, half: undefined, pairStride: undefined, toLds: false };
}

/** As EmitLooks. */
export const emitLooks: EmitLooks = (context, shadow, plan, operation, circumstances, moved) => {
  const { handsOver, learns, isSynchronising, noteKnown } = circumstances;
  const { access, instruction } = plan;
  const { fn } = context;
  const mark = fn.size;
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRIES).op('i32.ge_u').brIf(0);
  if (operation === undefined) return 'looks';
  if (access?.space === 'flat') return emitFlat(context, shadow, plan, operation, circumstances, moved, emitLooks);
  if (access?.space === 'scratch') return emitScratch(context, shadow, plan, operation, moved);
  if (circumstances.isNoScratch !== true && mayBeScratch(plan))
    return emitBuffer(context, shadow, plan, operation, circumstances, moved, emitLooks);
  const isWrite = operation.kind === 'store';
  const isLds = access?.space === 'lds';
  if (isWrite && !isLds && learns && handsOver) emitHeard(fn, shadow, noteKnown);
  if (isSynchronising && !isLds && !isPollable(plan) && !isRelease(plan) && plan.operation?.kind !== 'atomic') {
    fn.br(0);
    return 'looks';
  }
  if (access?.isScalar) {
    if (operation.kind === 'load' && emitScalarAccess(context, shadow, plan, operation)) {
      fn.i32(1).set(moved);
      return 'moves';
    }
    fn.truncate(mark);
    return 'none';
  }
  if (isSynchronising && !isLds && plan.operation?.kind !== 'atomic') {
    const emit = operation.kind === 'load' ? emitPast : emitRelease;
    if (emit(context, shadow, plan, operation, circumstances)) return 'looks';
    fn.truncate(mark);
    return 'none';
  }
  if (operation.kind === 'store' && mayRepeat(plan, circumstances, canDrop(instruction.row.operation))) {
    const entry = (): number | undefined => emitEntry(context, shadow, plan, operation);
    const look = (): AccessCode => emitElements(context, shadow, plan, operation, circumstances, moved);
    return emitRepeated(context, shadow, plan, operation, circumstances, moved, entry, look);
  }
  return emitElements(context, shadow, plan, operation, circumstances, moved);
};

/** As emitLooks, of the elements of an access that goes through the caches, or of an atomic. */
function emitElements(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  circumstances: Circumstances,
  moved: number,
): AccessCode {
  const { isQuiet, isLate, handsOver, learns, noteKnown } = circumstances;
  const { access, instruction } = plan;
  const { fn, module, pc } = context;
  const mark = fn.size;
  const isWrite = operation.kind === 'store';
  const isLds = access?.space === 'lds';
  const isAtomic = plan.operation?.kind === 'atomic';
  const kind = isAtomic ? 'atomic' : operation.kind;
  const isHigh = operation.kind === 'store' && operation.half === 'high';
  const keepsAll = (isLds && handsOver) || isLate;
  const pushPart = (part: number): WasmFunction =>
    pushEntry(fn, shadow)
      .i32(LOG_PART + part * LOG_PART_BYTES)
      .op('i32.add');
  const push = (part: number): void => {
    if (isLds) fn.i32(pc);
    else circumstances.pushPlace();
    if (!isLds || (!isWrite && !keepsAll)) return;
    pushPart(part);
    if (isWrite) fn.i32(dataPlace(plan, part));
  };
  const lookAtElements = (bytes: number): Look =>
    isLds
      ? lookAtLds({ bytes, kind, isHigh, isQuiet, keepsAll })
      : isAtomic
        ? lookAtUpdate(bytes)
        : lookAtGlobal(bytes, isWrite, access?.toLds === true, drops);
  const drops = canDrop(instruction.row.operation);
  const isAhead = looksAhead(plan, operation, circumstances);
  const entry = isAhead ? emitEntry(context, shadow, plan, operation) : 0;
  if (entry === undefined) {
    fn.truncate(mark);
    return 'none';
  }
  if (learns && !isLds && operation.kind === 'load')
    fn.get(shadow)
      .i32(isAhead ? MAY_LOOK_AHEAD : 0)
      .memory('i32.store', SHADOW_AHEAD);
  if (isWrite) emitAddressRegister(context, shadow, plan);
  if (operation.kind === 'store' && !isAtomic) pushMayOverlapEachOther(context, plan, operation)?.brIf(0);
  const returns = isAtomic && plan.writes.length > 0;
  if (isLds && handsOver) {
    const { isPoll, pollsForUpdate, isOnlyLoad } = circumstances;
    const handOver = { isPoll, pollsForUpdate, isOnlyLoad, look: lookAtElements, push, pushPart };
    if (emitHandOver(context, shadow, plan, operation, handOver)) return 'looks';
    fn.truncate(mark);
    return 'none';
  }
  const isPlain = plan.operation?.kind !== 'structural';
  if (
    isLds
      ? movesLds(operation.bytes, kind) && !isLate && isPlain
      : movesGlobal(operation.bytes, kind, drops) && !access?.toLds
  ) {
    if (!emitLookAndMove(context, shadow, instruction, operation, lookAtElements, push, moved)) {
      fn.truncate(mark);
      return 'none';
    }
    if (isAhead) {
      emitLookedAhead(fn, module, shadow, entry, pc);
      fn.release('i32', entry);
    }
    if (drops) emitDropped(fn, module, shadow, pc);
    return 'moves';
  }
  if (isAtomic && !isLds && (learns || returns)) {
    if (emitAtomic(context, shadow, plan, operation, noteKnown)) {
      if (drops) emitDropped(fn, module, shadow, pc);
      return 'looks';
    }
    fn.truncate(mark);
    return 'none';
  }
  for (let part = 0; part < partsOf(operation); part++) {
    const look = lookAtElements(operation.bytes);
    if (!emitLook(context, module, instruction, operation, part, look, () => push(part))) {
      fn.truncate(mark);
      return 'none';
    }
    fn.op('i32.eqz').brIf(0);
  }
  if (returns) noteLearnt(fn, shadow);
  if (access?.toLds) {
    const pushOwn = handsOver ? () => pushPart(0) : undefined;
    emitFlight(context, shadow, immediateOf(instruction, 'offset'), Math.max(4, operation.bytes), pushOwn);
    fn.op('i32.eqz').brIf(0);
  }
  if (drops) emitDropped(fn, module, shadow, pc);
  return 'looks';
}

/** What the wavefront has heard of through LDS it knows before it stores, where stores may tell something. */
function emitHeard(fn: WasmFunction, shadow: number, noteKnown: () => void): void {
  fn.get(shadow).memory('i32.load', SHADOW_ANNOUNCES);
  fn.get(shadow).memory('i32.load', SHADOW_KNOWN).op('i32.eqz').op('i32.and').if();
  noteKnown();
  fn.end();
}

/**
 * A local with where the entry of the log of atomics is to be that has the lanes of an access, which tells others what `noteKnown` notes; undefined when there is no code
 * for its addresses.
 */
function emitEntry(
  context: FunctionContext,
  shadow: number,
  { instruction }: StrictPlan,
  operation: LoadOperation | StoreOperation,
  noteKnown?: () => void,
): number | undefined {
  const { fn, module, pc } = context;
  const entry = fn.local('i32');
  beginEntry(fn, shadow, entry, noteKnown);
  const look = keepLanes(operation.bytes);
  if (!emitLook(context, module, instruction, operation, 0, look, () => fn.i32(pc).get(entry))) return undefined;
  fn.op('i32.eqz').brIf(0);
  return entry;
}

/** As emitLooks, of an atomic of memory whose wavefronts learn from others. False when there is no code for its addresses. */
function emitAtomic(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  noteKnown: () => void,
): boolean {
  const { fn, module, wave, pc } = context;
  const { instruction, operation: atomic } = plan;
  const { bytes } = operation;
  const returns = plan.writes.length > 0;
  if (returns) pushIsOtherMode(fn, wave, atomic as AtomicOperation).brIf(0);
  const entry = emitEntry(context, shadow, plan, operation, noteKnown);
  if (entry === undefined) return false;
  if (returns) {
    const data = namedVector(instruction, 'vdata_in', 'data0', 'vdata') as number;
    fn.get(entry).get(wave).i32(data).op('i32.add').get(entry).memory('i64.load', ENTRY_LANES).i64(-1n).op('i64.eq');
    pushKeepsDenormals(fn, wave).call(attemptsFunction(module, instruction, atomic as AtomicOperation));
  } else fn.get(entry).i64(0n).memory('i64.store', ENTRY_ATTEMPTS);
  fn.get(shadow).get(entry).i32(pc).call(noteLanesFunction(module, bytes)).op('i32.eqz').brIf(0);
  fn.get(shadow)
    .get(entry)
    .i32(pc)
    .call(logFunction(module, returns ? 'fetch' : 'update'));
  if (returns) noteLearnt(fn, shadow);
  fn.release('i32', entry);
  return true;
}

/** As emitLooks, of a load with device scope. False when there is no code for its addresses. */
function emitPast(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  { isPoll }: Circumstances,
): boolean {
  const { fn, module, pc } = context;
  const { bytes } = operation;
  const entry = emitEntry(context, shadow, plan, operation);
  if (entry === undefined) return false;
  fn.get(entry).call(onePlaceFunction(module));
  fn.get(shadow).get(entry).i32(pc).call(pollFunction(module, bytes)).if();
  forgetNumber(fn, shadow);
  if (isPoll) noteLearntOfUpdates(fn, shadow);
  fn.else();
  fn.get(shadow).get(entry).i32(pc).call(pastLanesFunction(module, bytes)).op('i32.eqz').brIf(1);
  fn.get(shadow).get(entry).call(notePolledFunction(module, bytes));
  if (isPoll) noteLearntOfUpdates(fn, shadow);
  fn.get(shadow)
    .get(entry)
    .i32(pc)
    .call(logFunction(module, 'load', bytes === 8 ? 2 : 1))
    .end();
  fn.release('i32', entry);
  return true;
}

/** As emitLooks, of a store with device scope. False when there is no code for its addresses. */
function emitRelease(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  { noteKnown, pushPlace }: Circumstances,
): boolean {
  const { fn, module, wave, pc } = context;
  const { bytes } = operation;
  const entry = emitEntry(context, shadow, plan, operation, noteKnown);
  if (entry === undefined) return false;
  fn.get(entry).i64(0n).memory('i64.store', ENTRY_ATTEMPTS);
  fn.get(shadow).get(entry);
  pushPlace();
  fn.get(wave).i32(dataPlace(plan, 0)).op('i32.add').i32(pc);
  fn.call(releaseLanesFunction(module, bytes)).op('i32.eqz').brIf(0);
  fn.get(shadow)
    .get(entry)
    .i32(pc)
    .call(logFunction(module, 'update', bytes === 8 ? 2 : 1));
  fn.release('i32', entry);
  return true;
}

/** As emitLooks, of a scalar load: of the kernel's arguments, or of memory that the dispatch has not stored to. False when nothing was emitted. */
function emitScalarAccess(
  context: FunctionContext,
  shadow: number,
  { instruction }: StrictPlan,
  operation: LoadOperation,
): boolean {
  const { fn, module, pc } = context;
  if (!emitScalarPlace(context, module, instruction, operation)) return false;
  const place = fn.local('i32');
  fn.tee(place).get(shadow).i32(pc).call(scalarFunction(module, operation.bytes));
  fn.op('i32.eqz').brIf(0);
  emitScalarMove(context, instruction, operation, place);
  fn.release('i32', place);
  return true;
}

/** (offset in wasm memory or 0, shadow, place in the image) → as pageFunction, for so many bytes. */
function scalarFunction(module: WasmModule, bytes: number): WasmFunction {
  const isShort = bytes <= MAX_LANE_BYTES;
  const look = isShort ? lanesFunction(module, 'scalar', bytes, 1) : pageFunction(module, 'scalar');
  return module.helper(`strict.scalar.${bytes}`, ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [at, shadow, pc] = [0, 1, 2] as const;
    fn.get(at).op('i32.eqz').if().i32(0).return().end();
    fn.get(at).get(shadow).memory('i32.load', SHADOW_KERNARG).op('i32.sub').i32(bytes).op('i32.add');
    fn.get(shadow).memory('i32.load', SHADOW_KERNARG_BYTES).op('i32.le_u');
    fn.get(at).get(shadow).memory('i32.load', SHADOW_KERNARG).op('i32.ge_u').op('i32.and');
    fn.if().i32(1).return().end();
    emitLoggedRun(fn, { shadow, at, bytes, pc }, logRunFunction(module));
    fn.get(shadow).get(at);
    if (!isShort) fn.i32(bytes);
    fn.get(pc).call(look);
  });
}

/** Returns 1 when the bytes lie in one page whose reads are logged, and have been. */
function emitLoggedRun(
  fn: WasmFunction,
  { shadow, at, bytes, pc }: { shadow: number; at: number; bytes: number; pc: number },
  logRun: WasmFunction,
): void {
  const page = fn.local('i32');
  const count = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT);
  fn.get(at)
    .i32(PAGE - 1)
    .op('i32.and')
    .i32(PAGE - bytes)
    .op('i32.le_u');
  fn.get(at).i32(Math.log2(PAGE)).op('i32.shr_u').tee(page);
  count().op('i32.lt_u').op('i32.and').if();
  // The quick table lies behind the table of pages.
  fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page);
  count().op('i32.add').i32(2).op('i32.shl').op('i32.add').memory('i32.load');
  fn.i32(LOGGED).op('i32.eq').if();
  fn.get(shadow).get(at).i32(bytes).get(pc).call(logRun).if().i32(1).return().end();
  fn.end().end();
}
