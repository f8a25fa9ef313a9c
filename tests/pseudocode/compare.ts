// One operation of the simulator against AMD's pseudo-code: 64 lanes of edge and random operands an execution.
import type { randomNumbers } from '../../src/base/index.ts';
import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { EXEC, LANES, VCC, type Wave } from '../../src/device/sim/state/wave.ts';
import { decoderFor, tableFor } from '../../src/isa/index.ts';
import { OPERAND_TYPES, type OperandType, type Operation, semanticsOf } from '../../src/isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../src/isa/types.ts';
import { makeWave } from '../support/one-instruction.ts';
import type { Evaluator } from './evaluate.ts';
import { decode, formatOf } from './exact.ts';
import type { Machine, Outcome } from './machine.ts';
import type { Soft } from './values.ts';

/** First registers of the operands; each has room for eight words. */
const PLACES = { dst: 0, src0: 8, src1: 16, src2: 24 } as const;
const SCALAR_PLACES = { sdst: 0, ssrc0: 8, ssrc1: 16 } as const;
const WORDS = 8;

const EDGES: Readonly<Record<16 | 32 | 64, readonly bigint[]>> = {
  16: [
    0x0000n,
    0x8000n,
    0x3c00n,
    0xbc00n,
    0x0001n,
    0x8001n,
    0x03ffn,
    0x0400n,
    0x7bffn,
    0xfbffn,
    0x7c00n,
    0xfc00n,
    0x7c01n,
    0x7e00n,
    0xfe05n,
    0xffffn,
    0x3800n,
    0x4200n,
    0x6400n,
    0x7fffn,
  ],
  32: [
    0n,
    0x80000000n,
    0x3f800000n,
    0xbf800000n,
    1n,
    0x80000001n,
    0x7fffffn,
    0x800000n,
    0x7f7fffffn,
    0xff7fffffn,
    0x7f800000n,
    0xff800000n,
    0x7f800001n,
    0xff812345n,
    0x7fc00000n,
    0xffc00077n,
    0x3f000000n,
    0x3fc00000n,
    0x40200000n,
    0x4b000000n,
    0x4f000000n,
    0xcf000000n,
    0x4f800000n,
    0x47800000n,
    0x477fe000n,
    0x477ff000n,
    0x33800000n,
    0xffffffffn,
    0x7fffffffn,
    255n,
    0x10001n,
  ],
  64: [
    0n,
    1n << 63n,
    0x3ff0000000000000n,
    0xbff0000000000000n,
    1n,
    0x000fffffffffffffn,
    0x0010000000000000n,
    0x7fefffffffffffffn,
    0x7ff0000000000000n,
    0xfff0000000000000n,
    0x7ff0000000000001n,
    0x7ff8000000000000n,
    0xfff8000000000123n,
    0x3fe0000000000000n,
    0x4004000000000000n,
    0x41dfffffffc00000n,
    0x41f0000000000000n,
    0xc1e0000000000000n,
    0x4330000000000001n,
    0xffffffffffffffffn,
    0x47efffffe0000000n,
  ],
};

export type Random = ReturnType<typeof randomNumbers>;

export function randomBits(random: Random, width: 16 | 32 | 64): bigint {
  let n = 0n;
  for (let k = 0; k < width; k += 16) n = (n << 16n) | BigInt(Math.floor(random() * 65536));
  return n;
}

/** A float of moderate size, so that sums and products are neither zero nor infinite. */
function moderate(random: Random, width: 16 | 32 | 64): bigint {
  const { fraction, bias } = formatOf(width);
  const spread = Math.min(bias / 2, 30);
  const exponent = BigInt(Math.floor(bias - spread / 2 + random() * spread));
  const sign = random() < 0.5 ? 1n << BigInt(width - 1) : 0n;
  return sign | (exponent << BigInt(fraction)) | (randomBits(random, width) & ((1n << BigInt(fraction)) - 1n));
}

export function operandBits(random: Random, type: OperandType): bigint {
  const element = /16|f16/.test(type) ? 16 : /64/.test(type) ? 64 : 32;
  const count = /x2$/.test(type) || type === 'i128' ? (type === 'i128' ? 4 : 2) : 1;
  let bits = 0n;
  for (let k = 0; k < count; k++) {
    const kind = random();
    const edges = EDGES[element];
    const one =
      kind < 0.45
        ? (edges[Math.floor(random() * edges.length)] as bigint)
        : kind < 0.75
          ? moderate(random, element)
          : kind < 0.85
            ? BigInt(Math.floor(random() * 70))
            : randomBits(random, element);
    bits |= one << BigInt(element * k);
  }
  return bits;
}

