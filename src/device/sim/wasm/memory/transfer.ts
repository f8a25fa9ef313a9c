// What a memory instruction does with the bytes of its lanes: into registers, out of registers, into LDS. Each transfer moves four
// adjacent lanes at once when it can, or one lane piece by piece. Registers hold one word of 64 lanes in 256 contiguous bytes.

import { VGPR_BYTES } from '../../state/layout.ts';
import type { WasmModule } from '../emit.ts';
import { choosing } from '../features.ts';
import type { Code, Label, QuadLocals } from './code.ts';

/** The helper function being written, as address modes and transfers see it. */
export interface Frame {
  readonly code: Code;
  readonly module: WasmModule;
  /** Wave block address. */
  readonly wave: number;
  /** Address of lane 0 of the data register. */
  readonly data: number;
  /** Four times the first lane being worked on. */
  readonly at: number;
  /** `data + at`. */
  readonly laneWord: number;
  /** Extra parameters of the transfer, as locals. */
  readonly extra: readonly number[];
  /** Leaves the function: the interpreter executes the active lanes from the current one on. */
  resume(): void;
}

/** One way of moving an instruction's data. */
export interface Transfer {
  readonly key: string;
  /** Bytes of one lane in memory. */
  readonly bytes: number;
  readonly write: boolean;
  /** Extra i32 parameters. */
  readonly parameters: number;
  /** Bytes of one piece (a dword, or the whole narrower element) and how many there are. */
  readonly piece: number;
  readonly pieces: number;
  /** An atomic: its memory is where it is, and lanes of scratch are its own. */
  readonly isAtomic?: {
    /** Leaves 1 when lanes whose elements begin at these addresses can be moved at once. */
    admits(f: Frame, addresses: readonly number[]): void;
    /** All lanes on the one element at `a`: updates it and does `then`, or falls through. */
    one(f: Frame, a: number, then: () => void): void;
  };
  /** Words that move between registers and memory as they are. */
  readonly words?: number;
  /** Moves registers only: a lane out of a buffer's range can be moved elsewhere, where loads find zeros. */
  readonly isPlain?: true;
  /** Two elements; the first extra parameter is the distance of the second. */
  readonly isPair?: true;
  prologue(f: Frame): void;
  /** Four lanes whose elements follow each other from the address in local `a`. */
  contiguous(f: Frame, a: number): void;
  /** Four lanes at the addresses in four locals. */
  scattered(f: Frame, addresses: readonly number[]): void;
  /**
   * Four lanes at the addresses in a vector, or those of them whose bits are set in local `bits`; the others have the address of one of these.
   * Of transfers that only look, to which it makes no difference how often they see an address.
   */
  readonly lanes?: (f: Frame, addresses: number, bits?: number) => void;
  /**
   * All lanes, which are at `start` plus the words of a register (locals), in place of 16 times `lanes`: does them and goes to `done`, or falls through, unless
   * 'always' says that it does not.
   */
  readonly all?: (f: Frame, register: number, start: number, q: QuadLocals, done: Label) => 'always' | undefined;
  /**
   * The active lanes of EXEC, which are at `start` plus the words of a register (locals), before they are gone over: whether anything is live there is not known, `pushIsPlain` leaves
   * 1 when all of them are in the window and the first and the last sum do not wrap. Of transfers that only look.
   */
  readonly masked?: (f: Frame, register: number, start: number, exec: number, pushIsPlain: () => void) => void;
  /** All lanes, in place of 16 times `contiguous` or `broadcast`: their elements fill `bytes` bytes from `a` on. */
  readonly wave?: (f: Frame, a: number, bytes: number) => void;
  /** Four lanes that all read the element at `a`. */
  readonly broadcast?: (f: Frame, a: number) => void;
  /** Word `n` of four lanes, the words following each other from `a + offset` (scratch). */
  readonly row?: (f: Frame, n: number, a: number, offset: number) => void;
  /** A narrow element of four lanes, `from` bytes into the dwords that follow each other from `a` on (scratch). */
  readonly narrow?: (f: Frame, a: number, from: number) => void;
  /** Piece `n` of a lane at `a + offset`. */
  move(f: Frame, n: number, a: number, offset: number): void;
  /** Piece `n` of a lane is out of a buffer's range: zero, or dropped. */
  skip(f: Frame, n: number): void;
  /** All pieces of a lane have been moved. */
  commit(f: Frame): void;
  /** All lanes have been gone over; of transfers that only look. */
  readonly finish?: (f: Frame) => void;
  /** Leaves what their function leaves then, in place of 1. */
  readonly result?: (f: Frame) => void;
  /** A lane makes the function leave; of transfers that only look. */
  readonly leave?: () => void;
}

