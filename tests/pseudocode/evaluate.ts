// Evaluates the pseudo-code of AMD's ISA documents for one lane. Integers are unbounded until they are cast or stored; floats are rounded
// to their type after each operator; NaNs that an operator makes are marked, since the text says nothing of their bits.
import * as x from './exact.ts';
import type { FloatMode, FloatRules, Machine, Outcome } from './machine.ts';
import { type Node, PseudocodeError, parsePseudocode, type Statement } from './parse.ts';
import {
  bitsOf,
  integer,
  isDenormal,
  isInteger,
  isNaNValue,
  isQuiet,
  mask,
  raw,
  reversed,
  TWO_OVER_PI_BITS,
  truth,
  twoOverPi,
  type Value,
  WIDE,
} from './values.ts';

class Break extends Error {}
class Return extends Error {
  readonly value: Value;
  constructor(value: Value) {
    super();
    this.value = value;
  }
}

const CONSTANTS: Readonly<Record<string, number>> = { PI: Math.PI, INF: Infinity, NAN: NaN };
/** Selections of SDWA, and those that mean that there is none. */
const NUMBERS: Readonly<Record<string, bigint>> = {
  ROUND_NEAREST_EVEN: 0n,
  ROUND_TOWARD_ZERO: 3n,
  SDWA_SRC0_SEL: 0n,
  ROUND_MODE: 0n,
  OPSEL: 0n,
  BYTE1: 1n,
  BYTE2: 2n,
  BYTE3: 3n,
  WORD1: 1n,
};

interface Lambda {
  readonly parameters: readonly string[];
  readonly body: Statement[];
}

const parsed = new Map<string, Statement[]>();
function program(text: string): Statement[] {
  let known = parsed.get(text);
  if (known === undefined) {
    // One register file, one lane: the destination and source 0 by name.
    known = parsePseudocode(
      text
        .replaceAll('VGPR[laneId][VDST.u32]', 'D0')
        .replaceAll('VGPR[laneId][SRC0.u32]', 'S0')
        .replace(/\bD\./g, 'D0.'),
    );
    parsed.set(text, known);
  }
  return known;
}

/** Whether an expression is an operand, or bits of one; what adds to its destination reads that. */
function isSource(node: Node): boolean {
  if (node.kind === 'slice' || node.kind === 'index') return isSource(node.of);
  return node.kind === 'name' && /^(S[012]|D0|SIMM16|SIMM32)$/.test(node.name);
}

const writesDenormals = ({ single, other }: FloatMode): FloatMode => ({
  single: { ...single, writesDenormals: true },
  other: { ...other, writesDenormals: true },
});

/** The nearest integer that a field like `u32` or `i16` can hold. */
function saturated(v: Value, field: string): Value {
  const type = /^([ui])(\d+)$/.exec(field);
  if (type === null) return v;
  const width = Number(type[2]);
  const [low, high] = type[1] === 'u' ? [0n, mask(width)] : [-(1n << BigInt(width - 1)), mask(width - 1)];
  return { ...v, n: v.n < low ? low : v.n > high ? high : v.n };
}

/** Runs operations of a table of texts, by name: `V_ADD_F32`. */
export class Evaluator {
  private readonly texts: ReadonlyMap<string, string>;
  constructor(texts: ReadonlyMap<string, string>) {
    this.texts = texts;
  }

  run(name: string, machine: Machine): Outcome {
    const text = this.texts.get(name);
    if (text === undefined) throw new PseudocodeError(`no text for ${name}`);
    return new Run(this, machine).execute(program(text));
  }
}

class Run {
  private readonly evaluator: Evaluator;
  private readonly machine: Machine;
  private readonly variables = new Map<string, Value>();
  private readonly arrays = new Map<string, Map<number, Value>>();
  private readonly lambdas = new Map<string, Lambda>();
  /** A rounding that the text asks for. */
  private rounding: x.RoundingMode | undefined;
  private written = 0n;
  private readonly touched = new Set<string>();

