// Compiled lane crossings but for DPP (../dpp.ts): ds_swizzle, permutes by register, scalar reads and writes of a lane, row swaps.
// An inactive source lane reads as zero. Source: AMD CDNA3/CDNA4 ISA, "Data Parallel Processing", DS_PERMUTE_B32, VOP1, VOP3.

import { immediateOf, operandNamed } from '../../../../isa/operand.ts';
import type { Operation, StructuralOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { swizzleLane } from '../../interpreter/swizzle.ts';
import { LANES, VGPR_BYTES, WAVE_TEMPORARY } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { choosing } from '../features.ts';
import { Code } from './code.ts';
import { EXEC_AT } from './frame.ts';
import { forQuads, maskOfQuad } from './masks.ts';
import { isPlainScalar, type MemoryContext, namedVector, pushScalar, vectorAt } from './operand.ts';

export interface CrossLaneContext extends Omit<MemoryContext, 'pc'> {
  /** Local: the wave block, or what the places of v_readlane's and v_writelane's vector register count from. */
  readonly vectors?: number;
}

/** Pushes the vector of four lanes that `sources` name among the 64 in 16 locals; -1 is zero. */
function pushPicked(fn: WasmFunction, quads: readonly number[], sources: readonly number[]): void {
  const picked = [-1, -1, -1, -1];
  let started = false;
  for (let i = 0; i < 4; i++) {
    const source = sources[i] as number;
    if (source < 0 || picked[i] !== -1) continue;
    const quad = source >> 2;
    if (!started) fn.v128(0, 0, 0, 0);
    started = true;
    fn.get(quads[quad] as number);
    const selectors = sources.map((s, k) => (s >= 0 && s >> 2 === quad ? 4 + (s & 3) : k));
    sources.forEach((s, k) => {
      if (s >= 0 && s >> 2 === quad) picked[k] = s;
    });
    fn.shuffle32(...(selectors as [number, number, number, number]));
  }
  if (!started) fn.v128(0, 0, 0, 0);
}

const quadOf = (lanes: readonly number[], quad: number): number[] => lanes.slice(4 * quad, 4 * quad + 4);

function maskOf(test: (lane: number) => boolean): bigint {
  let mask = 0n;
  for (let lane = 0; lane < LANES; lane++) if (test(lane)) mask |= 1n << BigInt(lane);
  return BigInt.asIntN(64, mask);
}

/**
 * A fixed permutation of 64 words: (wave, source address, destination address) -> lanes whose source lane exists and is active.
 */
function moveFunction(module: WasmModule, name: string, sources: readonly number[]): WasmFunction {
  return module.helper(name, ['i32', 'i32', 'i32'], ['i64'], (fn) => {
    const code = new Code(fn);
    const [wave, from, to] = [0, 1, 2] as const;
    const exec = code.local('i64');
    const found = code.local('i64');
    const quads = Array.from({ length: 16 }, () => code.local('v128'));
    const masks = Array.from({ length: 16 }, () => code.local('v128'));
    quads.forEach((q, n) => {
      fn.get(from)
        .memory('v128.load', 16 * n)
        .set(q);
    });
    fn.get(wave).memory('i64.load', EXEC_AT).tee(exec).i64(-1n).op('i64.ne');
    code.if(
      () => {
        masks.forEach((m, n) => {
          const q = quads[n] as number;
          maskOfQuad(fn, exec, n);
          fn.tee(m).get(q).op('v128.and').set(q);
        });
        for (let n = 0; n < 16; n++) {
          pushPicked(fn, masks, quadOf(sources, n));
          fn.op('i32x4.bitmask')
            .op('i64.extend_i32_u')
            .i64(BigInt(4 * n))
            .op('i64.shl');
          fn.get(found).op('i64.or').set(found);
        }
      },
      () => fn.i64(maskOf((lane) => (sources[lane] as number) >= 0)).set(found),
    );
    for (let n = 0; n < 16; n++) {
      fn.get(to);
      pushPicked(fn, quads, quadOf(sources, n));
      fn.memory('v128.store', 16 * n);
    }
    fn.get(found);
  });
}

/** Copies 256 bytes from the address in one local to the address in another, in the active lanes. */
function copyActive(code: Code, exec: number, from: number, to: number): void {
  const { fn } = code;
  const target = code.local('i32');
  forQuads(code, exec, (at, mask) => {
    fn.get(to).get(at).op('i32.add').tee(target);
    fn.get(from).get(at).op('i32.add').memory('v128.load').get(target).memory('v128.load');
    mask();
    fn.op(choosing()).memory('v128.store');
  });
}

/** (wave, place of the source, place of the destination): ds_swizzle with one offset. */
function swizzleFunction(module: WasmModule, offset: number): WasmFunction {
  const sources = Array.from({ length: LANES }, (_, lane) => swizzleLane(offset, lane));
  const move = moveFunction(module, `lanes.move.swizzle.${offset}`, sources);
  return module.helper(`lanes.swizzle.${offset}`, ['i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [wave, from, to] = [0, 1, 2] as const;
    const exec = code.local('i64');
    const moved = code.local('i32');
    fn.get(wave).get(from).op('i32.add').set(from);
    fn.get(wave).get(to).op('i32.add').set(to);
    fn.get(wave).memory('i64.load', EXEC_AT).tee(exec).i64(-1n).op('i64.eq');
    code.if(
      () => fn.get(wave).get(from).get(to).call(move).drop(),
      () => {
        fn.get(wave).i32(WAVE_TEMPORARY).op('i32.add').set(moved);
        fn.get(wave).get(from).get(moved).call(move).drop();
        copyActive(code, exec, moved, to);
      },
    );
  });
}

/** (wave, places of address, data, destination, constant offset): ds_bpermute. */
function gatherFunction(module: WasmModule): WasmFunction {
  return module.helper('lanes.bpermute', ['i32', 'i32', 'i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [wave, address, data, to, offset] = [0, 1, 2, 3, 4] as const;
    const exec = code.local('i64');
    const target = code.local('i32');
    const index = code.local('v128');
    const source = code.local('i32');
    for (const register of [address, data, to]) fn.get(wave).get(register).op('i32.add').set(register);
    fn.get(wave).memory('i64.load', EXEC_AT).tee(exec).i64(-1n).op('i64.ne');
    fn.get(data).get(to).op('i32.eq').op('i32.or');
    fn.get(data).set(source);
    code.if(() => {
      // Inactive lanes give zero; and the data must survive when they are the destination, too.
      fn.get(wave).i32(WAVE_TEMPORARY).op('i32.add').set(source);
      forQuads(code, exec, (at, mask) => {
        fn.get(source).get(at).op('i32.add');
        fn.get(data).get(at).op('i32.add').memory('v128.load');
        mask();
        fn.op('v128.and').memory('v128.store');
      });
    });
    forQuads(code, exec, (at, mask) => {
      fn.get(address).get(at).op('i32.add').memory('v128.load').get(offset).op('i32x4.splat').op('i32x4.add');
      fn.v128(0xfc, 0xfc, 0xfc, 0xfc).op('v128.and').get(source).op('i32x4.splat').op('i32x4.add').set(index);
      fn.get(to).get(at).op('i32.add').tee(target);
      for (let i = 0; i < 4; i++) {
        fn.get(index).lane('i32x4.extract_lane', i).memory('i32.load');
        if (i === 0) fn.op('i32x4.splat');
        else fn.lane('i32x4.replace_lane', i);
      }
      fn.get(target).memory('v128.load');
      mask();
      fn.op(choosing()).memory('v128.store');
    });
  });
}

/** (wave, places of address, data, destination, constant offset): ds_permute. The highest lane that writes a lane wins. */
function scatterFunction(module: WasmModule): WasmFunction {
  return module.helper('lanes.permute', ['i32', 'i32', 'i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [wave, address, data, to, offset] = [0, 1, 2, 3, 4] as const;
    const exec = code.local('i64');
    const rest = code.local('i64');
    const at = code.local('i32');
    const moved = code.local('i32');
    const [target, lanes] = [code.local('v128'), code.local('v128')];
    const allLanes = (): void =>
      forQuads(code, exec, (quad) => {
        fn.get(address).get(quad).op('i32.add').memory('v128.load').get(offset).op('i32x4.splat').op('i32x4.add');
        fn.v128(0xfc, 0xfc, 0xfc, 0xfc).op('v128.and').get(moved).op('i32x4.splat').op('i32x4.add').set(target);
        fn.get(data).get(quad).op('i32.add').memory('v128.load').set(lanes);
        for (let i = 0; i < 4; i++) {
          fn.get(target).lane('i32x4.extract_lane', i).get(lanes).memoryLane('v128.store32_lane', i);
        }
      });
    const activeLanes = (): void => {
      fn.get(exec).set(rest);
      code.block((done) => {
        code.loop((again) => {
          fn.get(rest).op('i64.eqz');
          code.brIf(done);
          fn.get(rest).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').set(at);
          fn.get(rest).get(rest).i64(1n).op('i64.sub').op('i64.and').set(rest);
          fn.get(address).get(at).op('i32.add').memory('i32.load').get(offset).op('i32.add').i32(0xfc).op('i32.and');
          fn.get(moved).op('i32.add').get(data).get(at).op('i32.add').memory('i32.load').memory('i32.store');
          code.br(again);
        });
      });
    };
    for (const register of [address, data, to]) fn.get(wave).get(register).op('i32.add').set(register);
    fn.get(wave).memory('i64.load', EXEC_AT).set(exec);
    fn.get(wave).i32(WAVE_TEMPORARY).op('i32.add').set(moved);
    for (let n = 0; n < VGPR_BYTES; n += 16) fn.get(moved).v128(0, 0, 0, 0).memory('v128.store', n);
    fn.get(exec).i64(-1n).op('i64.eq');
    code.if(allLanes, activeLanes);
    copyActive(code, exec, moved, to);
  });
}

/** (wave, places of vdst and src0): swaps the odd rows of vdst with the even rows of src0, rows of 16 or 32 lanes. */
function swapRowsFunction(module: WasmModule, width: number): WasmFunction {
  return module.helper(`lanes.swap.${width}`, ['i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [wave, d, s] = [0, 1, 2] as const;
    const exec = code.local('i64');
    const even = code.local('v128');
    const odd = code.local('v128');
    fn.get(wave).get(d).op('i32.add').set(d);
    fn.get(wave).get(s).op('i32.add').set(s);
    fn.get(wave).memory('i64.load', EXEC_AT).set(exec);
    for (let quad = 0; quad < 16; quad++) {
      if (((4 * quad) & width) !== 0) continue;
      const other = quad + width / 4;
      fn.get(s)
        .memory('v128.load', 16 * quad)
        .set(even);
      fn.get(d)
        .memory('v128.load', 16 * other)
        .set(odd);
      fn.get(s).get(odd).get(even);
      maskOfQuad(fn, exec, quad);
      fn.op(choosing()).memory('v128.store', 16 * quad);
      fn.get(d).get(even).get(odd);
      maskOfQuad(fn, exec, other);
      fn.op(choosing()).memory('v128.store', 16 * other);
    }
  });
}

/** Emits the read or write of one lane by the scalar unit. */
function emitScalarLane(
  { fn, wave, vectors = wave }: CrossLaneContext,
  instruction: Instruction,
  op: StructuralOperation,
): boolean {
  const source = operandNamed(instruction, 'src0');
  const target = operandNamed(instruction, 'vdst');
  const select = op.name === 'readfirstlane' ? undefined : operandNamed(instruction, 'src1');
  if (source === undefined || target?.kind !== 'reg') return false;
  if (select !== undefined && !isPlainScalar(select)) return false;
  const context = { fn, wave, pc: 0 };
  /** Pushes four times the lane number. */
  const pushLane = (): void => {
    if (select === undefined) fn.get(wave).memory('i64.load', EXEC_AT).op('i64.ctz').op('i32.wrap_i64');
    else pushScalar(context, select);
    fn.i32(63).op('i32.and').i32(2).op('i32.shl');
  };
  const from = vectorAt(source);
  if (op.name === 'writelane') {
    const to = vectorAt(target);
    if (to === undefined || from !== undefined || !isPlainScalar(source)) return false;
    fn.get(vectors);
    pushLane();
    fn.op('i32.add');
    pushScalar(context, source);
    fn.memory('i32.store', to);
    return true;
  }
  if (target.encoding > 127 || (from === undefined && !isPlainScalar(source))) return false;
  fn.get(wave);
  if (from === undefined) pushScalar(context, source);
  else {
    fn.get(vectors);
    pushLane();
    fn.op('i32.add').memory('i32.load', from);
  }
  fn.memory('i32.store', 4 * target.encoding);
  return true;
}

/** Emits an instruction that moves data between lanes. False: nothing was emitted. Registers are in the wave block. */
export function emitCrossLane(
  context: CrossLaneContext,
  module: WasmModule,
  instruction: Instruction,
  op: Operation,
): boolean {
  if (op.kind !== 'structural') return false;
  const { fn, wave } = context;
  switch (op.name) {
    case 'readfirstlane':
    case 'readlane':
    case 'writelane':
      return emitScalarLane(context, instruction, op);
    case 'permlaneSwap': {
      const d = namedVector(instruction, 'vdst');
      const s = namedVector(instruction, 'src0');
      if (d === undefined || s === undefined) return false;
      fn.get(wave).i32(d).i32(s).call(swapRowsFunction(module, op.parameter));
      return true;
    }
    case 'permute':
    case 'bpermute':
    case 'swizzle': {
      const address = namedVector(instruction, 'addr');
      const target = namedVector(instruction, 'vdst');
      const offset = immediateOf(instruction, 'offset');
      if (address === undefined || target === undefined || immediateOf(instruction, 'gds') !== 0) return false;
      fn.get(wave).i32(address);
      if (op.name === 'swizzle') {
        fn.i32(target).call(swizzleFunction(module, offset));
        return true;
      }
      const data = namedVector(instruction, 'data0');
      if (data === undefined) throw new Error(`${instruction.row.name} has no data register`);
      fn.i32(data).i32(target).i32(offset);
      fn.call(op.name === 'permute' ? scatterFunction(module) : gatherFunction(module));
      return true;
    }
    default:
      return false;
  }
}
