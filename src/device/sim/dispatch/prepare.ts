// From a request to a launch: checks it against kernel and target, and sets up its kernarg segment, packet and queue in device memory.
// Sources: LLVM AMDGPUUsage, "Kernarg Segment", "Kernel Descriptor"; HSA Runtime Specification, AQL kernel dispatch packet.
import { WavesmithError } from '../../../base/index.ts';
import { targetInfo } from '../../../isa/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { checkSizes } from '../../checks.ts';
import type { DispatchSegment } from '../../device.ts';
import { kernargBytes } from '../../kernargs.ts';
import type { SimKernel } from '../module.ts';
import type { SimDispatchRequest } from '../options.ts';
import { LANES } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Region } from '../state/region.ts';
import type { Launch } from './launch.ts';

const DEFAULT_BUDGET = 10_000_000_000;
/** Scratch given to kernels whose stack size is not known at compile time. */
const DYNAMIC_STACK = 16_384;
/** What COMPUTE_TMPRING_SIZE.WAVESIZE can express: 13 bits of 1 KiB. */
const MAX_SCRATCH_PER_WAVE = 8191 * 1024;
const MAX_KERNARG = 1 << 20;
const MAX_USER_SGPRS = 16;
/** Bytes of an AQL packet, and of an amd_queue_t that kernels may read. */
const PACKET_BYTES = 64;
const QUEUE_BYTES = 256;

/** A launch with the memory that lives as long as it. */
export interface PreparedLaunch {
  readonly launch: Launch;
  /** Frees what was allocated for the dispatch. */
  end(): void;
}

/** Checks a request and sets up its kernarg segment, packet and queue in device memory. */
export function prepareLaunch(memory: DeviceMemory, kernel: SimKernel, request: SimDispatchRequest): PreparedLaunch {
  const info = targetInfo(kernel.module.target);
  const workItems = checkSizes(kernel, request, info);
  checkKernarg(kernel);
  const { grid, block, dynamicLds = 0 } = request;
  const { descriptor } = kernel;
  const scratchPerLane =
    Math.ceil(
      Math.max(
        kernel.scratchSize + (descriptor.properties.usesDynamicStack ? DYNAMIC_STACK : 0),
        request.scratch ?? 0,
      ) / 16,
    ) * 16;
  const scratchPerWave = Math.ceil((scratchPerLane * LANES) / 1024) * 1024;
  if (scratchPerWave > MAX_SCRATCH_PER_WAVE) {
    throw new WavesmithError(
      'device/scratch-too-large',
      `Kernel '${kernel.name}' asks for ${scratchPerLane} bytes of scratch per work-item; a wavefront has ${MAX_SCRATCH_PER_WAVE}.`,
    );
  }
  const owned: Region[] = [];
  const end = (): void => {
    for (const region of owned) memory.free(region.base);
  };
  const place = (segment: Pick<Launch, 'kernarg' | 'packet' | 'queue'>): Launch => ({
    target: kernel.module.target,
    kernelName: kernel.name,
    descriptor,
    descriptorAddress: kernel.descriptorAddress,
    entry: kernel.entry + (descriptor.preload.length > 0 && info.kernargPreload ? 256 : 0),
    grid,
    block,
    workItems,
    workgroups: grid[0] * grid[1] * grid[2],
    wavesPerGroup: Math.ceil((block[0] * block[1] * block[2]) / LANES),
    ldsBytes: kernel.ldsSize + dynamicLds,
    scratchPerLane,
    scratchPerWave,
    ...segment,
    budget: request.maxInstructions ?? DEFAULT_BUDGET,
    engine: request.engine ?? 'compiled',
    order: request.order ?? 'ascending',
    mfma: request.mfma ?? 'exact',
    hostClockOffset: request.hostClockOffset,
  });
  const own = (size: number, label: string): Region => {
    const region = memory.alloc(size, label);
    owned.push(region);
    return region;
  };
  const ownQueue = (): number => {
    const queue = own(QUEUE_BYTES, 'queue');
    queue.view.setUint32(0x40, SHARED_APERTURE_HIGH, true);
    queue.view.setUint32(0x44, PRIVATE_APERTURE_HIGH, true);
    return queue.base;
  };
  const ownKernarg = (queue: number): number => {
    const bytes = kernargBytes(kernel, request, { grid, block, workItems, dynamicLds, queue });
    // Compilers load whole cache lines of arguments; the segment is padded like the runtime pads it.
    const kernarg = own(Math.ceil(Math.max(bytes.length, 1) / 64) * 64 + 64, 'kernarg segment');
    kernarg.bytes.set(bytes);
    return kernarg.base;
  };
  try {
    const { segment } = request;
    if (segment !== undefined) checkSegment(memory, kernel, request, segment);
    const queue = segment?.queue ?? ownQueue();
    const kernarg = segment?.kernarg ?? ownKernarg(queue);
    const packet = segment?.packet === undefined ? own(PACKET_BYTES, 'dispatch packet') : undefined;
    const launch = place({ kernarg, packet: packet?.base ?? (segment?.packet as number), queue });
    if (packet !== undefined) fillPacket(packet.view, launch);
    return { launch, end };
  } catch (error) {
    end();
    throw error;
  }
}

