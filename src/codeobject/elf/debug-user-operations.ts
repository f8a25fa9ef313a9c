// Operations that AMD's own compiler writes into location expressions: address spaces, and the lane's part of a vector register.
// Source: LLVM's "DWARF Extensions For Heterogeneous Debugging"; what ROCm's compiler writes by the tests of ROCm/llvm-project (DebugInfo/AMDGPU).
import { type ComputedStep, type DebugPlace, type Item, stepsOf } from './debug-place.ts';
import type { DwarfCursor } from './dwarf-cursor.ts';

/** DW_OP_LLVM_user, behind which the operation stands. Older compilers write operations as codes from 0xe1 on. */
const USER = 0xe9;
const OPERATION = {
  FORM_ADDRESS: 2,
  PUSH_LANE: 3,
  OFFSET: 4,
  OFFSET_CONSTANT: 5,
  UNDEFINED: 8,
  PIECE_END: 10,
} as const;
/** DW_ASPACE_LLVM_AMDGPU_ */
const SPACE = { GLOBAL: 0, GENERIC: 1, LOCAL: 3, PRIVATE_LANE: 5 } as const;

/** Does one operation; what there is instead of a place, where it cannot be done. */
export function userOperation(code: number, c: DwarfCursor, stack: Item[]): DebugPlace | undefined {
  const operation = code === USER ? c.uleb() : code - 0xdf;
  const done = (item: Item | undefined, what: string): DebugPlace | undefined => {
    if (item === undefined) return { kind: 'absent', why: `its location needs ${what}` };
    stack.push(item);
    return undefined;
  };
  switch (operation) {
    case OPERATION.FORM_ADDRESS:
      return done(formed(stack.pop(), stack.pop()), 'an address of a space that is not known');
    case OPERATION.PUSH_LANE:
      return done({ kind: 'lane' }, '');
    case OPERATION.OFFSET:
      return done(moved(stack.pop(), stack.pop()), 'a part of a register');
    case OPERATION.OFFSET_CONSTANT:
      return done(moved({ kind: 'number', value: BigInt(c.uleb()) }, stack.pop()), 'a part of a register');
    case OPERATION.UNDEFINED:
      return done({ kind: 'place', place: { kind: 'absent', why: 'optimized out here' } }, '');
    case OPERATION.PIECE_END:
      return undefined;
    default:
      return { kind: 'absent', why: `its location needs operation ${operation} of LLVM's own` };
  }
}

/** The number that an item is, also one that was read from an implicit value. */
const numberOf = (item: Item | undefined): number | undefined =>
  item?.kind === 'number' ? Number(item.value) : undefined;

/** An address in a space. */
function formed(space: Item | undefined, address: Item | undefined): Item | undefined {
  const value = address?.kind === 'address' ? address.value : numberOf(address);
  switch (numberOf(space)) {
    case SPACE.GLOBAL:
    case SPACE.GENERIC:
      return value === undefined ? undefined : { kind: 'address', value };
    case SPACE.LOCAL:
      return value === undefined ? undefined : { kind: 'place', place: { kind: 'lds', offset: value } };
    case SPACE.PRIVATE_LANE: {
      const steps = stepsOf(address);
      if (steps === undefined || !isLanesOffset(steps)) return undefined;
      return { kind: 'place', place: { kind: 'scratch', base: steps[0].register, offset: 0 } };
    }
    default:
      return undefined;
  }
}

type Register = Extract<ComputedStep, { kind: 'register' }>;

/** Whether steps give the lane's offset that a stack register holds: itself, or its sixty-fourth where it counts bytes of the whole wave. */
function isLanesOffset(steps: readonly ComputedStep[]): steps is readonly [Register, ...ComputedStep[]] {
  const [register, shift, operation] = steps;
  if (register?.kind !== 'register') return false;
  if (steps.length === 1) return true;
  const isWhole = shift?.kind === 'number' && shift.value === 6n;
  return steps.length === 3 && isWhole && operation?.kind === 'operation' && operation.name === 'shr';
}

/** A place so many bytes on, or the lane's dword of a vector register. */
function moved(by: Item | undefined, item: Item | undefined): Item | undefined {
  const bytes = numberOf(by);
  if (item?.kind === 'register') return by?.kind === 'lane dword' || bytes === 0 ? item : undefined;
  if (bytes === undefined) return undefined;
  if (item?.kind === 'address') return { kind: 'address', value: item.value + bytes };
  if (item?.kind !== 'place' || (item.place.kind !== 'lds' && item.place.kind !== 'scratch')) return undefined;
  return { kind: 'place', place: { ...item.place, offset: item.place.offset + bytes } };
}
