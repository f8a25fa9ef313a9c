// What the stepper (stepper.ts) and its commands (stepper-commands.ts) share: its options, how execution goes on, and what is stopped.
import type { TargetName } from '../../../isa/types.ts';
import type { Region } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { CodeSymbols, SourceLocation } from './symbols.ts';

/** The user's side: a terminal, or a script. */
export interface StepperTerminal {
  /** The next command line, or undefined when there are no more. */
  ask(prompt: string): Promise<string | undefined>;
  print(text: string): void;
}

/** An argument of the kernel, by name. */
export interface StepperArgument {
  readonly name: string;
  /** Address the argument holds, for buffers. */
  readonly address: number | undefined;
  readonly size: number;
}

export interface StepperOptions {
  readonly target: TargetName;
  readonly symbols: CodeSymbols;
  readonly terminal: StepperTerminal;
  /** The loaded code object. Addresses of code are relative to it, as in the file. */
  readonly code: Region;
  readonly breakpoints: readonly number[];
  readonly arguments: () => readonly StepperArgument[];
  readonly sourceOf?: ((pc: number) => SourceLocation | undefined) | undefined;
}

/** How execution goes on. Steps concern the selected wave; the others run freely meanwhile. */
export type Resume =
  | { readonly kind: 'continue' }
  | { readonly kind: 'step'; readonly count: number }
  | { readonly kind: 'until'; readonly pc: number; readonly wave: Wave }
  | { readonly kind: 'detach' }
  | { readonly kind: 'quit' };

/** What a command sees of the stepper, and may change. */
export interface StepperState {
  readonly options: StepperOptions;
  readonly breakpoints: Set<number>;
  /** The wave that commands are about; undefined when it has ended, until another one runs. */
  selected: Wave | undefined;
  /** Waves of the selected wave's workgroup. */
  readonly waves: readonly Wave[];
  /** The address of the selected wave's next instruction. */
  readonly pc: number;
  /** The address of a wave's next instruction, or undefined when it has not begun. */
  pcOf(w: Wave): number | undefined;
  /** Whether a wave is the one that is held. */
  isHeld(w: Wave): boolean;
}
