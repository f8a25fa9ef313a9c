// Random C kernels in the spirit of csmith (Yang et al., PLDI 2011): integers and floats of every width, branches, loops, switches,
// calls, private arrays, LDS between barriers, integer atomics. No undefined behaviour by construction, so any two compilers agree.
import { randomNumbers } from '../../../src/device/index.ts';
import { hostText, kernelText, PRELUDE, STAGES } from './prelude.ts';

/** Types of the state's fields: u32, i32, u64, i64, f32, f64. */
type Type = 'u' | 'i' | 'l' | 'q' | 'f' | 'd';
const TYPES: readonly Type[] = ['u', 'i', 'l', 'q', 'f', 'd'];
const C_TYPE: Record<Type, string> = { u: 'u32', i: 'i32', l: 'u64', q: 'i64', f: 'f32', d: 'f64' };
const FIELDS: Record<Type, number> = { u: 3, i: 3, l: 2, q: 2, f: 3, d: 2 };
const isFloat = (type: Type): boolean => type === 'f' || type === 'd';

const CONSTANTS: Record<Type, readonly string[]> = {
  u: ['0u', '1u', '31u', '0x80000000u', '0xffffffffu', '0x12345678u', '0xff00u', '641u'],
  i: ['0', '1', '-1', '7', '-2147483647', '2147483647', '-1000', '0x5555aaaa'],
  l: ['0ull', '1ull', '0xffffffffull', '0x8000000000000000ull', '0x123456789abcdef0ull', '97ull'],
  q: ['0ll', '-1ll', '0x7fffffffffffffffll', '-123456789012ll', '4294967296ll', '13ll'],
  f: ['2.0f', '1.0f', '-0.5f', '3.25f', '1e-30f', '1e30f', '16777216.0f', '0.1f'],
  d: ['2.0', '1.0', '-2.5', '1e-200', '1e200', '0.1', '4503599627370496.0'],
};

/** Functions the expressions may call; `noinline` ones stay calls at every optimisation level. */
interface Helper {
  readonly name: string;
  readonly result: Type;
  readonly parameters: readonly Type[];
}

class Generator {
  private readonly random: () => number;
  private readonly helpers: Helper[] = [];
  private loops = 0;
  /** What a variable of a type is called where the expression stands. */
  private variables: (type: Type) => string[];
  /** Other things of type u32 an expression may read there. */
  private words: () => string[] = () => [];

  /** One phase of a few statements. */
  private readonly isSmall: boolean;

  /** What ends the names of its functions. */
  private readonly suffix: string;

  constructor(seed: number, isSmall: boolean, suffix: string) {
    this.suffix = suffix;
    this.random = randomNumbers(seed);
    this.variables = this.fields;
    this.isSmall = isSmall;
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }
  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  private readonly fields = (type: Type): string[] => Array.from({ length: FIELDS[type] }, (_, n) => `s->${type}${n}`);

  /** The random functions, and the number of phases. */
  parts(): { readonly text: string; readonly phases: number } {
    const functions = Array.from({ length: this.isSmall ? 1 : 1 + this.below(3) }, (_, n) => this.helper(n));
    this.variables = this.fields;
    this.words = () => [
      's->tid',
      's->group',
      `a[${this.expression('u', 1)} & 7]`,
      `in[${this.expression('u', 1)} % INPUTS]`,
      `from[${this.expression('u', 1)} % BLOCK]`,
    ];
    const count = this.isSmall ? 1 : 2 + this.below(3);
    const phases = Array.from({ length: count }, (_, n) => this.phase(n));
    return { text: [...functions, ...phases].join('\n'), phases: count };
  }

  private helper(n: number): string {
    const parameters = Array.from({ length: 1 + this.below(3) }, () => this.pick(TYPES));
    const result = this.pick(TYPES);
    this.variables = (type) => parameters.flatMap((p, i) => (p === type ? [`p${i}`] : []));
    const list = parameters.map((p, i) => `${C_TYPE[p]} p${i}`).join(', ');
    const name = `helper${n}${this.suffix}`;
    const condition = this.condition();
    const body = `if (${condition}) return ${this.expression(result, 3)};\n  return ${this.expression(result, 3)};`;
    const text = `static ${this.below(2) === 0 ? '__attribute__((noinline)) ' : ''}${C_TYPE[result]} ${name}(${list}) {\n  ${body}\n}`;
    this.helpers.push({ name, result, parameters });
    return text;
  }

