// Runs a dispatch: sets up the kernel's initial state per workgroup and wave, schedules waves, counts instructions.
// Sources: LLVM AMDGPUUsage, "Initial Kernel Execution State", "Kernel Prolog", "Kernarg Segment"; HSA AQL dispatch packet.
import { WavesmithError } from '../../base/index.ts';
import { type DescriptorRegisters, descriptorRegisters, type KernelDescriptor } from '../../codeobject/index.ts';
import { targetInfo } from '../../isa/index.ts';
import type { Dim3, DispatchRequest, DispatchResult } from '../device.ts';
import { kernargBytes } from './kernargs.ts';
import { WAVE_BYTES } from './layout.ts';
import type { DeviceMemory, Region } from './memory.ts';
import { MemoryFault } from './memory.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from './operands.ts';
import { ENCODINGS, type Program } from './program.ts';
import type { SimKernel } from './sim-device.ts';
import { KernelStop, stopError } from './structural.ts';
import { EXEC, FLAT_SCRATCH, LANES, Wave } from './wave.ts';
import { type DispatchContext, Workgroup } from './workgroup.ts';

const DEFAULT_BUDGET = 10_000_000_000;
/** Instructions a wave runs before the next wave of its workgroup gets a turn. */
const QUANTUM = 20_000;
/** Scratch given to kernels whose stack size is not known at compile time. */
const DYNAMIC_STACK = 16_384;

/** What COMPUTE_TMPRING_SIZE.WAVESIZE can express: 13 bits of 1 KiB. */
const MAX_SCRATCH_PER_WAVE = 8191 * 1024;
const MAX_KERNARG = 1 << 20;
const MAX_USER_SGPRS = 16;

/** Everything fixed for one dispatch. */
interface Plan {
  readonly kernel: SimKernel;
  readonly descriptor: KernelDescriptor;
  readonly registers: DescriptorRegisters;
  readonly context: DispatchContext;
  readonly program: Program;
  readonly memory: DeviceMemory;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly workItems: Dim3;
  readonly ldsBytes: number;
  readonly scratch: Region | undefined;
  readonly scratchPerWave: number;
  readonly kernarg: Region;
  readonly packet: Region;
  readonly queue: Region;
  readonly entry: number;
  readonly budget: number;
}

