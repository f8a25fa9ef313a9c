// Looks at accesses of scratch in compiled code: the bits of the bytes that a workgroup has written there. A lane's scratch is its own, so there is nobody to race
// with; lanes are mostly at one offset, where each dword of all lanes is a row.
import { Slot } from '../../../../program/index.ts';
import { gpuWindow, LANES, VGPR_BYTES, WAVE_SCRATCH_BASE, WAVE_SCRATCH_BYTES } from '../../state/layout.ts';
import { EXEC, FLAT_SCRATCH } from '../../state/wave.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import {
  ARE_OF_SCRATCH,
  MISSING_DWORDS,
  MISSING_LANES,
  MISSING_OFFSETS,
  SHADOW_MISSING,
  SHADOW_ORIGINS,
  SHADOW_SCALARS,
  SHADOW_SCRATCH,
  SHADOW_SCRATCH_ORIGINS,
  VECTOR_BYTES,
} from '../registers/shadow-layout.ts';

/** Bits of a descriptor's last word: it adds the thread id, and has index stride 64. */
const SWIZZLED_BY_LANE = (1 << 23) | (3 << 21);
/** Bytes of the bits of a row: four bits for each lane's dword. */
const ROW_BITS = LANES / 2;
/** Bytes of bits in a vector. */
const VECTOR = 16;

/** (shadow, wave) → where the wavefront's scratch is by its flat_scratch; 0 where that is not what it began with: programs may have it elsewhere, or not know where it is. */
export function flatScratchFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.scratch.flat', ['i32', 'i32'], ['i32'], (fn) => {
    const [shadow, wave] = [0, 1] as const;
    const word = (n: number): WasmFunction => fn.get(wave).memory('i32.load', 4 * FLAT_SCRATCH + 4 * n);
    word(1).i32(gpuWindow.high).op('i32.eq');
    word(0).get(wave).memory('i32.load', WAVE_SCRATCH_BASE).op('i32.eq').op('i32.and');
    fn.get(shadow).memory('i32.load', SHADOW_SCALARS + 4 * (Slot.FLAT_SCRATCH >>> 5));
    fn.i32(Slot.FLAT_SCRATCH & 31)
      .op('i32.shr_u')
      .op('i32.and')
      .if('i32');
    word(0).else().i32(0).end();
  });
}

/**
 * (wave, place of a descriptor in the wave block, soffset) → where lane 0's first dword is when the buffer is the wavefront's scratch, as gfx90a has it: swizzled by thread
 * id with index stride 64, no stride. 0 for other buffers. Source: LLVM AMDGPUUsage, "Private Segment Buffer".
 */
export function bufferScratchFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.scratch.buffer', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [wave, resource, soffset] = [0, 1, 2] as const;
    const base = fn.local('i32');
    const word = (n: number): WasmFunction =>
      fn
        .get(wave)
        .get(resource)
        .op('i32.add')
        .memory('i32.load', 4 * n);
    word(1)
      .i32(0x80000000 | (gpuWindow.high & 0xffff))
      .op('i32.eq');
    word(3).i32(SWIZZLED_BY_LANE).op('i32.and').i32(SWIZZLED_BY_LANE).op('i32.eq').op('i32.and');
    word(2).get(wave).memory('i32.load', WAVE_SCRATCH_BYTES).op('i32.ge_u').op('i32.and');
    word(0).get(soffset).op('i32.add').set(base);
    fn.get(base)
      .get(wave)
      .memory('i32.load', WAVE_SCRATCH_BASE)
      .op('i32.sub')
      .i32(VGPR_BYTES - 1)
      .op('i32.and');
    fn.op('i32.eqz').op('i32.and');
    fn.get(base).get(wave).memory('i32.load', WAVE_SCRATCH_BASE).op('i32.ge_u').op('i32.and').if('i32');
    fn.get(base).else().i32(0).end();
  });
}

/**
 * (shadow, wave, address of the register with the lanes' offsets or 0, what is to be added to them, where lane 0's first dword is or 0, number of the first register of the data)
 * → 1 when all is right with accesses of so many bytes of scratch: stores are noted, what is undefined stays so, and what loads find undefined is in SHADOW_MISSING; 0 when
 * TypeScript has to look.
 */
export function scratchFunction(module: WasmModule, kind: 'load' | 'store', bytes: number): WasmFunction {
  const helpers = { spread: spreadFunction(module), gather: gatherFunction(module) };
  return module.helper(`strict.scratch.${kind}.${bytes}`, ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) =>
    new ScratchWriter(fn, helpers, kind, bytes).write(),
  );
}

