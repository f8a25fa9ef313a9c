// Constant propagation over the VM bytecode of an IREE module's functions: which registers hold constants, arguments, executables
// and kernels at each instruction. Whoever wants to know something about the host program looks at the calls with it.
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { decodeVmInstruction, isKnownBytecode, listRegister, type VmInstruction, type VmRegister } from './bytecode.ts';
import type { Vmfb } from './vmfb.ts';

/** A size the host program asks of one of its arguments: `hal.buffer_view.dim` on argument `argument`. */
export interface DimensionQuery {
  /** The exported function. */
  readonly function: string;
  readonly argument: number;
  readonly dimension: number;
}

export interface PropagationOptions {
  /** Answers size queries, to see the dispatches of one particular call; unanswered ones stay unknown. */
  readonly dimension?: (query: DimensionQuery) => number | undefined;
}

/** A size of a buffer view: a number, the size of an argument's dimension, or not known. */
export type ViewSize = number | { readonly argument: number; readonly dimension: number } | null;

/** What the host program says a buffer view is. */
export interface ViewType {
  /** IREE's element type code; null when it is not a constant. */
  readonly elementType: number | null;
  readonly shape: readonly ViewSize[];
}

/** What is known of a register. */
export type Value =
  | { readonly kind: 'null' }
  | { readonly kind: 'argument'; readonly function: string; readonly index: number }
  /** The size of a dimension of an argument. */
  | { readonly kind: 'dimension'; readonly argument: number; readonly dimension: number }
  /** A buffer view that the program made. */
  | { readonly kind: 'view'; readonly type: ViewType }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'rodata'; readonly index: number }
  | { readonly kind: 'executable'; readonly index: number }
  | { readonly kind: 'function'; readonly executable: number | null; readonly name: string };

/** A known register; a pair is kept under its low register. */
interface Known {
  readonly value: Value;
  readonly isPair: boolean;
}

/** The known registers at an instruction. */
export class State {
  private readonly known: Map<VmRegister, Known>;

  constructor(from?: State) {
    this.known = new Map(from?.known);
  }

  /** The value of a register, or of the pair that starts there. */
  get(register: VmRegister, isPair = false): Value | undefined {
    const found = this.known.get(register);
    return found?.isPair === isPair ? found.value : undefined;
  }

  /** Writes a register or a pair; a write to half of a known pair makes the pair unknown. */
  set(register: VmRegister, value: Value | undefined, isPair = false): void {
    if (register >= 0) {
      if (this.known.get(register - 1)?.isPair) this.known.delete(register - 1);
      if (isPair) this.known.delete(register + 1);
    }
    if (value === undefined) this.known.delete(register);
    else this.known.set(register, { value, isPair });
  }

  /** The state behind a branch: all moves happen at once, a pair moves when both halves do. */
  moved(remap: readonly (readonly [VmRegister, VmRegister])[]): State {
    const after = new State(this);
    const pairs = new Set<VmRegister>();
    for (const [from, to] of remap) {
      const found = this.known.get(from);
      const isWhole = found?.isPair && remap.some(([f, t]) => f === from + 1 && t === to + 1);
      if (isWhole) pairs.add(to + 1);
      if (!pairs.has(to)) after.set(to, found?.isPair && !isWhole ? undefined : found?.value, isWhole === true);
    }
    return after;
  }

  /** Keeps what `other` agrees with; true when something was dropped. */
  meet(other: State): boolean {
    let changed = false;
    for (const [register, { value, isPair }] of this.known) {
      if (same(value, other.get(register, isPair))) continue;
      this.known.delete(register);
      changed = true;
    }
    return changed;
  }
}

const IMPORT_BIT = 0x80000000n;

/** Sees each instruction with the state before it. */
export type Visitor = (instruction: VmInstruction, state: State, analysis: HostProgram) => void;

/** What a visitor may ask about a call. */
export type HostProgram = Pick<Analysis, 'importName' | 'convention' | 'operands' | 'executableExporting' | 'vmfb'>;

/**
 * Propagates constants through every function and visits the instructions of each. Throws `vmfb/bytecode-version` for versions not
 * known here.
 */
