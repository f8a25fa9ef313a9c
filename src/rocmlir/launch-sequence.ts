// One `gpu.launch_func` replaced by several, with a scratch buffer that lives as long as they run; and reading such launches back.
// Source: MLIR's GPU, LLVM and MemRef dialects, LLVM 22 (`gpu.alloc`, `llvm.getelementptr`, `memref.extract_aligned_pointer_as_index`).
import { WavesmithError } from '../base/index.ts';
import { entryOf, parseDictionary } from '../mlir/attribute.ts';
import type { Edits } from '../mlir/edit.ts';
import { TokenKind } from '../mlir/lex.ts';
import { type Document, fullName, isPunct, type Operation, tokenText, walk } from '../mlir/parse.ts';
import { type DispatchSite, fresh, functionTypeOf, symbolText } from './launch.ts';
import { functionHeader, operationError, splitAtCommas } from './lower/read.ts';
import type { LaunchSequence, LaunchStep, StepArgument } from './sequence.ts';

const POINTER = '!llvm.ptr';
/** The attribute of launches whose arguments are not simply the function's own in order. */
const MARK = 'iree.sequence';

/** The function type of a step's kernel; undefined where it takes the function's own arguments. */
export function stepType(step: LaunchStep): string | undefined {
  return step.arguments && functionTypeOf(step.arguments.map((a) => (a.kind === 'constant' ? 'i32' : POINTER)));
}

/** Writes the lines that replace one launch. */
class LaunchWriter {
  readonly lines: string[] = [];
  private readonly document: Document;
  private readonly launch: DispatchSite;
  private readonly known = new Map<string, string>();

  constructor(document: Document, launch: DispatchSite) {
    this.document = document;
    this.launch = launch;
  }

  /** The value of an operation; equal operations are written once. */
  value(operation: string): string {
    const known = this.known.get(operation);
    if (known !== undefined) return known;
    const name = fresh(this.document);
    this.known.set(operation, name);
    this.lines.push(`${name} = ${operation}`);
    return name;
  }

  constant(value: number, type: string): string {
    return this.value(
      this.launch.isIndex ? `arith.constant ${value} : ${type}` : `llvm.mlir.constant(${value} : ${type}) : ${type}`,
    );
  }

  /** The address in a memref as a pointer. */
  addressOf(name: string, type: string): string {
    const index = this.value(`memref.extract_aligned_pointer_as_index ${name} : ${type} -> index`);
    return this.value(`llvm.inttoptr ${this.value(`arith.index_cast ${index} : index to i64`)} : i64 to ${POINTER}`);
  }

  offset(pointer: string, offset: number): string {
    return offset === 0
      ? pointer
      : this.value(`llvm.getelementptr ${pointer}[${offset}] : (${POINTER}) -> ${POINTER}, i8`);
  }
}

/** Replaces a launch of rocMLIR's kernel by the launches of a sequence. */
export function replaceLaunch(
  document: Document,
  edits: Edits,
  launch: DispatchSite,
  module: string,
  sequence: LaunchSequence,
): void {
  const { operation } = launch;
  const plainForm = operation.generic || document.tokens.kinds[operation.nameToken + 1] === TokenKind.Symbol;
  if (operation.results.length > 0 || !plainForm || hasDependencies(document, launch)) {
    throw operationError(
      document,
      operation,
      'rocmlir/async-launch',
      'an asynchronous launch cannot be replaced by several',
      'Merge before gpu-async-region, or let rocMLIR’s own kernel be used.',
    );
  }
  const writer = new LaunchWriter(document, launch);
  const scratchType = `memref<${sequence.scratchBytes}xi8>`;
  const scratch = sequence.scratchBytes === 0 ? undefined : writer.value(`gpu.alloc () : ${scratchType}`);
  for (const step of sequence.steps) {
    const passed = (step.arguments ?? []).map((argument) =>
      writeArgument(writer, launch, argument, scratch, scratchType),
    );
    const sizes = [...step.workgroupCount, ...step.workgroupSizes].map((size) =>
      writer.constant(size, launch.sizeType),
    );
    const lds = writer.constant(step.workgroupMemory, 'i32');
    const type = launch.isIndex ? '' : ` : ${launch.sizeType}`;
    writer.lines.push(
      `gpu.launch_func ${symbolText(module)}::${symbolText(step.kernel)} blocks in (${sizes.slice(0, 3).join(', ')}) ` +
        `threads in (${sizes.slice(3).join(', ')})${type} dynamic_shared_memory_size ${lds} args(${passed.join(', ')}) {${MARK}}`,
    );
  }
  if (scratch !== undefined) writer.lines.push(`gpu.dealloc ${scratch} : ${scratchType}`);
  const { text, tokens } = document;
  const start = tokens.starts[operation.first];
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', start) + 1, start))?.[0] ?? '';
  edits.replaceTokens(document, operation.first, operation.last, writer.lines.join(`\n${indent}`));
}

