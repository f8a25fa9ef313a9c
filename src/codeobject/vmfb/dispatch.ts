// What an IREE module's host program says about its dispatches: grids, constants and binding ranges, where they are
// constants. Constant propagation over the VM bytecode of each function; everything else stays unknown (null).
// Source: IREE's HAL import signatures (`hal.command_buffer.dispatch`), as declared in the module itself.
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { decodeVmInstruction, isKnownBytecode, listRegister, type VmInstruction, type VmRegister } from './bytecode.ts';
import type { Vmfb } from './vmfb.ts';

/** A binding of a dispatch: a slot of the binding table or a buffer value, and the byte range in it. */
export interface VmfbDispatchBinding {
  readonly slot: number | null;
  readonly offset: bigint | null;
  readonly length: bigint | null;
}

/** One dispatch call of the host program. */
export interface VmfbDispatch {
  /** Index into the module's `executables`; null when it cannot be told. */
  readonly executable: number | null;
  /** The kernel's name; null when it cannot be told. */
  readonly kernelName: string | null;
  /** The grid in workgroups. */
  readonly workgroupCount: readonly [number | null, number | null, number | null];
  readonly constants: readonly (number | null)[];
  readonly bindings: readonly VmfbDispatchBinding[];
  /** Ordinal of the VM function that makes the call, and where. */
  readonly functionOrdinal: number;
  readonly pc: number;
}

/** A size the host program asks of one of its arguments: `hal.buffer_view.dim` on argument `argument`. */
export interface DimensionQuery {
  /** The exported function. */
  readonly function: string;
  readonly argument: number;
  readonly dimension: number;
}

export interface DispatchOptions {
  /** Answers size queries, to see the dispatches of one particular call; unanswered ones stay unknown. */
  readonly dimension?: (query: DimensionQuery) => number | undefined;
}

type Value =
  | { readonly kind: 'null' }
  | { readonly kind: 'argument'; readonly function: string; readonly index: number }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'rodata'; readonly index: number }
  | { readonly kind: 'executable'; readonly index: number }
  | { readonly kind: 'function'; readonly executable: number | null; readonly name: string };

/** A known register; a pair is kept under its low register. */
interface Known {
  readonly value: Value;
  readonly isPair: boolean;
}

class State {
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

/** The dispatches of a module, in bytecode order. Throws `vmfb/bytecode-version` for versions not known here. */
export function readDispatches(vmfb: Vmfb, options: DispatchOptions = {}): VmfbDispatch[] {
  const { major, minor, functions, data } = vmfb.bytecode;
  if (!isKnownBytecode(major)) {
    throw new WavesmithError('vmfb/bytecode-version', `VM bytecode version ${major}.${minor} is not known.`, {
      hint: 'Versions 15 to 17 are supported (IREE 3.8 to 3.13); give the grid by hand.',
    });
  }
  const analysis = new Analysis(vmfb, options);
  const bodies = functions.map((f) => new ByteReader(slice(data, f.offset, f.length), 'VM function', 'vmfb/truncated'));
  bodies.forEach((body, ordinal) => {
    analysis.run(body, ordinal, undefined);
  });
  const dispatches: VmfbDispatch[] = [];
  bodies.forEach((body, ordinal) => {
    const found = new Map<number, VmfbDispatch>();
    analysis.run(body, ordinal, (instruction, state) => {
      const dispatch = analysis.dispatchOf(instruction, state, ordinal);
      if (dispatch !== undefined) found.set(instruction.pc, dispatch);
    });
    dispatches.push(...[...found.values()].sort((a, b) => a.pc - b.pc));
  });
  return dispatches;
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
  return b.kind === a.kind && b.index === a.index;
}

const integer = (value: bigint): Value => ({ kind: 'int', value });

class Analysis {
  private readonly vmfb: Vmfb;
  private readonly executableOfRodata: ReadonlyMap<number, number>;
  /** Reference globals that hold an executable; null after contradicting stores. */
  private readonly globals = new Map<bigint, number | null>();
  private readonly options: DispatchOptions;
  private budget: number;

  constructor(vmfb: Vmfb, options: DispatchOptions) {
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
    const types = /^0([a-zA-Z]*)_/.exec(exported?.callingConvention ?? '')?.[1] ?? '';
    if (exported === undefined || !/^r*$/.test(types)) return state;
    for (let index = 0; index < types.length; index++) {
      state.set(-1 - index, { kind: 'argument', function: exported.name, index });
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

  private importName(i: VmInstruction): string | undefined {
    const ordinal = i.constants[0];
    return (ordinal & IMPORT_BIT) === 0n ? undefined : this.vmfb.importedFunctions[Number(ordinal & ~IMPORT_BIT)];
  }

  private convention(i: VmInstruction): string {
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
      return size === undefined ? undefined : integer(BigInt(size));
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

  /** The only executable that exports a kernel of this name. */
  private executableExporting(name: string): number | null {
    const found = this.vmfb.executables.filter((e) => e.exports.some((x) => x.kernelName === name));
    return found.length === 1 ? found[0].index : null;
  }

  /** The dispatch that a call makes, read along the import's own signature. */
  dispatchOf(i: VmInstruction, state: State, functionOrdinal: number): VmfbDispatch | undefined {
    if (i.mnemonic !== 'call.variadic' || this.importName(i) !== 'hal.command_buffer.dispatch') return undefined;
    const match = /^0(rr[iI]iii\w*?)C(\w+?)DC(\w+?)D_v$/.exec(this.convention(i));
    const [segments, registers] = i.lists;
    const groups = segments.filter((size) => size !== 0xffff);
    if (match === null || groups.length !== 2) return undefined;
    const types = match[1] + match[2].repeat(groups[0]) + match[3].repeat(groups[1]);
    if (types.length !== registers.length) return undefined;
    const values = registers.map((raw, k) => state.get(listRegister(raw), types[k] === 'I'));
    const fixed = match[1].length;
    const number = (value: Value | undefined) =>
      value?.kind === 'int' ? Number(BigInt.asUintN(32, value.value)) : null;
    const long = (value: Value | undefined) => (value?.kind === 'int' ? BigInt.asUintN(64, value.value) : null);
    const target = values[2];
    let executable = values[1]?.kind === 'executable' ? values[1].index : null;
    if (executable === null && this.vmfb.executables.length === 1) executable = 0;
    let kernelName: string | null = null;
    if (target?.kind === 'function') {
      kernelName = target.name;
      executable = target.executable ?? executable ?? this.executableExporting(target.name);
    } else if (target?.kind === 'int' && executable !== null) {
      kernelName = this.vmfb.executables[executable].exports[Number(target.value)]?.kernelName ?? null;
    }
    const bindings: VmfbDispatchBinding[] = [];
    for (let b = 0; b < groups[1]; b++) {
      const at = fixed + groups[0] + b * match[3].length;
      const isInTable = values[at + 2]?.kind === 'null';
      bindings.push({
        slot: isInTable ? number(values[at + 1]) : null,
        offset: long(values[at + 3]),
        length: long(values[at + 4]),
      });
    }
    return {
      executable,
      kernelName,
      workgroupCount: [number(values[3]), number(values[4]), number(values[5])],
      constants: values.slice(fixed, fixed + groups[0]).map(number),
      bindings,
      functionOrdinal,
      pc: i.pc,
    };
  }
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
