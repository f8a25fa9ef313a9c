// What an editor shows as variables: arguments, scalar and vector registers with their lanes, masks, LDS.
import { Handles, Scope } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';
import {
  activeLanes,
  codeAt,
  codeText,
  type Debugger,
  evaluate,
  flatAddress,
  formatted,
  isUnnamed,
  kernelParameters,
  operandOf,
  operandText,
  partsOf,
  registerBits,
  type ShownVariable,
  scalarOf,
  setBytes,
  setRegister,
  setVariable,
  type Value,
  variablesOf,
  variableText,
} from '../device/sim/debug/index.ts';
import type { Wave } from '../device/sim/state/wave.ts';

/** A group of variables, of one wave. */
interface Group {
  readonly wave: Wave | undefined;
  /** Of locals: calls outwards to their function. */
  readonly depth?: number;
  readonly kind:
    | 'locals'
    | 'globals'
    | 'parts'
    | 'arguments'
    | 'wave'
    | 'scalars'
    | 'vectors'
    | 'accumulators'
    | 'lanes'
    | 'lds';
  /** Of lanes: the register. */
  readonly register?: string;
  /** Of parts: what they are parts of, and how it is written. */
  readonly variable?: ShownVariable;
  readonly path?: string;
  /** Names that hide members here: those of the struct whose base or member without a name this is. */
  readonly hidden?: readonly string[];
}

const LANES = 64;
/** Bytes of LDS that are shown as words. */
const SHOWN_LDS = 1024;
const SPECIALS = ['vcc', 'exec', 'scc', 'm0', 'mode'];

/** Bits as an editor shows a register: hexadecimal, signed when that differs, and as f32. */
function registerText(bits: bigint): string {
  const word = Number(BigInt.asUintN(32, bits));
  const float = new Float32Array(Uint32Array.of(word).buffer)[0] as number;
  const signed = word | 0;
  const small = Math.abs(float) > 1e-20 && Math.abs(float) < 1e20 ? `  ${Number(float.toPrecision(7))}f` : '';
  return `0x${word.toString(16)}  ${signed}${small}`;
}

/** Elements in the line of a variable whose parts are shown below it. */
const PREVIEWED = 8;

export class Variables {
  private readonly led: Debugger;
  private readonly groups = new Handles<Group>();

  constructor(led: Debugger) {
    this.led = led;
  }

  /** References end with each stop. */
  reset(): void {
    this.groups.reset();
  }

  scopes(wave: Wave | undefined, depth = 0): DebugProtocol.Scope[] {
    const scope = (name: string, kind: Group['kind'], isExpensive: boolean): DebugProtocol.Scope =>
      new Scope(name, this.groups.create({ wave, kind, depth }), isExpensive);
    const all = wave === undefined || this.led.info === undefined ? [] : [scope('Locals', 'locals', false)];
    all.push(scope('Arguments', 'arguments', false));
    if (wave === undefined) return all;
    if (this.hasGlobals(wave)) all.push(scope('Globals', 'globals', true));
    all.push(scope('Wave', 'wave', false), scope('Scalar registers', 'scalars', true));
    all.push(scope(`Vector registers (lane ${this.led.lane})`, 'vectors', true));
    if ((this.led.registers?.agprs ?? 0) > 0) all.push(scope('Accumulation registers', 'accumulators', true));
    if (wave.workgroup.lds.length > 0) all.push(scope('LDS', 'lds', true));
    return all;
  }

  /** What is in a group, the part of it that is asked for; undefined when the reference has ended. */
  list(asked: DebugProtocol.VariablesArguments): DebugProtocol.Variable[] | undefined {
    const { variablesReference, filter } = asked;
    const start = Math.max(0, asked.start ?? 0);
    const count = Math.max(0, asked.count ?? 0);
    const group = this.groups.get(variablesReference);
    // Elements are read when they are asked for.
    if (group?.variable?.type.kind === 'array')
      return filter === 'named' ? [] : this.all(group, start, count > 0 ? count : undefined);
    const isIndexed = (name: string): boolean => /^\[\d+\]$/.test(name);
    const all = this.all(group, 0, undefined);
    const meant = filter === undefined ? all : all?.filter(({ name }) => isIndexed(name) === (filter === 'indexed'));
    return meant?.slice(start, count > 0 ? start + count : undefined);
  }