  constructor(evaluator: Evaluator, machine: Machine) {
    this.evaluator = evaluator;
    this.machine = machine;
    for (const [k, s] of machine.sources.entries()) this.variables.set(`S${k}`, raw(s, WIDE));
    this.variables.set('D0', raw(machine.destination, WIDE));
    this.variables.set('D1', raw(0n, WIDE));
    this.variables.set('SIMM32', raw(machine.literal, 32));
    this.variables.set('SIMM16', raw(machine.literal & 0xffffn, 16));
    for (const [name, at] of [
      ['OMOD', 6],
      ['ABS', 3],
      ['NEG', 0],
    ] as const)
      this.variables.set(`INST.${name}`, raw(machine.truthTable >> BigInt(at), 3));
    this.variables.set('laneId', integer(BigInt(machine.lane), 'I', 32));
    this.variables.set('VCC', raw(machine.vcc, 64));
    this.variables.set('EXEC', raw(machine.exec, 64));
    this.variables.set('SCC', truth(machine.scc));
    for (const [name, value] of Object.entries(NUMBERS)) this.variables.set(name, raw(value, 32));
  }

  execute(body: Statement[]): Outcome {
    this.block(body);
    const read = (name: string): Value => this.variables.get(name) as Value;
    const destination = read('D0');
    const written = (name: string): bigint | undefined => (this.touched.has(name) ? bitsOf(read(name), 64) : undefined);
    return {
      destination: destination.n,
      written: this.written,
      soft: destination.soft,
      vcc: written('VCC'),
      exec: written('EXEC'),
      carry: this.touched.has('D1') ? (read('D1').n & 1n) === 1n : undefined,
      scc: this.touched.has('SCC') ? read('SCC').n !== 0n : undefined,
      mask: this.touched.has('D0') ? ((destination.n >> BigInt(this.machine.lane)) & 1n) === 1n : undefined,
    };
  }

  // Statements -------------------------------------------------------------------------------------------------------------------

  private block(body: readonly Statement[]): void {
    for (const s of body) this.statement(s);
  }

  private statement(s: Statement): void {
    switch (s.kind) {
      case 'assign': {
        let value = this.value(s.value);
        for (const target of [...s.targets].reverse()) {
          if (s.op !== '=') value = this.binary(s.op[0] as string, this.value(target), value);
          this.assign(target, value);
        }
        return;
      }
      case 'declare':
        if (s.count > 1) this.arrays.set(s.name, new Map());
        else this.variables.set(s.name, { width: s.width, type: s.type, n: 0n, soft: [] });
        return;
      case 'lambda':
        this.lambdas.set(s.name, s);
        return;
      case 'if':
        for (const arm of s.arms) {
          if (arm.test === undefined || this.value(arm.test).n !== 0n) {
            this.block(arm.body);
            return;
          }
        }
        return;
      case 'for': {
        const [from, to] = [this.value(s.from), this.value(s.to)];
        try {
          for (let i = from.n; i <= to.n; i++) {
            this.variables.set(s.name, integer(i, 'I', 32));
            this.block(s.body);
          }
        } catch (error) {
          if (!(error instanceof Break)) throw error;
        }
        return;
      }
      case 'break':
        throw new Break();
      case 'return':
        throw new Return(this.value(s.value));
    }
  }

  private assign(target: Node, stored: Value): void {
    let value = stored;
    if (target.kind === 'join') {
      let low = 0;
      for (const part of [...target.parts].reverse()) {
        const width = this.place(part).width ?? value.width;
        this.assign(part, raw(bitsOf(value, WIDE) >> BigInt(low), width));
        low += width;
      }
      return;
    }
    if (target.kind === 'index' && target.of.kind === 'name' && this.arrays.has(target.of.name)) {
      this.arrays.get(target.of.name)?.set(Number(this.value(target.index).n), value);
      return;
    }
    const { name, low, width } = this.place(target);
    if (name === 'ROUND_MODE') this.rounding = value.n === 3n ? 'zero' : 'even';
    if (target.kind === 'member') {
      if (value.type === 'F' && /^f\d/.test(target.name)) value = this.flushed(value, 'writesDenormals');
      if (this.machine.saturates === true && isInteger(value) && name !== 'VCC') value = saturated(value, target.name);
    }
    this.touched.add(name);
    if (width === undefined && name !== 'D0' && name !== 'VCC' && name !== 'EXEC') {
      const declared = this.variables.get(name);
      this.variables.set(
        name,
        declared?.type === 'B' && value.type !== 'B' ? raw(bitsOf(value), declared.width) : value,
      );
      return;
    }
    const size = width ?? Math.min(value.width, name === 'D0' ? WIDE : 64);
    const before = this.variables.get(name) ?? raw(0n, WIDE);
    const field = mask(size) << BigInt(low);
    const bits = (bitsOf(before, WIDE) & ~field) | (bitsOf(value, size) << BigInt(low));
    const soft = before.soft.filter((r) => r.low >= low + size || r.low + r.width <= low);
    const moved = value.soft.filter((r) => r.low + r.width <= size).map((r) => ({ ...r, low: r.low + low }));
    this.variables.set(name, { ...raw(bits, WIDE), soft: [...soft, ...moved] });
    if (name === 'D0') this.written |= field;
  }

