// Compiled DPP against the interpreter: every control with masks and bound_ctrl, all and some lanes active, in runs where sources are
// written before, after and by the instruction itself.
import { expect, it } from 'vitest';
import { Random } from '../../../../tests/support/compiled-memory.ts';
import { makeMachine } from '../../../../tests/support/engine-compare.ts';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { DEFAULT_MODE } from '../../../../tests/support/one-instruction.ts';
import { readCodeObject } from '../../../codeobject/index.ts';
import { decoderFor } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../../isa/types.ts';
import { Interpreter } from '../interpreter/interpreter.ts';
import { LANES, WAVE_TEMPORARY, WAVE_VGPRS } from '../state/layout.ts';
import { EXEC } from '../state/wave.ts';
import { declareImports } from './context.ts';
import { WasmModule } from './emit.ts';
import { CompiledEngine } from './engine.ts';
import { laneMode } from './lane-mode.ts';
import { Run, RunPools } from './run.ts';
import { addVector } from './vector.ts';

const row = (name: string): string[] => Array.from({ length: 15 }, (_, n) => `${name}:${n + 1}`);
const BROADCASTS = Array.from({ length: 16 }, (_, n) => `row_newbcast:${n}`);
const CONTROLS = [
  ...[0b11_10_01_00, 0b00_01_10_11, 0, 0xff, 0b10_11_00_01, 0b01_00_11_10, 0b00_11_10_01, 0b10_10_00_00].map(
    (n) => `quad_perm:[${[0, 2, 4, 6].map((shift) => (n >> shift) & 3)}]`,
  ),
  ...[...row('row_shl'), ...row('row_shr'), ...row('row_ror'), ...BROADCASTS, 'row_mirror', 'row_half_mirror'],
  ...['wave_shl:1', 'wave_rol:1', 'wave_shr:1', 'wave_ror:1', 'row_bcast:15', 'row_bcast:31'],
];
const REGISTERS = 8;
const MASKS = [-1n, 0n, 1n << 63n, 0x8001_7ffe_0180_c3c3n, 0xffff_0000_ffffn, 0x7777_7777_7777_7777n];

function wordsOf(target: TargetName, code: string): Uint32Array {
  const { bytes } = kernelObject({ target, code });
  const section = readCodeObject(bytes).elf.sections.find((s) => s.name === '.text') as {
    offset: number;
    size: number;
  };
  return new Uint32Array(bytes.slice(section.offset, section.offset + section.size).buffer);
}

/** Runs code on both engines for several EXEC masks, from random registers; where they differ, and what the compiled one left to the interpreter. */
function differences(target: TargetName, code: string, random: Random): { masks: bigint[]; interpreted: string[] } {
  const { w, loaded, block } = makeMachine(target, wordsOf(target, code));
  const engine = new CompiledEngine({ loaded, memory: w.memory, launch: { mfma: 'exact' } });
  const start = block.slice();
  const masks: bigint[] = [];
  for (const exec of [...MASKS, BigInt(random.word()) * 0x1_0000_0001n]) {
    block.set(start);
    w.setMode(DEFAULT_MODE);
    for (let n = 0; n < REGISTERS * LANES; n++) w.vgprs[n] = random.word();
    w.setS64(EXEC, BigInt.asUintN(64, exec));
    const begin = block.slice();
    new Interpreter(loaded).runWave(w, 10_000, true);
    const expected = block.slice();
    block.set(begin);
    w.setMode(DEFAULT_MODE);
    engine.runWave(w, 10_000, true);
    if (expected.some((x, i) => x !== block[i] && (i < WAVE_TEMPORARY || i >= WAVE_VGPRS))) masks.push(exec);
  }
  engine.takeCounts([]);
  return { masks, interpreted: [...engine.statistics.executedInterpreted.keys()] };
}

