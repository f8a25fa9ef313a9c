// Bank conflicts of an access by all lanes, most often without a step for each lane: every lane is one bit among 32 banks, the bits are added up
// in planes (plane k has bit k of each bank's number of lanes), and the most that a bank has is read from the planes. Lanes may ask for the
// same dword, which is served once; only whether the lanes of one of the busiest banks do is looked at. When they do not, nothing that other banks
// have in common makes a difference.
import { LANES } from '../state/layout.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { matrixFeatures } from '../wasm/features.ts';
import { BANKS, type BankAccess } from './lds-banks.ts';

/** Bytes of LDS that 16 bits reach. */
const REACH = 65536;
const PHASE_LANES = 32;
const QUAD = 4;
const QUADS = PHASE_LANES / QUAD;
const PHASE_BYTES = 4 * PHASE_LANES;
/** Of the addresses of a phase as 16 bits. */
const SUM_BYTES = 2 * PHASE_LANES;
/** Bytes of the memory that the model works in. */
export const PLANES_MEMORY = 2 * SUM_BYTES;
/** Busiest banks looked at: the lanes of one that ask for different dwords are enough. */
const TRIED = 2;

/** Whether such accesses are counted so: one bank for each lane, 32 lanes a phase. */
export function hasPlanes({ bytes, phases }: BankAccess): boolean {
  return bytes <= 4 && phases.length === LANES / PHASE_LANES;
}

/**
 * The function (place of lane 0 of the address register, offset of the access) → i64, of an access by all lanes: the phases, and from bit 32 on
 * the cycles beyond one a phase; -1 when it does not say.
 */
export function planesFunction(module: WasmModule, { bytes, atomic }: BankAccess, memory: number): WasmFunction {
  return module.helper(`count.planes ${bytes}${atomic ? ' atomic' : ''}`, ['i32', 'i32'], ['i64'], (fn) => {
    const [addresses, offset] = [0, 1] as const;
    const planes = new Planes(fn);
    const bankBits = new BankBits(fn);
    const { all } = bankBits;
    const offsets = fn.local('v128');
    fn.get(offset).op('i32x4.splat').set(offsets);
    const [even, odd] = [fn.local('v128'), fn.local('v128')];
    const [first = [], second = []] = [0, 1].map((phase) =>
      planes.ofQuads((quad) => {
        const sum = quad % 2 === 0 ? even : odd;
        fn.get(addresses).memory('v128.load', phase * PHASE_BYTES + 16 * quad);
        fn.get(offsets).op('i32x4.add').set(sum);
        if (!atomic && sum === odd) {
          fn.i32(0).get(even).get(odd).op('i16x8.narrow_i32x4_u');
          fn.memory('v128.store', memory + phase * SUM_BYTES + 8 * (quad - 1));
        }
        fn.get(sum);
        bankBits.push();
      }),
    );
    // One lane of a vector has four: the first phase's go to the lower half, the second's to the upper.
    const halves = planes.sum(
      first.map((plane, k) => planes.shuffled(plane, second[k] as number, [0, 1, 4, 5])),
      first.map((plane, k) => planes.shuffled(plane, second[k] as number, [2, 3, 6, 7])),
    );
    const whole = planes.sum(
      halves,
      halves.map((plane) => planes.shuffled(plane, plane, [1, 0, 3, 2])),
    );
    const { most, busiest } = planes.most(whole);

    const word = fn.local('i32');
    const unfit = (bytes - 1) | -REACH;
    fn.get(all).v128(unfit, unfit, unfit, unfit).op('v128.and').op('v128.any_true').if().i64(-1n).return().end();
    fn.i32(-LANES / PHASE_LANES).set(word);
    const cycles = fn.local('i32');
    const distinct = atomic ? undefined : new Distinct(fn, memory);
    for (const [phase, lane] of [
      [0, 0],
      [1, 2],
    ] as const) {
      fn.get(most).lane('i32x4.extract_lane', lane).set(cycles);
      if (distinct !== undefined) {
        fn.get(cycles).i32(1).op('i32.gt_u').if();
        fn.get(busiest).lane('i32x4.extract_lane', lane);
        distinct.write(phase, cycles);
        fn.end();
      }
      fn.get(word).get(cycles).op('i32.add').set(word);
    }
    fn.get(word).op('i64.extend_i32_u').i64(32n).op('i64.shl');
    fn.i64(BigInt(LANES / PHASE_LANES)).op('i64.or');
  });
}

/** Turns four addresses into words with the bit of their banks. */
class BankBits {
  /** All addresses or'ed. */
  readonly all: number;
  private readonly fn: WasmFunction;
  /** The bits of an address that are its bank, where they come to lie; what makes a word of a bank. */
  private readonly banks: number;
  private readonly terms: readonly number[];