/** Checks memory that a runtime has prepared. */
function checkSegment(memory: DeviceMemory, kernel: SimKernel, request: SimDispatchRequest, s: DispatchSegment): void {
  if (request.args !== undefined || request.kernargs !== undefined) {
    throw new WavesmithError('device/arguments', 'A dispatch takes arguments or an argument segment, not both.');
  }
  const parts = [
    ['kernarg segment', s.kernarg, kernel.kernargSize],
    ['dispatch packet', s.packet, PACKET_BYTES],
    ['queue', s.queue, QUEUE_BYTES],
  ] as const;
  for (const [what, address, size] of parts) {
    if (size > 0 && address !== undefined && memory.find(address, size) === undefined) {
      throw new WavesmithError(
        'device/bad-segment',
        `The ${what} of kernel '${kernel.name}' (${size} bytes at 0x${address.toString(16)}) is not live device memory.`,
      );
    }
  }
}

function checkKernarg(kernel: SimKernel): void {
  if (kernel.kernargSize > MAX_KERNARG) {
    throw new WavesmithError(
      'device/kernarg-too-large',
      `Kernel '${kernel.name}' claims ${kernel.kernargSize} bytes of arguments; at most ${MAX_KERNARG} are accepted.`,
    );
  }
  const { preload } = kernel.descriptor;
  if (4 * (preload.offset + preload.length) > kernel.kernargSize || preload.length > MAX_USER_SGPRS) {
    throw new WavesmithError(
      'device/bad-descriptor',
      `Kernel '${kernel.name}' preloads arguments ${preload.offset} to ${preload.offset + preload.length} (in dwords) of a segment of ${kernel.kernargSize} bytes.`,
      { hint: 'The kernel descriptor is damaged.' },
    );
  }
}

/** The AQL kernel dispatch packet a kernel may read through its dispatch pointer. */
function fillPacket(view: DataView, launch: Launch): void {
  const dimensions = launch.workItems[2] > 1 ? 3 : launch.workItems[1] > 1 ? 2 : 1;
  view.setUint16(0, 2, true);
  view.setUint16(2, dimensions, true);
  launch.block.forEach((n, i) => {
    view.setUint16(4 + 2 * i, n, true);
  });
  launch.workItems.forEach((n, i) => {
    view.setUint32(12 + 4 * i, n, true);
  });
  view.setUint32(24, launch.scratchPerLane, true);
  view.setUint32(28, launch.ldsBytes, true);
  view.setBigUint64(32, BigInt(launch.descriptorAddress), true);
  view.setBigUint64(40, BigInt(launch.kernarg), true);
}
