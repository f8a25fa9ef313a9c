// Writing linalg: values as views of tensors (transposed, repeated, sliced without a copy), fresh names, `linalg.generic`.
// Source: MLIR's linalg dialect, "Payload-carrying operations"; indexing maps here are always projected permutations.
import { carrierOf, type Element, elementsOf, isFloat, type ScalarType, tensorText } from './types.ts';

/** A tensor value: an SSA tensor and, for each logical dimension, which of the tensor's dimensions it walks (null: repeats). */
export interface View {
  readonly ssa: string;
  readonly element: Element;
  /** Shape of the SSA tensor. */
  readonly base: readonly number[];
  readonly map: readonly (number | null)[];
  /** Logical shape. */
  readonly shape: readonly number[];
}

/** A view of a whole tensor. */
export function wholeView(ssa: string, element: Element, shape: readonly number[]): View {
  return { ssa, element, base: shape, shape, map: shape.map((_, d) => d) };
}

/** True when the view is the SSA tensor itself. */
export const isWhole = (view: View): boolean =>
  view.map.length === view.base.length && view.map.every((from, d) => from === d);

const names = (count: number): string => Array.from({ length: count }, (_, d) => `d${d}`).join(', ');

/** An `affine_map` from `count` loops to some of them. */
export function affineMap(count: number, results: readonly string[]): string {
  return `affine_map<(${names(count)}) -> (${results.join(', ')})>`;
}

/** An operand's map when its logical dimension d walks loop `loops[d]`; a repeating dimension is left out. */
export function operandMap(view: View, loops: readonly number[], count: number): string {
  const results: string[] = view.base.map(() => '');
  view.map.forEach((from, d) => {
    if (from !== null) results[from] = `d${loops[d]}`;
  });
  return affineMap(count, results);
}

/** The text of a zero of a type. */
export const zeroOf = (element: Element): string => (isFloat(element) ? '0.000000e+00' : '0');

/** The shape that all of `shapes` repeat to, aligned at their last dimensions; undefined where two sizes differ and none is 1. */
export function broadcastShape(shapes: readonly (readonly number[])[]): number[] | undefined {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  const common: number[] = [];
  for (let d = 1; d <= rank; d++) {
    const sizes = shapes.map((shape) => shape[shape.length - d] ?? 1);
    const size = Math.max(...sizes);
    if (sizes.some((other) => other !== 1 && other !== size)) return undefined;
    common.unshift(size);
  }
  return common;
}

/** Collects the operations of one function body. */
export class Emitter {
  readonly lines: string[] = [];
  private readonly taken: ReadonlySet<string>;
  private next = 0;
  private depth = 2;

  /** `taken` are names that already mean something. */
  constructor(taken: Iterable<string>) {
    this.taken = new Set(taken);
  }

  /** A name no value has. */
  fresh(): string {
    let name: string;
    do name = `%v${this.next++}`;
    while (this.taken.has(name));
    return name;
  }

  line(text: string): void {
    this.lines.push(`${'  '.repeat(this.depth)}${text}`);
  }

  /** Adds `%fresh = text`. */
  value(text: string): string {
    const name = this.fresh();
    this.line(`${name} = ${text}`);
    return name;
  }

  scalar(text: string, element: ScalarType): string {
    return this.value(`arith.constant ${text} : ${carrierOf(element)}`);
  }

  /** An uninitialised tensor. */
  empty(shape: readonly number[], element: Element): string {
    return this.value(`tensor.empty() : ${tensorText(shape, element)}`);
  }

  /** A tensor filled with one value (text of a constant). */
  filled(shape: readonly number[], element: Element, constant: string): string {
    const type = tensorText(shape, element);
    const scalar = this.scalar(constant, element);
    return this.value(
      `linalg.fill ins(${scalar} : ${carrierOf(element)}) outs(${this.empty(shape, element)} : ${type}) -> ${type}`,
    );
  }

