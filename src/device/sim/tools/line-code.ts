// Lines of a trace written by compiled code: behind each traced instruction stands code that copies what its line always says and adds
// the values. What an instruction touches in memory is noted before it runs. trace.ts says what a line is; both must give the same bytes.
import type { StructuralOperation } from '../../../isa/semantics/index.ts';
import { Slot, type SlotRange, slotName } from '../../../program/index.ts';
import { accessPlan } from '../interpreter/access-plan.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { LANES, VGPR_BYTES, WAVE_SCC, WAVE_VGPRS } from '../state/layout.ts';
import { EXEC } from '../state/wave.ts';
import type { FunctionContext } from '../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { pushCondition } from '../wasm/scalar.ts';
import { branchDistance, type Item } from '../wasm/walk.ts';
import { hex } from './lanes.ts';
import {
  ACTIVE,
  type Constant,
  LEFT,
  LINE_LIMIT,
  type LineBuffer,
  NOTE,
  NOTE_BYTES,
  NOTE_LIMIT,
  OUT,
  PREFIX,
  PREFIX_BYTES,
  PREFIX_LIMIT,
} from './line-buffer.ts';
import { FEW, isVectorSlot, type LaneDetail, scalarName } from './registers.ts';

/** Column of the values. */
export const NOTES_COLUMN = 64;
const SCALARS = 128;

/** What of these is not among the registers that they are said to write, or where they go on, is seen only in the state behind them. */
const SEEN_BEHIND: ReadonlySet<StructuralOperation['name']> = new Set<StructuralOperation['name']>([
  'gridBarrier',
  'sendmsg',
  'trap',
  'sethalt',
  'setpc',
  'swappc',
  'setreg',
  'movreld',
  'setGprIndexOn',
  'setGprIndexOff',
  'setGprIndexMode',
  'setGprIndex',
  'setVskip',
  'matrixLoadScale',
]);

/** What a line always says of an instruction. */
export interface LineText {
  /** Behind the prefix. */
  readonly text: string;
  readonly defs: readonly SlotRange[];
}

/** Where an instruction goes when it does not go on; undefined for all but branches whose target is in the code. */
function targetOf({ pc, instruction, operation }: Item): number | undefined {
  const isBranch = operation?.kind === 'branch' || (operation?.kind === 'structural' && operation.name === 'call');
  return isBranch ? pc + instruction.size + branchDistance(instruction) : undefined;
}

/** Writes the code of one tracer's lines on one device. */
export class LineCode {
  private readonly loaded: LoadedCode;
  private readonly lines: LineBuffer;
  private readonly detail: LaneDetail;
  private readonly textOf: (pc: number) => LineText;
  private readonly accesses = new Map<number, boolean>();

  constructor(loaded: LoadedCode, lines: LineBuffer, detail: LaneDetail, textOf: (pc: number) => LineText) {
    this.loaded = loaded;
    this.lines = lines;
    this.detail = detail;
    this.textOf = textOf;
  }

  /** Whether something is to be noted before an instruction runs. */
  hasMemory({ pc, instruction, operation }: Item): boolean {
    let known = this.accesses.get(pc);
    if (known === undefined) {
      known = accessPlan(instruction, operation) !== undefined;
      this.accesses.set(pc, known);
    }
    return known;
  }

  /** Whether compiled code can write the line of an instruction. */
  compiles(item: Item): boolean {
    const { operation } = item;
    if (operation === undefined || operation.kind === 'image' || operation.kind === 'unreachable') return false;
    if (operation.kind === 'structural' && SEEN_BEHIND.has(operation.name)) return false;
    const target = targetOf(item);
    if (target !== undefined && (target < 0 || target >= this.loaded.region.size)) return false;
    const { defs } = this.textOf(item.pc);
    return defs.every(isWritten) && this.mostBytes(item) <= LINE_LIMIT;
  }

