// Evaluates the metric formulas over dispatch rows and sums them per kernel. A metric of a kernel is the sum over the
// dispatches for which every counter it needs was collected; when there are none it is unknown, with the counters missing.
import { CHIPS } from '../arch/chips.ts';
import { compile, parseExpression } from '../arch/expression.ts';
import { type MetricFormula, metricsOf } from '../arch/metrics.ts';
import type { CounterStore } from '../counters.ts';
import { known, type Measure, unknown } from '../measure.ts';
import { isOfWorkload } from '../readers/rocprof-compute.ts';
import type { Recording } from '../recording.ts';
import { Timing } from '../recording.ts';
import type { Agent } from '../records.ts';

/** A metric compiled against one recording. */
interface CompiledMetric {
  readonly metric: MetricFormula;
  readonly numerator: (row: number) => number;
  readonly denominator: ((row: number) => number) | undefined;
  readonly zero: ((row: number) => number) | undefined;
  readonly missing: readonly string[];
  readonly names: readonly string[];
}

/** Sums of one metric over the dispatches of one kernel. */
export interface MetricSum {
  readonly metric: MetricFormula;
  readonly value: Measure;
  /** Dispatches that the value covers. */
  readonly dispatches: number;
  /** Sum of the durations of the covered dispatches whose times are known, and how many those are. */
  readonly timedNs: number;
  readonly timed: number;
  /** The value over the timed dispatches only; for rates. */
  readonly timedValue: number;
  /** By position in the rows that were summed: 1 where the dispatch has every counter. */
  readonly covered: Uint8Array;
  /** The sums over some of the rows: those whose entry is 1. */
  readonly within: (chosen: Uint8Array) => MetricSum;
}

/** The value of a metric by its name; unknown where the architecture has no formula for it or its counters are missing. */
export function metricOf(metrics: readonly MetricSum[], id: string): Measure {
  return (
    metrics.find((sum) => sum.metric.id === id)?.value ?? unknown(`there is no formula for ${id} on this architecture`)
  );
}

/** The dispatches that all of some metrics cover. */
export function commonCover(sums: readonly MetricSum[]): Uint8Array {
  const [first, ...rest] = sums;
  if (first === undefined) return new Uint8Array();
  if (rest.every(({ covered }) => covered === first.covered)) return first.covered;
  return first.covered.map((one, i) => (one === 1 && rest.every((sum) => sum.covered[i] === 1) ? 1 : 0));
}

/** The agent a dispatch ran on: by key, by number, or the only GPU there is. Its architecture is `archElse` where none was recorded. */
export function resolveAgent(recording: Recording, key: string, archElse?: string): Agent | undefined {
  const gpus = [...recording.agents.values()].filter((agent) => agent.isGpu);
  const found = recording.agents.get(key) ?? recording.agents.get(`Agent ${key}`);
  // Work of several GPUs must not be joined because one of them is described.
  const isOnly =
    gpus.length === 1 && recording.agentKeys.values.every((other) => other === '' || other === key || key === '');
  const agent = found?.isGpu ? found : isOnly ? gpus[0] : undefined;
  if (archElse === undefined) return agent;
  if (agent?.arch !== undefined && agent.arch !== archElse) {
    recording.report(
      'profile/agent-conflict',
      recording.sources[0]?.path ?? '',
      `${agent.key} is ${agent.arch} as it was recorded, not ${archElse}: the architecture that was given is not used for it.`,
    );
  }
  return withChipFacts({ ...(agent ?? recording.agent(key)), arch: agent?.arch ?? archElse });
}

/**
 * Fills in what the architecture alone tells of an agent: profilers recorded the number of XCCs from MI300 on (`num_xcd`, `Num_Xcc`), and a GPU
 * before it has one.
 */
export function withChipFacts(agent: Agent): Agent {
  agent.xccCount ??= CHIPS[agent.arch ?? '']?.xccs;
  return agent;
}

