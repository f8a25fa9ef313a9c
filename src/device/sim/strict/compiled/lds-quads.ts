// Compiled code notes four lanes at a time whose dwords of LDS do not follow each other. What is the same for all lanes of an instruction is
// read once, in front of them.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import type { Label } from '../../wasm/memory/code.ts';
import type { Frame } from '../../wasm/memory/index.ts';
import {
  ATOMIC_TAGS,
  LDS_FULL,
  LDS_HIGH,
  LDS_LOW,
  LDS_READER,
  LDS_READER_PC,
  LDS_UPDATED,
  LDS_WRITER,
  LDS_WRITER_PC,
  LDS_WRITTEN,
  MANY_TAGS,
} from '../lds/lds.ts';
import { SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';
import { pushMayFly } from './flights.ts';
import { beginLds, fullFunction, LOWEST, pushIsNotQuiet } from './lds.ts';

/** Bytes of four dwords. */
const FOUR = 16;

/** Loads, stores, and atomics that return nothing. */
export type LdsAccess = 'load' | 'store' | 'atomic';

/** Notes dwords of four lanes, of quiet loads (quiet-loads.ts) only that they are there; its locals are of the function being written. */
export class LdsQuads {
  readonly kind: LdsAccess | 'quiet';
  private readonly fn: WasmFunction;
  private readonly f: Frame;
  readonly pc: number;
  readonly head: number;
  /** Whether loads into LDS may still be to write; of quiet loads, whether somebody may race with them. */
  readonly mayFly: number;
  /** Lowest and highest bytes that have been noted here, four of each, of which the least and the most count. */
  readonly low: number;
  readonly high: number;
  /** The wavefront's tags: of a dword, and of four. */
  private readonly tag: number;
  readonly tags: number;
  readonly writers: number;
  readonly readers: number;
  /** The places of instructions that are noted: of readers, or of writers. */
  readonly places: number;
  private readonly written: number;
  readonly addresses: readonly number[];
  private readonly tagged: number;
  private readonly next: number;
  private readonly bits: number;

  /**
   * In front of all lanes; TypeScript looks at the instruction when operations are in flight. Quiet loads that are never looked at as a whole (`hasWhole`) are looked
   * at lane by lane then.
   */
  constructor(f: Frame, shadow: number, pc: number, kind: LdsAccess | 'quiet', hasWhole: boolean) {
    const { code } = f;
    const { fn } = code;
    const local = (): number => code.local('i32');
    [this.kind, this.fn, this.f, this.pc] = [kind, fn, f, pc];
    [this.head, this.mayFly, this.tag, this.bits] = [local(), local(), local(), local()];
    [this.writers, this.readers, this.places, this.written] = [local(), local(), local(), local()];
    this.addresses = Array.from({ length: 4 }, local);
    [this.low, this.high, this.tags] = [code.local('v128'), code.local('v128'), code.local('v128')];
    [this.tagged, this.next] = [code.local('v128'), code.local('v128')];
    const { head } = this;
    fn.v128(-1, -1, -1, -1).set(this.low).v128(0, 0, 0, 0).set(this.high);
    if (kind === 'quiet') pushIsNotQuiet(fn, shadow, head);
    else beginLds(fn, shadow, head);
    if (kind === 'quiet' && !hasWhole) {
      pushMayFly(fn, shadow, head).op('i32.or').set(this.mayFly);
    } else {
      code.if(() => f.resume());
      pushMayFly(fn, shadow, head).set(this.mayFly);
    }
    fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).tee(this.tag).op('i32x4.splat').set(this.tags);
    const arrays = [
      [LDS_WRITER, this.writers],
      [LDS_READER, this.readers],
      [LDS_WRITTEN, this.written],
      [kind === 'load' ? LDS_READER_PC : LDS_WRITER_PC, this.places],
    ] as const;
    for (const [which, place] of arrays) fn.get(head).memory('i32.load', which).set(place);
    if (kind === 'atomic') fn.get(head).i32(1).memory('i32.store', LDS_UPDATED);
  }

  /** The bytes that have been noted join those of the workgroup: behind the last lane, and before TypeScript looks. */
  finish(): void {
    const { fn, head, low, high } = this;
    if (this.kind === 'quiet') return;
    fn.get(head).get(head).memory('v128.load', LDS_LOW).get(low).op('i32x4.min_u').memory('v128.store', LDS_LOW);
    fn.get(head).get(head).memory('v128.load', LDS_HIGH).get(high).op('i32x4.max_u').memory('v128.store', LDS_HIGH);
  }

  /** Notes the dwords at the LDS addresses in a vector, or goes to `slow`: nothing wrong has been noted then. */
  note(all: number, slow: Label): void {
    const { fn, kind } = this;
    const { code } = this.f;
    fn.get(all).v128(3, 3, 3, 3).op('v128.and').op('v128.any_true').get(this.mayFly).op('i32.or');
    code.brIf(slow);
    if (kind === 'quiet') {
      this.requireWritten(all, slow, true);
      return;
    }
    this.setAddresses(all);
    if (kind === 'atomic') {
      this.noteAtomic(all, slow);
      return;
    }
    this.extend(all);
    if (kind === 'load') this.noteLoad(all, slow);
    else this.noteStore(all, slow);
  }

  /** The dwords are among those that have been noted here. */
  private extend(all: number): void {
    const { fn, low, high } = this;
    fn.get(low).get(all).op('i32x4.min_u').set(low);
    fn.get(high).get(all).v128(4, 4, 4, 4).op('i32x4.add').op('i32x4.max_u').set(high);
  }

  /** Notes so many times four dwords from the LDS address in a local on, or goes to `slow`: nothing wrong has been noted then. */
  noteRow(at: number, fours: number, slow: Label): void {
    const { fn, kind, mayFly, readers, writers } = this;
    const { code } = this.f;
    const bytes = FOUR * fours;
    fn.get(at)
      .i32(fours > 1 ? 7 : 3)
      .op('i32.and')
      .get(mayFly)
      .op('i32.or');
    code.brIf(slow);
    if (kind !== 'store') {
      this.pushIsRowBeyondFull(at, bytes);
      code.if(() => {
        fn.get(this.head).call(fullFunction(this.f.module));
        this.pushIsRowBeyondFull(at, bytes);
        code.brIf(slow);
      });
      if (kind === 'quiet') return;
    }
    this.leaveForeignRow(writers, at, fours, slow);
    if (kind === 'store') {
      this.leaveForeignRow(readers, at, fours, slow);
      this.takeRow(writers, at, fours);
      this.pushIsRowBeyondFull(at, bytes);
      code.if(() => this.setRowWritten(at, fours));
    } else {
      this.pushIsReadRow(at, fours);
      code.if(() => {
        for (let n = 0; n < fours; n++) {
          this.row(readers, at).memory('v128.load', FOUR * n);
          if (n > 0) fn.op('v128.or');
        }
        fn.op('v128.any_true');
        code.brIf(slow);
        this.takeRow(readers, at, fours);
      });
    }
    fn.get(this.low).get(at).op('i32x4.splat').op('i32x4.min_u').set(this.low);
    fn.get(this.high).get(at).i32(bytes).op('i32.add').op('i32x4.splat').op('i32x4.max_u').set(this.high);
  }

  private row(array: number, at: number): WasmFunction {
    return this.fn.get(array).get(at).op('i32.add');
  }

  private leaveForeignRow(array: number, at: number, fours: number, slow: Label): void {
    const { fn, tagged } = this;
    for (let n = 0; n < fours; n++) {
      this.row(array, at)
        .memory('v128.load', FOUR * n)
        .set(tagged);
      this.pushOwnOrNone();
      if (n > 0) fn.op('v128.and');
    }
    fn.op('i32x4.all_true').op('i32.eqz');
    this.f.code.brIf(slow);
  }

  /** Leaves 1 when the wavefront is not the reader, or one of several, of all of a row. */
  private pushIsReadRow(at: number, fours: number): WasmFunction {
    const { fn, tagged, tags } = this;
    for (let n = 0; n < fours; n++) {
      this.row(this.readers, at)
        .memory('v128.load', FOUR * n)
        .tee(tagged)
        .get(tags)
        .op('i32x4.eq');
      fn.get(tagged).v128(MANY_TAGS, MANY_TAGS, MANY_TAGS, MANY_TAGS).op('i32x4.eq').op('v128.or');
      if (n > 0) fn.op('v128.and');
    }
    return fn.op('i32x4.all_true').op('i32.eqz');
  }

  private takeRow(array: number, at: number, fours: number): void {
    const { tags, places, pc } = this;
    for (let n = 0; n < fours; n++) {
      this.row(array, at)
        .get(tags)
        .memory('v128.store', FOUR * n);
      this.row(places, at)
        .get(pc)
        .op('i32x4.splat')
        .memory('v128.store', FOUR * n);
    }
  }

  /** Leaves 1 when bytes are not among those that are known to be written. */
  private pushIsRowBeyondFull(at: number, bytes: number): WasmFunction {
    return this.fn.get(at).i32(bytes).op('i32.add').get(this.head).memory('i32.load', LDS_FULL).op('i32.gt_u');
  }

  private setRowWritten(at: number, fours: number): void {
    const { fn, bits } = this;
    const { code } = this.f;
    const setFour = (n: number): void => {
      this.pushBitsPlace(at)
        .i32(0xffff)
        .memory('i32.store16', 2 * n);
    };
    if (fours > 1) {
      for (let n = 0; n < fours; n++) setFour(n);
      return;
    }
    fn.get(at).i32(4).op('i32.and');
    code.if(
      () => {
        // From the second half of a byte up to the first one of another.
        this.pushBitsPlace(at).tee(bits).get(bits).memory('i32.load').i32(0xffff0).op('i32.or').memory('i32.store');
      },
      () => setFour(0),
    );
  }

  setAddresses(all: number): void {
    for (const [n, address] of this.addresses.entries()) this.fn.get(all).lane('i32x4.extract_lane', n).set(address);
  }

  private setWritten(): void {
    const { fn, bits } = this;
    for (const address of this.addresses) {
      this.pushBitsPlace(address).tee(bits).get(bits).memory('i32.load8_u');
      fn.i32(15).get(address).i32(4).op('i32.and').op('i32.shl').op('i32.or').memory('i32.store8');
    }
  }

  /** Sets `tagged` to the words of an array. */
  private gather(array: number): void {
    const { fn, tagged } = this;
    for (const [n, address] of this.addresses.entries()) {
      fn.get(array).get(address).op('i32.add');
      if (n === 0) fn.memory('v128.load32_zero');
      else fn.get(tagged).memoryLane('v128.load32_lane', n);
      fn.set(tagged);
    }
  }

  private put(array: number, push: (lane: number) => void): void {
    for (const [n, address] of this.addresses.entries()) {
      this.fn.get(array).get(address).op('i32.add');
      push(n);
    }
  }

  private putLocal(array: number, local: number): void {
    this.put(array, () => this.fn.get(local).memory('i32.store'));
  }

  /** Leaves the lanes of `tagged` that are the wavefront's own or nobody's. */
  private pushOwnOrNone(): WasmFunction {
    const { fn, tagged, tags } = this;
    fn.get(tagged).get(tags).op('i32x4.eq');
    return fn.get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or');
  }

  private leaveForeign(slow: Label): void {
    this.pushOwnOrNone().op('i32x4.all_true').op('i32.eqz');
    this.f.code.brIf(slow);
  }

  /** Leaves 1 when an address is not among those that are known to be written. */
  private pushIsBeyondFull(all: number): WasmFunction {
    const { fn, head } = this;
    fn.get(all).get(head).memory('v128.load32_splat', LDS_FULL).op('i32x4.lt_u');
    return fn.op('i32x4.all_true').op('i32.eqz');
  }

  pushBitsPlace(address: number): WasmFunction {
    return this.fn.get(this.written).get(address).i32(3).op('i32.shr_u').op('i32.add');
  }

  /** Leaves unless all bytes have been written. `setsAddresses`: the addresses have not been set. */
  private requireWritten(all: number, slow: Label, setsAddresses = false): void {
    const { fn, bits, head } = this;
    const { code, module } = this.f;
    this.pushIsBeyondFull(all);
    code.if(() => {
      if (setsAddresses) this.setAddresses(all);
      fn.i32(15).set(bits);
      for (const address of this.addresses) {
        this.pushBitsPlace(address).memory('i32.load8_u');
        fn.get(address).i32(4).op('i32.and').op('i32.shr_u').get(bits).op('i32.and').set(bits);
      }
      fn.get(bits).i32(15).op('i32.ne');
      code.brIf(slow);
      fn.get(head).call(fullFunction(module));
    });
  }

  private noteLoad(all: number, slow: Label): void {
    const { fn, tagged, tags } = this;
    const { code, module } = this.f;
    this.gather(this.writers);
    this.leaveForeign(slow);
    this.requireWritten(all, slow);
    this.gather(this.readers);
    // What several wavefronts have read already stays as it is, as what the wavefront itself has.
    fn.get(tagged).get(tags).op('i32x4.eq');
    fn.get(tagged).v128(MANY_TAGS, MANY_TAGS, MANY_TAGS, MANY_TAGS).op('i32x4.eq').op('v128.or');
    fn.op('i32x4.all_true').op('i32.eqz');
    code.if(() => {
      fn.get(tagged).op('v128.any_true').op('i32.eqz');
      code.if(
        () => {
          this.putLocal(this.readers, this.tag);
          this.putLocal(this.places, this.pc);
        },
        () => {
          fn.get(this.readers).get(this.places).get(all).get(tagged).get(tags).get(this.pc);
          fn.call(readersFunction(module)).op('i32.eqz');
          code.brIf(slow);
        },
      );
    });
  }

  private noteStore(all: number, slow: Label): void {
    this.gather(this.writers);
    this.leaveForeign(slow);
    this.gather(this.readers);
    this.leaveForeign(slow);
    this.putLocal(this.writers, this.tag);
    this.putLocal(this.places, this.pc);
    this.pushIsBeyondFull(all);
    this.f.code.if(() => this.setWritten());
  }

  private noteAtomic(all: number, slow: Label): void {
    const { fn, tagged, tags, next } = this;
    const { code, module } = this.f;
    this.gather(this.readers);
    this.pushOwnOrNone().op('v128.not').set(next);
    this.gather(this.writers);
    // What atomics of the wavefront, or of several, have changed already stays so; it has been written, and noted before.
    fn.get(next).get(tagged).v128(-1, -1, -1, -1).op('i32x4.eq').get(tagged).get(tags);
    fn.v128(ATOMIC_TAGS, ATOMIC_TAGS, ATOMIC_TAGS, ATOMIC_TAGS).op('v128.or').op('i32x4.eq');
    fn.op('v128.or').op('v128.not').op('v128.or').op('v128.any_true').op('i32.eqz');
    code.if(
      () => this.putLocal(this.places, this.pc),
      () => {
        // What the wavefront has stored itself stays a store (LdsShadow.write).
        fn.get(tagged).get(tags).op('v128.xor').get(next).op('v128.or').op('v128.any_true');
        code.if(() => {
          this.requireWritten(all, slow);
          this.gather(this.readers);
          this.leaveForeign(slow);
          this.gather(this.writers);
          this.extend(all);
          fn.get(this.writers).get(this.places).get(all).get(tagged).get(tags).get(this.pc);
          fn.call(updatersFunction(module)).op('i32.eqz');
          code.brIf(slow);
        });
      },
    );
  }
}

