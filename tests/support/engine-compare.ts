// Runs a random sequence of instructions on the compiled engine and on the interpreter, from the same random state, and compares
// everything: registers, SCC, MODE, program counter, LDS, memory, the error.
import { Interpreter } from '../../src/device/sim/engine.ts';
import { WAVE_BYTES, WAVE_EXECUTED, WAVE_TEMPORARY, WAVE_VGPRS } from '../../src/device/sim/layout.ts';
import { DeviceMemory } from '../../src/device/sim/memory.ts';
import { Program } from '../../src/device/sim/program.ts';
import { CompiledEngine } from '../../src/device/sim/wasm/engine.ts';
import { AGPR_BASE, EXEC, LANES, M0, VCC, Wave } from '../../src/device/sim/wave.ts';
import { Workgroup } from '../../src/device/sim/workgroup.ts';
import { decoderFor, printInstruction, tableFor } from '../../src/isa/index.ts';
import { semanticsOf } from '../../src/isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../src/isa/types.ts';
import { Random } from './compiled-memory.ts';
import { DEFAULT_MODE } from './one-instruction.ts';

const S_ENDPGM = 0xbf810000;
/** Vector registers that sequences name (of each file), and scalar ones. */
const VECTORS = 12;
const SCALARS = 16;

const FLOATS = [
  0, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
  0x7f800001, 0x7fa12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4b000000, 0x4f000000,
  0xcf000000, 0x47800000, 0x477fe000, 0x38800000, 0x33800000, 0x3c003c00, 0x7c007e01, 0xfc000001, 0x04000400,
  0x3ff00000, 0x7ff00000, 0x7ff80000, 0x00100000, 0x00080000, 0xffffffff, 0x7fffffff, 0x00010001, 0x80008000,
];

function randomWord(random: Random): number {
  const kind = random.below(8);
  if (kind < 3) return random.pick(FLOATS);
  if (kind === 3) return random.below(64);
  // A float of moderate size.
  if (kind < 6) return (random.word() & 0x807fffff) | ((100 + random.below(54)) << 23);
  return random.word();
}

function randomMask(random: Random): number {
  return random.pick([
    0xffffffff,
    0xffffffff,
    0xffffffff,
    0,
    random.word(),
    random.word() & random.word() & random.word(),
  ]);
}

/** Operations a sequence is made of: no memory, no control flow, nothing that waits or stops. */
function isCandidate(row: InstructionRow): boolean {
  const op = semanticsOf(row.operation);
  if (op === undefined || row.asmOnly || row.codeGenOnly) return false;
  if (op.kind === 'vector' || op.kind === 'scalar') return true;
  return (
    op.kind === 'structural' && /^(readlane|readfirstlane|writelane|swap|permlaneSwap|nop|setreg|getreg)$/.test(op.name)
  );
}

const candidates = new Map<TargetName, InstructionRow[]>();
function rowsOf(target: TargetName): InstructionRow[] {
  let rows = candidates.get(target);
  if (rows === undefined) {
    rows = tableFor(target).rows.filter(isCandidate);
    candidates.set(target, rows);
  }
  return rows;
}

const SPECIAL_SOURCES = [
  VCC,
  VCC + 1,
  M0,
  EXEC,
  EXEC + 1,
  251,
  252,
  253,
  235,
  236,
  128,
  129,
  130,
  192,
  193,
  200,
  208,
  240,
  242,
  243,
  248,
];

