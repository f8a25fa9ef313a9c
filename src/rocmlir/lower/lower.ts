// Room `rocmlir/lower`: MIGraphX functions to linalg, tensor, arith and math, which iree-compile reads.
// Begin with this file; read.ts reads one operation, and each family of operations has a file.
//
// `migraphx` functions to linalg, tensor, arith and math. Everything of the module that is no such function keeps its bytes.
// Source: rocMLIR's MIGraphX.td and MIGraphXToTosa tests for what the operations mean.
import type { WavesmithError } from '../../base/index.ts';
import { Edits } from '../../mlir/edit.ts';
import { type Document, fullName, type Operation, walk } from '../../mlir/parse.ts';
import { type LowerContext, sameShape } from './context.ts';
import { decomposeAttention } from './decompose-attention.ts';
import { Emitter, type View, wholeView } from './emit.ts';
import { kernelDocument, publish, storageArgument } from './kernel-function.ts';
import { FALLS_BACK, LOWERINGS } from './operations.ts';
import { type FunctionParts, operationError, type ReadOperation, readFunction, readOperation } from './read.ts';
import { unpackNibbles } from './scalar.ts';
import { lowerTosa, usesOldTosa } from './tosa.ts';
import { type Element, elementsOf, isPacked, memoryLayout, shapeText, type TensorType, tensorText } from './types.ts';

/** How to lower. */
export interface LowerOptions {
  /** Write an attention block as IREE's own operation, which becomes one kernel; else as plain linalg. */
  readonly fuseAttention: boolean;
  /**
   * Who reads the result. `module`: the module's next pass, functions keep visibility and attributes. `processor`: IREE for the
   * CPU, the kernel's function alone and public. `kernel`: IREE for the GPU, which in addition gets the buffers that the results
   * go to as arguments behind the others, as rocMLIR's launch has them.
   */
  readonly reader: 'module' | 'processor' | 'kernel';
  /** Convolutions compute their padding: a `tensor.pad` that IREE does not take into a kernel is a fill of a buffer and a copy. */
  readonly computesPadding?: boolean | undefined;
  /** Put all of the function into one dispatch of IREE's, whether its code generator can do that or not. */
  readonly oneDispatch?: boolean | undefined;
}

/** True when some operation of the module is of the `migraphx` dialect. */
export function usesMigraphx(document: Document): boolean {
  for (const operation of walk(document.operations)) if (operation.name.startsWith('migraphx.')) return true;
  return false;
}

/** The functions with a body, in text order. */
export function functionsOf(document: Document): Operation[] {
  return [...walk(document.operations)].filter((o) => fullName(o) === 'func.func' && o.regions.length > 0);
}

/** The module with its `migraphx` (and old TOSA) functions lowered. Throws `rocmlir/…` at the operation that cannot be. */
export function lowerModule(given: Document, options: LowerOptions): string {
  const isWhole = options.reader === 'module';
  const document = decomposeAttention(isWhole ? given : kernelDocument(given, functionsOf(given)));
  const edits = new Edits();
  const oldTosa = usesOldTosa(document);
  const isLowered = (name: string): boolean => name.startsWith('migraphx.') || (oldTosa && name.startsWith('tosa.'));
  for (const operation of functionsOf(document)) {
    if (!isWhole) publish(document, edits, operation);
    const body = operation.regions[0];
    if (body.operations.some((o) => isLowered(o.name))) {
      const parts = readFunction(document, operation);
      const lowering = new FunctionLowering(document, parts, options, oldTosa);
      lowering.run();
      edits.replaceTokens(document, parts.signatureFirst, parts.signatureLast, lowering.signature());
      edits.replaceTokens(document, body.open, body.close + 1, `{\n${lowering.lines().join('\n')}\n  }`);
    } else if (options.reader === 'kernel') storageArgument(document, edits, operation);
  }
  return edits.apply(document.text);
}

/** The dense tensor that a function's argument or result is in memory. */
export function memoryTensor(
  document: Document,
  parts: FunctionParts,
  type: TensorType,
): { readonly shape: readonly number[]; readonly element: Element } {
  const layout = memoryLayout(type);
  if (layout === undefined) {
    throw operationError(
      document,
      parts.operation,
      'rocmlir/strides',
      `Strides ${type.strides?.join('x')} of shape ${type.shape.join('x')} are no permuted, padded or repeated rectangle.`,
      'Make the value contiguous before the kernel.',
    );
  }
  const { shape } = layout;
  if (!isPacked(type.element)) return { shape, element: type.element };
  const row = shape.at(-1) ?? 1;
  if (row % 2 === 0 && sameShape(layout.shape, layout.used))
    return { shape: [...shape.slice(0, -1), row / 2], element: 'i8' };
  throw operationError(
    document,
    parts.operation,
    'rocmlir/strides',
    `Rows of ${row} elements of type ${type.element} do not fill whole bytes.`,
    'Give rows of an even number of elements without padding.',
  );
}

