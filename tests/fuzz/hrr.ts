// Fuzz target: the log of an archive of AMD's HIP Record & Replay.
import { readHrrLog } from '../../src/snapshot/hrr/events.ts';
import { CALL, HrrWriter } from '../support/hrr.ts';

const writer = new HrrWriter()
  .allocate(0x7f00_0000_0000, 4096)
  .allocate(0x7f10_0000_0000, 4096, CALL.hostMalloc)
  .copy(0x7f00_0000_0000, 0x1000, 4096, HrrWriter.hash(1))
  .fill(0x7f00_0000_0000, 7, 4096)
  .launch('kernel', HrrWriter.hash(2), 16, 64, [new Uint8Array(8).fill(1), new Uint8Array(4)])
  .copyFromDevice(0x7f00_0000_0000, 4096, HrrWriter.hash(3))
  .record(CALL.free, [4, 0], [8, 0x7f00_0000_0000]);

export default {
  name: 'hrr',
  seeds: () => [writer.log(), writer.log({ end: false, version: 6 })],
  run(bytes: Uint8Array): void {
    readHrrLog(bytes);
  },
};