  constructor(fn: WasmFunction) {
    this.fn = fn;
    this.all = this.constant(0, 0, 0, 0);
    this.banks = this.constant(matrixFeatures().powers ? (BANKS - 1) << 23 : BANKS - 1);
    this.terms = matrixFeatures().powers
      ? [this.constant(127 << 23)]
      : // Bits 1, 2, … 128 by number; other numbers have none. Byte k of a word has banks 8k to 8k + 7.
        [this.constant(0x08040201, -0x7fbfdff0, 0, 0), this.constant(0x01010101), this.constant(0x18100800)];
  }

  /** In a local: V8 loads constants at each use. */
  private constant(w0: number, w1 = w0, w2 = w0, w3 = w0): number {
    const local = this.fn.local('v128');
    this.fn.v128(w0, w1, w2, w3).set(local);
    return local;
  }

  /** Pops four addresses and leaves four words. */
  push(): void {
    const { fn, all, banks, terms } = this;
    const four = fn.local('v128');
    fn.tee(four).get(all).op('v128.or').set(all);
    const [first = 0, copies, firsts] = terms;
    if (copies === undefined || firsts === undefined) {
      // The float 2^bank.
      fn.get(four).i32(21).op('i32x4.shl').get(banks).op('v128.and').get(first).op('i32x4.add');
      fn.op('i32x4.relaxed_trunc_f32x4_s');
    } else {
      // V8 makes the mask of a shuffle of bytes each time, so bytes are copied by multiplying.
      fn.get(first);
      fn.get(four).i32(2).op('i32x4.shr_u').get(banks).op('v128.and').get(copies).op('i32x4.mul');
      fn.get(firsts).op('i8x16.sub').op('i8x16.swizzle');
    }
    fn.release('v128', four);
  }
}

/** Numbers of several bits, one of each bit of a vector: plane k has their bits k. */
class Planes {
  private readonly fn: WasmFunction;

  constructor(fn: WasmFunction) {
    this.fn = fn;
  }

  /** Adds up the bits of a phase's quads; `push` leaves one. */
  ofQuads(push: (quad: number) => void): number[] {
    const pending: number[][] = [];
    const planes: number[] = [];
    // Three of a weight are one of it and one of the next.
    const add = (k: number, bits: number): void => {
      const waiting = pending[k] ?? [];
      pending[k] = waiting;
      waiting.push(bits);
      if (waiting.length === 3) add(k + 1, this.fullAdd(waiting));
    };
    for (let quad = 0; quad < QUADS; quad++) {
      const bits = this.fn.local('v128');
      push(quad);
      this.fn.set(bits);
      add(0, bits);
    }
    for (let k = 0; k < pending.length; k++) {
      const waiting = pending[k] as number[];
      if (waiting.length === 2) add(k + 1, this.halfAdd(waiting));
      planes.push(waiting[0] as number);
    }
    return planes;
  }

  /** Sums of two lists of planes of the same length; both are used up. */
  sum(a: readonly number[], b: readonly number[]): number[] {
    let carry: number | undefined;
    const sums = a.map((plane, k) => {
      const bits = carry === undefined ? [plane, b[k] as number] : [plane, b[k] as number, carry];
      carry = bits.length === 2 ? this.halfAdd(bits) : this.fullAdd(bits);
      return bits[0] as number;
    });
    return carry === undefined ? sums : [...sums, carry];
  }

  /** Words of two planes. */
  shuffled(a: number, b: number, words: readonly [number, number, number, number]): number {
    const made = this.fn.local('v128');
    this.fn
      .get(a)
      .get(b)
      .shuffle32(...words)
      .set(made);
    return made;
  }

  /** Of each word: the greatest of its 32 numbers, and the bits that have it. */
  most(planes: readonly number[]): { readonly most: number; readonly busiest: number } {
    const { fn } = this;
    const [most, busiest, here, none] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
    fn.v128(0, 0, 0, 0).set(most);
    fn.v128(-1, -1, -1, -1).set(busiest);
    for (let k = planes.length - 1; k >= 0; k--) {
      fn.get(busiest)
        .get(planes[k] as number)
        .op('v128.and')
        .tee(here)
        .v128(0, 0, 0, 0)
        .op('i32x4.eq')
        .set(none);
      fn.get(busiest).get(none).op('v128.and').get(here).op('v128.or').set(busiest);
      fn.v128(1 << k, 1 << k, 1 << k, 1 << k)
        .get(none)
        .op('v128.andnot')
        .get(most)
        .op('v128.or')
        .set(most);
    }
    return { most, busiest };
  }

