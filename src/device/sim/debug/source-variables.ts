// Variables of the source program: their bytes as a lane of a wave sees them, and what those mean.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugPlace, DebugRegister, DebugType, DebugVariable } from '../../../codeobject/index.ts';
import { flatSpace } from '../interpreter/spaces.ts';
import { WAVE_SCRATCH_BASE } from '../state/layout.ts';
import { MemoryFault } from '../state/region.ts';
import { AGPR_BASE, LANES, type Wave } from '../state/wave.ts';
import { formatted } from './format.ts';
import type { ScopeSource } from './scope-source.ts';
import { bitsOf, fromBits, type Value, valueType } from './value.ts';

/** Where the bytes of a variable are. */
export type VariableHome =
  | { readonly kind: 'memory'; readonly space: 'global' | 'lds' | 'scratch' | 'flat'; readonly address: number }
  /** From a byte of these registers on, one word each. */
  | { readonly kind: 'registers'; readonly names: readonly string[]; readonly offset: number };

/** What a variable is of: a parameter or another variable of a function, or of the whole program. */
export type VariableKind = 'parameter' | 'local' | 'global';

/** A variable, or a part of one, with its bytes. */
export interface ShownVariable {
  readonly name: string;
  readonly kind: VariableKind;
  readonly type: DebugType;
  /** Undefined when it cannot be read; `why` says why. */
  readonly bytes: Uint8Array | undefined;
  readonly why: string;
  /** Undefined when it cannot be set. */
  readonly home: VariableHome | undefined;
  readonly wave: Wave;
  readonly lane: number;
}

/** Bytes of a variable that are read at most. */
const MOST = 1 << 16;

/** All variables in scope where a wave is: those of the function that is shown, and of the whole program. */
export function variablesOf(w: Wave, lane: number, source: ScopeSource): ShownVariable[] {
  const at = placeOf(w, source);
  if (at === undefined || source.info === undefined) return [];
  return source.info.variables(at.pc, at.inlined).map((variable) => shown(variable, at.pc, w, lane, source));
}

/** The variable of a name where a wave is. */
export function findVariable(w: Wave, lane: number, source: ScopeSource, name: string): ShownVariable | undefined {
  const at = placeOf(w, source);
  const found = at === undefined ? undefined : source.info?.variables(at.pc, at.inlined).find((v) => v.name === name);
  return found === undefined || at === undefined ? undefined : shown(found, at.pc, w, lane, source);
}

/** Where the function stands whose variables are meant. */
function placeOf(w: Wave, source: ScopeSource): { readonly pc: number; readonly inlined: number } | undefined {
  const frame = source.selectedFrame?.(w);
  const pc = frame?.pc ?? source.pcOf(w);
  return pc === undefined ? undefined : { pc, inlined: frame?.inlined ?? 0 };
}

/** Whether the function whose variables are meant waits for one that it has called. */
const isOuter = (w: Wave, source: ScopeSource): boolean => source.selectedFrame?.(w)?.scalars !== undefined;

const OUTER_VECTOR = 'it is in a vector register, which the function that was called may use';

/** Whether a place in an outer function cannot be known: nobody has kept its vector registers. */
function isOverwritten(place: DebugPlace): boolean {
  const isVector = ({ file }: DebugRegister): boolean => file !== 's';
  if (place.kind === 'registers') return place.parts.some(({ register }) => isVector(register));
  return place.kind === 'scratch' && isVector(place.base);
}

function shown(variable: DebugVariable, pc: number, w: Wave, lane: number, source: ScopeSource): ShownVariable {
  const found = variable.place(pc);
  const place: DebugPlace = isOuter(w, source) && isOverwritten(found) ? { kind: 'absent', why: OUTER_VECTOR } : found;
  const size = Math.min(variable.type.bytes, MOST);
  const bytes = place.kind === 'absent' ? undefined : bytesAt(place, size, w, lane, source);
  const why = place.kind === 'absent' ? place.why : bytes === undefined ? 'its memory is not there' : '';
  const home = homeOf(place, w, lane, source);
  const kind = variable.isGlobal ? 'global' : variable.isParameter ? 'parameter' : 'local';
  return { name: variable.name, kind, type: variable.type, bytes, why, home, wave: w, lane };
}