/** The encoding of a row with the operands at their places, decoded; undefined when it does not decode to the operation. */
export function instructionOf(target: TargetName, row: InstructionRow, literal: number): Instruction | undefined {
  const words = [...row.fixedBits, literal];
  for (const f of row.fields) {
    const name = row.operands[f.operand]?.name ?? '';
    const value = fieldValue(row, name, f.width, literal);
    if (value === undefined) return undefined;
    const word = f.at >> 5;
    const bits = ((value >>> f.shift) & (f.width === 32 ? -1 : 2 ** f.width - 1)) >>> 0;
    words[word] = ((words[word] as number) | (bits << (f.at & 31))) >>> 0;
  }
  const instruction = decoderFor(target).decode(new Uint8Array(Uint32Array.from(words).buffer), 0);
  return instruction?.row.operation === row.operation ? instruction : undefined;
}

function fieldValue(row: InstructionRow, name: string, width: number, literal: number): number | undefined {
  if (name in SCALAR_PLACES && row.encoding.startsWith('SOP')) return SCALAR_PLACES[name as keyof typeof SCALAR_PLACES];
  if (/^(src0|src1)$/.test(name) && row.encoding.startsWith('SOP')) return name === 'src0' ? 8 : 16;
  if (name === 'vdst') return PLACES.dst;
  if (name === 'sdst') return VCC;
  if (name === 'imm' || name === 'simm16') return literal;
  const source = /^v?src([012])$/.exec(name);
  if (source !== null) {
    const k = Number(source[1]);
    if (row.operands.find((o) => o.name === name)?.cls === 'SSrc_i1') return VCC;
    const place = PLACES[`src${k}` as 'src0'];
    return width === 9 ? 256 + place : place;
  }
  // Packed operands take their high halves for the high result.
  if (/modifiers$/.test(name)) return row.flags.has('IsPacked') ? 8 : 0;
  if (/^(clamp|omod|op_sel|byte_sel)/.test(name)) return 0;
  if (name === 'bitop3') return literal & 0xff;
  return undefined;
}

