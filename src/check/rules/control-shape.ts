// Rules `control-flow/*` about lanes and reachability: barriers that some wavefronts skip, EXEC that is never restored, dead code.
// Sources: CDNA3 ISA manual, "Program Flow Control", "EXECute Mask", "S_BARRIER"; LLVM's SILowerControlFlow for the usual shape.
import { type Finding, finding } from '../../finding/index.ts';
import { decoderFor } from '../../isa/codec/decode.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  ControlDependence,
  execChange,
  hasSlot,
  livenessOf,
  type Program,
  slotNames,
} from '../../program/index.ts';
import { kernelCode } from '../code.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';

/** All rules about the shape of control flow. */
export const checkControlShape: Rule = (context) => [
  ...divergentBarriers(context),
  ...lostExec(context),
  ...unreachable(context),
];

function* codeOf(program: Program, block: BasicBlock): Generator<CodeInstruction> {
  for (let i = block.first; i < block.end; i++) yield program.instructions[i] as CodeInstruction;
}

function lastOf(program: Program, block: BasicBlock): CodeInstruction {
  return program.instructions[block.end - 1] as CodeInstruction;
}

/** A wavefront with no active lane takes s_cbranch_execz past the barrier; the others wait for it. */
function divergentBarriers({ program, subject }: CheckContext): Finding[] {
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const barriers = new Map<number, CodeInstruction>();
  for (const block of blocks) {
    for (const code of codeOf(program, block)) {
      if (code.instruction.row.operation === 's_barrier') barriers.set(block.index, code);
    }
  }
  const branches = blocks.filter((b) => /^s_cbranch_exec/.test(lastOf(program, b).instruction.row.operation));
  if (barriers.size === 0 || branches.length === 0) return [];
  const dependence = new ControlDependence(program, subject);
  const findings: Finding[] = [];
  for (const block of branches) {
    const branch = lastOf(program, block);
    for (const index of dependence.dependentOn(block.index)) {
      const barrier = barriers.get(index);
      if (barrier === undefined) continue;
      barriers.delete(index);
      findings.push(
        finding({
          rule: 'control-flow/divergent-barrier',
          severity: 'note',
          kernel: subject.name,
          place: placeAt(program, barrier.pc),
          related: [relatedAt(program, branch.pc, 'decides whether it is reached')],
          message: `Whether this barrier is reached depends on '${program.text(branch.pc)}': wavefronts without active lanes skip it, and the others of the workgroup may wait forever.`,
          advice:
            'Let every wavefront of the workgroup reach the barrier: move it out of the region, or branch on a uniform condition.',
        }),
      );
      break;
    }
  }
  return findings;
}

/** s_*_saveexec whose saved mask nobody reads, where vector code follows the region. */
function lostExec({ program, subject }: CheckContext): Finding[] {
  const findings: Finding[] = [];
  let liveness: ReturnType<typeof livenessOf> | undefined;
  for (const index of subject.blocks) {
    const block = program.blocks[index] as BasicBlock;
    const last = lastOf(program, block);
    if (block.exit !== 'branch' || last.instruction.row.operation !== 's_cbranch_execz') continue;
    let save: CodeInstruction | undefined;
    for (const code of codeOf(program, block)) {
      const change = execChange(code);
      if (change === 'narrower' && code.instruction.row.operation.includes('saveexec')) save = code;
      else if (change !== 'same') save = undefined;
    }
    const saved = save?.effects.defs[0];
    const join = save && joinOf(program, block);
    if (save === undefined || saved === undefined || join === undefined) continue;
    const vector = vectorBeforeExec(program, join);
    if (vector === undefined) continue;
    liveness ??= livenessOf(program, subject);
    const after = liveness.after(save);
    if (hasSlot(after, saved.first) || hasSlot(after, saved.first + 1)) continue;
    findings.push(
      finding({
        rule: 'control-flow/exec-not-restored',
        severity: 'warning',
        kernel: subject.name,
        place: placeAt(program, vector.pc),
        related: [relatedAt(program, save.pc, 'saves EXEC')],
        registers: ['exec'],
        message: `The EXEC that '${program.text(save.pc)}' saves is never used again: this instruction, behind the region, runs for the region's lanes only.`,
        edits: [
          {
            kind: 'insert-code',
            pc: vector.pc,
            side: 'before',
            code: `s_or_b64 exec, exec, ${slotNames([saved.first, saved.first + 1]).join('')}`,
          },
        ],
        advice: 'The saved mask must still be there.',
      }),
    );
  }
  return findings;
}

/** Where the s_cbranch_execz at the end of a block goes. */
function joinOf(program: Program, block: BasicBlock): BasicBlock | undefined {
  const fallthrough = block.successors[0];
  const target = block.successors.find((s) => s !== fallthrough);
  return target === undefined ? undefined : program.blocks[target];
}

function vectorBeforeExec(program: Program, block: BasicBlock): CodeInstruction | undefined {
  for (const code of codeOf(program, block)) {
    if (execChange(code) !== 'same') return undefined;
    const { flags, uses } = code.instruction.row;
    if (uses.includes('EXEC') && (flags.has('VALU') || flags.has('mayStore') || flags.has('mayLoad'))) return code;
  }
  return undefined;
}

/** Instructions that may stand behind code without being reached: padding. */
const PADDING = /^s_(?:nop|code_end|endpgm|branch|trap|sethalt|sleep)/;

/** Code of a kernel that no path from its entry reaches. */
function unreachable({ program, codeObject, kernel, target, subject }: CheckContext): Finding[] {
  const code = kernel && kernelCode(codeObject, kernel);
  if (kernel === undefined || code === undefined || kernel.entry === undefined || kernel.codeSize === 0) return [];
  const decoder = decoderFor(target);
  const findings: Finding[] = [];
  let count = 0;
  let first: number | undefined;
  const close = (): void => {
    if (first !== undefined)
      findings.push(deadCode(subject.name, first, count, decoder.decode(code, first - subject.entry)?.row.mnemonic));
    first = undefined;
    count = 0;
  };
  for (let at = 0; at + 4 <= code.length; ) {
    const pc = kernel.entry + at;
    const reached = program.at(pc);
    const instruction = reached?.instruction ?? decoder.decode(code, at);
    if (reached !== undefined || instruction === undefined) close();
    else if (!PADDING.test(instruction.row.operation)) {
      first ??= pc;
      count++;
    }
    at += instruction?.size ?? 4;
  }
  close();
  return findings;
}

function deadCode(kernel: string, pc: number, count: number, mnemonic: string | undefined): Finding {
  return finding({
    rule: 'control-flow/unreachable',
    severity: 'note',
    kernel,
    place: { pc, instruction: mnemonic },
    message: `${count} instruction${count === 1 ? '' : 's'} from here on cannot be reached from the kernel's entry.`,
    advice: 'Remove them, or branch to them.',
  });
}
