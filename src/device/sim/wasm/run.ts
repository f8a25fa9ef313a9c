// A run of vector instructions, compiled chunk-outer: one loop over the 16 chunks of 4 lanes in which register values stay in v128
// locals. Scalar operands and scalar instructions between go before the loop. Values of inactive lanes are computed and not stored.
import type { Instruction } from '../../../isa/types.ts';
import { LANES, TEMPORARY_REGISTERS, VGPR_BYTES, WAVE_TEMPORARY, WAVE_VGPRS } from '../state/layout.ts';
import { EXEC } from '../state/wave.ts';
import { registerAt } from './context.ts';
import { ByteSink, type ValType, type WasmFunction } from './emit.ts';
import { choosing } from './features.ts';
import { decodeHalf, decodeHighHalf } from './half.ts';
import { canonical } from './rounding.ts';
import { type LaneTarget, replay, type Template } from './template.ts';

/** Instructions of one loop over the chunks. */
export const RUN_LIMIT = 120;

/** A vector register held in a local. */
interface Held {
  readonly local: number;
  /** Changed in the run. */
  dirty: boolean;
  /** May hold NaNs with a payload, which become the default quiet NaN when integer code or memory sees them. */
  payload: boolean;
}

/** A lane mask as it enters a run: 64 bits that move down by 4 with every chunk. */
interface MaskInput {
  readonly bits: number;
  /** v128 local with the chunk's mask; undefined until expanded. */
  lanes: number | undefined;
}

