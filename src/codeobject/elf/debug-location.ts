// Where a variable is: DWARF location expressions as LLVM writes them for AMDGPU, and as AMD's own compiler does (debug-user-operations.ts).
// Sources: DWARF 5, section 2.6; LLVM AMDGPUUsage, "DWARF Debug Information" (register numbers, address classes).
import {
  type ComputedStep,
  type DebugPiece,
  type DebugPlace,
  type DebugRegister,
  type IntegerType,
  type Item,
  stepsOf,
  type ValueOperation,
} from './debug-place.ts';
import { userOperation } from './debug-user-operations.ts';
import { DwarfCursor } from './dwarf-cursor.ts';

/** DW_OP_ by what they do. */
const OPERATIONS: Readonly<Record<number, ValueOperation>> = {
  26: 'and',
  27: 'div',
  28: 'minus',
  29: 'mod',
  30: 'mul',
  31: 'neg',
  32: 'not',
  33: 'or',
  34: 'plus',
  36: 'shl',
  37: 'shr',
  38: 'shra',
  39: 'xor',
  41: 'eq',
  42: 'ge',
  43: 'gt',
  44: 'le',
  45: 'lt',
  46: 'ne',
};

/** Numbers that operations push: bytes, and whether they are signed. */
const CONSTANTS: Readonly<Record<number, readonly [bytes: number, isSigned: boolean]>> = {
  8: [1, false],
  9: [1, true],
  10: [2, false],
  11: [2, true],
  12: [4, false],
  13: [4, true],
  14: [8, false],
  15: [8, true],
};

/** The frame of a kernel that has no register for it begins where scratch does. */
export const SCRATCH_START = 'scratch';

export interface LocationContext {
  /** What DW_OP_fbreg counts from. */
  readonly frameBase: DebugRegister | typeof SCRATCH_START | undefined;
  /** Entries of .debug_addr. */
  readonly address: (index: number) => number;
  /** An integer type by its offset in the unit; undefined for what is none. */
  readonly integer: (offset: number) => IntegerType | undefined;
}

/** AMDGPU's DWARF register numbers in wave64 code. */
function registerByNumber(n: number): DebugRegister | undefined {
  if (n >= 32 && n < 96) return { file: 's', index: n - 32 };
  if (n >= 1088 && n < 1130) return { file: 's', index: n - 1088 + 64 };
  if (n >= 2560 && n < 2816) return { file: 'v', index: n - 2560 };
  if (n >= 3072 && n < 3328) return { file: 'a', index: n - 3072 };
  return undefined;
}

/** The register of an expression that is nothing but one (DW_AT_frame_base). */
export function registerOf(expression: Uint8Array): DebugRegister | undefined {
  const c = new DwarfCursor(expression, 0, expression.length);
  const code = c.u8();
  if (code >= 0x50 && code <= 0x6f) return registerByNumber(code - 0x50);
  return code === 0x90 ? registerByNumber(c.uleb()) : undefined;
}

/** The value behind an operation on the last ones of the stack, which are taken from it. */
function computed(stack: Item[], name: ValueOperation): Item | undefined {
  const top = stack.pop();
  if (name === 'mul' && top?.kind === 'number' && top.value === 4n && stack.at(-1)?.kind === 'lane') {
    stack.pop();
    return { kind: 'lane dword' };
  }
  const last = stepsOf(top);
  const first = name === 'neg' || name === 'not' ? [] : stepsOf(stack.pop());
  if (first === undefined || last === undefined) return undefined;
  return { kind: 'computed', steps: [...first, ...last, { kind: 'operation', name }] };
}

/** Replaces the top of the stack, a register or a value, by so many bytes of its value; false for what is in memory. */
function readValue(stack: Item[], bytes: number): boolean {
  const top = stack.pop();
  const steps = top?.kind === 'based' ? undefined : stepsOf(top);
  if (steps === undefined || top === undefined) return false;
  const mask: ComputedStep = { kind: 'number', value: (1n << BigInt(8 * bytes)) - 1n };
  if (top.kind === 'number') {
    stack.push({ kind: 'number', value: bytes < 4 ? top.value & mask.value : top.value });
  } else {
    const all = bytes < 4 ? [...steps, mask, { kind: 'operation', name: 'and' } as const] : steps;
    stack.push({ kind: 'computed', steps: all });
  }
  return true;
}

