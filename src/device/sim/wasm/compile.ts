// Compiles the code reachable from an entry to one WebAssembly module. Blocks become cases of functions of bounded size; a function
// returns the number of the next block, or a reason to leave (below 0) with the program counter in the wave block.
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../../isa/types.ts';
import type { MatrixMode } from '../interpreter/matrix.ts';
import {
  AT_BARRIER,
  ENDED,
  FLAG_VSKIP,
  gpuWindow,
  WAVE_FLAGS,
  WAVE_LOAD_ROW,
  WAVE_PC,
  WAVE_STATE,
} from '../state/layout.ts';
import type { ModuleCache } from '../state/module-cache.ts';
import { BlockCode, clockIndex } from './block.ts';
import { declareImports } from './context.ts';
import { type WasmFunction, WasmModule } from './emit.ts';
import { matrixFeatures } from './features.ts';
import type { Instrument } from './instrument.ts';
import { moduleKey, packModule, unpackModule } from './module-cache.ts';
import { keyOf, type Place, STATE_MASK } from './place.ts';
import type { ScalarValues } from './scalar-values.ts';
import { SharedRuns } from './shared-runs.ts';
import { LATE, LEFT } from './unit.ts';
import { type Block, type Reachable, reachableBlocks, rowAfter } from './walk.ts';

/** Instructions of one function, so that compiling stays linear and optimised code is swapped in soon. */
const FUNCTION_LIMIT = 250;

export interface CompileOptions {
  readonly target: TargetName;
  readonly mfma: MatrixMode;
  /** The memory import. */
  readonly shared: boolean;
  /** Decodes at a byte offset, for callers that keep what they decoded. */
  readonly decode?: ((pc: number) => Instruction | undefined) | undefined;
  /** Code that other modules hold: it is entered through the engine. */
  readonly known?: (place: Place) => boolean;
  /** About the most instructions of the module. */
  readonly limit?: number | undefined;
  /** The most instructions of one block. */
  readonly blockLimit?: number | undefined;
  /** What is known of a wave at the entry: what it does not reach is left out. */
  readonly start?: ScalarValues | undefined;
  /** Without `start`: which ways behind branches are not left out; all by default. */
  readonly open?: ((place: Place) => boolean) | undefined;
  /** Modules written before. */
  readonly cache?: ModuleCache | undefined;
  /** Adds code before instructions. */
  readonly instrument?: Instrument | undefined;
}

export interface CompiledCode {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly blocks: readonly Block[];
  /** Where branches lead that were left out. */
  readonly leftOut: readonly Place[];
  /** Instructions of each block, and the operations among them that the interpreter executes. */
  readonly lengths: readonly number[];
  readonly interpreted: readonly (readonly string[])[];
  /** Whether it has loads into LDS: it keeps WAVE_LOAD_ROW. */
  readonly loadsIntoLds: boolean;
}

/** Number of instructions of a block, its branch included. */
export function lengthOf({ items, ending }: Block): number {
  return items.length + (ending.kind === 'branch' ? 1 : 0);
}

/** The first load into LDS of a row begins its block. */
const hasLoads = ({ late }: Block): boolean => late;

/** Groups consecutive blocks to functions. */
function partition(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  let length = Infinity;
  for (const block of blocks) {
    if (length + lengthOf(block) > FUNCTION_LIMIT) {
      groups.push([]);
      length = 0;
    }
    (groups.at(-1) as Block[]).push(block);
    length += lengthOf(block);
  }
  return groups;
}

/**
 * Compiles what is reachable from `entry` in the image `bytes`. The module exports `run(wave, block, budget)`, which executes from a
 * block until something makes it leave, `left()`, the rest of the budget, and `take(block)`, how often a block has run since the
 * last call.
 */
export function compile(bytes: Uint8Array, entry: Place, options: CompileOptions): CompiledCode {
  const { target, instrument, cache } = options;
  const followedStates = instrument === undefined ? STATE_MASK : (instrument.followedStates ?? 0);
  const reached = reachableBlocks(target, bytes, entry, { ...options, followedStates });
  if (cache === undefined || instrument !== undefined) return write(reached, options);
  const { blocks, leftOut } = reached;
  const key = moduleKey(optionsText(options), bytes, blocks);
  const packed = cache.get(key);
  const cached = packed === undefined ? undefined : unpackModule(packed, blocks.length);
  if (cached !== undefined)
    return { ...cached, blocks, leftOut, lengths: blocks.map(lengthOf), loadsIntoLds: blocks.some(hasLoads) };
  const code = write(reached, options);
  cache.put(key, packModule(code.bytes, code.interpreted));
  return code;
}

