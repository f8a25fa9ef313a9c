// Code of a vector instruction with holes for its registers: written once for each form (row, modifiers, constants, MODE), then
// repeated for every instruction of that form.
import type { Instruction, InstructionRow, Operand, Register } from '../../../isa/types.ts';
import { registerNumber } from './context.ts';
import { ByteSink, type ValType, WasmFunction, type WasmModule } from './emit.ts';
import type { LaneMode } from './lane-writer.ts';
import { NoCode, scalarRegister } from './scalar.ts';

/** What the code of a vector instruction uses of the run it stands in. */
export interface LaneTarget {
  readonly fn: WasmFunction;
  /** Local (i32) with the address of the wave block. */
  readonly wave: number;
  /** Pushes a vector register; `raw` readers take NaNs with any payload. */
  pushRegister(register: number, raw: boolean): void;
  /** Pushes the f16 in the low or the high half of a vector register as f32. */
  pushHalf(register: number, isHigh: boolean): void;
  /** Pops the new value of a vector register. */
  setRegister(register: number, payload: boolean): void;
  /** Pushes a scalar register in every lane. */
  pushSplat(register: number): void;
  /** Pushes a scalar register as i32. */
  pushScalarWord(register: number): void;
  /** Pushes the lanes of the mask in a scalar register pair. */
  pushMask(register: number): void;
  /** Pops a lane mask as the new value of a scalar register pair. */
  setMask(register: number): void;
  /** Pushes the numbers of the chunk's lanes. */
  pushLanes(): void;
}

/** A source that has moved across lanes. */
export interface Crossing {
  /** Pushes a word of the four lanes; a missing or inactive source lane is zero where its lane is written. */
  readonly push: (word: number) => void;
  /** Pushes the mask of the lanes that are written, of those that are active; undefined: all. */
  readonly written: (() => void) | undefined;
  /** Gives locals back. */
  readonly close: () => void;
}

type Hole = 'register' | 'half' | 'setRegister' | 'splat' | 'word' | 'mask' | 'setMask';
type Part = Hole | 'code' | 'constant' | 'get' | 'set' | 'tee' | 'lanes' | 'wave' | 'moved' | 'written';

/** The words of a v128 constant. */
type Words = readonly [number, number, number, number];

/** A piece of a template. */
class Step {
  readonly part: Part;
  /** A hole's operand, or -1 for the scalar register `word`; a local's number. */
  readonly index: number;
  readonly word: number;
  /** Of a vector register: whether NaNs may have payloads; of a half: whether it is the high one. */
  readonly raw: boolean;
  readonly code: Uint8Array | undefined;
  readonly constant: Words | undefined;
  constructor(part: Part, index = 0, word = 0, raw = false, code?: Uint8Array, constant?: Words) {
    this.part = part;
    this.index = index;
    this.word = word;
    this.raw = raw;
    this.code = code;
    this.constant = constant;
  }
}

export interface Template {
  readonly steps: readonly Step[];
  readonly locals: readonly ValType[];
  /** The module whose helpers it calls, if it calls any. */
  readonly module: WasmModule | undefined;
}

// While a template is written, operand k is the vector registers from VECTOR_STRIDE × k, or the scalar ones from SCALAR_STRIDE × k.
export const VECTOR_STRIDE = 16;
export const SCALAR_STRIDE = 8;
/** Operands that may be registers; scalar registers from the end of their places on are what the operation names itself (VCC). */
export const MAX_REGISTERS = 13;
const IMPLIED = SCALAR_STRIDE * MAX_REGISTERS;

/** Collects steps; locals are numbered from 0. */
class TemplateFunction extends WasmFunction {
  readonly steps: Step[] = [];
  readonly typesOfLocals: ValType[] = [];
  calls = false;
  private readonly sink = new ByteSink();

