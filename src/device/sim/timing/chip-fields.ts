// The numbers a chip must have, with their units and the range in which they make sense.

export interface FieldRule {
  /** What it is, with its unit. */
  readonly what: string;
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

/** Latency classes: every row of the instruction table belongs to one (latency-class.ts). */
export const LATENCY_FIELDS = [
  'valu32',
  'valu64',
  'valuF64',
  'valuF64Fma',
  'trans32',
  'trans64',
  'convert',
  'convert64',
  'mul32',
  'readlane',
  'packed32',
  'salu',
  'branch',
] as const;

export type LatencyField = (typeof LATENCY_FIELDS)[number];

const whole = (what: string, min: number, max: number): FieldRule => ({ what, min, max, whole: true });
const real = (what: string, min: number, max: number): FieldRule => ({ what, min, max });

const BASE: Readonly<Record<string, FieldRule>> = {
  xccs: whole('accelerator complex dies', 1, 64),
  cusPerXcc: whole('active compute units of a die', 1, 256),
  simdsPerCu: whole('SIMD units of a compute unit', 1, 8),
  wavesPerSimd: whole('wave slots of a SIMD', 1, 40),
  clockMhz: real('engine clock under load, MHz', 100, 5000),
  'issue.interval': real('cycles between two instructions of one wave', 1, 64),
  'issue.branchTaken': real('cycles from a taken branch to the next instruction', 1, 200),
  'issue.nextFetch': real(
    'cycles from the target of a taken branch to the 32 bytes of code behind the first ones',
    0,
    200,
  ),
  'issue.waveStart': real('cycles from the start of a wave to its first instruction', 0, 10_000),
  'l1i.bytes': whole('instruction cache bytes', 1024, 2 ** 24),
  'l1i.line': whole('instruction cache line bytes', 16, 1024),
  'l1i.miss': real('cycles of an instruction fetch that misses the instruction cache', 0, 10_000),
  'matrix.pass': real('cycles of a pass of a matrix product', 0.5, 64),
  'matrix.f64Passes': whole('passes of a 16x16x4 f64 matrix product', 1, 256),
  'lds.latency': real('cycles of a 4-byte LDS load without conflict', 1, 1000),
  'lds.wideBanks': whole('banks of 4 bytes for 8- and 16-byte reads', 16, 128),
  'lds.extraPass': real('cycles of one more pass through the banks', 0.5, 64),
  'lds.rate': real('LDS bytes a cycle that a pair of SIMDs can move', 1, 1024),
  'vl1d.bytes': whole('vector cache bytes of a compute unit', 1024, 2 ** 24),
  'vl1d.line': whole('vector cache line bytes', 64, 256),
  'vl1d.ways': whole('vector cache ways', 1, 1024),
  'vl1d.latency': real('cycles of a load that hits the vector cache', 1, 2000),
  'vl1d.rate': real('bytes a cycle from the vector cache to registers', 1, 1024),
  'vl1d.tags': real('lines a cycle that the vector cache looks up', 0.1, 16),
  'vl1d.fill': real('bytes a cycle from L2 to one vector cache', 1, 1024),
  'vl1d.misses': whole('lines a vector cache can wait for', 1, 4096),
  'sl1d.bytes': whole('scalar cache bytes', 1024, 2 ** 24),
  'sl1d.line': whole('scalar cache line bytes', 16, 512),
  'sl1d.latency': real('cycles of a scalar load that hits', 1, 2000),
  'sl1d.missExtra': real('cycles by which a scalar load is faster than a vector load that goes as far', -500, 500),
  'l2.bytes': whole('L2 bytes of a die', 1024, 2 ** 28),
  'l2.line': whole('L2 line bytes', 64, 256),
  'l2.ways': whole('L2 ways', 1, 64),
  'l2.channels': whole('L2 channels of a die', 1, 256),
  'l2.interleave': whole('consecutive bytes in one L2 channel', 64, 2 ** 20),
  'l2.latency': real('cycles of a vector load that hits L2', 1, 4000),
  'l2.channelRate': real('bytes a cycle of one L2 channel', 1, 1024),
  'l2.writeRate': real('bytes a cycle that one L2 channel writes back at the end of a kernel', 1, 1024),
  'l2.dirtyPart': real('part of L2 that changed lines take before the first of them are written back', 0.001, 1),
  'l2.loss': real('power of the part of a too large set of allocations that L2 keeps', 0.1, 100),
  'l2.storeAck': real('cycles until L2 has acknowledged a store', 1, 4000),
  'l2.foreignAck': real('cycles until a store into a line that other dies store into is acknowledged', 1, 10_000),
  'l2.atomicInterval': real('cycles between two atomics to one L2 line', 0.1, 1000),
  'tlb.page': whole('bytes that one address translation covers', 4096, 2 ** 30),
  'tlb.entries': whole('address translations that a compute unit keeps', 1, 4096),
  'tlb.refill': real('cycles by which an access is later whose translation its compute unit has not kept', 0, 10_000),
  'tlb.miss': real('cycles by which the first vector access to a page is later', 0, 10_000),
  'mall.bytes': whole('memory-side cache bytes; 0 without one', 0, 2 ** 40),
  'mall.loss': real('power of the part of a too large set of allocations that the memory-side cache keeps', 0.1, 100),
  'mall.latency': real('cycles of a vector load that hits the memory-side cache', 1, 10_000),
  'mall.readGbps': real('GB/s read from the memory-side cache, whole chip', 1, 10 ** 6),
  'mall.writeGbps': real('GB/s written to the memory-side cache, whole chip', 1, 10 ** 6),
  'hbm.latency': real('cycles of a vector load from memory', 1, 20_000),
  'hbm.readGbps': real('GB/s read from memory, whole chip', 1, 10 ** 6),
  'hbm.writeGbps': real('GB/s written to memory, whole chip', 1, 10 ** 6),
  'dispatch.workgroup': real('cycles a die takes to look at a workgroup of the grid, its own or not', 0, 1000),
  'dispatch.minimum': real('cycles between two workgroups that one die starts', 0, 10_000),
  'dispatch.wave': real('cycles a die takes to start a wave', 0, 1000),
  'launch.eventUs': real('µs by which two events around a kernel show more than it takes', 0, 10_000),
  'launch.floorUs': real('µs that two events around a kernel show at least, however short it is', 0, 10_000),
  'launch.gapUs': real('µs between two kernels of a stream', 0, 10_000),
  'launch.hostUs': real('µs in which a host sends a kernel: no two kernels start closer', 0, 10_000),
  'copy.pinnedUs': real('µs of a host copy that pins its pages, beside its bytes', 0, 10 ** 6),
  'copy.pinnedGbps': real('GB/s between host and device', 0.001, 10 ** 6),
  'copy.stagedBytes': whole('largest host copy that goes through a staging buffer', 0, 2 ** 40),
  'copy.stagedUs': real('µs of a staged copy, beside its bytes', 0, 10 ** 6),
  'copy.stagedGbps': real('GB/s of a staged copy', 0.001, 10 ** 6),
  'fill.us': real('µs of a fill (hipMemset), beside its bytes', 0, 10 ** 6),
};

/** Every field by its dotted name. */
export const FIELDS: Readonly<Record<string, FieldRule>> = {
  ...BASE,
  ...Object.fromEntries(
    LATENCY_FIELDS.flatMap((name) => [
      [`class.${name}.issue`, real('cycles an instruction of the class takes its unit', 1, 10_000)],
      [`class.${name}.latency`, real('cycles to the issue of a dependent instruction', 1, 10_000)],
    ]),
  ),
};
