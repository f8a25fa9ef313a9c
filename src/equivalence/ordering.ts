// What may be outstanding where memory is published: at barriers, atomics and cache operations an edited kernel must not have
// memory operations in flight that the baseline has proved complete. Registers do not show it, and terms have no time.
import type { CheckContext } from '../check/index.ts';
import { outstandingAtBlocks, stepThrough } from '../check/rules/waits.ts';
import { immediateOf } from '../isa/operand.ts';
import { CPOL_GLC, CPOL_SCC } from '../isa/parse/state.ts';
import { type BasicBlock, type CodeInstruction, waitRole } from '../program/index.ts';
import type { Observer } from './product.ts';

/**
 * `publishes`: other wavefronts may look after it. `forgets`: what was loaded before must have come from before. `readsLds`: what a load
 * into LDS brings must be there.
 */
type OrderKind = 'publishes' | 'forgets' | 'readsLds';

/** Stores at a scope beyond the wavefront (sc0, sc1; glc on gfx90a): flags that others wait for. Source: LLVM's AMDGPUUsage, "Memory Model". */
const SCOPES = CPOL_GLC | CPOL_SCC;

function orderKind({ instruction }: CodeInstruction): OrderKind | undefined {
  const { row } = instruction;
  if (/^(?:buffer_inv|buffer_wbinvl1|s_dcache)/.test(row.operation)) return 'forgets';
  if (waitRole(row).isBarrier || /^(?:buffer_wbl2|s_sendmsg)/.test(row.operation)) return 'publishes';
  if (row.flags.has('IsAtomicRet') || row.flags.has('IsAtomicNoRet')) return 'publishes';
  if (row.flags.has('mayStore') && (immediateOf(instruction, 'cpol') & SCOPES) !== 0) return 'publishes';
  return row.flags.has('DS') && row.flags.has('mayLoad') ? 'readsLds' : undefined;
}

function matters(kind: OrderKind, operation: CodeInstruction): boolean {
  const { flags } = operation.instruction.row;
  if (flags.has('LDSDMA') || kind === 'forgets') return true;
  return kind === 'publishes' && (flags.has('mayStore') || flags.has('DS') || flags.has('FLAT'));
}

interface InFlight {
  readonly operation: CodeInstruction;
  readonly kind: string;
  readonly most: number;
}

/** By index of an ordering instruction: what may be in flight there. */
function inFlightAt(context: CheckContext): Map<number, readonly InFlight[]> {
  const out = new Map<number, readonly InFlight[]>();
  const inputs = outstandingAtBlocks(context);
  for (const index of context.subject.blocks) {
    const input = inputs.get(index);
    if (input === undefined) continue;
    stepThrough(context, context.program.blocks[index] as BasicBlock, input, (code, state) => {
      const kind = orderKind(code);
      if (kind === undefined) return;
      const list: InFlight[] = [];
      for (const of of ['vm', 'lds', 'flat'] as const) {
        for (const { operation, most } of state.ages(of)) {
          if (matters(kind, operation)) list.push({ operation, kind: of, most });
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

  /** To be told every access of the solved product. */
  readonly access: NonNullable<Observer['access']> = (side, point, code, term) => {
    const key = `${point}:${term.id}`;
    const known = this.keys[side].get(code.index) ?? new Set();
    this.keys[side].set(code.index, known.add(key));
    if (side === 0) this.owners.set(key, (this.owners.get(key) ?? new Set()).add(code.index));
  };

  /** The first program's instructions that make an access of one of the second's. */
  partners(index: number): ReadonlySet<number> {
    const out = new Set<number>();
    for (const key of this.keys[1].get(index) ?? []) for (const owner of this.owners.get(key) ?? []) out.add(owner);
    return out;
  }
}

/** A place where the second program may have more in flight than the first. */
export interface OrderDifference {
  readonly place: CodeInstruction;
  readonly operation: CodeInstruction;
}

/** The first such place, or undefined. `pairs` has observed the solved product. */
export function orderDifference(a: CheckContext, b: CheckContext, pairs: AccessPairs): OrderDifference | undefined {
  const before = inFlightAt(a);
  for (const [index, list] of inFlightAt(b)) {
    const allowed = [...pairs.partners(index)].flatMap((i) => before.get(i) ?? []);
    for (const { operation, kind, most } of list) {
      const partners = pairs.partners(operation.index);
      const isAllowed = allowed.some(
        (x) => partners.has(x.operation.index) && (kind === 'flat' ? (most & ~x.most) === 0 : most <= x.most),
      );
      if (!isAllowed) return { place: b.program.instructions[index] as CodeInstruction, operation };
    }
  }
  return undefined;
}
