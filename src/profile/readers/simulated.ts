// What the virtual GPU counted while it ran a program, as a recording: exact counters, launches, queue order and waits. Times are
// unknown: how long a simulator takes says nothing about a GPU. Source: src/runtime/profiler.ts (the same fields, by structure).
import { isTargetName, targetInfo } from '../../isa/table/targets.ts';
import { Recording, Timing } from '../recording.ts';

interface Traffic {
  readonly load: number;
  readonly store: number;
  readonly atomic: number;
}

/** One dispatch on the virtual GPU. */
export interface SimulatedDispatch {
  readonly kernel: SimulatedKernel;
  readonly queue: number;
  readonly barrier: boolean;
  /** Indexes of earlier dispatches that it waited for through signals. */
  readonly dependencies: readonly number[];
  readonly workgroup: readonly [number, number, number];
  /** Work-items. */
  readonly grid: readonly [number, number, number];
  readonly lds: number;
  readonly scratch: number;
  readonly vgprs: number;
  readonly agprs: number;
  readonly sgprs: number;
  readonly instructions: number;
  readonly wavefronts: number;
  readonly counters: Readonly<Record<string, { readonly value: number } | { readonly unknown: string }>>;
  /** Floating-point operations of the lanes, by F16, F32, F64; matrix products left out. */
  readonly flops: Readonly<Record<string, { readonly value: number } | { readonly unknown: string }>>;
  /** By address space: global, buffer, flat, lds, scratch, scalar. */
  readonly bytes: Readonly<Record<string, Traffic>>;
  readonly formattedAccesses: number;
  readonly ldsBanks:
    | { readonly phases: number; readonly conflictCycles: number; readonly notModelled: number }
    | undefined;
  readonly valu: number;
  readonly valuLanes: number;
  /** Milliseconds. */
  readonly hostStart: number;
  readonly hostEnd: number;
}

export interface SimulatedKernel {
  readonly name: string;
  readonly lines: ReadonlyMap<
    number,
    { readonly address: number; readonly text: string; readonly source: string; readonly hits: number }
  >;
}

/** A program on the virtual GPU. */
export interface SimulatedProgram {
  /** The command line. */
  readonly program: string;
  /** gfx90a, gfx942, gfx950. */
  readonly target: string;
  readonly device: string;
  readonly computeUnits: number;
  readonly dispatches: readonly SimulatedDispatch[];
  readonly failures: readonly { readonly kernel: string; readonly reason: string }[];
}

const SPACES = ['global', 'buffer', 'flat', 'lds', 'scratch', 'scalar'] as const;
const KINDS = ['load', 'store', 'atomic'] as const;
const FILE = 'virtual GPU';

/** The recording of a simulated program. */
export function recordSimulated(run: SimulatedProgram): Recording {
  const r = new Recording();
  const info = isTargetName(run.target) ? targetInfo(run.target) : undefined;
  const agent = r.agent(run.device);
  agent.name = run.device;
  agent.arch = run.target;
  agent.cuCount = run.computeUnits;
  agent.simdPerCu = info?.simdsPerCu;
  agent.xccCount = info?.board.xccs;
  agent.maxClockMhz = info?.board.clockMhz;
  agent.l2Channels = info?.board.l2Channels;
  r.sources.push({ path: run.program, format: 'simulated' });
  r.info.set('command', run.program);
  const gaps = new Map<string, string>();
  const dependencies: (readonly [number, number])[] = [];
  run.dispatches.forEach((one, index) => {
    addDispatch(r, run.device, one, index);
    addCounters(r, one, index, gaps);
    for (const from of one.dependencies) if (from < index) dependencies.push([from, index]);
  });
  r.simulated = {
    gaps,
    dependencies,
    instructions: run.dispatches.map((d) => d.instructions),
    wavefronts: run.dispatches.map((d) => d.wavefronts),
    barriers: run.dispatches.map((d) => d.barrier),
    host: run.dispatches.map((d) => [d.hostStart, d.hostEnd - d.hostStart] as const),
  };
  for (const kernel of new Set(run.dispatches.map((d) => d.kernel))) addListing(r, kernel);
  for (const { kernel, reason } of run.failures) {
    r.report('sim/failed', FILE, `Kernel ${kernel} did not end (${reason}); it is not in the profile.`);
  }
  r.report('sim/copies', FILE, 'Copies and API calls of the program are not recorded on the virtual GPU.');
  return r;
}

