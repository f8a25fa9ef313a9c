// Registers that are in use, borrowed for the code of one point where too few are free. Vector registers go to accumulation registers that
// nothing names, in all lanes; scalar registers go to lanes of one vector register, which needs no other register at all.
// Source: CDNA3 ISA manual, "V_WRITELANE_B32" (ignores EXEC); LLVM's GCNHazardRecognizer: a scalar register that the VALU wrote is read by
// vector memory 5 wait states later, a vector register by matrix instructions 2.

/** What there is to borrow, each list best first. */
export interface Lenders {
  /** Free at the point; these are not borrowed, but hold what was. */
  readonly freeSgprs: readonly number[];
  readonly freeVgprs: readonly number[];
  /** In use, and read neither by the point's values nor by its instruction. */
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
  /** Accumulation registers that nothing names. */
  readonly agprs: readonly number[];
  /** VCC holds nothing at the point. */
  readonly isVccFree: boolean;
}

/** Registers for a point's code, and the code around it. */
export interface Loan {
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly lastVgpr: number;
  readonly lastSgpr: number;
  readonly lastAgpr: number;
}

function pairs(count: number, list: readonly number[]): number[] | undefined {
  const out: number[] = [];
  for (const n of list) {
    if (out.length >= count) break;
    if (n % 2 === 0 && list.includes(n + 1)) out.push(n, n + 1);
  }
  return out.length >= count ? out : undefined;
}

/** Borrows so many scalar and vector registers, both even; the reason when it cannot be done. */
export function borrow(lenders: Lenders, sgprs: number, vgprs: number): Loan | string {
  const { freeSgprs, freeVgprs, agprs, isVccFree } = lenders;
  const scalars = pairs(sgprs, lenders.sgprs);
  if (scalars === undefined) return 'no scalar register is free, and none can be borrowed';
  // One vector register holds the scalar ones; where none is free, one more is borrowed for it.
  const ownBag = sgprs > 0 && freeVgprs.length > 0 ? freeVgprs[freeVgprs.length - 1] : undefined;
  const wanted = vgprs + (sgprs > 0 && ownBag === undefined ? 2 : 0);
  const vectors = pairs(wanted, lenders.vgprs);
  if (vectors === undefined || agprs.length < wanted)
    return 'no vector register is free, and no accumulation register to borrow one for';
  const bag = ownBag ?? (sgprs > 0 ? vectors.at(-1) : undefined);
  const keepScalars = scalars.map((s, i) => `v_writelane_b32 v${bag}, s${s}, ${i}`);
  const giveScalars = scalars.map((s, i) => `v_readlane_b32 s${s}, v${bag}, ${i}`);
  const exec = execPlace(vectors.length, ownBag === undefined ? [] : scalars, freeSgprs, isVccFree);
  if (exec === undefined) return 'no scalar registers are free to keep EXEC while vector registers are borrowed';
  const inAllLanes = (lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`s_mov_b64 ${exec}, exec`, 's_mov_b64 exec, -1', ...lines, `s_mov_b64 exec, ${exec}`];
  const keepVectors = inAllLanes(vectors.map((v, i) => `v_accvgpr_write_b32 a${agprs[i]}, v${v}`));
  const giveVectors = inAllLanes(vectors.map((v, i) => `v_accvgpr_read_b32 v${v}, a${agprs[i]}`));
  const [before, after] =
    ownBag === undefined
      ? [
          [...keepVectors, ...keepScalars],
          [...giveScalars, ...giveVectors],
        ]
      : [
          [...keepScalars, ...keepVectors],
          [...giveVectors, ...giveScalars],
        ];
  return {
    sgprs: [...freeSgprs, ...scalars],
    vgprs: [...freeVgprs, ...vectors].filter((v) => v !== bag),
    before: [...before, 's_nop 1'],
    after: ['s_nop 1', ...after, 's_nop 4'],
    lastVgpr: Math.max(-1, bag ?? -1),
    lastSgpr: /^s\[\d+:(\d+)\]$/.exec(exec) === null ? -1 : Number(/:(\d+)/.exec(exec)?.[1]),
    lastAgpr: Math.max(-1, ...agprs.slice(0, vectors.length)),
  };
}

/** Two scalar registers for EXEC: `''` when none are needed, undefined when there are none. */
function execPlace(
  vectors: number,
  borrowed: readonly number[],
  free: readonly number[],
  isVccFree: boolean,
): string | undefined {
  if (vectors === 0) return '';
  const first = pairs(2, free)?.[0] ?? borrowed[0];
  if (first !== undefined) return `s[${first}:${first + 1}]`;
  return isVccFree ? 'vcc' : undefined;
}
