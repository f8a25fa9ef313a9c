// LDS operations that are not plain loads and stores: append and consume counters, access by thread id, transposing reads of gfx950.
// Source: AMD CDNA3 and CDNA4 ISA, chapter "Data Share".

import { immediateOf } from '../../../../isa/operand.ts';
import type { StructuralOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { VGPR_BYTES, WAVE_LDS_BASE, WAVE_LDS_BYTES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { choosing } from '../features.ts';
import { Code } from './code.ts';
import { EXEC_AT, M0_AT, resumeIndex } from './frame.ts';
import { forQuads } from './masks.ts';
import { type MemoryContext, namedVector } from './operand.ts';
import { transposeSixes } from './transpose-six.ts';

const [WAVE, PC, REGISTER, OFFSET, LAST] = [0, 1, 2, 3, 4] as const;

/** A helper (wave, pc, place of a register, constant offset, one more number), with code that gives up to the interpreter. */
function helper(
  module: WasmModule,
  name: string,
  build: (code: Code, exec: number, leaveIf: () => void) => void,
): WasmFunction {
  const resume = resumeIndex(module);
  return module.helper(`memory.ds.${name}`, ['i32', 'i32', 'i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const exec = code.local('i64');
    fn.get(WAVE).memory('i64.load', EXEC_AT).set(exec);
    fn.get(WAVE).get(REGISTER).op('i32.add').set(REGISTER);
    build(code, exec, () => code.if(() => fn.get(WAVE).get(PC).i32(0).call(resume).return()));
  });
}

/** Pushes LDS bytes minus `bytes`, less than an LDS offset in local `at` when that is out of range. */
function outOfLds(fn: WasmFunction, at: number, bytes: number): void {
  fn.get(at).i32(bytes).op('i32.add').get(WAVE).memory('i32.load', WAVE_LDS_BYTES).op('i32.gt_u');
}

/** The last number is 1 for append and -1 for consume. */
function appendFunction(module: WasmModule): WasmFunction {
  return helper(module, 'append', (code, exec, leaveIf) => {
    const { fn } = code;
    const at = code.local('i32');
    const old = code.local('i32');
    fn.get(WAVE).memory('i32.load16_u', M0_AT).get(OFFSET).op('i32.add').set(at);
    outOfLds(fn, at, 4);
    leaveIf();
    fn.get(at).get(WAVE).memory('i32.load', WAVE_LDS_BASE).op('i32.add').tee(at);
    fn.get(at).memory('i32.load').tee(old);
    fn.get(exec).op('i64.popcnt').op('i32.wrap_i64').get(LAST).op('i32.mul').op('i32.add').memory('i32.store');
    forQuads(code, exec, (quad, mask) => {
      fn.get(REGISTER).get(quad).op('i32.add').tee(at);
      fn.get(old).op('i32x4.splat').get(at).memory('v128.load');
      mask();
      fn.op(choosing()).memory('v128.store');
    });
  });
}

function addtidFunction(module: WasmModule, store: boolean): WasmFunction {
  return helper(module, store ? 'store.addtid' : 'load.addtid', (code, exec, leaveIf) => {
    const { fn } = code;
    const start = code.local('i32');
    const to = code.local('i32');
    const from = code.local('i32');
    fn.get(WAVE).memory('i32.load16_u', M0_AT).get(OFFSET).op('i32.add').set(start);
    outOfLds(fn, start, VGPR_BYTES);
    leaveIf();
    fn.get(start).get(WAVE).memory('i32.load', WAVE_LDS_BASE).op('i32.add').set(start);
    forQuads(code, exec, (quad, mask) => {
      fn.get(store ? start : REGISTER)
        .get(quad)
        .op('i32.add')
        .set(to);
      fn.get(store ? REGISTER : start)
        .get(quad)
        .op('i32.add')
        .set(from);
      fn.get(to).get(from).memory('v128.load').get(to).memory('v128.load');
      mask();
      fn.op(choosing()).memory('v128.store');
    });
  });
}

/**
 * ds_read_b64_tr_b16, _b8 and _b4, and ds_read_b96_tr_b6, with all lanes active: a block of 16 lanes reads 16 rows of 8 or 12 bytes and
 * gets their transpose. The last number is the place of the address register.
 */
function transposedFunction(module: WasmModule, bits: 4 | 6 | 8 | 16): WasmFunction {
  return helper(module, `transposed.b${bits}`, (code, exec, leaveIf) => {
    const { fn } = code;
    const largest = code.local('v128');
    const offsets = code.local('v128');
    const base = code.local('i32');
    const limit = code.local('i32');
    const at = code.local('i32');
    const rows = Array.from({ length: 16 }, () => code.local('i32'));
    fn.get(WAVE).get(LAST).op('i32.add').set(LAST);
    fn.get(WAVE)
      .memory('i32.load', WAVE_LDS_BYTES)
      .i32(bits === 6 ? 12 : 8)
      .op('i32.sub')
      .set(limit);
    fn.get(OFFSET).op('i32x4.splat').set(offsets);
    for (let quad = 0; quad < 16; quad++) {
      fn.get(LAST)
        .memory('v128.load', 16 * quad)
        .get(offsets)
        .op('i32x4.add');
      if (quad > 0) fn.get(largest).op('i32x4.max_u');
      fn.set(largest);
    }
    fn.get(exec).i64(-1n).op('i64.ne');
    fn.get(limit).i32(0).op('i32.lt_s').op('i32.or');
    fn.get(largest).get(limit).op('i32x4.splat').op('i32x4.gt_u').op('v128.any_true').op('i32.or');
    leaveIf();
    fn.get(WAVE).memory('i32.load', WAVE_LDS_BASE).get(OFFSET).op('i32.add').set(base);
    code.loop((again) => {
      rows.forEach((row, n) => {
        fn.get(LAST).get(at).op('i32.add');
        fn.memory('i32.load', 4 * n)
          .get(base)
          .op('i32.add')
          .set(row);
      });
      if (bits === 16) transposeWords(code, rows, at);
      else if (bits === 8) transposeBytes(code, rows, at);
      else if (bits === 6) transposeSixes(code, rows, REGISTER, at);
      else transposeNibbles(code, rows, at);
      fn.get(at).i32(64).op('i32.add').tee(at).i32(VGPR_BYTES).op('i32.lt_u');
      code.brIf(again);
    });
  });
}

/** Lanes 4j … 4j+3 get the four elements of row j + 4n as their element n. */
function transposeWords({ fn }: Code, rows: readonly number[], at: number): void {
  for (let j = 0; j < 4; j++) {
    for (const word of [0, 1]) {
      fn.get(REGISTER).get(at).op('i32.add');
      fn.get(rows[j + 8 * word] as number).memory('v128.load16x4_u');
      fn.get(rows[j + 8 * word + 4] as number)
        .memory('v128.load16x4_u')
        .i32(16)
        .op('i32x4.shl');
      fn.op('v128.or').memory('v128.store', 16 * j + word * VGPR_BYTES);
    }
  }
}

/** Lanes 8h … 8h+7 get the eight elements of row h + 2n as their element n. */
function transposeBytes(code: Code, rows: readonly number[], at: number): void {
  const { fn } = code;
  const pair = [code.local('v128'), code.local('v128')] as const;
  for (const h of [0, 1]) {
    for (const word of [0, 1]) {
      pair.forEach((v, k) => {
        const row = h + 8 * word + 4 * k;
        fn.get(rows[row] as number)
          .memory('v128.load64_zero')
          .set(v);
        fn.get(rows[row + 2] as number)
          .get(v)
          .memoryLane('v128.load64_lane', 1)
          .set(v);
      });
      for (const half of [0, 1]) {
        fn.get(REGISTER).get(at).op('i32.add').get(pair[0]).get(pair[1]);
        fn.shuffle([0, 1, 2, 3].flatMap((i) => [0, 8, 16, 24].map((r) => r + 4 * half + i)));
        fn.memory('v128.store', 16 * (2 * h + half) + word * VGPR_BYTES);
      }
    }
  }
}

/** Lane l gets element l of row n as its element n. */
function transposeNibbles(code: Code, rows: readonly number[], at: number): void {
  const { fn } = code;
  const pairs = [0, 1, 2, 3].map(() => code.local('v128')) as [number, number, number, number];
  const columns = code.local('v128');
  const low = code.local('v128');
  /** Joins the nibbles in the low halves of two neighbouring bytes. */
  const joined = (): void => {
    fn.v128(0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f).op('v128.and').tee(low);
    fn.get(low).i32(4).op('i16x8.shr_u').op('v128.or').v128(0xff00ff, 0xff00ff, 0xff00ff, 0xff00ff).op('v128.and');
  };
  for (const word of [0, 1]) {
    pairs.forEach((v, k) => {
      fn.get(rows[8 * word + 2 * k] as number)
        .memory('v128.load64_zero')
        .set(v);
      fn.get(rows[8 * word + 2 * k + 1] as number)
        .get(v)
        .memoryLane('v128.load64_lane', 1)
        .set(v);
    });
    for (let j = 0; j < 4; j++) {
      // Bytes 2j and 2j + 1 of eight rows: the nibbles of lanes 4j … 4j+3.
      const picked = [2 * j, 2 * j + 1].flatMap((c) => [c, 8 + c, 16 + c, 24 + c]);
      const selectors = [...picked, ...picked];
      fn.get(pairs[0]).get(pairs[1]).shuffle(selectors);
      fn.get(pairs[2]).get(pairs[3]).shuffle(selectors).shuffle32(0, 4, 1, 5).set(columns);
      fn.get(REGISTER).get(at).op('i32.add');
      fn.get(columns);
      joined();
      fn.get(columns).i32(4).op('i16x8.shr_u');
      joined();
      fn.op('i8x16.narrow_i16x8_u').set(low).get(low).get(low).shuffle32(0, 2, 1, 3);
      fn.memory('v128.store', 16 * j + word * VGPR_BYTES);
    }
  }
}

/** Emits a structural LDS operation, when it has a compiled form. */
export function emitLdsSpecial(
  context: MemoryContext,
  module: WasmModule,
  instruction: Instruction,
  op: StructuralOperation,
): boolean {
  const { fn, wave, pc } = context;
  const offset = immediateOf(instruction, 'offset');
  if (immediateOf(instruction, 'gds') !== 0) return false;
  const register = namedVector(instruction, 'vdst', 'data0');
  if (register === undefined) return false;
  const call = (target: WasmFunction, last: number): boolean => {
    fn.get(wave).i32(pc).i32(register).i32(offset).i32(last).call(target);
    return true;
  };
  if (op.name === 'append') return call(appendFunction(module), op.parameter);
  if (op.name === 'addtid') return call(addtidFunction(module, op.direction === 'store'), 0);
  const address = namedVector(instruction, 'addr');
  const { parameter: bits } = op;
  if (op.name === 'readTransposed' && address !== undefined && (bits === 4 || bits === 6 || bits === 8 || bits === 16))
    return call(transposedFunction(module, bits), address);
  return false;
}
