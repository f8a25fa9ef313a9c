// The waits and wait states that an instruction brings on a target, as sentences. The figures are those that `wavesmith check` applies.
// Sources: see src/isa/table/hazards.ts.
import type { WaitTable } from '../table/hazards.ts';
import { operandClass, type RegisterClass } from '../table/operand-classes.ts';
import { targetInfo } from '../table/targets.ts';
import type { InstructionRow, TargetName } from '../types.ts';

const isMemory = ({ flags }: InstructionRow): boolean => flags.has('MUBUF') || flags.has('MTBUF') || flags.has('FLAT');
const isVector = (row: InstructionRow): boolean => row.flags.has('VALU') && !isMemory(row);
/** Whether an operand that is written can be, or has to be, in one of the files. */
function writes(row: InstructionRow, isWanted: (registers: RegisterClass) => boolean): boolean {
  return row.operands.some(({ isOut, cls }) => {
    const { registers } = operandClass(cls);
    return isOut && registers !== undefined && isWanted(registers);
  });
}
const writesScalar = (row: InstructionRow): boolean =>
  isVector(row) && (row.defs.includes('VCC') || writes(row, (r) => r.scalar && !r.vgpr && !r.agpr));
const isMatrix = ({ flags, operation }: InstructionRow): boolean => flags.has('MAI') && /^v_s?mfmac?_/.test(operation);
const writesVector = (row: InstructionRow): boolean =>
  isVector(row) && !isMatrix(row) && writes(row, (r) => r.vgpr || r.agpr);

interface Note {
  readonly key: keyof WaitTable;
  readonly applies: (row: InstructionRow) => boolean;
  /** Behind the number of wait states. */
  readonly text: string;
}

/** Wait states from the instruction to another, and from another to it. */
const NOTES: readonly Note[] = [
  { key: 'scalarToMemory', applies: writesScalar, text: 'before a vector memory instruction reads the SGPRs written' },
  { key: 'scalarToVector', applies: writesScalar, text: 'before a vector instruction reads the SGPRs or VCC written' },
  {
    key: 'scalarToLaneSelect',
    applies: writesScalar,
    text: 'before v_readlane or v_writelane takes its lane from the SGPR written',
  },
  { key: 'vccToDivFmas', applies: writesScalar, text: 'before v_div_fmas reads the VCC written' },
  { key: 'execToDpp', applies: ({ defs }) => defs.includes('EXEC'), text: 'before DPP, as EXEC is written' },
  {
    key: 'execToLane',
    applies: ({ defs }) => defs.includes('EXEC'),
    text: 'before v_readlane, v_readfirstlane and v_writelane, as EXEC is written',
  },
  { key: 'vectorToDpp', applies: writesVector, text: 'before DPP reads the VGPRs written' },
  {
    key: 'vectorToReadLane',
    applies: writesVector,
    text: 'before v_readlane or v_readfirstlane reads the VGPR written',
  },
  {
    key: 'vectorToMatrix',
    applies: writesVector,
    text: 'before a matrix instruction reads the VGPRs written',
  },
  {
    key: 'transToVector',
    applies: ({ flags }) => flags.has('TRANS'),
    text: 'before another vector instruction reads the result',
  },
  {
    key: 'dotResult',
    applies: ({ operation }) => operation.startsWith('v_dot'),
    text: 'before another instruction reads or overwrites the result',
  },
  {
    key: 'partToVector',
    applies: ({ flags }) => flags.has('SDWA') || flags.has('VOP3_OPSEL'),
    text: 'before a vector instruction touches the result, where only a part of it is written',
  },
  {
    key: 'storeData',
    applies: (row) => isMemory(row) && row.flags.has('mayStore') && /dwordx[34]|xyz/.test(row.operation),
    text: 'before a vector instruction overwrites the data',
  },
  {
    key: 'vectorToDpp',
    applies: ({ flags }) => flags.has('DPP'),
    text: 'behind the vector instruction that writes its sources',
  },
  {
    key: 'execToDpp',
    applies: ({ flags }) => flags.has('DPP'),
    text: 'behind the vector instruction that writes EXEC',
  },
  { key: 'scalarToMemory', applies: isMemory, text: 'behind the vector instruction that writes its SGPRs' },
  {
    key: 'vectorToReadLane',
    applies: ({ operation }) => /^v_read(?:first)?lane_/.test(operation),
    text: 'behind the vector instruction that writes its source',
  },
  { key: 'execToMatrix', applies: isMatrix, text: 'behind the vector instruction that writes EXEC' },
  { key: 'vectorToMatrix', applies: isMatrix, text: 'behind the vector instruction that writes its sources' },
  {
    key: 'vccToDivFmas',
    applies: ({ operation }) => operation.startsWith('v_div_fmas'),
    text: 'behind the vector instruction that writes VCC',
  },
  {
    key: 'vectorToSwap',
    applies: ({ operation }) => /^v_permlane\d+_swap/.test(operation),
    text: 'behind the vector instruction that writes its registers',
  },
  {
    key: 'm0',
    applies: ({ flags, operation }) =>
      flags.has('LDSDMA') || flags.has('GWS') || /^s_(?:sendmsg|movrel)|addtid/.test(operation),
    text: 'behind the scalar instruction that writes M0',
  },
  {
    key: 'setreg',
    applies: ({ operation }) => /^s_[gs]etreg/.test(operation),
    text: 'behind s_setreg of the same hardware register',
  },
];

/** What an instruction waits for and what waits for it, on a target. */
export function hazardNotes(row: InstructionRow, target: TargetName): string[] {
  const { waits } = targetInfo(target);
  const notes: string[] = [];
  const { flags } = row;
  const isFlat = row.encoding === 'FLAT';
  const counter = isFlat
    ? 'vmcnt(0) and lgkmcnt(0)'
    : flags.has('VM_CNT')
      ? 'vmcnt'
      : flags.has('LGKM_CNT')
        ? 'lgkmcnt'
        : undefined;
  if (counter !== undefined) {
    const order = flags.has('SMRD') ? ' Scalar loads return in any order: only lgkmcnt(0) is sure.' : '';
    const what = flags.has('mayLoad') || flags.has('DS') ? 'its results are there' : 'memory has its data';
    notes.push(`s_waitcnt ${counter} says when ${what}.${order}`);
  }
  for (const { key, applies, text } of NOTES) {
    if (waits[key] > 0 && applies(row)) notes.push(`${waits[key]} wait state${waits[key] === 1 ? '' : 's'} ${text}.`);
  }
  if (isMatrix(row))
    notes.push(
      'Wait states until its result is read or overwritten follow from its passes; `wavesmith check` counts them.',
    );
  return notes;
}
