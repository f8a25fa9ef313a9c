// Addresses that are known while the code is read, and lie outside: LDS beyond the kernel's segment, scalar loads beyond its arguments,
// buffers of no bytes. Sources: CDNA3 ISA manual, "Data Share Operations", "Scalar Memory Operations", "Buffer Resource Descriptor".
import type { Kernel } from '../../codeobject/index.ts';
import { type Finding, finding, type RuleId, type Severity } from '../../finding/index.ts';
import { operandNamed } from '../../isa/operand.ts';
import type { Instruction } from '../../isa/types.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type Knowledge,
  type SlotRange,
  slotsOf,
  valuesOf,
} from '../../program/index.ts';
import { placeAt } from '../place.ts';
import type { Rule } from '../types.ts';
import { KnownValues } from '../values.ts';

/** Everything that one kernel touches outside of what it has. */
export const checkConstantBounds: Rule = (context) => {
  const { kernel, program, subject } = context;
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const segments = { lds: ldsBytes(kernel), kernarg: kernargBytes(kernel) };
  const isLooked = ({ instruction: { row } }: CodeInstruction): boolean =>
    (segments.lds !== undefined && ELEMENT.test(row.operation)) ||
    (segments.kernarg !== undefined && /^s_load_/.test(row.operation)) ||
    row.flags.has('MUBUF') ||
    row.flags.has('MTBUF');
  const wanted = blocks.filter((b) => program.instructions.slice(b.first, b.end).some(isLooked));
  if (wanted.length === 0) return [];
  const asked = wanted.flatMap((b) =>
    program.instructions.slice(b.first, b.end).flatMap((code) => (isLooked(code) ? askedOf(code.instruction) : [])),
  );
  const values = new KnownValues(program, subject, asked);
  const found: Finding[] = [];
  for (const block of wanted) {
    values.stepThrough(block, (code, known) => {
      const problem = isLooked(code) ? problemOf(code.instruction, known, segments) : undefined;
      if (problem === undefined) return;
      const { pc } = code;
      found.push(finding({ ...problem, kernel: subject.name, place: placeAt(program, pc) }));
    });
  }
  return found;
};

/** The slots whose values decide where an instruction goes. */
function askedOf(instruction: Instruction): SlotRange[] {
  const out: SlotRange[] = [];
  for (const name of ['addr', 'sbase', 'soffset', 'srsrc']) {
    const operand = operandNamed(instruction, name);
    const range = operand?.kind === 'reg' ? slotsOf(operand) : undefined;
    if (range !== undefined) out.push({ first: range.first + (name === 'srsrc' ? NUM_RECORDS : 0), count: 1 });
  }
  return out;
}

interface Segments {
  /** Bytes that the kernel has; undefined when a launch decides, or the file does not say. */
  readonly lds: number | undefined;
  readonly kernarg: number | undefined;
}

interface Problem {
  readonly rule: RuleId;
  readonly severity?: Severity;
  readonly isCertain?: boolean;
  readonly message: string;
  readonly advice: string;
}

function problemOf(instruction: Instruction, known: Knowledge, segments: Segments): Problem | undefined {
  const { row } = instruction;
  if (row.flags.has('DS')) return segments.lds === undefined ? undefined : ldsProblem(instruction, known, segments.lds);
  if (row.flags.has('SMRD')) {
    return segments.kernarg === undefined ? undefined : kernargProblem(instruction, known, segments.kernarg);
  }
  return bufferProblem(instruction, known);
}

/** LDS of a launch; kernels that ask for more at launch, or leave it to the launch, have no bound here. */
function ldsBytes(kernel: Kernel | undefined): number | undefined {
  const descriptor = kernel?.descriptor;
  if (kernel === undefined || descriptor === undefined) return undefined;
  const kinds = kernel.metadata?.args.map((a) => a.valueKind) ?? [];
  if (kinds.some((kind) => kind === 'dynamic_shared_pointer' || kind === 'hidden_dynamic_lds_size')) return undefined;
  const size = Math.max(descriptor.groupSegmentFixedSize, kernel.metadata?.groupSegmentFixedSize ?? 0);
  return size === 0 ? undefined : size;
}

/** The kernarg segment, of which a load may take the rest of 16 bytes: allocations are multiples of that. */
function kernargBytes(kernel: Kernel | undefined): number | undefined {
  const size = Math.max(kernel?.descriptor?.kernargSize ?? 0, kernel?.metadata?.kernargSegmentSize ?? 0);
  return size === 0 ? undefined : Math.ceil(size / KERNARG_GRANULE) * KERNARG_GRANULE;
}

