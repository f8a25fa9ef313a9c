// Compares the wait states that the checker demands with those of LLVM 22, pair by pair, and says why where they differ on purpose.
import type { InstructionRow, TargetName } from '../../../src/isa/index.ts';
import { demandsOfCheck, demandsOfLlvm, namesInLlvm, verifiedPairs } from './demands.ts';
import { type Pair, type Pick, pairsOf, rowClasses, sampleOf } from './pairs.ts';

export interface Difference {
  readonly pair: Pair;
  readonly llvm: number;
  readonly own: number;
  readonly rule: string;
  /** Why the checker demands something else; undefined when it should not. */
  readonly reason: string | undefined;
}

export interface Comparison {
  readonly pairs: number;
  /** Pairs for which LLVM demands a wait. */
  readonly hazards: number;
  readonly classes: number;
  readonly differences: readonly Difference[];
  /** Records that LLVM has no pseudo instruction for. */
  readonly unknown: readonly string[];
}

const LOAD_TO_DPP =
  'LLVM counts memory results as writes before DPP; the manual names VALU writes, and s_waitcnt holds for memory';
const EXEC_TO_SWAP = 'before v_permlane*_swap LLVM knows v_cmpx without SDWA only; any VALU write of EXEC is one';
const NEWER = "LLVM's main branch after 22 waits (a note)";
const DOT_ENCODING =
  'LLVM takes a dot product in another encoding (e32, e64, DPP) for another instruction; the manual asks for its operation';
const RFE_RESTORE = 'LLVM knows s_rfe_b64 only; s_rfe_restore_b64 returns from a trap as well';
const ZERO_FLAG = 'src_vccz and src_execz: 5 by the manual; LLVM never uses them and has no rule';

/** Why a wait differs from LLVM's, where the manual or the hardware is on the checker's side. */
function reasonOf({ first, second, shared }: Pair, llvm: number, own: number, rule: string): string | undefined {
  const [a, b] = [first.row.flags, second.row.flags];
  const isMemory = a.has('mayLoad') || a.has('mayStore') || a.has('DS');
  // An atomic that returns in the place of its data is a wide store too.
  const isDemanded = own > 0 && rule !== 'hazards/store-data-scalar';
  if (isMemory && b.has('DPP') && llvm === 2 && !isDemanded) return LOAD_TO_DPP;
  const isSameDot = first.row.operation.startsWith('v_dot') && first.row.operation === second.row.operation;
  if (isSameDot && llvm === 3 && own < 3 && first.row.name !== second.row.name) return DOT_ENCODING;
  if (second.row.operation === 's_rfe_restore_b64' && llvm === 0 && rule === 'hazards/setreg') return RFE_RESTORE;
  if (/^v_permlane\d+_swap/.test(second.row.operation) && llvm === 0 && rule === 'hazards/exec') return EXEC_TO_SWAP;
  if (/src_(?:vcc|exec)z$/.test(shared) && own === 5) return ZERO_FLAG;
  if (rule === 'hazards/store-data-scalar' && llvm === 0) return NEWER;
  return undefined;
}

/** `most` pairs of a target: of every two classes in a random order, one row each, each way in which they meet. */
export function compareHazards(target: TargetName, most: number, pick: Pick): Comparison {
  const classes = rowClasses(target);
  const rows = classes.map((list) => list[pick(list.length)] as InstructionRow);
  const names = namesInLlvm(
    target,
    rows.flatMap((row) => sampleOf(row, pick) ?? []),
  );
  const usable = rows.filter(({ name }) => names.has(name));
  const made: Pair[] = [];
  const seen = new Set<number>();
  while (made.length < most && seen.size < usable.length ** 2) {
    const at = pick(usable.length ** 2);
    if (seen.has(at)) continue;
    seen.add(at);
    const [a, b] = [usable[Math.floor(at / usable.length)], usable[at % usable.length]] as [
      InstructionRow,
      InstructionRow,
    ];
    if (!a.operation.startsWith('s_rfe')) made.push(...pairsOf(a, b, pick));
  }
  const pairs = verifiedPairs(target, made, names);
  const [llvm, own] = [demandsOfLlvm(target, pairs, names), demandsOfCheck(target, pairs)];
  const differences = pairs.flatMap((pair, i): Difference[] => {
    const [states, { states: ours, rule }] = [llvm[i] as number, own[i] as { states: number; rule: string }];
    if (states === ours) return [];
    return [{ pair, llvm: states, own: ours, rule, reason: reasonOf(pair, states, ours, rule) }];
  });
  return {
    pairs: pairs.length,
    hazards: llvm.filter((n) => n > 0).length,
    classes: classes.length,
    differences,
    unknown: rows.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  };
}
