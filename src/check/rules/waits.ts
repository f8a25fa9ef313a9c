// Room `check/rules`: one file per rule or family of rules; docs/check/ has a page for each rule.
// Begin with control-flow.ts, the shortest; this file and hazards.ts are the most used. Each rule's head names the chapter of the
// manual that it enforces.
//
// Rule `waits/*`: a register that a memory operation writes is used before the wait counters prove the operation complete.
// Forward data flow over the blocks of a kernel. Source: CDNA3 ISA manual, section "Data Dependency Resolution".
import { type Finding, finding, insertWait } from '../../finding/index.ts';
import type { InstructionRow } from '../../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type MemoryKind,
  neededWait,
  overlaps,
  PRELOAD_STUB,
  type Program,
  type ProgramFunction,
  type SlotRange,
  slotNames,
  solveForward,
  type WaitRole,
  waitCounts,
  waitRole,
} from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { type CodeRange, type Collision, WaitState } from './waits-state.ts';

type Report = (rule: 'read' | 'write' | 'barrier', code: CodeInstruction, collisions: readonly Collision[]) => void;

const solved = new WeakMap<Program, Map<ProgramFunction, ReadonlyMap<number, WaitState>>>();

/** What may be outstanding where each reachable block of the subject begins, by block index. Several rules ask: solved once. */
export function outstandingAtBlocks(context: CheckContext): ReadonlyMap<number, WaitState> {
  const { program, subject } = context;
  const bySubject = solved.get(program) ?? new Map<ProgramFunction, ReadonlyMap<number, WaitState>>();
  solved.set(program, bySubject);
  let inputs = bySubject.get(subject);
  if (inputs === undefined) {
    inputs = solve(context);
    // Only the last function is kept: states are large.
    bySubject.clear();
    bySubject.set(subject, inputs);
  }
  return inputs;
}

function solve(context: CheckContext): Map<number, WaitState> {
  const range = rangeOf(context);
  return solveForward<WaitState>(context.program, context.subject, {
    entry: () => new WaitState(range),
    copy: (state) => new WaitState(range, state),
    transfer: (block, state) => runBlock(context, block, state, undefined),
    join: (input, state) => input.join(state),
  });
}

/**
 * Indexes of the instructions that touch registers of operations which may be outstanding: all of them, where `checkWaits` tells of
 * each operation once.
 */
export function earlyInstructions(context: CheckContext): ReadonlySet<number> {
  const { program, subject } = context;
  const early = new Set<number>();
  solveForward<WaitState>(program, subject, {
    entry: () => new WaitState(rangeOf(context)),
    copy: (state) => new WaitState(state.range, state),
    transfer: ({ first, end, exit }, state) => {
      for (let i = first; i < end; i++) {
        const code = program.instructions[i] as CodeInstruction;
        const { uses, keeps, defs } = code.effects;
        const role = waitRole(code.instruction.row);
        if (role.isWait) state.wait(waitCounts(code.instruction));
        else {
          const isEarly = collides(state, uses, undefined) || collides(state, [...defs, ...keeps], inOrderKind(role));
          if (isEarly) early.add(i);
          if (role.kind !== undefined) state.issue(role.kind, code);
        }
      }
      if (exit === 'call') state.wait({ vm: 0, exp: 0, lgkm: 0 });
    },
    join: (input, state) => input.join(state),
  });
  return early;
}

const collides = (state: WaitState, ranges: readonly SlotRange[], except: MemoryKind | undefined): boolean =>
  !state.isEmpty && state.touches(ranges) && state.collisions(ranges, except).length > 0;

/** Of an instruction whose result comes back behind those of its kind before it: the kind. */
const inOrderKind = ({ kind }: WaitRole): MemoryKind | undefined =>
  kind === 'vm' || kind === 'lds' ? kind : undefined;

/**
 * Results that are read, overwritten or published before they have come back. An error where no path from the operation waits for
 * it, a warning where some paths do: which paths are taken together depends on values.
 */
