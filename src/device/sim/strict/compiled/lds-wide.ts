// Compiled code notes elements of two or four dwords of LDS, of four lanes at a time: their tags lie side by side in the arrays, so one load has those of an
// element. Elements of 8 bytes are looked at two in a vector.
import type { WasmFunction } from '../../wasm/emit.ts';
import type { Code, Label } from '../../wasm/memory/code.ts';
import type { Frame } from '../../wasm/memory/index.ts';
import { LDS_FULL, MANY_TAGS } from '../lds/lds.ts';
import { fullFunction } from './lds.ts';
import type { LdsQuads } from './lds-quads.ts';

/** Bytes of elements that are looked at so. */
export const isWide = (bytes: number): bytes is 8 | 16 => bytes === 8 || bytes === 16;

/** Its locals are of the function being written. */
export class LdsWide {
  private readonly quads: LdsQuads;
  private readonly bytes: 8 | 16;
  private readonly fn: WasmFunction;
  private readonly code: Code;
  private readonly tagged: readonly number[];
  private readonly places: number;
  private readonly full: WasmFunction;

  constructor(quads: LdsQuads, { code, module }: Frame, bytes: 8 | 16) {
    this.full = fullFunction(module);
    [this.quads, this.bytes, this.code, this.fn] = [quads, bytes, code, code.fn];
    this.tagged = Array.from({ length: bytes / 4 }, () => code.local('v128'));
    this.places = code.local('v128');
  }

  /** Notes the elements at the LDS addresses in a vector, or goes to `narrow`: nothing wrong has been noted then. */
  note(all: number, narrow: Label): void {
    const { fn, code, quads, bytes } = this;
    fn.get(all).v128(7, 7, 7, 7).op('v128.and').op('v128.any_true').get(quads.mayFly).op('i32.or');
    code.brIf(narrow);
    if (quads.kind === 'quiet') {
      this.requireWritten(all, narrow, true);
      return;
    }
    quads.setAddresses(all);
    if (quads.kind === 'load') this.requireWritten(all, narrow);
    fn.get(quads.low).get(all).op('i32x4.min_u').set(quads.low);
    fn.get(quads.high).get(all).v128(bytes, bytes, bytes, bytes).op('i32x4.add').op('i32x4.max_u').set(quads.high);
    this.gather(quads.writers);
    this.pushOwnOrNone();
    if (quads.kind === 'store') {
      this.gather(quads.readers);
      this.pushOwnOrNone();
      fn.op('v128.and').op('i32x4.all_true').op('i32.eqz');
      code.brIf(narrow);
      this.take(quads.writers);
      this.pushIsBeyondFull(all);
      code.if(() => this.setWritten());
      return;
    }
    fn.op('i32x4.all_true').op('i32.eqz');
    code.brIf(narrow);
    this.gather(quads.readers);
    // What several wavefronts have read already stays as it is, as what the wavefront itself has.
    this.pushAll((tagged) => {
      fn.get(tagged).get(quads.tags).op('i32x4.eq');
      fn.get(tagged).v128(MANY_TAGS, MANY_TAGS, MANY_TAGS, MANY_TAGS).op('i32x4.eq').op('v128.or');
    });
    fn.op('i32x4.all_true').op('i32.eqz');
    code.if(() => {
      for (const [n, tagged] of this.tagged.entries()) {
        fn.get(tagged);
        if (n > 0) fn.op('v128.or');
      }
      fn.op('v128.any_true');
      code.brIf(narrow);
      this.take(quads.readers);
    });
  }

  /** Leaves 1 when an element is not among those that are known to be written. */
  private pushIsBeyondFull(all: number): WasmFunction {
    const { fn, quads, bytes } = this;
    const last = bytes - 4;
    fn.get(all).v128(last, last, last, last).op('i32x4.add');
    fn.get(quads.head).memory('v128.load32_splat', LDS_FULL).op('i32x4.lt_u');
    return fn.op('i32x4.all_true').op('i32.eqz');
  }

  /** Leaves unless all bytes have been written. `setsAddresses`: the addresses have not been set. */
  private requireWritten(all: number, narrow: Label, setsAddresses = false): void {
    const { fn, code, quads } = this;
    this.pushIsBeyondFull(all);
    code.if(() => {
      if (setsAddresses) quads.setAddresses(all);
      for (const [n, address] of quads.addresses.entries()) {
        quads.pushBitsPlace(address).memory(this.bytes === 16 ? 'i32.load16_u' : 'i32.load8_u');
        if (n > 0) fn.op('i32.and');
      }
      fn.i32(2 ** this.bytes - 1).op('i32.ne');
      code.brIf(narrow);
      fn.get(quads.head).call(this.full);
    });
  }

  /** Sets the vectors to the words of an array. */
  private gather(array: number): void {
    const { fn, quads, tagged } = this;
    for (const [n, address] of quads.addresses.entries()) {
      fn.get(array).get(address).op('i32.add');
      if (this.bytes === 16) {
        fn.memory('v128.load').set(tagged[n] as number);
        continue;
      }
      const pair = tagged[n >> 1] as number;
      if (n % 2 === 0) fn.memory('v128.load64_zero');
      else fn.get(pair).memoryLane('v128.load64_lane', 1);
      fn.set(pair);
    }
  }

  /** Leaves all ones in the lanes where what `push` leaves of each vector is. */
  private pushAll(push: (tagged: number) => void): WasmFunction {
    for (const [n, tagged] of this.tagged.entries()) {
      push(tagged);
      if (n > 0) this.fn.op('v128.and');
    }
    return this.fn;
  }

  /** Leaves all ones in the lanes where all words are the wavefront's own or nobody's. */
  private pushOwnOrNone(): WasmFunction {
    const { fn, quads } = this;
    return this.pushAll((tagged) => {
      fn.get(tagged).get(quads.tags).op('i32x4.eq');
      fn.get(tagged).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or');
    });
  }

  /** The elements are the wavefront's in an array, at the instruction's place. */
  private take(array: number): void {
    const { fn, quads, places } = this;
    fn.get(quads.pc).op('i32x4.splat').set(places);
    for (const [to, vector] of [
      [array, quads.tags],
      [quads.places, places],
    ] as const) {
      for (const address of quads.addresses) {
        fn.get(to).get(address).op('i32.add').get(vector);
        if (this.bytes === 16) fn.memory('v128.store');
        else fn.memoryLane('v128.store64_lane', 0);
      }
    }
  }

  /** The bits of their bytes are bytes of their own. */
  private setWritten(): void {
    const { fn, quads, bytes } = this;
    for (const address of quads.addresses) {
      quads.pushBitsPlace(address);
      if (bytes === 16) fn.i32(0xffff).memory('i32.store16');
      else fn.i32(0xff).memory('i32.store8');
    }
  }
}
