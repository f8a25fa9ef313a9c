// All operations of AMD's pseudo-code, each compared with the virtual GPU or listed with what stops it.
import { readFileSync } from 'node:fs';
import { randomNumbers } from '../../src/base/index.ts';
import { semanticsOf } from '../../src/isa/semantics/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { type AccessText, accessText, compareAccess } from './accesses.ts';
import { ADJUDICATED, NOT_COMPARED } from './adjudicated.ts';
import { atomicText, compareAtomic } from './atomics.ts';
import { compareScalar, compareVector, type Difference, rowOf } from './compare.ts';
import { Evaluator } from './evaluate.ts';

interface Texts {
  readonly texts: Map<string, string>;
  readonly all: string[];
  readonly accesses: ReadonlyMap<string, AccessText>;
}

/** Texts of scalar and vector ALU operations, of atomics, loads and stores by name, `V_ADD_F32`, with those followed here in the place of AMD's. */
export function readTexts(file: string): Texts {
  const { pcode } = JSON.parse(readFileSync(file, 'utf8')) as { pcode: Record<string, string> };
  const texts = new Map<string, string>();
  const accesses = new Map<string, AccessText>();
  for (const [key, text] of Object.entries(pcode)) {
    const [encoding, name] = key.split('.') as [string, string];
    const atomic = atomicText(key, text);
    if (atomic !== undefined) texts.set(atomic.name, atomic.text);
    const access = accessText(key, text);
    if (access !== undefined) {
      texts.set(access.name, access.text);
      accesses.set(access.name, access);
    }
    if (!/^(SOP[12CK]|VOP)/.test(encoding)) continue;
    texts.set(name.replace(/_E(32|64)$/, ''), text);
  }
  const all = [...texts.keys()];
  for (const { operations, text } of ADJUDICATED) for (const o of operations) texts.set(o, text(o));
  return { texts, all, accesses };
}

export interface Report {
  /** Operations that agree, with the number of operand sets. */
  readonly compared: ReadonlyMap<string, number>;
  readonly differing: ReadonlyMap<string, readonly Difference[]>;
  /** Operations that could not be compared, with why. */
  readonly left: ReadonlyMap<string, string>;
}

/** Compares every operation that a target has. `rounds`: executions of 64 lanes, or 25 scalar ones, each. */
export function compareAll(file: string, target: TargetName, rounds: number, seed: number): Report {
  const { texts, all, accesses } = readTexts(file);
  const evaluator = new Evaluator(texts);
  const compared = new Map<string, number>();
  const differing = new Map<string, Difference[]>();
  const left = new Map<string, string>();
  for (const name of all) {
    const stopped = Object.entries(NOT_COMPARED).find(([, patterns]) => patterns.some((p) => p.test(name)));
    if (stopped !== undefined) {
      left.set(name, stopped[0]);
      continue;
    }
    const access = accesses.get(name);
    if (access !== undefined || semanticsOf(name.toLowerCase())?.kind === 'atomic') {
      const random = randomNumbers(seed);
      const runs = Array.from({ length: rounds }, () =>
        access === undefined
          ? compareAtomic(evaluator, name, target, random)
          : compareAccess(evaluator, access, target, random),
      );
      if (runs.includes(undefined)) continue;
      const differences = runs.flatMap((run) => run ?? []);
      if (differences.length > 0) differing.set(name, differences);
      else compared.set(name, 64 * rounds);
      continue;
    }
    const row = rowOf(target, name.toLowerCase());
    if (row === undefined) continue;
    const random = randomNumbers(seed);
    const differences: Difference[] = [];
    let cases = 0;
    if (semanticsOf(row.operation)?.kind === 'vector') {
      for (let k = 0; k < rounds; k++, cases += 64)
        differences.push(...compareVector(evaluator, name, target, row, random, k % 2 === 0));
    } else {
      for (; cases < 25 * rounds; cases++) differences.push(...compareScalar(evaluator, name, target, row, random));
    }
    if (differences.length > 0) differing.set(name, differences);
    else compared.set(name, cases);
  }
  return { compared, differing, left };
}
