// Finds instructions by following control flow through the executable sections and cuts them into basic blocks.
// Source: CDNA3 ISA manual, chapter "Program Flow Control".

import { PairTable } from '../base/pair-table.ts';
import { readU32 } from '../isa/codec/decode-operand.ts';
import { branchTarget, type Decoder, decoderFor, type Instruction, type TargetName } from '../isa/index.ts';
import { type Effects, effectsOf } from './effects.ts';
import type { BasicBlock, BlockExit, CodeInstruction } from './types.ts';

/** Instructions and blocks of a finished walk. */
export interface CodeMap {
  readonly instructions: readonly CodeInstruction[];
  readonly blocks: readonly BasicBlock[];
  /** Index of the block that an address lies in, or -1. */
  blockIndexAt(pc: number): number;
  at(pc: number): CodeInstruction | undefined;
  /** Whether the address lies in an executable section. */
  isCode(pc: number): boolean;
  /** Whether the instruction branches or calls through a register. */
  isIndirect(code: CodeInstruction): boolean;
}

interface Region {
  readonly base: number;
  readonly bytes: Uint8Array;
  /** By dword: the instruction that begins there. */
  readonly starts: (CodeInstruction | undefined)[];
  /** By dword: 1 when a block begins there. */
  readonly leaders: Uint8Array;
}

/** What an instruction does to the program counter. */
interface Flow {
  readonly kind: 'next' | 'branch' | 'jump' | 'call' | 'indirect' | 'indirect-call' | 'end';
  readonly target: number | undefined;
}

const NEXT: Flow = { kind: 'next', target: undefined };

function flowOf(instruction: Instruction, pc: number): Flow {
  const { flags } = instruction.row;
  const target = branchTarget(instruction, pc);
  if (flags.has('isCall')) return { kind: target === undefined ? 'indirect-call' : 'call', target };
  if (flags.has('isReturn')) return { kind: 'end', target: undefined };
  if (!flags.has('isBranch')) return NEXT;
  if (target === undefined) return { kind: 'indirect', target };
  return { kind: flags.has('isBarrier') ? 'jump' : 'branch', target };
}

/** An instruction without its place. */
interface Decoded {
  readonly instruction: Instruction;
  readonly effects: Effects;
}

/** Decodes instructions. Code repeats itself: equal encodings of one and two dwords are one instruction, with one set of effects. */
class SharedInstructions {
  private readonly decoder: Decoder;
  private readonly numbers = new PairTable();
  private readonly known: Decoded[] = [];

  constructor(target: TargetName) {
    this.decoder = decoderFor(target);
  }

  /** The instruction at an offset of a section, or undefined. */
  at(bytes: Uint8Array, offset: number): Decoded | undefined {
    if (offset + 4 > bytes.length) return undefined;
    const first = readU32(bytes, offset);
    const short = this.numbers.get(first, 0);
    if (short !== PairTable.NONE) return this.known[short];
    const second = offset + 8 <= bytes.length ? readU32(bytes, offset + 4) : 0;
    const long = second === 0 ? PairTable.NONE : this.numbers.get(first, second);
    if (long !== PairTable.NONE) return this.known[long];
    const instruction = this.decoder.decode(bytes, offset);
    if (instruction === undefined) return undefined;
    const decoded = { instruction, effects: effectsOf(instruction) };
    // An instruction of two dwords whose second is 0 has no key of its own.
    const isShort = instruction.size === 4;
    if (isShort || (instruction.size === 8 && second !== 0)) {
      this.numbers.set(first, isShort ? 0 : second, this.known.push(decoded) - 1);
    }
    return decoded;
  }
}

/** The executable sections of a code object while they are explored. */
export class CodeRegions {
  private readonly decoder: SharedInstructions;
  private readonly regions: readonly Region[];
  /** Control flow by row, to ask for flags only once. */
  private readonly plain: boolean[] = [];
  /** Instructions found. */
  count = 0;
  /** Branches and calls through registers found. */
  indirectCount = 0;

