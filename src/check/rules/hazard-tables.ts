// Wait states that software must put between two instructions, as data: which hardware does not interlock, by target.
// Sources: CDNA2, CDNA3 and CDNA4 ISA manuals, "Manually Inserted Wait States (NOPs)" and "Dependency Resolution: Required
// Independent Instructions"; LLVM 22's hazard recognizer where they are silent (gfx950 figures were read off its output).
import type { Immediate, Instruction, TargetName } from '../../isa/types.ts';

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
export function matrixFacts(instruction: Instruction, target: TargetName): MatrixFacts | undefined {
  const { row } = instruction;
  if (!row.flags.has('MAI')) return undefined;
  const shape = SHAPE.exec(row.operation);
  if (shape === null) return undefined;
  const [, bits, rows, inputs] = shape as unknown as [string, string, string, string];
  const isDouble = bits === '64';
  const isSingle = target !== 'gfx90a' && /(?:^|_)f32$/.test(inputs);
  return { passes: passesOf(instruction, rows, isDouble, target), isDouble, isXdl: !isDouble && !isSingle };
}

function passesOf(instruction: Instruction, rows: string, isDouble: boolean, target: TargetName): number {
  const { row } = instruction;
  if (isDouble && rows === '16') return target === 'gfx950' ? 16 : 8;
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

/** One pass count more where gfx950 is slower than gfx942 to hand on a result. */
function late(passes: number, target: TargetName): number {
  return target === 'gfx950' && passes !== 2 ? 1 : 0;
}

/** From a matrix instruction to one that reads its result: a vector instruction, memory (`isMemory`), or A and B of another. */
export function matrixResultWait(p: MatrixFacts, target: TargetName, isMemory: boolean): number {
  if (p.isDouble) {
    if (p.passes === 4) return isMemory ? 9 : 6;
    return isMemory ? 18 : target === 'gfx950' ? 19 : 11;
  }
  if (target === 'gfx90a') return p.passes + 3;
  return p.isXdl ? p.passes + 3 + late(p.passes, target) : p.passes + 2;
}

/** From a matrix instruction to a vector or memory instruction that writes its result registers. */
export function matrixOverwriteWait(p: MatrixFacts, target: TargetName): number {
  if (p.isDouble) return p.passes === 4 ? 6 : 11;
  return matrixResultWait(p, target, false);
}

/** From a matrix instruction to a vector or memory instruction that writes its C operand. */
export function matrixSourceWait(p: MatrixFacts, target: TargetName): number {
  return p.isDouble || (target !== 'gfx90a' && !p.isXdl) ? 0 : p.passes - 1;
}

/** From matrix instruction `p` to matrix instruction `c` that takes its result as C: the very same registers, or others of them. */
export function matrixAccumulatorWait(p: MatrixFacts, c: MatrixFacts, isSame: boolean, target: TargetName): number {
  if (target === 'gfx90a' && p.isDouble && !c.isDouble) return 0;
  if (isSame) {
    if (p.isDouble) return p.passes === 4 && c.isDouble && c.passes === 4 ? 4 : 0;
    return target !== 'gfx90a' && p.passes === 2 ? 2 : 0;
  }
  if (p.isDouble) {
    if (c.isXdl) return 0;
    return p.passes === 4 ? 4 : target === 'gfx950' ? 17 : 9;
  }
  if (target === 'gfx90a') return c.isDouble ? p.passes + 1 : p.passes;
  if (c.isXdl && !p.isXdl) return 0;
  return p.isXdl ? p.passes + 1 + late(p.passes, target) : p.passes;
}

/** Wait states of the vector and scalar hazards; 0 where the target interlocks. */
export interface WaitTable {
  /** VALU writes an SGPR, VCC or EXEC; a vector memory instruction reads it. */
  readonly scalarToMemory: number;
  /** VALU writes an SGPR or VCC; a VALU instruction reads it. */
  readonly scalarToVector: number;
  /** VALU writes an SGPR; v_readlane or v_writelane selects the lane with it. */
  readonly scalarToLaneSelect: number;
  /** VALU writes VCC; v_div_fmas reads it. */
  readonly vccToDivFmas: number;
  /** VALU writes EXEC; a DPP instruction follows. */
  readonly execToDpp: number;
  /** VALU writes EXEC; a matrix instruction follows. */
  readonly execToMatrix: number;
  /** VALU writes EXEC; v_readlane, v_readfirstlane or v_writelane follows. */
  readonly execToLane: number;
  /** VALU writes EXEC; v_permlane*_swap follows. */
  readonly execToSwap: number;
  /** VALU writes a VGPR; a DPP instruction reads it. */
  readonly vectorToDpp: number;
  /** VALU writes a VGPR; v_readlane or v_readfirstlane reads it. */
  readonly vectorToReadLane: number;
  /** VALU writes a VGPR; v_permlane*_swap uses it. */
  readonly vectorToSwap: number;
  /** VALU writes a VGPR; a matrix instruction reads it. */
  readonly vectorToMatrix: number;
  /** A transcendental instruction writes a VGPR; another VALU instruction reads it. */
  readonly transToVector: number;
  /** VALU writes a part of a VGPR (SDWA, op_sel); a VALU instruction reads it. */
  readonly partToVector: number;
  /** A dot product writes a VGPR; another instruction reads or writes it. */
  readonly dotResult: number;
  /** A store of more than 64 bits; VALU overwrites the data. */
  readonly storeData: number;
  /** SALU writes M0; s_sendmsg, GWS or a load to LDS reads it. */
  readonly m0: number;
  /** s_setreg; s_getreg or s_setreg of the same hardware register. */
  readonly setreg: number;
  /** A double precision matrix instruction; v_fma_f64. */
  readonly doubleToFma: number;
}

const GFX90A: WaitTable = {
  scalarToMemory: 5,
  scalarToVector: 0,
  scalarToLaneSelect: 4,
  vccToDivFmas: 4,
  execToDpp: 5,
  execToMatrix: 4,
  execToLane: 0,
  execToSwap: 0,
  vectorToDpp: 2,
  vectorToReadLane: 0,
  vectorToSwap: 0,
  vectorToMatrix: 2,
  transToVector: 0,
  partToVector: 0,
  dotResult: 3,
  storeData: 1,
  m0: 1,
  setreg: 2,
  doubleToFma: 2,
};

const GFX942: WaitTable = {
  ...GFX90A,
  scalarToVector: 2,
  execToLane: 4,
  vectorToReadLane: 1,
  transToVector: 1,
  partToVector: 1,
  storeData: 2,
};

/**
 * The fewest wait states that shipped hand-written kernels (attention, MoE, GEMM libraries of AMD) run with, where that is less
 * than the table says. A finding with at least so many is a warning: the code departs from the manual, but such code works.
 */
export const SEEN_WAITS: Partial<WaitTable> = {
  scalarToVector: 0,
  vectorToDpp: 1,
  vectorToMatrix: 1,
  vectorToSwap: 0,
  m0: 0,
};

/** The same for `matrixResultWait` and `matrixOverwriteWait`, of which `wait` came out. */
export function seenMatrixWait(p: MatrixFacts, wait: number, target: TargetName): number {
  if (p.isDouble || !p.isXdl) return wait;
  return target === 'gfx90a' ? wait - 1 : p.passes / 2;
}

/** The tables by target. */
export const WAIT_TABLES: Readonly<Record<TargetName, WaitTable>> = {
  gfx90a: GFX90A,
  gfx942: GFX942,
  gfx950: { ...GFX942, execToSwap: 4, vectorToSwap: 2 },
};
