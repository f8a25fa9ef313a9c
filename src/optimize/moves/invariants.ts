// What is the same in every turn of a loop or in every lane: instructions of a loop of one block that go before it, and copies of scalar values
// in vector registers whose readers take the scalar itself.
import { WavesmithError } from '../../base/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  execChange,
  hasSlot,
  overlaps,
  Slot,
  type SlotRange,
} from '../../program/index.ts';
import { loopsOf, onEntries } from './pipeline.ts';
import { isMemory, type KernelView, type Move } from './view.ts';

const SPECIAL: readonly SlotRange[] = [
  { first: Slot.SCC, count: 1 },
  { first: Slot.M0, count: 1 },
  { first: Slot.EXEC, count: 2 },
  { first: Slot.MODE, count: 1 },
];

/** Instructions that depend on nothing that a turn changes, and whose result only they write: they run on the way in. */
export function hoistedInvariants(view: KernelView): Move[] {
  return loopsOf(view).flatMap((loop) => {
    const { body, first } = loop;
    const live = view.liveness.before(first);
    const out: CodeInstruction[] = [];
    for (const code of body) {
      const { defs, uses } = code.effects;
      if (isMemory(code) || code.instruction.row.flags.has('hasSideEffects') || defs.length === 0) continue;
      if (!/^[vs]_/.test(code.instruction.row.operation) || isOfLanes(code)) continue;
      if (overlaps(defs, SPECIAL) || defs.some((d) => slotsOfRange(d).some((slot) => hasSlot(live, slot)))) continue;
      const others = body.filter((other) => other !== code && !out.includes(other));
      if (others.some((other) => overlaps(other.effects.defs, uses) || overlaps(other.effects.defs, defs))) continue;
      out.push(code);
    }
    if (out.length === 0) return [];
    const lines = out.map((code) => view.bytes(code));
    return [
      {
        kind: 'hoist-invariant' as const,
        pc: first.pc,
        text: `${out.length} instruction${out.length === 1 ? '' : 's'} before the loop, ${view.text(out[0] as CodeInstruction)}`,
        replace: new Map(out.map((code) => [code.pc, new Uint8Array()])),
        ...onEntries(loop, lines),
      },
    ];
  });
}

const slotsOfRange = ({ first, count }: SlotRange): number[] => Array.from({ length: count }, (_, i) => first + i);

/** Waits, idle states and the like: `s_` instructions that are not arithmetic write nothing and are not here; these read other lanes or the clock. */
const isOfLanes = ({ instruction: { row } }: CodeInstruction): boolean =>
  /^(?:v_readlane|v_readfirstlane|v_writelane|v_permlane|s_getreg|s_getpc|s_memtime|s_memrealtime)/.test(
    row.operation,
  ) || row.encoding === 'DPP';

/** `v_mov_b32_e32 v3, s4`: a value that all lanes have; readers of v3 take s4, and the copy goes. */
const COPY = /^v_mov_b32_e32 v(\d+), (s\d+)$/;
/** Readers of one copy that are looked at. */
const MOST_READERS = 16;

export function scalarOperands(view: KernelView): Move[] {
  const moves: Move[] = [];
  for (const index of view.subject.blocks) {
    const { first, end } = view.program.blocks[index] as BasicBlock;
    const block = view.program.instructions.slice(first, end);
    block.forEach((copy, at) => {
      const [, register, value] = COPY.exec(view.text(copy)) ?? [];
      if (register === undefined || value === undefined || !view.isFree(copy)) return;
      const replace = readersWith(view, block.slice(at + 1), Number(register), value);
      if (replace === undefined) return;
      replace.set(copy.pc, new Uint8Array());
      moves.push({ kind: 'scalar-operand', pc: copy.pc, text: `${value} in the place of v${register}`, replace });
    });
  }
  return moves;
}

/** The readers of a vector register up to where it is written again or nobody needs it, with a scalar in its place; undefined when one cannot. */
function readersWith(
  view: KernelView,
  behind: readonly CodeInstruction[],
  register: number,
  value: string,
): Map<number, Uint8Array> | undefined {
  const slots: readonly SlotRange[] = [{ first: Slot.VGPR0 + register, count: 1 }];
  const source: readonly SlotRange[] = [{ first: Number(value.slice(1)), count: 1 }];
  const replace = new Map<number, Uint8Array>();
  for (const code of behind) {
    const { uses, keeps, defs } = code.effects;
    if (overlaps(keeps, slots)) return undefined;
    if (overlaps(uses, slots)) {
      const line =
        replace.size < MOST_READERS && view.isFree(code) ? readerWith(view, code, register, value) : undefined;
      if (line === undefined) return undefined;
      replace.set(code.pc, line);
    }
    // Lanes that are off kept what the register had: with EXEC changed between, somebody could see it.
    if (execChange(code) !== 'same' || overlaps(defs, source)) return undefined;
    if (overlaps(defs, slots) || !hasSlot(view.liveness.after(code), Slot.VGPR0 + register)) {
      return replace.size > 0 ? replace : undefined;
    }
  }
  return undefined;
}

/** `v_add_f32_e32 v1, v3, v2` with s4 for v3; undefined when no encoding has it. */
function readerWith(view: KernelView, code: CodeInstruction, register: number, value: string): Uint8Array | undefined {
  const { row } = code.instruction;
  if (!row.flags.has('VALU') || row.encoding === 'DPP' || row.encoding === 'SDWA' || /mfma|lane/.test(row.operation))
    return undefined;
  const [, name, operands] = /^(\S+) (.*)$/.exec(view.text(code)) ?? [];
  if (name === undefined || operands === undefined) return undefined;
  const [to, ...sources] = operands.split(', ');
  const own = new RegExp(`^(-?\\|?)v${register}(\\|?)$`);
  if (sources.some((s) => s.includes('v['))) return undefined;
  const changed = sources.map((s) =>
    s.replace(own, (_, before: string, behind: string) => `${before}${value}${behind}`),
  );
  if (changed.every((s, i) => s === sources[i])) return undefined;
  const forms = [changed, ...(changed.length === 2 && COMMUTES.test(name) ? [[changed[1], changed[0]]] : [])];
  for (const form of forms) {
    try {
      return view.line(`${name} ${[to, ...form].join(', ')}`);
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
    }
  }
  return undefined;
}

const COMMUTES = /^v_(?:add|mul|min|max|and|or|xor)_(?:[a-z]\d+|lo_u\d+|legacy_f32)_e32$/;
