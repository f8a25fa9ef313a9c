// Compiled code follows halves of 64-bit results that have no value where their sources have none (PartResult): compilers use such operations for results of 32 bits.
import type { WasmFunction } from '../../wasm/emit.ts';
import type { PartResult } from '../races/segments.ts';

/** Leaves the lanes in which a register has a value: in one of its halves, as RegisterShadow.undefinedLanes has it. */
function pushDefined(fn: WasmFunction, shadow: number, register: number): WasmFunction {
  fn.get(shadow).memory('i64.load', 16 * register);
  fn.get(shadow).memory('i64.load', 16 * register + 8);
  return fn.op('i64.or');
}

/** Leaves active lanes in which a source of one of the results has no value. */
export function pushLacking(
  fn: WasmFunction,
  shadow: number,
  exec: number,
  results: readonly PartResult[],
): WasmFunction {
  const sources = new Set(results.flatMap((one) => one.sources));
  for (const [n, source] of [...sources].entries()) {
    pushDefined(fn, shadow, source);
    if (n > 0) fn.op('i64.and');
  }
  return fn.i64(-1n).op('i64.xor').get(exec).op('i64.and');
}

/** In front of a segment: in which lanes its results stay as `keepParts` finds them then; a local for each. */
export function findParts(
  fn: WasmFunction,
  shadow: number,
  exec: number,
  results: readonly PartResult[],
): readonly number[] {
  return results.map(({ sources }) => {
    const lanes = fn.local('i64');
    for (const [n, source] of sources.entries()) {
      pushDefined(fn, shadow, source);
      if (n > 0) fn.op('i64.and');
    }
    fn.get(exec).i64(-1n).op('i64.xor').op('i64.or').set(lanes);
    return lanes;
  });
}

/** Once all results are defined: those have a value in no other lanes than findParts has found, whose locals are released. */
export function keepParts(
  fn: WasmFunction,
  shadow: number,
  results: readonly PartResult[],
  found: readonly number[],
): void {
  for (const [n, { register }] of results.entries()) {
    const lanes = found[n] as number;
    for (const at of [16 * register, 16 * register + 8])
      fn.get(shadow).get(shadow).memory('i64.load', at).get(lanes).op('i64.and').memory('i64.store', at);
    fn.release('i64', lanes);
  }
}