class FunctionLowering {
  private readonly document: Document;
  private readonly parts: FunctionParts;
  private readonly options: LowerOptions;
  private readonly emit: Emitter;
  private readonly views = new Map<string, View>();
  private readonly definitions = new Map<string, ReadOperation>();
  private readonly oldTosa: boolean;
  private usersByName: ReadonlyMap<string, readonly Operation[]> | undefined;
  private current: Operation;

  constructor(document: Document, parts: FunctionParts, options: LowerOptions, oldTosa: boolean) {
    this.oldTosa = oldTosa;
    this.document = document;
    this.parts = parts;
    this.options = options;
    this.current = parts.operation;
    this.emit = new Emitter(parts.arguments.map((argument) => argument.name));
  }

  lines(): readonly string[] {
    return this.emit.lines;
  }

  /** Ends the one dispatch, which the first line opens, and returns what it made. */
  private returnDispatched(values: readonly string[], types: readonly string[]): void {
    const { emit } = this;
    const list = types.join(', ');
    const name = emit.fresh();
    const names = values.map((_, i) => (values.length === 1 ? name : `${name}#${i}`));
    emit.line(`flow.return ${values.join(', ')} : ${list}`);
    emit.line('}');
    emit.line(`return ${names.join(', ')} : ${list}`);
    const count = values.length === 1 ? '' : `:${values.length}`;
    emit.lines.unshift(`    ${name}${count} = flow.dispatch.region -> (${list}) {`);
  }

  signature(): string {
    const { parts, options } = this;
    const text = (type: TensorType): string => this.memoryText(type);
    const keeps = options.reader === 'module';
    const args = parts.arguments.map(
      ({ name, type, attributes }) => `${name}: ${text(type)}${keeps ? attributes : ''}`,
    );
    if (options.reader === 'kernel') {
      args.push(...parts.results.map((_, i) => `${this.emit.fresh()}: !hal.buffer {iree.abi.output = ${i} : index}`));
    }
    const results = parts.results.map(text);
    const arrow = results.length === 0 ? '' : ` -> ${results.length === 1 ? results[0] : `(${results.join(', ')})`}`;
    return `(${args.join(', ')})${arrow}`;
  }

  private memoryText(type: TensorType): string {
    const { shape, element } = memoryTensor(this.document, this.parts, type);
    return tensorText(shape, element);
  }

  run(): void {
    for (const { name, type } of this.parts.arguments) this.views.set(name, this.argumentView(name, type));
    for (const operation of this.parts.operation.regions[0].operations) {
      this.current = operation;
      if (fullName(operation) === 'func.return') this.return(readOperation(this.document, operation));
      else this.operation(operation);
    }
  }

  private error(code: string, message: string, hint?: string): WavesmithError {
    return operationError(this.document, this.current, code, message, hint);
  }

  private argumentView(name: string, type: TensorType): View {
    const { shape, element } = type;
    const memory = memoryTensor(this.document, this.parts, type);
    const layout = memoryLayout(type);
    if (layout === undefined) return wholeView(name, element, memory.shape);
    const bytes = wholeView(name, memory.element, memory.shape);
    const { ssa } = isPacked(element) ? unpackNibbles(this.emit, bytes, memory.shape.length - 1, element) : bytes;
    if (sameShape(layout.used, layout.shape)) return { ssa, element, base: layout.shape, map: layout.map, shape };
    // Padded rows: the used part, without the dimension that a stride above 1 of the last dimension makes.
    const kept = layout.map.filter((from) => from !== null).length;
    const base = layout.used.slice(0, kept);
    const offsets = layout.used.map(() => 0);
    return {
      ssa: this.emit.slice(ssa, element, layout.shape, offsets, layout.used, base),
      element,
      base,
      map: layout.map,
      shape,
    };
  }

