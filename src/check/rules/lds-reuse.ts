// Rule `waits/barrier-before-read`: a barrier is passed before an LDS read has come back, and behind it all is stored anew that the
// read can read. Addresses are not known here: a read is taken to read what the stores on the ways to it have written, all of them
// separated from it by a barrier. A store is the same one again where its operation, address register and offset are, and nothing
// writes that register in between. Two buffers in turn have no finding, because only one of them is stored behind a barrier.
// Source: CDNA3 ISA manual, "Data Dependency Resolution" and "S_BARRIER": a barrier waits for no memory operation.
import { type Finding, finding, insertWait } from '../../finding/index.ts';
import { operandNamed } from '../../isa/operand.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  neededWait,
  overlaps,
  type Program,
  type SlotRange,
  slotsOf,
  waitRole,
} from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { outstandingAtBlocks, readsLdsMemory, stepThrough } from './waits.ts';

const WAVE_LANES = 64;

/** LDS reads that are outstanding at a barrier behind which other wavefronts overwrite what they read. */
export const checkLdsReuse: Rule = (context: CheckContext) => {
  const { program, subject } = context;
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const isOneWave = (subject.kernel?.metadata?.maxFlatWorkgroupSize ?? Infinity) <= WAVE_LANES;
  // Who is called may store.
  if (isOneWave || blocks.some(({ exit }) => exit === 'call' || exit === 'unresolved')) return [];
  const withBarrier = blocks.filter((block) => instructionsOf(program, block).some(isBarrier));
  const ways = new Ways(program, blocks);
  if (withBarrier.length === 0 || ways.stores.length === 0) return [];
  const inputs = outstandingAtBlocks(context);
  const found = new Map<CodeInstruction, Finding>();
  for (const block of withBarrier) {
    const input = inputs.get(block.index);
    if (input === undefined) continue;
    stepThrough(context, block, input, (code, state) => {
      if (!isBarrier(code)) return;
      const open = [...state.ages('lds')].filter(({ operation }) => isRead(operation) && !found.has(operation));
      const behind = open.length === 0 ? [] : ways.storesUntilBarrier(code, 'forward');
      if (behind.length === 0) return;
      for (const { operation, least } of open) {
        const store = ways.overwrite(operation, behind);
        if (store !== undefined) found.set(operation, makeFinding(context, operation, least, code, store));
      }
    });
  }
  return [...found.values()];
};

const instructionsOf = (program: Program, { first, end }: BasicBlock): readonly CodeInstruction[] =>
  program.instructions.slice(first, end);

const isBarrier = ({ instruction }: CodeInstruction): boolean => waitRole(instruction.row).isBarrier;

const isRead = ({ instruction: { row } }: CodeInstruction): boolean => readsLdsMemory(row) && !waitRole(row).stores;

function isStore({ instruction: { row } }: CodeInstruction): boolean {
  const { kind, stores } = waitRole(row);
  return row.flags.has('LDSDMA') || (stores && (kind === 'lds' || kind === 'flat'));
}

/** The ways through a function between its LDS stores, reads and barriers. */
class Ways {
  private readonly program: Program;
  private readonly blocks: readonly BasicBlock[];
  readonly stores: readonly CodeInstruction[];
  /** By block: the blocks that may run after it. */
  private readonly after = new Map<number, ReadonlySet<number>>();
  /** By address slot: the instructions that write it. */
  private readonly writers = new Map<number, readonly CodeInstruction[]>();

  constructor(program: Program, blocks: readonly BasicBlock[]) {
    this.program = program;
    this.blocks = blocks;
    this.stores = blocks.flatMap((block) => instructionsOf(program, block).filter(isStore));
  }

  /** The stores that may be reached from an instruction without passing a barrier. */
  storesUntilBarrier(from: CodeInstruction, direction: 'forward' | 'backward'): CodeInstruction[] {
    const { program } = this;
    const isForward = direction === 'forward';
    const found: CodeInstruction[] = [];
    const seen = new Set<number>();
    const pending = [{ block: program.blockAt(from.pc) as BasicBlock, start: from.index + (isForward ? 1 : -1) }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { block, start } = next;
      let goesOn = true;
      for (let i = start; goesOn && i >= block.first && i < block.end; i += isForward ? 1 : -1) {
        const code = program.instructions[i] as CodeInstruction;
        if (isStore(code)) found.push(code);
        goesOn = !isBarrier(code);
      }
      if (!goesOn) continue;
      for (const index of isForward ? block.successors : block.predecessors) {
        if (seen.has(index)) continue;
        seen.add(index);
        const other = program.blocks[index] as BasicBlock;
        pending.push({ block: other, start: isForward ? other.first : other.end - 1 });
      }
    }
    return found;
  }

