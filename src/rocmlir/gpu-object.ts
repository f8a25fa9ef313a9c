// `#gpu.object<…>`: a code object with its target, properties and kernel table, read from and written to MLIR text.
// Source: MLIR's GPU dialect, CompilationAttrs.td (LLVM 22): `<target, properties = {…}, kernels = <[…]>, bin = "…">`.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, readCodeObject } from '../codeobject/code-object.ts';
import {
  type Attribute,
  type DictionaryEntry,
  entryOf,
  parseAttribute,
  parseDictionary,
  parseList,
} from '../mlir/attribute.ts';
import { quoteBytes, quoteText, stringBytes, stringText, TokenKind } from '../mlir/lex.ts';
import { type Document, isPunct, rangeText, tokenText } from '../mlir/parse.ts';
import { splitAtCommas } from './lower/read.ts';
import type { LaunchSequence, LaunchStep, StepArgument } from './sequence.ts';

/** One entry of a kernel table. */
export interface KernelEntry {
  readonly name: string;
  /** Text of the function type. */
  readonly type: string;
  /** Text of `arg_attrs`, if there are any. */
  readonly argumentAttributes: string | undefined;
  readonly metadata: Attribute | undefined;
}

/** A `#gpu.object` as it stands in a text. */
export interface GpuObject {
  /** Text of the target attribute. */
  readonly target: string;
  readonly properties: Attribute | undefined;
  /** Undefined without a kernel table. */
  readonly kernels: readonly KernelEntry[] | undefined;
  /** `bin`, `offload`, `assembly`; `fatbin` when the text says nothing. */
  readonly format: string;
  readonly bytes: Uint8Array;
}

const FORMATS = new Set(['bin', 'offload', 'assembly', 'fatbin']);

/** Reads an attribute as `#gpu.object`; undefined when it is another attribute or is malformed. */
export function readGpuObject(document: Document, attribute: Attribute): GpuObject | undefined {
  if (attribute.kind !== 'dialect' || attribute.name !== 'gpu.object' || attribute.open < 0) return undefined;
  const { kinds } = document.tokens;
  const parts = splitAtCommas(document, attribute.open + 1, document.match[attribute.open]);
  if (parts.length < 2) return undefined;
  const [[targetFirst, targetLast], ...rest] = parts;
  let properties: Attribute | undefined;
  let kernels: readonly KernelEntry[] | undefined;
  let format = 'fatbin';
  let bytes: Uint8Array | undefined;
  for (const [first, last] of rest) {
    const key = isPunct(document, first + 1, '=') ? tokenText(document, first) : '';
    const at = key === '' ? first : first + 2;
    if (key === 'properties') properties = parseAttribute(document, at, last);
    else if (key === 'kernels') kernels = readKernelTable(document, at, last);
    else if ((key === '' || FORMATS.has(key)) && kinds[at] === TokenKind.String) {
      if (key !== '') format = key;
      bytes = stringBytes(tokenText(document, at));
    } else return undefined;
  }
  if (bytes === undefined) return undefined;
  return { target: rangeText(document, targetFirst, targetLast), properties, kernels, format, bytes };
}

/** The entries of `<[#gpu.kernel_metadata<"name", type, …>, …]>`, with or without the attribute's name in front. */
function readKernelTable(document: Document, first: number, last: number): KernelEntry[] {
  let open = first;
  while (open < last && !isPunct(document, open, '[')) open++;
  if (open >= last) return [];
  return parseList(document, open).flatMap((item): KernelEntry[] => {
    if (item.kind !== 'dialect' || item.open < 0) return [];
    const parts = splitAtCommas(document, item.open + 1, document.match[item.open]);
    if (parts.length < 2 || document.tokens.kinds[parts[0][0]] !== TokenKind.String) return [];
    const keyed = (name: string) =>
      parts.find(([at]) => tokenText(document, at) === name && isPunct(document, at + 1, '='));
    const [argumentAttributes, metadata] = [keyed('arg_attrs'), keyed('metadata')];
    return [
      {
        name: stringText(tokenText(document, parts[0][0])),
        type: rangeText(document, ...parts[1]),
        argumentAttributes: argumentAttributes && rangeText(document, argumentAttributes[0] + 2, argumentAttributes[1]),
        metadata: metadata && parseAttribute(document, metadata[0] + 2, metadata[1]),
      },
    ];
  });
}

const numbersText = (values: readonly number[]): string => `array<i64: ${values.join(', ')}>`;

