// A thread for tests of evaluators: the candidate is a script of what to do instead of a kernel.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export default async function answer({ task, folder }) {
  const {
    log,
    sleep = 0,
    waitsFor,
    dieOnce,
    dies,
    value,
  } = JSON.parse(readFileSync(join(folder, task.candidate.slice(0, 2), task.candidate), 'utf8'));
  appendFileSync(log, `${value}\n`);
  await new Promise((resolve) => setTimeout(resolve, sleep));
  while (waitsFor !== undefined && !existsSync(waitsFor)) await new Promise((resolve) => setTimeout(resolve, 10));
  if (dies === true) process.exit(1);
  if (dieOnce !== undefined && !existsSync(dieOnce)) {
    writeFileSync(dieOnce, '');
    process.exit(1);
  }
  if (value === 'fails') return { failure: { code: 'evaluate/baseline', message: 'It fails.' } };
  return { result: { kind: 'look', look: { nanoseconds: value } } };
}
