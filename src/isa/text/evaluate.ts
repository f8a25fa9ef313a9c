// Evaluation of assembler expressions to a constant or symbol ± offset, with LLVM's 64-bit wrap-around arithmetic.
// Source: llvm/lib/MC/MCExpr.cpp (evaluateAsRelocatableImpl, evaluateSymbolicAdd), AMDGPUMCExpr.cpp.
import type {
  BinaryExpr,
  BinaryOperator,
  CallExpr,
  Expr,
  ExpressionFunction,
  SymbolExpr,
  UnaryExpr,
  UnaryOperator,
} from './expr-tree.ts';

/** The value of an expression: `add - sub + constant`; absolute when both symbols are absent. */
export interface ExprValue {
  readonly constant: bigint;
  readonly add?: SymbolExpr | undefined;
  readonly sub?: SymbolExpr | undefined;
}

/** What evaluation asks about symbols and the target. All methods may be absent for purely syntactic folding. */
export interface SymbolResolver {
  /** The expression a symbol was set to (`.set`, `=`), undefined for labels and undefined symbols. */
  variable?(name: string): Expr | undefined;
  /** `add - sub` when both are labels at a known distance. */
  difference?(add: string, sub: string): bigint | undefined;
  /** AMDGPU functions that depend on the target: `extrasgprs`, `totalnumvgprs`, `occupancy`. */
  call?(name: ExpressionFunction, args: readonly bigint[]): bigint | undefined;
}

/** Nesting of expressions and of symbols set to symbols. */
const MAX_DEPTH = 1600;
/** Nodes one evaluation may visit: chains of `.set a, b+b` would otherwise take exponential time. */
const MAX_VISITS = 200_000;

/** Evaluates with 64-bit wrap-around arithmetic. Undefined when the value is neither constant nor symbol ± offset. */
export function evaluate(expr: Expr, resolver: SymbolResolver): ExprValue | undefined {
  return new Evaluator(resolver).run(expr, 0);
}

/** Evaluates to a constant, or undefined. */
export function evaluateAbsolute(expr: Expr, resolver: SymbolResolver): bigint | undefined {
  if (expr.kind === 'const') return expr.value;
  const value = evaluate(expr, resolver);
  return value === undefined || value.add !== undefined || value.sub !== undefined ? undefined : value.constant;
}

class Evaluator {
  private visits = 0;
  private readonly resolver: SymbolResolver;

  constructor(resolver: SymbolResolver) {
    this.resolver = resolver;
  }

  run(expr: Expr, depth: number): ExprValue | undefined {
    if (++this.visits > MAX_VISITS || depth > MAX_DEPTH) return undefined;
    switch (expr.kind) {
      case 'const':
        return { constant: expr.value };
      case 'symbol': {
        const set = this.resolver.variable?.(expr.name);
        if (set !== undefined) {
          const value = this.run(set, depth + 1);
          if (value !== undefined) {
            if (expr.specifier === undefined) return value;
            if (value.add !== undefined && value.sub === undefined && value.constant === 0n) {
              return { constant: 0n, add: { ...value.add, specifier: expr.specifier } };
            }
          } else if (expr.specifier === undefined) return undefined;
        }
        return { constant: 0n, add: expr };
      }
      case 'unary':
        return this.unary(expr, depth);
      case 'binary':
        return this.binary(expr, depth);
      case 'call':
        return this.call(expr, depth);
    }
  }

  private unary(expr: UnaryExpr, depth: number): ExprValue | undefined {
    const value = this.run(expr.sub, depth + 1);
    if (value === undefined || expr.op === '+') return value;
    if (expr.op === '-') {
      if (value.add !== undefined && value.sub === undefined) return undefined;
      return { constant: BigInt.asIntN(64, -value.constant), add: value.sub, sub: value.add };
    }
    if (value.add !== undefined || value.sub !== undefined) return undefined;
    return { constant: foldUnary(expr.op, value.constant) };
  }

