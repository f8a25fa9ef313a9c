// The documents beside profile.json, which are parts of it, and the JSON Schema of each: made from the one of the profile document.
import type { ProfileDocument } from './document.ts';
import profileSchema from './schema/profile-1.schema.json' with { type: 'json' };

/** roofline.json: ceilings, and every kernel below them. */
export function rooflineDocument(document: ProfileDocument): object {
  const { version, simulated, roofline, kernels } = document;
  return {
    schema: 'wavesmith.roofline',
    version,
    simulated,
    ...roofline,
    kernels: kernels.map((k) => ({ name: k.name, agent: k.agent, ...k.roofline })),
  };
}

/** dag.json: the critical path, or the longest chain of a simulated program. */
export function dagDocument({ version, simulated, criticalPath, dependencyPath }: ProfileDocument): object {
  return { schema: 'wavesmith.dag', version, simulated, ...criticalPath, dependencyPath };
}

/** analysis.json: the answer, findings, and what limits each kernel. */
export function analysisDocument({ version, simulated, answer, findings, kernels }: ProfileDocument): object {
  return {
    schema: 'wavesmith.analysis',
    version,
    simulated,
    answer,
    findings,
    kernels: kernels.map((k) => ({
      name: k.name,
      agent: k.agent,
      share: k.share,
      critical: k.critical,
      headroom: k.roofline.headroom,
      ...k.bottleneck,
    })),
  };
}

type Schema = Readonly<Record<string, unknown>>;
const own = profileSchema.properties;
const kernel = own.kernels.items.properties;
const text = { type: 'string' };
const measure = { $ref: '#/$defs/measure' };

function object(properties: Schema): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function documentSchema(name: string, properties: Schema): Schema {
  return {
    $schema: profileSchema.$schema,
    title: `wavesmith.${name}`,
    ...object({ schema: { const: `wavesmith.${name}` }, version: text, ...properties }),
    $defs: profileSchema.$defs,
  };
}

const integers = (names: readonly string[]): Schema =>
  object(Object.fromEntries(names.map((name) => [name, { type: 'integer' }])));

/** The JSON Schema (2020-12) of every document that profiling commands write, by the name of the document. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  profile: profileSchema as Schema,
  roofline: documentSchema('roofline', {
    simulated: own.simulated,
    ...own.roofline.properties,
    kernels: { type: 'array', items: object({ name: text, agent: text, ...kernel.roofline.properties }) },
  }),
  dag: documentSchema('dag', {
    simulated: own.simulated,
    ...own.criticalPath.properties,
    dependencyPath: own.dependencyPath,
  }),
  analysis: documentSchema('analysis', {
    simulated: own.simulated,
    answer: own.answer,
    findings: own.findings,
    kernels: {
      type: 'array',
      items: object({
        name: text,
        agent: text,
        share: measure,
        critical: kernel.critical,
        headroom: measure,
        ...kernel.bottleneck.properties,
      }),
    },
  }),
  trace: documentSchema('trace', {
    traces: own.traces,
    raw: {
      type: 'array',
      items: object({
        source: text,
        header: integers(['version', 'simdMask', 'targetCu', 'shaderEngine']),
        targetCu: { type: 'integer' },
        tokens: {
          ...object({
            tokens: { type: 'integer' },
            counts: { type: 'array', items: { type: 'integer' }, minItems: 16, maxItems: 16 },
            trailingBytes: { type: 'integer' },
            lastTime: { type: 'number' },
            backwards: { type: 'integer' },
            unpairedTimes: { type: 'integer' },
            rhythm: integers(['pauses', 'steps', 'rest']),
          }),
        },
        counts: integers([
          'starts',
          'ends',
          'endsWithoutStart',
          'startsInUse',
          'unpairedInstructions',
          'unknownInstructions',
          'emptyIssues',
          'unended',
          'packetsLost',
          'contextSaves',
          'strayTokens',
          'instructionTokens',
          'perfSamples',
          'shaderData',
          'dispatches',
        ]),
        base: { type: ['number', 'null'] },
        stitched: integers(['waves', 'matched', 'total', 'ended']),
        fits: { type: 'boolean' },
        changedKinds: { type: 'integer' },
      }),
    },
    findings: own.findings,
  }),
};
