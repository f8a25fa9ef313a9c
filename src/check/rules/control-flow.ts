// Rules `control-flow/*`: where execution would go that is no code of this program.
// Source: CDNA3 ISA manual, chapter "Program Flow Control"; AMDGPUUsage on the end of kernels.
import { type Finding, finding } from '../../finding/index.ts';
import type { BasicBlock, CodeInstruction } from '../../program/index.ts';
import { placeAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';

/** Branches to no instruction, code that runs into bytes that are none, code that ends without s_endpgm. */
export const checkControlFlow: Rule = (context) => {
  const findings: Finding[] = [];
  for (const index of context.subject.blocks) {
    const block = context.program.blocks[index] as BasicBlock;
    const last = context.program.instructions[block.end - 1] as CodeInstruction;
    for (const target of block.badTargets) findings.push(badTarget(context, last, target));
    const runsOn = block.exit === 'invalid' || block.exit === 'off-end';
    if (runsOn && !hasTrap(context, block)) findings.push(noEnd(context, last, block.exit));
  }
  return findings;
};

/** LLVM ends code that must not be reached with s_trap alone; the trap handler stops the wavefront. */
function hasTrap({ program }: CheckContext, block: BasicBlock): boolean {
  for (let i = block.first; i < block.end; i++) {
    if ((program.instructions[i] as CodeInstruction).instruction.row.operation === 's_trap') return true;
  }
  return false;
}

function badTarget({ program, subject }: CheckContext, code: CodeInstruction, target: number): Finding {
  const inside = program.blockAt(target) !== undefined;
  const where = inside ? 'into the middle of an instruction' : 'to a place that holds no instruction';
  return finding({
    rule: 'control-flow/branch-target',
    severity: 'error',
    kernel: subject.name,
    place: placeAt(program, code.pc),
    message: `The branch goes ${where}, 0x${target.toString(16)}.`,
    advice: 'Branch to a label; the assembler computes the distance.',
  });
}

function noEnd({ program, subject }: CheckContext, code: CodeInstruction, exit: 'invalid' | 'off-end'): Finding {
  const into = exit === 'invalid' ? 'bytes that are no instruction' : 'the end of the code';
  return finding({
    rule: 'control-flow/no-end',
    severity: 'error',
    kernel: subject.name,
    place: placeAt(program, code.pc),
    message: `Execution goes on from here into ${into}.`,
    edits: subject.kernel === undefined ? [] : [{ kind: 'insert-code', pc: code.pc, side: 'behind', code: 's_endpgm' }],
    advice: subject.kernel === undefined ? 'End the function with s_setpc_b64.' : undefined,
  });
}
