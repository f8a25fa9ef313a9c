// The job of the pass migraphx-iree-gen: compile the module with IREE and store the result as the attribute `iree.export`; on
// failure store the original's error string, which makes rock-iree-merge keep rocMLIR's own kernel.
// Source: rocMLIR branch iree-rocMLIR, IREEGen.cpp: order and text of the checks.
import { WavesmithError } from '../base/index.ts';
import { Edits, setModuleAttribute } from '../mlir/edit.ts';
import { parseMlir } from '../mlir/parse.ts';
import { type ExportOptions, type ExportResult, exportModule } from './export.ts';
import { checkProgram, exportAttribute } from './gpu-object.ts';
import { functionsOf, lowerModule, usesMigraphx } from './lower/lower.ts';
import type { LaunchSequence, LaunchStep, StepArgument } from './sequence.ts';

/** The attribute's value after a failure. */
export const FAILURE_ATTRIBUTE = '"[iree-error]: invocation failed"';

export interface GenOptions extends ExportOptions {
  /** Leave `migraphx` operations as they are in the output. */
  readonly keepMigraphx?: boolean | undefined;
  readonly file?: string | undefined;
}

/** `generated`: the attribute holds a kernel; `fallback`: it holds the error string; `unchanged`: nothing was done. */
export type GenStatus = 'generated' | 'fallback' | 'unchanged';

export interface GenResult {
  readonly status: GenStatus;
  readonly text: string;
  readonly failure: WavesmithError | undefined;
  /** The launches that were generated. */
  readonly sequence: LaunchSequence | undefined;
  /** Bytes of the code object, 0 without one. */
  readonly bytes: number;
  /** Lines for IREE_DEBUG. */
  readonly messages: readonly string[];
  readonly remarks: readonly string[];
}

const check = (code: string, message: string, hint?: string): WavesmithError =>
  new WavesmithError(`rocmlir/${code}`, message, { hint });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A code object with the launches that compute the function. */
export interface KernelProgram {
  readonly elf: Uint8Array;
  readonly sequence: LaunchSequence;
}

/** The bytes of a hexadecimal text. */
function readElf(elf: unknown): Uint8Array {
  if (typeof elf !== 'string' || elf.length === 0 || elf.length % 2 !== 0 || /[^0-9a-fA-F]/.test(elf)) {
    throw check('elf', 'expected a valid ELF');
  }
  return Uint8Array.from({ length: elf.length / 2 }, (_, i) => Number.parseInt(elf.slice(2 * i, 2 * i + 2), 16));
}

const isCount = (value: unknown, least = 0): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least;

/** Launch facts of one kernel's entry, but for its arguments. */
function readStep(facts: unknown, kernel: string): LaunchStep {
  if (!isObject(facts)) throw check('kernel-properties', 'invalid kernel properties');
  const numbers = (field: string, count: number, hint?: string): number[] => {
    const value = facts[field];
    const list: unknown[] = Array.isArray(value) ? value : [value];
    if (list.length === count && list.every((n) => isCount(n))) return list as number[];
    throw check(field.replace('_', '-'), `expected a valid \`${field}\` field`, hint);
  };
  const workgroupSizes = numbers('workgroup_sizes', 3);
  const workgroupCount = numbers(
    'workgroup_count',
    3,
    'The number of workgroups depends on run-time values; give static shapes.',
  );
  const [workgroupMemory] = numbers('workgroup_memory', 1);
  return { kernel, workgroupSizes, workgroupCount, workgroupMemory, arguments: undefined };
}

function readArgument(value: unknown): StepArgument {
  if (isObject(value)) {
    const { buffer, offset, scratch, constant } = value;
    if (isCount(buffer) && isCount(offset)) return { kind: 'buffer', position: buffer, offset };
    if (isCount(scratch)) return { kind: 'scratch', offset: scratch };
    if (isCount(constant, -(2 ** 31))) return { kind: 'constant', value: constant };
  }
  throw check('sequence', 'expected a buffer, scratch or constant for each argument of a step');
}

