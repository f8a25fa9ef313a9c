// What may be outstanding where memory is published: at barriers, atomics and cache operations an edited kernel must not have
// memory operations in flight that the baseline has proved complete. Registers do not show it, and terms have no time.
import type { CheckContext } from '../check/index.ts';
import { outstandingAtBlocks, stepThrough } from '../check/rules/waits.ts';
import type { InstructionRow } from '../isa/types.ts';
import { type BasicBlock, type CodeInstruction, waitRole } from '../program/index.ts';
import type { Budget } from './budget.ts';
import type { Memories } from './memory.ts';
import type { Observer } from './product.ts';
import { hasScope } from './scopes.ts';
import type { Term } from './terms.ts';

/**
 * `publishes`: other wavefronts may look after it. `forgets`: what was loaded before must have come from before. `accesses`: it goes
 * to memory on one of the ways there.
 */
type OrderKind = 'publishes' | 'forgets' | 'accesses';

const isAtomic = ({ flags }: InstructionRow): boolean => flags.has('IsAtomicRet') || flags.has('IsAtomicNoRet');
const isMemory = ({ flags }: InstructionRow): boolean => flags.has('mayLoad') || flags.has('mayStore');

function orderKind({ instruction }: CodeInstruction): OrderKind | undefined {
  const { row } = instruction;
  if (/^(?:buffer_inv|buffer_wbinvl1|s_dcache)/.test(row.operation)) return 'forgets';
  if (waitRole(row).isBarrier || /^(?:buffer_wbl2|s_sendmsg)/.test(row.operation)) return 'publishes';
  if (isAtomic(row) || (isMemory(row) && hasScope(instruction))) return 'publishes';
  return isMemory(row) ? 'accesses' : undefined;
}

/** The ways to memory: accesses on one way stay in order, those on different ones may pass each other. */
function waysOf({ flags }: InstructionRow): readonly string[] {
  if (flags.has('LDSDMA')) return ['vector', 'lds by vector'];
  if (flags.has('DS')) return ['lds'];
  if (flags.has('SMRD')) return ['scalar'];
  return flags.has('FLAT') && !flags.has('FlatGlobal') && !flags.has('FlatScratch') ? ['flat'] : ['vector'];
}

const LDS_WAYS = new Set(['lds', 'lds by vector', 'flat']);
const DEVICE_WAYS = new Set(['vector', 'scalar', 'flat']);

/** Whether two accesses can reach the same byte on different ways, and one writes it. */
function mayPass(a: InstructionRow, b: InstructionRow): boolean {
  const writes = (row: InstructionRow, way: string): boolean => way === 'lds by vector' || row.flags.has('mayStore');
  return waysOf(a).some((x) =>
    waysOf(b).some(
      (y) =>
        x !== y &&
        [LDS_WAYS, DEVICE_WAYS].some((memory) => memory.has(x) && memory.has(y)) &&
        (writes(a, x) || writes(b, y)),
    ),
  );
}

/** Plain accesses of LDS, which stay in order. */
const isPlainLds = ({ instruction }: CodeInstruction): boolean => /^ds_(?:read|write)/.test(instruction.row.operation);

/** Whether an operation that is still in flight at an instruction could make a difference. */
function matters(kind: OrderKind, at: CodeInstruction, operation: CodeInstruction): boolean {
  if (isPlainLds(at) && isPlainLds(operation)) return false;
  if (kind !== 'accesses') return true;
  const { row } = operation.instruction;
  // A lock or a flag: what follows it must not happen before it.
  const isFlag = row.flags.has('mayLoad') && (row.flags.has('IsAtomicRet') || hasScope(operation.instruction));
  return isFlag || mayPass(at.instruction.row, row);
}

interface InFlight {
  readonly operation: CodeInstruction;
  readonly kind: string;
  readonly most: number;
}