it.each(['gfx90a', 'gfx942'] as const)('moves the lanes every control moves, on %s', (target) => {
  const random = new Random(3);
  const problems: string[] = [];
  for (let first = 0; first < CONTROLS.length; first += 8) {
    const cases = CONTROLS.slice(first, first + 8).flatMap((control) => [0, 1].map((bound) => ({ control, bound })));
    const lines = cases.flatMap(({ control, bound }) => {
      const [rows, banks] = random.chance(0.5) ? [15, 15] : [random.below(16), random.below(16)];
      const how = `${control} row_mask:${rows} bank_mask:${banks}${bound ? ' bound_ctrl:0' : ''}`;
      return [
        `v_mov_b32_dpp v1, v2 ${how}`,
        `v_mov_b32_dpp v3, v3 ${how}`,
        `v_add_u32_dpp v4, v5, v1 ${how}`,
        `v_add_co_u32_dpp v0, vcc, v6, v3 ${how}`,
      ];
    });
    const { masks, interpreted } = differences(target, `s_nop 4\n${lines.join('\n')}\ns_endpgm`, random);
    if (masks.length > 0 || interpreted.length > 0) problems.push(`${lines.join('\n')} ${masks} ${interpreted}`);
  }
  expect(problems).toEqual([]);
});

it.each(['gfx90a', 'gfx942'] as const)('keeps what lanes read, whatever a run writes, on %s', (target) => {
  const random = new Random(5);
  const problems: string[] = [];
  const vector = (): string => `v${random.below(REGISTERS)}`;
  const pair = (): string => {
    const first = 2 * random.below(REGISTERS / 2);
    return `v[${first}:${first + 1}]`;
  };
  for (let n = 0; n < 40; n++) {
    const lines = Array.from({ length: 20 }, () => {
      const masks = random.chance(0.6) ? [15, 15] : [random.below(16), random.below(16)];
      const bound = random.chance(0.5) ? ' bound_ctrl:0' : '';
      const how = (controls: readonly string[]): string =>
        `${random.pick(controls)} row_mask:${masks[0]} bank_mask:${masks[1]}${bound}`;
      switch (random.below(8)) {
        case 0:
          return `v_add_u32_e32 ${vector()}, ${vector()}, ${vector()}`;
        case 1:
          return `v_swap_b32 ${vector()}, ${vector()}`;
        case 2:
          return `v_floor_f64_dpp ${pair()}, ${pair()} ${how(BROADCASTS)}`;
        case 3:
          return `v_fmac_f64_dpp ${pair()}, ${pair()}, ${pair()} ${how(BROADCASTS)}`;
        case 4:
          return `v_addc_co_u32_dpp ${vector()}, vcc, ${vector()}, ${vector()}, vcc ${how(CONTROLS)}`;
        case 5:
          return `v_max_f32_dpp ${vector()}, -${vector()}, |${vector()}| ${how(CONTROLS)}`;
        case 6:
          return target === 'gfx90a'
            ? `v_mov_b32_e32 ${vector()}, ${vector()}`
            : `v_mov_b64_dpp ${pair()}, ${pair()} ${how(BROADCASTS)}`;
        default:
          return `v_mov_b32_dpp ${vector()}, ${vector()} ${how(CONTROLS)}`;
      }
    });
    const { masks, interpreted } = differences(target, `s_nop 4\n${lines.join('\n')}\ns_endpgm`, random);
    if (masks.length > 0 || interpreted.length > 0) problems.push(`${lines.join('\n')} ${masks} ${interpreted}`);
  }
  expect(problems).toEqual([]);
});

it('a form with DPP is written once, whatever its registers', () => {
  const target = 'gfx942';
  const [first, second] = [
    'v_add_f32_dpp v1, v2, v3 row_shr:3 row_mask:0xf bank_mask:0x7',
    'v_add_f32_dpp v7, v5, v6 row_shr:3 row_mask:0xf bank_mask:0x7',
  ].map((code) => {
    const words = wordsOf(target, code);
    return decoderFor(target).decode(new Uint8Array(words.buffer), 0) as Instruction;
  }) as [Instruction, Instruction];
  const op = semanticsOf('v_add_f32');
  if (op?.kind !== 'vector') throw new Error('not a vector operation');
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 1, shared: false });
  declareImports(module);
  const fn = module.function(['i32'], []);
  const run = new Run(fn, 0, new RunPools(fn));
  const mode = laneMode(DEFAULT_MODE, false);
  addVector(run, module, first, op, mode);
  // Code is written for the type of the result.
  const unreadable = new Proxy(op, {
    get: (o, name) => (name === 'resultType' ? expect.unreachable('the form is written again') : Reflect.get(o, name)),
  });
  addVector(run, module, second, unreadable, mode);
  expect(run.length).toBe(2);
});
