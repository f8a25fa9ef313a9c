// Runs a random sequence of instructions on the compiled engine, again as another thread would that takes over what was compiled, and on the interpreter,
// from the same random state, and compares everything: registers, SCC, MODE, program counter, LDS, memory, the error.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { countsByEncoding } from '../../src/device/sim/dispatch/engine.ts';
import { Interpreter } from '../../src/device/sim/interpreter/interpreter.ts';
import { LoadedCode } from '../../src/device/sim/interpreter/loaded-code.ts';
import { WAVE_BYTES, WAVE_EXECUTED, WAVE_TEMPORARY, WAVE_VGPRS } from '../../src/device/sim/state/layout.ts';
import { DeviceMemory } from '../../src/device/sim/state/memory.ts';
import { AGPR_BASE, EXEC, LANES, M0, VCC, Wave } from '../../src/device/sim/state/wave.ts';
import { Workgroup } from '../../src/device/sim/state/workgroup.ts';
import { CompiledEngine, compiledSoFar, takeOverCompiled } from '../../src/device/sim/wasm/engine.ts';
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
  if (op.kind === 'vector' || op.kind === 'scalar' || op.kind === 'scaleConvert') return true;
  return (
    op.kind === 'structural' && /^(readlane|readfirstlane|writelane|swap|permlaneSwap|nop|setreg|getreg)$/.test(op.name)
  );
}

/** Operations that change what vector instructions after them do. */
function isState(row: InstructionRow): boolean {
  const op = semanticsOf(row.operation);
  return op?.kind === 'structural' && /^(setGprIndex(On|Off|Mode)?|setVskip)$/.test(op.name);
}

/** Memory instructions that a sequence may have: global, buffer, flat, LDS and scalar; not scratch, not loads into LDS. */
function isMemory(row: InstructionRow): boolean {
  const op = semanticsOf(row.operation);
  if (op === undefined || row.asmOnly || row.codeGenOnly || !('space' in op) || op.space === 'scratch') return false;
  if (/ lds$/.test(row.template) || row.operands.some((o) => o.name === 'gds' && o.isOut)) return false;
  return op.kind === 'store' || op.kind === 'atomic' || op.kind === 'format' || (op.kind === 'load' && !op.toLds);
}

const candidates = new Map<string, InstructionRow[]>();
function rowsOf(target: TargetName, kind: (row: InstructionRow) => boolean): InstructionRow[] {
  const key = `${target} ${kind.name}`;
  let rows = candidates.get(key);
  if (rows === undefined) {
    rows = tableFor(target).rows.filter(kind);
    candidates.set(key, rows);
  }
  return rows;
}

/** Registers that hold addresses while a sequence runs: nothing else names them. */
const ADDRESS = { wide: 40, narrow: 42, lds: 43, base: 40, descriptor: 44, offset: 48 } as const;
const DATA_BYTES = 65_536;
const LDS_BYTES = 16_384;
/** Lane addresses stay below this, so that offsets stay in the allocation. */
const SPAN = 8_192;

/** The value of a field of a memory instruction: addresses in range, data anywhere; undefined for the rest. */
function memoryField(row: InstructionRow, name: string, width: number, random: Random): number | undefined {
  const cls = row.operands.find((o) => o.name === name)?.cls ?? '';
  switch (name) {
    case 'vaddr':
      return /64/.test(cls) && !/^M/.test(row.encoding) ? ADDRESS.wide : ADDRESS.narrow;
    case 'addr':
      return ADDRESS.lds;
    case 'saddr':
      return ADDRESS.base;
    case 'sbase':
      return (/128/.test(cls) ? ADDRESS.descriptor : ADDRESS.base) >> 1;
    case 'srsrc':
      return ADDRESS.descriptor >> 2;
    case 'soffset':
      return width === 7 ? ADDRESS.offset : random.pick([ADDRESS.offset, 128, 132]);
    case 'offset':
      if (/^S/.test(cls)) return ADDRESS.offset;
      return random.pick([0, 0, 4, 8, 16, 1, random.below(64)]) & (2 ** width - 1);
    case 'offset0':
    case 'offset1':
      return random.below(8);
    case 'gds':
      return 0;
    case 'format':
      return randomFormat(random);
    default:
      return /^(vdata|vdst|data0|data1|sdata|sdst)$/.test(name) ? random.below(VECTORS) : undefined;
  }
}

