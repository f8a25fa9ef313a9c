// Runs one instruction, given as text, on a wavefront with chosen registers: the harness of the simulator's instruction tests.

import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { DeviceMemory } from '../../src/device/sim/state/memory.ts';
import { AGPR_BASE, EXEC, FLAT_SCRATCH, LANES, M0, VCC, Wave } from '../../src/device/sim/state/wave.ts';
import { Workgroup } from '../../src/device/sim/state/workgroup.ts';
import { parseInstruction } from '../../src/isa/parse/parse.ts';
import { Lexer } from '../../src/isa/text/lexer.ts';
import type { Instruction, TargetName } from '../../src/isa/types.ts';

/** A value of every lane, or one value per lane. */
export type Lanes = number | readonly number[];

/** Registers by name: `v0`, `a3`, `s5`, `vcc`, `exec`, `m0`, `scc`, `mode`; 64-bit masks as bigint. */
export type Registers = Readonly<Record<string, Lanes | bigint>>;

/** Parses one instruction with the project's own parser. */
export function parse(target: TargetName, text: string): Instruction {
  const lexer = new Lexer(text);
  lexer.nextStatement();
  const parsed = parseInstruction(lexer, {
    target,
    xnack: false,
    constant: () => undefined,
    here: () => '.',
    numericLabel: () => undefined,
  });
  const problem = lexer.diagnostics[0];
  if (parsed === undefined || problem !== undefined)
    throw new Error(`'${text}': ${problem?.message ?? 'does not parse'}`);
  return parsed.instruction;
}

/** MODE with denormals kept, IEEE and DX10 clamp on, rounding to nearest even: what compilers ask for. */
export const DEFAULT_MODE = 0x3f0;

/** A wavefront with LDS, scratch and 64 KiB of zeroed global memory (its address is in s[96:97]). */
export function makeWave(target: TargetName, registers: Registers = {}): Wave {
  const memory = new DeviceMemory();
  const group = new Workgroup(
    { target, kernelName: 'test', scratchPerLane: 256, architectedScratch: target !== 'gfx90a' },
    memory.reserve(65536, 'LDS'),
    [0, 0, 0],
  );
  const w = new Wave(memory, group);
  w.env.ocp = target === 'gfx950';
  w.setMode(DEFAULT_MODE);
  w.setS64(EXEC, 0xffffffffffffffffn);
  w.setS64(96, BigInt(memory.alloc(65536, 'memory').base));
  w.setS64(FLAT_SCRATCH, BigInt(memory.alloc(256 * LANES, 'scratch').base));
  for (const [name, value] of Object.entries(registers)) setRegister(w, name, value);
  return w;
}

function setRegister(w: Wave, name: string, value: Lanes | bigint): void {
  const index = Number(name.slice(1));
  if (name === 'scc') w.scc = value !== 0;
  else if (name === 'mode') w.setMode(Number(value));
  else if (name === 'm0') w.sgprs[M0] = Number(value);
  else if (name === 'vcc') w.setS64(VCC, BigInt(value as bigint));
  else if (name === 'exec') w.setS64(EXEC, BigInt(value as bigint));
  else if (name[0] === 's') {
    if (typeof value === 'bigint') w.setS64(index, value);
    else w.sgprs[index] = Number(value);
  } else {
    const base = (name[0] === 'a' ? AGPR_BASE + index : index) * LANES;
    for (let lane = 0; lane < LANES; lane++) {
      w.vgprs[base + lane] = typeof value === 'object' ? (value[lane % value.length] as number) : Number(value);
    }
  }
}

/** Executes `text` on the wave. */
export function step(w: Wave, text: string): void {
  const { target } = w.workgroup.dispatch;
  bindInstruction(parse(target, text), target)(w);
}

/** Runs one instruction on a fresh wave. */
export function execute(target: TargetName, text: string, registers: Registers = {}): Wave {
  const w = makeWave(target, registers);
  step(w, text);
  return w;
}

/** A vector register's lanes as unsigned numbers. */
export function lanes(w: Wave, register: number, agpr = false): number[] {
  const base = (agpr ? AGPR_BASE + register : register) * LANES;
  return Array.from(w.vgprs.subarray(base, base + LANES), (x) => x >>> 0);
}

/** The bits of an f32. */
export function f32(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0] as number;
}
