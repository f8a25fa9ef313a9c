// The points that a probe asks for, each with the place in the code that it becomes and the statements that were written for it.
import { registerFromText } from '../isa/index.ts';
import { type FurtherReads, type ProgramFunction, type SlotRange, slotsOf } from '../program/index.ts';
import { Body } from './body.ts';
import { type Indexing, PointFlags } from './flags.ts';
import type { StateShapes } from './state.ts';
import type { Points, ProbeDefinition, Write } from './types.ts';
import { clobberedBy, registersOf, type Statement, type Value, valuesOf, writtenBy } from './values.ts';
import type { ProbeBlock, ProbeInstruction, ProbeKernel, ProbeProgram } from './view.ts';

/** Which waves run a probe; all by default. */
export interface Sampling {
  /** The only workgroup, by its position; -1 stands for any. */
  readonly workgroup?: readonly [number, number, number] | undefined;
  /** The only wave of each workgroup, by its number. */
  readonly wave?: number | undefined;
  /** Workgroups whose position on the axes adds up to a multiple of this: in a row every Nth, in the next row shifted by one. */
  readonly every?: number | undefined;
}

/** A point of a probe. */
export interface Point {
  /** Among the points that the probe asked for. */
  readonly number: number;
  readonly side: 'before' | 'after' | 'taken' | 'replace';
  readonly pc: number;
  readonly kernel: ProbeKernel;
  /** The instruction that values of the point are about; undefined where a block or a kernel is meant. */
  readonly instruction: ProbeInstruction | undefined;
  readonly statements: readonly Statement[];
  readonly isSccLive: boolean;
  /** Vector instructions address registers through M0 here. */
  readonly indexing: Indexing | undefined;
  /** Why nothing may be put here. */
  readonly problem: string | undefined;
}

/** Instructions that end a wave. */
const END = /^s_endpgm/;

/** Runs a probe's `instrument` and notes what it asks for. `stays`: functions that cannot be moved, and why. */
export function collectPoints<S extends StateShapes>(
  probe: ProbeDefinition<S>,
  program: ProbeProgram,
  settings: Readonly<Record<string, string>>,
  sampling: Sampling = {},
  stays: ReadonlyMap<ProgramFunction, string> = new Map(),
): Point[] {
  const points: Omit<Point, 'isSccLive'>[] = [];
  const flags = new PointFlags(program.lifted);
  const unresolved = new Map<ProbeKernel, string | undefined>();
  const replaced = new Set<number>();
  /** Why an instruction must stay. */
  const fixed = ({ instruction }: ProbeInstruction['code'], pc: number): string | undefined => {
    const { flags, operation } = instruction.row;
    if (flags.has('isBranch') || flags.has('isCall') || operation === 's_getpc_b64' || END.test(operation))
      return 'an instruction that depends on where it stands, or ends the wave, cannot be replaced';
    if (replaced.has(pc)) return 'the instruction is replaced already';
    replaced.add(pc);
    return undefined;
  };
  const problemOf = (kernel: ProbeKernel): string | undefined => {
    if (!unresolved.has(kernel)) unresolved.set(kernel, stays.get(kernel.subject) ?? openJump(kernel));
    return unresolved.get(kernel);
  };
  const put = (
    side: Point['side'],
    { block, pc, code }: ProbeInstruction,
    instruction: ProbeInstruction | undefined,
    write: Write<S>,
  ): void => {
    const { kernel } = block;
    const body = new Body(probe.state, kernel, instruction, side, program.target);
    if (side === 'replace') write(body);
    else sampled(body, sampling, () => write(body));
    if (body.statements.every(isNothing) && side !== 'replace') return;
    const index = side === 'before' || side === 'replace' ? code.index : code.index + 1;
    const indexing = flags.indexingAt(block.index, Math.min(index, block.block.end));
    const isOpen = indexing === 'unknown' || (indexing !== undefined && writtenBy(body.statements).includes('m0'));
    points.push({
      number: points.length,
      side,
      pc,
      kernel,
      instruction,
      statements: body.statements,
      indexing,
      problem:
        problemOf(kernel) ??
        (side === 'replace' ? fixed(code, pc) : undefined) ??
        (side === 'taken' && block.block.exit === 'indirect' ? 'the jump goes to a computed address' : undefined) ??
        (isOpen ? 'registers are addressed through M0 here, in a way that is not known' : undefined),
    });
  };
  const at: Points<S> = {
    before: (instruction, write) => put('before', instruction, instruction, write),
    after: (instruction, write) => put('after', instruction, instruction, write),
    taken: (instruction, write) => put('taken', instruction, instruction, write),
    edge: ({ from, kind }, write) => {
      const last = from.instructions.at(-1) as ProbeInstruction;
      put(kind === 'next' ? 'after' : 'taken', last, undefined, write);
    },
    replace: (instruction, write) => put('replace', instruction, instruction, write),
    remove: (instruction) => put('replace', instruction, instruction, () => {}),
    entry: (block, write) => put('before', cheapest(block, flags), undefined, write),
    kernelEntry: (kernel, write) => {
      const first = mainEntry(kernel, program);
      if (first !== undefined) put('before', first, undefined, write);
    },
    kernelExit: (kernel, write) => {
      for (const block of kernel.blocks) {
        const last = block.instructions.at(-1);
        if (last !== undefined && END.test(last.operation)) put('before', last, undefined, write);
      }
    },
  };
  probe.instrument({ program, at, settings });
  const all = new PointFlags(program.lifted, readsOf(program, points));
  return points.map((point) => ({ ...point, isSccLive: isSccLive(program, all, point) }));
}

