// Jumps through tables that no relocation tells of: where an s_setpc_b64 goes that a bounded index chooses. Forward data flow of what
// scalar registers can hold; compares before a branch bound the index. A table is taken only where the bound proves how long it is.
import type { CodeObject, ElfSection } from '../codeobject/index.ts';
import { RelocationType } from '../codeobject/index.ts';
import { operandNamed } from '../isa/operand.ts';
import type { CodeMap } from './code-map.ts';
import {
  type Comparison,
  comparisonOf,
  joinScalars,
  narrowed,
  type ScalarValue,
  type ScalarValues,
  stepScalars,
} from './scalar-ranges.ts';
import { Slot, slotsOf } from './slots.ts';
import type { BasicBlock, CodeInstruction, JumpTable } from './types.ts';

/** Most targets of a jump. */
const MOST_TARGETS = 4096;
/** Visits of a block after which bounds that grow go to the next constant of a compare, and after which nothing is known there. */
const [WIDEN_AFTER, GIVE_UP_AFTER] = [3, 64];
const SHF_WRITE = 1n;
const SHF_ALLOC = 2n;

/** Operations that make an address that is jumped to; a return address was saved, or came in. */
const MAKES_ADDRESS = /^s_(add_u32|addc_u32|load_dwordx2)$/;

/** The jumps to places that `known` does not have: those whose address the block itself makes. */
function candidates(graph: CodeMap, known: ReadonlyMap<number, unknown>): CodeInstruction[] {
  return graph.blocks.flatMap((block) => {
    const last = graph.instructions[block.end - 1];
    if (last?.instruction.row.operation !== 's_setpc_b64' || known.has(last.pc)) return [];
    const slot = addressSlot(last);
    for (let i = block.end - 2; i >= block.first && slot !== undefined; i--) {
      const { effects, instruction } = graph.instructions[i] as CodeInstruction;
      if (effects.defs.some(({ first, count }) => slot >= first && slot < first + count))
        return MAKES_ADDRESS.test(instruction.row.operation) ? [last] : [];
    }
    return [];
  });
}

function addressSlot({ instruction }: CodeInstruction): number | undefined {
  const operand = operandNamed(instruction, 'src0');
  return operand?.kind === 'reg' ? slotsOf(operand)?.first : undefined;
}

/** The tables behind the jumps whose targets are not in `known`, by what is known of the graph so far. `entries`: where code is entered. */
export function findJumpTables(
  graph: CodeMap,
  codeObject: CodeObject,
  entries: Iterable<number>,
  known: ReadonlyMap<number, readonly number[]>,
): JumpTable[] {
  const jumps = candidates(graph, known);
  if (jumps.length === 0) return [];
  const inputs = flow(graph, entries);
  const image = new Image(codeObject);
  return jumps.flatMap((jump) => {
    const index = graph.blockIndexAt(jump.pc);
    const block = graph.blocks[index];
    const input = inputs[index];
    if (block === undefined || input === undefined) return [];
    const values: ScalarValues = new Map(input);
    for (let i = block.first; i < block.end - 1; i++) stepScalars(graph.instructions[i] as CodeInstruction, values);
    const table = tableOf(jump.pc, values.get(addressSlot(jump) ?? -1), image);
    const isCode = table?.targets.every((pc) => pc % 4 === 0 && graph.isCode(pc)) === true;
    return table !== undefined && isCode ? [table] : [];
  });
}

/** What registers hold where each block begins; undefined where nothing gets. */
function flow(graph: CodeMap, entries: Iterable<number>): (ScalarValues | undefined)[] {
  const { blocks, instructions } = graph;
  const inputs: (ScalarValues | undefined)[] = new Array(blocks.length).fill(undefined);
  const visits = new Array<number>(blocks.length).fill(0);
  const limits = thresholds(instructions);
  const work: number[] = [];
  const push = (index: number, values: ScalarValues): void => {
    const input = inputs[index];
    if (input === undefined) inputs[index] = new Map(values);
    else {
      const count = visits[index] as number;
      if (count > GIVE_UP_AFTER && input.size > 0) input.clear();
      else if (!joinScalars(input, values, count > WIDEN_AFTER ? limits : undefined)) return;
    }
    work.push(index);
  };
  for (const pc of entries) {
    const index = graph.blockIndexAt(pc);
    if (index >= 0) push(index, new Map());
  }
  while (work.length > 0) {
    const index = work.pop() as number;
    const block = blocks[index] as BasicBlock;
    visits[index] = (visits[index] as number) + 1;
    const values: ScalarValues = new Map(inputs[index]);
    let comparison: Comparison | undefined;
    for (let i = block.first; i < block.end; i++) {
      const code = instructions[i] as CodeInstruction;
      stepScalars(code, values);
      const { defs } = code.effects;
      const { slot } = comparison ?? {};
      const isLost = defs.some(
        ({ first, count }) => first === Slot.SCC || (slot !== undefined && slot >= first && slot < first + count),
      );
      if (isLost) comparison = comparisonOf(code.instruction);
    }
    for (const callee of block.callees) {
      const entry = graph.blockIndexAt(callee);
      if (entry >= 0) push(entry, new Map());
    }
    if (block.exit === 'call') values.clear();
    for (const successor of block.successors) {
      const found = onEdge(graph, block, successor, comparison, values);
      if (found !== undefined) push(successor, found);
    }
  }
  return inputs;
}

