// Compiled code notes lanes of LDS one by one, where a look at four at once (compiled/lds-quads.ts) does not say enough. A function of its own:
// looks have it in several places.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { ldsAtomicFunction, ldsFunction } from './lds.ts';
import { ldsPartsFunction } from './lds-parts.ts';
import type { LdsAccess } from './lds-quads.ts';
import { sameFunction } from './lds-same.ts';

/** Elements of so many bytes; of stores, whether they are of the upper half of their register. */
interface Lanes {
  readonly bytes: number;
  readonly kind: LdsAccess;
  readonly isHigh: boolean;
}

/**
 * (shadow, where the LDS begins in wasm memory, addresses there of four lanes, bits of those that count, 4 × the first lane, address of the data
 * register or 0, place in the image) → 1 when their elements are all right and noted, 0 when TypeScript has to look.
 */
export function ldsLanesFunction(module: WasmModule, { bytes, kind, isHigh }: Lanes): WasmFunction {
  const name = `strict.lds.lanes.${bytes}.${kind}${isHigh ? '.high' : ''}`;
  const note = kind === 'atomic' ? ldsAtomicFunction(module) : ldsFunction(module, kind === 'store');
  const parts = kind === 'store' && bytes < 4 ? ldsPartsFunction(module, bytes as 1 | 2, isHigh) : undefined;
  const same = kind === 'store' ? sameFunction(module, { bytes, isHigh }) : undefined;
  return module.helper(name, ['i32', 'i32', 'v128', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, base, addresses, bits, first, data, pc] = [0, 1, 2, 3, 4, 5, 6] as const;
    const address = fn.local('i32');
    const leave = (): void => {
      fn.if().i32(0).return().end();
    };
    if (parts !== undefined) {
      for (const parameter of [shadow, base, addresses, bits, first, data, pc]) fn.get(parameter);
      fn.call(parts).if().i32(1).return().end();
    }
    for (let lane = 0; lane < 4; lane++) {
      fn.get(bits)
        .i32(1 << lane)
        .op('i32.and');
      code.if(() => {
        fn.get(addresses).lane('i32x4.extract_lane', lane).set(address);
        if (kind === 'atomic' && bytes > 4) {
          fn.get(address).get(base).op('i32.sub');
          fn.i32(bytes - 1).op('i32.and');
          leave();
        }
        fn.get(shadow).get(address).get(base).op('i32.sub').i32(bytes).get(pc).call(note).op('i32.eqz');
        if (same === undefined) {
          leave();
          return;
        }
        code.if(() => {
          fn.get(shadow)
            .get(data)
            .get(first)
            .i32(4 * lane)
            .op('i32.add')
            .i32(0)
            .i32(1);
          fn.i32(Math.max(1, bytes / 4))
            .get(address)
            .get(base)
            .get(pc)
            .call(same)
            .op('i32.eqz');
          leave();
        });
      });
    }
    fn.i32(1);
  });
}
