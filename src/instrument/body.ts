// What a probe writes at a point: the methods make statements; emit.ts makes machine code of them.

import { WavesmithError } from '../base/index.ts';
import type { KernelArgument } from '../codeobject/index.ts';
import { hwregNames, type Operand, type Register, type TargetName } from '../isa/index.ts';
import { operandNamed } from '../isa/operand.ts';
import { readAsmText } from './asm-text.ts';
import type { EntryValue } from './entry-value.ts';
import type { Hook } from './hook.ts';
import { type FieldType, type Gathering, isComplement, MAX_COUNT, type Records, type StateShapes } from './state.ts';
import {
  asValue,
  combine,
  float,
  isLane,
  isWide,
  type Statement,
  typeError,
  typeOf,
  type Value,
  type ValueLike,
  type ValueType,
  writtenBy,
} from './values.ts';
import type { ProbeInstruction, ProbeKernel } from './view.ts';

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
  private readonly side: 'before' | 'after' | 'taken' | 'replace';
  private list: Statement[] = this.statements;
  private loops = 0;
  private asms = 0;

  /** Operations on floats, in every lane or on values that are one for the wave; rounding is as the kernel has set it. */
  readonly f32 = {
    add: (a: ValueLike, b: ValueLike): Value => float('f32-add', [a, b]),
    mul: (a: ValueLike, b: ValueLike): Value => float('f32-mul', [a, b]),
    min: (a: ValueLike, b: ValueLike): Value => float('f32-min', [a, b]),
    max: (a: ValueLike, b: ValueLike): Value => float('f32-max', [a, b]),
    /** 1 where a is less than b, else 0. */
    less: (a: ValueLike, b: ValueLike): Value => float('f32-less', [a, b]),
    fromU32: (a: ValueLike): Value => float('f32-from-u32', [a]),
    /** Towards zero; what does not fit is the nearest that does. */
    toU32: (a: ValueLike): Value => float('u32-from-f32', [a]),
  };
  readonly f64 = {
    add: (a: ValueLike, b: ValueLike): Value => float('f64-add', [a, b]),
    mul: (a: ValueLike, b: ValueLike): Value => float('f64-mul', [a, b]),
    fromF32: (a: ValueLike): Value => float('f64-from-f32', [a]),
  };

  constructor(
    shapes: S,
    kernel: ProbeKernel,
    instruction: ProbeInstruction | undefined,
    side: 'before' | 'after' | 'taken' | 'replace',
    target: TargetName,
  ) {
    this.side = side;
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
    if (memory === undefined) throw this.noAccess();
    return { type: memory === 'scalar' ? 'u64' : memory === 'lds' ? 'lane32' : 'lane64', op: 'address' };
  }

  private noAccess(): WavesmithError {
    const what = this.instruction === undefined ? '' : `: '${this.instruction.text}'`;
    return new WavesmithError('probe/no-address', `There is no memory access at this point${what}.`);
  }

  /** Bytes that the memory instruction of this point accesses for each lane; of a scalar one for the wave. */
  get size(): number {
    const size = this.instruction?.accessSize;
    if (size === undefined) throw this.noAccess();
    return size;
  }

  /**
   * What the vector memory or LDS instruction of this point moves, by lane: its registers from number `dword` on, two of them when it has
   * two. What a load brings is there behind it.
   */
  data(dword = 0): Value {
    const { instruction } = this;
    const isVector = instruction?.memory !== undefined && instruction.memory !== 'scalar';
    const isResult = instruction?.isLoad === true && !instruction.isStore;
    const names = isResult ? ['vdst', 'vdata', 'vdst_in'] : ['vdata', 'data', 'data0', 'src'];
    const operand = isVector
      ? names.map((name) => operandNamed(instruction.code.instruction, name)).find(isRegister)
      : undefined;
    if (instruction === undefined || operand === undefined || dword < 0 || dword >= operand.dwords)
      throw new WavesmithError(
        'probe/no-data',
        `There is no data ${dword} of a vector memory access at this point${instruction === undefined ? '' : `: '${instruction.text}'`}.`,
      );
    if (isResult && this.side !== 'after')
      throw new WavesmithError('probe/no-data', `'${instruction.text}' has not returned before it has run.`, {
        hint: 'Put the point after the instruction.',
      });
    const first = operand.index + dword;
    const wide = operand.dwords - dword >= 2;
    return this.readReg(wide ? `${operand.file}[${first}:${first + 1}]` : `${operand.file}${first}`);
  }

  /** Whole numbers without sign; by lane when one of both is by lane, of 64 bits when one has 64. */
  add(a: ValueLike, b: ValueLike): Value {
    return combine('add', a, b);
  }
  sub(a: ValueLike, b: ValueLike): Value {
    return combine('sub', a, b);
  }
  /** 32 bits, as are `min` and `max`. */
  mul(a: ValueLike, b: ValueLike): Value {
    return combine('mul', a, b);
  }
  min(a: ValueLike, b: ValueLike): Value {
    return combine('min', a, b);
  }
  max(a: ValueLike, b: ValueLike): Value {
    return combine('max', a, b);
  }
  and(a: ValueLike, b: ValueLike): Value {
    return combine('and', a, b);
  }
  or(a: ValueLike, b: ValueLike): Value {
    return combine('or', a, b);
  }
  xor(a: ValueLike, b: ValueLike): Value {
    return combine('xor', a, b);
  }
  /** By the low 5 bits of `b`, of a value of 64 bits the low 6. */
  shl(a: ValueLike, b: ValueLike): Value {
    return combine('shl', a, b);
  }
  shr(a: ValueLike, b: ValueLike): Value {
    return combine('shr', a, b);
  }
  /** 1 where they are equal, else 0. */
  equal(a: ValueLike, b: ValueLike): Value {
    return combine('equal', a, b);
  }
  /** 1 where a is less than b, without sign, else 0. */
  less(a: ValueLike, b: ValueLike): Value {
    return combine('less', a, b);
  }

  /** `then` where a value is not zero, else `otherwise`. */
  select(condition: Value, then: ValueLike, otherwise: ValueLike): Value {
    const args = [asValue(condition), asValue(then), asValue(otherwise)];
    return { type: typeOf(args.some(isLane), args.slice(1).some(isWide)), op: 'select', args };
  }

  /** The active lanes where a value by lane is not zero, a bit each. */
  ballot(value: Value): Value {
    return { type: 'u64', op: 'ballot', args: [byLane('ballot', value)] };
  }
  /** What the first active lane has; lane 0 when none is active. */
  first(value: Value): Value {
    return { type: typeOf(false, isWide(value)), op: 'first', args: [byLane('first', value)] };
  }
  /** What a lane has, by its number modulo 64. Of a value that is computed only the active lanes have one. */
  readLane(value: Value, lane: ValueLike): Value {
    const number = asValue(lane);
    if (isLane(number) || isWide(number))
      throw typeError("'readLane' takes a lane's number of 32 bits that is one for the wave");
    return {
      type: typeOf(false, isWide(value)),
      op: 'read-lane',
      args: [byLane('readLane', value), combine('and', number, 63)],
    };
  }

  /** What is left of a value of 32 bits divided by a whole number from 1 to 2^31. */
  rem(a: ValueLike, divisor: number): Value {
    const arg = asValue(a);
    if (isLane(arg) || isWide(arg)) throw typeError("'rem' works on a value of 32 bits that is one for the wave");
    if (!Number.isInteger(divisor) || divisor < 1 || divisor > 2 ** 31)
      throw typeError(`${divisor} is no whole number from 1 to 2^31`);
    return { type: 'u32', op: 'rem', args: [arg, asValue(divisor)] };
  }

  /** Bits that are one. */
  popcount(value: ValueLike): Value {
    const arg = asValue(value);
    return { type: typeOf(isLane(arg), false), op: 'popcount', args: [arg] };
  }

  /** 1 for zero, else 0. */
  isZero(value: ValueLike): Value {
    const arg = asValue(value);
    return isLane(arg) ? combine('equal', arg, 0) : { type: 'u32', op: 'is-zero', args: [arg] };
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
  /** The address of the queue that the kernel was dispatched on. */
  get queuePtr(): Value {
    return this.entry('queue', 'u64');
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
  /** The wave's number in its workgroup. */
  get waveId(): Value {
    return this.shr(this.firstItem, 6);
  }
  /** The number of the wave's first work-item in its workgroup. */
  private get firstItem(): Value {
    const item = this.entry('work-item', 'u32');
    const [x, y] = this.groupItems;
    const at = (axis: number): Value => this.and(this.shr(item, 10 * axis), 0x3ff);
    return this.add(at(0), this.mul(x, this.add(at(1), this.mul(y, at(2)))));
  }
  /** Work-items of the workgroup on the first two axes: at the end of the grid there may be fewer than elsewhere. */
  private get groupItems(): readonly [Value, Value] {
    const [grid, size, id] = [this.gridSize, this.workgroupSize, this.workgroupId];
    const items = (axis: 'x' | 'y'): Value =>
      this.min(size[axis], this.sub(grid[axis], this.mul(id[axis], size[axis])));
    return [items('x'), items('y')];
  }
  /** The work-item's position in its workgroup, by lane. */
  get workItemId(): { readonly x: Value; readonly y: Value; readonly z: Value } {
    const [width, height] = this.groupItems;
    const flat = this.add(this.firstItem, this.laneId);
    const row = this.quotient(flat, width);
    const z = this.quotient(row, height);
    return { x: this.sub(flat, this.mul(row, width)), y: this.sub(row, this.mul(z, height)), z };
  }
  /** A number by lane below 2^16 divided by one for the wave of at most 1024: half of one more is far enough from all whole numbers. */
  private quotient(a: Value, divisor: Value): Value {
    const { f32 } = this;
    const reciprocal = float('f32-reciprocal', [f32.fromU32(divisor)]);
    return f32.toU32(f32.mul(f32.add(f32.fromU32(a), 0x3f000000), reciprocal));
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

  /** An argument of the kernel by its name or number, a hidden one by its kind (`hidden_block_count_x`); the first 8 bytes of a larger one. */
  argument(which: string | number): Value {
    const args = argumentsOf(this.kernel);
    const found = typeof which === 'number' ? args[which] : args.find((a) => a.name === which || a.valueKind === which);
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

  /** Adds a value to a counter, at once in memory; of a value by lane what every active lane has. */
  atomicAdd(state: NamesOf<S, 'counter' | 'counters'>, value: ValueLike): void {
    this.gather(state, value, true);
  }

  /** Does to a counter what it declares (`u64({ by: 'max' })`), at once in memory, with a value or with that of every active lane. */
  atomic(state: NamesOf<S, 'counter' | 'counters'>, value: ValueLike): void {
    this.gather(state, value, false);
  }

  private gather(state: string, value: ValueLike, isSum: boolean): void {
    const shape = this.shapes[state];
    if (shape?.kind !== 'counter' && shape?.kind !== 'counters') throw noState(state, 'counter');
    const by = gatheringOf(state, shape, isSum);
    this.list.push({ kind: 'add', state, by, value: gathered(by, value) });
  }

  /**
   * Adds to the counter of a table that has this number: once, or once for each active lane when one of both values is by lane. A number
   * behind the end means the last counter.
   */
  atomicAddAt(state: NamesOf<S, 'table'>, index: ValueLike, value: ValueLike): void {
    this.gatherAt(state, index, value, true);
  }

  /** The same with what the table declares (`u64Table(10, { by: 'max' })`). */
  atomicAt(state: NamesOf<S, 'table'>, index: ValueLike, value: ValueLike): void {
    this.gatherAt(state, index, value, false);
  }

  private gatherAt(state: string, index: ValueLike, value: ValueLike, isSum: boolean): void {
    const shape = this.shapes[state];
    if (shape?.kind !== 'table') throw noState(state, 'table');
    const by = gatheringOf(state, shape, isSum);
    const at = asValue(index);
    if (isWide(at)) throw typeError('the number of a counter has 32 bits');
    this.list.push({ kind: 'add-at', state, by, index: at, value: gathered(by, value) });
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

  /**
   * Assembly text, an instruction or a label on each line; `%name` is an input or an output, of 64 bits also `%name.lo` and `%name.hi`.
   * It runs in the active lanes and may write its inputs. What it overwrites of the kernel's registers is declared as clobbers and put
   * back behind it. Memory operations in it have returned behind it. Errors: `probe/asm`, `instrument/text`.
   */
  asm<const O extends Readonly<Record<string, ValueType>> = Readonly<Record<never, ValueType>>>(
    text: string,
    operands: {
      readonly inputs?: Readonly<Record<string, ValueLike>>;
      readonly outputs?: O;
      readonly clobbers?: readonly string[];
    } = {},
  ): { readonly [K in keyof O]: Value } {
    const inputs = new Map(Object.entries(operands.inputs ?? {}).map(([name, value]) => [name, asValue(value)]));
    const outputs = new Map(Object.entries(operands.outputs ?? {}));
    const asm = this.asms++;
    const read = readAsmText(this.target, text, inputs, outputs, operands.clobbers ?? []);
    this.list.push({ kind: 'asm', asm, text: read, inputs: [...inputs.values()] });
    const values = read.outputs.map(({ name, type }): [string, Value] => [name, { type, op: 'output', asm, name }]);
    return Object.fromEntries(values) as { readonly [K in keyof O]: Value };
  }

  /** Runs a hook, whose variables are this state. */
  hook(state: NamesOf<S, 'bytes'>, hook: Hook): void {
    if (this.shapes[state]?.kind !== 'bytes') throw noState(state, 'variables of hooks');
    if (hook.steps.some((step) => step.kind === 'implicit') && implicitOffset(this.kernel) === undefined)
      throw new WavesmithError('probe/no-argument', `Kernel '${this.kernel.name}' has no implicit arguments.`);
    const args = hook.args.map(({ text }) => this.hookArgument(hook, text));
    this.list.push({ kind: 'hook', state, hook, implicit: implicitOffset(this.kernel) ?? 0, args });
  }

  /** The value of an argument of a hook. */
  private hookArgument({ name, isOnce }: Hook, text: string): Value {
    const known: Readonly<Record<string, () => Value>> = {
      address: () => this.address,
      data: () => this.data(),
      size: () => asValue(this.size),
      exec: () => this.exec,
      pc: () => asValue(this.instruction?.pc ?? 0),
      laneId: () => this.laneId,
      waveId: () => this.waveId,
      workItemX: () => this.workItemId.x,
      workItemY: () => this.workItemId.y,
      workItemZ: () => this.workItemId.z,
    };
    const make = Object.hasOwn(known, text) ? known[text] : undefined;
    const value = make?.() ?? (/^(0x[\da-f]+|\d+)$/i.test(text) ? asValue(BigInt(text)) : this.readReg(text));
    if (isOnce && isLane(value))
      throw new WavesmithError(
        'probe/hook',
        `The hook '${name}' runs once for the wave, and its argument '${text}' is by lane.`,
      );
    return value;
  }

  /** Runs statements when a value that is one for the wave is not zero. */
  if(condition: Value, then: () => void): void {
    if (isLane(condition)) throw typeError("'if' wants a value that is one for the wave; 'where' is for one by lane");
    const body = this.inner(then);
    this.list.push({ kind: 'if', condition, body });
  }

  /** Runs statements with those lanes active, of the active ones, where a value by lane is not zero; not at all when there is none. */
  where(condition: Value, then: () => void): void {
    if (!isLane(condition)) throw typeError("'where' wants a value by lane; 'if' is for one that is one for the wave");
    const body = this.inner(then);
    if (writtenBy(body).length > 0) throw typeError("registers of the kernel cannot be written in 'where'");
    this.list.push({ kind: 'where', condition, body });
  }

  /** Runs statements so often; they get the number of the turn, from 0. */
  loop(count: ValueLike, turn: (index: Value) => void): void {
    const times = asValue(count);
    if (isLane(times) || isWide(times)) throw typeError("'loop' wants a count of 32 bits that is one for the wave");
    const loop = this.loops++;
    const body = this.inner(() => turn({ type: 'u32', op: 'index', loop }));
    this.list.push({ kind: 'loop', loop, count: times, body });
  }

  /** The statements that a function makes. */
  private inner(make: () => void): Statement[] {
    const outer = this.list;
    const inner: Statement[] = [];
    this.list = inner;
    try {
      make();
    } finally {
      this.list = outer;
    }
    return inner;
  }
}

/** What a counter gathers by; `isSum` when it is asked to add. */
function gatheringOf(state: string, { by }: { readonly by: Gathering }, isSum: boolean): Gathering {
  if (isSum && by !== 'add') throw typeError(`'${state}' gathers by ${by}: 'atomic' and 'atomicAt' do that`);
  return by;
}

/** A value as memory has it. */
function gathered(by: Gathering, value: ValueLike): Value {
  return isComplement(by) ? combine('xor', value, MAX_COUNT) : asValue(value);
}

function byLane(name: string, value: Value): Value {
  if (!isLane(value)) throw typeError(`'${name}' works on a value by lane`);
  return value;
}

function isRegister(operand: Operand | undefined): operand is Register {
  return operand?.kind === 'reg';
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
