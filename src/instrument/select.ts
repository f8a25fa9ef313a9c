// A program as a probe sees it: kernels, blocks and instructions with the properties that points are chosen by.
import { WavesmithError } from '../base/index.ts';
import type { DebugLine, DebugLines } from '../codeobject/index.ts';
import { debugLines } from '../codeobject/index.ts';
import { registerFromText, type TargetName } from '../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type Program,
  type ProgramFunction,
  type SlotRange,
  slotsOf,
  waitRole,
} from '../program/index.ts';
import { accessSize } from './access-size.ts';
import { edgesOf, loopsOf, type ProbeEdge, type ProbeLoop } from './loops.ts';

/** Memory that an instruction accesses. */
export type MemorySpace = 'global' | 'flat' | 'buffer' | 'scratch' | 'lds' | 'scalar';

/** An instruction that points can be put at. */
export interface ProbeInstruction {
  readonly pc: number;
  /** As it is disassembled. */
  readonly text: string;
  readonly mnemonic: string;
  /** The operation whatever its encoding. */
  readonly operation: string;
  readonly size: number;
  readonly code: CodeInstruction;
  readonly block: ProbeBlock;
  /** The memory it accesses; undefined for most. */
  readonly memory: MemorySpace | undefined;
  readonly isLoad: boolean;
  readonly isStore: boolean;
  readonly isAtomic: boolean;
  readonly isBranch: boolean;
  /** Goes on in two ways. */
  readonly isConditional: boolean;
  readonly isMatrix: boolean;
  readonly isVector: boolean;
  readonly isScalar: boolean;
  /** Bytes that it accesses for each lane, of a scalar one for the wave; undefined when it accesses no memory. */
  readonly accessSize: number | undefined;
  /** The line of the compiler's source. */
  readonly source: DebugLine | undefined;
  /** Whether it reads, or writes, a register or part of it: `s4`, `v[8:9]`, `a0`, `vcc`, `exec`, `m0`, `scc`. Errors: `probe/register`. */
  reads(register: string): boolean;
  writes(register: string): boolean;
}

/** Instructions that run one after the other. */
export interface ProbeBlock {
  readonly index: number;
  readonly pc: number;
  readonly kernel: ProbeKernel;
  readonly instructions: readonly ProbeInstruction[];
  /** How many instructions. */
  readonly length: number;
  readonly block: BasicBlock;
}

/** A kernel, or a function that kernels call. */
export interface ProbeKernel {
  readonly name: string;
  readonly isKernel: boolean;
  readonly entry: number;
  readonly subject: ProgramFunction;
  readonly blocks: readonly ProbeBlock[];
}

/** The kernels and functions that are instrumented. */
export interface ProbeProgram {
  readonly target: TargetName;
  /** The whole program, for analyses. */
  readonly lifted: Program;
  readonly kernels: readonly ProbeKernel[];
  /** Every block once. */
  blocks(): readonly ProbeBlock[];
  instructions(): readonly ProbeInstruction[];
  /** Every way from a block to the next, once. */
  edges(): readonly ProbeEdge[];
  /** Every loop with one entry, outer ones first. */
  loops(): readonly ProbeLoop[];
  /** An instruction by its address. */
  at(pc: number): ProbeInstruction | undefined;
}

const MATRIX = /^v_s?mfmac?_/;

/** The slots of a register by its name. */
function rangeNamed(name: string): SlotRange {
  const register = registerFromText(name);
  const range = register && slotsOf(register);
  if (range === undefined) throw new WavesmithError('probe/register', `'${name}' is no register.`);
  return range;
}

function meets({ first, count }: SlotRange, ranges: readonly SlotRange[]): boolean {
  return ranges.some((one) => one.first < first + count && first < one.first + one.count);
}

function spaceOf({ instruction }: CodeInstruction): MemorySpace | undefined {
  const { flags, encoding } = instruction.row;
  if (waitRole(instruction.row).kind === undefined) return undefined;
  if (flags.has('SMRD')) return flags.has('mayLoad') || flags.has('mayStore') ? 'scalar' : undefined;
  if (flags.has('DS')) return 'lds';
  if (flags.has('FlatGlobal')) return 'global';
  if (flags.has('FlatScratch')) return 'scratch';
  if (flags.has('FLAT')) return 'flat';
  return encoding === 'MUBUF' || encoding === 'MTBUF' ? 'buffer' : undefined;
}

