// What a probe writes at a point: the methods make statements; emit.ts makes machine code of them.

import { WavesmithError } from '../base/index.ts';
import type { KernelArgument } from '../codeobject/index.ts';
import { hwregNames, type TargetName } from '../isa/index.ts';
import type { EntryValue } from './entry-value.ts';
import type { Hook } from './hook.ts';
import type { ProbeInstruction, ProbeKernel } from './select.ts';
import type { FieldType, Records, StateShapes } from './state.ts';
import { asValue, combine, isLane, isWide, type Statement, typeError, type Value, type ValueLike } from './values.ts';

type NamesOf<S extends StateShapes, Kind> = { [K in keyof S]: S[K] extends { kind: Kind } ? K : never }[keyof S] &
  string;
type FieldsOf<T> = T extends Records<infer F> ? F : never;

/** Writes the code of one point. Values are read when the point is reached, before anything of the probe's changes. */
export class Body<S extends StateShapes = StateShapes> {
  /** What was written. */
  readonly statements: Statement[] = [];
  private readonly target: TargetName;
  private readonly shapes: S;
  private readonly kernel: ProbeKernel;
  private readonly instruction: ProbeInstruction | undefined;
  private list: Statement[] = this.statements;

  constructor(shapes: S, kernel: ProbeKernel, instruction: ProbeInstruction | undefined, target: TargetName) {
    this.target = target;
    this.shapes = shapes;
    this.kernel = kernel;
    this.instruction = instruction;
  }

  /** The active lanes, a bit each. */
  get exec(): Value {
    return { type: 'u64', op: 'exec' };
  }

  /** The lane's number, 0 to 63. */
  get laneId(): Value {
    return { type: 'lane32', op: 'lane-id' };
  }

  /** A 64-bit counter of cycles. Takes until outstanding scalar loads have returned. */
  get time(): Value {
    return { type: 'u64', op: 'time' };
  }

  /** A register of the kernel by its name: `s4`, `s[4:5]`, `vcc`, `m0`, `scc`, `v7`, `v[8:9]`, `a3`. */
  readReg(name: string): Value {
    const tuple = /^([sva])(?:(\d+)|\[(\d+):(\d+)\])$/.exec(name);
    if (tuple !== null) {
      const first = Number(tuple[2] ?? tuple[3]);
      const count = tuple[4] === undefined ? 1 : Number(tuple[4]) - first + 1;
      const limit = tuple[1] === 's' ? 102 : 256;
      if (count < 1 || count > 2 || first + count > limit) {
        throw new WavesmithError('probe/register', `'${name}' is no register, or not one of 32 or 64 bits.`);
      }
      const isScalar = tuple[1] === 's';
      return {
        type: isScalar ? (count === 2 ? 'u64' : 'u32') : count === 2 ? 'lane64' : 'lane32',
        op: 'register',
        name,
      };
    }
    const widths: Readonly<Record<string, 'u32' | 'u64'>> = {
      vcc: 'u64',
      vcc_lo: 'u32',
      vcc_hi: 'u32',
      m0: 'u32',
      scc: 'u32',
    };
    const type = Object.hasOwn(widths, name) ? widths[name] : undefined;
    if (type === undefined) {
      throw new WavesmithError('probe/register', `'${name}' is no register that a probe can read.`, {
        hint: 'Known are sN, s[N:N+1], vN, v[N:N+1], aN, a[N:N+1], vcc, m0 and scc.',
      });
    }
    return { type, op: 'register', name };
  }

  /**
   * Writes a register of the kernel, by its name as in `readReg`: the kernel goes on with the new value. A vector register gets the value in
   * the active lanes. Takes until outstanding memory operations have returned.
   */
  writeReg(name: string, value: ValueLike): void {
    const to = this.readReg(name);
    const given = asValue(value);
    if (isLane(given) && !isLane(to)) throw typeError(`'${name}' is one for the wave, its value is one for each lane`);
    if (isWide(given) && !isWide(to)) throw typeError(`'${name}' has 32 bits, its value 64`);
    this.list.push({ kind: 'write', register: name, value: given });
  }

  /** Writes the kernel's EXEC: behind the point these lanes are active, and for the statements that follow here. */
  writeExec(mask: ValueLike): void {
    const value = asValue(mask);
    if (isLane(value)) throw typeError("'writeExec' wants a mask that is one for the wave");
    this.list.push({ kind: 'write', register: 'exec', value });
  }

  /** The address that the memory instruction of this point accesses, by lane; of a scalar load one for the wave. */
  get address(): Value {
    const memory = this.instruction?.memory;
    if (memory === undefined) {
      throw new WavesmithError(
        'probe/no-address',
        `There is no memory access at this point${this.instruction === undefined ? '' : `: '${this.instruction.text}'`}.`,
      );
    }
    return { type: memory === 'scalar' ? 'u64' : memory === 'lds' ? 'lane32' : 'lane64', op: 'address' };
  }

