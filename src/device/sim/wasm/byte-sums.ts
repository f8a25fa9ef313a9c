// Sums of absolute differences of four bytes (v_sad_u8 and its relatives, isa/semantics/vector-int.ts): sixteen bytes at once.
import { type Expr, semanticsOf } from '../../../isa/semantics/index.ts';
import type { LaneWriter } from './lane-writer.ts';

interface ByteSum {
  readonly a: Expr;
  readonly b: Expr;
  /** Bytes of `b` that are zero do not count. */
  readonly masked: boolean;
}

/** The words whose first bytes an expression takes the difference of. */
function wordsOf(term: Expr | undefined): ByteSum | undefined {
  const masked = term?.op === 'i32.select';
  const size = masked ? term.args[2] : term;
  const difference = size?.op === 'i32.abs' ? size.args[0] : undefined;
  const [a, b] = (difference?.args ?? []).map((byte) => byte.args[0]);
  return a === undefined || b === undefined ? undefined : { a, b, masked };
}

/** The sum that a tree of three additions of such differences is. */
function sumOf(e: Expr): ByteSum | undefined {
  let first: Expr | undefined = e;
  for (let n = 0; n < 3; n++) first = first?.op === 'i32.add' ? first.args[0] : undefined;
  return wordsOf(first);
}

/** By their expressions in these operations, in which nothing else has that form. */
function findSums(): ReadonlyMap<Expr, ByteSum> {
  return new Map(
    ['v_sad_u8', 'v_msad_u8', 'v_sad_hi_u8', 'v_qsad_pk_u16_u8', 'v_mqsad_pk_u16_u8', 'v_mqsad_u32_u8'].flatMap(
      (name) => {
        const operation = semanticsOf(name);
        const found: [Expr, ByteSum][] = [];
        const visit = (e: Expr): void => {
          // The accumulator is added above: three more additions lie below that sum, and one too few below its terms.
          const below = e.op === 'i32.add' ? (e.args[0] as Expr) : undefined;
          const sum = below === undefined ? undefined : sumOf(below);
          if (below !== undefined && sum !== undefined) found.push([below, sum]);
          else for (const argument of e.args) visit(argument);
        };
        if (operation?.kind === 'vector') for (const result of operation.result) visit(result);
        return found;
      },
    ),
  );
}

/** Found when the first sum is written: a thread whose code is all known writes none. */
let sums: ReadonlyMap<Expr, ByteSum> | undefined;

/** Whether an expression is such a sum; then its code is written. */
export function byteSum(code: LaneWriter, e: Expr): boolean {
  if (e.op !== 'i32.add') return false;
  sums ??= findSums();
  const sum = sums.get(e);
  if (sum === undefined) return false;
  const { fn } = code;
  const [a, b] = [fn.local('v128'), fn.local('v128')];
  code.push(sum.a);
  fn.set(a);
  code.push(sum.b);
  fn.tee(b).get(a).op('i8x16.sub_sat_u').get(a).get(b).op('i8x16.sub_sat_u').op('v128.or');
  if (sum.masked) fn.get(b).v128(0, 0, 0, 0).op('i8x16.eq').op('v128.andnot');
  fn.op('i16x8.extadd_pairwise_i8x16_u').op('i32x4.extadd_pairwise_i16x8_u');
  fn.release('v128', a);
  fn.release('v128', b);
  return true;
}
