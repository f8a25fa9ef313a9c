// Wait states that software must put between two instructions, as data: which hardware does not interlock, by target. A target's
// tables are in its `TargetInfo`; what they are applied to is src/check/rules/hazards.ts.
// Sources: CDNA2, CDNA3 and CDNA4 ISA manuals, "Manually Inserted Wait States (NOPs)" and "Dependency Resolution: Required
// Independent Instructions"; LLVM 22's hazard recognizer where they are silent (gfx950 figures were read off its output).

/** What a target's matrix instructions need of the code around them. `16 rows` are v_mfma_f64_16x16x4_f64 and its relatives. */
export interface MatrixWaits {
  /** Single precision inputs run on the XDL unit. */
  readonly singleOnXdl: boolean;
  /** Passes of a double precision instruction with 16 rows. */
  readonly double16Passes: number;
  /** From such an instruction to a vector instruction that reads its result. */
  readonly double16Result: number;
  /** From such an instruction to a matrix instruction that takes other registers of its result as C. */
  readonly double16Accumulator: number;
  /** One wait state more until the result of an XDL instruction of more than 2 passes is there. */
  readonly lateResult: 0 | 1;
  /** From an instruction of 2 passes to one that takes the very same registers as C. */
  readonly shortAccumulator: 0 | 2;
  /** One wait state more from an XDL instruction to another one that takes other registers of its result as C. */
  readonly lateXdlAccumulator: 0 | 1;
  /** What shipped hand-written kernels run with: one wait state less than the table says, or half the passes. */
  readonly seenResult: 'one less' | 'half the passes';
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
  /** The same for a buffer store whose offset is in an SGPR. Source: LLVM's main branch after 22 (llvm/llvm-project#197267). */
  readonly storeDataScalar: number;
  /** SALU writes M0; s_sendmsg, GWS or a load to LDS reads it. */
  readonly m0: number;
  /** s_setreg; s_getreg or s_setreg of the same hardware register. */
  readonly setreg: number;
  /** A double precision matrix instruction; v_fma_f64. */
  readonly doubleToFma: number;
}

export const GFX90A_WAITS: WaitTable = {
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
  storeDataScalar: 0,
  m0: 1,
  setreg: 2,
  doubleToFma: 2,
};

export const GFX942_WAITS: WaitTable = {
  ...GFX90A_WAITS,
  scalarToVector: 2,
  execToLane: 4,
  vectorToReadLane: 1,
  transToVector: 1,
  partToVector: 1,
  storeData: 2,
  storeDataScalar: 1,
};

export const GFX950_WAITS: WaitTable = { ...GFX942_WAITS, execToSwap: 4, vectorToSwap: 2 };

export const GFX90A_MATRIX: MatrixWaits = {
  singleOnXdl: true,
  double16Passes: 8,
  double16Result: 11,
  double16Accumulator: 9,
  lateResult: 0,
  shortAccumulator: 0,
  lateXdlAccumulator: 0,
  seenResult: 'one less',
};

export const GFX942_MATRIX: MatrixWaits = {
  ...GFX90A_MATRIX,
  singleOnXdl: false,
  shortAccumulator: 2,
  lateXdlAccumulator: 1,
  seenResult: 'half the passes',
};

export const GFX950_MATRIX: MatrixWaits = {
  ...GFX942_MATRIX,
  double16Passes: 16,
  double16Result: 19,
  double16Accumulator: 17,
  lateResult: 1,
};
