// Code of a scalar instruction with holes for its registers: written once for each form (row and constants), then repeated. The
// counterpart of template.ts for instructions outside runs.
import type { ScalarOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import type { FunctionContext } from './context.ts';
import { ByteSink, type ValType, WasmFunction } from './emit.ts';
import { constantOf, emitScalar, scalarRegister } from './scalar.ts';
import { formOf, MAX_REGISTERS, placeholder, SCALAR_STRIDE } from './template.ts';

/**
 * A piece of a template: code as it is, a load or store of `word` of operand `index`, the constant that this operand is, or an instruction
 * on local `index`.
 */
interface Piece {
  readonly kind: 'code' | 'access' | 'narrow' | 'wide' | 'wave' | 'get' | 'set' | 'tee';
  readonly index: number;
  readonly word: number;
  readonly name: string;
  readonly code: Uint8Array;
}

interface ScalarTemplate {
  readonly pieces: readonly Piece[];
  readonly locals: readonly ValType[];
}

const WAVE = -1;
/** While a template is written, the constant of operand k is this number and k: nothing else in scalar code is one of these. */
const CONSTANT = 0x5ca1ab00;
const NO_CODE = new Uint8Array(0);
/** Offsets in the wave block below this one are those of operands while a template is written; above are registers that the operation names. */
const OPERANDS_END = 4 * SCALAR_STRIDE * MAX_REGISTERS;

/** Collects pieces; locals are numbered from 0. */
class Recorder extends WasmFunction {
  readonly pieces: Piece[] = [];
  readonly typesOfLocals: ValType[] = [];
  private readonly sink = new ByteSink();

  constructor() {
    super(0, [], []);
    this.redirect(this.sink);
  }

  private add(kind: Piece['kind'], index = 0, word = 0, name = ''): this {
    this.cut();
    this.pieces.push({ kind, index, word, name, code: NO_CODE });
    return this;
  }
  /** Ends the bytes so far. */
  cut(): void {
    const { length } = this.sink;
    if (length > 0) this.pieces.push({ kind: 'code', index: 0, word: 0, name: '', code: this.sink.view().slice() });
    this.sink.length = 0;
  }
  override freshLocal(type: ValType): number {
    return this.typesOfLocals.push(type) - 1;
  }
  override get(local: number): this {
    return local === WAVE ? this.add('wave') : this.add('get', local);
  }
  override set(local: number): this {
    return this.add('set', local);
  }
  override tee(local: number): this {
    return this.add('tee', local);
  }
  override i32(value: number): this {
    return isPlaceholder(value) ? this.add('narrow', value - CONSTANT) : super.i32(value);
  }
  override i64(value: bigint): this {
    return isPlaceholder(Number(value)) ? this.add('wide', Number(value) - CONSTANT) : super.i64(value);
  }
  /** Scalar instructions access nothing but the wave block. */
  override memory(name: string, offset = 0, alignment?: number): this {
    if (offset >= OPERANDS_END) return super.memory(name, offset, alignment);
    const word = offset / 4;
    return this.add('access', Math.floor(word / SCALAR_STRIDE), word % SCALAR_STRIDE, name);
  }
}

const isPlaceholder = (value: number): boolean => value >= CONSTANT && value < CONSTANT + MAX_REGISTERS;

/** Whether an operand is a constant that seldom comes twice, so that it is no part of a form. */
const isOwn = ({ kind }: Operand): boolean => kind === 'literal' || kind === 'imm';

function standIn(operand: Operand, k: number): Operand {
  return isOwn(operand) ? { kind: 'literal', bits: CONSTANT + k } : placeholder(operand, k);
}

/** By number of the row, and form of the operands. */
const templates: (Map<string, ScalarTemplate> | undefined)[] = [];

function templateOf(context: FunctionContext, instruction: Instruction, op: ScalarOperation): ScalarTemplate {
  const { row, operands } = instruction;
  let forms = templates[row.id];
  if (forms === undefined) {
    forms = new Map();
    templates[row.id] = forms;
  }
  let key = '';
  for (let n = 0; n < operands.length; n++) {
    const operand = operands[n] as Operand;
    key += isOwn(operand) ? 'c' : formOf(operand);
  }
  let template = forms.get(key);
  if (template === undefined) {
    const fn = new Recorder();
    emitScalar({ ...context, fn, wave: WAVE }, { ...instruction, operands: operands.map(standIn) }, op);
    fn.cut();
    template = { pieces: fn.pieces, locals: fn.typesOfLocals };
    forms.set(key, template);
  }
  return template;
}

/** Emits a scalar operation. Throws NoCode before anything is emitted when it cannot be compiled. */
export function addScalar(context: FunctionContext, instruction: Instruction, op: ScalarOperation): void {
  replay(templateOf(context, instruction, op), context, instruction.operands);
}

function replay({ pieces, locals }: ScalarTemplate, { fn, wave }: FunctionContext, operands: readonly Operand[]): void {
  const taken: number[] = [];
  for (let n = 0; n < locals.length; n++) taken.push(fn.local(locals[n] as ValType));
  for (let n = 0; n < pieces.length; n++) {
    const { kind, index, word, name, code } = pieces[n] as Piece;
    switch (kind) {
      case 'code':
        fn.raw(code);
        break;
      case 'access':
        fn.memory(name, 4 * ((scalarRegister(operands[index] as Operand) as number) + word));
        break;
      case 'narrow':
        fn.i32(Number(BigInt.asIntN(32, constantOf(operands[index] as Operand, 'i32') as bigint)));
        break;
      case 'wide':
        fn.i64(BigInt.asIntN(64, constantOf(operands[index] as Operand, 'i64') as bigint));
        break;
      case 'wave':
        fn.get(wave);
        break;
      case 'get':
        fn.get(taken[index] as number);
        break;
      case 'set':
        fn.set(taken[index] as number);
        break;
      case 'tee':
        fn.tee(taken[index] as number);
    }
  }
  for (let n = 0; n < taken.length; n++) fn.release(locals[n] as ValType, taken[n] as number);
}