export interface Difference {
  readonly sources: readonly string[];
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

interface Case {
  readonly machine: Machine;
  readonly literal: number;
}

const hex = (n: bigint): string => n.toString(16);

/** Runs one execution of a vector operation and of its text; the differing lanes. */
export function compareVector(
  evaluator: Evaluator,
  name: string,
  target: TargetName,
  row: InstructionRow,
  random: Random,
  ieee: boolean,
): Difference[] {
  const op = semanticsOf(row.operation) as Operation & { kind: 'vector' };
  const literal = Number(randomBits(random, 32));
  const instruction = instructionOf(target, row, literal);
  if (instruction === undefined) throw new Error(`no encoding of ${row.name}`);
  const w = makeWave(target, { mode: ieee ? 0x3f0 : 0x1f0, vcc: randomBits(random, 64) });
  const slots = op.sources.map((s) => s.operand);
  const sources = [0, 1, 2].map((k) => {
    const at = slots.indexOf(`src${k}`);
    const type = (op.sources[at]?.type ?? 'i32') as OperandType;
    return Array.from({ length: LANES }, () => operandBits(random, type));
  });
  const resultType = op.resultType ?? 'i32';
  const before = Array.from({ length: LANES }, () => operandBits(random, resultType));
  sources.forEach((values, k) => {
    store(w, PLACES[`src${k}` as 'src0'], values);
  });
  store(w, PLACES.dst, before);
  const state = { vcc: w.s64(VCC), exec: w.s64(EXEC) };
  bindInstruction(instruction, target)(w);
  const width = op.resultType === undefined ? 0 : 32 * OPERAND_TYPES[op.resultType].words;
  const differences: Difference[] = [];
  for (let lane = 0; lane < LANES; lane++) {
    const machine: Machine = {
      sources: sources.map((s) => s[lane] as bigint),
      destination: before[lane] as bigint,
      literal: BigInt(literal >>> 0),
      truthTable: BigInt(literal & 0xff),
      lane,
      ...state,
      scc: false,
      ieee,
    };
    const outcome = evaluator.run(name, machine);
    const got = load(w, PLACES.dst, lane);
    const text = machine.sources.slice(0, slots.length).map(hex);
    if (width > 0) {
      const difference = compareBits(outcome, got, width);
      if (difference !== undefined) differences.push({ sources: text, ...difference });
    }
    if (op.mask !== undefined) {
      const expected =
        width > 0
          ? (outcome.carry ?? bitOf(outcome.vcc, name.startsWith('V_DIV_SCALE') ? 0 : lane))
          : (outcome.mask ?? false);
      const bit = bitOf(w.s64(row.defs.includes('EXEC') ? EXEC : VCC), lane);
      if (expected !== bit)
        differences.push({ sources: text, what: 'mask', expected: String(expected), got: String(bit) });
    }
  }
  return differences;
}

const bitOf = (mask: bigint | undefined, lane: number): boolean => (((mask ?? 0n) >> BigInt(lane)) & 1n) === 1n;

function store(w: Wave, register: number, values: readonly bigint[]): void {
  for (let n = 0; n < WORDS; n++) {
    for (let lane = 0; lane < LANES; lane++) {
      w.vgprs[(register + n) * LANES + lane] = Number(BigInt.asIntN(32, (values[lane] as bigint) >> BigInt(32 * n)));
    }
  }
}

function load(w: Wave, register: number, lane: number): bigint {
  let bits = 0n;
  for (let n = WORDS - 1; n >= 0; n--) {
    bits = (bits << 32n) | BigInt((w.vgprs[(register + n) * LANES + lane] as number) >>> 0);
  }
  return bits;
}

/** Compares what the text wrote: bit for bit but for NaNs of unsaid payload and approximations, which may be one unit off. */
export function compareBits(
  outcome: Pick<Outcome, 'destination' | 'written' | 'soft'>,
  got: bigint,
  width: number,
): Omit<Difference, 'sources'> | undefined {
  let relevant = outcome.written & ((1n << BigInt(width)) - 1n);
  for (const soft of outcome.soft) {
    const field = ((1n << BigInt(soft.width)) - 1n) << BigInt(soft.low);
    if ((relevant & field) !== field) continue;
    relevant &= ~field;
    const [e, g] = [outcome.destination, got].map((bits) => (bits & field) >> BigInt(soft.low)) as [bigint, bigint];
    if (!agrees(soft, e, g)) return { what: soft.why, expected: hex(e), got: hex(g) };
  }
  const [e, g] = [outcome.destination & relevant, got & relevant];
  return e === g ? undefined : { what: 'bits', expected: hex(e), got: hex(g) };
}

function agrees(soft: Soft, expected: bigint, got: bigint): boolean {
  if (expected === got) return true;
  const f = formatOf(soft.width);
  if (soft.why === 'nan') return decode(got, f).kind === 'nan' && ((got >> BigInt(f.fraction - 1)) & 1n) === 1n;
  const distance = expected - got;
  return distance === 1n || distance === -1n;
}

/** Runs a scalar operation and its text. */
export function compareScalar(
  evaluator: Evaluator,
  name: string,
  target: TargetName,
  row: InstructionRow,
  random: Random,
): Difference[] {
  const { literal, machine } = scalarCase(row, random);
  const instruction = instructionOf(target, row, literal);
  if (instruction === undefined) throw new Error(`no encoding of ${row.name}`);
  const w = makeWave(target, { scc: machine.scc ? 1 : 0 });
  w.setS64(0, machine.destination);
  machine.sources.forEach((s, k) => {
    w.setS64(8 + 8 * k, s);
  });
  w.setS64(EXEC, machine.exec);
  bindInstruction(instruction, target)(w);
  const immediate = BigInt(literal & 0xffff);
  const sources =
    row.encoding !== 'SOPK'
      ? machine.sources
      : /^s_cmpk/.test(row.operation)
        ? [machine.destination, immediate]
        : [immediate];
  const outcome = evaluator.run(name, { ...machine, sources });
  const text = sources.map(hex);
  const differences: Difference[] = [];
  const difference = compareBits(outcome, w.s64(0), 64);
  if (difference !== undefined) differences.push({ sources: text, ...difference });
  if (outcome.scc !== undefined && outcome.scc !== w.scc)
    differences.push({ sources: text, what: 'SCC', expected: String(outcome.scc), got: String(w.scc) });
  if (outcome.exec !== undefined && outcome.exec !== w.s64(EXEC))
    differences.push({ sources: text, what: 'EXEC', expected: hex(outcome.exec), got: hex(w.s64(EXEC)) });
  return differences;
}

function scalarCase(row: InstructionRow, random: Random): Case {
  const op = semanticsOf(row.operation) as Operation & { kind: 'scalar' };
  const sources = [0, 1].map((k) => {
    const type = op.sources.find((s) => s.operand === `src${k}`)?.type ?? 'i64';
    return type === 'i32' ? operandBits(random, 'i32') : operandBits(random, 'i64');
  });
  const machine: Machine = {
    sources,
    destination: op.resultType === 'i32' ? randomBits(random, 32) : randomBits(random, 64),
    literal: 0n,
    truthTable: 0n,
    lane: 0,
    vcc: 0n,
    exec: random() < 0.1 ? 0n : operandBits(random, 'i64'),
    scc: random() < 0.5,
    ieee: true,
  };
  return { machine, literal: Math.floor(random() * 65536) };
}

const ORDER = ['VOP3P', 'VOP3', 'VOP1', 'VOP2', 'VOPC', 'SOP1', 'SOP2', 'SOPC', 'SOPK'];

/** The row by which an operation is tried: its widest plain encoding. */
export function rowOf(target: TargetName, operation: string): InstructionRow | undefined {
  const rows = tableFor(target).rows.filter(
    (r) => r.operation === operation && !r.asmOnly && !r.codeGenOnly && ORDER.includes(r.encoding),
  );
  return rows.sort((a, b) => ORDER.indexOf(a.encoding) - ORDER.indexOf(b.encoding))[0];
}
