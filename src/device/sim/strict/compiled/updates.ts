// Compiled code notes the bytes that atomics of global memory change, as GlobalShadow.write does it for an update. What they tell others, in kernels
// that learn from others (polls.ts), goes into a log (compiled/sync.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LDS_UPDATED } from '../lds/lds.ts';
import { LOGGED, PAGE_DETAILS } from '../races/race-details.ts';
import { EVENT_SHIFT } from '../races/race-events.ts';
import { PAGE_WRITTEN } from '../races/race-page.ts';
import { SHADOW_LDS, SHADOW_PAGE_COUNT, SHADOW_PAGES, SHADOW_STORES } from '../registers/shadow-layout.ts';
import { CellWriter } from './cell-writer.ts';
import { noteNext } from './details.ts';
import { openFunction } from './details-open.ts';
import { eventFunction } from './events.ts';

/**
 * (shadow, offset in wasm memory, bytes, place in the image) → 1 when atomics of so many bytes each, side by side, are all right and noted, 0
 * when TypeScript has to look: nothing wrong has been noted then.
 */
export function updateFunction(module: WasmModule, element: number): WasmFunction {
  const helpers = { module, open: openFunction(module), event: eventFunction(module) };
  const parameters = Array.from({ length: 4 }, () => 'i32' as const);
  return module.helper(`strict.update.${element}`, parameters, ['i32'], (fn) => {
    const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
    writeUpdates(fn, element, { shadow, at, pc }, bytes, helpers);
    fn.i32(1);
  });
}

/** (shadow, offsets in wasm memory of four lanes, place in the image): as updateFunction, of one element each. */
export function updatesFunction(module: WasmModule, element: number): WasmFunction {
  const helpers = { module, open: openFunction(module), event: eventFunction(module) };
  const parameters = Array.from({ length: 6 }, () => 'i32' as const);
  return module.helper(`strict.updates.${element}`, parameters, ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, at, pc] = [0, 1, 5] as const;
    const [bytes, left] = [fn.local('i32'), fn.local('i32')];
    fn.i32(4).set(left);
    code.loop((again) => {
      fn.i32(element).set(bytes);
      writeUpdates(fn, element, { shadow, at, pc }, bytes, helpers);
      for (let lane = at; lane < pc - 1; lane++) fn.get(lane + 1).set(lane);
      fn.get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
    fn.i32(1);
  });
}

/** (shadow, offset in wasm memory, place in the image): as updateFunction, of one atomic that leaves memory as it is. */
export function attemptFunction(module: WasmModule, element: number): WasmFunction {
  const helpers = { module, open: openFunction(module), event: eventFunction(module) };
  return module.helper(`strict.attempt.${element}`, ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, at, pc] = [0, 1, 2] as const;
    const bytes = fn.local('i32');
    fn.i32(element).set(bytes);
    writeUpdates(fn, element, { shadow, at, pc }, bytes, helpers, 'attempt');
    fn.i32(1);
  });
}

/** Notes atomics from `at` on as long as there are `bytes`, or returns 0. Behind the first time, who does them is known. */
function writeUpdates(
  fn: WasmFunction,
  element: number,
  { shadow, at, pc }: { readonly shadow: number; readonly at: number; readonly pc: number },
  bytes: number,
  { module, open, event }: { readonly module: WasmModule; readonly open: WasmFunction; readonly event: WasmFunction },
  kind: 'update' | 'attempt' = 'update',
): void {
  const code = new Code(fn);
  const local = (): number => fn.local('i32');
  const [actor, epoch, events, frozen, known, mine] = [local(), local(), local(), local(), local(), local()] as const;
  const [page, cell, mask, written, size] = [local(), local(), local(), local(), local()] as const;
  const leave = (): void => {
    fn.if().i32(0).return().end();
  };
  const knownReads = local();
  const locals = { shadow, at, pc, actor, epoch, events, frozen, knownReads, known, mine, page, cell, mask, written };
  const one = new CellWriter(code, module, locals, leave, 1);
  const four = new CellWriter(code, module, locals, leave, 4);
  fn.get(at)
    .i32(element - 1)
    .op('i32.and');
  leave();
  fn.get(mine).op('i32.eqz');
  code.if(() => {
    one.begin(true, event);
    noteUpdated(fn, shadow);
  });
  code.loop((again) => {
    fn.get(at).i32(12).op('i32.shr_u').tee(page).get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).op('i32.ge_u');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).get(page).i32(2).op('i32.shl').op('i32.add');
    fn.memory('i32.load').tee(page).op('i32.eqz');
    leave();
    fn.get(page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .op('i32.eqz');
    code.if(() => {
      fn.get(shadow).get(page).call(open).op('i32.eqz');
      leave();
    });
    fn.get(page)
      .memory('i32.load', 4 * PAGE_DETAILS)
      .i32(LOGGED)
      .op('i32.eq');
    leave();
    fn.get(page)
      .memory('i32.load', 4 * PAGE_WRITTEN)
      .set(written);
    noteNext(code, { ...locals, bytes, size }, [one, four], (writer) => writer.noteUpdate(kind));
    code.brIf(again);
  });
}

/** The wavefront's workgroup has updated memory by atomics. */
export function noteUpdated(fn: WasmFunction, shadow: number): void {
  fn.get(shadow).memory('i32.load', SHADOW_LDS).i32(1).memory('i32.store', LDS_UPDATED);
}

/** Leaves the event of atomics that are noted by updateQuadFunction, as it is in a word of a record; 0 when there is no room for it. */
export function pushUpdateEvent(fn: WasmFunction, module: WasmModule, shadow: number, pc: number): WasmFunction {
  fn.get(shadow).get(pc).get(shadow).memory('i32.load', SHADOW_STORES).call(eventFunction(module));
  return fn.i32(EVENT_SHIFT).op('i32.shl');
}
