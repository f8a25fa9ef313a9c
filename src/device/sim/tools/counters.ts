// Hardware counters that are exact functions of execution, derived from execution counts. Names and definitions: ROCm's counter
// definitions (rocprofiler-sdk counter_defs.yaml). What those leave open was settled by counters measured on MI210 and MI300X
// where that was possible; where it was not, a kernel that executes the instruction in question gets no value, but the reason.

import { immediateOf } from '../../../isa/operand.ts';
import { type MatrixOperation, type Operation, semanticsOf } from '../../../isa/semantics/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { Instruction, TargetName } from '../../../isa/types.ts';
import type { SiteCount, SiteCounts } from './counts.ts';

/** A counter's value, or why it has none. */
export type CounterValue = { readonly value: number } | { readonly unknown: string };

/** Counters by their hardware name, in the order of printing. */
export type Counters = Readonly<Record<string, CounterValue>>;

/** How one execution of an instruction changes a counter: a number, or `open` when the definitions do not say. */
type Weight = number | 'open';

interface CounterRule {
  readonly name: string;
  readonly targets?: readonly TargetName[];
  readonly weigh: (what: Classified) => Weight;
}

interface Classified {
  readonly instruction: Instruction;
  readonly encoding: string;
  readonly flags: ReadonlySet<string>;
  readonly operation: string;
  readonly op: Operation | undefined;
}

const FLAT_ENCODINGS = ['FLAT', 'GLOBAL', 'SCRATCH'];
const BUFFER_ENCODINGS = ['MUBUF', 'MTBUF', 'MIMG'];
const SCALAR_ALU = ['SOP1', 'SOP2', 'SOPC', 'SOPK'];
const JUMPS = ['setpc', 'swappc', 'call'];

const isStructural = (w: Classified, ...names: string[]): boolean =>
  w.op?.kind === 'structural' && names.includes(w.op.name);
const isVmem = (w: Classified): boolean => FLAT_ENCODINGS.includes(w.encoding) || BUFFER_ENCODINGS.includes(w.encoding);
const isVector = (w: Classified): boolean => w.flags.has('VALU');

/** Loads or stores of vector memory; atomics and cache control are neither by the definitions' words. */
function vmem(direction: 'load' | 'store'): (w: Classified) => Weight {
  return (w) => {
    if (!isVmem(w)) return 0;
    if (w.op?.kind === 'load') return direction === 'load' ? 1 : 0;
    if (w.op?.kind === 'store') return direction === 'store' ? 1 : 0;
    if (w.op?.kind === 'format') return w.op.direction === direction ? 1 : 0;
    return 'open';
  };
}

/** Operations that the definitions name, by the last type of the operation's name. */
const FLOAT_CLASSES: readonly (readonly [string, RegExp])[] = [
  ['ADD', /^v_(?:pk_)?(?:add|sub|subrev)_(?:legacy_)?f(\d\d)$/],
  ['MUL', /^v_(?:pk_)?mul_(?:legacy_)?f(\d\d)$/],
  ['FMA', /^v_(?:pk_)?(?:fma|fmac|fmaak|fmamk|mad|mac|madak|madmk)_(?:legacy_)?f(\d\d)$/],
];
/** Fused operations that no definition mentions: mixed precision, dot products, division steps. */
const OPEN_FLOAT = /^v_(?:fma_mix|dot2c?_|div_fmas|div_fixup|div_scale|mad_mix)/;

function floatClass(name: string, bits: string): (w: Classified) => Weight {
  const pattern = FLOAT_CLASSES.find(([kind]) => kind === name)?.[1];
  return (w) => {
    if (!isVector(w) || w.op?.kind === 'matrix') return 0;
    if (name === 'TRANS') return w.flags.has('TRANS') && w.operation.endsWith(`f${bits}`) ? 1 : 0;
    if (name === 'FMA' && OPEN_FLOAT.test(w.operation) && opensType(w.operation, bits)) return 'open';
    return pattern?.exec(w.operation)?.[1] === bits ? 1 : 0;
  };
}

/** Whether an operation the definitions are silent about could belong to a type. */
function opensType(operation: string, bits: string): boolean {
  if (bits === '64') return operation.endsWith('f64');
  return operation.includes(`f${bits}`) && !operation.endsWith('f64');
}

/**
 * Integer operations by the type their name ends with. Measured: additions, comparisons and arithmetic shifts with `i32`, `u32`
 * count, `v_mov_b32` and `v_lshlrev_b64` do not; other bit operations and narrow types were not seen.
 */
