// Watchpoints that stop at reads: which bytes of memory, or which registers, an instruction is about to read or write.
import { WavesmithError } from '../../../base/index.ts';
import { type Instruction, type Operand as InstructionOperand, sgpr } from '../../../isa/index.ts';
import { operandNamed } from '../../../isa/operand.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { effectsOf, overlaps, type SlotRange, slotsOf } from '../../../program/index.ts';
import { type BoundInstruction, indexedInstruction, isIndexable } from '../interpreter/loaded-code.ts';
import { scratchAddress } from '../interpreter/spaces.ts';
import { M0, type Wave } from '../state/wave.ts';
import { type AccessGroup, AccessReader } from '../tools/accessed.ts';
import { isVectorSlot, slotsFromText } from '../tools/registers.ts';
import { type Operand, spaceOfFlat } from './typed.ts';

/** Which accesses stop. */
export type WatchedAccess = 'change' | 'read' | 'any';

/** What is watched: where it was when that was said. */
export type WatchedPlace =
  | {
      readonly kind: 'memory';
      readonly space: 'global' | 'lds' | 'scratch';
      readonly address: number;
      readonly bytes: number;
    }
  | { readonly kind: 'registers'; readonly slots: readonly SlotRange[]; readonly lane: number };

/** What an instruction does with a place. */
export interface PlaceAccess {
  readonly reads: boolean;
  readonly writes: boolean;
}

const REGISTER =
  /^\$?((?:[sva]\d+|[sva]\[\d+:\d+\]|ttmp\d+|(?:vcc|exec|flat_scratch)(?:_lo|_hi)?|m0|scc|mode))(?:\[(\d+)\])?$/i;

/** The place of an expression; one that has none, as a sum, is `run/bad-expression`. */
export function watchedPlace(text: string, operand: Operand, lane: number): WatchedPlace {
  const home = typeof operand === 'object' ? operand.home : undefined;
  if (typeof operand === 'object' && home?.kind === 'memory') {
    const { space, at } = home.space === 'flat' ? spaceOfFlat(home.address) : { space: home.space, at: home.address };
    return { kind: 'memory', space, address: at, bytes: operand.type.bytes };
  }
  if (home?.kind === 'registers') {
    return { kind: 'registers', slots: home.names.map((name) => slotsFromText(name.replace(/\[\d+\]$/, ''))), lane };
  }
  const register = typeof operand === 'object' ? null : REGISTER.exec(text.trim());
  if (register !== null) {
    const [, name = '', own] = register;
    return { kind: 'registers', slots: [slotsFromText(name)], lane: own === undefined ? lane : Number(own) };
  }
  throw new WavesmithError('run/bad-expression', `'${text}' stands in no memory or register, so nothing reads it.`, {
    hint: "'watch' stops when the value of any expression changes.",
  });
}

/** Instructions that read or write lanes that EXEC turns off. */
const ANY_LANE = /^v_(?:readlane|writelane|mfma|smfmac)/;

export class AccessWatcher {
  private readonly reader = new AccessReader();

  /** What the instruction that a wave is about to execute does with a place of `owner`, or undefined when it leaves it alone. */
  accessOf(
    place: WatchedPlace,
    isOwner: boolean,
    isOwnGroup: boolean,
    lane: number,
    w: Wave,
    pc: number,
    bound: BoundInstruction,
  ): PlaceAccess | undefined {
    const { instruction } = bound;
    if (place.kind === 'registers') {
      if (!isOwner) return undefined;
      const { row } = instruction;
      const isOn = w.isActive(place.lane) || ANY_LANE.test(row.operation);
      const slots = place.slots.filter(({ first }) => isOn || !isVectorSlot(first));
      const { reads, writes } = registersOf(w, instruction);
      return done(overlaps(reads, slots), overlaps(writes, slots));
    }
    if ((place.space === 'lds' && !isOwnGroup) || (place.space === 'scratch' && !isOwner)) return undefined;
    const spans = place.space === 'scratch' ? scratchSpans(w, lane, place.address, place.bytes) : [];
    let [reads, writes] = [false, false];
    for (const group of this.reader.read(w, pc, bound)) {
      if (!touches(group, place, spans, lane)) continue;
      reads ||= group.kind !== 'store';
      writes ||= group.kind !== 'load';
    }
    return done(reads, writes);
  }
}

/** The registers that an instruction reads and writes, those that M0 moves its operands to: under s_set_gpr_idx, of s_movrel. */
function registersOf(
  w: Wave,
  instruction: Instruction,
): { readonly reads: readonly SlotRange[]; readonly writes: readonly SlotRange[] } {
  const op = semanticsOf(instruction.row.operation);
  if (op?.kind === 'structural' && (op.name === 'movrels' || op.name === 'movreld')) {
    const [from, to] = ['src0', 'sdst'].map((name) => operandNamed(instruction, name));
    const m0 = slotsFromText('m0');
    const [reads, writes] = [
      op.name === 'movrels' ? moved(w, from) : plain(from),
      op.name === 'movreld' ? moved(w, to) : plain(to),
    ];
    return { reads: [m0, ...reads], writes };
  }
  const isMoved = w.gprIndexing && isIndexable(instruction, op);
  const { uses, keeps, defs } = effectsOf(isMoved ? indexedInstruction(w, instruction).moved : instruction);
  return { reads: [...uses, ...keeps], writes: defs };
}

function plain(operand: InstructionOperand | undefined): SlotRange[] {
  const range = operand?.kind === 'reg' ? slotsOf(operand) : undefined;
  return range === undefined ? [] : [range];
}

/** The scalar registers that M0 moves an operand to; none outside of the file. */
const moved = (w: Wave, operand: InstructionOperand | undefined): SlotRange[] =>
  operand?.kind === 'reg' ? plain(sgpr(operand.index + (w.sgprs[M0] as number), operand.dwords)) : [];

const done = (reads: boolean, writes: boolean): PlaceAccess | undefined =>
  reads || writes ? { reads, writes } : undefined;

function touches(
  group: AccessGroup,
  place: WatchedPlace & { kind: 'memory' },
  spans: readonly number[],
  lane: number,
): boolean {
  const { space, bytes } = group;
  // Buffer instructions reach scratch by its addresses in memory.
  if (place.space === 'scratch' && space === 'global') {
    return group.some((_, address) => spans.some((at) => at >= address && at < address + bytes));
  }
  return (
    space === place.space &&
    group.some(
      (one, address) =>
        (space !== 'scratch' || one === lane) &&
        address < place.address + place.bytes &&
        place.address < address + bytes,
    )
  );
}

/** Addresses in memory of a lane's bytes of scratch. */
function scratchSpans(w: Wave, lane: number, offset: number, bytes: number): number[] {
  const before = w.lane;
  w.lane = lane;
  const all = Array.from({ length: bytes }, (_, i) => scratchAddress(w, offset + i));
  w.lane = before;
  return all;
}