/** What is known on the way from a block to a successor; undefined when it is never taken. */
function onEdge(
  { instructions, blocks }: CodeMap,
  block: BasicBlock,
  successor: number,
  comparison: Comparison | undefined,
  values: ScalarValues,
): ScalarValues | undefined {
  const last = instructions[block.end - 1] as CodeInstruction;
  const [, when] = /^s_cbranch_scc([01])$/.exec(last.instruction.row.operation) ?? [];
  if (comparison === undefined || when === undefined || block.successors.length !== 2) return values;
  const isNext = instructions[blocks[successor]?.first ?? -1]?.pc === last.pc + last.instruction.size;
  const { slot, isSet, isClear, isSigned } = comparison;
  const left = narrowed(values.get(slot), (when === '1') === isNext ? isClear : isSet, isSigned);
  if (left === 'never') return undefined;
  if (left === undefined) return values;
  return new Map(values).set(slot, left);
}

/** The ends of ranges that compares make, ascending. */
function thresholds(instructions: readonly CodeInstruction[]): number[] {
  const out = new Set<number>();
  for (const { instruction } of instructions) {
    const found = comparisonOf(instruction);
    for (const { min, max } of found === undefined ? [] : [found.isSet, found.isClear]) {
      out.add(min);
      out.add(max);
    }
  }
  return [...out].sort((a, b) => a - b);
}

/** What a code object's file says of memory that no code writes. */
class Image {
  private readonly sections: readonly ElfSection[];
  private readonly pointers = new Map<number, number>();
  private readonly relocated = new Set<number>();

  constructor({ elf }: CodeObject) {
    this.sections = elf.sections.filter((s) => (s.flags & SHF_ALLOC) !== 0n);
    for (const { relocations } of elf.relocationSections) {
      for (const { offset, type, addend } of relocations) {
        this.relocated.add(offset);
        if (type === RelocationType.RELATIVE64 && addend !== undefined) this.pointers.set(offset, Number(addend));
      }
    }
  }

  /** The section of bytes that nothing writes once the loader has; compilers put pointers that it writes into `.data.rel.ro`. */
  private constantAt(address: number, size: number): ElfSection | undefined {
    const section = this.sections.find((s) => address >= s.address && address + size <= s.address + s.bytes.length);
    const isConstant = section?.name.startsWith('.data.rel.ro') === true || ((section?.flags ?? 0n) & SHF_WRITE) === 0n;
    return isConstant ? section : undefined;
  }

  /** A dword that stays as it is; undefined for one that is written, or set when the code is loaded. */
  dword(address: number): number | undefined {
    const section = this.constantAt(address, 4);
    if (section === undefined) return undefined;
    if (this.relocated.has(address) || this.relocated.has(address - 4)) return undefined;
    const { bytes } = section;
    return new DataView(bytes.buffer, bytes.byteOffset).getInt32(address - section.address, true);
  }

  /** A pointer into the code object that the loader puts there. */
  pointer(address: number): number | undefined {
    return this.constantAt(address, 8) === undefined ? undefined : this.pointers.get(address);
  }
}

/** The table behind a jump to a value; undefined when it is no table. */
function tableOf(pc: number, value: ScalarValue | undefined, image: Image): JumpTable | undefined {
  if (value === undefined || value.kind === 'number') return undefined;
  const { min, max, step } = value.range;
  const count = step === 0 ? 1 : (max - min) / step + 1;
  if (!Number.isInteger(count)) return undefined;
  if (count > MOST_TARGETS || (step % 4 !== 0 && count > 1)) return undefined;
  const places = Array.from({ length: count }, (_, i) => min + i * step);
  if (value.kind === 'address') return { pc, kind: 'places', targets: places, step, from: value.from };
  if (value.kind === 'entry') {
    if (value.bytes !== 8) return undefined;
    const targets = places.map((at) => image.pointer(at));
    return targets.every((t) => t !== undefined) ? { pc, kind: 'pointers', targets } : undefined;
  }
  const entries = places.map((at) => image.dword(at));
  const targets = entries.map((distance) => (distance === undefined ? undefined : value.base + distance));
  if (!targets.every((t) => t !== undefined)) return undefined;
  return { pc, kind: 'distances', targets, entries: places, base: value.base, from: value.from, sum: value.pc };
}