/** Transposes four vectors (locals) in place: lane j of vector i becomes lane i of vector j. */
function transpose(code: Code, v: readonly number[]): void {
  const { fn } = code;
  const [a, b, c, d] = v as [number, number, number, number];
  const t = [0, 1, 2, 3].map(() => code.local('v128')) as [number, number, number, number];
  fn.get(a).get(b).shuffle32(0, 4, 1, 5).set(t[0]);
  fn.get(a).get(b).shuffle32(2, 6, 3, 7).set(t[1]);
  fn.get(c).get(d).shuffle32(0, 4, 1, 5).set(t[2]);
  fn.get(c).get(d).shuffle32(2, 6, 3, 7).set(t[3]);
  fn.get(t[0]).get(t[2]).shuffle32(0, 1, 4, 5).set(a);
  fn.get(t[0]).get(t[2]).shuffle32(2, 3, 6, 7).set(b);
  fn.get(t[1]).get(t[3]).shuffle32(0, 1, 4, 5).set(c);
  fn.get(t[1]).get(t[3]).shuffle32(2, 3, 6, 7).set(d);
  for (const local of t) fn.release('v128', local);
}

/** Which half of a register a narrow element goes to or comes from. */
export type Half = 'low' | 'high' | undefined;

/** Loads 1, 2, 4, 8, 12 or 16 bytes into registers. */
export function loadRegisters(bytes: number, signed: boolean, half: Half): Transfer {
  const words = Math.max(1, bytes / 4);
  const values: number[] = [];
  const vectors: number[] = [];
  const suffix = `${signed && bytes < 4 ? 's' : ''}${half ?? ''}`;
  const scalarLoad = bytes === 1 ? `i32.load8_${signed ? 's' : 'u'}` : `i32.load16_${signed ? 's' : 'u'}`;
  const store = (f: Frame, n: number, put: () => void): void => {
    f.code.fn.get(f.laneWord);
    put();
    f.code.fn.memory('v128.store', n * VGPR_BYTES);
  };
  /** An element on the stack in its half of the register, the other half zero: with SRAM ECC no part of a register is kept. */
  const placed = (f: Frame, put: () => void): void => {
    put();
    if (half === 'high') f.code.fn.i32(16).op('i32x4.shl');
    else if (half === 'low' && signed) f.code.fn.v128(0xffff, 0xffff, 0xffff, 0xffff).op('v128.and');
  };
  return {
    key: `load.${bytes}${suffix}`,
    isPlain: true,
    bytes,
    write: false,
    parameters: 0,
    piece: Math.min(4, bytes),
    pieces: words,
    ...(bytes < 4
      ? {
          narrow: (f: Frame, a: number, from: number) => {
            // The vector at the element itself has it lowest in each lane, below what is of the next dword.
            store(f, 0, () =>
              placed(f, () => {
                const above = 32 - 8 * bytes;
                f.code.fn.get(a).get(from).op('i32.add').memory('v128.load').i32(above).op('i32x4.shl');
                f.code.fn.i32(above).op(signed ? 'i32x4.shr_s' : 'i32x4.shr_u');
              }),
            );
          },
        }
      : {
          words,
          broadcast: (f: Frame, a: number) => {
            for (let n = 0; n < words; n++) store(f, n, () => f.code.fn.get(a).memory('v128.load32_splat', 4 * n));
          },
          row: (f: Frame, n: number, a: number, offset: number) => {
            store(f, n, () => f.code.fn.get(a).memory('v128.load', offset));
          },
        }),
    prologue: (f) => {
      for (let n = 0; n < words; n++) values[n] = f.code.local('i32');
      for (let n = 0; n < 4; n++) vectors[n] = f.code.local('v128');
    },
    contiguous: (f, a) => {
      const { fn } = f.code;
      const [v0, v1, v2] = vectors as [number, number, number];
      if (bytes === 1) {
        const sign = signed ? 's' : 'u';
        store(f, 0, () =>
          placed(f, () => {
            fn.get(a).memory('v128.load32_zero');
            fn.op(`i16x8.extend_low_i8x16_${sign}`).op(`i32x4.extend_low_i16x8_${sign}`);
          }),
        );
      } else if (bytes === 2) {
        store(f, 0, () => placed(f, () => fn.get(a).memory(`v128.load16x4_${signed ? 's' : 'u'}`)));
      } else if (bytes === 4) {
        store(f, 0, () => fn.get(a).memory('v128.load'));
      } else {
        for (let n = 0; n < words; n++) {
          fn.get(a)
            .memory('v128.load', 16 * n)
            .set(vectors[n] as number);
        }
        if (bytes === 8) {
          store(f, 0, () => fn.get(v0).get(v1).shuffle32(0, 2, 4, 6));
          store(f, 1, () => fn.get(v0).get(v1).shuffle32(1, 3, 5, 7));
        } else if (bytes === 12) {
          // x0 y0 z0 x1 | y1 z1 x2 y2 | z2 x3 y3 z3
          store(f, 0, () => fn.get(v0).get(v1).shuffle32(0, 3, 6, 6).get(v2).shuffle32(0, 1, 2, 5));
          store(f, 1, () => fn.get(v0).get(v1).shuffle32(1, 4, 7, 7).get(v2).shuffle32(0, 1, 2, 6));
          store(f, 2, () => fn.get(v0).get(v1).shuffle32(2, 5, 5, 5).get(v2).shuffle32(0, 1, 4, 7));
        } else {
          transpose(f.code, vectors);
          for (let n = 0; n < 4; n++) store(f, n, () => fn.get(vectors[n] as number));
        }
      }
    },
    scattered: (f, addresses) => {
      const { fn } = f.code;
      const [v0, v1] = vectors as [number, number];
      if (bytes < 4) {
        store(f, 0, () =>
          placed(f, () => {
            fn.v128(0, 0, 0, 0).set(v0);
            for (let i = 0; i < 4; i++) {
              fn.get(addresses[i] as number)
                .get(v0)
                .memoryLane(`v128.load${8 * bytes}_lane`, (i * 4) / bytes)
                .set(v0);
            }
            fn.get(v0);
            const above = 32 - 8 * bytes;
            if (signed) fn.i32(above).op('i32x4.shl').i32(above).op('i32x4.shr_s');
          }),
        );
      } else if (bytes === 4) {
        store(f, 0, () => {
          fn.get(addresses[0] as number).memory('v128.load32_zero');
          fn.set(v0);
          for (let i = 1; i < 4; i++)
            fn.get(addresses[i] as number)
              .get(v0)
              .memoryLane('v128.load32_lane', i)
              .set(v0);
          fn.get(v0);
        });
      } else if (bytes === 8) {
        for (const [v, first] of [
          [v0, 0],
          [v1, 2],
        ] as const) {
          fn.get(addresses[first] as number)
            .memory('v128.load64_zero')
            .set(v);
          fn.get(addresses[first + 1] as number)
            .get(v)
            .memoryLane('v128.load64_lane', 1)
            .set(v);
        }
        store(f, 0, () => fn.get(v0).get(v1).shuffle32(0, 2, 4, 6));
        store(f, 1, () => fn.get(v0).get(v1).shuffle32(1, 3, 5, 7));
      } else {
        for (let i = 0; i < 4; i++) {
          const a = addresses[i] as number;
          const v = vectors[i] as number;
          if (bytes === 16) fn.get(a).memory('v128.load').set(v);
          else {
            fn.get(a).memory('v128.load64_zero').set(v);
            fn.get(a).get(v).memoryLane('v128.load32_lane', 2, 8).set(v);
          }
        }
        transpose(f.code, vectors);
        for (let n = 0; n < words; n++) store(f, n, () => fn.get(vectors[n] as number));
      }
    },
    move: (f, n, a, offset) => {
      const { fn } = f.code;
      fn.get(a)
        .memory(bytes < 4 ? scalarLoad : 'i32.load', offset)
        .set(values[n] as number);
    },
    skip: (f, n) => {
      f.code.fn.i32(0).set(values[n] as number);
    },
    commit: (f) => {
      const { fn } = f.code;
      const [value] = values as [number];
      fn.get(f.laneWord);
      fn.get(value);
      if (half === 'high') fn.i32(16).op('i32.shl');
      else if (half === 'low') fn.i32(0xffff).op('i32.and');
      fn.memory('i32.store');
      for (let n = 1; n < words; n++)
        fn.get(f.laneWord)
          .get(values[n] as number)
          .memory('i32.store', n * VGPR_BYTES);
    },
  };
}