/** Data format (low 4 bits) and number format of a typed buffer access, without the reserved ones. */
function randomFormat(random: Random): number {
  return (1 + random.below(14)) | (random.pick([0, 1, 2, 3, 4, 5, 7]) << 4);
}

/** Addresses of the lanes below SPAN: following each other, equal, or anywhere. */
function laneOffsets(random: Random): number[] {
  const size = random.pick([1, 4, 4, 8, 16, 64]);
  const start = random.below(SPAN / 2) & random.pick([-1, -4, -16]);
  const kind = random.below(4);
  return Array.from({ length: LANES }, (_, lane) => {
    if (kind === 0) return start;
    if (kind === 1) return start + lane * size;
    return random.below(SPAN) & (kind === 2 ? -16 : -1);
  });
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
  const known = isMemory(row) ? memoryField(row, name, width, random) : undefined;
  if (known !== undefined) return known;
  // Small indices and bits, so that most registers are there.
  if (isState(row) && /^src[01]$/.test(name) && width === 8)
    return random.chance(0.8) ? 128 + random.below(6) : random.below(SCALARS);
  if (name === 'simm16') {
    // Hardware registers: mostly MODE and STATUS.
    if (/^s_[gs]etreg/.test(row.operation) && random.chance(0.9)) return 1 + random.below(2) + (random.word() & 0xffc0);
    return random.pick([0, 1, 0xffff, random.below(65536)]);
  }
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
  readonly loaded: LoadedCode;
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
    memory.reserve(LDS_BYTES, 'LDS'),
    [0, 0, 0],
  );
  const block = memory.reserve(WAVE_BYTES, 'wave state');
  const w = new Wave(memory, group, block);
  const loaded = new LoadedCode(target, region);
  w.codeBase = region.base;
  w.pc = region.base;
  w.env.ocp = target === 'gfx950';
  return { w, loaded, block };
}

/** A value as another thread gets it. */
function sent<T>(value: T): T {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const received = receiveMessageOnPort(port2) as { readonly message: T };
  port1.close();
  return received.message;
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
  /** Half of the instructions access memory. */
  readonly memory?: boolean | undefined;
  /** A quarter of the instructions are s_set_gpr_idx and s_setvskip. */
  readonly states?: boolean | undefined;
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
  const chosen = (kind: (row: InstructionRow) => boolean): InstructionRow[] =>
    rowsOf(target, kind).filter((row) => options.only === undefined || options.only.test(row.mnemonic));
  const rows = chosen(isCandidate);
  const memoryRows = options.memory === true ? chosen(isMemory) : [];
  const stateRows = options.states === true ? chosen(isState) : [];
  const length = options.length ?? 1 + random.below(24);
  const parts: (readonly number[])[] = [];
  const text: string[] = [];
  while (text.length < length) {
    const isFromMemory = rows.length === 0 || (memoryRows.length > 0 && random.chance(0.5));
    const from = stateRows.length > 0 && random.chance(0.25) ? stateRows : isFromMemory ? memoryRows : rows;
    const made = randomWords(target, random.pick(from), random);
    if (made === undefined) continue;
    parts.push(made.words);
    text.push(printInstruction(target, made.instruction).trim());
  }
  const words = options.branches === false ? parts.flat() : withBranches(parts, text, random);
  words.push(S_ENDPGM);
  const machine = makeMachine(target, Uint32Array.from(words));
  const { w, loaded, block } = machine;
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
  const data = options.memory === true ? setAddresses(w, random) : new Uint8Array();
  const { lds } = w.workgroup;
  const start = [block.slice(), data.slice(), lds.slice()] as const;
  const interpreterError = outcome(() => new Interpreter(loaded).runWave(w, 1000, true));
  const expected = block.slice();
  const [expectedData, expectedLds] = [data.slice(), lds.slice()];
  const differences: string[] = [];
  /** Runs the sequence from its start by compiled code. */
  const runCompiled = (engine: CompiledEngine): void => {
    block.set(start[0]);
    data.set(start[1]);
    lds.set(start[2]);
    w.workgroup.clock = 0;
    w.setMode(mode);
    const error = outcome(() => engine.runWave(w, 1000, true));
    differences.push(
      ...compare(expected, block),
      ...compareBytes('data', expectedData, data),
      ...compareBytes('LDS', expectedLds, lds),
    );
    if (String(interpreterError) === String(error)) return;
    differences.push(
      `error: interpreter ${interpreterError}, compiled ${error instanceof Error ? error.stack : error}`,
    );
  };
  const job = { loaded, memory: w.memory, launch: { mfma: 'exact' } } as const;
  const engine = new CompiledEngine(job);
  runCompiled(engine);
  const { instructions, interpreted } = engine.statistics;
  const elsewhere = { ...job, loaded: new LoadedCode(target, loaded.region) };
  takeOverCompiled(elsewhere, sent(compiledSoFar(loaded, 'exact')));
  const other = new CompiledEngine(elsewhere);
  runCompiled(other);
  const counts = [engine, other].map((one) => JSON.stringify(countsByEncoding(one)));
  if (counts[0] !== counts[1]) differences.push(`counts: ${counts[0]}, of code that was taken over ${counts[1]}`);
  if (other.statistics.modules > 0) differences.push(`${other.statistics.modules} modules were compiled again`);
  return { target, text, differences, error: interpreterError, instructions, interpreted };
}

