// DPP in a run: the source's lanes moved by a constant permutation, chunk by chunk, as loads and shuffles of neighbouring chunks.
// Source: AMD CDNA3 ISA, "Data Parallel Processing (DPP)". Which lane reads which is interpreter/dpp.ts.

import { hasOperand, immediateOf, operandNamed, requireOperand } from '../../../isa/operand.ts';
import type { VectorOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Register } from '../../../isa/types.ts';
import { dppSourceLane } from '../interpreter/dpp.ts';
import { isVector } from '../interpreter/operands.ts';
import { EXEC, LANES } from '../state/wave.ts';
import { registerNumber } from './context.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import type { Run } from './run.ts';
import { NoCode } from './scalar.ts';
import type { Crossing } from './template.ts';

export const hasDpp = ({ row }: Instruction): boolean => hasOperand(row, 'dpp_ctrl');

/** The registers of an operand that is in vector registers. */
function registersOf(operand: Register): number[] {
  const first = registerNumber(operand);
  return Array.from({ length: operand.dwords }, (_, n) => first + n);
}

/** The registers that DPP reads across lanes, and whether the instruction writes one of them. */
function sourcesOf(instruction: Instruction, op: VectorOperation): { registers: number[]; isWritten: boolean } {
  const name = op.sources[0]?.operand;
  if (name === undefined) throw new NoCode('DPP without a source');
  const source = requireOperand(instruction, name);
  if (source.kind !== 'reg' || !isVector(source)) throw new NoCode('source of DPP');
  const registers = registersOf(source);
  const target = operandNamed(instruction, 'vdst');
  const written = target?.kind === 'reg' && isVector(target) ? registersOf(target) : [];
  return { registers, isWritten: registers.some((r) => written.includes(r)) };
}

/** Whether lanes stay within their quads: a chunk reads its own lanes only. */
const isWithinQuad = (control: number): boolean => control <= 0xff;

/** Whether a run must end before an instruction with DPP: it reads other chunks' lanes of what the run writes. */
export function endsBeforeCrossing(run: Run, instruction: Instruction, op: VectorOperation): boolean {
  if (isWithinQuad(immediateOf(instruction, 'dpp_ctrl'))) return false;
  const { registers, isWritten } = sourcesOf(instruction, op);
  return registers.some((r) => run.isDirty(r)) || (isWritten && !run.hasCopies(registers.length));
}

/** Whether a run must end before an instruction, because it may write what chunks of the run read beyond their own lanes. */
export function endsBeforeWrite(run: Run, { row, operands }: Instruction): boolean {
  if (!run.crosses) return false;
  return operands.some((operand, n) => {
    if (operand.kind !== 'reg' || !isVector(operand)) return false;
    const { isOut, name } = row.operands[n] ?? {};
    const isTarget = isOut === true || name === 'vdst' || row.operation.startsWith('v_swap');
    return isTarget && registersOf(operand).some((r) => run.isCrossed(r));
  });
}

/** Whether an instruction with DPP may leave active lanes as they are: those without a source lane, or those that its masks leave out. */
export function writesPartly(instruction: Instruction): boolean {
  return immediateOf(instruction, 'bound_ctrl') === 0 || enabledLanes(instruction) !== -1n;
}

function enabledLanes(instruction: Instruction): bigint {
  const [rows, banks] = ['row_mask', 'bank_mask'].map((name) => immediateOf(instruction, name)) as [number, number];
  return maskOf((lane) => ((rows >> (lane >> 4)) & (banks >> ((lane >> 2) & 3)) & 1) !== 0);
}

/** Moves source 0 of an instruction across lanes, as its DPP says. Its result is to be written where `written` says. */
export function crossLanes(run: Run, module: WasmModule, instruction: Instruction, op: VectorOperation): Crossing {
  const { fn } = run;
  const { registers, isWritten } = sourcesOf(instruction, op);
  const control = immediateOf(instruction, 'dpp_ctrl');
  const fills = immediateOf(instruction, 'bound_ctrl') !== 0;
  const enabled = enabledLanes(instruction);
  const sources = (): void =>
    void fn
      .get(run.wave)
      .memory('i64.load', 4 * EXEC)
      .call(activeSources(module, control));
  // As long as there is room, what follows may write the source without ending the run.
  const isCopied = isWritten || run.hasCopies(registers.length);
  const words = registers.map((register) => {
    const moved = fn.local('v128');
    pushMoved(run, register, control, isCopied);
    if (fills) {
      run.pushComputedMask(`dpp ${control}`, sources);
      fn.op('v128.and');
    }
    fn.set(moved);
    return moved;
  });
  const pushEnabled = (): void => run.pushComputedMask(`enabled ${enabled}`, () => fn.i64(enabled));
  const pushSources = (): void =>
    run.pushComputedMask(`dpp ${control} ${enabled}`, () => {
      sources();
      if (enabled !== -1n) fn.i64(enabled).op('i64.and');
    });
  return {
    push: (word) => {
      const local = words[word];
      if (local === undefined) throw new NoCode('word of a narrow operand');
      fn.get(local);
    },
    written: !fills ? pushSources : enabled === -1n ? undefined : pushEnabled,
    close: () => {
      for (const local of words) fn.release('v128', local);
    },
  };
}