export const checkWaits: Rule = (context) => {
  const { program, subject } = context;
  const inputs = outstandingAtBlocks(context);
  const findings: Finding[] = [];
  const report: Report = (rule, code, collisions) => {
    for (const collision of collisions) {
      if (rule !== 'write' || !isRepeated(program, collision.operation, code)) {
        findings.push(makeFinding(context, rule, code, collision));
      }
    }
  };
  for (const index of subject.blocks) {
    const input = inputs.get(index);
    if (input === undefined) continue;
    const state = new WaitState(input.range, input);
    runBlock(context, program.blocks[index] as BasicBlock, state, report);
  }
  return findings;
};

/** The instructions between the first and the last of the subject's blocks. */
function rangeOf({ program, subject }: CheckContext): CodeRange {
  const blocks = subject.blocks.map((index) => program.blocks[index] as BasicBlock);
  const first = blocks[0]?.first ?? 0;
  const end = blocks[blocks.length - 1]?.end ?? 0;
  const numbers = new Int32Array(end - first).fill(-1);
  let operations = 0;
  const writers: number[][] = [];
  for (const block of blocks) {
    for (let i = block.first; i < block.end; i++) {
      const { instruction, effects } = program.instructions[i] as CodeInstruction;
      if (waitRole(instruction.row).kind === undefined) continue;
      numbers[i - first] = operations++;
      for (const def of effects.defs) {
        for (let slot = def.first; slot < def.first + def.count; slot++) {
          writers[slot] ??= [];
          (writers[slot] as number[]).push(i);
        }
      }
    }
  }
  return { code: program.instructions, first, end, numbers, operations, writers };
}

/** What may be outstanding before one instruction of a block, from what was where the block begins. */
export function replayBlock(context: CheckContext, block: BasicBlock, input: WaitState, index: number): WaitState {
  const state = new WaitState(input.range, input);
  runBlock(context, { ...block, end: index, exit: 'fallthrough' }, state, undefined);
  return state;
}

/** Visits every instruction of a block with what may be outstanding before it. */
export function stepThrough(
  context: CheckContext,
  block: BasicBlock,
  input: WaitState,
  visit: (code: CodeInstruction, state: WaitState) => void,
): void {
  runBlock(context, block, new WaitState(input.range, input), undefined, visit);
}

/** Changes the state as the block does; tells what collides when asked to. A call is taken to wait for everything. */
function runBlock(
  context: CheckContext,
  block: BasicBlock,
  state: WaitState,
  report: Report | undefined,
  visit?: (code: CodeInstruction, state: WaitState) => void,
): void {
  const { instructions } = context.program;
  for (let i = block.first; i < block.end; i++) {
    const code = instructions[i] as CodeInstruction;
    visit?.(code, state);
    const { row } = code.instruction;
    const role = waitRole(row);
    if (role.isWait) {
      state.wait(waitCounts(code.instruction));
      continue;
    }
    if (!state.isEmpty) {
      const { uses, keeps, defs } = code.effects;
      collide('read', uses, code, state, undefined, report);
      const inOrder = inOrderKind(role);
      collide('write', defs, code, state, inOrder, report);
      collide('write', keeps, code, state, inOrder, report);
      if (role.isBarrier && report !== undefined) reportBarrier(context.program, block, code, state, report);
    }
    if (role.kind !== undefined) state.issue(role.kind, code);
  }
  if (block.exit === 'call') state.wait({ vm: 0, exp: 0, lgkm: 0 });
}

function collide(
  rule: 'read' | 'write',
  ranges: readonly SlotRange[],
  code: CodeInstruction,
  state: WaitState,
  except: MemoryKind | undefined,
  report: Report | undefined,
): void {
  if (ranges.length === 0 || !state.touches(ranges)) return;
  const found = state.take(ranges, except);
  if (found.length > 0) report?.(rule, code, found);
}

/** LDS that other wavefronts may read after the barrier, not yet written when it is passed. */
function reportBarrier(
  program: Program,
  block: BasicBlock,
  code: CodeInstruction,
  state: WaitState,
  report: Report,
): void {
  let last: CodeInstruction | undefined;
  for (const operation of state.outstanding('lds')) if (waitRole(operation.instruction.row).stores) last = operation;
  if (last === undefined || !isLdsReadBehind(program, block, code)) return;
  report('barrier', code, [{ kind: 'lds', operation: last, age: 0, isCertain: true }]);
}