function homeOf(place: DebugPlace, w: Wave, lane: number, source: ScopeSource): VariableHome | undefined {
  switch (place.kind) {
    case 'registers': {
      // The called function gives them back as they were.
      if (isOuter(w, source)) return undefined;
      // Registers of which a part is used have no single order of bytes.
      if (place.parts.some(({ bytes }, i) => bytes % 4 !== 0 && i < place.parts.length - 1)) return undefined;
      const names = place.parts.flatMap(({ register: { file, index }, bytes }) =>
        Array.from({ length: Math.ceil(bytes / 4) }, (_, i) => `${file}${index + i}${file === 's' ? '' : `[${lane}]`}`),
      );
      return { kind: 'registers', names, offset: 0 };
    }
    case 'scratch':
      return { kind: 'memory', space: 'scratch', address: scratchOffset(place.base, w, lane, source) + place.offset };
    case 'global':
      return { kind: 'memory', space: 'global', address: source.codeBase + place.address };
    case 'lds':
      return { kind: 'memory', space: 'lds', address: place.offset };
    default:
      return undefined;
  }
}

function homeBehind(home: VariableHome | undefined, offset: number): VariableHome | undefined {
  if (home?.kind === 'memory') return { ...home, address: home.address + offset };
  return home === undefined ? undefined : { ...home, offset: home.offset + offset };
}

function bytesAt(place: DebugPlace, size: number, w: Wave, lane: number, source: ScopeSource): Uint8Array | undefined {
  switch (place.kind) {
    case 'constant':
      return littleEndian(place.value, size);
    case 'registers': {
      const all = place.parts.flatMap(({ register, bytes }) => {
        const words = Array.from({ length: Math.ceil(bytes / 4) }, (_, i) =>
          word({ ...register, index: register.index + i }, w, lane, source),
        );
        return [...new Uint8Array(Int32Array.from(words).buffer)].slice(0, bytes);
      });
      return Uint8Array.from(all).slice(0, size);
    }
    case 'scratch':
      return scratchBytes(w, lane, scratchOffset(place.base, w, lane, source) + place.offset, size);
    case 'global': {
      const at = source.codeBase + place.address;
      const region = source.memory?.find(at, size);
      return region?.bytes.slice(at - region.base, at - region.base + size);
    }
    case 'lds':
      return w.workgroup.lds.slice(place.offset, place.offset + size);
    case 'absent':
      return undefined;
  }
}

function littleEndian(value: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => Number(BigInt.asUintN(8, value >> BigInt(8 * i))));
}

function word({ file, index }: DebugRegister, w: Wave, lane: number, source: ScopeSource): number {
  if (file === 's') return (source.selectedFrame?.(w)?.scalars ?? w.sgprs)[index] as number;
  return w.vgprs[(file === 'a' ? AGPR_BASE + index : index) * LANES + lane] as number;
}

/** The lane's offset that a stack register holds: where scratch is not architected it counts bytes of the whole wave. */
function scratchOffset(base: DebugRegister, w: Wave, lane: number, source: ScopeSource): number {
  const value = word(base, w, lane, source) >>> 0;
  return base.file === 's' && !w.workgroup.dispatch.architectedScratch ? value / LANES : value;
}

function scratchBytes(w: Wave, lane: number, offset: number, size: number): Uint8Array | undefined {
  const base = w.field(WAVE_SCRATCH_BASE);
  if (base === 0 || offset < 0 || offset + size > w.workgroup.dispatch.scratchPerLane) return undefined;
  // Scratch is swizzled: dword d of lane l is at d * 256 + l * 4.
  return Uint8Array.from({ length: size }, (_, i) => {
    const at = offset + i;
    return w.memory.bytesAt(base + Math.floor(at / 4) * 4 * LANES + 4 * lane + (at & 3), 1)[0] as number;
  });
}

/** Parts of a struct, elements of an array, what a pointer points to. */
export function partsOf(variable: ShownVariable): ShownVariable[] {
  const { type, bytes } = variable;
  if (bytes === undefined) return [];
  const part = (name: string, of: DebugType, offset: number): ShownVariable => ({
    ...variable,
    name,
    type: of,
    // The same memory: a part that is set is set in the whole.
    bytes: bytes.subarray(offset, offset + of.bytes),
    home: homeBehind(variable.home, offset),
  });
  if (type.kind === 'struct') return type.members.map((m) => part(m.name, m.type(), m.offset));
  if (type.kind === 'array' && type.of !== undefined) {
    const element = type.of();
    const count = element.bytes === 0 ? 0 : Math.min(type.count, Math.floor(bytes.length / element.bytes));
    return Array.from({ length: count }, (_, i) => part(`[${i}]`, element, i * element.bytes));
  }
  const target = type.kind === 'pointer' ? pointedTo(variable) : undefined;
  return target === undefined ? [] : [target];
}

