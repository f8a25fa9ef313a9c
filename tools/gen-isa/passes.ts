// Passes of the matrix unit (4 cycles each), from the listings of AMD's matrix instruction calculator; they extend the rows'
// scheduling classes with `WriteNPassMAI`, the name of LLVM's scheduling model. Instructions new in gfx950 are not listed there.
import type { RawRow } from './rows.ts';

const CYCLES_PER_PASS = 4;

/** Mnemonic to passes of one listing. */
function passesOf(listing: string): Map<string, number> {
  const passes = new Map<string, number>();
  for (const [, name, cycles] of listing.matchAll(/^Instruction: (\w+)\n.*?Execution cycles: (\d+)/gms)) {
    passes.set((name as string).toLowerCase(), Number(cycles) / CYCLES_PER_PASS);
  }
  return passes;
}

/** The rows with the passes of matrix instructions; `cdna2` applies to gfx90a, `cdna3` to gfx942 and later. */
export function withMatrixPasses(rows: readonly RawRow[], cdna2: string, cdna3: string): RawRow[] {
  const early = passesOf(cdna2);
  const late = passesOf(cdna3);
  return rows.map((row) => {
    const mnemonic = /^v_s?mf(?:ma|mac)_\w+/.exec(row.asm)?.[0];
    if (mnemonic === undefined) return row;
    // gfx950 has fewer double-precision units than gfx942, and both share the row.
    if (mnemonic.startsWith('v_mfma_f64_16x16') && row.targets.includes('gfx950')) return row;
    const passes = (row.targets.includes('gfx90a') ? early : late).get(mnemonic);
    return passes === undefined ? row : { ...row, sched: [...row.sched, `Write${passes}PassMAI`] };
  });
}