function integerClass(bits: '32' | '64'): (w: Classified) => Weight {
  return (w) => {
    const { operation } = w;
    if (!isVector(w) || w.op?.kind === 'matrix' || operation.startsWith('v_cvt')) return 0;
    if (operation === 'v_mov_b32' || operation === 'v_lshlrev_b64' || operation === 'v_nop') return 0;
    if (/f(?:16|32|64)$|f(?:16|32|64)_|bf16|fp8|bf8/.test(operation)) return 0;
    const wide = operation.includes('64');
    if (bits === '64') return !wide ? 0 : operation === 'v_lshl_add_u64' ? 1 : 'open';
    if (/_[iub]64$/.test(operation)) return 0;
    return /_(?:add|addc|sub|subb|subrev|subbrev|ashrrev)_(?:co_)?[iu]32$|^v_cmpx?_.*[iu]32$/.test(operation)
      ? 1
      : 'open';
  };
}

const MATRIX_TYPE: Readonly<Record<string, string>> = {
  f16: 'F16',
  bf16: 'BF16',
  f32: 'F32',
  f64: 'F64',
  i8: 'I8',
  fp8: 'F8',
  bf8: 'F8',
  xf32: 'XF32',
};

/** The counter type of a matrix operation, or `open`: gfx950's f8f6f4 with 8-bit elements could be either of two. */
function matrixType(w: Classified, op: MatrixOperation): string {
  if (op.a !== 'f8f6f4') return MATRIX_TYPE[op.a] ?? 'open';
  return immediateOf(w.instruction, 'cbsz') >= 2 && immediateOf(w.instruction, 'blgp') >= 2 ? 'F6F4' : 'open';
}

function matrixCount(
  type: string,
  types: readonly string[],
  weight: (op: MatrixOperation) => Weight,
): CounterRule['weigh'] {
  return (w) => {
    if (w.op?.kind !== 'matrix') return 0;
    const actual = matrixType(w, w.op);
    if (actual === 'open') return type === 'F8' || type === 'F6F4' ? 'open' : 0;
    // gfx942 has xf32 products, but no counter of that name.
    if (actual === 'XF32' && !types.includes('XF32')) return type === 'F32' ? 'open' : 0;
    return actual === type ? weight(w.op) : 0;
  };
}

/** Multiplications and additions in units of 512. Whether the skipped half of a sparse product counts is not public. */
const mops = (op: MatrixOperation): Weight => (op.sparse ? 'open' : (2 * op.m * op.n * op.k * op.blocks) / 512);

function rules(target: TargetName): CounterRule[] {
  const out: CounterRule[] = [
    { name: 'SQ_INSTS', weigh: () => 1 },
    { name: 'SQ_INSTS_VALU', weigh: (w) => (isVector(w) ? 1 : 0) },
    {
      name: 'SQ_INSTS_SALU',
      weigh: (w) => (isStructural(w, ...JUMPS) ? 'open' : SCALAR_ALU.includes(w.encoding) ? 1 : 0),
    },
    { name: 'SQ_INSTS_SMEM', weigh: (w) => (w.encoding === 'SMEM' ? 1 : 0) },
    {
      name: 'SQ_INSTS_SMEM_NORM',
      weigh: (w) => (w.encoding !== 'SMEM' ? 0 : isStructural(w, 'cacheControl') ? 4 : 2),
    },
    { name: 'SQ_INSTS_VMEM', weigh: (w) => (!isVmem(w) ? 0 : isStructural(w, 'cacheControl') ? 'open' : 1) },
    { name: 'SQ_INSTS_VMEM_RD', weigh: vmem('load') },
    { name: 'SQ_INSTS_VMEM_WR', weigh: vmem('store') },
    { name: 'SQ_INSTS_FLAT', weigh: (w) => (FLAT_ENCODINGS.includes(w.encoding) ? 1 : 0) },
    { name: 'SQ_INSTS_LDS', weigh: (w) => (w.encoding === 'DS' ? 1 : w.encoding === 'FLAT' ? 'open' : 0) },
    { name: 'SQ_INSTS_GDS', weigh: () => 0 },
    {
      name: 'SQ_INSTS_BRANCH',
      weigh: (w) => (w.op?.kind === 'branch' ? 1 : isStructural(w, ...JUMPS) ? 'open' : 0),
    },
    { name: 'SQ_INSTS_SENDMSG', weigh: (w) => (isStructural(w, 'sendmsg', 'endpgm') ? 1 : 0) },
  ];
  for (const name of ['ADD', 'MUL', 'FMA', 'TRANS']) {
    for (const bits of ['16', '32', '64']) {
      out.push({ name: `SQ_INSTS_VALU_${name}_F${bits}`, weigh: floatClass(name, bits) });
    }
  }
  out.push(
    { name: 'SQ_INSTS_VALU_CVT', weigh: (w) => (isVector(w) && w.operation.startsWith('v_cvt') ? 1 : 0) },
    { name: 'SQ_INSTS_VALU_INT32', weigh: integerClass('32') },
    { name: 'SQ_INSTS_VALU_INT64', weigh: integerClass('64') },
    { name: 'SQ_INSTS_MFMA', weigh: (w) => (w.op?.kind === 'matrix' ? 1 : 0) },
  );
  const types = targetInfo(target).matrixCounters;
  for (const type of types) {
    out.push({ name: `SQ_INSTS_VALU_MFMA_${type}`, weigh: matrixCount(type, types, () => 1) });
  }
  for (const type of types) {
    out.push({ name: `SQ_INSTS_VALU_MFMA_MOPS_${type}`, weigh: matrixCount(type, types, mops) });
  }
  return out;
}

