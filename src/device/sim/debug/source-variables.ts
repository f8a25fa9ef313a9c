// Variables of the source program: their bytes as a lane of a wave sees them, their parts, and what those mean.
import type { DebugMember, DebugPlace, DebugRegister, DebugType, DebugVariable } from '../../../codeobject/index.ts';
import type { Wave } from '../state/wave.ts';
import { asCalled } from './kernel-arguments.ts';
import { littleEndian, readPart, readPlace, scratchOffset } from './place-bytes.ts';
import type { ScopeSource } from './scope-source.ts';
import { flatAddress, inMemory, MOST_BYTES, type ShownVariable, scalarOf, type VariableHome } from './typed.ts';
import { bitsOf } from './value.ts';

/** All variables in scope where a wave is: those of the function that is shown, and of the whole program. */
export function variablesOf(w: Wave, lane: number, source: ScopeSource): ShownVariable[] {
  const at = placeOf(w, source);
  if (source.info === undefined) return [];
  return source.info.variables(at.pc, at.inlined).map((variable) => settled(shown(variable, at, w, lane, source)));
}

/** The variable of a name where a wave is. */
export function findVariable(w: Wave, lane: number, source: ScopeSource, name: string): ShownVariable | undefined {
  const at = placeOf(w, source);
  const found = source.info?.variables(at.pc, at.inlined).find((v) => v.name === name);
  return found && settled(shown(found, at, w, lane, source));
}

/** Where the function stands whose variables are meant. */
function placeOf(w: Wave, source: ScopeSource): { readonly pc: number; readonly inlined: number } {
  const frame = source.selectedFrame?.(w);
  return { pc: frame?.pc ?? source.pcOf(w), inlined: frame?.inlined ?? 0 };
}

/** Whether the function whose variables are meant waits for one that it has called. */
const isOuter = (w: Wave, source: ScopeSource): boolean => source.selectedFrame?.(w)?.scalars !== undefined;

const OUTER_VECTOR = 'it is in a vector register, which the function that was called may use';

/** Whether a place in an outer function cannot be known: nobody has kept its vector registers. */
function isOverwritten(place: DebugPlace): boolean {
  const isVector = ({ file }: DebugRegister): boolean => file !== 's';
  if (place.kind === 'registers') return place.parts.some(({ register }) => isVector(register));
  if (place.kind === 'computed') return place.steps.some((step) => step.kind === 'register' && isVector(step.register));
  return place.kind === 'scratch' && place.base !== undefined && isVector(place.base);
}

/** A place, or those of its parts, as an outer function has them. */
function seenFromInside(place: DebugPlace): DebugPlace {
  if (place.kind === 'pieces')
    return { kind: 'pieces', pieces: place.pieces.map((piece) => ({ ...piece, place: seenFromInside(piece.place) })) };
  return isOverwritten(place) ? { kind: 'absent', why: OUTER_VECTOR } : place;
}