  private mostBytes(item: Item): number {
    const { text, defs } = this.textOf(item.pc);
    const lanes = this.detail === 'all' ? LANES : FEW;
    const values = defs.reduce((sum, { first, count }) => {
      return sum + (isVectorSlot(first) ? count * (12 * lanes + 32) : 16 + 8 * count) + 32;
    }, 0);
    return PREFIX_LIMIT + 3 * text.length + NOTES_COLUMN + values + (this.hasMemory(item) ? NOTE_LIMIT : 0) + 64;
  }

  /** Has what an instruction is about to touch noted. */
  before({ fn, module, wave }: FunctionContext, item: Item): void {
    if (this.hasMemory(item)) fn.get(wave).i32(item.pc).call(noteImport(module));
  }

  /** Writes the line of an instruction that has been executed. */
  behind(context: FunctionContext, item: Item): void {
    const { fn, module, wave } = context;
    const { defs } = this.textOf(item.pc);
    const target = targetOf(item);
    const jump = target === undefined || target === item.pc + item.instruction.size ? undefined : `→ ${hex(target)}`;
    if (defs.length === 0 && jump === undefined && !this.hasMemory(item)) {
      this.plain(context, item);
      return;
    }
    const hasNotes = (): void => {
      if (defs.length > 0 || jump !== undefined) fn.i32(1);
      else fn.i32(0).memory('i32.load', this.lines.at + NOTE_BYTES);
    };
    this.start(context, item, '', hasNotes);
    fn.if();
    let separator = '';
    for (const { first, count } of defs) {
      const isVector = isVectorSlot(first);
      for (let n = 0; n < (isVector ? count : 1); n++) {
        this.text(context, `${separator}${isVector ? slotName(first + n) : scalarName({ first, count })}=`);
        separator = '; ';
        if (isVector) {
          fn.get(wave).get(wave);
          fn.i32(WAVE_VGPRS + VGPR_BYTES * (first + n - Slot.VGPR0))
            .op('i32.add')
            .call(this.vector(module));
        } else this.scalar(context, first, count);
      }
    }
    if (this.hasMemory(item)) fn.i32(separator.length).call(this.note(module));
    this.text(context, `${jump === undefined ? '' : `${separator}${jump}`}\n`);
    fn.end();
  }

  /** Writes the line of a conditional branch that is about to be executed. */
  branch(context: FunctionContext, item: Item): void {
    const { fn } = context;
    const { operation } = item;
    if (operation?.kind !== 'branch' || operation.condition === undefined) throw new Error('not a branch');
    if (branchDistance(item.instruction) === 0) {
      this.plain(context, item);
      return;
    }
    pushCondition(context, operation.condition);
    fn.if();
    this.start(context, item, '', () => void fn.i32(1));
    fn.if();
    this.text(context, `→ ${hex(targetOf(item) as number)}\n`);
    fn.end().else();
    this.plain(context, item);
    fn.end();
  }

  /** A line without notes. */
  private plain(context: FunctionContext, item: Item): void {
    this.start(context, item, '\n', () => void context.fn.i32(0));
    context.fn.drop();
  }

  /** Begins a line; leaves whether there is one on the stack. */
  private start({ fn, module, wave }: FunctionContext, item: Item, end: string, pushNotes: () => void): void {
    const { text } = this.textOf(item.pc);
    const { at, bytes } = this.lines.constant(`${text}${end}`);
    fn.get(wave).i32(item.pc).i32(at).i32(bytes).i32(text.length);
    pushNotes();
    fn.call(this.startFunction(module));
  }

  private text({ fn, module }: FunctionContext, text: string): void {
    const { at, bytes }: Constant = this.lines.constant(text);
    fn.i32(at).i32(bytes).call(this.copy(module));
  }

