// What lowering one operation needs of the function around it, and the attribute and shape checks that operations share.
import type { WavesmithError } from '../../base/index.ts';
import type { Document, Operation } from '../../mlir/parse.ts';
import type { Emitter, View } from './emit.ts';
import type { ReadOperation } from './read.ts';
import type { TensorType } from './types.ts';

/** One operation being lowered. */
export interface LowerContext {
  readonly document: Document;
  readonly emit: Emitter;
  readonly read: ReadOperation;
  /** Type of the one result. */
  readonly type: TensorType;
  /** The operands' views; throws unless their number is one of `counts`. */
  readonly operands: (...counts: number[]) => View[];
  /** The view of a value by name. */
  readonly view: (name: string) => View;
  /** The operation that defines a value. */
  readonly definition: (name: string) => ReadOperation | undefined;
  /** The operations that use a value. */
  readonly users: (name: string) => readonly Operation[];
  /** An attention block may become IREE's own operation. */
  readonly fuseAttention: boolean;
  /** Convolutions compute their padding, see `ConvolutionShape`. */
  readonly computesPadding: boolean;
  /** An error at this operation. */
  readonly error: (code: string, message: string, hint?: string) => WavesmithError;
}

/** What is looked at around a dot product that may end an attention block. */
export type AttentionSite = Pick<LowerContext, 'document' | 'emit' | 'definition' | 'view' | 'users'>;

export const sameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, d) => size === b[d]);

/** A dimension's number, counted from the end when it is negative. */
export function axisOf(context: LowerContext, value: number, rank: number): number {
  const axis = value < 0 ? value + rank : value;
  if (Number.isInteger(axis) && axis >= 0 && axis < rank) return axis;
  throw context.error('rocmlir/shape', `Axis ${value} is outside a shape of ${rank} dimensions.`);
}

/** Two factors that cannot be multiplied. */
export const cannotMultiply = (context: LowerContext, a: View, b: View): WavesmithError =>
  context.error('rocmlir/shape', `Shapes ${a.shape.join('x')} and ${b.shape.join('x')} cannot be multiplied.`);
