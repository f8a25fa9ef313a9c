// Software pipelining of counted loops of one block: loads of the next turn are on their way while this turn computes. They load into registers of their
// own, and the turn begins by taking them over. A branch over them keeps the last turn from loading what no turn reads.
import { branchTarget, type Instruction } from '../../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  execChange,
  hasSlot,
  LGKM_FULL,
  overlaps,
  Slot,
  type SlotRange,
  VM_FULL,
  waitCounts,
  waitRole,
} from '../../program/index.ts';
import {
  encoded,
  FreeRegisters,
  grown,
  namesAllRegisters,
  scalarsOf,
  slotsInUse,
  vectorLimit,
  withRegisters,
} from './registers.ts';
import { dependsOn, isMemory, joined, type KernelView, type Move, waitLine } from './view.ts';

/** A loop of one block that ends with its compare and branch, and the edges by which it is entered. */
export interface Loop {
  readonly block: BasicBlock;
  /** All but the branch. */
  readonly body: readonly CodeInstruction[];
  readonly branch: CodeInstruction;
  readonly first: CodeInstruction;
  /** Edges into it from elsewhere: the last instruction before, and whether it branches here. */
  readonly entries: readonly { readonly pc: number; readonly isTaken: boolean }[];
}

/** The loops of one block whose instructions may be replaced and which leave EXEC alone. */
export function loopsOf(view: KernelView): Loop[] {
  const { program, subject } = view;
  return subject.blocks.flatMap((index) => {
    const block = program.blocks[index] as BasicBlock;
    if (!block.successors.includes(index) || block.exit !== 'branch' || subject.entryBlocks.includes(index)) return [];
    const codes = program.instructions.slice(block.first, block.end);
    const branch = codes.at(-1) as CodeInstruction;
    const body = codes.slice(0, -1);
    const [first] = body;
    if (first === undefined || branchTarget(branch.instruction, branch.pc) !== first.pc) return [];
    if (body.some((code) => !view.isFree(code) || execChange(code) !== 'same')) return [];
    const entries = block.predecessors
      .filter((p) => p !== index)
      .map((p) => {
        const last = program.instructions[(program.blocks[p] as BasicBlock).end - 1] as CodeInstruction;
        return { pc: last.pc, isTaken: branchTarget(last.instruction, last.pc) === first.pc };
      });
    return [{ block, body, branch, first, entries }];
  });
}

/** Code on all edges into a loop. */
export function onEntries({ entries }: Loop, code: readonly Uint8Array[]): Pick<Move, 'after' | 'taken'> {
  const on = (isTaken: boolean) => new Map(entries.filter((e) => e.isTaken === isTaken).map(({ pc }) => [pc, code]));
  return { after: on(false), taken: on(true) };
}

const isWait = ({ instruction }: CodeInstruction): boolean => waitRole(instruction.row).isWait;
const writes = (code: CodeInstruction, slots: readonly SlotRange[]): boolean => overlaps(code.effects.defs, slots);
const SCC: readonly SlotRange[] = [{ first: Slot.SCC, count: 1 }];

/** How the instructions of a turn are parted. */
interface Parts {
  /** Loads, and arithmetic that only they need. */
  readonly ahead: readonly CodeInstruction[];
  /** What steps the addresses and the count. */
  readonly steps: readonly CodeInstruction[];
  readonly compare: CodeInstruction;
  readonly rest: readonly CodeInstruction[];
}

export function pipelined(view: KernelView): Move[] {
  if (!namesAllRegisters(view)) return [];
  return loopsOf(view).flatMap((loop) => {
    const parts = partsOf(loop);
    const move = parts === undefined ? undefined : moveOf(view, loop, parts);
    return move === undefined ? [] : [move];
  });
}

