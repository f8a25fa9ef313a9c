// What an instruction does, in sentences: from the semantics table, whose expressions are written as formulas; by name where its effect
// is no expression. Source: CDNA3 ISA manual.
import {
  type AtomicOperation,
  type Expr,
  type LoadOperation,
  type MatrixOperation,
  type StoreOperation,
  semanticsOf,
} from '../semantics/index.ts';

const CACHE = 'Cache control:';

/** Effects that the table has only a name for, by operation. */
const EFFECTS: Readonly<Record<string, string>> = {
  s_nop: 'Does nothing for SIMM16 + 1 cycles (0 to 7 more): the wait states of hazards.',
  s_waitcnt: 'Waits until the counters named are at most the values given: memory results are in their registers then.',
  ds_gws_barrier: 'Waits until one wavefront of every workgroup of a cooperative launch is here.',
  s_barrier: 'Waits until all wavefronts of the workgroup are here.',
  s_endpgm: 'Ends the wavefront.',
  s_endpgm_saved: 'Ends the wavefront after a context save.',
  s_endpgm_ordered_ps_done: 'Ends the wavefront and tells pixel ordering.',
  s_branch: 'Goes to the target.',
  s_cbranch_scc0: 'Goes to the target when SCC is 0.',
  s_cbranch_scc1: 'Goes to the target when SCC is 1.',
  s_cbranch_vccz: 'Goes to the target when VCC is zero.',
  s_cbranch_vccnz: 'Goes to the target when VCC is not zero.',
  s_cbranch_execz: 'Goes to the target when EXEC is zero: no lane is active.',
  s_cbranch_execnz: 'Goes to the target when EXEC is not zero: some lane is active.',
  s_cbranch_cdbgsys: 'Goes to the target when the system debug flag is set.',
  s_cbranch_cdbguser: 'Goes to the target when the user debug flag is set.',
  s_cbranch_cdbgsys_or_user: 'Goes to the target when one debug flag is set.',
  s_cbranch_cdbgsys_and_user: 'Goes to the target when both debug flags are set.',
  s_getpc_b64: 'The address of the next instruction.',
  s_setpc_b64: 'Goes to an address in SGPRs.',
  s_swappc_b64: 'Calls: goes to an address in SGPRs and keeps that of the next instruction.',
  s_call_b64: 'Calls: goes to the target and keeps the address of the next instruction.',
  s_getreg_b32: 'Reads bits of a hardware register.',
  s_setreg_b32: 'Writes bits of a hardware register.',
  s_setreg_imm32_b32: 'Writes bits of a hardware register with a literal.',
  s_sendmsg: 'Sends a message; M0 is its data.',
  s_sendmsghalt: 'Sends a message and halts.',
  s_sleep: 'Sleeps for about 64 × SIMM16 cycles.',
  s_setprio: 'Sets the wavefront’s issue priority, 0 to 3.',
  s_sethalt: 'Halts or resumes the wavefront.',
  s_setkill: 'Marks the wavefront to be ended.',
  s_setvskip: 'Skips vector instructions while on.',
  s_trap: 'Enters the trap handler.',
  s_wakeup: 'Wakes sleeping wavefronts of the workgroup.',
  s_ttracedata: 'Writes M0 to the thread trace.',
  s_incperflevel: 'Raises a performance counter level.',
  s_decperflevel: 'Lowers a performance counter level.',
  s_memtime: 'The cycle counter, 64 bits.',
  s_memrealtime: 'The constant-rate clock, 64 bits.',
  s_icache_inv: `${CACHE} invalidates the instruction cache.`,
  s_dcache_inv: `${CACHE} invalidates the scalar data cache.`,
  s_dcache_inv_vol: `${CACHE} invalidates the volatile lines of the scalar data cache.`,
  s_dcache_wb: `${CACHE} writes the scalar data cache back.`,
  s_dcache_wb_vol: `${CACHE} writes the volatile lines of the scalar data cache back.`,
  s_dcache_discard: `${CACHE} discards a line of the scalar data cache.`,
  s_dcache_discard_x2: `${CACHE} discards two lines of the scalar data cache.`,
  s_atc_probe: 'Asks for an address translation ahead of use.',
  s_atc_probe_buffer: 'Asks for the address translation of a buffer ahead of use.',
  buffer_wbl2: `${CACHE} writes dirty lines of L2 back, to make stores visible outside the device.`,
  buffer_inv: `${CACHE} invalidates vector caches up to the scope sc0, sc1, so that later loads see others’ stores.`,
  buffer_invl2: `${CACHE} invalidates lines of L2.`,
  buffer_wbinvl1: `${CACHE} invalidates the vector L1 cache.`,
  buffer_wbinvl1_vol: `${CACHE} invalidates the volatile lines of the vector L1 cache.`,
  s_movrels_b32: 'Reads the SGPR at the source’s number plus M0.',
  s_movrels_b64: 'Reads the SGPR pair at the source’s number plus M0.',
  s_movreld_b32: 'Writes the SGPR at the destination’s number plus M0.',
  s_movreld_b64: 'Writes the SGPR pair at the destination’s number plus M0.',
  s_set_gpr_idx_on: 'VGPR indexing on: the index goes to M0, the operands named are indexed.',
  s_set_gpr_idx_off: 'VGPR indexing off.',
  s_set_gpr_idx_idx: 'Sets the index of VGPR indexing in M0.',
  s_set_gpr_idx_mode: 'Chooses the operands that VGPR indexing applies to.',
  v_nop: 'Does nothing.',
  v_clrexcp: 'Clears the wavefront’s exceptions.',
  v_readfirstlane_b32: 'An SGPR gets the value of the first active lane (lane 0 when none is).',
  v_readlane_b32: 'An SGPR gets the value of one lane, active or not.',
  v_writelane_b32: 'One lane of a VGPR gets a scalar value, active or not.',
  v_swap_b32: 'Two VGPRs change places.',
  v_permlane16_swap_b32: 'Odd rows of 16 lanes of the first register change places with even rows of the second.',
  v_permlane32_swap_b32: 'The upper 32 lanes of the first register change places with the lower 32 of the second.',
  v_mfma_ld_scale_b32: 'Loads the block scales for the matrix instruction that follows.',
  ds_nop: 'Does nothing.',
  ds_append: 'Adds the number of active lanes to a counter in LDS; returns the old value.',
  ds_consume: 'Subtracts the number of active lanes from a counter in LDS; returns the old value.',
  ds_permute_b32: 'Each lane sends its data to the lane addr / 4.',
  ds_bpermute_b32: 'Each lane reads the data of the lane addr / 4.',
  ds_swizzle_b32: 'Lanes exchange data by the pattern in `offset`.',
  ds_condxchg32_rtn_b64: 'Exchanges each dword whose bit 31 is set.',
  ds_read_addtid_b32: 'Reads LDS at M0 + offset + 4 × lane.',
  ds_write_addtid_b32: 'Writes LDS at M0 + offset + 4 × lane.',
  ds_read_b64_tr_b4: 'Reads LDS and transposes 4-bit elements across 16 lanes, for matrix operands.',
  ds_read_b64_tr_b8: 'Reads LDS and transposes 8-bit elements across 16 lanes, for matrix operands.',
  ds_read_b64_tr_b16: 'Reads LDS and transposes 16-bit elements across 16 lanes, for matrix operands.',
  ds_read_b96_tr_b6: 'Reads LDS and transposes 6-bit elements across 16 lanes, for matrix operands.',
};

