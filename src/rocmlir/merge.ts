// The job of the pass rock-iree-merge: put the kernel of `iree.export` into the module's `gpu.binary` and make every
// `gpu.launch_func` launch it; when anything does not fit, the module keeps rocMLIR's own kernel, byte for byte.
// Source: rocMLIR branch iree-rocMLIR, IREEMerge.cpp; its assertions are errors here.
import { WavesmithError } from '../base/index.ts';
import type { CodeObject } from '../codeobject/code-object.ts';
import { type Attribute, entryOf, parseDictionary, parseList } from '../mlir/attribute.ts';
import { Edits, moduleAttribute, removeModuleAttribute, topOperations } from '../mlir/edit.ts';
import { quoteBytes, quoteText } from '../mlir/lex.ts';
import { type Document, isPunct, type Operation, parseMlir, rangeText, symbolToken, tokenText } from '../mlir/parse.ts';
import type { RocmlirEnvironment } from './environment.ts';
import {
  checkProgram,
  chipOf,
  explicitArgumentCount,
  type GpuObject,
  type KernelEntry,
  propertyText,
  readGpuObject,
  readLaunches,
} from './gpu-object.ts';
import { type DispatchSite, launchOperations, rewriteLaunch } from './launch.ts';
import { readSequence, replaceLaunch, stepType } from './launch-sequence.ts';
import { operationError } from './lower/read.ts';
import type { LaunchSequence, LaunchStep } from './sequence.ts';

export interface MergeResult {
  /** `merged`: IREE's kernel is in; `fallback`: rocMLIR's own stays; `unchanged`: IREE_DISABLE is set. */
  readonly status: 'merged' | 'fallback' | 'unchanged';
  readonly text: string;
  readonly failure: WavesmithError | undefined;
  /** What each launch of rocMLIR's kernel became. */
  readonly sequence: LaunchSequence | undefined;
  /** Launches that were rewritten. */
  readonly launches: number;
  readonly messages: readonly string[];
}

const failed = (code: string, message: string, hint?: string): WavesmithError =>
  new WavesmithError(`rocmlir/${code}`, message, { hint });

/** Merges the kernel of a module's `iree.export`. Throws only for a text that is no MLIR module. */
export function merge(text: string, environment: RocmlirEnvironment, file?: string): MergeResult {
  const document = parseMlir(text, file);
  const none = { text, sequence: undefined, launches: 0 } as const;
  if (environment.disabled) return { ...none, status: 'unchanged', failure: undefined, messages: [] };
  const debug = environment.debug > 0;
  try {
    const edits = new Edits();
    const { sequence, launches } = mergeInto(document, edits);
    const merged = edits.apply(text);
    // What was written must read back as what was meant.
    checkMerged(merged, sequence, file);
    const messages = debug ? ['[iree-merge]: success'] : [];
    return { status: 'merged', text: merged, failure: undefined, sequence, launches, messages };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    const line = `Error[iree-merge:${error.code.replace(/^.*\//, '')}]: ${error.message}`;
    return { ...none, status: 'fallback', failure: error, messages: debug ? [line] : [] };
  }
}

/** The `gpu.binary` and its launches, as both passes expect them. */
function findBinary(document: Document): { binary: Operation; symbol: string; launches: DispatchSite[] } {
  const found = findLaunches(document);
  for (const launch of found.launches) {
    if (launch.kernel === found.launches[0].kernel) continue;
    throw severalKernels(document, launch, found.symbol);
  }
  return found;
}

function severalKernels(document: Document, launch: DispatchSite, symbol: string): WavesmithError {
  return operationError(
    document,
    launch.operation,
    'rocmlir/several-kernels',
    'expected at most one kernel',
    `This launches @${launch.module}::@${launch.kernel}; all launches must be of one kernel of @${symbol}.`,
  );
}

/** The one `gpu.binary` and the launches of its kernels. */
function findLaunches(document: Document): { binary: Operation; symbol: string; launches: DispatchSite[] } {
  const binaries = topOperations(document).filter((operation) => operation.name === 'gpu.binary');
  if (binaries.length > 1) throw failed('several-binaries', 'expected a single binary');
  if (binaries.length === 0) {
    throw failed('no-binary', 'expected at least one binary', 'Run gpu-module-to-binary before the merge.');
  }
  const [binary] = binaries;
  const symbol = binarySymbol(document, binary);
  const launches = launchOperations(document);
  for (const launch of launches) if (launch.module !== symbol) throw severalKernels(document, launch, symbol);
  return { binary, symbol, launches };
}

