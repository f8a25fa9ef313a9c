// Where a variable is: DWARF location expressions as LLVM writes them for AMDGPU, and as AMD's own compiler does (debug-user-operations.ts).
// Sources: DWARF 5, section 2.6; LLVM AMDGPUUsage, "DWARF Debug Information" (register numbers, address classes).
import {
  type ComputedStep,
  type DebugPlace,
  type DebugRegister,
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
};
export interface LocationContext {
  /** The register of DW_OP_fbreg. */
  readonly frameBase: DebugRegister | undefined;
  /** Entries of .debug_addr. */
  readonly address: (index: number) => number;
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
  if (name === 'mul' && top?.kind === 'number' && top.value === 4 && stack.at(-1)?.kind === 'lane') {
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
    const value = bytes < 4 ? top.value & Number(mask.value) : top.value;
    stack.push({ kind: 'number', value });
  } else {
    const all = bytes < 4 ? [...steps, mask, { kind: 'operation', name: 'and' } as const] : steps;
    stack.push({ kind: 'computed', steps: all });
  }
  return true;
}

/** Why there is no place of a variable that is known to be `__shared__`. */
export const IN_LDS = 'in LDS, where the compiler describes no place: x/64xw lds';

/** LLVM's address classes: private, and LDS. */
const PRIVATE_CLASS = 1;
const LOCAL_CLASS = 2;

/**
 * The place that an expression describes. LLVM ends the address of a variable with its address class (`litN, swap, xderef`), also where the
 * variable is a register or a constant: those are what they say without it.
 */
export function placeOf(expression: Uint8Array, context: LocationContext): DebugPlace {
  const c = new DwarfCursor(expression, 0, expression.length);
  const stack: Item[] = [];
  const parts: { register: DebugRegister; bytes: number }[] = [];
  let addressClass: number | undefined;
  let isValue = false;
  const unknown = (what: string): DebugPlace => ({ kind: 'absent', why: `its location needs ${what}` });
  while (!c.isDone) {
    const code = c.u8();
    // A value in the midst of an expression is read by the operations behind it.
    isValue = code === 0x9f;
    if (isValue) continue;
    if (code === 0x03) stack.push({ kind: 'address', value: c.u64() });
    else if (code === 0xa1) stack.push({ kind: 'address', value: context.address(c.uleb()) });
    else if (code >= 0x30 && code <= 0x4f) stack.push({ kind: 'number', value: code - 0x30 });
    else if (code === 0x08) stack.push({ kind: 'number', value: c.u8() });
    else if (code === 0x09) stack.push({ kind: 'number', value: c.s8() });
    else if (code === 0x0a) stack.push({ kind: 'number', value: c.u16() });
    else if (code === 0x0c) stack.push({ kind: 'number', value: c.u32() });
    else if (code === 0x10) stack.push({ kind: 'number', value: c.uleb() });
    else if (code === 0x11) stack.push({ kind: 'number', value: c.sleb() });
    else if (code === 0x91) {
      if (context.frameBase === undefined) return unknown('a frame base');
      stack.push({ kind: 'based', base: context.frameBase, offset: c.sleb(), isFrame: true });
    } else if (code === 0x90 || (code >= 0x50 && code <= 0x6f)) {
      const register = registerByNumber(code === 0x90 ? c.uleb() : code - 0x50);
      if (register === undefined) return unknown('a register that is none of the file');
      stack.push({ kind: 'register', register });
    } else if (code === 0x92 || (code >= 0x70 && code <= 0x8f)) {
      const register = registerByNumber(code === 0x92 ? c.uleb() : code - 0x70);
      const offset = c.sleb();
      if (register === undefined) return unknown('a register that is none of the file');
      stack.push(
        offset === 0 && register.file !== 's'
          ? { kind: 'register', register }
          : { kind: 'based', base: register, offset },
      );
    } else if (code === 0x23) {
      const top = stack.pop();
      const more = c.uleb();
      if (top?.kind === 'based') stack.push({ ...top, offset: top.offset + more });
      else if (top?.kind === 'number') stack.push({ kind: 'number', value: top.value + more });
      else {
        const steps = stepsOf(top);
        if (steps === undefined) return unknown('arithmetic');
        const offset: ComputedStep = { kind: 'number', value: BigInt(more) };
        stack.push({ kind: 'computed', steps: [...steps, offset, { kind: 'operation', name: 'plus' }] });
      }
    } else if (Object.hasOwn(OPERATIONS, code)) {
      const item = computed(stack, OPERATIONS[code] as ValueOperation);
      if (item === undefined) return unknown('arithmetic');
      stack.push(item);
    } else if (code === 0x16) {
      const [b, a] = [stack.pop(), stack.pop()];
      if (a === undefined || b === undefined) return unknown('arithmetic');
      stack.push(b, a);
    } else if (code === 0x18) {
      // The class lies below the address after the swap.
      const value = stack.pop();
      const space = stack.pop();
      if (value === undefined || space?.kind !== 'number') return unknown('an address class');
      addressClass = space.value;
      stack.push(value);
    } else if (code === 0x94) {
      if (!readValue(stack, c.u8())) return unknown('what is in memory');
    } else if (code >= 0xe1 && code <= 0xea) {
      const problem = userOperation(code, c, stack);
      if (problem !== undefined) return problem;
    } else if (code === 0x93) {
      const bytes = c.uleb();
      const top = stack.pop();
      if (top?.kind !== 'register') return unknown('pieces that are not all in registers');
      parts.push({ register: top.register, bytes });
    } else return unknown(`operation 0x${code.toString(16)}`);
  }
  if (parts.length > 0) return { kind: 'registers', parts };
  return place(stack.pop(), addressClass, isValue) ?? unknown('more than one value');
}

function place(top: Item | undefined, addressClass: number | undefined, isValue: boolean): DebugPlace | undefined {
  if (top === undefined) return { kind: 'absent', why: 'optimized out' };
  if (top.kind === 'place') return top.place;
  if (top.kind === 'register') return { kind: 'registers', parts: [{ register: top.register, bytes: 4 }] };
  if (top.kind === 'computed' || (top.kind === 'based' && isValue)) {
    const steps = isValue ? stepsOf(top) : undefined;
    return steps === undefined ? undefined : { kind: 'computed', steps };
  }
  if (top.kind === 'number' && isValue) return { kind: 'constant', value: BigInt(top.value) };
  if (top.kind === 'number' && addressClass === LOCAL_CLASS) return { kind: 'lds', offset: top.value };
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