/** Longer formulas are not written out. */
const LONGEST = 240;

const INFIX: Readonly<Record<string, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  and: '&',
  or: '|',
  xor: '^',
  shl: '<<',
  shr_u: '>>',
  shr_s: '>> (signed)',
  eq: '==',
  ne: '!=',
  lt: '<',
  lt_u: '<',
  lt_s: '< (signed)',
  le: '<=',
  le_u: '<=',
  le_s: '<= (signed)',
  gt: '>',
  gt_u: '>',
  gt_s: '> (signed)',
  ge: '>=',
  ge_u: '>=',
  ge_s: '>= (signed)',
};

/** An expression as a formula: `src0 + (src1 & 255)`. */
function formula(expr: Expr, sources: readonly string[], isInner = false): string {
  if (expr.op === 'const') return String(expr.value);
  if (expr.op === 'source') {
    const name = sources[Number(expr.value)] ?? `source${expr.value}`;
    return expr.part === 0 ? name : `${name}.${expr.part}`;
  }
  if (expr.args.length === 0) return expr.op;
  const operator = expr.op.slice(expr.op.indexOf('.') + 1);
  const args = expr.args.map((one) => formula(one, sources, true));
  const wrap = (text: string): string => (isInner ? `(${text})` : text);
  if (Object.hasOwn(INFIX, operator) && args.length === 2) return wrap(`${args[0]} ${INFIX[operator]} ${args[1]}`);
  if (operator === 'select') return wrap(`${args[0]} ? ${args[1]} : ${args[2]}`);
  if (operator === 'not' && args.length === 1) return `~${args[0]}`;
  if (operator === 'neg' && args.length === 1) return `-${args[0]}`;
  const plain = expr.args.map((one) => formula(one, sources));
  return `${operator}(${plain.join(', ')})`;
}

const SPACES: Readonly<Record<string, string>> = {
  global: 'global memory',
  flat: 'memory (global, LDS or scratch by address)',
  scratch: 'scratch memory',
  buffer: 'a buffer',
  tbuffer: 'a typed buffer',
  lds: 'LDS',
  scalar: 'memory, through the scalar cache',
  scalarBuffer: 'a buffer, through the scalar cache',
};
const spaceName = (space: string): string => SPACES[space] ?? space;
const bytesText = (bytes: number): string => `${bytes} byte${bytes === 1 ? '' : 's'}`;
const pairText = (stride: number | undefined): string =>
  stride === undefined ? '' : ` at each of two addresses (offset0 and offset1 times ${stride})`;