  add(a: ValueLike, b: ValueLike): Value {
    return combine('add', a, b);
  }
  sub(a: ValueLike, b: ValueLike): Value {
    return combine('sub', a, b);
  }
  /** 32 bits. */
  mul(a: ValueLike, b: ValueLike): Value {
    return combine('mul', a, b);
  }
  and(a: ValueLike, b: ValueLike): Value {
    return combine('and', a, b);
  }
  or(a: ValueLike, b: ValueLike): Value {
    return combine('or', a, b);
  }
  shl(a: ValueLike, b: ValueLike): Value {
    return combine('shl', a, b);
  }
  shr(a: ValueLike, b: ValueLike): Value {
    return combine('shr', a, b);
  }

  /** What is left of a value of 32 bits divided by a whole number from 1 to 2^31. */
  rem(a: ValueLike, divisor: number): Value {
    const arg = asValue(a);
    if (isLane(arg) || isWide(arg)) throw typeError("'rem' works on a value of 32 bits that is one for the wave");
    if (!Number.isInteger(divisor) || divisor < 1 || divisor > 2 ** 31)
      throw typeError(`${divisor} is no whole number from 1 to 2^31`);
    return { type: 'u32', op: 'rem', args: [arg, asValue(divisor)] };
  }

  /** Bits that are one in a value of 64 bits. */
  popcount(value: ValueLike): Value {
    const arg = asValue(value);
    if (isLane(arg)) throw typeError("'popcount' works on a value that is one for the wave");
    return { type: 'u32', op: 'popcount', args: [arg] };
  }

  /** 1 for zero, else 0. */
  isZero(value: ValueLike): Value {
    const arg = asValue(value);
    if (isLane(arg)) throw typeError("'isZero' works on a value that is one for the wave");
    return { type: 'u32', op: 'is-zero', args: [arg] };
  }

  /** The active lanes whose f32 (or f64) is NaN or infinite. */
  ballotPoison(value: Value): Value {
    if (!isLane(value)) throw typeError("'ballotPoison' works on a value by lane");
    return { type: 'u64', op: 'ballot-class', args: [value] };
  }

  /** A hardware register by its name in `s_getreg_b32`: `HW_REG_HW_ID`, `HW_REG_XCC_ID`. */
  hardware(register: string): Value {
    const names = hwregNames(this.target).filter((name) => name !== '');
    if (!names.includes(register)) {
      throw new WavesmithError('probe/register', `${this.target} has no hardware register '${register}'.`, {
        hint: `It has: ${names.join(', ')}.`,
      });
    }
    return { type: 'u32', op: 'hardware', register };
  }

  /** The address of the kernel's arguments. */
  get kernargPtr(): Value {
    return this.entry('kernarg', 'u64');
  }
  /** The address of the arguments that a compiler adds behind the explicit ones. Errors: `probe/no-argument` for a kernel without them. */
  get implicitArgPtr(): Value {
    const offset = implicitOffset(this.kernel);
    if (offset === undefined)
      throw new WavesmithError('probe/no-argument', `Kernel '${this.kernel.name}' has no implicit arguments.`);
    return this.add(this.kernargPtr, offset);
  }
  /** The address of the dispatch packet. Source: HSA Runtime Specification, "Kernel dispatch packet". */
  get dispatchPtr(): Value {
    return this.entry('dispatch', 'u64');
  }
  /** `time` when the wave began. */
  get startTime(): Value {
    return this.entry('start', 'u64');
  }
  /** The workgroup's position. */
  get workgroupId(): { readonly x: Value; readonly y: Value; readonly z: Value } {
    return {
      x: this.entry('workgroup-x', 'u32'),
      y: this.entry('workgroup-y', 'u32'),
      z: this.entry('workgroup-z', 'u32'),
    };
  }
  /** The wave's number in its workgroup. Of the work-items' positions those count that the kernel asks for. */
  get waveId(): Value {
    const item = this.entry('work-item', 'u32');
    const { x, y } = this.workgroupSize;
    const at = (axis: number): Value => this.and(this.shr(item, 10 * axis), 0x3ff);
    return this.shr(this.add(at(0), this.mul(x, this.add(at(1), this.mul(y, at(2))))), 6);
  }
  /** Work-items of the grid, and of a workgroup, from the dispatch packet. */
  get gridSize(): { readonly x: Value; readonly y: Value; readonly z: Value } {
    return {
      x: this.load('u32', this.dispatchPtr, 12),
      y: this.load('u32', this.dispatchPtr, 16),
      z: this.load('u32', this.dispatchPtr, 20),
    };
  }
  get workgroupSize(): { readonly x: Value; readonly y: Value; readonly z: Value } {
    const pair = this.load('u32', this.dispatchPtr, 4);
    return {
      x: this.and(pair, 0xffff),
      y: this.shr(pair, 16),
      z: this.and(this.load('u32', this.dispatchPtr, 8), 0xffff),
    };
  }

  private entry(value: EntryValue, type: 'u32' | 'u64'): Value {
    if (!this.kernel.isKernel) {
      throw new WavesmithError(
        'probe/not-in-kernel',
        `'${this.kernel.name}' is a function: what a kernel gets at its start is not known in it.`,
      );
    }
    return { type, op: 'entry', value };
  }

