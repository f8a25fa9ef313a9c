// The instructions of one block as WebAssembly: runs of vector code, scalar code, calls of memory, lane-crossing and matrix helpers,
// and calls of the interpreter for the rest.

import { requireOperand } from '../../../isa/operand.ts';
import type { Expr, VectorOperation } from '../../../isa/semantics/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { Instruction, Operand, TargetName } from '../../../isa/types.ts';
import { isIndexable, isSkippable } from '../interpreter/loaded-code.ts';
import type { MatrixMode } from '../interpreter/matrix.ts';
import { isVector } from '../interpreter/operands.ts';
import { EXEC, VCC } from '../state/wave.ts';
import { type FunctionContext, interpretIndex, registerNumber } from './context.ts';
import { emitControl } from './control.ts';
import { endsBeforeWrite } from './dpp.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { matrixFeatures } from './features.ts';
import { addIndexedLane } from './indexed.ts';
import type { Instrument } from './instrument.ts';
import { laneMode } from './lane-mode.ts';
import { emitMatrixInstruction } from './matrix/emit-matrix.ts';
import { StagedOperands } from './matrix/staged-operands.ts';
import { emitCrossLane, emitMemory } from './memory/index.ts';
import { INDEXES_REGISTERS, SKIPS_VECTORS } from './place.ts';
import { RUN_LIMIT, Run, RunPools } from './run.ts';
import { NoCode, pushCondition } from './scalar.ts';
import { addScalar } from './scalar-template.ts';
import { addScaleConvert } from './scale-convert.ts';
import type { SharedRuns } from './shared-runs.ts';
import { addIndexedVector, addVector, closesRun, endsRun } from './vector.ts';
import type { Block, Item } from './walk.ts';

/** Operations after which vector instructions do something else: the states (STATE_MASK) that they change. */
const STATES: ReadonlyMap<string, number> = new Map([
  ['setGprIndexOn', INDEXES_REGISTERS],
  ['setGprIndexOff', INDEXES_REGISTERS],
  ['setVskip', SKIPS_VECTORS],
]);

/** Index of the import `interpretAt(wave, pc, budget)`: the same for instructions that read the clock. */
export function clockIndex(module: WasmModule): number {
  return module.importFunction('env', 'interpretAt', ['i32', 'i32', 'i32'], []);
}

export class BlockCode {
  private readonly module: WasmModule;
  private readonly fn: WasmFunction;
  private readonly wave: number;
  private readonly budget: number;
  private readonly target: TargetName;
  private readonly mfma: MatrixMode;
  private readonly instrument: Instrument | undefined;
  private readonly pools: RunPools;
  private readonly shared: SharedRuns | undefined;
  private run: Run | undefined;
  private interpreted: string[] = [];
  private readonly staged = new StagedOperands();
  /** Index of the import that has one instruction interpreted. */
  private readonly interpret: number;

  constructor(
    module: WasmModule,
    fn: WasmFunction,
    wave: number,
    budget: number,
    target: TargetName,
    mfma: MatrixMode,
    shared: SharedRuns | undefined,
    instrument?: Instrument,
  ) {
    this.shared = shared;
    this.module = module;
    this.fn = fn;
    this.wave = wave;
    this.budget = budget;
    this.target = target;
    this.mfma = mfma;
    this.instrument = instrument;
    this.pools = new RunPools(fn);
    this.interpret = interpretIndex(module);
  }

