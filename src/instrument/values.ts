// The values of probe code: small trees over registers, constants and what a wave knows of itself. Uniform values are one number for the
// wave; lane values one for each lane.
import { WavesmithError } from '../base/index.ts';
import type { AsmText, ValueType } from './asm-types.ts';
import type { EntryValue } from './entry-value.ts';
import type { Hook } from './hook.ts';
import type { Gathering } from './state.ts';

export type { ValueType } from './asm-types.ts';

/** A value that probe code computes. */
export type Value =
  | { readonly type: ValueType; readonly op: 'constant'; readonly value: bigint }
  | { readonly type: ValueType; readonly op: 'exec' | 'lane-id' | 'time' | 'address' }
  /** A register by its name, as the kernel has it at the point. */
  | { readonly type: ValueType; readonly op: 'register'; readonly name: string }
  | { readonly type: ValueType; readonly op: 'entry'; readonly value: EntryValue }
  /** Bytes at a uniform address. */
  | { readonly type: ValueType; readonly op: 'load'; readonly args: readonly [Value]; readonly offset: number }
  | { readonly type: ValueType; readonly op: 'hardware'; readonly register: string }
  /** How often the body of a loop has run. */
  | { readonly type: 'u32'; readonly op: 'index'; readonly loop: number }
  /** What assembly text before it wrote. */
  | { readonly type: ValueType; readonly op: 'output'; readonly asm: number; readonly name: string }
  | { readonly type: ValueType; readonly op: Operation; readonly args: readonly Value[] };

/** Operations on two whole numbers without sign. */
export type WholeOperation = 'add' | 'sub' | 'mul' | 'and' | 'or' | 'xor' | 'shl' | 'shr' | 'min' | 'max';

/** Operations on floats; conversions are named by what they give. */
export type FloatOperation =
  | 'f32-add'
  | 'f32-mul'
  | 'f32-min'
  | 'f32-max'
  | 'f32-less'
  | 'f64-add'
  | 'f64-mul'
  | 'f32-from-u32'
  | 'u32-from-f32'
  | 'f64-from-f32'
  | 'f32-reciprocal';

/** Operations. `less` is without sign; `ballot`, `ballot-class`, `first` and `read-lane` make one value of those by lane. */
export type Operation =
  | WholeOperation
  | FloatOperation
  | 'rem'
  | 'popcount'
  | 'is-zero'
  | 'equal'
  | 'less'
  | 'select'
  | 'ballot'
  | 'ballot-class'
  | 'first'
  | 'read-lane';

/** A number where a value is wanted. */
export type ValueLike = Value | number | bigint;

/** A statement of probe code. */
export type Statement =
  | { readonly kind: 'add'; readonly state: string; readonly by: Gathering; readonly value: Value }
  /** Adds to an entry of a table; an index behind its end means the last entry. */
  | {
      readonly kind: 'add-at';
      readonly state: string;
      readonly by: Gathering;
      readonly index: Value;
      readonly value: Value;
    }
  | { readonly kind: 'append'; readonly state: string; readonly fields: Readonly<Record<string, Value>> }
  /** A hook, with the values of its arguments. */
  | {
      readonly kind: 'hook';
      readonly state: string;
      readonly hook: Hook;
      readonly implicit: number;
      readonly args: readonly Value[];
    }
  /** Assembly text, with the values that it gets; its outputs have its number. */
  | { readonly kind: 'asm'; readonly asm: number; readonly text: AsmText; readonly inputs: readonly Value[] }
  /** Writes a register of the kernel, `exec` and `scc` among them. */
  | { readonly kind: 'write'; readonly register: string; readonly value: Value }
  | { readonly kind: 'if'; readonly condition: Value; readonly body: readonly Statement[] }
  /** In the lanes where a value by lane is not zero. */
  | { readonly kind: 'where'; readonly condition: Value; readonly body: readonly Statement[] }
  | { readonly kind: 'loop'; readonly loop: number; readonly count: Value; readonly body: readonly Statement[] };

/** A constant as a value; a type error names what was expected. */
export function asValue(value: ValueLike): Value {
  if (typeof value === 'object' && value !== null && 'op' in value) return value;
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw typeError(`a value is wanted, and this is ${value === null ? 'null' : `of type ${typeof value}`}`);
  const whole = typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (whole === undefined || whole < 0n || whole >= 1n << 64n) {
    throw typeError(`${value} is no whole number from 0 to 2^64 - 1`);
  }
  return { type: whole < 1n << 32n ? 'u32' : 'u64', op: 'constant', value: whole };
}

/** Whether a value is one for each lane. */
export function isLane({ type }: Value): boolean {
  return type === 'lane32' || type === 'lane64';
}

/** Whether a value has 64 bits. */
export function isWide({ type }: Value): boolean {
  return type === 'u64' || type === 'lane64';
}

export function typeError(message: string): WavesmithError {
  return new WavesmithError('probe/type', `${message[0]?.toUpperCase()}${message.slice(1)}.`);
}