  constructor() {
    super(0, [], []);
    this.redirect(this.sink);
  }
  /** Ends the bytes so far with another step. */
  add(step: Step): this {
    this.cut();
    this.steps.push(step);
    return this;
  }
  cut(): void {
    if (this.sink.length > 0) this.steps.push(new Step('code', 0, 0, false, this.sink.view().slice()));
    this.sink.length = 0;
  }
  override freshLocal(type: ValType): number {
    this.typesOfLocals.push(type);
    return this.typesOfLocals.length - 1;
  }
  override get(local: number): this {
    return this.add(local === WAVE ? new Step('wave') : new Step('get', local));
  }
  override set(local: number): this {
    return this.add(new Step('set', local));
  }
  override tee(local: number): this {
    return this.add(new Step('tee', local));
  }
  /** Where a constant lies is known of the module whose function it becomes part of. */
  override v128(...words: Words): this {
    return this.add(new Step('constant', 0, 0, false, undefined, words));
  }
  override call(target: number | { readonly index: number }): this {
    this.calls = true;
    return super.call(target);
  }
}

const WAVE = -1;

/** What writes the code of a form; `crossing` stands for lanes that DPP moves: where `isPartial`, not all of them are written. */
export interface FormTarget extends LaneTarget {
  crossing(isPartial: boolean): Crossing;
}

class Recorder implements FormTarget {
  readonly fn = new TemplateFunction();
  readonly wave = WAVE;

  private vector(part: Hole, register: number, raw: boolean): void {
    this.fn.add(new Step(part, Math.floor(register / VECTOR_STRIDE), register % VECTOR_STRIDE, raw));
  }
  private scalar(part: Hole, register: number): void {
    if (register >= IMPLIED) this.fn.add(new Step(part, -1, register));
    else this.fn.add(new Step(part, Math.floor(register / SCALAR_STRIDE), register % SCALAR_STRIDE));
  }
  pushRegister(register: number, raw: boolean): void {
    this.vector('register', register, raw);
  }
  pushHalf(register: number, isHigh: boolean): void {
    this.vector('half', register, isHigh);
  }
  setRegister(register: number, payload: boolean): void {
    this.vector('setRegister', register, payload);
  }
  pushSplat(register: number): void {
    this.scalar('splat', register);
  }
  pushScalarWord(register: number): void {
    this.scalar('word', register);
  }
  pushMask(register: number): void {
    this.scalar('mask', register);
  }
  setMask(register: number): void {
    this.scalar('setMask', register);
  }
  pushLanes(): void {
    this.fn.add(new Step('lanes'));
  }
  crossing(isPartial: boolean): Crossing {
    return {
      push: (word) => void this.fn.add(new Step('moved', word)),
      written: isPartial ? () => void this.fn.add(new Step('written')) : undefined,
      close: () => {},
    };
  }
}

const isVector = ({ file }: Register): boolean => file === 'v' || file === 'a';

/** The form of an operand as part of a key. */
export function formOf(operand: Operand): string {
  switch (operand.kind) {
    case 'imm':
      return `${operand.value},`;
    case 'inline':
      return `i${operand.encoding},`;
    case 'literal':
      return `l${operand.bits},`;
    case 'reg':
      if (isVector(operand)) return 'v';
      return scalarRegister(operand) === undefined ? `x${operand.encoding},` : 's';
  }
}

/** An operand's registers by the numbers they have while a template is written. */
export function placeholder(operand: Operand, k: number): Operand {
  if (operand.kind !== 'reg') return operand;
  if (isVector(operand)) return { ...operand, file: 'v', index: VECTOR_STRIDE * k, encoding: 256 + VECTOR_STRIDE * k };
  if (scalarRegister(operand) === undefined) return operand;
  return { ...operand, file: 's', index: SCALAR_STRIDE * k, encoding: SCALAR_STRIDE * k } satisfies Register;
}

/** Templates kept; beyond, all are written anew. */
const MAX_TEMPLATES = 20_000;
let templates = new WeakMap<LaneMode, Map<InstructionRow, Map<string, Template | NoCode>>>();
let count = 0;

