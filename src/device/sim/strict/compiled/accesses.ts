// Loads and stores in compiled code: their lanes' bytes are noted in the shadows of memory, and the operation goes into the wavefront's
// log of outstanding ones (compiled/waits.ts), which WaitQueue takes over when somebody asks it.
import { immediateOf } from '../../../../isa/operand.ts';
import type { AtomicOperation, LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import { PAGE } from '../../state/layout.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import {
  apertureFunction,
  atomicBytes,
  emitLook,
  emitMemory,
  emitScalarMove,
  emitScalarPlace,
  IN_GLOBAL,
  IN_LDS,
  IN_SCRATCH,
  type Look,
  namedVector,
  pushBufferPlace,
  pushScratchPlace,
} from '../../wasm/memory/index.ts';
import type { StrictChecker } from '../checker.ts';
import { canDrop, emitDropped } from '../drops.ts';
import type { StrictPlan } from '../plan.ts';
import { LOGGED } from '../races/race-details.ts';
import { ENTRY_ATTEMPTS, ENTRY_LANES } from '../races/sync-log.ts';
import {
  LOG_ENTRIES,
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOG_PART,
  LOG_PART_BYTES,
  LOG_PARTS,
  LOG_PC,
  LOG_SLOT,
  LOGGED_FETCH,
  LOGGED_FLIGHT,
  LOGGED_LDS,
  LOGGED_SCALAR,
  LOGGED_STORE,
  LOGGED_VM,
  MAY_LOOK_AHEAD,
  SHADOW_AHEAD,
  SHADOW_APERTURE,
  SHADOW_FLIGHTS,
  SHADOW_KERNARG,
  SHADOW_KERNARG_BYTES,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_FLATS,
  SHADOW_LOGGED_VM,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_PENDING,
  SHADOW_PLAIN,
  SHADOW_POLL,
  SHADOW_STORES,
  SHADOW_TOTAL,
} from '../registers/registers.ts';
import { isNumberedStore } from '../registers/waits.ts';
import { FLAT_ISSUED } from '../registers/wave-shadow.ts';
import { lookAtGlobal, lookAtUpdate, movesGlobal } from './global.ts';
import { dataPlace, emitAddressRegister } from './lanes.ts';
import { emitFlight } from './lds-loads.ts';
import { lookAtLds, movesLds } from './lds-look.ts';
import { logRunFunction } from './log.ts';
import { emitLookAndMove } from './moves.ts';
import { noteLearnt, orderFunction, pushHasNews, releaseFunction } from './order.ts';
import { pageFunction } from './pages.ts';
import { pollFunction } from './polls.ts';
import { lanesFunction, MAX_LANE_BYTES } from './scattered.ts';
import { bufferScratchFunction, flatScratchFunction, scratchFunction } from './scratch.ts';
import {
  attemptsFunction,
  beginEntry,
  canLog,
  emitLookedAhead,
  forgetNumber,
  keepLanes,
  logFunction,
  noteLanesFunction,
} from './sync.ts';

/**
 * The load or store of an instruction when compiled code can look at it; an atomic as a store. `isPoll`: it waits for other wavefronts.
 */
export function lookedAt(
  plan: StrictPlan,
  checker: Pick<StrictChecker, 'isSynchronising' | 'handsOver'>,
  isPoll: boolean,
): LoadOperation | StoreOperation | undefined {
  const { access, operation, role } = plan;
  const { handsOver } = checker;
  if (access === undefined || plan.effects.defs.length > 1) return undefined;
  if (access.space === 'lds' && handsOver && isPoll) return undefined;
  if (operation?.kind === 'atomic') {
    if (access.isScalar || (plan.writes.length > 0 && !plan.isDefinedByAccess)) return undefined;
    if (access.space === 'lds') return role.kind === 'lds' ? asStore(operation) : undefined;
    if (plan.writes.length > 0 && !canLog(plan.instruction, operation)) return undefined;
    const isOfMemory = access.space === 'flat' ? role.kind === 'flat' : access.space === 'global' && role.kind === 'vm';
    return isOfMemory ? asStore(operation) : undefined;
  }
  if (checker.isSynchronising(plan)) return isPollable(plan) ? (operation as LoadOperation) : undefined;
  if (operation?.kind !== 'load' && operation?.kind !== 'store') return undefined;
  if (access.toLds)
    return operation.kind === 'load' && access.space === 'global' && role.kind === 'vm' && !handsOver
      ? operation
      : undefined;
  if (operation.kind === 'load' && !plan.isDefinedByAccess) return undefined;
  if (access.isScalar) return access.space === 'global' && operation.kind === 'load' ? operation : undefined;
  if (access.space === 'lds') return role.kind === 'lds' ? operation : undefined;
  if (access.space === 'flat') return role.kind === 'flat' ? operation : undefined;
  return role.kind === 'vm' ? operation : undefined;
}