  /** The variable and the bits that a target names. */
  private place(node: Node): { name: string; low: number; width: number | undefined } {
    switch (node.kind) {
      case 'name':
        return { name: node.name, low: 0, width: undefined };
      case 'member': {
        const inner = this.place(node.of);
        const size = /^[a-z]+(\d+)$/.exec(node.name);
        if (size === null) throw new PseudocodeError(`no field .${node.name}`);
        return {
          ...inner,
          width: inner.width === undefined ? Number(size[1]) : Math.min(inner.width, Number(size[1])),
        };
      }
      case 'index': {
        const inner = this.place(node.of);
        return { name: inner.name, low: inner.low + Number(this.value(node.index).n), width: 1 };
      }
      case 'slice': {
        const inner = this.place(node.of);
        const [low, width] = this.range(node);
        return { name: inner.name, low: inner.low + low, width };
      }
      default:
        throw new PseudocodeError(`cannot assign to a ${node.kind}`);
    }
  }

  private range(node: Node & { kind: 'slice' }): [low: number, width: number] {
    const [a, b] = [Number(this.value(node.high).n), Number(this.value(node.low).n)];
    if (node.form === '+:') return [a, b];
    return [Math.min(a, b), Math.abs(a - b) + 1];
  }

  // Expressions ------------------------------------------------------------------------------------------------------------------

  private value(node: Node): Value {
    switch (node.kind) {
      case 'number':
        return integer(node.value, node.type, node.width);
      case 'float':
        return this.float(x.fromNumber(node.value), node.width);
      case 'name': {
        const constant = CONSTANTS[node.name];
        if (constant !== undefined) return this.float(x.fromNumber(constant), 64);
        const limit = /^(OVERFLOW|UNDERFLOW)_F(32|64)$/.exec(node.name);
        if (limit !== null) return this.float(x.fromNumber(limit[1] === 'OVERFLOW' ? Infinity : 0), Number(limit[2]));
        const known = this.variables.get(node.name);
        if (known === undefined) throw new PseudocodeError(`${node.name} is not known`);
        return known;
      }
      case 'member':
        return this.member(node);
      case 'index': {
        if (node.of.kind === 'name' && this.arrays.has(node.of.name)) {
          const element = this.arrays.get(node.of.name)?.get(Number(this.value(node.index).n));
          if (element === undefined) throw new PseudocodeError(`${node.of.name} has no such element`);
          return element;
        }
        const of = this.value(node.of);
        return integer((bitsOf(of, WIDE) >> this.value(node.index).n) & 1n, 'U', 1);
      }
      case 'slice': {
        const of = this.value(node.of);
        const [low, width] = this.range(node);
        let bits = (bitsOf(of, Math.max(WIDE, of.width)) >> BigInt(low)) & mask(width);
        if (node.form === ':' && this.value(node.high).n < this.value(node.low).n) bits = reversed(bits, width);
        const soft = of.soft.filter((r) => r.low >= low && r.low + r.width <= low + width);
        return { ...raw(bits, width), soft: soft.map((r) => ({ ...r, low: r.low - low })) };
      }
      case 'call':
        return this.call(node.name, node.args);
      case 'cast':
        return this.cast(node.width, node.type, this.value(node.of));
      case 'unary':
        return this.unary(node.op, this.value(node.of));
      case 'binary':
        return this.operate(node);
      case 'choose':
        return this.value(node.test).n !== 0n ? this.value(node.yes) : this.value(node.no);
      case 'join': {
        const parts = node.parts.map((p) => this.value(p));
        return raw(
          parts.reduce((bits, p) => (bits << BigInt(p.width)) | bitsOf(p), 0n),
          parts.reduce((sum, p) => sum + p.width, 0),
        );
      }
    }
  }

