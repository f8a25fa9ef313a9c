// What the virtual GPU counted while it ran a program, as a recording: exact counters, launches, queue order and waits. Times are those of
// the timing model, when it ran under one; else they are unknown, for how long a simulator takes says nothing about a GPU.
// Source: src/runtime/profiler.ts (the same fields, by structure).
import { isTargetName, targetInfo } from '../../isa/table/targets.ts';
import { Recording, Timing } from '../recording.ts';
import type { ThreadTrace, TraceWave } from '../records.ts';
import { lineCategory, rowOf } from '../sqtt/code.ts';
import { kernelName } from './values.ts';

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
  /** What the timing model says of it, when there is one. */
  readonly modelled?: SimulatedTime | undefined;
}

/** A dispatch's modelled time, in nanoseconds of the modelled clock, and its estimated counters. */
export interface SimulatedTime {
  readonly startNs: number;
  readonly endNs: number;
  readonly counters: Readonly<Record<string, number>>;
  readonly report: {
    readonly chip: string;
    readonly class: string;
    readonly limiter: string;
    readonly converged: boolean;
    readonly accuracy: { readonly points: number; readonly factor: number } | undefined;
  };
}

export interface SimulatedKernel {
  readonly name: string;
  readonly lines: ReadonlyMap<
    number,
    {
      readonly address: number;
      readonly text: string;
      readonly source: string;
      readonly hits: number;
      /** Active lanes of all executions; undefined where only executions were counted. */
      readonly lanes?: number;
    }
  >;
  /** The replay of its longest dispatch. Cycles; instructions by their address. */
  readonly replay?: SimulatedReplay | undefined;
}

/** What a timing model knows of a kernel's instructions. */
export interface SimulatedReplay {
  /** Cycles of one wave at one execution, on average. */
  readonly instructions: readonly {
    readonly offset: number;
    readonly issue: number;
    readonly stalls: Readonly<Record<string, number>>;
  }[];
  readonly waves: readonly {
    readonly unit: number;
    readonly simd: number;
    readonly slot: number;
    readonly begin: number;
    readonly end: number;
    readonly instructions: readonly {
      readonly offset: number;
      readonly ready: number;
      readonly issued: number;
      readonly next: number;
    }[];
  }[];
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
  /** Copies and fills with modelled times. */
  readonly copies?: readonly {
    readonly kind: string;
    readonly bytes: number;
    readonly startNs: number;
    readonly endNs: number;
  }[];
  /** The chip whose time is modelled. */
  readonly chip?: SimulatedChip | undefined;
}

/** What the roofs of a modelled chip follow from. */
export interface SimulatedChip {
  readonly name: string;
  readonly clockMhz: number;
  readonly xccs: number;
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
  agent.xccCount = run.chip?.xccs ?? info?.board.xccs;
  agent.maxClockMhz = run.chip?.clockMhz ?? info?.board.clockMhz;
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
    chip: run.chip?.name,
    gaps,
    dependencies,
    instructions: run.dispatches.map((d) => d.instructions),
    wavefronts: run.dispatches.map((d) => d.wavefronts),
    barriers: run.dispatches.map((d) => d.barrier),
    host: run.dispatches.map((d) => [d.hostStart, d.hostEnd - d.hostStart] as const),
  };
  for (const kernel of new Set(run.dispatches.map((d) => d.kernel))) r.traces.push(simulatedTrace(kernel));
  for (const copy of run.copies ?? []) addCopy(r, copy);
  for (const { kernel, reason } of run.failures) {
    r.report('sim/failed', FILE, `Kernel ${kernelName(kernel)} did not end (${reason}); it is not in the profile.`);
  }
  if (run.chip === undefined) {
    r.report('sim/copies', FILE, 'Copies and API calls of the program are not recorded on the virtual GPU.');
  } else reportModel(r, run.chip.name, run.dispatches);
  return r;
}

/** Modelled times are no measurements: how far they are off is said once for each class. */
function reportModel(r: Recording, chip: string, dispatches: readonly SimulatedDispatch[]): void {
  const classes = new Map<string, SimulatedTime['report']>();
  for (const { modelled } of dispatches)
    if (modelled !== undefined) classes.set(modelled.report.class, modelled.report);
  for (const [name, { accuracy }] of classes) {
    const error =
      accuracy === undefined
        ? `the class '${name}' was never compared with hardware`
        : `of the class '${name}' within ×${accuracy.factor.toFixed(2)} (1σ of ${accuracy.points} measured points)`;
    r.report('sim/modelled', FILE, `Times and rates are modelled for ${chip}, ${error}. They are no measurements.`);
  }
  const open = new Set(dispatches.filter((d) => d.modelled?.report.converged === false).map((d) => d.kernel.name));
  for (const name of open) {
    r.report('sim/unsettled', FILE, `The sample of ${name} did not settle: its time may be far off.`, name);
  }
}

