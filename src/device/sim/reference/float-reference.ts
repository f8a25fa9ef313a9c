// A dispatch in f64 beside the one in registers: for each number that float operations make, what it would be without rounding. It follows numbers through
// registers, LDS, scratch and memory. What it does not follow (bits that integers make of floats) is taken as it stands, and a number that cannot be what the
// register holds is let go: so it never says more than what it followed. Waves run on the reference interpreter.
import {
  BF16,
  bf16FromBits,
  encodeSmall,
  f16FromBits,
  f32FromBits,
  f64FromWords,
} from '../../../base/elements/formats.ts';
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import {
  type AtomicOperation,
  inputPosition,
  type LoadOperation,
  type MatrixOperation,
  outputPosition,
  type StoreOperation,
  semanticsOf,
  type VectorOperation,
} from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, Slot } from '../../../program/index.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import { dppSourceLane } from '../interpreter/dpp.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { bindTarget, pairOffsets, type Target } from '../interpreter/memory-access.ts';
import {
  ABS,
  bindSource,
  isFloatType,
  type LaneReader,
  NEG,
  OP_SEL_0,
  OP_SEL_1,
  vectorBase,
} from '../interpreter/operands.ts';
import { AGPR_BASE, LANES, type Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { compileReal, type RealFunction } from './expression.ts';
import { errorOf, type FloatType, given, isPossible, negated, type Real, rounded, sum } from './real.ts';

/** A number in memory, with the bits that were stored there. */
export interface Kept {
  readonly real: Real;
  readonly bits: number;
}
type Place = Map<number, Kept>;
export type KeptNumbers = ReadonlyMap<number, Kept>;

/** What follows one instruction: before it runs, and after. */
interface Follower {
  readonly before: (w: Wave, file: File) => void;
  readonly after: (w: Wave, file: File) => void;
}

/** Numbers of a wave's registers: one for a register of a lane, and one for the high half of it. */
class File {
  readonly low = new Map<number, Real>();
  readonly high = new Map<number, Real>();
  readonly scalars = new Map<number, Real>();
  readonly scratch: Place = new Map();
}

/** Index of a vector register's first lane in `vgprs`. */
const indexOf = (slot: number): number =>
  (slot >= Slot.AGPR0 ? AGPR_BASE + slot - Slot.AGPR0 : slot - Slot.VGPR0) * LANES;

export class FloatReference implements Monitor {
  /** By address: what global memory would hold. */
  readonly memory: Place = new Map();
  private readonly files = new Map<Wave, File>();
  private readonly lds = new WeakMap<Workgroup, Place>();
  private readonly followers = new WeakMap<BoundInstruction, Follower | undefined>();

  startWorkgroup(_group: unknown, waves: readonly Wave[]): void {
    for (const wave of waves) this.files.set(wave, new File());
  }

  before(w: Wave, _pc: number, bound: BoundInstruction): void {
    let follower = this.followers.get(bound);
    if (follower === undefined) {
      follower = this.follow(bound.instruction);
      this.followers.set(bound, follower);
    }
    follower.before(w, this.fileOf(w));
  }

  after(w: Wave, _pc: number, bound: BoundInstruction): void {
    this.followers.get(bound)?.after(w, this.fileOf(w));
  }

  endWave(w: Wave): void {
    this.files.delete(w);
  }

  private fileOf(w: Wave): File {
    let file = this.files.get(w);
    if (file === undefined) {
      file = new File();
      this.files.set(w, file);
    }
    return file;
  }

  private follow(instruction: Instruction): Follower {
    const op = semanticsOf(instruction.row.operation);
    const moves = followMoves(instruction);
    if (op?.kind === 'vector' && op.resultType !== undefined && isFloatType(op.resultType) && !isSdwa(instruction))
      return followVector(instruction, op, moves);
    if (op?.kind === 'matrix' && !op.sparse && op.a !== 'f8f6f4' && op.d === 'f32')
      return followMatrix(instruction, op);
    const isVector = (space: string): boolean => !space.startsWith('scalar');
    if (op?.kind === 'load' && isVector(op.space) && !op.toLds && !/ lds$/.test(instruction.row.template))
      return this.followLoad(instruction, op);
    if (op?.kind === 'store' && isVector(op.space)) return this.followStore(instruction, op);
    if (op?.kind === 'atomic' && isVector(op.space) && (op.type === 'f32' || op.type === 'f64'))
      return this.followAtomic(instruction, op, moves);
    return moves;
  }

  private placeOf(w: Wave, file: File, space: string): Place {
    if (space === 'scratch') return file.scratch;
    if (space !== 'lds') return this.memory;
    let place = this.lds.get(w.workgroup);
    if (place === undefined) {
      place = new Map();
      this.lds.set(w.workgroup, place);
    }
    return place;
  }

  private followLoad(instruction: Instruction, op: LoadOperation): Follower {
    const target = bindTarget(instruction, op.space);
    const base = vectorBase(operandOf(instruction, 'vdst', 'vdata'));
    const parts = partsOf(instruction, op);
    const found = new Map<number, readonly [Kept | undefined, Kept | undefined]>();
    return {
      before: (w, file) => {
        found.clear();
        const place = this.placeOf(w, file, op.space);
        target.prepare(w);
        forLanes(w, (lane) => {
          for (const [n, { offset, size }] of parts.entries()) {
            const key = keyOf(target, op.space, w, lane, offset, size);
            found.set(base + n * LANES + lane, [place.get(key), place.get(key + 2)]);
          }
        });
      },
      after: (w, file) => {
        for (const [at, [low, high]] of found) {
          file.low.delete(at);
          file.high.delete(at);
          const bits = w.vgprs[at] as number;
          const isHalf = op.bytes === 2;
          if (low !== undefined) {
            if (isHalf && op.half === 'high') put(w, file.high, at, low.real, bits >>> 16);
            else if (low.bits === (isNarrow(low.real) ? bits & 0xffff : bits)) file.low.set(at, low.real);
          }
          if (!isHalf && high !== undefined && isNarrow(high.real) && high.bits === bits >>> 16)
            file.high.set(at, high.real);
        }
      },
    };
  }

  private followStore(instruction: Instruction, op: StoreOperation): Follower {
    const target = bindTarget(instruction, op.space);
    const first = vectorBase(operandOf(instruction, 'vdata', 'data0'));
    const second = op.pairStride === undefined ? first : vectorBase(operandOf(instruction, 'data1'));
    const parts = partsOf(instruction, op);
    const words = Math.max(1, op.bytes / 4);
    return {
      before: (w, file) => {
        const place = this.placeOf(w, file, op.space);
        target.prepare(w);
        forLanes(w, (lane) => {
          for (const [n, { offset, size }] of parts.entries()) {
            const at = (n < words ? first : second) + (n % words) * LANES + lane;
            const key = keyOf(target, op.space, w, lane, offset, size);
            const bits = w.vgprs[at] as number;
            const low = numberAt(w, file.low, at);
            const high = numberAt(w, file.high, at, 16);
            place.delete(key);
            if (op.bytes === 2) {
              const half = op.half === 'high' ? high : low;
              const stored = (op.half === 'high' ? bits >>> 16 : bits) & 0xffff;
              if (half !== undefined && isNarrow(half)) place.set(key, { real: half, bits: stored });
            } else {
              place.delete(key + 2);
              if (low !== undefined) place.set(key, { real: low, bits: isNarrow(low) ? bits & 0xffff : bits });
              if (high !== undefined) place.set(key + 2, { real: high, bits: bits >>> 16 });
            }
          }
        });
      },
      after: () => {},
    };
  }

  /** Sums in memory. */
  private followAtomic(instruction: Instruction, op: AtomicOperation, moves: Follower): Follower {
    const type = op.type as 'f32' | 'f64';
    const isSum = /_add_f(?:32|64)$/.test(instruction.row.operation);
    const target = bindTarget(instruction, op.space);
    const data = vectorBase(operandOf(instruction, 'vdata_in', 'data0', 'vdata'));
    const pending: (readonly [place: Place, key: number, real: Real, address: number])[] = [];
    const bitsAt = (w: Wave, address: number): number => target.space.load(w, address, 4);
    const highAt = (w: Wave, address: number): number => (type === 'f64' ? bitsAt(w, address + 4) : 0);
    return {
      before: (w, file) => {
        moves.before(w, file);
        const place = this.placeOf(w, file, op.space);
        target.prepare(w);
        pending.length = 0;
        forLanes(w, (lane) => {
          const size = type === 'f64' ? 8 : 4;
          const key = keyOf(target, op.space, w, lane, 0, size);
          const kept = place.get(key);
          place.delete(key);
          const address = target.address(w, lane, 0, size);
          if (!isSum || address < 0) return;
          const bits = bitsAt(w, address);
          const was = kept?.bits === bits ? kept.real : given(decoded(bits, type, highAt(w, address)), type);
          // Lanes that meet at one place follow each other.
          const earlier = pending.findLast(([p, k]) => p === place && k === key)?.[2];
          const at = data + lane;
          const plain = decoded(w.vgprs[at] as number, type, w.vgprs[at + LANES] as number);
          const term = numberAt(w, file.low, at) ?? given(plain, type);
          pending.push([place, key, sum(earlier ?? was, term, type), address]);
        });
      },
      after: (w, file) => {
        moves.after(w, file);
        for (const [place, key, real, address] of pending) {
          const bits = bitsAt(w, address);
          if (isPossible(decoded(bits, type, highAt(w, address)), real)) place.set(key, { real, bits });
        }
      },
    };
  }
}

const isNarrow = ({ type }: Real): boolean => type === 'f16' || type === 'bf16';
const isSdwa = ({ row }: Instruction): boolean =>
  row.operands.some((o) => o.name === 'src0_sel' || o.name === 'dst_sel');

function operandOf(instruction: Instruction, ...names: string[]) {
  for (const name of names) {
    const operand = operandNamed(instruction, name);
    if (operand?.kind === 'reg') return operand;
  }
  throw new Error(`${instruction.row.name} has no data register`);
}

function forLanes(w: Wave, f: (lane: number) => void): void {
  for (let lane = 0; lane < LANES; lane++) if (w.isActive(lane)) f(lane);
}

/** A name of a place: its address; in scratch with the lane. */
function keyOf(target: Target, space: string, w: Wave, lane: number, offset: number, size: number): number {
  const address = target.address(w, lane, offset, size);
  return space === 'scratch' ? lane * 2 ** 40 + address : address;
}

/** The words of an access, by their offset. */
function partsOf(instruction: Instruction, op: LoadOperation | StoreOperation): { offset: number; size: number }[] {
  const offsets = op.pairStride === undefined ? [0] : pairOffsets(instruction, op.pairStride);
  const size = Math.min(4, op.bytes);
  return offsets.flatMap((offset) =>
    Array.from({ length: Math.max(1, op.bytes / 4) }, (_, n) => ({ offset: offset + 4 * n, size })),
  );
}

/** The number of bits that stand for a type; `high`: the register behind, of an f64. */
function decoded(bits: number, type: FloatType, high = 0): number {
  if (type === 'f32') return f32FromBits(bits);
  if (type === 'f64') return f64FromWords(bits, high);
  return type === 'f16' ? f16FromBits(bits & 0xffff) : bf16FromBits(bits & 0xffff);
}

/** Keeps a number when the register can be it. */
function put(w: Wave, numbers: Map<number, Real>, at: number, real: Real, bits: number): void {
  const high = real.type === 'f64' ? (w.vgprs[at + LANES] as number) : 0;
  if (isPossible(decoded(bits, real.type, high), real)) numbers.set(at, real);
  else numbers.delete(at);
}

/** The number of a register, if it still can be. */
function numberAt(w: Wave, numbers: Map<number, Real>, at: number, shift = 0): Real | undefined {
  const real = numbers.get(at);
  if (real === undefined) return undefined;
  const high = real.type === 'f64' ? (w.vgprs[at + LANES] as number) : 0;
  if (isPossible(decoded((w.vgprs[at] as number) >>> shift, real.type, high), real)) return real;
  numbers.delete(at);
  return undefined;
}

/** How a source is read: where its numbers are, and its modifiers. */
function bindReal(instruction: Instruction, op: VectorOperation, k: number) {
  const spec = op.sources[k] as VectorOperation['sources'][number];
  const operand =
    operandNamed(instruction, spec.operand) ??
    (spec.operand === 'src2' ? operandNamed(instruction, 'vdst') : undefined);
  const modifiers = immediateOf(instruction, `${spec.operand}_modifiers`);
  const packed = instruction.row.encoding === 'VOP3P';
  const isVector = operand?.kind === 'reg' && (operand.file === 'v' || operand.file === 'a');
  const base = isVector ? vectorBase(operand) : -1;
  const scalar = operand?.kind === 'reg' && !isVector ? operand.encoding : -1;
  const { type } = spec;
  return (w: Wave, file: File, lane: number, part: number): Real | undefined => {
    const chosen = part === 0 ? (modifiers & OP_SEL_0) !== 0 : (modifiers & OP_SEL_1) !== 0;
    let real: Real | undefined;
    if (scalar >= 0) {
      real = file.scalars.get(scalar);
      if (
        real !== undefined &&
        decoded(w.sgprs[scalar] as number, real.type) !== real.value &&
        !isPossible(decoded(w.sgprs[scalar] as number, real.type), real)
      )
        real = undefined;
    } else if (base < 0) return undefined;
    else if (type === 'f32x2') {
      const word = packed ? (part === 0 ? (chosen ? 1 : 0) : chosen ? 1 : 0) : part;
      real = numberAt(w, file.low, base + word * LANES + lane);
    } else if (type === 'f16x2' || type === 'bf16x2') {
      const isHigh = packed ? chosen : part === 1;
      real = isHigh ? numberAt(w, file.high, base + lane, 16) : numberAt(w, file.low, base + lane);
    } else if (type === 'mix') {
      const half = (modifiers & OP_SEL_1) !== 0;
      real =
        half && (modifiers & OP_SEL_0) !== 0
          ? numberAt(w, file.high, base + lane, 16)
          : numberAt(w, file.low, base + lane);
      if (real !== undefined && half !== isNarrow(real)) real = undefined;
    } else if ((type === 'f16' || type === 'bf16') && (modifiers & OP_SEL_0) !== 0) {
      real = numberAt(w, file.high, base + lane, 16);
    } else real = numberAt(w, file.low, base + lane);
    if (real === undefined) return undefined;
    const isFor = type === 'mix' ? true : real.type === type || type.startsWith(real.type);
    if (!isFor) return undefined;
    if (packed && type !== 'mix') {
      const flips = (modifiers & (part === 0 ? NEG : ABS)) !== 0;
      return flips ? negated(real) : real;
    }
    const absolute = (modifiers & ABS) !== 0 && real.value < 0 ? negated(real) : real;
    return (modifiers & NEG) !== 0 ? negated(absolute) : absolute;
  };
}

const OMOD = [1, 2, 4, 0.5];

function followVector(instruction: Instruction, op: VectorOperation, moves: Follower): Follower {
  const context = { types: op.sources.map((s) => s.type), denormals: op.denormals };
  const readers: LaneReader[] = op.sources.map((s, k) => bindSource(instruction, k, s, op.sourcePart));
  const reals = op.sources.map((_, k) => bindReal(instruction, op, k));
  const results: RealFunction[] = op.result.map((e) => compileReal(e, context));
  const destination = vectorBase(operandOf(instruction, 'vdst'));
  const isDpp = operandNamed(instruction, 'dpp_ctrl') !== undefined;
  const control = immediateOf(instruction, 'dpp_ctrl');
  const factor = OMOD[immediateOf(instruction, 'omod')] as number;
  const type = op.resultType as string;
  const isWords = type === 'f32x2';
  const isHalves = type === 'f16x2' || type === 'bf16x2';
  const pending: (readonly [part: number, lane: number, real: Real])[] = [];
  return {
    before: (w, file) => {
      moves.before(w, file);
      pending.length = 0;
      forLanes(w, (lane) => {
        const from = isDpp ? dppSourceLane(control, lane) : lane;
        if (from < 0 || !w.isActive(from)) return;
        for (const [k, read] of readers.entries()) read(w, k === 0 ? from : lane);
        w.env.lane = lane;
        for (const [part, result] of results.entries()) {
          const real = result(w.env, (k, p) => (reals[k] as (typeof reals)[number])(w, file, k === 0 ? from : lane, p));
          if (real === undefined) continue;
          pending.push([part, lane, factor === 1 ? real : scaled(real, factor)]);
        }
      });
    },
    after: (w, file) => {
      moves.after(w, file);
      for (const [part, lane, real] of pending) {
        const at = destination + (isWords ? part * LANES : 0) + lane;
        const bits = w.vgprs[at] as number;
        const shift = isHalves && part === 1 ? 16 : isNarrow(real) && !isHalves ? halfOf(bits, real) : 0;
        put(w, shift === 16 ? file.high : file.low, at, real, bits >>> shift);
      }
    },
  };
}

const scaled = (a: Real, factor: number): Real => ({
  ...a,
  value: a.value * factor,
  inherited: a.inherited * factor,
  magnitude: a.magnitude * factor,
});

/** The half of a register where a narrow result went: the one that it can be in. */
function halfOf(bits: number, real: Real): 0 | 16 {
  return !isPossible(decoded(bits, real.type), real) && isPossible(decoded(bits >>> 16, real.type), real) ? 16 : 0;
}

function followMatrix(instruction: Instruction, op: MatrixOperation): Follower {
  const { m, n, k, blocks } = op;
  const elements: Partial<Record<MatrixOperation['a'], readonly [bits: number, type: FloatType]>> = {
    f32: [32, 'f32'],
    xf32: [32, 'f32'],
    f16: [16, 'f16'],
    bf16: [16, 'bf16'],
  };
  const element = elements[op.a];
  const c = operandNamed(instruction, 'src2');
  const destination = vectorBase(operandOf(instruction, 'vdst'));
  const isPlain = ['cbsz', 'abid', 'blgp'].every((name) => immediateOf(instruction, name) === 0);
  if (element === undefined || !isPlain) return followMoves(instruction);
  const [bits, type] = element;
  const bases = [vectorBase(operandOf(instruction, 'src0')), vectorBase(operandOf(instruction, 'src1'))] as const;
  const cBase = c?.kind === 'reg' ? vectorBase(c) : -1;
  const pending: (readonly [at: number, real: Real])[] = [];
  const read = (w: Wave, file: File, base: number, lane: number, position: number): Real => {
    const at = base + (position >> 5) * LANES + lane;
    const shift = position & 31;
    const real = numberAt(w, shift === 16 ? file.high : file.low, at, shift);
    return real?.type === type ? real : given(decoded((w.vgprs[at] as number) >>> shift, type), type);
  };
  return {
    before: (w, file) => {
      pending.length = 0;
      for (let block = 0; block < blocks; block++) {
        const row = (which: 0 | 1, i: number): Real[] =>
          Array.from({ length: k }, (_, kk) => {
            const [lane, position] = inputPosition(op, bits, block, i, kk);
            return read(w, file, bases[which], lane, position);
          });
        const a = Array.from({ length: m }, (_, i) => row(0, i));
        const b = Array.from({ length: n }, (_, j) => row(1, j));
        for (let i = 0; i < m; i++) {
          for (let j = 0; j < n; j++) {
            const [register, lane] = outputPosition(op, block, i, j);
            const at = cBase + register * LANES + lane;
            const word = cBase < 0 ? 0 : (w.vgprs[at] as number);
            const was = (cBase < 0 ? undefined : numberAt(w, file.low, at)) ?? given(f32FromBits(word), 'f32');
            if (cBase < 0 && !(c?.kind === 'inline' && c.encoding === 128)) return;
            pending.push([destination + register * LANES + lane, dot(was, a[i] as Real[], b[j] as Real[])]);
          }
        }
      }
    },
    after: (w, file) => {
      for (const [at, real] of pending) {
        file.high.delete(at);
        put(w, file.low, at, real, w.vgprs[at] as number);
      }
    },
  };
}

/** c + Σ a·b in f32. Products of narrow floats are exact there; the hardware cuts, which is up to two half units a step. */
function dot(c: Real, a: readonly Real[], b: readonly Real[]): Real {
  let { value, inherited, magnitude } = c.type === 'f32' ? c : given(c.value, 'f32');
  if (c.type !== 'f32') inherited += errorOf(c);
  for (const [n, x] of a.entries()) {
    const y = b[n] as Real;
    value += x.value * y.value;
    magnitude += Math.abs(x.value * y.value);
    inherited += Math.abs(x.value) * errorOf(y) + Math.abs(y.value) * errorOf(x);
  }
  return {
    type: 'f32',
    value,
    inherited,
    magnitude,
    roundings: (c.type === 'f32' ? c.roundings : 0) + 2 * a.length + 1,
  };
}

/**
 * What an instruction does that makes no numbers: each result that has the bits of an operand, up to the sign, is that number. Across lanes when the
 * instruction goes across lanes. Narrower floats that integers cut out of wider ones are known by their bits.
 */
function followMoves(instruction: Instruction): Follower {
  const { uses, keeps, defs } = effectsOf(instruction);
  const isVector = (first: number): boolean => first >= Slot.VGPR0;
  const sources = [...uses, ...keeps].flatMap(({ first, count }) => Array.from({ length: count }, (_, n) => first + n));
  const results = defs.flatMap(({ first, count }) => Array.from({ length: count }, (_, n) => first + n));
  const op = semanticsOf(instruction.row.operation);
  const isAcross = op?.kind === 'structural' || operandNamed(instruction, 'dpp_ctrl') !== undefined;
  /** By lane, -1 for all: bits and number. */
  const found: { readonly lane: number; readonly bits: number; readonly real: Real }[] = [];
  return {
    before: (w, file) => {
      found.length = 0;
      if (file.low.size + file.high.size + file.scalars.size === 0) return;
      for (const slot of sources) {
        if (!isVector(slot)) {
          const real = file.scalars.get(slot);
          if (real !== undefined) found.push({ lane: -1, bits: w.sgprs[slot] as number, real });
          continue;
        }
        const base = indexOf(slot);
        for (let lane = 0; lane < LANES; lane++) {
          const at = base + lane;
          const [low, high] = [numberAt(w, file.low, at), numberAt(w, file.high, at, 16)];
          const word = w.vgprs[at] as number;
          const where = isAcross ? -1 : lane;
          if (low !== undefined) found.push({ lane: where, bits: isNarrow(low) ? word & 0xffff : word, real: low });
          if (high !== undefined) found.push({ lane: where, bits: word >>> 16, real: high });
        }
      }
    },
    after: (w, file) => {
      const byLane = new Map<number, (typeof found)[number][]>();
      for (const one of found) byLane.set(one.lane, [...(byLane.get(one.lane) ?? []), one]);
      const shared = byLane.get(-1) ?? [];
      for (const slot of results) {
        if (!isVector(slot)) {
          if (slot >= Slot.VCC && slot < Slot.VGPR0) continue;
          const all = instruction.row.flags.has('VALU') ? found : shared;
          const real = matching(w.sgprs[slot] as number, all, 32);
          if (real === undefined) file.scalars.delete(slot);
          else file.scalars.set(slot, real);
          continue;
        }
        const base = indexOf(slot);
        for (let lane = 0; lane < LANES; lane++) {
          if (!w.isActive(lane)) continue;
          const at = base + lane;
          const near = byLane.get(lane);
          const all = near === undefined ? shared : shared.length === 0 ? near : [...near, ...shared];
          file.low.delete(at);
          file.high.delete(at);
          if (all.length === 0) continue;
          const bits = w.vgprs[at] as number;
          const whole = matching(bits, all, 32);
          const low = whole ?? matching(bits & 0xffff, all, 16);
          const high = whole === undefined ? matching(bits >>> 16, all, 16) : undefined;
          if (low !== undefined) put(w, file.low, at, low, bits);
          if (high !== undefined) put(w, file.high, at, high, bits >>> 16);
        }
      }
    },
  };
}

/** The number that bits are: of a word, or of half of one. */
function matching(
  bits: number,
  all: readonly { readonly bits: number; readonly real: Real }[],
  width: 16 | 32,
): Real | undefined {
  for (const { bits: is, real } of all) {
    if (width === 32) {
      if (isNarrow(real)) continue;
      if (is === bits) return real;
      if ((is ^ bits) === -0x8000_0000 && real.type === 'f32') return negated(real);
      continue;
    }
    if (isNarrow(real)) {
      if (is === bits) return real;
      if ((is ^ bits) === 0x8000) return negated(real);
    } else if (real.type === 'f32' && real.value !== 0 && isCutOf(bits, is))
      return rounded(real.value, errorOf(real), 'bf16', 2);
  }
  return undefined;
}

/** Whether 16 bits are an f32 as bfloat16, rounded or cut. */
function isCutOf(half: number, word: number): boolean {
  return half === word >>> 16 || half === encodeSmall(BF16, f32FromBits(word));
}
