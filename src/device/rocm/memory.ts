// Memory of a GPU: what was allocated here, and copies that stay inside of it.
import { WavesmithError } from '../../base/index.ts';
import type { DeviceAddress, DeviceBuffer } from '../device.ts';
import type { RocmAddon } from './addon.ts';
import { callHsa } from './errors.ts';

const PAGE = 4096;
const MAX_SIZE = 2 ** 48;

const roundUp = (n: number): number => Math.ceil(n / PAGE) * PAGE;
const roundDown = (n: number): number => Math.floor(n / PAGE) * PAGE;

interface Region {
  readonly size: number;
  readonly label: string;
  /** Gives it back. */
  readonly release: () => void;
  /** Of memory at a chosen address: where its pages begin. */
  readonly reserved?: number;
}

export class RocmMemory {
  private readonly addon: RocmAddon;
  private readonly gpu: number;
  private readonly regions = new Map<DeviceAddress, Region>();

  constructor(addon: RocmAddon, gpu: number) {
    this.addon = addon;
    this.gpu = gpu;
  }

  alloc(size: number, label: string, isKernarg = false): DeviceBuffer {
    checkSize(size, label);
    const { addon, gpu } = this;
    const bytes = roundUp(Math.max(size, 1));
    const address = callHsa(() => addon.rocmAllocate(gpu, bytes, isKernarg ? 1 : 0), label);
    this.regions.set(address, { size, label, release: () => addon.rocmFree(address) });
    callHsa(() => addon.rocmClear(address, bytes), label);
    return { address, size, label };
  }

  /** Whole pages around the range are reserved at exactly their addresses. */
  allocAt(address: DeviceAddress, size: number, label: string): DeviceBuffer {
    checkSize(size, label);
    const { addon, gpu } = this;
    const start = roundDown(address);
    const bytes = roundUp(address + Math.max(size, 1)) - start;
    const isAddress = Number.isSafeInteger(address) && address > 0;
    if (!isAddress || !callHsa(() => addon.rocmReserve(gpu, start, bytes), label)) throw taken(address, size, label);
    this.regions.set(address, { size, label, release: () => addon.rocmUnreserve(start, bytes), reserved: start });
    callHsa(() => addon.rocmClear(start, bytes), label);
    return { address, size, label };
  }

  /** Only memory at chosen addresses can be seen at a second one: the runtime has no handle of other memory. */
  map(address: DeviceAddress, size: number, source: DeviceAddress): DeviceBuffer {
    const { addon, gpu } = this;
    const found = [...this.regions].find(([at, r]) => source >= at && source + size <= at + r.size);
    const [, region] = found ?? [];
    if (region?.reserved === undefined || address % PAGE !== source % PAGE) {
      throw new WavesmithError(
        'device/bad-mapping',
        `There is no memory at a chosen address of ${size} bytes at 0x${source.toString(16)} to map.`,
        { hint: 'Allocate it with allocAt; both addresses have the same offset in their page.' },
      );
    }
    const { reserved, label } = region;
    const start = roundDown(address);
    const bytes = roundUp(address + size) - start;
    if (!callHsa(() => addon.rocmMap(gpu, start, bytes, reserved, roundDown(source) - reserved), label))
      throw taken(address, size, label);
    this.regions.set(address, { size, label, release: () => addon.rocmUnreserve(start, bytes) });
    return { address, size, label };
  }

  /** Takes the image of a code object into account. */
  addImage(address: DeviceAddress, size: number): void {
    this.regions.set(address, { size, label: 'code object', release: () => {} });
  }
  removeImage(address: DeviceAddress): void {
    this.regions.delete(address);
  }

  free({ address, label }: DeviceBuffer): void {
    const region = this.regions.get(address);
    if (region === undefined) throw new WavesmithError('device/double-free', `Buffer '${label}' is not allocated.`);
    this.regions.delete(address);
    callHsa(region.release, label);
  }

  write(buffer: DeviceBuffer, bytes: Uint8Array, offset: number): void {
    const at = this.place(buffer, offset, bytes.length);
    callHsa(() => this.addon.rocmWrite(at, bytes), buffer.label);
  }
  read(buffer: DeviceBuffer, offset: number, size: number, into?: Uint8Array): Uint8Array {
    const at = this.place(buffer, offset, size);
    const bytes = into ?? new Uint8Array(size);
    callHsa(() => this.addon.rocmRead(at, bytes), buffer.label);
    return bytes;
  }
  copy(destination: DeviceBuffer, source: DeviceBuffer, size: number): void {
    const [to, from] = [this.place(destination, 0, size), this.place(source, 0, size)];
    if (size > 0 && to !== from) callHsa(() => this.addon.rocmCopy(to, from, size), destination.label);
  }

  /** Gives everything back. */
  close(): void {
    // Mappings before what they show.
    for (const { release } of [...this.regions.values()].reverse()) callHsa(release, 'memory');
    this.regions.clear();
  }

  private place({ address, label, size: whole }: DeviceBuffer, offset: number, size: number): number {
    const region = this.regions.get(address);
    const isRange = Number.isInteger(offset) && Number.isInteger(size) && offset >= 0 && size >= 0;
    if (region === undefined || !isRange || offset + size > region.size) {
      throw new WavesmithError(
        'device/out-of-bounds',
        `Bytes ${offset} to ${offset + size} are outside buffer '${label}' (${whole} bytes), or it was freed.`,
      );
    }
    return address + offset;
  }
}

function checkSize(size: number, label: string): void {
  if (Number.isSafeInteger(size) && size >= 0 && size <= MAX_SIZE) return;
  throw new WavesmithError('device/bad-size', `'${label}' cannot have ${size} bytes.`);
}

function taken(address: DeviceAddress, size: number, label: string): WavesmithError {
  return new WavesmithError(
    'device/address-taken',
    `The address 0x${address.toString(16)} for '${label}' (${size} bytes) cannot be had.`,
    { hint: "'wavesmith replay reserve-check' names what is in the way. A process of its own has the most room." },
  );
}
