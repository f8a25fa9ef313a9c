// The instructions of one block as WebAssembly: runs of vector code, scalar code, calls of memory, lane-crossing and matrix helpers,
// and calls of the interpreter for the rest.
import type { Expr } from '../../../isa/semantics/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import type { MatrixMode } from '../matrix.ts';
import { type FunctionContext, interpretIndex } from './context.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { emitMatrixInstruction } from './matrix/emit-matrix.ts';
import { emitCrossLane, emitMemory } from './memory/index.ts';
import { emitScalar, NoCode, pushCondition } from './scalar.ts';
import type { Block, Item } from './walk.ts';

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
  private interpreted = 0;

  constructor(
    module: WasmModule,
    fn: WasmFunction,
    wave: number,
    budget: number,
    target: TargetName,
    mfma: MatrixMode,
  ) {
    this.module = module;
    this.fn = fn;
    this.wave = wave;
    this.budget = budget;
    this.target = target;
    this.mfma = mfma;
  }

  /** Writes the items of a block; the number of those left to the interpreter. */
  write(block: Block): number {
    this.interpreted = 0;
    for (const [n, item] of block.items.entries()) this.item(item, block, n);
    return this.interpreted;
  }

  pushCondition(item: Item, condition: Expr): void {
    pushCondition(this.context(item), condition);
  }

  private context({ pc }: Item): FunctionContext {
    return { fn: this.fn, module: this.module, wave: this.wave, pc };
  }

  private item(item: Item, block: Block, position: number): void {
    const { fn } = this;
    const mark = fn.size;
    try {
      if (this.compiled(item)) return;
    } catch (error) {
      if (!(error instanceof NoCode)) throw error;
    }
    fn.truncate(mark);
    this.interpreted++;
    const { operation } = item;
    fn.get(this.wave).i32(item.pc);
    if (operation?.kind === 'structural' && operation.name === 'memtime') {
      fn.globalGet(this.budget)
        .i32(block.items.length + (block.ending.kind === 'branch' ? 1 : 0) - position)
        .op('i32.add')
        .call(clockIndex(this.module));
    } else fn.call(interpretIndex(this.module));
  }

  private compiled(item: Item): boolean {
    const { operation, instruction } = item;
    const { fn, module, wave } = this;
    const context = this.context(item);
    switch (operation?.kind) {
      case 'scalar':
        emitScalar(context, instruction, operation);
        return true;
      case 'branch':
        return true;
      case 'load':
      case 'store':
      case 'atomic':
      case 'format':
        return emitMemory(context, module, instruction, operation);
      case 'matrix':
        return emitMatrixInstruction(fn, module, wave, instruction, operation, this.target, this.mfma, () => {
          fn.get(wave).i32(item.pc).call(interpretIndex(module));
        });
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
        return (
          emitCrossLane(context, module, instruction, operation) || emitMemory(context, module, instruction, operation)
        );
      default:
        return false;
    }
  }
}
