// The semantics table under construction: `define` throws on a duplicate, the typed helpers fill in defaults.
import type { InstructionRow } from '../types.ts';
import { type Expr, source } from './expr.ts';
import {
  OPERAND_TYPES,
  type OperandType,
  type Operation,
  type ScalarOperation,
  type SourceSpec,
  type StructuralOperation,
  type VectorOperation,
} from './operation.ts';

/** Operations; those not asked for yet are functions that make them. */
const TABLE = new Map<string, Operation | (() => Operation)>();

/** Adds one operation; a second definition of the same name is a programming error. */
export function define(name: string, operation: Operation | (() => Operation)): void {
  if (TABLE.has(name)) throw new Error(`semantics of ${name} are defined twice`);
  TABLE.set(name, operation);
}

/** What `operation` (InstructionRow.operation) does, or undefined when it has no semantics yet. */
export function lookup(operation: string): Operation | undefined {
  const known = TABLE.get(operation);
  if (typeof known !== 'function') return known;
  const made = known();
  TABLE.set(operation, made);
  return made;
}

/** Operations by number of the row; null for rows without one. */
const byRow: (Operation | null | undefined)[] = [];

/** What the instructions of a row do: the same as `lookup` of its operation, found in less time. */
export function lookupRow({ id, operation }: Pick<InstructionRow, 'id' | 'operation'>): Operation | undefined {
  let known = byRow[id];
  if (known === undefined) {
    known = lookup(operation) ?? null;
    byRow[id] = known;
  }
  return known ?? undefined;
}

/** All defined operation names. */
export function definedNames(): string[] {
  return [...TABLE.keys()];
}

export type SourceArgument = OperandType | SourceSpec;

/** A source that another operand holds than its position's `srcN`. */
export function at(operand: string, type: OperandType): SourceSpec {
  return { type, operand };
}

function specs(sources: readonly SourceArgument[]): SourceSpec[] {
  return sources.map((s, i) => (typeof s === 'string' ? { type: s, operand: `src${i}` } : s));
}

/** The expression a semantics function gets for a source: its element 0. */
function argument(spec: SourceSpec, index: number, part = 0): Expr {
  return source(OPERAND_TYPES[spec.type].value, index, part);
}

type Body = (...sources: Expr[]) => Expr;

export interface VectorOptions {
  /** Integer saturation for the clamp bit. */
  readonly clamped?: Body;
  readonly highBits?: VectorOperation['highBits'];
  readonly denormals?: VectorOperation['denormals'];
  readonly part?: VectorOperation['part'];
  readonly sourcePart?: VectorOperation['sourcePart'];
  /** A mask result beside the value (carry out). */
  readonly mask?: Body;
}

/** The bits of results that are made of bits. */
function bitsOf(results: readonly Expr[]): Expr[] | undefined {
  return results.every((e) => e.op.endsWith('.from_bits')) ? results.map((e) => e.args[0] as Expr) : undefined;
}

/** One value per lane: `vector('v_add_f32', ['f32', 'f32'], 'f32', add)`. */
export function vector(
  name: string,
  sources: readonly SourceArgument[],
  resultType: OperandType,
  body: Body,
  options: VectorOptions = {},
): void {
  define(name, () => {
    const spec = specs(sources);
    const elements = (f: Body): Expr[] =>
      OPERAND_TYPES[resultType].elements === 1
        ? [f(...spec.map((s, i) => argument(s, i)))]
        : [0, 1].map((part) =>
            f(...spec.map((s, i) => argument(s, i, OPERAND_TYPES[s.type].elements === 2 ? part : 0))),
          );
    const result = elements(body);
    return {
      kind: 'vector',
      sources: spec,
      result,
      resultType,
      resultBits: bitsOf(result),
      mask: options.mask?.(...spec.map((s, i) => argument(s, i))),
      clamped: options.clamped === undefined ? undefined : elements(options.clamped),
      highBits: options.highBits ?? 'zero',
      denormals: options.denormals ?? 'mode',
      part: options.part,
      sourcePart: options.sourcePart,
    };
  });
}

/** Several result words per lane from one function of all source words (`source(type, index, word)`). */
export function vectorWords(
  name: string,
  sources: readonly SourceArgument[],
  resultType: OperandType,
  result: readonly Expr[],
  options: VectorOptions = {},
): void {
  define(name, {
    kind: 'vector',
    sources: specs(sources),
    result,
    resultType,
    resultBits: undefined,
    mask: undefined,
    clamped: undefined,
    highBits: options.highBits ?? 'zero',
    denormals: options.denormals ?? 'mode',
    part: options.part,
    sourcePart: options.sourcePart,
  });
}

/** One mask bit per lane: compares. */
export function vectorMask(name: string, sources: readonly SourceArgument[], body: Body): void {
  define(name, () => {
    const spec = specs(sources);
    return {
      kind: 'vector',
      sources: spec,
      result: [],
      resultType: undefined,
      resultBits: undefined,
      mask: body(...spec.map((s, i) => argument(s, i))),
      clamped: undefined,
      highBits: 'zero',
      denormals: 'mode',
      part: undefined,
      sourcePart: undefined,
    };
  });
}

export interface ScalarEffects {
  readonly result?: Expr;
  readonly scc?: Expr | 'nonzero';
  readonly exec?: Expr;
  readonly when?: Expr;
}

/** A scalar operation from a function of its sources. */
export function scalar(
  name: string,
  sources: readonly SourceArgument[],
  resultType: ScalarOperation['resultType'],
  body: (...sources: Expr[]) => ScalarEffects,
): void {
  define(name, () => {
    const spec = specs(sources);
    const effects = body(...spec.map((s, i) => argument(s, i)));
    return {
      kind: 'scalar',
      sources: spec,
      result: effects.result,
      resultType,
      scc: effects.scc,
      exec: effects.exec,
      when: effects.when,
    };
  });
}

export function structural(
  name: string,
  what: StructuralOperation['name'],
  parameter = 0,
  direction?: StructuralOperation['direction'],
): void {
  define(name, { kind: 'structural', name: what, parameter, direction });
}

export function unreachable(name: string, reason: string): void {
  define(name, { kind: 'unreachable', reason });
}
