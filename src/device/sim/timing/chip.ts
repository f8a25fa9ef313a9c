// A chip as data: every number of the timing model that belongs to the hardware, each with the source it comes from. chips/ has one
// file per chip; a user's own file is JSON of the same form, or of the fields that differ from a known chip (`"base": "mi300x"`).
import { WavesmithError } from '../../../base/index.ts';
import { isTargetName } from '../../../isa/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import { FIELDS, type FieldRule, LATENCY_FIELDS } from './chip-fields.ts';

/** A number and where it comes from. */
export type Sourced = readonly [value: number, source: string];

/** Numbers by dotted name, as `FIELDS` lists them: `l2.latency`. */
export type ChipNumbers = Readonly<Record<string, Sourced>>;

/** A chip as it is written down. */
export interface ChipFile {
  /** What `--chip` takes. */
  readonly name: string;
  readonly product: string;
  readonly target: TargetName;
  /** What the numbers have been compared with; `none` when no measurement of this chip was at hand. */
  readonly validation: string;
  readonly numbers: ChipNumbers;
}

/** Cycles of a latency class: how long its unit is taken, and when a dependent instruction may issue. */
export interface ClassCycles {
  readonly issue: number;
  readonly latency: number;
}

/** A checked chip. Times are in cycles of the engine clock unless the name says otherwise; bandwidths in bytes per cycle of one unit. */
export interface Chip {
  readonly name: string;
  readonly product: string;
  readonly target: TargetName;
  readonly validation: string;
  readonly get: (field: string) => number;
  readonly sourceOf: (field: string) => string;
  readonly latencyClass: (name: string) => ClassCycles;
}

function badChip(message: string, hint?: string): WavesmithError {
  return new WavesmithError('timing/bad-chip', message, { hint });
}

function checkNumber(chip: string, field: string, rule: FieldRule, entry: unknown): Sourced {
  if (entry === undefined) {
    throw badChip(`Chip '${chip}' has no '${field}' (${rule.what}).`, "Add it, or name a 'base' chip to take it from.");
  }
  const [value, source] = Array.isArray(entry) ? (entry as readonly unknown[]) : [entry, undefined];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw badChip(`'${field}' of chip '${chip}' is not a number.`, `Write [number, "source"]: ${rule.what}.`);
  }
  if (typeof source !== 'string' || source.trim() === '') {
    throw badChip(`'${field}' of chip '${chip}' has no source.`, 'Write [number, "where it comes from"].');
  }
  if (value < rule.min || value > rule.max || (rule.whole === true && !Number.isInteger(value))) {
    const kind = rule.whole === true ? 'a whole number' : 'a number';
    throw badChip(
      `'${field}' of chip '${chip}' is ${value}, not ${kind} from ${rule.min} to ${rule.max}.`,
      `It is ${rule.what}.`,
    );
  }
  return [value, source];
}

/** A checked chip from its description; `timing/bad-chip` names the field that is missing, unknown or impossible. */
export function makeChip(file: ChipFile): Chip {
  const { name, product, target, validation, numbers } = file;
  for (const field of Object.keys(numbers)) {
    if (!Object.hasOwn(FIELDS, field)) throw badChip(`Chip '${name}' has an unknown field '${field}'.`);
  }
  const values = new Map<string, Sourced>();
  for (const [field, rule] of Object.entries(FIELDS)) values.set(field, checkNumber(name, field, rule, numbers[field]));
  const entry = (field: string): Sourced => {
    const found = values.get(field);
    if (found === undefined) throw new Error(`the model asks for an unknown chip field ${field}`);
    return found;
  };
  const get = (field: string): number => entry(field)[0];
  for (const cache of ['vl1d', 'l2']) {
    if (get(`${cache}.bytes`) % (get(`${cache}.line`) * get(`${cache}.ways`)) !== 0) {
      throw badChip(`'${cache}.bytes' of chip '${name}' is not a whole number of sets of '${cache}.ways' lines.`);
    }
  }
  for (const field of ['vl1d.line', 'l2.line', 'l2.interleave', 'l1i.line']) {
    const bytes = get(field);
    if ((bytes & (bytes - 1)) !== 0) throw badChip(`'${field}' of chip '${name}' is not a power of two.`);
  }
  checkDistances(name, get);
  const classes = new Map<string, ClassCycles>(
    LATENCY_FIELDS.map((n) => [n, { issue: get(`class.${n}.issue`), latency: get(`class.${n}.latency`) }]),
  );
  return {
    name,
    product,
    target,
    validation,
    get,
    sourceOf: (field) => entry(field)[1],
    latencyClass: (n) => {
      const cycles = classes.get(n);
      if (cycles === undefined) throw new Error(`no latency class ${n}`);
      return cycles;
    },
  };
}

/** What is behind another cache cannot be nearer than it. */
function checkDistances(chip: string, get: (field: string) => number): void {
  const caches = ['vl1d', 'l2', ...(get('mall.bytes') > 0 ? ['mall'] : []), 'hbm'].map((cache) => `${cache}.latency`);
  caches.forEach((field, n) => {
    const near = caches[n - 1];
    if (near !== undefined && get(field) < get(near)) {
      throw badChip(`'${field}' of chip '${chip}' is ${get(field)}, less than the ${get(near)} of '${near}'.`);
    }
  });
  if (get('l2.latency') - get('sl1d.missExtra') < get('sl1d.latency')) {
    throw badChip(
      `'sl1d.missExtra' of chip '${chip}' is ${get('sl1d.missExtra')}: scalar loads from L2 would be faster than hits.`,
      "It is at most 'l2.latency' less 'sl1d.latency'.",
    );
  }
}

/** A user's chip file (JSON text). `known` finds the chips that `base` may name. */
export function parseChip(text: string, path: string, known: (name: string) => ChipFile): Chip {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new WavesmithError('timing/bad-chip', `The chip file ${path} is not JSON.`, { file: path, cause });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw badChip(`The chip file ${path} is not a JSON object.`, 'Fields: name, base or target, numbers.');
  }
  const { name, base, target, product, numbers = {}, ...rest } = json as Record<string, unknown>;
  const [unknown] = Object.keys(rest).filter((key) => key !== 'validation');
  if (unknown !== undefined) throw badChip(`The chip file ${path} has an unknown field '${unknown}'.`);
  if (typeof name !== 'string' || name === '') throw badChip(`The chip file ${path} has no 'name'.`);
  const parent = base === undefined ? undefined : known(String(base));
  const processor = target ?? parent?.target;
  if (typeof processor !== 'string' || !isTargetName(processor)) {
    throw badChip(`'target' of chip '${name}' is not a target.`, 'gfx90a, gfx942 or gfx950; or name a base chip.');
  }
  if (typeof numbers !== 'object' || numbers === null || Array.isArray(numbers)) {
    throw badChip(`'numbers' of chip '${name}' is not an object.`, 'Write {"l2.latency": [180, "source"]}.');
  }
  return makeChip({
    name,
    product: typeof product === 'string' ? product : name,
    target: processor,
    validation: 'none',
    numbers: { ...parent?.numbers, ...(numbers as ChipNumbers) },
  });
}
