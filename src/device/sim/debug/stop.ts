// What the debugger and whoever leads it (a terminal, an editor) say to each other: why it stopped, and how to go on.
import type { DebugInfo, DebugLines, DebugType } from '../../../codeobject/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import type { DeviceFault } from '../../fault.ts';
import type { Region } from '../state/region.ts';
import type { Wave } from '../state/wave.ts';
import type { CodeSymbols } from '../tools/symbols.ts';
import type { Operand } from './typed.ts';

/** An argument of the kernel, by name. */
export interface DebuggedArgument {
  readonly name: string;
  /** Address the argument holds, for buffers. */
  readonly address: number | undefined;
  /** Bytes of the buffer, or of the value. */
  readonly size: number;
  /** The value of an argument that is no buffer. */
  readonly bytes: Uint8Array | undefined;
}

export interface DebuggerOptions {
  readonly target: TargetName;
  readonly symbols: CodeSymbols;
  /** The loaded code object. Addresses of code are relative to it, as in the file. */
  readonly code: Region;
  /** Where every wave stops, from the start: addresses, and the place as it was written. */
  readonly breakpoints: readonly { readonly places: readonly number[]; readonly meant: string }[];
  readonly front: DebugFront;
  readonly arguments: () => readonly DebuggedArgument[];
  /** Source lines, when there is debug information. */
  readonly lines: DebugLines | undefined;
  /** Variables of the source program, likewise. */
  readonly info: DebugInfo | undefined;
  /** Whether the past is kept. Nothing else may observe the dispatch then: it would see parts of it twice. */
  readonly keepsHistory: boolean;
}

/** Which wave of which workgroup. */
export interface WaveKey {
  readonly workgroup: readonly [number, number, number];
  readonly wave: number;
}

/** Why waves are held. */
export type StopReason =
  | 'entry'
  | 'breakpoint'
  | 'step'
  | 'reached'
  | 'interrupted'
  | 'watchpoint'
  | 'written'
  | 'fault'
  | 'ended'
  | 'start of history';

/** A value that an instruction has changed. */
export interface Change {
  readonly text: string;
  readonly before: Operand | undefined;
  readonly after: Operand | undefined;
  /** Of accesses: what happened, as `was read`. */
  readonly access?: string | undefined;
}

export interface Stop {
  readonly reason: StopReason;
  /** The wave before whose instruction everything is held; undefined at the end of the kernel. */
  readonly wave: Wave | undefined;
  /** Address of that instruction in the file. */
  readonly pc: number;
  /** Instructions that all waves have executed so far. */
  readonly time: number;
  readonly fault?: DeviceFault | undefined;
  /** Of watchpoints, and of "who wrote this": one instruction may change several values. */
  readonly changes?: readonly Change[] | undefined;
  /** Numbers of the breakpoints or watchpoints that were hit. */
  readonly hit?: readonly number[] | undefined;
  /** Command lines of those breakpoints, for a terminal. */
  readonly commands?: readonly string[] | undefined;
  /** Of a function that has returned: its value, and the number under which it is remembered. */
  readonly returned?: { readonly value: Operand; readonly number: number } | undefined;
  /** What went wrong with a condition. */
  readonly note?: string | undefined;
}

/** Why it stops, without where. */
export interface Why extends Omit<Stop, 'wave' | 'pc' | 'time' | 'returned'> {
  /** The type of what a function has just returned. */
  readonly returns?: DebugType | undefined;
  /** Inlined functions that begin there and are hidden: execution stands at their call. */
  readonly hidden?: number | undefined;
}

/** How execution goes on. Steps concern the selected wave; the others run freely meanwhile. */
export type Resume =
  | { readonly kind: 'continue' }
  /** `unit`: instructions, or source lines. `over`: calls run to their return. */
  | {
      readonly kind: 'step';
      readonly count: number;
      readonly unit: 'instruction' | 'line';
      readonly over: boolean;
      /** Not back to lines before: out of a loop. */
      readonly isForward?: boolean | undefined;
    }
  | { readonly kind: 'until'; readonly pc: number; readonly wave: Wave }
  /** Until the selected function returns. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'detach' }
  | { readonly kind: 'quit' }
  | { readonly kind: 'back'; readonly to: BackTarget; readonly count: number }
  /** To a moment, by the number of executed instructions. */
  | { readonly kind: 'time'; readonly time: number }
  /** From the dispatch's start on, as if nothing had been changed. */
  | { readonly kind: 'restart' };

/** Where going back ends. */
export type BackTarget =
  /** The wave's instruction before. */
  | 'instruction'
  /** The same, calls as one. */
  | 'instruction over'
  | 'line'
  | 'line over'
  /** The call of the function. */
  | 'call'
  /** The last breakpoint or watchpoint. */
  | 'breakpoint'
  /** What wrote an expression's value last. */
  | { readonly writer: string };

/** A breakpoint in code that is not loaded yet. */
export interface LaterBreakpoint {
  /** The number that it has, and keeps when it is set. */
  readonly id: number;
  /** A place, as it was typed. */
  readonly text: string;
  readonly condition?: string | undefined;
  readonly isTemporary?: boolean | undefined;
}

/** Whoever leads the debugger. */
export interface DebugFront {
  /** Everything is held until the promise is kept. */
  stopped(stop: Stop): Promise<Resume>;
  /** Text of a log point. */
  logged(text: string): void;
  /** Stop before the first instruction. */
  readonly stopsAtEntry: boolean;
  /** Stop when the kernel has ended: from there one can go back. */
  readonly stopsAtEnd: boolean;
  /** Sets a breakpoint in code that is loaded later; undefined where there is only this code. */
  readonly later?: ((one: LaterBreakpoint) => void) | undefined;
  /** Those that no code has had yet. */
  readonly waiting?: (() => readonly LaterBreakpoint[]) | undefined;
  /** Removes one of those, or all; whether there was one. */
  readonly forget?: ((id?: number) => boolean) | undefined;
}

/** A call that has not returned. */
export interface Call {
  /** Address of the call, and where it returns to, in the file. */
  readonly site: number;
  readonly returnTo: number;
  readonly outer: Call | undefined;
  /** Scalar registers of the wave when it was made: what the function that called had. */
  readonly scalars: Int32Array;
  /** Calls around it, itself included. */
  readonly depth: number;
}