function addDispatch(r: Recording, agent: string, one: SimulatedDispatch, index: number): void {
  const d = r.dispatches;
  d.start.push(0);
  d.end.push(0);
  d.timing.push(Timing.SIMULATED);
  d.kernel.push(r.kernels.id(one.kernel.name));
  d.agent.push(r.agentKeys.id(agent));
  d.queue.push(r.queues.id(`queue ${one.queue}`));
  d.stream.push(-1);
  d.config.push(
    r.configId({
      workgroup: one.workgroup,
      grid: one.grid,
      lds: one.lds,
      scratch: one.scratch,
      vgpr: one.vgprs,
      agpr: one.agprs,
      sgpr: one.sgprs,
    }),
  );
  d.process.push(0);
  d.domain.push(r.machineDomain(0));
  d.dispatchId.push(index + 1);
  d.correlation.push(-1);
}

function addCounters(r: Recording, one: SimulatedDispatch, row: number, gaps: Map<string, string>): void {
  const add = (name: string, value: number): void => {
    r.counters.add(name, row, value, FILE);
  };
  const leaveOut = (name: string, why: string): void => {
    if (!gaps.has(name)) gaps.set(name, why);
  };
  for (const [name, value] of Object.entries(one.counters)) {
    if ('value' in value) add(name, value.value);
    else leaveOut(name, value.unknown);
  }
  for (const [type, value] of Object.entries(one.flops)) {
    if ('value' in value) add(`SIM_FLOPS_VALU_${type}`, value.value);
    else leaveOut(`SIM_FLOPS_VALU_${type}`, value.unknown);
  }
  for (const space of SPACES) {
    for (const kind of KINDS) {
      const name = `SIM_BYTES_${space.toUpperCase()}_${kind.toUpperCase()}`;
      if (space === 'buffer' && one.formattedAccesses > 0) {
        leaveOut(name, `the bytes of ${one.formattedAccesses} typed buffer accesses depend on their descriptors`);
      } else add(name, one.bytes[space]?.[kind] ?? 0);
    }
  }
  add('SIM_VALU', one.valu);
  add('SIM_VALU_LANES', one.valuLanes);
  const banks = one.ldsBanks;
  for (const [name, value] of [
    ['SIM_LDS_PHASES', banks?.phases],
    ['SIM_LDS_CONFLICT_CYCLES', banks?.conflictCycles],
  ] as const) {
    if (value === undefined) leaveOut(name, "the banks of this target's LDS are not published");
    else if (banks !== undefined && banks.notModelled > 0) {
      leaveOut(name, `${banks.notModelled} LDS instructions access banks in an order that is not published`);
    } else add(name, value);
  }
}

/** The instructions of a kernel that ran, with their executions, as a trace without times. */
function addListing(r: Recording, kernel: SimulatedKernel): void {
  const lines = [...kernel.lines.values()].sort((a, b) => a.address - b.address);
  r.traces.push({
    source: kernel.name,
    kind: 'simulated',
    lines: lines.map((line) => ({
      text: line.text,
      source: line.source,
      codeObject: 0,
      address: line.address,
      hits: line.hits,
      latency: 0,
      stall: 0,
      idle: 0,
      pcIssued: undefined,
      pcStalled: undefined,
      stallReasons: undefined,
      kernel: kernel.name,
    })),
    waves: [],
    occupancy: [],
    perfCounters: { names: [], samples: 0 },
    omittedWaves: 0,
  });
}