function binarySymbol(document: Document, binary: Operation): string {
  const token = symbolToken(document, binary);
  if (token !== undefined) {
    const text = tokenText(document, token);
    return text.startsWith('@"') ? text.slice(2, -1) : text.slice(1);
  }
  for (const open of binary.dictionaries) {
    const name = entryOf(parseDictionary(document, open), 'sym_name');
    if (name?.kind === 'string') return name.value.slice(1, -1);
  }
  throw operationError(document, binary, 'rocmlir/malformed', 'The gpu.binary has no name.');
}

/** The `[` of the objects. */
function objectsOf(document: Document, binary: Operation): number {
  for (const open of binary.dictionaries) {
    const objects = entryOf(parseDictionary(document, open), 'objects');
    if (objects?.kind === 'array') return objects.first;
  }
  for (let at = binary.nameToken + 1; !binary.generic && at < binary.last; ) {
    if (isPunct(document, at, '[')) return at;
    at = document.match[at] > at ? document.match[at] + 1 : at + 1;
  }
  throw operationError(document, binary, 'rocmlir/malformed', 'The gpu.binary has no objects.');
}

function mergeInto(document: Document, edits: Edits): { sequence: LaunchSequence; launches: number } {
  const attribute = moduleAttribute(document, 'iree.export');
  const object = attribute && readGpuObject(document, attribute);
  if (attribute === undefined || object === undefined) {
    const hint =
      attribute?.kind === 'string'
        ? `It holds ${attribute.value}: IREE could not compile the module.`
        : 'Run wavesmith rocmlir gen (or migraphx-iree-gen) on the module first.';
    throw failed('no-export', 'failed to find the `iree.export` attribute', hint);
  }
  const { binary, symbol, launches } = findBinary(document);
  const sequence = readLaunches(object);
  const codeObject = checkProgram(object.bytes, sequence);
  checkLaunches(document, codeObject, sequence, launches);
  const open = objectsOf(document, binary);
  const [first] = parseList(document, open);
  const rock = first && readGpuObject(document, first);
  if (rock === undefined) throw failed('binary-object', 'invalid object in the gpu.binary');
  checkChip(document, first, codeObject);
  const replaced = newObject(document, {
    rock,
    rockName: launches[0]?.kernel,
    sequence,
    codeObject,
    launches,
    iree: object,
  });
  edits.replaceTokens(document, open, document.match[open] + 1, `[${replaced}]`);
  for (const launch of launches) {
    const [step] = sequence.steps;
    if (step.arguments === undefined) rewriteLaunch(document, edits, launch, symbol, step);
    else replaceLaunch(document, edits, launch, symbol, sequence);
  }
  removeModuleAttribute(document, edits, 'iree.export');
  return { sequence, launches: launches.length };
}

/** The code object must be for the chip of the binary it replaces. */
function checkChip(document: Document, object: Attribute, codeObject: CodeObject): void {
  const chip = chipOf(document, object)?.split(':')[0];
  const { processor } = codeObject.target;
  if (chip === undefined || chip === processor) return;
  throw failed(
    'chip',
    `the binary is for ${chip}, IREE's kernel for ${processor}`,
    'Give gen the same architecture with -a.',
  );
}

function checkLaunches(
  document: Document,
  codeObject: CodeObject,
  { steps }: LaunchSequence,
  launches: readonly DispatchSite[],
): void {
  const [first] = steps;
  const positions = steps.flatMap((step) =>
    (step.arguments ?? []).map((argument) => (argument.kind === 'buffer' ? argument.position + 1 : 0)),
  );
  const takes =
    first.arguments === undefined ? explicitArgumentCount(codeObject, first.kernel) : Math.max(0, ...positions);
  for (const launch of launches) {
    // A sequence may leave out the last arguments; one kernel takes them all.
    const passes = launch.arguments.length;
    if (first.arguments === undefined ? passes === takes : passes >= takes) continue;
    throw operationError(
      document,
      launch.operation,
      'rocmlir/argument-count',
      `the launch passes ${passes} argument(s), IREE's kernel takes ${takes}`,
      'The module that was compiled and the module that launches are not of one function.',
    );
  }
}