export function visitHostProgram(
  vmfb: Vmfb,
  options: PropagationOptions,
  visitorOf: (ordinal: number) => Visitor | undefined,
): void {
  const { major, minor, functions, data } = vmfb.bytecode;
  if (!isKnownBytecode(major)) {
    throw new WavesmithError(
      'vmfb/bytecode-version',
      `The module has VM bytecode of version ${major}.${minor}; versions 15 to 17 are known.`,
      {
        hint: 'IREE 3.8 to 3.13 write them: compile the model with one of these, or take its code objects with wavesmith extract.',
      },
    );
  }
  const analysis = new Analysis(vmfb, options);
  const bodies = functions.map((f) => new ByteReader(slice(data, f.offset, f.length), 'VM function', 'vmfb/truncated'));
  bodies.forEach((body, ordinal) => {
    analysis.run(body, ordinal, undefined);
  });
  bodies.forEach((body, ordinal) => {
    const visitor = visitorOf(ordinal);
    if (visitor !== undefined) analysis.run(body, ordinal, (i, state) => visitor(i, state, analysis));
  });
}

function slice(data: Uint8Array, offset: number, length: number): Uint8Array {
  return new ByteReader(data, 'VM bytecode', 'vmfb/truncated').slice(offset, length);
}

function same(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined || a.kind !== b.kind) return false;
  if (a.kind === 'int') return b.kind === 'int' && a.value === b.value;
  if (a.kind === 'function') return b.kind === 'function' && a.name === b.name && a.executable === b.executable;
  if (a.kind === 'null') return true;
  if (a.kind === 'argument') return b.kind === 'argument' && a.index === b.index;
  if (a.kind === 'dimension') {
    return b.kind === 'dimension' && a.argument === b.argument && a.dimension === b.dimension;
  }
  if (a.kind === 'view') return b.kind === 'view' && JSON.stringify(a.type) === JSON.stringify(b.type);
  return b.kind === a.kind && b.index === a.index;
}

const integer = (value: bigint): Value => ({ kind: 'int', value });

/** The propagation over one module. */
class Analysis {
  readonly vmfb: Vmfb;
  private readonly executableOfRodata: ReadonlyMap<number, number>;
  /** Reference globals that hold an executable; null after contradicting stores. */
  private readonly globals = new Map<bigint, number | null>();
  private readonly options: PropagationOptions;
  private budget: number;

  constructor(vmfb: Vmfb, options: PropagationOptions) {
    this.vmfb = vmfb;
    this.options = options;
    this.executableOfRodata = new Map(vmfb.executables.map((e) => [e.rodata.index, e.index]));
    this.budget = 64 * vmfb.bytecode.data.length + 4096;
  }

  /** Propagates constants to a fixed point; `visit` then sees each instruction with the state before it. */
  run(
    body: ByteReader,
    ordinal: number,
    visit: ((instruction: VmInstruction, state: State) => void) | undefined,
  ): void {
    if (body.length === 0) return;
    const entry = new Map<number, State>([[0, this.entryState(ordinal)]]);
    const pending = [0];
    while (pending.length > 0) {
      const start = pending.pop()!;
      this.walk(body, start, new State(entry.get(start)), undefined, (target, state) => {
        const known = entry.get(target);
        if (known === undefined) entry.set(target, state);
        else if (!known.meet(state)) return;
        if (!pending.includes(target)) pending.push(target);
      });
    }
    if (visit === undefined) return;
    for (const [start, state] of entry) this.walk(body, start, new State(state), visit, () => {});
  }

  /** The reference arguments of an exported function, which begin in the first reference registers. */
  private entryState(ordinal: number): State {
    const state = new State();
    const exported = this.vmfb.exportedFunctions.find((f) => f.ordinal === ordinal);
    const types = /^0([iIfFr]*)_/.exec(exported?.callingConvention ?? '')?.[1] ?? '';
    if (exported === undefined) return state;
    let references = 0;
    for (const [index, type] of [...types].entries()) {
      if (type === 'r') state.set(-1 - references++, { kind: 'argument', function: exported.name, index });
    }
    return state;
  }

  /** Executes one block abstractly. */
  private walk(
    body: ByteReader,
    start: number,
    state: State,
    visit: ((instruction: VmInstruction, state: State) => void) | undefined,
    flow: (target: number, state: State) => void,
  ): void {
    for (let pc = start; pc < body.length; ) {
      const { instruction, next } = decodeVmInstruction(body, pc);
      this.budget -= next - pc;
      if (this.budget < 0) {
        throw new WavesmithError('vmfb/bytecode-too-complex', 'The host program is too tangled to analyse.', { pc });
      }
      visit?.(instruction, state);
      this.execute(instruction, state);
      for (const { target, remap } of instruction.branches) {
        flow(target, state.moved(remap));
      }
      const { mnemonic } = instruction;
      const ends = instruction.branches.length > 0 || mnemonic === 'return' || mnemonic === 'fail';
      if (ends) return;
      pc = next;
      if (pc < body.length && body.u8(pc) === 0x79) {
        flow(pc, new State(state));
        return;
      }
    }
  }

