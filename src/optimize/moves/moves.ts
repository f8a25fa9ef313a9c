// All moves of a kernel, in a fixed order. Each kind has its precondition here; that it held is shown by the ladder.
import { checkStrongWaits, repeatedCacheOperations } from '../../check/index.ts';
import { waitText } from '../../finding/index.ts';
import { immediateOf } from '../../isa/operand.ts';
import {
  type CodeInstruction,
  hasSlot,
  LGKM_FULL,
  overlaps,
  VM_FULL,
  waitCounts,
  waitRole,
} from '../../program/index.ts';
import { freshRegisters } from './fresh.ts';
import { hoistedInvariants, scalarOperands } from './invariants.ts';
import { merged } from './merge.ts';
import { filledNops } from './nops.ts';
import { packedRegisters } from './pack.ts';
import { pipelined } from './pipeline.ts';
import { raisedPriority, streams } from './policy.ts';
import { grown } from './registers.ts';
import { scheduled } from './schedule.ts';
import { droppedSkips, hoistedAcross } from './skips.ts';
import { paddedLds, swizzledLds } from './swizzle.ts';
import { dependsOn, isMemory, joined, type KernelView, type Move, waitLine } from './view.ts';
import { remappedGroups, trimmedRegisters } from './whole.ts';

const NOTHING = new Uint8Array();
/** Instructions behind a wait that are looked at to fill it. */
const WINDOW = 64;

const isWait = (code: CodeInstruction): boolean => waitRole(code.instruction.row).isWait;
/** The wait of two counters and nothing else. */
const isPlainWait = (code: CodeInstruction): boolean =>
  code.instruction.row.operation === 's_waitcnt' && waitCounts(code.instruction).exp === 7;

/** Every move that can be made of a kernel. */
export function movesOf(view: KernelView): Move[] {
  return [
    ...relaxedWaits(view),
    ...view.regions.flatMap((region) => [
      ...sunkWaits(view, region),
      ...filledWaits(view, region),
      ...hoistedLoads(view, region),
      ...merged(view, region),
    ]),
    ...pipelined(view),
    ...hoistedInvariants(view),
    ...scalarOperands(view),
    ...droppedSkips(view),
    ...hoistedAcross(view),
    ...filledNops(view),
    ...removals(view),
    ...view.regions.flatMap((region) => scheduled(view, region)),
    ...swizzledLds(view),
    ...paddedLds(view),
    ...trimmedRegisters(view),
    ...packedRegisters(view),
    ...remappedGroups(view),
    ...streams(view),
    ...raisedPriority(view),
  ];
}

/** Waits that wait for more than anything behind them needs, as the checker proves. */
function relaxedWaits(view: KernelView): Move[] {
  const moves: Move[] = [];
  for (const { edits, place } of checkStrongWaits(view.context)) {
    const [edit] = edits;
    if (edit?.kind !== 'set-wait' || place.pc === undefined || edits.length !== 1) continue;
    const code = view.program.at(edit.pc);
    if (code === undefined || !view.isFree(code)) continue;
    const line = waitText(edit.counters);
    const replace = new Map<number, Uint8Array>([[edit.pc, line === undefined ? NOTHING : view.line(line)]]);
    moves.push({ kind: 'relax-wait', pc: edit.pc, text: `${view.text(code)} → ${line ?? 'nothing'}`, replace });
  }
  return moves;
}

/** Waits, or one of their counters, moved to where something first needs them. */
function sunkWaits(view: KernelView, region: readonly CodeInstruction[]): Move[] {
  const moves: Move[] = [];
  region.forEach((wait, at) => {
    if (!isPlainWait(wait)) return;
    const { vm, lgkm } = waitCounts(wait.instruction);
    const outstanding = view.outstandingBefore(wait);
    const parts = [
      { counter: 'vm', rest: waitLine(VM_FULL, lgkm), line: waitLine(vm, LGKM_FULL) },
      { counter: 'lgkm', rest: waitLine(vm, LGKM_FULL), line: waitLine(VM_FULL, lgkm) },
    ] as const;
    for (const { counter, rest, line } of parts) {
      if (line === undefined) continue;
      const needs = (code: CodeInstruction): boolean =>
        isMemory(code) || isWait(code) || outstanding[counter].some((operation) => dependsOn(operation, code));
      let to = at + 1;
      while (to < region.length && !needs(region[to] as CodeInstruction)) to++;
      const last = region[to - 1] as CodeInstruction;
      if (to === at + 1) continue;
      const replace = new Map<number, Uint8Array>([
        [wait.pc, rest === undefined ? NOTHING : view.line(rest)],
        [last.pc, joined([view.bytes(last), view.line(line)])],
      ]);
      moves.push({ kind: 'sink-wait', pc: wait.pc, text: `${line} behind ${view.text(last)}`, replace });
    }
  });
  return moves;
}

/** Arithmetic from behind a wait, before it: what needs nothing that is waited for. */
function filledWaits(view: KernelView, region: readonly CodeInstruction[]): Move[] {
  const moves: Move[] = [];
  region.forEach((wait, at) => {
    if (!isPlainWait(wait)) return;
    const { vm, lgkm } = view.outstandingBefore(wait);
    const staying: CodeInstruction[] = [...vm, ...lgkm];
    const moved: CodeInstruction[] = [];
    for (let i = at + 1; i < Math.min(region.length, at + WINDOW); i++) {
      const code = region[i] as CodeInstruction;
      const isBound = isMemory(code) || isWait(code) || staying.some((other) => dependsOn(other, code));
      if (isBound) staying.push(code);
      else moved.push(code);
    }
    if (moved.length === 0) return;
    const replace = new Map<number, Uint8Array>(moved.map((code) => [code.pc, NOTHING]));
    replace.set(wait.pc, joined([...moved.map((code) => view.bytes(code)), view.bytes(wait)]));
    const text = `${moved.length} instruction${moved.length === 1 ? '' : 's'} before ${view.text(wait)}`;
    moves.push({ kind: 'fill-wait', pc: wait.pc, text, replace });
  });
  return moves;
}