/** Everything beside the blocks that a module depends on. */
function optionsText({ target, mfma, shared }: CompileOptions): string {
  const { relaxed, fused } = matrixFeatures();
  return `${target} ${mfma} shared=${shared} relaxed=${relaxed} fused=${fused} window=${gpuWindow.high}`;
}

function write({ blocks, leftOut }: Reachable, options: CompileOptions): CompiledCode {
  const numbers = new Map(blocks.map((b, i) => [keyOf(b), i]));
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 65536, shared: options.shared });
  declareImports(module);
  clockIndex(module);
  options.instrument?.declare(module);
  const budget = module.global('i32');
  const functions = partition(blocks).map((group) => ({ group, fn: module.function(['i32', 'i32'], ['i32']) }));
  const counters = blocks.map(() => module.global('i32'));
  const table: WasmFunction[] = [];
  const interpreted: (readonly string[])[] = blocks.map(() => []);
  const shared = options.instrument === undefined ? new SharedRuns(module, options.target, blocks) : undefined;
  for (const { group, fn } of functions) {
    const first = numbers.get(keyOf(group[0] as Block)) as number;
    const writer = new GroupWriter(
      module,
      fn,
      blocks,
      group,
      first,
      numbers,
      budget,
      counters[0] ?? 0,
      shared,
      options,
    );
    writer.write(interpreted);
    for (const _ of group) table.push(fn);
  }
  module.table(table);
  writeRun(module, budget);
  writeTake(module, counters);
  return {
    bytes: module.finish(),
    blocks,
    leftOut,
    lengths: blocks.map(lengthOf),
    interpreted,
    loadsIntoLds: blocks.some(hasLoads),
  };
}

function writeRun(module: WasmModule, budget: number): void {
  const run = module.function(['i32', 'i32', 'i32'], ['i32']);
  const [wave, block, limit] = [0, 1, 2] as const;
  run.get(limit).globalSet(budget);
  run.loop();
  run
    .get(wave)
    .get(block)
    .get(block)
    .callIndirect(module.type(['i32', 'i32'], ['i32']));
  run.tee(block).i32(0).op('i32.ge_s').brIf(0).end();
  run.get(block);
  module.export('run', run);
  const left = module.function([], ['i32']);
  left.globalGet(budget);
  module.export('left', left);
}

function writeTake(module: WasmModule, counters: readonly number[]): void {
  const take = module.function(['i32'], ['i32']);
  for (let n = 0; n <= counters.length; n++) take.block();
  take.get(0).brTable(
    counters.map((_, n) => n),
    counters.length,
  );
  for (const counter of counters) take.end().globalGet(counter).i32(0).globalSet(counter).return();
  take.end().i32(0);
  module.export('take', take);
}

/** Writes the blocks of one function: parameters are wave and block. */
class GroupWriter {
  private readonly fn: WasmFunction;
  private readonly blocks: readonly Block[];
  private readonly group: readonly Block[];
  private readonly first: number;
  private readonly numbers: ReadonlyMap<number, number>;
  private readonly budget: number;
  private readonly counters: number;
  private readonly code: BlockCode;
  private readonly keepsRow: boolean;

  constructor(
    module: WasmModule,
    fn: WasmFunction,
    blocks: readonly Block[],
    group: readonly Block[],
    first: number,
    numbers: ReadonlyMap<number, number>,
    budget: number,
    counters: number,
    shared: SharedRuns | undefined,
    options: CompileOptions,
  ) {
    this.counters = counters;
    this.keepsRow = blocks.some(hasLoads);
    this.fn = fn;
    this.blocks = blocks;
    this.group = group;
    this.first = first;
    this.numbers = numbers;
    this.budget = budget;
    this.code = new BlockCode(module, fn, 0, budget, options.target, options.mfma, shared, options.instrument);
  }

