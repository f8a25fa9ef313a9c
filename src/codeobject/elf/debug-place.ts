// Places of variables, and what the operations of a location expression push (debug-location.ts).

/** A register by its file and number. */
export interface DebugRegister {
  readonly file: 's' | 'v' | 'a';
  readonly index: number;
}

/** Where a value is. */
export type DebugPlace =
  /** In the lane's scratch at an offset from what a register holds; undefined: from where scratch begins. */
  | { readonly kind: 'scratch'; readonly base: DebugRegister | undefined; readonly offset: number }
  /** In registers: vector registers hold a value for each lane. Each part says how many bytes it has. */
  | {
      readonly kind: 'registers';
      readonly parts: readonly { readonly register: DebugRegister; readonly bytes: number }[];
    }
  | { readonly kind: 'constant'; readonly value: bigint }
  /** Nowhere, but computed from registers: operands before what is done with the last two of them, or the last one. */
  | { readonly kind: 'computed'; readonly steps: readonly ComputedStep[] }
  /** In global memory, at an address of the file. */
  | { readonly kind: 'global'; readonly address: number }
  | { readonly kind: 'lds'; readonly offset: number }
  /** Its bytes in order, each stretch in a place of its own. */
  | { readonly kind: 'pieces'; readonly pieces: readonly DebugPiece[] }
  | { readonly kind: 'absent'; readonly why: string };

/** So many bytes of a value, and where they are. */
export interface DebugPiece {
  readonly bytes: number;
  readonly place: DebugPlace;
}

/** One step of a computed value. */
export type ComputedStep =
  | { readonly kind: 'register'; readonly register: DebugRegister }
  | { readonly kind: 'number'; readonly value: bigint }
  | { readonly kind: 'operation'; readonly name: ValueOperation }
  /** Takes the last operand as an integer of a type. */
  | { readonly kind: 'convert'; readonly to: IntegerType };

export interface IntegerType {
  readonly bits: number;
  readonly isSigned: boolean;
}

/** What a step does with the last two operands, or the last one. */
export type ValueOperation =
  | 'and'
  | 'div'
  | 'eq'
  | 'ge'
  | 'gt'
  | 'le'
  | 'lt'
  | 'minus'
  | 'mod'
  | 'mul'
  | 'ne'
  | 'neg'
  | 'not'
  | 'or'
  | 'plus'
  | 'shl'
  | 'shr'
  | 'shra'
  | 'xor';

/** What one operation pushes. */
export type Item =
  | { readonly kind: 'number'; readonly value: bigint }
  /** `isFrame`: the register is that of the frame, undefined where the frame begins with scratch. */
  | {
      readonly kind: 'based';
      readonly base: DebugRegister | undefined;
      readonly offset: number;
      readonly isFrame?: boolean;
    }
  | { readonly kind: 'register'; readonly register: DebugRegister }
  | { readonly kind: 'computed'; readonly steps: readonly ComputedStep[] }
  | { readonly kind: 'address'; readonly value: number }
  /** The lane that is shown, or where its dword is in a vector register. */
  | { readonly kind: 'lane' | 'lane dword' }
  /** A place that is known. */
  | { readonly kind: 'place'; readonly place: DebugPlace };

/** What a value is made of; undefined for what is none. */
export function stepsOf(item: Item | undefined): readonly ComputedStep[] | undefined {
  if (item?.kind === 'computed') return item.steps;
  if (item?.kind === 'register') return [item];
  if (item?.kind === 'number') return [item];
  if (item?.kind !== 'based') return undefined;
  const offset: ComputedStep = { kind: 'number', value: BigInt(item.offset) };
  if (item.base === undefined) return [offset];
  const base: ComputedStep = { kind: 'register', register: item.base };
  return item.offset === 0 ? [base] : [base, offset, { kind: 'operation', name: 'plus' }];
}
