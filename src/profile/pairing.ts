// Which dispatch of one pass is which of another. Passes run the program again, and may number its dispatches otherwise: a library that warms
// up, a thread that is faster. AMD's rocprof-compute pairs the n-th launches of a kernel and grid (`--join-type grid`); here the block and the
// GPU have to be the same, too, and there have to be as many launches on both sides.
import { f64, i32, NumbersTable, RowsById, StringTable } from './columns.ts';
import { truncatedName } from './readers/values.ts';

/** What passes say of a launch beside its number; -1 for a size that is not told, '' for an agent that is not. */
export interface LaunchShape {
  readonly kernel: string;
  readonly agent: string;
  /** Work-items in all. */
  readonly grid: number;
  readonly workgroup: number;
}

/** The launches of one pass, each number once. */
export class Launches {
  private readonly ids = f64();
  private readonly shapeOf = i32();
  private readonly rows = new RowsById();
  private readonly kernels = new StringTable();
  private readonly agents = new StringTable();
  private readonly shapes = new NumbersTable(4);

  get size(): number {
    return this.ids.length;
  }

  add(id: number, { kernel, agent, grid, workgroup }: LaunchShape): void {
    if (id < 0 || this.rows.add(id, this.ids.length) !== undefined) return;
    this.ids.push(id);
    this.shapeOf.push(this.shapes.id([this.kernels.id(kernel), this.agents.id(agent), grid, workgroup]));
  }

  /** Adds the launches of another pass whose numbers are new. */
  addAll(other: Launches): void {
    for (let i = 0; i < other.size; i++) this.add(other.ids.get(i), other.shape(other.shapeOf.get(i)));
  }

  /** The distinct shapes, by their ids. */
  allShapes(): LaunchShape[] {
    return Array.from({ length: this.shapes.size }, (_, id) => this.shape(id));
  }

  private shape(id: number): LaunchShape {
    const [kernel, agent, grid, workgroup] = this.shapes.get(id);
    return { kernel: this.kernels.get(kernel), agent: this.agents.get(agent), grid, workgroup };
  }

  /** The shape of the launch that has the number; undefined where none has. */
  shapeAt(id: number): number | undefined {
    const row = this.rows.find(id);
    return row === undefined ? undefined : this.shapeOf.get(row);
  }

  /** The numbers in launch order, for each of `count` groups of shapes. */
  grouped(groupOf: ArrayLike<number>, count: number): Float64Array[] {
    const groups = Array.from({ length: count }, () => f64());
    for (let i = 0; i < this.size; i++) groups[groupOf[this.shapeOf.get(i)]].push(this.ids.get(i));
    return groups.map((group) => group.view().sort());
  }

  /** Calls `use` with each number and its shape. */
  forEach(use: (id: number, shape: number) => void): void {
    for (let i = 0; i < this.size; i++) use(this.ids.get(i), this.shapeOf.get(i));
  }
}

/** How the dispatches of a pass are those of another. */
export type Pairing =
  | { readonly kind: 'same numbers' }
  | {
      readonly kind: 'order';
      /** The number in the first pass, by that in this one. */
      readonly numbers: RowsById;
      /** How many dispatches have the partner that their order tells. */
      readonly paired: number;
      /** Kernels that were launched more or less often here, or with other sizes: their dispatches have no partner. */
      readonly unlike: readonly { readonly kernel: string; readonly here: number; readonly there: number }[];
    };

/** Finds which dispatches of `first` those of `pass` are. */
export function pair(first: Launches, pass: Launches): Pairing {
  const [mine, others] = [first.allShapes(), pass.allShapes()];
  if (agreesByNumbers(first, pass, mine, others)) return { kind: 'same numbers' };
  const keys = new StringTable();
  const keyOf = keysOf(mine, others);
  const [ofFirst, ofPass] = [mine, others].map((shapes) => Int32Array.from(shapes, (shape) => keys.id(keyOf(shape))));
  const [there, here] = [first.grouped(ofFirst, keys.size), pass.grouped(ofPass, keys.size)];
  const kernelOf = new Map(others.map(({ kernel }, shape) => [ofPass[shape], kernel]));
  const numbers = new RowsById();
  const unlike = new Map<string, { kernel: string; here: number; there: number }>();
  let paired = 0;
  for (const [key, kernel] of kernelOf) {
    const isThere = (id: number): boolean => {
      const shape = first.shapeAt(id);
      return shape !== undefined && ofFirst[shape] === key;
    };
    const isInOrder = here[key].length === there[key].length;
    if (isInOrder || here[key].every(isThere)) {
      for (const [i, id] of here[key].entries()) numbers.add(id, isInOrder ? there[key][i] : id);
      if (isInOrder) paired += here[key].length;
      continue;
    }
    const sum = unlike.get(kernel) ?? { kernel, here: 0, there: 0 };
    sum.here += here[key].length;
    sum.there += there[key].length;
    unlike.set(kernel, sum);
  }
  return { kind: 'order', numbers, paired, unlike: [...unlike.values()] };
}

