// What a kernel gains where one resource of the chip is free, and where twice as many waves are beside each other: the check that a kernel has
// the limiter it was written to have (docs/profile.md, "What a class means"). The launch is recorded once and replayed on each changed chip;
// nothing but the sampled workgroups is run.
import type { Chip, ChipNumbers } from '../../src/device/sim/timing/chip.ts';
import { makeChip } from '../../src/device/sim/timing/chip.ts';
import { FIELDS, type FieldRule } from '../../src/device/sim/timing/chip-fields.ts';
import { chipFile } from '../../src/device/sim/timing/chips/index.ts';
import { codeInstruction } from '../../src/device/sim/timing/kernel-code.ts';
import type { LaunchTime, RecordedLaunch, ReplayedLaunch, TimingModel } from '../../src/device/sim/timing/model.ts';
import { spreadOf } from '../../src/device/sim/timing/sample.ts';
import type { BottleneckClass } from '../../src/profile/analysis/bottleneck-types.ts';
import { ModelClock } from '../../src/runtime/model-clock.ts';
import { timeLaunches, WatchedModel, withWholeWaves } from './classify.ts';
import type { CompiledKernel } from './compiled.ts';
import type { LimitedKernel } from './kernels.ts';

/** Free is a sixteenth of the cost, or what the chip's field can be at least: no field can be nothing. */
const FREE = 16;
const faster = (value: number): number => value * FREE;
const cheaper = (value: number): number => value / FREE;
type Change = readonly (readonly [RegExp, (value: number) => number])[];

/** Code that is in the caches before anyone asks for it. */
const FETCHED: Change = [
  [/^l1i\.miss$/, cheaper],
  [/^l1i\.bytes$/, faster],
];

/** Fields of a chip that belong to a limiter, and how each changes. */
const RESOURCES = {
  'memory-bandwidth': [
    [/^(hbm|mall)\.(read|write)Gbps$|^l2\.(channelRate|writeRate)$|^vl1d\.(fill|rate|tags)$/, faster],
  ],
  'memory-latency': [
    [/^(hbm|mall|l2|vl1d|sl1d)\.latency$|^sl1d\.missExtra$|^l2\.(storeAck|foreignAck)$|^tlb\.(miss|refill)$/, cheaper],
  ],
  compute: [
    [/^class\.(?!salu|branch).*\.issue$/, cheaper],
    [/^matrix\.pass$/, cheaper],
  ],
  scalar: [[/^class\.(salu|branch)\.issue$/, cheaper]],
  lds: [
    [/^lds\.rate$/, faster],
    [/^lds\.(extraPass|latency)$/, cheaper],
  ],
  atomics: [[/^l2\.atomicInterval$/, cheaper]],
  'instruction-fetch': FETCHED,
  launch: [[/^launch\.|^dispatch\./, cheaper]],
} satisfies Partial<Record<BottleneckClass, Change>>;

/** What a kernel gains, by limiter: a share of its time. */
export interface Gains {
  readonly of: Readonly<Partial<Record<BottleneckClass, number>>>;
  /** Registers or LDS let no more waves on a compute unit than a quarter of its slots, or whole workgroups are too few for half of the units. */
  readonly areKeptOut: boolean;
}

const isField = (name: string): name is keyof typeof FIELDS & string => Object.hasOwn(FIELDS, name);

function within(value: number, rule: FieldRule): number {
  const whole = rule.whole === true ? Math.round(value) : value;
  return Math.min(rule.max, Math.max(rule.min, whole));
}

function changed(name: string, change: Change): Chip {
  const file = chipFile(name);
  const numbers: ChipNumbers = Object.fromEntries(
    Object.entries(file.numbers).map(([field, [value, source]]) => {
      const by = change.find(([pattern]) => pattern.test(field))?.[1];
      const rule = isField(field) ? FIELDS[field] : undefined;
      return [field, [by === undefined || rule === undefined ? value : within(by(value), rule), source]];
    }),
  );
  return makeChip({ ...file, numbers });
}

/** The same recording with the costs of another chip, which has as many units and banks. */
function recordedOn(chip: Chip, recorded: RecordedLaunch): RecordedLaunch {
  const list = recorded.code.list.map((c) => codeInstruction(chip, c.id, c.offset, c.instruction, c.size));
  return { ...recorded, code: { list }, spread: spreadOf(chip, recorded.launch) };
}

/** A model that times each launch on other chips, too, and keeps their clocks. */
class Comparison extends WatchedModel {
  /** From the first start to the last end, in ticks, of the chip itself and of the others. */
  readonly spans: number[];
  /** Cycles of waves in all, and those at barriers. */
  waves = 0;
  atBarriers = 0;
  areKeptOut = false;
  private readonly models: readonly TimingModel[];
  private readonly clocks: readonly ModelClock[];
  private readonly starts: bigint[] = [];
  private replays: readonly ReplayedLaunch[] = [];

  constructor(chip: Chip, others: readonly Chip[], budget: number, residency = 1) {
    super(chip, { budget, residency });
    this.models = others.map((other) => new WatchedModel(other));
    this.clocks = [chip, ...others].map((each) => new ModelClock(each));
    this.spans = this.clocks.map(() => 0);
  }