  /** Writes the value of a range of scalar slots. */
  private scalar({ fn, module, wave }: FunctionContext, first: number, count: number): void {
    if (first === Slot.SCC) {
      fn.get(wave).memory('i32.load', WAVE_SCC).i32(0).op('i32.ne').op('i64.extend_i32_u').call(this.hex(module));
    } else if (count === 1)
      fn.get(wave)
        .memory('i64.load32_u', 4 * first)
        .call(this.hex(module));
    else if (count === 2)
      fn.get(wave)
        .memory('i64.load', 4 * first)
        .call(this.hex(module));
    else {
      fn.get(wave)
        .i32(4 * first)
        .op('i32.add')
        .i32(4 * count - 8)
        .call(this.wide(module));
    }
  }

  // Functions of a module ---------------------------------------------------------------------------------------------------------

  private loadOut(fn: WasmFunction): WasmFunction {
    return fn.i32(0).memory('i32.load', this.lines.at + OUT);
  }

  /** (wave, pc, text, bytes, units, whether notes follow): begins a line; 0 when no more are wanted. */
  private startFunction(module: WasmModule): WasmFunction {
    const { at, end } = this.lines;
    return module.helper('trace.start', ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
      const [wave, pc, text, bytes, units, notes] = [0, 1, 2, 3, 4, 5] as const;
      const [out, prefix] = [fn.local('i32'), fn.local('i32')];
      fn.i32(0)
        .memory('i32.load', at + LEFT)
        .op('i32.eqz')
        .if()
        .i32(0)
        .return()
        .end();
      fn.i32(0)
        .i32(0)
        .memory('i32.load', at + LEFT)
        .i32(1)
        .op('i32.sub')
        .memory('i32.store', at + LEFT);
      this.loadOut(fn).i32(end).op('i32.ge_u').if();
      fn.get(wave).get(pc).call(flushImport(module)).end();
      this.loadOut(fn).set(out);
      for (let n = 0; n < PREFIX_LIMIT; n += 16) {
        fn.get(out)
          .i32(0)
          .memory('v128.load', at + PREFIX + n)
          .memory('v128.store', n);
      }
      fn.i32(0)
        .memory('i32.load', at + PREFIX_BYTES)
        .tee(prefix)
        .get(out)
        .op('i32.add')
        .set(out);
      writeCopy(fn, out, text, bytes);
      fn.get(notes).if();
      fn.i32(NOTES_COLUMN).get(prefix).op('i32.sub').get(units).op('i32.sub').tee(units).i32(0).op('i32.gt_s').if();
      for (let n = 0; n < NOTES_COLUMN; n += 16) {
        fn.get(out).v128(0x20202020, 0x20202020, 0x20202020, 0x20202020).memory('v128.store', n);
      }
      fn.get(out).get(units).op('i32.add').set(out).end();
      // "  ; "
      fn.get(out).i32(0x203b2020).memory('i32.store');
      fn.get(out).i32(4).op('i32.add').set(out).end();
      fn.i32(0)
        .get(out)
        .memory('i32.store', at + OUT);
      fn.i32(1);
    });
  }

  /** (text, bytes): adds a text. */
  private copy(module: WasmModule): WasmFunction {
    return module.helper('trace.copy', ['i32', 'i32'], [], (fn) => {
      const out = fn.local('i32');
      this.loadOut(fn).set(out);
      writeCopy(fn, out, 0, 1);
      fn.i32(0)
        .get(out)
        .memory('i32.store', this.lines.at + OUT);
    });
  }

  /** (i64): adds a number as `0x…`. */
  private hex(module: WasmModule): WasmFunction {
    return module.helper('trace.hex', ['i64'], [], (fn) => {
      const [out, digits] = [fn.local('i32'), fn.local('i32')];
      const text = fn.local('v128');
      // Digits beside leading zeros: one of 0.
      fn.i32(67).get(0).i64(1n).op('i64.or').op('i64.clz').op('i32.wrap_i64').op('i32.sub').i32(2).op('i32.shr_u');
      fn.set(digits);
      this.loadOut(fn).tee(out).i32(0x7830).memory('i32.store16');
      writeDigits(fn, 0, text);
      fn.get(out).get(text);
      fn.v128(0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c);
      fn.i32(16).get(digits).op('i32.sub').op('i8x16.splat').op('i8x16.add').op('i8x16.swizzle');
      fn.memory('v128.store', 2);
      fn.i32(0).get(out).get(digits).op('i32.add').i32(2).op('i32.add');
      fn.memory('i32.store', this.lines.at + OUT);
    });
  }

  /** (words, offset of the highest pair of them): adds a number of many words. */
  private wide(module: WasmModule): WasmFunction {
    const hexFunction = this.hex(module);
    return module.helper('trace.wide', ['i32', 'i32'], [], (fn) => {
      const [words, offset] = [0, 1] as const;
      const [text, pair] = [fn.local('v128'), fn.local('i64')];
      const load = (): WasmFunction => fn.get(words).get(offset).op('i32.add').memory('i64.load');
      const next = (): WasmFunction => fn.get(offset).i32(8).op('i32.sub').set(offset);
      fn.block().loop();
      fn.get(offset).op('i32.eqz').brIf(1);
      load().i64(0n).op('i64.ne').brIf(1);
      next().br(0).end().end();
      load().call(hexFunction);
      fn.block().loop();
      next().get(offset).i32(0).op('i32.lt_s').brIf(1);
      load().set(pair);
      writeDigits(fn, pair, text);
      this.loadOut(fn).get(text).memory('v128.store');
      fn.i32(0);
      this.loadOut(fn)
        .i32(16)
        .op('i32.add')
        .memory('i32.store', this.lines.at + OUT);
      fn.br(0).end().end();
    });
  }

  /** (bytes of a separator): adds what was noted of memory, behind "; " unless it is the first. */
  private note(module: WasmModule): WasmFunction {
    const { at } = this.lines;
    const copy = this.copy(module);
    const separator = this.lines.constant('; ').at;
    return module.helper('trace.note', ['i32'], [], (fn) => {
      fn.i32(0)
        .memory('i32.load', at + NOTE_BYTES)
        .op('i32.eqz')
        .if()
        .return()
        .end();
      fn.i32(separator).get(0).call(copy);
      fn.i32(at + NOTE)
        .i32(0)
        .memory('i32.load', at + NOTE_BYTES)
        .call(copy);
    });
  }

  /** (wave, lanes): adds the value of a vector register. */
  private vector(module: WasmModule): WasmFunction {
    const hexFunction = this.hex(module);
    const copy = this.copy(module);
    const { at } = this.lines;
    const [none, more] = [this.lines.constant('(no active lane)'), this.lines.constant(' …')];
    return module.helper('trace.vector', ['i32', 'i32'], [], (fn) => {
      const [wave, lanes] = [0, 1] as const;
      const [exec, rest, same] = [fn.local('i64'), fn.local('i64'), fn.local('v128')];
      const [active, wanted, first, out] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
      const byte = (value: number): void => {
        this.loadOut(fn).tee(out).i32(value).memory('i32.store8');
        fn.i32(0)
          .get(out)
          .i32(1)
          .op('i32.add')
          .memory('i32.store', at + OUT);
      };
      /** The value of the lowest lane of `rest`. */
      const value = (): WasmFunction =>
        fn.get(lanes).get(rest).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').op('i32.add').memory('i32.load');
      const nextLane = (): WasmFunction => fn.get(rest).get(rest).i64(1n).op('i64.sub').op('i64.and').tee(rest);
      fn.get(wave)
        .memory('i64.load', 4 * EXEC)
        .tee(exec)
        .op('i64.eqz')
        .if();
      fn.i32(none.at).i32(none.bytes).call(copy).return().end();
      fn.get(exec).op('i64.popcnt').op('i32.wrap_i64').set(active);
      fn.get(exec).set(rest);
      value().set(first);
      // Whether all lanes are the same: ends with `rest` 0 then.
      fn.get(active).i32(LANES).op('i32.eq').if();
      fn.get(first).op('i32x4.splat').set(same);
      fn.get(lanes).memory('v128.load').get(same).op('i32x4.eq').op('i32x4.all_true').if();
      for (let lane = 4; lane < LANES; lane += 4) {
        fn.get(lanes)
          .memory('v128.load', 4 * lane)
          .get(same)
          .op('v128.xor');
        if (lane > 4) fn.op('v128.or');
      }
      fn.op('v128.any_true').op('i64.extend_i32_u').set(rest).end();
      fn.else().loop();
      value().get(first).op('i32.eq').if();
      nextLane().i64(0n).op('i64.ne').brIf(1).end();
      fn.end().end();
      fn.get(rest).op('i64.eqz').if();
      fn.get(first).op('i64.extend_i32_u').call(hexFunction);
      fn.else();
      fn.get(exec).set(rest);
      fn.i32(this.detail === 'all' ? LANES : FEW).set(wanted);
      byte(0x5b);
      fn.block().loop();
      value().op('i64.extend_i32_u').call(hexFunction);
      nextLane().op('i64.eqz').brIf(1);
      fn.get(wanted).i32(1).op('i32.sub').tee(wanted).op('i32.eqz').brIf(1);
      byte(0x20);
      fn.br(0).end().end();
      fn.get(rest).i64(0n).op('i64.ne').if().i32(more.at).i32(more.bytes).call(copy).end();
      byte(0x5d);
      fn.end();
      // How many lanes are active, unless all are.
      fn.get(active).i32(LANES).op('i32.ne').if();
      fn.get(active).i32(4).op('i32.shl').set(first);
      this.loadOut(fn)
        .tee(out)
        .get(first)
        .memory('v128.load', at + ACTIVE)
        .memory('v128.store');
      fn.i32(0)
        .get(out)
        .get(first)
        .memory('i32.load8_u', at + ACTIVE + 15)
        .op('i32.add');
      fn.memory('i32.store', at + OUT).end();
    });
  }
}

