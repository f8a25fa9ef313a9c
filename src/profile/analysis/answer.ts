// The answer first: what was profiled, where the time went, and the changes that are worth most, each with its evidence.
import type { AnswerSection, Change, CriticalPathSection, KernelEntry } from '../document.ts';
import { combine, isKnown, known, type Measure, numberOf, ratio, unknown } from '../measure.ts';
import type { Recording } from '../recording.ts';
import type { Agent } from '../records.ts';
import type { BottleneckClass } from './bottleneck-types.ts';
import { launchedGroups } from './occupancy.ts';
import { whyNoChange } from './untold.ts';

const MAX_CHANGES = 3;
const MAX_KERNELS = 5;
/** Idle time and copies below this share of the span are not worth a change. */
const LEAST_SHARE = 0.05;

/** What to do about each class; `{}` is the kernel. */
const ADVICE: Readonly<Record<BottleneckClass, string>> = {
  'memory-bandwidth': 'Move fewer bytes in {}: fuse it with its neighbours, use smaller types, or keep data in LDS',
  'memory-latency': 'Keep more loads in flight in {}: issue them earlier, unroll its loop, or let more waves run',
  'under-occupied': 'Let more waves run in {}: launch more workgroups, and such that take equally long',
  divergence: 'Keep the lanes of a wave together in {}: sort its work, or replace branches by selects',
  compute: 'Compute less in {}: use matrix instructions, packed instructions or smaller types',
  lds: 'Remove the LDS bank conflicts of {}: pad or swizzle the rows',
  scalar: 'Move scalar work out of the loops of {}',
  'instruction-fetch': 'Make the loop bodies of {} fit the instruction cache: unroll and inline less',
  barrier: 'Let waves wait less for each other in {}: fewer barriers, or work of equal length',
  launch: 'Launch fewer and larger kernels in the place of {}: fuse it, or use a graph',
  atomics: 'Use fewer atomics in {}: reduce within the workgroup first',
};

/** The advice for a kernel that few waves run of because few fit; which of the two keeps them out is its occupancy's limiter. */
const CROWDED = 'Let more waves run in {}: use fewer registers or less LDS';
/** Share of the wave slots up to which registers and LDS are what keeps waves out. */
const FEW_FIT = 0.5;

/** What to do; `cus` are the CUs of the kernel's GPU. */
function adviceFor(kernel: KernelEntry, found: BottleneckClass, cus: number | undefined): string {
  const fits = numberOf(kernel.occupancy.share);
  // More that fit is no use to a launch that does not fill what is there.
  const [launched, room] = [
    numberOf(launchedGroups(kernel.launches[0], cus).groupsPerCu),
    numberOf(kernel.occupancy.workgroupsPerCu),
  ];
  const isSmall = launched !== undefined && room !== undefined && launched <= room;
  const isCrowded = found === 'under-occupied' && fits !== undefined && fits <= FEW_FIT && !isSmall;
  return (isCrowded ? CROWDED : ADVICE[found]).replace('{}', kernel.name);
}

/** The first section of the document. `gapNs` says how long nothing ran, unknown where the profiler made the gaps. */
export function answerSection(
  r: Recording,
  agents: readonly (Agent | undefined)[],
  kernels: readonly KernelEntry[],
  path: CriticalPathSection,
  gapNs: Measure,
): AnswerSection {
  const machines = new Set(
    agents.flatMap((agent) => {
      if (agent === undefined) return [];
      const facts = [agent.arch, agent.cuCount === undefined ? undefined : `${agent.cuCount} CUs`].filter(Boolean);
      return [`${agent.name ?? agent.key}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`];
    }),
  );
  const copies = path.symbols.filter((symbol) => symbol.kind === 'copy').reduce((sum, s) => sum + s.criticalNs, 0);
  const made = changes(r, agents, kernels, path, gapNs, copies);
  return {
    command: r.info.get('command') ?? workloadOf(r),
    host: r.info.get('hostname') ?? null,
    machines: [...machines],
    date: r.info.get('timestamp') ?? null,
    spanNs: path.spanNs,
    idleNs: gapNs,
    copyNs: isKnown(path.spanNs) ? known(copies) : path.spanNs,
    kernels: kernels
      .slice(0, MAX_KERNELS)
      .map(({ id, name, agent, share, totalNs }) => ({ id, name, agent, share, totalNs })),
    changes: made,
    whyNoChange: made.length > 0 ? null : whyNoChange(r, agents, kernels),
  };
}

/** What Omniperf 1 recorded instead of the command. */
function workloadOf(r: Recording): string | null {
  const name = r.info.get('workload_name');
  return name === undefined ? null : `${name} (name of the workload)`;
}

function changes(
  r: Recording,
  agents: readonly (Agent | undefined)[],
  kernels: readonly KernelEntry[],
  path: CriticalPathSection,
  gapNs: Measure,
  copies: number,
): Change[] {
  const made: { readonly change: Change; readonly weight: number }[] = [];
  const span = numberOf(path.spanNs) ?? 0;
  const add = (change: Omit<Change, 'worthShare'>, weight: number) => {
    made.push({ change: { ...change, worthShare: ratio(change.worthNs, path.spanNs, 'the span') }, weight });
  };
  const gap = numberOf(gapNs) ?? 0;
  if (span > 0 && gap >= LEAST_SHARE * span) {
    add(
      {
        title: 'Keep the GPU busy: launch ahead, fuse small kernels, or use a graph',
        kernel: null,
        worthNs: gapNs,
        confidence: 1,
        evidence: [`nothing ran for ${percent(gap / span)} of the span`],
      },
      gap,
    );
  }
  if (span > 0 && copies >= LEAST_SHARE * span) {
    add(
      {
        title: 'Overlap copies with kernels, or avoid them',
        kernel: null,
        worthNs: known(copies),
        confidence: 1,
        evidence: [`copies are ${percent(copies / span)} of the span on the critical path`],
      },
      copies,
    );
  }
  const most = Math.max(1, ...kernels.map((kernel) => kernel.counters.SQ_INSTS?.sum ?? 0));
  for (const kernel of kernels) {
    const [found] = kernel.bottleneck.classes;
    if (found === undefined || (found.class === 'launch' && gap > 0)) continue;
    // Off the critical path a kernel can be made faster for nothing.
    const time = isKnown(kernel.critical.criticalNs) ? kernel.critical.criticalNs : kernel.totalNs;
    const worthNs: Measure =
      r.simulated === undefined || r.simulated.chip !== undefined
        ? combine([found.headroom, time], (share, ns) => share * ns)
        : unknown('simulated: times are unknown');
    const share = numberOf(kernel.share) ?? (kernel.counters.SQ_INSTS?.sum ?? 0) / most;
    add(
      {
        title: adviceFor(kernel, found.class, agents.find((agent) => agent?.key === kernel.agent)?.cuCount),
        kernel: kernel.id,
        worthNs,
        confidence: found.confidence,
        evidence: found.evidence.map(
          (e) => `${e.metric} ${e.value.toPrecision(3)} (${e.comparison} ${Number(e.threshold.toPrecision(3))})`,
        ),
      },
      found.confidence * (numberOf(worthNs) ?? share * 1e-6),
    );
  }
  const worth = ({ worthNs }: Change) => numberOf(worthNs) ?? -1;
  return made
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_CHANGES)
    .map(({ change }) => change)
    .sort((a, b) => worth(b) - worth(a));
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