const KERNARG_GRANULE = 16;

/** Operations on an address in LDS with the bytes of one element; `2` has two offsets, `st64` counts them in 64 elements. */
const ELEMENT =
  /^ds_(?!b?permute|swizzle|gws|nop|append|consume|ordered)(?!.*addtid)\w*?(2(?:st64)?)?_(?:rtn_)?[a-z]+(\d+)(?:_d16(?:_hi)?)?$/;

function immediate(instruction: Instruction, name: string): number {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'imm' ? operand.value : 0;
}

/** The offsets at which an LDS instruction touches memory, and the bytes at each. */
function ldsSpan(instruction: Instruction): { readonly offset: number; readonly bytes: number } | undefined {
  const match = ELEMENT.exec(instruction.row.operation);
  if (match === null) return undefined;
  const bytes = Number(match[2]) / 8;
  if (match[1] === undefined) return { offset: immediate(instruction, 'offset'), bytes };
  const stride = match[1] === '2' ? bytes : 64 * bytes;
  return { offset: stride * Math.max(immediate(instruction, 'offset0'), immediate(instruction, 'offset1')), bytes };
}

function ldsProblem(instruction: Instruction, known: Knowledge, size: number): Problem | undefined {
  const span = ldsSpan(instruction);
  if (span === undefined) return undefined;
  const values = valuesOf(operandNamed(instruction, 'addr'), known);
  const addresses = values?.every((v) => v.base === 'none') === true ? values.map((v) => v.low >>> 0) : undefined;
  const isKnown = addresses !== undefined;
  const lowest = (isKnown ? Math.min(...addresses) : 0) + span.offset;
  const end = lowest + span.bytes;
  if (end <= size) return undefined;
  const where = isKnown ? `bytes ${lowest} to ${end - 1} of LDS` : `LDS at offset ${span.offset}, behind an address`;
  return {
    rule: 'memory/lds-bounds',
    severity: isKnown ? 'error' : 'warning',
    isCertain: isKnown,
    message: `${instruction.row.mnemonic} touches ${where}; the kernel has ${size} bytes. Loads give 0, stores are dropped.`,
    advice:
      'Set .amdhsa_group_segment_fixed_size and .group_segment_fixed_size to what the code uses, or mend the address.',
  };
}

function kernargProblem(instruction: Instruction, known: Knowledge, size: number): Problem | undefined {
  const values = valuesOf(operandNamed(instruction, 'sbase'), known);
  const data = operandNamed(instruction, 'sdst') ?? operandNamed(instruction, 'sdata');
  if (values === undefined || data?.kind !== 'reg' || values.some((v) => v.base !== 'kernarg')) return undefined;
  const scalar = operandNamed(instruction, 'soffset');
  const added = scalar === undefined ? [{ low: 0, base: 'none' as const }] : valuesOf(scalar, known);
  if (added === undefined || added.some((v) => v.base !== 'none')) return undefined;
  const sum = (a: readonly { low: number }[]): number => Math.min(...a.map((v) => v.low));
  const start = sum(values) + sum(added) + immediate(instruction, 'offset');
  const end = start + 4 * data.dwords;
  if (start >= 0 && end <= size) return undefined;
  return {
    rule: 'memory/kernarg-bounds',
    message: `${instruction.row.mnemonic} reads bytes ${start} to ${end - 1} of the kernel's arguments; their segment has ${size}.`,
    advice: 'Set .amdhsa_kernarg_size and .kernarg_segment_size to what the code reads, or mend the offset.',
  };
}

/** The dword of a buffer resource that holds its number of records. */
const NUM_RECORDS = 2;

function bufferProblem(instruction: Instruction, known: Knowledge): Problem | undefined {
  const resource = operandNamed(instruction, 'srsrc');
  const first = resource?.kind === 'reg' ? slotsOf(resource)?.first : undefined;
  const values = first === undefined ? undefined : known.get(first + NUM_RECORDS);
  if (values === undefined || !values.every((v) => v.low === 0 && v.base === 'none')) return undefined;
  return {
    rule: 'memory/empty-buffer',
    message: `${instruction.row.mnemonic} goes to a buffer of 0 records: loads give 0, stores are dropped.`,
    advice: 'Put the number of bytes (or records) into the third dword of the resource.',
  };
}