/** Whether a value can be written: a scalar of one word or of pairs, SCC, vectors. */
function isWritten({ first, count }: SlotRange): boolean {
  if (isVectorSlot(first) || (first === Slot.SCC && count === 1)) return true;
  return first + count <= SCALARS && (count === 1 || count % 2 === 0);
}

/** Copies bytes in units of 16 to the local `out`, which is behind them then. */
function writeCopy(fn: WasmFunction, out: number, text: number, bytes: number): void {
  const done = fn.local('i32');
  fn.i32(0).set(done).loop();
  fn.get(out).get(done).op('i32.add').get(text).get(done).op('i32.add').memory('v128.load').memory('v128.store');
  fn.get(done).i32(16).op('i32.add').tee(done).get(bytes).op('i32.lt_u').brIf(0).end();
  fn.get(out).get(bytes).op('i32.add').set(out);
  fn.release('i32', done);
}

/** Sets `text` to the 16 digits of the i64 local `value`. */
function writeDigits(fn: WasmFunction, value: number, text: number): void {
  // Each byte twice, the highest first: its high digit from the first, its low one from the second.
  fn.get(value).op('i64x2.splat').tee(text).get(text);
  fn.shuffle([7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]).set(text);
  // "0123456789abcdef"
  fn.v128(0x33323130, 0x37363534, 0x62613938, 0x66656463);
  fn.get(text).i32(4).op('i8x16.shr_u');
  fn.get(text).v128(0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f).op('v128.and');
  fn.v128(0x00ff00ff, 0x00ff00ff, 0x00ff00ff, 0x00ff00ff).op('v128.bitselect');
  fn.op('i8x16.swizzle').set(text);
}

function noteImport(module: WasmModule): number {
  return module.importFunction('env', 'traceNote', ['i32', 'i32'], []);
}

function flushImport(module: WasmModule): number {
  return module.importFunction('env', 'traceFlush', ['i32', 'i32'], []);
}

/** Declares what the code imports. */
export function declareLineImports(module: WasmModule): void {
  noteImport(module);
  flushImport(module);
}