/** Checks a request and runs it to the end. */
export function runDispatch(
  memory: DeviceMemory,
  program: Program,
  kernel: SimKernel,
  request: DispatchRequest,
): DispatchResult {
  const { grid, block } = request;
  checkDimensions('grid', grid, 0xffffffff);
  checkDimensions('block', block, 1024);
  const info = targetInfo(program.target);
  const size = block[0] * block[1] * block[2];
  const limit = Math.min(info.maxWorkgroupSize, kernel.maxWorkgroupSize ?? info.maxWorkgroupSize);
  if (size > limit) {
    throw new WavesmithError(
      'device/bad-block',
      `A workgroup of ${block.join('×')} = ${size} work-items is larger than kernel '${kernel.name}' allows (${limit}).`,
      { hint: 'Pass a smaller --block.' },
    );
  }
  const required = kernel.requiredWorkgroupSize;
  if (required?.some((n, i) => n !== block[i])) {
    throw new WavesmithError(
      'device/bad-block',
      `Kernel '${kernel.name}' requires workgroups of ${required.join('×')}, not ${block.join('×')}.`,
      { hint: `Use --block ${required.join(',')}.` },
    );
  }
  const workItems = request.gridWorkItems ?? [grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]];
  if (workItems.some((n, i) => Math.ceil(n / (block[i] as number)) !== grid[i])) {
    throw new WavesmithError(
      'device/bad-grid',
      `${workItems.join('×')} work-items do not make ${grid.join('×')} workgroups of ${block.join('×')}.`,
    );
  }
  const { descriptor } = kernel;
  const dynamicLds = request.dynamicLds ?? 0;
  const ldsBytes = kernel.ldsSize + dynamicLds;
  if (!(dynamicLds >= 0) || ldsBytes > info.ldsBytes) {
    throw new WavesmithError(
      'device/lds-too-large',
      `Kernel '${kernel.name}' needs ${ldsBytes} bytes of LDS; ${program.target} has ${info.ldsBytes} for a workgroup.`,
    );
  }
  const scratchPerLane =
    Math.ceil((kernel.scratchSize + (descriptor.properties.usesDynamicStack ? DYNAMIC_STACK : 0)) / 16) * 16;
  const scratchPerWave = Math.ceil((scratchPerLane * LANES) / 1024) * 1024;
  if (scratchPerWave > MAX_SCRATCH_PER_WAVE) {
    throw new WavesmithError(
      'device/scratch-too-large',
      `Kernel '${kernel.name}' asks for ${scratchPerLane} bytes of scratch per work-item; a wavefront has ${MAX_SCRATCH_PER_WAVE}.`,
    );
  }
  if (kernel.kernargSize > MAX_KERNARG) {
    throw new WavesmithError(
      'device/kernarg-too-large',
      `Kernel '${kernel.name}' claims ${kernel.kernargSize} bytes of arguments; at most ${MAX_KERNARG} are accepted.`,
    );
  }
  const { preload } = descriptor;
  if (4 * (preload.offset + preload.length) > kernel.kernargSize || preload.length > MAX_USER_SGPRS) {
    throw new WavesmithError(
      'device/bad-descriptor',
      `Kernel '${kernel.name}' preloads arguments ${preload.offset} to ${preload.offset + preload.length} (in dwords) of a segment of ${kernel.kernargSize} bytes.`,
      { hint: 'The kernel descriptor is damaged.' },
    );
  }
  const waves = Math.ceil(size / LANES);
  const owned: Region[] = [];
  const own = (bytes: number, label: string, readOnly = false): Region => {
    const region = memory.alloc(bytes, label, readOnly);
    owned.push(region);
    return region;
  };
  try {
    const scratch = scratchPerWave === 0 ? undefined : own(scratchPerWave * waves, 'scratch');
    const queue = own(256, 'queue');
    queue.view.setUint32(0x40, SHARED_APERTURE_HIGH, true);
    queue.view.setUint32(0x44, PRIVATE_APERTURE_HIGH, true);
    const bytes = kernargBytes(kernel, request, { grid, block, workItems, dynamicLds, queue: queue.base });
    // Compilers load whole cache lines of arguments; the segment is padded like the runtime pads it.
    const kernarg = own(Math.ceil(Math.max(bytes.length, 1) / 64) * 64 + 64, 'kernarg segment');
    kernarg.bytes.set(bytes);
    const packet = own(64, 'dispatch packet');
    const plan: Plan = {
      kernel,
      descriptor,
      registers: descriptorRegisters(descriptor),
      context: {
        target: program.target,
        kernelName: kernel.name,
        scratchPerLane,
        architectedScratch: info.architectedFlatScratch,
        clock: 0,
      },
      program,
      memory,
      grid,
      block,
      workItems,
      ldsBytes,
      scratch,
      scratchPerWave,
      kernarg,
      packet,
      queue,
      entry: kernel.entry + (descriptor.preload.length > 0 && info.kernargPreload ? 256 : 0),
      budget: request.maxInstructions ?? DEFAULT_BUDGET,
    };
    fillPacket(plan);
    return runWorkgroups(plan);
  } finally {
    for (const region of owned) memory.free(region.base);
  }
}

function checkDimensions(what: 'grid' | 'block', d: Dim3, limit: number): void {
  if (d.length !== 3 || d.some((n) => !Number.isInteger(n) || n < 1 || n > limit)) {
    throw new WavesmithError(
      `device/bad-${what}`,
      `The ${what} ${d.join(',')} is not three whole numbers from 1 to ${limit}.`,
    );
  }
}

/** The AQL kernel dispatch packet a kernel may read through its dispatch pointer. */
function fillPacket(plan: Plan): void {
  const { view } = plan.packet;
  const dimensions = plan.workItems[2] > 1 ? 3 : plan.workItems[1] > 1 ? 2 : 1;
  view.setUint16(0, 2, true);
  view.setUint16(2, dimensions, true);
  plan.block.forEach((n, i) => {
    view.setUint16(4 + 2 * i, n, true);
  });
  plan.workItems.forEach((n, i) => {
    view.setUint32(12 + 4 * i, n, true);
  });
  view.setUint32(24, plan.context.scratchPerLane, true);
  view.setUint32(28, plan.ldsBytes, true);
  view.setBigUint64(32, BigInt(plan.kernel.descriptorAddress), true);
  view.setBigUint64(40, BigInt(plan.kernarg.base), true);
}

