// DS read2 and write2: two elements of a lane at one address plus two offsets. `delta` is the second offset minus the first.
// Source: AMD CDNA3 ISA, chapter "Data Share", DS_READ2_B32 and relatives.
import { VGPR_BYTES, WAVE_VGPRS } from '../../state/layout.ts';
import { type Frame, loadRegisters, type Transfer } from './transfer.ts';

/** Two elements into consecutive registers; the extra parameter is delta. */
export function loadPair(bytes: number): Transfer {
  const first = loadRegisters(bytes, false, undefined);
  const second = loadRegisters(bytes, false, undefined);
  const words = bytes / 4;
  let laneWord = 0;
  let other = 0;
  const moved = [0, 0, 0, 0];
  const secondFrame = (f: Frame): Frame => {
    f.code.fn
      .get(f.laneWord)
      .i32(words * VGPR_BYTES)
      .op('i32.add')
      .set(laneWord);
    return { ...f, laneWord };
  };
  const shift = (f: Frame, a: number, to: number): void => {
    const [delta] = f.extra as [number];
    f.code.fn.get(a).get(delta).op('i32.add').set(to);
  };
  return {
    key: `load2.${bytes}`,
    bytes,
    write: false,
    parameters: 1,
    isPair: true,
    piece: 4,
    pieces: 2 * words,
    prologue: (f) => {
      laneWord = f.code.local('i32');
      other = f.code.local('i32');
      for (let i = 0; i < 4; i++) moved[i] = f.code.local('i32');
      first.prologue(f);
      second.prologue(f);
    },
    contiguous: (f, a) => {
      shift(f, a, other);
      first.contiguous(f, a);
      second.contiguous(secondFrame(f), other);
    },
    scattered: (f, addresses) => {
      addresses.forEach((a, i) => {
        shift(f, a, moved[i] as number);
      });
      first.scattered(f, addresses);
      second.scattered(secondFrame(f), moved);
    },
    move: (f, n, a) => {
      if (n < words) return first.move(f, n, a, 4 * n);
      shift(f, a, other);
      second.move(f, n - words, other, 4 * (n - words));
    },
    skip: () => {},
    commit: (f) => {
      first.commit(f);
      second.commit(secondFrame(f));
    },
  };
}

/** Two elements out of two data registers; the extra parameters are delta and the second register's place in the wave block. */
export function storePair(bytes: number): Transfer {
  const words = bytes / 4;
  let laneWord = 0;
  const vectors: number[] = [];
  const moved = [0, 0, 0, 0];
  const locateSecond = (f: Frame): void => {
    const [, data1] = f.extra as [number, number];
    f.code.fn.get(f.wave).get(data1).op('i32.add').get(f.at).op('i32.add').set(laneWord);
  };
  /** The vectors of elements `which`, two lanes of 8 bytes or four of 4 in each. */
  const read = (f: Frame, which: number): void => {
    const { fn } = f.code;
    const from = which === 0 ? f.laneWord : laneWord;
    const v = vectors[2 * which] as number;
    const w = vectors[2 * which + 1] as number;
    fn.get(from).memory('v128.load').set(v);
    if (words === 1) return;
    const t = vectors[4] as number;
    fn.get(from).memory('v128.load', VGPR_BYTES).set(w);
    fn.get(v).get(w).shuffle32(0, 4, 1, 5).set(t);
    fn.get(v).get(w).shuffle32(2, 6, 3, 7).set(w);
    fn.get(t).set(v);
  };
  const scattered = (f: Frame, addresses: readonly number[]): void => {
    const { fn } = f.code;
    const [delta] = f.extra as [number];
    locateSecond(f);
    read(f, 0);
    read(f, 1);
    // Lane by lane: where lanes overlap, the later lane's element stays.
    addresses.forEach((a, i) => {
      for (const which of [0, 1]) {
        fn.get(a);
        if (which === 1) fn.get(delta).op('i32.add');
        if (words === 1) fn.get(vectors[2 * which] as number).memoryLane('v128.store32_lane', i);
        else fn.get(vectors[2 * which + (i >> 1)] as number).memoryLane('v128.store64_lane', i & 1);
      }
    });
  };
  return {
    key: `store2.${bytes}`,
    bytes,
    write: true,
    parameters: 2,
    isPair: true,
    piece: 4,
    pieces: 2 * words,
    prologue: (f) => {
      laneWord = f.code.local('i32');
      for (let n = 0; n < 5; n++) vectors[n] = f.code.local('v128');
      for (let i = 0; i < 4; i++) moved[i] = f.code.local('i32');
    },
    contiguous: (f, a) => {
      for (let i = 0; i < 4; i++)
        f.code.fn
          .get(a)
          .i32(i * bytes)
          .op('i32.add')
          .set(moved[i] as number);
      scattered(f, moved);
    },
    scattered,
    move: (f, n, a) => {
      const { fn } = f.code;
      const [delta] = f.extra as [number];
      locateSecond(f);
      fn.get(a);
      if (n >= words) fn.get(delta).op('i32.add');
      fn.get(n < words ? f.laneWord : laneWord).memory('i32.load', (n % words) * VGPR_BYTES);
      fn.memory('i32.store', 4 * (n % words));
    },
    skip: () => {},
    commit: () => {},
  };
}

/** Place of a vector register (index over VGPRs and AGPRs) in the wave block. */
export function registerAt(index: number): number {
  return WAVE_VGPRS + index * VGPR_BYTES;
}