  private execute(i: VmInstruction, state: State): void {
    const isCall = i.mnemonic.startsWith('call');
    if (isCall) {
      const value = this.callResult(i, state);
      const types = this.convention(i).split('_')[1] ?? '';
      i.results.forEach((result, k) => {
        const isPair = result >= 0 && types[k] !== 'i' && types[k] !== 'f';
        state.set(result, i.results.length === 1 ? value : undefined, isPair);
      });
      return;
    }
    if (i.mnemonic === 'global.store.ref') {
      const value = state.get(i.inputs[0]);
      const index = value?.kind === 'executable' ? value.index : null;
      const before = this.globals.get(i.constants[0]);
      if (index !== null || before !== undefined) {
        this.globals.set(i.constants[0], before === undefined || before === index ? index : null);
      }
      return;
    }
    if (i.output !== undefined) state.set(i.output, this.evaluate(i, state), i.outputIs64);
  }

  private evaluate(i: VmInstruction, state: State): Value | undefined {
    switch (i.mnemonic) {
      case 'const.i32':
      case 'const.i64':
        return integer(i.constants[0]);
      case 'const.i32.zero':
      case 'const.i64.zero':
        return integer(0n);
      case 'const.ref.zero':
        return { kind: 'null' };
      case 'const.ref.rodata':
        return { kind: 'rodata', index: Number(i.constants[0]) };
      case 'global.load.ref': {
        const index = this.globals.get(i.constants[0]);
        return index === undefined || index === null ? undefined : { kind: 'executable', index };
      }
      case 'assign.ref':
      case 'cast.any.ref':
        return state.get(i.inputs[0]);
      default: {
        const inputs = i.inputs.map((register, k) => state.get(register, i.inputsAre64[k]));
        if (i.mnemonic.startsWith('select.')) {
          const condition = inputs[0];
          if (condition?.kind === 'int') return condition.value !== 0n ? inputs[1] : inputs[2];
          return same(inputs[1], inputs[2]) ? inputs[1] : undefined;
        }
        const values: bigint[] = [];
        for (const input of inputs) {
          if (input?.kind !== 'int') return undefined;
          values.push(input.value);
        }
        const result = arithmetic(i.mnemonic, values);
        return result === undefined ? undefined : integer(result);
      }
    }
  }

  /** The imported function that a call goes to. */
  importName(i: VmInstruction): string | undefined {
    const ordinal = i.constants[0];
    return (ordinal & IMPORT_BIT) === 0n ? undefined : this.vmfb.importedFunctions[Number(ordinal & ~IMPORT_BIT)];
  }

  /** The calling convention of an imported function: `0rriiCID_v`. */
  convention(i: VmInstruction): string {
    const ordinal = i.constants[0];
    if ((ordinal & IMPORT_BIT) === 0n) return '';
    return this.vmfb.importConventions[Number(ordinal & ~IMPORT_BIT)] ?? '';
  }

  private callResult(i: VmInstruction, state: State): Value | undefined {
    const name = this.importName(i);
    const operands = i.lists.at(-1)!.map((raw) => state.get(listRegister(raw)));
    if (name === 'hal.executable.create') {
      for (const operand of operands) {
        const index = operand?.kind === 'rodata' ? this.executableOfRodata.get(operand.index) : undefined;
        if (index !== undefined) return { kind: 'executable', index };
      }
    }
    if (name === 'hal.buffer_view.dim') {
      const [view, dimension] = operands;
      if (view?.kind !== 'argument' || dimension?.kind !== 'int') return undefined;
      const query = { function: view.function, argument: view.index, dimension: Number(dimension.value) };
      const size = this.options.dimension?.(query);
      if (size !== undefined) return integer(BigInt(size));
      return { kind: 'dimension', argument: view.index, dimension: Number(dimension.value) };
    }
    if (name === 'hal.buffer_view.create') {
      const values = this.operands(i, state);
      return values && { kind: 'view', type: viewType(values[3], values.slice(5)) };
    }
    if (name === 'hal.executable.lookup.function') {
      const [executable, text] = operands;
      const segment = text?.kind === 'rodata' ? this.vmfb.rodata[text.index] : undefined;
      if (segment === undefined || segment.length > 65536) return undefined;
      const function_ = new TextDecoder().decode(segment.bytes).replace(/\0+$/, '');
      return {
        kind: 'function',
        executable: executable?.kind === 'executable' ? executable.index : null,
        name: function_,
      };
    }
    return undefined;
  }

