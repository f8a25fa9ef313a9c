// What an access leaves in the wavefront's log of outstanding operations (compiled/waits.ts).
import type { LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import type { WasmFunction } from '../../wasm/emit.ts';
import { IN_LDS, IN_SCRATCH } from '../../wasm/memory/index.ts';
import type { StrictPlan } from '../plan.ts';
import {
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOG_PARTS,
  LOG_PC,
  LOG_SLOT,
  LOGGED_FETCH,
  LOGGED_FLIGHT,
  LOGGED_LDS,
  LOGGED_READ,
  LOGGED_SCALAR,
  LOGGED_STORE,
  LOGGED_VM,
  SHADOW_APERTURE,
  SHADOW_FLIGHTS,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_FLATS,
  SHADOW_LOGGED_VM,
  SHADOW_PENDING,
  SHADOW_PLAIN,
  SHADOW_STORES,
  SHADOW_TOTAL,
} from '../registers/shadow-layout.ts';
import { isNumberedStore } from '../registers/waits.ts';
import { FLAT_ISSUED } from '../registers/wave-shadow.ts';
import { type Circumstances, mayLearn } from './circumstances.ts';
import { isFlatFetch } from './spaces.ts';

/** Elements of a lane. */
export function partsOf({ pairStride }: LoadOperation | StoreOperation): number {
  return pairStride === undefined ? 1 : 2;
}

/** Pushes the place of the next entry of the log, but for SHADOW_LOG. */
export function pushEntry(fn: WasmFunction, shadow: number): WasmFunction {
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
    : (isAtomic && range !== undefined) || mayLearn(plan, operation, circumstances);
  const flat = FLAT_ISSUED | (isFetch ? LOGGED_FETCH : 0);
  const isLoad = access?.space === 'lds' && operation?.kind === 'load' && circumstances.isLate;
  const other = role.kind === 'scalar' ? LOGGED_SCALAR : isFlat ? flat : LOGGED_LDS | (isLoad ? LOGGED_READ : 0);
  const more = (isNumbered ? LOGGED_STORE : access?.toLds ? LOGGED_FLIGHT : 0) | (isFetch ? LOGGED_FETCH : 0);
  const isStore = access?.space === 'lds' && operation?.kind === 'store';
  const parts = operation !== undefined && (isStore || isLoad) ? partsOf(operation) : 0;
  const slots = range === undefined ? 0 : range.first | (range.count << 16);
  const logged = fn.local('i32');
  fn.get(shadow).memory('i32.load', SHADOW_LOGGED).tee(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow);
  fn.op('i32.add').v128(pc, parts, role.kind === 'vm' ? LOGGED_VM | more : other, slots);
  fn.memory('v128.store', SHADOW_LOG);
  if (isFlat && isNumbered) emitFlatStore(fn, shadow, logged, flat);
  if (isFlat && operation?.kind === 'load' && circumstances.isLate) emitFlatLoad(fn, shadow, logged, flat);
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

/** Of a flat load in an entry of the log that may be outstanding at a barrier: what it reads of LDS, if anything, is there. */
function emitFlatLoad(fn: WasmFunction, shadow: number, logged: number, flat: number): void {
  emitIsInLds(fn, shadow, logged);
  fn.get(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow).op('i32.add');
  fn.i32(flat | LOGGED_READ).memory('i32.store', SHADOW_LOG + LOG_KIND);
}

/** An entry of the log has a part where lanes of a flat access are in LDS. */
function emitIsInLds(fn: WasmFunction, shadow: number, logged: number): void {
  fn.get(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow).op('i32.add');
  fn.get(shadow)
    .memory('i32.load', SHADOW_APERTURE)
    .i32(IN_LDS)
    .op('i32.and')
    .i32(0)
    .op('i32.ne')
    .memory('i32.store', SHADOW_LOG + LOG_PARTS);
}

/** Of a flat store, or an atomic, in an entry of the log: what is written to LDS is in flight, and what goes to scratch is no store that others could know of. */
function emitFlatStore(fn: WasmFunction, shadow: number, logged: number, flat: number): void {
  const aperture = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_APERTURE);
  const entry = (): WasmFunction => fn.get(logged).i32(LOG_ENTRY_BYTES).op('i32.mul').get(shadow).op('i32.add');
  emitIsInLds(fn, shadow, logged);
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