  private all(
    group: Group | undefined,
    start: number,
    count: number | undefined,
  ): DebugProtocol.Variable[] | undefined {
    if (group === undefined) return undefined;
    const { wave } = group;
    if (group.kind === 'arguments') return this.arguments();
    if (wave === undefined) return [];
    if (wave !== this.led.selected) this.led.select(wave);
    this.led.frame = group.depth ?? 0;
    switch (group.kind) {
      case 'locals':
      case 'globals': {
        const isGlobal = group.kind === 'globals';
        const all = variablesOf(wave, this.led.lane, this.led);
        return all.filter((v) => (v.kind === 'global') === isGlobal).map((v) => this.variable(v, v.name));
      }
      case 'parts':
        return this.parts(group, start, count);
      case 'wave':
        return this.wave(wave);
      case 'scalars':
        return this.each('s', Math.min(102, this.led.registers?.sgprs ?? 102), wave, false);
      case 'vectors':
        return this.each('v', this.led.registers?.vgprs ?? 256, wave, true);
      case 'accumulators':
        return this.each('a', this.led.registers?.agprs ?? 256, wave, true);
      case 'lanes':
        return this.lanes(wave, group.register ?? 'v0');
      default:
        return this.lds(wave);
    }
  }

  private hasGlobals(wave: Wave): boolean {
    return variablesOf(wave, this.led.lane, this.led).some((v) => v.kind === 'global' && v.bytes !== undefined);
  }

  private arguments(): DebugProtocol.Variable[] {
    const described = kernelParameters(this.led.selected, this.led.lane, this.led);
    return this.led.options.arguments().map(({ name, address, size }, i) => {
      const parameter = described?.[i];
      if (parameter !== undefined) return this.variable(parameter, parameter.name);
      const label = name === '' ? `arg${i}` : name;
      const reference = address === undefined ? {} : { memoryReference: `0x${address.toString(16)}` };
      const value = address === undefined ? this.valueOf(label) : `0x${address.toString(16)} (${size} bytes)`;
      return { name: label, value, evaluateName: label, variablesReference: 0, ...reference };
    });
  }

  /** A variable of the source program, its parts below it. */
  private variable(
    shown: ShownVariable,
    path: string,
    { isWritten = true, hidden = [] as readonly string[] } = {},
  ): DebugProtocol.Variable {
    const { type, wave } = shown;
    const { frame: depth } = this.led;
    const group: Group = { wave, kind: 'parts', variable: shown, path, depth, hidden };
    const address = shownAddress(shown);
    return {
      name: shown.name,
      value: operandText(shown, '', { elements: PREVIEWED }),
      type: type.name,
      variablesReference: hasParts(shown) ? this.groups.create(group) : 0,
      ...(isWritten ? { evaluateName: path } : {}),
      ...(type.kind === 'array' ? { indexedVariables: type.count } : {}),
      ...(address === undefined ? {} : { memoryReference: `0x${address.toString(16)}` }),
    };
  }

  /** What an expression is, its parts below it. */
  shown(text: string): DebugProtocol.Variable {
    const code = codeAt(this.led, text);
    if (code !== undefined) return { name: text, value: codeText(this.led, code), variablesReference: 0 };
    const operand = operandOf(this.led, text);
    if (typeof operand === 'object') {
      const { home } = operand;
      if (operand.bytes === undefined && home?.kind === 'memory') evaluate(this.led, text);
      return this.variable({ ...operand, name: text }, text);
    }
    return { name: text, value: operandText(operand), variablesReference: 0 };
  }

