// Runs one memory or lane-crossing instruction twice on the same state, compiled and by the interpreter, and compares everything
// it can have changed: the wave block, LDS, device memory, and the fault. Addresses are made to suit the instruction.

import { randomNumbers } from '../../src/base/index.ts';
import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { gpuWindow, WAVE_BYTES, WAVE_TEMPORARY, WAVE_VGPRS } from '../../src/device/sim/state/layout.ts';
import { DeviceMemory } from '../../src/device/sim/state/memory.ts';
import type { Region } from '../../src/device/sim/state/region.ts';
import { AGPR_BASE, EXEC, FLAT_SCRATCH, LANES, M0, Wave } from '../../src/device/sim/state/wave.ts';
import { Workgroup } from '../../src/device/sim/state/workgroup.ts';
import { WasmModule } from '../../src/device/sim/wasm/emit.ts';
import { memoryImports } from '../../src/device/sim/wasm/memory/imports.ts';
import { declareMemoryImports, emitCrossLane, emitMemory } from '../../src/device/sim/wasm/memory/index.ts';
import { decoderFor } from '../../src/isa/index.ts';
import { operandNamed } from '../../src/isa/operand.ts';
import { semanticsOf } from '../../src/isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../src/isa/types.ts';
import { DEFAULT_MODE } from './one-instruction.ts';

/** A small deterministic generator of random numbers. */
export class Random {
  private readonly next: () => number;
  constructor(seed: number) {
    this.next = randomNumbers(seed);
  }
  /** A random u32. */
  word(): number {
    return Math.floor(this.next() * 2 ** 32);
  }
  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  chance(p: number): boolean {
    return this.word() < p * 2 ** 32;
  }
}

const LDS = 8192;
/** Smaller than LDS of some cases, so that addresses fall outside. */
const SCRATCH_PER_LANE = 64;
/** Address of the region mapped outside the window. */
const MAPPED = 0x7abc00000000;

export interface Machine {
  readonly target: TargetName;
  readonly w: Wave;
  readonly regions: readonly Region[];
  readonly scratch: Region;
  readonly lds: Uint8Array;
  readonly state: readonly Uint8Array[];
}

/** A wave with LDS, scratch, three pages of memory (the last one partial), read-only memory, and memory outside the window. */
export function makeMachine(target: TargetName): Machine {
  const memory = new DeviceMemory();
  const lds = memory.reserve(LDS, 'LDS');
  const dispatch = {
    target,
    kernelName: 'test',
    scratchPerLane: SCRATCH_PER_LANE,
    architectedScratch: target !== 'gfx90a',
    clock: 0,
  };
  const group = new Workgroup(dispatch, lds, [0, 0, 0]);
  const block = memory.reserve(WAVE_BYTES, 'wave state');
  const w = new Wave(memory, group, block);
  w.env.ocp = target === 'gfx950';
  const main = memory.alloc(3 * 4096 - 1200, 'main');
  const readOnly = memory.alloc(2048, 'constants', true);
  const mapped = memory.allocAt(MAPPED, 4096, 'mapped');
  const scratch = memory.alloc(SCRATCH_PER_LANE * LANES, 'scratch');
  const regions = [main, readOnly, mapped, scratch];
  return {
    target,
    w,
    regions,
    scratch,
    lds,
    state: [block.subarray(0, WAVE_TEMPORARY), block.subarray(WAVE_VGPRS, WAVE_VGPRS + 2 * AGPR_BASE * LANES * 4), lds],
  };
}