/** The entries of one launch in the properties of `iree.export`. */
function stepText(step: LaunchStep): string {
  const { kernel, workgroupSizes, workgroupCount, workgroupMemory } = step;
  return (
    `kernel = ${quoteText(kernel)}, workgroup_sizes = ${numbersText(workgroupSizes)}, ` +
    `workgroup_count = ${numbersText(workgroupCount)}, workgroup_memory = ${workgroupMemory} : i64`
  );
}

function argumentText(argument: StepArgument): string {
  switch (argument.kind) {
    case 'buffer':
      return `{buffer = ${argument.position} : i64, offset = ${argument.offset} : i64}`;
    case 'scratch':
      return `{scratch = ${argument.offset} : i64}`;
    default:
      return `{constant = ${argument.value} : i64}`;
  }
}

/**
 * Text of the `iree.export` attribute. One kernel that takes the function's arguments has the original's properties; several
 * launches are `sequence = […]` with the arguments of each, and `scratch_bytes`.
 */
export function exportAttribute(arch: string, { scratchBytes, steps }: LaunchSequence, elf: Uint8Array): string {
  const [first] = steps;
  const properties =
    steps.length === 1 && first.arguments === undefined
      ? stepText(first)
      : `scratch_bytes = ${scratchBytes} : i64, sequence = [${steps
          .map((step) => `{${stepText(step)}, arguments = [${(step.arguments ?? []).map(argumentText).join(', ')}]}`)
          .join(', ')}]`;
  return (
    `#gpu.object<#rocdl.target<O = 3, triple = "amdgcn-amd-amdhsa", chip = ${quoteText(arch)}>, ` +
    `properties = {${properties}}, bin = ${quoteBytes(elf)}>`
  );
}

/** What the original asserts on, as an error. */
const invalid = (code: string, message: string, hint?: string): WavesmithError =>
  new WavesmithError(`rocmlir/${code}`, message, { hint });

/** The launches in an `iree.export` object; every missing or impossible fact is an error. */
export function readLaunches(object: GpuObject): LaunchSequence {
  if (object.properties?.kind !== 'dictionary') throw invalid('no-properties', 'expected a property dictionary');
  const { entries } = object.properties;
  const sequence = entryOf(entries, 'sequence');
  if (sequence === undefined) return { scratchBytes: 0, steps: [readStep(entries)] };
  const scratchBytes = entryOf(entries, 'scratch_bytes');
  if (
    sequence.kind !== 'array' ||
    sequence.items.length === 0 ||
    scratchBytes?.kind !== 'integer' ||
    scratchBytes.value < 0n
  ) {
    throw invalid('sequence', 'invalid `sequence` or `scratch_bytes` field');
  }
  return {
    scratchBytes: Number(scratchBytes.value),
    steps: sequence.items.map((item) => {
      if (item.kind !== 'dictionary') throw invalid('sequence', 'invalid step in the `sequence` field');
      const list = entryOf(item.entries, 'arguments');
      if (list?.kind !== 'array') throw invalid('sequence', 'a step in the `sequence` field has no `arguments`');
      return { ...readStep(item.entries), arguments: list.items.map(readArgument) };
    }),
  };
}

function readArgument(item: Attribute): StepArgument {
  const number = (name: string): number | undefined => {
    const value = item.kind === 'dictionary' ? entryOf(item.entries, name) : undefined;
    return value?.kind === 'integer' && Number.isSafeInteger(Number(value.value)) ? Number(value.value) : undefined;
  };
  const [position, offset, scratch, constant] = ['buffer', 'offset', 'scratch', 'constant'].map(number);
  if (position !== undefined && offset !== undefined && position >= 0 && offset >= 0) {
    return { kind: 'buffer', position, offset };
  }
  if (scratch !== undefined && scratch >= 0) return { kind: 'scratch', offset: scratch };
  if (constant !== undefined) return { kind: 'constant', value: constant };
  throw invalid('sequence', 'invalid argument of a step in the `sequence` field');
}

