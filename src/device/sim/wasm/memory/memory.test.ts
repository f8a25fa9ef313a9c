// Compiled memory and lane-crossing instructions against the interpreter: every row of the three tables, random operands, EXEC,
// addresses and memory; state and faults must be equal.
import { describe, expect, it } from 'vitest';
import {
  CompiledInstructions,
  compareOnce,
  type Machine,
  makeMachine,
  Random,
  randomInstruction,
  randomize,
} from '../../../../../tests/support/compiled-memory.ts';
import { DEFAULT_MODE, parse } from '../../../../../tests/support/one-instruction.ts';
import { printInstruction, tableFor } from '../../../../isa/index.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../../../isa/types.ts';
import { CONTROL_SHARED } from '../../state/layout.ts';
import { EXEC, FLAT_SCRATCH, LANES, M0 } from '../../state/wave.ts';

const CROSSING = new Set(['readfirstlane', 'readlane', 'writelane', 'permlaneSwap', 'permute', 'bpermute', 'swizzle']);
const LDS_SPECIAL = new Set(['append', 'readTransposed', 'addtid', 'condxchg']);

/** Whether an instruction is this folder's business. */
function belongs(row: InstructionRow): boolean {
  const op = semanticsOf(row.operation);
  if (op === undefined) return false;
  if (op.kind === 'structural') return CROSSING.has(op.name) || LDS_SPECIAL.has(op.name);
  return op.kind === 'load' || op.kind === 'store' || op.kind === 'atomic' || op.kind === 'format';
}

/** Operations without a compiled form: formats, double exchanges, and scalar forms no compiler emits. */
const INTERPRETED = /^(t?buffer_(load|store)_format|s_scratch_|s_buffer_atomic|ds_wrxchg2|ds_condxchg)/;

interface Sample {
  readonly row: InstructionRow;
  readonly instruction: Instruction;
}

function samples(target: TargetName, random: Random, perRow: number): Sample[] {
  return tableFor(target)
    .rows.filter(belongs)
    .flatMap((row) =>
      Array.from({ length: perRow }, () => randomInstruction(target, row, random))
        .filter((i) => i !== undefined)
        .map((instruction) => ({ row, instruction })),
    );
}

/** Runs `cases` random states on each sample; messages of those that differ, and operations without a compiled form. */
function differences(
  m: Machine,
  list: readonly Sample[],
  random: Random,
  cases: number,
): { found: string[]; interpreted: Set<string> } {
  const compiled = new CompiledInstructions(
    m,
    list.map((s) => s.instruction),
  );
  const found: string[] = [];
  const shared = new Int32Array(m.w.memory.wasm.buffer, CONTROL_SHARED, 1);
  list.forEach(({ instruction }, n) => {
    if (!compiled.covered[n]) return;
    for (let k = 0; k < cases; k++) {
      const state = randomize(m, instruction, random);
      // As when other threads work on the memory: atomics take the host's.
      shared[0] = random.below(2);
      const difference = compareOnce(m, compiled, n);
      if (difference === undefined) continue;
      found.push(`${printInstruction(m.target, instruction).trim()} (${state}): ${difference}`);
      break;
    }
  });
  const operations = list.map((s) => s.row.operation);
  const covered = new Set(operations.filter((_, n) => compiled.covered[n]));
  return { found, interpreted: new Set(operations.filter((o) => !covered.has(o))) };
}

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('executes every memory instruction as the interpreter does', () => {
    const random = new Random(target.charCodeAt(4) * 65536 + target.charCodeAt(5));
    const list = samples(target, random, 2);
    const { found, interpreted } = differences(makeMachine(target), list, random, 4);
    expect(found.slice(0, 20)).toEqual([]);
    expect([...interpreted].filter((operation) => !INTERPRETED.test(operation))).toEqual([]);
  });
});

describe('fast paths', () => {
  it.each([
    'global_load_dword v8, v[2:3], off offset:16',
    'global_load_dwordx3 v[8:10], v2, s[4:5]',
    'global_store_dwordx4 v[2:3], v[8:11], off',
    'flat_load_ushort v8, v[2:3]',
    'flat_store_dwordx2 v[2:3], v[8:9]',
    'global_atomic_add_f32 v8, v[2:3], v9, off sc0',
    'global_load_lds_dwordx4 v[2:3], off',
    'buffer_load_dwordx4 v[8:11], v2, s[8:11], s1 offen',
    'buffer_store_short v8, v2, s[8:11], 0 offen',
    'ds_read2_b64 v[8:11], v2 offset1:9',
    'ds_write_b128 v2, v[8:11]',
    'ds_max_rtn_f32 v8, v2, v9',
    'ds_read_b64_tr_b8 v[8:9], v2',
    'ds_read_b96_tr_b6 v[8:10], v2',
    'ds_append v8',
    'scratch_load_dwordx2 v[8:9], v2, s20',
    'scratch_store_byte off, v8, s20',
    's_load_dwordx16 s[32:47], s[4:5], 0x40',
    's_atomic_dec s16, s[4:5], 0x0 glc',
  ])('%s asks nothing of the interpreter when its addresses are live', (text) => {
    const m = makeMachine(text.startsWith('s_atomic') ? 'gfx942' : 'gfx950');
    const instruction = parse(m.target, text);
    const compiled = new CompiledInstructions(m, [instruction]);
    const { w } = m;
    const [window, , mapped] = m.regions;
    const space = /^(global|flat)_/.test(text) && !text.includes('s[4:5]') ? 'wide' : 'narrow';
    for (const pattern of ['contiguous', 'shuffled', 'uniform', 'masked', 'mapped']) {
      randomize(m, instruction, new Random(5));
      const main = (pattern === 'mapped' ? mapped : window) as (typeof m.regions)[0];
      w.setMode(DEFAULT_MODE);
      w.setS64(EXEC, pattern === 'masked' ? 0x8123456789abcdefn : 0xffffffffffffffffn);
      // Transposing reads are compiled for the whole wavefront only.
      if (text.includes('_tr_') && pattern === 'masked') continue;
      w.sgprs[M0] = 256;
      w.sgprs[1] = 32;
      w.sgprs[20] = 8;
      w.setS64(4, BigInt(main.base));
      w.setS64(8, BigInt(main.base));
      w.sgprs[10] = main.size;
      w.sgprs[11] = 0;
      w.setS64(FLAT_SCRATCH, BigInt(m.scratch.base));
      for (let lane = 0; lane < LANES; lane++) {
        const order = pattern === 'shuffled' ? (lane * 37) % LANES : pattern === 'uniform' ? 1 : lane;
        const offset = text.startsWith('scratch') ? (order & 1) * 16 : 16 * order;
        const address = space === 'wide' ? main.base + offset : offset;
        w.vgprs[2 * LANES + lane] = (address % 2 ** 32) | 0;
        w.vgprs[3 * LANES + lane] = Math.floor(address / 2 ** 32);
      }
      expect(compareOnce(m, compiled, 0)).toBeUndefined();
      expect({ pattern, resumed: compiled.resumed }).toEqual({ pattern, resumed: 0 });
    }
  });
});