  private phase(n: number): string {
    const statements = this.isSmall
      ? Array.from({ length: 1 + this.below(3) }, () => this.statement(1))
      : Array.from({ length: 4 + this.below(5) }, () => this.statement(2));
    const { below } = this;
    const counter = (where: string): string => `&${where}[${this.expression('u', 1)} % COUNTERS]`;
    const tallies = Array.from({ length: below.call(this, 3) }, () => {
      const where = this.pick(['tally', 'counters']);
      return `ATOMIC(${this.pick(n % 2 === 0 ? ['add', 'sub'] : ['add'])}, ${counter(where)}, ${this.expression('u', 1)});`;
    });
    const guarded = tallies.map((t) => (this.below(2) === 0 ? t : `if (${this.condition()}) ${t}`));
    return [
      `static STAGE void phase${n}${this.suffix}(struct State *s, u32 *a, GLOBAL const u32 *in, LDS u32 *from, LDS u32 *to, LDS u32 *tally, GLOBAL u32 *counters) {`,
      ...[...statements, ...guarded, `to[s->tid] = ${this.expression('u', 3)};`].map((line) => `  ${line}`),
      '}',
    ].join('\n');
  }

  private statement(depth: number): string {
    const kind = this.below(depth > 0 ? 9 : 4);
    const block = (): string =>
      `{ ${Array.from({ length: 1 + this.below(3) }, () => this.statement(depth - 1)).join(' ')} }`;
    if (kind < 3) {
      const type = this.pick(TYPES);
      return `${this.pick(this.variables(type))} = ${this.expression(type, 3)};`;
    }
    if (kind === 3) return `a[${this.expression('u', 1)} & 7] = ${this.expression('u', 2)};`;
    if (kind < 6) return `if (${this.condition()}) ${block()}${this.below(2) === 0 ? ` else ${block()}` : ''}`;
    const counter = `n${this.loops++}`;
    const limit = `(${this.expression('u', 1)} & ${this.pick([3, 7])}) + 1`;
    if (kind === 6) return `for (u32 ${counter} = 0, m = ${limit}; ${counter} < m; ${counter}++) ${block()}`;
    if (kind === 7) {
      const leave = `if (${this.condition()}) ${this.pick(['break', 'continue'])};`;
      return `for (u32 ${counter} = ${limit}; ${counter} > 0; ${counter}--) { ${this.statement(depth - 1)} ${leave} ${this.statement(depth - 1)} }`;
    }
    const cases = Array.from(
      { length: 4 },
      (_, c) => `case ${c}: ${this.statement(depth - 1)}${this.below(4) > 0 ? ' break;' : ''}`,
    );
    return `switch (${this.expression('u', 1)} & 7) { ${cases.join(' ')} default: ${this.statement(depth - 1)} }`;
  }

  private condition(): string {
    const type = this.pick(TYPES);
    const compare = `${this.expression(type, 1)} ${this.pick(['<', '<=', '==', '!=', '>', '>='])} ${this.expression(type, 1)}`;
    return this.below(4) === 0 ? `(${compare}) ${this.pick(['&&', '||'])} (${this.expression('u', 1)} & 1)` : compare;
  }

  /** An expression of exactly this type, in parentheses where it needs them. */
  private expression(type: Type, depth: number): string {
    if (depth === 0 || this.below(5) === 0) return this.leaf(type);
    if (this.below(8) === 0) {
      const fitting = this.helpers.filter((h) => h.result === type);
      if (fitting.length > 0) {
        const { name, parameters } = this.pick(fitting);
        return `${name}(${parameters.map((p) => this.expression(p, depth - 1)).join(', ')})`;
      }
    }
    if (this.below(6) === 0)
      return `(${this.condition()} ? ${this.expression(type, depth - 1)} : ${this.expression(type, depth - 1)})`;
    if (this.below(5) === 0) return this.converted(type, depth - 1);
    const [a, b] = [this.expression(type, depth - 1), this.expression(type, depth - 1)];
    return isFloat(type) ? this.floating(type, a, b) : this.integral(type, a, b);
  }

  private leaf(type: Type): string {
    const choices = [...this.variables(type), this.pick(CONSTANTS[type])];
    if (type === 'u') choices.push(...this.wordLeaves());
    return this.pick(choices);
  }

