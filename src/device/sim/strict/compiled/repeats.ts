// Of the quads of one load or store, most have records (race-details.ts) that all are as those of a quad before: nobody's, or what the wavefront itself
// has just left there. What has been found of such a record holds for the next ones, and what it becomes: both depend on its words and on the access alone.
import type { WasmFunction } from '../../wasm/emit.ts';
import type { Code, Label } from '../../wasm/memory/code.ts';
import { BYTES, RECORD_BYTES } from '../races/race-details.ts';
import { TO_WRITER } from './records.ts';

const LANES = [0, 1, 2, 3] as const;
/** From an offset in wasm memory to that of its record, but for where the records begin: so many bits to the left. */
const SHIFT = Math.log2(RECORD_BYTES / 4);
/** No record's words: a writer's has no such mark. */
const NONE = -1n;

/** Of whole dwords; its locals are of the function being written. */
export class Repeats {
  private readonly fn: WasmFunction;
  private readonly code: Code;
  /** From a reader's word to the one that the access becomes. */
  private readonly offset: number;
  /** Both words of a record that may be accessed so, and what the one becomes. */
  private readonly known: number;
  private readonly becomes: number;
  private readonly places: readonly number[];

  /** In front of all quads. */
  constructor(code: Code, isWrite: boolean) {
    [this.fn, this.code, this.offset] = [code.fn, code, isWrite ? TO_WRITER : 0];
    [this.known, this.becomes] = [code.local('i64'), code.local('i32')];
    this.places = LANES.map(() => code.local('i32'));
    code.fn.i64(NONE).set(this.known);
  }

  /** The event of the access is known, as it is in a word of a record, in all lanes: it is all that there is of what nobody has touched. */
  begin(mine: number): void {
    this.fn.get(mine).lane('i32x4.extract_lane', 0).i32(BYTES).op('i32.or').set(this.becomes).i64(0n).set(this.known);
  }

  /** Notes the dwords at the offsets in a vector and goes to `done` where all records are known; `origin` is where that of offset 0 would be. */
  note(all: number, origin: number, done: Label): void {
    const { fn, code, known, becomes, places, offset } = this;
    for (const lane of LANES) {
      fn.get(all).lane('i32x4.extract_lane', lane).i32(SHIFT).op('i32.shl').get(origin).op('i32.add');
      fn.set(places[lane] as number);
    }
    for (const lane of LANES) {
      fn.get(places[lane] as number)
        .memory('i64.load')
        .get(known)
        .op('i64.xor');
      if (lane > 0) fn.op('i64.or');
    }
    fn.op('i64.eqz');
    code.if(() => {
      for (const place of places) fn.get(place).get(becomes).memory('i32.store', offset);
      code.br(done);
    });
  }

  /**
   * Four dwords have been noted, whose readers' and writers' words were those in two vectors; `cells` are the places of the records: they are known from now
   * on when they all were the same.
   */
  learn(readers: number, writers: number, cells: number): void {
    const { fn, code, known, becomes, offset } = this;
    for (const words of [readers, writers]) {
      fn.get(words).get(words).get(words).shuffle32(0, 0, 0, 0).op('v128.xor');
      if (words === writers) fn.op('v128.or');
    }
    fn.op('v128.any_true').op('i32.eqz');
    code.if(() => {
      fn.get(readers).get(writers).shuffle32(0, 4, 0, 4).lane('i64x2.extract_lane', 0).set(known);
      fn.get(cells).lane('i32x4.extract_lane', 0).memory('i32.load', offset).set(becomes);
    });
  }
}
