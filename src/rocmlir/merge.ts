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
  chipOf,
  type GpuObject,
  type KernelEntry,
  type LaunchFacts,
  propertyText,
  readExportedElf,
  readGpuObject,
  readLaunchFacts,
} from './gpu-object.ts';
import { explicitArgumentCount, type LaunchSite, launchOperations, rewriteLaunch } from './launch.ts';
import { operationError } from './lower/read.ts';

export interface MergeResult {
  /** `merged`: IREE's kernel is in; `fallback`: rocMLIR's own stays; `unchanged`: IREE_DISABLE is set. */
  readonly status: 'merged' | 'fallback' | 'unchanged';
  readonly text: string;
  readonly failure: WavesmithError | undefined;
  readonly kernel: LaunchFacts | undefined;
  /** Launches that were rewritten. */
  readonly launches: number;
  readonly messages: readonly string[];
}

const failed = (code: string, message: string, hint?: string): WavesmithError =>
  new WavesmithError(`rocmlir/${code}`, message, { hint });

/** Merges the kernel of a module's `iree.export`. Throws only for a text that is no MLIR module. */
export function merge(text: string, environment: RocmlirEnvironment, file?: string): MergeResult {
  const document = parseMlir(text, file);
  const none = { text, kernel: undefined, launches: 0 } as const;
  if (environment.disabled) return { ...none, status: 'unchanged', failure: undefined, messages: [] };
  const debug = environment.debug > 0;
  try {
    const edits = new Edits();
    const { facts, launches } = mergeInto(document, edits);
    const merged = edits.apply(text);
    // What was written must read back as what was meant.
    readMerged(merged, file);
    const messages = debug ? ['[iree-merge]: success'] : [];
    return { status: 'merged', text: merged, failure: undefined, kernel: facts, launches, messages };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    const line = `Error[iree-merge:${error.code.replace(/^.*\//, '')}]: ${error.message}`;
    return { ...none, status: 'fallback', failure: error, messages: debug ? [line] : [] };
  }
}

/** The `gpu.binary` and its launches, as both passes expect them. */
function findBinary(document: Document): { binary: Operation; symbol: string; launches: LaunchSite[] } {
  const binaries = topOperations(document).filter((operation) => operation.name === 'gpu.binary');
  if (binaries.length > 1) throw failed('several-binaries', 'expected a single binary');
  if (binaries.length === 0) {
    throw failed('no-binary', 'expected at least one binary', 'Run gpu-module-to-binary before the merge.');
  }
  const [binary] = binaries;
  const symbol = binarySymbol(document, binary);
  const launches = launchOperations(document);
  for (const launch of launches) {
    const fits = launch.module === symbol && launch.kernel === launches[0].kernel;
    if (fits) continue;
    throw operationError(
      document,
      launch.operation,
      'rocmlir/several-kernels',
      'expected at most one kernel',
      `This launches @${launch.module}::@${launch.kernel}; all launches must be of one kernel of @${symbol}.`,
    );
  }
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

function mergeInto(document: Document, edits: Edits): { facts: LaunchFacts; launches: number } {
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
  const facts = readLaunchFacts(object);
  const codeObject = readExportedElf(object, facts);
  checkLaunches(document, codeObject, facts, launches);
  const open = objectsOf(document, binary);
  const [first] = parseList(document, open);
  const rock = first && readGpuObject(document, first);
  if (rock === undefined) throw failed('binary-object', 'invalid object in the gpu.binary');
  checkChip(document, first, codeObject);
  const replaced = newObject(document, {
    rock,
    rockName: launches[0]?.kernel,
    facts,
    codeObject,
    launches,
    iree: object,
  });
  edits.replaceTokens(document, open, document.match[open] + 1, `[${replaced}]`);
  for (const launch of launches) rewriteLaunch(document, edits, launch, symbol, facts);
  removeModuleAttribute(document, edits, 'iree.export');
  return { facts, launches: launches.length };
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
  facts: LaunchFacts,
  launches: readonly LaunchSite[],
): void {
  const takes = explicitArgumentCount(codeObject, facts.kernel);
  for (const launch of launches) {
    if (launch.arguments.length === takes) continue;
    throw operationError(
      document,
      launch.operation,
      'rocmlir/argument-count',
      `the launch passes ${launch.arguments.length} argument(s), IREE's kernel takes ${takes}`,
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
    readonly facts: LaunchFacts;
    readonly codeObject: CodeObject;
    readonly launches: readonly LaunchSite[];
  },
): string {
  const { rock, facts } = parts;
  const entry = rockKernel(rock, parts.rockName);
  const rockName = parts.rockName ?? entry?.name;
  const array = (values: readonly number[]): string => `array<i64: ${values.join(', ')}>`;
  const kernel = parts.codeObject.kernels.find((k) => k.name === facts.kernel);
  const lds = `${facts.workgroupMemory + (kernel?.descriptor?.groupSegmentFixedSize ?? 0)} : i64`;
  const metadata = [
    `block_size = ${array(facts.workgroupSizes)}`,
    `grid_size = ${array(facts.workgroupCount)}`,
    `lds_size = ${lds}`,
  ];
  const original =
    entry?.metadata?.kind === 'dictionary' ? entryOf(entry.metadata.entries, 'original_func') : undefined;
  if (original !== undefined) metadata.push(`original_func = ${rangeText(document, original.first, original.last)}`);
  metadata.push(`rock.shared_buffer_size = ${lds}`);
  const type = entry?.type ?? parts.launches[0]?.functionType ?? '() -> ()';
  const argumentAttributes = entry?.argumentAttributes === undefined ? '' : `arg_attrs = ${entry.argumentAttributes}, `;
  const ownProperties = rockName === undefined ? undefined : propertyText(document, rock, rockName);
  const properties =
    ownProperties === undefined ? '' : `properties = {${quoteText(facts.kernel)} = ${ownProperties}}, `;
  return (
    `#gpu.object<${rock.target}, ${properties}kernels = <[#gpu.kernel_metadata<${quoteText(facts.kernel)}, ${type}, ` +
    `${argumentAttributes}metadata = {${metadata.join(', ')}}>]>, bin = ${quoteBytes(parts.iree.bytes)}>`
  );
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

/** A merged module as something to launch. */
export interface MergedModule {
  readonly elf: Uint8Array;
  readonly kernel: string;
  readonly launches: readonly LaunchSite[];
  /** Metadata of the kernel table: `block_size`, `grid_size`. */
  readonly table: KernelEntry | undefined;
}

/** Reads back the one binary and its launches. */
export function readMerged(text: string, file?: string): MergedModule {
  const document = parseMlir(text, file);
  const { binary, launches } = findBinary(document);
  const [first] = parseList(document, objectsOf(document, binary));
  const object = first && readGpuObject(document, first);
  const table = object?.kernels?.[0];
  const kernel = launches[0]?.kernel ?? table?.name;
  if (object === undefined || kernel === undefined) throw failed('binary-object', 'invalid object in the gpu.binary');
  return { elf: object.bytes, kernel, launches, table };
}
