// Code that looks at an access of LDS in kernels whose wavefronts may hand over data there without a barrier (polls.ts): as other accesses as long as nobody else has touched its
// dwords since the last barrier, and by the clocks where somebody has (ordered.ts).
import type { LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction } from '../../wasm/emit.ts';
import { emitLook, type Look } from '../../wasm/memory/index.ts';
import { mayTake } from '../attempts.ts';
import { LDS_POLLED } from '../lds/lds.ts';
import type { StrictPlan } from '../plan.ts';
import { SHADOW_LDS } from '../registers/shadow-layout.ts';
import { dataPlace } from './lanes.ts';
import { partsOf } from './logged.ts';
import {
  noteLearnt,
  noteLearntOfUpdates,
  type OrderedAccess,
  orderFunction,
  releaseFunction,
  tellsMoreFunction,
} from './order.ts';
import {
  differFunction,
  hearFunction,
  isOrderable,
  keepLdsLanes,
  noteOrderedFunction,
  type OrderedLook,
  orderedFunction,
} from './ordered.ts';

/** How the lanes of an access are looked at. */
export interface HandOver {
  readonly isPoll: boolean;
  /** By an atomic, or before one. */
  readonly pollsForUpdate: boolean;
  /** A load that no atomic of LDS can follow. */
  readonly isOnlyLoad: boolean;
  /** The look where nobody else has touched anything, of elements of so many bytes; its parameters by part of the access. */
  readonly look: (bytes: number) => Look;
  readonly push: (part: number) => void;
  /** Leaves where a part of the log is that the addresses are put into. */
  readonly pushPart: (part: number) => WasmFunction;
}

/** Written inside of a block: leaves it when TypeScript has to look. False when there is no code for the addresses. */
export function emitHandOver(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  { isPoll, pollsForUpdate, isOnlyLoad, look, push, pushPart }: HandOver,
): boolean {
  const { fn, module, wave, pc } = context;
  const { instruction } = plan;
  const { bytes, kind } = operation;
  const isAtomic = plan.operation?.kind === 'atomic';
  const returns = isAtomic && plan.writes.length > 0;
  const access: OrderedAccess = returns ? 'fetch' : isAtomic ? 'atomic' : kind;
  const ordered: OrderedLook = { access, bytes, isPoll, isOnlyLoad, takes: returns && mayTake(instruction) };
  const parts = Array.from({ length: partsOf(operation) }, (_, part) => part);
  const call = (part: number, f: WasmFunction): WasmFunction => {
    fn.get(shadow);
    return pushPart(part).call(f);
  };
  const note = (): void => {
    for (const part of parts) call(part, orderFunction(module, access, bytes));
  };
  let hasCode = true;
  /** Leaves 1 where all parts are looked at and noted. */
  const pushLooks = (part = 0): void => {
    hasCode &&= emitLook(context, module, instruction, operation, part, look(bytes), () => push(part));
    if (!hasCode || part + 1 === parts.length) return;
    fn.if('i32');
    pushLooks(part + 1);
    fn.else().i32(0).end();
  };
  /** Leaves 1 where the addresses of a part are in the log, and those of a store are apart or get the same. */
  const pushKeep = (part: number): void => {
    const keep = (look: Look): void => {
      hasCode &&= emitLook(context, module, instruction, operation, part, look, () => {
        fn.i32(pc);
        pushPart(part);
      });
    };
    const data = access === 'store' && bytes === 4 ? dataPlace(plan, part) : 0;
    if (data === 0) {
      keep(keepLdsLanes(bytes, access === 'store'));
      return;
    }
    fn.get(wave).i32(data).op('i32.add').call(differFunction(module)).if('i32');
    keep(keepLdsLanes(bytes, true));
    fn.else();
    keep(keepLdsLanes(bytes, false));
    fn.end();
  };
  /** By the clocks; `depth`: of the block that is left. */
  const byClocks = (depth: number): void => {
    for (const part of parts) {
      pushKeep(part);
      if (!hasCode) return;
      fn.op('i32.eqz').brIf(depth);
      call(part, orderedFunction(module, ordered)).op('i32.eqz').brIf(depth);
    }
    if (isPoll && access === 'load') {
      for (const part of parts) call(part, hearFunction(module, bytes, pollsForUpdate));
      return;
    }
    for (const part of parts) {
      fn.get(shadow);
      pushPart(part).i32(pc).call(noteOrderedFunction(module, ordered));
    }
    note();
  };
  if (access !== 'load' || isPoll)
    fn.get(shadow)
      .call(tellsMoreFunction(module, isPoll ? 'fetch' : access))
      .brIf(0);
  if (isPoll) byClocks(0);
  else if (!isOrderable(bytes)) {
    fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_POLLED).brIf(0);
    pushLooks();
    if (hasCode) fn.op('i32.eqz').brIf(0);
    note();
  } else {
    fn.get(shadow).memory('i32.load', SHADOW_LDS).memory('i32.load', LDS_POLLED).op('i32.eqz').if('i32');
    pushLooks();
    fn.else().i32(0).end();
    if (!hasCode) return false;
    fn.if();
    note();
    fn.else();
    byClocks(1);
    fn.end();
  }
  if (!hasCode) return false;
  if (access !== 'load') fn.get(shadow).call(releaseFunction(module, access));
  if (returns) noteLearnt(fn, shadow);
  else if (isPoll) noteLearntOfUpdates(fn, shadow);
  return true;
}
