// Room `optimize/tune`: configurations of a HIP program: compile-time parameters, launch bounds, unrolling, compiler flags. Begin with this file: what a
// `tune.yaml` says. Then constraint.ts, sampler.ts (what is tried next) and tune.ts (the search).
import { parse } from 'yaml';
import { z } from 'zod';
import { WavesmithError } from '../../base/index.ts';
import type { Configuration, Value } from './configuration.ts';
import { type Constraint, parseConstraint } from './constraint.ts';

export interface Space {
  /** Shell commands and the source, as of a HIP project; `{name}` in the build command stands for a value. */
  readonly build: string;
  readonly run: string;
  readonly source: string;
  /** A regular expression of mangled names. */
  readonly kernel: string | undefined;
  readonly parameters: ReadonlyMap<string, readonly Value[]>;
  /** What the program is built with as it is. */
  readonly first: Configuration;
  readonly constraints: readonly Constraint[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const value = z.union([z.string(), z.number(), z.boolean()]);
const schema = z.strictObject({
  build: z.string().min(1),
  run: z.string().min(1),
  source: z.string().min(1),
  kernel: z.string().optional(),
  parameters: z
    .record(z.string().regex(NAME), z.array(value).min(1).max(1024))
    .refine((p) => Object.keys(p).length > 0 && Object.keys(p).length <= 64, 'has 1 to 64 parameters'),
  first: z.record(z.string(), value).optional(),
  constraints: z.array(z.string()).optional(),
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
  const read = schema.safeParse(document);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw bad(file, `${issue?.path.join('.') || 'the document'}: ${issue?.message}`);
  }
  const { build, run, source, kernel, first = {}, constraints = [] } = read.data;
  const parameters = new Map(Object.entries(read.data.parameters));
  for (const [name, values] of parameters) {
    if (new Set(values).size !== values.length) throw bad(file, `parameter '${name}' has a value twice`);
    if (!build.includes(`{${name}}`)) throw bad(file, `the build command does not hold {${name}}`);
  }
  for (const [name, chosen] of Object.entries(first)) {
    if (parameters.get(name)?.includes(chosen) !== true)
      throw bad(file, `first: '${name}' has no value ${JSON.stringify(chosen)}`);
  }
  const names = [...parameters.keys()];
  const space: Space = {
    ...{ build, run, source, kernel, parameters },
    first: Object.fromEntries(
      names.map((name) => [name, first[name] ?? (parameters.get(name) as readonly Value[])[0]]),
    ) as Configuration,
    constraints: constraints.map((text) => {
      const constraint = parseConstraint(text, names);
      if (typeof constraint === 'string') throw bad(file, `constraint '${text}': ${constraint}`);
      return constraint;
    }),
  };
  if (!isAllowed(space, space.first)) throw bad(file, 'the first configuration breaks a constraint');
  return space;
}

/** Whether a configuration keeps all constraints. */
export const isAllowed = ({ constraints }: Space, configuration: Configuration): boolean =>
  constraints.every((holds) => holds(configuration));

/** The build command of a configuration. */
export const buildOf = ({ build }: Space, configuration: Configuration): string =>
  build.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) =>
    name in configuration ? String(configuration[name]) : whole,
  );

/** A configuration in one line. */
export const configurationText = (configuration: Configuration): string =>
  Object.entries(configuration)
    .map(([name, chosen]) => `${name}=${JSON.stringify(chosen)}`)
    .join(' ');

/** All allowed configurations, when they are no more than `most`. */
export function allOf(space: Space, most: number): Configuration[] | undefined {
  let found: Configuration[] = [{}];
  for (const [name, values] of space.parameters) {
    if (found.length * values.length > 100_000) return undefined;
    found = found.flatMap((one) => values.map((chosen) => ({ ...one, [name]: chosen })));
  }
  const allowed = found.filter((one) => isAllowed(space, one));
  return allowed.length > most ? undefined : allowed;
}
