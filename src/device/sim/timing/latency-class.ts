// The latency class of every row of the instruction table: which unit executes it and for how long. A row without a class is an error
// of the tables (latency-class.test.ts asks for all of them), never a default.
// Source: LLVM 22's SISchedule.td through the generated rows (`schedule`); matrix passes as the ISA manuals and AMD's matrix instruction
// calculator have them, because llvm-mca takes FP8 products of f8f6f4 for the short form.
import { immediateOf } from '../../../isa/operand.ts';
import { type MatrixOperation, semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction, InstructionRow } from '../../../isa/types.ts';
import type { LatencyField } from './chip-fields.ts';

/** Units of a compute unit that instructions compete for; `internal` ones are handled at once by the wave's own slot. */
export type Unit = 'valu' | 'matrix' | 'salu' | 'smem' | 'vmem' | 'lds' | 'branch' | 'internal';

export interface LatencyClass {
  readonly unit: Unit;
  /** Cycles are the chip's `class.<field>`; memory and matrix instructions have none. */
  readonly field: LatencyField | undefined;
}

const unitOnly = (unit: Unit): LatencyClass => ({ unit, field: undefined });
const valu = (field: LatencyField): LatencyClass => ({ unit: 'valu', field });

/** By the first of LLVM's scheduling classes of a row. */
const BY_SCHEDULE: Readonly<Record<string, LatencyClass>> = {
  Write32Bit: valu('valu32'),
  Write64Bit: valu('valu64'),
  WriteDoubleAdd: valu('valuF64'),
  WriteDouble: valu('valuF64Fma'),
  WriteFloatFMA: valu('valu32'),
  WriteFloatCvt: valu('convert'),
  WriteDoubleCvt: valu('convert64'),
  WriteTrans32: valu('trans32'),
  WriteTrans64: valu('trans64'),
  WriteQuarterRate32: valu('mul32'),
  WriteIntMul: valu('mul32'),
  WriteSALU: { unit: 'salu', field: 'salu' },
  WriteSMEM: unitOnly('smem'),
  WriteVMEM: unitOnly('vmem'),
  WriteLDS: unitOnly('lds'),
  WriteBranch: { unit: 'branch', field: 'branch' },
  WriteBarrier: unitOnly('internal'),
};

/** SOPP instructions that the wave's slot handles itself. Source: rocprofiler-compute, pipeline descriptions, "internal". */
const INTERNAL = new Set([
  'nop',
  'waitcnt',
  'sleep',
  'endpgm',
  'barrier',
  'sendmsg',
  'sethalt',
  'trap',
  'cacheControl',
]);

const known: (LatencyClass | undefined)[] = [];

function classify(row: InstructionRow): LatencyClass | undefined {
  const op = semanticsOf(row.operation);
  if (op?.kind === 'matrix') return unitOnly('matrix');
  if (row.encoding === 'SOPP' && op?.kind === 'structural' && INTERNAL.has(op.name)) return unitOnly('internal');
  if (/^v_pk_(?:fma|mul|add|mov)_[fb]32$/.test(row.operation)) return valu('packed32');
  if (/^v_(?:readlane|readfirstlane)_b32$/.test(row.operation)) return valu('readlane');
  if (/^v_accvgpr_(?:read|write)|^v_mfma_ld_scale/.test(row.operation)) return valu('valu32');
  return BY_SCHEDULE[row.schedule[0] ?? ''];
}

/** The class of a row; a row without one is an error of the tables. */
export function latencyClassOf(row: InstructionRow): LatencyClass {
  let found = known[row.id];
  if (found === undefined) {
    found = classify(row);
    if (found === undefined) throw new Error(`row ${row.name} (${row.schedule.join(', ')}) has no latency class`);
    known[row.id] = found;
  }
  return found;
}

const isNarrow = (format: number): boolean => format >= 2;

/** Passes that a matrix instruction takes; `f64Passes` are those of 16x16x4 f64, which differ between chips. */
export function matrixPasses(instruction: Instruction, f64Passes: number): number {
  const { row } = instruction;
  const op = semanticsOf(row.operation) as MatrixOperation;
  if (op.a === 'f8f6f4') {
    const narrow = isNarrow(immediateOf(instruction, 'cbsz')) && isNarrow(immediateOf(instruction, 'blgp'));
    return (op.m === 16 ? 8 : 16) / (narrow ? 2 : 1);
  }
  if (op.a === 'f64') return op.m === 4 ? 4 : f64Passes;
  if (op.sparse) return op.m === 16 ? 4 : 8;
  for (const name of row.schedule) {
    const passes = /^Write(\d+)PassMAI$/.exec(name)?.[1];
    if (passes !== undefined) return Number(passes);
  }
  return op.m === 4 ? 2 : op.m === 16 ? 4 : 8;
}