  /** The first of the stores `behind`, where they overwrite all that a read may read, and wavefronts read what others have stored. */
  overwrite(read: CodeInstruction, behind: readonly CodeInstruction[]): CodeInstruction | undefined {
    const before = this.stores.filter((store) => this.reaches(store, read));
    const repeated = before.map((store) => behind.find((next) => isSamePlace(store, next)));
    if (repeated.includes(undefined) || this.storesUntilBarrier(read, 'backward').length > 0) return undefined;
    const isKept = before.every((store, n) => !this.isMoved(store, repeated[n] as CodeInstruction));
    return isKept ? repeated[0] : undefined;
  }

  private reaches(from: CodeInstruction, to: CodeInstruction): boolean {
    const { program } = this;
    const [first, last] = [program.blockAt(from.pc) as BasicBlock, program.blockAt(to.pc) as BasicBlock];
    if (first === last && from.index < to.index) return true;
    return this.blocksAfter(first).has(last.index);
  }

  private blocksAfter(block: BasicBlock): ReadonlySet<number> {
    const known = this.after.get(block.index);
    if (known !== undefined) return known;
    const all = new Set<number>();
    const pending = [...block.successors];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (all.has(index)) continue;
      all.add(index);
      pending.push(...(this.program.blocks[index] as BasicBlock).successors);
    }
    this.after.set(block.index, all);
    return all;
  }

  /** Whether the address register of a store may be written on the way to where the store is repeated. */
  private isMoved(store: CodeInstruction, next: CodeInstruction): boolean {
    const address = addressOf(store) as SlotRange;
    return this.writersOf(address).some((code) => this.reaches(store, code) && this.reaches(code, next));
  }

  private writersOf(slot: SlotRange): readonly CodeInstruction[] {
    let writers = this.writers.get(slot.first);
    if (writers === undefined) {
      const isWriter = ({ effects }: CodeInstruction): boolean => overlaps(effects.defs, [slot]);
      writers = this.blocks.flatMap((block) => instructionsOf(this.program, block).filter(isWriter));
      this.writers.set(slot.first, writers);
    }
    return writers;
  }
}

/** The register with the address of a DS instruction. */
function addressOf({ instruction }: CodeInstruction): SlotRange | undefined {
  const operand = waitRole(instruction.row).kind === 'lds' ? operandNamed(instruction, 'addr') : undefined;
  return operand?.kind === 'reg' ? slotsOf(operand) : undefined;
}

const PLACE = ['offset', 'offset0', 'offset1'];

/** Whether two stores are the same but for their data. */
function isSamePlace(a: CodeInstruction, b: CodeInstruction): boolean {
  const address = addressOf(a);
  if (address === undefined || a.instruction.row !== b.instruction.row) return false;
  const offset = ({ instruction }: CodeInstruction, name: string): number | undefined => {
    const operand = operandNamed(instruction, name);
    return operand?.kind === 'imm' ? operand.value : undefined;
  };
  return address.first === addressOf(b)?.first && PLACE.every((name) => offset(a, name) === offset(b, name));
}

function makeFinding(
  { program, subject }: CheckContext,
  read: CodeInstruction,
  age: number,
  barrier: CodeInstruction,
  store: CodeInstruction,
): Finding {
  return finding({
    rule: 'waits/barrier-before-read',
    isCertain: false,
    kernel: subject.name,
    place: placeAt(program, barrier.pc),
    related: [relatedAt(program, read.pc, 'reads LDS'), relatedAt(program, store.pc, 'overwrites it')],
    message: `The barrier may be passed before '${program.text(read.pc)}' has read LDS, which other wavefronts overwrite behind it.`,
    edits: [insertWait(barrier.pc, neededWait('lds', age))],
  });
}
