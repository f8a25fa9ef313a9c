// Fuzz target: rocprofv3 JSON, streamed.
import { analyse } from '../../src/profile/analyse.ts';
import { readRocprofJson } from '../../src/profile/readers/rocprofv3-json.ts';
import { Recording } from '../../src/profile/recording.ts';
import { rocprofJson } from '../profile-fixtures.ts';
import type { FuzzTarget } from './mutate.ts';

const target: FuzzTarget = {
  name: 'profile-json',
  seeds: () => [new TextEncoder().encode(rocprofJson(3)), new TextEncoder().encode('{"rocprofiler-sdk-tool":[]}')],
  run(bytes) {
    const recording = new Recording();
    const source = { path: 'x.json', size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
    readRocprofJson(source, recording);
    JSON.stringify(analyse(recording));
  },
};
export default target;
