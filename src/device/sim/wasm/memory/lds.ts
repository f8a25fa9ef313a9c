// How LDS instructions find their lanes' addresses. Source: AMD CDNA3 ISA, "Data Share".
import { WAVE_LDS_BASE, WAVE_LDS_BYTES } from '../../state/layout.ts';
import type { Label } from './code.ts';
import { type BoundMode, locate, type Mode, word } from './mode.ts';
import { extentFunction, scatters, scatterWave } from './scatter.ts';
import type { Frame, Transfer } from './transfer.ts';
import { byStride, canBeOne, wholeWave } from './whole-wave.ts';
import { adjacent, moveLane, progressionFunction, pushSome, quadLocals } from './window.ts';

/**
 * DS addressing: a 32-bit register plus a constant, modulo 2^32 (compilers fold a positive constant onto a negative base), checked
 * against the workgroup's LDS. The second element of a pair is `delta`, its first transfer parameter, further on.
 */
export const ldsMode: Mode = {
  key: 'ds',
  parameters: ['i32', 'i32'],
  bind: (f, t, [register, offset]) => bindLds(f, t, register as number, offset as number),
};

function bindLds(f: Frame, t: Transfer, register: number, offset: number): BoundMode {
  const { code, module } = f;
  const { fn } = code;
  locate(f, register);
  const base = code.local('i32');
  const limit = code.local('i32');
  const a = code.local('i32');
  const most = code.local('i32');
  const q = quadLocals(code);
  const [delta] = f.extra;
  const { broadcast } = t;
  const starts: readonly (number | undefined)[] = t.isPair ? [undefined, delta] : [undefined];
  // Largest offset that is in range; negative when there is none.
  fn.get(f.wave).memory('i32.load', WAVE_LDS_BYTES).i32(t.bytes).op('i32.sub').set(limit);
  fn.get(f.wave).memory('i32.load', WAVE_LDS_BASE).set(base);
  /** Leaves 1 when the elements of a lane, `more` bytes after those at `a`, are in range. */
  const inRange = (more: number): void => {
    fn.get(limit).i32(0).op('i32.ge_s');
    for (const further of starts) {
      fn.get(a);
      if (further !== undefined) fn.get(further).op('i32.add');
      if (more !== 0) fn.i32(more).op('i32.add');
      fn.get(limit).op('i32.le_u').op('i32.and');
    }
  };
  const whole = (stride: number, done: Label): void => {
    fn.get(register).i32(stride).call(progressionFunction(module, false));
    fn.get(register).memory('i32.load').get(offset).op('i32.add').set(a);
    // Lane 0 and lane 63 in range: with LDS far smaller than 2^32 so are those between.
    inRange(0);
    fn.op('i32.and');
    if (stride !== 0) {
      inRange(63 * stride);
      fn.op('i32.and');
    }
    code.if(() => {
      fn.get(a).get(base).op('i32.add').tee(a);
      wholeWave(f, t, a, done, stride === 0);
    });
  };
  /** Lanes at places of their own; those that share rows go by fours, which then are one read. */
  const scattered = (done: Label): void => {
    fn.get(register).get(offset).call(extentFunction(module)).set(most).set(a);
    inRange(0);
    fn.get(most).set(a);
    inRange(0);
    fn.op('i32.and');
    code.if(() => {
      fn.get(base).get(offset).op('i32.add').set(a);
      scatterWave(f, t, register, a, q);
      code.br(done);
    });
  };
  /** Leaves 1 when the elements of the lanes at the addresses in `low` are in range. */
  const areInRange = (): void => {
    fn.get(limit).i32(0).op('i32.ge_s');
    for (const further of starts) {
      fn.get(q.low);
      if (further !== undefined) fn.get(further).op('i32x4.splat').op('i32x4.add');
      fn.get(limit).op('i32x4.splat').op('i32x4.le_u').op('i32x4.all_true').op('i32.and');
    }
  };
  const someOf = (): Pick<BoundMode, 'some'> => {
    const { lanes } = t;
    if (lanes === undefined) return {};
    return {
      some: (next, bits) => {
        pushSome(f, register, bits);
        fn.get(offset).op('i32x4.splat').op('i32x4.add').set(q.low);
        areInRange();
        code.if(() => {
          fn.get(q.low).get(base).op('i32x4.splat').op('i32x4.add').set(q.low);
          lanes(f, q.low, bits);
          code.br(next);
        });
      },
    };
  };
  return {
    full: (done) =>
      byStride(f, register, t.bytes, {
        ascending: () => whole(t.bytes, done),
        same: canBeOne(t) ? () => whole(0, done) : undefined,
        other: (stride) => {
          if (!scatters(t)) return;
          if (broadcast === undefined) scattered(done);
          else {
            fn.get(stride);
            code.if(() => scattered(done));
          }
        },
      }),
    quad: (next) => {
      fn.get(register).get(f.at).op('i32.add').memory('v128.load').get(offset).op('i32x4.splat').op('i32x4.add');
      fn.set(q.low);
      areInRange();
      code.if(() => {
        const [first] = q.addresses;
        fn.get(q.low).get(base).op('i32x4.splat').op('i32x4.add').tee(q.low).lane('i32x4.extract_lane', 0).set(first);
        adjacent(fn, q.low, first, t.bytes);
        code.if(
          () => t.contiguous(f, first),
          () => {
            // Tiles of products: several lanes use one row.
            if (broadcast !== undefined) {
              fn.get(q.low).get(first).op('i32x4.splat').op('i32x4.eq').op('i32x4.all_true');
              code.if(() => {
                broadcast(f, first);
                code.br(next);
              });
            }
            if (t.lanes !== undefined) t.lanes(f, q.low);
            else {
              for (let i = 1; i < 4; i++)
                fn.get(q.low)
                  .lane('i32x4.extract_lane', i)
                  .set(q.addresses[i] as number);
              t.scattered(f, q.addresses);
            }
          },
        );
        code.br(next);
      });
    },
    ...someOf(),
    lane: () => {
      word(f, register);
      fn.get(offset).op('i32.add').set(a);
      inRange(0);
      fn.op('i32.eqz');
      code.if(() => f.resume());
      fn.get(a).get(base).op('i32.add').set(a);
      moveLane(f, t, a, 4);
    },
  };
}
