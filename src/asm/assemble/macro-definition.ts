// What `.macro` defines: the body as text, and the parameters with their defaults.

/** A piece of a macro argument. */
export interface ArgumentToken {
  readonly text: string;
  /** `string`: quoted; `angle`: `<…>` of `.altmacro`; `value`: the result of `%expr`. */
  readonly kind: 'text' | 'string' | 'angle' | 'value';
}

export type Argument = readonly ArgumentToken[];

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly vararg: boolean;
  readonly value: Argument;
}

/** A macro definition. */
export interface Macro {
  readonly name: string;
  readonly body: string;
  readonly parameters: readonly Parameter[];
  /** How often it has been expanded (`\+`). */
  count: number;
}
