// The semantics table: one record per operation, filled by the modules below on import.
import './scalar.ts';
import './vector-int.ts';
import './vector-float.ts';
import './compare.ts';
import './convert.ts';
import './memory-ops.ts';
import './matrix.ts';

export * from './expr.ts';
export * from './matrix.ts';
export * from './operation.ts';
export { definedNames, lookup as semanticsOf } from './registry.ts';