  private member({ of, name }: Node & { kind: 'member' }): Value {
    if (of.kind === 'name' && of.name === 'WAVE_MODE' && name === 'IEEE') return truth(this.machine.ieee);
    if (of.kind === 'name' && of.name === 'INST') return this.value({ kind: 'name', name: `INST.${name}` });
    const type = /^([a-z]+)(\d+)$/.exec(name);
    if (type === null) throw new PseudocodeError(`no field .${name}`);
    const [letter, width] = [(type[1] as string).toUpperCase(), Number(type[2])];
    if (of.kind === 'name' && (of.name === 'INF' || of.name === 'NAN'))
      return this.float(x.fromNumber(CONSTANTS[of.name] as number), width);
    const v = this.value(of);
    // A float variable is read as a float of another width.
    if (letter === 'F' && v.type === 'F' && v.width !== width) return this.cast(width, 'F', v);
    const bits = bitsOf(v, width);
    const soft = v.soft.filter((r) => r.low + r.width <= width);
    if (letter === 'U') return integer(bits, 'U', width);
    if (letter === 'I') return integer(BigInt.asIntN(width, bits), 'I', width);
    const result: Value = { width, type: letter, n: bits, soft };
    return letter === 'F' && isSource(of) ? this.flushed(result, 'readsDenormals') : result;
  }

  private rulesOf(width: number): FloatRules | undefined {
    return width === 32 ? this.machine.floats?.single : this.machine.floats?.other;
  }

  private roundingOf(width: number): x.RoundingMode {
    return this.rounding ?? this.rulesOf(width)?.rounding ?? 'even';
  }

  /** A denormal that is not to be read or written is a zero of its sign. */
  private flushed(v: Value, which: 'readsDenormals' | 'writesDenormals'): Value {
    if (this.rulesOf(v.width)?.[which] !== false || !isDenormal(v)) return v;
    return { ...v, n: v.n & (1n << BigInt(v.width - 1)) };
  }

  private float(real: x.Real, width: number): Value {
    const n = x.encode(real, x.formatOf(width), this.roundingOf(width));
    return { width, type: 'F', n, soft: real.kind === 'nan' ? [{ low: 0, width, why: 'nan' }] : [] };
  }

  private real(v: Value): x.Real {
    if (isInteger(v)) return { kind: 'finite', m: v.n, e: 0, negativeZero: false };
    if (v.type === 'BF') return x.decode(v.n << 16n, x.formatOf(32));
    return x.decode(v.n, x.formatOf(v.width));
  }

  private cast(width: number, type: string, v: Value): Value {
    if (v.power !== undefined) return { ...v, width };
    if (type === 'B' && v.type === 'F' && width === TWO_OVER_PI_BITS) return raw(twoOverPi(), width);
    if (type === 'F') {
      if (v.type === 'F' && isNaNValue(v)) return this.convertNaN(v, width);
      if (v.type === 'F' || v.type === 'BF') return this.float(this.real(v), width);
      // Bits of the width are a float; a wider string of them is an integer.
      if (v.width > 64) return this.float({ kind: 'finite', m: v.n, e: 0, negativeZero: false }, width);
      return { width, type: 'F', n: bitsOf(v, width), soft: [] };
    }
    if (type === 'U') return integer(bitsOf(v, width), 'U', width);
    if (type === 'I') return integer(BigInt.asIntN(width, isInteger(v) ? v.n : bitsOf(v)), 'I', width);
    return raw(bitsOf(v, width), width);
  }

