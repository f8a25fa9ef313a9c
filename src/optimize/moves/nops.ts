// Idle states (`s_nop`) that do something: arithmetic from behind what they protect runs in their place. That enough states stay is the checker's to say.

import { immediateOf } from '../../isa/operand.ts';
import { type BasicBlock, type CodeInstruction, execChange, waitRole } from '../../program/index.ts';
import { dependsOn, isMemory, joined, type KernelView, type Move } from './view.ts';

/** Instructions behind the idle states that are looked at. */
const WINDOW = 24;
/** Those do something that no list of registers says. */
const BOUND =
  /^(?:s_(?!mov|add|sub|and|or|xor|lshl|lshr|ashr|mul|bfe|bfm|cselect|min|max|not)|v_mfma|v_smfma|v_readlane|v_readfirstlane|v_writelane)/;

export function filledNops(view: KernelView): Move[] {
  const moves: Move[] = [];
  for (const index of view.subject.blocks) {
    const { first, end } = view.program.blocks[index] as BasicBlock;
    const block = view.program.instructions.slice(first, end);
    block.forEach((nop, at) => {
      if (nop.instruction.row.operation !== 's_nop' || !view.isFree(nop)) return;
      const states = 1 + immediateOf(nop.instruction, 'simm16');
      const staying: CodeInstruction[] = [];
      const moved: CodeInstruction[] = [];
      for (const code of block.slice(at + 1, at + WINDOW)) {
        const { row } = code.instruction;
        if (moved.length === states || execChange(code) !== 'same' || !view.isFree(code)) break;
        const isBound =
          isMemory(code) ||
          waitRole(row).isWait ||
          BOUND.test(row.operation) ||
          staying.some((s) => dependsOn(s, code));
        // The first is what the states are for.
        if (isBound || staying.length === 0) staying.push(code);
        else moved.push(code);
        if (waitRole(row).isWait) break;
      }
      if (moved.length === 0) return;
      const rest = states - moved.length;
      const replace = new Map<number, Uint8Array>(moved.map((code) => [code.pc, new Uint8Array()]));
      const idle = rest === 0 ? [] : [view.line(`s_nop ${rest - 1}`)];
      replace.set(nop.pc, joined([...moved.map((code) => view.bytes(code)), ...idle]));
      moves.push({ kind: 'fill-nop', pc: nop.pc, text: `${moved.length} of ${states} idle states`, replace });
    });
  }
  return moves;
}