function addCopy(r: Recording, copy: NonNullable<SimulatedProgram['copies']>[number]): void {
  const c = r.copies;
  c.start.push(copy.startNs);
  c.end.push(copy.endNs);
  c.timing.push(copy.endNs > copy.startNs ? Timing.KNOWN : Timing.EQUAL);
  c.direction.push(r.directions.id(copy.kind === 'host' ? 'host and device' : copy.kind));
  c.stream.push(-1);
  c.bytes.push(copy.bytes);
  c.correlation.push(-1);
  c.process.push(0);
  c.domain.push(r.machineDomain(0));
}

function addDispatch(r: Recording, agent: string, one: SimulatedDispatch, index: number): void {
  const d = r.dispatches;
  d.start.push(one.modelled?.startNs ?? 0);
  d.end.push(one.modelled?.endNs ?? 0);
  d.timing.push(one.modelled === undefined ? Timing.SIMULATED : Timing.KNOWN);
  d.kernel.push(r.kernelId(one.kernel.name));
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
  for (const [name, value] of Object.entries(one.modelled?.counters ?? {})) {
    // What the virtual GPU counts exactly is not estimated again.
    if (one.counters[name] === undefined || 'unknown' in one.counters[name]) add(name, value);
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

/** The instructions of a kernel that ran, with their executions; with cycles and waves when its time is modelled. */
export function simulatedTrace(kernel: SimulatedKernel): ThreadTrace {
  const sorted = [...kernel.lines.values()].sort((a, b) => a.address - b.address);
  const timed = new Map(kernel.replay?.instructions.map((i) => [i.offset, i]));
  const lines = sorted.map(({ text, source, address, hits, lanes }) => {
    const cycles = timed.get(address);
    const { fetch = 0, ...reasons } = cycles?.stalls ?? {};
    const stall = Object.values(reasons).reduce((sum, n) => sum + n, 0);
    return {
      text,
      source,
      codeObject: 0,
      address,
      hits,
      ...(lanes === undefined ? {} : { lanes }),
      latency: Math.round(hits * (stall + (cycles?.issue ?? 0))),
      stall: Math.round(hits * stall),
      // A wave that waits for its code has no instruction that could be stalled: a trace of the hardware counts it so, too.
      idle: Math.round(hits * fetch),
      pcIssued: undefined,
      pcStalled: undefined,
      stallReasons: undefined,
      kernel: kernelName(kernel.name),
    };
  });
  const indexes = new Map(sorted.map(({ address }, n) => [address, n]));
  const categories = sorted.map(({ text }) => tokenType(text));
  const all = kernel.replay?.waves ?? [];
  const waves = all.slice(0, MAX_WAVES).map((wave, id) => waveOf(wave, id, indexes, categories));
  return {
    source: kernelName(kernel.name),
    kind: 'simulated',
    lines,
    waves,
    occupancy: all
      .flatMap(({ unit: cu, simd, slot, begin, end }) => [
        { time: Math.round(begin), shaderEngine: 0, cu, simd, slot, start: true },
        { time: Math.round(end), shaderEngine: 0, cu, simd, slot, start: false },
      ])
      .sort((a, b) => a.time - b.time),
    perfCounters: { names: [], samples: 0 },
    omittedWaves: all.length - waves.length,
  };
}

/** The token that an instruction leaves in a trace (`TOKEN_TYPES`). */
function tokenType(text: string): string {
  const row = rowOf(text);
  if (row === undefined) return 'none';
  const category = lineCategory(row);
  switch (category) {
    case 'branch':
    case 'jump':
      return 'JUMP';
    case 'barrier':
    case 'immediate':
      return 'IMMED';
    case 'end':
      return 'MSG';
    default:
      return category;
  }
}

/** Waves that are kept one by one; all count in the occupancy. */
const MAX_WAVES = 64;

/** A replayed wave in the form of a traced one: an instruction begins when the wave is ready for it, and stalls until it issues. */
function waveOf(
  { unit, simd, slot, begin, end, instructions }: SimulatedReplay['waves'][number],
  id: number,
  indexes: ReadonlyMap<number, number>,
  categories: readonly string[],
): TraceWave {
  const timeline: [string, number][] = [];
  const spend = (state: string, cycles: number): void => {
    const last = timeline.at(-1);
    if (last?.[0] === state) last[1] += cycles;
    else if (cycles > 0) timeline.push([state, cycles]);
  };
  let at = Math.round(begin);
  const out = instructions.map(({ offset, ready, issued, next }, n) => {
    const [time, from, to] = [Math.round(ready), Math.round(issued), Math.round(next)];
    const line = indexes.get(offset) ?? -1;
    const type = categories[line] ?? 'none';
    const category = type === 'JUMP' && indexes.get(instructions[n + 1]?.offset ?? -1) === line + 1 ? 'NEXT' : type;
    spend('idle', time - at);
    spend(type === 'IMMED' ? 'wait' : 'stall', from - time);
    spend('exec', to - from);
    at = to;
    return { time, category, stall: from - time, duration: to - time, line };
  });
  return {
    shaderEngine: 0,
    cu: unit,
    simd,
    slot,
    id,
    begin: Math.round(begin),
    end: Math.round(end),
    instructions: out,
    timeline,
  };
}