  override replay(recorded: RecordedLaunch): ReplayedLaunch {
    this.replays = this.models.map((model) => model.replay(recordedOn(model.chip, recorded)));
    const replayed = super.replay(recorded);
    const { spread, launch } = recorded;
    const slots = this.chip.get('wavesPerSimd') * this.chip.get('simdsPerCu');
    const units = this.chip.get('xccs') * this.chip.get('cusPerXcc');
    const isSmall = launch.wavesPerGroup > 1 && launch.workgroups <= units / 2;
    this.areKeptOut ||= isSmall || spread.resident * launch.wavesPerGroup <= slots / 4;
    this.waves += replayed.replay.sums.waveCycles;
    for (const { stalls } of replayed.replay.instructions) this.atBarriers += stalls.barrier;
    return replayed;
  }

  override time(replayed: ReplayedLaunch, instructions: number, waited = 0): LaunchTime {
    const time = super.time(replayed, instructions, waited);
    const all = [time, ...this.replays.map((r, n) => (this.models[n] as TimingModel).time(r, instructions, waited))];
    all.forEach(({ nanoseconds, dirtyBytes }, n) => {
      const { start, end } = (this.clocks[n] as ModelClock).kernel(nanoseconds, dirtyBytes);
      this.starts[n] ??= start;
      this.spans[n] = Number(end - (this.starts[n] as bigint));
    });
    return time;
  }
}

/**
 * The share of a kernel's time that goes away where a resource is free; of `under-occupied`, what a workgroup takes less where there are twice
 * as many of them and registers and LDS let twice as many be beside each other, up to the wave slots; of `barrier`, the share of wave time
 * spent at barriers, which evenly spread work would not.
 */
export async function whatIf(
  kernel: LimitedKernel | CompiledKernel,
  chipName: string,
  compiled?: Uint8Array,
): Promise<Gains> {
  const chip = makeChip(chipFile(chipName));
  const names = Object.keys(RESOURCES) as (keyof typeof RESOURCES)[];
  const others = names.map((name) => changed(chipName, RESOURCES[name]));
  // An instruction that its cache has lost comes from L2: what latency is worth beyond that is told with all code in the caches.
  const both = changed(chipName, [...RESOURCES['memory-latency'], ...FETCHED]);
  const compared = await withWholeWaves(async (budget) => {
    const comparison = new Comparison(chip, [...others, both], budget);
    await timeLaunches(kernel, comparison, compiled);
    return comparison;
  });
  const [base, ...spans] = compared.spans as [number, ...number[]];
  const gains: Partial<Record<BottleneckClass, number>> = {};
  names.forEach((name, n) => {
    gains[name] = 1 - (spans[n] as number) / base;
  });
  const [fetched, beyond] = [spans[names.indexOf('instruction-fetch')] as number, spans.at(-1) as number];
  gains['memory-latency'] = Math.min(gains['memory-latency'] ?? 0, (fetched - beyond) / base);
  gains.barrier = compared.atBarriers / Math.max(1, compared.waves);
  const crowd = await withWholeWaves(async (budget) => {
    const comparison = new Comparison(chip, [], 2 * budget, 2);
    await timeLaunches({ ...kernel, groups: 2 * kernel.groups, bytes: 2 * kernel.bytes }, comparison, compiled);
    return comparison;
  });
  gains['under-occupied'] = 1 - (crowd.spans[0] as number) / (2 * base);
  return { of: gains, areKeptOut: compared.areKeptOut };
}

/** From here on twice as many waves are worth enough to be the class of a kernel that waits for memory; as much as two thirds of all they can be. */
const WORTH = 1 / 3;

/** What the gains say that limits the kernel: docs/profile.md, "What a class means". */
export function limiterOf({ of, areKeptOut }: Gains): BottleneckClass {
  const [first] = (Object.entries(of) as [BottleneckClass, number][]).sort((a, b) => b[1] - a[1]);
  if (first === undefined) throw new Error('nothing was tried');
  const isHidden = first[0] === 'memory-latency' && areKeptOut && (of['under-occupied'] ?? 0) >= WORTH;
  return isHidden ? 'under-occupied' : first[0];
}

/** Gains that differ by less say nothing: docs/profile.md, "What a class means". */
const EQUAL = 0.03;
/** Where the greatest gain is smaller, nothing limits the kernel more than the rest. */
const STANDS_OUT = 0.15;

/** The other classes that gain as much as the greatest gain. */
export function equalsOf(gains: Gains): readonly BottleneckClass[] {
  const entries = Object.entries(gains.of) as [BottleneckClass, number][];
  const most = Math.max(...entries.map(([, gain]) => gain));
  return entries.flatMap(([name, gain]) => (gain >= most - EQUAL && name !== limiterOf(gains) ? [name] : []));
}

/** Whether nothing stands out. */
export const isBalanced = ({ of }: Gains): boolean => Math.max(...Object.values(of)) < STANDS_OUT;
