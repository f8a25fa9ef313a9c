// Simplifies the expressions of descriptor fields for printing, as LLVM does: bits that are known whatever the symbols are.
// Source: llvm/lib/Target/AMDGPU/MCTargetDesc/AMDGPUMCExpr.cpp (foldAMDGPUMCExpr, knownBitsMapHelper).
import { fold, foldUnary } from '../../isa/text/evaluate.ts';
import type { BinaryExpr, Expr } from '../../isa/text/expr-tree.ts';

const ALL = (1n << 64n) - 1n;

/** Bits that are surely one and surely zero. */
interface KnownBits {
  readonly ones: bigint;
  readonly zeros: bigint;
}

const NOTHING: KnownBits = { ones: 0n, zeros: 0n };

function ofConstant(value: bigint): KnownBits {
  const ones = BigInt.asUintN(64, value);
  return { ones, zeros: ALL ^ ones };
}

function knownBits(expr: Expr): KnownBits {
  if (expr.kind === 'const') return ofConstant(expr.value);
  if (expr.kind === 'unary') {
    if (expr.op !== '~') return NOTHING;
    const { ones, zeros } = knownBits(expr.sub);
    return { ones: zeros, zeros: ones };
  }
  if (expr.kind !== 'binary') return NOTHING;
  const a = knownBits(expr.lhs);
  const b = knownBits(expr.rhs);
  if (expr.op === '&') return { ones: a.ones & b.ones, zeros: a.zeros | b.zeros };
  if (expr.op === '|') return { ones: a.ones | b.ones, zeros: a.zeros & b.zeros };
  if ((expr.op !== '<<' && expr.op !== '>>') || expr.rhs.kind !== 'const') return NOTHING;
  const by = expr.rhs.value;
  if (by < 0n || by > 63n) return NOTHING;
  if (expr.op === '<<') {
    return { ones: (a.ones << by) & ALL, zeros: ((a.zeros << by) & ALL) | ((1n << by) - 1n) };
  }
  return { ones: a.ones >> by, zeros: (a.zeros >> by) | (ALL ^ (ALL >> by)) };
}

function isZero(expr: Expr): boolean {
  return expr.kind === 'const' && expr.value === 0n;
}

function simplifyBinary(expr: BinaryExpr): Expr {
  const { op, lhs, rhs } = expr;
  if (lhs.kind === 'const' && rhs.kind === 'const') {
    const value = fold(op, lhs.value, rhs.value);
    return value === undefined ? expr : { kind: 'const', value };
  }
  if ((op === '|' || op === '+') && isZero(lhs)) return rhs;
  if ((op === '|' || op === '<<' || op === '>>' || op === '+' || op === '-') && isZero(rhs)) return lhs;
  return expr;
}

/** An equal expression without parts whose bits are all known. */
export function simplifyKnownBits(expr: Expr): Expr {
  let simpler = expr;
  if (expr.kind === 'binary') {
    // A mask is printed as it was written, ~m.
    const rhs = expr.rhs.kind === 'unary' ? expr.rhs : simplifyKnownBits(expr.rhs);
    simpler = simplifyBinary({ ...expr, lhs: simplifyKnownBits(expr.lhs), rhs });
  } else if (expr.kind === 'unary') {
    const sub = simplifyKnownBits(expr.sub);
    if (sub.kind === 'const') simpler = { kind: 'const', value: foldUnary(expr.op, sub.value) };
  }
  const { ones, zeros } = knownBits(simpler);
  return (ones | zeros) === ALL ? { kind: 'const', value: BigInt.asIntN(64, ones) } : simpler;
}