/** An encoding of the row with random operands, or undefined when the tries do not decode to it. */
export function randomInstruction(target: TargetName, row: InstructionRow, random: Random): Instruction | undefined {
  for (let attempt = 0; attempt < 60; attempt++) {
    const words = [...row.fixedBits, 0];
    for (const f of row.fields) {
      const name = row.operands[f.operand]?.name ?? '';
      let value = random.below(2 ** Math.min(f.width, 31));
      if (name === 'gds' || name === 'cpol') value = name === 'gds' ? 0 : value & 1;
      else if (/^(vaddr|addr|vdata|vdst|data\d|src0|src1|vdst_in)/.test(name) && f.width >= 7) {
        // Few registers, so that they overlap.
        const vector = f.width === 9 ? 256 : 0;
        value = vector + random.pick([0, 2, 4, 4, 6, 8, 12, 252]);
        const lane = row.operation === 'v_writelane_b32' || (row.operation === 'v_readlane_b32' && name === 'src1');
        if (lane || (/^src/.test(name) && random.chance(0.3))) value = random.pick([2, 124, 126, 130, 193, 128 + 45]);
      } else if (name === 'sdst' || name === 'sdata') value = random.pick([0, 4, 8, 16, 32, 106, 120]);
      else if (name === 'sbase') value = random.pick([4, 8, 12]);
      else if (name === 'srsrc') value = random.pick([1, 2, 3, 4]);
      else if (name === 'saddr') value = random.pick([4, 6, 20, 106]);
      else if (name === 'soffset') value = random.pick([0, 1, 12, 13, 124, 128, 128 + 16]);
      else if (/^offset/.test(name) && f.shift === 0) {
        if (row.encoding === 'SMEM') value = random.pick([0, 4, 8, 16, 61, 0x100, 0x1ffffc]) & (2 ** f.width - 1);
        else value = random.chance(0.4) ? 0 : random.chance(0.5) ? 4 * random.below(32) : value;
        if (row.encoding === 'DS' && f.width === 16 && !row.operation.includes('swizzle') && random.chance(0.8))
          value &= 0xff;
      }
      const word = f.at >> 5;
      const bits = (value & (f.width === 32 ? -1 : 2 ** f.width - 1)) >>> 0;
      words[word] = ((words[word] as number) | (bits << (f.at & 31))) >>> 0;
      const spill = (f.at & 31) + f.width - 32;
      if (spill > 0) words[word + 1] = ((words[word + 1] as number) | (bits >>> (f.width - spill))) >>> 0;
    }
    const instruction = decoderFor(target).decode(new Uint8Array(Uint32Array.from(words).buffer), 0);
    if (instruction?.row.operation === row.operation && instruction.row.encoding === row.encoding) return instruction;
  }
  return undefined;
}

function registers(w: Wave, first: number, count: number): Uint8Array {
  const { buffer, byteOffset } = w.vgprs;
  return new Uint8Array(buffer, byteOffset + first * LANES * 4, count * LANES * 4);
}

function fillRandom(bytes: Uint8Array, random: Random): void {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  for (let n = 0; n < words.length; n++) words[n] = random.word();
}

const registerBase = (operand: { file: string; index: number }): number =>
  (operand.file === 'a' ? AGPR_BASE + operand.index : operand.index) * LANES;

/** Offsets of the lanes from a start, in one of the patterns kernels and accidents make. */
function laneOffsets(size: number, limit: number, random: Random): { pattern: string; offsets: number[] } {
  const pattern = random.pick([
    'contiguous',
    'contiguous',
    'uniform',
    'strided',
    'rows',
    'random',
    'random',
    'overlapping',
    'unaligned',
    'nearEnd',
    'outside',
    'oneOutside',
  ]);
  const room = Math.max(0, limit - 64 * size);
  const start = 4 * random.below(room / 4);
  const lanes = Array.from({ length: LANES }, (_, lane) => lane);
  const make = (f: (lane: number) => number): number[] => lanes.map(f);
  let offsets: number[];
  if (pattern === 'contiguous') offsets = make((l) => start + l * size);
  else if (pattern === 'uniform') offsets = make(() => start);
  else if (pattern === 'strided') {
    const stride = 4 * random.below(16);
    offsets = make((l) => (start + l * stride) % Math.max(4, limit - size));
  } else if (pattern === 'rows')
    offsets = make((l) => ((l >> 4) * 512 + (l & 15) * size + start) % Math.max(4, limit - size));
  else if (pattern === 'overlapping') offsets = make(() => start + 2 * random.below(8));
  else if (pattern === 'unaligned') offsets = make(() => random.below(limit - size));
  else if (pattern === 'nearEnd') offsets = make((l) => limit - 32 * size + l * size);
  else if (pattern === 'outside') offsets = make(() => random.word());
  else offsets = make(() => 4 * random.below((limit - size) / 4));
  if (pattern === 'oneOutside') offsets[random.below(LANES)] = limit + 0x100000;
  return { pattern, offsets };
}

function setAddress64(w: Wave, at: number, lane: number, address: number): void {
  w.vgprs[at + lane] = (address % 2 ** 32) | 0;
  w.vgprs[at + LANES + lane] = Math.floor(address / 2 ** 32);
}