/** Reports dispatches that ran on what the input describes as no GPU, or not at all, where it describes GPUs. */
export function reportUnknownAgents(r: Recording): void {
  const gpus = [...r.agents.values()].filter((agent) => agent.isGpu);
  if (gpus.length === 0) return;
  for (const key of r.agentKeys.values) {
    const found = r.agents.get(key) ?? r.agents.get(`Agent ${key}`);
    if (key === '' || found?.isGpu) continue;
    const what = found === undefined ? 'the input does not describe' : 'the input does not call a GPU';
    const taken = resolveAgent(r, key);
    // The sysinfo.csv of a workload folder describes its GPU without a number, and tables in it have one.
    if (found === undefined && taken !== undefined && isOfWorkload(taken.key)) continue;
    const then = taken === undefined ? 'what it is, is unknown' : `${taken.key} is taken for it`;
    r.report('profile/bad-record', r.sources[0]?.path ?? '', `Dispatches ran on ${key}, which ${what}; ${then}.`);
  }
}

/**
 * What rocprof-compute 3 calls a counter of the pass of a level counter: it derives `SQ_LEVEL_WAVES_ACCUM`, and the other counters of that
 * pass are those of the run.
 */
function accumulated(counters: CounterStore, name: string): string {
  const [level, counter] = name.split(':');
  const own = `${level}_ACCUM`;
  if (counter === undefined || counters.column(own) === undefined) return name;
  return counter === 'SQ_ACCUM_PREV_HIRES' ? own : counter;
}

/** Metric evaluation for one recording. */
export class MetricTable {
  private readonly recording: Recording;
  private readonly agents: (Agent | undefined)[];
  private readonly compiled = new Map<string, CompiledMetric[]>();

  constructor(recording: Recording, archElse?: string) {
    this.recording = recording;
    this.agents = recording.agentKeys.values.map((key) => resolveAgent(recording, key, archElse));
  }

  /** The agent of a dispatch row. */
  agentOf(row: number): Agent | undefined {
    return this.agents[this.recording.dispatches.agent.get(row)];
  }

  /** The key of that agent, or what the file calls it. */
  agentKeyOf(row: number): string {
    return this.agentOf(row)?.key ?? this.recording.agentKeys.get(this.recording.dispatches.agent.get(row));
  }

  /** For each id of the recording's agent keys, the first id that stands for the same agent. */
  agentIds(): Int32Array {
    const keys = this.recording.agentKeys.values.map((key, id) => this.agents[id]?.key ?? key);
    return Int32Array.from(keys, (key) => keys.indexOf(key));
  }

  /** The agents of all dispatches, each once; undefined for one that is not described. */
  usedAgents(): (Agent | undefined)[] {
    const { agent, length } = this.recording.dispatches;
    const ids = new Set<number>();
    let last = -1;
    for (let row = 0; row < length; row++) {
      const id = agent.get(row);
      if (id !== last) ids.add(id);
      last = id;
    }
    // Without dispatches it is the virtual GPU that a program had, or the one GPU of a machine.
    if (length === 0) return [...this.recording.agents.values()].filter((one) => one.isGpu);
    return [...new Set([...ids].map((id) => this.agents[id]))];
  }

  private metrics(arch: string): CompiledMetric[] {
    const found = this.compiled.get(arch);
    if (found !== undefined) return found;
    const list = metricsOf(arch, this.recording.simulated !== undefined).map((metric) => this.compile(metric));
    this.compiled.set(arch, list);
    return list;
  }

  private counter(name: string): ((row: number) => number) | undefined {
    const constant = { $cu: 'cuCount', $xcc: 'xccCount', $simd: 'simdPerCu', $l2: 'l2Channels' }[name] as
      | 'cuCount'
      | 'xccCount'
      | 'simdPerCu'
      | 'l2Channels'
      | undefined;
    if (constant !== undefined) return (row) => this.agentOf(row)?.[constant] ?? Number.NaN;
    const { counters } = this.recording;
    const column =
      counters.column(`${name}_sum`) ?? counters.column(name) ?? counters.column(accumulated(counters, name));
    if (column === undefined) return undefined;
    const data = column.sum;
    return (row) => (row < data.length ? data[row] : Number.NaN);
  }

