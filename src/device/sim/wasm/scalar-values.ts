// What is known of a wave's scalar registers on the ways from where it is: their values there, what is computed from them and what is in
// memory. Hand-written kernels have variants for shapes and formats, and the arguments choose among them; the others need no code.
// Nothing depends on it but what is compiled first: code that turns out to run all the same is compiled then.
import { immediateOf, operandNamed, requireOperand } from '../../../isa/operand.ts';
import type {
  BranchOperation,
  Expr,
  LoadOperation,
  Operation,
  ScalarOperation,
  SourceSpec,
} from '../../../isa/semantics/index.ts';
import { operandClass } from '../../../isa/table/operand-classes.ts';
import type { Instruction, InstructionRow, Operand, OperandDef } from '../../../isa/types.ts';
import {
  type BigFunction,
  compileBig,
  compileNumber,
  compileTest,
  type NumberFunction,
  type TestFunction,
} from '../interpreter/evaluate.ts';
import { LaneEnv, SOURCE_STRIDE } from '../state/lane-env.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { EXEC, FLAT_SCRATCH, M0, VCC, type Wave } from '../state/wave.ts';
import { constantOf, scalarRegister } from './scalar.ts';

const REGISTERS = 128;
/** Ways that have met at a place, each with other values, after which nothing is taken for known there: all ends soon in any code. */
const MOST_MEETINGS = 8;

/** An instruction and what it does. */
interface Decoded {
  readonly instruction: Instruction;
  readonly operation: Operation | undefined;
}

const isWritten = ({ isOut, name }: OperandDef): boolean => isOut || name === 'sdst';

/** Implicit registers that are followed. */
const FOLLOWED: ReadonlySet<string> = new Set(['SCC', 'VCC', 'EXEC', 'M0']);
/** Whether instructions of a row write scalar registers, by number of the row. */
const writers: (boolean | undefined)[] = [];

function writesScalars(row: InstructionRow): boolean {
  let known = writers[row.id];
  if (known === undefined) {
    const isScalar = ({ cls }: OperandDef): boolean => !VECTOR_ONLY.has(operandClass(cls).decode);
    known = row.operands.some((o) => isWritten(o) && isScalar(o)) || row.defs.some((name) => FOLLOWED.has(name));
    writers[row.id] = known;
  }
  return known;
}

/** Kinds of operands that are vector registers. */
const VECTOR_ONLY: ReadonlySet<string> = new Set(['vgpr', 'agpr', 'av10', 'avLdSt']);

/** Whether the scalar registers may be others behind an instruction: of most that is not so, and nothing has to be followed there. */
export function changesScalars({ instruction, operation }: Decoded): boolean {
  if (operation?.kind === 'branch') return false;
  return (operation?.kind === 'structural' && operation.name === 'movreld') || writesScalars(instruction.row);
}

/** A scalar operation as closures. */
interface Evaluator {
  readonly narrow: NumberFunction | undefined;
  readonly wide: BigFunction | undefined;
  readonly scc: TestFunction | undefined;
  readonly exec: BigFunction | undefined;
  readonly when: TestFunction | undefined;
  readonly readsScc: boolean;
  readonly readsExec: boolean;
}

const evaluators = new WeakMap<ScalarOperation, Evaluator>();
const conditions = new WeakMap<Expr, TestFunction>();
const env = new LaneEnv();

function reads(leaf: string, ...roots: readonly (Expr | 'nonzero' | undefined)[]): boolean {
  return roots.some((e) => typeof e === 'object' && (e.op === leaf || reads(leaf, ...e.args)));
}

function evaluatorOf(op: ScalarOperation): Evaluator {
  let known = evaluators.get(op);
  if (known === undefined) {
    const context = { types: op.sources.map((s) => s.type), denormals: 'keep' } as const;
    const { result, resultType, scc, exec, when } = op;
    const roots = [result, scc, exec, when];
    known = {
      narrow: result !== undefined && resultType !== 'i64' ? compileNumber(result, context) : undefined,
      wide: result !== undefined && resultType === 'i64' ? compileBig(result, context) : undefined,
      scc: typeof scc === 'object' ? compileTest(scc, context) : undefined,
      exec: exec === undefined ? undefined : compileBig(exec, context),
      when: when === undefined ? undefined : compileTest(when, context),
      readsScc: reads('scc', ...roots),
      readsExec: reads('exec', ...roots),
    };
    evaluators.set(op, known);
  }
  return known;
}