  /** A NaN keeps sign, quiet bit and payload through a cast and back; `f32_to_f64` and the like quiet it. */
  private convertNaN(v: Value, width: number): Value {
    const [from, to] = [x.formatOf(v.width), x.formatOf(width)];
    const fraction = v.n & mask(from.fraction);
    const moved =
      to.fraction >= from.fraction
        ? fraction << BigInt(to.fraction - from.fraction)
        : fraction >> BigInt(from.fraction - to.fraction);
    const sign = (v.n >> BigInt(v.width - 1)) << BigInt(width - 1);
    const n = sign | (BigInt(2 * to.bias + 1) << BigInt(to.fraction)) | moved;
    return { width, type: 'F', n, soft: v.soft.map((r) => ({ ...r, width })) };
  }

  private unary(op: string, v: Value): Value {
    if (op === '+') return v;
    if (op === '!') return truth(v.n === 0n);
    if (op === '~') {
      if (v.type === 'I') return integer(-1n - v.n, 'I', v.width);
      return { ...v, n: ~bitsOf(v) & mask(v.width) };
    }
    if (isInteger(v)) return integer(-v.n, 'I', v.width);
    return { ...v, n: v.n ^ (1n << BigInt(v.width - 1)) };
  }

  private operate(node: Node & { kind: 'binary' }): Value {
    const { op } = node;
    if ((op === '==' || op === '!=') && node.right.kind === 'member' && node.right.of.kind === 'name') {
      if (node.right.of.name === 'DENORM') return truth(isDenormal(this.value(node.left)) === (op === '=='));
    }
    const left = this.value(node.left);
    // `== -0.0` asks for the sign, too.
    if (op === '==' && node.right.kind === 'unary' && node.right.of.kind === 'float' && node.right.of.value === 0)
      return truth(bitsOf(left) === bitsOf(this.value(node.right)));
    if (op === '&&' && left.n === 0n) return truth(false);
    if (op === '||' && left.n !== 0n) return truth(true);
    const right = this.value(node.right);
    if (op === '&&' || op === '||') return truth(right.n !== 0n);
    return this.binary(op, left, right);
  }

  private binary(op: string, a: Value, b: Value): Value {
    const width = Math.max(a.width, b.width);
    if (op === '**') return { width: a.width, type: 'F', n: 0n, soft: [], power: Number(b.n) };
    if (a.type === 'F' || b.type === 'F') return this.floatBinary(op, a, b, width);
    const [p, q] = [isInteger(a) ? a.n : bitsOf(a), isInteger(b) ? b.n : bitsOf(b)];
    const logical = op === '&' || op === '|' || op === '^';
    const type = a.type === 'I' || b.type === 'I' ? 'I' : logical && a.type === 'B' && b.type === 'B' ? 'B' : 'U';
    const result = (n: bigint): Value => ({ width, type, n, soft: [] });
    switch (op) {
      case '+':
        return result(p + q);
      case '-':
        return result(p - q);
      case '*':
        return result(p * q);
      case '&':
        return result(p & q);
      case '|':
        return result(p | q);
      case '^':
        return result(p ^ q);
      case '<<':
        return { ...result(p << q), width: a.width, type: a.type };
      case '>>':
        return { ...result(p >> q), width: a.width, type: a.type };
      case '==':
        return truth(p === q);
      case '!=':
      case '<>':
        return truth(p !== q);
      case '<':
        return truth(p < q);
      case '<=':
        return truth(p <= q);
      case '>':
        return truth(p > q);
      case '>=':
        return truth(p >= q);
    }
    throw new PseudocodeError(`no operator ${op}`);
  }

  private floatBinary(op: string, a: Value, b: Value, width: number): Value {
    if (op === '*' && (a.power !== undefined || b.power !== undefined)) {
      const [x0, power] = a.power === undefined ? [a, b.power as number] : [b, a.power];
      return this.float(x.scale(this.real(x0), power), width);
    }
    const [p, q] = [this.real(a), this.real(b)];
    const [m, n] = [x.toNumber(p), x.toNumber(q)];
    switch (op) {
      case '+':
        return this.float(x.add(p, q, this.roundingOf(width)), width);
      case '-':
        return this.float(x.add(p, x.negate(q), this.roundingOf(width)), width);
      case '*':
        return this.float(x.multiply(p, q), width);
      case '/':
        // A double has enough bits for the second rounding of a narrower quotient to be harmless.
        return this.float(x.fromNumber(m / n), width);
      case '==':
        return truth(m === n);
      case '!=':
        return truth(m !== n);
      case '<>':
        return truth(m < n || m > n);
      case '<':
        return truth(m < n);
      case '<=':
        return truth(m <= n);
      case '>':
        return truth(m > n);
      case '>=':
        return truth(m >= n);
    }
    throw new PseudocodeError(`no operator ${op} of floats`);
  }

