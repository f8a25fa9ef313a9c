// What the host program that IREE made around a function does on the device, read from its HAL phase: which buffer each slot of
// the command buffer is, and the commands in order. Source: IREE's HALOps.td, printed forms.

import { symbolName } from '../mlir/attribute.ts';
import { TokenKind } from '../mlir/lex.ts';
import { type Document, isPunct, type Operation, parseMlir, tokenText, walk } from '../mlir/parse.ts';
import { splitAtCommas } from './lower/read.ts';

/** Bytes of a slot; null where only known at run time. */
export interface BindingRange {
  readonly slot: number | null;
  readonly offset: number | null;
  readonly length: number | null;
}

/** One command of the command buffer, in recording order. Barriers stand between all that depend on each other. */
export type Command =
  | {
      readonly kind: 'dispatch';
      readonly kernel: string;
      /** Workgroups in x, y, z; null where only known at run time. */
      readonly grid: readonly (number | null)[];
      readonly constants: readonly (number | null)[];
      readonly bindings: readonly BindingRange[];
    }
  | { readonly kind: 'copy'; readonly source: BindingRange; readonly target: BindingRange }
  /** Anything else that changes memory, by name. */
  | { readonly kind: 'other'; readonly name: string };

/** What a slot of the command buffer's binding table holds; `offset` is where the slot begins in that. */
export type BufferSource =
  /** Position among the function's arguments and, behind them, its results. */
  | { readonly kind: 'argument'; readonly position: number; readonly offset: number | null }
  | { readonly kind: 'scratch'; readonly name: string; readonly bytes: number | null; readonly offset: number | null }
  /** A buffer of IREE's own, a constant for example. */
  | { readonly kind: 'other'; readonly name: string };

/** The host program of the one public function. */
export interface HostProgram {
  /** Arguments and results that are buffers. */
  readonly positions: number;
  /** By slot. */
  readonly slots: readonly BufferSource[];
  readonly commands: readonly Command[];
}

/** Reading one function of the HAL phase, with its integer constants. */
class FunctionReader {
  readonly document: Document;
  readonly operation: Operation;
  private readonly constants = new Map<string, number>();

  constructor(document: Document, operation: Operation) {
    this.document = document;
    this.operation = operation;
  }

  *operations(): Generator<Operation> {
    for (const inner of walk(this.operation.regions.flatMap((region) => region.operations))) {
      const [result] = inner.results;
      if (inner.name === 'arith.constant' && result !== undefined) {
        const sign = isPunct(this.document, inner.nameToken + 1, '-') ? -1 : 1;
        const number = Number(tokenText(this.document, inner.nameToken + (sign < 0 ? 2 : 1))) * sign;
        if (Number.isSafeInteger(number)) this.constants.set(result.name, number);
      }
      yield inner;
    }
  }

  constant(token: number): number | null {
    return this.constants.get(tokenText(this.document, token)) ?? null;
  }

  /** The bracket after the identifier `word` of an operation. */
  listAfter(operation: Operation, word: string): number | undefined {
    for (let at = operation.nameToken + 1; at < operation.last - 1; at++) {
      const isWord = this.document.tokens.kinds[at] === TokenKind.Identifier && tokenText(this.document, at) === word;
      if (isWord && isPunct(this.document, at + 1, '(')) return at + 1;
    }
    return undefined;
  }

  /** The constants in `word([%a, %b])`. */
  constantsAfter(operation: Operation, word: string): (number | null)[] {
    const open = this.listAfter(operation, word);
    if (open === undefined) return [];
    return splitAtCommas(this.document, open + 2, this.document.match[open + 1]).map(([first]) => this.constant(first));
  }

  /** The ranges in `word([(%buffer : type)[%offset, %length], …])`: buffer name and constants. */
  rangesAfter(operation: Operation, word: string): { token: number; offset: number | null; length: number | null }[] {
    const open = this.listAfter(operation, word);
    if (open === undefined) return [];
    return splitAtCommas(this.document, open + 2, this.document.match[open + 1]).map(([first]) => {
      const close = this.document.match[first];
      return { token: first + 1, offset: this.constant(close + 2), length: this.constant(close + 4) };
    });
  }
}

/** Reads the text of the HAL phase; undefined when it has no public function that executes one command buffer. */
export function readHostProgram(text: string): HostProgram | undefined {
  const document = parseMlir(text);
  const commands: Command[] = [];
  let host: Pick<HostProgram, 'positions' | 'slots'> | undefined;
  for (const operation of walk(document.operations)) {
    if (operation.name !== 'util.func') continue;
    commands.push(...readCommands(new FunctionReader(document, operation)));
    if (tokenText(document, operation.nameToken + 1) === 'public') {
      host ??= readHostFunction(new FunctionReader(document, operation));
    }
  }
  return host && { ...host, commands };
}

const MOVES_MEMORY = new Set(['fill_buffer', 'update_buffer', 'collective', 'dispatch.indirect']);