  /** Bytes at an address that is one for the wave, plus a multiple of 4. Takes until it has returned. */
  load(type: 'u32' | 'u64', address: Value, offset = 0): Value {
    if (address.type !== 'u64') throw typeError("'load' wants an address of 64 bits that is one for the wave");
    if (offset % 4 !== 0 || offset < 0 || offset >= 1 << 20)
      throw typeError(`the offset ${offset} is no multiple of 4 below 1 MiB`);
    return { type, op: 'load', args: [address], offset };
  }

  /** An argument of the kernel by its name or number; the first 8 bytes of a larger one. */
  argument(which: string | number): Value {
    const args = argumentsOf(this.kernel);
    const found = typeof which === 'number' ? args[which] : args.find((a) => a.name === which);
    if (found === undefined || found.offset % 4 !== 0) {
      throw new WavesmithError(
        'probe/no-argument',
        `Kernel '${this.kernel.name}' has no argument ${which} that can be read.`,
        {
          hint: `It has: ${args.map((a, i) => a.name ?? i).join(', ') || 'none'}.`,
        },
      );
    }
    const value = this.load(found.size >= 8 ? 'u64' : 'u32', this.kernargPtr, found.offset);
    return found.size >= 4 ? value : this.and(value, 2 ** (8 * found.size) - 1);
  }

  /** Adds a value that is one for the wave to a counter, at once in memory. */
  atomicAdd(state: NamesOf<S, 'counter' | 'counters'>, value: ValueLike): void {
    const shape = this.shapes[state];
    if (shape === undefined || shape.kind === 'records') throw noState(state, 'counter');
    const added = asValue(value);
    if (isLane(added))
      throw typeError("'atomicAdd' adds a value that is one for the wave; count lanes with popcount(exec)");
    this.list.push({ kind: 'add', state, value: added });
  }

  /** Appends a record. Takes until outstanding vector memory operations have returned. */
  append<K extends NamesOf<S, 'records'>>(state: K, fields: { readonly [F in keyof FieldsOf<S[K]>]: ValueLike }): void {
    const shape = this.shapes[state];
    if (shape === undefined || shape.kind !== 'records') throw noState(state, 'list of records');
    const values: Record<string, Value> = {};
    for (const [name, type] of Object.entries(shape.fields)) {
      const given = (fields as Readonly<Record<string, ValueLike>>)[name];
      if (given === undefined) throw typeError(`the field '${name}' of '${state}' has no value`);
      values[name] = fitted(asValue(given), type, name);
    }
    for (const name of Object.keys(fields))
      if (!(name in shape.fields)) throw typeError(`'${state}' has no field '${name}'`);
    this.list.push({ kind: 'append', state, fields: values });
  }

  /** Runs a hook, whose variables are this state. */
  hook(state: NamesOf<S, 'bytes'>, hook: Hook): void {
    if (this.shapes[state]?.kind !== 'bytes') throw noState(state, 'variables of hooks');
    if (hook.steps.some((step) => step.kind === 'implicit') && implicitOffset(this.kernel) === undefined)
      throw new WavesmithError('probe/no-argument', `Kernel '${this.kernel.name}' has no implicit arguments.`);
    this.list.push({ kind: 'hook', state, hook, implicit: implicitOffset(this.kernel) ?? 0 });
  }

  /** Runs statements when a value that is one for the wave is not zero. */
  if(condition: Value, then: () => void): void {
    if (isLane(condition)) throw typeError("'if' wants a value that is one for the wave");
    const outer = this.list;
    const inner: Statement[] = [];
    this.list = inner;
    try {
      then();
    } finally {
      this.list = outer;
    }
    this.list.push({ kind: 'if', condition, body: inner });
  }
}

/** Where a kernel's implicit arguments begin, in bytes behind `kernargPtr`; undefined without them. */
export function implicitOffset(kernel: ProbeKernel): number | undefined {
  const hidden = argumentsOf(kernel).filter((one) => one.valueKind.startsWith('hidden_'));
  return hidden.length === 0 ? undefined : Math.min(...hidden.map((one) => one.offset));
}

/** The arguments that a kernel's metadata lists, hidden ones last. */
export function argumentsOf(kernel: ProbeKernel): readonly KernelArgument[] {
  return kernel.subject.kernel?.metadata?.args ?? [];
}

function fitted(value: Value, type: FieldType, name: string): Value {
  const wantsLane = type.startsWith('lane');
  if (isLane(value) !== wantsLane) {
    throw typeError(`the field '${name}' is ${wantsLane ? 'one for each lane' : 'one for the wave'}, its value is not`);
  }
  const wantsWide = type.endsWith('64');
  if (isWide(value) && !wantsWide) throw typeError(`the field '${name}' has 32 bits, its value 64`);
  return value;
}

function noState(name: string, what: string): WavesmithError {
  return new WavesmithError('probe/no-state', `The probe declares no ${what} '${name}'.`);
}
