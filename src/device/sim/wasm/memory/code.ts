// Structured control flow with named targets over the wasm builder, and the operations memory helpers share.
// Source: WebAssembly Core Specification 2.0, "Control Instructions" (labels are relative depths).
import type { ValType, WasmFunction } from '../emit.ts';

/** A place to branch to: the end of a block or the head of a loop. */
export interface Label {
  readonly depth: number;
}

/** Writes the body of one helper function. */
export class Code {
  readonly fn: WasmFunction;
  private depth = 0;

  constructor(fn: WasmFunction) {
    this.fn = fn;
  }

  private inside(body: (label: Label) => void): void {
    this.depth++;
    body({ depth: this.depth });
    this.depth--;
    this.fn.end();
  }
  /** Branching to the label leaves the block. */
  block(body: (exit: Label) => void): void {
    this.fn.block();
    this.inside(body);
  }
  /** Branching to the label starts the next round. */
  loop(body: (again: Label) => void): void {
    this.fn.loop();
    this.inside(body);
  }
  /** Runs `yes` when the i32 on the stack is not zero, else `no`. */
  if(yes: () => void, no?: () => void): void {
    this.fn.if();
    this.inside(() => {
      yes();
      if (no === undefined) return;
      this.fn.else();
      no();
    });
  }
  br(label: Label): void {
    this.fn.br(this.depth - label.depth);
  }
  brIf(label: Label): void {
    this.fn.brIf(this.depth - label.depth);
  }
  local(type: ValType): number {
    return this.fn.local(type);
  }
}

/** Locals of a mode's four-lane paths. */
export interface QuadLocals {
  readonly low: number;
  readonly addresses: readonly [number, number, number, number];
}