/** Why there is no place of a variable that may be `__shared__`: LLVM describes none of those. */
export const MAY_BE_IN_LDS = 'optimized out, or in LDS, where the compiler describes no place: x/64xw lds';
/** Why there is no place of a variable that is known to be `__shared__`. */
export const IN_LDS = 'in LDS, where the compiler describes no place: x/64xw lds';

/** LLVM's address classes: private, and LDS. */
const PRIVATE_CLASS = 1;
const LOCAL_CLASS = 2;

/** What an expression has come to. */
interface Evaluation {
  readonly stack: Item[];
  readonly pieces: DebugPiece[];
  addressClass: number | undefined;
  /** The operation before was DW_OP_stack_value. */
  isValue: boolean;
}

/**
 * The place that an expression describes. LLVM ends the address of a variable with its address class (`litN, swap, xderef`), also where the
 * variable is a register or a constant: those are what they say without it.
 */
export function placeOf(expression: Uint8Array, context: LocationContext): DebugPlace {
  const c = new DwarfCursor(expression, 0, expression.length);
  const found: Evaluation = { stack: [], pieces: [], addressClass: undefined, isValue: false };
  while (!c.isDone) {
    const problem = operation(c.u8(), c, found, context);
    if (problem !== undefined) return typeof problem === 'string' ? unknown(problem) : problem;
  }
  if (found.pieces.length > 0) return joined(found.pieces);
  return place(found) ?? unknown('more than one value');
}

const unknown = (what: string): DebugPlace => ({ kind: 'absent', why: `its location needs ${what}` });

/** Does one operation; what it needs, or what there is instead of a place, where it cannot be done. */
function operation(
  code: number,
  c: DwarfCursor,
  found: Evaluation,
  { frameBase, address, integer }: LocationContext,
): DebugPlace | string | undefined {
  const { stack } = found;
  // A value in the midst of an expression is read by the operations behind it, but for those that end a piece.
  if (code === 0x93) {
    found.pieces.push({ bytes: c.uleb(), place: place(found) ?? unknown('more than one value') });
    stack.length = 0;
    found.addressClass = undefined;
  }
  found.isValue = code === 0x9f;
  if (found.isValue || code === 0x93) return;
  const constant = CONSTANTS[code];
  if (code === 0x03) stack.push({ kind: 'address', value: c.u64() });
  else if (code === 0xa1) stack.push({ kind: 'address', value: address(c.uleb()) });
  else if (code >= 0x30 && code <= 0x4f) stack.push({ kind: 'number', value: BigInt(code - 0x30) });
  else if (constant !== undefined) {
    const [bytes, isSigned] = constant;
    const value = c.bits(bytes);
    stack.push({ kind: 'number', value: isSigned ? BigInt.asIntN(8 * bytes, value) : value });
  } else if (code === 0x10 || code === 0x11) stack.push({ kind: 'number', value: c.leb(code === 0x11) });
  else if (code === 0x91) {
    if (frameBase === undefined) return 'a frame base';
    const base = frameBase === SCRATCH_START ? undefined : frameBase;
    stack.push({ kind: 'based', base, offset: c.sleb(), isFrame: true });
  } else if (code === 0x90 || (code >= 0x50 && code <= 0x6f)) {
    const register = registerByNumber(code === 0x90 ? c.uleb() : code - 0x50);
    if (register === undefined) return 'a register that is none of the file';
    stack.push({ kind: 'register', register });
  } else if (code === 0x92 || (code >= 0x70 && code <= 0x8f)) {
    const register = registerByNumber(code === 0x92 ? c.uleb() : code - 0x70);
    const offset = c.sleb();
    if (register === undefined) return 'a register that is none of the file';
    const isPlain = offset === 0 && register.file !== 's';
    stack.push(isPlain ? { kind: 'register', register } : { kind: 'based', base: register, offset });
  } else if (code === 0x23) {
    const item = increased(stack.pop(), c.leb(false));
    if (item === undefined) return 'arithmetic';
    stack.push(item);
  } else if (Object.hasOwn(OPERATIONS, code)) {
    const item = computed(stack, OPERATIONS[code] as ValueOperation);
    if (item === undefined) return 'arithmetic';
    stack.push(item);
  } else if (code === 0xa8) {
    const at = c.uleb();
    const to = at === 0 ? GENERIC : integer(at);
    const steps = stepsOf(stack.pop());
    if (to === undefined || steps === undefined) return 'a conversion';
    stack.push({ kind: 'computed', steps: [...steps, { kind: 'convert', to }] });
  } else if (code === 0x16) {
    const [b, a] = [stack.pop(), stack.pop()];
    if (a === undefined || b === undefined) return 'arithmetic';
    stack.push(b, a);
  } else if (code === 0x18) {
    // The class lies below the address after the swap.
    const value = stack.pop();
    const space = stack.pop();
    if (value === undefined || space?.kind !== 'number') return 'an address class';
    found.addressClass = Number(space.value);
    stack.push(value);
  } else if (code === 0x94) {
    if (!readValue(stack, c.u8())) return 'what is in memory';
  } else if (code === 0x9e) {
    const value = c.bits(c.uleb());
    stack.push({ kind: 'place', place: { kind: 'constant', value } });
  } else if (code >= 0xe1 && code <= 0xea) return userOperation(code, c, stack);
  else return `operation 0x${code.toString(16)}`;
}

