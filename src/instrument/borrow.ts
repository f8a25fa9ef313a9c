// Registers that are in use, borrowed for the code of one point where too few are free. Vector registers go to accumulation registers that
// nothing names, else to scratch, in all lanes; scalar registers go to lanes of one vector register, which needs no other register at all.
// Source: CDNA3 ISA manual, "V_WRITELANE_B32" (ignores EXEC); LLVM's GCNHazardRecognizer: a scalar register that the VALU wrote is read by
// vector memory 5 wait states later, a vector register by matrix instructions 2.
import type { Line } from './assemble.ts';

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
  readonly isSccLive: boolean;
  /** Scratch that may be used; undefined where there is none. */
  readonly scratch: ScratchSpace | undefined;
}

/** Scratch behind what the kernels have. */
export interface ScratchSpace {
  /** The first byte of it, in each lane. */
  readonly at: number;
  /** Instructions need a scalar register for the address, as FLAT_SCRATCH is not architected; it is zero. */
  readonly needsRegister: boolean;
}

/** Registers for a point's code, and the code around it. */
export interface Loan {
  readonly sgprs: readonly number[];
  readonly vgprs: readonly number[];
  readonly before: readonly Line[];
  readonly after: readonly Line[];
  readonly lastVgpr: number;
  readonly lastSgpr: number;
  readonly lastAgpr: number;
  /** One more than the last byte of scratch that is used; 0 for none. */
  readonly scratchEnd: number;
}

/** Bytes of scratch that an instruction reaches without a register. */
export const SCRATCH_REACH = 4096;
/** Labels of code around a point; the point's own count from 0. */
const FIRST_LABEL = 1_000_000;

function pairs(count: number, list: readonly number[]): number[] | undefined {
  const out: number[] = [];
  for (const n of list) {
    if (out.length >= count) break;
    if (n % 2 === 0 && list.includes(n + 1)) out.push(n, n + 1);
  }
  return out.length >= count ? out : undefined;
}

/** Borrows so many scalar and vector registers, both even; the reason when it cannot be done. */
export function borrow(lenders: Lenders, wantedSgprs: number, vgprs: number): Loan | string {
  const { freeSgprs, freeVgprs, isVccFree } = lenders;
  const freePair = pairs(2, freeSgprs);
  // Scratch needs no place for EXEC, but what is borrowed besides the first register does.
  const isBare = freePair === undefined && !isVccFree && lenders.scratch !== undefined;
  const sgprs = isBare ? Math.max(2, wantedSgprs) : wantedSgprs;
  const scalars = pairs(sgprs, lenders.sgprs);
  if (scalars === undefined) return 'no scalar register is free, and none can be borrowed';
  // One vector register holds the scalar ones; where none is free, one more is borrowed for it.
  const ownBag = sgprs > 0 && freeVgprs.length > 0 ? freeVgprs[freeVgprs.length - 1] : undefined;
  const wanted = vgprs + (sgprs > 0 && ownBag === undefined ? 2 : 0);
  const vectors = pairs(wanted, lenders.vgprs);
  if (vectors === undefined) return NO_VECTOR;
  const bag = ownBag ?? (sgprs > 0 ? vectors.at(-1) : undefined);
  const keepScalars = scalars.map((s, i) => `v_writelane_b32 v${bag}, s${s}, ${i}`);
  const giveScalars = scalars.map((s, i) => `v_readlane_b32 s${s}, v${bag}, ${i}`);
  const isScalarFirst = ownBag !== undefined || isBare;
  const execPair = freePair ?? (isScalarFirst && scalars.length > 0 ? scalars : undefined);
  const exec =
    execPair === undefined ? (isVccFree ? 'vcc' : undefined) : `s[${execPair[0]}:${(execPair[0] as number) + 1}]`;
  if (exec === undefined && vectors.length > 0)
    return 'no scalar registers are free to keep EXEC while vector registers are borrowed';
  const zeros = [...freeSgprs, ...(isScalarFirst && !isBare ? scalars : [])].filter((s) => !execPair?.includes(s));
  const zero = zeros[0] !== undefined ? `s${zeros[0]}` : isVccFree && exec !== 'vcc' ? 'vcc_lo' : undefined;
  const places = placesFor(vectors, lenders, lenders.scratch?.needsRegister === true ? zero : 'off');
  if (places === undefined) return NO_VECTOR;
  if (typeof places === 'string') return places;
  const setZero = waits(places).length > 0 && zero !== undefined && lenders.scratch?.needsRegister === true;
  const address = setZero ? [`s_mov_b32 ${zero}, 0`] : [];
  // The register for scalar ones is kept before there is a place for EXEC.
  const early = isBare && ownBag === undefined ? places.slice(-1) : [];
  const others = places.slice(0, places.length - early.length);
  const inAllLanes = (list: readonly Place[], side: 'keep' | 'give'): string[] =>
    list.length === 0
      ? []
      : [
          `s_mov_b64 ${exec}, exec`,
          's_mov_b64 exec, -1',
          ...list.map((one) => one[side]),
          ...waits(list),
          `s_mov_b64 exec, ${exec}`,
        ];
  const flipped = (side: 'keep' | 'give', label: number): Line[] =>
    early.flatMap((one) => inBothHalves([one[side], 's_waitcnt vmcnt(0)'], lenders.isSccLive, label));
  // A register for addresses that is borrowed itself is set once it is kept.
  const [first, second] = zeros[0] === undefined || freeSgprs.includes(zeros[0]) ? [address, []] : [[], address];
  const before: Line[] = isScalarFirst
    ? [
        ...first,
        ...flipped('keep', FIRST_LABEL),
        ...keepScalars,
        ...(isBare || second.length > 0 ? ['s_nop 1'] : []),
        ...second,
        ...inAllLanes(others, 'keep'),
      ]
    : [...first, ...inAllLanes(others, 'keep'), ...keepScalars];
  const after: Line[] = isScalarFirst
    ? [...address, ...inAllLanes(others, 'give'), ...giveScalars, ...flipped('give', FIRST_LABEL + 2)]
    : [...giveScalars, ...address, ...inAllLanes(others, 'give')];
  return {
    sgprs: [...freeSgprs, ...scalars],
    vgprs: [...freeVgprs, ...vectors].filter((v) => v !== bag),
    // A scalar register that a vector instruction has just written is read by the next one two wait states later, by memory five.
    before: [...(setZero ? ['s_nop 4'] : scalars.length > 0 ? ['s_nop 1'] : []), ...before, 's_nop 1'],
    after: ['s_nop 1', ...after, 's_nop 4'],
    lastVgpr: bag ?? -1,
    lastSgpr: Math.max(
      execPair === undefined || vectors.length === 0 ? -1 : (execPair[1] as number),
      setZero ? (zeros[0] ?? -1) : -1,
    ),
    lastAgpr: Math.max(-1, ...places.map(({ agpr }) => agpr)),
    scratchEnd: Math.max(0, ...places.map(({ end }) => end)),
  };
}