  // Functions --------------------------------------------------------------------------------------------------------------------

  private call(name: string, nodes: readonly Node[]): Value {
    const args = nodes.map((n) => this.value(n));
    const lambda = this.lambdas.get(name);
    if (lambda !== undefined) return this.apply(lambda, args);
    const [a, b, c] = args as [Value, Value, Value];
    const conversion = /^(bf16|[uif]\d+)_to_(bf(?=16)|[uif])(\d+)$/.exec(name);
    if (conversion !== null) return this.convert(a, conversion[2] as string, Number(conversion[3]));
    const norm = /^f\d+_to_(snorm|unorm)$/.exec(name);
    if (norm !== null) return this.normalized(a, norm[1] === 'snorm');
    if (/^v_/.test(name)) return this.operation(name, args);
    const number = (): number => x.toNumber(this.real(a));
    const approximate = (value: number): Value => {
      const v = this.float(x.fromNumber(value), a.width);
      return v.soft.length > 0 ? v : { ...v, soft: [{ low: 0, width: a.width, why: 'approximate' }] };
    };
    switch (name) {
      case 'signext':
        return a;
      case 'signext_from_bit':
        return integer(b.n === 0n ? 0n : BigInt.asIntN(Number(b.n), a.n), 'I', a.width);
      case 'bitCount':
        return integer(BigInt(bitsOf(a).toString(2).replaceAll('0', '').length), 'U', 32);
      case 'isNAN':
        return truth(isNaNValue(a));
      case 'isSignalNAN':
      case 'isQuietNAN':
        return truth(isNaNValue(a) && isQuiet(a) === (name === 'isQuietNAN'));
      case 'cvtToQuietNAN':
        return { ...a, n: a.n | (1n << BigInt(x.formatOf(a.width).fraction - 1)) };
      case 'exponent':
        return integer(BigInt(x.exponentField(a.n, x.formatOf(a.width))), 'I', 32);
      case 'mantissa':
        return this.mantissa(a);
      case 'sign':
        return integer((a.n >> BigInt(a.width - 1)) & 1n, 'U', 1);
      case 'abs':
        return { ...a, n: a.n & mask(a.width - 1) };
      case 'fma':
        return this.float(this.fused(a, b, c), a.width);
      case 'ldexp':
        return this.float(x.scale(this.real(a), Number(b.n)), a.width);
      case 'floor':
        return this.float(x.fromNumber(Math.floor(number())), a.width);
      case 'trunc':
        return this.float(x.fromNumber(Math.trunc(number())), a.width);
      case 'fract':
        return this.float(x.fromNumber(number() - Math.floor(number())), a.width);
      case 'isEven':
        return truth(number() % 2 === 0);
      case 'rint': {
        const [down, rest] = [Math.floor(number()), number() - Math.floor(number())];
        const up = rest > 0.5 || (rest === 0.5 && down % 2 !== 0);
        const whole = x.fromNumber(up ? down + 1 : down);
        // The sign of a zero is the operand's.
        const negative = a.n >> BigInt(a.width - 1) === 1n;
        return this.float(
          whole.kind === 'finite' && whole.m === 0n ? { ...whole, negativeZero: negative } : whole,
          a.width,
        );
      }
      case 'flush': {
        const kept = isDenormal(a) ? a.n & (1n << BigInt(a.width - 1)) : a.n;
        return { ...a, n: kept };
      }
      case 'rsqrt':
        return this.float(x.fromNumber(1 / Math.sqrt(number())), a.width);
      case 'fma_scaled':
        return this.float(x.scale(this.fused(a, b, c), Number((args[3] as Value).n)), a.width);
      case 'true_exponent': {
        const real = this.real(a);
        if (real.kind !== 'finite' || real.m === 0n) throw new PseudocodeError('no exponent');
        const size = (real.m < 0n ? -real.m : real.m).toString(2).length;
        return integer(BigInt(size + real.e), 'I', 32);
      }
      case 'sqrt':
        return this.float(x.fromNumber(Math.sqrt(number())), a.width);
      case 'pow':
        return approximate(number() ** x.toNumber(this.real(b)));
      case 'log2':
        return approximate(Math.log2(number()));
    }
    throw new PseudocodeError(`${name} has no text`);
  }