/** Gives the address registers values that suit the instruction. Returns a description. */
function setAddresses(m: Machine, instruction: Instruction, random: Random): string {
  const { w } = m;
  const op = semanticsOf(instruction.row.operation);
  const space = op !== undefined && 'space' in op ? op.space : op?.kind === 'structural' ? 'lds' : undefined;
  const size = op?.kind === 'load' || op?.kind === 'store' ? op.bytes : op?.kind === 'atomic' ? 4 : 4;
  const region = random.chance(0.75) ? (m.regions[0] as Region) : random.pick(m.regions);
  const vaddr = operandNamed(instruction, 'vaddr');
  const addr = operandNamed(instruction, 'addr');
  const signed = operandNamed(instruction, 'offset');
  const constant = signed?.kind === 'imm' ? signed.value : 0;
  if (space === 'lds') {
    if (addr?.kind !== 'reg') return 'lds';
    const { pattern, offsets } = laneOffsets(size, LDS - 256, random);
    const wide = random.chance(0.15);
    const below = random.chance(0.3) ? constant : 0;
    for (const [lane, offset] of offsets.entries())
      w.vgprs[registerBase(addr) + lane] = wide ? random.word() : offset - below;
    return `lds ${pattern}`;
  }
  if (space === 'flat' || space === 'global') {
    if (vaddr?.kind !== 'reg') return 'none';
    const saddr = operandNamed(instruction, 'saddr');
    const { pattern, offsets } = laneOffsets(size, region.size, random);
    const base = registerBase(vaddr);
    if (saddr?.kind === 'reg') {
      const before = random.chance(0.2) ? 2 ** 31 : 0;
      w.setS64(saddr.encoding, BigInt(region.base - before - constant));
      for (const [lane, offset] of offsets.entries()) w.vgprs[base + lane] = (before + offset) | 0;
      return `${space} saddr ${pattern} ${region.label}`;
    }
    const aperture = space === 'flat' && random.chance(0.4) ? random.pick([0x10000, 0x20000, -1]) : 0;
    const edge = random.chance(0.1);
    for (const [lane, offset] of offsets.entries()) {
      let address = region.base + offset - constant;
      if (aperture !== 0) {
        const high = aperture > 0 ? aperture : random.pick([0x10000, 0x20000, gpuWindow.high]);
        address = high === gpuWindow.high ? address : high * 2 ** 32 + ((offset % (LDS - 64)) >>> 0);
      }
      if (edge)
        address = gpuWindow.high * 2 ** 32 + random.pick([0, -16, 2 ** 32 - 16, 2 ** 32 - 4096, 4000]) + size * lane;
      setAddress64(w, base, lane, address);
    }
    return `${space} ${pattern} ${region.label} ${aperture} ${edge}`;
  }
  if (space === 'scratch') {
    const saddr = operandNamed(instruction, 'saddr');
    const target = random.chance(0.9) ? m.scratch.base : region.base;
    w.setS64(FLAT_SCRATCH, BigInt(target));
    const scalar = 4 * random.below(4);
    if (saddr?.kind === 'reg') w.sgprs[saddr.encoding] = scalar - (vaddr === undefined ? constant : 0);
    if (vaddr?.kind !== 'reg') return 'scratch scalar';
    const { pattern, offsets } = laneOffsets(size, SCRATCH_PER_LANE - scalar, random);
    for (const [lane, offset] of offsets.entries())
      w.vgprs[registerBase(vaddr) + lane] =
        (random.chance(0.98) ? (offset >>> 0) % (SCRATCH_PER_LANE - scalar) : offset) - constant;
    if (pattern === 'uniform' || pattern === 'contiguous')
      for (let lane = 0; lane < LANES; lane++) w.vgprs[registerBase(vaddr) + lane] = (offsets[0] as number) - constant;
    return `scratch ${pattern}`;
  }
  if (space === 'buffer' || space === 'tbuffer') return setBuffer(m, instruction, region, size, random);
  if (space === 'scalar' || space === 'scalarBuffer' || space === 'scalarScratch') {
    const sbase = operandNamed(instruction, 'sbase');
    const soffset = operandNamed(instruction, 'soffset');
    const start = random.chance(0.8) ? random.below(region.size - 128) : region.size - 16;
    if (soffset?.kind === 'reg' && soffset.encoding < 128)
      w.sgprs[soffset.encoding] = random.chance(0.9) ? random.below(64) : random.word();
    if (sbase?.kind !== 'reg') return 'none';
    w.setS64(sbase.encoding, BigInt(region.base + start));
    if (space === 'scalarBuffer') {
      w.sgprs[sbase.encoding + 1] = (w.sgprs[sbase.encoding + 1] as number) | (random.pick([0, 0, 4, 16]) << 16);
      w.sgprs[sbase.encoding + 2] = random.pick([0, 8, 64, 1024, -1]);
      w.sgprs[sbase.encoding + 3] = 0;
    }
    return `${space} ${region.label}`;
  }
  return 'registers';
}

