// What changed between two profiles, kernel by kernel. A change is reported only where both sides are known.
import type { KernelEntry, ProfileDocument } from '../document.ts';
import { combine, isKnown, known, type Measure, ratio, unknown } from '../measure.ts';

export interface KernelChange {
  readonly name: string;
  readonly status: 'both' | 'only in A' | 'only in B';
  readonly calls: readonly [number, number];
  readonly totalNs: readonly [Measure, Measure];
  readonly meanNs: readonly [Measure, Measure];
  /** B over A of the mean duration: below 1 is faster. */
  readonly meanRatio: Measure;
  /** B less A of the total: what the change of the kernel did to the time of all. A kernel that one side lacks takes no time there. */
  readonly changeNs: Measure;
  /** Whether the difference of the means exceeds the spread of the durations. */
  readonly significant: boolean | null;
  readonly metrics: readonly {
    readonly id: string;
    readonly label: string;
    readonly unit: string;
    readonly a: number;
    readonly b: number;
  }[];
  readonly bottleneck: readonly [string | null, string | null];
}

export interface ProfileDiff {
  /** The GPUs of A and of B; times of different ones differ without any change of the program. */
  readonly machines: readonly [readonly string[], readonly string[]];
  readonly totalNs: readonly [Measure, Measure];
  readonly totalRatio: Measure;
  readonly criticalNs: readonly [Measure, Measure];
  /** Those whose time changed most come first; those of unknown time last. */
  readonly kernels: readonly KernelChange[];
}

const absent = unknown('the kernel is not in this profile');

/** Compares two profiles. Kernels match by name; several agents add up to the entry with the most time. */
export function diffProfiles(a: ProfileDocument, b: ProfileDocument): ProfileDiff {
  const byName = (doc: ProfileDocument) => {
    const map = new Map<string, KernelEntry[]>();
    for (const kernel of doc.kernels) map.set(kernel.name, [...(map.get(kernel.name) ?? []), kernel]);
    return map;
  };
  const [left, right] = [byName(a), byName(b)];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  const kernels = names.flatMap((name) => changes(name, left.get(name) ?? [], right.get(name) ?? []));
  const weight = (c: KernelChange) => (isKnown(c.changeNs) ? Math.abs(c.changeNs.value) : -1);
  const total: [Measure, Measure] = [a.criticalPath.busyNs, b.criticalPath.busyNs];
  return {
    machines: [machinesOf(a), machinesOf(b)],
    totalNs: total,
    totalRatio: ratio(total[1], total[0], 'the work of A'),
    criticalNs: [a.criticalPath.lengthNs, b.criticalPath.lengthNs],
    kernels: kernels.sort((x, y) => weight(y) - weight(x) || (x.name < y.name ? -1 : 1)),
  };
}

/** Its GPUs; documents before version 1.2 name them by their agents. */
function machinesOf(document: ProfileDocument): readonly string[] {
  const ofAgents = () =>
    document.agents.flatMap(({ name, arch }) => (arch === null ? [] : [`${name ?? arch} (${arch})`]));
  return (document as Partial<ProfileDocument>).answer?.machines ?? ofAgents();
}

/** The time of a kernel, none where the profile has no such kernel. */
const totalOf = (kernel: KernelEntry | undefined): Measure => (kernel === undefined ? known(0) : kernel.totalNs);

/** What became of a kernel, on each GPU where it ran on several. The GPU of a profile with one is that of the other, whatever its name. */
function changes(name: string, a: readonly KernelEntry[], b: readonly KernelEntry[]): KernelChange[] {
  if (a.length < 2 && b.length < 2) return [change(name, a[0], b[0])];
  const agents = [...new Set([...a, ...b].map(({ agent }) => agent))];
  const on = (entries: readonly KernelEntry[], agent: string) => entries.find((entry) => entry.agent === agent);
  return agents.map((agent) => change(`${name} on ${agent}`, on(a, agent), on(b, agent)));
}

function change(name: string, a: KernelEntry | undefined, b: KernelEntry | undefined): KernelChange {
  const metrics: KernelChange['metrics'][number][] = [];
  for (const [id, metric] of Object.entries(a?.metrics ?? {})) {
    const other = b !== undefined && Object.hasOwn(b.metrics, id) ? b.metrics[id] : undefined;
    if (other === undefined || !isKnown(metric.value) || !isKnown(other.value)) continue;
    const [x, y] = [metric.value.value, other.value.value];
    if (Math.abs(x - y) > 0.005 * Math.max(Math.abs(x), Math.abs(y)))
      metrics.push({ id, label: metric.label, unit: metric.unit, a: x, b: y });
  }
  const relative = ({ a, b }: { a: number; b: number }) => Math.abs(b - a) / Math.max(Math.abs(a), Math.abs(b));
  metrics.sort((x, y) => relative(y) - relative(x));
  return {
    name,
    status: a === undefined ? 'only in B' : b === undefined ? 'only in A' : 'both',
    calls: [a?.calls ?? 0, b?.calls ?? 0],
    totalNs: [a?.totalNs ?? absent, b?.totalNs ?? absent],
    meanNs: [a?.meanNs ?? absent, b?.meanNs ?? absent],
    changeNs: combine([totalOf(a), totalOf(b)], (x, y) => y - x),
    meanRatio: ratio(b?.meanNs ?? absent, a?.meanNs ?? absent, 'the mean of A'),
    significant: significant(a, b),
    metrics,
    bottleneck: [a?.bottleneck.classes[0]?.class ?? null, b?.bottleneck.classes[0]?.class ?? null],
  };
}

/** Welch's t against 2: the means differ by more than twice their standard error. Null with fewer than 3 calls a side. */
function significant(a: KernelEntry | undefined, b: KernelEntry | undefined): boolean | null {
  if (a === undefined || b === undefined || a.timed < 3 || b.timed < 3) return null;
  const stats = [a, b].map((k) =>
    isKnown(k.meanNs) && isKnown(k.variation)
      ? { mean: k.meanNs.value, error: (k.meanNs.value * k.variation.value) ** 2 / k.timed }
      : undefined,
  );
  const [x, y] = stats;
  if (x === undefined || y === undefined) return null;
  const error = Math.sqrt(x.error + y.error);
  return error === 0 ? x.mean !== y.mean : Math.abs(x.mean - y.mean) > 2 * error;
}
