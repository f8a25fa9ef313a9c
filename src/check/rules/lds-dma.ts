// Rule `waits/lds-dma`: a load into LDS that no wait proves complete before any LDS read behind it. Where some reads come after
// such a wait and others do not, the reads may be of another buffer: that takes a baseline to judge (`waits/order-lost`).
// Source: CDNA3 ISA manual, "Data Dependency Resolution" (loads to LDS count on vmcnt); LLVM's SIInsertWaitcnts.
import { type Finding, finding, insertWait } from '../../finding/index.ts';
import { type BasicBlock, type CodeInstruction, neededWait } from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { outstandingAtBlocks, stepThrough } from './waits.ts';
import { OperationSet } from './waits-state.ts';

/** Loads into LDS that are outstanding at LDS reads, and are never known to have landed at any. */
export const checkLdsDma: Rule = (context: CheckContext) => {
  const { program, subject } = context;
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const isLoad = (index: number): boolean =>
    (program.instructions[index] as CodeInstruction).instruction.row.flags.has('LDSDMA');
  const hasLoads = blocks.some(({ first, end }) => {
    for (let i = first; i < end; i++) if (isLoad(i)) return true;
    return false;
  });
  if (!hasLoads) return [];
  let proved: OperationSet | undefined;
  const open = new Map<CodeInstruction, { read: CodeInstruction; age: number }>();
  const inputs = outstandingAtBlocks(context);
  for (const block of blocks) {
    const input = inputs.get(block.index);
    if (input === undefined) continue;
    const known = proved ?? new OperationSet(input.range);
    proved = known;
    stepThrough(context, block, input, (code, state) => {
      const { flags } = code.instruction.row;
      if (!flags.has('DS') || !flags.has('mayLoad')) return;
      state.addProved(known);
      for (const { operation, least } of state.ages('vm')) {
        if (operation.instruction.row.flags.has('LDSDMA') && !open.has(operation)) {
          open.set(operation, { read: code, age: least });
        }
      }
    });
  }
  const findings: Finding[] = [];
  for (const [load, { read, age }] of open) {
    if (proved?.has(load.index)) continue;
    const first = program.text(load.pc);
    findings.push(
      finding({
        rule: 'waits/lds-dma',
        severity: 'error',
        kernel: subject.name,
        place: placeAt(program, read.pc),
        related: [relatedAt(program, load.pc, 'writes LDS')],
        message: `'${first}' writes LDS, and no wait on any path to an LDS read proves that it has.`,
        edits: [insertWait(read.pc, neededWait('vm', age))],
        advice: 'If other wavefronts read it, s_barrier behind the wait too.',
      }),
    );
  }
  return findings;
};