function readStep(entries: readonly DictionaryEntry[]): LaunchStep {
  const memory = entryOf(entries, 'workgroup_memory');
  if (memory?.kind !== 'integer' || memory.value < 0n || memory.value > 0x7fffffffn) {
    throw invalid('workgroup-memory', 'invalid `workgroup_memory` field');
  }
  const triple = (name: string): number[] => {
    const value = entryOf(entries, name);
    const numbers = value?.kind === 'denseArray' && value.element === 'i64' ? value.items.map(Number) : [];
    if (numbers.length === 3 && numbers.every((n) => Number.isSafeInteger(n) && n > 0 && n < 2 ** 32)) return numbers;
    const dynamic = value?.kind === 'denseArray' && numbers.length === 0;
    throw invalid(
      name.replace('_', '-'),
      `invalid \`${name}\` field`,
      dynamic
        ? 'It is empty: the number of workgroups depends on run-time values, which rocMLIR cannot launch.'
        : undefined,
    );
  };
  const workgroupCount = triple('workgroup_count');
  const workgroupSizes = triple('workgroup_sizes');
  const name = entryOf(entries, 'kernel');
  if (name?.kind !== 'string' || stringText(name.value) === '') throw invalid('kernel-name', 'invalid `kernel` field');
  return {
    kernel: stringText(name.value),
    workgroupSizes,
    workgroupCount,
    workgroupMemory: Number(memory.value),
    arguments: undefined,
  };
}

/** The code object of a sequence, checked against its launches. */
export function checkProgram(elf: Uint8Array, { steps, scratchBytes }: LaunchSequence): CodeObject {
  let codeObject: CodeObject;
  try {
    codeObject = readCodeObject(elf);
  } catch (cause) {
    if (!(cause instanceof WavesmithError)) throw cause;
    throw new WavesmithError('rocmlir/elf', `expected a valid ELF: ${cause.message}`, {
      byteOffset: cause.position.byteOffset,
      hint: 'The binary in iree.export is damaged; generate it again.',
      cause,
    });
  }
  for (const step of steps) checkStep(codeObject, step, scratchBytes);
  return codeObject;
}

function checkStep(codeObject: CodeObject, step: LaunchStep, scratchBytes: number): void {
  const kernel = codeObject.kernels.find((k) => k.name === step.kernel);
  if (kernel?.descriptor === undefined || kernel.metadata === undefined) {
    const names = codeObject.kernels.map((k) => k.name).join(', ') || 'none';
    throw invalid('elf-kernel', `the ELF has no complete kernel '${step.kernel}' (its kernels: ${names})`);
  }
  const required = kernel.metadata.reqdWorkgroupSize;
  if (required?.some((size, d) => size !== step.workgroupSizes[d])) {
    const sizes = step.workgroupSizes.join('×');
    throw invalid(
      'workgroup-sizes',
      `kernel '${step.kernel}' requires workgroups of ${required.join('×')}, not ${sizes}`,
    );
  }
  if (step.arguments === undefined) return;
  const takes = explicitArgumentCount(codeObject, step.kernel);
  if (step.arguments.length !== takes) {
    throw invalid(
      'argument-count',
      `the sequence passes ${step.arguments.length} argument(s) to '${step.kernel}', which takes ${takes}`,
    );
  }
  if (step.arguments.some((a) => a.kind === 'scratch' && a.offset >= scratchBytes)) {
    throw invalid(
      'sequence',
      `a scratch pointer of '${step.kernel}' lies outside the ${scratchBytes} bytes of scratch`,
    );
  }
}

/** Explicit (not hidden) arguments of a kernel by its metadata. */
export function explicitArgumentCount(codeObject: CodeObject, name: string): number {
  const metadata = codeObject.kernels.find((kernel) => kernel.name === name)?.metadata;
  return metadata?.args.filter((argument) => !argument.valueKind.startsWith('hidden_')).length ?? 0;
}

/** Entries of a properties dictionary as text, by name. */
export function propertyText(document: Document, object: GpuObject, name: string): string | undefined {
  const value = object.properties?.kind === 'dictionary' ? entryOf(object.properties.entries, name) : undefined;
  return value === undefined ? undefined : rangeText(document, value.first, value.last);
}

/** The chip that a target attribute names. */
export function chipOf(document: Document, attribute: Attribute): string | undefined {
  if (attribute.kind !== 'dialect' || attribute.open < 0) return undefined;
  const [[first]] = splitAtCommas(document, attribute.open + 1, document.match[attribute.open]);
  const target = parseAttribute(document, first, document.match[attribute.open]);
  if (target.kind !== 'dialect' || target.open < 0) return undefined;
  const chip = entryOf(parseDictionary(document, target.open), 'chip');
  return chip?.kind === 'string' ? stringText(chip.value) : undefined;
}
