// Rules `memory/*`: write-backs and invalidates of caches that are not ordered with the accesses they are for.
// Source: LLVM's AMDGPUUsage, "Memory Model gfx90a" and "gfx942": release is buffer_wbl2, s_waitcnt vmcnt(0), store; acquire is load,
// s_waitcnt vmcnt(0), buffer_inv.
import { type Finding, finding, insertWait } from '../../finding/index.ts';
import { type BasicBlock, type CodeInstruction, waitCounts, waitRole } from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { outstandingAtBlocks, stepThrough } from './waits.ts';
import type { WaitState } from './waits-state.ts';

const isAtomic = ({ instruction }: CodeInstruction): boolean =>
  instruction.row.flags.has('IsAtomicRet') || instruction.row.flags.has('IsAtomicNoRet');

/** A release whose write-back may still run, an acquire that invalidates before the flag has come back. */
export const checkMemoryModel: Rule = (context: CheckContext) => [...writeBacks(context), ...invalidates(context)];

/**
 * From a write-back to the wait for it; a store, an atomic or a barrier in between may be seen before the data. LLVM 22 leaves the wait
 * out where it counts no memory operation as outstanding (it does not count the write-back itself), so that much ships.
 */
function writeBacks(context: CheckContext): Finding[] {
  const { program, subject } = context;
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const isWriteBack = (code: CodeInstruction): boolean => code.instruction.row.operation === 'buffer_wbl2';
  if (!blocks.some((b) => program.instructions.slice(b.first, b.end).some(isWriteBack))) return [];
  const inputs = outstandingAtBlocks(context);
  const findings: Finding[] = [];
  for (const block of blocks) {
    const input = inputs.get(block.index);
    if (input === undefined) continue;
    let open: { readonly code: CodeInstruction; readonly isAlone: boolean } | undefined;
    stepThrough(context, block, input, (code, state) => {
      const role = waitRole(code.instruction.row);
      if (isWriteBack(code)) open = { code, isAlone: isDrained(state) };
      else if (role.isWait && waitCounts(code.instruction).vm === 0) open = undefined;
      else if (open !== undefined && (role.isBarrier || isAtomic(code) || (role.stores && role.kind !== 'lds'))) {
        findings.push(unorderedWriteBack(context, open.code, code, open.isAlone));
        open = undefined;
      }
    });
  }
  return findings;
}

function isDrained(state: WaitState): boolean {
  return [...state.outstanding('vm')].length === 0 && [...state.outstanding('flat')].length === 0;
}

function unorderedWriteBack(
  { program, subject }: CheckContext,
  open: CodeInstruction,
  code: CodeInstruction,
  isAlone: boolean,
): Finding {
  return finding({
    rule: 'memory/write-back-order',
    severity: isAlone ? 'note' : 'warning',
    basis: isAlone ? 'shipped' : 'manual',
    kernel: subject.name,
    place: placeAt(program, code.pc),
    related: [relatedAt(program, open.pc, 'writes back')],
    message: `'${program.text(code.pc)}' may be seen before '${program.text(open.pc)}' has written the cache back: nothing waits for it.`,
    edits: [insertWait(code.pc, { vmcnt: 0 })],
  });
}

/** An invalidate that an outstanding load or atomic may come back after. */
function invalidates(context: CheckContext): Finding[] {
  const { program, subject } = context;
  const isInvalidate = (code: CodeInstruction): boolean =>
    /^buffer_(?:inv|invl2|wbinvl1)/.test(code.instruction.row.operation);
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const has = blocks.some((b) => program.instructions.slice(b.first, b.end).some(isInvalidate));
  if (!has) return [];
  const inputs = outstandingAtBlocks(context);
  const findings: Finding[] = [];
  for (const block of blocks) {
    const input = inputs.get(block.index);
    if (input === undefined) continue;
    stepThrough(context, block, input, (code, state) => {
      if (!isInvalidate(code)) return;
      for (const kind of ['vm', 'flat'] as const) {
        for (const { operation } of state.ages(kind)) {
          if (!operation.instruction.row.flags.has('IsAtomicRet')) continue;
          const [instruction, first] = [program.text(code.pc), program.text(operation.pc)];
          findings.push(
            finding({
              rule: 'memory/invalidate-order',
              severity: 'warning',
              kernel: subject.name,
              place: placeAt(program, code.pc),
              related: [relatedAt(program, operation.pc, 'may be outstanding')],
              message: `'${instruction}' may run before '${first}' has returned: loads behind it can then hit lines older than what the atomic saw.`,
              edits: [insertWait(code.pc, kind === 'flat' ? { vmcnt: 0, lgkmcnt: 0 } : { vmcnt: 0 })],
            }),
          );
        }
      }
    });
  }
  return findings;
}