  constructor(target: TargetName, sections: readonly { base: number; bytes: Uint8Array }[]) {
    this.decoder = new SharedInstructions(target);
    this.regions = sections.map(({ base, bytes }) => ({
      base,
      bytes,
      starts: new Array<CodeInstruction | undefined>(bytes.length >>> 2).fill(undefined),
      leaders: new Uint8Array((bytes.length >>> 2) + 1),
    }));
  }

  private regionOf(pc: number): Region | undefined {
    return this.regions.find((r) => pc >= r.base && pc < r.base + r.bytes.length);
  }

  private flow(code: CodeInstruction): Flow {
    const { row } = code.instruction;
    const known = this.plain[row.id];
    if (known === true) return NEXT;
    const flow = flowOf(code.instruction, code.pc);
    if (known === undefined) this.plain[row.id] = flow === NEXT;
    return flow;
  }

  /** Decodes everything that is reachable from an address through direct branches and past calls. */
  walk(entry: number): void {
    const work = [entry];
    while (work.length > 0) this.walkOne(work.pop() as number, work);
  }

  private walkOne(start: number, work: number[]): void {
    const region = this.regionOf(start);
    if (region === undefined || (start - region.base) % 4 !== 0) return;
    region.leaders[(start - region.base) >>> 2] = 1;
    let offset = start - region.base;
    while (offset < region.bytes.length && region.starts[offset >>> 2] === undefined) {
      const decoded = this.decoder.at(region.bytes, offset);
      if (decoded === undefined) return;
      const { instruction, effects } = decoded;
      const pc = region.base + offset;
      const code: CodeInstruction = { index: -1, pc, instruction, effects };
      region.starts[offset >>> 2] = code;
      this.count++;
      offset += instruction.size;
      const flow = this.flow(code);
      if (flow.kind === 'next') continue;
      if (flow.kind === 'indirect' || flow.kind === 'indirect-call') this.indirectCount++;
      if (flow.target !== undefined) work.push(flow.target);
      region.leaders[offset >>> 2] = 1;
      if (flow.kind === 'jump' || flow.kind === 'indirect' || flow.kind === 'end') return;
    }
  }

  /** The instructions and blocks found so far, with the targets of indirect branches by their pc. */
  finish(indirect: ReadonlyMap<number, readonly number[]>): CodeMap {
    return new Blocks(this.regions, indirect, (code) => this.flow(code));
  }
}

interface Cut {
  readonly first: number;
  end: number;
  /** Address after the last instruction. */
  next: number;
  region: Region;
}

class Blocks implements CodeMap {
  readonly instructions: readonly CodeInstruction[];
  readonly blocks: readonly BasicBlock[];
  private readonly regions: readonly Region[];
  private readonly flow: (code: CodeInstruction) => Flow;
  /** Addresses inside another instruction that something branches to. */
  private readonly overlapping = new Set<number>();
  /** First addresses of the blocks, ascending. */
  private readonly starts: readonly number[];

  constructor(
    regions: readonly Region[],
    indirect: ReadonlyMap<number, readonly number[]>,
    flow: (code: CodeInstruction) => Flow,
  ) {
    this.regions = [...regions].sort((a, b) => a.base - b.base);
    this.flow = flow;
    const instructions: CodeInstruction[] = [];
    const cuts: Cut[] = [];
    for (const region of this.regions) collect(region, instructions, cuts, this.overlapping);
    this.instructions = instructions;
    this.starts = cuts.map((cut) => (instructions[cut.first] as CodeInstruction).pc);
    const ends = cuts.map((cut) => this.endOf(cut, indirect));
    const predecessors = cuts.map((): number[] => []);
    ends.forEach((end, i) => {
      for (const s of end.successors) predecessors[s]?.push(i);
    });
    this.blocks = cuts.map((cut, index) => ({
      index,
      first: cut.first,
      end: cut.end,
      ...(ends[index] as ReturnType<Blocks['endOf']>),
      predecessors: predecessors[index] as number[],
    }));
  }

