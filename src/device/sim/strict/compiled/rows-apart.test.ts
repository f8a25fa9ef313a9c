// Rows of lanes that are said to be apart have no address twice, and those of tiles are said to be.
import { expect, it } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { LANES } from '../../state/layout.ts';
import { WasmModule } from '../../wasm/emit.ts';
import { rowsApartFunction } from './rows-apart.ts';

const areApart = (() => {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 2, maximum: 65536, shared: false });
  module.export('apart', rowsApartFunction(module));
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 65536 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  const call = exports.apart as (register: number) => number;
  const words = new Int32Array(memory.buffer, 1024, LANES);
  return (addresses: readonly number[]): boolean => {
    words.set(addresses);
    return call(1024) === 1;
  };
})();

const rowsOf = (row: number, step: number, distance: number, start = 0): number[] =>
  Array.from({ length: LANES }, (_, lane) => start + Math.floor(lane / row) * distance + (lane % row) * step);

it.each([
  [32, 132, 4],
  [16, 68, 4],
  [8, 36, 4],
  [32, 4, 132],
  [16, 4, 68],
  [16, 136, -8],
])('rows of %i lanes, %i bytes from lane to lane and %i from row to row, are apart', (row, step, distance) => {
  expect(areApart(rowsOf(row, step, distance, 4096))).toBe(true);
});

it('what is said to be apart is', () => {
  const rows = fc.constantFrom(8, 16, 32);
  const small = fc.integer({ min: -40, max: 160 });
  const change = fc.record({ lane: fc.nat(LANES - 1), by: fc.constantFrom(0, 0, 4, -4, 132) });
  fc.assert(
    fc.property(rows, small, small, change, (row, step, distance, { lane, by }) => {
      const addresses = rowsOf(row, step, distance, 8192);
      addresses[lane] = (addresses[lane] as number) + by;
      const isSaid = areApart(addresses);
      if (isSaid) expect(new Set(addresses).size).toBe(LANES);
      // Ascending steps that are all equal are rows of any length.
      const isOfRows = by === 0 && step > 0 && distance !== step * row;
      if (isOfRows && !isSaid) expect(new Set(addresses).size).toBeLessThan(LANES);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