/** (shadow, place in the image, number of the first register) → of registers that a load of scratch has written, the lanes in SHADOW_MISSING are undefined. */
export function missingFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.scratch.missing', ['i32', 'i32', 'i32'], [], (fn) => {
    const [shadow, pc, register] = [0, 1, 2] as const;
    const [lanes, at] = [fn.local('i64'), fn.local('i32')];
    fn.get(shadow).i32(0).memory('i32.store', SHADOW_MISSING);
    fn.get(shadow).get(shadow).memory('i32.load', SHADOW_ORIGINS).i32(ARE_OF_SCRATCH).op('i32.or');
    fn.memory('i32.store', SHADOW_ORIGINS);
    for (let n = 0; n < MISSING_DWORDS; n++) {
      const from = SHADOW_MISSING + MISSING_LANES + 8 * n;
      fn.get(shadow).memory('i64.load', from).tee(lanes).i64(0n).op('i64.ne').if();
      fn.get(shadow).i64(0n).memory('i64.store', from);
      const own = (): WasmFunction => fn.get(register).i32(n).op('i32.add');
      own().i32(VECTOR_BYTES).op('i32.mul').get(shadow).op('i32.add').set(at);
      for (const half of [0, 8]) {
        fn.get(at).get(at).memory('i64.load', half).get(lanes).i64(-1n).op('i64.xor').op('i64.and');
        fn.memory('i64.store', half);
      }
      own().i32(3).op('i32.shl').get(shadow).op('i32.add').tee(at);
      fn.get(pc).i32(1).op('i32.add').memory('i32.store', SHADOW_SCRATCH_ORIGINS);
      fn.get(at)
        .get(shadow)
        .memory('i32.load', SHADOW_MISSING + MISSING_OFFSETS + 4 * n)
        .memory('i32.store', SHADOW_SCRATCH_ORIGINS + 4);
      fn.end();
    }
  });
}

class ScratchWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly isWrite: boolean;
  private readonly bytes: number;
  private readonly spread: WasmFunction;
  private readonly gather: WasmFunction;
  private readonly shadow = 0;
  private readonly wave = 1;
  private readonly register = 2;
  private readonly constant = 3;
  private readonly base = 4;
  private readonly data = 5;
  /** Where the bits of the wavefront's first row are, and the largest offset. */
  private readonly bits: number;
  private readonly limit: number;
  private readonly exec: number;
  private readonly offset: number;
  /** The bits of the bytes in those of a dword: as often as there is room. */
  private readonly pattern: number;

  constructor(
    fn: WasmFunction,
    { spread, gather }: { readonly spread: WasmFunction; readonly gather: WasmFunction },
    kind: 'load' | 'store',
    bytes: number,
  ) {
    [this.fn, this.code, this.spread, this.gather] = [fn, new Code(fn), spread, gather];
    [this.isWrite, this.bytes] = [kind === 'store', bytes];
    [this.bits, this.limit, this.offset] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    [this.exec, this.pattern] = [fn.local('i64'), fn.local('i64')];
  }

  private leave(): void {
    this.fn.if().i32(0).return().end();
  }

  write(): void {
    const { fn, code, wave, shadow, register, constant, base, exec, offset, limit, bits } = this;
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .tee(exec)
      .op('i64.eqz');
    fn.if().i32(1).return().end();
    fn.get(shadow).memory('i32.load', SHADOW_SCRATCH).tee(bits).op('i32.eqz').get(base).op('i32.eqz').op('i32.or');
    this.leave();
    fn.get(base).i32(3).op('i32.shr_u').get(bits).op('i32.add').set(bits);
    // What a lane has, less what lies before: rows of all lanes.
    fn.get(wave).memory('i32.load', WAVE_SCRATCH_BYTES).i32(this.bytes).op('i32.sub');
    fn.get(base).get(wave).memory('i32.load', WAVE_SCRATCH_BASE).op('i32.sub').i32(Math.log2(LANES)).op('i32.shr_u');
    fn.op('i32.sub').tee(limit).i32(0).op('i32.lt_s');
    this.leave();
    fn.get(register);
    code.if(() => {
      code.block((apart) => {
        this.pushFirst(apart);
        fn.get(constant).op('i32.add').set(constant);
      });
      fn.get(offset);
      code.if(() => {
        this.eachLane();
        fn.i32(1).return();
      });
    });
    fn.get(constant).set(offset);
    this.askOffset();
    this.noteRows();
    fn.i32(1);
  }

  /** Leaves the word of all active lanes; sets `offset` to 0 then, and to 1 and goes to `apart` where lanes have several. */
  private pushFirst(apart: Label): void {
    const { fn, code, register, exec, offset } = this;
    const [first, wrong, at, left] = [fn.local('i32'), fn.local('v128'), fn.local('i32'), fn.local('i64')];
    fn.get(exec)
      .op('i64.ctz')
      .op('i32.wrap_i64')
      .i32(2)
      .op('i32.shl')
      .get(register)
      .op('i32.add')
      .memory('i32.load')
      .set(first);
    fn.v128(0, 0, 0, 0).set(wrong);
    fn.get(exec).i64(-1n).op('i64.eq');
    code.if(
      () => {
        for (let n = 0; n < VGPR_BYTES; n += VECTOR) {
          fn.get(register)
            .memory('v128.load', n)
            .get(first)
            .op('i32x4.splat')
            .op('v128.xor')
            .get(wrong)
            .op('v128.or')
            .set(wrong);
        }
      },
      () => {
        fn.get(register).set(at).get(exec).set(left);
        code.loop((again) => {
          fn.get(at).memory('v128.load').get(first).op('i32x4.splat').op('v128.xor');
          fn.get(left)
            .op('i32.wrap_i64')
            .op('i32x4.splat')
            .v128(1, 2, 4, 8)
            .op('v128.and')
            .v128(1, 2, 4, 8)
            .op('i32x4.eq');
          fn.op('v128.and').get(wrong).op('v128.or').set(wrong);
          fn.get(at).i32(VECTOR).op('i32.add').set(at);
          fn.get(left).i64(4n).op('i64.shr_u').tee(left).i64(0n).op('i64.ne');
          code.brIf(again);
        });
      },
    );
    fn.get(wrong).op('v128.any_true').tee(offset);
    code.brIf(apart);
    fn.get(first);
  }

  /** Returns 0 where the offset is out of range, or its bytes straddle dwords; sets `pattern`. */
  private askOffset(): void {
    const { fn, offset, limit, bytes, pattern } = this;
    // What is negative may be an address that wraps.
    fn.get(offset).i32(0).op('i32.lt_s').get(offset).get(limit).op('i32.gt_u').op('i32.or');
    const within = fn.get(offset).i32(3).op('i32.and');
    if (bytes < 4) within.i32(4 - bytes).op('i32.gt_u');
    fn.op('i32.or');
    this.leave();
    const each = bytes < 4 ? (1 << bytes) - 1 : 15;
    fn.i64(0x1111111111111111n * BigInt(each));
    if (bytes < 4) fn.get(offset).i32(3).op('i32.and').op('i64.extend_i32_u').op('i64.shl');
    fn.set(pattern);
  }

  /** The lanes have one offset. */
  private noteRows(): void {
    const { fn, code, exec, offset, bits, pattern } = this;
    const { rows } = this;
    const row = fn.local('i32');
    fn.get(offset).i32(-4).op('i32.and').i32(3).op('i32.shl').get(bits).op('i32.add').set(row);
    const eachVector = (push: (at: number) => void): void => {
      for (let at = 0; at < rows * ROW_BITS; at += VECTOR) push(at);
    };
    if (this.isWrite) {
      this.pushUndefined();
      code.if(() => {
        this.noteUndefined(row);
        fn.i32(1).return();
      });
      fn.get(exec).i64(-1n).op('i64.eq');
      code.if(
        () =>
          eachVector((at) => {
            fn.get(row)
              .get(row)
              .memory('v128.load', at)
              .get(pattern)
              .op('i64x2.splat')
              .op('v128.or')
              .memory('v128.store', at);
          }),
        () => {
          const lanes = fn.local('i64');
          this.eachQuarter((quarter) => {
            this.pushSpread(exec, quarter).get(pattern).op('i64.and').set(lanes);
            for (let n = 0; n < rows; n++) {
              const at = ROW_BITS * n + 8 * quarter;
              fn.get(row).get(row).memory('i64.load', at).get(lanes).op('i64.or').memory('i64.store', at);
            }
          });
        },
      );
      return;
    }
    eachVector((at) => {
      fn.get(pattern).op('i64x2.splat').get(row).memory('v128.load', at).op('v128.andnot');
      if (at > 0) fn.op('v128.or');
    });
    fn.op('v128.any_true');
    // Some bytes of a dword are enough, and inactive lanes need none.
    code.if(() => this.noteMissing(row));
  }

  /** Dwords of a lane. */
  private get rows(): number {
    return Math.max(1, this.bytes / 4);
  }

  private eachQuarter(write: (quarter: number) => void): void {
    for (let quarter = 0; quarter < 4; quarter++) write(quarter);
  }

  /** Pushes four ones for each of 16 lanes of a local. */
  private pushSpread(lanes: number, quarter: number): WasmFunction {
    return this.fn
      .get(lanes)
      .i64(BigInt(16 * quarter))
      .op('i64.shr_u')
      .call(this.spread);
  }

  /** Pushes the lanes in which a register of the data has anything defined. */
  private pushDefined(n: number): WasmFunction {
    const { fn, data, shadow } = this;
    const word = (half: number): WasmFunction =>
      fn
        .get(data)
        .i32(VECTOR_BYTES)
        .op('i32.mul')
        .get(shadow)
        .op('i32.add')
        .memory('i64.load', VECTOR_BYTES * n + half);
    word(0);
    word(8);
    return fn.op('i64.or');
  }

  /** Pushes whether an active lane has data of which nothing is defined. */
  private pushUndefined(): void {
    const { fn, exec } = this;
    for (let n = 0; n < this.rows; n++) {
      this.pushDefined(n);
      if (n > 0) fn.op('i64.and');
    }
    fn.i64(-1n).op('i64.xor').get(exec).op('i64.and').i64(0n).op('i64.ne');
  }

  /** Active lanes store data, undefined in some, at one offset. */
  private noteUndefined(row: number): void {
    const { fn, exec, pattern } = this;
    const [defined, lanes] = [fn.local('i64'), fn.local('i64')];
    for (let n = 0; n < this.rows; n++) {
      this.pushDefined(n).set(defined);
      this.eachQuarter((quarter) => {
        const at = ROW_BITS * n + 8 * quarter;
        this.pushSpread(exec, quarter).get(pattern).op('i64.and').set(lanes);
        fn.get(row);
        fn.get(row).memory('i64.load', at).get(lanes).i64(-1n).op('i64.xor').op('i64.and');
        this.pushSpread(defined, quarter).get(lanes).op('i64.and').op('i64.or').memory('i64.store', at);
      });
    }
  }

  /** Active lanes at one offset that have none of the bits of the pattern are missing: some bytes of a dword are enough. */
  private noteMissing(row: number): void {
    const { fn, code, exec, pattern, shadow } = this;
    const [old, found] = [fn.local('i64'), fn.local('i64')];
    this.clearMissing();
    for (let n = 0; n < this.rows; n++) {
      fn.i64(0n).set(found);
      this.eachQuarter((quarter) => {
        fn.get(row)
          .memory('i64.load', ROW_BITS * n + 8 * quarter)
          .get(pattern)
          .op('i64.and')
          .set(old);
        for (const by of [1n, 2n]) fn.get(old).get(old).i64(by).op('i64.shr_u').op('i64.or').set(old);
        fn.get(old)
          .call(this.gather)
          .i64(BigInt(16 * quarter))
          .op('i64.shl')
          .get(found)
          .op('i64.or')
          .set(found);
      });
      fn.get(found).i64(-1n).op('i64.xor').get(exec).op('i64.and').tee(found).i64(0n).op('i64.ne');
      code.if(() => {
        fn.get(shadow).i32(1).memory('i32.store', SHADOW_MISSING);
        fn.get(shadow)
          .get(found)
          .memory('i64.store', SHADOW_MISSING + MISSING_LANES + 8 * n);
        this.storeOffset(n);
      });
    }
  }

  private clearMissing(): void {
    const { fn, shadow } = this;
    for (let n = 0; n < MISSING_DWORDS; n++)
      fn.get(shadow)
        .i64(0n)
        .memory('i64.store', SHADOW_MISSING + MISSING_LANES + 8 * n);
  }

  /** The first lane that is missing a dword has it at this offset from where the wavefront's scratch begins. */
  private storeOffset(n: number): void {
    const { fn, shadow, wave, base, offset } = this;
    fn.get(shadow).get(offset);
    fn.get(base).get(wave).memory('i32.load', WAVE_SCRATCH_BASE).op('i32.sub').i32(Math.log2(LANES)).op('i32.shr_u');
    fn.op('i32.add')
      .i32(4 * n)
      .op('i32.add')
      .memory('i32.store', SHADOW_MISSING + MISSING_OFFSETS + 4 * n);
  }

  /** The lanes have several offsets: bits are noted one lane after the other; stores of those before one that TypeScript has to look at are right, too. */
  private eachLane(): void {
    const { fn, code, shadow, exec, register, constant, offset, bits, pattern } = this;
    const [left, lane, place, mask] = [fn.local('i64'), fn.local('i32'), fn.local('i32'), fn.local('i32')];
    const isMissing = fn.local('i32');
    fn.get(exec).set(left);
    if (!this.isWrite) {
      fn.i32(0).set(isMissing);
      this.clearMissing();
    }
    code.loop((again) => {
      fn.get(left).op('i64.ctz').op('i32.wrap_i64').tee(lane).i32(2).op('i32.shl').get(register).op('i32.add');
      fn.memory('i32.load').get(constant).op('i32.add').set(offset);
      this.askOffset();
      fn.get(offset).i32(-4).op('i32.and').i32(3).op('i32.shl').get(bits).op('i32.add');
      fn.get(lane).i32(1).op('i32.shr_u').op('i32.add').set(place);
      fn.get(pattern).op('i32.wrap_i64').i32(15).op('i32.and').get(lane).i32(1).op('i32.and').i32(2).op('i32.shl');
      fn.op('i32.shl').set(mask);
      for (let n = 0; n < this.rows; n++) {
        const at = ROW_BITS * n;
        if (this.isWrite) {
          fn.get(place).get(place).memory('i32.load8_u', at).get(mask);
          fn.op('i32.or').get(mask);
          this.pushDefined(n).get(left).op('i64.ctz').op('i64.shr_u').op('i32.wrap_i64').i32(1).op('i32.and');
          fn.i32(1).op('i32.sub').op('i32.and').op('i32.xor').memory('i32.store8', at);
          continue;
        }
        fn.get(place).memory('i32.load8_u', at).get(mask).op('i32.and').op('i32.eqz');
        code.if(() => {
          this.addMissing(n, left);
          fn.i32(1).set(isMissing);
        });
      }
      fn.get(left).get(left).i64(1n).op('i64.sub').op('i64.and').tee(left).i64(0n).op('i64.ne');
      code.brIf(again);
    });
    if (this.isWrite) return;
    fn.get(isMissing);
    code.if(() => fn.get(shadow).i32(1).memory('i32.store', SHADOW_MISSING));
  }

  /** The lowest lane of those left is missing a dword. */
  private addMissing(n: number, left: number): void {
    const { fn, code, shadow } = this;
    const at = SHADOW_MISSING + MISSING_LANES + 8 * n;
    fn.get(shadow).memory('i64.load', at).op('i64.eqz');
    code.if(() => this.storeOffset(n));
    fn.get(shadow).get(shadow).memory('i64.load', at).get(left).i64(0n).get(left).op('i64.sub').op('i64.and');
    fn.op('i64.or').memory('i64.store', at);
  }
}

