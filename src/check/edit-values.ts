// Rules that compare values with a baseline: an inserted instruction overwrites a value between its definition and its use; what the cache
// operations of the memory model were for is gone; fewer wavefronts fit. Sources: CDNA3 ISA manual, "SALU"; LLVM's AMDGPUUsage.
import { kernelOccupancy } from '../codeobject/occupancy.ts';
import { type BasicBlock, type CodeInstruction, type Program, SLOT_COUNT, Slot, slotNames } from '../program/index.ts';
import { type Edit, editOf, instructionsOf } from './edit.ts';
import { finding } from './finding.ts';
import type { CheckContext, Finding, Rule } from './types.ts';

/** All rules that compare the code of one kernel with the baseline's. */
export const checkEditedValues: Rule = (context) => {
  const edit = editOf(context);
  return [
    ...(edit === undefined ? [] : [...clobbers(context, edit), ...lostCacheOperations(context, edit)]),
    ...occupancy(context),
  ];
};

function* slots(code: CodeInstruction, what: 'uses' | 'defs'): Generator<number> {
  for (const { first, count } of code.effects[what]) for (let slot = first; slot < first + count; slot++) yield slot;
}

/** The nearest definition in the same block of each register that an instruction of the block reads. */
function definitions(
  program: Program,
  block: BasicBlock,
  visit: (use: CodeInstruction, slot: number, def: CodeInstruction) => void,
): void {
  const last: (CodeInstruction | undefined)[] = new Array(SLOT_COUNT);
  for (let i = block.first; i < block.end; i++) {
    const code = program.instructions[i] as CodeInstruction;
    for (const slot of slots(code, 'uses')) {
      const def = last[slot];
      if (def !== undefined) visit(code, slot, def);
    }
    for (const slot of slots(code, 'defs')) last[slot] = code;
  }
}

/** What a block's instructions read where its own code has not defined it: the last definition must not change under an edit either. */
function clobbers({ program, subject }: CheckContext, edit: Edit): Finding[] {
  const findings = new Map<CodeInstruction, { slots: Set<number>; use: CodeInstruction; def: CodeInstruction }>();
  for (const index of subject.blocks) {
    const block = program.blocks[index] as BasicBlock;
    const wanted = new Map<string, CodeInstruction>();
    const oldBlocks = new Set<BasicBlock>();
    for (let i = block.first; i < block.end; i++) {
      const old = edit.old(i);
      const oldBlock = old && edit.baseline.blockAt(old.pc);
      if (oldBlock !== undefined) oldBlocks.add(oldBlock);
    }
    for (const oldBlock of oldBlocks) {
      definitions(edit.baseline, oldBlock, (use, slot, def) => {
        const [now, nowDef] = [edit.now(use.index), edit.now(def.index)];
        if (now !== undefined && nowDef !== undefined) wanted.set(`${now.index}/${slot}`, nowDef);
      });
    }
    definitions(program, block, (use, slot, def) => {
      const expected = wanted.get(`${use.index}/${slot}`);
      if (expected === undefined || expected === def || edit.old(def.index) !== undefined || expected.index > def.index)
        return;
      if ([...slots(def, 'uses')].includes(slot) && slot !== Slot.SCC) return;
      const found = findings.get(def) ?? { slots: new Set(), use, def: expected };
      found.slots.add(slot);
      findings.set(def, found);
    });
  }
  return [...findings].map(([inserted, { slots: changed, use, def }]) => {
    const registers = slotNames(changed);
    const isImplicit = [...changed].some((slot) => slot === Slot.SCC || slot === Slot.M0 || slot === Slot.VCC);
    const names = registers.join(', ');
    return finding({
      rule: 'control-flow/clobbered',
      severity: isImplicit ? 'error' : 'warning',
      kernel: subject.name,
      pc: inserted.pc,
      instruction: program.text(inserted.pc),
      other: { pc: use.pc, instruction: program.text(use.pc) },
      registers,
      message: `The inserted instruction overwrites ${names} between '${program.text(def.pc)}' and '${program.text(use.pc)}', which still reads the old value.`,
      fix: changed.has(Slot.SCC)
        ? 'Insert it before the instruction that sets SCC, or use one that leaves SCC alone (s_mov, s_cselect, vector code).'
        : 'Use a register that is dead here, or put the instruction before the definition.',
      reference: 'CDNA3 ISA manual, "SALU" (which instructions write SCC) and the operand tables',
    });
  });
}

const CACHE_OPERATION = /^buffer_(?:wbl2|inv|wbinvl1|invl2)/;

function lostCacheOperations({ subject, program }: CheckContext, edit: Edit): Finding[] {
  const findings: Finding[] = [];
  for (const code of instructionsOf(edit.baseline, edit.subject)) {
    if (!CACHE_OPERATION.test(code.instruction.row.operation) || edit.now(code.index) !== undefined) continue;
    const text = edit.baseline.text(code.pc);
    const isRelease = code.instruction.row.operation.includes('wb');
    findings.push(
      finding({
        rule: 'memory/cache-operation-lost',
        severity: 'error',
        kernel: subject.name,
        pc: nearest(edit, code, program),
        instruction: text,
        message: `The baseline's '${text}' is gone: ${
          isRelease ? 'what this wavefront wrote may stay in its L2' : 'loads behind it may read stale cache lines'
        }, as seen from the scope it was for.`,
        fix: `Keep '${text}' where it was.`,
        reference: 'LLVM AMDGPUUsage, "Memory Model"',
      }),
    );
  }
  return findings;
}

/** Where a lost instruction would be: at the next one that is still there. */
function nearest(edit: Edit, lost: CodeInstruction, program: Program): number | undefined {
  for (let i = lost.index + 1; i < lost.index + 64; i++) {
    const now = edit.now(i);
    if (now !== undefined) return program.at(now.pc)?.pc;
  }
  return undefined;
}

/** Wavefronts per SIMD before and after. */
function occupancy({ kernel, baseline, target }: CheckContext): Finding[] {
  const old = kernel && baseline?.kernels.find((k) => k.name === kernel.name);
  if (kernel === undefined || old === undefined) return [];
  const [before, after] = [kernelOccupancy(old, target), kernelOccupancy(kernel, target)];
  if (before === undefined || after === undefined || before.wavesPerSimd === after.wavesPerSimd) return [];
  const isLower = after.wavesPerSimd < before.wavesPerSimd;
  return [
    finding({
      rule: 'resources/occupancy',
      severity: isLower ? 'warning' : 'note',
      kernel: kernel.name,
      message: `Occupancy of kernel '${kernel.name}' ${isLower ? 'falls' : 'rises'} from ${before.wavesPerSimd} to ${after.wavesPerSimd} wavefronts per SIMD; limited by ${after.limiters.join(' and ')}.`,
      fix: isLower ? 'Free registers or LDS, or accept it if the kernel has enough work in flight.' : undefined,
      reference: 'CDNA3 ISA manual, "Kernel State"; LLVM AMDGPUUsage, "Kernel Descriptor"',
    }),
  ];
}
