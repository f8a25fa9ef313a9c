// Buffer addressing: descriptor in four scalar registers, index and offset in vector registers, range checks per dword.
// Source: AMD CDNA3 ISA, "Memory Buffer Addressing", "Range checking", "Swizzled buffer addressing".

import { gpuWindow, VGPR_BYTES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { locateFunction } from './mapped.ts';
import type { BoundMode, Mode } from './mode.ts';
import { offsetQuad, offsetWave } from './modes.ts';
import { movePart } from './scatter.ts';
import { hasSwizzledWave, inDwords, type Swizzled, swizzledLane, swizzledQuad, swizzledWave } from './scratch.ts';
import type { Frame, Transfer } from './transfer.ts';
import { canBeOne, moveOne } from './whole-wave.ts';
import { checkPage, moveLane, progressionFunction, quadLocals } from './window.ts';

/** Bits of the descriptor's words 1 and 3. */
const ADD_THREAD_ID = 1 << 23;
const INDEX_STRIDE_AT = 21;
const SWIZZLED_BY_LANE = ADD_THREAD_ID | (3 << INDEX_STRIDE_AT);
/** Largest offset of the swizzled quick path: 64 times as much stays below 2^31. */
const LARGEST_SWIZZLED = 0x1000000n;

/**
 * (descriptor address, index or -1 when the instruction has none, offset, soffset, bytes, lane) -> address, or -1 out of range.
 * The same rules as `bufferAddress` of the interpreter.
 */
function addressFunction(module: WasmModule): WasmFunction {
  return module.helper('memory.buffer.address', ['i32', 'i64', 'i64', 'i64', 'i64', 'i32'], ['i64'], (fn) => {
    const [resource, vindex, offset, soffset, bytes, lane] = [0, 1, 2, 3, 4, 5] as const;
    const index = fn.local('i64');
    const stride = fn.local('i64');
    const records = fn.local('i64');
    const start = fn.local('i64');
    const log = fn.local('i64');
    const constant = (value: number): WasmFunction => fn.i64(BigInt(value));
    fn.get(resource).memory('i32.load').op('i64.extend_i32_u');
    fn.get(resource).memory('i64.load16_u', 4);
    constant(32).op('i64.shl').op('i64.or').get(soffset).op('i64.add').set(start);
    fn.get(resource).memory('i64.load16_u', 6);
    constant(0x3fff).op('i64.and').set(stride);
    fn.get(resource).memory('i64.load32_u', 8).set(records);
    // index = vindex (0 when there is none) + lane when the descriptor adds the thread id
    constant(0).get(vindex).get(vindex);
    constant(0).op('i64.lt_s').select();
    fn.get(lane).op('i64.extend_i32_u');
    constant(0).get(resource).memory('i32.load', 12).i32(ADD_THREAD_ID).op('i32.and').select();
    fn.op('i64.add').set(index);
    fn.get(resource).memory('i32.load', 4).i32(0).op('i32.ge_s').if('i64');
    // Linear: a structured access checks its index, any other its byte offset.
    fn.get(index).get(stride).op('i64.mul').get(offset).op('i64.add').set(offset);
    fn.get(stride).op('i64.eqz').get(vindex);
    constant(0).op('i64.lt_s').op('i32.or').if('i32');
    fn.get(offset).get(bytes).op('i64.add').get(records).get(soffset).op('i64.sub').op('i64.gt_s');
    fn.else().get(index).get(records).op('i64.ge_u').end().if('i64');
    constant(-1);
    fn.else().get(start).get(offset).op('i64.add').end();
    fn.else();
    // Swizzled: elements of four bytes, index stride 8, 16, 32 or 64.
    fn.get(stride).op('i64.eqz').if('i32');
    // In a private segment offsets wrap (bufferAddress in spaces.ts).
    fn.get(offset);
    constant(0xffffffff).op('i64.and').get(offset);
    fn.get(resource).memory('i32.load', 12).i32(ADD_THREAD_ID).op('i32.and').select().set(offset);
    fn.get(offset).get(bytes).op('i64.add').get(records).op('i64.gt_u');
    fn.else().get(index).get(records).op('i64.ge_u').end().if('i64');
    constant(-1);
    fn.else();
    fn.get(resource).memory('i64.load32_u', 12);
    constant(INDEX_STRIDE_AT).op('i64.shr_u');
    constant(3).op('i64.and');
    constant(3).op('i64.add').set(log);
    fn.get(index).get(log).op('i64.shr_u').get(stride).op('i64.mul').get(offset);
    constant(-4).op('i64.and').op('i64.add').get(log).op('i64.shl');
    fn.get(index);
    constant(1).get(log).op('i64.shl');
    constant(1).op('i64.sub').op('i64.and');
    constant(2).op('i64.shl').op('i64.add').get(offset);
    constant(3).op('i64.and').op('i64.add').get(start).op('i64.add');
    fn.end().end();
  });
}

/** Sets `a` to the wasm offset of `bytes` live bytes at a 64-bit address, or leaves it to the interpreter. */
function liveOffset(f: Frame, t: Transfer, address: number, a: number, bytes: number): void {
  const { code, module } = f;
  const { fn } = code;
  fn.get(address).op('i32.wrap_i64').set(a);
  fn.get(address).i64(32n).op('i64.shr_u').i64(BigInt(gpuWindow.high)).op('i64.eq');
  checkPage(fn, a, bytes, t.write);
  fn.op('i32.and').op('i32.eqz');
  code.if(() => {
    fn.get(f.wave)
      .get(address)
      .i32(bytes)
      .call(locateFunction(module, t.write, t.isAtomic !== undefined))
      .tee(a)
      .op('i32.eqz');
    code.if(() => f.resume());
  });
}

/** Parameters: first address register, place of the descriptor in the wave block, soffset, constant offset. */
export function bufferMode(idxen: boolean, offen: boolean): Mode {
  return {
    key: `buffer${idxen ? '.index' : ''}${offen ? '.offset' : ''}`,
    parameters: ['i32', 'i32', 'i32', 'i32'],
    bind: (f, t, parameters) => bindBuffer(f, t, parameters as readonly [number, number, number, number], idxen, offen),
  };
}

function bindBuffer(
  f: Frame,
  t: Transfer,
  [register, resource, soffset, constant]: readonly [number, number, number, number],
  idxen: boolean,
  offen: boolean,
): BoundMode {
  const { code, module } = f;
  const { fn } = code;
  const offsets = code.local('i32');
  const linear = code.local('i32');
  const quick = code.local('i32');
  const perLane = code.local('i32');
  const start = code.local('i32');
  const largest = code.local('i32');
  const offset = code.local('i32');
  const base = code.local('i64');
  const room = code.local('i64');
  const low = code.local('i32');
  const limit = code.local('i32');
  const outside = code.local('i32');
  const a = code.local('i32');
  const q = quadLocals(code);
  const address = code.local('i64');

  fn.get(f.wave).get(register).op('i32.add').set(register);
  fn.get(register)
    .i32(idxen ? VGPR_BYTES : 0)
    .op('i32.add')
    .set(offsets);
  fn.get(f.wave).get(resource).op('i32.add').set(resource);
  // base = descriptor base + soffset + constant; room = num_records - soffset - constant - bytes of an element
  fn.get(resource).memory('i64.load').i64(0xffffffffffffn).op('i64.and');
  fn.get(soffset).op('i64.extend_i32_u').op('i64.add').get(constant).op('i64.extend_i32_u').op('i64.add').tee(base);
  fn.op('i32.wrap_i64').set(low);
  fn.get(resource).memory('i64.load32_u', 8).get(soffset).op('i64.extend_i32_u').op('i64.sub');
  fn.get(constant).op('i64.extend_i32_u').op('i64.sub').i64(BigInt(t.bytes)).op('i64.sub').tee(room);
  fn.op('i32.wrap_i64').tee(limit);
  fn.i32(t.bytes - t.piece)
    .op('i32.add')
    .set(outside);
  // The quick paths take linear buffers without index arithmetic, with room for one element; but for whole wavefronts in the window.
  fn.get(room).i64(0n).op('i64.ge_s');
  fn.get(resource).memory('i32.load', 12).i32(ADD_THREAD_ID).op('i32.and').op('i32.eqz').op('i32.and');
  fn.get(resource).memory('i32.load', 4).i32(0).op('i32.ge_s').op('i32.and');
  if (idxen) fn.get(resource).memory('i32.load', 4).i32(0x3fff0000).op('i32.and').op('i32.eqz').op('i32.and');
  fn.tee(linear);
  fn.get(base).i64(32n).op('i64.shr_u').i64(BigInt(gpuWindow.high)).op('i64.eq').op('i32.and').set(quick);

  // So do the private segments of gfx90a: swizzled by thread id with index stride 64, no index, no stride.
  if (!idxen) {
    fn.get(resource).memory('i32.load', 12).i32(SWIZZLED_BY_LANE).op('i32.and').i32(SWIZZLED_BY_LANE).op('i32.eq');
    fn.get(resource).memory('i32.load', 4).i32(-0x10000).op('i32.and').i32(-0x80000000).op('i32.eq').op('i32.and');
    fn.get(base).get(constant).op('i64.extend_i32_u').op('i64.sub').i64(32n).op('i64.shr_u');
    fn.i64(BigInt(gpuWindow.high)).op('i64.eq').op('i32.and').set(perLane);
    fn.get(low).get(constant).op('i32.sub').set(start);
    // The largest offset: not beyond num_records, and small enough that nothing wraps.
    fn.get(resource).memory('i64.load32_u', 8).i64(BigInt(t.bytes)).op('i64.sub').tee(room);
    fn.i64(LARGEST_SWIZZLED).get(room).i64(LARGEST_SWIZZLED).op('i64.lt_s').select().op('i32.wrap_i64').set(largest);
    fn.get(perLane).get(largest).i32(0).op('i32.ge_s').op('i32.and').set(perLane);
  }
  const swizzled: Swizzled = { offset, base: start, a };
  /** Sets `offset` to the sum of the value on the stack and the constant, and leaves 1 when it is a swizzled offset in range. */
  const swizzledOffset = (): void => {
    fn.tee(offset).get(largest).op('i32.le_u');
    fn.get(offset).get(constant).op('i32.add').tee(offset).get(largest).op('i32.le_u').op('i32.and');
    inDwords(f, t, offset);
    fn.op('i32.and').get(perLane).op('i32.and');
  };

  const pieceAddress = (n: number): void => {
    fn.get(resource);
    if (idxen) fn.get(register).get(f.at).op('i32.add').memory('i64.load32_u');
    else fn.i64(-1n);
    if (offen) fn.get(offsets).get(f.at).op('i32.add').memory('i64.load32_u');
    else fn.i64(0n);
    fn.get(constant)
      .op('i64.extend_i32_u')
      .op('i64.add')
      .i64(BigInt(4 * n))
      .op('i64.add');
    fn.get(soffset).op('i64.extend_i32_u').i64(BigInt(t.piece));
    fn.get(f.at).i32(2).op('i32.shr_u').call(addressFunction(module)).set(address);
  };
  return {
    full: (done) => {
      fn.get(offen ? linear : quick);
      code.if(() => {
        if (offen) {
          offsetWave(f, t, { register: offsets, base, low, limit, inWindow: () => fn.get(quick), a, q }, done);
          if (t.isPlain) {
            fn.get(quick);
            code.if(() => movePart(f, t, offsets, { start: low, limit, outside }, q, done));
          }
          return;
        }
        if (!canBeOne(t)) return;
        checkPage(fn, low, t.bytes, t.write);
        code.if(() => moveOne(f, t, low, done));
      });
      if (idxen || t.isAtomic || !hasSwizzledWave(t)) return;
      if (offen) fn.get(offsets).i32(0).call(progressionFunction(module, false)).get(offsets).memory('i32.load');
      else fn.i32(1).i32(0);
      swizzledOffset();
      fn.op('i32.and');
      code.if(() => swizzledWave(f, t, swizzled, done));
    },
    quad: (next) => {
      fn.get(quick);
      code.if(() => {
        if (offen) fn.get(offsets).get(f.at).op('i32.add').memory('v128.load');
        else fn.v128(0, 0, 0, 0);
        fn.tee(q.low).get(limit).op('i32x4.splat').op('i32x4.le_u').op('i32x4.all_true');
        code.if(
          () => {
            fn.get(q.low);
            offsetQuad(f, t, q, low, next);
          },
          () => {
            // Four lanes wholly out of range, as kernels make them on purpose.
            fn.get(q.low).get(outside).op('i32x4.splat').op('i32x4.gt_u').op('i32x4.all_true');
            code.if(() => {
              for (let lane = 0; lane < 4; lane++) {
                for (let n = 0; n < t.pieces; n++) t.skip(f, n);
                t.commit(f);
                if (lane === 3) break;
                fn.get(f.at).i32(4).op('i32.add').set(f.at);
                fn.get(f.laneWord).i32(4).op('i32.add').set(f.laneWord);
              }
              code.br(next);
            });
          },
        );
      });
      if (idxen || t.isAtomic) return;
      if (offen) {
        fn.get(offsets).get(f.at).op('i32.add').memory('v128.load').tee(q.low).lane('i32x4.extract_lane', 0);
        swizzledOffset();
        fn.get(q.low).get(q.low).lane('i32x4.extract_lane', 0).op('i32x4.splat').op('i32x4.eq').op('i32x4.all_true');
        fn.op('i32.and');
      } else {
        fn.i32(0);
        swizzledOffset();
      }
      code.if(() => swizzledQuad(f, t, swizzled, next));
    },
    lane: () => {
      code.block((moved) => {
        fn.get(quick);
        code.if(() => {
          if (offen) fn.get(offsets).get(f.at).op('i32.add').memory('i32.load');
          else fn.i32(0);
          fn.tee(offset).get(limit).op('i32.le_u');
          fn.get(offset).get(low).op('i32.add').tee(a).get(low).op('i32.ge_u').op('i32.and');
          checkPage(fn, a, t.bytes, t.write);
          fn.op('i32.and');
          code.if(() => {
            moveLane(f, t, a, 4);
            code.br(moved);
          });
          fn.get(offset).get(outside).op('i32.gt_u');
          code.if(() => {
            for (let n = 0; n < t.pieces; n++) t.skip(f, n);
            t.commit(f);
            code.br(moved);
          });
        });
        if (!idxen && t.isAtomic === undefined) {
          if (offen) fn.get(offsets).get(f.at).op('i32.add').memory('i32.load');
          else fn.i32(0);
          swizzledOffset();
          code.if(() => swizzledLane(f, t, swizzled, moved));
        }
        if (t.piece > 1) {
          // A piece of a swizzled buffer that straddles dwords goes on in another row: the interpreter moves its bytes.
          pieceAddress(0);
          fn.get(address)
            .op('i32.wrap_i64')
            .i32(3)
            .op('i32.and')
            .i32(4 - t.piece)
            .op('i32.gt_u');
          fn.get(resource).memory('i32.load', 4).i32(0).op('i32.lt_s').op('i32.and');
          code.if(() => f.resume());
        }
        for (let n = 0; n < t.pieces; n++) {
          pieceAddress(n);
          fn.get(address).i64(0n).op('i64.lt_s');
          code.if(
            () => t.skip(f, n),
            () => {
              liveOffset(f, t, address, a, t.piece);
              t.move(f, n, a, 0);
            },
          );
        }
        t.commit(f);
      });
    },
  };
}