export class ScalarValues {
  private readonly words = new Int32Array(REGISTERS);
  private readonly known = new Uint8Array(REGISTERS);
  private scc: boolean | undefined;
  private meetings = 0;
  private readonly memory: DeviceMemory;

  private constructor(memory: DeviceMemory) {
    this.memory = memory;
  }

  /** The general registers of a wave as they are. Masks are left out: they differ between the waves that come by. */
  static of({ memory, sgprs }: Pick<Wave, 'memory' | 'sgprs'>): ScalarValues {
    const values = new ScalarValues(memory);
    for (let r = 0; r < FLAT_SCRATCH; r++) values.set(r, sgprs[r] as number);
    return values;
  }

  copy(): ScalarValues {
    const copy = new ScalarValues(this.memory);
    copy.take(this);
    return copy;
  }

  /** Knows what `other` knows from here on, and no more. */
  take(other: ScalarValues): void {
    this.words.set(other.words);
    this.known.set(other.known);
    this.scc = other.scc;
  }

  /** Keeps what `other` says, too; whether that is less. */
  meet(other: ScalarValues): boolean {
    let isLess = this.scc !== undefined && this.scc !== other.scc;
    if (isLess) this.scc = undefined;
    for (let r = 0; r < REGISTERS; r++) {
      if (this.known[r] === 0 || (other.known[r] === 1 && other.words[r] === this.words[r])) continue;
      this.known[r] = 0;
      isLess = true;
    }
    if (isLess && ++this.meetings > MOST_MEETINGS) this.forgetAll();
    return isLess;
  }

  forgetAll(): void {
    this.known.fill(0);
    this.scc = undefined;
  }

  /** Whether a branch is taken, where that is known. */
  isTaken({ condition }: BranchOperation): boolean | undefined {
    if (condition === undefined) return true;
    if (reads('scc', condition) && this.scc === undefined) return undefined;
    if (reads('vccz', condition) && !this.has(VCC, 2)) return undefined;
    if (reads('execz', condition) && !this.has(EXEC, 2)) return undefined;
    let test = conditions.get(condition);
    if (test === undefined) {
      test = compileTest(condition, { types: [], denormals: 'keep' });
      conditions.set(condition, test);
    }
    env.scc = this.scc === true;
    env.vccz = this.isZero(VCC);
    env.execz = this.isZero(EXEC);
    return test(env);
  }

  /** An instruction runs, one of those that `changesScalars`. */
  after({ instruction, operation: op }: Decoded): void {
    if (op?.kind === 'structural' && op.name === 'movreld') this.forgetAll();
    else if (op?.kind === 'scalar' && this.compute(instruction, op)) return;
    else if (op?.kind === 'load' && this.loadWords(instruction, op)) return;
    this.forget(instruction);
  }

  /** Whatever registers an instruction writes have values that are not known. */
  private forget({ row, operands }: Instruction): void {
    for (let n = 0; n < operands.length; n++) {
      const operand = operands[n] as Operand;
      if (operand.kind !== 'reg' || !isWritten(row.operands[n] as OperandDef)) continue;
      const register = scalarRegister(operand);
      if (register !== undefined) this.known.fill(0, register, register + operand.dwords);
    }
    for (const name of row.defs) {
      if (name === 'SCC') this.scc = undefined;
      else if (name === 'VCC') this.known.fill(0, VCC, VCC + 2);
      else if (name === 'EXEC') this.known.fill(0, EXEC, EXEC + 2);
      else if (name === 'M0') this.known[M0] = 0;
    }
  }

