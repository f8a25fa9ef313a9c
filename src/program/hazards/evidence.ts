// Wait states below what the manual demands that code which ships runs with: hand-written attention, MoE and GEMM kernels of AMD for
// gfx942 and gfx950, Tensile for gfx90a. A pair that is not here with so few states is an error. Counted over the reference corpus;
// the number of kernels that have a pair stands behind it. `tests/check-corpus.test.ts` finds no pair of the corpus outside.
import type { MatrixWaits, WaitTable } from '../../isa/table/hazards.ts';
import type { MatrixFacts } from './tables.ts';

interface SeenPair {
  readonly producer: RegExp;
  readonly consumer: RegExp;
  /** Wait states between them. */
  readonly states: number;
}

const ANY = /^/;

const SEEN: Partial<Record<keyof WaitTable, readonly SeenPair[]>> = {
  scalarToVector: [
    // 38 kernels.
    { producer: /^v_cmp_/, consumer: /^v_cndmask_b32$/, states: 0 },
    // 9 kernels.
    { producer: /^v_add_co_u32$/, consumer: /^v_addc_co_u32$/, states: 0 },
    // 6 kernels.
    { producer: /^v_readlane_b32$/, consumer: /^v_(?:mov|writelane)_b32$/, states: 0 },
    // 8 kernels.
    { producer: /^v_readlane_b32$/, consumer: /^v_mul_lo_u32$/, states: 1 },
  ],
  // 10 kernels, behind multiplications, moves, maxima and selections.
  vectorToDpp: [{ producer: ANY, consumer: ANY, states: 1 }],
  // 2 kernels, behind a multiplication, permutations and an OR.
  vectorToMatrix: [{ producer: ANY, consumer: ANY, states: 1 }],
  vectorToSwap: [
    // 1 kernel.
    { producer: /^v_permlane32_swap_b32$/, consumer: /^v_permlane32_swap_b32$/, states: 0 },
    // 3 kernels.
    { producer: ANY, consumer: ANY, states: 1 },
  ],
  // 59 kernels; messages and GWS were not seen.
  m0: [{ producer: /^s_(?:add_[iu]32|mov_b32)$/, consumer: /^(?:buffer|global)_load_/, states: 0 }],
};

/** The fewest wait states that the pair was seen with; undefined when it never was with less than `table` says. */
export function seenStates(key: keyof WaitTable, producer: string, consumer: string): number | undefined {
  return SEEN[key]?.find((pair) => pair.producer.test(producer) && pair.consumer.test(consumer))?.states;
}

/**
 * The same from a matrix instruction to a vector instruction that reads or overwrites its result, where the table says `wait`. On
 * gfx942 and gfx950 19 kernels go down to half of the passes, on gfx90a two to one less than the table. No memory instruction does.
 */
export function seenMatrixStates(
  p: MatrixFacts,
  wait: number,
  waits: MatrixWaits,
  isMemory: boolean,
): number | undefined {
  if (isMemory || p.isDouble || !p.isXdl) return undefined;
  return waits.seenResult === 'one less' ? wait - 1 : p.passes / 2;
}