/**
 * (the array of writers, that of their places, LDS addresses of four dwords, their writers, the wavefront's tags, place in the image) → 1 when the
 * wavefront's atomics are noted beside those of others; 0 where others have stored, or parts of a dword have writers of their own, which are looked at one by
 * one.
 */
function updatersFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.updaters', ['i32', 'i32', 'v128', 'v128', 'v128', 'i32'], ['i32'], (fn) => {
    const [writers, places, all, tagged, tags, pc] = [0, 1, 2, 3, 4, 5] as const;
    const [own, next, old] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
    const splat = (n: number): WasmFunction => fn.v128(n, n, n, n);
    const put = (array: number, vector: number): void => {
      for (let lane = 0; lane < 4; lane++) {
        fn.get(array).get(all).lane('i32x4.extract_lane', lane).op('i32.add');
        fn.get(vector).memoryLane('v128.store32_lane', lane);
      }
    };
    fn.get(tagged).get(tags).op('i32x4.eq').tee(own);
    fn.get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or').get(tagged);
    splat(ATOMIC_TAGS);
    fn.op('v128.and');
    splat(ATOMIC_TAGS);
    fn.op('i32x4.eq').op('v128.or').op('i32x4.all_true').op('i32.eqz').if().i32(0).return().end();
    // All bits where another wavefront has been; else the wavefront's own tag.
    fn.get(tags);
    splat(ATOMIC_TAGS);
    fn.op('v128.or').v128(-1, -1, -1, -1).get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').get(tagged);
    splat(MANY_TAGS);
    fn.op('v128.and').get(tags).op('i32x4.eq').op('v128.or').op('v128.bitselect').set(next);
    fn.get(tagged).get(next).get(own).op('v128.bitselect').set(next);
    put(writers, next);
    for (let lane = 0; lane < 4; lane++) {
      fn.get(places).get(all).lane('i32x4.extract_lane', lane).op('i32.add');
      if (lane === 0) fn.memory('v128.load32_zero');
      else fn.get(old).memoryLane('v128.load32_lane', lane);
      fn.set(old);
    }
    fn.get(old).get(pc).op('i32x4.splat').get(own).op('v128.bitselect').set(next);
    put(places, next);
    fn.i32(1);
  });
}

