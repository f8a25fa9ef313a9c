// Compiled kernels with a probe in them: what both leave in their buffers, and what the probe found.
import { readCodeObject } from '../../src/codeobject/index.ts';
import { createDevice, type DeviceBuffer } from '../../src/device/index.ts';
import type { Instrumented } from '../../src/instrument/index.ts';
import type { StrictSubject } from './strict-kernels.ts';

/** Runs a code object; every buffer, and the probe's memory at an address of the file. */
export async function runCode(
  subject: StrictSubject,
  code: Uint8Array,
  place: Instrumented['memory'],
  strict: boolean,
) {
  const device = await createDevice('sim', { target: subject.target });
  const buffers: DeviceBuffer[] = [];
  const alloc = device.alloc.bind(device);
  let image = 0;
  device.alloc = (size, label) => {
    const buffer = alloc(size, label);
    buffers.push(buffer);
    return buffer;
  };
  const load = device.load.bind(device);
  device.load = (bytes) => {
    const module = load(bytes);
    const kernel = module.kernel(subject.kernel);
    const symbol = readCodeObject(bytes).kernels.find((k) => k.name === subject.kernel)?.descriptorSymbol;
    image = kernel.descriptorAddress - Number(symbol?.value);
    return module;
  };
  const run = await subject.run(device, code, strict ? {} : undefined);
  const contents = buffers.map((buffer) => device.read(buffer));
  const { address, size } = place;
  const region = size === 0 ? undefined : device.memory.find(image + address, size);
  const memory = region?.bytes.slice(image + address - region.base, image + address - region.base + size);
  device.close();
  return { run, contents, memory };
}
