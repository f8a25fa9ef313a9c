// The compiled DPP lane crossing against v_mov_b32 with DPP on the interpreter, for every control, masks and bound_ctrl.
import { expect, it } from 'vitest';
import { makeMachine, Random } from '../../../../../tests/support/compiled-memory.ts';
import { parse } from '../../../../../tests/support/one-instruction.ts';
import { bindInstruction } from '../../interpreter/loaded-code.ts';
import { WAVE_TEMPORARY, WAVE_VGPRS } from '../../state/layout.ts';
import { EXEC, LANES } from '../../state/wave.ts';
import { WasmModule } from '../emit.ts';
import { declareMemoryImports, dppSource, memoryImports } from './index.ts';

const row = (name: string): [string, number][] =>
  Array.from({ length: 15 }, (_, n) => [
    `${name}:${n + 1}`,
    { row_shl: 0x100, row_shr: 0x110, row_ror: 0x120 }[name] as number | undefined,
  ]).map(([text, base], n) => [text as string, (base as number) + n + 1]);
const CONTROLS: readonly [string, number][] = [
  ['quad_perm:[3,1,0,2]', 0b10_00_01_11],
  ['quad_perm:[0,0,2,2]', 0b10_10_00_00],
  ...row('row_shl'),
  ...row('row_shr'),
  ...row('row_ror'),
  ...Array.from({ length: 16 }, (_, n): [string, number] => [`row_newbcast:${n}`, 0x150 + n]),
  ['wave_shl:1', 0x130],
  ['wave_rol:1', 0x134],
  ['wave_shr:1', 0x138],
  ['wave_ror:1', 0x13c],
  ['row_mirror', 0x140],
  ['row_half_mirror', 0x141],
  ['row_bcast:15', 0x142],
  ['row_bcast:31', 0x143],
];

it('moves the lanes every DPP control moves', () => {
  const m = makeMachine('gfx942');
  const { w } = m;
  const random = new Random(3);
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 65536, shared: true });
  declareMemoryImports(module);
  const cases = CONTROLS.flatMap(([text, control]) =>
    [0, 1].map((bound) => {
      const [rows, banks] = random.chance(0.5) ? [15, 15] : [random.below(16), random.below(16)];
      const fn = dppSource(module, control, rows, banks, bound === 1);
      const name = `${control}.${bound}`;
      module.export(name, fn);
      const masks = `row_mask:0x${rows.toString(16)} bank_mask:0x${banks.toString(16)}${bound ? ' bound_ctrl:0' : ''}`;
      return { name, step: bindInstruction(parse('gfx942', `v_mov_b32_dpp v1, v2 ${text} ${masks}`), 'gfx942') };
    }),
  );
  const { wasm } = w.memory;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), {
    env: { memory: wasm, ...memoryImports(() => expect.unreachable(), w.memory, false) },
  });
  for (const { name, step } of cases) {
    for (const exec of [-1n, BigInt(random.word()) * 0x1_0000_0001n, 0x8001_7ffe_0180_c3c3n]) {
      for (let n = 0; n < 3 * LANES; n++) w.vgprs[n] = random.word();
      w.setS64(EXEC, BigInt.asUintN(64, exec));
      const before = w.vgprs.slice(LANES, 2 * LANES);
      const source = w.pointer + WAVE_VGPRS + 2 * 4 * LANES;
      const move = exports[name] as (wave: number, from: number, to: number) => bigint;
      const written = move(w.pointer, source, w.pointer + WAVE_TEMPORARY) & exec;
      const moved = new Int32Array(wasm.buffer, w.pointer + WAVE_TEMPORARY, LANES).slice();
      step(w);
      const expected = [...w.vgprs.subarray(LANES, 2 * LANES)];
      const got = [...moved].map((x, lane) => (((written >> BigInt(lane)) & 1n) !== 0n ? x : before[lane]));
      expect({ name, exec, got }).toEqual({ name, exec, got: expected });
    }
  }
});
