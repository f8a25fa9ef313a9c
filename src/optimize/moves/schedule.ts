// A stretch of instructions in another order: list scheduling. Operations of memory and waits keep their order among themselves, so every count
// still means the same operations; what needs an operation stays behind the wait for it.
import { type CodeInstruction, LGKM_FULL, VM_FULL, waitCounts, waitRole } from '../../program/index.ts';
import { freshRegisters } from './fresh.ts';
import { grown } from './registers.ts';
import { dependsOn, isMemory, joined, type KernelView, type Move } from './view.ts';

/** Instructions that are put in order at once. */
const LONGEST = 192;
/**
 * Cycles until a result is there, in tenths of what MI300X needs: only their order of size matters. Source: the latencies of the chip model
 * (`src/device/sim/timing/chips`).
 */
const CYCLES = { vm: 500, scalar: 200, lds: 100, matrix: 16, other: 4 } as const;

function latencyOf({ instruction: { row } }: CodeInstruction): number {
  const { kind } = waitRole(row);
  if (kind === 'vm' || kind === 'flat') return CYCLES.vm;
  if (kind === 'scalar') return CYCLES.scalar;
  if (kind === 'lds') return CYCLES.lds;
  return /mfma/.test(row.operation) ? CYCLES.matrix : CYCLES.other;
}

interface Node {
  readonly code: CodeInstruction;
  /** What must come later, and the cycles between. */
  readonly next: Map<Node, number>;
  before: number;
  /** The longest way to the end. */
  rank: number;
  /** Cycles at which it can begin without standing. */
  ready: number;
}

/** The stretch in the order of its longest ways; nothing when that is the order it has. */
export function scheduled(view: KernelView, whole: readonly CodeInstruction[]): Move[] {
  const moves: Move[] = [];
  for (let start = 0; start < whole.length; start += LONGEST) {
    const region = whole.slice(start, start + LONGEST);
    if (region.length < 3) continue;
    const move = moveOf(view, 'schedule', region, region);
    if (move !== undefined) moves.push(move);
    const { codes, registers, last } = freshRegisters(view, region);
    const renamed = registers === 0 ? undefined : moveOf(view, 'rename', region, codes);
    if (renamed === undefined) continue;
    const text = `${renamed.text}, ${registers} results in other registers`;
    moves.push({ ...renamed, text, kernel: grown(view, last) });
  }
  return moves;
}

/** A stretch in its new order. `codes`: the same instructions, some with other registers. */
function moveOf(
  view: KernelView,
  kind: 'schedule' | 'rename',
  region: readonly CodeInstruction[],
  codes: readonly CodeInstruction[],
): Move | undefined {
  const order = listSchedule(nodesOf(view, codes));
  if (order.every((code, i) => code === codes[i])) return undefined;
  const [first] = region as [CodeInstruction];
  const replace = new Map(region.map((code) => [code.pc, new Uint8Array() as Uint8Array]));
  replace.set(first.pc, joined(order.map((code) => view.bytes(code))));
  const moved = order.filter((code, i) => code !== codes[i]).length;
  return { kind, pc: first.pc, text: `${moved} of ${region.length} instructions moved`, replace };
}

function nodesOf(view: KernelView, region: readonly CodeInstruction[]): Node[] {
  const nodes = region.map((code): Node => ({ code, next: new Map(), before: 0, rank: 0, ready: 0 }));
  const own = new Map(region.map((code) => [code.index, code]));
  const link = (a: Node, b: Node, cycles: number): void => {
    const known = a.next.get(b);
    if (known === undefined) b.before++;
    a.next.set(b, Math.max(known ?? 0, cycles));
  };
  const ordered = (code: CodeInstruction): boolean => isMemory(code) || waitRole(code.instruction.row).isWait;
  for (const [i, a] of nodes.entries()) {
    const isWait = waitRole(a.code.instruction.row).isWait;
    const covered = isWait ? view.outstandingBefore(a.code) : undefined;
    const operations = covered === undefined ? [] : [...covered.vm, ...covered.lgkm].map((o) => own.get(o.index) ?? o);
    for (const b of nodes.slice(i + 1)) {
      // A register that an operation of memory loads is there behind its wait.
      const isLate = isMemory(a.code) && !isWait;
      if (dependsOn(a.code, b.code)) link(a, b, isLate ? 0 : latencyOf(a.code));
      if (ordered(a.code) && ordered(b.code)) {
        link(a, b, isLate && completes(region, b.code, a.code) ? latencyOf(a.code) : 0);
      }
      if (operations.some((operation) => dependsOn(operation, b.code))) link(a, b, 0);
    }
  }
  for (const node of [...nodes].reverse()) {
    for (const [later, cycles] of node.next) node.rank = Math.max(node.rank, later.rank + Math.max(1, cycles));
  }
  return nodes;
}

/** Whether a wait is for an operation of the same stretch. */
function completes(region: readonly CodeInstruction[], wait: CodeInstruction, operation: CodeInstruction): boolean {
  if (wait.instruction.row.operation !== 's_waitcnt') return false;
  const { vm, lgkm } = waitCounts(wait.instruction);
  const kind = waitRole(operation.instruction.row).kind;
  const isVm = kind === 'vm' || kind === 'flat';
  const limit = isVm ? vm : lgkm;
  if (limit >= (isVm ? VM_FULL : LGKM_FULL)) return false;
  const behind = region.filter((code) => {
    if (code.index <= operation.index || code.index >= wait.index) return false;
    const other = waitRole(code.instruction.row).kind;
    return other !== undefined && (other === 'vm' || other === 'flat') === isVm;
  });
  return behind.length >= limit;
}

/** Of those that can begin, the one with the longest way; else the one that can begin first. */
function listSchedule(nodes: readonly Node[]): CodeInstruction[] {
  const open = nodes.filter((node) => node.before === 0);
  const order: CodeInstruction[] = [];
  let now = 0;
  while (open.length > 0) {
    const able = open.filter((node) => node.ready <= now);
    const from = able.length > 0 ? able : open;
    const better = (a: Node, b: Node): boolean =>
      able.length > 0 ? a.rank > b.rank : a.ready < b.ready || (a.ready === b.ready && a.rank > b.rank);
    const best = from.reduce((a, b) => (better(b, a) ? b : a));
    open.splice(open.indexOf(best), 1);
    order.push(best.code);
    now = Math.max(now, best.ready) + 1;
    for (const [later, cycles] of best.next) {
      later.ready = Math.max(later.ready, now + cycles);
      if (--later.before === 0) open.push(later);
    }
    open.sort((a, b) => a.code.index - b.code.index);
  }
  return order;
}