function readCommands(reader: FunctionReader): Command[] {
  const { document } = reader;
  const kernels = new Map<string, string>();
  const commands: Command[] = [];
  const kernelIn = (operation: Operation): string | undefined => {
    let name: string | undefined;
    for (let at = operation.nameToken + 1; at < operation.last; at++) {
      if (document.tokens.kinds[at] === TokenKind.Symbol) name = symbolName(tokenText(document, at));
    }
    return name;
  };
  for (const operation of reader.operations()) {
    const [result] = operation.results;
    if (operation.name.startsWith('hal.executable.') && result !== undefined) {
      const kernel = kernelIn(operation);
      if (kernel !== undefined) kernels.set(result.name, kernel);
      continue;
    }
    const name = /^hal\.command_buffer\.(.*)$/.exec(operation.name)?.[1];
    if (name === undefined) continue;
    const range = (word: string, lengthWord: string): BindingRange => {
      const open = reader.listAfter(operation, word);
      const length = reader.listAfter(operation, lengthWord);
      if (open === undefined) return { slot: null, offset: null, length: null };
      const close = document.match[open];
      return {
        slot: reader.constant(open + 1),
        offset: reader.constant(close + 2),
        length: length === undefined ? null : reader.constant(length + 1),
      };
    };
    if (name === 'dispatch' || name === 'dispatch.symbol') {
      const target = reader.listAfter(operation, 'target');
      const ordinal = target === undefined ? '' : tokenText(document, document.match[target] + 2);
      const kernel = name === 'dispatch' ? kernels.get(ordinal) : kernelIn(operation);
      if (kernel === undefined) {
        commands.push({ kind: 'other', name });
        continue;
      }
      commands.push({
        kind: 'dispatch',
        kernel,
        grid: reader.constantsAfter(operation, 'workgroups'),
        constants: reader.constantsAfter(operation, 'constants'),
        bindings: reader.rangesAfter(operation, 'bindings').map(({ token, offset, length }) => ({
          slot: reader.constant(token),
          offset,
          length,
        })),
      });
    } else if (name === 'copy_buffer') {
      commands.push({ kind: 'copy', source: range('source', 'length'), target: range('target', 'length') });
    } else if (MOVES_MEMORY.has(name)) commands.push({ kind: 'other', name });
  }
  return commands;
}

function readHostFunction(reader: FunctionReader): Pick<HostProgram, 'positions' | 'slots'> | undefined {
  const { document, operation } = reader;
  const parameters: string[] = [];
  let storages = 0;
  const open = operation.nameToken + 3;
  if (!isPunct(document, open, '(')) return undefined;
  for (let at = open + 1; at < document.match[open]; at++) {
    const type = tokenText(document, at + 2);
    if (document.tokens.kinds[at] !== TokenKind.Value || !/^!hal\.buffer(?:_view)?$/.test(type)) continue;
    parameters.push(tokenText(document, at));
    if (type === '!hal.buffer') storages++;
  }
  const buffers = new Map(parameters.map((name, position) => [name, position]));
  const views = new Map<string, string>();
  const scratch = new Map<string, number | null>();
  let returned: string[] = [];
  let executed: ReturnType<FunctionReader['rangesAfter']> = [];
  let executions = 0;
  for (const inner of reader.operations()) {
    const [result] = inner.results;
    const values: string[] = [];
    for (let at = inner.nameToken + 1; at < inner.last; at++) {
      if (document.tokens.kinds[at] === TokenKind.Value) values.push(tokenText(document, at));
    }
    const position = buffers.get(values[0]);
    if (inner.name === 'hal.buffer_view.buffer' && result !== undefined && position !== undefined) {
      buffers.set(result.name, position);
    } else if (inner.name === 'hal.buffer_view.create' && result !== undefined) {
      views.set(result.name, values[0]);
    } else if (inner.name === 'hal.device.queue.alloca' && result !== undefined) {
      // `… : !hal.buffer{%size}`
      scratch.set(result.name, reader.constant(inner.last - 2));
    } else if (inner.name === 'hal.device.queue.execute.indirect') {
      executions++;
      executed = reader.rangesAfter(inner, 'bindings');
    } else if (inner.name === 'hal.device.queue.execute') executions++;
    else if (inner.name === 'util.return') returned = values;
  }
  if (executions !== 1) return undefined;
  // Without storages of their own, results are in buffers that the program makes; one buffer may hold several.
  const made = returned.map((name) => views.get(name));
  const positions = storages > 0 ? parameters.length : parameters.length + returned.length;
  const slots = executed.map(({ token, offset }): BufferSource => {
    const name = tokenText(document, token);
    const position = buffers.get(name);
    if (position !== undefined) return { kind: 'argument', position, offset };
    const results = made.filter((buffer) => buffer === name).length;
    if (results === 1) return { kind: 'argument', position: parameters.length + made.indexOf(name), offset };
    const bytes = results === 0 ? scratch.get(name) : undefined;
    return bytes === undefined ? { kind: 'other', name } : { kind: 'scratch', name, bytes, offset };
  });
  return { positions, slots };
}