function loadText({ space, bytes, signed, half, pairStride, toLds }: LoadOperation): string {
  const kept = half === undefined ? '' : ` into the ${half} half of the register; the other half becomes 0`;
  const extended = bytes < 4 && half === undefined ? `, ${signed ? 'sign' : 'zero'} extended to a dword` : '';
  const where = toLds ? ', and writes them to LDS at M0' : '';
  return `Loads ${bytesText(bytes)} from ${spaceName(space)}${pairText(pairStride)}${extended}${kept}${where}.`;
}

function storeText({ space, bytes, half, pairStride }: StoreOperation): string {
  const from = half === 'high' ? ' of the high half of the register' : '';
  return `Stores ${bytesText(bytes)}${from} to ${spaceName(space)}${pairText(pairStride)}.`;
}

function atomicText({ space, type, update }: AtomicOperation): string {
  const shown = update.map((one) => formula(one, ['memory', 'data', 'data2'])).join('; ');
  const returns = 'The old value is returned where the instruction returns one.';
  return `At once, in ${spaceName(space)}: memory = ${shown} (${type}). ${returns}`;
}

function matrixText({ m, n, k, blocks, a, b, d, sparse }: MatrixOperation): string {
  const many = blocks === 1 ? '' : `, ${blocks} times independently`;
  const of = sparse ? ' A is 4:2 sparse, its indices are in a VGPR; C is the destination.' : '';
  return `D = A * B + C: A is ${m} x ${k} of ${a}, B ${k} x ${n} of ${b}, C and D ${m} x ${n} of ${d}${many}.${of}`;
}

const short = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);

/** What an operation does, as sentences and formulas; empty when nothing says it. */
export function proseOf(operation: string): string[] {
  const effect = EFFECTS[operation];
  if (effect !== undefined) return [effect];
  const semantics = semanticsOf(operation);
  switch (semantics?.kind) {
    case 'vector': {
      const names = semantics.sources.map((s) => s.operand);
      const types = semantics.sources.map((s) => `${s.operand} as ${s.type}`).join(', ');
      const lines = semantics.result.map((one, i) => {
        const part = semantics.result.length > 1 ? `.${i}` : '';
        return `result${part} = ${short(formula(one, names))}  (${semantics.resultType}${types === '' ? '' : `; ${types}`})`;
      });
      if (semantics.mask !== undefined)
        lines.push(`bit of the lane = ${short(formula(semantics.mask, names))}  (${types})`);
      return ['In every active lane:', ...lines];
    }
    case 'scalar': {
      const names = semantics.sources.map((s) => s.operand);
      const lines: string[] = [];
      if (semantics.result !== undefined) lines.push(`result = ${short(formula(semantics.result, names))}`);
      if (semantics.when !== undefined) lines.push(`written only when ${short(formula(semantics.when, names))}`);
      if (semantics.scc === 'nonzero') lines.push('SCC = result != 0');
      else if (semantics.scc !== undefined) lines.push(`SCC = ${short(formula(semantics.scc, names))}`);
      if (semantics.exec !== undefined) lines.push(`EXEC = ${short(formula(semantics.exec, names))}`);
      return lines;
    }
    case 'load':
      return [loadText(semantics)];
    case 'store':
      return [storeText(semantics)];
    case 'atomic':
      return [atomicText(semantics)];
    case 'matrix':
      return [matrixText(semantics)];
    case 'format': {
      const { direction, components, space } = semantics;
      const verb = direction === 'load' ? 'Loads' : 'Stores';
      const by = space === 'tbuffer' ? 'the format in the instruction' : "the descriptor's format";
      return [`${verb} ${components} component${components === 1 ? '' : 's'}, converted by ${by}.`];
    }
    case 'image': {
      const from = semantics.mip ? ' of a mipmap level' : '';
      if (semantics.action === 'size') return ["Gives an image's width, height, depth or layers, and levels."];
      if (semantics.action === 'sample') return ['Samples an image at coordinates, filtered as the sampler says.'];
      return [
        `${semantics.action === 'load' ? 'Loads' : 'Stores'} a texel${from} of an image, converted by its format.`,
      ];
    }
    case 'scaleConvert': {
      const { count, from, to, stochastic } = semantics;
      const how = stochastic ? ', rounded at random by a seed' : '';
      return [`Converts ${count} value${count === 1 ? '' : 's'} from ${from} to ${to} with a scale${how}.`];
    }
    case 'unreachable':
      return [`Not used by compute kernels: ${semantics.reason}`];
    default:
      return [];
  }
}