/** The object that takes the place of rocMLIR's. */
function newObject(
  document: Document,
  parts: {
    readonly rock: GpuObject;
    readonly rockName: string | undefined;
    readonly iree: GpuObject;
    readonly sequence: LaunchSequence;
    readonly codeObject: CodeObject;
    readonly launches: readonly DispatchSite[];
  },
): string {
  const { rock, sequence, codeObject } = parts;
  const entry = rockKernel(rock, parts.rockName);
  const rockName = parts.rockName ?? entry?.name;
  const original =
    entry?.metadata?.kind === 'dictionary' ? entryOf(entry.metadata.entries, 'original_func') : undefined;
  const array = (values: readonly number[]): string => `array<i64: ${values.join(', ')}>`;
  const table = distinctKernels(sequence).map((step) => {
    const kernel = codeObject.kernels.find((k) => k.name === step.kernel);
    const lds = `${step.workgroupMemory + (kernel?.descriptor?.groupSegmentFixedSize ?? 0)} : i64`;
    const metadata = [
      `block_size = ${array(step.workgroupSizes)}`,
      `grid_size = ${array(step.workgroupCount)}`,
      `lds_size = ${lds}`,
    ];
    if (original !== undefined) metadata.push(`original_func = ${rangeText(document, original.first, original.last)}`);
    metadata.push(`rock.shared_buffer_size = ${lds}`);
    const type = stepType(step) ?? entry?.type ?? parts.launches[0]?.functionType ?? '() -> ()';
    // Attributes of rocMLIR's arguments are those of a kernel with the same arguments.
    const kept = step.arguments === undefined ? entry?.argumentAttributes : undefined;
    const argumentAttributes = kept === undefined ? '' : `arg_attrs = ${kept}, `;
    return (
      `#gpu.kernel_metadata<${quoteText(step.kernel)}, ${type}, ` +
      `${argumentAttributes}metadata = {${metadata.join(', ')}}>`
    );
  });
  const ownProperties = rockName === undefined ? undefined : propertyText(document, rock, rockName);
  const names = distinctKernels(sequence).map((step) => `${quoteText(step.kernel)} = ${ownProperties}`);
  const properties = ownProperties === undefined ? '' : `properties = {${names.join(', ')}}, `;
  return `#gpu.object<${rock.target}, ${properties}kernels = <[${table.join(', ')}]>, bin = ${quoteBytes(parts.iree.bytes)}>`;
}

/** The first step of each kernel, by name: a kernel table is sorted. */
function distinctKernels({ steps }: LaunchSequence): LaunchStep[] {
  const first = new Map<string, LaunchStep>();
  for (const step of steps) if (!first.has(step.kernel)) first.set(step.kernel, step);
  return [...first.values()].sort((a, b) => (a.kernel < b.kernel ? -1 : 1));
}

/** The table's entry of the kernel that is replaced; undefined when the object has no table. */
function rockKernel(rock: GpuObject, name: string | undefined): KernelEntry | undefined {
  if (rock.kernels === undefined) return undefined;
  if (name === undefined) {
    if (rock.kernels.length === 1) return rock.kernels[0];
    throw failed('several-kernels', 'invalid binary, expected a single kernel');
  }
  const entry = rock.kernels.find((kernel) => kernel.name === name);
  if (entry !== undefined) return entry;
  throw failed('rock-kernel', `invalid rock kernel: the binary's kernel table has no '${name}'`);
}

/** What was written must hold the code object and launch its kernels, in order, at every place. */
function checkMerged(text: string, { steps }: LaunchSequence, file: string | undefined): void {
  const document = parseMlir(text, file);
  const { binary, launches } = findLaunches(document);
  const [first] = parseList(document, objectsOf(document, binary));
  const object = first && readGpuObject(document, first);
  const wrong = launches.findIndex((launch, i) => launch.kernel !== steps[i % steps.length].kernel);
  if (object !== undefined && wrong < 0 && launches.length % steps.length === 0) return;
  throw failed('merged', 'the merged module does not read back as what was written');
}

/** A merged module as something to launch. */
export interface MergedModule {
  readonly elf: Uint8Array;
  readonly sequence: LaunchSequence;
}

/** Reads back the one binary and what its launches do. Throws `rocmlir/no-launch` where they have no constant sizes. */
export function readMerged(text: string, file?: string): MergedModule {
  const document = parseMlir(text, file);
  const { binary, launches } = findLaunches(document);
  const [first] = parseList(document, objectsOf(document, binary));
  const object = first && readGpuObject(document, first);
  if (object === undefined) throw failed('binary-object', 'invalid object in the gpu.binary');
  const sequence = readSequence(document, launches);
  checkProgram(object.bytes, sequence);
  return { elf: object.bytes, sequence };
}
