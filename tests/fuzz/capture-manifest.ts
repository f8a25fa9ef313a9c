// Fuzz target: the manifest of a capture whose trailer agrees with it; what reads well is placed on a device.
import { SimDevice } from '../../src/device/index.ts';
import { readCapture } from '../../src/snapshot/capture.ts';
import { filesOfZip, MANIFEST, TRAILER } from '../../src/snapshot/files.ts';
import { readTrailer, sha256, trailerText } from '../../src/snapshot/pages.ts';
import { placeCapture } from '../../src/snapshot/place.ts';
import { captureZip } from './capture.ts';

const files = filesOfZip(captureZip(), 'x.wscap');
const { pages } = readTrailer(files.read(TRAILER) as Uint8Array);
let device: SimDevice | undefined;

export default {
  name: 'capture-manifest',
  seeds: () => [files.read(MANIFEST) as Uint8Array],
  run(bytes: Uint8Array): void {
    const trailer = new TextEncoder().encode(trailerText({ manifest: sha256(bytes), pages }));
    const capture = readCapture({
      ...files,
      read: (name) => (name === MANIFEST ? bytes : name === TRAILER ? trailer : files.read(name)),
    });
    device ??= new SimDevice('gfx942');
    const placed = placeCapture(device, capture);
    placed.restore();
    placed.free();
  },
};