  private parts({ variable, path = '', hidden = [] }: Group, start: number, count: number | undefined) {
    if (variable === undefined) return [];
    const names = variable.type.kind === 'struct' ? variable.type.members.map(({ name }) => name) : [];
    return partsOf(variable, start, count).map((part) => {
      // Members of bases, and of what has no name, are written as members of the whole.
      if (variable.type.kind === 'struct' && isUnnamed(part.name)) {
        return this.variable(part, path, { isWritten: false, hidden: [...hidden, ...names] });
      }
      return this.variable(part, pathOf(variable, path, part.name), { isWritten: !hidden.includes(part.name) });
    });
  }

  private valueOf(text: string): string {
    try {
      return formatted(evaluate(this.led, text));
    } catch (error) {
      if (error instanceof WavesmithError) return `(${error.message})`;
      throw error;
    }
  }

  private wave(w: Wave): DebugProtocol.Variable[] {
    const one = (name: string, value: string, evaluateName?: string): DebugProtocol.Variable => ({
      name,
      value,
      variablesReference: 0,
      ...(evaluateName === undefined ? {} : { evaluateName }),
    });
    return [
      one('pc', `0x${this.led.pcOf(w).toString(16)}`, 'pc'),
      one('workgroup', w.workgroup.id.join(', ')),
      one('wave', String(w.index)),
      one('lane', String(this.led.lane), 'lane'),
      one('active lanes', String(activeLanes(w).length)),
      one('instructions', String(w.executed)),
      ...SPECIALS.map((name) => one(name, formatted(evaluate(this.led, `$${name}`), 'x'), `$${name}`)),
    ];
  }

  private each(file: string, count: number, wave: Wave, hasLanes: boolean): DebugProtocol.Variable[] {
    return Array.from({ length: count }, (_, i) => {
      const name = `${file}${i}`;
      return {
        name,
        value: registerText(bits(evaluate(this.led, `$${name}`))),
        evaluateName: `$${name}`,
        variablesReference: hasLanes ? this.groups.create({ wave, kind: 'lanes', register: name }) : 0,
        ...(hasLanes ? { indexedVariables: LANES } : {}),
      };
    });
  }

  private lanes(w: Wave, register: string): DebugProtocol.Variable[] {
    return Array.from({ length: LANES }, (_, lane) => {
      const name = `$${register}[${lane}]`;
      const off = w.isActive(lane) ? {} : { presentationHint: { attributes: ['readOnly', 'lane off'] } };
      return {
        name: `[${lane}]`,
        value: `${registerText(bits(evaluate(this.led, name)))}${w.isActive(lane) ? '' : '  (off)'}`,
        evaluateName: name,
        variablesReference: 0,
        ...off,
      };
    });
  }

  private lds(w: Wave): DebugProtocol.Variable[] {
    const size = Math.min(SHOWN_LDS, w.workgroup.lds.length & ~3);
    return Array.from({ length: size / 4 }, (_, i) => {
      const name = `lds.u32(${4 * i})`;
      return {
        name: `+${4 * i}`,
        value: registerText(bits(evaluate(this.led, name))),
        evaluateName: name,
        variablesReference: 0,
        memoryReference: `lds:${4 * i}`,
      };
    });
  }