/** Whether launches of one number are of one kernel and size, and all numbers of one side are on the other. GPUs may differ: see `other-gpu`. */
function agreesByNumbers(
  first: Launches,
  pass: Launches,
  mine: readonly LaunchShape[],
  others: readonly LaunchShape[],
): boolean {
  const keyOf = keysOf(mine, others, false);
  const [left, right] = [mine.map(keyOf), others.map(keyOf)];
  let [common, differing] = [0, 0];
  pass.forEach((id, shape) => {
    const there = first.shapeAt(id);
    if (there === undefined) return;
    common++;
    if (left[there] !== right[shape]) differing++;
  });
  return differing === 0 && (common === pass.size || common === first.size);
}

/** Whether two passes launched the same, in whatever order and under whatever numbers. */
export function launchedAlike(a: Launches, b: Launches): boolean {
  if (a.size === 0 || a.size !== b.size) return false;
  const [mine, others] = [a.allShapes(), b.allShapes()];
  const keys = new StringTable();
  const keyOf = keysOf(mine, others);
  const [one, two] = [mine, others].map((shapes) => Int32Array.from(shapes, (shape) => keys.id(keyOf(shape))));
  const [left, right] = [a.grouped(one, keys.size), b.grouped(two, keys.size)];
  return left.every((group, key) => group.length === right[key].length);
}

/** What tells launches apart, as far as both sides tell it. */
function keysOf(
  first: readonly LaunchShape[],
  pass: readonly LaunchShape[],
  withAgents = true,
): (shape: LaunchShape) => string {
  const all = [...first, ...pass];
  const [hasAgents, hasGrids, hasWorkgroups] = [
    withAgents && all.every(({ agent }) => agent !== ''),
    all.every(({ grid }) => grid >= 0),
    all.every(({ workgroup }) => workgroup >= 0),
  ];
  const nameOf = namesAlike(first, pass);
  return ({ kernel, agent, grid, workgroup }) =>
    [nameOf(kernel), hasAgents ? agent : '', hasGrids ? grid : '', hasWorkgroups ? workgroup : ''].join('\0');
}

/** The name of a kernel as both sides have it: `--truncate-kernels` leaves parts out, and may have been given to one only. */
function namesAlike(first: readonly LaunchShape[], pass: readonly LaunchShape[]): (kernel: string) => string {
  const known = new Set(first.map(({ kernel }) => kernel));
  const names = new Set(pass.map(({ kernel }) => kernel));
  const strangers = [...names].filter((name) => !known.has(name));
  if (strangers.length === 0) return (kernel) => kernel;
  const truncated = new Set([...known].map(truncatedName));
  const isOfTruncated = (name: string) => truncated.has(name) || known.has(truncatedName(name));
  return strangers.every(isOfTruncated) ? truncatedName : (kernel) => kernel;
}

/** What stands for a dispatch that has no partner. */
export const NO_PARTNER = -2;

/** The numbers of dispatches in files of further passes. */
export class PassNumbers {
  private readonly files = new Map<string, RowsById>();

  set(file: string, numbers: RowsById): void {
    this.files.set(file, numbers);
  }

  /** What gives the number that a dispatch of a file has in the first pass, or `NO_PARTNER`. */
  ofFile(file: string): (id: number) => number {
    const numbers = this.files.get(file);
    return numbers === undefined ? (id) => id : (id) => numbers.find(id) ?? NO_PARTNER;
  }
}