/**
 * Loads as early as their address is known, also in registers of their own where somebody still reads what theirs held (`rename`). A wait that a load
 * passes lets one operation more be outstanding.
 */
function hoistedLoads(view: KernelView, region: readonly CodeInstruction[]): Move[] {
  return region.flatMap((load, at) => {
    const { row } = load.instruction;
    const { kind, stores } = waitRole(row);
    if (kind === undefined || kind === 'flat' || stores || !row.flags.has('mayLoad')) return [];
    const { move, to } = hoistedLoad(view, region, at);
    const blocker = region[to - 1];
    const found = move === undefined ? [] : [move];
    if (blocker === undefined || !dependsOn(blocker, load) || overlaps(blocker.effects.defs, load.effects.uses))
      return found;
    const { codes, registers, last } = freshRegisters(view, region, at);
    const fresh = registers === 0 ? undefined : hoistedLoad(view, codes, at);
    if (fresh?.move === undefined || fresh.to >= to) return found;
    const replace = new Map(fresh.move.replace);
    for (const [i, code] of codes.entries()) {
      if (code !== region[i] && !replace.has(code.pc)) replace.set(code.pc, view.bytes(code));
    }
    return [...found, { ...fresh.move, kind: 'rename' as const, replace, kernel: grown(view, last) }];
  });
}

/** One load, and how far it got. */
function hoistedLoad(
  view: KernelView,
  region: readonly CodeInstruction[],
  at: number,
): { readonly move: Move | undefined; readonly to: number } {
  const load = region[at] as CodeInstruction;
  const { kind } = waitRole(load.instruction.row);
  const replace = new Map<number, Uint8Array>([[load.pc, NOTHING]]);
  let to = at;
  while (to > 0) {
    const code = region[to - 1] as CodeInstruction;
    if (dependsOn(code, load)) break;
    if (isWait(code)) {
      if (!isPlainWait(code)) break;
      const { vm, lgkm } = waitCounts(code.instruction);
      const line = kind === 'vm' ? waitLine(vm + 1, lgkm) : waitLine(vm, kind === 'lds' ? lgkm + 1 : lgkm);
      const isFull = kind === 'vm' ? vm + 1 >= VM_FULL && vm < VM_FULL : lgkm + 1 >= LGKM_FULL && lgkm < LGKM_FULL;
      if (isFull) break;
      replace.set(code.pc, line === undefined ? NOTHING : view.line(line));
    } else if (isMemory(code)) break;
    to--;
  }
  const first = region[to] as CodeInstruction;
  // Before a wait or arithmetic; a place among waits alone is no gain.
  if (to === at || region.slice(to, at).every((code) => replace.has(code.pc) && replace.get(code.pc)?.length === 0))
    return { move: undefined, to };
  replace.set(first.pc, joined([view.bytes(load), replace.get(first.pc) ?? view.bytes(first)]));
  const move: Move = {
    kind: 'hoist-load',
    pc: load.pc,
    text: `${view.text(load)} before ${view.text(first)}`,
    replace,
  };
  return { move, to };
}

/** Instructions that may not be needed: idle states, barriers, priorities, results that nobody reads. */
function removals(view: KernelView): Move[] {
  const moves: Move[] = [];
  const remove = (kind: Move['kind'], code: CodeInstruction, line?: string): void => {
    const replace = new Map<number, Uint8Array>([[code.pc, line === undefined ? NOTHING : view.line(line)]]);
    moves.push({ kind, pc: code.pc, text: `${view.text(code)} → ${line ?? 'nothing'}`, replace });
  };
  for (const code of view.instructions()) {
    if (!view.isFree(code)) continue;
    const { row } = code.instruction;
    if (row.operation === 's_nop') {
      remove('trim-nop', code);
      const states = immediateOf(code.instruction, 'simm16');
      if (states > 0) remove('trim-nop', code, `s_nop ${states >> 1}`);
      if (states > 1) remove('trim-nop', code, `s_nop ${states - 1}`);
    } else if (row.operation === 's_barrier') remove('drop-barrier', code);
    else if (repeatedCacheOperations(view.program, code).some((same) => same.pc < code.pc)) remove('drop-fence', code);
    else if (row.operation === 's_setprio') remove('drop-priority', code);
    else if (isDead(view, code)) remove('drop-dead', code);
  }
  return moves;
}

/** Whether an instruction only writes registers that nobody reads. */
function isDead(view: KernelView, code: CodeInstruction): boolean {
  const { row } = code.instruction;
  const { defs } = code.effects;
  if (defs.length === 0 || isMemory(code) || row.flags.has('hasSideEffects')) return false;
  if (!/^(?:v_|s_(?:mov|add|sub|and|or|xor|lshl|lshr|ashr|mul|bfe|bfm|cselect|cmp|min|max|not))/.test(row.operation))
    return false;
  const after = view.liveness.after(code);
  return defs.every(({ first, count }) => {
    for (let slot = first; slot < first + count; slot++) if (hasSlot(after, slot)) return false;
    return true;
  });
}
