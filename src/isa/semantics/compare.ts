// Vector compares: every v_cmp_* and v_cmpx_* by condition and type, and the class tests.
// Source: AMD CDNA3 Instruction Set Architecture, chapter "VOPC Instructions".
import * as e from './expr.ts';
import { type Expr, i32 } from './expr.ts';
import { vectorMask } from './registry.ts';

type Test = (a: Expr, b: Expr) => Expr;
const notB = (a: Expr): Expr => e.operate('not', 'bool', [a]);
const always: Test = () => e.eq(i32(0), i32(0));
const never: Test = () => e.ne(i32(0), i32(0));
const unordered: Test = (a, b) => e.operate('or', 'bool', [e.isNan(a), e.isNan(b)]);
const lessOrGreater: Test = (a, b) => e.operate('or', 'bool', [e.lt(a, b), e.gt(a, b)]);

const FLOAT_TESTS: Record<string, Test> = {
  f: never,
  lt: e.lt,
  eq: e.eq,
  le: e.le,
  gt: e.gt,
  lg: lessOrGreater,
  ge: e.ge,
  o: (a, b) => notB(unordered(a, b)),
  u: unordered,
  nge: (a, b) => notB(e.ge(a, b)),
  nlg: (a, b) => notB(lessOrGreater(a, b)),
  ngt: (a, b) => notB(e.gt(a, b)),
  nle: (a, b) => notB(e.le(a, b)),
  neq: (a, b) => notB(e.eq(a, b)),
  nlt: (a, b) => notB(e.lt(a, b)),
  tru: always,
};
const INTEGER_TESTS: Record<string, [Test, Test]> = {
  f: [never, never],
  lt: [e.ltS, e.ltU],
  eq: [e.eq, e.eq],
  le: [e.leS, e.leU],
  gt: [e.gtS, e.gtU],
  ne: [e.ne, e.ne],
  ge: [e.geS, e.geU],
  t: [always, always],
};

for (const prefix of ['v_cmp', 'v_cmpx']) {
  for (const [name, test] of Object.entries(FLOAT_TESTS)) {
    for (const type of ['f16', 'f32', 'f64'] as const) vectorMask(`${prefix}_${name}_${type}`, [type, type], test);
  }
  for (const [name, [signed, unsigned]] of Object.entries(INTEGER_TESTS)) {
    vectorMask(`${prefix}_${name}_i16`, ['i16', 'i16'], signed);
    vectorMask(`${prefix}_${name}_u16`, ['u16', 'u16'], unsigned);
    vectorMask(`${prefix}_${name}_i32`, ['i32', 'i32'], signed);
    vectorMask(`${prefix}_${name}_u32`, ['i32', 'i32'], unsigned);
    vectorMask(`${prefix}_${name}_i64`, ['i64', 'i64'], signed);
    vectorMask(`${prefix}_${name}_u64`, ['i64', 'i64'], unsigned);
  }
  for (const type of ['f16', 'f32', 'f64'] as const) {
    // The class number (0 signalling NaN … 9 +infinity) selects a bit of the mask operand; it looks at raw bits.
    vectorMask(`${prefix}_class_${type}`, [type, 'i32'], (_a, mask) => {
      const raw = e.operate('class_of', 'i32', [e.source('i32', 0), e.source('i32', 0, 1)], type);
      return e.ne(e.and(e.shrU(mask, raw), i32(1)), i32(0));
    });
  }
}