/** Where a vector register is kept, in the active lanes: the instruction that puts it there, and the one that gives it back. */
interface Place {
  readonly keep: string;
  readonly give: string;
  readonly agpr: number;
  readonly end: number;
}

const NO_VECTOR = 'no vector register is free, and no accumulation register to borrow one for';

/** A place for each register: accumulation registers as far as there are any, then scratch at `base`; the reason when it is not known. */
function placesFor(
  vectors: readonly number[],
  { agprs, scratch }: Lenders,
  base: string | undefined,
): Place[] | string | undefined {
  if (vectors.length > agprs.length && scratch !== undefined && base === undefined)
    return 'no scalar register is free for the address of scratch';
  const out = vectors.map((v, i): Place | undefined => {
    const agpr = agprs[i];
    if (agpr !== undefined)
      return { keep: `v_accvgpr_write_b32 a${agpr}, v${v}`, give: `v_accvgpr_read_b32 v${v}, a${agpr}`, agpr, end: 0 };
    const at = (scratch?.at ?? SCRATCH_REACH) + 4 * (i - agprs.length);
    if (at + 4 > SCRATCH_REACH) return undefined;
    return {
      keep: `scratch_store_dword off, v${v}, ${base} offset:${at}`,
      give: `scratch_load_dword v${v}, off, ${base} offset:${at}`,
      agpr: -1,
      end: at + 4,
    };
  });
  return out.every((one) => one !== undefined) ? out : undefined;
}

/** What borrowed registers in scratch wait for. */
function waits(places: readonly Place[]): string[] {
  return places.some(({ end }) => end > 0) ? ['s_waitcnt vmcnt(0)'] : [];
}

/** Lines for the active lanes and then for the others, with no register to keep EXEC in; turning EXEC over writes SCC. */
function inBothHalves(lines: readonly string[], isSccLive: boolean, label: number): Line[] {
  const both = [...lines, 's_not_b64 exec, exec', ...lines, 's_not_b64 exec, exec'];
  if (!isSccLive) return both;
  return [
    { branch: 's_cbranch_scc1', to: label },
    ...both,
    's_cmp_lg_u32 0, 0',
    { branch: 's_branch', to: label + 1 },
    { label },
    ...both,
    's_cmp_eq_u32 0, 0',
    { label: label + 1 },
  ];
}