/** Format bits of a buffer descriptor's last word: number format from bit 12, data format from bit 15. */
function randomDescriptorFormat(random: Random): number {
  const format = randomFormat(random);
  return ((format >> 4) << 12) | ((format & 15) << 15);
}

/** Puts addresses of a new allocation, a buffer descriptor and LDS addresses into their registers; the allocation's bytes. */
function setAddresses(w: Wave, random: Random): Uint8Array {
  const region = w.memory.alloc(DATA_BYTES, 'data');
  for (const bytes of [region.bytes, w.workgroup.lds]) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 4) view.setInt32(at, randomWord(random), true);
  }
  const offsets = laneOffsets(random);
  const narrow = laneOffsets(random);
  const lds = laneOffsets(random);
  for (let lane = 0; lane < LANES; lane++) {
    const address = BigInt(region.base + (offsets[lane] as number));
    w.vgprs[ADDRESS.wide * LANES + lane] = Number(BigInt.asIntN(32, address));
    w.vgprs[(ADDRESS.wide + 1) * LANES + lane] = Number(address >> 32n);
    w.vgprs[ADDRESS.narrow * LANES + lane] = narrow[lane] as number;
    w.vgprs[ADDRESS.lds * LANES + lane] = lds[lane] as number;
  }
  w.setS64(ADDRESS.base, BigInt(region.base));
  const stride = random.pick([0, 0, 4, 16]);
  w.setS64(ADDRESS.descriptor, BigInt(region.base) | (BigInt(stride) << 48n));
  // Number of records (sometimes too few), and a typed format.
  w.sgprs[ADDRESS.descriptor + 2] = (random.pick([DATA_BYTES, DATA_BYTES, 4096, 512]) / Math.max(1, stride)) | 0;
  w.sgprs[ADDRESS.descriptor + 3] = randomDescriptorFormat(random) | random.below(4096);
  w.sgprs[ADDRESS.offset] = random.pick([0, 4, 64, 100]);
  if (random.chance(0.02)) w.vgprs[(ADDRESS.wide + 1) * LANES + random.below(LANES)] = random.word();
  return region.bytes;
}

function compareBytes(what: string, expected: Uint8Array, actual: Uint8Array): string[] {
  const at = expected.findIndex((x, i) => x !== actual[i]);
  return at < 0 ? [] : [`${what}+${at}: interpreter ${expected[at]}, compiled ${actual[at]}`];
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