function runWorkgroups(plan: Plan): DispatchResult {
  const { memory } = plan;
  const counts: number[] = [];
  let wavefronts = 0;
  const [gx, gy, gz] = plan.grid;
  const pool: Wave[] = [];
  const blocks: Uint8Array[] = [];
  const lds = memory.reserve(plan.ldsBytes, 'LDS');
  try {
    for (let z = 0; z < gz; z++) {
      for (let y = 0; y < gy; y++) {
        for (let x = 0; x < gx; x++) {
          const group = new Workgroup(plan.context, lds.fill(0), [x, y, z]);
          const waves = startWaves(plan, group, pool, blocks);
          wavefronts += waves.length;
          runWorkgroup(plan, waves, counts);
        }
      }
    }
  } finally {
    for (const block of [lds, ...blocks]) memory.release(block);
  }
  const instructionsByEncoding: Record<string, number> = {};
  counts.forEach((n, i) => {
    if (n > 0) instructionsByEncoding[ENCODINGS[i] as string] = n;
  });
  return { instructions: plan.context.clock, wavefronts, workgroups: gx * gy * gz, instructionsByEncoding };
}

/** Creates the waves of a workgroup in their initial state; partial workgroups at the grid's edge have fewer work-items. */
function startWaves(plan: Plan, group: Workgroup, pool: Wave[], blocks: Uint8Array[]): Wave[] {
  const size = plan.block.map((n, i) => Math.min(n, (plan.workItems[i] as number) - (group.id[i] as number) * n)) as [
    number,
    number,
    number,
  ];
  const items = size[0] * size[1] * size[2];
  const count = Math.ceil(items / LANES);
  plan.scratch?.bytes.fill(0);
  return Array.from({ length: count }, (_, index) => {
    let wave = pool[index];
    if (wave === undefined) {
      const block = plan.memory.reserve(WAVE_BYTES, 'wave state');
      blocks.push(block);
      wave = new Wave(plan.memory, group, block);
      pool.push(wave);
    }
    wave.reset(group, index, plan.program.region.base);
    initialize(plan, wave, size, items);
    return wave;
  });
}

function initialize(plan: Plan, w: Wave, size: readonly [number, number, number], items: number): void {
  const { descriptor, context } = plan;
  const { rsrc1, rsrc2, properties, preload } = descriptor;
  w.pc = plan.entry;
  w.env.ocp = context.target === 'gfx950';
  w.setMode(
    rsrc1.floatRoundMode32 |
      (rsrc1.floatRoundMode16_64 << 2) |
      (rsrc1.floatDenormMode32 << 4) |
      (rsrc1.floatDenormMode16_64 << 6) |
      (rsrc1.enableDx10Clamp << 8) |
      (rsrc1.enableIeeeMode << 9) |
      (rsrc1.fp16Ovfl << 23),
  );
  const first = w.index * LANES;
  const active = Math.min(LANES, items - first);
  w.setS64(EXEC, active === 64 ? 0xffffffffffffffffn : (1n << BigInt(active)) - 1n);
  for (let lane = 0; lane < active; lane++) {
    const id = first + lane;
    const x = id % size[0];
    const y = Math.floor(id / size[0]) % size[1];
    const z = Math.floor(id / (size[0] * size[1]));
    w.vgprs[lane] = x | (y << 10) | (z << 20);
  }
  // User SGPRs, in the order of the ABI.
  let at = 0;
  const put = (...words: number[]): void => {
    for (const word of words) w.sgprs[at++] = word;
  };
  const put64 = (value: number): void => put(value | 0, Math.floor(value / 4294967296));
  const scratchBase = plan.scratch?.base ?? 0;
  if (properties.enableSgprPrivateSegmentBuffer) {
    // Swizzled by lane: index stride 64, thread id added, no bounds of its own.
    put(scratchBase | 0, Math.floor(scratchBase / 4294967296) | -0x80000000, -1, (3 << 21) | (1 << 23) | (4 << 15));
  }
  if (properties.enableSgprDispatchPtr) put64(plan.packet.base);
  if (properties.enableSgprQueuePtr) put64(plan.queue.base);
  if (properties.enableSgprKernargSegmentPtr) put64(plan.kernarg.base);
  if (properties.enableSgprDispatchId) put64(0);
  if (properties.enableSgprFlatScratchInit) put64(scratchBase);
  if (properties.enableSgprPrivateSegmentSize) put(context.scratchPerLane);
  for (let n = 0; n < preload.length; n++) put(plan.kernarg.view.getInt32(4 * (preload.offset + n), true));
  at = rsrc2.userSgprCount;
  const { id } = w.workgroup;
  if (rsrc2.enableSgprWorkgroupIdX) put(id[0]);
  if (rsrc2.enableSgprWorkgroupIdY) put(id[1]);
  if (rsrc2.enableSgprWorkgroupIdZ) put(id[2]);
  if (rsrc2.enableSgprWorkgroupInfo) put(0);
  const waveOffset = w.index * plan.scratchPerWave;
  if (context.architectedScratch) {
    w.setS64(FLAT_SCRATCH, BigInt(scratchBase + waveOffset));
  } else if (rsrc2.enablePrivateSegment) put(waveOffset);
}

