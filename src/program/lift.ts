// Lifts a code object: decodes what is reachable from its kernels and functions, splits it into blocks, resolves indirect
// branches with known values. Source: AMDGPUUsage (kernel entry), CDNA3 ISA manual, chapter "Program Flow Control".

import { WavesmithError } from '../base/index.ts';
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import { isTargetName, printInstruction, type TargetName } from '../isa/index.ts';
import { TARGET_LIST } from '../isa/table/targets.ts';
import { type CodeMap, CodeRegions } from './code-map.ts';
import { changesScalars, joinKnowledge, type Knowledge, stepKnowledge, targetsOf } from './constants.ts';
import { findJumpTables } from './jump-tables.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type JumpTable,
  PRELOAD_STUB,
  type Program,
  type ProgramFunction,
} from './types.ts';

const STT_FUNC = 2;
const SHF_EXECINSTR = 4n;

/** Rounds of finding indirect targets; each round can only add code. */
const MAX_ROUNDS = 16;

export interface LiftOptions {
  /** Lift only these kernels, with what they call. */
  readonly kernels?: ReadonlySet<string> | undefined;
}

/** Lifts a linked code object; throws `program/target` for processors without an instruction table, `program/relocatable`. */
export function liftCodeObject(codeObject: CodeObject, options: LiftOptions = {}): Program {
  const target = codeObject.target.processor;
  if (!isTargetName(target)) {
    throw new WavesmithError('program/target', `There is no instruction table for ${target}.`, {
      hint: `Supported targets are ${TARGET_LIST}.`,
    });
  }
  if (codeObject.isRelocatable) {
    throw new WavesmithError('program/relocatable', 'Branches and calls of a relocatable object are not known yet.', {
      hint: 'Link it first: ld.lld -shared FILE.o -o FILE.co.',
    });
  }
  const sections = codeObject.elf.sections.filter((s) => (s.flags & SHF_EXECINSTR) !== 0n && s.bytes.length > 0);
  const map = new CodeRegions(
    target,
    sections.map((s) => ({ base: s.address, bytes: s.bytes })),
  );
  const entries = entriesOf(codeObject);
  const { kernels } = options;
  if (kernels !== undefined) {
    for (const [pc, { kernel }] of entries) if (kernel === undefined || !kernels.has(kernel.name)) entries.delete(pc);
  }
  for (const pc of startsOf(entries)) map.walk(pc);
  const { indirect, tables } = resolveIndirect(map, codeObject, entries);
  return new LiftedProgram(target, codeObject, map.finish(indirect), entries, tables);
}

interface Entry {
  readonly name: string;
  readonly kernel: Kernel | undefined;
}

/** Kernels first, then function symbols, by address. */
function entriesOf(codeObject: CodeObject): Map<number, Entry> {
  const entries = new Map<number, Entry>();
  for (const kernel of codeObject.kernels) {
    if (kernel.entry !== undefined && !entries.has(kernel.entry)) {
      entries.set(kernel.entry, { name: kernel.name, kernel });
    }
  }
  const { elf } = codeObject;
  for (const symbol of elf.symbols.length > 0 ? elf.symbols : elf.dynamicSymbols) {
    if (symbol.type !== STT_FUNC || symbol.section === undefined) continue;
    if ((symbol.section.flags & SHF_EXECINSTR) === 0n) continue;
    const address = Number(symbol.value);
    if (!entries.has(address)) entries.set(address, { name: symbol.name, kernel: undefined });
  }
  return entries;
}

/** Addresses where something is entered; kernels with preloaded arguments have two. */
function* startsOf(entries: ReadonlyMap<number, Entry>): Generator<number> {
  for (const [pc, { kernel }] of entries) {
    yield pc;
    if ((kernel?.descriptor?.preload.length ?? 0) > 0) yield pc + PRELOAD_STUB;
  }
}

/** Where s_setpc and s_swappc go, by the instruction's pc, and the tables among that. */
interface IndirectTargets {
  readonly indirect: ReadonlyMap<number, readonly number[]>;
  readonly tables: readonly JumpTable[];
}

/** Finds where s_setpc and s_swappc go, walking the code found, until nothing is new. */
function resolveIndirect(
  map: CodeRegions,
  codeObject: CodeObject,
  entries: ReadonlyMap<number, Entry>,
): IndirectTargets {
  let found: IndirectTargets = { indirect: new Map(), tables: [] };
  for (let round = 0; round < MAX_ROUNDS && map.indirectCount > 0; round++) {
    const before = map.count;
    const graph = map.finish(found.indirect);
    const known = propagate(graph, entries);
    const tables = findJumpTables(graph, codeObject, startsOf(entries), known);
    const indirect = new Map([...known, ...tables.map(({ pc, targets }) => [pc, targets] as const)]);
    const isSame = sameTargets(indirect, found.indirect);
    found = { indirect, tables };
    for (const targets of indirect.values()) for (const pc of targets) map.walk(pc);
    if (map.count === before && (isSame || tables.length === 0) && round > 0) return found;
  }
  // Bounds that have not settled are no bounds.
  const open = new Set(found.tables.map(({ pc }) => pc));
  return { indirect: new Map([...found.indirect].filter(([pc]) => !open.has(pc))), tables: [] };
}

