// Weakened waits: every counter of an s_waitcnt raised by one, and taken out, one at a time; and what a wait was for, to explain
// the mutants that nobody finds. For the benches and tests of the static checker and of the simulator's strict mode.
import { type CheckContext, outstandingAtBlocks } from '../../src/check/index.ts';
import { replayBlock } from '../../src/check/rules/waits.ts';
import { immediate } from '../../src/isa/index.ts';
import {
  type CodeInstruction,
  type Program,
  type ProgramFunction,
  waitCounts,
  waitRole,
} from '../../src/program/index.ts';

/** What the checker's rules read of one function. */
export function contextOf(program: Program, subject: ProgramFunction): CheckContext {
  const { codeObject, target } = program;
  return { target, codeObject, program, subject, kernel: subject.kernel, baseline: undefined };
}

/** The waits of a function, in address order. */
export function waitsOf(program: Program, subject: ProgramFunction): CodeInstruction[] {
  return subject.blocks
    .flatMap((index) => {
      const block = program.blocks[index];
      return block === undefined ? [] : program.instructions.slice(block.first, block.end);
    })
    .filter((code) => waitRole(code.instruction.row).isWait);
}

/** The immediate of an s_waitcnt. */
function withCounts(vm: number, exp: number, lgkm: number): number {
  return (vm & 15) | ((vm & 0x30) << 10) | (exp << 4) | (lgkm << 8);
}

/** The immediates of a wait with one counter weakened. */
export function weakerWaits(code: CodeInstruction): number[] {
  const { vm, exp, lgkm } = waitCounts(code.instruction);
  const out = new Set<number>();
  if (vm < 63) for (const to of [vm + 1, 63]) out.add(withCounts(to, exp, lgkm));
  if (lgkm < 15) for (const to of [lgkm + 1, 15]) out.add(withCounts(vm, exp, to));
  return [...out];
}

/** The program with another immediate in one wait; control flow is the same. */
export function withWait(program: Program, code: CodeInstruction, bits: number): Program {
  const operands = [immediate(bits), ...code.instruction.operands.slice(1)];
  const instructions = program.instructions.slice();
  instructions[code.index] = { ...code, instruction: { ...code.instruction, operands } };
  return Object.create(program, { instructions: { value: instructions } }) as Program;
}

/** The bytes of the code object with another immediate in one wait. */
export function patchWait(program: Program, code: CodeInstruction, bits: number): Uint8Array {
  const { elf } = program.codeObject;
  // Not slice(): of a Buffer it would be a view of the original.
  const bytes = new Uint8Array(elf.bytes);
  const section = elf.sections.find((s) => code.pc >= s.address && code.pc < s.address + s.bytes.length);
  if (section === undefined) throw new Error(`no section holds 0x${code.pc.toString(16)}`);
  const at = section.bytes.byteOffset - elf.bytes.byteOffset + code.pc - section.address;
  new DataView(bytes.buffer).setUint16(at, bits, true);
  return bytes;
}

/** What the wait of a surviving mutant was for. */
export function explainWait(context: CheckContext, code: CodeInstruction, bits?: number): string {
  const { program, subject } = context;
  const block = program.blockAt(code.pc);
  const input = block && outstandingAtBlocks(context).get(block.index);
  if (block === undefined || input === undefined) return 'not reached';
  const state = replayBlock(context, block, input, code.index);
  if (state.isEmpty)
    return code.index === program.blockAt(subject.entry)?.first ? 'function entry' : 'nothing outstanding';
  const { vm, lgkm } = waitCounts(code.instruction);
  // Of a mutant, only the counter that it weakens.
  const weakened = { vm: true, lgkm: true };
  if (bits !== undefined) {
    const now = waitCounts({ ...code.instruction, operands: [immediate(bits)] });
    weakened.vm = now.vm !== vm;
    weakened.lgkm = now.lgkm !== lgkm;
  }
  const kinds = [
    ...(vm < 63 && weakened.vm ? (['vm', 'flat'] as const) : []),
    ...(lgkm < 15 && weakened.lgkm ? (['lds', 'scalar', 'flat'] as const) : []),
  ];
  const pending = kinds.flatMap((kind) => [...state.outstanding(kind)]);
  if (pending.length === 0) return 'nothing outstanding';
  const next = program.instructions[code.index + 1];
  if (next !== undefined && waitRole(next.instruction.row).isBarrier) {
    // Loads into registers are nothing that other wavefronts see.
    const isSeen = pending.some((o) => o.effects.defs.length === 0 || o.instruction.row.flags.has('DS'));
    return isSeen ? 'order of memory at a barrier' : 'a later wait covers it';
  }
  if (pending.every((operation) => operation.effects.defs.length === 0)) return 'order of memory';
  return 'a later wait covers it';
}
