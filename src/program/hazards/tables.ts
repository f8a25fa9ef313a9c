// Wait states around matrix instructions: how many follow from the passes of the instruction and the target's `MatrixWaits`.
// Sources: see src/isa/table/hazards.ts, which holds the figures.
import type { MatrixWaits } from '../../isa/table/hazards.ts';
import type { Immediate, Instruction } from '../../isa/types.ts';

/** A matrix instruction as its hazards see it. */
export interface MatrixFacts {
  /** Passes of 4 cycles each. */
  readonly passes: number;
  /** Runs on the double precision unit. */
  readonly isDouble: boolean;
  /** Runs on the XDL unit; single precision inputs do not on gfx942 and gfx950. */
  readonly isXdl: boolean;
}

/** Longest wait of any table. */
export const MAX_WAIT_STATES = 20;

const SHAPE = /^v_s?mfmac?_(?:scale_)?[fi](\d+)_(\d+)x\d+x\d+(.*)$/;

/** The facts of a matrix instruction; undefined for any other, moves between VGPRs and AGPRs included. */
export function matrixFacts(instruction: Instruction, waits: MatrixWaits): MatrixFacts | undefined {
  const { row } = instruction;
  if (!row.flags.has('MAI')) return undefined;
  const shape = SHAPE.exec(row.operation);
  if (shape === null) return undefined;
  const [, bits, rows, inputs] = shape as unknown as [string, string, string, string];
  const isDouble = bits === '64';
  const isSingle = !waits.singleOnXdl && /(?:^|_)f32$/.test(inputs);
  return { passes: passesOf(instruction, rows, isDouble, waits), isDouble, isXdl: !isDouble && !isSingle };
}

function passesOf(instruction: Instruction, rows: string, isDouble: boolean, waits: MatrixWaits): number {
  const { row } = instruction;
  if (isDouble && rows === '16') return waits.double16Passes;
  for (const write of row.schedule) {
    const passes = /^Write(\d+)PassMAI$/.exec(write)?.[1];
    if (passes !== undefined) return Number(passes);
  }
  const base = rows === '32' ? 8 : 4;
  return row.operation.endsWith('f8f6f4') && hasByteInput(instruction) ? base * 2 : base;
}

/** Whether A (cbsz) or B (blgp) of an f8f6f4 instruction has 8-bit elements. */
function hasByteInput({ row, operands }: Instruction): boolean {
  return row.operands.some(({ name }, i) => {
    if (name !== 'cbsz' && name !== 'blgp') return false;
    return (operands[i] as Immediate).value < 2;
  });
}

/** From a matrix instruction to one that reads its result: a vector instruction, memory (`isMemory`), or A and B of another. */
export function matrixResultWait(p: MatrixFacts, waits: MatrixWaits, isMemory: boolean): number {
  if (p.isDouble) {
    if (p.passes === 4) return isMemory ? 9 : 6;
    return isMemory ? 18 : waits.double16Result;
  }
  return p.isXdl ? p.passes + 3 + late(p, waits) : p.passes + 2;
}

function late(p: MatrixFacts, waits: MatrixWaits): number {
  return p.passes === 2 ? 0 : waits.lateResult;
}

/** From a matrix instruction to a vector or memory instruction that writes its result registers. */
export function matrixOverwriteWait(p: MatrixFacts, waits: MatrixWaits): number {
  if (p.isDouble) return p.passes === 4 ? 6 : 11;
  return matrixResultWait(p, waits, false);
}

/** From a matrix instruction to a vector or memory instruction that writes its C operand. */
export function matrixSourceWait(p: MatrixFacts): number {
  return p.isXdl ? p.passes - 1 : 0;
}

/** From matrix instruction `p` to matrix instruction `c` that takes its result as C: the very same registers, or others of them. */
export function matrixAccumulatorWait(p: MatrixFacts, c: MatrixFacts, isSame: boolean, waits: MatrixWaits): number {
  if (isSame) {
    if (p.isDouble) return p.passes === 4 && c.isDouble && c.passes === 4 ? 4 : 0;
    return p.passes === 2 ? waits.shortAccumulator : 0;
  }
  if (p.isDouble) {
    if (c.isXdl) return 0;
    return p.passes === 4 ? 4 : waits.double16Accumulator;
  }
  if (!p.isXdl) return c.isXdl ? 0 : p.passes;
  if (!c.isXdl) return p.passes + late(p, waits) + 1;
  // Unlike where the result is read, instructions of 2 passes are late too, for XDL instructions only. Source: LLVM 22, read off its output.
  return p.passes + waits.lateResult + waits.lateXdlAccumulator;
}
