// A task, answered: the pure function that all adapters come to.
import { WavesmithError } from '../../base/index.ts';
import { Evaluator } from '../evaluate/ladder.ts';
import { Blobs } from './blobs.ts';
import { chipOfTask, type Task, type TaskFrame, type TaskResult } from './task.ts';

/** Baselines that are kept with the results of all their inputs. */
const KEPT = 2;

export class TaskRunner {
  private readonly blobs: Blobs;
  /** By frame; the one that was used last stands last. */
  private readonly evaluators = new Map<string, Promise<Evaluator>>();

  /** `folder`: where the blobs of the tasks are. */
  constructor(folder: string) {
    this.blobs = new Blobs(folder);
  }

  private evaluator(frame: TaskFrame): Promise<Evaluator> {
    const { capture, class: asked, seed, reductionLength, isRebuilt, chip, version } = frame;
    const key = JSON.stringify([capture, asked, seed, reductionLength, isRebuilt, chip, version]);
    const open = async (): Promise<Evaluator> => {
      const text = (blob: string): string => Buffer.from(this.blobs.get(blob)).toString();
      return await Evaluator.open(this.blobs.openCapture(capture), {
        chip: chipOfTask(chip, text),
        class: asked,
        seed,
        reductionLength,
        isRebuilt,
      });
    };
    const found = this.evaluators.get(key) ?? open();
    this.evaluators.delete(key);
    this.evaluators.set(key, found);
    for (const old of this.evaluators.keys()) {
      if (this.evaluators.size <= KEPT) break;
      this.evaluators.delete(old);
    }
    return found;
  }

  async run(task: Task): Promise<TaskResult> {
    if (task.kind === 'measure') {
      throw new WavesmithError('evaluate/not-measured', 'Workers with --target sim have no GPU to measure on.', {
        hint: 'Start one with --target rocm.',
      });
    }
    const evaluator = await this.evaluator(task);
    const candidate = this.blobs.get(task.candidate);
    if (task.kind === 'climb') return { kind: 'climb', evaluation: await evaluator.evaluate(candidate) };
    const { nanoseconds, problem } = await evaluator.look(candidate, task.under ?? Number.POSITIVE_INFINITY);
    return { kind: 'look', look: { nanoseconds, problem } };
  }
}
