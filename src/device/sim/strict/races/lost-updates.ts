// Stores of what lanes have made of what they loaded from the same place, as counters are counted: where lanes of one store have one address, all
// have loaded the same, and what all but one of them add is lost.
import { branchTarget } from '../../../../isa/index.ts';
import { operandNamed } from '../../../../isa/operand.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction, Operand } from '../../../../isa/types.ts';
import { effectsOf, Slot, type SlotRange, slotsOf } from '../../../../program/index.ts';
import { reachable } from '../../dispatch/reachable.ts';
import type { LoadedCode } from '../../interpreter/loaded-code.ts';

const known = new WeakMap<LoadedCode, Map<number, ReadonlyMap<number, number>>>();

/**
 * The addresses of stores, in the kernel that begins at `entry`, that put back what they have added something to, and those of the loads of it. Load and store
 * name the same registers as their address, and are in one basic block in which nothing else writes these.
 */
export function updatesInPlace(loaded: LoadedCode, entry: number): ReadonlyMap<number, number> {
  const answers = known.get(loaded) ?? new Map<number, ReadonlyMap<number, number>>();
  known.set(loaded, answers);
  const answer = answers.get(entry) ?? findUpdates(loaded, entry);
  answers.set(entry, answer);
  return answer;
}

function findUpdates(loaded: LoadedCode, entry: number): ReadonlyMap<number, number> {
  const code = new Map<number, Instruction>();
  const begins = new Set<number>();
  for (const { at, instruction } of reachable(loaded, entry)) {
    code.set(at, instruction);
    const target = branchTarget(instruction, at);
    if (target !== undefined) begins.add(target);
  }
  const updates = new Map<number, number>();
  for (const [at, instruction] of code) {
    if (semanticsOf(instruction.row.operation)?.kind !== 'load' || placeOf(instruction) === undefined) continue;
    for (const store of followValue(code, begins, at, instruction)) updates.set(store, at);
  }
  return updates;
}

/** Instructions looked at behind a load. */
const MOST = 256;

/** What gives something else each time that it is done; minima and bits that are set do not. */
const ADDS = /^v_(?:pk_)?(?:add|sub|mul|mad|mac|fma|xor|lshl_add|dot|sad|msad)/;

/** The addresses of stores behind a load, in its basic block, of what something has been added to since, to where it was. */
function followValue(
  code: ReadonlyMap<number, Instruction>,
  begins: ReadonlySet<number>,
  from: number,
  load: Instruction,
): number[] {
  const place = placeOf(load);
  const address = slotsIn(operandsOf(load, ADDRESS));
  const values = slotsOfAll(effectsOf(load).defs);
  const sums = new Set<number>();
  const found: number[] = [];
  let at = from + load.size;
  for (let left = MOST; left > 0 && values.size > 0 && !begins.has(at); left--) {
    const instruction = code.get(at);
    if (instruction === undefined || [...values].some((slot) => address.has(slot)) || endsBlock(instruction)) break;
    const { operation } = instruction.row;
    const { uses, defs } = effectsOf(instruction);
    const isOfSum = [...slotsIn(operandsOf(instruction, DATA))].some((slot) => sums.has(slot));
    if (isOfSum && semanticsOf(operation)?.kind === 'store' && placeOf(instruction) === place) found.push(at);
    const read = slotsOfAll(uses);
    const hasValue = [...read].some((slot) => values.has(slot));
    const hasSum = [...read].some((slot) => sums.has(slot)) || (hasValue && ADDS.test(operation));
    for (const slot of slotsOfAll(defs)) {
      if (address.has(slot)) return found;
      // Masks choose among values; they are none.
      for (const [all, has] of [[values, hasValue] as const, [sums, hasSum] as const]) {
        if (has && slot >= Slot.VGPR0) all.add(slot);
        else all.delete(slot);
      }
    }
    at += instruction.size;
  }
  return found;
}

function endsBlock({ row: { flags, operation } }: Instruction): boolean {
  return flags.has('isBranch') || flags.has('isCall') || flags.has('isReturn') || operation === 's_endpgm';
}

const ADDRESS = ['addr', 'vaddr', 'saddr', 'srsrc', 'soffset', 'offset'];
const DATA = ['vdata', 'data', 'data0'];

/** Which bytes each lane accesses, as the instruction names them; undefined for accesses of scalar memory, and of two places. */
function placeOf(instruction: Instruction): string | undefined {
  const { operation, template } = instruction.row;
  const op = semanticsOf(operation);
  if ((op?.kind !== 'load' && op?.kind !== 'store') || op.pairStride !== undefined) return undefined;
  if (operandNamed(instruction, 'addr') === undefined && operandNamed(instruction, 'vaddr') === undefined)
    return undefined;
  const names = operandsOf(instruction, ADDRESS).map((operand) => textOf(operand));
  return [op.space, op.bytes, ...(template.match(/ (?:offen|idxen)/g) ?? []), ...names].join();
}

function textOf(operand: Operand | undefined): string {
  switch (operand?.kind) {
    case undefined:
      return '';
    case 'reg':
      return operand.text;
    case 'inline':
      return `constant ${operand.encoding}`;
    case 'literal':
      return `literal ${operand.bits}`;
    case 'imm':
      return `${operand.value}`;
  }
}

function operandsOf(instruction: Instruction, names: readonly string[]): readonly (Operand | undefined)[] {
  return names.map((name) => operandNamed(instruction, name));
}

function slotsIn(operands: readonly (Operand | undefined)[]): Set<number> {
  return slotsOfAll(operands.flatMap((one) => (one?.kind === 'reg' ? (slotsOf(one) ?? []) : [])));
}

function slotsOfAll(ranges: readonly SlotRange[]): Set<number> {
  return new Set(ranges.flatMap(({ first, count }) => Array.from({ length: count }, (_, n) => first + n)));
}