  private compile(metric: MetricFormula): CompiledMetric {
    const missing = new Set<string>();
    const used = new Set<string>();
    const resolve = (name: string) => {
      used.add(name);
      const column = this.counter(name);
      if (column === undefined) missing.add(name);
      return column ?? (() => Number.NaN);
    };
    const numerator = compile(parseExpression(metric.formula), resolve);
    const denominator = metric.over === undefined ? undefined : compile(parseExpression(metric.over), resolve);
    const zero = metric.zeroWhen === undefined ? undefined : this.counter(metric.zeroWhen);
    return { metric, numerator, denominator, zero, missing: [...missing], names: [...used] };
  }

  /** All metrics of one architecture summed over `rows`. */
  sum(arch: string, rows: Int32Array): MetricSum[] {
    const d = this.recording.dispatches;
    const [start, end, timing] = [d.start.view(), d.end.view(), d.timing.view()];
    // Most metrics cover all dispatches or none; those share what says so.
    const none = new Uint8Array(rows.length);
    const all = new Uint8Array(rows.length).fill(1);
    const covered = new Uint8Array(rows.length);
    const total = (c: CompiledMetric, chosen: Uint8Array | undefined): MetricSum => {
      let top = 0;
      let bottom = 0;
      let dispatches = 0;
      let timedNs = 0;
      let timed = 0;
      let timedTop = 0;
      covered.fill(0);
      const skip = c.missing.length > 0 && c.zero === undefined;
      for (let i = 0; !skip && i < rows.length; i++) {
        if (chosen?.[i] === 0) continue;
        const row = rows[i];
        let value = c.numerator(row);
        if (Number.isNaN(value) && c.zero !== undefined && c.zero(row) === 0) value = 0;
        const over = c.denominator === undefined ? 1 : c.denominator(row);
        if (Number.isNaN(value) || Number.isNaN(over)) continue;
        covered[i] = 1;
        dispatches++;
        top += value;
        bottom += over;
        if (timing[row] === Timing.KNOWN) {
          timed++;
          timedNs += end[row] - start[row];
          timedTop += value;
        }
      }
      return {
        metric: c.metric,
        value: this.result(c, dispatches, top, bottom),
        dispatches,
        timedNs,
        timed,
        timedValue: timedTop,
        covered: dispatches === 0 ? none : dispatches === rows.length ? all : covered.slice(),
        within: (some) => total(c, some),
      };
    };
    return this.metrics(arch).map((c) => total(c, undefined));
  }

  /** Why counters have no value on the virtual GPU. */
  private notSimulated(names: readonly string[]): Measure {
    const gaps = this.recording.simulated?.gaps;
    const open = names.filter((name) => gaps?.has(name)).map((name) => `${name}: ${gaps?.get(name)}`);
    const rest = names.filter((name) => gaps?.has(name) !== true);
    const text = rest.length === 0 ? [] : [`the virtual GPU has no model of what ${rest.join(', ')} measure`];
    return unknown([...text, ...open.slice(0, 3)].join('; '));
  }

  private result(c: CompiledMetric, dispatches: number, top: number, bottom: number): Measure {
    if (dispatches === 0 && this.recording.simulated !== undefined) {
      return this.notSimulated(c.missing.length > 0 ? c.missing : c.names);
    }
    if (dispatches === 0) {
      const which = c.missing.length > 0 ? c.missing : c.names;
      const constants = which.filter((name) => name.startsWith('$'));
      const counters = which.filter((name) => !name.startsWith('$'));
      const split =
        c.metric.id === 'bytes.hbm.read' && c.missing.length > 0
          ? ', so the sizes of the read requests are unknown'
          : '';
      if (c.missing.length > 0) return unknown(`not collected: ${counters.join(', ')}${split}`);
      return unknown(
        constants.length > 0
          ? `the agent's ${constants.join(', ')} is not recorded, or no dispatch has ${counters.join(', ')}`
          : `no dispatch of this kernel has all of ${counters.join(', ')}`,
      );
    }
    if (c.denominator === undefined) {
      if (top < 0) return unknown(`the counters of ${c.metric.id} contradict each other (the result is negative)`);
      return known(top);
    }
    return bottom === 0 ? unknown(`${c.metric.over} is zero`) : known(top / bottom);
  }
}
