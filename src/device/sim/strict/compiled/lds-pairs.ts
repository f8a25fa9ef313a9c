// Compiled code notes both elements of all lanes of a DS read2 or write2 at once, where each of them finds what the first lane finds: nobody has touched it since the
// barrier, or the wavefront itself. Sorting networks and transforms exchange all their data so. A function of its own, which keeps little, takes half the time of looks
// at four lanes that have all of their cases beside them.
import { LANES } from '../../state/layout.ts';
import { EXEC } from '../../state/wave.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { choosing } from '../../wasm/features.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import { LDS_FULL, LDS_READER, LDS_READER_PC, LDS_WRITER, LDS_WRITER_PC, MANY_TAGS } from '../lds/lds.ts';
import { LOG_PART_BYTES, PART_ADDRESSES, PART_RUN, SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';
import { pushMayFly } from './flights.ts';
import { ascendingFunction } from './lanes.ts';
import { beginLds, extend, fullFunction, ldsFunction } from './lds.ts';

const QUADS = LANES / 4;
/** Bytes of four dwords. */
const FOUR = 16;

/** Bytes of elements that are looked at so. */
export const isPaired = (bytes: number): bytes is 4 | 8 => bytes === 4 || bytes === 8;

/**
 * For loads (shadow, wave, place in the image, address of the register with the lanes' addresses, the offset of the first element, that of the second from it); for stores
 * behind the place in the image also the part of the log with the addresses of the first element, in front of that of the second, and a number that does not matter here
 * → 1 when the elements of so many bytes are all right there and noted; 0 when they are to be looked at otherwise: nothing wrong has been noted then.
 */
export function ldsPairsFunction(module: WasmModule, kind: 'load' | 'store', bytes: 4 | 8): WasmFunction {
  const parameters = Array.from({ length: kind === 'store' ? 8 : 6 }, () => 'i32' as const);
  const helpers = {
    ascending: ascendingFunction(module),
    full: fullFunction(module),
    row: ldsFunction(module, kind === 'store'),
  };
  return module.helper(`strict.lds.pairs.${kind}.${bytes}`, parameters, ['i32'], (fn) =>
    new PairWriter(fn, kind, bytes, helpers).write(),
  );
}

/** One of the two elements: its distance from the first one (a local), undefined for that itself. */
interface Element {
  readonly delta: number | undefined;
  /** Locals: the tags that its dwords are to have, of their writers and their readers; and of loads whether that is nobody. */
  readonly writer: number;
  readonly reader: number;
  readonly isNew: number;
}

class PairWriter {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly isWrite: boolean;
  private readonly bytes: number;
  private readonly helpers: {
    readonly ascending: WasmFunction;
    readonly full: WasmFunction;
    readonly row: WasmFunction;
  };
  private readonly shadow = 0;
  private readonly wave = 1;
  private readonly pc = 2;
  private readonly part = 3;
  private readonly register: number;
  private readonly offset: number;
  private readonly delta: number;
  private readonly head: number;
  private readonly tag: number;
  private readonly writers: number;
  private readonly readers: number;
  private readonly places: number;
  /** Active lanes, of stores those of the quads that are left. */
  private readonly exec: number;
  /** An address that an active lane has. */
  private readonly one: number;
  private readonly elements: readonly Element[];
  /** 4 × the first lane of a quad; where its first element is. */
  private readonly at: number;
  private readonly first: number;
  private readonly all: number;
  /** The lanes of a quad that store, as bits and as a vector. */
  private readonly bits: number;
  private readonly mask: number;
  private readonly tagged: number;

  constructor(fn: WasmFunction, kind: 'load' | 'store', bytes: 4 | 8, helpers: PairWriter['helpers']) {
    const local = (): number => fn.local('i32');
    const vector = (): number => fn.local('v128');
    [this.fn, this.code, this.isWrite, this.bytes, this.helpers] = [fn, new Code(fn), kind === 'store', bytes, helpers];
    const behind = this.isWrite ? this.part + 2 : this.part;
    [this.register, this.offset, this.delta] = [behind, behind + 1, behind + 2];
    [this.head, this.tag, this.writers, this.readers, this.places] = [local(), local(), local(), local(), local()];
    [this.one, this.at, this.first, this.bits, this.exec] = [local(), local(), local(), local(), fn.local('i64')];
    [this.all, this.mask, this.tagged] = [vector(), vector(), vector()];
    this.elements = [undefined, this.delta].map((delta) => ({
      delta,
      writer: vector(),
      reader: vector(),
      isNew: local(),
    }));
  }

  write(): void {
    const { fn, code, shadow, wave, register, offset, exec, one, head } = this;
    beginLds(fn, shadow, head);
    pushMayFly(fn, shadow, head).op('i32.or');
    this.leave();
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .tee(exec);
    if (this.isWrite) fn.op('i64.eqz');
    else fn.i64(-1n).op('i64.ne');
    this.leave();
    if (this.isWrite) {
      // Two lanes on one element are looked for one by one.
      fn.get(register).call(this.helpers.ascending).op('i32.eqz');
      this.leave();
    }
    fn.get(register).get(exec).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').op('i32.add');
    fn.memory('i32.load').get(offset).op('i32.add').set(one);
    this.findExtent();
    this.begin();
    fn.i32(0).set(this.at);
    code.loop((again) => {
      code.block((next) => this.noteQuad(next));
      fn.get(this.at).i32(16).op('i32.add').tee(this.at);
      fn.i32(4 * LANES).op('i32.lt_u');
      code.brIf(again);
    });
    fn.i32(1);
  }

  /** Returns 0 when the number on the stack is another one. */
  private leave(): void {
    this.fn.if().i32(0).return().end();
  }

  /** All bytes are written, and addresses are multiples of what they are to be; else returns 0. They become touched, and addresses are put into the log. */
  private findExtent(): void {
    const { fn, code, register, offset, delta, one, head, part, bytes, exec } = this;
    const [low, high] = [fn.local('i32'), fn.local('i32')];
    const [more, ones, bits, test, seen] = [0, 0, 0, 0, 0].map(() => fn.local('v128')) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const [least, most, further] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
    fn.get(offset).op('i32x4.splat').set(more);
    if (this.isWrite) {
      fn.get(one).op('i32x4.splat').set(ones).get(delta).op('i32x4.splat').set(further);
      for (const n of [0, 1]) {
        fn.get(part)
          .get(exec)
          .memory('i64.store', n * LOG_PART_BYTES);
        fn.get(part)
          .i32(0)
          .memory('i32.store', n * LOG_PART_BYTES + PART_RUN);
      }
    }
    for (let quad = 0; quad < QUADS; quad++) {
      fn.get(register)
        .memory('v128.load', 16 * quad)
        .get(more)
        .op('i32x4.add');
      if (this.isWrite) {
        if (quad % 8 === 0) {
          fn.get(exec)
            .i64(BigInt(4 * quad))
            .op('i64.shr_u')
            .op('i32.wrap_i64')
            .op('i32x4.splat')
            .set(bits);
          fn.v128(1, 2, 4, 8).set(test);
        }
        fn.get(ones).get(bits).get(test).op('v128.and').get(test).op('i32x4.eq').op(choosing());
        fn.get(test).i32(4).op('i32x4.shl').set(test);
      }
      fn.tee(this.all);
      if (quad === 0) fn.tee(least).tee(most).set(seen);
      else {
        fn.get(least).op('i32x4.min_u').set(least);
        fn.get(most).get(this.all).op('i32x4.max_u').set(most);
        fn.get(seen).get(this.all).op('v128.or').set(seen);
      }
      if (this.isWrite) {
        const place = PART_ADDRESSES + 16 * quad;
        fn.get(part).get(this.all).memory('v128.store', place);
        fn.get(part)
          .get(this.all)
          .get(further)
          .op('i32x4.add')
          .memory('v128.store', LOG_PART_BYTES + place);
      }
    }
    fn.get(seen)
      .v128(bytes - 1, bytes - 1, bytes - 1, bytes - 1)
      .op('v128.and')
      .op('v128.any_true');
    this.leave();
    for (const [vector, name, into] of [
      [least, 'i32x4.min_u', low],
      [most, 'i32x4.max_u', high],
    ] as const) {
      fn.get(vector).get(vector).get(vector).shuffle32(2, 3, 0, 1).op(name).tee(vector);
      fn.get(vector).get(vector).shuffle32(1, 0, 3, 2).op(name).lane('i32x4.extract_lane', 0).set(into);
    }
    this.pushIsBeyondFull(low, high);
    if (this.isWrite) this.leave();
    else
      code.if(() => {
        fn.get(head).call(this.helpers.full);
        this.pushIsBeyondFull(low, high);
        this.leave();
      });
    const [from, count, word] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    fn.get(high).get(low).op('i32.sub').i32(bytes).op('i32.add').set(count);
    for (const element of this.elements) {
      this.pushAt(low, element).set(from);
      extend(code, head, from, count, word);
    }
  }

  /** Leaves 1 when elements that begin at addresses from `low` to `high` are not all among the bytes that are known to be written. */
  private pushIsBeyondFull(low: number, high: number): WasmFunction {
    const { fn, head, bytes } = this;
    const full = (): WasmFunction => fn.get(head).memory('i32.load', LDS_FULL);
    full().op('i32.eqz');
    for (const element of this.elements) {
      for (const end of [low, high]) {
        this.pushAt(end, element);
        full().i32(bytes).op('i32.sub').op('i32.gt_u').op('i32.or');
      }
    }
    return fn;
  }

  /** Leaves where an element is whose lane's first one is at an address in a local. */
  private pushAt(at: number, { delta }: Element): WasmFunction {
    const { fn } = this;
    fn.get(at);
    return delta === undefined ? fn : fn.get(delta).op('i32.add');
  }

  /** What elements are to find is what the first active lane finds; returns 0 where that needs a closer look. */
  private begin(): void {
    const { fn, shadow, head, tag, writers, readers, places, one, isWrite } = this;
    fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).set(tag);
    for (const [which, array] of [
      [LDS_WRITER, writers],
      [LDS_READER, readers],
      [isWrite ? LDS_WRITER_PC : LDS_READER_PC, places],
    ] as const) {
      fn.get(head).memory('i32.load', which).set(array);
    }
    const word = fn.local('i32');
    for (const element of this.elements) {
      for (const [array, known] of this.arraysOf(element)) {
        fn.get(array);
        this.pushAt(one, element).op('i32.add').memory('i32.load').tee(word).op('i32x4.splat').set(known);
        fn.get(word).i32(0).op('i32.ne').get(word).get(tag).op('i32.ne').op('i32.and');
        // What several wavefronts have read stays as it is.
        if (array === readers && !isWrite) fn.get(word).i32(MANY_TAGS).op('i32.ne').op('i32.and');
        this.leave();
      }
      if (!isWrite) fn.get(word).op('i32.eqz').set(element.isNew);
    }
  }

  private arraysOf({ writer, reader }: Element): readonly (readonly [array: number, known: number])[] {
    return [
      [this.writers, writer],
      [this.readers, reader],
    ];
  }

  /** Notes four lanes and goes to `next`, or returns 0. */
  private noteQuad(next: Label): void {
    const { fn, code, register, offset, at, first, all, exec, mask, bits } = this;
    if (this.isWrite) {
      fn.get(exec).op('i32.wrap_i64').i32(15).op('i32.and').set(bits).get(exec).i64(4n).op('i64.shr_u').set(exec);
      fn.get(bits).op('i32.eqz');
      code.brIf(next);
      fn.get(bits).op('i32x4.splat').v128(1, 2, 4, 8).op('v128.and').v128(1, 2, 4, 8).op('i32x4.eq').set(mask);
    }
    fn.get(register).get(at).op('i32.add').memory('v128.load').get(offset).op('i32x4.splat').op('i32x4.add').tee(all);
    fn.lane('i32x4.extract_lane', 0).tee(first).op('i32x4.splat');
    fn.v128(0, this.bytes, 2 * this.bytes, 3 * this.bytes)
      .op('i32x4.add')
      .get(all)
      .op('i32x4.eq')
      .op('i32x4.all_true');
    if (this.isWrite) {
      // Lanes that do not store may be elsewhere.
      for (const element of this.elements) {
        this.pushAt(first, element);
        fn.get(this.head).memory('i32.load', LDS_FULL);
        fn.i32(4 * this.bytes)
          .op('i32.sub')
          .op('i32.le_u')
          .op('i32.and');
      }
    }
    code.if(
      () => this.noteRows(),
      () => {
        if (this.isWrite) {
          // Those that do not store get the address of one that does.
          fn.get(all);
          fn.get(bits).op('i32.ctz').i32(2).op('i32.shl').get(at).op('i32.add').get(register).op('i32.add');
          fn.memory('v128.load32_splat')
            .get(offset)
            .op('i32x4.splat')
            .op('i32x4.add')
            .get(mask)
            .op(choosing())
            .set(all);
        }
        this.noteLanes();
      },
    );
  }

  /** Lanes that follow each other. */
  private noteRows(): void {
    const { fn, code, isWrite, first, pc, shadow } = this;
    const fours = this.bytes / 4;
    /** Leaves the place of an element's dwords in an array. */
    const pushPlace = (array: number, element: Element): WasmFunction => {
      this.pushAt(first, element);
      return fn.get(array).op('i32.add');
    };
    const pushMask = (n: number): WasmFunction => {
      fn.get(this.mask);
      if (fours === 1) return fn;
      return n === 0 ? fn.get(this.mask).shuffle32(0, 0, 1, 1) : fn.get(this.mask).shuffle32(2, 2, 3, 3);
    };
    const pushDiffers = (): void => {
      let joins = false;
      for (let n = 0; n < fours; n++) {
        for (const element of this.elements) {
          for (const [array, known] of this.arraysOf(element)) {
            pushPlace(array, element)
              .memory('v128.load', FOUR * n)
              .get(known)
              .op('v128.xor');
            if (joins) fn.op('v128.or');
            joins = true;
          }
        }
        if (!isWrite) continue;
        pushMask(n).op('v128.and');
        joins = n === 0 ? false : joins;
      }
    };
    pushDiffers();
    if (isWrite && fours > 1) fn.op('v128.or');
    fn.op('v128.any_true');
    code.if(
      () => {
        if (isWrite) {
          fn.i32(0).return();
          return;
        }
        for (const element of this.elements) {
          fn.get(shadow);
          this.pushAt(first, element)
            .i32(4 * this.bytes)
            .get(pc)
            .call(this.helpers.row)
            .op('i32.eqz');
          this.leave();
        }
      },
      () => {
        for (const element of this.elements) {
          const take = (array: number): void => {
            for (const [to, local] of [
              [array, this.tag],
              [this.places, pc],
            ] as const) {
              for (let n = 0; n < fours; n++) {
                pushPlace(to, element).get(local).op('i32x4.splat');
                if (isWrite) {
                  pushPlace(to, element).memory('v128.load', FOUR * n);
                  pushMask(n).op(choosing());
                }
                fn.memory('v128.store', FOUR * n);
              }
            }
          };
          if (isWrite) take(this.writers);
          else {
            fn.get(element.isNew);
            code.if(() => take(this.readers));
          }
        }
      },
    );
  }

  /** Lanes at places of their own. */
  private noteLanes(): void {
    const { fn, code, isWrite, all, tagged, pc, tag, bytes } = this;
    const addresses = [0, 1, 2, 3].map(() => fn.local('i32'));
    for (const [lane, address] of addresses.entries()) fn.get(all).lane('i32x4.extract_lane', lane).set(address);
    /** Lanes whose words of an array are in one vector. */
    const lanes = 16 / bytes;
    let joins = false;
    for (const element of this.elements) {
      for (const [array, known] of this.arraysOf(element)) {
        for (let from = 0; from < 4; from += lanes) {
          for (let lane = 0; lane < lanes; lane++) {
            fn.get(array);
            this.pushAt(addresses[from + lane] as number, element).op('i32.add');
            if (lane === 0) fn.memory(bytes === 4 ? 'v128.load32_zero' : 'v128.load64_zero');
            else fn.get(tagged).memoryLane(bytes === 4 ? 'v128.load32_lane' : 'v128.load64_lane', lane);
            if (lane < lanes - 1) fn.set(tagged);
          }
          fn.get(known).op('v128.xor');
          if (joins) fn.op('v128.or');
          joins = true;
        }
      }
    }
    fn.op('v128.any_true');
    this.leave();
    for (const element of this.elements) {
      const take = (array: number): void => {
        for (const [to, local] of [
          [array, tag],
          [this.places, pc],
        ] as const) {
          for (const address of addresses) {
            fn.get(to);
            this.pushAt(address, element).op('i32.add');
            if (bytes === 4) fn.get(local).memory('i32.store');
            else fn.get(local).op('i32x4.splat').memoryLane('v128.store64_lane', 0);
          }
        }
      };
      if (isWrite) take(this.writers);
      else {
        fn.get(element.isNew);
        code.if(() => take(this.readers));
      }
    }
    for (const address of addresses) fn.release('i32', address);
  }
}