  private fused(a: Value, b: Value, c: Value): x.Real {
    return x.add(x.multiply(this.real(a), this.real(b)), this.real(c), this.roundingOf(a.width));
  }

  private apply(lambda: Lambda, args: readonly Value[]): Value {
    const saved = lambda.parameters.map((p) => [p, this.variables.get(p)] as const);
    for (const [k, p] of lambda.parameters.entries()) this.variables.set(p, args[k] as Value);
    try {
      this.block(lambda.body);
    } catch (error) {
      if (error instanceof Return) return error.value;
      throw error;
    } finally {
      for (const [p, v] of saved) {
        if (v === undefined) this.variables.delete(p);
        else this.variables.set(p, v);
      }
    }
    throw new PseudocodeError('a function without a result');
  }

  private convert(a: Value, to: string, width: number): Value {
    if (to === 'f') {
      const v = this.float(this.real(a), width);
      return v;
    }
    if (to === 'bf') return this.brain(a);
    // Float to integer truncates, integer to integer saturates; a NaN is 0.
    const [low, high] = to === 'i' ? [-(1n << BigInt(width - 1)), mask(width - 1)] : [0n, mask(width)];
    let n: bigint;
    if (a.type === 'F') {
      const value = Math.trunc(x.toNumber(this.real(a)));
      n = Number.isNaN(value) ? 0n : value === Infinity ? high : value === -Infinity ? low : BigInt(value);
    } else n = a.n;
    return integer(n < low ? low : n > high ? high : n, to === 'i' ? 'I' : 'U', width);
  }

  private brain(a: Value): Value {
    if (isNaNValue(a)) return { width: 16, type: 'BF', n: 0x7fc0n, soft: [{ low: 0, width: 16, why: 'nan' }] };
    const low = a.n & 0xffffn;
    const high = a.n >> 16n;
    const up = low > 0x8000n || (low === 0x8000n && (high & 1n) === 1n);
    return { width: 16, type: 'BF', n: up ? high + 1n : high, soft: [] };
  }

  private normalized(a: Value, signed: boolean): Value {
    const value = x.toNumber(this.real(a));
    const unit = Number.isNaN(value) ? 0 : Math.min(1, Math.max(signed ? -1 : 0, value));
    const scaled = unit * (signed ? 32767 : 65535);
    const below = Math.floor(scaled);
    const n = scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 !== 0) ? below + 1 : below;
    return integer(BigInt(n), signed ? 'I' : 'U', 16);
  }

  private mantissa(a: Value): Value {
    const real = this.real(a);
    if (real.kind !== 'finite' || real.m === 0n) return a;
    const size = (real.m < 0n ? -real.m : real.m).toString(2).length;
    return this.float({ ...real, e: -size }, a.width);
  }

  private operation(name: string, args: readonly Value[]): Value {
    const outcome = this.evaluator.run(name.toUpperCase(), {
      ...this.machine,
      // Denormals become zeros in the result of the whole.
      ...(this.machine.floats === undefined ? {} : { floats: writesDenormals(this.machine.floats) }),
      sources: args.map((v) => bitsOf(v, WIDE)),
      destination: 0n,
    });
    const type = /_([uif])(\d+)$/.exec(name);
    if (type === null) return raw(outcome.destination, 32);
    const width = name.includes('sad') ? 32 : Number(type[2]);
    const bits = outcome.destination & mask(width);
    if (type[1] === 'i') return integer(BigInt.asIntN(width, bits), 'I', width);
    if (type[1] === 'u') return integer(bits, 'U', width);
    return { width, type: 'F', n: bits, soft: outcome.soft };
  }
}