function setBuffer(m: Machine, instruction: Instruction, region: Region, size: number, random: Random): string {
  const { w } = m;
  const vaddr = operandNamed(instruction, 'vaddr');
  const srsrc = operandNamed(instruction, 'srsrc');
  const soffset = operandNamed(instruction, 'soffset');
  const { template } = instruction.row;
  const idxen = / idxen/.test(template);
  const offen = / offen/.test(template);
  if (srsrc?.kind !== 'reg') return 'none';
  const plain = random.chance(0.6);
  const stride = plain ? 0 : random.pick([0, 4, 16, 20]);
  const swizzle = !plain && random.chance(0.4);
  const tid = !plain && random.chance(0.3);
  const shift = random.chance(0.3) ? 4 * random.below(64) : 0;
  if (soffset?.kind === 'reg' && soffset.encoding < 128) w.sgprs[soffset.encoding] = shift;
  w.setS64(srsrc.encoding, BigInt(region.base));
  w.sgprs[srsrc.encoding + 1] =
    ((w.sgprs[srsrc.encoding + 1] as number) & 0xffff) | (stride << 16) | (swizzle ? -0x80000000 : 0);
  w.sgprs[srsrc.encoding + 2] = random.pick([region.size, region.size, region.size - 100, 256, 30, 0, -1]);
  w.sgprs[srsrc.encoding + 3] = (random.below(4) << 21) | (tid ? 1 << 23 : 0) | (4 << 15) | 0xfac;
  const { pattern, offsets } = laneOffsets(size, region.size, random);
  const masked = random.chance(0.3);
  const privateSegment = random.chance(0.2);
  if (privateSegment) {
    const low = region.base % 2 ** 32;
    w.sgprs[srsrc.encoding] = low | 0;
    w.sgprs[srsrc.encoding + 1] = gpuWindow.high | -0x80000000;
    w.sgprs[srsrc.encoding + 2] = random.pick([-1, -1, 24]);
    w.sgprs[srsrc.encoding + 3] = (3 << 21) | (1 << 23) | (4 << 15);
    for (const [lane, offset] of offsets.entries())
      offsets[lane] = pattern === 'uniform' ? 4 * (size & 3) : offset % 48;
  }
  if (vaddr?.kind === 'reg') {
    const base = registerBase(vaddr);
    for (const [lane, offset] of offsets.entries()) {
      const value = masked && (lane & 8) !== 0 ? -0x80000000 : offset;
      if (idxen) w.vgprs[base + lane] = stride === 0 ? random.below(64) : Math.floor(offset / stride);
      if (offen) w.vgprs[base + (idxen ? LANES : 0) + lane] = idxen ? random.below(16) * 4 : value;
    }
  }
  return `buffer ${pattern} stride ${stride} swizzle ${swizzle} tid ${tid} ${region.label}`;
}

function setExec(w: Wave, random: Random): string {
  const kind = random.pick(['full', 'full', 'full', 'random', 'sparse', 'one', 'none', 'half']);
  let low = -1;
  let high = -1;
  if (kind === 'random') [low, high] = [random.word(), random.word()];
  else if (kind === 'sparse')
    [low, high] = [random.word() & random.word() & random.word(), random.word() & random.word()];
  else if (kind === 'one') [low, high] = random.chance(0.5) ? [1 << random.below(32), 0] : [0, 1 << random.below(32)];
  else if (kind === 'none') [low, high] = [0, 0];
  else if (kind === 'half') [low, high] = random.chance(0.5) ? [-1, 0] : [0, 0xffff0];
  w.sgprs[EXEC] = low;
  w.sgprs[EXEC + 1] = high;
  return kind;
}

