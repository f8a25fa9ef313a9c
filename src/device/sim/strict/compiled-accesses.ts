// Loads and stores in compiled code: their lanes' bytes are noted in the shadows of memory, and the operation goes into the wavefront's
// log of outstanding ones (compiled-waits.ts), which WaitQueue takes over when somebody asks it.
import { immediateOf } from '../../../isa/operand.ts';
import type { AtomicOperation, LoadOperation, StoreOperation } from '../../../isa/semantics/index.ts';
import { LANES, PAGE, WAVE_LDS_BASE, WAVE_SHADOW } from '../state/layout.ts';
import { EXEC } from '../state/wave.ts';
import type { FunctionContext } from '../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import {
  atomicBytes,
  emitLook,
  emitScalarMove,
  emitScalarPlace,
  type Frame,
  type Look,
  namedVector,
} from '../wasm/memory/index.ts';
import type { StrictChecker } from './checker.ts';
import { lookAtGlobal, lookAtUpdate, movesGlobal } from './compiled-global.ts';
import { apart, dataPlace, emitAddressRegister } from './compiled-lanes.ts';
import { ldsAtomicFunction, ldsFunction, quietFunction } from './compiled-lds.ts';
import { ldsLanesFunction } from './compiled-lds-lanes.ts';
import { emitFlight } from './compiled-lds-loads.ts';
import { type LdsAccess, LdsQuads } from './compiled-lds-quads.ts';
import { sameFunction } from './compiled-lds-same.ts';
import { ldsStridedFunction } from './compiled-lds-strided.ts';
import { logRunFunction } from './compiled-log.ts';
import { looking } from './compiled-looks.ts';
import { emitLookAndMove } from './compiled-moves.ts';
import { noteLearnt, orderFunction, pushHasNews, releaseFunction } from './compiled-order.ts';
import { pageFunction } from './compiled-pages.ts';
import { pollFunction } from './compiled-polls.ts';
import { Run } from './compiled-runs.ts';
import { lanesFunction, MAX_LANE_BYTES } from './compiled-scattered.ts';
import { pushMayBeStrided } from './compiled-strided.ts';
import {
  attemptsFunction,
  beginEntry,
  canLog,
  emitLookedAhead,
  keepLanes,
  logFunction,
  noteLanesFunction,
} from './compiled-sync.ts';
import { canDrop, emitDropped } from './drops.ts';
import type { StrictPlan } from './plan.ts';
import { LOGGED } from './race-details.ts';
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
  PART_ADDRESSES,
  PART_RUN,
  SHADOW_AHEAD,
  SHADOW_FLIGHTS,
  SHADOW_KERNARG,
  SHADOW_KERNARG_BYTES,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_VM,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_PENDING,
  SHADOW_POLL,
  SHADOW_STORES,
  SHADOW_TOTAL,
} from './registers.ts';
import { ENTRY_ATTEMPTS, ENTRY_LANES } from './sync-log.ts';
import { isNumberedStore } from './waits.ts';

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
    return access.space === 'global' && role.kind === 'vm' ? asStore(operation) : undefined;
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
  return access.space === 'global' && role.kind === 'vm' ? operation : undefined;
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

/** Leaves the address of a store's data register, which the third parameter places, 0 where that is not known. */
function pushData({ code: { fn }, wave, extra }: Frame): WasmFunction {
  const [, , data] = extra as [number, number, number];
  return fn.get(wave).get(data).op('i32.add').i32(0).get(data).select();
}

/** Whether LDS is looked at and moved in one go. Runs of stores are looked at as they come then, which takes longer where elements are wide. */
const movesLds = (bytes: number, kind: LdsAccess): boolean => kind === 'load' || (kind === 'store' && bytes === 4);