  /**
   * A `linalg.generic` into `into` (a tensor of `shape`). `body` gets the names of the block arguments, the output's last,
   * and returns the name to yield.
   */
  generic(options: {
    readonly inputs: readonly { readonly view: View; readonly map: string }[];
    readonly into: string;
    readonly shape: readonly number[];
    readonly element: Element;
    readonly map: string;
    readonly iterators: readonly ('parallel' | 'reduction')[];
    readonly body: (args: readonly string[]) => string;
  }): string {
    const { inputs, into, shape, element } = options;
    const type = tensorText(shape, element);
    const maps = [...inputs.map((input) => input.map), options.map].join(', ');
    const iterators = options.iterators.map((kind) => `"${kind}"`).join(', ');
    const ins =
      inputs.length === 0
        ? ''
        : `ins(${inputs.map(({ view }) => view.ssa).join(', ')} : ` +
          `${inputs.map(({ view }) => tensorText(view.base, view.element)).join(', ')}) `;
    const result = this.fresh();
    this.line(
      `${result} = linalg.generic {indexing_maps = [${maps}], iterator_types = [${iterators}]} ${ins}outs(${into} : ${type}) {`,
    );
    const args = [...inputs.map(() => this.fresh()), this.fresh()];
    const types = [...inputs.map(({ view }) => view.element), element].map(carrierOf);
    this.line(`^bb0(${args.map((name, i) => `${name}: ${types[i]}`).join(', ')}):`);
    this.depth++;
    const yielded = options.body(args);
    this.line(`linalg.yield ${yielded} : ${carrierOf(element)}`);
    this.depth--;
    this.line(`} -> ${type}`);
    return result;
  }

  /** An elementwise operation over views of one logical shape. */
  elementwise(inputs: readonly View[], element: Element, body: (args: readonly string[]) => string): View {
    const { shape } = inputs[0];
    const loops = shape.map((_, d) => d);
    const ssa = this.generic({
      inputs: inputs.map((view) => ({ view, map: operandMap(view, loops, shape.length) })),
      into: this.empty(shape, element),
      shape,
      element,
      map: affineMap(
        shape.length,
        loops.map((d) => `d${d}`),
      ),
      iterators: shape.map(() => 'parallel'),
      body,
    });
    return wholeView(ssa, element, shape);
  }

  /** The value of loop `loop` inside a body. */
  index(loop: number): string {
    return this.value(`linalg.index ${loop} : index`);
  }

  /** One element of a dense view inside a body. */
  extract(view: View, position: readonly string[]): string {
    return this.value(`tensor.extract ${view.ssa}[${position.join(', ')}] : ${tensorText(view.base, view.element)}`);
  }

  /** A tensor whose elements are computed from their position alone; `body` gets one `index` a dimension. */
  generate(shape: readonly number[], element: Element, body: (position: readonly string[]) => string): View {
    const loops = shape.map((_, d) => d);
    const ssa = this.generic({
      inputs: [],
      into: this.empty(shape, element),
      shape,
      element,
      map: affineMap(
        shape.length,
        loops.map((d) => `d${d}`),
      ),
      iterators: shape.map(() => 'parallel'),
      body: () => body(loops.map((d) => this.index(d))),
    });
    return wholeView(ssa, element, shape);
  }

  /** The view as a tensor of its logical shape in memory order. */
  dense(view: View): View {
    if (isWhole(view)) return view;
    const kept = view.base.flatMap((_, d) => (view.map.includes(d) ? [d] : []));
    if (kept.length < view.base.length) {
      // Dimensions of the tensor that the view does not walk have size 1.
      const base = kept.map((d) => view.base[d]);
      const { ssa } = this.reshape(wholeView(view.ssa, view.element, view.base), base);
      return this.dense({
        ...view,
        ssa,
        base,
        map: view.map.map((from) => (from === null ? null : kept.indexOf(from))),
      });
    }
    const permutation = view.map.every((from) => from !== null) && view.map.length === view.base.length;
    if (permutation) {
      const type = tensorText(view.shape, view.element);
      const into = this.empty(view.shape, view.element);
      const ssa = this.value(
        `linalg.transpose ins(${view.ssa} : ${tensorText(view.base, view.element)}) outs(${into} : ${type}) ` +
          `permutation = [${view.map.join(', ')}]`,
      );
      return wholeView(ssa, view.element, view.shape);
    }
    // Dimensions of size 1 need no copy: they are reshaped in.
    const real = view.map.flatMap((from, d) => (from === null ? [] : [d]));
    const repeats = view.map.some((from, d) => from === null && view.shape[d] !== 1);
    if (!repeats) {
      const inner = this.dense({ ...view, shape: real.map((d) => view.shape[d]), map: real.map((d) => view.map[d]) });
      return this.reshape(inner, view.shape);
    }
    return this.elementwise([view], view.element, (args) => args[0]);
  }