function fieldValue(row: InstructionRow, name: string, width: number, random: Random): number {
  if (name === 'simm16') return random.pick([0, 1, 0xffff, random.below(65536)]);
  if (name === 'dpp_ctrl') {
    return random.pick([
      random.below(256),
      0x101 + random.below(15),
      0x111 + random.below(15),
      0x121 + random.below(15),
      0x130,
      0x134,
      0x138,
      0x13c,
      0x140,
      0x141,
      0x142,
      0x143,
      0x150 + random.below(16),
    ]);
  }
  if (name === 'row_mask' || name === 'bank_mask') return random.chance(0.6) ? 15 : random.below(16);
  if (/^(src|ssrc|sdst|vdst|vsrc|saddr)/.test(name) && !/(modifiers|sel)$/.test(name)) {
    if (width === 9) {
      const kind = random.below(10);
      if (kind < 6) return 256 + random.below(VECTORS);
      if (kind < 8) return random.below(SCALARS);
      return kind === 8 && /^VOP[12C]$/.test(row.encoding) ? 255 : random.pick(SPECIAL_SOURCES);
    }
    if (name.startsWith('v') && width <= 8) return random.below(VECTORS);
    if (width === 8 && row.encoding.startsWith('SOP')) {
      const kind = random.below(8);
      if (kind < 5) return random.below(SCALARS);
      return kind === 5 ? 255 : random.pick(SPECIAL_SOURCES);
    }
    if (width === 8) return random.below(VECTORS);
    if (width === 7) return random.chance(0.85) ? random.below(SCALARS) : random.pick([VCC, VCC, M0, EXEC]);
  }
  if (name === 'omod' || name === 'clamp') return random.chance(0.7) ? 0 : random.below(2 ** width);
  if (/modifiers$/.test(name)) return random.chance(0.5) ? 0 : random.below(2 ** width);
  return random.below(2 ** Math.min(width, 31));
}

/** Words of a random encoding of a row, or undefined when the tries do not decode to it. */
function randomWords(
  target: TargetName,
  row: InstructionRow,
  random: Random,
): { words: number[]; instruction: Instruction } | undefined {
  for (let attempt = 0; attempt < 8; attempt++) {
    const words = [...row.fixedBits, randomWord(random) >>> 0];
    for (const f of row.fields) {
      const name = row.operands[f.operand]?.name ?? '';
      const value = fieldValue(row, name, f.width, random);
      const bits = (value & (f.width === 32 ? -1 : 2 ** f.width - 1)) >>> 0;
      const word = f.at >> 5;
      words[word] = ((words[word] as number) | (bits << (f.at & 31))) >>> 0;
      const spill = (f.at & 31) + f.width - 32;
      if (spill > 0) words[word + 1] = ((words[word + 1] as number) | (bits >>> (f.width - spill))) >>> 0;
    }
    const instruction = decoderFor(target).decode(new Uint8Array(Uint32Array.from(words).buffer), 0);
    if (instruction?.row.operation !== row.operation) continue;
    return { words: words.slice(0, instruction.size >> 2), instruction };
  }
  return undefined;
}

export interface Machine {
  readonly w: Wave;
  readonly program: Program;
  readonly block: Uint8Array;
}

export interface EngineCase {
  readonly target: TargetName;
  readonly text: readonly string[];
  /** What differs; empty when the engines agree. */
  readonly differences: readonly string[];
  /** The error both engines end with. */
  readonly error: unknown;
  /** Instructions, and those that the compiled engine left to the interpreter. */
  readonly instructions: number;
  readonly interpreted: number;
}

export function makeMachine(target: TargetName, code: Uint32Array): Machine {
  const memory = new DeviceMemory();
  const region = memory.alloc(Math.max(4096, 4 * code.length), 'code object');
  new Uint32Array(region.bytes.buffer, region.bytes.byteOffset, code.length).set(code);
  const group = new Workgroup(
    { target, kernelName: 'test', scratchPerLane: 0, architectedScratch: true },
    memory.reserve(1024, 'LDS'),
    [0, 0, 0],
  );
  const block = memory.reserve(WAVE_BYTES, 'wave state');
  const w = new Wave(memory, group, block);
  const program = new Program(target, region);
  w.codeBase = region.base;
  w.pc = region.base;
  w.env.ocp = target === 'gfx950';
  return { w, program, block };
}

function outcome(run: () => void): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Rows whose text matches; for narrowing a run down. */
export interface CaseOptions {
  readonly only?: RegExp | undefined;
  readonly length?: number | undefined;
  readonly mode?: number | undefined;
  readonly branches?: boolean | undefined;
}

const BRANCHES = [0xbf840000, 0xbf850000, 0xbf860000, 0xbf870000, 0xbf880000, 0xbf890000];

