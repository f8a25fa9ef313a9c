// Room `optimize/tune`: configurations of a HIP program (compile-time parameters, launch bounds, unrolling, compiler flags) or of an IREE model (lowering
// configurations, compiler flags). Begin with this file: what a `tune.yaml` says. Then constraint.ts, sampler.ts (what is tried next) and tune.ts.
import { parse } from 'yaml';
import { z } from 'zod';
import { WavesmithError } from '../../base/index.ts';
import type { Configuration, Value } from './configuration.ts';
import { type Constraint, parseConstraint } from './constraint.ts';

/** What may be chosen. */
export interface Choices {
  readonly parameters: ReadonlyMap<string, readonly Value[]>;
  /** The first that is tried; of a HIP program, as it is built now. */
  readonly first: Configuration;
  readonly constraints: readonly Constraint[];
}

/** Configurations of a HIP program. */
export interface HipSpace extends Choices {
  readonly kind: 'hip';
  /** Shell commands and the source, as of a HIP project; `{name}` in the build command stands for a value. */
  readonly build: string;
  readonly run: string;
  readonly source: string;
  /** A regular expression of mangled names. */
  readonly kernel: string | undefined;
}

/** Configurations of an IREE model. As it is, the model is compiled without the specification and without flags that hold a value. */
export interface ModelSpace extends Choices {
  readonly kind: 'iree';
  /** Files, from the folder of the project; `{name}` in the specification stands for a value. */
  readonly model: string;
  readonly spec: string | undefined;
  /** Flags of iree-compile; `{name}` stands for a value. */
  readonly flags: readonly string[];
  readonly function: string | undefined;
  readonly inputs: readonly string[];
  /** Parameter archives. */
  readonly weights: readonly string[];
}

export type Space = HipSpace | ModelSpace;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const value = z.union([z.string(), z.number(), z.boolean()]);
const text = z.string().min(1);
const choices = {
  parameters: z
    .record(z.string().regex(NAME), z.array(value).min(1).max(1024))
    .refine((p) => Object.keys(p).length > 0 && Object.keys(p).length <= 64, 'has 1 to 64 parameters'),
  first: z.record(z.string(), value).optional(),
  constraints: z.array(z.string()).optional(),
};
const hipSchema = z.strictObject({ build: text, run: text, source: text, kernel: z.string().optional(), ...choices });
const modelSchema = z.strictObject({
  model: text,
  spec: text.optional(),
  flags: z.array(text).default([]),
  function: text.optional(),
  inputs: z.array(text).default([]),
  weights: z.array(text).default([]),
  ...choices,
});

const bad = (file: string, why: string, cause?: unknown): WavesmithError =>
  new WavesmithError('tune/bad-space', `'${file}' says no configurations: ${why}.`, {
    file,
    hint: 'docs/optimize.md, "Configurations", has an example.',
    cause,
  });

/** Reads a `tune.yaml`. What is none is `tune/bad-space`. */
export function readSpace(text: string, file: string): Space {
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    throw bad(file, (cause as Error).message.split('\n')[0] ?? '', cause);
  }
  const isModel = typeof document === 'object' && document !== null && 'model' in document;
  const read = isModel ? modelSchema.safeParse(document) : hipSchema.safeParse(document);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw bad(file, `${issue?.path.join('.') || 'the document'}: ${issue?.message}`);
  }
  const parameters = new Map(Object.entries(read.data.parameters));
  for (const [name, values] of parameters) {
    if (new Set(values).size !== values.length) throw bad(file, `parameter '${name}' has a value twice`);
    if ('build' in read.data && !holds(read.data.build, name))
      throw bad(file, `the build command does not hold {${name}}`);
  }
  const choice = choicesOf(read.data, parameters, file);
  if ('build' in read.data) {
    const { build, run, source, kernel } = read.data;
    return { kind: 'hip', build, run, source, kernel, ...choice };
  }
  const { model, spec, flags, function: name, inputs, weights } = read.data;
  return { kind: 'iree', model, spec, flags, function: name, inputs, weights, ...choice };
}

function choicesOf(
  { first = {}, constraints = [] }: Pick<z.infer<typeof modelSchema>, 'first' | 'constraints'>,
  parameters: Choices['parameters'],
  file: string,
): Choices {
  for (const [name, chosen] of Object.entries(first)) {
    if (parameters.get(name)?.includes(chosen) !== true)
      throw bad(file, `first: '${name}' has no value ${JSON.stringify(chosen)}`);
  }
  const names = [...parameters.keys()];
  const choice: Choices = {
    parameters,
    first: Object.fromEntries(
      names.map((name) => [name, first[name] ?? (parameters.get(name) as readonly Value[])[0]]),
    ) as Configuration,
    constraints: constraints.map((text) => {
      const constraint = parseConstraint(text, names);
      if (typeof constraint === 'string') throw bad(file, `constraint '${text}': ${constraint}`);
      return constraint;
    }),
  };
  if (!isAllowed(choice, choice.first)) throw bad(file, 'the first configuration breaks a constraint');
  return choice;
}

/** Whether a text holds a place for the value of a parameter. */
export const holds = (text: string, name: string): boolean => text.includes(`{${name}}`);

/** Refuses a parameter that neither the flags nor the specification of a model hold: `tune/bad-space`. */
export function checkPlaces({ parameters, flags }: ModelSpace, spec: string | undefined, file: string): void {
  for (const name of parameters.keys()) {
    if (!flags.some((flag) => holds(flag, name)) && !holds(spec ?? '', name))
      throw bad(file, `neither the flags nor the specification hold {${name}}`);
  }
}

/** Whether a configuration keeps all constraints. */
export const isAllowed = ({ constraints }: Choices, configuration: Configuration): boolean =>
  constraints.every((holds) => holds(configuration));

/** A text with the values of a configuration in the places that it has for them. */
export const withValues = (text: string, configuration: Configuration): string =>
  text.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) =>
    Object.hasOwn(configuration, name) ? String(configuration[name]) : whole,
  );

/** A configuration in one line. */
export const configurationText = (configuration: Configuration): string =>
  Object.entries(configuration)
    .map(([name, chosen]) => `${name}=${JSON.stringify(chosen)}`)
    .join(' ');

/** All allowed configurations, when they are no more than `most`. */
export function allOf(space: Choices, most: number): Configuration[] | undefined {
  let found: Configuration[] = [{}];
  for (const [name, values] of space.parameters) {
    if (found.length * values.length > 100_000) return undefined;
    found = found.flatMap((one) => values.map((chosen) => ({ ...one, [name]: chosen })));
  }
  const allowed = found.filter((one) => isAllowed(space, one));
  return allowed.length > most ? undefined : allowed;
}
