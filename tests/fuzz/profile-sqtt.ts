// Fuzz target: raw gfx9 thread traces, decoded and stitched to code.
import { LoadedCode } from '../../src/profile/sqtt/code.ts';
import { readSqtt } from '../../src/profile/sqtt/trace.ts';
import { sampleCodeObject, sampleSqtt } from '../profile-fixtures.ts';
import type { FuzzTarget } from './mutate.ts';

const code = new LoadedCode(sampleCodeObject(), 'sample.o');

const target: FuzzTarget = {
  name: 'profile-sqtt',
  seeds: () => [sampleSqtt(0x10000, 3), sampleSqtt(0x7f00_0000_0000, 1, 5, 4)],
  run(bytes) {
    const source = { path: 'x.att', size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
    const result = readSqtt(source, { codes: [code] });
    for (const line of result.trace.lines) {
      if (!(line.stall <= line.latency && line.hits >= 0)) throw new Error(`wrong sums at ${line.address}`);
    }
  },
};
export default target;
