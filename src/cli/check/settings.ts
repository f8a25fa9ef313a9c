// The configuration of `wavesmith check`: `wavesmith.json` in the folder of the file or the nearest one above it.
//   { "check": { "rules": { "waits/too-strong": "off", "hazards/*": "warning" }, "failOn": "warning", "notes": true,
//                "pedantic": false, "baseline": "known.json" } }
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { type FailOn, type Policy, parseFailOn, parsePolicy, RULE_IDS } from '../../finding/index.ts';
import { readInput } from '../support.ts';

export interface CheckSettings {
  readonly policy: Policy;
  readonly failOn?: FailOn | undefined;
  readonly notes?: boolean | undefined;
  readonly pedantic?: boolean | undefined;
  /** Path of the file of known findings, from the working folder. */
  readonly baseline?: string | undefined;
}

export const CONFIG_NAME = 'wavesmith.json';
const KEYS = ['rules', 'failOn', 'notes', 'pedantic', 'baseline'];

/** The nearest configuration file of a checked file; undefined when there is none, and for standard input. */
export function findConfig(file: string): string | undefined {
  if (file === '-') return undefined;
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    const path = join(folder, CONFIG_NAME);
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Reads a configuration file; unknown keys and values are errors with its name. */
export function readSettings(path: string | undefined): CheckSettings {
  if (path === undefined) return { policy: new Map() };
  const all = parseJson(path);
  const bad = (message: string, hint: string): WavesmithError =>
    new WavesmithError('check/config', message, { file: path, hint });
  if (!isObject(all)) throw bad('The configuration is no JSON object.', `Write { "check": { … } }.`);
  const section = Object.keys(all).find((key) => key !== 'check');
  if (section !== undefined)
    throw bad(`The configuration has no section '${section}'.`, 'Write { "check": { … } }; there is no other section.');
  const check = all.check ?? {};
  if (!isObject(check)) throw bad("'check' is no JSON object.", 'Write { "check": { "rules": { … } } }.');
  const unknown = Object.keys(check).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw bad(`'check' has no setting '${unknown}'.`, `There are ${KEYS.join(', ')}.`);
  const { rules = {}, failOn, notes, pedantic, baseline } = check;
  if (!isObject(rules)) throw bad("'rules' is no JSON object.", 'Write { "waits/too-strong": "off" }.');
  for (const [name, value] of Object.entries({ notes, pedantic })) {
    if (value !== undefined && typeof value !== 'boolean') throw bad(`'${name}' is not true or false.`, 'Mend it.');
  }
  if (baseline !== undefined && typeof baseline !== 'string') throw bad("'baseline' is no path.", 'Mend it.');
  if (failOn !== undefined && typeof failOn !== 'string') {
    throw bad("'failOn' is no text.", 'Write a severity, "none", or rules separated by commas.');
  }
  return {
    policy: parsePolicy(rules, path),
    failOn: failOn === undefined ? undefined : parseFailOn(failOn, RULE_IDS, path),
    notes: notes as boolean | undefined,
    pedantic: pedantic as boolean | undefined,
    baseline: baseline === undefined ? undefined : resolve(dirname(path), baseline),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON file; one that is none is `check/config`. */
export function parseJson(path: string): unknown {
  const text = new TextDecoder().decode(readInput(path));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WavesmithError('check/config', `'${path}' is no JSON: ${(error as Error).message}.`, {
      file: path,
      hint: 'Mend the text at that place.',
    });
  }
}