  /** The known operands of a call, flat; undefined when the call does not fit its convention. */
  operands(i: VmInstruction, state: State): (Value | undefined)[] | undefined {
    const types = operandTypes(i, this.convention(i));
    const registers = i.lists.at(-1) ?? [];
    if (types === undefined || types.length !== registers.length) return undefined;
    return registers.map((raw, k) => state.get(listRegister(raw), types[k] === 'I' || types[k] === 'F'));
  }

  /** The only executable that exports a kernel of this name. */
  executableExporting(name: string): number | null {
    const found = this.vmfb.executables.filter((e) => e.exports.some((x) => x.kernelName === name));
    return found.length === 1 ? found[0].index : null;
  }
}

/** The operand types of a call, variadic groups repeated as often as the call has them. */
function operandTypes(i: VmInstruction, convention: string): string | undefined {
  const text = /^0(.*?)_/.exec(convention)?.[1];
  if (text === undefined) return undefined;
  const segments = i.lists.length > 1 ? i.lists[0].filter((size) => size !== 0xffff) : [];
  let group = 0;
  const types = text.replace(/C(\w*?)D/g, (_, inner: string) => inner.repeat(segments[group++] ?? 0));
  return group === segments.length ? types : undefined;
}

/** The type of a view from the element type and sizes that a call is given. */
export function viewType(elementType: Value | undefined, sizes: readonly (Value | undefined)[]): ViewType {
  return {
    elementType: elementType?.kind === 'int' ? Number(BigInt.asUintN(32, elementType.value)) : null,
    shape: sizes.map((size) => {
      if (size?.kind === 'int') return Number(size.value);
      return size?.kind === 'dimension' ? { argument: size.argument, dimension: size.dimension } : null;
    }),
  };
}

/** The value of an integer operation on known operands, as a signed number of its width. */
function arithmetic(mnemonic: string, v: readonly bigint[]): bigint | undefined {
  const parts = mnemonic.split('.');
  const width = parts.includes('i64') ? 64 : 32;
  const signed = (x: bigint, bits = width) => BigInt.asIntN(bits, x);
  const unsigned = (x: bigint, bits = width) => BigInt.asUintN(bits, x);
  const isUnsigned = parts.includes('u');
  const [a, b] = isUnsigned ? v.map((x) => unsigned(x)) : v.map((x) => signed(x));
  const wrap = (x: bigint) => signed(x);
  switch (parts[0]) {
    case 'add':
      return wrap(a + b);
    case 'sub':
      return wrap(a - b);
    case 'mul':
      return wrap(a * b);
    case 'div':
      return b === 0n ? undefined : wrap(a / b);
    case 'rem':
      return b === 0n ? undefined : wrap(a % b);
    case 'fma':
      return wrap(v[0] * v[1] + v[2]);
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'not':
      return ~a;
    case 'min':
      return wrap([a, b][a < b ? 0 : 1]);
    case 'max':
      return wrap([a, b][a > b ? 0 : 1]);
    case 'shl':
      return wrap(v[0] << unsigned(v[1], width === 64 ? 6 : 5));
    case 'shr':
      return wrap(a >> unsigned(v[1], width === 64 ? 6 : 5));
    case 'trunc':
      return mnemonic === 'trunc.i64.i32' ? signed(v[0], 32) : unsigned(v[0], mnemonic.endsWith('i8') ? 8 : 16);
    case 'ext': {
      const from = mnemonic.startsWith('ext.i8') ? 8 : mnemonic.startsWith('ext.i16') ? 16 : 32;
      return isUnsigned ? unsigned(v[0], from) : signed(v[0], from);
    }
    case 'cmp': {
      const results: Record<string, boolean> = { eq: a === b, ne: a !== b, lt: a < b, nz: a !== 0n };
      const result = results[parts[1]];
      return result === undefined ? undefined : result ? 1n : 0n;
    }
    default:
      return undefined;
  }
}
