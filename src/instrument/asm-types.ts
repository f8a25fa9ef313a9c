// Types of values, and assembly text that has been looked at.

/** `u32`, `u64`: one for the wave. `lane32`, `lane64`: one for each active lane. */
export type ValueType = 'u32' | 'u64' | 'lane32' | 'lane64';

/** One line: an instruction, a label, or a branch to one. */
export type AsmLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'label'; readonly name: string }
  | { readonly kind: 'branch'; readonly branch: string; readonly name: string };

/** Assembly text that has been looked at. */
export interface AsmText {
  readonly lines: readonly AsmLine[];
  /** What stands for each name, in the order of the inputs, then of the outputs. */
  readonly inputs: readonly string[];
  readonly outputs: readonly { readonly name: string; readonly type: ValueType }[];
  /** Registers of the kernel that it overwrites: `vcc`, `m0`, `s4`, `v7`, `a3`, tuples as single registers. */
  readonly clobbers: readonly string[];
  /** Registers of the kernel that it reads by name. */
  readonly reads: readonly string[];
  readonly hasMemory: boolean;
}