/** Nothing when a load of the next turn could not be made before this turn's arithmetic. */
function partsOf({ body, branch }: Loop): Parts | undefined {
  if (!/^s_cbranch_scc[01]$/.test(branch.instruction.row.operation)) return undefined;
  const compare = body.findLast((code) => writes(code, SCC));
  if (compare === undefined || !compare.instruction.row.operation.startsWith('s_cmp_')) return undefined;
  const loads = body.filter((code) => isLoad(code));
  if (loads.length === 0) return undefined;
  // Arithmetic behind the loads' addresses in the same turn.
  const ahead = new Set(loads);
  for (const code of [...body].reverse()) {
    if (ahead.has(code) || isMemory(code) || isWait(code) || code === compare) continue;
    const later = body.filter((other) => other.index > code.index);
    const isNeeded = later.some((other) => ahead.has(other) && overlaps(other.effects.uses, code.effects.defs));
    const isStep = body.some((other) => other.index <= code.index && overlaps(other.effects.uses, code.effects.defs));
    if (isNeeded && !isStep) ahead.add(code);
  }
  const inputs: SlotRange[] = [...ahead, compare].flatMap((code) => [...code.effects.uses]);
  const steps = new Set<CodeInstruction>();
  for (const code of [...body].reverse()) {
    if (ahead.has(code) || code === compare || isWait(code) || !writes(code, inputs)) continue;
    if (isMemory(code)) return undefined;
    steps.add(code);
    inputs.push(...code.effects.uses);
  }
  const inOrder = (set: ReadonlySet<CodeInstruction>): CodeInstruction[] => body.filter((code) => set.has(code));
  const rest = body.filter((code) => !ahead.has(code) && !steps.has(code) && code !== compare);
  const parts = { ahead: inOrder(ahead), steps: inOrder(steps), compare, rest };
  return isRight(parts) ? parts : undefined;
}

function isLoad({ instruction: { row }, effects }: CodeInstruction): boolean {
  const { kind, stores } = waitRole(row);
  const isPlain = kind === 'vm' || kind === 'scalar' || kind === 'lds';
  return isPlain && !stores && row.flags.has('mayLoad') && effects.keeps.length === 0 && effects.defs.length === 1;
}

const counterOf = (code: CodeInstruction): 'vm' | 'lgkm' | 'both' | undefined => {
  const { kind } = waitRole(code.instruction.row);
  if (kind === undefined) return undefined;
  return kind === 'flat' ? 'both' : kind === 'vm' ? 'vm' : 'lgkm';
};

/** Whether steps, the next turn's loads, and then the rest, do what the turn did. */
function isRight({ ahead, steps, compare, rest }: Parts): boolean {
  const loads = ahead.filter(isLoad);
  const loaded = loads.flatMap((code) => [...code.effects.defs]);
  const isCounted = (counter: 'vm' | 'lgkm') => loads.some((code) => counterOf(code) === counter);
  let isSccSet = false;
  for (const code of rest) {
    if (isWait(code)) {
      if (code.instruction.row.operation !== 's_waitcnt' || waitCounts(code.instruction).exp !== 7) return false;
      continue;
    }
    const { flags } = code.instruction.row;
    const counter = counterOf(code);
    // Memory that is written may be what the next turn loads; barriers hand over LDS.
    if (flags.has('mayStore') && (counter !== 'lgkm' || isCounted('lgkm'))) return false;
    if (counter === 'both' || (isMemory(code) && counter === undefined)) return false;
    if (isCounted('lgkm') && (counter === 'lgkm' || waitRole(code.instruction.row).isBarrier)) return false;
    if (overlaps(code.effects.uses, SCC) && !isSccSet) return false;
    if (overlaps(code.effects.defs, SCC)) isSccSet = true;
    if (overlaps(code.effects.defs, compare.effects.uses)) return false;
    if (steps.some((step) => step.index > code.index && dependsOn(step, code))) return false;
    // What is loaded goes to other registers.
    for (const other of ahead) {
      const { uses, defs } = other.effects;
      if (overlaps(code.effects.defs, uses)) return false;
      if (!isLoad(other) && (overlaps(code.effects.uses, defs) || overlaps(code.effects.defs, defs))) return false;
    }
  }
  if (steps.some((step) => overlaps(step.effects.uses, loaded) || overlaps(step.effects.defs, loaded))) return false;
  // Each register is loaded once, and from an address that no load of the turn gives.
  const isOnce = loads.every((a) => loads.every((b) => a === b || !overlaps(a.effects.defs, b.effects.defs)));
  return isOnce && !ahead.some((code) => overlaps(code.effects.uses, loaded));
}