/** What a pointer points to; undefined for null, void and memory that is not there. */
function pointedTo(variable: ShownVariable): ShownVariable | undefined {
  const { type, bytes, wave, lane } = variable;
  const target = type.of?.();
  if (bytes === undefined || bytes.length !== 8 || target === undefined || target.bytes === 0) return undefined;
  const address = Number(bitsOf(bytes));
  const before = wave.lane;
  wave.lane = lane;
  try {
    const read = Uint8Array.from({ length: Math.min(target.bytes, MOST) }, (_, i) =>
      flatSpace.load(wave, address + i, 1),
    );
    const home = { kind: 'memory', space: 'flat', address } as const;
    return { ...variable, name: `*${variable.name}`, type: target, bytes: read, home };
  } catch (error) {
    if (error instanceof MemoryFault) return undefined;
    throw error;
  } finally {
    wave.lane = before;
  }
}

/** The scalar value of a variable; undefined for structs and arrays. */
export function scalarOf({ type, bytes }: ShownVariable): Value | undefined {
  if (bytes === undefined || type.kind === 'struct' || type.kind === 'array' || type.kind === 'unknown')
    return undefined;
  const bits = bitsOf(bytes);
  const name = type.kind === 'float' ? `f${8 * type.bytes}` : `${type.isSigned ? 'i' : 'u'}${8 * type.bytes}`;
  const element = valueType(name);
  return element === undefined ? bits : fromBits(bits, element);
}

/** The shortest text that is the same f32. */
function shortest(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}

/** A variable as text, as C would write it; `format`: a letter of gdb for its numbers. */
export function variableText(variable: ShownVariable, format = ''): string {
  const { type, bytes, why } = variable;
  if (bytes === undefined) return `(${why})`;
  const value = scalarOf(variable);
  if (value === undefined) {
    const parts = partsOf(variable).slice(0, 8);
    const texts = parts.map((p) =>
      type.kind === 'struct' ? `${p.name} = ${variableText(p, format)}` : variableText(p, format),
    );
    const all = type.kind === 'struct' ? type.members.length : type.count;
    return type.kind === 'unknown'
      ? '(a type that is not known)'
      : `{${texts.join(', ')}${all > parts.length ? ', …' : ''}}`;
  }
  if (format !== '') {
    const isBits = typeof value === 'bigint' || /[xtoz]/.test(format);
    return formatted(isBits && /[xtozuf]/.test(format) ? bitsOf(bytes) : value, format);
  }
  if (type.kind === 'pointer') return `0x${BigInt(value).toString(16)}`;
  if (type.kind === 'bool') return value === 0n ? 'false' : value === 1n ? 'true' : String(value);
  if (type.kind === 'enum') return type.names.get(Number(value)) ?? String(value);
  if (typeof value === 'number' && type.bytes < 8) return shortest(value);
  const isLetter = type.kind === 'char' && value >= 32n && value < 127n;
  return isLetter ? `${value} '${String.fromCharCode(Number(value))}'` : String(value);
}

/** A part of a variable by members, elements and `*`. */
export function partAt(variable: ShownVariable, path: readonly (string | number)[]): ShownVariable {
  let at = variable;
  for (const step of path) {
    const { type } = at;
    const next: ShownVariable | undefined =
      step === '*'
        ? pointedTo(at)
        : typeof step === 'number'
          ? elementAt(at, step)
          : partsOf(at).find((p) => type.kind === 'struct' && p.name === step);
    if (next === undefined && at.bytes === undefined) {
      throw new WavesmithError('run/bad-expression', `'${at.name}' has no value here: ${at.why}.`);
    }
    if (next === undefined) {
      const what =
        step === '*'
          ? 'points to nothing that can be read'
          : `has no ${typeof step === 'number' ? `element ${step}` : `member '${step}'`}`;
      throw new WavesmithError('run/bad-expression', `'${at.name}' of type ${type.name} ${what}.`);
    }
    at = next;
  }
  return at;
}

function elementAt(variable: ShownVariable, index: number): ShownVariable | undefined {
  const { type, bytes } = variable;
  if (type.kind === 'array') return partsOf(variable)[index];
  const target = type.kind === 'pointer' ? type.of?.() : undefined;
  if (target === undefined || bytes === undefined || bytes.length !== 8 || !Number.isInteger(index)) return undefined;
  const moved = littleEndian(bitsOf(bytes) + BigInt(index * target.bytes), 8);
  const found = pointedTo({ ...variable, bytes: moved });
  return found === undefined ? undefined : { ...found, name: `${variable.name}[${index}]` };
}

/** The value of a variable's part, as a number. */
export function valueOfPath(variable: ShownVariable, path: readonly (string | number)[]): Value {
  const part = partAt(variable, path);
  const value = scalarOf(part);
  if (value !== undefined) return value;
  const why = part.bytes === undefined ? part.why : `a ${part.type.kind} is no number`;
  throw new WavesmithError('run/bad-expression', `'${part.name}' has no value here: ${why}.`);
}
