// Moves about a kernel as a whole: registers that it reserves and never names, and which die runs which workgroup.
import { descriptorRegisters } from '../../codeobject/index.ts';
import { entryRegisters } from '../../instrument/entry.ts';
import { targetInfo } from '../../isa/index.ts';
import { type CodeInstruction, hasSlot, Slot } from '../../program/index.ts';
import { GRANULE, namesAllRegisters, reserved } from './registers.ts';
import type { KernelView, Move } from './view.ts';

/** Registers reserved beyond the last one that the code names are given back: more waves may fit. */
export function trimmedRegisters(view: KernelView): Move[] {
  const { descriptor } = view.kernel;
  if (descriptor === undefined || !namesAllRegisters(view)) return [];
  let [lastVector, lastAccumulator] = [0, -1];
  for (const { effects } of view.instructions()) {
    for (const { first, count } of [...effects.defs, ...effects.uses, ...effects.keeps]) {
      const last = first + count - 1;
      if (last >= Slot.AGPR0) lastAccumulator = Math.max(lastAccumulator, last - Slot.AGPR0);
      else if (last >= Slot.VGPR0) lastVector = Math.max(lastVector, last - Slot.VGPR0);
    }
  }
  // A wave begins with its work-item in v0, and of older targets v1 and v2.
  lastVector = Math.max(lastVector, descriptor.rsrc2.enableVgprWorkitemId);
  const offset = Math.ceil((lastVector + 1) / 4) * 4;
  const total = Math.ceil((lastAccumulator < 0 ? lastVector + 1 : offset + lastAccumulator + 1) / GRANULE) * GRANULE;
  const { totalVgprs } = descriptorRegisters(descriptor);
  if (total >= totalVgprs) return [];
  const pc = view.subject.entry;
  return [
    {
      kind: 'trim-registers',
      pc,
      text: `${totalVgprs} vector registers → ${total}`,
      replace: new Map(),
      kernel: reserved(lastVector + 1, lastAccumulator + 1),
    },
  ];
}

/**
 * Neighbouring workgroups on one die, so that they find each other's data in its L2: dies take workgroups in turn, so of n in x, n/8 that follow each other
 * go to each of 8. The number of workgroups is read from the kernel's hidden arguments, so any launch is right.
 */
export function remappedGroups(view: KernelView): Move[] {
  const { descriptor, metadata } = view.kernel;
  const { xccs } = targetInfo(view.target).board;
  const bits = Math.log2(xccs);
  const count = metadata?.args.find((a) => a.valueKind === 'hidden_block_count_x');
  if (
    descriptor === undefined ||
    bits === 0 ||
    !Number.isInteger(bits) ||
    count === undefined ||
    view.subject.entryBlocks.length > 1
  )
    return [];
  const registers = entryRegisters(descriptor);
  const [group, kernarg] = [registers.get('workgroup-x')?.first, registers.get('kernarg')?.first];
  const first = view.program.at(view.subject.entry);
  if (group === undefined || kernarg === undefined || first === undefined || isTarget(view, first)) return [];
  const live = view.liveness.before(first);
  const { sgprs } = descriptorRegisters(descriptor);
  const taken = Math.max(...[...registers.values()].map((r) => r.first + r.count));
  const free: number[] = [];
  for (let s = taken; s < sgprs - 6 && free.length < 2; s++) if (!hasSlot(live, s)) free.push(s);
  const [share, rest] = free;
  if (share === undefined || rest === undefined || hasSlot(live, Slot.SCC)) return [];
  const lines = [
    `s_load_dword s${share}, s[${kernarg}:${kernarg + 1}], 0x${count.offset.toString(16)}`,
    's_waitcnt lgkmcnt(0)',
    `s_lshr_b32 s${share}, s${share}, ${bits}`,
    `s_lshl_b32 s${rest}, s${share}, ${bits}`,
    `s_cmp_ge_u32 s${group}, s${rest}`,
    // Over the four below: the last workgroups stay where they are.
    's_cbranch_scc1 4',
    `s_and_b32 s${rest}, s${group}, ${xccs - 1}`,
    `s_lshr_b32 s${group}, s${group}, ${bits}`,
    `s_mul_i32 s${rest}, s${rest}, s${share}`,
    `s_add_u32 s${group}, s${group}, s${rest}`,
  ];
  return [
    {
      kind: 'remap-groups',
      pc: first.pc,
      text: `workgroups in x by die, ${xccs} dies`,
      replace: new Map(),
      before: new Map([[first.pc, lines.map((line) => view.line(line))]]),
    },
  ];
}

/** Whether a branch goes to the kernel's first instruction. */
const isTarget = (view: KernelView, { pc }: CodeInstruction): boolean =>
  view.program.blocks.some(
    (block) => block.predecessors.length > 0 && view.program.instructions[block.first]?.pc === pc,
  );