/** Behind a branch that is taken, what the target reads counts; its successors are both ways, so this is never too little. */
function isSccLive(program: ProbeProgram, flags: PointFlags, { pc, side }: Pick<Point, 'pc' | 'side'>): boolean {
  const { code, block } = program.at(pc) as ProbeInstruction;
  if (side === 'taken') return flags.isSccLive(block.index, block.block.end);
  const isLive = flags.isSccLive(block.index, side === 'before' ? code.index : code.index + 1);
  return isLive || (side === 'replace' && flags.isSccLive(block.index, code.index));
}

/** Registers that points read by name, by the instruction that they are before or behind. */
export function readsOf(
  program: ProbeProgram,
  points: readonly Pick<Point, 'pc' | 'side' | 'statements'>[],
): FurtherReads {
  const [before, after] = [new Map<number, SlotRange[]>(), new Map<number, SlotRange[]>()];
  for (const { pc, side, statements } of points) {
    const code = program.at(pc)?.code;
    if (code === undefined) continue;
    const { index, effects } = code;
    // What a replaced instruction would have written keeps its old value.
    const ranges = [...namedSlots(statements), ...(side === 'replace' ? effects.defs : [])];
    if (ranges.length === 0) continue;
    const map = side === 'before' || side === 'replace' ? before : after;
    map.set(index, [...(map.get(index) ?? []), ...ranges]);
  }
  return { before, after };
}

/** The slots of the registers that statements read or write by name. */
export function namedSlots(statements: readonly Statement[]): SlotRange[] {
  return [...readSlots(statements), ...slotsNamed([...writtenBy(statements), ...clobberedBy(statements)])];
}

/** The slots of registers by their names. */
export function slotsNamed(names: readonly string[]): SlotRange[] {
  return names.flatMap((name) => {
    const register = registerFromText(name);
    const range = register && slotsOf(register);
    return range === undefined ? [] : [range];
  });
}

/** The slots of the registers that statements read by name. */
export function readSlots(statements: readonly Statement[]): SlotRange[] {
  return slotsNamed(valuesOf(statements).flatMap((value) => (value.op === 'register' ? registersOf(value) : [])));
}

function isNothing(statement: Statement): boolean {
  return 'body' in statement && statement.body.every(isNothing);
}

/** Statements that only some waves run. */
function sampled<S extends StateShapes>(body: Body<S>, { workgroup, wave, every }: Sampling, then: () => void): void {
  const apart: Value[] = [];
  if (workgroup !== undefined || every !== undefined) {
    const { x, y, z } = body.workgroupId;
    for (const [i, id] of [x, y, z].entries())
      if ((workgroup?.[i] ?? -1) >= 0) apart.push(body.sub(id, workgroup?.[i] as number));
    if (every !== undefined) apart.push(body.rem(body.add(x, body.add(y, z)), every));
  }
  if (wave !== undefined) apart.push(body.sub(body.waveId, wave));
  const [first, ...rest] = apart;
  if (first === undefined) then();
  else body.if(body.isZero(rest.reduce((all, one) => body.or(all, one), first)), then);
}

/** The instruction of a block before which the least must be saved. */
function cheapest(block: ProbeBlock, flags: PointFlags): ProbeInstruction {
  const { instructions, index } = block;
  const [first] = instructions as [ProbeInstruction];
  const best = instructions.find(
    (one) => !flags.isSccLive(index, one.code.index) && flags.indexingAt(index, one.code.index) === undefined,
  );
  return best ?? instructions.find((one) => flags.indexingAt(index, one.code.index) === undefined) ?? first;
}

/** Where a kernel's own code begins: behind the block for firmware that preloads no arguments. */
function mainEntry(kernel: ProbeKernel, program: ProbeProgram): ProbeInstruction | undefined {
  if (!kernel.isKernel) return undefined;
  const preload = kernel.subject.kernel?.descriptor?.preload.length ?? 0;
  return program.at(kernel.entry + (preload > 0 ? 256 : 0)) ?? program.at(kernel.entry);
}

/** Why a kernel's code cannot be moved apart. */
function openJump(kernel: ProbeKernel): string | undefined {
  const block = kernel.blocks.find((b) => b.block.exit === 'unresolved' || b.block.badTargets.length > 0);
  const last = block?.instructions.at(-1);
  return last && `where '${last.text}' at 0x${last.pc.toString(16)} goes is not known`;
}
