// Assembler expressions as syntax trees. They are read and printed by expr.ts and evaluated by evaluate.ts.
// Sources: llvm/include/llvm/MC/MCExpr.h, AMDGPUMCExpr.h.

/** Unary operators. */
export type UnaryOperator = '-' | '+' | '~' | '!';
/** Binary operators; `|!` is LLVM's or-not (written `!` between operands). */
export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '<<'
  | '>>'
  | '&'
  | '|'
  | '^'
  | '|!'
  | '&&'
  | '||'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>=';

/** Relocation specifiers after `@`. */
export const SPECIFIERS = [
  'gotpcrel',
  'gotpcrel32@lo',
  'gotpcrel32@hi',
  'rel32@lo',
  'rel32@hi',
  'rel64',
  'abs32@lo',
  'abs32@hi',
  'abs64',
] as const;
export type Specifier = (typeof SPECIFIERS)[number];

/** Functions of AMDGPU expressions. */
export const EXPRESSION_FUNCTIONS = ['max', 'or', 'extrasgprs', 'totalnumvgprs', 'alignto', 'occupancy'] as const;
export type ExpressionFunction = (typeof EXPRESSION_FUNCTIONS)[number];

export interface ConstantExpr {
  readonly kind: 'const';
  /** Signed 64 bits. */
  readonly value: bigint;
}
export interface SymbolExpr {
  readonly kind: 'symbol';
  readonly name: string;
  readonly specifier?: Specifier | undefined;
}
export interface UnaryExpr {
  readonly kind: 'unary';
  readonly op: UnaryOperator;
  readonly sub: Expr;
}
export interface BinaryExpr {
  readonly kind: 'binary';
  readonly op: BinaryOperator;
  readonly lhs: Expr;
  readonly rhs: Expr;
}
export interface CallExpr {
  readonly kind: 'call';
  readonly name: ExpressionFunction;
  readonly args: readonly Expr[];
}
export type Expr = ConstantExpr | SymbolExpr | UnaryExpr | BinaryExpr | CallExpr;