  private binary(expr: BinaryExpr, depth: number): ExprValue | undefined {
    const lhs = this.run(expr.lhs, depth + 1);
    if (lhs === undefined) return undefined;
    const rhs = this.run(expr.rhs, depth + 1);
    if (rhs === undefined) return undefined;
    const absolute = lhs.add === undefined && lhs.sub === undefined && rhs.add === undefined && rhs.sub === undefined;
    if (absolute) {
      const value = fold(expr.op, lhs.constant, rhs.constant);
      return value === undefined ? undefined : { constant: value };
    }
    if (expr.op === '+') return this.sum(lhs, rhs);
    if (expr.op === '-') return this.sum(lhs, { constant: -rhs.constant, add: rhs.sub, sub: rhs.add });
    return undefined;
  }

  private sum(lhs: ExprValue, rhs: ExprValue): ExprValue | undefined {
    let constant = lhs.constant + rhs.constant;
    const adds = [lhs.add, rhs.add];
    const subs = [lhs.sub, rhs.sub];
    for (let i = 0; i < 2; i++) {
      for (let j = 0; j < 2; j++) {
        const add = adds[i];
        const sub = subs[j];
        if (add === undefined || sub === undefined || add.specifier !== sub.specifier) continue;
        const distance = add.name === sub.name ? 0n : this.resolver.difference?.(add.name, sub.name);
        if (distance === undefined) continue;
        constant += distance;
        adds[i] = undefined;
        subs[j] = undefined;
      }
    }
    if ((adds[0] !== undefined && adds[1] !== undefined) || (subs[0] !== undefined && subs[1] !== undefined)) {
      return undefined;
    }
    return { constant: BigInt.asIntN(64, constant), add: adds[0] ?? adds[1], sub: subs[0] ?? subs[1] };
  }

  private call(expr: CallExpr, depth: number): ExprValue | undefined {
    const values: bigint[] = [];
    for (const arg of expr.args) {
      const value = this.run(arg, depth + 1);
      if (value === undefined || value.add !== undefined || value.sub !== undefined) return undefined;
      values.push(value.constant);
    }
    let result: bigint | undefined;
    if (expr.name === 'max') result = values.reduce(larger);
    else if (expr.name === 'or') result = values.reduce((a, b) => a | b);
    else if (expr.name === 'alignto') {
      const value = BigInt.asUintN(64, values[0]);
      const align = BigInt.asUintN(64, values[1]);
      result = align === 0n ? undefined : BigInt.asIntN(64, ((value + align - 1n) / align) * align);
    } else result = this.resolver.call?.(expr.name, values);
    return result === undefined ? undefined : { constant: result };
  }
}

/** One unary operation on a signed 64-bit value. */
export function foldUnary(op: UnaryOperator, value: bigint): bigint {
  if (op === '-') return BigInt.asIntN(64, -value);
  if (op === '~') return ~value;
  if (op === '!') return value === 0n ? 1n : 0n;
  return value;
}

/** One operation on signed 64-bit values, wrapping; comparisons give -1; undefined for a division by zero. */
export function fold(op: BinaryOperator, a: bigint, b: bigint): bigint | undefined {
  switch (op) {
    case '+':
      return BigInt.asIntN(64, a + b);
    case '-':
      return BigInt.asIntN(64, a - b);
    case '*':
      return BigInt.asIntN(64, a * b);
    case '/':
      return b === 0n ? undefined : BigInt.asIntN(64, a / b);
    case '%':
      return b === 0n ? undefined : a % b;
    // x86-64 shifts use the low six bits of the count; LLVM's own result for larger counts is undefined behaviour.
    case '<<':
      return BigInt.asIntN(64, a << (b & 63n));
    case '>>':
      return BigInt.asIntN(64, BigInt.asUintN(64, a) >> (b & 63n));
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '|!':
      return a | ~b;
    case '&&':
      return a !== 0n && b !== 0n ? 1n : 0n;
    case '||':
      return a !== 0n || b !== 0n ? 1n : 0n;
    case '==':
      return a === b ? -1n : 0n;
    case '!=':
      return a !== b ? -1n : 0n;
    case '<':
      return a < b ? -1n : 0n;
    case '<=':
      return a <= b ? -1n : 0n;
    case '>':
      return a > b ? -1n : 0n;
    case '>=':
      return a >= b ? -1n : 0n;
  }
}

function larger(a: bigint, b: bigint): bigint {
  return a < b ? b : a;
}
