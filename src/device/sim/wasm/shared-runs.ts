// Runs of vector instructions that come again with other registers: each is a function of the module, which gets the places of its registers.
// Unrolled loops and code with many branches are made of such runs.

import type { VectorOperation } from '../../../isa/semantics/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { Instruction, Operand, Register, TargetName } from '../../../isa/types.ts';
import { EXEC } from '../state/wave.ts';
import { registerAt, registerNumber } from './context.ts';
import { hasDpp } from './dpp.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { laneMode } from './lane-mode.ts';
import { INDEXES_REGISTERS, SKIPS_VECTORS } from './place.ts';
import { type RegisterPlaces, RUN_LIMIT, Run, RunPools } from './run.ts';
import { scalarRegister } from './scalar.ts';
import { formOf } from './template.ts';
import { addVector, canAddVector, closesRun, endsRun } from './vector.ts';
import type { Block, Item } from './walk.ts';

/** Times that a run comes in a module before it becomes a function. */
const LEAST_TIMES = 4;
/**
 * Instructions of a module from which on it has such functions. 256 and 1,024 branches (bench/first-kernels.c): first dispatches 350 to 290 and 600 to 335 ms, later ones 13 to 8
 * and 29 to 16 ms; hand-written kernels of AITER (bench sim-first) are up to a quarter faster at first.
 */
const LEAST_SIZE = 100;
/** Registers from here on (VCC, M0, EXEC) keep their places: operations name them, too. */
const FIRST_SPECIAL = 102;
/** Registers between those that are neighbours only in the function. */
const GAP = 4;

/** Registers that follow each other, and the number that the first has in the function. */
interface Span {
  first: number;
  end: number;
  renamed: number;
}

/** A run as it stands in a block. */
interface Found {
  readonly key: string;
  readonly items: readonly Item[];
  /** Of all items, waits between them among them. */
  readonly length: number;
  readonly vectors: readonly Span[];
  readonly scalars: readonly Span[];
  readonly mode: number;
}

/** A run that is a function. */
export interface SharedRun {
  /** Items of the block that it stands for. */
  readonly length: number;
  /** Writes the call; `wave` is the local with the address of the wave block. */
  readonly call: (fn: WasmFunction, wave: number) => void;
}

/** The short runs of a module. */
export class SharedRuns {
  private readonly module: WasmModule;
  private readonly target: TargetName;
  private readonly found = new Map<Item, Found>();
  private readonly times = new Map<string, number>();
  private readonly functions = new Map<string, WasmFunction | undefined>();

  constructor(module: WasmModule, target: TargetName, blocks: readonly Block[]) {
    this.module = module;
    this.target = target;
    let size = 0;
    for (const { items } of blocks) size += items.length;
    if (size < LEAST_SIZE) return;
    for (const block of blocks) this.look(block);
  }

  /** The run that begins with an item, when it is a function. */
  runAt(item: Item): SharedRun | undefined {
    const found = this.found.get(item);
    if (found === undefined || (this.times.get(found.key) as number) < LEAST_TIMES) return undefined;
    const { key, length, vectors, scalars } = found;
    if (!this.functions.has(key)) this.functions.set(key, this.write(found));
    const shared = this.functions.get(key);
    if (shared === undefined) return undefined;
    return {
      length,
      call: (fn, wave) => {
        fn.get(wave);
        for (const { first } of vectors) fn.i32(registerAt(first));
        for (const { first } of scalars) fn.i32(4 * first);
        fn.call(shared);
      },
    };
  }

  /** Finds the runs of a block. */
  private look({ items, mode }: Block): void {
    if ((mode & (INDEXES_REGISTERS | SKIPS_VECTORS)) !== 0) return;
    for (let n = 0; n < items.length; ) {
      // What a run can be open over, its first vector instruction, and behind its last one.
      let [first, end, isWhole] = [-1, -1, true];
      let k = n;
      for (; k < items.length; k++) {
        const item = items[k] as Item;
        const { operation } = item;
        if (operation?.kind === 'vector') {
          if (first < 0) first = k;
          else if (end < k) isWhole = false;
          if (hasDpp(item.instruction)) isWhole = false;
          end = k + 1;
        } else if (operation?.kind === 'structural' && (operation.name === 'nop' || operation.name === 'waitcnt')) {
          if (end === k) end++;
        } else if (operation?.kind !== 'scalar' || changesExec(item.instruction)) break;
      }
      if (first >= 0 && isWhole && end - first <= RUN_LIMIT) this.note(items.slice(first, end), mode);
      n = k + 1;
    }
  }

