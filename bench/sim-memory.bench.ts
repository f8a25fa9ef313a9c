// Time of one wavefront instruction of each memory shape and address pattern: compiled code against the reference interpreter.
// `npm run bench sim-memory`. One instruction is repeated on the same addresses, code and data warm: the time of the instruction alone.

import { bindInstruction } from '../src/device/sim/interpreter/loaded-code.ts';
import { WAVE_BYTES } from '../src/device/sim/state/layout.ts';
import { DeviceMemory } from '../src/device/sim/state/memory.ts';
import { EXEC, FLAT_SCRATCH, LANES, M0, Wave } from '../src/device/sim/state/wave.ts';
import { Workgroup } from '../src/device/sim/state/workgroup.ts';
import { WasmModule } from '../src/device/sim/wasm/emit.ts';
import { memoryImports } from '../src/device/sim/wasm/memory/imports.ts';
import { declareMemoryImports, emitCrossLane, emitMemory } from '../src/device/sim/wasm/memory/index.ts';
import { semanticsOf } from '../src/isa/semantics/index.ts';
import { DEFAULT_MODE, parse } from '../tests/support/one-instruction.ts';

const TARGET = 'gfx950';
const MEMORY = 1 << 20;
const LDS = 65536;
const ROUNDS = 5;

type Pattern = 'contiguous' | 'uniform' | 'rows' | 'random' | 'masked';
/** Offset of a lane: rows are 16 lanes long, masked is contiguous with every other lane inactive. */
const OFFSETS: Record<Pattern, (lane: number, bytes: number, limit: number) => number> = {
  contiguous: (lane, bytes) => lane * bytes,
  uniform: () => 64,
  rows: (lane, bytes) => (lane >> 4) * 2048 + (lane & 15) * bytes,
  random: (lane, bytes, limit) => (((lane * 2654435761) >>> 7) % Math.floor(limit / bytes)) * bytes,
  masked: (lane, bytes) => lane * bytes,
};

interface Case {
  readonly text: string;
  readonly space: 'global' | 'saddr' | 'buffer' | 'lds' | 'none';
  /** Bytes of a lane. */
  readonly bytes: number;
  readonly patterns: readonly Pattern[];
}
const ALL: readonly Pattern[] = ['contiguous', 'uniform', 'rows', 'random', 'masked'];
const CASES: readonly Case[] = [
  { text: 'global_load_dword v8, v[2:3], off', space: 'global', bytes: 4, patterns: ALL },
  { text: 'global_load_dword v8, v2, s[4:5]', space: 'saddr', bytes: 4, patterns: ALL },
  { text: 'global_load_dwordx2 v[8:9], v[2:3], off', space: 'global', bytes: 8, patterns: ALL },
  { text: 'global_load_dwordx4 v[8:11], v[2:3], off', space: 'global', bytes: 16, patterns: ALL },
  { text: 'global_load_ushort v8, v[2:3], off', space: 'global', bytes: 2, patterns: ALL },
  { text: 'global_store_dword v[2:3], v8, off', space: 'global', bytes: 4, patterns: ALL },
  { text: 'global_store_dwordx4 v[2:3], v[8:11], off', space: 'global', bytes: 16, patterns: ALL },
  { text: 'buffer_load_dword v8, v2, s[8:11], 0 offen', space: 'buffer', bytes: 4, patterns: ALL },
  { text: 'buffer_load_dwordx4 v[8:11], v2, s[8:11], 0 offen', space: 'buffer', bytes: 16, patterns: ALL },
  { text: 'buffer_load_dwordx4 v2, s[8:11], 0 offen lds', space: 'buffer', bytes: 16, patterns: ALL },
  { text: 'ds_read_b32 v8, v2', space: 'lds', bytes: 4, patterns: ALL },
  { text: 'ds_read_b128 v[8:11], v2', space: 'lds', bytes: 16, patterns: ALL },
  { text: 'ds_read2st64_b32 v[8:9], v2 offset1:1', space: 'lds', bytes: 4, patterns: ALL },
  { text: 'ds_write_b32 v2, v8', space: 'lds', bytes: 4, patterns: ALL },
  { text: 'ds_write_b64 v2, v[8:9]', space: 'lds', bytes: 8, patterns: ALL },
  { text: 'ds_add_u32 v2, v8', space: 'lds', bytes: 4, patterns: ['contiguous', 'uniform'] },
  { text: 'ds_add_f32 v2, v8', space: 'lds', bytes: 4, patterns: ['contiguous', 'uniform'] },
  { text: 'global_atomic_add v[2:3], v8, off', space: 'global', bytes: 4, patterns: ['contiguous', 'uniform'] },
  { text: 'global_atomic_add_f32 v[2:3], v8, off', space: 'global', bytes: 4, patterns: ['contiguous', 'uniform'] },
  { text: 'ds_bpermute_b32 v8, v2, v9', space: 'lds', bytes: 4, patterns: ['random', 'masked'] },
  { text: 'ds_swizzle_b32 v8, v2 offset:0x401f', space: 'none', bytes: 4, patterns: ['contiguous', 'masked'] },
  { text: 'ds_read_b64_tr_b16 v[8:9], v2', space: 'lds', bytes: 8, patterns: ['contiguous'] },
  { text: 'scratch_load_dword v8, off, s20', space: 'none', bytes: 4, patterns: ['contiguous', 'masked'] },
  { text: 'scratch_store_dwordx4 off, v[8:11], s20', space: 'none', bytes: 16, patterns: ['contiguous', 'masked'] },
  {
    text: 'buffer_load_dword v8, off, s[12:15], 0 offset:16',
    space: 'none',
    bytes: 4,
    patterns: ['contiguous', 'masked'],
  },
  { text: 'v_readfirstlane_b32 s20, v8', space: 'none', bytes: 4, patterns: ['contiguous'] },
  { text: 's_load_dwordx8 s[16:23], s[4:5], 0x40', space: 'none', bytes: 4, patterns: ['contiguous'] },
];

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