  isIndirect(code: CodeInstruction): boolean {
    const { kind } = this.flow(code);
    return kind === 'indirect' || kind === 'indirect-call';
  }

  isCode(pc: number): boolean {
    return this.regions.some((r) => pc >= r.base && pc < r.base + r.bytes.length);
  }

  at(pc: number): CodeInstruction | undefined {
    const region = this.regions.find((r) => pc >= r.base && pc < r.base + r.bytes.length);
    return region === undefined || (pc - region.base) % 4 !== 0 ? undefined : region.starts[(pc - region.base) >>> 2];
  }

  blockIndexAt(pc: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.starts[middle] as number) <= pc) low = middle + 1;
      else high = middle;
    }
    const block = this.blocks?.[low - 1];
    if (block === undefined) return low - 1;
    const last = this.instructions[block.end - 1] as CodeInstruction;
    return pc < last.pc + last.instruction.size ? low - 1 : -1;
  }

  /** The block that begins at an address, or -1. */
  private leaderAt(pc: number): number {
    const index = this.blockIndexAt(pc);
    return this.starts[index] === pc ? index : -1;
  }

  private endOf(cut: Cut, indirect: ReadonlyMap<number, readonly number[]>) {
    const last = this.instructions[cut.end - 1] as CodeInstruction;
    const flow = this.flow(last);
    const successors: number[] = [];
    const badTargets: number[] = [];
    let callees: readonly number[] = [];
    const go = (pc: number) => {
      const index = this.leaderAt(pc);
      if (index < 0 || this.overlapping.has(pc)) badTargets.push(pc);
      else if (!successors.includes(index)) successors.push(index);
    };
    const onward = (exit: BlockExit): BlockExit => {
      const next = this.leaderAt(cut.next);
      if (next < 0) return cut.next >= cut.region.base + cut.region.bytes.length ? 'off-end' : 'invalid';
      if (!successors.includes(next)) successors.push(next);
      return exit;
    };
    const known = indirect.get(last.pc);
    let exit: BlockExit;
    switch (flow.kind) {
      case 'next':
        exit = onward('fallthrough');
        break;
      case 'branch':
        exit = onward('branch');
        go(flow.target as number);
        break;
      case 'jump':
        exit = 'jump';
        go(flow.target as number);
        break;
      case 'call':
      case 'indirect-call':
        callees = flow.target === undefined ? (known ?? []) : [flow.target];
        for (const pc of callees) if (this.leaderAt(pc) < 0 || this.overlapping.has(pc)) badTargets.push(pc);
        exit = onward('call');
        break;
      case 'indirect':
        exit = known === undefined ? 'unresolved' : 'indirect';
        for (const pc of known ?? []) go(pc);
        break;
      case 'end':
        exit = 'end';
        break;
    }
    return { exit, successors, callees, badTargets };
  }
}

/** Numbers the instructions of a region and cuts them where a block begins, control flow leaves, or bytes are missing. */
function collect(region: Region, instructions: CodeInstruction[], cuts: Cut[], overlapping: Set<number>): void {
  let open: Cut | undefined;
  let decodedTo = 0;
  let wasInside = false;
  for (let i = 0; i < region.starts.length; i++) {
    const code = region.starts[i];
    if (code === undefined) continue;
    (code as { index: number }).index = instructions.length;
    const isInside = code.pc < decodedTo;
    if (isInside) overlapping.add(code.pc);
    else decodedTo = code.pc + code.instruction.size;
    if (open === undefined || region.leaders[i] === 1 || open.next !== code.pc || isInside !== wasInside) {
      open = { first: instructions.length, end: instructions.length, next: code.pc, region };
      cuts.push(open);
    }
    instructions.push(code);
    open.end = instructions.length;
    open.next = code.pc + code.instruction.size;
    wasInside = isInside;
  }
}
