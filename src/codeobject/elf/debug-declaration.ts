// Types as C declares variables of them.
import type { DebugType } from './debug-types.ts';

/** Nesting of types. */
const MAX_DEPTH = 40;

/**
 * The declaration of a variable, or the name of its type where `inner` is empty: `int (*fp)(int, int)`, `float v[2]`, `int **`.
 * Names that a typedef gives are taken as they are.
 */
export function declaration(type: DebugType, inner = '', depth = 0): string {
  // Damaged debug information may have a type that is made of itself.
  if (depth > MAX_DEPTH) return `${type.name} ${inner}`;
  const { signature } = type;
  if (signature !== undefined) {
    const written = `${inner}(${signature.parameters})`;
    return signature.returns === undefined ? `void ${written}` : declaration(signature.returns, written, depth + 1);
  }
  const of = type.of?.();
  const isGiven = type.hasOwnName === true || of === undefined;
  if (!isGiven && type.kind === 'array') return declaration(of, `${inner}[${type.count}]`, depth + 1);
  if (!isGiven && type.kind === 'pointer') {
    const star = `${type.isReference === true ? '&' : '*'}${inner}`;
    const isGrouped = of.signature !== undefined || (of.kind === 'array' && of.hasOwnName !== true);
    return declaration(of, isGrouped ? `(${star})` : star, depth + 1);
  }
  return inner === '' || inner.startsWith('[') ? `${type.name}${inner}` : `${type.name} ${inner}`;
}