/** Bits of 16 lanes as they lie beside each other, then in ever smaller parts apart, up to four bits each; and by how many bits each step moves half of them. */
const APART = [0xffffn, 0x000000ff000000ffn, 0x000f000f000f000fn, 0x0303030303030303n, 0x1111111111111111n] as const;
const STEPS = [24n, 12n, 6n, 3n] as const;

/** (bits) → of 16 lanes with four bits each, the first ones, a bit each. */
function gatherFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.scratch.gather', ['i64'], ['i64'], (fn) => {
    fn.get(0).i64(APART[STEPS.length]).op('i64.and').set(0);
    for (let n = STEPS.length - 1; n >= 0; n--) moveHalf(fn, 'i64.shr_u', STEPS[n] as bigint, APART[n] as bigint);
    fn.get(0);
  });
}

/** (lanes) → four ones for each of the lowest 16 lanes. */
function spreadFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.scratch.spread', ['i64'], ['i64'], (fn) => {
    fn.get(0).i64(APART[0]).op('i64.and').set(0);
    for (const [n, by] of STEPS.entries()) moveHalf(fn, 'i64.shl', by, APART[n + 1] as bigint);
    fn.get(0).i64(15n).op('i64.mul');
  });
}

function moveHalf(fn: WasmFunction, shift: 'i64.shl' | 'i64.shr_u', by: bigint, mask: bigint): void {
  fn.get(0).get(0).i64(by).op(shift).op('i64.or').i64(mask).op('i64.and').set(0);
}