/** Whether LDS may be read behind a barrier before all wavefronts are at a barrier again. Code that is not known may read it. */
function isLdsReadBehind(program: Program, block: BasicBlock, barrier: CodeInstruction): boolean {
  const seen = new Set<number>();
  const pending: { readonly block: BasicBlock; readonly from: number }[] = [{ block, from: barrier.index + 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { end, exit, successors } = next.block;
    let reachesEnd = true;
    for (let i = next.from; i < end && reachesEnd; i++) {
      const { row } = (program.instructions[i] as CodeInstruction).instruction;
      if (readsLdsMemory(row)) return true;
      reachesEnd = !waitRole(row).isBarrier;
    }
    if (!reachesEnd || exit === 'end') continue;
    if (exit === 'call' || successors.length === 0) return true;
    for (const index of successors) {
      const successor = program.blocks[index] as BasicBlock;
      if (!seen.has(index)) pending.push({ block: successor, from: successor.first });
      seen.add(index);
    }
  }
  return false;
}

/** Lanes exchange values through the LDS unit without its memory. */
const EXCHANGES = /^ds_(?:swizzle|permute|bpermute)_/;

/** Whether a DS or flat instruction may read LDS. */
export function readsLdsMemory(row: InstructionRow): boolean {
  const { kind } = waitRole(row);
  return (kind === 'lds' || kind === 'flat') && row.flags.has('mayLoad') && !EXCHANGES.test(row.operation);
}

function makeFinding(
  { program, subject }: CheckContext,
  rule: 'read' | 'write' | 'barrier',
  code: CodeInstruction,
  collision: Collision,
): Finding {
  const { operation } = collision;
  const other = program.text(operation.pc);
  const common = { kernel: subject.name, place: placeAt(program, code.pc) };
  if (rule === 'barrier') {
    return finding({
      ...common,
      rule: 'waits/barrier-before-write',
      isCertain: false,
      related: [relatedAt(program, operation.pc, 'writes LDS')],
      message: `The barrier may be passed before '${other}' has written LDS.`,
      edits: [insertWait(code.pc, { lgkmcnt: 0 })],
    });
  }
  const touched = rule === 'read' ? code.effects.uses : [...code.effects.defs, ...code.effects.keeps];
  const registers = slotNames(commonSlots(touched, operation.effects.defs));
  const verb = rule === 'read' ? 'read' : 'overwritten';
  const many = registers.length > 1 || registers.some((r) => r.includes(':'));
  // Hardware that preloads arguments starts behind the stub.
  const isStub = (subject.kernel?.descriptor?.preload.length ?? 0) > 0 && operation.pc - subject.entry < PRELOAD_STUB;
  return finding({
    ...common,
    rule: rule === 'read' ? 'waits/read-before-return' : 'waits/write-before-return',
    severity: collision.isCertain && !isStub ? 'error' : 'warning',
    isCertain: collision.isCertain,
    related: [relatedAt(program, operation.pc, 'writes the register')],
    registers,
    message: `${collision.isCertain ? '' : 'On some paths '}${registers.join(', ')} ${many ? 'are' : 'is'} ${verb} before '${other}' is known to have returned.`,
    edits: [insertWait(code.pc, neededWait(collision.kind, collision.age))],
  });
}

/** The same load of the same address once more, into the same register: whichever returns last, it brings the same. */
function isRepeated(program: Program, first: CodeInstruction, again: CodeInstruction): boolean {
  const isSame = first.instruction.row === again.instruction.row && program.text(first.pc) === program.text(again.pc);
  if (!isSame || first.index >= again.index || program.blockAt(first.pc) !== program.blockAt(again.pc)) return false;
  const { flags } = first.instruction.row;
  if (flags.has('IsAtomicRet') || flags.has('mayStore')) return false;
  for (let i = first.index; i < again.index; i++) {
    const between = program.instructions[i] as CodeInstruction;
    const isStore = i > first.index && between.instruction.row.flags.has('mayStore');
    if (isStore || overlaps(between.effects.defs, again.effects.uses)) return false;
  }
  return true;
}

function commonSlots(a: readonly SlotRange[], b: readonly SlotRange[]): Set<number> {
  const out = new Set<number>();
  for (const x of a) {
    for (const y of b) {
      const end = Math.min(x.first + x.count, y.first + y.count);
      for (let slot = Math.max(x.first, y.first); slot < end; slot++) out.add(slot);
    }
  }
  return out;
}
