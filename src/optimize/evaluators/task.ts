// Room `optimize/evaluators`: evaluations made elsewhere: in threads of this process, or by workers that share a queue. Begin with this file: what is
// asked for. Then port.ts (who can be asked), run-task.ts (what answers), threads.ts and queue.ts (the two adapters).
//
// A task is data of less than 4 KB that names everything else by the SHA-256 of its content. It is pure: whoever evaluates it gives the same answer,
// so it may be evaluated twice, and its name is the hash of what it says.

import type { Chip } from '../../device/sim/timing/chip.ts';
import { parseChip } from '../../device/sim/timing/chip.ts';
import { chipFile, chipNamed } from '../../device/sim/timing/chips/index.ts';
import type { EvaluatorOptions } from '../evaluate/ladder.ts';
import type { Measurement } from '../evaluate/measure.ts';
import { CLASSES, type EquivalenceClass, type Evaluation, LADDER_VERSION } from '../evaluate/types.ts';
import { sha256 } from '../hash.ts';
import type { LookRecord } from '../ledger/ledger.ts';

/** What a task and everything that it names must be judged by. */
export interface TaskFrame {
  /** The list of a capture's files (blobs.ts). */
  readonly capture: string;
  readonly class: EquivalenceClass;
  readonly seed: number;
  readonly reductionLength: number;
  /** A compiler may have made the candidates: `EvaluatorOptions.isRebuilt`. */
  readonly isRebuilt: boolean;
  /** A built-in chip by name, or the JSON of one. */
  readonly chip: { readonly name: string } | { readonly blob: string };
  readonly version: number;
}

export interface Task extends TaskFrame {
  /** A first look, the whole ladder, or times on a GPU. */
  readonly kind: 'look' | 'climb' | 'measure';
  readonly candidate: string;
  /** Of a look: one that takes less than this, in nanoseconds, is run in strict mode too. */
  readonly under?: number | undefined;
}

export type TaskResult =
  | { readonly kind: 'look'; readonly look: LookRecord }
  | { readonly kind: 'climb'; readonly evaluation: Evaluation }
  | { readonly kind: 'measure'; readonly measurement: Measurement };

/** Bytes that a task may have as JSON. */
export const MAX_TASK = 4096;

/** The frame of all tasks of an evaluator. `chip`: the blob of its JSON when it is not built in. */
export function frameOf(capture: string, options: EvaluatorOptions, chip?: string): TaskFrame {
  return {
    capture,
    class: options.class ?? 'bit',
    seed: options.seed ?? 1,
    reductionLength: options.reductionLength ?? 1,
    isRebuilt: options.isRebuilt ?? false,
    chip: chip === undefined ? { name: options.chip.name } : { blob: chip },
    version: LADDER_VERSION,
  };
}

/** The name of a task. */
export const taskId = (task: Task): string => sha256(JSON.stringify(ordered(task)));

/** The same members in one order. */
function ordered({
  kind,
  candidate,
  under,
  capture,
  class: asked,
  seed,
  reductionLength,
  isRebuilt,
  chip,
  version,
}: Task): unknown[] {
  return [kind, candidate, under ?? null, capture, asked, seed, reductionLength, isRebuilt, chip, version];
}

const HASH = /^[0-9a-f]{64}$/;

/** Reads a task that came from elsewhere; undefined when it is none, or one for another version. */
export function readTask(value: unknown): Task | undefined {
  if (typeof value !== 'object' || value === null || JSON.stringify(value).length > MAX_TASK) return undefined;
  const {
    kind,
    candidate,
    under,
    capture,
    class: asked,
    seed,
    reductionLength,
    isRebuilt,
    chip,
    version,
  } = value as Partial<Task>;
  const isHash = (text: unknown): text is string => typeof text === 'string' && HASH.test(text);
  const isCount = (n: unknown): n is number => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0;
  if ((kind !== 'look' && kind !== 'climb' && kind !== 'measure') || !isHash(candidate) || !isHash(capture))
    return undefined;
  if (!CLASSES.some((c) => c === asked) || !isCount(seed) || !isCount(reductionLength)) return undefined;
  if (typeof isRebuilt !== 'boolean') return undefined;
  if (under !== undefined && typeof under !== 'number') return undefined;
  if (version !== LADDER_VERSION || typeof chip !== 'object' || chip === null) return undefined;
  const isChip = 'blob' in chip ? isHash(chip.blob) : typeof chip.name === 'string' && chip.name.length < 64;
  if (!isChip) return undefined;
  const rest = { class: asked as EquivalenceClass, seed, reductionLength, isRebuilt, chip, version };
  return { kind, candidate, under, capture, ...rest };
}

/** The chip of a task; `text` gives the content of a blob. */
export function chipOfTask(chip: TaskFrame['chip'], text: (blob: string) => string): Chip {
  return 'name' in chip ? chipNamed(chip.name) : parseChip(text(chip.blob), 'chip.json', chipFile);
}