function known(mode: LaneMode, row: InstructionRow): Map<string, Template | NoCode> {
  let rows = templates.get(mode);
  if (rows === undefined) {
    rows = new Map();
    templates.set(mode, rows);
  }
  let forms = rows.get(row);
  if (forms === undefined) {
    forms = new Map();
    rows.set(row, forms);
  }
  return forms;
}

/**
 * The template of an instruction, written by `write` for an instruction of its form when it is new. Throws NoCode when `write` does.
 * `mode` is one object for each MODE and target.
 */
export function templateFor(
  instruction: Instruction,
  mode: LaneMode,
  module: WasmModule,
  write: (target: FormTarget, instruction: Instruction) => void,
): Template {
  const { row, operands } = instruction;
  let key = '';
  for (let n = 0; n < operands.length; n++) key += formOf(operands[n] as Operand);
  const found = known(mode, row).get(key);
  if (found instanceof NoCode) throw found;
  if (found !== undefined && (found.module === undefined || found.module === module)) return found;
  if (found === undefined && ++count > MAX_TEMPLATES) {
    templates = new WeakMap();
    count = 1;
  }
  const forms = known(mode, row);
  try {
    const template = record({ ...instruction, operands: operands.map(placeholder) }, module, write);
    forms.set(key, template);
    return template;
  } catch (error) {
    if (error instanceof NoCode) forms.set(key, error);
    throw error;
  }
}

function record(
  instruction: Instruction,
  module: WasmModule,
  write: (target: FormTarget, instruction: Instruction) => void,
): Template {
  if (instruction.operands.some((o, k) => o.kind === 'reg' && k >= MAX_REGISTERS)) throw new NoCode('operands');
  const recorder = new Recorder();
  write(recorder, instruction);
  const { fn } = recorder;
  fn.cut();
  return { steps: fn.steps, locals: fn.typesOfLocals, module: fn.calls ? module : undefined };
}

/** Writes the code of an instruction from the template of its form; `crossing` are the lanes that its DPP moves. */
export function replay(
  template: Template,
  target: LaneTarget,
  { operands }: Instruction,
  crossing?: Crossing | undefined,
): void {
  const { fn } = target;
  const { locals, steps } = template;
  const taken: number[] = [];
  for (let n = 0; n < locals.length; n++) taken.push(fn.local(locals[n] as ValType));
  for (let n = 0; n < steps.length; n++) {
    const step = steps[n] as Step;
    const { index, word, raw } = step;
    switch (step.part) {
      case 'code':
        fn.raw(step.code as Uint8Array);
        break;
      case 'register':
        target.pushRegister(registerNumber(operands[index] as Register) + word, raw);
        break;
      case 'setRegister':
        target.setRegister(registerNumber(operands[index] as Register) + word, raw);
        break;
      case 'get':
        fn.get(taken[index] as number);
        break;
      case 'constant': {
        const words = step.constant as Words;
        fn.v128(words[0], words[1], words[2], words[3]);
        break;
      }
      case 'half':
        target.pushHalf(registerNumber(operands[index] as Register) + word, raw);
        break;
      case 'set':
        fn.set(taken[index] as number);
        break;
      case 'tee':
        fn.tee(taken[index] as number);
        break;
      case 'wave':
        fn.get(target.wave);
        break;
      case 'lanes':
        target.pushLanes();
        break;
      case 'splat':
        target.pushSplat(scalarOf(operands, index) + word);
        break;
      case 'word':
        target.pushScalarWord(scalarOf(operands, index) + word);
        break;
      case 'mask':
        target.pushMask(scalarOf(operands, index) + word);
        break;
      case 'setMask':
        target.setMask(scalarOf(operands, index) + word);
        break;
      case 'moved':
        (crossing as Crossing).push(index);
        break;
      case 'written':
        (crossing as Crossing).written?.();
    }
  }
  for (let n = 0; n < taken.length; n++) fn.release(locals[n] as ValType, taken[n] as number);
}

function scalarOf(operands: readonly Operand[], index: number): number {
  return index < 0 ? 0 : (scalarRegister(operands[index] as Operand) as number);
}