  write(interpreted: (readonly string[])[]): void {
    const { fn, group, first } = this;
    const count = group.length;
    const [, block] = [0, 1] as const;
    fn.loop();
    for (let n = 0; n < count; n++) fn.block();
    fn.get(block).i32(first).op('i32.sub');
    fn.brTable(
      Array.from({ length: count - 1 }, (_, n) => n),
      count - 1,
    );
    for (const [n, b] of group.entries()) {
      fn.end();
      // Case n stands in the blocks of the later cases and the outer loop.
      const own = b.ending.kind === 'branch' && this.isSelf(b.ending.taken, n);
      if (own) fn.loop();
      this.prologue(b, first + n);
      interpreted[first + n] = this.code.write(b);
      this.ending(b, n, own ? 1 : 0);
      if (own) fn.end();
    }
    fn.end();
    fn.unreachable();
  }

  private isSelf(to: Place, n: number): boolean {
    return this.numbers.get(keyOf(to)) === this.first + n && this.group[n]?.late === false;
  }

  /** Leaves when the budget is used up; else counts the block. */
  private prologue(b: Block, number: number): void {
    const { fn, budget } = this;
    fn.globalGet(budget).i32(0).op('i32.le_s').if();
    this.leave(b.pc, LEFT);
    fn.end();
    fn.globalGet(budget).i32(lengthOf(b)).op('i32.sub').globalSet(budget);
    const counter = this.counters + number;
    fn.globalGet(counter).i32(1).op('i32.add').globalSet(counter);
  }

  private leave(pc: number, reason: number): void {
    this.fn.get(0).i32(pc).memory('i32.store', WAVE_PC).i32(reason).return();
  }

  /** Goes to a place; `depth` is the number of blocks around beyond those of case `n`. */
  private goto(to: Place, n: number, depth: number): void {
    const { fn, group, first } = this;
    const number = this.numbers.get(keyOf(to));
    if (number === undefined) {
      this.leave(to.pc, LEFT);
      return;
    }
    const local = number - first;
    const target = group[local];
    if (target === undefined) {
      fn.i32(number).return();
      return;
    }
    if (local > n) fn.br(depth + local - n - 1);
    else {
      fn.i32(number).set(1);
      fn.br(depth + group.length - 1 - n);
    }
  }

  /** Goes to a place, or leaves before a load into LDS that begins a row; `row` says whether the wave is in one, when that is known. */
  private jump(to: Place, n: number, depth: number, row: boolean | undefined): void {
    const number = this.numbers.get(keyOf(to));
    if (number !== undefined && this.blocks[number]?.late === true && row !== true) {
      const { fn } = this;
      if (row === false) {
        this.leave(to.pc, LATE);
        return;
      }
      fn.get(0).memory('i32.load', WAVE_LOAD_ROW).op('i32.eqz').if();
      this.leave(to.pc, LATE);
      fn.end();
    }
    this.goto(to, n, depth);
  }

  private ending(b: Block, n: number, depth: number): void {
    const { fn } = this;
    const { ending } = b;
    const row = rowAfter(b);
    if (this.keepsRow && row !== undefined)
      fn.get(0)
        .i32(row ? 1 : 0)
        .memory('i32.store', WAVE_LOAD_ROW);
    switch (ending.kind) {
      case 'goto':
        this.jump(ending.to, n, depth, row);
        return;
      case 'branch': {
        const operation = semanticsOf(ending.item.instruction.row.operation);
        if (operation?.kind !== 'branch' || operation.condition === undefined) throw new Error('not a branch');
        this.code.pushCondition(ending.item, operation.condition);
        fn.if();
        if (depth === 1) fn.br(1);
        else this.jump(ending.taken, n, depth + 1, row);
        fn.end();
        this.jump(ending.otherwise, n, depth, row);
        return;
      }
      case 'skip':
        fn.get(0).memory('i32.load', WAVE_FLAGS).i32(FLAG_VSKIP).op('i32.and').if();
        this.jump(ending.skipped, n, depth + 1, row);
        fn.end();
        this.jump(ending.executed, n, depth, row);
        return;
      case 'end':
        fn.get(0).i32(ENDED).memory('i32.store', WAVE_STATE);
        this.leave((b.items.at(-1)?.pc ?? b.pc) + (b.items.at(-1)?.instruction.size ?? 0), LEFT);
        return;
      case 'barrier':
        fn.get(0).i32(AT_BARRIER).memory('i32.store', WAVE_STATE);
        this.leave(ending.next, LEFT);
        return;
      case 'dynamic':
        fn.i32(LEFT).return();
        return;
      case 'leave':
        this.leave(ending.pc, LEFT);
    }
  }
}