/** Operations that have 32 bits. */
const NARROW: ReadonlySet<Operation> = new Set(['mul', 'min', 'max']);

/** An operation on two whole numbers: by lane when one of them is by lane. */
export function combine(op: WholeOperation | 'equal' | 'less', a: ValueLike, b: ValueLike): Value {
  const args = [asValue(a), asValue(b)];
  const wide = args.some(isWide);
  if (wide && NARROW.has(op)) throw typeError(`'${op}' works on 32 bits`);
  if ((op === 'shl' || op === 'shr') && isWide(args[1] as Value))
    throw typeError(`'${op}' shifts by a value of 32 bits`);
  const isTest = op === 'equal' || op === 'less';
  return { type: typeOf(args.some(isLane), wide && !isTest), op, args };
}

/** The type of a value that is by lane or not, and has 64 bits or 32. */
export function typeOf(isByLane: boolean, wide: boolean): ValueType {
  return isByLane ? (wide ? 'lane64' : 'lane32') : wide ? 'u64' : 'u32';
}

/** An operation on floats of the width that its name begins with; a conversion takes the one that its name ends with. */
export function float(op: FloatOperation, values: readonly ValueLike[]): Value {
  const args = values.map(asValue);
  const takes = op.includes('-from-') ? op.slice(op.indexOf('from') + 5) : op.slice(0, 3);
  const wrong = args.find((arg) => isWide(arg) !== takes.endsWith('64'));
  if (wrong !== undefined) throw typeError(`'${op}' takes values of ${takes.slice(1)} bits`);
  return { type: typeOf(args.some(isLane), op.startsWith('f64')), op, args };
}

/** The registers that a value reads by name. */
export function registersOf(value: Value): string[] {
  if (value.op === 'register') return [value.name];
  return 'args' in value ? value.args.flatMap(registersOf) : [];
}

/** Every value of statements, inner ones included. */
export function valuesOf(statements: readonly Statement[]): Value[] {
  const out: Value[] = [];
  const add = (value: Value): void => {
    out.push(value);
    if ('args' in value) for (const arg of value.args) add(arg);
  };
  for (const statement of statements) {
    if (statement.kind === 'add' || statement.kind === 'write') add(statement.value);
    else if (statement.kind === 'add-at') {
      add(statement.index);
      add(statement.value);
    } else if (statement.kind === 'loop') {
      add(statement.count);
      out.push(...valuesOf(statement.body));
    } else if (statement.kind === 'hook') {
      out.push(...hookFacts(statement.hook).values);
      for (const arg of statement.args) add(arg);
    } else if (statement.kind === 'asm') {
      for (const input of statement.inputs) add(input);
      for (const name of statement.text.reads)
        out.push({ type: /^[va]\d/.test(name) ? 'lane32' : 'u32', op: 'register', name });
    } else if (statement.kind === 'append') for (const value of Object.values(statement.fields)) add(value);
    else {
      add(statement.condition);
      out.push(...valuesOf(statement.body));
    }
  }
  return out;
}

/** The registers of the kernel that assembly text names without being given them as values, all of them put back but for what it reads. */
export function clobberedBy(statements: readonly Statement[]): string[] {
  return statements.flatMap((statement): readonly string[] =>
    statement.kind === 'asm' ? statement.text.clobbers : 'body' in statement ? clobberedBy(statement.body) : [],
  );
}

/** The registers of the kernel that statements write. */
export function writtenBy(statements: readonly Statement[]): string[] {
  return statements.flatMap((statement): readonly string[] => {
    if (statement.kind === 'write') return [statement.register];
    if ('body' in statement) return writtenBy(statement.body);
    if (statement.kind !== 'hook') return [];
    return hookFacts(statement.hook).written;
  });
}

/** What a hook needs of its points, and the registers of the kernel that it writes. */
interface HookFacts {
  readonly values: readonly Value[];
  readonly written: readonly string[];
}

const factsOf = new WeakMap<Hook, HookFacts>();

/** Hooks have thousands of steps, and every point asks. */
function hookFacts(hook: Hook): HookFacts {
  let facts = factsOf.get(hook);
  if (facts === undefined) {
    const written = hook.steps.flatMap((step) => (step.kind === 'write' ? [step.name] : []));
    facts = { values: hookValues(hook), written: [...new Set(written)] };
    factsOf.set(hook, facts);
  }
  return facts;
}

/** What a hook needs of its point, as values: what is kept from the start, and registers of the kernel. */
function hookValues({ steps }: Hook): Value[] {
  return steps.flatMap((step): Value[] => {
    if (step.kind === 'entry') return [{ type: step.to.dwords === 2 ? 'u64' : 'u32', op: 'entry', value: step.value }];
    if (step.kind === 'implicit') return [{ type: 'u64', op: 'entry', value: 'kernarg' }];
    if (step.kind !== 'register') return [];
    return [{ type: step.to.file === 'v' ? 'lane32' : 'u32', op: 'register', name: step.name }];
  });
}
