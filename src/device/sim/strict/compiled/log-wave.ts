// Compiled code writes the elements of a whole wavefront into the log of reads (read-log.ts) at once, where all lie in pages whose reads are logged, or need
// not be noted, as a load has found before (compiled/spans.ts).
import { LANES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { LOG_ENTRY } from '../races/read-log.ts';
import { pushLog, pushReader, TO_END } from './log.ts';
import { pushSpanEntry, SPAN_DETAILS, SPAN_KIND, SPAN_SIZE } from './spans.ts';

const DWORD = 4;
const QUADS = LANES / 4;

/**
 * (shadow, address of a register, what is to be added to its words, place in the image) → 1 when the elements of so many bytes at these offsets in wasm memory
 * have been noted; 0 when they are to be looked at four at a time.
 */
export function logWaveFunction(module: WasmModule, bytes: number): WasmFunction {
  return module.helper(`strict.log.wave.${bytes}`, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, register, start, pc] = [0, 1, 2, 3] as const;
    const [entry, head, next, first] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const [more, values, least, most, all] = [0, 1, 2, 3, 4].map(() => fn.local('v128')) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    pushSpanEntry(fn, shadow, pc, false).tee(entry).memory('i32.load', SPAN_SIZE).i32(bytes).op('i32.lt_u');
    fn.get(entry).memory('i32.load', SPAN_KIND).i32(SPAN_DETAILS).op('i32.and').op('i32.or');
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
        [all, 'v128.or'],
      ] as const) {
        fn.get(values);
        if (quad > 0) fn.get(vector).op(op);
        fn.set(vector);
      }
    }
    // As offsets in the span, all are at most that of the last element that there is room for.
    fn.get(entry).memory('i32.load').set(first);
    for (const vector of [least, most]) {
      fn.get(vector).get(first).op('i32x4.splat').op('i32x4.sub');
      fn.get(entry).memory('i32.load', SPAN_SIZE).i32(bytes).op('i32.sub').op('i32x4.splat').op('i32x4.gt_u');
      if (vector === most) fn.op('v128.or');
    }
    const unaligned = Math.min(bytes, DWORD) - 1;
    fn.get(all).v128(unaligned, unaligned, unaligned, unaligned).op('v128.and').op('v128.or').op('v128.any_true');
    leave();
    fn.get(entry).memory('i32.load', SPAN_KIND).op('i32.eqz').if();
    fn.get(head)
      .get(next)
      .i32(LOG_ENTRY * (1 + QUADS))
      .op('i32.add')
      .memory('i32.store');
    fn.end().i32(1);
  });
}