function shown(
  variable: DebugVariable,
  { pc, inlined }: ReturnType<typeof placeOf>,
  w: Wave,
  lane: number,
  source: ScopeSource,
): ShownVariable {
  const found = variable.place(pc, source.kernelAt);
  const place = isOuter(w, source) ? seenFromInside(found) : found;
  if (place.kind === 'absent' && variable.isParameter) {
    const called = asCalled(variable.name, pc, inlined, w, lane, source);
    if (called !== undefined) return called;
  }
  const size = Math.min(variable.type.bytes, MOST_BYTES);
  const read = readPlace(place, size, w, lane, source);
  const home = homeOf(place, w, lane, source);
  const kind = variable.isGlobal ? 'global' : variable.isParameter ? 'parameter' : 'local';
  const load = source.loadAs(w);
  return { name: variable.name, kind, type: variable.type, ...read, home, wave: w, lane, load };
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

/** What a reference of C++ refers to; other variables as they are. */
function settled(variable: ShownVariable): ShownVariable {
  const found = variable.type.isReference === true ? pointedTo(variable) : undefined;
  return found === undefined ? variable : { ...found, name: variable.name, reference: variable.type };
}

/** Elements of an array that are asked for at once at most. */
const MOST_PARTS = 4096;

/** Parts of a struct, elements of an array from one on, what a pointer points to. */
export function partsOf(variable: ShownVariable, from = 0, count = MOST_PARTS): ShownVariable[] {
  const { type } = variable;
  if (type.kind === 'struct') return type.members.map((member) => memberPart(variable, member));
  if (type.kind === 'array') {
    const length = Math.max(0, Math.min(type.count - from, count, MOST_PARTS));
    const parts = Array.from({ length }, (_, i) => elementAt(variable, BigInt(from + i)));
    return parts.flatMap((part, i) => (part === undefined ? [] : [{ ...part, name: `[${from + i}]` }]));
  }
  const target = pointedTo(variable);
  return target?.bytes === undefined ? [] : [target];
}

const isNumber = ({ kind }: DebugType): boolean => kind !== 'struct' && kind !== 'array';

/** A part at an offset. The same memory: what is set in the part is set in the whole. */
function partAt(variable: ShownVariable, name: string, type: DebugType, offset: number): ShownVariable {
  const read = readPart(variable, offset, type.bytes, isNumber(type));
  const part = { ...variable, name, type, reference: undefined, field: undefined, note: undefined, ...read };
  return { ...part, home: homeBehind(variable.home, offset) };
}

function memberPart(variable: ShownVariable, { name, offset, type, bits }: DebugMember): ShownVariable {
  if (bits === undefined) return settled(partAt(variable, name, type(), offset));
  const of = type();
  const at = bits.first >> 3;
  const first = bits.first & 7;
  const read = readPart(variable, at, (first + bits.count + 7) >> 3, true);
  const holder = read.bytes;
  if (holder === undefined) return { ...variable, name, type: of, reference: undefined, ...read };
  const value = (bitsOf(holder) >> BigInt(first)) & ((1n << BigInt(bits.count)) - 1n);
  const signed = of.isSigned ? BigInt.asIntN(bits.count, value) : value;
  const field = { holder, first, count: bits.count };
  const home = homeBehind(variable.home, at);
  const part = { ...variable, name, type: of, reference: undefined, home, field, note: undefined };
  return { ...part, bytes: littleEndian(signed, of.bytes) };
}

/** Whether a member stands for its own members: a base, or one without a name. */
export const isUnnamed = (name: string): boolean => /^\((?:base |anonymous)/.test(name);

/** A member of a struct, or of the struct that a pointer points to; those of bases and of members without a name too; x, y, z and w of a vector. */
export function memberOf(variable: ShownVariable, name: string): ShownVariable | undefined {
  const { type } = variable;
  if (type.kind === 'pointer') {
    const target = pointedTo(variable);
    return target === undefined || target.type.kind === 'pointer' ? undefined : memberOf(target, name);
  }
  if (type.isVector === true) {
    const at = name.length === 1 ? 'xyzw'.indexOf(name) : -1;
    const element = at < 0 ? undefined : elementAt(variable, BigInt(at));
    return element && { ...element, name };
  }
  const own = type.members.find((member) => member.name === name);
  if (own !== undefined) return memberPart(variable, own);
  for (const member of type.members) {
    if (!isUnnamed(member.name)) continue;
    const found = memberOf(memberPart(variable, member), name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a pointer points to; undefined for what is no pointer, and where that has no size. */
export function pointedTo(variable: ShownVariable): ShownVariable | undefined {
  const { name, type, bytes, why } = variable;
  const target = type.kind === 'pointer' ? type.of?.() : undefined;
  if (target === undefined || target.bytes === 0) return undefined;
  const shown = name === '' ? `*(${type.name})` : `*${name}`;
  const address = bytes?.length === type.bytes ? scalarOf(variable) : undefined;
  if (typeof address !== 'bigint')
    return { ...variable, name: shown, type: target, reference: undefined, bytes: undefined, why, home: undefined };
  return inMemory(variable, shown, target, 'flat', address);
}

/** An element of an array, or behind a pointer; undefined for what is neither, and behind the end of an array. */
export function elementAt(variable: ShownVariable, index: bigint): ShownVariable | undefined {
  const { name, type, home } = variable;
  if (type.kind !== 'array') {
    const target = pointedTo(variable);
    const size = BigInt(target?.type.bytes ?? 0);
    const address = scalarOf(variable);
    return target === undefined || typeof address !== 'bigint'
      ? target
      : inMemory(variable, `${name}[${index}]`, target.type, 'flat', address + index * size);
  }
  const element = type.of?.();
  // An array whose length is not known is as long as whoever made it says.
  if (element === undefined || index < 0n || (type.count > 0 && index >= type.count)) return undefined;
  const offset = Number(index) * element.bytes;
  const part = partAt(variable, `${name}[${index}]`, element, offset);
  if (part.bytes !== undefined || home?.kind !== 'memory') return part;
  const address = flatAddress(variable) as number;
  return inMemory(variable, part.name, element, 'flat', BigInt(address + offset));
}