  /** Loads, at one level only: their indices are variables and constants again. */
  private wordLeaves(): string[] {
    const { words } = this;
    this.words = () => [];
    const found = words();
    this.words = words;
    return found;
  }

  private floating(type: Type, a: string, b: string): string {
    const suffix = type === 'f' ? 'f' : '';
    switch (this.below(8)) {
      case 0:
        return `(${a} / ${b})`;
      case 1:
        return `__builtin_sqrt${suffix}(${a})`;
      case 2:
        return `__builtin_fma${suffix}(${a}, ${b}, ${this.leaf(type)})`;
      case 3:
        return this.pick([
          `__builtin_floor${suffix}(${a})`,
          `__builtin_trunc${suffix}(${a})`,
          `__builtin_fabs${suffix}(${a})`,
          `-(${a})`,
        ]);
      default: {
        // LLVM 22 turns (0.0 - x) - y into -x - y, whose zero has another sign: nothing is taken from a constant that may be zero.
        const operator = this.pick(['+', '-', '*']);
        return `(${a} ${operator === '-' && /^\(f\d\d\)/.test(a) ? '+' : operator} ${b})`;
      }
    }
  }

  private integral(type: Type, a: string, b: string): string {
    const wide = type === 'l' || type === 'q';
    const unsigned = wide ? 'u64' : 'u32';
    const isSigned = type === 'i' || type === 'q';
    const cast = isSigned ? `(${C_TYPE[type]})` : '';
    switch (this.below(9)) {
      case 0:
        return `${cast}((${unsigned})${a} << (${b} & ${wide ? 63 : 31}))`;
      case 1:
        return `(${a} >> (${b} & ${wide ? 63 : 31}))`;
      case 2:
        if (type === 'i') return `${this.pick(['div_i', 'rem_i'])}(${a}, ${b})`;
        if (type === 'q') return `div_q(${a}, ${b})`;
        return `(${a} ${this.pick(['/', '%'])} (${b} | 1))`;
      case 3:
        return type === 'u'
          ? this.pick([
              `rotate(${a}, ${b})`,
              `(u32)__builtin_popcount(${a})`,
              `(u32)__builtin_clz(${a} | 1)`,
              `__builtin_bitreverse32(${a})`,
            ])
          : `(${a} ^ ~${b})`;
      case 4:
        return `(${a} ${this.pick(['&', '|', '^'])} ${b})`;
      default:
        return `${cast}((${unsigned})${a} ${this.pick(['+', '-', '*'])} (${unsigned})${b})`;
    }
  }

  /** A value of another type brought to this one. */
  private converted(type: Type, depth: number): string {
    const from = this.pick(TYPES.filter((t) => t !== type));
    const value = this.expression(from, depth);
    if (isFloat(type)) return `(${C_TYPE[type]})${from === 'f' || from === 'd' ? `(${value})` : value}`;
    if (!isFloat(from)) {
      const narrow = this.pick(['', '(u16)', '(i8)']);
      return `(${C_TYPE[type]})${narrow}${value}`;
    }
    const whole = from === 'f' ? `f2i(${value})` : `d2q(${value})`;
    const bits = from === 'f' ? `f2w(${value})` : `d2w(${value})`;
    return `(${C_TYPE[type]})${this.pick([whole, bits])}`;
  }
}

/** The C source of one kernel, `small` for many of them, with the host's program beside it; the same seed gives the same text. */
export function randomKernel(seed: number, size: 'small' | 'full' = 'full', attributes = ''): string {
  const { text, phases } = new Generator(seed, size === 'small', '').parts();
  return [PRELUDE, STAGES, text, kernelText(phases, '', attributes), hostText(phases)].join('\n');
}

/** The C source of many kernels, `random_kernel_SEED`; only helpers that are never inlined are called, at every level. */
export function randomKernels(
  seeds: readonly number[],
  size: 'small' | 'full',
  attributes: (seed: number) => string,
): string {
  const kernels = seeds.map((seed) => {
    const { text, phases } = new Generator(seed, size === 'small', `_${seed}`).parts();
    return `${text}\n${kernelText(phases, `_${seed}`, attributes(seed))}`;
  });
  return [
    '#define inline inline __attribute__((always_inline))',
    '#define STAGE inline',
    PRELUDE,
    STAGES,
    ...kernels,
  ].join('\n');
}
