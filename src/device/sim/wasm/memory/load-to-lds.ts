// Loads from memory into LDS: what a lane reads goes to a place that M0 and its number decide.
// Source: AMD CDNA3 ISA, "Memory Buffer Load to LDS"; CDNA4 ISA for 12 and 16 bytes.
import { WAVE_LDS_BASE, WAVE_LDS_BYTES } from '../../state/layout.ts';
import { M0_AT } from './frame.ts';
import type { Frame, Transfer } from './transfer.ts';

/** Vectors that are read before any of them is written: a store would hold up loads whose addresses share its low bits. */
const AT_ONCE = 4;

/** Puts the elements of all lanes, which follow each other from `a` on, to `to`: narrow ones as dwords. */
function putWave({ code }: Frame, a: number, to: number, bytes: number, signed: boolean): void {
  const { fn } = code;
  const sign = signed ? 's' : 'u';
  const vectors = Array.from({ length: AT_ONCE }, () => code.local('v128'));
  const halves = ['low', 'high'] as const;
  const put = (vector: number, n: number, widen: readonly string[]): void => {
    fn.get(to).get(vector);
    for (const op of widen) fn.op(op);
    fn.memory('v128.store', 16 * n);
  };
  for (let n = 0; n < 4 * bytes; n += AT_ONCE) {
    const some = vectors.slice(0, 4 * bytes - n);
    for (const [k, vector] of some.entries())
      fn.get(a)
        .memory('v128.load', 16 * (n + k))
        .set(vector);
    for (const [k, vector] of some.entries()) {
      const at = n + k;
      if (bytes >= 4) put(vector, at, []);
      else if (bytes === 2)
        for (const [half, which] of halves.entries())
          put(vector, 2 * at + half, [`i32x4.extend_${which}_i16x8_${sign}`]);
      else
        for (const [high, which] of halves.entries())
          for (const [half, whose] of halves.entries())
            put(vector, 4 * at + 2 * high + half, [
              `i16x8.extend_${which}_i8x16_${sign}`,
              `i32x4.extend_${whose}_i16x8_${sign}`,
            ]);
    }
  }
}

/** Loads into LDS at M0 + the extra parameter + lane × the element size (at least a dword). */
export function loadToLds(bytes: number, signed: boolean): Transfer {
  const words = Math.max(1, bytes / 4);
  const step = Math.max(4, bytes);
  const values: number[] = [];
  let start = 0;
  let target = 0;
  /** Sets `target` to the LDS address of the current lane. */
  const locate = (f: Frame): void => {
    f.code.fn
      .get(f.at)
      .i32(step / 4)
      .op('i32.mul')
      .get(start)
      .op('i32.add')
      .set(target);
  };
  return {
    key: `lds.${bytes}${signed && bytes < 4 ? 's' : ''}`,
    bytes,
    write: false,
    parameters: 1,
    piece: Math.min(4, bytes),
    pieces: words,
    prologue: (f) => {
      const { fn } = f.code;
      for (let n = 0; n < words; n++) values[n] = f.code.local('i32');
      start = f.code.local('i32');
      target = f.code.local('i32');
      const [offset] = f.extra as [number];
      // All 64 lanes inside the workgroup's LDS, or the interpreter does it.
      const limit = f.code.local('i32');
      fn.get(f.wave)
        .memory('i32.load', WAVE_LDS_BYTES)
        .i32(64 * step)
        .op('i32.sub')
        .tee(limit);
      fn.i32(0).op('i32.lt_s');
      fn.get(f.wave).memory('i32.load', M0_AT).tee(start).get(f.wave).memory('i32.load', WAVE_LDS_BYTES).op('i32.gt_u');
      fn.op('i32.or').get(start).get(offset).op('i32.add').tee(start).get(limit).op('i32.gt_u').op('i32.or');
      f.code.if(() => f.resume());
      fn.get(start).get(f.wave).memory('i32.load', WAVE_LDS_BASE).op('i32.add').set(start);
    },
    wave: (f, a) => putWave(f, a, start, bytes, signed),
    contiguous: (f, a) => {
      const { fn } = f.code;
      locate(f);
      fn.get(target);
      if (bytes === 1) {
        const sign = signed ? 's' : 'u';
        fn.get(a).memory('v128.load32_zero');
        fn.op(`i16x8.extend_low_i8x16_${sign}`).op(`i32x4.extend_low_i16x8_${sign}`);
        fn.memory('v128.store');
      } else if (bytes === 2) {
        fn.get(a)
          .memory(`v128.load16x4_${signed ? 's' : 'u'}`)
          .memory('v128.store');
      } else {
        fn.get(a).memory('v128.load').memory('v128.store');
        for (let n = 1; n < words; n++)
          fn.get(target)
            .get(a)
            .memory('v128.load', 16 * n)
            .memory('v128.store', 16 * n);
      }
    },
    scattered: (f, addresses) => {
      const { fn } = f.code;
      locate(f);
      for (let i = 0; i < 4; i++) {
        const a = addresses[i] as number;
        const at = i * step;
        fn.get(target).get(a);
        if (bytes < 4) fn.memory(`i32.load${8 * bytes}_${signed ? 's' : 'u'}`).memory('i32.store', at);
        else if (bytes === 16) fn.memory('v128.load').memory('v128.store', at);
        else if (bytes === 4) fn.memory('i32.load').memory('i32.store', at);
        else {
          fn.memory('i64.load').memory('i64.store', at);
          if (bytes === 12)
            fn.get(target)
              .get(a)
              .memory('i32.load', 8)
              .memory('i32.store', at + 8);
        }
      }
    },
    move: (f, n, a, offset) => {
      const { fn } = f.code;
      fn.get(a)
        .memory(bytes < 4 ? `i32.load${8 * bytes}_${signed ? 's' : 'u'}` : 'i32.load', offset)
        .set(values[n] as number);
    },
    skip: (f, n) => {
      f.code.fn.i32(0).set(values[n] as number);
    },
    commit: (f) => {
      locate(f);
      for (let n = 0; n < words; n++)
        f.code.fn
          .get(target)
          .get(values[n] as number)
          .memory('i32.store', 4 * n);
    },
  };
}