  /** Sets a register or a lane of one, a variable, a word of LDS; what cannot be set is `run/bad-register`. */
  set(reference: number, name: string, text: string): string {
    const group = this.groups.get(reference);
    const w = group?.wave;
    if (group === undefined || w === undefined || group.kind === 'arguments') {
      throw new WavesmithError('run/bad-register', `'${name}' cannot be set here.`, {
        hint: 'Registers and variables can be set; memory by `set *f32(ADDRESS) VALUE` in the debug console.',
      });
    }
    if (w !== this.led.selected) this.led.select(w);
    if (group.kind === 'locals' || group.kind === 'globals' || group.kind === 'parts')
      return this.setShown(w, group, name, text);
    if (group.kind === 'wave' && name === 'pc') {
      this.led.jump(
        w,
        this.led.options.symbols.resolveInstruction(`0x${registerBits(evaluate(this.led, text)).toString(16)}`),
      );
      return `0x${this.led.pcOf(w).toString(16)}`;
    }
    if (group.kind === 'lds') {
      if (!/^\+\d{1,9}$/.test(name)) throw new WavesmithError('run/bad-value', `'${name}' is no word of LDS.`);
      const word = Uint32Array.of(Number(BigInt.asUintN(32, registerBits(evaluate(this.led, text)))));
      setBytes(this.led, w, 'lds', Number(name), new Uint8Array(word.buffer));
      return registerText(bits(evaluate(this.led, `lds.u32(${Number(name)})`)));
    }
    const register = group.kind === 'lanes' ? `${group.register ?? ''}${name}` : name;
    const value = registerBits(evaluate(this.led, text));
    // Without a lane of its own, a vector register means the lane that is shown.
    const target =
      group.kind === 'vectors' || group.kind === 'accumulators' ? `${register}[${this.led.lane}]` : register;
    setRegister(this.led, w, target, value);
    const now = evaluate(this.led, `$${target}`);
    return SPECIALS.includes(register) ? formatted(now, 'x') : registerText(bits(now));
  }

  /** Sets a variable of the source program, or a part of one. */
  private setShown(w: Wave, { variable, kind }: Group, name: string, text: string): string {
    const found =
      variable === undefined || kind !== 'parts'
        ? variablesOf(w, this.led.lane, this.led).find((one) => one.name === name)
        : partNamed(variable, name);
    if (found === undefined) throw new WavesmithError('run/bad-value', `There is no variable '${name}' here.`);
    setVariable(this.led, w, found, text);
    return variableText(found, '', { left: PREVIEWED });
  }

  /** How a part is written in an expression; undefined when it has no value of its own. */
  private partPath({ variable, path = '', hidden = [] }: Group, name: string): string | undefined {
    const part = variable === undefined ? undefined : partNamed(variable, name);
    if (variable === undefined || part?.bytes === undefined || hidden.includes(name) || isUnnamed(name))
      return undefined;
    return pathOf(variable, path, name);
  }

  /** What a data breakpoint on a variable watches. */
  watched(reference: number, name: string): string | undefined {
    const group = this.groups.get(reference);
    if (group === undefined || group.kind === 'arguments') return undefined;
    if (group.kind === 'parts') return this.partPath(group, name);
    if (group.kind === 'lanes') return `$${group.register ?? ''}${name}`;
    if (group.kind === 'lds') return `lds.u32(${name.replace('+', '')})`;
    if (group.kind === 'locals' || group.kind === 'globals') return name;
    // Of the wave some are no registers, and change with what is looked at.
    return group.kind === 'wave' && !SPECIALS.includes(name) ? undefined : `$${name}`;
  }
}

/** Whether there is something to unfold. */
function hasParts(shown: ShownVariable): boolean {
  const { kind } = shown.type;
  if (kind === 'pointer') return partsOf(shown).length > 0;
  return (kind === 'struct' || kind === 'array') && shown.bytes !== undefined;
}

/** Where an editor looks at memory: what a pointer points to, or the variable itself; undefined for what is in no memory. */
function shownAddress(shown: ShownVariable): bigint | number | undefined {
  if (shown.type.kind !== 'pointer') return flatAddress(shown);
  const value = scalarOf(shown);
  return typeof value === 'bigint' && value > 0n ? value : undefined;
}

function partNamed(variable: ShownVariable, name: string): ShownVariable | undefined {
  const index = variable.type.kind === 'array' ? /^\[(\d{1,9})\]$/.exec(name)?.[1] : undefined;
  return partsOf(variable, Number(index ?? 0), index === undefined ? undefined : 1).find((one) => one.name === name);
}

const bits = (value: Value): bigint => (typeof value === 'bigint' ? value : BigInt(Math.trunc(value)));

/** How a part of a variable is written, when the variable is written as `path`. */
function pathOf({ type: { kind } }: ShownVariable, path: string, name: string): string {
  return kind === 'pointer' ? `(*${path})` : kind === 'array' ? `${path}${name}` : `${path}.${name}`;
}