/** What DWARF calls the generic type: as wide as an address. */
const GENERIC: IntegerType = { bits: 64, isSigned: false };

function increased(item: Item | undefined, by: bigint): Item | undefined {
  if (item?.kind === 'based') return { ...item, offset: item.offset + Number(by) };
  if (item?.kind === 'number') return { kind: 'number', value: item.value + by };
  const steps = stepsOf(item);
  const offset: ComputedStep = { kind: 'number', value: by };
  return steps && { kind: 'computed', steps: [...steps, offset, { kind: 'operation', name: 'plus' }] };
}

/** Pieces in order; registers alone are a place of registers. */
function joined(pieces: readonly DebugPiece[]): DebugPlace {
  const parts = pieces.flatMap(({ bytes, place }) =>
    place.kind === 'registers' && place.parts.length === 1
      ? [{ register: (place.parts[0] as { register: DebugRegister }).register, bytes }]
      : [],
  );
  return parts.length === pieces.length ? { kind: 'registers', parts } : { kind: 'pieces', pieces };
}

function place({ stack, addressClass, isValue }: Evaluation): DebugPlace | undefined {
  const top = stack.at(-1);
  if (top === undefined) return { kind: 'absent', why: 'optimized out' };
  if (top.kind === 'place') return top.place;
  if (top.kind === 'register') return { kind: 'registers', parts: [{ register: top.register, bytes: 4 }] };
  if (top.kind === 'computed' || (top.kind === 'based' && isValue)) {
    const steps = isValue ? stepsOf(top) : undefined;
    return steps === undefined ? undefined : { kind: 'computed', steps };
  }
  if (top.kind === 'number' && isValue) return { kind: 'constant', value: top.value };
  if (top.kind === 'number' && addressClass === LOCAL_CLASS) return { kind: 'lds', offset: Number(top.value) };
  if (top.kind === 'address') {
    if (addressClass !== LOCAL_CLASS) return { kind: 'global', address: top.value };
    // LLVM up to 21 names a symbol that it has removed: no linker knows its address.
    return top.value === 0 ? { kind: 'absent', why: IN_LDS } : { kind: 'lds', offset: top.value };
  }
  // What is on the frame is in scratch, also where LLVM up to 19 does not say so.
  const isPrivate = addressClass === PRIVATE_CLASS || (addressClass === undefined && !isValue);
  if (top.kind === 'based' && isPrivate && (addressClass === PRIVATE_CLASS || top.isFrame === true)) {
    return { kind: 'scratch', base: top.base, offset: top.offset };
  }
  return undefined;
}