  private note(all: readonly Item[], mode: number): void {
    const items = all.filter(({ operation }) => operation?.kind === 'vector');
    const vectors: Span[] = [];
    const scalars: Span[] = [];
    for (const { instruction } of items) {
      for (const operand of instruction.operands) {
        if (operand.kind !== 'reg') continue;
        if (isVector(operand)) join(vectors, registerNumber(operand), operand.dwords);
        else if (isRenamed(operand)) join(scalars, operand.encoding, operand.dwords);
      }
    }
    rename(vectors);
    if (rename(scalars) > FIRST_SPECIAL) return;
    let key = `${mode}`;
    for (const span of vectors) key += `v${span.end - span.first}`;
    for (const span of scalars) key += `s${span.end - span.first}`;
    for (const { instruction } of items) {
      key += `;${instruction.row.id}:`;
      for (const operand of instruction.operands) {
        if (operand.kind !== 'reg') key += formOf(operand);
        else if (isVector(operand)) key += `v${renamed(vectors, registerNumber(operand))},`;
        else if (isRenamed(operand)) key += `s${renamed(scalars, operand.encoding)}.${operand.dwords},`;
        else key += `r${operand.encoding},`;
      }
    }
    this.found.set(all[0] as Item, { key, items, length: all.length, vectors, scalars, mode });
    this.times.set(key, (this.times.get(key) ?? 0) + 1);
  }

  private write({ items, vectors, scalars, mode }: Found): WasmFunction | undefined {
    const { module } = this;
    const facts = laneMode(mode, targetInfo(this.target).ocpFloat8);
    const renamedItems = items.map(({ instruction, operation }): [Instruction, VectorOperation] => [
      { ...instruction, operands: instruction.operands.map((o) => renamedOperand(o, vectors, scalars)) },
      operation as VectorOperation,
    ]);
    if (!renamedItems.every(([instruction, operation]) => canAddVector(module, instruction, operation, facts)))
      return undefined;
    const places = [...vectors, ...scalars].map(() => 'i32' as const);
    const fn = module.function(['i32', ...places], []);
    const pools = new RunPools(fn);
    const registers = new Parameters(vectors, scalars);
    let run: Run | undefined;
    for (const [instruction, operation] of renamedItems) {
      if (run !== undefined && endsRun(run, instruction, operation)) {
        run.flush();
        run = undefined;
      }
      run ??= new Run(fn, 0, pools, registers);
      addVector(run, module, instruction, operation, facts);
      if (!closesRun(instruction, operation)) continue;
      run.flush();
      run = undefined;
    }
    run?.flush();
    return fn;
  }
}

/** Registers whose places are parameters of the function, from the second on: vector registers first. */
class Parameters implements RegisterPlaces {
  private readonly vectors: readonly Span[];
  private readonly scalars: readonly Span[];
  constructor(vectors: readonly Span[], scalars: readonly Span[]) {
    this.vectors = vectors;
    this.scalars = scalars;
  }
  vector(register: number): readonly [number | undefined, number] {
    const n = this.vectors.findIndex((span) => holdsRenamed(span, register));
    return [1 + n, registerAt(register - (this.vectors[n] as Span).renamed) - registerAt(0)];
  }
  scalar(register: number): readonly [number | undefined, number] {
    const n = this.scalars.findIndex((span) => holdsRenamed(span, register));
    if (n < 0) return [undefined, 4 * register];
    return [1 + this.vectors.length + n, 4 * (register - (this.scalars[n] as Span).renamed)];
  }
}

/** Whether a scalar instruction ends any run before it. */
function changesExec({ row, operands }: Instruction): boolean {
  if (row.defs.includes('EXEC')) return true;
  return operands.some((o, n) => o.kind === 'reg' && o.encoding >> 1 === EXEC >> 1 && row.operands[n]?.isOut === true);
}

const holdsRenamed = ({ first, end, renamed }: Span, register: number): boolean =>
  register >= renamed && register < renamed + end - first;

const isVector = ({ file }: Register): boolean => file === 'v' || file === 'a';

function isRenamed(operand: Register): boolean {
  const register = scalarRegister(operand);
  return register !== undefined && register + operand.dwords <= FIRST_SPECIAL;
}

/** Adds registers to spans that do not overlap. */
function join(spans: Span[], first: number, count: number): void {
  let [low, high] = [first, first + count];
  for (let n = spans.length - 1; n >= 0; n--) {
    const span = spans[n] as Span;
    if (span.first >= high || span.end <= low) continue;
    if (span.first <= low && span.end >= high) return;
    low = Math.min(low, span.first);
    high = Math.max(high, span.end);
    spans.splice(n, 1);
  }
  spans.push({ first: low, end: high, renamed: 0 });
}

/** Numbers the spans' registers; the first number that is free. */
function rename(spans: readonly Span[]): number {
  let next = 0;
  for (const span of spans) {
    span.renamed = next;
    next += span.end - span.first + GAP;
  }
  return next;
}

function renamed(spans: readonly Span[], register: number): number {
  for (const { first, end, renamed: number } of spans) {
    if (register >= first && register < end) return number + register - first;
  }
  throw new Error(`register ${register} is in no span of its run`);
}

function renamedOperand(operand: Operand, vectors: readonly Span[], scalars: readonly Span[]): Operand {
  if (operand.kind !== 'reg') return operand;
  if (isVector(operand)) {
    const index = renamed(vectors, registerNumber(operand));
    return { ...operand, file: 'v', index, encoding: 256 + index };
  }
  if (!isRenamed(operand)) return operand;
  const index = renamed(scalars, operand.encoding);
  return { ...operand, file: 's', index, encoding: index };
}