function main(): void {
  const memory = new DeviceMemory();
  const lds = memory.reserve(LDS, 'LDS');
  const dispatch = {
    target: TARGET,
    kernelName: 'bench',
    scratchPerLane: 1024,
    architectedScratch: true,
    clock: 0,
  } as const;
  const w = new Wave(memory, new Workgroup(dispatch, lds, [0, 0, 0]), memory.reserve(WAVE_BYTES, 'wave'));
  const region = memory.alloc(MEMORY, 'data');
  w.setMode(DEFAULT_MODE);

  const steps = CASES.map((c) => bindInstruction(parse(TARGET, c.text), TARGET));
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 65536, shared: memory.isShared });
  declareMemoryImports(module);
  CASES.forEach((c, n) => {
    const fn = module.function(['i32', 'i32'], []);
    const instruction = parse(TARGET, c.text);
    const op = semanticsOf(instruction.row.operation);
    fn.loop();
    const context = { fn, wave: 0, pc: n };
    if (
      op === undefined ||
      !(emitMemory(context, module, instruction, op) || emitCrossLane(context, module, instruction, op))
    )
      throw new Error(`${c.text} has no compiled form`);
    fn.get(1).i32(1).op('i32.sub').tee(1).brIf(0).end();
    module.export(`f${n}`, fn);
  });
  let resumed = 0;
  const imports = memoryImports(
    (_wave, pc) => {
      resumed++;
      steps[pc]?.(w);
    },
    memory,
    false,
  );
  const bytes = module.finish();
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    env: { memory: memory.wasm, ...imports },
  });
  console.log('Timed: one instruction on the same addresses again and again, code and data warm; no process start.');
  console.log(
    `${CASES.length} shapes, ${bytes.length} bytes of WebAssembly; ns for one instruction of a wavefront, GB/s of it, against the interpreter\n`,
  );
  console.log(
    `${'instruction'.padEnd(52)}${'pattern'.padEnd(12)}${'ns'.padStart(8)}${'GB/s'.padStart(8)}${'interpreter ns'.padStart(16)}${'ratio'.padStart(8)}`,
  );

  CASES.forEach((c, n) => {
    const run = exports[`f${n}`] as (wave: number, count: number) => void;
    const step = steps[n] as (w: Wave) => void;
    for (const pattern of c.patterns) {
      setUp(w, c, pattern, region.base);
      const compiled: number[] = [];
      const interpreted: number[] = [];
      resumed = 0;
      run(w.pointer, 20000);
      for (let round = 0; round < ROUNDS; round++) {
        compiled.push(time(20000, (count) => run(w.pointer, count)));
        interpreted.push(
          time(300, (count) => {
            for (let k = 0; k < count; k++) step(w);
          }),
        );
      }
      if (resumed > 0) throw new Error(`${c.text} ${pattern} was left to the interpreter`);
      const a = median(compiled);
      const b = median(interpreted);
      const rate = c.space === 'none' ? '' : ((c.bytes * LANES) / (pattern === 'masked' ? 2 : 1) / a).toFixed(1);
      console.log(
        `${c.text.padEnd(52)}${pattern.padEnd(12)}${a.toFixed(1).padStart(8)}${rate.padStart(8)}${b.toFixed(0).padStart(16)}${(b / a).toFixed(0).padStart(8)}`,
      );
    }
  });
}

function time(count: number, f: (count: number) => void): number {
  const start = performance.now();
  f(count);
  return ((performance.now() - start) * 1e6) / count;
}

function setUp(w: Wave, c: Case, pattern: Pattern, base: number): void {
  const limit = c.space === 'lds' ? LDS - 1024 : MEMORY;
  for (let lane = 0; lane < LANES; lane++) {
    const offset = OFFSETS[pattern](lane, c.bytes, limit);
    const address = c.space === 'global' ? base + offset : offset;
    w.vgprs[2 * LANES + lane] = (address % 2 ** 32) | 0;
    w.vgprs[3 * LANES + lane] = Math.floor(address / 2 ** 32);
  }
  w.sgprs[M0] = 0;
  w.setS64(4, BigInt(base));
  w.setS64(8, BigInt(base));
  w.sgprs[10] = MEMORY;
  w.sgprs[11] = 0;
  w.setS64(FLAT_SCRATCH, BigInt(base));
  w.sgprs[20] = 64;
  // The private segment of gfx90a: swizzled by lane.
  w.setS64(12, BigInt(base) | (1n << 63n));
  w.sgprs[14] = -1;
  w.sgprs[15] = (3 << 21) | (1 << 23) | (4 << 15);
  w.setS64(EXEC, pattern === 'masked' ? 0x5555555555555555n : 0xffffffffffffffffn);
}

main();