/** Runs the waves of one workgroup in turns until all have ended; a barrier releases when every live wave has reached it. */
function runWorkgroup(plan: Plan, waves: readonly Wave[], counts: number[]): void {
  for (;;) {
    let running = 0;
    let waiting = 0;
    for (const w of waves) {
      if (w.state === 'running') runWave(plan, w, counts);
      if (w.state === 'running') running++;
      else if (w.state === 'barrier') waiting++;
    }
    if (running > 0) continue;
    if (waiting === 0) return;
    for (const w of waves) if (w.state === 'barrier') w.state = 'running';
  }
}

function runWave(plan: Plan, w: Wave, counts: number[]): void {
  const { program, context } = plan;
  let pc = w.pc;
  try {
    for (let n = 0; n < QUANTUM && w.state === 'running'; n++) {
      pc = w.pc;
      const bound = program.at(pc);
      if (bound.landsLate && n > 0) break;
      w.pc = pc + bound.size;
      bound.step(w);
      counts[bound.family] = (counts[bound.family] ?? 0) + 1;
      context.clock++;
    }
  } catch (error) {
    throw explain(plan, w, pc, error);
  }
  if (context.clock > plan.budget) {
    throw new WavesmithError(
      'sim/budget',
      `Kernel '${plan.kernel.name}' was stopped after ${context.clock} instructions; ${place(plan, w, w.pc)}.`,
      { pc: w.pc - program.region.base, hint: 'It may loop forever; raise the instruction budget if it does not.' },
    );
  }
}

function place(plan: Plan, w: Wave, pc: number): string {
  const text = plan.program.textAt(pc);
  return `workgroup ${w.workgroup.id.join(',')}, wave ${w.index}, at '${text}'`;
}

/** Turns what a step threw into a typed error with kernel, pc, instruction, lane and address. */
function explain(plan: Plan, w: Wave, pc: number, error: unknown): unknown {
  const offset = pc - plan.program.region.base;
  if (error instanceof KernelStop) {
    return stopError(error, `In kernel '${plan.kernel.name}', ${place(plan, w, pc)}.`, offset);
  }
  if (!(error instanceof MemoryFault)) return error;
  const lds = error.what.startsWith('LDS');
  const scratch = error.what.startsWith('scratch');
  let where: string;
  if (lds) where = `the workgroup has ${w.workgroup.lds.byteLength} bytes of LDS`;
  else if (scratch) where = `each lane has ${plan.context.scratchPerLane} bytes of scratch`;
  else where = nearestText(plan.memory, error.address);
  return new WavesmithError(
    'sim/memory-fault',
    `${error.message} by lane ${w.lane} is outside live memory: ${where}. In kernel '${plan.kernel.name}', ${place(plan, w, pc)}.`,
    { pc: offset, hint: 'Check buffer sizes, the grid and the kernel arguments.' },
  );
}

function nearestText(memory: DeviceMemory, address: number): string {
  const freed = memory.freedAt(address);
  if (freed !== undefined) {
    return `it is in the freed allocation '${freed.label}' (${freed.size} bytes at 0x${freed.base.toString(16)})`;
  }
  const near = memory.nearest(address);
  if (near === undefined) return 'nothing is allocated';
  const { region, distance } = near;
  const side = distance < 0 ? `${-distance} bytes before its start` : `${distance} bytes past its end`;
  return `the nearest allocation is '${region.label}' (${region.size} bytes at 0x${region.base.toString(16)}), ${distance === 0 ? 'at its edge' : side}`;
}