/** How LDS is looked at. */
interface LdsLook {
  /** Bytes of an element. */
  readonly bytes: number;
  readonly kind: LdsAccess;
  /** Stores of the upper half of their register. */
  readonly isHigh: boolean;
  /** As emitLooks has it. */
  readonly isQuiet: boolean;
  /** Addresses of loads are put into a part of the log, too. */
  readonly keepsAll: boolean;
}

/**
 * Notes accesses of LDS. Parameters: the instruction's place in the image; where addresses are kept, as those of stores are, the part of the log for
 * them; for stores the place of the data register in the wave block (0 where that is not known).
 */
function lookAtLds({ bytes, kind, isHigh, isQuiet, keepsAll }: LdsLook): Look {
  const [isWrite, isAtomic] = [kind !== 'load', kind === 'atomic'];
  const keeps = isWrite || keepsAll;
  const isMoved = movesLds(bytes, kind);
  let [shadow, base, address, relative] = [0, 0, 0, 0];
  let quads: LdsQuads | undefined;
  const words = Math.max(1, bytes / 4);
  const run = new Run(
    (f) => {
      const [pc] = f.extra as [number];
      const { fn } = f.code;
      const pushBytes = (): WasmFunction => fn.get(run.end).get(run.start).op('i32.sub');
      fn.get(shadow).get(run.start).get(base).op('i32.sub');
      const look = isQuiet ? quietFunction(f.module) : ldsFunction(f.module, isWrite);
      pushBytes().get(pc).call(look).op('i32.eqz');
      f.code.if(() => {
        if (isWrite) {
          fn.get(shadow);
          pushData(f).get(run.lane).i32(0);
          pushBytes().i32(bytes).op('i32.div_u').i32(words).get(run.start).get(base).get(pc);
          fn.call(sameFunction(f.module, { bytes, isHigh })).op('i32.eqz');
          f.code.if(() => f.resume());
        } else f.resume();
      });
    },
    isWrite ? bytes : undefined,
  );
  const noteAtomic = (f: Frame, a: number, offset: number, count: number): void => {
    const [pc] = f.extra as [number];
    const { fn } = f.code;
    if (bytes > 4 && offset === 0) {
      fn.get(a)
        .get(base)
        .op('i32.sub')
        .i32(bytes - 1)
        .op('i32.and');
      f.code.if(() => f.resume());
    }
    fn.get(shadow).get(a).get(base).op('i32.sub');
    if (offset !== 0) fn.i32(offset).op('i32.add');
    fn.i32(count).get(pc).call(ldsAtomicFunction(f.module)).op('i32.eqz');
    f.code.if(() => f.resume());
  };
  const note = (f: Frame, a: number, offset: number, count: number): void => {
    if (isAtomic) noteAtomic(f, a, offset, count);
    else run.add(f, a, offset, count);
    if (isWrite && isMoved) run.close(f);
  };
  const prologue = (f: Frame): void => {
    const { fn } = f.code;
    [shadow, base, address] = [f.code.local('i32'), f.code.local('i32'), f.code.local('i32')];
    fn.get(f.wave).memory('i32.load', WAVE_SHADOW).set(shadow);
    fn.get(f.wave).memory('i32.load', WAVE_LDS_BASE).set(base);
    if (!isAtomic) run.begin(f);
    if (bytes === 4 || (bytes === 8 && !isAtomic) || (bytes < 4 && isQuiet)) {
      const [pc] = f.extra as [number];
      relative = f.code.local('v128');
      quads = new LdsQuads(f, shadow, pc, isQuiet ? 'quiet' : kind);
    }
    if (!keeps) return;
    const [, part] = f.extra as [number, number];
    fn.get(part)
      .get(f.wave)
      .memory('i64.load', 4 * EXEC)
      .memory('i64.store');
    fn.get(part).i32(0).memory('i32.store', PART_RUN);
  };
  const key = `lds.${bytes}${kind === 'load' ? '' : `.${kind}`}${isHigh ? '.high' : ''}${isQuiet ? '.quiet' : ''}${keepsAll ? '.keeps' : ''}`;
  const plain = looking(bytes, isWrite, key, isWrite ? 3 : keeps ? 2 : 1, note, prologue);
  /** The lanes at addresses in a vector. */
  const lanes = (f: Frame, addresses: number, bits?: number): void => {
    const { fn } = f.code;
    const oneByOne = (): void => {
      const [pc] = f.extra as [number];
      fn.get(shadow).get(base).get(addresses);
      if (bits === undefined) fn.i32(15);
      else fn.get(bits);
      fn.get(f.at);
      if (kind === 'store') pushData(f);
      else fn.i32(0);
      fn.get(pc).call(ldsLanesFunction(f.module, { bytes, kind, isHigh })).op('i32.eqz');
      f.code.if(() => f.resume());
    };
    const known = quads;
    if (known === undefined) {
      oneByOne();
      return;
    }
    f.code.block((done) => {
      f.code.block((slow) => {
        fn.get(addresses).get(base).op('i32x4.splat').op('i32x4.sub').set(relative);
        if (bytes < 4) {
          // Parts of a dword are there when the dword is.
          const within = bytes - 1;
          fn.get(relative).v128(within, within, within, within).op('v128.and').op('v128.any_true');
          f.code.brIf(slow);
          fn.get(relative).v128(-4, -4, -4, -4).op('v128.and').set(relative);
        }
        known.note(relative, slow);
        for (let word = 1; word < words; word++) {
          fn.get(relative).v128(4, 4, 4, 4).op('i32x4.add').set(relative);
          known.note(relative, slow);
        }
        f.code.br(done);
      });
      oneByOne();
    });
  };
  const whole = (f: Frame, register: number, start: number): void => {
    const [pc, part] = f.extra as [number, number];
    const { fn } = f.code;
    pushMayBeStrided(fn, register).if('i32');
    const more = f.code.local('i32');
    fn.get(start).get(base).op('i32.sub').set(more);
    if (keeps) fn.get(part).get(register).get(more).call(keepAddressesFunction(f.module));
    const strided = ldsStridedFunction(f.module, isQuiet ? 'quiet' : isWrite ? 'store' : 'load');
    fn.get(shadow).get(register).get(more).get(pc).call(strided).else().i32(0).end();
  };
  const looked: Look = {
    ...plain,
    lanes,
    ...(bytes === 4 && !isAtomic ? { whole } : {}),
    finish: () => quads?.finish(),
    leave: () => quads?.finish(),
  };
  const { broadcast } = looked;
  // An element is in range as a whole: its first piece stands for it.
  const look: Look = isAtomic
    ? looked
    : {
        ...looked,
        ...(broadcast === undefined
          ? {}
          : {
              broadcast: (f: Frame, a: number) => {
                // Four lanes after four others read the same.
                const { fn } = f.code;
                fn.get(a).get(run.start).op('i32.ne').get(run.end).get(run.start).op('i32.sub').i32(bytes);
                fn.op('i32.ne').op('i32.or');
                f.code.if(() => broadcast(f, a));
              },
            }),
        move: (f, n, a) => {
          if (n === 0) note(f, a, 0, bytes);
        },
        finish: (f) => {
          run.finish(f);
          quads?.finish();
        },
      };
  if (!keeps) return look;
  /** Leaves where the part of the log has the current lane's address. */
  const pushKept = (f: Frame): WasmFunction => {
    const [, part] = f.extra as [number, number];
    return f.code.fn.get(part).get(f.at).op('i32.add');
  };
  const { broadcast: kept } = look;
  const noting: Look = {
    ...look,
    ...(kept === undefined
      ? {}
      : {
          broadcast: (f: Frame, a: number) => {
            pushKept(f).get(a).get(base).op('i32.sub').op('i32x4.splat').memory('v128.store', PART_ADDRESSES);
            kept(f, a);
          },
        }),
    wave: (f, a, count) => {
      const [, part] = f.extra as [number, number];
      const { fn } = f.code;
      fn.get(part);
      if (count === bytes) fn.get(a).get(base).op('i32.sub').call(keepOneFunction(f.module));
      else {
        fn.i32(1).memory('i32.store', PART_RUN);
        fn.get(part).get(a).get(base).op('i32.sub').memory('i32.store', PART_ADDRESSES);
      }
      note(f, a, 0, count);
    },
    contiguous: (f, a) => {
      pushKept(f)
        .get(a)
        .get(base)
        .op('i32.sub')
        .op('i32x4.splat')
        .v128(0, bytes, 2 * bytes, 3 * bytes)
        .op('i32x4.add');
      f.code.fn.memory('v128.store', PART_ADDRESSES);
      const known = isWrite && isMoved ? quads : undefined;
      f.code.block((done) => {
        f.code.block((slow) => {
          if (known === undefined) return;
          f.code.fn.get(a).get(base).op('i32.sub').set(address);
          known.noteRow(address, slow);
          f.code.br(done);
        });
        note(f, a, 0, 4 * bytes);
      });
    },
    lanes: (f, addresses, bits) => {
      pushKept(f).get(addresses).get(base).op('i32x4.splat').op('i32x4.sub').memory('v128.store', PART_ADDRESSES);
      lanes(f, addresses, bits);
    },
    move: (f, n, a, offset) => {
      if (n === 0) pushKept(f).get(a).get(base).op('i32.sub').memory('i32.store', PART_ADDRESSES);
      look.move(f, n, a, offset);
    },
  };
  return isAtomic || !isWrite ? noting : apart(noting);
}