/** Stores 1, 2, 4, 8, 12 or 16 bytes from registers; a narrow element may come from the high half. */
export function storeRegisters(bytes: number, half: Half): Transfer {
  const words = Math.max(1, bytes / 4);
  const vectors: number[] = [];
  const first = half === 'high' ? 2 : 0;
  const load = (f: Frame, n: number): void => {
    f.code.fn.get(f.laneWord).memory('v128.load', n * VGPR_BYTES);
  };
  const scalarStore = bytes === 1 ? 'i32.store8' : bytes === 2 ? 'i32.store16' : 'i32.store';
  return {
    key: `store.${bytes}${half ?? ''}`,
    isPlain: true,
    bytes,
    write: true,
    parameters: 0,
    piece: Math.min(4, bytes),
    pieces: words,
    ...(bytes < 4
      ? {
          narrow: (f: Frame, a: number, from: number) => {
            const { fn } = f.code;
            const all = 2 ** (8 * bytes) - 1;
            const shift = f.code.local('i32');
            fn.get(from).i32(3).op('i32.shl').set(shift).get(a);
            load(f, 0);
            if (first !== 0) fn.i32(8 * first).op('i32x4.shr_u');
            fn.get(shift).op('i32x4.shl').get(a).memory('v128.load');
            fn.v128(all, all, all, all).get(shift).op('i32x4.shl').op(choosing()).memory('v128.store');
            fn.release('i32', shift);
          },
        }
      : {
          words,
          row: (f: Frame, n: number, a: number, offset: number) => {
            f.code.fn.get(a);
            load(f, n);
            f.code.fn.memory('v128.store', offset);
          },
        }),
    prologue: (f) => {
      for (let n = 0; n < 4; n++) vectors[n] = f.code.local('v128');
    },
    contiguous: (f, a) => {
      const { fn } = f.code;
      const [v0, v1, v2, v3] = vectors as [number, number, number, number];
      for (let n = 0; n < words; n++) {
        load(f, n);
        fn.set(vectors[n] as number);
      }
      fn.get(a);
      if (bytes < 4) {
        const picked = [0, 1, 2, 3].flatMap((i) =>
          bytes === 1 ? [4 * i + first] : [4 * i + first, 4 * i + first + 1],
        );
        fn.get(v0).get(v0);
        fn.shuffle(Array.from({ length: 16 }, (_, i) => picked[i] ?? 0));
        fn.memoryLane(bytes === 1 ? 'v128.store32_lane' : 'v128.store64_lane', 0);
      } else if (bytes === 4) {
        fn.get(v0).memory('v128.store');
      } else if (bytes === 8) {
        fn.get(v0).get(v1).shuffle32(0, 4, 1, 5).memory('v128.store');
        fn.get(a).get(v0).get(v1).shuffle32(2, 6, 3, 7).memory('v128.store', 16);
      } else if (bytes === 12) {
        fn.get(v0).get(v1).shuffle32(0, 4, 0, 1).get(v2).shuffle32(0, 1, 4, 3).memory('v128.store');
        fn.get(a).get(v1).get(v2).shuffle32(1, 5, 2, 2).get(v0).shuffle32(0, 1, 6, 2).memory('v128.store', 16);
        fn.get(a).get(v2).get(v0).shuffle32(2, 7, 3, 3).get(v1).shuffle32(0, 1, 7, 2).memory('v128.store', 32);
      } else {
        transpose(f.code, vectors);
        fn.get(v0).memory('v128.store').get(a).get(v1).memory('v128.store', 16);
        fn.get(a).get(v2).memory('v128.store', 32).get(a).get(v3).memory('v128.store', 48);
      }
    },
    scattered: (f, addresses) => {
      const { fn } = f.code;
      const [v0, v1] = vectors as [number, number];
      for (let n = 0; n < words; n++) {
        load(f, n);
        fn.set(vectors[n] as number);
      }
      if (bytes === 8) {
        const low = f.code.local('v128');
        fn.get(v0).get(v1).shuffle32(0, 4, 1, 5).set(low);
        fn.get(v0).get(v1).shuffle32(2, 6, 3, 7).set(v1);
        fn.get(low).set(v0);
        fn.release('v128', low);
      } else if (bytes > 8) transpose(f.code, vectors);
      for (let i = 0; i < 4; i++) {
        const a = addresses[i] as number;
        fn.get(a);
        if (bytes === 1) fn.get(v0).memoryLane('v128.store8_lane', 4 * i + first);
        else if (bytes === 2) fn.get(v0).memoryLane('v128.store16_lane', 2 * i + first / 2);
        else if (bytes === 4) fn.get(v0).memoryLane('v128.store32_lane', i);
        else if (bytes === 8) fn.get(i < 2 ? v0 : v1).memoryLane('v128.store64_lane', i & 1);
        else if (bytes === 16) fn.get(vectors[i] as number).memory('v128.store');
        else {
          fn.get(vectors[i] as number).memoryLane('v128.store64_lane', 0);
          fn.get(a)
            .get(vectors[i] as number)
            .memoryLane('v128.store32_lane', 2, 8);
        }
      }
    },
    move: (f, n, a, offset) => {
      const { fn } = f.code;
      fn.get(a)
        .get(f.laneWord)
        .memory('i32.load', n * VGPR_BYTES + first);
      fn.memory(scalarStore, offset);
    },
    skip: () => {},
    commit: () => {},
  };
}