/** The view of a program for probes; only kernels that `isWanted` are in it, and functions. */
export function selectProgram(program: Program, isWanted: (kernel: string) => boolean): ProbeProgram {
  const lines: DebugLines | undefined = debugLines(program.codeObject.elf);
  const taken = new Set<number>();
  const byPc = new Map<number, ProbeInstruction>();
  const kernels = program.functions.flatMap((subject): ProbeKernel[] => {
    if (subject.kernel !== undefined && !isWanted(subject.name)) return [];
    const blocks: ProbeBlock[] = [];
    const kernel: ProbeKernel = {
      name: subject.name,
      isKernel: subject.kernel !== undefined,
      entry: subject.entry,
      subject,
      blocks,
    };
    for (const index of subject.blocks) {
      const block = program.blocks[index];
      if (block === undefined || taken.has(index)) continue;
      taken.add(index);
      blocks.push(viewOf(program, block, kernel, lines, byPc));
    }
    return [kernel];
  });
  const blocks = kernels.flatMap((kernel) => kernel.blocks);
  return {
    target: program.target,
    lifted: program,
    kernels,
    blocks: () => blocks,
    instructions: () => blocks.flatMap((block) => block.instructions),
    edges: () => kernels.flatMap((kernel) => edgesOf(program, kernel)),
    loops: () => kernels.flatMap((kernel) => loopsOf(program, kernel)),
    at: (pc) => byPc.get(pc),
  };
}

function viewOf(
  program: Program,
  block: BasicBlock,
  kernel: ProbeKernel,
  lines: DebugLines | undefined,
  byPc: Map<number, ProbeInstruction>,
): ProbeBlock {
  const instructions: ProbeInstruction[] = [];
  const { pc } = program.instructions[block.first] as CodeInstruction;
  const view: ProbeBlock = {
    index: block.index,
    pc,
    kernel,
    instructions,
    length: block.end - block.first,
    block,
  };
  for (let i = block.first; i < block.end; i++) {
    const code = program.instructions[i] as CodeInstruction;
    const one = new SelectedInstruction(program, code, view, lines);
    instructions.push(one);
    byPc.set(code.pc, one);
  }
  return view;
}

/** Texts and lines are made when they are asked for: most instructions are only counted. */
class SelectedInstruction implements ProbeInstruction {
  readonly code: CodeInstruction;
  readonly block: ProbeBlock;
  private readonly program: Program;
  private readonly lines: DebugLines | undefined;

  constructor(program: Program, code: CodeInstruction, block: ProbeBlock, lines: DebugLines | undefined) {
    this.program = program;
    this.code = code;
    this.block = block;
    this.lines = lines;
  }

  private has(flag: string): boolean {
    return this.code.instruction.row.flags.has(flag);
  }

  get pc(): number {
    return this.code.pc;
  }
  get text(): string {
    return this.program.text(this.code.pc);
  }
  get mnemonic(): string {
    return this.code.instruction.row.mnemonic;
  }
  get operation(): string {
    return this.code.instruction.row.operation;
  }
  get size(): number {
    return this.code.instruction.size;
  }
  get memory(): MemorySpace | undefined {
    return spaceOf(this.code);
  }
  get accessSize(): number | undefined {
    return this.memory === undefined ? undefined : accessSize(this.operation);
  }
  reads(register: string): boolean {
    const { uses, keeps } = this.code.effects;
    return meets(rangeNamed(register), [...uses, ...keeps]);
  }
  writes(register: string): boolean {
    return meets(rangeNamed(register), this.code.effects.defs);
  }
  get isLoad(): boolean {
    return this.memory !== undefined && this.has('mayLoad');
  }
  get isStore(): boolean {
    return this.memory !== undefined && this.has('mayStore');
  }
  get isAtomic(): boolean {
    return this.isLoad && this.isStore && this.memory !== 'scalar' && !this.has('LDSDMA');
  }
  get isBranch(): boolean {
    return this.has('isBranch') || this.has('isCall');
  }
  get isConditional(): boolean {
    return this.block.block.exit === 'branch' && this.block.instructions.at(-1) === this;
  }
  get isMatrix(): boolean {
    return MATRIX.test(this.operation);
  }
  get isVector(): boolean {
    return this.has('VALU');
  }
  get isScalar(): boolean {
    return this.has('SALU');
  }
  get source(): DebugLine | undefined {
    return this.lines?.at(this.code.pc);
  }
}