/** The launches of an iree-export result, checked as the pass checks it. Throws `rocmlir/…` with the original's message. */
export function selectProgram(result: ExportResult | unknown): KernelProgram {
  if (!isObject(result)) throw check('json', 'invalid JSON');
  if (result.error !== undefined) {
    throw check('invocation', typeof result.error === 'string' ? result.error : 'IREE invocation failed');
  }
  const { binaries, sequence } = result;
  if (!Array.isArray(binaries)) throw check('json', 'invalid JSON, expected `binaries` field');
  if (isObject(sequence)) {
    const { steps, scratch_bytes: scratchBytes } = sequence;
    if (!Array.isArray(steps) || steps.length === 0 || !isCount(scratchBytes))
      throw check('sequence', 'invalid sequence');
    return {
      elf: readElf(sequence.$elf),
      sequence: {
        scratchBytes,
        steps: steps.map((step: unknown) => {
          const name = isObject(step) ? step.sym_name : undefined;
          const list = isObject(step) ? step.arguments : undefined;
          if (typeof name !== 'string' || !Array.isArray(list)) throw check('sequence', 'invalid step of a sequence');
          return { ...readStep(step, name), arguments: list.map(readArgument) };
        }),
      },
    };
  }
  const single = 'Split the module so that each function is one kernel, or let rocMLIR’s own kernel be used.';
  if (binaries.length > 1) throw check('several-binaries', 'more than one binary was found', single);
  if (binaries.length === 0) {
    throw check(
      'no-kernel',
      'expected at least one binary',
      'The module’s function needs no kernel: it only passes values on.',
    );
  }
  const binary: unknown = binaries[0];
  if (!isObject(binary)) throw check('json', 'expected a dict for each binary');
  const elf = readElf(binary.$elf);
  const table = binary.$kernels;
  if (!Array.isArray(table) || table.length !== 1) {
    const names = Array.isArray(table) ? table.slice(0, 4).join(', ') : 'no list';
    throw check(
      'kernel-table',
      'expected a valid kernel table',
      `It lists ${names}; rocMLIR takes exactly one. ${single}`,
    );
  }
  const kernel: unknown = table[0];
  if (typeof kernel !== 'string' || kernel === '') throw check('kernel-name', 'expected a valid kernel name');
  return { elf, sequence: { scratchBytes: 0, steps: [readStep(binary[kernel], kernel)] } };
}

/** The `Error[iree-gen:…]` line of a failure. */
const debugLine = (error: WavesmithError): string =>
  `Error[iree-gen:${error.code.replace(/^.*\//, '')}]: ${error.message}`;

/** Generates the attribute for a module's text. Throws only for a text that is no MLIR module. */
export async function generate(text: string, options: GenOptions): Promise<GenResult> {
  const document = parseMlir(text, options.file);
  const { debug, disabled } = options.environment;
  const unchanged = { status: 'unchanged', text, sequence: undefined, bytes: 0, remarks: [] } as const;
  if (disabled) return { ...unchanged, failure: undefined, messages: [] };
  if (options.arch === '') {
    const failure = check('arch', 'expected a valid target architecture', 'Give -a gfx942.');
    return { ...unchanged, failure, messages: debug > 0 ? [debugLine(failure)] : [] };
  }
  const exported = await exportModule(text, options, options.file);
  const messages = [...exported.messages];
  let failure = exported.failure;
  let value = FAILURE_ATTRIBUTE;
  let output = text;
  let program: KernelProgram | undefined;
  try {
    const { elf, sequence } = selectProgram(exported.result);
    value = exportAttribute(options.arch, sequence, elf);
    checkProgram(elf, sequence);
    program = { elf, sequence };
    // A kernel beside functions that launch it keeps its types: theirs name them.
    const isAlone = functionsOf(document).length === 1;
    if (usesMigraphx(document) && isAlone && !options.keepMigraphx) {
      output = lowerModule(document, { fuseAttention: false, reader: 'module' });
    }
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    failure ??= error;
    value = FAILURE_ATTRIBUTE;
    if (debug > 0) messages.push(debugLine(error));
  }
  const target = output === text ? document : parseMlir(output, options.file);
  const edits = new Edits();
  setModuleAttribute(target, edits, 'iree.export', value);
  return {
    status: failure === undefined ? 'generated' : 'fallback',
    text: edits.apply(output),
    failure,
    sequence: failure === undefined ? program?.sequence : undefined,
    bytes: failure === undefined ? (program?.elf.length ?? 0) : 0,
    messages,
    remarks: exported.remarks,
  };
}
