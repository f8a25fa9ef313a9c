// What an address mode is: how a memory instruction's lanes get their addresses, for the whole wavefront, four lanes, or one.
import type { ValType } from '../emit.ts';
import type { Label } from './code.ts';
import type { Frame, Transfer } from './transfer.ts';

/** Paths of one helper, bound to its parameters. */
export interface BoundMode {
  /** All 64 lanes active: moves them and goes to `done`, or falls through. */
  full?: (done: Label) => void;
  /** Any lanes, each somewhere else beyond the window: moves them and goes to `done`, or falls through. */
  many?: (done: Label) => void;
  /** Not all lanes active, but some of EXEC (a local): has Transfer.masked look at them before all others, where it may. */
  masked?: (exec: number) => void;
  /** Four active lanes: moves them and goes to `next`, or falls through. */
  quad?: (next: Label) => void;
  /** Some of four lanes, as bits: looks at them and goes to `next`, or falls through. */
  some?: (next: Label, bits: number) => void;
  /** One lane: moves it, or leaves by `resume`. */
  lane: () => void;
}

export interface Mode {
  readonly key: string;
  readonly parameters: readonly ValType[];
  bind(f: Frame, t: Transfer, parameters: readonly number[]): BoundMode;
}

/** Sets `register` (a parameter) to the address of lane 0 of the register it names. */
export function locate(f: Frame, register: number): void {
  f.code.fn.get(f.wave).get(register).op('i32.add').set(register);
}

/** Leaves the word of the current lane of a register. */
export function word(f: Frame, register: number, offset = 0): void {
  f.code.fn.get(register).get(f.at).op('i32.add').memory('i32.load', offset);
}