function sameTargets(a: IndirectTargets['indirect'], b: IndirectTargets['indirect']): boolean {
  return a.size === b.size && [...a].every(([pc, targets]) => targets.join() === b.get(pc)?.join());
}

/** Known values through the blocks; what they say about each indirect branch. */
function propagate(graph: CodeMap, entries: ReadonlyMap<number, Entry>): Map<number, readonly number[]> {
  const { blocks, instructions } = graph;
  const inputs: (Knowledge | undefined)[] = new Array(blocks.length).fill(undefined);
  const work: number[] = [];
  const push = (index: number, known: Knowledge) => {
    const input = inputs[index];
    if (input === undefined) inputs[index] = new Map(known);
    else if (!joinKnowledge(input, known)) return;
    work.push(index);
  };
  for (const pc of startsOf(entries)) {
    const block = graph.blockIndexAt(pc);
    if (block >= 0) push(block, new Map());
  }
  const found = new Map<number, readonly number[]>();
  /** By block: the instructions that matter; blocks of loops are looked at several times. */
  const scalars: CodeInstruction[][] = [];
  while (work.length > 0) {
    const index = work.pop() as number;
    const block = blocks[index] as BasicBlock;
    const known: Knowledge = new Map(inputs[index]);
    scalars[index] ??= instructions
      .slice(block.first, block.end)
      .filter((c) => graph.isIndirect(c) || changesScalars(c));
    for (const code of scalars[index]) {
      if (graph.isIndirect(code)) {
        const targets = targetsOf(code.instruction, known)?.filter((pc) => graph.isCode(pc));
        if (targets !== undefined && targets.length > 0) found.set(code.pc, targets);
        else found.delete(code.pc);
      }
      stepKnowledge(code, known);
    }
    for (const callee of block.callees) {
      const entry = graph.blockIndexAt(callee);
      if (entry >= 0) push(entry, new Map());
    }
    if (block.exit === 'call') known.clear();
    for (const successor of block.successors) push(successor, known);
  }
  return found;
}

/** An s_setpc with an unknown target is a return where only called code gets to it. */
function markReturns(blocks: readonly BasicBlock[], functions: readonly ProgramFunction[]): readonly BasicBlock[] {
  const inKernel = new Set<number>();
  for (const f of functions) if (f.kernel !== undefined) for (const block of f.blocks) inKernel.add(block);
  return blocks.map((block) =>
    block.exit === 'unresolved' && !inKernel.has(block.index) ? { ...block, exit: 'return' } : block,
  );
}

class LiftedProgram implements Program {
  readonly target: TargetName;
  readonly codeObject: CodeObject;
  readonly instructions: readonly CodeInstruction[];
  readonly blocks: readonly BasicBlock[];
  readonly functions: readonly ProgramFunction[];
  readonly jumpTables: readonly JumpTable[];
  private readonly graph: CodeMap;

  constructor(
    target: TargetName,
    codeObject: CodeObject,
    graph: CodeMap,
    entries: ReadonlyMap<number, Entry>,
    jumpTables: readonly JumpTable[],
  ) {
    this.jumpTables = jumpTables;
    this.target = target;
    this.codeObject = codeObject;
    this.graph = graph;
    this.instructions = graph.instructions;
    this.blocks = graph.blocks;
    const all = new Map(entries);
    for (const block of graph.blocks) {
      for (const pc of block.callees) {
        if (!all.has(pc)) all.set(pc, { name: `function_${pc.toString(16)}`, kernel: undefined });
      }
    }
    this.functions = [...all]
      .map(([entry, { name, kernel }]) => this.functionAt(entry, name, kernel))
      .filter((f): f is ProgramFunction => f !== undefined)
      .sort((a, b) => a.entry - b.entry);
    this.blocks = markReturns(this.blocks, this.functions);
  }

  at(pc: number): CodeInstruction | undefined {
    return this.graph.at(pc);
  }

  blockAt(pc: number): BasicBlock | undefined {
    return this.blocks[this.graph.blockIndexAt(pc)];
  }

  text(pc: number): string {
    const code = this.at(pc);
    return code === undefined ? '(not an instruction)' : printInstruction(this.target, code.instruction).trim();
  }

  private functionAt(entry: number, name: string, kernel: Kernel | undefined): ProgramFunction | undefined {
    if (this.graph.blockIndexAt(entry) < 0) return undefined;
    const entryBlocks = [...startsOf(new Map([[entry, { name, kernel }]]))]
      .map((pc) => this.graph.blockIndexAt(pc))
      .filter((index) => index >= 0);
    const seen = new Set(entryBlocks);
    for (const index of seen) {
      for (const successor of (this.blocks[index] as BasicBlock).successors) seen.add(successor);
    }
    return { name, entry, kernel, entryBlocks, blocks: [...seen].sort((a, b) => a - b) };
  }
}

/** Whether execution can arrive at an address from the instruction before it. */
export function hasFallthrough(program: Program, pc: number): boolean {
  const before = program.blockAt(pc - 4);
  if (before === undefined) return false;
  const last = program.instructions[before.end - 1] as CodeInstruction;
  if (last.pc + last.instruction.size !== pc) return true;
  return before.exit === 'fallthrough' || before.exit === 'branch' || before.exit === 'call';
}