  private return(read: ReadOperation): void {
    const { results } = this.parts;
    if (read.operands.length !== results.length) {
      throw this.error(
        'rocmlir/malformed',
        `The function has ${results.length} result(s), this returns ${read.operands.length}.`,
      );
    }
    const values = read.operands.map((operand, i) => this.resultValue(this.view(operand), results[i]));
    const types = results.map((type) => this.memoryText(type));
    if (this.options.oneDispatch === true && values.length > 0) this.returnDispatched(values, types);
    else this.emit.line(values.length === 0 ? 'return' : `return ${values.join(', ')} : ${types.join(', ')}`);
  }

  /** The value as it lies in memory. */
  private resultValue(view: View, type: TensorType): string {
    this.checkType(view, type);
    const layout = memoryLayout(type);
    if (isPacked(type.element)) {
      throw this.error('rocmlir/element-type', `A result of elements of type ${type.element} is not written here.`);
    }
    if (
      layout === undefined ||
      !sameShape(layout.used, layout.shape) ||
      elementsOf(layout.shape) !== elementsOf(type.shape)
    ) {
      throw this.error(
        'rocmlir/strides',
        'A result with padded or repeated strides cannot be written.',
        'Return it contiguous.',
      );
    }
    const order: number[] = [];
    layout.map.forEach((from, d) => {
      if (from !== null) order[from] = d;
    });
    const memory: View = { ...view, shape: layout.shape, map: order.map((d) => view.map[d]) };
    return this.emit.dense(memory).ssa;
  }

  private view(name: string): View {
    const view = this.views.get(name);
    if (view !== undefined) return view;
    throw this.error('rocmlir/malformed', `The value ${name} is not defined before its use.`);
  }

  private checkType(view: View, type: TensorType): void {
    if (sameShape(view.shape, type.shape) && view.element === type.element) return;
    throw this.error(
      'rocmlir/shape',
      `${this.current.name} gives ${shapeText(view.shape, view.element)}, but its type says ${shapeText(type.shape, type.element)}.`,
      'Correct the operation’s types or attributes.',
    );
  }

  private operation(operation: Operation): void {
    const lowering = Object.hasOwn(LOWERINGS, operation.name) ? LOWERINGS[operation.name] : undefined;
    const isTosa = this.oldTosa && operation.name.startsWith('tosa.');
    if (lowering === undefined && !isTosa) throw this.unsupported(operation);
    const read = readOperation(this.document, operation);
    if (read.resultTypes.length !== 1) throw this.unsupported(operation);
    const [type] = read.resultTypes;
    const context: LowerContext = {
      document: this.document,
      emit: this.emit,
      read,
      type,
      operands: (...counts) => this.operands(read, counts),
      view: (name) => this.view(name),
      definition: (name) => this.definitions.get(name),
      users: (name) => this.users().get(name) ?? [],
      fuseAttention: this.options.fuseAttention,
      computesPadding: this.options.computesPadding === true,
      error: (code, message, hint) => this.error(code, message, hint),
    };
    const view = isTosa ? lowerTosa(context) : lowering?.(context);
    if (view === undefined) throw this.unsupported(operation);
    this.checkType(view, type);
    this.views.set(read.results[0], view);
    this.definitions.set(read.results[0], read);
  }

  /** The operations by each value that they use. */
  private users(): ReadonlyMap<string, readonly Operation[]> {
    if (this.usersByName !== undefined) return this.usersByName;
    const users = new Map<string, Operation[]>();
    for (const operation of this.parts.operation.regions[0].operations) {
      for (const name of new Set(readOperation(this.document, operation).operands)) {
        const list = users.get(name);
        if (list === undefined) users.set(name, [operation]);
        else list.push(operation);
      }
    }
    this.usersByName = users;
    return users;
  }

  private unsupported({ name }: Operation): WavesmithError {
    const why = Object.hasOwn(FALLS_BACK, name) ? ` ${FALLS_BACK[name]}` : '';
    return this.error(
      'rocmlir/unsupported-operation',
      `The operation '${name}' is not lowered here.${why}`,
      'See docs/migraphx-operations.md for the operations that are; rocMLIR’s own kernel is used instead.',
    );
  }

  private operands(read: ReadOperation, counts: readonly number[]): View[] {
    if (counts.includes(read.operands.length)) return read.operands.map((name) => this.view(name));
    throw this.error(
      'rocmlir/malformed',
      `${read.name} takes ${counts.join(' or ')} operand(s), not ${read.operands.length}.`,
    );
  }
}