/** Locals that live through a run are never handed out as temporaries of its body. */
class Pool {
  private readonly free: Record<ValType, number[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  private readonly taken: Record<ValType, number[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  private readonly fn: WasmFunction;
  constructor(fn: WasmFunction) {
    this.fn = fn;
  }
  take(type: ValType): number {
    const local = this.free[type].pop() ?? this.fn.freshLocal(type);
    this.taken[type].push(local);
    return local;
  }
  releaseAll(): void {
    for (const type of POOLED) {
      this.free[type].push(...this.taken[type]);
      this.taken[type].length = 0;
    }
  }
}

const POOLED: readonly ValType[] = ['i32', 'i64', 'f32', 'f64', 'v128'];

/** The pools of a function, shared by its runs. */
export class RunPools {
  /** For values set before the loop. */
  readonly lasting: Pool;
  /** For values of one chunk. */
  readonly chunk: Pool;
  /** Code of the run's loop. */
  readonly body = new ByteSink();
  constructor(fn: WasmFunction) {
    this.lasting = new Pool(fn);
    this.chunk = new Pool(fn);
  }
}

/** Where registers are in the wave block: an offset, and the local whose value is added to it. */
export interface RegisterPlaces {
  vector(register: number): readonly [number | undefined, number];
  scalar(register: number): readonly [number | undefined, number];
}

const OWN_PLACES: RegisterPlaces = {
  vector: (register) => [undefined, registerAt(register)],
  scalar: (register) => [undefined, 4 * register],
};

export class Run implements LaneTarget {
  readonly fn: WasmFunction;
  readonly wave: number;
  /** Local (i32): the wave block plus 16 × chunk. */
  readonly at: number;
  length = 0;
  /** Registers that chunks read beyond their own lanes: nothing in the run may write them. */
  private readonly crossed = new Set<number>();
  /** Registers of the temporary area that are taken. */
  private copies = 0;
  private readonly pools: RunPools;
  private readonly body: ByteSink;
  private prologue: ByteSink | undefined;
  private readonly held = new Map<number, Held>();
  /** Locals with halves of registers as f32, by twice the register's number and the half. */
  private readonly halves = new Map<number, number>();
  private readonly splats = new Map<number, number>();
  private readonly words = new Map<number, number>();
  private readonly maskInputs = new Map<number, MaskInput>();
  /** Masks by name that are computed before the loop. */
  private readonly computed = new Map<string, MaskInput>();
  /** Locals of the chunk's addresses by name. */
  private readonly addresses = new Map<string, number>();
  private readonly shifted: number[] = [];
  private readonly maskOutputs = new Map<number, number>();
  /** What to undo when an instruction turns out to have no code. */
  private journal: (() => void)[] | undefined;
  private execLanes: number | undefined;
  private readonly exec: number;
  private readonly bits: number;
  private readonly places: RegisterPlaces;

  constructor(fn: WasmFunction, wave: number, pools: RunPools, places = OWN_PLACES) {
    this.places = places;
    this.fn = fn;
    this.wave = wave;
    this.pools = pools;
    this.body = pools.body;
    this.body.length = 0;
    this.at = pools.lasting.take('i32');
    this.exec = pools.lasting.take('i64');
    this.bits = pools.lasting.take('i32');
  }

  // Writing instructions ---------------------------------------------------------------------------------------------------------

  /** Writes one instruction into the loop's body; when `write` throws, nothing of it stays. */
  add(write: () => void): void {
    const mark = this.body.length;
    const journal: (() => void)[] = [];
    this.journal = journal;
    this.prologue = this.fn.redirect(this.body);
    try {
      write();
      this.length++;
    } catch (error) {
      this.body.length = mark;
      for (const undo of journal.reverse()) undo();
      throw error;
    } finally {
      this.journal = undefined;
      this.fn.redirect(this.prologue);
      this.prologue = undefined;
    }
  }

  /** Writes an instruction from a template into the loop's body; `target` says where its registers are. */
  addFrom(template: Template, instruction: Instruction, target: LaneTarget = this): void {
    this.prologue = this.fn.redirect(this.body);
    replay(template, target, instruction);
    this.fn.redirect(this.prologue);
    this.prologue = undefined;
    this.length++;
  }

  /** Writes code that runs before the loop. */
  before(write: () => void): void {
    if (this.prologue === undefined) {
      write();
      return;
    }
    const body = this.fn.redirect(this.prologue);
    write();
    this.fn.redirect(body);
  }

  /** A local set before the loop. */
  lasting(type: ValType): number {
    return this.pools.lasting.take(type);
  }

  // Scalars ------------------------------------------------------------------------------------------------------------------------

  /** Pushes a scalar register as i32. */
  pushScalarWord(register: number): void {
    this.fn.get(this.fromBefore(this.words, register, 'i32', 'i32.load'));
  }

  /** Pushes a scalar register in every lane. */
  pushSplat(register: number): void {
    this.fn.get(this.fromBefore(this.splats, register, 'v128', 'v128.load32_splat'));
  }

  /** A local that is loaded from a scalar register before the loop. */
  private fromBefore(known: Map<number, number>, register: number, type: ValType, load: string): number {
    let local = known.get(register);
    if (local === undefined) {
      const fresh = this.lasting(type);
      this.before(() => this.fn.memory(load, this.pushScalar(register)).set(fresh));
      known.set(register, fresh);
      local = fresh;
    }
    return local;
  }

  /** Pushes the address from which a scalar register has the offset that is returned. */
  private pushScalar(register: number): number {
    const [local, offset] = this.places.scalar(register);
    this.fn.get(this.wave);
    if (local !== undefined) this.fn.get(local).op('i32.add');
    return offset;
  }

  /** Pushes the address from which the chunk of a vector register has the offset that is returned. */
  private pushVector(register: number): number {
    const [local, offset] = this.places.vector(register);
    this.fn.get(this.at);
    if (local !== undefined) this.fn.get(local).op('i32.add');
    return offset;
  }

  /** Whether the run has written a scalar register (as part of a mask). */
  hasWritten(register: number, words: number): boolean {
    for (const mask of this.maskOutputs.keys()) if (register < mask + 2 && mask < register + words) return true;
    return false;
  }

  /** Whether the run writes any mask. */
  get writesMasks(): boolean {
    return this.maskOutputs.size > 0;
  }

  /** Whether a mask that the run writes begins in the second register of a pair. */
  overlaps(pair: number): boolean {
    return this.maskOutputs.has(pair + 1);
  }

  /** A scalar instruction before the loop has changed a register: later readers load it again. */
  scalarChanged(register: number, words: number): void {
    for (let r = register; r < register + words; r++) {
      this.words.delete(r);
      this.splats.delete(r);
    }
    for (const mask of this.maskInputs.keys()) {
      if (register < mask + 2 && mask < register + words) this.maskInputs.delete(mask);
    }
  }

  // Masks --------------------------------------------------------------------------------------------------------------------------

  /** Pushes the lanes of the mask in a scalar register pair. */
  pushMask(register: number): void {
    const written = this.maskOutputs.get(register);
    if (written !== undefined) {
      this.fn.get(written);
      return;
    }
    let input = this.maskInputs.get(register);
    if (input === undefined) {
      const bits = this.lasting('i64');
      this.before(() => this.fn.memory('i64.load', this.pushScalar(register)).set(bits));
      input = this.maskInput(bits);
      this.maskInputs.set(register, input);
    }
    this.pushMaskInput(input);
  }

  /** A mask given by an i64 local that is set before the loop. */
  private maskInput(bits: number): MaskInput {
    this.shifted.push(bits);
    return { bits, lanes: undefined };
  }

  /** Pushes the chunk's lanes of a mask called `name`, which `write` pushes as i64 before the loop. EXEC is as it is in the run. */
  pushComputedMask(name: string, write: () => void): void {
    let input = this.computed.get(name);
    if (input === undefined) {
      const bits = this.lasting('i64');
      this.before(() => {
        write();
        this.fn.set(bits);
      });
      input = this.maskInput(bits);
      this.computed.set(name, input);
    }
    this.pushMaskInput(input);
  }

  private pushMaskInput(input: MaskInput): void {
    if (input.lanes === undefined) {
      const lanes = this.pools.chunk.take('v128');
      this.fn.get(input.bits).op('i32.wrap_i64');
      this.expand();
      this.fn.set(lanes);
      input.lanes = lanes;
      this.journal?.push(() => {
        input.lanes = undefined;
      });
    }
    this.fn.get(input.lanes);
  }

  /** Turns the low 4 bits of the i32 on the stack into a lane mask. */
  private expand(): void {
    this.fn.op('i32x4.splat').v128(1, 2, 4, 8).op('v128.and').v128(1, 2, 4, 8).op('i32x4.eq');
  }

  /** Pops a lane mask as the new value of a scalar register pair. Bits of inactive lanes become 0. */
  setMask(register: number): void {
    let local = this.maskOutputs.get(register);
    if (local === undefined) {
      local = this.pools.chunk.take('v128');
      this.maskOutputs.set(register, local);
      this.journal?.push(() => this.maskOutputs.delete(register));
    }
    this.fn.set(local);
  }

  /** Pushes EXEC as a lane mask. */
  pushExec(): void {
    if (this.execLanes === undefined) {
      const lanes = this.pools.chunk.take('v128');
      this.fn.get(this.bits);
      this.expand();
      this.fn.set(lanes);
      this.execLanes = lanes;
      this.journal?.push(() => {
        this.execLanes = undefined;
      });
    }
    this.fn.get(this.execLanes);
  }

  // Vector registers -----------------------------------------------------------------------------------------------------------

  /** Whether a register has been changed in the run. */
  isDirty(register: number): boolean {
    return this.held.get(register)?.dirty === true;
  }

  /** Pushes a register; `raw` readers take NaNs with any payload. */
  pushRegister(register: number, raw: boolean): void {
    const { fn } = this;
    let held = this.held.get(register);
    if (held === undefined) {
      held = { local: this.pools.chunk.take('v128'), dirty: false, payload: false };
      this.held.set(register, held);
      this.journal?.push(() => this.held.delete(register));
      fn.memory('v128.load', this.pushVector(register), 4).tee(held.local);
      return;
    }
    if (held.payload && !raw) {
      canonical(fn, held.local);
      const { local } = held;
      const known = held;
      fn.set(local);
      held.payload = false;
      this.journal?.push(() => {
        known.payload = true;
      });
    }
    fn.get(held.local);
  }

  /** Pushes the f16 in the low or the high half of a register as f32, decoded once as long as the register keeps its value. */
  pushHalf(register: number, isHigh: boolean): void {
    const key = 2 * register + Number(isHigh);
    let local = this.halves.get(key);
    if (local === undefined) {
      local = this.pools.chunk.take('v128');
      this.pushRegister(register, false);
      if (isHigh) decodeHighHalf(this.fn);
      else decodeHalf(this.fn);
      this.fn.set(local);
      this.halves.set(key, local);
      this.journal?.push(() => this.halves.delete(key));
    }
    this.fn.get(local);
  }

  /** Pops the new value of a register. Nothing after it may throw. */
  setRegister(register: number, payload: boolean): void {
    if (this.crossed.has(register)) throw new Error(`v${register} is written in a run that reads it across lanes`);
    if (this.halves.size > 0) {
      this.halves.delete(2 * register);
      this.halves.delete(2 * register + 1);
    }
    let held = this.held.get(register);
    if (held === undefined) {
      held = { local: this.pools.chunk.take('v128'), dirty: true, payload };
      this.held.set(register, held);
    }
    held.dirty = true;
    held.payload = payload;
    this.fn.set(held.local);
  }

  /** Whether chunks read any register beyond their own lanes. */
  get crosses(): boolean {
    return this.crossed.size > 0;
  }

  /** Whether chunks read a register beyond their own lanes. */
  isCrossed(register: number): boolean {
    return this.crossed.has(register);
  }

  /** Whether so many more registers can be kept as they were before the loop. */
  hasCopies(count: number): boolean {
    return this.copies + count <= TEMPORARY_REGISTERS;
  }

  /**
   * Where chunks find a register as it was before the loop, in the wave block. `isCopied`: it is copied there (`hasCopies`), and may be written
   * from this instruction on; otherwise nothing in the run may write it.
   */
  crossedAt(register: number, isCopied: boolean): number {
    if (this.isDirty(register)) throw new Error(`v${register} is read across lanes in the run that writes it`);
    if (!isCopied) {
      this.crossed.add(register);
      return registerAt(register);
    }
    if (!this.hasCopies(1)) throw new Error('no room for a copy of a register');
    const place = WAVE_TEMPORARY + VGPR_BYTES * this.copies++;
    const { fn, wave } = this;
    this.before(() => {
      for (let at = 0; at < VGPR_BYTES; at += 16) {
        fn.get(wave)
          .get(wave)
          .memory('v128.load', registerAt(register) + at, 4)
          .memory('v128.store', place + at, 4);
      }
    });
    return place;
  }

  /** Pushes an address of the chunk called `name`, which `write` pushes from the bytes of a register before the chunk's lanes. */
  pushAddress(name: string, write: (pushBytes: () => void) => void): void {
    const { fn } = this;
    let local = this.addresses.get(name);
    if (local === undefined) {
      local = this.pools.chunk.take('i32');
      fn.get(this.wave);
      write(() => fn.get(this.at).get(this.wave).op('i32.sub'));
      fn.op('i32.add').set(local);
      this.addresses.set(name, local);
      this.journal?.push(() => this.addresses.delete(name));
    }
    fn.get(local);
  }

  /** Pushes the numbers of the chunk's lanes. */
  pushLanes(): void {
    const { fn } = this;
    fn.get(this.at).get(this.wave).op('i32.sub').i32(2).op('i32.shr_u').op('i32x4.splat');
    fn.v128(0, 1, 2, 3).op('i32x4.add');
  }

  // The loop -------------------------------------------------------------------------------------------------------------------

  /** Writes the loop and ends the run. */
  flush(): void {
    const { fn, at, exec, bits } = this;
    const outputs = [...this.maskOutputs].map(([register, lanes]) => ({ register, lanes, sum: this.lasting('i64') }));
    fn.get(this.wave).set(at);
    fn.get(this.wave)
      .memory('i64.load', 4 * EXEC)
      .set(exec);
    for (const { sum } of outputs) fn.i64(0n).set(sum);
    fn.loop();
    fn.get(exec).op('i32.wrap_i64').i32(15).op('i32.and').tee(bits).if();
    fn.append(this.body);
    for (const { lanes, sum } of outputs) {
      fn.get(lanes).op('i32x4.bitmask').get(bits).op('i32.and').op('i64.extend_i32_u').i64(60n).op('i64.shl');
      fn.get(sum).op('i64.or').set(sum);
    }
    this.writeBack();
    fn.end();
    // Sums move down with every chunk: what a chunk puts on top ends at its place.
    fn.get(exec).i64(4n).op('i64.shr_u').set(exec);
    for (const mask of this.shifted) fn.get(mask).i64(4n).op('i64.shr_u').set(mask);
    fn.get(at).i32(16).op('i32.add').set(at);
    // Past the last active lane there is nothing to do.
    fn.get(exec).i64(0n).op('i64.ne').if();
    for (const { sum } of outputs) fn.get(sum).i64(4n).op('i64.shr_u').set(sum);
    fn.br(1).end().end();
    for (const { register, sum } of outputs) {
      const offset = this.pushScalar(register);
      fn.get(sum);
      fn.get(this.wave)
        .i32(4 * LANES)
        .op('i32.add')
        .get(at)
        .op('i32.sub')
        .i32(2)
        .op('i32.shr_u')
        .op('i64.extend_i32_u')
        .op('i64.shr_u');
      fn.memory('i64.store', offset);
    }
    this.pools.lasting.releaseAll();
    this.pools.chunk.releaseAll();
  }

  private writeBack(): void {
    const { fn } = this;
    const locals: number[] = [];
    const registers: number[] = [];
    this.held.forEach(({ dirty, payload, local }, register) => {
      if (!dirty) return;
      registers.push(register);
      locals.push(local);
      if (!payload) return;
      canonical(fn, local);
      fn.set(local);
    });
    if (locals.length === 0) return;
    fn.get(this.bits).i32(15).op('i32.eq').if();
    for (let n = 0; n < locals.length; n++) {
      const offset = this.pushVector(registers[n] as number);
      fn.get(locals[n] as number).memory('v128.store', offset, 4);
    }
    fn.else();
    const mask = this.pools.chunk.take('v128');
    fn.get(this.bits);
    this.expand();
    fn.set(mask);
    for (let n = 0; n < locals.length; n++) {
      const offset = this.pushVector(registers[n] as number);
      fn.get(locals[n] as number);
      this.pushVector(registers[n] as number);
      fn.memory('v128.load', offset, 4).get(mask).op(choosing()).memory('v128.store', offset, 4);
    }
    fn.end();
  }
}

/** Registers begin at a multiple of 16 bytes in the wave block. */
if (WAVE_VGPRS % 16 !== 0) throw new Error('vector registers are not aligned');
