// Compiled code writes the log of reads (read-log.ts).
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import { LOGGED, PAGE_QUICK } from '../races/race-details.ts';
import { LINE_WRITER, LINES, LOG_END, LOG_NEXT, LOG_ROUND, PAGE_STORED } from '../races/race-page.ts';
import { LOG_ENTRY, LOG_RUN } from '../races/read-log.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_PAGES, SHADOW_READER } from '../registers/shadow-layout.ts';
import { setDetails } from './records.ts';

/** From LOG_NEXT to LOG_END. */
export const TO_END = LOG_END - LOG_NEXT;
const DWORD = 4;

/** Leaves where LOG_NEXT is. */
export function pushLog(fn: WasmFunction, shadow: number): WasmFunction {
  return fn.get(shadow).memory('i32.load', SHADOW_PAGES).i32(LOG_NEXT).op('i32.add');
}

/** Writes entries; its locals are of the function being written. */
export class LogWriter {
  private readonly code: Code;
  private readonly shadow: number;
  private readonly pc: number;
  /** Bytes of an element. */
  private readonly bytes: number;
  private readonly head: number;
  private readonly next: number;
  /** Behind the last entry that has been written by this function; 0 before. */
  private readonly last: number;

  /** In front of what may write entries. */
  constructor(code: Code, shadow: number, pc: number, bytes: number) {
    [this.code, this.shadow, this.pc, this.bytes] = [code, shadow, pc, bytes];
    const local = (): number => code.local('i32');
    [this.head, this.next, this.last] = [local(), local(), local()];
    code.fn.i32(0).set(this.last);
  }

  /** Before the first entry is written. */
  begin(): void {
    pushLog(this.code.fn, this.shadow).set(this.head);
  }

  /** Writes the entry that `push` leaves as a vector, or goes to `full`. */
  write(push: () => void, full: Label): void {
    const { code, head, next, last, shadow } = this;
    const { fn } = code;
    fn.get(head).memory('i32.load').tee(next).get(head).memory('i32.load', TO_END).op('i32.ge_u');
    code.brIf(full);
    fn.get(next).get(last).op('i32.ne');
    code.if(() => {
      pushReader(fn.get(next), shadow, this.pc, this.bytes)
        .memory('v128.store')
        .get(next)
        .i32(LOG_ENTRY)
        .op('i32.add')
        .set(next);
    });
    fn.get(next);
    push();
    fn.memory('v128.store');
    fn.get(head).get(next).i32(LOG_ENTRY).op('i32.add').tee(last).memory('i32.store');
  }
}

/** (shadow, offset in wasm memory, bytes, place in the image) → 1 when a read of bytes of one page has been logged, 0 when the log is full. */
export function logRunFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.log.run', ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [shadow, at, bytes, pc] = [0, 1, 2, 3] as const;
    const [head, next, reader] = [fn.local('i32'), fn.local('i32'), fn.local('v128')];
    pushLog(fn, shadow).tee(head).memory('i32.load').tee(next).get(head).memory('i32.load', TO_END).op('i32.ge_u');
    fn.if().i32(0).return().end();
    fn.get(next).op('i32x4.splat').get(pc).lane('i32x4.replace_lane', 1);
    fn.get(shadow).memory('i32.load', SHADOW_EPOCH).lane('i32x4.replace_lane', 2);
    fn.get(head)
      .i32(LOG_NEXT - LOG_ROUND)
      .op('i32.sub')
      .memory('i32.load')
      .lane('i32x4.replace_lane', 3);
    fn.tee(reader).get(shadow).memory('v128.load', SHADOW_READER).op('v128.xor').op('v128.any_true').if();
    pushReader(fn.get(next), shadow, pc, DWORD)
      .memory('v128.store')
      .get(next)
      .i32(LOG_ENTRY)
      .op('i32.add')
      .set(next)
      .end();
    fn.get(next).i32(LOG_RUN).op('i32x4.splat').get(at).lane('i32x4.replace_lane', 0);
    fn.get(bytes).lane('i32x4.replace_lane', 1).memory('v128.store');
    fn.get(head).get(next).i32(LOG_ENTRY).op('i32.add').tee(next).memory('i32.store');
    fn.get(shadow).get(reader).get(next).lane('i32x4.replace_lane', 0).memory('v128.store', SHADOW_READER);
    fn.i32(1);
  });
}

/** Leaves the entry that says who reads from here on, elements of so many bytes. */
export function pushReader(fn: WasmFunction, shadow: number, pc: number, bytes: number): WasmFunction {
  fn.i32(bytes).op('i32x4.splat').get(pc).lane('i32x4.replace_lane', 0);
  fn.get(shadow).memory('i32.load', SHADOW_ACTOR).lane('i32x4.replace_lane', 1);
  return fn.get(shadow).memory('i32.load', SHADOW_EPOCH).lane('i32x4.replace_lane', 2);
}

/**
 * (shadow, the record of a page without details) → 1 when its reads are logged from now on: nobody has stored to it, and there is room in the log.
 */
export function beginLogFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.log.begin', ['i32', 'i32'], ['i32'], (fn) => {
    const [shadow, page] = [0, 1] as const;
    const code = new Code(fn);
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    const head = fn.local('i32');
    fn.get(page)
      .memory('i32.load', 4 * PAGE_QUICK)
      .op('i32.eqz')
      .get(page)
      .memory('i32.load', 4 * PAGE_STORED)
      .op('i32.or');
    pushLog(fn, shadow).tee(head).memory('i32.load');
    fn.get(head).memory('i32.load', TO_END).op('i32.ge_u').op('i32.or');
    leave();
    for (let line = 0; line < LINES; line += 4) {
      fn.get(page).memory('v128.load', 4 * (LINE_WRITER + line));
      if (line > 0) fn.op('v128.or');
    }
    fn.op('v128.any_true');
    code.if(() =>
      fn
        .get(page)
        .i32(1)
        .memory('i32.store', 4 * PAGE_STORED)
        .i32(0)
        .return(),
    );
    setDetails(fn, page, () => fn.i32(LOGGED));
    fn.i32(1);
  });
}