/** By index of an ordering instruction: what may be in flight there. */
function inFlightAt(context: CheckContext, budget: Budget): Map<number, readonly InFlight[]> {
  const out = new Map<number, readonly InFlight[]>();
  const inputs = outstandingAtBlocks(context);
  for (const index of context.subject.blocks) {
    const input = inputs.get(index);
    if (input === undefined) continue;
    stepThrough(context, context.program.blocks[index] as BasicBlock, input, (code, state) => {
      const kind = orderKind(code);
      if (kind === undefined) return;
      budget.check();
      const list: InFlight[] = [];
      for (const of of ['vm', 'lds', 'scalar', 'flat'] as const) {
        for (const { operation, most } of state.ages(of)) {
          if (matters(kind, code, operation)) list.push({ operation, kind: of, most });
        }
      }
      out.set(code.index, list);
    });
  }
  return out;
}

/** Which instructions of the two programs made the same access at the same point. */
export class AccessPairs {
  private readonly keys = [new Map<number, Set<string>>(), new Map<number, Set<string>>()] as const;
  private readonly owners = new Map<string, Set<number>>();
  private readonly found = new Map<number, ReadonlySet<number>>();
  /** Of the second program: what each instruction loads, writes or does. */
  private readonly made = new Map<number, Set<Term>>();

  /** To be told every access of the solved product. */
  readonly access: NonNullable<Observer['access']> = (side, point, code, term) => {
    const key = `${point}:${term.id}`;
    const known = this.keys[side].get(code.index) ?? new Set();
    this.keys[side].set(code.index, known.add(key));
    if (side === 0) this.owners.set(key, (this.owners.get(key) ?? new Set()).add(code.index));
    else this.made.set(code.index, (this.made.get(code.index) ?? new Set()).add(term));
  };

  /** The first program's instructions that make an access of one of the second's. */
  partners(index: number): ReadonlySet<number> {
    const known = this.found.get(index);
    if (known !== undefined) return known;
    const out = new Set<number>();
    this.found.set(index, out);
    for (const key of this.keys[1].get(index) ?? []) for (const owner of this.owners.get(key) ?? []) out.add(owner);
    return out;
  }

  /** Whether the second program's instruction goes to memory at all: behind a branch that is never taken it does not. */
  isMade(index: number): boolean {
    return this.made.has(index);
  }

  /** Whether the second program's instruction only reads arguments, which nobody writes. */
  readsArguments(index: number): boolean {
    const terms = [...(this.made.get(index) ?? [])];
    return terms.length > 0 && terms.every(({ op, args }) => op === 'load' && args[0]?.attr === 'arguments');
  }

  /** Whether two of the second program's instructions reach memory through pointers that are said to be apart. */
  areApart(a: number, b: number, memories: Memories): boolean {
    const [x, y] = [a, b].map((index) => [...(this.made.get(index) ?? [])].map(addressOf));
    return (
      x !== undefined &&
      y !== undefined &&
      x.length > 0 &&
      y.length > 0 &&
      x.every((p) => y.every((q) => p !== undefined && q !== undefined && memories.areOtherPointers(p, q)))
    );
  }
}

/** The address of a load or write; undefined for other accesses and for buffers. */
function addressOf({ op, args }: Term): Term | undefined {
  const base = args[2];
  if (op === 'load') return base === undefined ? args[1] : undefined;
  return op === 'write' && base === undefined ? args[0] : undefined;
}

/** A place where the second program may have more in flight than the first. */
export interface OrderDifference {
  readonly place: CodeInstruction;
  readonly operation: CodeInstruction;
}

/** The first such place, or undefined. `pairs` has observed the solved product. */
export function orderDifference(
  a: CheckContext,
  b: CheckContext,
  pairs: AccessPairs,
  memories: Memories,
  budget: Budget,
): OrderDifference | undefined {
  const before = inFlightAt(a, budget);
  for (const [index, list] of inFlightAt(b, budget)) {
    budget.check();
    if (!pairs.isMade(index)) continue;
    const allowed = [...pairs.partners(index)].flatMap((i) => before.get(i) ?? []);
    for (const { operation, kind, most } of list) {
      if (
        !pairs.isMade(operation.index) ||
        pairs.readsArguments(operation.index) ||
        pairs.areApart(index, operation.index, memories)
      )
        continue;
      const partners = pairs.partners(operation.index);
      const isAllowed = allowed.some(
        (x) => partners.has(x.operation.index) && (kind === 'flat' ? (most & ~x.most) === 0 : most <= x.most),
      );
      if (!isAllowed) return { place: b.program.instructions[index] as CodeInstruction, operation };
    }
  }
  return undefined;
}
