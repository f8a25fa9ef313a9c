// The suite that every adapter of `Evaluators` must pass. Candidates are scripts (scripted-thread.mjs), so that order, death and time are chosen here.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LADDER_VERSION } from '../../../src/optimize/evaluate/types.ts';
import { Blobs } from '../../../src/optimize/evaluators/blobs.ts';
import { type Evaluators, inOrder, type Verdict } from '../../../src/optimize/evaluators/port.ts';
import { MAX_TASK, readTask, type Task, taskId } from '../../../src/optimize/evaluators/task.ts';

/** What a scripted candidate does. */
interface Script {
  readonly value: number | 'fails';
  readonly sleep?: number;
  /** A file that must be there before it ends. */
  readonly waitsFor?: string;
  /** Ends its thread, the first time. */
  readonly dieOnce?: string;
  readonly dies?: true;
}

/** An adapter with two threads of `threadFile`, on blobs in a folder. */
export interface Adapter {
  open(blobs: Blobs, threadFile: string): Promise<{ readonly evaluators: Evaluators; close(): Promise<void> }>;
}

export function evaluatorsContract(name: string, adapter: Adapter): void {
  describe(`evaluators: ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-evaluators-'));
    const blobs = new Blobs(join(folder, 'blobs'));
    const capture = blobs.put('[]');
    let opened: Awaited<ReturnType<Adapter['open']>>;
    let evaluators: Evaluators;
    beforeAll(async () => {
      opened = await adapter.open(blobs, join(import.meta.dirname, 'scripted-thread.mjs'));
      ({ evaluators } = opened);
    });
    afterAll(async () => {
      await opened.close();
      rmSync(folder, { recursive: true, force: true });
    });
    let logs = 0;
    const newLog = (): string => join(folder, `log${logs++}`);
    const linesOf = (log: string): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
    const taskOf = (log: string, script: Script): Task => ({
      kind: 'look',
      candidate: blobs.put(JSON.stringify({ log, ...script })),
      capture,
      class: 'bit',
      seed: 1,
      reductionLength: 1,
      isRebuilt: false,
      chip: { name: 'mi300x' },
      version: LADDER_VERSION,
    });
    const answerOf = (verdict: Verdict | undefined): unknown =>
      verdict?.result?.kind === 'look' ? verdict.result.look.nanoseconds : verdict?.failure?.code;

    test('every task has its own verdict, whatever order they come in', async () => {
      const log = newLog();
      const gate = join(folder, 'others-came');
      const tasks = [1, 2, 3, 4, 5, 6].map((value) => taskOf(log, { value, ...(value === 1 && { waitsFor: gate }) }));
      const came: unknown[] = [];
      for await (const verdict of evaluators.submit(tasks)) {
        came.push(answerOf(verdict));
        writeFileSync(gate, '');
      }
      expect([...came].sort()).toEqual([1, 2, 3, 4, 5, 6]);
      expect(came[0]).not.toBe(1);
      expect((await inOrder(evaluators, tasks, taskId)).map(answerOf)).toEqual([1, 2, 3, 4, 5, 6]);
    });

    test('the same task twice is one', async () => {
      const log = newLog();
      const task = taskOf(log, { value: 7, sleep: 50 });
      const verdicts: Verdict[] = [];
      for await (const verdict of evaluators.submit([task, { ...task }, task])) verdicts.push(verdict);
      expect(verdicts.map(answerOf)).toEqual([7]);
      expect(linesOf(log)).toEqual(['7']);
    });

    test('a failure of the work is a verdict, and is not tried again', async () => {
      const log = newLog();
      const verdicts = await inOrder(evaluators, [taskOf(log, { value: 'fails' })], taskId);
      expect(verdicts.map(answerOf)).toEqual(['evaluate/baseline']);
      expect(linesOf(log)).toHaveLength(1);
    });

    test('one that ends its thread is begun again, and no other is lost', async () => {
      const log = newLog();
      const tasks = [
        taskOf(log, { value: 20, dieOnce: join(folder, 'died') }),
        ...[21, 22, 23].map((value) => taskOf(log, { value, sleep: 20 })),
      ];
      expect((await inOrder(evaluators, tasks, taskId)).map(answerOf)).toEqual([20, 21, 22, 23]);
      expect(linesOf(log).filter((line) => line === '20')).toHaveLength(2);
    });

    test('one that always ends its thread is given up, and the others are done', async () => {
      const log = newLog();
      const tasks = [taskOf(log, { value: 30, dies: true }), taskOf(log, { value: 31 })];
      expect((await inOrder(evaluators, tasks, taskId)).map(answerOf)).toEqual(['queue/poison', 31]);
      expect(linesOf(log).filter((line) => line === '30')).toHaveLength(3);
    });

    test('what was withdrawn before anybody began it is never begun', async () => {
      const log = newLog();
      const stop = new AbortController();
      const gate = join(folder, 'withdrawn');
      const tasks = Array.from({ length: 20 }, (_, i) =>
        taskOf(log, { value: 100 + i, ...(i >= 2 && { waitsFor: gate }) }),
      );
      let count = 0;
      for await (const _ of evaluators.submit(tasks, stop.signal)) if (++count === 2) stop.abort();
      expect(count).toBe(2);
      writeFileSync(gate, '');
      await new Promise((resolve) => setTimeout(resolve, 500));
      // Two ended, and two threads may have begun one more each.
      expect(linesOf(log).length).toBeLessThanOrEqual(4);
      expect((await inOrder(evaluators, [taskOf(log, { value: 200 })], taskId)).map(answerOf)).toEqual([200]);
    });

    test('a task is small, and named by what it says', () => {
      const task = taskOf('log', { value: 1 });
      expect(JSON.stringify(task).length).toBeLessThan(MAX_TASK);
      expect(readTask(JSON.parse(JSON.stringify(task)))).toEqual(task);
      expect(taskId({ ...task, seed: 2 })).not.toBe(taskId(task));
      for (const wrong of [
        { ...task, candidate: '../../etc' },
        { ...task, version: 0 },
        { ...task, kind: 'x' },
        null,
        'task',
      ]) {
        expect(readTask(wrong)).toBeUndefined();
      }
    });
  });
}
