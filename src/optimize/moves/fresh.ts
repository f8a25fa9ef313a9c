// Results of a stretch of code in registers of their own: where a register is written again, nothing needs to wait for the readers of what it held.
import {
  type CodeInstruction,
  effectsOf,
  execChange,
  hasSlot,
  overlaps,
  Slot,
  type SlotRange,
} from '../../program/index.ts';
import { FreeRegisters, namesAllRegisters, slotsInUse, vectorLimit, withRegisters } from './registers.ts';
import type { KernelView } from './view.ts';

/** Read or write other lanes than the active ones, or a part of a register. */
const OF_LANES =
  /^(?:v_mfma|v_smfma|v_readlane|v_readfirstlane|v_writelane|v_permlane|v_mov_b32_dpp|ds_(?:b?permute|swizzle))/;

/** A result: who makes it, who reads it. */
interface Result {
  readonly maker: number;
  readonly slots: SlotRange;
  readonly readers: readonly number[];
}

/** The instructions with as many results in free registers as there are, or that of `only`; their indexes and addresses stay. `last`: one behind the last vector register. */
export function freshRegisters(
  view: KernelView,
  region: readonly CodeInstruction[],
  only?: number,
): { readonly codes: readonly CodeInstruction[]; readonly registers: number; readonly last: number } {
  const codes = [...region];
  if (!namesAllRegisters(view) || region.some((code) => execChange(code) !== 'same'))
    return { codes, registers: 0, last: 0 };
  const free = new FreeRegisters(
    slotsInUse(view, region),
    'v',
    vectorLimit(view) === view.vectors ? view.vectors : view.vectors + 8,
  );
  let registers = 0;
  for (const result of resultsOf(view, region)) {
    if (only !== undefined && result.maker !== only) continue;
    const { first, count } = result.slots;
    const to = free.take(count);
    if (to === undefined) continue;
    const isOf = (slot: number): boolean => slot >= first && slot < first + count;
    const place = (slot: number): number => (isOf(slot) ? Slot.VGPR0 + to + slot - first : slot);
    const changed = [result.maker, ...result.readers].map((i) => {
      const code = codes[i] as CodeInstruction;
      const instruction = withRegisters(code.instruction, (slot, isOut) =>
        isOut === (i === result.maker) ? place(slot) : slot,
      );
      return instruction === undefined ? undefined : { ...code, instruction, effects: effectsOf(instruction) };
    });
    if (changed.includes(undefined)) continue;
    [result.maker, ...result.readers].forEach((i, n) => {
      codes[i] = changed[n] as CodeInstruction;
    });
    registers++;
  }
  return { codes, registers, last: registers === 0 ? 0 : free.last };
}

/** Results of vector instructions that are made, read and overwritten, or forgotten, inside of the stretch, where another instruction waits for that. */
function resultsOf(view: KernelView, region: readonly CodeInstruction[]): Result[] {
  const results: Result[] = [];
  region.forEach(({ effects, instruction }, maker) => {
    const [slots] = effects.defs;
    const isOwn =
      effects.defs.length === 1 && slots !== undefined && slots.first >= Slot.VGPR0 && slots.first < Slot.AGPR0;
    if (!isOwn || isOfLanes(instruction) || overlaps(effects.uses, [slots]) || effects.keeps.length > 0) return;
    // What held the register before is needed here, or the write would not be late.
    const isLate = region
      .slice(0, maker)
      .some((code) => overlaps([...code.effects.uses, ...code.effects.defs], [slots]));
    if (!isLate) return;
    const readers: number[] = [];
    for (let i = maker + 1; i < region.length; i++) {
      const code = region[i] as CodeInstruction;
      if (overlaps(code.effects.keeps, [slots])) return;
      if (overlaps(code.effects.uses, [slots])) {
        if (isOfLanes(code.instruction) || !code.effects.uses.every((u) => isInside(u, slots))) return;
        readers.push(i);
      }
      if (overlaps(code.effects.defs, [slots])) {
        if (!code.effects.defs.some((d) => d.first <= slots.first && d.first + d.count >= slots.first + slots.count))
          return;
        results.push({ maker, slots, readers });
        return;
      }
    }
    const after = view.liveness.after(region.at(-1) as CodeInstruction);
    const isForgotten = Array.from({ length: slots.count }, (_, i) => slots.first + i).every(
      (slot) => !hasSlot(after, slot),
    );
    if (isForgotten && readers.length > 0) results.push({ maker, slots, readers });
  });
  return results;
}

/** Whether a tuple lies in the result, or apart from it. */
const isInside = (use: SlotRange, slots: SlotRange): boolean =>
  !overlaps([use], [slots]) || (use.first >= slots.first && use.first + use.count <= slots.first + slots.count);

const isOfLanes = ({ row }: CodeInstruction['instruction']): boolean =>
  OF_LANES.test(row.operation) || row.encoding === 'DPP' || row.encoding === 'SDWA' || /_d16/.test(row.operation);