/** Pushes four lanes of a register where the control takes them from. Where it takes none, they may be anything. */
function pushMoved(run: Run, register: number, control: number, isCopied: boolean): void {
  const { fn } = run;
  const own = (): void => run.pushRegister(register, false);
  if (isWithinQuad(control)) {
    own();
    const [a, b, c, d] = [0, 2, 4, 6].map((shift) => (control >> shift) & 3) as [number, number, number, number];
    if (a === 0 && b === 1 && c === 2 && d === 3) return;
    own();
    fn.shuffle32(a, b, c, d);
    return;
  }
  const place = run.crossedAt(register, isCopied);
  /** Pushes four lanes that begin `lanes` after the chunk's, of two chunks that `chunk` pushes by their distance. */
  const pushWindow = (lanes: number, chunk: (distance: number) => void): void => {
    const [first, rest] = [lanes >> 2, lanes & 3];
    chunk(first);
    if (rest === 0) return;
    chunk(first + 1);
    fn.shuffle32(rest, rest + 1, rest + 2, rest + 3);
  };
  /** Beyond a row's end is another row, which is not read in the end. */
  const straight = (distance: number): void => {
    if (distance === 0) own();
    else fn.get(run.at).memory('v128.load', place + 16 * distance, 4);
  };
  /** Chunks of a circle of `bytes`, a row or the whole wavefront. */
  const around = (bytes: number, distance: number): void => {
    const turn = (16 * distance) & (bytes - 1);
    if (turn === 0) {
      own();
      return;
    }
    run.pushAddress(`around ${bytes} ${turn}`, (pushBytes) => {
      pushBytes();
      pushBytes();
      fn.i32(turn).op('i32.add');
      // The bits of the circle are the sum's, the others stay.
      pushBytes();
      fn.op('i32.xor')
        .i32(bytes - 1)
        .op('i32.and')
        .op('i32.xor');
    });
    fn.memory('v128.load', place, 4);
  };
  const mirrored = (flipped: number): void => {
    const chunk = (): void => {
      run.pushAddress(`mirror ${flipped}`, (pushBytes) => {
        pushBytes();
        fn.i32(flipped).op('i32.xor');
      });
    };
    const lanes = fn.local('v128');
    chunk();
    fn.memory('v128.load', place, 4).tee(lanes).get(lanes).shuffle32(3, 2, 1, 0);
    fn.release('v128', lanes);
  };
  /** Pushes one lane in all four, counted from the beginning of the chunk's row. */
  const broadcast = (lane: number): void => {
    run.pushAddress('row', (pushBytes) => {
      pushBytes();
      fn.i32(-ROW_BYTES).op('i32.and');
    });
    fn.memory('v128.load32_splat', place + 4 * lane);
  };
  const count = control & 15;
  switch (control & ~15) {
    case 0x100: // row_shl
      pushWindow(count, straight);
      return;
    case 0x110: // row_shr
      pushWindow(-count, straight);
      return;
    case 0x120: // row_ror
      pushWindow(-count, (distance) => around(ROW_BYTES, distance));
      return;
    case 0x150: // row_newbcast
      broadcast(count);
      return;
  }
  switch (control) {
    case 0x130: // wave_shl:1
      pushWindow(1, straight);
      return;
    case 0x134: // wave_rol:1
      pushWindow(1, (distance) => around(4 * LANES, distance));
      return;
    case 0x138: // wave_shr:1
      pushWindow(-1, straight);
      return;
    case 0x13c: // wave_ror:1
      pushWindow(-1, (distance) => around(4 * LANES, distance));
      return;
    case 0x140: // row_mirror
      mirrored(ROW_BYTES - 16);
      return;
    case 0x141: // row_half_mirror
      mirrored(ROW_BYTES / 2 - 16);
      return;
    case 0x142: // row_bcast:15
      broadcast(-1);
      return;
    case 0x143: // row_bcast:31
      fn.get(run.wave).memory('v128.load32_splat', place + 4 * 31);
      return;
  }
  fn.v128(0, 0, 0, 0);
}

/** Bytes of a row of 16 lanes in a register. */
const ROW_BYTES = 64;

function maskOf(test: (lane: number) => boolean): bigint {
  let mask = 0n;
  for (let lane = 0; lane < LANES; lane++) if (test(lane)) mask |= 1n << BigInt(lane);
  return BigInt.asIntN(64, mask);
}

/** (EXEC) -> lanes whose source lane exists and is active. */
function activeSources(module: WasmModule, control: number): WasmFunction {
  return module.helper(`lanes.dpp.${control}`, ['i64'], ['i64'], (fn) => {
    const exec = 0;
    const sources = Array.from({ length: LANES }, (_, lane) => dppSourceLane(control, lane));
    fn.get(exec).i64(-1n).op('i64.eq').if('i64');
    fn.i64(maskOf((lane) => (sources[lane] as number) >= 0));
    fn.else().i64(0n);
    const distances = new Set(sources.flatMap((from, lane) => (from < 0 ? [] : [lane - from])));
    for (const distance of distances) {
      fn.get(exec).i64(BigInt(Math.abs(distance)));
      fn.op(distance < 0 ? 'i64.shr_u' : 'i64.shl');
      fn.i64(maskOf((lane) => sources[lane] === lane - distance && (sources[lane] as number) >= 0));
      fn.op('i64.and').op('i64.or');
    }
    fn.end();
  });
}
