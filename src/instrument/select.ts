// Makes of a lifted program what probes see of it (view.ts).
import { WavesmithError } from '../base/index.ts';
import type { DebugLine, DebugLines } from '../codeobject/index.ts';
import { debugLines } from '../codeobject/index.ts';
import { registerFromText } from '../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type Program,
  type SlotRange,
  slotsOf,
  waitRole,
} from '../program/index.ts';
import { accessSize } from './access-size.ts';
import { blockCounts, measuredBlocks } from './frequencies.ts';
import { edgesOf, loopsOf } from './loops.ts';
import type { MemorySpace, ProbeBlock, ProbeInstruction, ProbeKernel, ProbeProgram } from './view.ts';

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
    measuredBlocks: () => kernels.flatMap((kernel) => measuredBlocks(program, kernel)),
    blockCounts: (counted) => {
      const known = new Map<ProbeBlock, bigint>();
      for (const { site, value } of counted) {
        const block = byPc.get(site.pc)?.block;
        if (block !== undefined) known.set(block, value);
      }
      return new Map(kernels.flatMap((kernel) => [...blockCounts(program, kernel, known)]));
    },
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