  /** A scalar operation; false when its values are not known. Counterpart: interpreter/scalar.ts. */
  private compute(instruction: Instruction, op: ScalarOperation): boolean {
    const { narrow, wide, scc, exec, when, readsScc, readsExec } = evaluatorOf(op);
    if ((readsScc && this.scc === undefined) || (readsExec && !this.has(EXEC, 2))) return false;
    for (let k = 0; k < op.sources.length; k++) {
      const source = op.sources[k] as SourceSpec;
      const operand = requireOperand(instruction, source.operand);
      const at = k * SOURCE_STRIDE;
      const constant = constantOf(operand, source.type);
      if (constant !== undefined) {
        env.words[at] = Number(BigInt.asIntN(32, constant));
        env.words[at + 1] = Number(BigInt.asIntN(32, constant >> 32n));
        continue;
      }
      const register = scalarRegister(operand);
      if (register === undefined || !this.has(register, source.type === 'i64' ? 2 : 1)) return false;
      env.words[at] = this.words[register] as number;
      env.words[at + 1] = this.words[register + 1] as number;
    }
    let target = -1;
    if (op.result !== undefined) {
      const operand = requireOperand(instruction, 'sdst');
      const register = scalarRegister(operand);
      if (register === undefined) return false;
      target = register;
    }
    env.scc = this.scc === true;
    env.exec = this.pair(EXEC);
    if (when !== undefined && !when(env)) return true;
    const value = narrow?.(env);
    const pair = wide?.(env);
    const newExec = exec?.(env);
    if (scc !== undefined) this.scc = scc(env);
    else if (op.scc === 'nonzero') this.scc = pair === undefined ? value !== 0 : pair !== 0n;
    if (newExec !== undefined) this.setPair(EXEC, newExec);
    if (value !== undefined) this.set(target, value);
    else if (pair !== undefined) this.setPair(target, pair);
    return true;
  }

  /** A scalar load; false when what it loads is not known. */
  private loadWords(instruction: Instruction, { space, bytes }: LoadOperation): boolean {
    if (space !== 'scalar') return false;
    const [base, data] = [scalarNamed(instruction, 'sbase'), scalarNamed(instruction, 'sdst')];
    const added = this.offsetOf(instruction);
    if (base === undefined || data === undefined || added === undefined || !this.has(base, 2)) return false;
    const address = Number(this.pair(base)) + added;
    const region = this.memory.find(address, bytes);
    if (region === undefined || region.isBeyond || (address & 3) !== 0) return false;
    for (let n = 0; n < bytes / 4 && data + n < REGISTERS; n++) {
      this.set(data + n, region.view.getInt32(address - region.base + 4 * n, true));
    }
    return true;
  }

  /** What a scalar load adds to its base. */
  private offsetOf(instruction: Instruction): number | undefined {
    const offset = immediateOf(instruction, 'offset');
    const operand = operandNamed(instruction, 'soffset');
    if (operand === undefined) return offset;
    const constant = constantOf(operand, 'i32');
    if (constant !== undefined) return offset + Number(BigInt.asUintN(32, constant));
    const register = scalarRegister(operand);
    if (register === undefined || !this.has(register, 1)) return undefined;
    return offset + ((this.words[register] as number) >>> 0);
  }

  private set(register: number, value: number): void {
    this.words[register] = value;
    this.known[register] = 1;
  }

  private has(register: number, words: number): boolean {
    for (let r = register; r < register + words; r++) if (this.known[r] !== 1) return false;
    return true;
  }

  private isZero(pair: number): boolean {
    return this.words[pair] === 0 && this.words[pair + 1] === 0;
  }

  private pair(register: number): bigint {
    const [low, high] = [this.words[register] as number, this.words[register + 1] as number];
    return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  }

  private setPair(register: number, value: bigint): void {
    this.set(register, Number(BigInt.asIntN(32, value)));
    this.set(register + 1, Number(BigInt.asIntN(32, value >> 32n)));
  }
}

function scalarNamed(instruction: Instruction, name: string): number | undefined {
  const operand = operandNamed(instruction, name);
  return operand === undefined ? undefined : scalarRegister(operand);
}
