// Compiled code writes the elements of a whole wavefront into the log of reads (read-log.ts) at once, where all lie in pages whose reads are logged, or need
// not be noted, as a load has found before (compiled/spans.ts).
import { LANES, PAGE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LOGGED } from '../races/race-details.ts';
import { LOG_ENTRY } from '../races/read-log.ts';
import { SHADOW_PAGE_COUNT, SHADOW_PAGES } from '../registers/shadow-layout.ts';
import { pushLog, pushReader, TO_END } from './log.ts';
import { pushSpanEntry, SPAN_DETAILS, SPAN_KIND, SPAN_SIZE } from './spans.ts';

const QUADS = LANES / 4;

/**
 * (shadow, address of a register, what is to be added to its words, place in the image) → 1 when the elements of so many bytes at these offsets in wasm memory
 * have been noted; 0 when they are to be looked at four at a time.
 */
export function logWaveFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.log.wave.${bytes}`, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, register, start, pc] = [0, 1, 2, 3] as const;
    const code = new Code(fn);
    const local = (): number => fn.local('i32');
    const [entry, head, next, first, size, kind] = [local(), local(), local(), local(), local(), local()] as const;
    const [more, values, least, most] = [0, 1, 2, 3].map(() => fn.local('v128')) as [number, number, number, number];
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    pushSpanEntry(fn, shadow, pc, false).tee(entry).memory('i32.load').set(first);
    fn.get(entry).memory('i32.load', SPAN_SIZE).set(size);
    fn.get(entry).memory('i32.load', SPAN_KIND).set(kind);
    fn.get(register)
      .memory('i32.load')
      .get(start)
      .op('i32.add')
      .tee(next)
      .get(first)
      .op('i32.sub')
      .get(size)
      .op('i32.ge_u');
    code.if(() => setLoggedPages(fn, { shadow, at: next, first, size, kind }));
    fn.get(size).i32(bytes).op('i32.lt_u').get(kind).i32(SPAN_DETAILS).op('i32.and').op('i32.or');
    // Those of the reader, and of 16 times four lanes.
    pushLog(fn, shadow).tee(head).memory('i32.load').tee(next);
    fn.i32(LOG_ENTRY * (1 + QUADS))
      .op('i32.add')
      .get(head)
      .memory('i32.load', TO_END)
      .op('i32.gt_u')
      .op('i32.or');
    leave();
    pushReader(fn.get(next), shadow, pc, bytes).memory('v128.store');
    fn.get(start).op('i32x4.splat').set(more);
    // Nothing counts before the log is told of it.
    for (let quad = 0; quad < QUADS; quad++) {
      fn.get(next)
        .get(register)
        .memory('v128.load', 16 * quad)
        .get(more)
        .op('i32x4.add')
        .tee(values)
        .memory('v128.store', LOG_ENTRY * (1 + quad));
      for (const [vector, op] of [
        [least, 'i32x4.min_u'],
        [most, 'i32x4.max_u'],
      ] as const) {
        fn.get(values);
        if (quad > 0) fn.get(vector).op(op);
        fn.set(vector);
      }
    }
    // As offsets in the span, all are at most that of the last element that there is room for.
    for (const vector of [least, most]) {
      fn.get(vector).get(first).op('i32x4.splat').op('i32x4.sub');
      fn.get(size).i32(bytes).op('i32.sub').op('i32x4.splat').op('i32x4.gt_u');
      if (vector === most) fn.op('v128.or');
    }
    fn.op('v128.any_true');
    leave();
    fn.get(kind).op('i32.eqz').if();
    fn.get(head)
      .get(next)
      .i32(LOG_ENTRY * (1 + QUADS))
      .op('i32.add')
      .memory('i32.store');
    fn.end().i32(1);
  });
}

/** Sets a span to the page of an offset, and the one behind, where their reads are logged and all their bytes were written before the dispatch: else it is none. */
function setLoggedPages(
  fn: WasmFunction,
  { shadow, at, first, size, kind }: Readonly<Record<'shadow' | 'at' | 'first' | 'size' | 'kind', number>>,
): void {
  const page = fn.local('i32');
  const count = (): WasmFunction => fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT);
  /** Leaves 1 when so many pages behind `page` is one of them. */
  const pushIsLogged = (behind: number): WasmFunction => {
    fn.get(page).i32(behind).op('i32.add');
    count().op('i32.lt_u').if('i32');
    // The quick table lies behind the table of pages.
    fn.get(page).i32(behind).op('i32.add');
    count().op('i32.add').i32(2).op('i32.shl').get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add');
    return fn.memory('i32.load').i32(LOGGED).op('i32.eq').else().i32(0).end();
  };
  fn.i32(0).set(kind).get(at).i32(-PAGE).op('i32.and').set(first);
  fn.get(at).i32(Math.log2(PAGE)).op('i32.shr_u').set(page);
  pushIsLogged(0);
  fn.if('i32');
  fn.i32(2 * PAGE).i32(PAGE);
  pushIsLogged(1);
  fn.select().else().i32(0).end().set(size);
  fn.release('i32', page);
}