/** Sets up a random state for an instruction; returns what it is, for messages. */
export function randomize(m: Machine, instruction: Instruction, random: Random): string {
  const { w } = m;
  fillRandom(m.lds, random);
  // The registers that instructions use; the others only have to stay as they are.
  for (const first of [0, 248, AGPR_BASE, AGPR_BASE + 248])
    fillRandom(registers(w, first, first % AGPR_BASE === 0 ? 24 : 8), random);
  for (let n = 0; n < 128; n++) w.sgprs[n] = random.word();
  for (const region of m.regions) fillRandom(region.bytes, random);
  w.scc = false;
  w.setMode(random.chance(0.8) ? DEFAULT_MODE : random.below(0x400));
  w.sgprs[M0] = random.chance(0.85) ? 4 * random.below(512) : random.chance(0.5) ? LDS - 200 : random.word();
  const where = setAddresses(m, instruction, random);
  return `${where}, EXEC ${setExec(w, random)}`;
}

/** Compiled forms of instructions: undefined where the instruction is left to the interpreter. */
export interface Compiled {
  readonly run: ((wave: number) => void) | undefined;
}

/** Compiles instructions into one module; `current` says which instruction the interpreter is to execute. */
export class CompiledInstructions {
  readonly covered: boolean[] = [];
  readonly steps: ((w: Wave) => void)[];
  readonly moduleBytes: number;
  private readonly exports: WebAssembly.Exports;
  /** Instructions (or their tails) given back to the interpreter. */
  resumed = 0;

  constructor(m: Machine, instructions: readonly Instruction[]) {
    const { wasm, isShared } = m.w.memory;
    const pages = wasm.buffer.byteLength / 65536;
    const module = new WasmModule({
      module: 'env',
      name: 'memory',
      initial: isShared ? 1 : pages,
      maximum: isShared ? 65536 : pages,
      shared: isShared,
    });
    declareMemoryImports(module);
    this.steps = instructions.map((i) => bindInstruction(i, m.target));
    instructions.forEach((instruction, n) => {
      const fn = module.function(['i32'], []);
      const context = { fn, wave: 0, pc: n };
      const op = semanticsOf(instruction.row.operation);
      const done =
        op !== undefined &&
        (emitMemory(context, module, instruction, op) || emitCrossLane(context, module, instruction, op));
      this.covered.push(done);
      module.export(`f${n}`, fn);
    });
    const bytes = module.finish();
    this.moduleBytes = bytes.length;
    const imports = memoryImports(
      (_wave, pc) => {
        this.resumed++;
        (this.steps[pc] as (w: Wave) => void)(m.w);
      },
      m.w.memory,
      false,
    );
    this.exports = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
      env: { memory: wasm, ...imports },
    }).exports;
  }

  run(n: number, wave: number): void {
    (this.exports[`f${n}`] as (wave: number) => void)(wave);
  }
}

interface Outcome {
  readonly bytes: readonly Uint8Array[];
  readonly fault: string | undefined;
}

const parts = (m: Machine): readonly Uint8Array[] => [...m.state, ...m.regions.map((r) => r.bytes)];

function outcome(m: Machine, run: () => void): Outcome {
  let fault: string | undefined;
  m.w.lane = -1;
  try {
    run();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof WebAssembly.RuntimeError) throw error;
    fault = `${error.message} lane ${m.w.lane}`;
  }
  return { bytes: parts(m).map((b) => b.slice()), fault };
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  if (Buffer.compare(a, b) === 0) return -1;
  return a.findIndex((x, i) => x !== b[i]);
}

/** Runs instruction `n` both ways from the state as it is; a description of the first difference, or undefined. */
export function compareOnce(m: Machine, compiled: CompiledInstructions, n: number): string | undefined {
  const before = parts(m).map((b) => b.slice());
  const expected = outcome(m, () => (compiled.steps[n] as (w: Wave) => void)(m.w));
  parts(m).forEach((b, i) => {
    b.set(before[i] as Uint8Array);
  });
  const got = outcome(m, () => compiled.run(n, m.w.pointer));
  if (got.fault !== expected.fault) return `fault '${got.fault}', not '${expected.fault}'`;
  const names = ['scalar state', 'vector registers', 'LDS', ...m.regions.map((r) => r.label)];
  for (const [i, b] of got.bytes.entries()) {
    const at = firstDifference(b, expected.bytes[i] as Uint8Array);
    if (at < 0) continue;
    const place = i === 1 ? `v${at >> 8} lane ${(at >> 2) & 63}` : `byte ${at}`;
    const word = (x: Uint8Array): string => new DataView(x.buffer, x.byteOffset).getUint32(at & ~3, true).toString(16);
    return `${names[i]} ${place}: ${word(b)}, not ${word(expected.bytes[i] as Uint8Array)}`;
  }
  return undefined;
}