  /** Writes the items of a block; the operations left to the interpreter. */
  write(block: Block): readonly string[] {
    this.interpreted = [];
    this.staged.forget();
    for (let n = 0; n < block.items.length; n++) {
      const item = block.items[n] as Item;
      const called = this.callShared(item);
      if (called > 0) {
        if (!this.staged.isEmpty) {
          for (let k = n; k < n + called; k++) this.staged.after((block.items[k] as Item).instruction);
        }
        n += called - 1;
        continue;
      }
      const done = this.addInstrument(item, block, n);
      if (done === undefined) this.item(item, block, n);
      else this.unless(done, () => this.item(item, block, n));
      // What an instrument adds may change registers, and indexed instructions change any.
      if (this.instrument !== undefined || (block.mode & INDEXES_REGISTERS) !== 0) this.staged.forget();
      else if (!this.staged.isEmpty) this.staged.after(item.instruction);
    }
    if (block.ending.kind === 'branch') this.addInstrument(block.ending.item, block, block.items.length);
    this.flush();
    const last = block.items.at(-1);
    if (block.ending.kind !== 'branch' && last !== undefined) this.instrument?.finish?.(this.context(last), block);
    return this.interpreted;
  }

  /** Calls the function of the run that begins with an item, when it has one; the number of items that this stands for. */
  private callShared(item: Item): number {
    const run = this.shared?.runAt(item);
    if (run === undefined) return 0;
    this.flush();
    run.call(this.fn, this.wave);
    return run.length;
  }

  /** Code of the instrument; the local that says where it has executed the instruction, if it ever does. */
  private addInstrument(item: Item, block: Block, index: number): number | undefined {
    if (this.instrument?.wants(block, index) !== true) return undefined;
    this.flush();
    return this.instrument.emit(this.context(item), block, index);
  }

  private unless(done: number, write: () => void): void {
    const { fn } = this;
    fn.get(done).op('i32.eqz').if();
    write();
    this.flush();
    fn.end();
    fn.release('i32', done);
  }

  pushCondition(item: Item, condition: Expr): void {
    pushCondition(this.context(item), condition);
  }

  private context({ pc }: Item): FunctionContext {
    return { fn: this.fn, module: this.module, wave: this.wave, pc };
  }

  private flush(): void {
    this.run?.flush();
    this.run = undefined;
  }

  private item(item: Item, block: Block, position: number): void {
    const { operation, instruction } = item;
    if ((block.mode & SKIPS_VECTORS) !== 0 && isSkippable(instruction)) return;
    const isIndexed = (block.mode & INDEXES_REGISTERS) !== 0 && isIndexable(instruction, operation);
    try {
      if (isIndexed ? this.indexed(item, block.mode) : this.inRun(item, block.mode)) return;
    } catch (error) {
      if (!(error instanceof NoCode)) throw error;
    }
    if (operation?.kind === 'scalar' && this.run !== undefined && !beforeRun(this.run, instruction)) this.flush();
    if (operation?.kind !== 'scalar') this.flush();
    const { fn } = this;
    const mark = fn.size;
    try {
      if (!isIndexed && this.compiled(item)) return;
    } catch (error) {
      if (!(error instanceof NoCode)) throw error;
    }
    fn.truncate(mark);
    this.flush();
    this.interpreted.push(instruction.row.operation);
    fn.get(this.wave).i32(item.pc);
    if (operation?.kind === 'structural' && operation.name === 'memtime') {
      fn.globalGet(this.budget)
        .i32(block.items.length + (block.ending.kind === 'branch' ? 1 : 0) - position)
        .op('i32.add')
        .call(clockIndex(this.module));
    } else fn.call(this.interpret);
  }

  /** Adds what belongs into a run; true when that is done. */
  private inRun({ operation, instruction }: Item, mode: number): boolean {
    if (this.run !== undefined && endsBeforeWrite(this.run, instruction)) this.flush();
    if (operation?.kind === 'structural') {
      if (operation.name === 'nop' || operation.name === 'waitcnt') return true;
      if (operation.name !== 'swap') return false;
      const [target, source] = [requireOperand(instruction, 'vdst'), requireOperand(instruction, 'src0')];
      if (!isVector(target) || !isVector(source)) return false;
      const [a, b] = [registerNumber(target), registerNumber(source)];
      const run = this.openRun();
      run.add(() => {
        run.pushRegister(a, false);
        run.pushRegister(b, false);
        run.setRegister(a, false);
        run.setRegister(b, false);
      });
      return true;
    }
    if (operation?.kind === 'scaleConvert') {
      addScaleConvert(this.openRun(), this.module, instruction, operation);
      return true;
    }
    if (operation?.kind !== 'vector') return false;
    this.addVector(instruction, operation, mode);
    return true;
  }