  /** Leaves the sum of three in the list, and gives the carry. */
  private fullAdd(bits: number[]): number {
    const { fn } = this;
    const [a, b, c] = bits as [number, number, number];
    const differ = fn.local('v128');
    fn.get(a).get(b).op('v128.xor').set(differ);
    // Where a and b are the same, they are the carry.
    fn.get(c).get(a).get(differ).op('v128.bitselect').set(b);
    fn.get(differ).get(c).op('v128.xor').set(a);
    fn.release('v128', differ);
    fn.release('v128', c);
    bits.length = 1;
    return b;
  }

  /** The same for two. */
  private halfAdd(bits: number[]): number {
    const { fn } = this;
    const [a, b] = bits as [number, number];
    const carry = fn.local('v128');
    fn.get(a).get(b).op('v128.and').set(carry);
    fn.get(a).get(b).op('v128.xor').set(a);
    fn.release('v128', b);
    bits.length = 1;
    return carry;
  }
}

/** Locals of the code that looks at one busiest bank. */
class Distinct {
  private readonly fn: WasmFunction;
  private readonly memory: number;
  private readonly banks: readonly [number, number];
  private readonly sought: number;
  private readonly busiest: number;
  private readonly tries: number;
  private readonly asking: number;
  private readonly row: number;
  private readonly seen: number;

  constructor(fn: WasmFunction, memory: number) {
    this.fn = fn;
    this.memory = memory;
    this.banks = [fn.local('v128'), fn.local('v128')];
    this.sought = fn.local('v128');
    [this.busiest, this.tries, this.asking] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    [this.row, this.seen] = [fn.local('i64'), fn.local('i64')];
  }

  /** Eight addresses of a phase. */
  private pushEight(phase: number, eighth: number): WasmFunction {
    return this.fn.i32(0).memory('v128.load', this.memory + phase * SUM_BYTES + 16 * eighth);
  }

  /**
   * Pops the busiest banks of a phase; `cycles` is the lanes that each of them has. Nothing changes where one of those banks is asked for as many
   * dwords as lanes; where all lanes ask for one dword, that is one cycle; else the function returns -1.
   */
  write(phase: number, cycles: number): void {
    const { fn, memory, banks, sought, busiest, tries, asking, row, seen } = this;
    fn.set(busiest);
    fn.block();
    // All lanes in one bank: they may ask for one dword.
    fn.get(cycles).i32(PHASE_LANES).op('i32.eq').if();
    this.pushEight(phase, 0).i32(2).op('i16x8.shr_u').lane('i16x8.extract_lane_u', 0).op('i16x8.splat').set(sought);
    fn.v128(0, 0, 0, 0);
    for (let eighth = 0; eighth < 4; eighth++) {
      this.pushEight(phase, eighth).i32(2).op('i16x8.shr_u').get(sought).op('v128.xor').op('v128.or');
    }
    fn.op('v128.any_true').op('i32.eqz').if().i32(1).set(cycles).br(2).end().end();

    // The bank of each lane, in bytes.
    for (const [half, bank] of banks.entries()) {
      for (const eighth of [2 * half, 2 * half + 1]) {
        const mask = 4 * (BANKS - 1) * 0x10001;
        this.pushEight(phase, eighth).v128(mask, mask, mask, mask).op('v128.and');
      }
      fn.op('i8x16.narrow_i16x8_u').set(bank);
    }
    fn.i32(TRIED).set(tries);
    fn.loop();
    fn.get(busiest).op('i32.ctz').i32(2).op('i32.shl').op('i8x16.splat').set(sought);
    fn.get(banks[0]).get(sought).op('i8x16.eq').op('i8x16.bitmask');
    fn.get(banks[1]).get(sought).op('i8x16.eq').op('i8x16.bitmask').i32(16).op('i32.shl').op('i32.or').set(asking);
    // Rows by their lowest six bits: what meets there may be the same.
    fn.i64(0n).set(seen);
    fn.block();
    fn.loop();
    fn.i64(1n);
    fn.get(asking)
      .op('i32.ctz')
      .i32(1)
      .op('i32.shl')
      .memory('i64.load16_u', memory + phase * SUM_BYTES);
    fn.i64(BigInt(Math.log2(4 * BANKS)))
      .op('i64.shr_u')
      .op('i64.shl')
      .tee(row);
    fn.get(seen).op('i64.and').i64(0n).op('i64.ne').brIf(1);
    fn.get(seen).get(row).op('i64.or').set(seen);
    fn.get(asking).get(asking).i32(1).op('i32.sub').op('i32.and').tee(asking).brIf(0);
    fn.end();
    fn.br(2);
    fn.end();
    fn.get(busiest).get(busiest).i32(1).op('i32.sub').op('i32.and').tee(busiest).op('i32.eqz');
    fn.get(tries).i32(1).op('i32.sub').tee(tries).op('i32.eqz').op('i32.or').op('i32.eqz').brIf(0);
    fn.end();
    fn.i64(-1n).return().end();
  }
}