function moveOf(view: KernelView, loop: Loop, parts: Parts): Move | undefined {
  const { body, branch, first } = loop;
  const { ahead, steps, compare, rest } = parts;
  const used = slotsInUse(view, [...body, branch]);
  const vectors = new FreeRegisters(used, 'v', vectorLimit(view));
  const scalars = new FreeRegisters(used, 's', scalarsOf(view));
  const place = new Map<number, number>();
  const copies: string[] = [];
  for (const load of ahead.filter(isLoad)) {
    const [{ first: to, count } = { first: 0, count: 0 }] = load.effects.defs;
    // Accumulators, VCC and the like stay as they are.
    if (to >= Slot.AGPR0 || (to < Slot.VGPR0 && to + count > Slot.FLAT_SCRATCH)) return undefined;
    const isVector = to >= Slot.VGPR0;
    const free = (isVector ? vectors : scalars).take(count);
    if (free === undefined) return undefined;
    for (let i = 0; i < count; i++) {
      place.set(to + i, (isVector ? Slot.VGPR0 : 0) + free + i);
      copies.push(
        isVector ? `v_mov_b32_e32 v${to - Slot.VGPR0 + i}, v${free + i}` : `s_mov_b32 s${to + i}, s${free + i}`,
      );
    }
  }
  // What the turn before left is read no more where the loads take over.
  const live = view.liveness.before(first);
  if ([Slot.SCC, ...place.keys()].some((slot) => hasSlot(live, slot))) return undefined;
  const renamed: (Instruction | undefined)[] = ahead.map((code) =>
    withRegisters(code.instruction, (slot, isOut) => (isOut && isLoad(code) ? (place.get(slot) ?? slot) : slot)),
  );
  if (renamed.includes(undefined)) return undefined;
  const loading = encoded(renamed as Instruction[]);
  const words = joined(loading).length / 4;
  const counters = new Set(ahead.map(counterOf));
  const arrived = waitLine(counters.has('vm') ? 0 : VM_FULL, counters.has('lgkm') ? 0 : LGKM_FULL);
  if (arrived === undefined) return undefined;
  const skip = branch.instruction.row.operation === 's_cbranch_scc1' ? 's_cbranch_scc0' : 's_cbranch_scc1';
  const tail = body.filter((code) => code === compare || rest.includes(code));
  const code = joined([
    view.line(arrived),
    ...copies.map((line) => view.line(line)),
    ...steps.map((step) => view.bytes(step)),
    view.bytes(compare),
    view.line(`${skip} ${words}`),
    ...loading,
    ...tail.map((one) => (isWait(one) ? waitOf(view, body, new Set(ahead), one) : view.bytes(one))),
  ]);
  const replace = new Map(body.map((one) => [one.pc, new Uint8Array() as Uint8Array]));
  replace.set(first.pc, code);
  return {
    kind: 'pipeline-loop',
    pc: first.pc,
    text: `${ahead.filter(isLoad).length} loads of the loop one turn ahead, ${copies.length} registers`,
    replace,
    ...onEntries(loop, loading),
    kernel: grown(view, vectors.last),
  };
}

/**
 * A wait of the turn without the loads that went ahead: they are older than everything of the turn, so it counts the rest alone, and waits for
 * nothing where the rest is all that it left.
 */
function waitOf(
  view: KernelView,
  body: readonly CodeInstruction[],
  ahead: ReadonlySet<CodeInstruction>,
  wait: CodeInstruction,
): Uint8Array {
  const { vm, lgkm } = waitCounts(wait.instruction);
  const left = (counter: 'vm' | 'lgkm', count: number, full: number): number => {
    if (count >= full) return full;
    const operations = body.filter((code) => code.index < wait.index && counterOf(code) === counter);
    const own = operations.filter((code) => !ahead.has(code));
    const hasMoved = own.length < operations.length;
    if (!hasMoved) return count;
    const young = count === 0 ? [] : operations.slice(-count);
    const kept = young.filter((code) => !ahead.has(code)).length;
    return kept === own.length ? full : kept;
  };
  const line = waitLine(left('vm', vm, VM_FULL), left('lgkm', lgkm, LGKM_FULL));
  return line === undefined ? new Uint8Array() : view.line(line);
}