  /** Writes an instruction whose vector registers s_set_gpr_idx moves; true when that is done. */
  private indexed(item: Item, mode: number): boolean {
    const { instruction, operation } = item;
    const { fn, module, wave, pools } = this;
    this.flush();
    const context = this.context(item);
    const otherwise = (): void => void fn.get(wave).i32(item.pc).call(this.interpret);
    if (operation?.kind === 'vector') {
      const facts = laneMode(mode, targetInfo(this.target).ocpFloat8);
      addIndexedVector(context, pools, instruction, operation, facts, otherwise);
      return true;
    }
    const isLane = operation?.kind === 'structural' && /^(read|write)lane$/.test(operation.name);
    return isLane && addIndexedLane(context, module, instruction, operation, otherwise);
  }

  private openRun(): Run {
    if (this.run !== undefined && this.run.length >= RUN_LIMIT) this.flush();
    this.run ??= new Run(this.fn, this.wave, this.pools);
    return this.run;
  }

  private addVector(instruction: Instruction, operation: VectorOperation, mode: number): void {
    if (this.run !== undefined && endsRun(this.run, instruction, operation)) this.flush();
    addVector(this.openRun(), this.module, instruction, operation, laneMode(mode, targetInfo(this.target).ocpFloat8));
    if (closesRun(instruction, operation)) this.flush();
  }

  private compiled(item: Item): boolean {
    const { operation, instruction } = item;
    const { fn, module, wave } = this;
    const context = this.context(item);
    switch (operation?.kind) {
      case 'scalar':
        addScalar(context, instruction, operation);
        return true;
      case 'branch':
        return true;
      case 'load':
      case 'store':
      case 'atomic':
      case 'format':
        return emitMemory(context, module, instruction, operation);
      case 'matrix':
        return emitMatrixInstruction(
          fn,
          module,
          wave,
          instruction,
          operation,
          this.target,
          this.mfma,
          () => void fn.get(wave).i32(item.pc).call(this.interpret),
          matrixFeatures(),
          this.staged,
        );
      case 'structural':
        switch (operation.name) {
          case 'nop':
          case 'waitcnt':
          case 'cacheControl':
          case 'sleep':
          case 'endpgm':
          case 'barrier':
            return true;
        }
        if (this.instrument !== undefined) {
          const state = STATES.get(operation.name) ?? 0;
          if ((state & ~(this.instrument.followedStates ?? 0)) !== 0) return false;
        }
        return (
          emitControl(context, instruction, operation.name, () => {
            fn.get(wave).i32(item.pc).call(this.interpret);
          }) ||
          emitCrossLane(context, module, instruction, operation) ||
          emitMemory(context, module, instruction, operation)
        );
      default:
        return false;
    }
  }
}

/** Whether a scalar instruction may run before the vector instructions that precede it. */
function beforeRun(run: Run, { row, operands }: Instruction): boolean {
  if (row.defs.includes('EXEC') || row.uses.includes('VCC') || row.defs.includes('VCC')) return false;
  for (let n = 0; n < operands.length; n++) {
    const operand = operands[n] as Operand;
    if (operand.kind !== 'reg') continue;
    const isOut = row.operands[n]?.isOut === true || row.operands[n]?.name === 'sdst';
    const { encoding } = operand;
    if (run.hasWritten(encoding === 251 ? VCC : encoding, encoding === 251 ? 2 : operand.dwords)) return false;
    if (!isOut) continue;
    if (encoding + operand.dwords > EXEC && encoding <= EXEC + 1) return false;
    run.scalarChanged(encoding, operand.dwords);
  }
  return true;
}