/** `value : type` of an argument. */
function writeArgument(
  writer: LaunchWriter,
  launch: DispatchSite,
  argument: StepArgument,
  scratch: string | undefined,
  scratchType: string,
): string {
  if (argument.kind === 'constant') return `${writer.constant(argument.value, 'i32')} : i32`;
  if (argument.kind === 'scratch') {
    return `${writer.offset(writer.addressOf(scratch ?? '', scratchType), argument.offset)} : ${POINTER}`;
  }
  const [name, type] = [launch.arguments[argument.position], launch.argumentTypes[argument.position]];
  if (type === POINTER) return `${writer.offset(name, argument.offset)} : ${POINTER}`;
  // A memref is passed as one where its beginning is meant.
  return argument.offset === 0
    ? `${name} : ${type}`
    : `${writer.offset(writer.addressOf(name, type), argument.offset)} : ${POINTER}`;
}

/** True for a generic launch that waits for tokens. */
function hasDependencies(document: Document, { generic }: DispatchSite): boolean {
  if (generic === undefined) return false;
  const [first, last] = generic.types[0] ?? [0, 0];
  return last > first && tokenText(document, first) === '!gpu.async.token';
}

/** What the launches of a merged module do, with buffers by their position among the arguments of the function around them. */
export function readSequence(document: Document, launches: readonly DispatchSite[]): LaunchSequence {
  const steps = launches.map((launch): LaunchStep => {
    const sizes = launch.constants.filter((size) => size !== undefined);
    if (sizes.length !== 6) {
      throw new WavesmithError(
        'rocmlir/no-launch',
        `The module does not launch '${launch.kernel}' with constant sizes.`,
        {
          file: document.file,
          hint: 'Give a module that wavesmith rocmlir merge wrote.',
        },
      );
    }
    return {
      kernel: launch.kernel,
      workgroupCount: sizes.slice(0, 3),
      workgroupSizes: sizes.slice(3),
      workgroupMemory: launch.dynamicLdsBytes ?? 0,
      arguments: undefined,
    };
  });
  // rocMLIR's own form passes the function's arguments in order, however the host comes by them.
  const isMarked = launches.some(({ operation }) =>
    operation.dictionaries.some((open) => entryOf(parseDictionary(document, open), MARK) !== undefined),
  );
  if (!isMarked) return { scratchBytes: 0, steps: steps.slice(0, 1) };
  let scratchBytes = 0;
  const values = new ValueReader(document);
  return {
    steps: steps.map((step, i) => ({
      ...step,
      arguments: launches[i].arguments.map((name) => {
        const argument = values.argument(name, launches[i].operation);
        if (argument.kind === 'scratch') scratchBytes = Math.max(scratchBytes, values.scratchBytes);
        return argument;
      }),
    })),
    scratchBytes,
  };
}

/** Follows a launch's values back to arguments of the function, scratch or constants. */
class ValueReader {
  scratchBytes = 0;
  private readonly document: Document;
  private readonly definitions = new Map<string, Operation>();

  constructor(document: Document) {
    this.document = document;
    for (const operation of walk(document.operations)) {
      for (const { name } of operation.results) this.definitions.set(name, operation);
    }
  }

  argument(name: string, launch: Operation): StepArgument {
    const definition = this.definitions.get(name);
    if (definition === undefined) return { kind: 'buffer', position: this.position(name, launch), offset: 0 };
    const tokens: string[] = [];
    for (let at = definition.nameToken + 1; at < definition.last; at++) tokens.push(tokenText(this.document, at));
    const operand = tokens.find((text) => text.startsWith('%')) ?? '';
    const number = Number(tokens.find((text) => /^\d+$/.test(text)) ?? Number.NaN);
    switch (definition.name) {
      case 'memref.extract_aligned_pointer_as_index':
      case 'arith.index_cast':
      case 'llvm.inttoptr':
        return this.argument(operand, launch);
      case 'llvm.getelementptr': {
        const base = this.argument(operand, launch);
        return base.kind === 'constant' ? base : { ...base, offset: base.offset + number };
      }
      case 'gpu.alloc':
        this.scratchBytes = Number(/memref<(\d+)xi8>/.exec(tokens.join(''))?.[1] ?? 0);
        return { kind: 'scratch', offset: 0 };
      case 'arith.constant':
      case 'llvm.mlir.constant':
        return { kind: 'constant', value: tokens[0] === '-' || tokens[1] === '-' ? -number : number };
      default:
        throw operationError(
          this.document,
          launch,
          'rocmlir/no-launch',
          `The argument ${name} of this launch comes from ${definition.name}, not from an argument of the function.`,
        );
    }
  }

  /** Where the arguments of a function stand: in its header, or in the generic form in the first block's label. */
  private argumentsOf(operation: Operation): readonly (readonly [number, number])[] {
    const header = functionHeader(this.document, operation);
    if (header !== undefined) return header.arguments;
    const [label] = operation.regions[0]?.labels ?? [];
    if (label === undefined || !isPunct(this.document, label + 1, '(')) return [];
    return splitAtCommas(this.document, label + 2, this.document.match[label + 1]);
  }

  /** The position of a value among the arguments of the function around a launch. */
  private position(name: string, launch: Operation): number {
    for (const operation of walk(this.document.operations)) {
      if (!/^(?:func|llvm)\.func$/.test(fullName(operation)) || operation.first > launch.first) continue;
      if (operation.last < launch.last) continue;
      const position = this.argumentsOf(operation).findIndex(([first]) => tokenText(this.document, first) === name);
      if (position >= 0) return position;
    }
    throw operationError(
      this.document,
      launch,
      'rocmlir/no-launch',
      `The argument ${name} of this launch is no argument of the function around it.`,
    );
  }
}
