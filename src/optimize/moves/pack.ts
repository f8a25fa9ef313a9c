// Vector registers and accumulators under other numbers, so that a kernel reserves fewer and more of its waves fit: names that never hold something at
// the same time share a number. Registers of one tuple stay together.
import { descriptorRegisters } from '../../codeobject/index.ts';
import { encode } from '../../isa/index.ts';
import { addSlots, type BasicBlock, hasSlot, SLOT_COUNT, SLOT_WORDS, Slot } from '../../program/index.ts';
import { GRANULE, namesAllRegisters, reserved, withRegisters } from './registers.ts';
import { isMemory, type KernelView, type Move } from './view.ts';

/** Registers that some instruction names together. */
interface Group {
  readonly first: number;
  end: number;
  /** Slots that hold something while one of these does. */
  readonly beside: Uint32Array;
  isFixed: boolean;
}

/** Whether an instruction may write its result before it has read everything. */
const IS_EARLY = /^v_s?mfma/;

export function packedRegisters(view: KernelView): Move[] {
  const { descriptor } = view.kernel;
  if (descriptor === undefined || !namesAllRegisters(view)) return [];
  const groups = groupsOf(view);
  if (groups === undefined) return [];
  const place = placesOf(groups);
  let [vectors, accumulators] = [1 + descriptor.rsrc2.enableVgprWorkitemId, 0];
  for (const group of groups) {
    const end = (place.get(group.first) as number) + (group.end - group.first);
    if (group.first < Slot.AGPR0) vectors = Math.max(vectors, end - Slot.VGPR0);
    else accumulators = Math.max(accumulators, end - Slot.AGPR0);
  }
  const offset = Math.ceil(vectors / 4) * 4;
  const total = Math.ceil((accumulators === 0 ? vectors : offset + accumulators) / GRANULE) * GRANULE;
  const { totalVgprs } = descriptorRegisters(descriptor);
  if (total >= totalVgprs) return [];
  const replace = new Map<number, Uint8Array>();
  for (const code of view.instructions()) {
    const changed = withRegisters(code.instruction, (slot) => place.get(slot) ?? slot);
    if (changed === undefined) return [];
    const bytes = encode(changed);
    if (Buffer.compare(bytes, view.bytes(code)) === 0) continue;
    if (!view.isFree(code)) return [];
    replace.set(code.pc, bytes);
  }
  if (replace.size === 0) return [];
  const text = `${totalVgprs} vector registers → ${total}, ${replace.size} instructions`;
  return [{ kind: 'pack-registers', pc: view.subject.entry, text, replace, kernel: reserved(vectors, accumulators) }];
}

/** The groups, with what each may not share; undefined when a load brings what nobody reads: when it comes is not in the code. */
function groupsOf(view: KernelView): Group[] | undefined {
  const named = new Uint32Array(SLOT_WORDS);
  /** Slots that some tuple has together with the one behind. */
  const tied = new Uint32Array(SLOT_WORDS);
  for (const { effects } of view.instructions()) {
    for (const { first, count } of [...effects.defs, ...effects.uses, ...effects.keeps]) {
      if (first < Slot.VGPR0) continue;
      addSlots(named, [{ first, count }]);
      addSlots(tied, [{ first, count: count - 1 }]);
    }
  }
  const all: Group[] = [];
  const at: (Group | undefined)[] = [];
  for (let slot = Slot.VGPR0; slot < SLOT_COUNT; slot++) {
    if (!hasSlot(named, slot)) continue;
    const before = hasSlot(tied, slot - 1) ? at[slot - 1] : undefined;
    const group = before ?? { first: slot, end: slot, beside: new Uint32Array(SLOT_WORDS), isFixed: false };
    if (before === undefined) all.push(group);
    group.end = slot + 1;
    at[slot] = group;
  }
  const conflict = (set: Uint32Array): void => {
    const held = all.filter(({ first: low, end }) => {
      for (let slot = low; slot < end; slot++) if (hasSlot(set, slot)) return true;
      return false;
    });
    for (const a of held)
      for (const b of held) if (a !== b) addSlots(a.beside, [{ first: b.first, count: b.end - b.first }]);
  };
  let isKnown = true;
  for (const index of view.subject.blocks) {
    view.liveness.walk(view.program.blocks[index] as BasicBlock, (code, _, after) => {
      const { defs, uses, keeps } = code.effects;
      const isLoad = isMemory(code) && defs.some((d) => d.first >= Slot.VGPR0);
      const isLost = defs.some(
        (d) => !Array.from({ length: d.count }, (_, i) => d.first + i).some((s) => hasSlot(after, s)),
      );
      if (isLoad && isLost) isKnown = false;
      const set = after.slice();
      addSlots(set, defs);
      if (isLoad || IS_EARLY.test(code.instruction.row.operation))
        for (const ranges of [uses, keeps]) addSlots(set, ranges);
      conflict(set);
    });
  }
  for (const index of view.subject.entryBlocks) {
    const code = view.program.instructions[(view.program.blocks[index] as BasicBlock).first];
    if (code === undefined) return undefined;
    const live = view.liveness.before(code);
    conflict(live);
    for (let slot = Slot.VGPR0; slot < SLOT_COUNT; slot++) {
      const group = at[slot];
      if (hasSlot(live, slot) && group !== undefined) group.isFixed = true;
    }
  }
  return isKnown ? all : undefined;
}

/** New slots by old ones: what is live at the entry stays, wide groups go first. */
function placesOf(groups: readonly Group[]): Map<number, number> {
  const place = new Map<number, number>();
  const placed: { readonly group: Group; readonly at: number }[] = [];
  const put = (group: Group, at: number): void => {
    placed.push({ group, at });
    for (let slot = group.first; slot < group.end; slot++) place.set(slot, at + slot - group.first);
  };
  const order = [...groups].sort(
    (a, b) => Number(b.isFixed) - Number(a.isFixed) || b.end - b.first - (a.end - a.first) || a.first - b.first,
  );
  for (const group of order) {
    const base = group.first < Slot.AGPR0 ? Slot.VGPR0 : Slot.AGPR0;
    const size = group.end - group.first;
    // Whether tuples begin on even numbers stays as it is.
    const step = size === 1 ? 1 : 2;
    let at = group.isFixed ? group.first : base + (size === 1 ? 0 : (group.first - base) % 2);
    const isTaken = (): boolean =>
      placed.some(
        ({ group: other, at: there }) =>
          at < there + other.end - other.first && there < at + size && hasSlot(group.beside, other.first),
      );
    while (!group.isFixed && isTaken()) at += step;
    put(group, at);
  }
  return place;
}