/**
 * (the array of readers, that of their places, LDS addresses of four dwords, their readers, the wavefront's tags, place in the image) → 1 when the
 * wavefront is noted beside other readers; 0 where parts of a dword have readers of their own, which are looked at one by one.
 */
function readersFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.readers', ['i32', 'i32', 'v128', 'v128', 'v128', 'i32'], ['i32'], (fn) => {
    const [readers, places, all, tagged, tags, pc] = [0, 1, 2, 3, 4, 5] as const;
    const [own, next] = [fn.local('v128'), fn.local('v128')];
    const put = (array: number, vector: number): void => {
      for (let lane = 0; lane < 4; lane++) {
        fn.get(array).get(all).lane('i32x4.extract_lane', lane).op('i32.add');
        fn.get(vector).memoryLane('v128.store32_lane', lane);
      }
    };
    fn.get(tagged).get(tagged).shuffle(LOWEST).get(tagged).op('i32x4.eq').op('i32x4.all_true').op('i32.eqz');
    fn.if().i32(0).return().end();
    fn.get(tags).v128(MANY_TAGS, MANY_TAGS, MANY_TAGS, MANY_TAGS).get(tagged).get(tags).op('i32x4.eq').tee(own);
    fn.get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or').op('v128.bitselect').tee(next);
    fn.get(tagged).op('v128.xor').op('v128.any_true').if();
    put(readers, next);
    fn.end();
    for (let lane = 0; lane < 4; lane++) {
      fn.get(places).get(all).lane('i32x4.extract_lane', lane).op('i32.add');
      if (lane === 0) fn.memory('v128.load32_zero');
      else fn.get(next).memoryLane('v128.load32_lane', lane);
      fn.set(next);
    }
    fn.get(next).get(pc).op('i32x4.splat').get(own).op('v128.bitselect').set(next);
    put(places, next);
    fn.i32(1);
  });
}