  /** The view repeated to `shape`; its dimensions are those of `shape` from `first` on, equal or of size 1. */
  broadcast(view: View, shape: readonly number[], first: number): View {
    const drop = new Set<number>();
    view.map.forEach((from, d) => {
      if (from !== null && view.base[from] === 1 && shape[first + d] !== 1) drop.add(from);
    });
    let source = view;
    if (drop.size > 0) {
      // Dimensions of size 1 that are to repeat are taken out of the tensor.
      const kept = view.base.flatMap((_, d) => (drop.has(d) ? [] : [d]));
      const base = kept.map((d) => view.base[d]);
      const { ssa } = this.reshape(wholeView(view.ssa, view.element, view.base), base);
      const map = view.map.map((from) => (from === null || drop.has(from) ? null : kept.indexOf(from)));
      source = { ...view, ssa, base, map };
    }
    const inside = (d: number): boolean => d >= first && d < first + view.shape.length;
    return { ...source, shape, map: shape.map((_, d) => (inside(d) ? source.map[d - first] : null)) };
  }

  /** The part of a view that begins at `offsets` and has `shape`. */
  part(view: View, offsets: readonly number[], shape: readonly number[]): View {
    const baseOffsets = view.base.map(() => 0);
    const base = [...view.base];
    view.map.forEach((from, d) => {
      if (from !== null) [baseOffsets[from], base[from]] = [offsets[d], shape[d]];
    });
    const ssa = this.slice(view.ssa, view.element, view.base, baseOffsets, base, base);
    return { ...view, ssa, base, shape };
  }

  /** `tensor.extract_slice` with unit strides; `to` may leave out dimensions of size 1. */
  slice(
    ssa: string,
    element: Element,
    from: readonly number[],
    offsets: readonly number[],
    sizes: readonly number[],
    to: readonly number[],
  ): string {
    const ones = sizes.map(() => 1).join(', ');
    return this.value(
      `tensor.extract_slice ${ssa}[${offsets.join(', ')}] [${sizes.join(', ')}] [${ones}] : ` +
        `${tensorText(from, element)} to ${tensorText(to, element)}`,
    );
  }

  /** A tensor with the same elements in memory order and another shape. */
  reshape(view: View, shape: readonly number[]): View {
    const from = this.dense(view);
    const groups = reshapeGroups(from.shape, shape);
    const middle = groups.map((group) => elementsOf(group.from.map((d) => from.shape[d])));
    let { ssa } = from;
    const written = (key: 'from' | 'to'): string =>
      `[${groups.map((group) => `[${group[key].join(', ')}]`).join(', ')}]`;
    if (middle.length !== from.shape.length) {
      ssa = this.value(
        `tensor.collapse_shape ${ssa} ${written('from')} : ${tensorText(from.shape, view.element)} into ${tensorText(middle, view.element)}`,
      );
    }
    if (middle.length !== shape.length) {
      ssa = this.value(
        `tensor.expand_shape ${ssa} ${written('to')} output_shape [${shape.join(', ')}] : ` +
          `${tensorText(middle, view.element)} into ${tensorText(shape, view.element)}`,
      );
    }
    return wholeView(ssa, view.element, shape);
  }
}

/** The finest common grouping of two shapes' dimensions with equal products. Both shapes have the same number of elements. */
export function reshapeGroups(
  from: readonly number[],
  to: readonly number[],
): { readonly from: number[]; readonly to: number[] }[] {
  const groups: { from: number[]; to: number[] }[] = [];
  let [i, j] = [0, 0];
  while (i < from.length && j < to.length) {
    const group = { from: [i], to: [j] };
    let [a, b] = [from[i++], to[j++]];
    while (a !== b) {
      if (a < b) {
        a *= from[i];
        group.from.push(i++);
      } else {
        b *= to[j];
        group.to.push(j++);
      }
    }
    groups.push(group);
  }
  const last = groups.at(-1);
  // What remains has size 1 and joins the last group.
  for (; last !== undefined && i < from.length; i++) last.from.push(i);
  for (; last !== undefined && j < to.length; j++) last.to.push(j);
  return groups;
}