/** Whether a load with device scope may be one by which a wavefront waits for others, over and over again. */
function isPollable({ access, operation, role, isDefinedByAccess }: StrictPlan): boolean {
  if (operation?.kind !== 'load' || operation.half !== undefined || operation.pairStride !== undefined) return false;
  if (access?.space !== 'global' || access.isScalar || access.toLds || role.kind !== 'vm') return false;
  return isDefinedByAccess && (operation.bytes === 4 || operation.bytes === 8);
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

/** What code has been written for an access: none, code that looks at it, or code that also moves its data. */
export type AccessCode = 'none' | 'looks' | 'moves';

/** What looks at an access may count on. */
export interface Circumstances {
  /** Nobody can race with it (quiet-loads.ts). */
  readonly isQuiet: boolean;
  /** Wavefronts may hand over data through LDS without a barrier, or learn what others have done otherwise. */
  readonly handsOver: boolean;
  readonly learns: boolean;
  /** It goes past the caches, as StrictChecker.isSynchronising has it. */
  readonly isSynchronising: boolean;
  /** A load may read what atomics of others are changing (StrictChecker.looksAhead). */
  readonly looksAhead: boolean;
  /** Its buffer is not the wavefront's scratch. */
  readonly isNoScratch?: true;
  /** Has the log of atomics get what the wavefront knows of stores (GlobalRaces.noteKnown). */
  readonly noteKnown: () => void;
}

/**
 * Looks at the bytes of a load or store, if there is one. Written inside of a block: leaves it when TypeScript has to look. With `none` nothing has been written; with
 * `moves` the local `moved` is 1 where the data has been moved.
 */
export function emitLooks(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  circumstances: Circumstances,
  moved: number,
): AccessCode {
  const { isQuiet, handsOver, learns, isSynchronising, noteKnown } = circumstances;
  const { access, instruction } = plan;
  const { fn, module, pc } = context;
  const mark = fn.size;
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRIES).op('i32.ge_u').brIf(0);
  if (operation === undefined) return 'looks';
  if (access?.space === 'flat') return emitFlat(context, shadow, plan, operation, circumstances, moved);
  if (access?.space === 'scratch') return emitScratch(context, shadow, plan, operation, moved);
  if (circumstances.isNoScratch !== true && mayBeScratch(plan))
    return emitBuffer(context, shadow, plan, operation, circumstances, moved);
  const isWrite = operation.kind === 'store';
  const isLds = access?.space === 'lds';
  if (access?.isScalar) {
    if (operation.kind === 'load' && emitScalarAccess(context, shadow, plan, operation)) {
      fn.i32(1).set(moved);
      return 'moves';
    }
    fn.truncate(mark);
    return 'none';
  }
  if (isSynchronising && operation.kind === 'load') {
    if (emitPoll(context, shadow, plan, operation, noteKnown)) return 'looks';
    fn.truncate(mark);
    return 'none';
  }
  const isAtomic = plan.operation?.kind === 'atomic';
  const kind = isAtomic ? 'atomic' : operation.kind;
  const isHigh = operation.kind === 'store' && operation.half === 'high';
  const isOrdered = isLds && handsOver;
  const pushPart = (part: number): WasmFunction =>
    pushEntry(fn, shadow)
      .i32(LOG_PART + part * LOG_PART_BYTES)
      .op('i32.add');
  const push = (part: number): void => {
    fn.i32(pc);
    if (!isLds || (!isWrite && !isOrdered)) return;
    pushPart(part);
    if (isWrite) fn.i32(dataPlace(plan, part));
  };
  const lookAtElements = (bytes: number): Look =>
    isLds
      ? lookAtLds({ bytes, kind, isHigh, isQuiet, keepsAll: isOrdered })
      : isAtomic
        ? lookAtUpdate(bytes)
        : lookAtGlobal(bytes, isWrite, access?.toLds === true, drops);
  const drops = canDrop(instruction.row.operation);
  const isAhead = looksAhead(plan, operation, circumstances);
  const entry = isAhead ? fn.local('i32') : 0;
  if (isAhead) {
    beginEntry(fn, shadow, entry, noteKnown);
    const look = keepLanes(operation.bytes);
    if (!emitLook(context, module, instruction, operation, 0, look, () => fn.i32(pc).get(entry))) {
      fn.truncate(mark);
      return 'none';
    }
    fn.op('i32.eqz').brIf(0);
  }
  if (learns && !isLds && operation.kind === 'load')
    fn.get(shadow)
      .i32(isAhead ? MAY_LOOK_AHEAD : 0)
      .memory('i32.store', SHADOW_AHEAD);
  if (isWrite) emitAddressRegister(context, shadow, plan);
  if (isOrdered) pushHasNews(fn, shadow).brIf(0);
  else if (isLds ? movesLds(operation.bytes, kind) : movesGlobal(operation.bytes, kind, drops) && !access?.toLds) {
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
  const returns = isAtomic && plan.writes.length > 0;
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
  if (isOrdered) {
    for (let part = 0; part < partsOf(operation); part++) {
      fn.get(shadow);
      pushPart(part).call(orderFunction(module, returns ? 'fetch' : kind, operation.bytes));
    }
    if (isWrite) fn.get(shadow).call(releaseFunction(module));
  }
  if (returns) noteLearnt(fn, shadow);
  if (access?.toLds) {
    emitFlight(context, shadow, immediateOf(instruction, 'offset'), Math.max(4, operation.bytes));
    fn.op('i32.eqz').brIf(0);
  }
  if (drops) emitDropped(fn, module, shadow, pc);
  return 'looks';
}

/** As emitLooks, of an access of scratch, or of a flat one whose lanes are there. */
function emitScratch(
  context: FunctionContext,
  shadow: number,
  { instruction }: StrictPlan,
  operation: LoadOperation | StoreOperation,
  moved: number,
): AccessCode {
  const { fn, module, wave } = context;
  const mark = fn.size;
  fn.get(shadow).get(wave);
  if (!pushScratchPlace(context, instruction)) {
    fn.truncate(mark);
    return 'none';
  }
  fn.get(shadow).get(wave).call(flatScratchFunction(module));
  fn.call(scratchFunction(module, operation.kind, operation.bytes))
    .op('i32.eqz')
    .brIf(0);
  if (!emitMemory(context, module, instruction, { ...operation, space: 'scratch' })) return 'looks';
  fn.i32(1).set(moved);
  return 'moves';
}

/** Whether a buffer of an access may be the wavefront's scratch. */
function mayBeScratch({ instruction, operation, access }: StrictPlan): boolean {
  if (operation?.kind !== 'load' && operation?.kind !== 'store') return false;
  return operation.space === 'buffer' && access?.toLds !== true && !/ idxen/.test(instruction.row.template);
}

/** As emitLooks, of an access of a buffer that may be the wavefront's scratch: gfx90a has no other instructions for that. */
function emitBuffer(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  circumstances: Circumstances,
  moved: number,
): AccessCode {
  const { fn, module, wave } = context;
  const mark = fn.size;
  const base = fn.local('i32');
  fn.block().block();
  const place = pushBufferPlace(context, plan.instruction);
  if (place !== undefined) {
    fn.call(bufferScratchFunction(module)).tee(base).if().block();
    fn.get(shadow).get(wave);
    if (place.register === undefined) fn.i32(0);
    else fn.get(wave).i32(place.register).op('i32.add');
    fn.i32(place.constant)
      .get(base)
      .call(scratchFunction(module, operation.kind, operation.bytes))
      .op('i32.eqz')
      .brIf(0);
    fn.br(3).end().br(1).end();
  }
  const code = emitLooks(context, shadow, plan, operation, { ...circumstances, isNoScratch: true }, moved);
  fn.br(1).end().br(1).end();
  fn.release('i32', base);
  if (code === 'none') fn.truncate(mark);
  return code;
}

/**
 * As emitLooks, of a flat access: as one of the memory in which its lanes are. Where wavefronts are ordered through LDS, and for atomics of it, more is to be kept
 * than the log of outstanding flat operations has room for: TypeScript looks there.
 */
function emitFlat(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  circumstances: Circumstances,
  moved: number,
): AccessCode {
  const { fn, module, wave } = context;
  const register = namedVector(plan.instruction, 'vaddr');
  if (register === undefined) return 'none';
  const mark = fn.size;
  const aperture = fn.local('i32');
  fn.get(wave).i32(register).call(apertureFunction(module)).set(aperture);
  fn.get(shadow).get(aperture).memory('i32.store', SHADOW_APERTURE);
  const isAtomic = plan.operation?.kind === 'atomic';
  const spaces: readonly (readonly [number, FlatSpace])[] = [
    [IN_SCRATCH, 'scratch'],
    [IN_GLOBAL, 'global'],
    [IN_LDS, 'lds'],
  ];
  const isFetch = isFlatFetch(plan, operation, circumstances);
  fn.block().block();
  let hasCode = true;
  for (const [where, space] of spaces) {
    if (space !== 'global' && isAtomic) continue;
    if (space === 'lds' && circumstances.handsOver) continue;
    fn.get(aperture).i32(where).op('i32.eq').if().block();
    const seen = { ...circumstances, isQuiet: false };
    hasCode &&= emitLooks(context, shadow, inSpace(plan, space), { ...operation, space }, seen, moved) !== 'none';
    if (isFetch && space !== 'global') forgetNumber(fn, shadow);
    fn.br(3).end().br(1).end();
  }
  fn.end().br(1).end();
  fn.release('i32', aperture);
  if (hasCode) return 'moves';
  fn.truncate(mark);
  return 'none';
}

type FlatSpace = 'global' | 'lds' | 'scratch';

/** The plan of a flat access as if it were one of another memory. */
function inSpace(plan: StrictPlan, space: FlatSpace): StrictPlan {
  const { access, operation, role } = plan;
  const kind = operation?.kind;
  if (access === undefined || (kind !== 'load' && kind !== 'store' && kind !== 'atomic')) return plan;
  return {
    ...plan,
    access: { ...access, space },
    operation: { ...operation, space },
    role: { ...role, kind: space === 'lds' ? 'lds' : 'vm' },
  };
}

/** Whether a flat access may learn from others, where its lanes are in memory. */
function isFlatFetch(
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  circumstances: Circumstances,
): boolean {
  if (plan.operation?.kind === 'atomic') return plan.writes.length > 0;
  return looksAhead(inSpace(plan, 'global'), operation, circumstances);
}

/** Whether what a load finds of others' atomics goes into the log of these: of one dword or a part. */
function looksAhead(
  { access }: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  { looksAhead }: Circumstances,
): boolean {
  if (operation?.kind !== 'load' || access?.space !== 'global' || access.isScalar || access.toLds) return false;
  return looksAhead && operation.bytes <= 4 && operation.pairStride === undefined;
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
  const entry = fn.local('i32');
  beginEntry(fn, shadow, entry, noteKnown);
  if (!emitLook(context, module, instruction, operation, 0, keepLanes(bytes), () => fn.i32(pc).get(entry)))
    return false;
  fn.op('i32.eqz').brIf(0);
  if (returns) {
    const data = namedVector(instruction, 'vdata_in', 'data0', 'vdata') as number;
    fn.get(entry).get(wave).i32(data).op('i32.add').get(entry).memory('i64.load', ENTRY_LANES).i64(-1n).op('i64.eq');
    fn.call(attemptsFunction(module, instruction, atomic as AtomicOperation));
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
function emitPoll(
  context: FunctionContext,
  shadow: number,
  { instruction }: StrictPlan,
  operation: LoadOperation,
  noteKnown: () => void,
): boolean {
  const { fn, module, pc } = context;
  const { bytes } = operation;
  const entry = fn.local('i32');
  fn.get(shadow).memory('i32.load', SHADOW_POLL).op('i32.eqz').brIf(0);
  beginEntry(fn, shadow, entry, noteKnown);
  if (!emitLook(context, module, instruction, operation, 0, keepLanes(bytes), () => fn.i32(pc).get(entry)))
    return false;
  fn.op('i32.eqz').brIf(0);
  fn.get(shadow).get(entry).i32(pc).call(pollFunction(module, bytes)).op('i32.eqz').brIf(0);
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

function partsOf({ pairStride }: LoadOperation | StoreOperation): number {
  return pairStride === undefined ? 1 : 2;
}

/** Pushes the place of the next entry of the log, but for SHADOW_LOG. */
function pushEntry(fn: WasmFunction, shadow: number): WasmFunction {
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow).op('i32.add');
  return fn.i32(SHADOW_LOG).op('i32.add');
}

/** The load or store joins the outstanding operations. */
export function emitLogged(
  { fn, pc }: { readonly fn: WasmFunction; readonly pc: number },
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  circumstances: Circumstances,
): void {
  const { access, role, effects } = plan;
  const isNumbered = isNumberedStore(role.kind, plan);
  const [range] = effects.defs;
  const isFlat = role.kind === 'flat';
  const isAtomic = access?.kind === 'atomic' && access.space === 'global';
  const isFetch = isFlat
    ? isFlatFetch(plan, operation, circumstances)
    : (isAtomic && range !== undefined) || looksAhead(plan, operation, circumstances);
  const flat = FLAT_ISSUED | (isFetch ? LOGGED_FETCH : 0);
  const other = role.kind === 'scalar' ? LOGGED_SCALAR : isFlat ? flat : LOGGED_LDS;
  const more = (isNumbered ? LOGGED_STORE : access?.toLds ? LOGGED_FLIGHT : 0) | (isFetch ? LOGGED_FETCH : 0);
  const parts = access?.space === 'lds' && operation?.kind === 'store' ? partsOf(operation) : 0;
  const slots = range === undefined ? 0 : range.first | (range.count << 16);
  const logged = fn.local('i32');
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).tee(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow);
  fn.op('i32.add').v128(pc, parts, role.kind === 'vm' ? LOGGED_VM | more : other, slots);
  fn.memory('v128.store', SHADOW_LOG);
  if (isFlat && isNumbered) emitFlatStore(fn, shadow, logged, flat);
  fn.get(shadow).get(logged).i32(1).op('i32.add').memory('i32.store', SHADOW_LOGGED);
  fn.release('i32', logged);
  const increment = (at: number): void => {
    fn.get(shadow).get(shadow).memory('i32.load', at).i32(1).op('i32.add').memory('i32.store', at);
  };
  increment(SHADOW_TOTAL);
  if (role.kind === 'vm' || isFlat) {
    increment(isFlat ? SHADOW_LOGGED_FLATS : SHADOW_LOGGED_VM);
    if (isNumbered && !isFlat) increment(SHADOW_STORES);
    if (isNumbered && access?.kind === 'store') {
      fn.get(shadow).get(shadow).memory('i32.load', SHADOW_STORES).memory('i32.store', SHADOW_PLAIN);
    }
    if (access?.toLds) increment(SHADOW_FLIGHTS);
  }
  const pending = new Map<number, bigint>();
  for (const { first, count } of effects.defs) {
    for (let slot = first; slot < first + count; slot++) {
      pending.set(slot >>> 6, (pending.get(slot >>> 6) ?? 0n) | (1n << BigInt(slot & 63)));
    }
  }
  for (const [word, mask] of pending) {
    const at = SHADOW_PENDING + 8 * word;
    fn.get(shadow).get(shadow).memory('i64.load', at).i64(BigInt.asIntN(64, mask)).op('i64.or').memory('i64.store', at);
  }
}

/** Of a flat store, or an atomic, in an entry of the log: what is written to LDS is in flight, and what goes to scratch is no store that others could know of. */
function emitFlatStore(fn: WasmFunction, shadow: number, logged: number, flat: number): void {
  const aperture = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_APERTURE);
  const entry = (): WasmFunction => fn.get(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow).op('i32.add');
  entry();
  aperture()
    .i32(IN_LDS)
    .op('i32.eq')
    .memory('i32.store', SHADOW_LOG + LOG_PARTS);
  aperture().i32(IN_SCRATCH).op('i32.ne').if();
  entry()
    .i32(flat | LOGGED_STORE)
    .memory('i32.store', SHADOW_LOG + LOG_KIND);
  fn.get(shadow)
    .get(shadow)
    .memory('i32.load', SHADOW_STORES)
    .i32(1)
    .op('i32.add')
    .memory('i32.store', SHADOW_STORES)
    .end();
}

if (`${[LOG_PC, LOG_PARTS, LOG_KIND, LOG_SLOT]}` !== '0,4,8,12') throw new Error('the log is laid out otherwise');
