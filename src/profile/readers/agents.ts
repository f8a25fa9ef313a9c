// What profilers say of the GPUs and CPUs of a machine, as far as it can be.
import type { AgentFacts } from '../machines.ts';
import type { Recording } from '../recording.ts';

/** An agent and what rows of its file call it by. */
export interface AgentRow<Id = number> {
  readonly id: Id;
  readonly facts: AgentFacts;
}

/** More than this no GPU has of anything. */
const MOST = 1 << 16;

/** How many of something an agent has; undefined where it is not told or 0. A value that no agent has is reported. */
export function extent(r: Recording, file: string, field: string, value: unknown, most = MOST): number | undefined {
  if (value === undefined || value === null || value === 0) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= most) return value;
  r.report('profile/bad-record', file, `An agent's ${field} is none that a GPU or CPU has; it is left out.`);
  return undefined;
}

/** Agents by what they are called by. Several with one number get names of their own, which is reported: their work must not be joined. */
export function distinctAgents<Id>(r: Recording, file: string, rows: readonly AgentRow<Id>[]): Map<Id, AgentFacts> {
  const found = new Map<Id, AgentFacts>();
  const ids = new Map<string, Id>();
  for (const { id, facts } of rows) {
    const before = found.get(id);
    if (before !== undefined) {
      const isSame = JSON.stringify(before) === JSON.stringify(facts);
      if (!isSame)
        r.report('profile/agent-conflict', file, `${facts.key} is described twice, not alike; the first counts.`);
      continue;
    }
    if (facts.isGpu && facts.arch === undefined) {
      r.report('profile/bad-record', file, `${facts.key} is a GPU whose architecture the file does not tell.`);
    }
    const first = ids.get(facts.key);
    if (first === undefined) ids.set(facts.key, id);
    const isSecond = first !== undefined;
    const key = isSecond ? `${facts.key}, id ${id}` : facts.key;
    if (isSecond) {
      r.report(
        'profile/agent-conflict',
        file,
        `Two agents of the file are called ${facts.key}; the second is shown as ${key}.`,
      );
    }
    found.set(id, { ...facts, key });
  }
  return found;
}