/** (a part of the log, address of a register, what is to be added to its words): the part has these LDS addresses. */
function keepAddressesFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.keep', ['i32', 'i32', 'i32'], [], (fn) => {
    const [part, register, more] = [0, 1, 2] as const;
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(part).get(register).memory('v128.load', at).get(more).op('i32x4.splat').op('i32x4.add');
      fn.memory('v128.store', PART_ADDRESSES + at);
    }
  });
}

/** (a part of the log, LDS address): all lanes have the address. */
function keepOneFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.keep.one', ['i32', 'i32'], [], (fn) => {
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(0)
        .get(1)
        .op('i32x4.splat')
        .memory('v128.store', PART_ADDRESSES + at);
    }
  });
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
  const other = role.kind === 'scalar' ? LOGGED_SCALAR : LOGGED_LDS;
  const isAtomic = access?.kind === 'atomic' && access.space === 'global';
  const isFetch = (isAtomic && range !== undefined) || looksAhead(plan, operation, circumstances);
  const more = (isNumbered ? LOGGED_STORE : access?.toLds ? LOGGED_FLIGHT : 0) | (isFetch ? LOGGED_FETCH : 0);
  const parts = access?.space === 'lds' && operation?.kind === 'store' ? partsOf(operation) : 0;
  const slots = range === undefined ? 0 : range.first | (range.count << 16);
  const logged = fn.local('i32');
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).tee(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow);
  fn.op('i32.add').v128(pc, parts, role.kind === 'vm' ? LOGGED_VM | more : other, slots);
  fn.memory('v128.store', SHADOW_LOG);
  fn.get(shadow).get(logged).i32(1).op('i32.add').memory('i32.store', SHADOW_LOGGED);
  fn.release('i32', logged);
  const increment = (at: number): void => {
    fn.get(shadow).get(shadow).memory('i32.load', at).i32(1).op('i32.add').memory('i32.store', at);
  };
  increment(SHADOW_TOTAL);
  if (role.kind === 'vm') {
    increment(SHADOW_LOGGED_VM);
    if (isNumbered) increment(SHADOW_STORES);
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

if (`${[LOG_PC, LOG_PARTS, LOG_KIND, LOG_SLOT]}` !== '0,4,8,12') throw new Error('the log is laid out otherwise');