/** Operations of one lane that count as floating-point operations of a type: fused ones twice, packed ones for both halves. */
function laneFlops(bits: '16' | '32' | '64'): (w: Classified) => Weight {
  const kinds = [
    [floatClass('ADD', bits), 1],
    [floatClass('MUL', bits), 1],
    [floatClass('FMA', bits), 2],
    [floatClass('TRANS', bits), 1],
  ] as const;
  return (w) => {
    let sum = 0;
    for (const [weigh, flops] of kinds) {
      const weight = weigh(w);
      if (weight === 'open') return 'open';
      sum += weight * flops;
    }
    return w.operation.startsWith('v_pk_') ? 2 * sum : sum;
  };
}

/**
 * Floating-point operations of the VALU by type as the lanes did them: unlike the counters, which stand for 64 lanes whatever EXEC is
 * and see a packed instruction once. What one of an operation the definitions are silent about is worth is left open too.
 */
export function deriveFlops(counts: SiteCounts): Counters {
  const lanes = counts.instructions.map((count) => ({
    count: { ...count, hits: count.lanes },
    what: classify(count.instruction),
  }));
  return Object.fromEntries(
    (['16', '32', '64'] as const).map((bits) => [
      `F${bits}`,
      total({ name: `F${bits}`, weigh: laneFlops(bits) }, lanes),
    ]),
  );
}

/** The counters of a run on `target`. */
export function deriveCounters(counts: SiteCounts, target: TargetName): Counters {
  const { waves } = counts;
  const out: Record<string, CounterValue> = {
    SQ_WAVES: { value: waves.waves },
    SQ_ITEMS: { value: waves.items },
    SQ_WAVES_EQ_64: { value: waves.equal64 },
    SQ_WAVES_LT_64: { value: waves.below64 },
    SQ_WAVES_LT_48: { value: waves.below48 },
    SQ_WAVES_LT_32: { value: waves.below32 },
    SQ_WAVES_LT_16: { value: waves.below16 },
  };
  const classified = counts.instructions.map((count) => ({ count, what: classify(count.instruction) }));
  for (const rule of rules(target)) out[rule.name] = total(rule, classified);
  out.SQ_INSTS_VSKIPPED = { value: counts.instructions.reduce((sum, c) => sum + c.skipped, 0) };
  return out;
}

function classify(instruction: Instruction): Classified {
  const { encoding, flags, operation } = instruction.row;
  return { instruction, encoding, flags, operation, op: semanticsOf(operation) };
}

function total(
  rule: CounterRule,
  instructions: readonly { readonly count: SiteCount; readonly what: Classified }[],
): CounterValue {
  let value = 0;
  const open = new Map<string, number>();
  for (const { count, what } of instructions) {
    const weight = rule.weigh(what);
    // Whether instructions that s_setvskip passes over are counted where they belong is not public.
    if (weight === 'open' || (count.skipped > 0 && weight !== 0)) {
      open.set(what.operation, (open.get(what.operation) ?? 0) + count.hits);
    } else value += weight * count.hits;
  }
  if (open.size === 0) return { value };
  const names = [...open].map(([name, hits]) => `${name} (${hits})`);
  const shown = names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ');
  return { unknown: `whether it counts ${shown} is not public` };
}