/** Puts conditional branches that skip instructions into a sequence (SCC, VCC and EXEC, zero or not). */
function withBranches(parts: readonly (readonly number[])[], text: string[], random: Random): number[] {
  const words: number[] = [];
  const open: { at: number; left: number }[] = [];
  for (const [n, part] of parts.entries()) {
    for (const branch of open) {
      if (branch.left-- === 0) words[branch.at] = (words[branch.at] as number) | (words.length - branch.at - 1);
    }
    if (random.chance(0.1)) {
      open.push({ at: words.length, left: random.below(parts.length - n) });
      words.push(random.pick(BRANCHES));
      text.splice(n + open.length - 1, 0, `s_cbranch over ${(open.at(-1) as { left: number }).left + 1}`);
    }
    words.push(...part);
  }
  for (const { at, left } of open) if (left >= 0) words[at] = (words[at] as number) | (words.length - at - 1);
  return words;
}

/** Makes and runs the case of a seed. */
export function engineCase(target: TargetName, seed: number, options: CaseOptions = {}): EngineCase {
  const random = new Random(seed);
  const rows = rowsOf(target).filter((row) => options.only === undefined || options.only.test(row.mnemonic));
  const length = options.length ?? 1 + random.below(24);
  const parts: (readonly number[])[] = [];
  const text: string[] = [];
  while (text.length < length) {
    const made = randomWords(target, random.pick(rows), random);
    if (made === undefined) continue;
    parts.push(made.words);
    text.push(printInstruction(target, made.instruction).trim());
  }
  const words = options.branches === false ? parts.flat() : withBranches(parts, text, random);
  words.push(S_ENDPGM);
  const machine = makeMachine(target, Uint32Array.from(words));
  const { w, program, block } = machine;
  for (let i = 0; i < w.vgprs.length; i++) w.vgprs[i] = 0;
  for (const file of [0, AGPR_BASE]) {
    for (let i = 0; i < (VECTORS + 18) * LANES; i++) w.vgprs[file * LANES + i] = randomWord(random);
  }
  for (let i = 0; i < 102; i++) w.sgprs[i] = randomWord(random);
  w.sgprs.set([randomMask(random), randomMask(random)], VCC);
  w.sgprs.set(random.chance(0.5) ? [-1, -1] : [randomMask(random), randomMask(random)], EXEC);
  w.sgprs[M0] = random.below(8);
  w.scc = random.chance(0.5);
  const mode = options.mode ?? (random.chance(0.8) ? DEFAULT_MODE : random.word() & 0x8003ff);
  w.setMode(mode);
  const start = block.slice();
  const interpreterError = outcome(() => new Interpreter(program).runWave(w, 1000, true));
  const expected = block.slice();
  block.set(start);
  w.setMode(mode);
  const engine = new CompiledEngine({ program, memory: w.memory, launch: { mfma: 'exact' } });
  const compiledError = outcome(() => engine.runWave(w, 1000, true));
  const differences = compare(expected, block);
  if (String(interpreterError) !== String(compiledError)) {
    differences.push(
      `error: interpreter ${interpreterError}, compiled ${compiledError instanceof Error ? compiledError.stack : compiledError}`,
    );
  }
  const { instructions, interpreted } = engine.statistics;
  return { target, text, differences, error: interpreterError, instructions, interpreted };
}

const hex = (x: number): string => (x >>> 0).toString(16).padStart(8, '0');

function compare(expected: Uint8Array, actual: Uint8Array): string[] {
  const differences: string[] = [];
  const a = new DataView(expected.buffer, expected.byteOffset);
  const b = new DataView(actual.buffer, actual.byteOffset);
  for (let at = 0; at < WAVE_VGPRS + 2 * AGPR_BASE * LANES * 4; at += 4) {
    if (at >= WAVE_TEMPORARY && at < WAVE_VGPRS) continue;
    const [x, y] = [a.getUint32(at, true), b.getUint32(at, true)];
    if (x === y) continue;
    const register = (at - WAVE_VGPRS) >> 8;
    const name =
      at >= WAVE_VGPRS
        ? `${register >= AGPR_BASE ? `a${register - AGPR_BASE}` : `v${register}`} lane ${((at - WAVE_VGPRS) >> 2) & 63}`
        : at < 512
          ? `s${at >> 2}`
          : at === WAVE_EXECUTED || at === WAVE_EXECUTED + 4
            ? 'executed'
            : `block+${at}`;
    differences.push(`${name}: interpreter ${hex(x)}, compiled ${hex(y)}`);
    if (differences.length > 8) break;
  }
  return differences;
}
