// What the virtual GPU does with every row of a target's table: one sample instruction a row, executed on the interpreter and offered to
// the emitters of compiled code. Shared by coverage.test.ts and tools/sim-coverage.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KernelStop } from '../../src/device/sim/interpreter/kernel-stop.ts';
import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { compile } from '../../src/device/sim/wasm/compile.ts';
import { decoderFor, tableFor } from '../../src/isa/index.ts';
import { semanticsOf } from '../../src/isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../src/isa/types.ts';
import { DEFAULT_MODE, makeWave } from './one-instruction.ts';

interface Sample {
  readonly bytes: Uint8Array;
  readonly instruction: Instruction;
}

/** The row with register fields 8, 16, 24 … (aligned, in range of every class), or undefined when it does not decode. */
function sampleOf(target: TargetName, row: InstructionRow): Sample | undefined {
  const words = [...row.fixedBits, 0];
  let register = 8;
  for (const f of row.fields) {
    const name = row.operands[f.operand]?.name ?? '';
    const isRegister =
      /^(v|s)?(dst|data|addr|src|base|offset|rsrc)|^(data|src|idx|scale|addr)/.test(name) && f.shift === 0;
    if (!isRegister || f.width < 5) continue;
    const scalar = (row.operands[f.operand]?.cls ?? '').startsWith('SC');
    const code = scalar
      ? 128
      : f.width === 9
        ? 256 + register
        : f.width === 5
          ? register / 4
          : f.width === 6
            ? register / 2
            : register;
    const word = f.at >> 5;
    words[word] = ((words[word] as number) | (code << (f.at & 31))) >>> 0;
    register = register >= 64 ? 8 : register + 8;
  }
  const bytes = new Uint8Array(Uint32Array.from(words).buffer);
  const instruction = decoderFor(target).decode(bytes, 0);
  if (instruction === undefined || instruction.operands.length !== row.operands.length) return undefined;
  // Aliases decode as another row with the same operands (v_mul_lo_i32 as v_mul_lo_u32).
  return { bytes: bytes.subarray(0, instruction.size), instruction: { ...instruction, row } };
}

/** Why the interpreter refuses an instruction, undefined when it runs it (a memory fault is running). */
function refusalOf(target: TargetName, instruction: Instruction): string | undefined {
  const w = makeWave(target);
  w.sgprs.fill(0, 0, 96);
  try {
    bindInstruction(instruction, target)(w);
  } catch (error) {
    if (error instanceof KernelStop && error.code === 'sim/unsupported-instruction') return error.message;
    if (!(error instanceof KernelStop) && !(error instanceof Error && error.constructor.name === 'MemoryFault'))
      throw error;
  }
  return undefined;
}

const ENDPGM = [0, 0, 0x81, 0xbf];

/** Whether compiled code executes an instruction by itself, without calling the interpreter. */
function isCompiled(target: TargetName, sample: Uint8Array): boolean {
  const image = Uint8Array.from([...sample, ...ENDPGM]);
  const { lengths, interpreted } = compile(
    image,
    { pc: 0, mode: DEFAULT_MODE },
    { target, mfma: 'exact', shared: true },
  );
  // Instructions after which the program counter is not known end the block; they run in the interpreter.
  return interpreted[0]?.length === 0 && (lengths[0] as number) > 0;
}

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Operations that tests with expected values name, and all matrix operations (known-answers.test.ts enumerates them). Run in the checkout. */
function operationsNamedInTests(): (operation: string) => boolean {
  const words = new Set<string>();
  for (const path of testFiles('src/device/sim')) {
    for (const [word] of readFileSync(path, 'utf8').matchAll(/\b(?:v|s|ds|global|flat|buffer|tbuffer|scratch)_\w+/g)) {
      words.add(word.replace(/_(?:e32|e64|sdwa|dpp)$/, ''));
    }
  }
  return (operation) => semanticsOf(operation)?.kind === 'matrix' || words.has(operation);
}

export interface Coverage {
  readonly target: TargetName;
  readonly rows: number;
  readonly operations: ReadonlySet<string>;
  /** Operations the interpreter executes, and rows whose sample it executed. */
  readonly executed: ReadonlySet<string>;
  readonly executedRows: number;
  /** Rows that have no sample of their own (encodings the decoder reads as another row): executed as that row. */
  readonly aliasRows: number;
  /** Operations of which some row, and rows that, run as compiled code. */
  readonly compiled: ReadonlySet<string>;
  readonly compiledRows: number;
  /** Operations that tests with expected values name. */
  readonly named: ReadonlySet<string>;
  /** Refused operations and why. */
  readonly refused: ReadonlyMap<string, string>;
  readonly refusedRows: number;
}

/** Executes a sample of every row. */
export function coverageOf(target: TargetName): Coverage {
  const { rows } = tableFor(target);
  const executed = new Set<string>();
  const refused = new Map<string, string>();
  const compiled = new Set<string>();
  let executedRows = 0;
  let refusedRows = 0;
  let aliasRows = 0;
  let compiledRows = 0;
  for (const row of rows) {
    const sample = sampleOf(target, row);
    if (sample === undefined) {
      aliasRows++;
      continue;
    }
    const reason = refusalOf(target, sample.instruction);
    if (reason !== undefined) {
      refused.set(row.operation, reason);
      refusedRows++;
      continue;
    }
    executed.add(row.operation);
    executedRows++;
    if (!isCompiled(target, sample.bytes)) continue;
    compiled.add(row.operation);
    compiledRows++;
  }
  const operations = new Set(rows.map((r) => r.operation));
  const isNamed = operationsNamedInTests();
  const named = new Set([...operations].filter(isNamed));
  return {
    target,
    rows: rows.length,
    operations,
    executed,
    executedRows,
    aliasRows,
    refused,
    refusedRows,
    compiled,
    compiledRows,
    named,
  };
}

/** The published table: one line a target. Numbers after `≥` may have grown since it was published. */
export function coverageTable(all: readonly Coverage[]): string[] {
  const line = (c: Coverage): string =>
    `| ${c.target} | ${c.operations.size} | ${c.executed.size} | ${c.refused.size} | ≥ ${c.compiled.size} | ≥ ${c.named.size} | ${c.rows} | ${c.executedRows} | ${c.refusedRows} | ${c.aliasRows} | ≥ ${c.compiledRows} |`;
  return [
    '| target | operations | interpreted | refused | compiled | with expected values | rows | interpreted | refused | without encoding | compiled |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...all.map(line),
  ];
}
