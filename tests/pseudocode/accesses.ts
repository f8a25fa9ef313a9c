// Loads and stores of LDS and memory against AMD's pseudo-code. Each piece of memory that a text names, `MEM[addr + OFFSET1.u32 * 4U].b32`,
// becomes 64 bits of a source or of the destination of a vector operation, which the evaluator knows.
import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { LANES } from '../../src/device/sim/state/wave.ts';
import { type LoadOperation, type StoreOperation, semanticsOf } from '../../src/isa/semantics/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { makeWave, parse } from '../support/one-instruction.ts';
import { memoryOf } from './atomics.ts';
import { compareBits, type Difference, type Random, randomBits } from './compare.ts';
import type { Evaluator } from './evaluate.ts';

/** Bytes between the places of two lanes: 64 of them fill LDS. */
const STEP = 1024;
const SLOT = 64;
/** The offsets of the instruction: one, or those of a pair. */
const OFFSETS: Readonly<Record<string, number>> = { 'OFFSET.u32': 8, 'OFFSET0.u32': 0, 'OFFSET1.u32': 1 };

/** Bytes at an offset from a lane's address. */
interface Piece {
  readonly at: number;
  readonly bits: number;
}

export interface AccessText {
  readonly name: string;
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** An operation's text with its pieces of memory as slots; undefined for other operations than loads and stores. */
export function accessText(key: string, text: string): AccessText | undefined {
  const [encoding, operation = ''] = key.split('.');
  const isLds = encoding === 'DSOp' && /^DS_(READ|WRITE)/.test(operation) && !/ADDTID|_TR_/.test(operation);
  const isGlobal = encoding === 'GLOBALOp' && /_(LOAD|STORE)_/.test(operation) && !operation.includes('LDS');
  if (!isLds && !isGlobal) return undefined;
  const isLoad = /_(READ|LOAD)/.test(operation);
  const pieces: Piece[] = [];
  const rewritten = text
    .split('\n')
    .filter((line) => !/^\s*(addr =|\/\/)/.test(line))
    .join('\n')
    .replace(/MEM\[([^\]]+)\]\.([a-z])(\d+)/g, (_, place: string, letter: string, width: string) => {
      const low = SLOT * pieces.length;
      pieces.push({ at: offsetOf(place, isGlobal), bits: Number(width) });
      return `${isLoad ? 'S0' : 'D0'}[${low + Number(width) - 1} : ${low}].${letter}${width}`;
    })
    .replace(/\b(RETURN_DATA|V?DATA)\b/g, isLoad ? 'D0' : 'S1')
    .replace(/\bDATA2\b/g, 'S2')
    .replace(/;\s*$/, '');
  return { name: operation, text: rewritten, pieces };
}

/** Bytes from the lane's register: `addr` of memory has the instruction's offset in it. */
function offsetOf(place: string, isGlobal: boolean): number {
  return place.split('+').reduce((sum, term) => {
    const factors = term.split('*').map((factor) => {
      const name = factor.trim();
      if (name === 'addr') return isGlobal ? (OFFSETS['OFFSET.u32'] as number) : 0;
      if (name === 'ADDR') return 0;
      return OFFSETS[name] ?? Number(name.replace(/U$/, ''));
    });
    return sum + factors.reduce((a, b) => a * b, 1);
  }, 0);
}

/** The instruction as text: what is loaded in v0, addresses in v8, data in v16 and v24. */
function instructionText(name: string, op: LoadOperation | StoreOperation, { text, pieces }: AccessText): string {
  const isPair = op.pairStride !== undefined;
  const n = Math.max(1, op.bytes / 4);
  const registers = (first: number, count: number): string =>
    count === 1 ? `v${first}` : `v[${first}:${first + count - 1}]`;
  const data = isPair ? `${registers(16, n)}, ${registers(24, n)}` : registers(16, n);
  const isOffset = isPair || (pieces[0] as Piece).at !== 0;
  const offset = isPair ? ' offset1:1' : isOffset ? ' offset:8' : '';
  const base = name.startsWith('ds_') ? '' : ', s[96:97]';
  return text.startsWith('S1') || op.kind === 'store'
    ? `${name} v8, ${data}${base}${offset}`
    : `${name} ${registers(0, isPair ? 2 * n : n)}, v8${base}${offset}`;
}

const hex = (n: bigint): string => n.toString(16);

/** One execution by 64 lanes; undefined when the target has no such instruction. */
export function compareAccess(
  evaluator: Evaluator,
  access: AccessText,
  target: TargetName,
  random: Random,
): Difference[] | undefined {
  const name = access.name.toLowerCase();
  const op = semanticsOf(name);
  if (op?.kind !== 'load' && op?.kind !== 'store') return undefined;
  let instruction: ReturnType<typeof parse>;
  try {
    instruction = parse(target, instructionText(name, op, access));
  } catch {
    return undefined;
  }
  const w = makeWave(target);
  const view = memoryOf(w, name.startsWith('ds_'), STEP * LANES);
  for (let at = 0; at < STEP * LANES; at += 4) view.setUint32(at, Number(randomBits(random, 32)), true);
  for (let n = 0; n < 32 * LANES; n++) w.vgprs[n] = Number(BigInt.asIntN(32, randomBits(random, 32)));
  for (let lane = 0; lane < LANES; lane++) w.vgprs[8 * LANES + lane] = STEP * lane;
  /** Words of a lane's registers from one on, and of the pieces of memory. */
  const words = (first: number, lane: number): bigint => {
    let bits = 0n;
    for (let k = 7; k >= 0; k--) bits = (bits << 32n) | BigInt((w.vgprs[(first + k) * LANES + lane] as number) >>> 0);
    return bits;
  };
  const memory = (lane: number): bigint =>
    access.pieces.reduce((all, { at, bits }, k) => {
      let piece = 0n;
      for (let byte = bits / 8 - 1; byte >= 0; byte--)
        piece = (piece << 8n) | BigInt(view.getUint8(STEP * lane + at + byte));
      return all | (piece << BigInt(SLOT * k));
    }, 0n);
  const rest = { literal: 0n, truthTable: 0n, vcc: 0n, exec: -1n, scc: false, ieee: true };
  const outcomes = Array.from({ length: LANES }, (_, lane) => {
    const sources = op.kind === 'load' ? [memory(lane), 0n, 0n] : [0n, words(16, lane), words(24, lane)];
    const destination = op.kind === 'load' ? words(0, lane) : memory(lane);
    return { sources, outcome: evaluator.run(access.name, { ...rest, sources, destination, lane }) };
  });
  const bytes = new Uint8Array(view.buffer, view.byteOffset, STEP * LANES);
  const before = bytes.slice();
  bindInstruction(instruction, target)(w);
  const differences: Difference[] = [];
  outcomes.forEach(({ sources, outcome }, lane) => {
    const got = op.kind === 'load' ? words(0, lane) : memory(lane);
    const difference = compareBits(outcome, got, SLOT * 16);
    if (difference !== undefined) differences.push({ sources: sources.map(hex), ...difference });
  });
  // Nothing beside the pieces is written.
  const isOwn = (at: number): boolean =>
    op.kind === 'store' &&
    access.pieces.some((piece) => at % STEP >= piece.at && at % STEP < piece.at + piece.bits / 8);
  const stray = bytes.findIndex((byte, at) => byte !== before[at] && !isOwn(at));
  if (stray >= 0) differences.push({ sources: [], what: 'byte', expected: 'as it was', got: `changed at ${stray}` });
  return differences;
}
